"""`pronmetric align`: word links between two line-parallel texts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pronmetric.alignment.links import METHODS, Symmetrize, to_pharaoh
from pronmetric.cli.parser import verb_parser
from pronmetric.output import targets
from pronmetric.output.progress import progress

if TYPE_CHECKING:
    from pronmetric.alignment.agreement import AgreementAligner
    from pronmetric.alignment.aligner import Aligner, TokenPair

DESCRIPTION = """Align the words of two line-parallel tokenized texts.

Prints one line for each input line: links i-j, where i and j are word indices in A and B, from 0. A line without links
is empty. Case is ignored. Without --table, the aligner is trained on the input itself."""
EPILOG = """back ends:
  agreement    IBM-2 in both directions, trained to agree (default)
  eflomal      the program eflomal-align (pip install "pronmetric[eflomal]"); results vary slightly between runs
  embedding    vectors of a small encoder (pip install "pronmetric[train]"); no training, but slow
  precomputed  the links of the file --links, after a check

examples:
  pronmetric align ref.tok hyp.tok > links.txt
  pronmetric align ref.tok hyp.tok --train-on more.ref.tok more.hyp.tok --save-table table.npz > links.txt
  pronmetric align new.ref.tok new.hyp.tok --table table.npz > links.txt"""
_FLAGS_OF = {
    "train_on": {"agreement", "eflomal"},
    "table": {"agreement"},
    "save_table": {"agreement"},
    "symmetrize": {"agreement", "eflomal"},
    "links": {"precomputed"},
}


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = _arguments(argv)
    targets.check([args.save_table], read=[args.a, args.b, *(args.train_on or []), args.table, args.links])
    from pronmetric.alignment.aligner import read_pairs

    pairs = read_pairs(args.a, args.b)
    more = read_pairs(*args.train_on) if args.train_on else []
    aligner = _make_aligner(args, pairs, more)
    found = progress(aligner.align_all(pairs), label="align", total=len(pairs), unit="lines")
    lines = [
        to_pharaoh(links) for links in found
    ]  # all before the first is printed, so that an error leaves no partial output
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = verb_parser("align", DESCRIPTION, EPILOG)
    parser.add_argument("a", metavar="A.txt", help="one text, tokens separated by spaces")
    parser.add_argument("b", metavar="B.txt", help="the other text, with the same number of lines")
    parser.add_argument("--train-on", nargs=2, metavar=("A2", "B2"), help="train on these lines too")
    parser.add_argument("--table", metavar="FILE", help="load a model written by --save-table instead of training")
    parser.add_argument("--save-table", metavar="FILE", help="save the trained model")
    parser.add_argument(
        "--symmetrize",
        choices=METHODS,
        help="symmetrization of the two directions; the default, mutual, keeps links that are the best of both words",
    )
    parser.add_argument("--backend", choices=("agreement", "eflomal", "embedding", "precomputed"), default="agreement")
    parser.add_argument("--links", metavar="FILE", help="links i-j for --backend precomputed")
    return parser


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    made = parser()
    args = made.parse_args(argv)
    for flag, backends in _FLAGS_OF.items():
        if getattr(args, flag) is not None and args.backend not in backends:
            made.error(f"--{flag.replace('_', '-')} cannot be used with --backend {args.backend}")
    if args.table is not None and (args.train_on is not None or args.save_table is not None):
        made.error("--table replaces training: leave out --train-on and --save-table")
    if args.backend == "precomputed" and args.links is None:
        made.error("--backend precomputed needs --links FILE")
    return args


def _make_aligner(args: argparse.Namespace, pairs: list[TokenPair], more: list[TokenPair]) -> Aligner:
    if args.backend == "eflomal":
        from pronmetric.alignment.eflomal import EflomalAligner

        return EflomalAligner(train_on=more, symmetrize=args.symmetrize or "mutual")
    if args.backend == "embedding":
        from pronmetric.training.embedding_aligner import embedding_aligner

        return embedding_aligner()
    if args.backend == "precomputed":
        from pronmetric.alignment.precomputed import PrecomputedAligner

        return PrecomputedAligner(args.links)
    return _train_or_load(args, [*pairs, *more])


def _train_or_load(args: argparse.Namespace, pairs: list[TokenPair]) -> AgreementAligner:
    from pronmetric.alignment.agreement import AgreementAligner

    how: Symmetrize = args.symmetrize or "mutual"
    if args.table is not None:
        return AgreementAligner.load(args.table, symmetrize=how)
    aligner = AgreementAligner(symmetrize=how)
    total = len(pairs) * aligner.iterations
    with progress(label="learn", total=total, unit="lines") as bar:
        aligner.train(pairs, progress=bar.update)
    if args.save_table is not None:
        aligner.save(args.save_table)
    return aligner
