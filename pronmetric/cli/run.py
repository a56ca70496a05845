"""A run of the metric over texts: the checkpoint that the flags name, the texts, their language and their context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from pronmetric.alignment.parallel import SAMPLE, check_references, check_sources, pairs_of, reference_pairs
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.cli import output
from pronmetric.cli.flags import ModelFlags, OutputFlags, TextFlags
from pronmetric.cli.output import Notes
from pronmetric.cli.parser import UsageError
from pronmetric.errors import PronmetricError
from pronmetric.pronouns import languages, tables
from pronmetric.pronouns.known_words import check_corpus, check_records
from pronmetric.pronouns.languages import Language
from pronmetric.results.read import language_code
from pronmetric.scoring.score import Counts
from pronmetric.text import records as records_file
from pronmetric.text.context import COMMON, CROSSED, GIVEN, NONE, RESPECTIVE, UNREAD_SOURCES
from pronmetric.text.corpus import read as read_lines

if TYPE_CHECKING:
    from typing import Self

    from tqdm import tqdm

    from pronmetric.lab.seq2seq.model import LanguageModel
    from pronmetric.metric import PronounMetric
    from pronmetric.scoring.alternatives import PronounAlternatives
    from pronmetric.scoring.score import SegmentScore, SystemScore
    from pronmetric.signature import Signature
    from pronmetric.text.context import Text
    from pronmetric.text.corpus import Corpus
    from pronmetric.text.records import Record

_SAID = {
    COMMON: "the {} of the reference",
    RESPECTIVE: "the {} of each output itself",
    CROSSED: "each pair in the {} of the one output, then of the other; the differences are averaged",
    NONE: "none",
}


def load_config(model: ModelFlags) -> Mapping[str, Any]:
    """The config of the checkpoint that --model names, for the language of --lang, read without torch.

    Raises:
        PronmetricError: it does not score this language, or it scores several and --lang is missing.
    """
    place = _locate(model)
    return checkpoint_config.of_language(
        checkpoint_config.read(place.folder / locate.CONFIG), model.lang, name=place.name
    )


def _locate(model: ModelFlags) -> locate.Location:
    return locate.locate(model.model, allow_network=model.allow_network, storage=model.model_storage_path)


def tie_threshold(tie: float | str, model: ModelFlags, *, by: str) -> float:
    """The tie threshold; "auto" is that of the checkpoint for what decides.

    Raises:
        PronmetricError: there is no such checkpoint, or it has no tie threshold.
    """
    if not isinstance(tie, str):
        return tie
    place = _locate(model)
    config = checkpoint_config.read(place.folder / locate.CONFIG)
    return checkpoint_config.tie_threshold(config, name=place.name, by=by)


def choose_decision(by: str | None, model: ModelFlags, config: Mapping[str, Any], *, sourced: bool) -> str:
    """What decides between two texts: `by` (--by), else what the checkpoint's config names.

    sourced: the texts have sources, with which the checkpoint's reader, if it counts, may name another number.

    Raises:
        PronmetricError: the checkpoint does not give it.
    """
    reader = locate.reader_of(_locate(model).folder) if sourced and not model.no_source else None
    return checkpoint_config.decision_of(config, by, name=model.model or locate.DEFAULT, reader=reader)


def load_language(model: ModelFlags) -> Language:
    """The language of the texts that the checkpoint of --model scores."""
    return checkpoint_config.language_of(load_config(model))


def of_result(model: ModelFlags, signature: str) -> ModelFlags:
    """The flags with the language of a result, by its signature, if --model scores it among several and none is named.

    A result is shown with the model of its own language, whatever other languages the model has.
    """
    if model.lang is not None:
        return model
    config, code = checkpoint_config.read(_locate(model).folder / locate.CONFIG), language_code(signature)
    own = [each.code for each in checkpoint_config.languages_of(config)]
    return replace(model, lang=code) if len(own) > 1 and code in own else model


def language_of_result(model: ModelFlags, signature: str) -> Language:
    """The language of a result's texts, by its signature; its table is that of --model, else the package's.

    Raises:
        PronmetricError: neither has a table of this language.
    """
    code = language_code(signature)
    if code == languages.ENGLISH.code:
        return languages.ENGLISH
    own = load_language(model)
    if own.code == code:
        return own
    if code in tables.codes():
        return languages.language(code)
    raise PronmetricError(
        f"the result is in {code}, of which there is no table of pronouns here: give --model the checkpoint that "
        "scored it"
    )


def load_metric(model: ModelFlags, note: Notes) -> PronounMetric:
    """The metric; begins `note`, and notes if it was not trained or calibrated.

    A folder without a checkpoint, and a language that it does not score, are refused before torch is loaded.
    """
    load_config(model)
    from pronmetric.metric import PronounMetric

    loaded = PronounMetric.from_pretrained(
        model.model,
        lang=model.lang,
        precision=model.precision,
        gpus=model.gpus,
        allow_network=model.allow_network,
        storage=model.model_storage_path,
        source_lang=model.source_lang,
        no_source=model.no_source,
    )
    note.begin()
    if (caveat := checkpoint_config.caveat(loaded.config)) is not None:
        note(f"checkpoint {loaded.name}: {caveat}")
    if (unscored := checkpoint_config.unscored_note(loaded.config, loaded.name)) is not None:
        note(unscored)
    return loaded


def load_language_model(folder: str, model: ModelFlags) -> LanguageModel:
    """The language model in a folder, on the device and with the precision of the flags."""
    from pronmetric.lab.seq2seq.model import LanguageModel

    return LanguageModel(folder, precision=model.precision or "32", gpus=model.gpus)


def _reads_source(model: ModelFlags) -> bool:
    """Whether a source affects the score of a text."""
    if model.no_source:
        return False
    return locate.reader_of(_locate(model).folder) is not None or checkpoint_config.reads_source(load_config(model))


class ScoringRun:
    """A run of the metric over the texts of a verb: the metric, its counts, its progress, its signature.

    The metric is loaded when the run is made, which begins the notes. `stream` is called inside `progress`.
    """

    def __init__(self, model: ModelFlags, out: OutputFlags, note: Notes) -> None:
        self.metric = load_metric(model, note)
        self.counts = Counts()
        self.signature: Signature | None = None
        self._model, self._out, self._note = model, out, note
        self._bar: tqdm | None = None

    @contextmanager
    def progress(self, total: int | None, *, label: str = "score", unit: str = "texts") -> Iterator[Self]:
        """Show the progress of what is scored inside, on stderr; none with --quiet or --disable_bar."""
        hidden = self._out.quiet or self._out.disable_bar
        with output.bar(hidden, total=total, label=label, unit=unit) as self._bar:
            yield self

    def advance(self, number: int) -> None:
        """Tell that `number` further texts are scored."""
        if self._bar is not None:
            self._bar.update(number)

    def stream(self, texts: Iterable[Text], *, attended: bool = False, counted: bool = True) -> Iterator[SegmentScore]:
        """The scores of the texts, in order; see `PronounMetric.stream`.

        counted: False for variants of texts that are counted themselves.
        """
        return self.metric.stream(
            texts,
            batch_size=self._model.batch_size,
            counts=self.counts if counted else None,
            advance=self.advance,
            length_batching=not self._model.disable_length_batching,
            cache=not self._model.disable_cache,
            attended=attended,
        )

    def alternatives(self, texts: Iterable[Text], *, below: float | None) -> Iterator[tuple[PronounAlternatives, ...]]:
        """The pronouns of each text with alternative forms; see `PronounMetric.alternatives`."""
        return self.metric.alternatives(
            texts, below=below, batch_size=self._model.batch_size, counts=self.counts, advance=self.advance
        )

    def note_no_translations(self, systems: Mapping[str, SystemScore], *, unit: str = "line") -> None:
        """Note the systems of which segments (lines, records) are no translation."""
        for name, score in systems.items():
            if said := score.no_translation_note(unit):
                self._note(f"{name}: {said}")

    def sign(self, context: str, *, size: int | None = None, seed: int | None = None, **further: object) -> str:
        """Set the signature, and give it in one line; `further` fields follow in their order, without those of None.

        Call it when the texts are scored: it names the reader of sources if one of them has a source.

        size: number of context sentences, if the texts do not contain their contexts. seed: of what is drawn.
        """
        given = {name: value for name, value in further.items() if value is not None}
        own = self.metric.signature(context=context, context_size=size, seed=seed, counts=self.counts)
        self.signature = own.plus(**given)
        return str(self.signature)

    def source_language(self, corpus: Corpus) -> str | None:
        """The language of a corpus's sources: that of its data set, else of --source-lang; None if unknown."""
        table = self.metric.source
        return corpus.source_language or (None if table is None else table.language)

    def finish(self) -> None:
        """Note the texts that were changed or cut, a missing source, and the signature."""
        self._note.lengths(self.counts)
        reads = checkpoint_config.reads_source(self.metric.config) and not self._model.no_source
        if reads and not self.counts.with_source:
            self._note(
                f'{self.metric.name} is made for texts with their source, and none has one: give -s (or "source")'
            )
        self._note(f"signature: {self.signature}")


def read_corpus(texts: TextFlags, model: ModelFlags, note: Notes) -> Corpus:
    """The corpus that the flags name; texts not in the model's language and wrong sources are noted or refused.

    Errors as in `text.corpus.read` and `data_prep.wmt.corpus.read`.
    """
    corpus = _read_dataset(texts, model, note) if texts.dataset is not None else _read_files(texts, model, note)
    for file, name in corpus.formats.items():
        note.detail(f"{file}: read as {name}")
    language = load_language(model)
    check_corpus(corpus, language, note, strict=texts.strict)
    check_references(reference_pairs(corpus), note, strict=texts.strict)
    name = f"{texts.sources or texts.dataset or corpus.systems[0]}, the source of {corpus.systems[0]}"
    note_sources(name, corpus_sources(corpus), model, note, strict=texts.strict)
    return corpus


def read_records(
    name: str, texts: TextFlags, model: ModelFlags, note: Notes
) -> tuple[Iterator[Record], int | None, str]:
    """The records of the file `name` in the context of --context, their number if known, and this kind of context.

    Errors as in `text.records.read`; texts not in the model's language and wrong sources are noted or refused.
    """
    # None: the checkpoint reads sources, and texts that have one are scored with it
    with_source = True if model.source_lang is not None else None if _reads_source(model) else False
    limit = checkpoint_config.context_limit(load_config(model))
    records, total = records_file.read(name, with_source=with_source, context_size=limit)
    language = load_language(model)
    records = check_records(records, total, name, language, note, strict=texts.strict)
    first = list(islice(records, SAMPLE))
    note_sources(name, pairs_of(record.text for record in first), model, note, strict=texts.strict)
    note_unread_source(None, model, note)
    note_unread_sources(name, (record.text for record in first), model, note)
    records = chain(first, records)
    kind = choose_context(texts.context, load_config(model), GIVEN, note)
    note.detail("context: none" if kind == NONE else "context: that of each record")
    if kind == NONE:
        records = (record._replace(text=record.text.without_context()) for record in records)
    return records, total, kind


def note_sources(
    name: str, pairs: Iterable[tuple[str | None, str]], model: ModelFlags, note: Notes, *, strict: bool
) -> None:
    """Note, unless sources are ignored, those of the file `name` that cannot be right; see `check_sources`.

    pairs: (source, text), one for each source. Verbs that take sources call it before anything is scored.

    Raises:
        PronmetricError: there are such sources, and `strict`.
    """
    if not model.no_source:
        check_sources(name, pairs, load_language(model), note, strict=strict)


def corpus_sources(corpus: Corpus) -> Iterator[tuple[str | None, str]]:
    """The source of each segment, and the text of the first system."""
    return ((row.source, row.texts[0]) for row in corpus.rows())


def _read_dataset(texts: TextFlags, model: ModelFlags, note: Notes) -> Corpus:
    from data_prep.wmt import corpus as wmt

    assert texts.dataset is not None and texts.wmt_dir is not None  # checked by `TextFlags.check`
    target = load_language(model).code
    return wmt.read(texts.dataset, texts.wmt_dir, texts.systems, note, references=texts.refs, target=target)


def _read_files(texts: TextFlags, model: ModelFlags, note: Notes) -> Corpus:
    corpus = read_lines(
        texts.translations or (),
        note,
        references=texts.references or (),
        source=texts.sources,
        docids=texts.docids,
        speakers=texts.speakers,
        resegment=texts.resegment,
        reading=replace(texts.reading, language=lambda: load_language(model).code),
    )
    if texts.source_lang is not None and not corpus.has_source:
        raise UsageError("--source-lang needs the source: give -s")
    if texts.context == COMMON and not corpus.references:
        raise UsageError("--context common needs a reference: give -r")
    return corpus


def choose_context(
    context: str | None,
    config: Mapping[str, Any],
    otherwise: str,
    note: Notes,
    *,
    needed: bool = False,
    in_order: bool = True,
) -> str:
    """The kind of context: `context` (--context); else none if the checkpoint was trained without, else `otherwise`.

    needed: another flag asks for a context, so that a checkpoint that was trained without has one too. in_order: the
    texts are a running text; others have no context by default.
    """
    if not in_order and not needed and context is None:
        note("strings are no running text: they are scored without context; --context overrides this")
        return NONE
    if context is not None:
        return context
    if checkpoint_config.trained_in_context(config) or needed:
        return otherwise
    note("the checkpoint was trained without context and scores without it; --context overrides this")
    return NONE


def context_of(
    corpus: Corpus, config: Mapping[str, Any], texts: TextFlags, model: ModelFlags, note: Notes, *, alone: str
) -> str:
    """The kind of context of a corpus, as `choose_context`; it and the use of the source are noted.

    alone: the default without a reference.

    Raises:
        PronmetricError: the corpus does not have this context.
    """
    otherwise = COMMON if corpus.references else alone
    needed = bool(texts.refs or texts.speakers)
    kind = choose_context(texts.context, config, otherwise, note, needed=needed, in_order=corpus.in_order)
    note_order(kind, corpus, note)
    if kind == COMMON and not corpus.references:
        raise PronmetricError(f"{texts.dataset} has no reference, which this context needs; give --context respective")
    several = f"; scores are means over {len(corpus.references)} references" if corpus.averaged_references(kind) else ""
    said = _SAID[kind].format(previous_lines(config["context_size"]))
    note.detail(f"context: {said}" + ("" if kind == NONE else f", {context_scope(corpus.documents)}{several}"))
    if not corpus.documents:
        note(
            "no document ids: all lines are one document"
            + ("" if kind == NONE else ", so that contexts cross documents")
            + "; intervals and tests take segments as units; "
            + ("give --docids" if texts.translations else f"the files of {texts.dataset} name no documents")
        )
    sources = texts.sources or (corpus.systems[0] if corpus.formats and corpus.has_source else None)
    note_unread_source(sources, model, note)
    return kind


def note_unread_source(sources: str | None, model: ModelFlags, note: Notes) -> None:
    """Note that a source that is given (-s, or the language of one) does not affect scores, if so it is."""
    if (sources is None and model.source_lang is None) or _reads_source(model):
        return
    why = " with --no-source" if model.no_source else ": the model reads no sources"
    if model.source_lang is not None:
        note(f"--source-lang counts missing and surplus pronouns; the source does not affect scores{why}")
    else:
        tell = note.detail if model.no_source else note
        tell(f"-s: reports show the source; it does not affect scores{why}")


def note_unread_sources(name: str, texts: Iterable[Text], model: ModelFlags, note: Notes) -> None:
    """Note that the sources of the texts in the file `name` do not affect scores, unless they do or are ignored."""
    if model.no_source or model.source_lang is not None or _reads_source(model):
        return
    if any(text.unread or text.source is not None for text in texts):
        note(f"{name}: {UNREAD_SOURCES}")


def context_scope(documents: bool) -> str:
    """Where the context is taken from."""
    return "of the same document" if documents else "of the file"


def note_boundaries(kind: str, documents: bool, note: Notes) -> None:
    """Note that a context of lines crosses documents, as far as is known."""
    if kind != NONE and not documents:
        note("no document ids: all lines are one document, so that contexts cross documents; give --docids")


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


def signed_corpus(kind: str, corpus: Corpus, texts: TextFlags) -> dict[str, Any]:
    """What the signature says of a corpus: its references, and that its segments are aligned sentences."""
    return {"references": signed_references(kind, corpus, texts), "resegmented": "yes" if corpus.resegmented else None}


def signed_references(kind: str, corpus: Corpus, texts: TextFlags) -> str | int | None:
    """What the signature says of the references of the common context: their names with -d, else how many several."""
    if kind != COMMON:
        return None
    if texts.dataset is not None:
        return ",".join(corpus.references)
    return len(corpus.references) if len(corpus.references) > 1 else None
