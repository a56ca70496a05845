"""Sets of judged pairs in named parts, the contexts in which their texts are scored, and where they are read from.

The pairs of `pronmetric prepare` have the reference as text A, the better one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.decision import A
from pronmetric.eval.resampling import shuffle_contexts
from pronmetric.lab.human import gap, judged_pairs
from pronmetric.lab.human.judged_pairs import STUDY_JUDGE, JudgedPair
from pronmetric.lab.human.pair_accuracy import clusters_of
from pronmetric.text.context import NONE, RESPECTIVE, Text, join
from pronmetric.text.lines import iter_lines
from pronmetric.text.streams import is_stdin

if TYPE_CHECKING:
    from pronmetric.schema import Pair


SHUFFLED = "shuffled"
SPLITS = ("development", "test", "train", "development_study")
SYSTEM, NOISY = "R vs S", "R vs R'"
BLOCK = 20
"""Segments that count as one document if a test set has no document boundaries."""
References = Mapping[tuple[str, str, int], Mapping[str, str]]
"""The references of each segment (test set, language pair, number) by their names."""


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


def read_first_line(path: str) -> str:
    """The first non-blank line of a file; "" for an empty file, or for one that can be read only once."""
    if not is_stdin(path) and Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        return ""
    return next((line for line in iter_lines(path, kept=False) if line.strip()), "")


def read_prepared(folder: str, split: str, *, note: Callable[[str], None]) -> PairSet:
    """The pairs of one split of a prepared folder.

    Raises:
        InputError: the folder is not one, or the split has no such pair.
    """
    from pronmetric.data import arrow

    pairs = list(map(arrow.to_pair, arrow.read_pairs(folder, split)))
    references: dict[tuple[str, str, int], dict[str, str]] = defaultdict(dict)
    for pair in pairs:
        references[pair.testset, pair.lp, pair.seg][pair.ref] = pair.better
    judged = judge_prepared(pairs, references, note=note)
    if not judged.parts:
        raise InputError(f"no pair in split {split}; choose another `split=` or prepare more data", file=folder)
    return replace(judged, name=f"{folder} ({split})")


def judge_prepared(pairs: Iterable[Pair], references: References, *, note: Callable[[str], None]) -> PairSet:
    """Prepared pairs as judged pairs, in the parts R vs S and R vs R'.

    A pair's `reference` is another reference of its segment, if there is one. Pairs without a mismatch of two
    pronouns are left out, and noted.
    """
    parts: dict[str, list[JudgedPair]] = {SYSTEM: [], NOISY: []}
    respective: dict[str, tuple[str, ...]] = {}
    testsets: dict[str, None] = {}
    left_out = 0
    for pair in pairs:
        if not any(mismatch.kind == "pronoun" for mismatch in pair.mismatches):
            left_out += 1
            continue
        testset = f"{pair.testset}.{pair.lp}"
        doc: Hashable = f"{testset}#{pair.seg // BLOCK}" if pair.doc == testset else f"{testset}/{pair.doc}"
        mismatch = pair.mismatches[0] if len(pair.mismatches) == 1 else None
        of_segment = references[pair.testset, pair.lp, pair.seg]
        respective[pair.id] = pair.system_context
        testsets[testset] = None
        parts[SYSTEM if pair.kind == "system" else NOISY].append(
            JudgedPair(
                id=pair.id,
                context=pair.context,
                text_a=pair.better,
                text_b=pair.worse,
                better=A,
                group=testset,
                doc=str(doc),
                pronoun_a=None if mismatch is None else mismatch.ref_form,
                pronoun_b=None if mismatch is None else mismatch.hyp_form,
                judge=STUDY_JUDGE,
                reference=next((text for name, text in of_segment.items() if name != pair.ref and text.strip()), None),
            )
        )
    if left_out:
        note(f"left out: {left_out} pairs whose mismatches are all a pronoun against another word or nothing")
    return PairSet("", {name: part for name, part in parts.items() if part}, respective, tuple(testsets))
