"""How well a reader of sources finds missing pronouns: those that post-editors put into translations.

    python -m benchmarks.checkpoint.missing --model FOLDER --data PREPARED [--split people_test] --out FILE.json

For each set of post-edits and for all: the area under the ROC curve of the gaps into which a person put a pronoun
against the other gaps of these texts, gaps of rewritten phrases left out; the share of the insertions of which the
likeliest form is the person's; and the area of the texts with an insertion against those without one, by the expected
number of missing pronouns. 50 % is chance. Intervals resample texts, since post-edits have no documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import pages
from pronmetric.checkpoint import files
from pronmetric.checkpoint.model_config import Model
from pronmetric.data.collate import Example
from pronmetric.errors import InputError
from pronmetric.eval.calibration import Platt
from pronmetric.eval.detection import roc_auc
from pronmetric.eval.estimates import Estimate, bootstrap
from pronmetric.lab.human import people
from pronmetric.pronouns.languages import Language
from pronmetric.schema import JudgedText
from pronmetric.scoring.inference import PRECISIONS
from pronmetric.text.context import Source, join
from pronmetric.training.people_fit import gaps_of
from pronmetric.training.source_data import missing_before

ALL = "all"


class Gaps(NamedTuple):
    """The gaps of a text with a label.

    forms: that a person put there, "" for none (gaps,). logits: that one is missing (gaps,). likeliest: forms by the
    reader (gaps,).
    """

    text: JudgedText
    forms: tuple[str, ...]
    logits: np.ndarray
    likeliest: tuple[str, ...]


def label(
    texts: Sequence[JudgedText],
    outputs: Sequence[tuple[np.ndarray, np.ndarray]],
    forms: Sequence[str],
    language: Language,
) -> Iterator[Gaps]:
    """The gaps of each text with a label; outputs: word numbers (gaps,) and numbers of the gap head (gaps, 1 + forms)."""
    for text, (places, values) in zip(texts, outputs, strict=True):
        inserted = [(gap.start, gap.form) for gap in text.gaps]
        labels = missing_before(language.words(text.text), inserted, text.unjudged)
        known = [k for k, place in enumerate(places.tolist()) if labels[place] is not None]
        likeliest = [forms[n] for n in values[:, 1:].argmax(1).tolist()]
        yield Gaps(
            text,
            tuple(labels[places[k]] or "" for k in known),
            values[known, 0],
            tuple(likeliest[k] for k in known),
        )


def measure(found: Sequence[Gaps], calibration: Platt) -> dict[str, dict[str, Any]]:
    """The figures of each set and of all."""
    sets = sorted({people.set_of(each.text) for each in found})
    return {
        name: _figures([each for each in found if name in (ALL, people.set_of(each.text))], calibration)
        for name in [ALL, *sets]
    }


def _figures(found: Sequence[Gaps], calibration: Platt) -> dict[str, Any]:
    missing = np.array([bool(form) for each in found for form in each.forms])
    logits = np.concatenate([each.logits for each in found])
    units = [k for k, each in enumerate(found) for _ in each.forms]
    expected = np.array([calibration(each.logits).sum() for each in found])
    lacking = np.array([any(each.forms) for each in found])
    same = [a == b for each in found for a, b in zip(each.forms, each.likeliest, strict=True) if a]
    return {
        "texts": len(found),
        "texts_with_insertion": int(lacking.sum()),
        "gaps": len(missing),
        "insertions": int(missing.sum()),
        "area_of_gaps": _record(bootstrap(lambda w: roc_auc(missing, logits, w), units)),
        "area_of_texts": _record(bootstrap(lambda w: roc_auc(lacking, expected, w), list(range(len(found))))),
        "form_is_likeliest": float(np.mean(same)) if same else None,
    }


def _record(one: Estimate | None) -> dict[str, float] | None:
    return None if one is None else {"value": one.value, "low": one.low, "high": one.high}


def main() -> None:
    """Command line."""
    parser = pages.parser(__doc__)
    parser.add_argument("--model", type=Path, required=True, help="checkpoint whose reader has a gap head")
    parser.add_argument("--data", type=Path, required=True, help="prepared folder with people's judgements")
    parser.add_argument("--split", default="people_test")
    parser.add_argument("--precision", choices=sorted(PRECISIONS), default="bf16")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    reader = files.load_reader(files.load(args.model), args.model)
    described = Model.read(reader.config)
    if described.gap_head is None or described.source is None or described.source.missing is None:
        raise InputError("the reader of sources has no gap head", file=args.model)
    texts = [text for text in people.read(args.data, args.split) if text.kind == "edits" and text.source]
    examples = [_example(text) for text in texts]
    outputs = gaps_of(
        reader.model, reader.collator, examples, dtype=PRECISIONS[args.precision], label="missing pronouns", whole=True
    )
    found = list(label(texts, outputs, described.gap_head.forms, reader.language))
    missing = described.source.missing
    figures = measure(found, Platt(missing.scale, missing.bias))
    pages.write_json(args.out, {"model": str(args.model), "reader": reader.hash, "split": args.split, "sets": figures})


def _example(text: JudgedText) -> Example:
    spans = tuple((each.start, each.end) for each in text.pronouns)
    return Example(join(text.context), text.text, spans, Source(text.source, text.source_context))


if __name__ == "__main__":
    main()
