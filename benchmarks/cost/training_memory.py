"""Memory and time of `pronmetric train` until its first steps, on a prepared folder and on one many times as large.

    nice -n 10 python -m benchmarks.cost.training_memory run --data PREPARED --work DIR [--times 10] [--from FOLDER]
    python -m benchmarks.cost.training_memory page --work DIR [--page FILE.md]

`run` writes the larger folder: its training splits hold those of PREPARED so many times, with other ids and documents
(`--from` takes one that exists). It starts the recipe on it (`experiment=default`, all four epochs planned), stops it
once a few steps are saved and writes what it took to a JSON file in DIR. `--times 1` runs on PREPARED itself. Memory is
anonymous memory, read twice a second: without the pages of the memory-mapped folder, which the system takes back when
it needs them. `page` writes the page from all such files in DIR.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import pages
from pronmetric.data import arrow
from pronmetric.errors import InputError

PAGE = pages.PUBLISHED / "training-memory.md"
STEPS = 3
POLL = 0.5  # seconds
LEFT_OUT = "test"  # the split that training does not read
RECIPE = ("experiment=default", f"trainer.save_every={STEPS}", "trainer.progress=false")


def enlarge(data: Path, target: Path, times: int) -> None:
    """A prepared folder whose training splits hold those of `data` so many times, with other ids and documents."""
    target.mkdir(parents=True)
    for file in data.glob("*.json"):
        shutil.copy(file, target)
    for split in arrow.read_manifest(data)["splits"]:
        if split == LEFT_OUT:
            continue
        shutil.copytree(data / split, target / split)
        if "train" in split:
            (stream,) = (data / split).glob("*.arrow")
            _repeat(stream, target / split / stream.name, times)


def _repeat(stream: Path, target: Path, times: int) -> None:
    """Write the rows of an Arrow stream file so many times, with the number of the copy in the columns id and doc."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with pa.memory_map(str(stream)) as source, pa.OSFile(str(target), "wb") as sink:
        rows = pa.ipc.open_stream(source).read_all()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            for copy in range(times):
                for batch in rows.to_batches():
                    for name in ("id", "doc"):
                        at = batch.schema.get_field_index(name)
                        named = pc.binary_join_element_wise(str(copy), batch.column(at), "/")
                        batch = batch.set_column(at, batch.schema.field(at), named)
                    writer.write_batch(batch)


def measure(data: Path) -> dict[str, float]:
    """What the recipe takes on a prepared folder until `STEPS` steps are saved.

    Raises:
        InputError: the run ended before.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, log = Path(folder) / "run", Path(folder) / "log.txt"
        command = [sys.executable, "-m", "pronmetric", "train", *RECIPE, f"data.dir={data}", f"out={out}"]
        begin, peak, planned = time.monotonic(), 0.0, 0.0
        with log.open("wb") as file:
            run = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        try:
            while not (out / "last.ckpt").is_file():
                if run.poll() is not None:
                    raise InputError(log.read_text(encoding="utf-8").strip().splitlines()[-1], file=data)
                memory, cpu = anonymous(run.pid), cpu_seconds(run.pid)
                peak = max(peak, memory)
                if not (out / "csv").is_dir():  # written when the first step begins
                    planned = cpu
                time.sleep(POLL)
            whole = cpu_seconds(run.pid)
        finally:
            run.kill()
            run.wait()
    return {
        "peak_mb": peak,
        "planning_cpu_seconds": planned,
        "cpu_seconds": whole,
        "seconds": time.monotonic() - begin,
    }


def anonymous(pid: int) -> float:
    """Anonymous memory of a process in MB; 0 before it has any."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0.0


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def size(data: Path) -> dict[str, int]:
    """Rows and bytes of the training splits."""
    splits = [split for split in arrow.read_manifest(data)["splits"] if "train" in split and split != LEFT_OUT]
    found = {"pairs": len(arrow.read_pairs(data, "train")), "passages": 0}
    for split in splits:
        if split != "train":
            found["passages"] += len(arrow.read_passages(data, split))
    found["bytes"] = sum(file.stat().st_size for split in splits for file in (data / split).glob("*.arrow"))
    return found


def page(content: Mapping[str, Any]) -> str:
    """The page of the figures."""
    rows = [
        [
            "training data",
            "pairs",
            "passages",
            "size of the training splits",
            "peak memory of its own",
            "CPU time before the first step",
        ]
    ]
    for times, one in sorted(content["figures"].items(), key=lambda each: int(each[0])):
        rows.append(
            [
                "shared data" if times == "1" else f"{times} times as much",
                f"{one['pairs']:,}",
                f"{one['passages']:,}",
                f"{one['bytes'] / 1e6:,.0f} MB",
                f"{one['peak_mb']:,.0f} MB",
                f"{one['planning_cpu_seconds']:.0f} s",
            ]
        )
    return pages.fill(
        "training-memory",
        date=content["date"],
        steps=STEPS,
        table=pages.markdown(rows),
    )


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("run", "page"))
    parser.add_argument("--data", type=Path, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="folder of the figures")
    parser.add_argument("--times", type=int, default=10, help="size of the larger folder")
    parser.add_argument("--from", dest="larger", type=Path, metavar="FOLDER", help="the larger folder, if it exists")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE.md", help=f"default: {PAGE.name}")
    options = parser.parse_args()
    if options.what == "page":
        files = sorted(options.work.glob("memory-*.json"))
        figures = {file.stem.partition("-")[2]: json.loads(file.read_text(encoding="utf-8")) for file in files}
        content = {**pages.origin("cost.training_memory"), "figures": figures}
        pages.write_page(options.page, page(content), content)
        return
    data = options.data if options.times == 1 else options.larger or options.work / f"times-{options.times}"
    if not data.is_dir():
        enlarge(options.data, data, options.times)
    found = {**size(data), **measure(data)}
    options.work.mkdir(parents=True, exist_ok=True)
    (options.work / f"memory-{options.times}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    pages.run(main)
