"""What a source sentence shows about one English pronoun: features with a value and the source word they come from.

- l=WORD: the word linked to the pronoun ("l=": none). l$XX: its ending. n$XX: the ending of the word after it.
- w=WORD, u=WORD: closed-class forms near the place of the pronoun, linked to nothing or to another word. z$XX: endings
  of other words near it. Their values fall with the distance.
- v1=, v2=, v1$, v2$: the source word of the next English word or of the one after (often a verb), and its endings.
- s=CLASSES, c=CLASSES: how often forms that stand for these English classes occur in the sentence, and in the previous
  sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import ceil, floor
from typing import NamedTuple

from pronmetric.pronouns.closed_class import ClosedClass
from pronmetric.source.words import SourceWords, weigh

WINDOW = 4  # source words around a pronoun's place in which closed-class forms count
NEAR = 2  # and in which endings of other words count
NOWHERE = -1


class Feature(NamedTuple):
    """at: the place of the source word; `NOWHERE` for a whole sentence."""

    name: str
    value: float
    at: int = NOWHERE


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


class Counted(NamedTuple):
    """The classes of closed-class forms of a sentence and of those before it."""

    here: Counter[str]
    before: Counter[str]


def features(source: SourceWords, counted: Counted, links: Links, index: int, table: ClosedClass) -> Iterator[Feature]:
    """The features of the pronoun that is English word `index`."""
    at = links.of.get(index)
    if at is None:
        yield Feature("l=", 1.0)
    else:
        form = source.forms[at]
        yield Feature(f"l={form}", 1.0, at)
        if form not in table.english and len(form) > 3:
            yield Feature(f"l${form[-2:]}", 1.0, at)
        if at + 1 < len(source.forms):
            yield Feature(f"n${source.forms[at + 1][-2:]}", 1.0, at + 1)
    place = links.place(index, len(source.forms))
    for k in range(max(0, ceil(place - NEAR)), min(len(source.forms), floor(place + NEAR) + 1)):
        form = source.forms[k]
        if k != at and len(form) > 3 and form not in table.english:
            yield Feature(f"z${form[-2:]}", 1 / (1 + abs(k - place)), k)
            yield Feature(f"z${form[-3:]}", 1 / (1 + abs(k - place)), k)
    for k in source.closed:
        distance = abs(k - place)
        if k != at and distance <= WINDOW:
            yield Feature(f"{'u' if k in links.linked else 'w'}={source.forms[k]}", 1 / (1 + distance), k)
    for step in (1, 2):
        verb = links.of.get(index + step)
        if verb is not None and verb != at:
            form = source.forms[verb]
            yield Feature(f"v{step}={form}", 1.0, verb)
            yield Feature(f"v{step}${form[-2:]}", 1.0, verb)
            yield Feature(f"v{step}${form[-3:]}", 1.0, verb)
            break
    yield from (Feature(f"s={name}", value) for name, value in weigh(counted.here))
    yield from (Feature(f"c={name}", value) for name, value in weigh(counted.before))
