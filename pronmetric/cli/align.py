"""`pronmetric align`: word links between two line-parallel texts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pronmetric.alignment.links import METHODS, Symmetrize, to_pharaoh
from pronmetric.cli import flags
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


@dataclass(frozen=True)
class AlignFlags:
    """The texts, and how they are aligned."""

    a: str
    b: str
    train_on: Sequence[str] | None
    table: str | None
    save_table: str | None
    symmetrize: Symmetrize | None
    backend: str
    links: str | None

    @classmethod
    def of(cls, made: argparse.ArgumentParser, args: argparse.Namespace) -> AlignFlags:
        """The record; flags that do not go together are a usage error (exit code 2)."""
        given = vars(args)
        for flag, backends in _FLAGS_OF.items():
            if given[flag] is not None and args.backend not in backends:
                made.error(f"--{flag.replace('_', '-')} cannot be used with --backend {args.backend}")
        if args.table is not None and (args.train_on is not None or args.save_table is not None):
            made.error("--table replaces training: leave out --train-on and --save-table")
        if args.backend == "precomputed" and args.links is None:
            made.error("--backend precomputed needs --links FILE")
        return flags.read(cls, args)


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    task = AlignFlags.of(made, made.parse_args(argv))
    targets.check([task.save_table], read=[task.a, task.b, *(task.train_on or []), task.table, task.links])
    from pronmetric.alignment.aligner import read_pairs

    pairs = read_pairs(task.a, task.b)
    more = read_pairs(*task.train_on) if task.train_on else []
    aligner = _make_aligner(task, pairs, more)
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


def _make_aligner(task: AlignFlags, pairs: list[TokenPair], more: list[TokenPair]) -> Aligner:
    if task.backend == "eflomal":
        from pronmetric.alignment.eflomal import EflomalAligner

        return EflomalAligner(train_on=more, symmetrize=task.symmetrize or "mutual")
    if task.backend == "embedding":
        from pronmetric.training.encoders import embedding_aligner

        return embedding_aligner()
    if task.backend == "precomputed":
        from pronmetric.alignment.links import PrecomputedAligner

        assert task.links is not None  # `AlignFlags.of` has seen to it
        return PrecomputedAligner(task.links)
    return _train_or_load(task, [*pairs, *more])


def _train_or_load(task: AlignFlags, pairs: list[TokenPair]) -> AgreementAligner:
    from pronmetric.alignment.agreement import AgreementAligner

    how: Symmetrize = task.symmetrize or "mutual"
    if task.table is not None:
        return AgreementAligner.load(task.table, symmetrize=how)
    aligner = AgreementAligner(symmetrize=how)
    total = len(pairs) * aligner.iterations
    with progress(label="learn", total=total, unit="lines") as bar:
        aligner.train(pairs, progress=bar.update)
    if task.save_table is not None:
        aligner.save(task.save_table)
    return aligner
