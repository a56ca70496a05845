"""Ray: a local one that is started and shut down here, or a cluster by its address; work mapped over its workers."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

from pronmetric.bulk.job import Job
from pronmetric.errors import MissingExtra, PronmetricError

# Read by Ray when it is imported: no telemetry, no progress bars or notices of its own. Workers have the priority of
# the command; Ray would give them niceness 15, with which they stand still on a busy machine.
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_worker_niceness": "0",
}
# A local Ray listens on 127.0.0.1 only. Ray has this switch for macOS and Windows, where it is the default; elsewhere
# it replaces that address by one that other machines reach.
_LOCAL_ENVIRONMENT = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
_OBJECT_STORE = 100 * 2**20  # bytes; only the plan and short results pass through it
_FOLDER = "pm-ray-"  # of Ray's sockets and logs
_LONGEST = 40  # characters of that folder's path: those of a socket are limited to 107
_TRIES = 4  # to start Ray, which waits only 30 seconds for its processes on a busy machine
_AHEAD = 2  # shards that a worker holds: one that it works on, one that waits


@dataclass(frozen=True, slots=True)
class Pool:
    """The workers. address: of a cluster; None starts a local Ray. workers: their number, on a cluster the most.

    gpus: of a worker, also a part of one. None for `workers`: locally one for each core or part of a GPU, on a cluster
    as many as Ray and its autoscaler give.
    """

    address: str | None
    workers: int | None
    gpus: float


@dataclass(frozen=True, slots=True)
class _Size:
    """The workers of a pool: the least and the most, and the cores of each."""

    least: int
    most: int
    cores: int


@contextmanager
def connect(pool: Pool) -> Iterator[Callable[[Job, Sequence[int]], Iterator[int]]]:
    """Start or join a Ray; gives a function that does shards and yields the number of each finished one.

    A local Ray is shut down at the end, whatever happens.

    Raises:
        PronmetricError: Ray is not installed, or cannot be started or reached.
    """
    ray = _import(pool.address)
    with TemporaryDirectory(prefix=_FOLDER, ignore_cleanup_errors=True) as folder:
        try:
            with _no_stderr(), _same_handlers():
                size = _start(ray, pool, folder)
            yield lambda job, numbers: _work(ray, job, numbers, pool, size)
        finally:
            ray.shutdown()


def require(address: str | None) -> None:
    """Raise MissingExtra if Ray is not installed. address: of a cluster; None for a local Ray."""
    _import(address)


def _import(address: str | None) -> Any:
    wanted = _ENVIRONMENT if address is not None else {**_ENVIRONMENT, **_LOCAL_ENVIRONMENT}
    os.environ.update({name: value for name, value in wanted.items() if name not in os.environ})
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtra(error.name or "ray", "ray", "bulk") from None
    return ray


def _start(ray: Any, pool: Pool, folder: str) -> _Size:
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if pool.address is not None:
        try:
            ray.init(address=pool.address, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise PronmetricError(f"no Ray cluster at {pool.address}: {_first_line(error)}") from None
        return _Size(1 if pool.workers is None else pool.workers, pool.workers or 0, 1)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = pool.workers or (1 if pool.gpus else cores)
    each = max(1, cores // workers)
    for left in reversed(range(_TRIES)):
        try:
            ray.init(
                address="local",
                num_cpus=workers * each,
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE,
                _node_ip_address="127.0.0.1",
                _temp_dir=folder if len(folder) <= _LONGEST else None,
                **quiet,
            )
            break
        except Exception as error:  # Ray raises plain exceptions
            ray.shutdown()
            if not left:
                raise PronmetricError(f"a local Ray cannot be started: {_first_line(error)}") from error
    if pool.workers is None and pool.gpus:
        workers = max(1, int(ray.cluster_resources().get("GPU", 0) / pool.gpus))
    return _Size(workers, workers, each)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


@contextmanager
def _same_handlers() -> Iterator[None]:
    """Put back the handlers of signals that Ray replaces by its own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _no_stderr() -> Iterator[None]:
    """Discard what Ray's own processes and libraries write to stderr as they start; errors are raised."""
    sys.stderr.flush()
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


class _Worker:
    """The worker as Ray Data calls it; errors of the input come back as rows, so that they reach the user whole."""

    def __init__(self, job: Job) -> None:
        self._worker = job.task.worker(job)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        (number,), error = batch["item"].tolist(), ""
        try:
            self._worker.work(number)
        except PronmetricError as failed:
            error = str(failed)
        except OSError as failed:
            error = f"{failed.filename}: {failed.strerror}" if failed.filename and failed.strerror else str(failed)
        return {"number": [number], "error": [error]}


def _work(ray: Any, job: Job, numbers: Sequence[int], pool: Pool, size: _Size) -> Iterator[int]:
    """Do shards on Ray's workers; their numbers as they are finished, in any order.

    A worker or node that dies is replaced, and its work is given to others.
    """
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.execution_no_progress_timeout_s = -1  # a shard may take hours, and so may a cluster until it has room
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # errors are raised
    total = len(numbers)
    most = min(size.most or total, total)
    workers = ray.data.ActorPoolStrategy(
        min_size=min(size.least, most), max_size=most, max_tasks_in_flight_per_actor=_AHEAD
    )
    resources = {"num_cpus": size.cores, **({"num_gpus": pool.gpus} if pool.gpus else {})}
    todo = ray.data.from_items(list(numbers), override_num_blocks=total)
    worker = {"fn_constructor_kwargs": {"job": job}, "batch_size": 1, "compute": workers}
    try:
        for row in todo.map_batches(_Worker, **worker, **resources).iter_rows():
            if row["error"]:
                raise PronmetricError(row["error"])
            yield int(row["number"])
    except ray.exceptions.RayError as error:
        lines = str(error).strip().splitlines()
        raise PronmetricError(f"the workers failed: {lines[-1] if lines else type(error).__name__}") from error
