"""The board's figures as tables (TSV) and JSON, for download."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pronmetric.eval.correlation import Correlation
from pronmetric.eval.decision import SCORE, SYSTEM_UNITS
from pronmetric.lab.board.figures import ALL, Figures, PairFigures, SystemFigures
from pronmetric.lab.board.human import FIGURES, Agreement, Human
from pronmetric.output import tsv
from pronmetric.output.tsv import DIGITS
from pronmetric.text import strict_json

SYSTEM_COLUMNS = (
    *("testset", "year", "lp", "system", "class", "pronouns", "score", "score_low", "score_high"),
    *("errors_per_100_pronouns", "errors_low", "errors_high", "cluster", "rank_best", "rank_worst", "human"),
)
PAIR_COLUMNS = (
    *("testset", "a", "b", "class", "by", "difference", "difference_low", "difference_high", "p_randomisation"),
    *("a_better", "ties", "b_better"),
)


def systems(boards: Iterable[Figures], human: Human) -> Iterator[str]:
    """The lines of the table of systems: one row for each system and class."""
    yield tsv.line(SYSTEM_COLUMNS)
    for board in boards:
        people = human.get(board.testset.id, {})
        for name, group in board.groups.items():
            for system, found in zip(board.systems, group.systems, strict=True):
                head = board.testset.id, board.testset.year, board.testset.lp, system, name
                yield tsv.line([*head, *_system(found).values(), people.get(system)])


def pairs(boards: Iterable[Figures]) -> Iterator[str]:
    """The lines of the table of pairs, for each two systems of a test set: by score, one of each class of pronouns.

    Before them one by what decides, where it is not the score.
    """
    yield tsv.line(PAIR_COLUMNS)
    for board in boards:
        parts = [] if board.by == SCORE else [(ALL, board.by, board.verdicts)]
        for name, by, found in [*parts, *((name, SCORE, group.pairs) for name, group in board.groups.items())]:
            for (a, b), pair in found.items():
                yield tsv.line([board.testset.id, board.systems[a], board.systems[b], name, by, *_pair(pair).values()])


def content(boards: Sequence[Figures], human: Human, agreement: Agreement) -> str:
    """All figures as JSON."""
    return strict_json.dump(
        {
            "human_correlation": {
                "mean": _correlations(agreement.mean),
                "mean_of_held_out": _correlations(agreement.held_out),
                "testsets": {
                    name: {"systems": len(found.systems), **_correlations({k: getattr(found, k) for k in FIGURES})}
                    for name, found in agreement.sets.items()
                },
            },
            "testsets": [_testset(board, human.get(board.testset.id, {})) for board in boards],
        }
    )


def _testset(board: Figures, people: Mapping[str, float]) -> dict[str, Any]:
    return {
        **board.testset._asdict(),
        "segments": board.segments,
        "resampled": board.resampled,
        "by": board.by,
        "unit": SYSTEM_UNITS[board.by],
        "verdicts": _pairs(board, board.verdicts),
        "signature": board.signature,
        "human": {system: people[system] for system in board.systems if system in people},
        "classes": {
            name: {
                "systems": [
                    {"system": system, **_system(found)}
                    for system, found in zip(board.systems, group.systems, strict=True)
                ],
                "pairs": _pairs(board, group.pairs),
            }
            for name, group in board.groups.items()
        },
    }


def _pairs(board: Figures, pairs: Mapping[tuple[int, int], PairFigures]) -> list[dict[str, Any]]:
    return [{"a": board.systems[a], "b": board.systems[b], **_pair(found)} for (a, b), found in pairs.items()]


def _system(found: SystemFigures) -> dict[str, float | None]:
    low, high = found.interval or (None, None)
    fewest, most = found.errors_interval or (None, None)
    place = found.place
    return {
        "pronouns": found.pronouns,
        "score": rounded(found.score),
        "score_low": rounded(low),
        "score_high": rounded(high),
        "errors_per_100_pronouns": rounded(found.errors),
        "errors_low": rounded(fewest),
        "errors_high": rounded(most),
        "cluster": None if place is None else place.cluster,
        "rank_best": None if place is None else place.best,
        "rank_worst": None if place is None else place.worst,
    }


def _pair(found: PairFigures) -> dict[str, float | None]:
    low, high = found.interval or (None, None)
    return {
        "difference": rounded(found.difference),
        "difference_low": rounded(low),
        "difference_high": rounded(high),
        "p_randomisation": rounded(found.p),
        "a_better": found.wins,
        "ties": found.ties,
        "b_better": found.losses,
    }


def _correlations(found: Mapping[str, Correlation]) -> dict[str, Any]:
    return {
        name: {"value": rounded(one.value), "low": rounded(one.low), "high": rounded(one.high)}
        for name, one in found.items()
    }


def rounded(value: float | None, digits: int = DIGITS) -> float | None:
    """A figure with the decimals that files have."""
    return None if value is None else round(value, digits)
