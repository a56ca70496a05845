"""Fidelity: does the metric know who is he, she, they or it, and does it decide by stereotypes where nothing else does?

    python -m benchmarks.checkpoint.fidelity --model FOLDER [--data PREPARED]
        [--by score|preference] [--out FILE.json] [--page]

Levels: passages of the held-out frames, roles and names of `data_prep.fidelity`; the right pronouns against the other
person's, by the number of sentences about the other person in between. Rewritten: annotated documents that were held
out (of --data), with other names, roles and sets of pronouns. Singular they: texts of many genres, written for this
benchmark (singular-they.tsv). Stereotypes: a sentence without context in which nothing but the role's stereotype speaks
for he or she (stereotypes.tsv); 50 % of decisions on its side are unbiased.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import pages
from benchmarks.checkpoint import scoring
from benchmarks.checkpoint.scoring import COMMON, Contrast, Judged, Scorer
from data_prep.fidelity import passages
from data_prep.fidelity.frames import fill, pronouns, tables
from pronmetric.data import arrow
from pronmetric.eval import accuracy as evaluation
from pronmetric.eval.estimates import cluster_share
from pronmetric.report.tables import Table, markdown
from pronmetric.schema import FIDELITY, Pair

PAGE = pages.PUBLISHED / "fidelity.md"
THEY, STEREOTYPES = (Path(__file__).with_name(f"{name}.tsv") for name in ("singular-they", "stereotypes"))
SETS = ("he", "she", "they", "it")
NUMBER = 200  # pairs of a level
_OTHER = {"he": "she", "she": "he"}
_EITHER = re.compile(r"\{([^|}]*)\|([^|}]*)\}")


class Item(NamedTuple):
    """Two versions of a text with their context; `unit`: what an interval is over."""

    contrast: Contrast
    context: Sequence[str]
    unit: str


def levels(number: int, *, seed: int) -> dict[int, list[Pair]]:
    """`number` pairs of each level, the sets of the right pronouns in turn."""
    known = tables("development")
    return {
        level: [
            passages.Writer(np.random.default_rng([seed, level, at]), known).pair(
                level, number=at + 1, pronouns_of=SETS[at % len(SETS)]
            )
            for at in range(number)
        ]
        for level in range(passages.LEVELS)
    }


def rewritten(folder: Path) -> list[Pair]:
    """The held-out pairs of rewritten documents of a prepared folder."""
    rows = arrow.read_pairs(folder, arrow.FIDELITY_SPLITS[1])
    return [pair for pair in map(arrow.to_pair, rows) if pair.kind == FIDELITY and pair.testset != passages.SOURCE]


def singular_they() -> list[tuple[str, Item]]:
    """The texts with an established singular they, against he or she, with their genres."""
    found = []
    for number, (genre, context, sentence) in enumerate(_rows(THEY)):
        texts = [_EITHER.sub(lambda match, side=side: match[side], sentence) for side in (1, 2)]
        found.append((genre, Item(Contrast(*texts), (context,), str(number))))
    return found


def stereotypes() -> list[tuple[str, Item]]:
    """Sentences with the pronoun that a role's stereotype speaks for, against the other; with that set of pronouns."""
    rows = _rows(STEREOTYPES)
    frames = [value for kind, value in rows if kind == "frame"]
    return [
        (side, Item(Contrast(*(_filled(frame, role, name) for name in (side, _OTHER[side]))), (), role))
        for side, role in rows
        if side in _OTHER
        for frame in frames
    ]


def _filled(frame: str, role: str, name: str) -> str:
    return fill(frame, {"X": role}, [name] * pronouns(frame)).text


def _rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def measure(score: Scorer, held_out: Sequence[Pair] = (), *, number: int = NUMBER, seed: int = 0) -> dict[str, Any]:
    """All figures of a scorer, from one call of `score`; `held_out`: the pairs of rewritten documents."""
    by_level, they, roles = levels(number, seed=seed), singular_they(), stereotypes()
    generated = [pair for pairs in by_level.values() for pair in pairs]
    items = [
        *(Item(Contrast(pair.better, pair.worse), pair.context, pair.doc) for pair in (*generated, *held_out)),
        *(item for _, item in (*they, *roles)),
    ]
    contexts = {COMMON: scoring.same([item.context for item in items])}
    judged = scoring.judge(score, [item.contrast for item in items], contexts, seed=seed)
    sizes = [len(generated), len(held_out), len(they), len(roles)]
    ends = np.cumsum([0, *sizes])
    of_frames, natural, of_they, of_roles = (
        scoring.pick(judged, range(begin, end))[COMMON] for begin, end in pairwise(ends)
    )
    figures: dict[str, Any] = {
        "levels": {
            str(level): _by_set(pairs, scoring.pick({COMMON: of_frames}, range(at, at + number))[COMMON])
            for at, (level, pairs) in zip(range(0, len(generated), number), by_level.items(), strict=True)
        },
        "they": {
            "all": evaluation.accuracy(of_they.decisions, [item.unit for _, item in they]),
            "genres": evaluation.accuracy_by(
                [genre for genre, _ in they], of_they.decisions, [item.unit for _, item in they]
            ),
        },
        "stereotypes": _bias(roles, of_roles),
    }
    if held_out:
        figures["rewritten"] = _by_set(held_out, natural, units=[pair.doc for pair in held_out])
    return figures


def _by_set(pairs: Sequence[Pair], judged: Judged, *, units: Sequence[str] | None = None) -> dict[str, Any]:
    """Accuracy of all pairs and by the set of the right pronouns; a generated pair is a unit of its own."""
    own = [str(number) for number in range(len(pairs))] if units is None else units
    return {
        "all": evaluation.accuracy(judged.decisions, own),
        **evaluation.accuracy_by([pair.ref for pair in pairs], judged.decisions, own),
    }


def _bias(roles: Sequence[tuple[str, Item]], judged: Judged) -> dict[str, Any]:
    """The share of decisions on the stereotype's side, an equal score as one half; intervals are over roles."""
    decisions = judged.decisions
    sides = decisions.right + 0.5 * decisions.equal
    units = [item.unit for _, item in roles]
    he = np.array([side == "he" for side, _ in roles])
    return {
        "pairs": len(roles),
        "share": cluster_share(sides, units),
        "he": float(np.where(he, sides, 1 - sides).mean()),
    }


def page(content: Mapping[str, Any]) -> str:
    """The page as Markdown, from the JSON of the figures."""
    figures = content["figures"]
    groups = [(f"level {level}", found) for level, found in figures["levels"].items()]
    groups += [("rewritten documents", figures["rewritten"])] if "rewritten" in figures else []
    rows = [(name, *(_share(found.get(each)) for each in ("all", *SETS))) for name, found in groups]
    genres = [(genre, str(found["pairs"]), _share(found)) for genre, found in figures["they"]["genres"].items()]
    every, bias = figures["they"]["all"], figures["stereotypes"]
    shown = [
        Table("The right pronouns against another person's", ("passages", "all", *SETS), tuple(rows)),
        Table(
            "Singular they that the text has established, against he or she",
            ("genre", "texts", "accuracy"),
            (("all", str(every["pairs"]), _share(every)), *genres),
        ),
    ]
    share = bias["share"]
    return pages.fill(
        "fidelity",
        weights=content["weights"],
        date=content["date"],
        signature=content["signature"],
        command=content["command"],
        tables=markdown(shown),
        share=100 * share["value"],
        low=100 * share["low"],
        high=100 * share["high"],
        pairs=bias["pairs"],
        he=100 * bias["he"],
    )


def _share(value: Mapping[str, Any] | None) -> str:
    if value is None:
        return ""
    text = f"{100 * value['accuracy']:.1f}"
    return text if value["low"] is None else f"{text} [{100 * value['low']:.1f}, {100 * value['high']:.1f}]"


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    parser.add_argument("--data", type=Path, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--number", type=int, default=NUMBER, help="pairs of a level (default: %(default)s)")
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help=f"default {PAGE.name}")
    options = parser.parse_args()
    pages.weights_hash(options.model)
    held_out = [] if options.data is None else rewritten(options.data)
    scorer = scoring.load(options)
    content = scoring.report(
        "fidelity", options, scorer, measure(scorer, held_out, number=options.number, seed=options.seed)
    )
    if options.page is not None:
        pages.write_page(options.page, page(content), content)
    print(page(content))


if __name__ == "__main__":
    pages.run(main)
