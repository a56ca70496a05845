"""The flag --context: which sentences are the context of each text, and what the signature says of it."""

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

SIZE_HELP = """The previous sentences are as many as the checkpoint was trained with (the shipped one: 2). A checkpoint
that was trained without context scores without it by default."""
_SAID = {
    COMMON: "the {} of the reference",
    RESPECTIVE: "the {} of each output itself",
    CROSSED: "each pair in the {} of the one output, then of the other; differences averaged",
    NONE: "none",
}


def choose(args: argparse.Namespace, config: Mapping[str, Any], otherwise: str, note: Notes) -> str:
    """The kind of context: the one asked for, none of a checkpoint trained without any, else `otherwise`."""
    if args.context is not None:
        return str(args.context)
    if (config["context"] != NONE and config["context_size"]) or getattr(args, "refs", None) is not None:
        return otherwise
    note("the checkpoint was trained without context and scores without it; ask for one with --context")
    return NONE


def announce(kind: str, corpus: Corpus, args: argparse.Namespace, note: Notes, *, size: int) -> None:
    """Refuse a context that the texts do not have; say which it is, and what the source is for."""
    if kind == COMMON and not corpus.references:
        raise PronmetricError(f"{args.dataset} has no reference, whose context is asked for; give --context respective")
    where = "of the same document" if corpus.documents else "of the file; document bounds are unknown"
    several = f"; scores are means over {len(corpus.references)} references" if corpus.averaged_references(kind) else ""
    said = _SAID[kind].format(previous_lines(size))
    note(f"context: {said}" + ("" if kind == NONE else f", {where}{several}"))
    if not corpus.documents:
        note(
            "no document ids: intervals and tests resample segments" + ("; give --docids" if args.translations else "")
        )
    if args.sources is not None:
        note("-s: its length is checked and reports show it; it changes no score")


def previous_lines(size: int) -> str:
    """How many lines before one are its context, in words."""
    return "previous line" if size == 1 else f"{size} previous lines"


def add_references(signature: Signature, kind: str, corpus: Corpus, args: argparse.Namespace) -> Signature:
    """The signature with what it says of the common context: the names of -d, the number of several files."""
    if kind != COMMON:
        return signature
    if args.dataset is not None:
        return signature.plus(references=",".join(corpus.references))
    return signature.plus(references=len(corpus.references)) if len(corpus.references) > 1 else signature
