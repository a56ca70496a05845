"""Source lines of WMT test sets with their references and system outputs, to learn a table of counts from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from data_prep.wmt import discovery
from data_prep.wmt.testset import TestSet
from pronmetric.alignment.counts.fit import Line, make_line
from pronmetric.errors import InputError

HELD_OUT = ("wmt14", "wmt22:de-en", "wmt22:zh-en", "wmt23")  # the test and development sets of `prepare`


def testsets(folder: str, language: str, *, exclude: Sequence[str] = HELD_OUT) -> tuple[TestSet, ...]:
    """The test sets of a folder from a language into English; those reserved for tests are always excluded.

    Raises:
        InputError: there is none.
    """
    pair, rule = f"{language}-en", (*discovery.RESERVED, *exclude)
    there = discovery.select(discovery.find(folder), years=None, pairs=[pair])
    found = tuple(testset for testset in there if discovery.reason_to_skip(testset, rule) is None)
    if not found:
        names = ", ".join(testset.id for testset in there)
        message = f"no test set {pair} left: there are {names}; `exclude=` names those to leave out"
        raise InputError(message, file=folder)
    return found


def read(found: Iterable[TestSet]) -> Iterator[Line]:
    """Their lines; those without a source are left out."""
    for testset in found:
        for document in discovery.read(testset):
            for segment in document.segments:
                if segment.src is not None and segment.src.strip():
                    yield make_line(segment.src, [*segment.refs.values(), *segment.hyps.values()])
