"""Originals of WMT test sets into English with their references, in the layout of `pronmetric prepare data.parallel`.

    python -m benchmarks.checkpoint.originals --wmt DIR --testset wmt21:de-en wmt23:de-en ... --out FOLDER

A scorer of translations into German learns from German originals too; the English reference is then the source. Each
set becomes a folder NAME-originals.LANG-en with src.LANG, ref.en (the first reference) and, where the files tell the
documents, docids.txt.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import pages
from data_prep.wmt import discovery
from data_prep.wmt.testset import TestSet
from pronmetric.errors import InputError


def write(testset: TestSet, out: Path) -> int:
    """Write one test set; the number of its segments with an original and a reference."""
    folder = out / f"{testset.name}-originals.{testset.lp}"
    read = list(discovery.read(testset))
    rows = [
        (segment.src, segment.refs[min(segment.refs)], document.doc)
        for document in read
        for segment in document.segments
        if segment.src and segment.refs
    ]
    names = [f"src.{testset.source}", f"ref.{testset.target}"]
    names += ["docids.txt"] if all(document.exact for document in read) else []
    folder.mkdir(parents=True, exist_ok=True)
    for name, column in zip(names, zip(*rows, strict=True), strict=False):
        (folder / name).write_text("".join(f"{' '.join(text.split())}\n" for text in column), encoding="utf-8")
    return len(rows)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wmt", type=Path, required=True, metavar="DIR", help="folder with the test sets")
    parser.add_argument("--testset", nargs="+", required=True, metavar="NAME:LP", help="such as wmt21:de-en")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    options = parser.parse_args()
    known = discovery.find(options.wmt)
    for name in options.testset:
        found = [each for each in known if discovery.matches(each, name)]
        if not found:
            raise InputError(f"no test set {name}", file=options.wmt)
        for testset in found:
            print(f"{testset.id}: {write(testset, options.out):,} segments")


if __name__ == "__main__":
    pages.run(main)
