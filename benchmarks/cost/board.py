"""Time and size of `pronmetric board build` on all WMT test sets into English; the screenshots in docs/.

    python -m benchmarks.cost.board --wmt DIR --site SITE [--human DIR] --page
    python -m benchmarks.cost.board --pictures docs

The test sets are scored one after the other, the smallest first, into SITE.scores; the CPU seconds and the texts of
each finished one go into the JSON at once, so that a stopped run goes on. Then the site is built from these scores. All
times are CPU seconds of this process, with wall time beside them: the figures hold on a busy machine. The screenshots
show made-up systems, mixed from the bundled sample; the site with WMT texts is not kept in the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from math import comb
from pathlib import Path
from typing import Any

import torch

from benchmarks import pages
from data_prep.wmt import corpus as wmt
from data_prep.wmt import discovery
from data_prep.wmt.testset import TestSet
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.main import main as pronmetric
from pronmetric.cli.output import Notes
from pronmetric.cli.run import ScoringRun
from pronmetric.errors import PronmetricError
from pronmetric.lab.board.scored import BoardSet, Store
from pronmetric.text.context import COMMON
from tests.tools.browser import Browser, find

PAGE = pages.PUBLISHED / "board.md"
CORES, MINUTES, MEGABYTES = 2, 40, 20
"""The bar: all test sets in so many minutes on so many cores, and a site of so many megabytes."""
_SAMPLE = pages.ROOT / "examples" / "sample"
_MIXED = {"Alder": "aaaa", "Birch": "aaab", "Cedar": "abab", "Elm": "bbab", "Fir": "bcbb", "Hazel": "cbcc"}
"""Made-up systems: the lines of the bundled systems a, b and c, taken in turn."""
_SETS = ("kites2021.de-en", "lamps2022.de-en", "moles2022.fr-en")


def size(testset: TestSet) -> int:
    """The bytes of all system outputs."""
    return sum(part.path.stat().st_size for part in testset.having("hyp"))


def score(testsets: Sequence[TestSet], folder: Path, done: dict[str, Any], *, out: Path) -> str:
    """Score what is not in the folder, add each test set's figures to `done` and write `out`; the weights."""
    scoring = ScoringRun(ModelFlags(), OutputFlags(), Notes(quiet=False))
    metric = scoring.metric
    store = Store(
        folder,
        scoring.stream,
        metric.context_size,
        metric.language,
        lambda kind: metric.signature(context=kind, context_size=metric.context_size),
        lambda name, total: scoring.progress(total, label=name),
    )
    for testset in sorted(testsets, key=size):
        cpu, wall = time.process_time(), time.perf_counter()
        corpus = wmt.read_testset(testset, None, lambda _: None)
        reference = corpus.references[0]
        named = BoardSet(testset.id, testset.name, testset.year, testset.lp, COMMON, reference)
        stored = store.get(named, corpus)
        if not stored.reused:
            done[testset.id] = {
                "systems": len(corpus.systems),
                "texts": corpus.segments * len(corpus.systems),
                "pronouns": sum(len(found.segment) for found in stored.scored.systems.values()),
                "cpu_seconds": round(time.process_time() - cpu, 1),
                "seconds": round(time.perf_counter() - wall, 1),
            }
            write(out, {"sets": done})
    return metric.hash


def build(options: argparse.Namespace, testsets: Iterable[str]) -> dict[str, float]:
    """Build the site of these test sets from their scores: CPU and wall seconds, files, bytes, the largest file."""
    human = [] if options.human is None else ["--human", str(options.human)]
    chosen = ["--testsets", *testsets]
    cpu, wall = time.process_time(), time.perf_counter()
    code = pronmetric(["board", "build", "--wmt", str(options.wmt), "-o", str(options.site), *human, *chosen])
    if code:
        raise PronmetricError(f"board build ended with {code}")
    sizes = [path.stat().st_size for path in options.site.rglob("*") if path.is_file()]
    return {
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "seconds": round(time.perf_counter() - wall, 1),
        "files": len(sizes),
        "bytes": sum(sizes),
        "largest": max(sizes),
    }


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write the JSON of the figures."""
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def page(content: Mapping[str, Any]) -> str:
    """The page of figures."""
    sets, site, whole = content["sets"], content["site"], content["all"]
    texts, systems, read = (sum(one[key] for one in sets.values()) for key in ("texts", "systems", "bytes"))
    cpu = sum(one["cpu_seconds"] for one in sets.values())
    compared = sum(comb(one["systems"], 2) for one in sets.values())
    estimate = cpu / read * whole["bytes"] + site["cpu_seconds"] / compared * whole["pairs"]
    rows = "\n".join(
        f"| {name} | {one['systems']} | {one['texts']:,} | {one['pronouns']:,} | {one['cpu_seconds']:.1f} | "
        f"{one['seconds']:.1f} |"
        for name, one in sets.items()
    )
    parts, missing, megabytes = pages.template("board"), whole["testsets"] - len(sets), site["bytes"] / 1e6
    rest = parts["some test sets" if missing else "all test sets"].format(
        whole=whole,
        missing=missing,
        seconds=estimate,
        minutes=estimate / CORES / 60,
        cores=CORES,
        megabytes=megabytes / systems * whole["systems"],
    )
    built = parts["the site"].format(site=site, megabytes=megabytes, largest=site["largest"] / 1e6, bar=MEGABYTES)
    return pages.fill(
        "board",
        weights=content["weights"],
        date=content["date"],
        command=content["command"],
        machine=content["machine"],
        systems=systems,
        testsets=len(sets),
        texts=texts,
        cpu=cpu,
        rest=rest,
        minutes=MINUTES,
        built=built,
        rows=rows,
    )


def totals(testsets: Sequence[TestSet]) -> dict[str, int]:
    """The numbers of test sets, systems, texts, pairs of systems and bytes of outputs of the whole folder."""
    corpora = [wmt.read_testset(testset, None, lambda _: None) for testset in testsets]
    return {
        "testsets": len(corpora),
        "systems": sum(len(corpus.systems) for corpus in corpora),
        "texts": sum(len(corpus.systems) * corpus.segments for corpus in corpora),
        "pairs": sum(comb(len(corpus.systems), 2) for corpus in corpora),
        "bytes": sum(map(size, testsets)),
    }


def made_up(folder: Path) -> None:
    """Three small test sets of made-up systems in the plain layout, with made-up human scores of one."""
    lines = {name: (_SAMPLE / f"system-{name}.txt").read_text(encoding="utf-8").splitlines() for name in "abc"}
    for shift, name in enumerate(_SETS):
        place = folder / name
        place.mkdir(parents=True)
        for file in ("ref", "docids"):
            (place / f"{file}.txt").write_bytes((_SAMPLE / f"{file}.txt").read_bytes())
        for system, turns in list(_MIXED.items())[: 6 - shift]:
            mixed = [lines[turns[(k + shift) % 4]][k] for k in range(len(lines["a"]))]
            (place / f"{system}.txt").write_text("".join(f"{line}\n" for line in mixed), encoding="utf-8")
    human = "".join(f"{system}\t{1 - k / 4}\n" for k, system in enumerate(_MIXED))
    (folder / f"{_SETS[0]}.sys.score").write_text(human, encoding="utf-8")


def pictures(folder: Path) -> None:
    """The first page on a light desk, from its top, and a system's page on a dark phone."""
    program = find()
    if program is None:
        raise PronmetricError("the pictures need Chromium")
    with tempfile.TemporaryDirectory() as place, Browser(program) as browser:
        made_up(Path(place) / "wmt")
        site = Path(place) / "site"
        pronmetric(["board", "build", "--wmt", f"{place}/wmt", "-o", str(site), "--quiet"])
        browser.dark(False)
        browser.size(1100, 1200, scale=0.62)
        browser.open(site / "index.html", fragment=f"#set={_SETS[0]}")
        (folder / "board-light.webp").write_bytes(browser.picture())
        browser.dark(True)
        browser.size(390, 800, phone=True)
        browser.open(site / "systems" / f"{_SETS[0].replace('.', '_')}.Hazel.html")
        browser.run("document.querySelector('h2').scrollIntoView()")
        (folder / "board-dark-phone.webp").write_bytes(browser.picture())


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wmt", type=Path, metavar="DIR", help="the WMT test sets")
    parser.add_argument("--human", type=Path, metavar="DIR", help="human scores of systems")
    parser.add_argument("--site", type=Path, metavar="SITE", help="the site to build")
    parser.add_argument("--finished", action="store_true", help="only test sets that are scored already")
    parser.add_argument("--out", type=Path, default=PAGE.with_suffix(".json"), metavar="FILE.json")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="where two pictures are put")
    options = parser.parse_args()
    if options.pictures is not None:
        pictures(options.pictures)
    if options.wmt is None:
        return
    if options.site is None:
        parser.error("--wmt needs --site")
    done = json.loads(options.out.read_text(encoding="utf-8"))["sets"] if options.out.exists() else {}
    testsets = discovery.discover(options.wmt, exclude=()).testsets
    chosen = [testset for testset in testsets if testset.id in done or not options.finished]
    weights = score(chosen, Path(f"{options.site}.scores"), done, out=options.out)
    for testset in testsets:
        if testset.id in done:
            done[testset.id]["bytes"] = size(testset)
    content = {
        **pages.origin("cost.board"),
        "weights": weights,
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, torch {torch.__version__}",
        "all": totals(testsets),
        "sets": done,
        "site": build(options, done),
    }
    write(options.out, content)
    if options.page:
        PAGE.write_text(page(content), encoding="utf-8")


if __name__ == "__main__":
    pages.run(main)
