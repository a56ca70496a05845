"""The texts of `score` and `compare`: line-parallel files or a WMT test set, checked, then read as rows."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pronmetric.cli import streams
from pronmetric.errors import InputError, PronmetricError
from pronmetric.text.context import History
from pronmetric.text.lines import decode_lines, iter_lines

if TYPE_CHECKING:
    from data_prep.wmt.testset import TestSet
    from pronmetric.schema import Document, Segment


class Row(NamedTuple):
    """One segment of all systems. doc, source: None where not given. references: in the order of the corpus's names."""

    texts: tuple[str, ...]
    doc: str | None
    source: str | None
    references: tuple[str, ...]

    @property
    def reference(self) -> str | None:
        """The first reference, None where there is none."""
        return self.references[0] if self.references else None


@dataclass(frozen=True, slots=True)
class Corpus:
    """Systems side by side: their names, their number of segments, and their rows, as often as asked.

    documents: whether rows know their document. references: the names of their references.
    """

    systems: tuple[str, ...]
    segments: int
    documents: bool
    references: tuple[str, ...]
    rows: Callable[[], Iterator[Row]]

    def in_context(self, kind: str, *, size: int) -> Iterator[tuple[Row, tuple[tuple[str, ...], ...]]]:
        """Each row with the contexts, of `size` previous sentences, of each system's text.

        That of each reference ("common"), else one: the text's own ("respective", "crossed"), or an empty one ("none").
        """
        count = len(self.systems)
        histories = [History(size=size) for _ in range(len(self.references) if kind == "common" else count)]
        for row in self.rows():
            if kind == "none":
                yield row, (("",),) * count
            elif kind == "common":
                contexts = tuple(h.context(ref, row.doc) for h, ref in zip(histories, row.references, strict=True))
                yield row, (contexts,) * count
            else:
                yield row, tuple((h.context(text, row.doc),) for h, text in zip(histories, row.texts, strict=True))


class TextFile:
    """The lines of a text file, read anew each time; what can be read only once (a pipe, stdin as "-") is kept."""

    def __init__(self, path: str) -> None:
        self.path = streams.STDIN if path == "-" else path
        self._kept: list[str] | None = None
        if path == "-":
            self._kept = list(decode_lines(streams.stdin(), file=self.path))
        elif Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
            with open(path, "rb") as stream:
                self._kept = list(decode_lines(stream, file=path))

    def __iter__(self) -> Iterator[str]:
        """The lines, without their ends."""
        return iter_lines(self.path) if self._kept is None else iter(self._kept)


def read(args: argparse.Namespace, note: Callable[[str], None]) -> Corpus:
    """The corpus that the flags name; every line is read once here, so that bad input is told at once.

    Raises:
        InputError: a missing or empty file, files of different length, a byte that is not UTF-8, a NUL.
    """
    if args.dataset is not None:
        return read_wmt(args.dataset, args.wmt_dir, args.systems, note, references=args.refs)
    return _files(args.translations, args.references or [], args.sources, args.docids, note)


def _files(
    systems: Sequence[str],
    references: Sequence[str],
    source: str | None,
    docids: str | None,
    note: Callable[[str], None],
) -> Corpus:
    if len(set(references)) < len(references):
        raise PronmetricError(f"-r: expected different references, got {' '.join(references)}")
    names = [*systems, *references, *(name for name in (source, docids) if name is not None)]
    files = {name: TextFile(name) for name in dict.fromkeys(names)}
    lengths = {name: sum(1 for _ in file) for name, file in files.items()}
    for name, length in lengths.items():
        if not length:
            raise InputError("is empty; expected one segment a line", file=files[name].path)
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{files[name].path} has {length}" for name, length in lengths.items())
        raise PronmetricError(f"expected line-parallel files, got different numbers of lines: {told}")
    if docids is not None:
        check_docids(files[docids], note)

    def column(name: str | None) -> Iterable[str | None]:
        return repeat(None) if name is None else files[name]

    def rows() -> Iterator[Row]:
        side_by_side = zip(*(files[name] for name in (*systems, *references)), strict=True)
        for texts, doc, src in zip(side_by_side, column(docids), column(source), strict=False):
            yield Row(texts[: len(systems)], doc, src, texts[len(systems) :])

    return Corpus(tuple(systems), lengths[systems[0]], docids is not None, tuple(references), rows)


def check_docids(file: TextFile, note: Callable[[str], None]) -> None:
    """Refuse an empty document id; note a document that goes on after another."""
    seen: set[str] = set()
    again: dict[str, int] = {}
    before = None
    for number, doc in enumerate(file, start=1):
        if not doc.strip():
            raise InputError("expected a document id, got an empty line", file=file.path, line=number)
        if doc != before and doc in seen:
            again.setdefault(doc, number)
        seen.add(doc)
        before = doc
    if again:
        doc, number = next(iter(again.items()))
        times = f", as do {len(again) - 1} more" if len(again) > 1 else ""
        note(f"{file.path}:{number}: document {doc!r} goes on after another{times}; its context starts anew there")


def find_wmt(dataset: str, folder: str) -> TestSet:
    """The one test set `NAME:LP` of a folder.

    Raises:
        PronmetricError: there is none, there are several, it is not into English.
    """
    from data_prep.wmt import discovery

    found = [testset for testset in discovery.find(folder) if discovery.matches(testset, dataset)]
    if len(found) != 1:
        ids = ", ".join(testset.id for testset in (found or discovery.find(folder))) or "none"
        problem = "is the name of several test sets" if found else "is no test set there"
        raise InputError(f"{dataset!r} {problem}; there are: {ids}", file=folder)
    if found[0].target != "en":
        raise PronmetricError(f"{dataset} is into {found[0].target}; only English is scored, give a pair into en")
    return found[0]


def read_wmt(
    dataset: str,
    folder: str,
    systems: Sequence[str] | None,
    note: Callable[[str], None],
    *,
    references: Sequence[str] | None = None,
) -> Corpus:
    """A WMT test set `NAME:LP` of a folder, all its systems or those named.

    Without `references` each segment has the first reference that it has; with them each of those named, an empty one
    where it has none of that name.
    """
    from data_prep.wmt import discovery, jsonl

    tally: Counter[str] = Counter()
    documents = list(discovery.read(find_wmt(dataset, folder), tally=tally))
    if empty := tally[jsonl.EMPTY]:
        note(f"{dataset}: {empty} {jsonl.EMPTY}, left out")
    segments = [segment for document in documents for segment in document.segments]
    there = list(dict.fromkeys(name for segment in segments for name in segment.hyps))
    chosen = list(there if systems is None else systems)
    if unknown := [name for name in chosen if name not in there]:
        raise InputError(f"no system {', '.join(unknown)} in {dataset}; there are: {', '.join(there)}", file=folder)
    if not chosen:
        raise InputError(f"{dataset} has no system output", file=folder)
    for name in chosen:
        if missing := sum(name not in segment.hyps for segment in segments):
            note(f"{dataset}: {name} has no output for {missing} of {len(segments)} segments; they have no score")
    known = list(dict.fromkeys(name for segment in segments for name in segment.refs))
    if unknown := [name for name in references or [] if name not in known]:
        told = ", ".join(known) or "none"
        raise InputError(f"no reference {', '.join(unknown)} in {dataset}; there are: {told}", file=folder)
    named = tuple(dict.fromkeys(known[:1] if references is None else references))
    for name in named if references is not None else ():
        if missing := sum(name not in segment.refs for segment in segments):
            note(f"{dataset}: no reference {name} for {missing} of {len(segments)} segments; contexts go without these")
    if named:
        rest = [name for name in known if name not in named]
        said = f"the reference is {named[0]}" if len(named) == 1 else f"the references are {', '.join(named)}"
        note(f"{dataset}: {said}" + (f" ({', '.join(rest)} unused)" if rest else ""))

    def rows() -> Iterator[Row]:
        for document, segment in _flat(documents):
            texts = tuple(segment.hyps.get(name, "") for name in chosen)
            doc = document.doc if exact else None
            if references is None:
                refs = (next((segment.refs[name] for name in known if name in segment.refs), ""),) * len(named)
            else:
                refs = tuple(segment.refs.get(name, "") for name in named)
            yield Row(texts, doc, segment.src, refs)

    exact = all(document.exact for document in documents)
    return Corpus(tuple(chosen), len(segments), exact, named, rows)


def _flat(documents: Iterable[Document]) -> Iterator[tuple[Document, Segment]]:
    return chain.from_iterable(((document, segment) for segment in document.segments) for document in documents)
