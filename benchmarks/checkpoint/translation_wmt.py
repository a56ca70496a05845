"""A real run of `pronmetric nmt`, as small as its data: German and Russian to English from WMT sources and references.

    python -m benchmarks.checkpoint.translation_wmt --shared DIR --work DIR [--systems NAME ...] [--page]

The training data are the references of WMT21 and WMT23 and, in the reverse direction as in back-translation, the human
translations of WMT21 to WMT24's English sources; the test set is WMT22 with its first reference. Each system translates
it, and `pronmetric score` gives BLEU, chrF and pronoun scores in one table. Where the files name no documents, 20 lines
are taken as one. A system whose translation is in the folder of --work is not run again, a training run that was
stopped is resumed, and scores are computed again only where a translation is newer. `--page` writes translation-wmt.md
and its JSON. BLEU and chrF need sacreBLEU.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import pages
from data_prep.wmt import discovery
from pronmetric.cli.main import main as pronmetric
from pronmetric.errors import PronmetricError
from pronmetric.text.lines import read_lines

PAGE = pages.PUBLISHED / "translation-wmt.md"
PAIRS = ("de-en", "ru-en")
TEST, BLOCK = "2022", 20  # lines that are taken as a document where the files name none
SYSTEMS: Mapping[str, Sequence[str]] = {
    "none": (),
    "concat21": ("nmt.context=concat21",),
    "concat22": ("nmt.context=concat22",),
}
SIZES = (
    "nmt.vocabulary=4000",
    "nmt.width=128",
    "nmt.feedforward=256",
    "nmt.layers=3",
    "nmt.dropout=0.3",
    "optim.lr=2.0e-3",
    "trainer.max_epochs=20",
)
ALSO = ("bleu", "chrf", "exact")
PARTS = ("train", "test")


class Row(NamedTuple):
    """A sentence pair and its document."""

    doc: str
    source: str
    target: str


def rows(shared: Path, pair: str, part: str) -> Iterator[Row]:
    """The sentence pairs of a part of the data, in the order of their documents."""
    for testset in discovery.discover(str(shared / "data" / "wmt"), pairs=[pair], exclude=()).testsets:
        if (TEST in testset.name) != (part == "test"):
            continue
        documents = list(discovery.read(testset))
        for document in documents:
            names = sorted({name for segment in document.segments for name in segment.refs})
            for name in names[:1] if part == "test" else names:
                for number, segment in enumerate(document.segments):
                    block = f".{number // BLOCK}" if len(documents) == 1 else ""
                    if segment.src and segment.refs.get(name, "").strip():
                        yield Row(f"{testset.name}.{document.doc}{block}.{name}", segment.src, segment.refs[name])
    for folder in sorted((shared / "data" / "parallel").glob(f"*.{pair}")) if part == "train" else ():
        source, target = (read_lines(folder / name) for name in (f"src.{pair[:2]}", "ref.en"))
        for number, (one, other) in enumerate(zip(source, target, strict=True)):
            yield Row(f"{folder.name}.{number // BLOCK}", one, other)


def write_data(shared: Path, pair: str, work: Path) -> None:
    """Write the sentences of both parts and their documents, a line each."""
    for part in PARTS:
        found = list(rows(shared, pair, part))
        if not found:
            raise PronmetricError(f"no {part} sentences of {pair} in {shared}: expected data/wmt and data/parallel")
        for name, column in zip(Row._fields, zip(*found, strict=True), strict=True):
            lines = (" ".join(text.split()) for text in column)
            (work / f"{part}.{name}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def translate(work: Path, name: str, overrides: Sequence[str]) -> None:
    """Train a system, and translate the test."""
    text = {"source": "source", "target": "target", "docids": "doc"}
    data = (f"data.{key}={work / f'train.{end}'}" for key, end in text.items())
    _run("nmt", "train", *data, *SIZES, *SYSTEMS[name], *overrides, f"out={work / name}", "trainer.progress=false")
    docids = ("--docids", str(work / "test.doc"))
    _run("nmt", "translate", str(work / name), str(work / "test.source"), *docids, "-o", str(work / f"{name}.en"))


def score(work: Path, names: Sequence[str]) -> dict[str, Any]:
    """Learned score, errors in 100 pronouns, and reference-based scores of each system's translation; the signature."""
    made, out = [work / f"{name}.en" for name in names], work / f"scores.{'.'.join(names)}.json"
    if not out.is_file() or out.stat().st_mtime < max(path.stat().st_mtime for path in made):
        texts = ("-t", *map(str, made), "-r", str(work / "test.target"), "--docids", str(work / "test.doc"))
        _run("score", *texts, "--also", ",".join(ALSO), "--only_system", "--to_json", str(out))
    found = json.loads(out.read_text(encoding="utf-8"))
    systems = {name: figures(one) for name, one in zip(names, found["systems"], strict=True)}
    return {"systems": systems, "signature": found["signature"]}


def figures(system: Mapping[str, Any]) -> dict[str, float | None]:
    """The figures of a system in the JSON of `pronmetric score`; None where its translation has no pronoun."""
    errors = system["errors_per_100_pronouns"]
    also = {key: system["also"][key]["score"] for key in ALSO}
    return {"score": system["score"], "errors": None if errors is None else errors["value"], **also}


def _run(*argv: str) -> None:
    if code := pronmetric(argv):
        raise PronmetricError(f"`pronmetric {' '.join(argv)}` failed with exit code {code}")


def page(content: Mapping[str, Any]) -> str:
    """The page of these figures."""
    table = [["pair", "sentences to train on", "system", "BLEU", "chrF", "pronmetric", "errors", "exact match"]]
    for pair, one in content["pairs"].items():
        for name, found in one["systems"].items():
            values = (found[key] for key in ("bleu", "chrf", "score", "errors", "exact"))
            shown = ["-" if value is None else f"{value:.1f}" for value in values]  # None: without pronouns
            table.append([pair, str(one["sentences"]), name, *shown])
    changed = f" ({' '.join(content['overrides'])})" if content["overrides"] else ""
    settings = " ".join(SIZES) + changed
    made = {key: content[key] for key in ("date", "command")}
    (signature,) = {one["signature"] for one in content["pairs"].values()}
    made |= {"signature": signature, "weights": dict(field.split(":", 1) for field in signature.split("|"))["weights"]}
    return pages.fill("translation-wmt", **made, settings=settings, table=pages.markdown(table))


def main() -> None:
    """Run the systems of both pairs; print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pages.add_shared(parser)
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="folder of texts, models and figures")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS), metavar="NAME")
    parser.add_argument("--overrides", nargs="+", default=[], metavar="KEY=VALUE", help="of each `nmt train`")
    parser.add_argument("--page", action="store_true", help="write the page and its JSON")
    args = parser.parse_args()
    found = {}
    for pair in PAIRS:
        work = args.work / pair
        work.mkdir(parents=True, exist_ok=True)
        if not (work / "test.target").is_file():  # the last one that is written
            write_data(args.shared, pair, work)
        for name in args.systems:
            if not (work / f"{name}.en").is_file():
                translate(work, name, args.overrides)
        sentences = len(read_lines(work / "train.source"))
        found[pair] = {"sentences": sentences, **score(work, args.systems)}
    content = {**pages.origin("checkpoint.translation_wmt"), "overrides": args.overrides, "pairs": found}
    if args.page:
        pages.write_page(PAGE, page(content), content)
    else:
        print(page(content), end="")


if __name__ == "__main__":
    pages.run(main)
