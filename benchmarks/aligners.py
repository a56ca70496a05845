"""Word aligners against a gold alignment of two English translations, and their speed.

    OMP_NUM_THREADS=1 python -m benchmarks.aligners [--shared DIR] [--lines 20000] [--seed 1] [--backends ...]

Gold: MultiMWA-MTRef, development part (800 pairs). P = |A and (S or P)| / |A|, R = |A and S| / |S| over all links A of
the aligner, sure S and possible P of the gold; "pron": links that touch a pronoun form on either side; "ppdiff": links
of two different pronoun forms. Training text: (first reference, output) lines of WMT21, drawn by seed. Speed: pairs per
CPU second of this process, to learn from those lines and align them. Prints what aligners.md holds.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from data_prep.wmt import discovery
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.lcs import common_subsequence
from pronmetric.alignment.links import METHODS, Link
from pronmetric.pronouns.finder import FORMS
from pronmetric.schema import Alignment
from pronmetric.text.words import words

SHARED = Path(__file__).resolve().parents[2] / "shared"
KINDS = ("all", "pron", "ppdiff")
BACKENDS = ("agreement", "embedding", "eflomal")


@dataclass(frozen=True, slots=True)
class Gold:
    """One pair of the gold."""

    a: Sequence[str]
    b: Sequence[str]
    sure: Collection[Link]
    possible: Collection[Link]

    def of_kind(self, links: Collection[Link], kind: str) -> set[Link]:
        """The links that a kind counts."""
        return {link for link in links if kind == "all" or self._counts(link, kind)}

    def _counts(self, link: Link, kind: str) -> bool:
        left, right = self.a[link[0]], self.b[link[1]]
        pronouns = (left in FORMS) + (right in FORMS)
        return pronouns == 2 and left != right if kind == "ppdiff" else pronouns > 0


@dataclass(frozen=True, slots=True)
class Figures:
    """Precision, recall and F1 in percent."""

    precision: float
    recall: float
    f1: float

    def __str__(self) -> str:
        """The three, as the table shows them."""
        return f"{self.precision:.1f}/{self.recall:.1f}/{self.f1:.1f}"


def read_gold(path: Path) -> list[Gold]:
    """The pairs of a gold file."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Gold(row["tokens_a"], row["tokens_b"], set(map(tuple, row["sure"])), set(map(tuple, row["possible"])))
        for row in rows
    ]


def measure(gold: Sequence[Gold], found: Sequence[Alignment]) -> dict[str, Figures]:
    """The figures of each kind, over all links together."""
    figures = {}
    for kind in KINDS:
        good = right = links = sure = 0
        for pair, alignment in zip(gold, found, strict=True):
            of_system, of_gold = pair.of_kind(alignment.links, kind), pair.of_kind(pair.sure, kind)
            right += len(of_system & (of_gold | pair.of_kind(pair.possible, kind)))
            good += len(of_system & of_gold)
            links += len(of_system)
            sure += len(of_gold)
        precision, recall = 100 * right / max(links, 1), 100 * good / max(sure, 1)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        figures[kind] = Figures(precision, recall, f1)
    return figures


def wmt21_lines(folder: Path, number: int, seed: int) -> list[TokenPair]:
    """(First reference, output) lines of WMT21 as words, drawn by seed; equal ones left out."""
    texts = []
    for testset in discovery.discover(folder, years=[21], exclude=[]).testsets:
        for document in discovery.read(testset):
            for segment in document.segments:
                reference = next(iter(segment.refs.values()), "")
                texts += [(reference, output) for output in segment.hyps.values() if reference and output != reference]
    drawn = random.Random(seed).sample(texts, number)
    return [([word.text for word in words(a)], [word.text for word in words(b)]) for a, b in drawn]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=SHARED, metavar="DIR")
    parser.add_argument("--lines", type=int, default=20_000, help="training lines (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=["agreement", "embedding"])
    options = parser.parse_args()
    gold = read_gold(options.shared / "data" / "mtref-dev.jsonl")
    own: list[TokenPair] = [(pair.a, pair.b) for pair in gold]
    more = wmt21_lines(options.shared / "data" / "wmt", options.lines, options.seed)
    if "agreement" in options.backends:  # first: peak memory only grows
        print(_speed(more) + "\n")
    print("| aligner | learned from | all P/R/F1 | pron P/R/F1 | ppdiff P/R/F1 |\n|---|---|---|---|---|")
    for name, source, align in _aligners(options.backends, own, more):
        figures = measure(gold, align())
        print(f"| {name} | {source} | " + " | ".join(str(figures[kind]) for kind in KINDS) + " |", flush=True)


def _aligners(
    backends: Sequence[str], own: list[TokenPair], more: list[TokenPair]
) -> Iterator[tuple[str, str, Callable[[], list[Alignment]]]]:
    alone, lines = f"these {len(own)} pairs", f"{len(more):,} WMT21 lines"
    yield "identical words (LCS)", "nothing", lambda: [Alignment(tuple(common_subsequence(a, b))) for a, b in own]
    if "agreement" in backends:
        for pairs, source in ((own, alone), (more, lines), ([*more, *own], f"{lines} and {alone}")):
            aligner = AgreementAligner()
            aligner.train(pairs)
            yield "agreement EM", source, lambda aligner=aligner: list(aligner.align_all(own))  # type: ignore[misc]
        for how in METHODS[1:]:
            aligner.symmetrize = how  # type: ignore[assignment]
            yield f"agreement EM, {how}", source, lambda: list(aligner.align_all(own))
    if "embedding" in backends:
        from pronmetric.training.embedding_aligner import embedding_aligner

        yield "embedding hybrid", "nothing", lambda: list(embedding_aligner().align_all(own))
    if "eflomal" in backends:
        from pronmetric.alignment.eflomal import EflomalAligner

        yield "eflomal, intersection", alone, lambda: list(EflomalAligner().align_all(own))
        both = f"{lines} and {alone}"
        yield "eflomal, intersection", both, lambda: list(EflomalAligner(train_on=more).align_all(own))


def _speed(pairs: list[TokenPair]) -> str:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    aligner = AgreementAligner()
    start = time.process_time()
    aligner.train(pairs)
    learned = time.process_time()
    for _ in aligner.align_all(pairs):
        pass
    end = time.process_time()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    mean = sum(len(a) + len(b) for a, b in pairs) / 2 / len(pairs)
    return (
        f"Agreement EM, {len(pairs):,} pairs of {mean:.0f} words a side: learning {learned - start:.1f} CPU s, "
        f"aligning {end - learned:.1f} CPU s, together {len(pairs) / (end - start):,.0f} pairs per CPU second; "
        f"peak memory grew by {grown:.0f} MB."
    )


if __name__ == "__main__":
    main()
