"""How fast does `pronmetric serve` answer? 1, 8 and 32 clients at once, each over a connection of its own.

    python -m benchmarks.cost.serve_load [--models NAME ...] [--seconds S] [--page | --pictures FOLDER]

Starts the server as a process, without its rate limit. A client sends the next request when it has the answer to the
last: one sentence with its context to /score, or a paragraph of five lines in two translations to /compare, as the page
does. No two texts are the same, so that nothing is read once for two. Server and clients share the cores of the
machine; the CPU time is the server's own. `--page` writes serve-load.md and its JSON. `--pictures FOLDER` only takes
two small pictures of the page with an example.
"""

from __future__ import annotations

import argparse
import datetime
import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks import pages
from pronmetric.errors import PronmetricError
from tests.tools.browser import NAMES, VARIABLE, Browser, find, until
from tests.tools.served import Served, ask, connect, serving

MODELS = "base", "small"
CLIENTS = 1, 8, 32
SECONDS = 20.0
LINES = 5
BUSY = 20  # percent of the cores that other work takes, from which the machine is no free one
SAMPLE = pages.ROOT / "examples" / "sample"
PAGE = pages.PUBLISHED / "serve-load.md"
KINDS = {"/score": "a sentence to /score", "/compare": f"a paragraph of {LINES} lines, two translations, to /compare"}


class Client(threading.Thread):
    """Sends one request after the other until a time, and keeps how long each took."""

    def __init__(self, address: str, path: str, numbers: count[int], until: float) -> None:
        super().__init__()
        self.path, self.numbers, self.until = path, numbers, until
        self.connection = connect(address)
        self.seconds: list[float] = []

    def run(self) -> None:
        """Send until the time is over."""
        while time.monotonic() < self.until:
            body = body_of(self.path, next(self.numbers))
            start = time.perf_counter()
            ask(self.connection, self.path, body)
            self.seconds.append(time.perf_counter() - start)
        self.connection.close()


def lines(name: str) -> list[str]:
    """The lines of a file of the sample."""
    return (SAMPLE / name).read_text(encoding="utf-8").splitlines()


SYSTEMS = {side: lines(f"system-{side}.txt") for side in "ab"}


def records(side: str, number: int, size: int) -> list[dict[str, Any]]:
    """`size` lines of a system in their contexts; the number makes them differ from those of other requests."""
    own = SYSTEMS[side]
    start = 2 + number * size % (len(own) - size - 2)
    places = range(start, start + size)
    return [{"id": k, "text": own[k], "context": [f"Text {number}.", *own[k - 2 : k]]} for k in places]


def body_of(path: str, number: int) -> dict[str, Any]:
    """The body of a request."""
    if path == "/score":
        return {"records": records("a", number, 1)}
    return {side: records(side, number, LINES) for side in SYSTEMS}


def measure(served: Served, path: str, clients: int, seconds: float) -> dict[str, Any]:
    """The figures of so many clients; times in milliseconds."""
    process = psutil.Process(served.process.pid)
    numbers = count(1)
    before, start = sum(process.cpu_times()[:2]), time.monotonic()
    team = [Client(served.address, path, numbers, start + seconds) for _ in range(clients)]
    for client in team:
        client.start()
    for client in team:
        client.join()
    wall, cpu = time.monotonic() - start, sum(process.cpu_times()[:2]) - before
    times = np.array([one for client in team for one in client.seconds])
    median, high = (round(1000 * float(value), 1) for value in np.quantile(times, [0.5, 0.95]))
    found = {"path": path, "clients": clients, "requests": len(times), "p50": median, "p95": high}
    return {**found, "per_second": round(len(times) / wall, 2), "cpu": round(1000 * cpu / len(times), 1)}


def measure_model(model: str, seconds: float) -> dict[str, Any]:
    """All rows of a model."""
    with serving("--model", model, "--rate", 0, "--gpus", 0, "--quiet") as served:
        with closing(connect(served.address)) as connection:
            for path in KINDS:
                ask(connection, path, body_of(path, 0))  # the first request is slower
            told = ask(connection, "/health")["signature"]
        runs = [measure(served, path, clients, seconds) for path in KINDS for clients in CLIENTS]
    weights = next(field.removeprefix("weights:") for field in told.split("|") if field.startswith("weights:"))
    return {"model": model, "weights": weights, "runs": runs}


def pictures(model: str, folder: Path) -> None:
    """The page with an example on a light desk, from its top, and on a dark phone, at its result."""
    program = find()
    if program is None:
        raise PronmetricError(f"no browser: install one of {', '.join(NAMES)}, or name it in {VARIABLE}")
    looks = {"light": (1000, 900, False), "dark-phone": (390, 800, True)}
    with (
        serving("--model", model, "--gpus", 0, "--quiet") as served,
        Browser(program) as browser,
    ):
        for name, (width, height, phone) in looks.items():
            browser.dark(phone)
            browser.size(width, height, phone=phone)
            browser.open(served.address)
            browser.run("document.querySelectorAll('#examples button')[1].click()")
            until(lambda: browser.run("document.getElementById('list').getAttribute('aria-busy')") == "false")
            browser.run(f"scrollTo(0, {int(phone)} && document.getElementById('summary').offsetTop)")
            (folder / f"serve-{name}.webp").write_bytes(browser.picture())


def page(content: Mapping[str, Any]) -> str:
    """The page of these figures."""
    head = ["model and request", "clients", "requests", "p50 (ms)", "p95 (ms)", "requests a second", "CPU ms a request"]
    rows: list[Sequence[str]] = [head]
    for one in content["models"]:
        for run in one["runs"]:
            figures = (run[key] for key in ("clients", "requests", "p50", "p95", "per_second", "cpu"))
            rows.append([f"`{one['model']}`, {KINDS[run['path']]}", *(str(figure) for figure in figures)])
    parts = pages.template("serve-load")
    return pages.fill(
        "serve-load",
        weights=", ".join(f"`{one['weights']}` (`{one['model']}`)" for one in content["models"]),
        seconds=content["seconds"],
        cores=content["cores"],
        date=content["date"],
        other=parts["busy machine" if content["busy"] > BUSY else "free machine"].format(**content),
        rows=pages.markdown(rows),
    )


def main() -> None:
    """Measure; print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=MODELS, help="checkpoints (default: base small)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each row (default: %(default)g)")
    parser.add_argument("--page", action="store_true", help="write the page and its JSON")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="where two pictures are put")
    args = parser.parse_args()
    if args.pictures is not None:
        pictures(args.models[0], args.pictures)
        return
    content: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "seconds": args.seconds,
        "cores": len(os.sched_getaffinity(0)),
        "busy": round(psutil.cpu_percent(interval=2)),
    }
    content["models"] = [measure_model(model, args.seconds) for model in args.models]
    if args.page:
        pages.write_page(Path(PAGE), page(content), content)
    print(page(content))


if __name__ == "__main__":
    pages.run(main)
