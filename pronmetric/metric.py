"""PronounMetric: load a checkpoint, score texts in context, compare systems; `scoring.inference` does the work."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, Unpack

from tqdm import tqdm

from pronmetric.alignment.checks import corpus_sources
from pronmetric.alignment.counts import files as source_files
from pronmetric.alignment.counts.table import CountTable
from pronmetric.alignment.parallel import check_references, check_sources, given_pairs, reference_pairs
from pronmetric.arguments import (
    File,
    TextFiles,
    batch_size_of,
    context_of,
    docs_of,
    read_files,
    seed_of,
    tie_of,
    warn,
    warn_of_no_translations,
    whole,
)
from pronmetric.checkpoint import files, locate
from pronmetric.checkpoint.config import (
    PAIR_HEAD,
    UNTRAINED,
    context_limit,
    has_pair_head,
    trained_in_context,
    unscored_note,
    untrained_note,
)
from pronmetric.checkpoint.description import Description
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.copies import load_again
from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import SEED
from pronmetric.prediction import Comparison, Prediction
from pronmetric.pronouns.languages import Language
from pronmetric.scoring.alternatives import PronounAlternatives, score_alternatives
from pronmetric.scoring.attention import PronounAttention, attention
from pronmetric.scoring.bulk import Stream, score_rows
from pronmetric.scoring.comparison import (
    TIE_THRESHOLD,
    PairwiseComparison,
    average,
    score_pairs,
    score_text_pairs,
    texts_per_row,
)
from pronmetric.scoring.inference import Inference
from pronmetric.scoring.missing import count_by_reference
from pronmetric.scoring.score import SPEAKERS, Counts, PronounScore, SegmentScore, tally_segments
from pronmetric.signature import Signature
from pronmetric.text import corpus as corpora
from pronmetric.text.columns import check_records, values_of
from pronmetric.text.context import CROSSED, RESPECTIVE, UNREAD_SOURCES, Text, text_of
from pronmetric.text.corpus import Corpus
from pronmetric.version import __version__


class PronounMetric:
    """Scores the pronouns of texts in their context; see `pronmetric.scoring.score` for what the numbers mean.

    The texts are in the language of the checkpoint (`language`); of one with several, `from_pretrained` chooses one, or
    one of the package's tables that it was not trained on, with a warning.

    Args:
        loaded: the checkpoint; its model is moved and converted in place.
        place: the checkpoint's name and folder.
        precision: "32", "bf16" or "16"; None is bf16 on a GPU of CUDA that computes in it, else "32". In fp32
            a score is the same to 1e-5 whatever the batch, the other texts and the hardware; in bf16 and fp16 it may
            vary by some thousandths.
        gpus: number of GPUs, 0 for the CPU; None uses one of CUDA if available. Apple's is used only where 1 is given.
        source_lang: language of the sources, or a file of `pronmetric baseline counts`: missing and surplus pronouns of
            texts are counted by their sources. It does not affect scores.
        no_source: sources of texts are ignored; else they affect scores if the checkpoint has a reader of sources.

    A copy (`copy.deepcopy`, `pickle`, and so a process pool) loads the checkpoint's files again, with these arguments.
    Scores do not depend on PyTorch's autocast and default type.
    """

    def __init__(
        self,
        loaded: Checkpoint,
        place: locate.Location,
        *,
        precision: str | None = None,
        gpus: int | None = None,
        source_lang: str | None = None,
        no_source: bool = False,
    ) -> None:
        if source_lang is not None and no_source:
            raise PronmetricError("expected a source language or `no_source=True`, which ignores sources, got both")
        if source_lang is not None and not loaded.language.ruled:
            raise PronmetricError(
                f"tables of counts are for English targets, and {place.name} scores {loaded.language.code}: leave out "
                "the source language"
            )
        self.config: Mapping[str, Any] = loaded.config
        self.language: Language = loaded.language
        source = None if source_lang is None else source_files.of_language(source_lang)
        self._gpus, self._source_lang = gpus, source_lang
        self.description = Description(*place, loaded.config, no_source)
        self.name, self.folder = place
        self.hash, self.settings = loaded.hash, loaded.settings
        read = self._load_reader if self.reader is not None else None
        self.inference = Inference(
            loaded, precision=precision, gpus=gpus, source=source, reader=read, no_source=no_source
        )
        if self.config.get("source") is not None:
            raise PronmetricError(
                f"a reader of sources scores nothing by itself: give the checkpoint that {self.folder} stands in"
            )

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path | None = None,
        *,
        lang: str | None = None,
        precision: str | None = None,
        gpus: int | None = None,
        allow_network: bool = False,
        storage: str | Path | None = None,
        source_lang: str | None = None,
        no_source: bool = False,
    ) -> PronounMetric:
        """Load the default checkpoint, or one from a folder or the Hugging Face hub; no pickle files are read.

        `lang`: code of the texts' language, required for a checkpoint with several, which also scores further ones of
        the package's tables, with a warning. `storage`: the folder for
        checkpoints from the hub; None is the hub's default cache. The other arguments are those of the class.

        Raises:
            PronmetricError: there is no such checkpoint; it does not score `lang`, or several languages without it; a
                hub name without `allow_network`; too few GPUs; no table of counts for `source_lang`.
        """
        gpus = None if gpus is None else whole(gpus, least=0, what="gpus")
        place = locate.locate(model, allow_network=allow_network, storage=storage)
        return cls(
            files.load(place.folder, trainable=False, lang=lang),
            place,
            precision=precision,
            gpus=gpus,
            source_lang=source_lang,
            no_source=no_source,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """How a copy is made: by loading the checkpoint again."""
        folder, code = str(self.folder.resolve()), self.language.code
        return load_again, (type(self), self.name, folder, code, self._identity, self._arguments)

    @property
    def _arguments(self) -> dict[str, Any]:
        """The arguments of the class, beside the checkpoint, for another metric like this one."""
        path = None if self._source_lang is None else Path(self._source_lang)
        source = str(path.resolve()) if path is not None and path.is_file() else self._source_lang
        own = {"precision": self.precision, "gpus": self._gpus, "source_lang": source}
        return own | {"no_source": self.description.no_source}

    def in_language(self, lang: str) -> PronounMetric:
        """The metric of the same checkpoint in another language, as `from_pretrained` gives it; the encoder is shared.

        Raises:
            PronmetricError: it does not score `lang`; another checkpoint is in its folder now.
        """
        loaded = files.load(self.folder, trainable=False, lang=lang)
        if loaded.hash != self.hash:
            raise PronmetricError(
                f"{self.folder} has changed: expected the weights {self.hash}, got {loaded.hash}; load the metric again"
            )
        made = type(self)(loaded, locate.Location(self.name, self.folder), **self._arguments)
        for number in range(len(self.inference.replicas)):
            made.inference.replicas[number].encoder = self.inference.replicas[number].encoder
        return made

    @property
    def _identity(self) -> tuple[str, ...]:
        """The hashes of what is read from files."""
        own = (self.hash, self.settings, *(() if self.source is None else (self.source.hash,)))
        return own if self.reader is None else (*own, self._reader_hash)

    def save_pretrained(self, folder: str | Path) -> None:
        """Copy the checkpoint's files to `folder`, byte for byte; `from_pretrained(folder)` gives the same scores.

        Other files of its folder are not copied.
        """
        if Path(folder).resolve() != self.folder.resolve():
            files.copy(self.folder, Path(folder))

    @property
    def precision(self) -> str:
        """The name of the precision of the encoder."""
        return self.inference.precision

    @property
    def source(self) -> CountTable | None:
        """The table by which missing and surplus pronouns are counted; None without `source_lang`."""
        return self.inference.source

    @property
    def reader(self) -> Path | None:
        """The folder of the reader by which sources affect scores; None if it has none, or sources are ignored."""
        return self.description.reader

    @property
    def with_source(self) -> bool | None:
        """Whether texts must have a source; None: those that have one are scored with it."""
        if self.source is not None:
            return True
        return None if self.reads_source else False

    @property
    def reads_source(self) -> bool:
        """Whether a source affects the score of a text."""
        return self.description.reads_source

    @property
    def finds_missing(self) -> bool:
        """Whether texts with a source have an expected number of missing pronouns."""
        return self.description.finds_missing

    def _load_reader(self) -> Checkpoint:
        assert self.reader is not None
        return files.load_reader(self.reader, model=self.hash)

    @cached_property
    def _reader_hash(self) -> str:
        """The hash of the reader's weights and of what affects its logits."""
        assert self.reader is not None
        return files.hash_reader(self.reader)

    @property
    def probability(self) -> bool:
        """Whether pronoun scores are probabilities; the paper's heads give unbounded scores."""
        return self.inference.probability

    @property
    def context_size(self) -> int:
        """The number of context sentences in training."""
        return self.description.context_size

    @property
    def context_limit(self) -> int | None:
        """The number of sentences of a given context that are read, the last ones; None: all."""
        return context_limit(self.config)

    def signature(
        self,
        *,
        context: str = "given",
        context_size: int | None = None,
        seed: int | None = None,
        counts: Counts | None = None,
    ) -> Signature:
        """The signature: everything that scores depend on.

        context: the kind of context. context_size: number of context sentences, if the input did not contain the
        contexts. seed: of what is drawn, such as the swaps of a test; None if nothing is. counts: of the scored texts,
        by which the source and speakers are in it only if a text has them.
        """
        has_source = counts is not None and counts.with_source > 0
        reads = self.reader is not None and has_source
        head = self.config["head"]["kind"]
        return Signature.of(
            model=self.name,
            weights=self.hash,
            settings=self.settings,
            head=head if self.probability else f"{head}-unbounded",
            **({"pair_head": self.config[PAIR_HEAD]["heads"]} if has_pair_head(self.config) else {}),
            context=context,
            **({} if context_size is None or context == "none" else {"context_size": context_size}),
            **({} if self.language.to_record() is None else {"language": self.language.code}),
            **({"in_training": "no"} if self.config.get(UNTRAINED) else {}),
            pronouns=len(self.config["pronouns"]),
            segment=self.config["segment"],
            word=self.config["word_state"],
            precision=self.precision,
            **({"source": f"reader-{self._reader_hash}"} if reads else {}),
            **({"source": "read"} if self.inference.reads_source and has_source else {}),
            version=__version__,
            **({} if seed is None else {"seed": seed}),
            **({} if counts is None or not counts.with_speaker else {"speakers": SPEAKERS}),
        )

    def predict(
        self,
        records: Iterable[Mapping[str, Any]],
        *,
        batch_size: int | None = None,
        docs: Iterable[Hashable] | None = None,
        progress: bool = False,
        gpus: int | None = None,
    ) -> Prediction:
        """Score records `{"text": str, "context": [previous sentences]}`, the output of one system.

        Args:
            records: texts; `context` is optional. Of its sentences the last `context_limit` are read, as many as in
                training; `counts.shortened` of the prediction has how many texts lost some, and a warning says it.
                `source` (str), with the optional `source_context` (previous source
                sentences), affects scores if the checkpoint has a reader of sources, and is required if the metric has
                a source language. `speaker` (who says the text) and `context_speakers` (of each sentence of `context`)
                are optional; the model reads their names before the text and the sentences. Other fields do not affect
                scores.
            batch_size: a batch holds 32 pieces per unit, so more short texts or fewer long ones. None: 32, on a GPU
                1024.
            docs: each record's document (None if unknown), over which the system score has its interval; by default
                records.
            progress: show a bar on stderr.
            gpus: as in COMET, but the metric runs where `from_pretrained` put it: another number of GPUs is an error.

        Sources that cannot be right are a warning, as in all methods that take sources but `stream` and `alternatives`.

        Raises:
            InputError: a record without a text, or a value that is not text.
            PronmetricError: `batch_size`, `docs` or `gpus` are not as described; a data frame in place of records.
        """
        self._check_gpus(gpus)
        texts = self._texts(records)
        docs = docs_of(docs, len(texts))
        self._warn(texts)
        self._warn_of_sources("records", given_pairs(texts))
        counts = Counts()
        with self._streaming(len(texts), counts, batch_size, progress) as stream:
            segments = tuple(stream(texts))
        system = tally_segments(segments, docs).score()
        warn_of_no_translations({"records": system}, "record")
        units = (None,) * len(texts) if docs is None else tuple(docs)
        return Prediction(segments, system, counts, self.signature(counts=counts), tuple(texts), units)

    def score_files(
        self,
        translation: str | Path,
        *,
        context: str | None = None,
        batch_size: int | None = None,
        progress: bool = False,
        **beside: Unpack[TextFiles],
    ) -> Prediction:
        """Score a translation in a file; the scores are those of `pronmetric score -t`.

        Args:
            translation: the file, plain or gzip: one segment a line, or in a format that is told by its first lines and
                its suffix: a table, JSON Lines, subtitles, strings of a program, Markdown (see docs/formats.md).
            beside: what goes with it: `reference`, `source`, `docids` and further keywords of `TextFiles`.
            context: "common" (that of the reference; the default with one), "respective" (that of the translation
                itself) or "none"; a checkpoint that was trained without context has none by default.
            batch_size: as for `predict`.
            progress: show a bar on stderr.

        Raises:
            InputError: a missing or empty file, or one that is not UTF-8.
            PronmetricError: files of different length, or an argument that is not as described.
        """
        corpus = self._read(translation, **beside)
        source = beside.get("source") or translation
        return self._score_corpus(corpus, context, source, batch_size=batch_size, progress=progress)

    def corpus_score(
        self,
        hypotheses: Iterable[str],
        references: Iterable[Iterable[str]] = (),
        *,
        docs: Iterable[Hashable] | None = None,
        speakers: Iterable[str | None] | None = None,
        context: str | None = None,
        batch_size: int | None = None,
        progress: bool = False,
    ) -> Prediction:
        """Score a translation as sacreBLEU does: a list of segments, and a list of as many for each reference.

        In place of a list there may be a tuple, a Series, an array or a column of a data set. `docs`: the document of
        each segment; without it all are one document. `speakers`: who says each segment, None where that is not known.
        Other arguments as for `score_files`.

        Raises:
            InputError: a segment that is no text.
            PronmetricError: lists of different length, or an argument that is not as described.
        """
        hypotheses = values_of(hypotheses, name="hypotheses")
        corpus = corpora.of_lines(hypotheses, references, docs_of(docs, len(hypotheses)), speakers)
        return self._score_corpus(corpus, context, "", batch_size=batch_size, progress=progress)

    def _score_corpus(
        self, corpus: Corpus, context: str | None, source: str | Path, *, batch_size: int | None, progress: bool
    ) -> Prediction:
        """The scores of a corpus of one system; source: the file that its sources are from."""
        kind = self._check_corpus(corpus, context, RESPECTIVE, source)
        counts = Counts()
        with self._streaming(corpus.segments * texts_per_row(corpus, kind), counts, batch_size, progress) as stream:
            rows = score_rows(corpus, kind, size=self.context_size, stream=stream)
            scored = list(rows if self.source is not None else count_by_reference(rows, self.language))
        found = Prediction.of_rows(scored, corpus.systems[0], counts, self._corpus_signature(corpus, kind, counts))
        warn_of_no_translations({found.name: found.system}, "line")
        return found

    def _check_corpus(self, corpus: Corpus, context: str | None, otherwise: str, source: str | Path) -> str:
        """The kind of context of a corpus, as `context_of`; lines that cannot belong together are warnings."""
        if self.source is not None and not corpus.has_source:
            raise PronmetricError("a metric with a source language needs the source: give the file of the source")
        self._warn()
        self._warn_of_sources(str(source), corpus_sources(corpus))
        check_references(reference_pairs(corpus), warn, strict=False)
        return context_of(corpus, context, otherwise, in_context=trained_in_context(self.config))

    def _corpus_signature(self, corpus: Corpus, kind: str, counts: Counts, *, seed: int | None = None) -> Signature:
        """The signature of the scores of a corpus; several references are counted in it."""
        signed = self.signature(context=kind, context_size=self.context_size, seed=seed, counts=counts)
        several = len(corpus.averaged_references(kind))
        signed = signed.plus(references=several) if several else signed
        return signed.plus(resegmented="yes") if corpus.resegmented else signed

    def compare(
        self,
        a: Iterable[Mapping[str, Any]],
        b: Iterable[Mapping[str, Any]],
        *,
        context: str = "crossed",
        by: str | None = None,
        tie: float | Literal["auto"] = TIE_THRESHOLD,
        batch_size: int | None = None,
        docs: Iterable[Hashable] | None = None,
        seed: int = SEED,
        progress: bool = False,
    ) -> Comparison:
        """Compare the pronouns of two systems: a decision for each segment, and the difference with its significance.

        Swapping `a` and `b` only changes signs.

        Args:
            a: records of the first system, as for `predict`.
            b: as many records of the second.
            context: "crossed" scores each pair in the context of `a` and in that of `b` and averages (both are the same
                with a common context, such as the reference's). "respective" scores each text in its own context.
            by: what decides, "score", "errors" or "preference"; None is what the checkpoint's config names, which was
                chosen on development data, else "score".
            tie: tie threshold, from 0: segments whose scores differ by no more are ties; "auto" is the checkpoint's,
                which ties the same share of its development pairs as the share of ties in the published study.
            batch_size: as for `predict`.
            docs: each segment's document, the unit of intervals and tests; by default segments.
            seed: of the randomisation test.
            progress: show a bar on stderr.

        Raises:
            InputError: a record without a text, or a value that is not text.
            PronmetricError: an argument is not as described, or `a` and `b` have different numbers of records.
        """
        if context not in ("crossed", "respective"):
            raise PronmetricError(f'expected context "crossed" or "respective", got {context!r}')
        left, right = self._texts(a), self._texts(b)
        if len(left) != len(right):
            raise PronmetricError(f"expected as many records of b as of a, got {len(left)} and {len(right)}")
        docs, seed = docs_of(docs, len(left)), seed_of(seed)
        self._warn([*left, *right])
        self._warn_of_sources("records of a", given_pairs(left))
        self._warn_of_sources("records of b", given_pairs(right))
        units: Sequence[Hashable] = [None] * len(left) if docs is None else docs
        sourced = any(text.source is not None for text in (*left, *right))
        compared, counts = self._comparison(by, tie, sourced=sourced), Counts()
        pairs, crossed = list(zip(left, right, strict=True)), context == CROSSED
        with self._streaming((4 if crossed else 2) * len(left), counts, batch_size, progress) as stream:
            sides = score_text_pairs(pairs, stream, crossed=crossed)
            decisions = tuple(compared.add(x, y, doc) for (x, y), doc in zip(sides, units, strict=True))
        signature = self.signature(context=context, seed=seed, counts=counts).plus(
            by=compared.by, tie=f"{compared.tie:g}"
        )
        both, outcome = tuple((x.text, y.text) for x, y in pairs), compared.outcome(seed=seed)
        warn_of_no_translations({"records of a": outcome.a, "records of b": outcome.b}, "record")
        return Comparison(decisions, outcome, counts, signature, both, tuple(units))

    def compare_files(
        self,
        a: str | Path,
        b: str | Path | None = None,
        *,
        context: str | None = None,
        by: str | None = None,
        tie: float | Literal["auto"] = TIE_THRESHOLD,
        batch_size: int | None = None,
        seed: int = SEED,
        progress: bool = False,
        **beside: Unpack[TextFiles],
    ) -> Comparison:
        """Compare two translations in files, as `pronmetric compare -t` does.

        Args as for `score_files` and `compare`; without a reference the default context is "crossed". `b` may be
        missing if `a` is a table with a column of systems, and `systems` then names two of them.

        Raises:
            InputError: a missing or empty file, or one that is not UTF-8.
            PronmetricError: files of different length, or an argument that is not as described.
        """
        corpus = self._read(*([a] if b is None else [a, b]), number=2, **beside)
        kind, seed = self._check_corpus(corpus, context, CROSSED, beside.get("source") or a), seed_of(seed)
        compared, counts = self._comparison(by, tie, sourced=corpus.has_source), Counts()
        decisions, rows = [], []
        with self._streaming(corpus.segments * texts_per_row(corpus, kind), counts, batch_size, progress) as stream:
            for row, scores in score_pairs(corpus, kind, size=self.context_size, stream=stream):
                decisions.append(compared.add(average(*scores[0, 1]), average(*scores[1, 0]), row.doc))
                rows.append(row)
        signature = self._corpus_signature(corpus, kind, counts, seed=seed).plus(
            by=compared.by, tie=f"{compared.tie:g}"
        )
        outcome, (first, second) = compared.outcome(seed=seed), corpus.systems
        warn_of_no_translations({first: outcome.a, second: outcome.b}, "line")
        return Comparison.of_rows(rows, decisions, outcome, counts, signature, names=(first, second))

    def _comparison(self, by: str | None, tie: float | Literal["auto"], *, sourced: bool) -> PairwiseComparison:
        """A comparison without segments yet; arguments as for `compare`; sourced: the texts have sources."""
        by = self.description.decision(by, sourced=sourced)
        return PairwiseComparison(tie=self.description.tie_threshold(by=by) if tie == "auto" else tie_of(tie), by=by)

    @contextmanager
    def _streaming(self, total: int, counts: Counts, batch_size: int | None, progress: bool) -> Iterator[Stream]:
        """What scores texts, with a bar on stderr if that is wanted."""
        batch_size = batch_size_of(batch_size)
        with tqdm(total=total, unit=" texts", disable=not progress) as bar:
            yield partial(self.stream, batch_size=batch_size, counts=counts, advance=bar.update)

    def unread_sources(self, texts: Iterable[Text]) -> str | None:
        """What a user should know of texts whose sources do not affect scores; None if they do or are ignored."""
        return UNREAD_SOURCES if not self.description.no_source and any(text.unread for text in texts) else None

    def _read(self, *translations: File, number: int = 1, **beside: Unpack[TextFiles]) -> Corpus:
        """The corpus of these files, of `number` systems; a warning of a source that is not read."""
        corpus = read_files(translations, number=number, language=lambda: self.language.code, **beside)
        source = beside.get("source")
        if source is not None and not (self.description.no_source or self.reads_source or self.source is not None):
            warn(f"`source={source}`: {UNREAD_SOURCES}")
        return corpus

    def _check_gpus(self, gpus: object) -> None:
        """Refuse another number of GPUs than the metric runs on."""
        device = self.inference.device.type
        mine = 0 if device == "cpu" else len(self.inference.replicas)
        if gpus is not None and whole(gpus, least=0, what="gpus") != mine:
            place = f"{mine} GPU{'s' * (mine > 1)}" if mine else "the CPU"
            raise PronmetricError(
                f"the metric was loaded on {place}; choose there: PronounMetric.from_pretrained(gpus={gpus})"
            )

    def _warn(self, texts: Sequence[Text] = ()) -> None:
        """Warn of forms and languages that the checkpoint does not know, of too much context, of unread sources."""
        for said in (untrained_note(self.config, self.name), unscored_note(self.config, self.name)):
            if said is not None:
                warn(said)
        if number := sum(text.left_out > 0 for text in texts):
            warn(
                f"{number} of {len(texts)} texts have more sentences of context than the {self.context_limit} that the "
                "model was trained on: the last ones are read"
            )
        if (unread := self.unread_sources(texts)) is not None:
            warn(unread)

    def _warn_of_sources(self, name: str, pairs: Iterable[tuple[str | None, str]]) -> None:
        """Warn, unless sources are ignored, of those of the file `name` that cannot be right."""
        if not self.description.no_source:
            check_sources(name, pairs, self.language, warn, strict=False)

    def _texts(self, records: Iterable[Mapping[str, Any]]) -> list[Text]:
        check_records(records)
        return [
            text_of(record, file="record", line=number, with_source=self.with_source, context_size=self.context_limit)
            for number, record in enumerate(records, start=1)
        ]

    def stream(
        self,
        texts: Iterable[Text],
        *,
        batch_size: int | None = None,
        counts: Counts | None = None,
        advance: Callable[[int], object] | None = None,
        length_batching: bool = True,
        cache: bool = True,
        attended: bool = False,
        every_gap: bool = False,
    ) -> Iterator[SegmentScore]:
        """Scores of `texts`, in order, in bounded memory; each distinct text is encoded once.

        Scores are returned after every few thousand texts.

        Args:
            texts: the texts, with their contexts.
            batch_size: as for `predict`.
            counts: updated.
            advance: called after each batch with the number of texts finished since the last call, estimated from the
                pieces encoded; the total is the number of texts.
            length_batching: batches hold texts of similar length; if False, consecutive texts.
            cache: repeated texts are not encoded again.
            attended: also find the word that each pronoun attends to most (`SegmentScore.attended`).
            every_gap: `SegmentScore.gaps` lists every gap that was read, not only those where a pronoun may be missing.

        Raises:
            InputError: a text above the limit of characters, with its number from 1.
        """
        return self.inference.stream(
            texts,
            batch_size=batch_size_of(batch_size),
            counts=Counts() if counts is None else counts,
            advance=advance,
            length_batching=length_batching,
            cache=cache,
            attended=attended,
            every_gap=every_gap,
        )

    def alternatives(
        self,
        texts: Iterable[Text],
        *,
        below: float | None = None,
        agreeing: bool = False,
        scored: Iterable[Sequence[PronounScore]] | None = None,
        batch_size: int | None = None,
        counts: Counts | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> Iterator[tuple[PronounAlternatives, ...]]:
        """For each of `texts`, in order, its pronouns with the probabilities of alternative forms.

        See `pronmetric.scoring.alternatives`: one pronoun is replaced at a time; a source counts as in `stream`.
        Only pronouns with a probability below `below` are listed, and with `agreeing` only forms that agree; `scored`:
        the pronouns of each text with their scores (as `attention` gives them), so that the texts are not encoded
        again; `advance` is called with the number of texts finished since the last call; other arguments as for
        `stream`.

        Raises:
            PronmetricError: the checkpoint's head gives no probabilities.
        """
        if not self.probability:
            kind = self.config["head"]["kind"]
            raise PronmetricError(
                f"alternatives need probabilities; the head {kind!r} of {self.name} gives unbounded scores: "
                "give a checkpoint with head 'logit'"
            )
        return score_alternatives(
            texts,
            partial(self.stream, batch_size=batch_size, counts=counts),
            stream_variants=partial(
                self.inference.stream,
                batch_size=batch_size_of(batch_size),
                counts=counts,
                variants=True,
            ),
            language=self.language,
            below=below,
            agreeing=agreeing,
            scored=scored,
            advance=advance,
        )

    def attention(
        self,
        texts: Iterable[Text],
        *,
        batch_size: int | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> Iterator[tuple[PronounAttention, ...]]:
        """For each of `texts`, in order, its pronouns with their attention (as in the paper's Figures 5 and 6).

        This is the attention of the head, over contextual word states. `advance` is called with the number of texts
        finished since the last call.
        """
        return attention(self.inference, texts, batch_size=batch_size_of(batch_size), advance=advance)
