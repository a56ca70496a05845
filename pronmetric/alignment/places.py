"""Links between the words of a source and of a translation, and the place in the source of a word without one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple


class Links(NamedTuple):
    """Links of one sentence pair: English word -> source word; the linked source words; number of English words."""

    of: Mapping[int, int]
    linked: Collection[int]
    size: int

    @classmethod
    def read(cls, links: Iterable[tuple[int, int]], size: int) -> Links:
        """From pairs (source word, English word)."""
        of = {j: i for i, j in links}
        return cls(of, frozenset(of.values()), size)

    def place(self, index: int, source_size: int) -> float:
        """Where in the source the English word `index` belongs: its link, else between those of its neighbours."""
        if index in self.of:
            return float(self.of[index])
        before = max((j for j in self.of if j < index), default=-1)
        after = min((j for j in self.of if j > index), default=self.size)
        first = self.of.get(before, -1)
        last = self.of.get(after, source_size)
        return first + (last - first) * (index - before) / (after - before)
