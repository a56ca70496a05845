"""The corpus that the flags of `score` and `compare` name: line-parallel files or a WMT test set."""

from __future__ import annotations

import argparse

from pronmetric.cli import load, target_language
from pronmetric.cli.output import Notes
from pronmetric.text import corpus
from pronmetric.text.corpus import Corpus


def read(args: argparse.Namespace, note: Notes) -> Corpus:
    """The corpus that the flags name; texts that do not look like the model's language are noted or refused.

    Errors as in `text.corpus.read` and `data_prep.wmt.corpus.read`.
    """
    found = _read(args, note)
    target_language.check_corpus(found, load.language(args), note, strict=args.strict)
    return found


def _read(args: argparse.Namespace, note: Notes) -> Corpus:
    if args.dataset is not None:
        from data_prep.wmt import corpus as wmt

        target = load.language(args).code
        return wmt.read(args.dataset, args.wmt_dir, args.systems, note, references=args.refs, target=target)
    return corpus.read(
        args.translations, note, references=args.references or (), source=args.sources, docids=args.docids
    )
