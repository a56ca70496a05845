"""The flag --context: which sentences are the context of each text; the context in the signature."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pronmetric.cli.output import Notes
from pronmetric.errors import PronmetricError
from pronmetric.text.context import COMMON, CROSSED, NONE, RESPECTIVE

if TYPE_CHECKING:
    from pronmetric.signature import Signature
    from pronmetric.text.corpus import Corpus

SIZE_HELP = """The number of previous sentences is that of the checkpoint's training (2 for the shipped ones). A
checkpoint that was trained without context scores without it by default."""
_SAID = {
    COMMON: "the {} of the reference",
    RESPECTIVE: "the {} of each output itself",
    CROSSED: "each pair in the {} of the one output, then of the other; the differences are averaged",
    NONE: "none",
}


def choose(args: argparse.Namespace, config: Mapping[str, Any], otherwise: str, note: Notes) -> str:
    """The kind of context: the requested one; else none if the checkpoint was trained without, else `otherwise`."""
    if args.context is not None:
        return str(args.context)
    if (config["context"] != NONE and config["context_size"]) or getattr(args, "refs", None) is not None:
        return otherwise
    note("the checkpoint was trained without context and scores without it; --context overrides this")
    return NONE


def announce(kind: str, corpus: Corpus, args: argparse.Namespace, note: Notes, *, size: int) -> None:
    """Refuse a context that the texts do not have; note the kind of context and the use of the source."""
    if kind == COMMON and not corpus.references:
        raise PronmetricError(f"{args.dataset} has no reference, which this context needs; give --context respective")
    several = f"; scores are means over {len(corpus.references)} references" if corpus.averaged_references(kind) else ""
    said = _SAID[kind].format(previous_lines(size))
    note.detail(f"context: {said}" + ("" if kind == NONE else f", {where(corpus.documents)}{several}"))
    if not corpus.documents:
        note(
            "no document ids: all lines are one document"
            + ("" if kind == NONE else ", so that contexts cross documents")
            + "; intervals and tests take segments as units; "
            + ("give --docids" if args.translations else f"the files of {args.dataset} name no documents")
        )
    if args.sources is not None and args.source_lang is None:
        note.detail("-s: reports show the source; it does not affect scores without --source-lang")


def where(documents: bool) -> str:
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
