"""How well a reader of sources finds missing pronouns: those that post-editors put into translations.

    python -m benchmarks.checkpoint.missing --model FOLDER --data PREPARED [--split people_test] --out FILE.json

For each set of post-edits and for all: the area under the ROC curve of the gaps into which a person put a pronoun
against the other gaps of these texts, gaps of rewritten phrases left out; the share of the insertions of which the
likeliest form is the person's; and the area of the texts with an insertion against those without one, by the expected
number of missing pronouns. 50 % is chance. Intervals resample texts, since post-edits have no documents.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import pages
from pronmetric.checkpoint import files, locate
from pronmetric.checkpoint.model_config import Model
from pronmetric.data import arrow
from pronmetric.data.collate import Example
from pronmetric.errors import InputError
from pronmetric.eval.calibration import Platt
from pronmetric.eval.detection import roc_auc
from pronmetric.eval.estimates import bootstrap
from pronmetric.lab.human import people
from pronmetric.lab.human.people_figures import DRAWS
from pronmetric.pronouns.languages import Language
from pronmetric.report.text import percent, table
from pronmetric.schema import JudgedText
from pronmetric.scoring.inference import PRECISIONS
from pronmetric.text.context import Source, join
from pronmetric.training.after.people_fit import gap_labels, gaps_of

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
    """The gaps of each text that have a label; outputs: as of `gaps_of`, whose forms are `forms`."""
    for text, (places, values) in zip(texts, outputs, strict=True):
        known = gap_labels(text, places.tolist(), language)
        likeliest = [forms[n] for n in values[:, 1:].argmax(1).tolist()]
        kept = [k for k, _ in known]
        yield Gaps(text, tuple(form for _, form in known), values[kept, 0], tuple(likeliest[k] for k in kept))


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
        "area_of_gaps": bootstrap(lambda w: roc_auc(missing, logits, w), units, draws=DRAWS, seed=0),
        "area_of_texts": bootstrap(lambda w: roc_auc(lacking, expected, w), range(len(found)), draws=DRAWS, seed=0),
        "form_is_likeliest": float(np.mean(same)) if same else None,
    }


def show(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures in percent as a table."""
    rows = [
        [
            name,
            each["texts"],
            each["gaps"],
            each["insertions"],
            percent(each["area_of_gaps"]),
            percent(each["area_of_texts"]),
            "-" if each["form_is_likeliest"] is None else f"{100 * each['form_is_likeliest']:.1f}",
        ]
        for name, each in figures.items()
    ]
    return table(["", "texts", "gaps", "insertions", "area of gaps", "area of texts", "form is the likeliest"], rows)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model", type=Path, required=True, metavar="FOLDER", help="checkpoint with a reader of sources"
    )
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="folder of `prepare data.people`")
    parser.add_argument("--split", choices=arrow.PEOPLE_SPLITS, default=arrow.PEOPLE_SPLITS[2])
    parser.add_argument("--precision", choices=sorted(PRECISIONS), default="bf16")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    options = parser.parse_args()
    folder = locate.reader_of(options.model)
    if folder is None:
        raise InputError("expected a checkpoint with a reader of sources", file=options.model)
    reader = files.load_reader(folder, model=None)
    described = Model.read(reader.config)
    if described.gap_head is None or described.source is None or described.source.missing is None:
        raise InputError("this reader of sources does not find missing pronouns", file=folder)
    texts = [text for text in people.read(options.data, options.split) if text.kind == "edits" and text.source]
    outputs = gaps_of(
        reader.model,
        reader.collator,
        [_example(text) for text in texts],
        dtype=PRECISIONS[options.precision],
        label="missing pronouns",
    )
    missing = described.source.missing
    found = list(label(texts, outputs, described.gap_head.forms, reader.language))
    figures = measure(found, Platt(missing.scale, missing.bias))
    print(show(figures))
    if options.out is not None:
        content = {"split": options.split, "reader": reader.hash, "figures": pages.plain(figures)}
        pages.write_page(
            options.out.with_suffix(".md"), show(figures) + "\n", {**pages.origin("checkpoint.missing"), **content}
        )


def _example(text: JudgedText) -> Example:
    spans = tuple((each.start, each.end) for each in text.pronouns)
    return Example(join(text.context), text.text, spans, Source(text.source, text.source_context))


if __name__ == "__main__":
    pages.run(main)
