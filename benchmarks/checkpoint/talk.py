"""Talk: does the metric tell I and my from you and your by who speaks?

    python -m benchmarks.checkpoint.talk --model FOLDER [--out FILE.json]

Dialogues of two people written for this benchmark (talk.tsv: business, support, television). Two lines follow each
dialogue, one by each of the two; in it the right I, my, we, you or your is exchanged for the other person's, which is
grammatical too. The area is that of the probabilities of these pronouns, right ones against wrong ones, with the names
of the speakers and without them; intervals are over dialogues.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import pages
from benchmarks.checkpoint import scoring
from benchmarks.checkpoint.scoring import Record, Result, Scorer
from pronmetric.errors import InputError
from pronmetric.eval.detection import DRAWS, roc_auc
from pronmetric.eval.estimates import Estimate, bootstrap, cluster_share

DIALOGUES = Path(__file__).with_suffix(".tsv")
KINDS = ("right", "wrong")
NAMED, UNNAMED = WAYS = ("with speakers", "without speakers")
_EITHER = re.compile(r"\{([^|}]*)\|([^|}]*)\}")
Span = tuple[int, int]


class Line(NamedTuple):
    """A line that ends a dialogue, with the right pronouns and with the wrong ones, and their spans in both.

    context, speakers: the lines before it, and who says each.
    """

    genre: str
    dialogue: str
    speaker: str
    context: tuple[str, ...]
    speakers: tuple[str, ...]
    texts: tuple[str, str]
    spans: tuple[tuple[Span, ...], tuple[Span, ...]]

    def record(self, side: int, *, named: bool) -> Record:
        """The right (0) or the wrong (1) text as a record."""
        record = Record(text=self.texts[side], context=list(self.context))
        return Record(**record, speaker=self.speaker, context_speakers=list(self.speakers)) if named else record


def read(path: Path = DIALOGUES) -> list[Line]:
    """The lines of a table of dialogues.

    Raises:
        InputError: a line without a speaker, or without a choice of pronouns.
    """
    found = []
    for number, row in enumerate(path.read_text(encoding="utf-8").splitlines()[1:], start=2):
        genre, dialogue, line = row.split("\t")
        (*speakers, speaker), (*context, text) = zip(
            *(_split(part, path, number) for part in (*dialogue.split(" | "), line)), strict=True
        )
        if not _EITHER.search(text):
            raise InputError("expected a choice {right|wrong} in the line", file=path, line=number)
        (right, of_right), (wrong, of_wrong) = (_written(text, side) for side in (1, 2))
        found.append(
            Line(genre, dialogue, speaker, tuple(context), tuple(speakers), (right, wrong), (of_right, of_wrong))
        )
    return found


def _split(part: str, path: Path, number: int) -> tuple[str, str]:
    """The speaker of a line of a dialogue, and what is said."""
    speaker, colon, text = part.partition(": ")
    if not colon:
        raise InputError(f"expected NAME: TEXT, got {part!r}", file=path, line=number)
    return speaker, text


def _written(text: str, side: int) -> tuple[str, tuple[Span, ...]]:
    """The text with the pronouns of one side, and their spans."""
    written, spans, end = "", [], 0
    for match in _EITHER.finditer(text):
        written += text[end : match.start()]
        spans.append((len(written), len(written) + len(match[side])))
        written, end = written + match[side], match.end()
    return written + text[end:], tuple(spans)


def probabilities(score: Scorer, lines: Sequence[Line], *, seed: int = 0) -> dict[str, list[tuple[list[float], ...]]]:
    """By way, of each line its pronouns in the right and in the wrong text, from one call of `score`.

    Raises:
        InputError: a pronoun is not scored, or has no probability.
    """
    asked = [(way, line, side) for way in WAYS for line in lines for side in (0, 1)]
    order = np.random.default_rng(seed).permutation(len(asked)).tolist()
    records = [line.record(side, named=way == NAMED) for way, line, side in (asked[k] for k in order)]
    results = dict(zip(order, score(records), strict=True))
    each = iter([_at(results[k], line, side) for k, (_, line, side) in enumerate(asked)])
    return {way: [(next(each), next(each)) for _ in lines] for way in WAYS}


def _at(result: Result, line: Line, side: int) -> list[float]:
    """The probabilities of the pronouns in question."""
    found = {(p["start"], p["end"]): p["probability"] for p in result["pronouns"]}
    if missing := [line.texts[side][slice(*span)] for span in line.spans[side] if found.get(span) is None]:
        raise InputError(f"no probability of {missing[0]!r} in {line.texts[side]!r}", file=DIALOGUES)
    return [found[span] for span in line.spans[side]]


def measure(score: Scorer, lines: Sequence[Line], *, seed: int = 0) -> dict[str, Any]:
    """The figures with and without speakers, and the gain in the area."""
    scored = probabilities(score, lines, seed=seed)
    dialogues = [line.dialogue for line in lines]
    items = [(line, side) for line in lines for side in (0, 1) for _ in line.spans[side]]
    wrong = np.array([side == 1 for _, side in items])
    doubt = {way: -np.array([p for sides in scored[way] for each in sides for p in each]) for way in WAYS}

    def area(values: Mapping[str, float], part: NDArray[np.intp]) -> Estimate | None:
        """The area of some items, or a sum of areas, one a way, each of a weight."""

        def figure(weights: NDArray[np.float64]) -> float | None:
            each = [(by, roc_auc(wrong[part], doubt[way][part], weights)) for way, by in values.items()]
            return None if any(one is None for _, one in each) else sum(by * (one or 0.0) for by, one in each)

        return bootstrap(figure, [items[k][0].dialogue for k in part.tolist()], draws=DRAWS, seed=seed)

    every = np.arange(len(items))
    genres = np.array([line.genre for line, _ in items])
    parts = {"all": every} | {str(genre): every[genres == genre] for genre in np.unique(genres)}
    return {
        "dialogues": len(set(dialogues)),
        "lines": len(lines),
        "pronouns": int(wrong.sum()),
        **{
            way: {
                "area": {name: area({way: 1.0}, part) for name, part in parts.items()},
                "right_preferred": cluster_share([mean(a) > mean(b) for a, b in scored[way]], dialogues),
                "median_of_right": float(np.median(-doubt[way][~wrong])),
                "median_of_wrong": float(np.median(-doubt[way][wrong])),
            }
            for way in WAYS
        },
        "gain": area({NAMED: 1.0, UNNAMED: -1.0}, every),
    }


def show(figures: dict[str, Any]) -> str:
    """The figures as a table."""
    ways = [figures[way] for way in WAYS]
    rows = [[f"area, {name}", *(pages.percent(way["area"][name]) for way in ways)] for name in ways[0]["area"]]
    rows.append(["right text preferred", *(pages.percent(way["right_preferred"]) for way in ways)])
    rows += [[f"median, {kind} pronouns", *(f"{way[f'median_of_{kind}']:.2f}" for way in ways)] for kind in KINDS]
    counts = f"{figures['pronouns']} pronouns in {figures['lines']} lines of {figures['dialogues']} dialogues"
    return f"{pages.table([counts, *WAYS], rows)}\ngain in the area {pages.percent(figures['gain'], signed=True)}"


def main() -> None:
    """Run from the command line."""
    options = scoring.arguments(__doc__).parse_args()
    pages.weights_hash(options.model)
    scorer = scoring.load(options)
    figures = measure(scorer, read(), seed=options.seed)
    scoring.report("talk", options, scorer, figures)
    print(show(figures))


if __name__ == "__main__":
    pages.run(main)
