"""Pronoun against the same-case form of the other gender, on GAP: is context used?

    python -m benchmarks.gap --model FOLDER [--shared DIR] [--out FILE.json]

Text is the sentence that holds the pronoun, context the passage before it; measured with it, without any, and
with that of another item. GAP (Webster et al., TACL 2018) is test data: nothing is trained or chosen on it.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import scoring
from benchmarks.scoring import COMMON, NONE, SHUFFLED, Contrast, Scorer
from benchmarks.sentences import sentence_at
from pronmetric.corrupt import replace
from pronmetric.errors import InputError
from pronmetric.eval import accuracy as evaluation
from pronmetric.slots import slot
from pronmetric.words import words

_OTHER = {"he": "she", "she": "he", "him": "her", "hers": "his", "himself": "herself", "herself": "himself"}
_TRIAL = 600  # the first items, which an early trial was measured on

# Items of the development part whose "her" is an object (him, not his): all 572 with "her" were read one by one.
OBJECT_HER = frozenset(
    int(number)
    for number in (
        "25 67 85 90 108 115 165 223 229 246 311 312 313 331 351 353 359 361 397 451 462 646 654 662 673 700 710 713 "
        "736 761 844 845 850 853 872 877 887 894 935 968 971 984 985 1017 1020 1031 1077 1099 1115 1137 1144 1148 1152 "
        "1153 1157 1215 1238 1333 1352 1355 1357 1361 1376 1379 1390 1395 1430 1471 1484 1545 1556 1564 1599 1621 1626 "
        "1633 1635 1647 1668 1674 1680 1693 1697 1706 1712 1722 1741 1744 1767 1771 1801 1805 1813 1814 1827 1858 1889 "
        "1893 1911 1917 1920 1932 1971 1973 1978 1989 1991"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its sentence, the span of the pronoun in it, the other gender's form and the passage before."""

    id: str
    article: str
    sentence: str
    start: int
    end: int
    pronoun: str
    other: str
    before: str


def read(path: Path) -> list[Item]:
    """The items of a GAP file, in order."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except OSError as error:
        raise InputError(f"no GAP file ({error.strerror}): give the shared folder with --shared", file=path) from error
    return [item(row["ID"], row["URL"], row["Text"], row["Pronoun"], int(row["Pronoun-offset"])) for row in rows]


def item(id: str, article: str, text: str, pronoun: str, offset: int) -> Item:
    """Cut the sentence out of the passage and find the other gender's form of the same case."""
    if text[offset : offset + len(pronoun)] != pronoun:
        raise InputError(f"{id}: expected {pronoun!r} at {offset}, got {text[offset : offset + len(pronoun)]!r}")
    start, end = sentence_at(text, offset)
    return Item(
        id=id,
        article=article,
        sentence=text[start:end],
        start=offset - start,
        end=offset - start + len(pronoun),
        pronoun=pronoun.lower(),
        other=other_gender(id, text, pronoun.lower(), offset),
        before=text[:start].strip(),
    )


def other_gender(id: str, text: str, pronoun: str, offset: int) -> str:
    """The form of the other gender in the same case: "her" is "him" or "his", "his" is "her" or "hers", by slot."""
    if pronoun in _OTHER:
        return _OTHER[pronoun]
    if id.startswith("development-"):
        determiner = pronoun == "his" or int(id.removeprefix("development-")) not in OBJECT_HER
    else:
        split = words(text)
        determiner = slot(split, [word.start for word in split].index(offset)) == "possessive determiner"
    return {"her": "his" if determiner else "him", "his": "her" if determiner else "hers"}[pronoun]


def contrast(item: Item) -> Contrast:
    """The sentence, and the same with the pronoun of the other gender."""
    return Contrast(item.sentence, replace(item.sentence, item.start, item.end, item.other))


def measure(score: Scorer, items: Sequence[Item], *, seed: int = 0) -> dict[str, Any]:
    """All figures of a scorer on the items, from one call of `score`."""
    articles = [item.article for item in items]
    own = [(item.before,) if item.before else () for item in items]
    contexts = {
        COMMON: scoring.same(own),
        NONE: scoring.same([() for _ in items]),
        SHUFFLED: scoring.same(scoring.shuffled(own, items=[item.id for item in items], groups=articles, seed=seed)),
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
        **{kind: evaluation.accuracy(found.decisions, articles, seed=seed) for kind, found in judged.items()},
        "context_gain": scoring.difference(common, judged[NONE], articles, seed=seed),
        "shuffled_gain": scoring.difference(judged[SHUFFLED], judged[NONE], articles, seed=seed),
        "by_pronoun": {
            kind: evaluation.accuracy_by(
                [f"{item.pronoun} -> {item.other}" for item in items], judged[kind].decisions, articles, seed=seed
            )
            for kind in (COMMON, NONE)
        },
        "by_passage": evaluation.accuracy_by(
            ["passage before" if item.before else "nothing before" for item in items],
            common.decisions,
            articles,
            seed=seed,
        ),
        "first_600": {kind: _first(judged[kind], articles, seed) for kind in (COMMON, NONE, SHUFFLED)},
        "unscored": sum(unscored),
    }


def _first(judged: scoring.Judged, articles: Sequence[str], seed: int) -> evaluation.Accuracy:
    part = scoring.judged_of(judged.better[:_TRIAL], judged.worse[:_TRIAL])
    return evaluation.accuracy(part.decisions, articles[:_TRIAL], seed=seed)


def show(figures: Mapping[str, Any]) -> str:
    """The figures as two short tables."""
    kinds = [
        [
            kind,
            scoring.percent(figures[kind]),
            figures[kind].equal,
            figures[kind].null,
            scoring.percent(figures["first_600"][kind]),
        ]
        for kind in (COMMON, NONE, SHUFFLED)
    ]
    gains = (
        f"common - none {scoring.percent(figures['context_gain'], signed=True)}; "
        f"shuffled - none {scoring.percent(figures['shuffled_gain'], signed=True)}; "
        f"unscored {figures['unscored']}"
    )
    forms = figures["by_pronoun"]
    rows = [
        [form, found.pairs, scoring.percent(found), scoring.percent(forms[NONE][form])]
        for form, found in forms[COMMON].items()
    ]
    return "\n".join(
        [
            scoring.table(["GAP development", "accuracy", "equal", "null", "first 600"], kinds),
            gains,
            "",
            scoring.table(["form", "items", "common", "none"], rows),
        ]
    )


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    scoring.add_shared(parser)
    options = parser.parse_args()
    scoring.weights_hash(options.model)
    items = read(options.shared / "data" / "gap" / "gap-development.tsv")
    scorer = scoring.load(options)
    figures = measure(scorer, items, seed=options.seed)
    scoring.report("gap", options, scorer, figures)
    print(show(figures))


if __name__ == "__main__":
    scoring.run(main)
