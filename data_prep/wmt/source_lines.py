"""Source lines of WMT test sets with their references and system outputs, to learn a source table from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from data_prep.wmt import discovery
from data_prep.wmt.testset import TestSet
from pronmetric.alignment.source_fit import Line, make_line
from pronmetric.errors import InputError
from pronmetric.text.context import SourceHistory


def testsets(folder: str, language: str, *, exclude: Sequence[str] = ()) -> tuple[TestSet, ...]:
    """The test sets of a folder from a language into English; those reserved for tests are always left out.

    Raises:
        InputError: there is none.
    """
    rule = (*discovery.RESERVED, *exclude)
    found = discovery.discover(folder, pairs=[f"{language}-en"], exclude=rule).testsets
    if not found:
        raise InputError(f"no test set {language}-en left after --exclude", file=folder)
    return found


def read(found: Iterable[TestSet]) -> Iterator[Line]:
    """Their lines, with the source lines before each in its document; lines without a source are left out."""
    for testset in found:
        for document in discovery.read(testset):
            history = SourceHistory()
            for segment in document.segments:
                if segment.src is not None and segment.src.strip():
                    texts = [*segment.refs.values(), *segment.hyps.values()]
                    yield make_line(history.source(segment.src), texts)
