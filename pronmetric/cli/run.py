"""A run of the metric: the checkpoint that the flags name, its notes, progress, counts and signature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Self

from pronmetric.alignment.parallel import check_sources, pairs_of
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.checkpoint.description import Description
from pronmetric.checkpoint.people import People, people_of
from pronmetric.cli import output
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.output import Notes
from pronmetric.errors import MissingExtra
from pronmetric.pronouns.gender import Genders, genders_of
from pronmetric.pronouns.known_words import check_texts
from pronmetric.pronouns.languages import Language
from pronmetric.scoring.score import Counts
from pronmetric.text.context import NONE, UNREAD_SOURCES, Text

if TYPE_CHECKING:
    from tqdm import tqdm

    from pronmetric.lab.seq2seq.model import LanguageModel
    from pronmetric.metric import PronounMetric
    from pronmetric.scoring.alternatives import PronounAlternatives
    from pronmetric.scoring.score import SegmentScore, SystemScore
    from pronmetric.signature import Signature


def locate_model(model: ModelFlags) -> locate.Location:
    """Where the checkpoint of the flags is."""
    return locate.locate(model.model, allow_network=model.allow_network, storage=model.model_storage_path)


def load_language_model(folder: str, model: ModelFlags) -> LanguageModel:
    """The language model in a folder, on the device and with the precision of the flags."""
    from pronmetric.lab.seq2seq.model import LanguageModel

    return LanguageModel(folder, precision=model.precision or "32", gpus=model.gpus)


class ScoringRun:
    """A run of the metric over the texts of a verb: checkpoint, notes, counts, progress and signature.

    The checkpoint's config is read once, at first use and without torch; so is what the texts need of it checked before
    the metric is loaded, at its first use, which begins the notes. As a context manager it ends with `finish`.

    note: the run's notes, if the verb has them already. strict: texts that do not look right are an error, no note.
    """

    def __init__(self, model: ModelFlags, out: OutputFlags, note: Notes | None = None, *, strict: bool = False) -> None:
        self.note = out.notes() if note is None else note
        self.counts = Counts()
        self.signature: Signature | None = None
        self.lines = output.Lines(out.to_json, out.to_tsv, out.to_mqm)
        self._model, self._strict = model, strict
        self._hidden = out.quiet or out.disable_bar
        self._bar: tqdm | None = None

    def __enter__(self) -> Self:
        """The run."""
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Finish it, unless it failed."""
        if error is None:
            self.finish()

    @cached_property
    def checkpoint(self) -> Description:
        """What the checkpoint of --model says of its scores in the language of --lang.

        Raises:
            PronmetricError: it does not score this language, or it scores several and --lang is missing.
        """
        return Description.read(locate_model(self._model), self._model.lang, no_source=self._model.no_source)

    @property
    def language(self) -> Language:
        """The language of the texts that the checkpoint scores."""
        return self.checkpoint.language

    @cached_property
    def metric(self) -> PronounMetric:
        """The metric; loading it begins the notes, and notes if it was not trained or calibrated."""
        checkpoint = self.checkpoint  # what is wrong with it is said before torch is loaded
        from pronmetric.metric import PronounMetric

        loaded = PronounMetric.from_pretrained(**self._model.arguments)
        self.note.begin()
        if (caveat := checkpoint_config.caveat(checkpoint.config)) is not None:
            self.note(f"checkpoint {loaded.name}: {caveat}")
        for said in (checkpoint_config.untrained_note, checkpoint_config.unscored_note):
            if (note := said(checkpoint.config, loaded.name)) is not None:
                self.note(note)
        return loaded

    def genders(self, language: Language) -> Genders | None:
        """The genders of a language, if it has any; a note says that their lexicon is not installed."""
        try:
            return genders_of(language)
        except MissingExtra as error:
            self.note(f"genders are not shown: {error}")
            return None

    def choose_context(
        self, context: str | None, otherwise: str, *, needed: bool = False, in_order: bool = True
    ) -> str:
        """The kind of context: `context` (--context); else none if the checkpoint has none, else `otherwise`.

        needed: another flag asks for a context, so that a checkpoint that was trained without has one too. in_order:
        the texts are a running text; others have no context by default.
        """
        if not in_order and not needed and context is None:
            self.note("strings are no running text: they are scored without context; --context overrides this")
            return NONE
        if context is not None:
            return context
        if needed or checkpoint_config.trained_in_context(self.checkpoint.config):
            return otherwise
        self.note("the checkpoint was trained without context and scores without it; --context overrides this")
        return NONE

    def check_texts(self, name: str, texts: Sequence[Text], *, sources: Iterable[Text] | None = None) -> None:
        """Note texts of the file `name` that do not look like the language, and sources that cannot be right.

        sources: the texts that are held against their sources; None: all.

        Raises:
            PronmetricError: there are such, and the run is strict.
        """
        check_texts({name: (text.text for text in texts)}, self.language, self.note, strict=self._strict)
        self.check_sources(name, pairs_of(texts if sources is None else sources))

    def check_sources(self, name: str, pairs: Iterable[tuple[str | None, str]]) -> None:
        """Note, unless sources are ignored, those of the file `name` that cannot be right; pairs: (source, text)."""
        if not self._model.no_source:
            check_sources(name, pairs, self.language, self.note, strict=self._strict)

    def note_unread_source(self, sources: str | None) -> None:
        """Note that a source that is given (-s, or the language of one) does not affect scores, if so it is."""
        model = self._model
        if (sources is None and model.source_lang is None) or self.checkpoint.reads_source:
            return
        why = " with --no-source" if model.no_source else ": the model reads no sources"
        if model.source_lang is not None:
            self.note(f"--source-lang counts missing and surplus pronouns; the source does not affect scores{why}")
        else:
            note = self.note.detail if model.no_source else self.note
            note(f"reports show the source; it does not affect scores{why}")

    def note_unread_sources(self, name: str, texts: Iterable[Text]) -> None:
        """Note that the sources of the texts in the file `name` do not affect scores, unless they do or are ignored."""
        model = self._model
        if model.no_source or model.source_lang is not None or self.checkpoint.reads_source:
            return
        if any(text.unread or text.source is not None for text in texts):
            self.note(f"{name}: {UNREAD_SOURCES}")

    @contextmanager
    def progress(self, total: int | None, *, label: str = "score", unit: str = "texts") -> Iterator[Self]:
        """Show the progress of what is scored inside, on stderr; none with --quiet or --disable_bar."""
        _ = self.metric  # loaded first: its notes stand before the bar
        with output.bar(self._hidden, total=total, label=label, unit=unit) as self._bar:
            yield self

    def advance(self, number: int) -> None:
        """Tell that `number` further texts are scored."""
        if self._bar is not None:
            self._bar.update(number)

    def stream(
        self, texts: Iterable[Text], *, attended: bool = False, every_gap: bool = False, counted: bool = True
    ) -> Iterator[SegmentScore]:
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
            every_gap=every_gap,
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
                self.note(f"{name}: {said}")

    def sign(self, context: str, *, size: int | None = None, seed: int | None = None, **further: object) -> str:
        """Set the signature, and give it in one line; `further` fields follow in their order, without those of None.

        Call it when the texts are scored: it names the reader of sources if one of them has a source.

        size: number of context sentences, if the texts do not contain their contexts. seed: of what is drawn.
        """
        given = {name: value for name, value in further.items() if value is not None}
        own = self.metric.signature(context=context, context_size=size, seed=seed, counts=self.counts)
        self.signature = own.plus(**given)
        return str(self.signature)

    def people(self) -> People | None:
        """How the model's marks meet those of people, with the source where one counted; None without a record."""
        return people_of(self.metric.config, self.metric.reader if self.counts.with_source else None)

    def finish(self) -> None:
        """Note the texts that were changed or cut, a missing source, and the signature; raise an error of stdout."""
        self.note.lengths(self.counts)
        reads = checkpoint_config.reads_source(self.checkpoint.config) and not self._model.no_source
        if reads and not self.counts.with_source:
            self.note(
                f'{self.checkpoint.name} is made for texts with their source, and none has one: give -s (or "source")'
            )
        self.note(f"signature: {self.signature}")
        self.lines.finish()
