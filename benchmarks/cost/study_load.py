"""How fast does `study serve` store answers? Many simulated annotators at once, on SQLite and on PostgreSQL.

    python -m benchmarks.cost.study_load [--annotators N] [--seconds S] [--page]

Starts the server as a process and sends answers over kept connections: "at their own pace", each annotator thinks for a
random time between two answers; "all at the same moment", all annotators send at once, again and again. The time of an
answer goes from the request to the reply, which comes after the commit. Server, database and annotators share the cores
of the machine. `--page` writes study-load.md and its JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from benchmarks import pages
from pronmetric.errors import PronmetricError
from pronmetric.lab.study import folder
from pronmetric.lab.study.database import connect
from pronmetric.lab.study.folder import Design, Study
from pronmetric.lab.study.sample import sample
from tests.tools import postgresql
from tests.tools.made_up_study import made_up

ANNOTATORS, SECONDS = 200, 20
THINK = (1.0, 5.0)
"""The shortest and the longest time between two answers of an annotator, in seconds."""
PAUSE = 2.0
GOAL = 0.2
PACE, TOGETHER = "at their own pace", "all at the same moment"
PAGE = pages.PUBLISHED / "study-load.md"
_GROUP = 10


class Stored(NamedTuple):
    """One acknowledged answer: its annotator, task, and time in seconds."""

    annotator: str
    task: int
    seconds: float


def make_study(annotators: int) -> Study:
    """A study in which each item has ten annotators, and nobody runs out of tasks."""
    groups = max(1, annotators // _GROUP)
    design = Design(items=60 * groups, annotators=annotators, groups=groups, strict=False)
    return sample([item for item in made_up(10 * groups) if item.language == "de"], design)


@contextmanager
def served(study: Path, address: str) -> Iterator[dict[str, str]]:
    """`study serve` as a process; the links of the annotators."""
    command = [sys.executable, "-m", "pronmetric", "study", "serve", str(study), "--db", address, "--port", "0"]
    process = subprocess.Popen([*command, "--quiet"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        links: dict[str, str] = {}
        for line in process.stdout:
            name, link = line.strip().split("\t")
            if name == "overview":
                break
            links[name.removeprefix("annotator ")] = link
        if process.poll() is not None:
            raise PronmetricError(f"the server ended with {process.returncode}")
        yield links
    finally:
        process.terminate()
        process.wait()


class Annotator:
    """One annotator with a connection of its own."""

    def __init__(self, name: str, link: str) -> None:
        self.name, self._at, self._rng = name, urlsplit(link), random.Random(name)
        self._task: int | None = None

    async def start(self) -> None:
        """Connect and ask for the first task."""
        self._read, self._write = await asyncio.open_connection(self._at.hostname, self._at.port)
        self._task = (await self._ask("GET", "position", b""))["task"]

    async def answer(self) -> Stored | None:
        """Answer the open task; None if none is left."""
        if self._task is None:
            return None
        task, body = self._task, {"task": self._task, "answer": self._rng.choice(["first", "second"]), "seconds": 3.0}
        start = time.perf_counter()
        found = await self._ask("POST", "answers", json.dumps(body).encode())
        self._task = found["task"]
        return Stored(self.name, task, time.perf_counter() - start)

    async def at_own_pace(self, until: float) -> list[Stored]:
        """Think and answer until the time is over."""
        found = []
        await asyncio.sleep(self._rng.uniform(0, THINK[1]))
        while time.monotonic() < until:
            if (one := await self.answer()) is not None:
                found.append(one)
            await asyncio.sleep(self._rng.uniform(*THINK))
        return found

    def close(self) -> None:
        """Close the connection."""
        self._write.close()

    async def _ask(self, method: str, name: str, body: bytes) -> dict[str, Any]:
        head = f"{method} {self._at.path}/{name} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        self._write.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        lines = (await self._read.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length:"))
        content = await self._read.readexactly(length)
        if not lines[0].startswith("http/1.1 200"):
            raise PronmetricError(f"{name}: {lines[0]}")
        found: dict[str, Any] = json.loads(content)
        return found


async def load(links: Mapping[str, str], seconds: float) -> dict[str, list[Stored]]:
    """The acknowledged answers of both patterns, each for so many seconds."""
    people = [Annotator(name, link) for name, link in links.items()]
    for person in people:
        await person.start()
    until = time.monotonic() + seconds
    paced = await asyncio.gather(*(person.at_own_pace(until) for person in people))
    together: list[Stored] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = await asyncio.gather(*(person.answer() for person in people))
        together += [one for one in found if one is not None]
        await asyncio.sleep(PAUSE)
    for person in people:
        person.close()
    return {PACE: [one for own in paced for one in own], TOGETHER: together}


def figures(stored: Sequence[Stored]) -> dict[str, Any]:
    """The figures of one pattern; times in milliseconds."""
    times = np.array([one.seconds for one in stored])
    median, high, most = (round(1000 * float(value), 1) for value in np.quantile(times, [0.5, 0.95, 1.0]))
    within = round(float((times <= GOAL).mean()), 4)
    return {"answers": len(times), "within": within, "median": median, "p95": high, "max": most}


def measure(study: Study, place: Path, address: str, name: str, seconds: float) -> list[dict[str, Any]]:
    """The rows of one database; every acknowledged answer must be in it."""
    with served(place, address) as links:
        found = asyncio.run(load(links, seconds))
    data = connect(address, study, create=False)
    known = {(annotator, one.task) for annotator, own in data.answers().items() for one in own}
    data.close()
    lost = {(one.annotator, one.task) for own in found.values() for one in own} - known
    if lost:
        raise PronmetricError(f"{name}: {len(lost)} acknowledged answers are not in the database")
    return [{"database": name, "pattern": pattern, **figures(own)} for pattern, own in found.items()]


def page(content: Mapping[str, Any]) -> str:
    """The page of these figures."""
    rows = "\n".join(
        f"| {one['database']}, {one['pattern']} | {one['answers']:,} | {100 * one['within']:.1f} | "
        f"{one['median']:.1f} | {one['p95']:.1f} | {one['max']:.1f} |"
        for one in content["runs"]
    )
    parts = pages.template("study-load")
    people, seconds = content["annotators"], content["seconds"]
    other = parts["busy machine" if content["load"] > 0.5 else "free machine"].format(**content)
    return pages.fill(
        "study-load",
        people=people,
        seconds=seconds,
        shortest=THINK[0],
        longest=THINK[1],
        pause=PAUSE,
        cores=content["cores"],
        other=other,
        date=content["date"],
        rows=rows,
    )


def main() -> int:
    """Measure both databases; print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotators", type=int, default=ANNOTATORS, help="annotators at once (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each pattern (default: %(default)s)")
    parser.add_argument("--page", action="store_true", help="write the page and its JSON")
    args = parser.parse_args()
    programs = postgresql.find()
    if programs is None:
        raise PronmetricError("no PostgreSQL: initdb is not installed")
    content: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "annotators": args.annotators,
        "seconds": args.seconds,
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),
        "nice": os.nice(0),
        "runs": [],
    }
    study = make_study(args.annotators)
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.write(study, place / "study", data="made up")
        content["runs"] += measure(study, place / "study", f"sqlite:///{place / 'a.db'}", "SQLite", args.seconds)
        server = stack.enter_context(postgresql.running(programs))
        content["runs"] += measure(study, place / "study", server, "PostgreSQL", args.seconds)
    if args.page:
        pages.write_page(PAGE, page(content), content)
    print(page(content))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
