"""Gendered pronouns of held-out passages against the other gender's form, as on GAP, but development data.

    python -m benchmarks.checkpoint.gender --model FOLDER --data PREPARED [--number N] [--out FILE.json]

A pronoun is judged in its sentence, after the sentences of the passage before it, or alone; sentences at the start of a
passage are left out. Not every passage tells the gender: the pairs without context show what is known without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import pages
from benchmarks.checkpoint import gap, scoring
from benchmarks.checkpoint.scoring import COMMON, NONE, Scorer
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.eval import accuracy as evaluation
from pronmetric.lab.human.gap import Item, item

FORMS = frozenset(("he", "him", "his", "himself", "she", "her", "hers", "herself"))
Sourced = tuple[str, Item]
"""Where a passage is from, and the pronoun in it."""


def read(folder: Path, *, number: int, seed: int) -> list[Sourced]:
    """At most `number` pronouns of each source of the development passages, drawn by `seed`."""
    found: dict[str, list[Item]] = {}
    for row in arrow.read_passages(folder, arrow.PASSAGE_SPLITS[1]):
        text = row["text"]
        for (start, end), form in zip(row["spans"], row["forms"], strict=True):
            if form in FORMS:
                one = item(f"{row['id']}:{start}", row["doc"], text, text[start:end], start)
                if one.before:
                    found.setdefault(row["source"], []).append(one)
    if not found:
        raise InputError("no gendered pronoun in the development passages; prepare with data.english", file=folder)
    rng = np.random.default_rng(seed)
    drawn = {source: sorted(rng.permutation(len(items))[:number].tolist()) for source, items in found.items()}
    return [(source, found[source][i]) for source, chosen in drawn.items() for i in chosen]


def measure(score: Scorer, sourced: Sequence[Sourced], *, seed: int = 0) -> dict[str, Any]:
    """Accuracy with and without context, by source and by pronoun."""
    sources, items = [source for source, _ in sourced], [one for _, one in sourced]
    documents = [one.article for one in items]
    contexts = {COMMON: scoring.same([(one.before,) for one in items]), NONE: scoring.same([() for _ in items])}
    judged = scoring.judge(score, [gap.contrast(one) for one in items], contexts, seed=seed)
    forms = [f"{one.pronoun} -> {one.other}" for one in items]
    return {
        kind: {
            "all": evaluation.accuracy(judged[kind].decisions, documents),
            "by_source": evaluation.accuracy_by(sources, judged[kind].decisions, documents),
            "by_pronoun": evaluation.accuracy_by(forms, judged[kind].decisions, documents),
        }
        for kind in contexts
    } | {"context_gain": scoring.difference(judged[COMMON], judged[NONE], documents)}


def show(figures: dict[str, Any]) -> str:
    """The figures as a table."""
    common, none = figures[COMMON], figures[NONE]
    rows = [["all", common["all"].pairs, pages.percent(common["all"]), pages.percent(none["all"])]]
    for part in ("by_source", "by_pronoun"):
        for name, one in common[part].items():
            rows.append([name, one.pairs, pages.percent(one), pages.percent(none[part][name])])
    gain = f"common - none {pages.percent(figures['context_gain'], signed=True)}"
    return f"{pages.table(['gendered pronouns', 'pairs', 'common', 'none'], rows)}\n{gain}"


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--number", type=int, default=200, metavar="N", help="of each source (default: %(default)s)")
    options = parser.parse_args()
    pages.weights_hash(options.model)
    sourced = read(options.data, number=options.number, seed=options.seed)
    scorer = scoring.load(options)
    figures = measure(scorer, sourced, seed=options.seed)
    scoring.report("gender", options, scorer, figures)
    print(show(figures))


if __name__ == "__main__":
    pages.run(main)
