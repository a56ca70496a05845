"""Sets of judged pairs in named parts, the contexts in which their texts are scored, and their files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.shuffling import shuffle_contexts
from pronmetric.lab.human import gap, judged_pairs
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.human.pair_accuracy import clusters_of
from pronmetric.text.context import NONE, RESPECTIVE, Text, join
from pronmetric.text.lines import iter_lines

SHUFFLED = "shuffled"


@dataclass(frozen=True, slots=True)
class PairSet:
    """Judged pairs in named parts, each of which is evaluated separately.

    respective: the context of text B by the pair's id, if text B has its own context (a system's previous
    sentences). testsets: ids such as newstest2021.de-en, if known.
    """

    name: str
    parts: Mapping[str, Sequence[JudgedPair]]
    respective: Mapping[str, tuple[str, ...]] | None = None
    testsets: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[JudgedPair]:
        """All pairs, part by part."""
        return chain.from_iterable(self.parts.values())

    def texts(self, context: str, *, seed: int) -> Iterator[Text]:
        """Text A and text B of each pair in a context: common, respective, none or shuffled.

        Raises:
            PronmetricError: the pairs have no respective context.
        """
        if context == RESPECTIVE and self.respective is None:
            raise PronmetricError(
                f"{self.name}: both texts of a pair have the same context here, not respective ones; give "
                "`context=common`, or a WMT test set (-d) or prepared folder"
            )
        for part in self.parts.values():
            other = _shuffle_contexts(part, seed) if context == SHUFFLED else None
            for number, pair in enumerate(part):
                a = b = () if context == NONE else pair.context if other is None else other[number]
                if context == RESPECTIVE and self.respective is not None:
                    b = self.respective[pair.id]
                yield Text(join(a), pair.text_a, pair.source)
                yield Text(join(b), pair.text_b, pair.source)


def _shuffle_contexts(pairs: Sequence[JudgedPair], seed: int) -> list[tuple[str, ...]]:
    """For each pair the context of another document; pairs of one document and context share it."""
    _, groups = clusters_of(pairs)
    items = [(group, pair.context) for group, pair in zip(groups, pairs, strict=True)]
    return shuffle_contexts([pair.context for pair in pairs], items=items, groups=groups, seed=seed)


def read_first_line(path: str) -> str:
    """The first non-blank line of a file; "" for an empty file, or for one that can be read only once."""
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        return ""
    return next((line for line in iter_lines(path, kept=False) if line.strip()), "")


def read_file(path: str, *, note: Callable[[str], None]) -> PairSet:
    """The pairs of a JSONL or GAP file, in one part without a name.

    Raises:
        InputError: with file and line, if the file is neither.
    """
    if not gap.is_header(read_first_line(path)):
        return PairSet(path, {"": judged_pairs.read(path)})
    pairs = gap.pairs(gap.read(path))
    repeated = [identity for identity, count in Counter(pair.id for pair in pairs).items() if count > 1]
    if repeated:
        raise InputError(f"duplicate ID {repeated[0]}; each item needs its own", file=path)
    note(f"{path}: GAP, each sentence against its copy with the pronoun of the other gender")
    return PairSet(path, {"": pairs})
