"""`pronmetric align`: word links between two line-parallel texts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pronmetric.alignment.links import METHODS, Symmetrize, to_pharaoh
from pronmetric.cli.parser import Command, Flags, UsageError, argument, flag
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
  embedding    vectors of a small encoder (extra train); no training, but slow
  precomputed  the links of the file --links, after a check

examples:
  pronmetric align ref.tok hyp.tok > links.txt
  pronmetric align ref.tok hyp.tok --train-on more.ref.tok more.hyp.tok --save-table table.npz > links.txt
  pronmetric align new.ref.tok new.hyp.tok --table table.npz > links.txt"""
_BACK_ENDS = ("agreement", "embedding", "precomputed")
_FLAGS_OF = {
    "train_on": {"agreement"},
    "table": {"agreement"},
    "save_table": {"agreement"},
    "symmetrize": {"agreement"},
    "links": {"precomputed"},
}


class AlignFlags(Flags):
    """The texts, and how they are aligned."""

    a: str = argument(metavar="A.txt", help="one text, tokens separated by spaces")
    b: str = argument(metavar="B.txt", help="the other text, with the same number of lines")
    train_on: Sequence[str] | None = flag("--train-on", nargs=2, metavar=("A2", "B2"), help="train on these lines too")
    table: str | None = flag(metavar="FILE", help="load a model written by --save-table instead of training")
    save_table: str | None = flag("--save-table", metavar="FILE", help="save the trained model")
    symmetrize: Symmetrize | None = flag(
        choices=METHODS,
        help="symmetrization of the two directions; the default, mutual, keeps links that are the best of both words",
    )
    backend: str = flag(choices=_BACK_ENDS, default="agreement")
    links: str | None = flag(metavar="FILE", help="links i-j for --backend precomputed")

    def check(self) -> None:
        """Refuse flags of another back end."""
        for name, backends in _FLAGS_OF.items():
            if vars(self)[name] is not None and self.backend not in backends:
                raise UsageError(f"--{name.replace('_', '-')} cannot be used with --backend {self.backend}")
        if self.table is not None and (self.train_on is not None or self.save_table is not None):
            raise UsageError("--table replaces training: leave out --train-on and --save-table")
        if self.backend == "precomputed" and self.links is None:
            raise UsageError("--backend precomputed needs --links FILE")


def run(task: AlignFlags) -> None:
    """Align the lines, and print the links."""
    targets.check([task.save_table], read=[task.a, task.b, *(task.train_on or []), task.table, task.links])
    from pronmetric.alignment.aligner import read_pairs

    pairs = read_pairs(task.a, task.b)
    more = read_pairs(*task.train_on) if task.train_on else []
    aligner = _make_aligner(task, pairs, more)
    aligned = progress(aligner.align_all(pairs), label="align", total=len(pairs), unit="lines")
    # All before the first is printed, so that an error leaves no partial output.
    sys.stdout.writelines([f"{to_pharaoh(links)}\n" for links in aligned])


def _make_aligner(task: AlignFlags, pairs: list[TokenPair], more: list[TokenPair]) -> Aligner:
    if task.backend == "embedding":
        from pronmetric.training.encoders.huggingface import embedding_aligner

        return embedding_aligner()
    if task.backend == "precomputed":
        from pronmetric.alignment.links import PrecomputedAligner

        assert task.links is not None  # checked by `AlignFlags.check`
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
        aligner.train(pairs, advance=bar.update)
    if task.save_table is not None:
        aligner.save(task.save_table)
    return aligner


VERB = Command("align", AlignFlags, run, DESCRIPTION, EPILOG)
