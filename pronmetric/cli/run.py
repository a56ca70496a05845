"""What a run over texts needs: the checkpoint that the flags name, the texts, their language and their context."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.cli.output import Notes
from pronmetric.errors import PronmetricError
from pronmetric.pronouns import known_words, languages, tables
from pronmetric.pronouns.languages import Language
from pronmetric.results.read import language_code
from pronmetric.text import corpus
from pronmetric.text.context import COMMON, CROSSED, NONE, RESPECTIVE
from pronmetric.text.corpus import Corpus

if TYPE_CHECKING:
    from pronmetric.metric import PronounMetric
    from pronmetric.scoring.score import Counts, SegmentScore
    from pronmetric.signature import Signature
    from pronmetric.text.context import Text
    from pronmetric.text.corpus import Corpus


CHECKED_LINES = 2000
"""Lines that are read for the check; most texts then have `known_words.ENOUGH` words."""
_SAID = {
    COMMON: "the {} of the reference",
    RESPECTIVE: "the {} of each output itself",
    CROSSED: "each pair in the {} of the one output, then of the other; the differences are averaged",
    NONE: "none",
}


def load_config(args: argparse.Namespace) -> Mapping[str, Any]:
    """The config of the checkpoint that --model names, read without torch."""
    storage = getattr(args, "model_storage_path", None)
    place = locate.locate(args.model, allow_network=args.allow_network, storage=storage)
    return checkpoint_config.read(place.folder / locate.CONFIG)


def load_language(args: argparse.Namespace) -> Language:
    """The language of the texts that the checkpoint of --model scores."""
    return checkpoint_config.language_of(load_config(args))


def note_english_figures(config: Mapping[str, Any] | None, note: Notes) -> None:
    """Note that figures by pronoun are of English, where the checkpoint scores another language."""
    own = languages.ENGLISH if config is None else checkpoint_config.language_of(config)
    if not own.ruled:
        note(f"kinds and numbers of pronouns, and simple baselines, are those of English; the model scores {own.code}")


def language_of_result(args: argparse.Namespace, signature: str) -> Language:
    """The language of a result's texts, by its signature; its table is that of --model, else the package's.

    Raises:
        PronmetricError: neither has a table of this language.
    """
    code = language_code(signature)
    if code == languages.ENGLISH.code:
        return languages.ENGLISH
    own = load_language(args)
    if own.code == code:
        return own
    if code in tables.codes():
        return languages.language(code)
    raise PronmetricError(
        f"the result is in {code}, of which there is no table of pronouns here: give --model the checkpoint that "
        "scored it"
    )


def load_metric(args: argparse.Namespace, note: Notes) -> PronounMetric:
    """The metric; begins `note`, and notes if it was not trained or calibrated.

    A folder without a checkpoint is refused before torch is loaded.
    """
    storage = getattr(args, "model_storage_path", None)
    if not args.allow_network:
        locate.locate(args.model, storage=storage)
    from pronmetric.metric import PronounMetric

    loaded = PronounMetric.from_pretrained(
        args.model,
        precision=args.precision,
        gpus=args.gpus,
        allow_network=args.allow_network,
        storage=storage,
        source_lang=getattr(args, "source_lang", None),
    )
    note.begin()
    if (caveat := checkpoint_config.caveat(loaded.config)) is not None:
        note(f"checkpoint {loaded.name}: {caveat}")
    return loaded


def stream_scores(
    scorer: PronounMetric,
    texts: Iterable[Text],
    args: argparse.Namespace,
    *,
    counts: Counts,
    advance: Callable[[int], object],
) -> Iterator[SegmentScore]:
    """The scores of `texts`, with the settings of the flags of `score` and `compare`."""
    return scorer.stream(
        texts,
        batch_size=args.batch_size,
        counts=counts,
        advance=advance,
        length_batching=not args.disable_length_batching,
        cache=not args.disable_cache,
    )


def read_corpus(args: argparse.Namespace, note: Notes) -> Corpus:
    """The corpus that the flags name; texts that do not look like the model's language are noted or refused.

    Errors as in `text.corpus.read` and `data_prep.wmt.corpus.read`.
    """
    found = _read_corpus(args, note)
    check_corpus(found, load_language(args), note, strict=args.strict)
    return found


def _read_corpus(args: argparse.Namespace, note: Notes) -> Corpus:
    if args.dataset is not None:
        from data_prep.wmt import corpus as wmt

        target = load_language(args).code
        return wmt.read(args.dataset, args.wmt_dir, args.systems, note, references=args.refs, target=target)
    return corpus.read(
        args.translations, note, references=args.references or (), source=args.sources, docids=args.docids
    )


def check_texts(named: Mapping[str, Iterable[str]], language: Language, note: Notes, *, strict: bool) -> None:
    """Note texts, by the name of their file or system, that do not look like `language`.

    Raises:
        PronmetricError: there are such texts, and `strict`.
    """
    for name, texts in named.items():
        doubt = known_words.doubt(texts, language)
        if doubt is not None and strict:
            raise PronmetricError(f"{name}: {doubt}; give texts in {language.code}, or leave out --strict")
        if doubt is not None:
            note(f"{name}: {doubt}")


def check_corpus(corpus: Corpus, language: Language, note: Notes, *, strict: bool) -> None:
    """Check the first lines of each system and reference; see `check`."""
    rows = list(islice(corpus.rows(), CHECKED_LINES))
    named = {name: [row.texts[k] for row in rows] for k, name in enumerate(corpus.systems)}
    named |= {name: [row.references[k] for row in rows] for k, name in enumerate(corpus.references)}
    check_texts(named, language, note, strict=strict)


def choose_context(args: argparse.Namespace, config: Mapping[str, Any], otherwise: str, note: Notes) -> str:
    """The kind of context: the requested one; else none if the checkpoint was trained without, else `otherwise`."""
    if args.context is not None:
        return str(args.context)
    if (config["context"] != NONE and config["context_size"]) or getattr(args, "refs", None) is not None:
        return otherwise
    note("the checkpoint was trained without context and scores without it; --context overrides this")
    return NONE


def announce_context(kind: str, corpus: Corpus, args: argparse.Namespace, note: Notes, *, size: int) -> None:
    """Refuse a context that the texts do not have; note the kind of context and the use of the source."""
    if kind == COMMON and not corpus.references:
        raise PronmetricError(f"{args.dataset} has no reference, which this context needs; give --context respective")
    several = f"; scores are means over {len(corpus.references)} references" if corpus.averaged_references(kind) else ""
    said = _SAID[kind].format(previous_lines(size))
    note.detail(f"context: {said}" + ("" if kind == NONE else f", {context_scope(corpus.documents)}{several}"))
    if not corpus.documents:
        note(
            "no document ids: all lines are one document"
            + ("" if kind == NONE else ", so that contexts cross documents")
            + "; intervals and tests take segments as units; "
            + ("give --docids" if args.translations else f"the files of {args.dataset} name no documents")
        )
    if args.sources is not None and args.source_lang is None:
        note.detail("-s: reports show the source; it does not affect scores without --source-lang")


def context_scope(documents: bool) -> str:
    """Where the context is taken from."""
    return "of the same document" if documents else "of the file"


def note_boundaries(kind: str, documents: bool, note: Notes) -> None:
    """Note that a context of lines crosses documents, as far as is known."""
    if kind != NONE and not documents:
        note("no document ids: all lines are one document, so that contexts cross documents; give --docids")


def previous_lines(size: int) -> str:
    """The number of previous lines in words."""
    return "previous line" if size == 1 else f"{size} previous lines"


def add_references(signature: Signature, kind: str, corpus: Corpus, args: argparse.Namespace) -> Signature:
    """The signature with the references of the common context: their names with -d, else their number if several."""
    if kind != COMMON:
        return signature
    if args.dataset is not None:
        return signature.plus(references=",".join(corpus.references))
    return signature.plus(references=len(corpus.references)) if len(corpus.references) > 1 else signature
