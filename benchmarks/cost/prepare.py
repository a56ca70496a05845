"""What `pronmetric prepare` made of the shared data: time, memory, pairs by language and year, passages, overlap.

    /usr/bin/time -v -o TIME.txt pronmetric prepare data.wmt=DIR data.english=DIR data.coreference=DIR out=OUT
    python -m benchmarks.cost.prepare --data OUT --time TIME.txt [--shared DIR] [--page [FILE.md]]

**Overlap**: texts of training (pairs, their contexts, passages) that are a copy or a near copy of a text of a test set:
half of the word 5-grams of the shorter one, which has at least eight words. Test sets: WMT's in the folder, and the
study set, GAP, TED MQM and Winogender of --shared.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import pages
from data_prep.splits import Copies
from pronmetric.data import arrow
from pronmetric.errors import InputError

PAGE = pages.PUBLISHED / "prepare.md"
TRAINING = ("train", "development", "development_study")
KINDS = {"R vs S": "system", "R vs R'": "noisy"}
_SHORTEST = 8  # words of a text that is compared


def measure(data: Path, shared: Path | None, time: Path | None) -> dict[str, Any]:
    """All figures."""
    manifest = arrow.read_manifest(data)
    return {
        "cost": None if time is None else cost(time.read_text(encoding="utf-8")),
        "rows": {split: found["rows"] for split, found in manifest["splits"].items()},
        "pairs": {split: dict(pairs(data, split)) for split in ("train", "development", "test")},
        "passages": manifest["counts"]["passages"],
        "coreference": manifest["counts"].get("coreference"),
        "overlap": overlap(data, held_out(data, shared)),
        "inputs": sorted({str(Path(name).parts[0]) for name in manifest["inputs"]["wmt"]}),
    }


def cost(text: str) -> dict[str, float]:
    """CPU seconds and peak memory in MB, from what `/usr/bin/time -v` writes.

    Raises:
        InputError: it is something else.
    """
    found = {name: re.search(rf"{name}.*: ([\d.]+)", text) for name in ("User time", "System time", "Maximum resident")}
    if not all(found.values()):
        raise InputError("expected the output of /usr/bin/time -v")
    user, system, memory = (float(match[1]) for match in found.values() if match)
    return {"cpu_seconds": round(user + system), "memory_mb": round(memory / 1024)}


def pairs(data: Path, split: str) -> Iterator[tuple[str, dict[str, int]]]:
    """Pairs with a pronoun against a pronoun by test set, and texts that more than one pair of a kind repeats."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    rows = arrow.read_pairs(data, split, kinds=("pronoun",)).select_columns(["testset", "lp", "kind"])
    for part in rows.iter(1000):
        for testset, lp, kind in zip(part["testset"], part["lp"], part["kind"], strict=True):
            found[f"{testset}.{lp}"][kind] += 1
    for name in sorted(found):
        yield name, {label: found[name][kind] for label, kind in KINDS.items()}


def held_out(data: Path, shared: Path | None) -> Iterator[tuple[str, Iterable[str]]]:
    """The texts of each test set."""
    by_name: defaultdict[str, set[str]] = defaultdict(set)
    for part in arrow.read_pairs(data, "test").select_columns(["testset", "lp", "better"]).iter(1000):
        for testset, lp, text in zip(part["testset"], part["lp"], part["better"], strict=True):
            by_name[f"{testset}.{lp}"].add(text)
    yield from by_name.items()
    if shared is not None:
        yield "study set", study(shared / "data" / "study")
        yield "GAP", gap(shared / "data" / "gap" / "gap-development.tsv")
        yield "TED MQM", column(shared / "data" / "human" / "mqm" / "mqm_ted_zhen.tsv", "target")
        yield "Winogender", column(shared / "data" / "winogender" / "all_sentences.tsv", "sentence")


def study(folder: Path) -> Iterator[str]:
    """The references of the study set and their contexts."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            yield " ".join(item["reference"])
            yield " ".join(item["context"])


def gap(path: Path) -> Iterator[str]:
    """The sentences of GAP's passages."""
    for text in column(path, "Text"):
        yield from re.split(r"(?<=[.!?]) ", text)


def column(path: Path, name: str) -> Iterator[str]:
    """A column of a tab-separated table with a header, without markup."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield re.sub(r"</?v>", "", row[name])


def overlap(data: Path, tests: Iterable[tuple[str, Iterable[str]]]) -> dict[str, dict[str, int]]:
    """By test set: its texts of at least eight words, and how many distinct texts of training are copies of them."""
    copies: dict[str, Copies] = {}
    sizes: dict[str, int] = {}
    of_any = Copies()
    for name, texts in tests:
        long = {text for text in texts if len(text.split()) >= _SHORTEST}
        copies[name], sizes[name] = Copies(), len(long)
        for text in long:
            copies[name].add(text)
            of_any.add(text)
    found = dict.fromkeys(copies, 0)
    for text in filter(of_any.near, training_texts(data)):
        for name, known in copies.items():
            found[name] += known.near(text)
    return {name: {"texts": sizes[name], "copies": found[name]} for name in copies}


def training_texts(data: Path) -> Iterator[str]:
    """Each text of training and development of at least eight words, once."""
    seen: set[int] = set()
    for text in _texts(data):
        if len(text.split()) >= _SHORTEST and (key := hash(text)) not in seen:
            seen.add(key)
            yield text


def _texts(data: Path) -> Iterator[str]:
    for split in TRAINING:
        for part in arrow.read_pairs(data, split).select_columns(["better", "context"]).iter(1000):
            yield from part["better"]
            for context in part["context"]:
                yield from context
    there = arrow.read_manifest(data)["splits"]
    for split in (*arrow.PASSAGE_SPLITS, *arrow.COREFERENCE_SPLITS):
        if split in there:
            for part in arrow.read_passages(data, split).select_columns(["text"]).iter(1000):
                yield from part["text"]


def page(content: Mapping[str, Any]) -> str:
    """The page of the figures."""
    found = content["figures"]
    cost = found["cost"]
    made = [["split", "rows"], *([split, f"{rows:,}"] for split, rows in found["rows"].items())]
    pairs = [["test set", "split", *KINDS]]
    for split, testsets in found["pairs"].items():
        pairs += [[name, split, *(f"{each[kind]:,}" for kind in KINDS)] for name, each in testsets.items()]
        pairs.append([f"all of {split}", split, *(f"{sum(e[k] for e in testsets.values()):,}" for k in KINDS)])
    sources = [["source", "split", "documents", "passages", "pieces"]]
    for split, counts in found["passages"].items():
        for name in sorted(counts.get("kept", {})):
            numbers = (counts[what].get(name, 0) for what in ("documents", "kept", "pieces"))
            sources.append([name, split, *(f"{number:,}" for number in numbers)])
    for split, counts in (found["coreference"] or {}).items():
        for name in sorted(counts.get("kept", {})):
            sources.append([name, split, f"{counts['documents'][name]:,}", f"{counts['kept'][name]:,}", ""])
    copies = [["test set", "texts", "copies in training"]]
    copies += [[name, f"{each['texts']:,}", f"{each['copies']:,}"] for name, each in found["overlap"].items()]
    antecedents = {split: counts.get("antecedents", 0) for split, counts in (found["coreference"] or {}).items()}
    annotated = pages.template("prepare")["antecedents"]
    told = "".join(annotated.format(number=number, split=split) for split, number in antecedents.items())
    return pages.fill(
        "prepare",
        date=content["date"],
        command=content["command"],
        cpu_time=f"{cost['cpu_seconds']} s" if cost else "-",
        memory=f"{cost['memory_mb']:,} MB" if cost else "-",
        made=pages.markdown(made),
        pairs=pages.markdown(pairs),
        told=told,
        sources=pages.markdown(sources),
        copies=pages.markdown(copies),
    )


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--time", type=Path, metavar="FILE", help="what /usr/bin/time -v wrote of the preparation")
    parser.add_argument(
        "--page", type=Path, default=PAGE, metavar="FILE.md", help="default: benchmarks/published/prepare.md"
    )
    pages.add_shared(parser)
    options = parser.parse_args()
    shared = options.shared if options.shared.is_dir() else None
    content = {**pages.origin("cost.prepare"), "figures": measure(options.data, shared, options.time)}
    pages.write_page(options.page, page(content), content)


if __name__ == "__main__":
    pages.run(main)
