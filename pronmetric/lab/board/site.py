"""Writes the site: the pages of systems and comparisons test set by test set, then the first page and the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pronmetric.eval.decision import SCORE
from pronmetric.lab.board import examples, figures, pages, tables
from pronmetric.lab.board.figures import Figures
from pronmetric.lab.board.human import Agreement, Human
from pronmetric.lab.board.pages import COMPARE, SYSTEMS, Names
from pronmetric.lab.board.scored import Scored
from pronmetric.output.targets import AtomicFile
from pronmetric.text.corpus import Corpus

INDEX = "index.html"


class Size(NamedTuple):
    """The number of files that were written, and of their bytes."""

    files: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a site.

    worst: pronouns on the page of a system, at most. context_size: number of previous sentences in a context. uses:
    what the checkpoint used a test set for, by id. seed: of the resampling. decision: what decides between two systems,
    one of `DECISIONS`.
    """

    title: str
    worst: int
    context_size: int
    uses: Mapping[str, str]
    seed: int
    decision: str = SCORE


@dataclass(slots=True)
class Site:
    """A site in `folder`, which is made."""

    folder: Path
    settings: Settings
    boards: list[Figures] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    _links: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    _names: Names = field(default_factory=Names)

    def add(self, scored: Scored, corpus: Corpus, *, advance: Callable[[int], object]) -> None:
        """Write the pages of a test set's systems and comparisons; `advance`: see `figures.compute`."""
        board = figures.compute(scored, seed=self.settings.seed, by=self.settings.decision, advance=advance)
        testset = board.testset
        listed = examples.segments(corpus, testset.context, size=self.settings.context_size)
        comparisons, own = self._names(testset.id), [self._names(testset.id, name) for name in board.systems]
        for place, (name, page) in enumerate(zip(board.systems, own, strict=True)):
            worst = examples.worst(scored, listed, name, most=self.settings.worst)
            self._write(f"{SYSTEMS}/{page}", pages.system(board, place, worst, compare=comparisons))
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
        self._write("board.tsv", "".join(tables.systems(self.boards, human)))
        self._write("pairs.tsv", "".join(tables.pairs(self.boards)))
        self._write("board.json", tables.content(self.boards, human, agreement) + "\n")
        self._write(INDEX, page)
        return Size(len(self.written), sum(path.stat().st_size for path in self.written))

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with AtomicFile(path) as file:
            file.write(text)
        self.written.append(path)
