"""Writes the site: the pages of systems and comparisons test set by test set, then the first page and the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.eval.correlation import Correlation
from pronmetric.eval.decision import SCORE, SYSTEM_UNITS
from pronmetric.lab.board import breakdown, examples, figures, pages
from pronmetric.lab.board.figures import ALL, Figures, PairFigures, SystemFigures, rounded
from pronmetric.lab.board.human import FIGURES, Agreement, Human
from pronmetric.lab.board.pages import COMPARE, SYSTEMS, Names
from pronmetric.lab.board.scored import BoardScores
from pronmetric.output import tsv
from pronmetric.output.targets import AtomicFile
from pronmetric.pronouns.languages import Language
from pronmetric.text import strict_json
from pronmetric.text.corpus import Corpus

INDEX = "index.html"
SYSTEM_COLUMNS = (
    *("testset", "year", "lp", "system", "class", "pronouns", "score", "score_low", "score_high"),
    *("errors_per_100_pronouns", "errors_low", "errors_high", "cluster", "rank_best", "rank_worst", "human"),
)
APART_COLUMNS = (
    "expected_wrong_per_100_pronouns",
    "expected_missing_per_100_pronouns",
    "expected_surplus_per_100_pronouns",
)
"""Where missing pronouns are known, of all pronouns together; without the last, surplus ones are among the wrong."""
PAIR_COLUMNS = (
    *("testset", "a", "b", "class", "by", "difference", "difference_low", "difference_high", "p_randomisation"),
    *("a_better", "ties", "b_better"),
)
BUCKET_COLUMNS = "testset", "by", "bucket", "system", "pronouns", "mean_probability", "doubtful"


class Size(NamedTuple):
    """The number of files that were written, and of their bytes."""

    files: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a site.

    worst: pronouns on the page of a system, at most. context_size: number of previous sentences in a context. uses:
    what the checkpoint used a test set for, by id. seed: of the resampling. decision: what decides between two systems,
    one of `DECISIONS`. language: of the texts.
    """

    title: str
    worst: int
    context_size: int
    uses: Mapping[str, str]
    seed: int
    language: Language
    decision: str = SCORE


@dataclass(slots=True)
class Site:
    """A site in `folder`, which is made."""

    folder: Path
    settings: Settings
    boards: list[Figures] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    _buckets: list[str] = field(default_factory=lambda: [tsv.line(BUCKET_COLUMNS)])
    _links: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    _names: Names = field(default_factory=Names)

    def add(self, scored: BoardScores, corpus: Corpus, *, advance: Callable[[int], object]) -> None:
        """Write the pages of a test set's systems and comparisons; `advance`: see `figures.compute`."""
        board = figures.compute(scored, seed=self.settings.seed, by=self.settings.decision, advance=advance)
        testset = board.testset
        listed = examples.segments(corpus, testset.context, size=self.settings.context_size)
        comparisons, own = self._names(testset.id), [self._names(testset.id, name) for name in board.systems]
        found = breakdown.collect(scored, listed, self.settings.language)
        for place, (name, page) in enumerate(zip(board.systems, own, strict=True)):
            worst = examples.worst(scored, listed, name, most=self.settings.worst)
            where = breakdown.tables(found, name, place)
            self._write(f"{SYSTEMS}/{page}", pages.system(board, place, worst, where, compare=comparisons))
        self._buckets += (tsv.line([testset.id, *row]) for row in breakdown.rows(found, board.systems))
        self._write(f"{COMPARE}/{comparisons}", pages.compare(board, scored, listed))
        self.boards.append(board)
        self._links[testset.id] = comparisons, own

    def finish(self, human: Human, agreement: Agreement) -> Size:
        """Write the first page and the tables for download."""
        page = pages.index(
            self.boards,
            human,
            agreement,
            title=self.settings.title,
            uses=self.settings.uses,
            links=self._links,
            context_size=self.settings.context_size,
            decision=self.settings.decision,
        )
        self._write("board.tsv", "".join(system_lines(self.boards, human)))
        self._write("pairs.tsv", "".join(pair_lines(self.boards)))
        self._write("buckets.tsv", "".join(self._buckets))
        self._write("board.json", content(self.boards, human, agreement) + "\n")
        self._write(INDEX, page)
        return Size(len(self.written), sum(path.stat().st_size for path in self.written))

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with AtomicFile(path) as file:
            file.write(text)
        self.written.append(path)


def system_lines(boards: Iterable[Figures], human: Human) -> Iterator[str]:
    """The lines of the table of systems: one row for each system and class."""
    boards = list(boards)
    apart = any(own.missing is not None for board in boards for own in board.groups[ALL].systems)
    yield tsv.line([*SYSTEM_COLUMNS, *(APART_COLUMNS if apart else ())])
    for board in boards:
        people = human.get(board.testset.id, {})
        for name, group in board.groups.items():
            for system, own in zip(board.systems, group.systems, strict=True):
                head = board.testset.id, board.testset.year, board.testset.lp, system, name
                more = [_apart(own).get(key) for key in APART_COLUMNS] if apart else []
                yield tsv.line([*head, *_system(own).values(), people.get(system), *more])


def pair_lines(boards: Iterable[Figures]) -> Iterator[str]:
    """The lines of the table of pairs, for each two systems of a test set: by score, one of each class of pronouns.

    Before them one by what decides, where it is not the score.
    """
    yield tsv.line(PAIR_COLUMNS)
    for board in boards:
        parts = [] if board.by == SCORE else [(ALL, board.by, board.verdicts)]
        for name, by, compared in [*parts, *((name, SCORE, group.pairs) for name, group in board.groups.items())]:
            for (a, b), pair in compared.items():
                yield tsv.line([board.testset.id, board.systems[a], board.systems[b], name, by, *_pair(pair).values()])


def content(boards: Sequence[Figures], human: Human, agreement: Agreement) -> str:
    """All figures as JSON."""
    return strict_json.dump(
        {
            "human_correlation": {
                "mean": _correlations(agreement.mean),
                "mean_of_held_out": _correlations(agreement.held_out),
                "testsets": {
                    name: {"systems": len(own.systems), **_correlations({k: getattr(own, k) for k in FIGURES})}
                    for name, own in agreement.sets.items()
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
                    {"system": system, **_system(own), **_apart(own)}
                    for system, own in zip(board.systems, group.systems, strict=True)
                ],
                "pairs": _pairs(board, group.pairs),
            }
            for name, group in board.groups.items()
        },
    }


def _pairs(board: Figures, pairs: Mapping[tuple[int, int], PairFigures]) -> list[dict[str, Any]]:
    return [{"a": board.systems[a], "b": board.systems[b], **_pair(own)} for (a, b), own in pairs.items()]


def _system(own: SystemFigures) -> dict[str, float | None]:
    low, high = own.interval or (None, None)
    fewest, most = own.errors_interval or (None, None)
    place = own.place
    return {
        "pronouns": own.pronouns,
        "score": rounded(own.score),
        "score_low": rounded(low),
        "score_high": rounded(high),
        "errors_per_100_pronouns": rounded(own.errors),
        "errors_low": rounded(fewest),
        "errors_high": rounded(most),
        "cluster": None if place is None else place.cluster,
        "rank_best": None if place is None else place.best,
        "rank_worst": None if place is None else place.worst,
    }


def _apart(own: SystemFigures) -> dict[str, float | None]:
    if own.missing is None:
        return {}
    known = zip(APART_COLUMNS, map(rounded, (own.wrong, own.missing.value, own.surplus)), strict=True)
    return {column: value for column, value in known if value is not None}


def _pair(own: PairFigures) -> dict[str, float | None]:
    low, high = own.interval or (None, None)
    return {
        "difference": rounded(own.difference),
        "difference_low": rounded(low),
        "difference_high": rounded(high),
        "p_randomisation": rounded(own.p),
        "a_better": own.wins,
        "ties": own.ties,
        "b_better": own.losses,
    }


def _correlations(correlations: Mapping[str, Correlation]) -> dict[str, Any]:
    return {
        name: {"value": rounded(one.value), "low": rounded(one.low), "high": rounded(one.high)}
        for name, one in correlations.items()
    }
