"""The design of a study: how many items and annotators, which answers, what is shown."""

from __future__ import annotations

from dataclasses import dataclass

from pronmetric.errors import PronmetricError
from pronmetric.lab.study.item import BOTH, FIRST, NEITHER, SECOND


@dataclass(frozen=True, slots=True)
class Design:
    """The settings of a study.

    items: for each source language, None for all. annotators are divided among the groups, the items too; each
    annotator answers all items of one group. repeated: the share of an annotator's items that come a second time, with
    the versions in the other order. both, neither: third answers. source: whether it is shown. highlight: whether the
    words that differ are marked. strict: see `balance.draw`. ranges: of score differences.
    """

    items: int | None = None
    annotators: int = 3
    groups: int = 1
    repeated: float = 0.1
    both: bool = True
    neither: bool = False
    source: bool = False
    highlight: bool = False
    strict: bool = True
    ranges: int = 3
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse settings that exclude each other."""
        if self.groups > self.annotators:
            raise PronmetricError(
                f"{self.groups} groups of {self.annotators} annotators: a group needs an annotator; "
                "give fewer `groups=`"
            )

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers that annotators can give."""
        return (FIRST, SECOND, *((BOTH,) if self.both else ()), *((NEITHER,) if self.neither else ()))

    def group_of(self, annotator: int) -> int:
        """The group of an annotator, both counted from 0."""
        return annotator % self.groups


PAPER = Design(items=500, annotators=5, groups=2, repeated=0.1, strict=False)
"""The study of Jwalapuram et al. 2019: 500 items a language, five annotators in two groups, 10 % of them twice."""
