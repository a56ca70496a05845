"""Accuracy on GAP: each pronoun against the same-case form of the other gender, with and without context.

    python -m benchmarks.checkpoint.gap --model FOLDER [--shared DIR] [--out FILE.json]

Text is the sentence that holds the pronoun, context the passage before it; measured with it, without any, and
with that of another item. GAP (Webster et al., TACL 2018) is test data: nothing is trained or chosen on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import pages
from benchmarks.checkpoint import scoring
from benchmarks.checkpoint.scoring import COMMON, NONE, SHUFFLED, Contrast, Scorer
from pronmetric.eval import accuracy as evaluation
from pronmetric.lab.human.gap import Item, read

_TRIAL = 600  # the first items, which an early trial was measured on


def contrast(item: Item) -> Contrast:
    """The sentence, and the same with the pronoun of the other gender."""
    return Contrast(item.sentence, item.swapped)


def measure(score: Scorer, items: Sequence[Item], *, seed: int = 0) -> dict[str, Any]:
    """All figures of a scorer on the items, from one call of `score`."""
    articles = [item.article for item in items]
    own = [(item.before,) if item.before else () for item in items]
    contexts = {
        COMMON: scoring.same(own),
        NONE: scoring.same([() for _ in items]),
        SHUFFLED: scoring.same(
            scoring.shuffle_contexts(own, items=[item.id for item in items], groups=articles, seed=seed)
        ),
    }
    contrasts = [contrast(item) for item in items]
    judged = scoring.judge(score, contrasts, contexts, seed=seed)
    common = judged[COMMON]
    unscored = [
        not scoring.scored_at(better, item.start, item.end)
        or not scoring.scored_at(worse, item.start, item.start + len(item.other))
        for item, better, worse in zip(items, common.better, common.worse, strict=True)
    ]
    return {
        **{kind: evaluation.accuracy(found.decisions, articles) for kind, found in judged.items()},
        "context_gain": scoring.difference(common, judged[NONE], articles),
        "shuffled_gain": scoring.difference(judged[SHUFFLED], judged[NONE], articles),
        "by_pronoun": {
            kind: evaluation.accuracy_by(
                [f"{item.pronoun} -> {item.other}" for item in items], judged[kind].decisions, articles
            )
            for kind in (COMMON, NONE)
        },
        "by_passage": evaluation.accuracy_by(
            ["passage before" if item.before else "nothing before" for item in items],
            common.decisions,
            articles,
        ),
        "first_600": {kind: _first(judged[kind], articles) for kind in (COMMON, NONE, SHUFFLED)},
        "unscored": sum(unscored),
    }


def _first(judged: scoring.Judged, articles: Sequence[str]) -> evaluation.Accuracy:
    part = scoring.judged_of(judged.better[:_TRIAL], judged.worse[:_TRIAL])
    return evaluation.accuracy(part.decisions, articles[:_TRIAL])


def show(figures: Mapping[str, Any]) -> str:
    """The figures as two short tables."""
    kinds = [
        [
            kind,
            pages.percent(figures[kind]),
            figures[kind].equal,
            figures[kind].null,
            pages.percent(figures["first_600"][kind]),
        ]
        for kind in (COMMON, NONE, SHUFFLED)
    ]
    gains = (
        f"common - none {pages.percent(figures['context_gain'], signed=True)}; "
        f"shuffled - none {pages.percent(figures['shuffled_gain'], signed=True)}; "
        f"unscored {figures['unscored']}"
    )
    forms = figures["by_pronoun"]
    rows = [
        [form, found.pairs, pages.percent(found), pages.percent(forms[NONE][form])]
        for form, found in forms[COMMON].items()
    ]
    return "\n".join(
        [
            pages.table(["GAP development", "accuracy", "equal", "null", "first 600"], kinds),
            gains,
            "",
            pages.table(["form", "items", "common", "none"], rows),
        ]
    )


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    pages.add_shared(parser)
    options = parser.parse_args()
    pages.weights_hash(options.model)
    items = read(options.shared / "data" / "gap" / "gap-development.tsv")
    scorer = scoring.load(options)
    figures = measure(scorer, items, seed=options.seed)
    scoring.report("gap", options, scorer, figures)
    print(show(figures))


if __name__ == "__main__":
    pages.run(main)
