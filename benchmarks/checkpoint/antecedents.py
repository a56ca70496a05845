r"""Attention from third-person pronouns to their antecedents, measured with GUM's annotated coreference.

    python -m benchmarks.checkpoint.antecedents --model FOLDER --data PREPARED
        [--shared DIR] [--out FILE.json] [--page [FILE.md]]

**Text**: the annotated tokens, detokenised and split into sentences by rule (`pronmetric.text.sentences`;
the files do not mark sentences). A pronoun is read in its sentence, with the five before it as context; context
that does not fit the encoder is cut from the left, as in `score`.

**Antecedent**: a mention of the pronoun's entity that starts before it and is no pronoun itself; if the mention
continues after the pronoun ("the man who lost his hat"), its words before it. "Any earlier mention" takes pronouns too.
A pronoun that is not a mention (it rains), that has no antecedent, or none within the context, is left out and
counted.

**Hit@k**: one of the k words with the highest attention weights is in an antecedent. The pronoun itself and punctuation
are not counted as words; words after the pronoun are, and always miss.

**Nearest noun**, the baseline: the words that end a mention before the pronoun which is no pronoun (for "any earlier
mention": any mention), the nearest first. GUM annotates every noun phrase and the files have no tags: where a clause
follows the noun ("the man who left") the word is not the noun. **Chance** draws k of the words at random.

A document is held out if no passage of `passages_train` of PREPARED begins in it; PREPARED must be the folder that the
checkpoint names. Documents "read in training" were read as plain text, and if the checkpoint was trained with
data.coreference, also with their chains; held-out documents were never read.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import pages
from benchmarks.checkpoint import scoring
from benchmarks.checkpoint.scoring import Counting
from data_prep.coreference.antecedents import ANTECEDENT, EARLIER, Pronoun, openings, pronoun, sentences, trained_on
from data_prep.coreference.conll import Annotated, read_folder
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.estimates import cluster_share
from pronmetric.pronouns.finder import THIRD_PERSON, find
from pronmetric.text.context import Text, join

if TYPE_CHECKING:
    from pronmetric.metric import PronounAttention

PAGE = pages.PUBLISHED / "antecedents.md"
BEFORE = 5
TOP = (1, 3)
HELD_OUT, TRAINED = "held out", "read in training"
ATTENTION, NEAREST, CHANCE = "attention", "nearest noun", "chance"
METHODS = (ATTENTION, NEAREST, CHANCE)
MEASURED, NO_ENTITY, NO_ANTECEDENT, OUT_OF_REACH = "measured", "no entity", "no antecedent", "out of reach"

Attend = Callable[[Sequence[Text]], Iterable[Sequence["PronounAttention"]]]
Hits = dict[str, tuple[float, ...]]
"""By method: hit (or its probability) at each k of `TOP`."""


class Place(NamedTuple):
    """A sentence in its context, with its third-person pronouns by their offset."""

    doc: str
    text: Text
    pronouns: dict[int, Pronoun]


class Found(NamedTuple):
    """The result for one pronoun; `hits` by target, of those within reach."""

    doc: str
    form: str
    outcome: str
    hits: dict[str, Hits]


def places(document: Annotated) -> Iterator[Place]:
    """The sentences of a document that have a third-person pronoun."""
    parts = sentences(document)
    for number, sentence in enumerate(parts):
        pronouns = [p for p in find(sentence.text, sentence.words) if p.form in THIRD_PERSON]
        if pronouns:
            shown = parts[max(0, number - BEFORE) : number + 1]
            before = sum(len(part.words) for part in shown[:-1])
            placed = {p.start: pronoun(document, p.form, before + p.word, shown) for p in pronouns}
            yield Place(document.name, Text(join(part.text for part in shown[:-1]), sentence.text), placed)


def judge(doc: str, pronoun: Pronoun, weights: NDArray[np.float32]) -> Found:
    """What became of a pronoun that attends with `weights` (words,); words left and right of all weights are cut."""
    seen = np.flatnonzero(weights)
    shown = np.zeros_like(pronoun.counts)
    shown[seen[0] : seen[-1] + 1] = True
    counts = pronoun.counts & shown
    ranked = [int(k) for k in np.argsort(-weights, kind="stable") if counts[k]]
    hits = {}
    for kind, target in pronoun.targets.items():
        where = target.words & shown
        if where.any():
            nearest = [k for k in target.nearest if shown[k]]
            hits[kind] = {
                ATTENTION: tuple(float(where[ranked[:k]].any()) for k in TOP),
                NEAREST: tuple(float(where[nearest[:k]].any()) for k in TOP),
                CHANCE: tuple(_chance(int(where.sum()), int(counts.sum()), k) for k in TOP),
            }
    if not pronoun.targets:
        outcome = NO_ENTITY
    elif not pronoun.targets[ANTECEDENT].exists:
        outcome = NO_ANTECEDENT
    else:
        outcome = MEASURED if ANTECEDENT in hits else OUT_OF_REACH
    return Found(doc, pronoun.form, outcome, hits)


def _chance(inside: int, words: int, k: int) -> float:
    """The probability that one of `k` words, drawn at random without replacement, is one of those inside.

    >>> _chance(1, 4, 1), _chance(2, 4, 3)
    (0.25, 1.0)
    """
    k = min(k, words)
    return 1 - math.comb(words - inside, k) / math.comb(words, k)


def measure(attend: Attend, groups: Mapping[str, Sequence[Annotated]], *, seed: int = 0) -> dict[str, Any]:
    """All figures of an attention on documents by group; intervals are over documents."""
    documents = {document.name: document for part in groups.values() for document in part}
    there = [place for document in documents.values() for place in places(document)]
    judged: dict[str, list[Found]] = {name: [] for name in documents}
    for place, looks in zip(there, attend([place.text for place in there]), strict=True):
        for look in looks:
            if look.weights is None:
                raise PronmetricError("the checkpoint's head has no attention: there is nothing to measure")
            if look.start in place.pronouns:
                judged[place.doc].append(judge(place.doc, place.pronouns[look.start], look.weights))
    by_group = {group: [each for doc in part for each in judged[doc.name]] for group, part in groups.items()}
    held_out = by_group[HELD_OUT]
    if not any(each.outcome == MEASURED for each in held_out):
        raise PronmetricError("no third-person pronoun of the held-out documents has an antecedent: nothing to measure")
    return {
        "documents": {group: len(documents) for group, documents in groups.items()},
        "groups": {group: _figures(part) for group, part in by_group.items()},
        "by_form": {
            form: _figures([each for each in held_out if each.form == form])
            for form in sorted({each.form for each in held_out})
        },
    }


def _figures(judged: Sequence[Found]) -> dict[str, Any]:
    outcomes = Counter(each.outcome for each in judged)
    counts = {outcome: outcomes[outcome] for outcome in (MEASURED, NO_ENTITY, NO_ANTECEDENT, OUT_OF_REACH)}
    kinds = {kind: [each for each in judged if kind in each.hits] for kind in (ANTECEDENT, EARLIER)}
    return {
        "pronouns": len(judged),
        "outcomes": counts,
        **{kind: _rates(kind, part) for kind, part in kinds.items() if part},
    }


def _rates(kind: str, judged: Sequence[Found]) -> dict[str, Any]:
    """Hit rates by method and k, and what attention has above the baseline on the same pronouns."""
    docs = [each.doc for each in judged]
    values = {method: np.array([each.hits[kind][method] for each in judged]) for method in METHODS}
    values["gain"] = values[ATTENTION] - values[NEAREST]
    return {
        "pronouns": len(judged),
        **{
            name: {f"hit@{k}": cluster_share(column[:, n], docs) for n, k in enumerate(TOP)}
            for name, column in values.items()
        },
    }


def group_documents(documents: Sequence[Annotated], known: set[str]) -> dict[str, list[Annotated]]:
    """The documents held out, all and by corpus (what their names begin with), and those read in training."""
    held_out, trained = [], []
    for document in documents:
        (trained if trained_on(document, known) else held_out).append(document)
    if not held_out:
        raise PronmetricError("every document was read in training: nothing is held out")
    corpora = sorted({document.name.split("_")[0] for document in held_out})
    parts = {f"{HELD_OUT}, {c}": [d for d in held_out if d.name.split("_")[0] == c] for c in corpora}
    return {HELD_OUT: held_out, **parts, TRAINED: trained}


def show(figures: Mapping[str, Any]) -> str:
    """The figures as three short tables."""
    groups = figures["groups"]
    header = ["", "documents", "pronouns", *groups[HELD_OUT]["outcomes"]]
    counts = [[g, figures["documents"][g], f["pronouns"], *f["outcomes"].values()] for g, f in groups.items()]
    tables = [pages.table(header, counts)]
    for kind in (ANTECEDENT, EARLIER):
        rows = [row for group, found in groups.items() if kind in found for row in _rows(group, found[kind])]
        tables.append(pages.table([kind, "pronouns", "method", *(f"hit@{k}" for k in TOP)], rows))
    forms = [
        [form, found[ANTECEDENT]["pronouns"], *(_short(found[ANTECEDENT], m, k) for k in TOP for m in METHODS)]
        for form, found in figures["by_form"].items()
        if ANTECEDENT in found
    ]
    columns = [f"{method} @{k}" for k in TOP for method in METHODS]
    return "\n\n".join([*tables, pages.table([HELD_OUT, "pronouns", *columns], forms)])


def _rows(name: str, found: Mapping[str, Any]) -> Iterator[list[str]]:
    for method in METHODS:
        cells = [pages.percent(found[method][f"hit@{k}"]) for k in TOP]
        yield [name, str(found["pronouns"]), method, *cells]
    yield [name, "", "attention - noun", *(pages.percent(found["gain"][f"hit@{k}"], signed=True) for k in TOP)]


def _short(found: Mapping[str, Any], method: str, k: int) -> str:
    return f"{100 * found[method][f'hit@{k}'].value:.0f}"


def page(content: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """The page benchmarks/published/antecedents.md; no figure on it is typed by hand."""
    told = (__doc__ or "").split("\n\n", 2)[2].strip()
    found = figures["groups"][HELD_OUT][ANTECEDENT]
    hit = {method: pages.percent(found[method]["hit@1"]) for method in METHODS}
    shares = {method: found[method]["hit@1"].value for method in METHODS}
    if shares[ATTENTION] <= shares[CHANCE]:
        verdict = "no better than chance"
    elif shares[ATTENTION] <= shares[NEAREST]:
        verdict = "worse than the nearest noun"
    elif (found["gain"]["hit@1"].low or 0) <= 0:
        verdict = "about as good as the nearest noun"
    else:
        verdict = "better than the nearest noun"
    return pages.fill(
        "antecedents",
        weights=content["weights"],
        date=content["date"],
        command=content["command"],
        attention=hit[ATTENTION],
        pronouns=found["pronouns"],
        nearest=hit[NEAREST],
        chance=hit[CHANCE],
        verdict=pages.template("antecedents")[verdict],
        figures=show(figures),
        told=told,
    )


def load(options: argparse.Namespace) -> tuple[Attend, Counting]:
    """The attention of the checkpoint that the flags name, and the counts of what it read."""
    from pronmetric.metric import PronounMetric

    metric = PronounMetric.from_pretrained(options.model, precision=options.precision)
    check_data(metric.config, options.data)
    counting = Counting(lambda records: [], str(metric.signature()))

    def attend(texts: Sequence[Text]) -> Iterator[Sequence[PronounAttention]]:
        start = time.perf_counter()
        yield from metric.attention(texts, batch_size=options.batch_size)
        counting.records, counting.seconds = len(texts), time.perf_counter() - start

    return attend, counting


def check_data(config: Mapping[str, Any], folder: Path) -> None:
    """Refuse a prepared folder that is not the one the checkpoint was trained on."""
    from pronmetric.checkpoint.files import hash_file

    known = config["training"].get("data", {}).get("manifest")
    if known is not None and known != hash_file(folder / "manifest.json"):
        message = f"not the folder that the checkpoint was trained on, whose manifest.json has the hash {known}"
        raise InputError(message, file=folder / "manifest.json")


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    pages.add_shared(parser)
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="the folder it was trained on")
    parser.add_argument(
        "--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help=f"write the page (default {PAGE.name})"
    )
    options = parser.parse_args()
    pages.weights_hash(options.model)
    documents = read_folder(options.shared / "data" / "gum-coref")
    from pronmetric.data import arrow

    known = openings(arrow.read_passages(options.data, "passages_train")["text"])
    attend, counting = load(options)
    figures = measure(attend, group_documents(documents, known), seed=options.seed)
    content = scoring.report("antecedents", options, counting, figures)
    print(show(figures))
    if options.page is not None:
        pages.write_page(options.page, page(content, figures), content)


if __name__ == "__main__":
    pages.run(main)
