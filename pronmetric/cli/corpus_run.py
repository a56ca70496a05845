"""Runs of the metric over the texts that the flags name, opened once: a corpus of systems' outputs, or records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import TypeVar

from pronmetric.alignment.checks import check_corpus, check_records
from pronmetric.alignment.parallel import SAMPLE
from pronmetric.checkpoint.config import context_limit
from pronmetric.cli.flags import ModelFlags, OutputFlags, TextFlags
from pronmetric.cli.output import Notes
from pronmetric.cli.parser import UsageError
from pronmetric.cli.run import ScoringRun
from pronmetric.errors import PronmetricError
from pronmetric.scoring.comparison import texts_per_row
from pronmetric.text.context import COMMON, CROSSED, GIVEN, NONE, RESPECTIVE
from pronmetric.text.corpus import Corpus
from pronmetric.text.corpus import read as read_lines
from pronmetric.text.records import Record, of_corpus
from pronmetric.text.records import read as read_records

T = TypeVar("T")
_CONTEXTS = {
    COMMON: "the {} of the reference",
    RESPECTIVE: "the {} of each output itself",
    CROSSED: "each pair in the {} of the one output, then of the other; the differences are averaged",
    NONE: "none",
}


class CorpusRun(ScoringRun):
    """A run over line-parallel texts in one kind of context.

    Texts that are not in the checkpoint's language, sources and references that cannot be right, and what affects the
    context are noted.

    alone: the default kind of context without a reference. tested: the run has intervals or tests.

    Raises:
        UsageError, PronmetricError: the texts lack what the flags ask for.
        InputError: as in `text.corpus.read` and `data_prep.wmt.corpus.read`.
    """

    def __init__(
        self, texts: TextFlags, model: ModelFlags, out: OutputFlags, *, alone: str, tested: bool = True
    ) -> None:
        super().__init__(model, out, strict=texts.strict)
        self._texts = texts
        self.corpus: Corpus = self._read_files() if texts.dataset is None else self._read_dataset()
        for file, name in self.corpus.formats.items():
            self.note.detail(f"{file}: read as {name}")
        named = f"{texts.sources or texts.dataset or self.corpus.systems[0]}, the source of {self.corpus.systems[0]}"
        source = None if model.no_source else named
        check_corpus(self.corpus, self.language, self.note, strict=texts.strict, source=source)
        self.kind = self._kind(alone, tested)
        self.size = self.checkpoint.context_size
        self.references = self.corpus.averaged_references(self.kind)
        """The references over whose contexts scores are averaged."""

    def _read_dataset(self) -> Corpus:
        from data_prep.wmt import corpus as wmt

        texts = self._texts
        assert texts.dataset is not None and texts.wmt_dir is not None  # checked by `TextFlags.check`
        target = self.language.code
        return wmt.read(texts.dataset, texts.wmt_dir, texts.systems, self.note, references=texts.refs, target=target)

    def _read_files(self) -> Corpus:
        texts = self._texts
        corpus = read_lines(
            texts.translations or (),
            self.note,
            references=texts.references or (),
            source=texts.sources,
            docids=texts.docids,
            speakers=texts.speakers,
            resegment=texts.resegment,
            reading=replace(texts.reading, language=lambda: self.language.code),
        )
        if texts.source_lang is not None and not corpus.has_source:
            raise UsageError("--source-lang needs the source: give -s")
        if texts.context == COMMON and not corpus.references:
            raise UsageError("--context common needs a reference: give -r")
        return corpus

    def _kind(self, alone: str, tested: bool) -> str:
        """The kind of context; it and the use of the source are noted."""
        corpus, texts = self.corpus, self._texts
        otherwise, needed = COMMON if corpus.references else alone, bool(texts.refs or texts.speakers)
        kind = self.choose_context(texts.context, otherwise, needed=needed, in_order=corpus.in_order)
        note_order(kind, corpus, self.note)
        if kind == COMMON and not corpus.references:
            raise PronmetricError(
                f"{texts.dataset} has no reference, which this context needs; give --context respective"
            )
        several = len(corpus.averaged_references(kind))
        means = f"; scores are means over {several} references" if several else ""
        said = _CONTEXTS[kind].format(previous_lines(self.checkpoint.context_size))
        scope = "" if kind == NONE else f", {context_scope(corpus.documents)}{means}"
        self.note.detail(f"context: {said}{scope}")
        if not corpus.documents and (tested or kind != NONE):
            self.note(
                "no document ids: all lines are one document"
                + ("" if kind == NONE else ", so that contexts cross documents")
                + ("; intervals and tests take segments as units" if tested else "")
                + "; "
                + ("give --docids" if texts.translations else f"the files of {texts.dataset} name no documents")
            )
        self.note_unread_source(texts.sources or (corpus.systems[0] if corpus.formats and corpus.has_source else None))
        return kind

    @property
    def apart(self) -> bool:
        """Whether missing pronouns are found, and stand apart."""
        return self.checkpoint.finds_missing and self.corpus.has_source

    @property
    def source_language(self) -> str | None:
        """The language of the sources: that of the data set, else of --source-lang; None if unknown."""
        table = self.metric.source
        return self.corpus.source_language or (None if table is None else table.language)

    @property
    def total(self) -> int:
        """The number of `records`."""
        return self.corpus.segments

    def records(self) -> Iterator[Record]:
        """The lines of the first system in their contexts."""
        return of_corpus(self.corpus, self.kind, size=self.size)

    def rows(self, score: Callable[..., Iterator[T]]) -> Iterator[T]:
        """What `score`, such as `score_rows`, gives for each row of the corpus, with its progress on stderr."""
        with self.progress(self.corpus.segments * texts_per_row(self.corpus, self.kind)):
            yield from score(self.corpus, self.kind, size=self.size, stream=self.stream)

    def sign_texts(self, *, seed: int | None = None, **further: object) -> str:
        """Set the signature, with the references of a common context and whether lines were segmented anew."""
        references: str | int | None = None
        if self.kind == COMMON and self._texts.dataset is not None:
            references = ",".join(self.corpus.references)
        elif self.references:
            references = len(self.references)
        given = {"references": references, "resegmented": "yes" if self.corpus.resegmented else None}
        return self.sign(self.kind, size=self.size, seed=seed, **given, **further)


class RecordsRun(ScoringRun):
    """A run over the records of the file `name` in the context of --context.

    total: their number, None if unknown. Errors as in `text.records.read`; the rest as for `CorpusRun`.
    """

    def __init__(self, name: str, texts: TextFlags, model: ModelFlags, out: OutputFlags) -> None:
        super().__init__(model, out, strict=texts.strict)
        # None: the checkpoint reads sources, and texts that have one are scored with it
        with_source = True if model.source_lang is not None else None if self.checkpoint.reads_source else False
        limit = context_limit(self.checkpoint.config)
        records, self.total = read_records(name, with_source=with_source, context_size=limit)
        given = {"strict": texts.strict, "sources": not model.no_source}
        checked = check_records(records, self.total, name, self.language, self.note, **given)
        first = list(islice(checked, SAMPLE))
        self.note_unread_source(None)
        self.note_unread_sources(name, [record.text for record in first])
        self._records = chain(first, checked)
        self.kind = self.choose_context(texts.context, GIVEN)
        self.note.detail("context: none" if self.kind == NONE else "context: that of each record")

    def records(self) -> Iterator[Record]:
        """The records, which can be read once."""
        if self.kind != NONE:
            return self._records
        return (record._replace(text=record.text.without_context()) for record in self._records)

    def sign_texts(self) -> str:
        """Set the signature."""
        return self.sign(self.kind)


def note_order(kind: str, corpus: Corpus, note: Notes) -> None:
    """Note files whose strings stand in no order that makes a context."""
    for name in corpus.unordered if kind != NONE else ():
        note(
            f"{name}: its references (#:) are missing or not in the order of the program: what stands before a string "
            "need not be its context"
        )


def previous_lines(size: int) -> str:
    """The number of previous lines in words."""
    return "previous line" if size == 1 else f"{size} previous lines"


def context_scope(documents: bool) -> str:
    """Where the context is taken from."""
    return "of the same document" if documents else "of the file"
