"""Pairs of `pronmetric prepare` as judged pairs: the reference is text A and the better one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pronmetric.errors import InputError
from pronmetric.eval.decision import A
from pronmetric.lab.human.judged_pairs import STUDY_JUDGE, JudgedPair
from pronmetric.lab.human.pair_sets import PairSet

if TYPE_CHECKING:
    from pronmetric.schema import Pair

SPLITS = ("development", "test", "train", "development_study")
SYSTEM, NOISY = "R vs S", "R vs R'"
BLOCK = 20
"""Segments that count as one document if a test set has no document boundaries."""
References = Mapping[tuple[str, str, int], Mapping[str, str]]
"""The references of each segment (test set, language pair, number) by their names."""


def read(folder: str, split: str, *, note: Callable[[str], None]) -> PairSet:
    """The pairs of one split of a prepared folder.

    Raises:
        InputError: the folder is not one, or the split has no such pair.
    """
    from pronmetric.data import arrow

    pairs = list(map(arrow.to_pair, arrow.read_pairs(folder, split)))
    references: dict[tuple[str, str, int], dict[str, str]] = defaultdict(dict)
    for pair in pairs:
        references[pair.testset, pair.lp, pair.seg][pair.ref] = pair.better
    found = convert(pairs, references, note=note)
    if not found.parts:
        raise InputError(f"no pair in split {split}; choose another `split=` or prepare more data", file=folder)
    return replace(found, name=f"{folder} ({split})")


def convert(pairs: Iterable[Pair], references: References, *, note: Callable[[str], None]) -> PairSet:
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
