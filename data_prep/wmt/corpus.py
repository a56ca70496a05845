"""A WMT test set as a corpus to score: the outputs of all systems by segment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from data_prep.wmt import discovery, evalset, jsonl
from data_prep.wmt.testset import TestSet
from pronmetric.errors import InputError, PronmetricError
from pronmetric.schema import Document, Segment
from pronmetric.text import language_codes
from pronmetric.text.corpus import Corpus, Row


def find(dataset: str, folder: str, *, target: str = "en") -> TestSet:
    """The one test set `NAME:LP` of a folder.

    Raises:
        PronmetricError: there is none, there are several, it is not into the language `target`.
    """
    there = discovery.find(folder)
    found = [testset for testset in there if discovery.matches(testset, dataset)]
    if len(found) > 1:  # "wmt23" is the name of a test set and the year of "wmt23.sent"
        found = [testset for testset in found if testset.name == dataset.partition(":")[0]] or found
    if len(found) != 1:
        ids = ", ".join(testset.id for testset in (found or there)) or "none"
        problem = "is the name of several test sets" if found else "is no test set there"
        lonely = None if found else discovery.without_collection(folder)
        cause = f"; {lonely.id}: {lonely.reason}" if lonely else ""
        raise InputError(f"{dataset!r} {problem}; there are: {ids}{cause}", file=folder)
    if found[0].target != target:
        other = found[0].target
        raise PronmetricError(
            f"{dataset} is into {other}, and texts in {language_codes.name(target)} are scored: give a pair into "
            f"{target}, or a model of {other} with `lang={other}`"
        )
    return found[0]


def read(
    dataset: str,
    folder: str,
    systems: Sequence[str] | None,
    note: Callable[[str], None],
    *,
    references: Sequence[str] | None = None,
    target: str = "en",
) -> Corpus:
    """A WMT test set `NAME:LP` of a folder into the language `target`, with all its systems or the given ones.

    Without `references` each segment has its first reference; otherwise each of the given ones, empty if the segment
    does not have it. Without `systems` references are none; a reference that `systems` names is scored like one.
    """
    testset = find(dataset, folder, target=target)
    return read_testset(testset, systems, note, references=references, called=dataset, folder=folder)


def read_testset(
    testset: TestSet,
    systems: Sequence[str] | None,
    note: Callable[[str], None],
    *,
    references: Sequence[str] | None = None,
    called: str | None = None,
    folder: str | Path | None = None,
) -> Corpus:
    """The corpus of a test set that was found; `called` and `folder` name it in notes and errors. See `read`."""
    dataset = testset.id if called is None else called
    folder = testset.paths[0] if folder is None else folder
    tally: Counter[str] = Counter()
    documents = list(discovery.read(testset, tally=tally))
    if empty := tally[jsonl.EMPTY]:
        note(f"{dataset}: {empty} {jsonl.EMPTY}, left out")
    if unequal := tally[jsonl.UNEQUAL]:
        note(f"{dataset}: {unequal} {jsonl.UNEQUAL}, left out")
    segments = [segment for document in documents for segment in document.segments]
    for what in (evalset.NO_TEXT, evalset.COPIES):
        if tally[what]:
            note(f"{dataset}: {tally[what]} {what}")
    there = list(dict.fromkeys(name for segment in segments for name in segment.hyps))
    known = list(dict.fromkeys(name for segment in segments for name in segment.refs))
    chosen = list(there if systems is None else systems)
    if unknown := [name for name in chosen if name not in there and name not in known]:
        raise InputError(f"no system {', '.join(unknown)} in {dataset}; there are: {', '.join(there)}", file=folder)
    if not chosen:
        raise InputError(f"{dataset} has no system output", file=folder)
    if systems is None and (copies := evalset.references_among_outputs(testset)):
        note(
            f"{dataset}: {', '.join(copies)} among the system outputs: references, no systems; name them to score them"
        )
    for name in chosen:
        if missing := sum(name not in segment.hyps and name not in segment.refs for segment in segments):
            note(f"{dataset}: {name} has no output for {missing} of {len(segments)} segments; they have no score")
    if unknown := [name for name in references or [] if name not in known]:
        told = ", ".join(known) or "none"
        raise InputError(f"no reference {', '.join(unknown)} in {dataset}; there are: {told}", file=folder)
    named = tuple(dict.fromkeys(known[:1] if references is None else references))
    for name in named if references is not None else ():
        if missing := sum(name not in segment.refs for segment in segments):
            note(f"{dataset}: no reference {name} for {missing} of {len(segments)} segments; contexts go without these")
    bare = [document for document in documents if not all(segment.refs for segment in document.segments)]
    if references is None and named and bare:
        lacking = sum(not segment.refs for document in bare for segment in document.segments)
        note(
            f"{dataset}: no reference for {lacking} of {len(segments)} segments, in {len(bare)} of {len(documents)} "
            f"documents (the first: {bare[0].doc}); contexts go without these"
        )
    if named:
        rest = [name for name in known if name not in named]
        said = f"the reference is {named[0]}" if len(named) == 1 else f"the references are {', '.join(named)}"
        note(f"{dataset}: {said}" + (f" ({', '.join(rest)} unused)" if rest else ""))

    def rows() -> Iterator[Row]:
        for document, segment in _flat(documents):
            texts = tuple(segment.hyps.get(name, segment.refs.get(name, "")) for name in chosen)
            doc = document.doc if exact else None
            if references is None:
                refs = (next((segment.refs[name] for name in known if name in segment.refs), ""),) * len(named)
            else:
                refs = tuple(segment.refs.get(name, "") for name in named)
            yield Row(texts, doc, segment.src, refs, speaker=segment.speaker)

    exact = all(document.exact for document in documents)
    return Corpus(tuple(chosen), len(segments), exact, named, rows, testset.source)


def _flat(documents: Iterable[Document]) -> Iterator[tuple[Document, Segment]]:
    return chain.from_iterable(((document, segment) for segment in document.segments) for document in documents)
