"""System outputs for speed measurements: a WMT test set if available, else the bundled sample."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import pages
from pronmetric.text.context import in_context


@dataclass(frozen=True, slots=True)
class Outputs:
    """Line-parallel outputs: a name, the source, the reference, the document of each line, and lines by system."""

    name: str
    source: list[str]
    reference: list[str]
    docs: list[str]
    systems: dict[str, list[str]]

    def records(self, system: str) -> list[dict[str, object]]:
        """One system's lines in the reference's context."""
        return in_context(self.systems[system], reference=self.reference, docs=self.docs)

    def write(self, folder: Path) -> list[str]:
        """The files that `pronmetric score` reads; gives the paths of the systems, in order."""
        for name, lines in (("ref.txt", self.reference), ("docids.txt", self.docs), *self.systems.items()):
            (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return [str(folder / name) for name in self.systems]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The flags that choose the outputs and the model."""
    parser.add_argument("--model", metavar="NAME|FOLDER", help="default: the shipped checkpoint")
    parser.add_argument("--wmt-dir", type=Path, default=pages.ROOT.parent / "shared" / "data" / "wmt", metavar="DIR")
    parser.add_argument("-d", "--dataset", default="wmt22:de-en", metavar="NAME:LP", help="default: %(default)s")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="write the figures there")


def read(options: argparse.Namespace) -> Outputs:
    """The outputs that the flags name; without the WMT folder the bundled sample."""
    return wmt(options.wmt_dir, options.dataset) if options.wmt_dir.is_dir() else sample()


def wmt(folder: Path, dataset: str, note: Callable[[str], None] = lambda message: None) -> Outputs:
    """A test set's systems and first reference; `note` gets the name of the reference."""
    from data_prep.wmt import corpus as wmt_corpus

    corpus = wmt_corpus.read(dataset, str(folder), None, note)
    rows = list(corpus.rows())
    return Outputs(
        name=dataset,
        source=[one_line(row.source or "") for row in rows],
        reference=[one_line(row.reference or "") for row in rows],
        docs=[row.doc or dataset for row in rows],
        systems={name: [one_line(row.texts[i]) for row in rows] for i, name in enumerate(corpus.systems)},
    )


def sample() -> Outputs:
    """The bundled sample, with each of its three systems as the reference of all: few texts, many contexts."""
    folder = pages.ROOT / "examples" / "sample"
    lines = {name: read_lines(folder / f"system-{name}.txt") for name in "abc"}
    docs = read_lines(folder / "docids.txt")
    times = 16
    return Outputs(
        name="bundled sample, its lines set 16 times into other contexts",
        source=read_lines(folder / "src.de.txt") * times,
        reference=[f"{line} This was {k}." for k in range(times) for line in read_lines(folder / "ref.txt")],
        docs=[f"{doc}-{k}" for k in range(times) for doc in docs],
        systems={f"system-{name}": lines[name] * times for name in "abc"},
    )


def read_lines(path: Path) -> list[str]:
    """The lines of a text file."""
    return path.read_text(encoding="utf-8").splitlines()


def one_line(text: str) -> str:
    """A text without inner line ends."""
    return " ".join(text.split("\n"))


def take(outputs: Outputs, systems: Sequence[str] | None = None, lines: int | None = None) -> Outputs:
    """Some systems and the first lines."""
    chosen: Iterable[str] = outputs.systems if systems is None else systems
    return Outputs(
        name=outputs.name,
        source=outputs.source[:lines],
        reference=outputs.reference[:lines],
        docs=outputs.docs[:lines],
        systems={name: outputs.systems[name][:lines] for name in chosen},
    )
