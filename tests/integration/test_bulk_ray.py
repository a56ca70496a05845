"""`bulk` on Ray: stopped and killed drivers, and a cluster of three nodes that loses one; every row once.

The driver and the cluster are processes of their own: Ray's threads and warnings stay out of this one. Ray limits the
time in which its processes start, which a busy machine may exceed: then a test is tried again, and at last skipped.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import pytest

from tests.tools.ray_start import late, twice
from tests.tools.row_files import jsonl

pytestmark = pytest.mark.xdist_group("ray")

PATIENCE = 1500  # seconds until a step is taken to hang, on a machine that is busy with other work
ROWS = 150
CLUSTER = """
import os, sys
os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_BACKEND_LOG_LEVEL="fatal", RAY_worker_niceness="0")
from ray.cluster_utils import Cluster
size = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
cluster = Cluster(initialize_head=True, head_node_args={**size, "num_cpus": 0})
nodes = [cluster.add_node(num_cpus=1, **size) for _ in range(3)]
print(cluster.address, flush=True)
for line in sys.stdin:
    cluster.remove_node(nodes.pop(), allow_graceful=False)
    print("removed", flush=True)
cluster.shutdown()
"""


@pytest.fixture
def source(tmp_path: Path, sample: Path) -> Path:
    """Records, each text with another context, so that none is like another."""
    lines = (sample / "system-a.txt").read_text(encoding="utf-8").splitlines()
    rows = [{"id": k, "text": lines[k % len(lines)], "context": [f"Line {k}."]} for k in range(ROWS)]
    return jsonl(tmp_path / "in.jsonl", rows)


@pytest.fixture
def begin() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a driver, with one row in a shard; at the end no process of it is left."""
    drivers: list[subprocess.Popen[str]] = []

    def begin(*call: str | Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "pronmetric", "bulk", *map(str, call), "--shard-rows", "1"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        drivers.append(subprocess.Popen(command, text=True, start_new_session=True, **pipes))  # type: ignore[call-overload]
        return drivers[-1]

    yield begin
    for driver in drivers:
        if driver.poll() is None:
            end(driver)
        driver.communicate()


@pytest.fixture
def start(
    begin: Callable[..., subprocess.Popen[str]], source: Path, tmp_path: Path, tiny_checkpoint: Callable[..., Path]
) -> Callable[..., subprocess.Popen[str]]:
    """Starts a driver of `bulk score`."""
    return partial(begin, "score", source, "-o", tmp_path / "out", "--model", tiny_checkpoint())


def end(process: subprocess.Popen[str]) -> None:
    """Kill a process and those that it has started."""
    for child in psutil.Process(process.pid).children(recursive=True):
        child.kill()
    process.kill()


def finished(out: Path) -> set[str]:
    return {path.name for path in out.glob("*/part-*")}


def wait(driver: subprocess.Popen[str], out: Path, number: int) -> set[str]:
    """Wait until `number` shards are finished; their names."""
    until = time.monotonic() + PATIENCE
    while len(found := finished(out)) < number:
        assert driver.poll() is None, late(driver.communicate()[1], driver.returncode)
        assert time.monotonic() < until
        time.sleep(0.01)
    return found


def complete(driver: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for the end of a driver that succeeds; stdout and stderr."""
    out, err = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0, late(err, driver.returncode)
    return out, err


def check(out: Path, source: Path, run_tiny: Callable[..., tuple[str, str]]) -> dict[str, Any]:
    """Every row is there once, with the score that `score` gives; the manifest."""
    found = [row for path in sorted((out / "scores").iterdir()) for row in pq.read_table(path).to_pylist()]
    expected = [json.loads(line) for line in run_tiny("score", "--jsonl", source)[0].splitlines() if line[0] == "{"]
    assert [row["id"] for row in found] == [str(one["id"]) for one in expected]
    for row, one in zip(found, expected, strict=True):
        assert row["score"] == pytest.approx(one["score"], abs=1.1e-5)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["rows"], manifest["scored"], manifest["shards"]) == (ROWS, ROWS, ROWS)
    return manifest


@twice
def test_a_driver_that_is_killed_or_interrupted_goes_on(
    start: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
    source: Path,
    run_tiny: Callable[..., tuple[str, str]],
) -> None:
    out = tmp_path / "out"
    killed = start("--workers", "1")
    before = wait(killed, out, 2)
    end(killed)
    killed.communicate()
    assert len(finished(out)) < ROWS and not (out / "manifest.json").exists()

    interrupted = start("--workers", "1")
    wait(interrupted, out, len(finished(out)) + 2)
    children = psutil.Process(interrupted.pid).children(recursive=True)
    listening = [c.laddr.ip for child in children for c in child.net_connections() if c.status == "LISTEN"]
    assert listening and {ip.removeprefix("::ffff:") for ip in listening} == {"127.0.0.1"}
    assert {child.nice() for child in children} == {psutil.Process(interrupted.pid).nice()}
    interrupted.send_signal(signal.SIGINT)
    err = interrupted.communicate(timeout=PATIENCE)[1]
    assert interrupted.returncode == 130 and err.endswith("pronmetric: interrupted\n")
    assert psutil.wait_procs(children, timeout=PATIENCE)[1] == []  # the local Ray is shut down
    assert len(finished(out)) < ROWS and not (out / "manifest.json").exists()

    times = {name: os.stat(out / "scores" / name).st_mtime_ns for name in finished(out)}
    printed, err = complete(start("--workers", "2"))
    assert before <= times.keys()
    assert times == {name: os.stat(out / "scores" / name).st_mtime_ns for name in times}  # not scored again
    manifest = check(out, source, run_tiny)
    (system,) = manifest["systems"]
    assert printed == f"(no system)\tscore: {system['score']:.4f}\n"
    assert f"{len(times)} of {ROWS} shards are finished" in err
    assert all(line.startswith(("pronmetric: ", "score: ")) for line in err.splitlines()), err  # nothing of Ray's own


@contextmanager
def ray_cluster(log: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process of a cluster and its address; its pipes are closed whatever happens."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with log.open("w+", encoding="utf-8", errors="replace") as notes:
        command = [sys.executable, "-c", CLUSTER]
        cluster: Any = subprocess.Popen(command, text=True, start_new_session=True, stderr=notes, **pipes)  # type: ignore[call-overload]
        try:
            address = next((line for line in cluster.stdout if ":" in line), "").strip()
            if not address:
                notes.seek(0)
                raise AssertionError(late(notes.read()))
            yield cluster, address
        finally:
            if cluster.poll() is None:
                end(cluster)
            cluster.communicate()


@twice
def test_a_cluster_that_loses_a_node(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path, source: Path, run_tiny: Callable[..., tuple[str, str]]
) -> None:
    with ray_cluster(tmp_path / "cluster.log") as (cluster, address):
        assert cluster.stdin is not None and cluster.stdout is not None
        driver = start("--address", address, "--workers", "3")
        wait(driver, tmp_path / "out", 5)
        cluster.stdin.write("\n")
        cluster.stdin.flush()
        assert len(finished(tmp_path / "out")) < ROWS
        assert cluster.stdout.readline() == "removed\n"
        complete(driver)
        cluster.communicate(timeout=PATIENCE)  # closes its stdin, at which it shuts down
    check(tmp_path / "out", source, run_tiny)


def test_a_ray_that_is_late_is_tried_again_and_skipped(tmp_path: Path) -> None:
    tries = []

    @twice
    def fails(*, tmp_path: Path) -> None:
        tries.append(tmp_path)
        late("pronmetric: error: a local Ray cannot be started: The current node timed out during startup.")

    with pytest.raises(pytest.skip.Exception, match=r"Ray cannot start in time on this machine: .* timed out"):
        fails(tmp_path=tmp_path)
    assert len(tries) == 2
    other = "pronmetric: error: a local Ray cannot be started: unexpected keyword argument"
    assert late(other) == other  # and not skipped
