"""Verbs that are stopped or starved at a given moment, and started again: which files are left, and which come out.

Each trial has a small disk of its own (a tmpfs), which needs a user and mount namespace: `unshare -rm`.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from pronmetric.checkpoint.locate import CARD, CONFIG
from pronmetric.errors import PronmetricError
from pronmetric.lab.nmt.translator import CONFIG as NMT_CONFIG
from tests.tools import fault_moments
from tests.tools.fault_moments import DISK, FILLER, HANDLES, MEMORY, READ_ONLY, SIGNALS, Ended
from tests.tools.fault_verbs import AVERAGE, BOARD, BULK, NMT, PREPARE, ROOT, SCORE, STUDY, TRAIN, Verb, start

PATIENCE = 1800.0  # seconds
DISK_SIZE = "48m"
WORKER = "SIGKILL of a worker"


class Point(NamedTuple):
    """What happens to a verb: the fault, and when, as a share of its moments; None: from the start."""

    verb: Verb
    fault: str
    when: float | None


_RANDOM = random.Random(55)
_KILLS = sorted(_RANDOM.random() for _ in range(10))
_STOPPED = (PREPARE, TRAIN, SCORE)
_WRITERS = (AVERAGE, BOARD, NMT, STUDY)
POINTS = (
    *(Point(verb, "SIGKILL", when) for verb in (*_STOPPED, *_WRITERS) for when in (*_KILLS, 1.0)),
    *(Point(verb, fault, 0.5) for verb in _STOPPED for fault in (*SIGNALS[1:], HANDLES, MEMORY)),
    *(Point(verb, DISK, when) for verb in (*_STOPPED, *_WRITERS) for when in (0.1, 0.5, 0.9)),
    *(Point(verb, READ_ONLY, None) for verb in (*_STOPPED, *_WRITERS, BULK)),
    *(Point(BULK, "SIGKILL", when) for when in _KILLS[::3]),
    *(Point(BULK, fault, 0.2) for fault in (*SIGNALS[1:], WORKER, DISK)),
)


def load() -> None:
    """Import what the verbs need, so that the processes which are forked from this one share it."""
    import datasets
    import pytorch_lightning
    import tensorboard
    import torch

    import data_prep.prepare
    import pronmetric.lab.nmt.training
    import pronmetric.metric
    import pronmetric.training.average
    import pronmetric.training.run

    torch.set_num_threads(1)
    del datasets, pytorch_lightning, tensorboard, data_prep, pronmetric


@contextmanager
def disk(place: Path) -> Iterator[Path]:
    """A small disk of its own in a new folder."""
    place.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_SIZE}", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True).returncode:
        raise PronmetricError(
            "a small disk cannot be mounted: start with `unshare -rm python -m benchmarks.cost.faults`"
        )
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def remount(place: Path, mode: str) -> None:
    """Make a disk read-only (`ro`) or writable (`rw`)."""
    subprocess.run(["mount", "-o", f"remount,{mode}", str(place)], check=True)


def results(place: Path, verb: Verb) -> dict[str, str]:
    """The result files of a verb with their hashes; times of training are left out."""
    found = {}
    for pattern in verb.results:
        for path in sorted((place / verb.out).glob(pattern)):
            inside = path.relative_to(place / verb.out)
            if path.is_file() and not any(part.startswith(".") for part in inside.parts):
                found[str(inside)] = hashlib.sha256(_content(path)).hexdigest()[:8]
    return found


def _content(path: Path) -> bytes:
    """The bytes of a file; of a model's config and card without the time that training took."""
    if path.name not in (CONFIG, CARD, NMT_CONFIG):
        return path.read_bytes()
    lines = path.read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if b"seconds: " not in line and b"Training took" not in line)


def left(place: Path) -> list[str]:
    """Partial files and folders: those with a hidden name or the suffix `.part`, without the stages of `prepare`."""
    return sorted(
        str(path.relative_to(place))
        for path in place.rglob("*")
        if (path.name.startswith(".") or path.name.endswith(".part")) and path.name != ".stages"
    )


def run(place: Path, verb: Verb, *, fault: str | None = None, at: int | None = None) -> Ended:
    """Run a verb on a disk; `fault` happens at the moment `at`, of `bulk score` when as many shards are finished."""
    if verb is not BULK:
        return fault_moments.run(verb.line, out=place / verb.out, fault=fault, at=at)
    command = [sys.executable, "-m", "pronmetric", *verb.line]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (place.parent / "stderr").open("w+b") as notes:
        process = subprocess.Popen(
            command, cwd=place, stdout=subprocess.DEVNULL, stderr=notes, env=environment, start_new_session=True
        )
        try:
            if at is not None:
                _wait(process, place, at)
                _happen(process, fault or "", place)
            code = process.wait(PATIENCE)
        finally:
            _end(process)
        notes.seek(0)
        shards = len(list((place / verb.out / "scores").glob("part-*")))
        return Ended(code, notes.read().decode("utf-8", "replace"), shards)


def _wait(process: subprocess.Popen[bytes], place: Path, shards: int) -> None:
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        if len(list((place / BULK.out / "scores").glob("part-*"))) >= shards:
            return
        time.sleep(0.01)


def _happen(process: subprocess.Popen[bytes], fault: str, place: Path) -> None:
    if fault == "SIGKILL":  # as when a machine goes down: the driver and all that it has started
        _end(process)
    elif fault in SIGNALS:
        process.send_signal(signal.Signals[fault])
    elif fault == WORKER:
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.Error):
                if "MapWorker" in child.name() or "MapWorker" in " ".join(child.cmdline()):
                    child.kill()
    elif fault == DISK:
        fault_moments.fill(place)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the driver and all that it has started."""
    with suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.Error):
                child.kill()
        process.kill()
    process.wait()


def undisturbed(place: Path, verb: Verb, made: Path | None) -> tuple[dict[str, str], int]:
    """The result files of a run in which nothing fails, and its moments."""
    start(place, verb, made)
    ended = run(place, verb)
    if ended.code:
        raise PronmetricError(f"{verb.name} fails by itself: {ended.stderr}")
    return results(place, verb), ended.moments


def attempt(place: Path, point: Point, made: Path, expected: Mapping[str, str], moments: int) -> dict[str, Any]:
    """One trial: the fault, what is left of it, and the same command again."""
    verb, when = point.verb, point.when
    start(place, verb, made)
    at = None if when is None else 1 + round(when * (moments - 1))
    if point.fault == READ_ONLY:
        remount(place, "ro")
    ended = run(place, verb, fault=point.fault, at=at)
    if point.fault == READ_ONLY:
        remount(place, "rw")
    (place / FILLER).unlink(missing_ok=True)
    after = results(place, verb)
    half = sorted(name for name, content in after.items() if expected.get(name) != content)
    lines = [line for line in ended.stderr.splitlines() if line.startswith("pronmetric: ")]
    again = run(place, verb)
    return {
        "verb": verb.name,
        "fault": point.fault,
        "moment": at,
        "moments": moments,
        "reached": at is None or verb is BULK or ended.code < 0 or ended.moments >= at,
        "exit": ended.code,
        "line": lines[-1].replace(str(place), "OUT") if lines else "",
        "traceback": ended.stderr.splitlines()[-1] if "Traceback" in ended.stderr else None,
        "files": len(after),
        "half": half,
        "again": again.code,
        "same": results(place, verb) == expected,
        "left": [name for name in left(place) if not name.startswith("model/") or verb is TRAIN],
    }


def measure(folder: Path, points: Sequence[Point], told: Callable[[Mapping[str, Any]], None]) -> list[dict[str, Any]]:
    """All trials."""
    load()
    made = folder / "made"
    found: dict[str, tuple[dict[str, str], int]] = {}
    rows = []
    with disk(made):
        for verb in dict.fromkeys([PREPARE, TRAIN, *(point.verb for point in points)]):
            if verb in (PREPARE, TRAIN):
                found[verb.name] = undisturbed(made, verb, None)
            else:
                with disk(folder / f"first-{verb.out}") as place:
                    found[verb.name] = undisturbed(place, verb, made)
        for number, point in enumerate(points):
            with disk(folder / str(number)) as place:
                rows.append(attempt(place, point, made, *found[point.verb.name]))
            told(rows[-1])
    return rows
