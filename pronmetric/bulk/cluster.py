"""Ray: a local one that is started and shut down here, or a cluster by its address; shards mapped over its workers."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pronmetric.bulk.job import Job
from pronmetric.bulk.plan import Shard
from pronmetric.errors import MissingExtra, PronmetricError

# Read by Ray when it is imported: no telemetry, no progress bars or notices of its own; a busy machine starts slowly.
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_raylet_start_wait_time_s": "300",
}
_OBJECT_STORE = 100 * 2**20  # bytes; only the plan and short results pass through it
_AHEAD = 2  # shards that a worker holds: one that it scores, one that waits


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
def connect(pool: Pool) -> Iterator[Callable[[Job, Sequence[Shard]], Iterator[int]]]:
    """Start or join a Ray; gives a function that scores shards and yields the number of each finished one.

    A local Ray is shut down at the end, whatever happens.

    Raises:
        PronmetricError: Ray is not installed, or cannot be started or reached.
    """
    ray = _import()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        try:
            with _no_stderr():
                size = _start(ray, pool)
        finally:
            for number, handler in handlers.items():  # Ray puts a handler of its own in their place
                signal.signal(number, handler)
        yield lambda job, shards: _score(ray, job, shards, pool, size)
    finally:
        ray.shutdown()


def require() -> None:
    """Raise MissingExtra if Ray is not installed."""
    _import()


def _import() -> Any:
    os.environ.update({name: value for name, value in _ENVIRONMENT.items() if name not in os.environ})
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtra(error.name or "ray", "ray", "bulk") from None
    return ray


def _start(ray: Any, pool: Pool) -> _Size:
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if pool.address is not None:
        try:
            ray.init(address=pool.address, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise PronmetricError(f"no Ray cluster at {pool.address}: {why}") from None
        return _Size(1 if pool.workers is None else pool.workers, pool.workers or 0, 1)
    cores = os.cpu_count() or 1
    workers = pool.workers or (1 if pool.gpus else cores)
    each = max(1, cores // workers)
    ray.init(
        address="local",
        num_cpus=workers * each,
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE,
        _node_ip_address="127.0.0.1",
        **quiet,
    )
    if pool.workers is None and pool.gpus:
        workers = max(1, int(ray.cluster_resources().get("GPU", 0) / pool.gpus))
    return _Size(workers, workers, each)


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
        from pronmetric.bulk.worker import ShardScorer

        self._error: str | None = None
        try:
            self._scorer = ShardScorer(job)
        except PronmetricError as error:
            self._error = str(error)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        shard = Shard(**{name: int(values[0]) for name, values in batch.items()})
        error = self._error
        if error is None:
            try:
                self._scorer.score(shard)
            except (PronmetricError, OSError) as failed:
                error = str(failed)
        return {"number": [shard.number], "error": [error or ""]}


def _score(ray: Any, job: Job, shards: Sequence[Shard], pool: Pool, size: _Size) -> Iterator[int]:
    """Score shards on Ray's workers; their numbers as they are finished, in any order.

    A worker or node that dies is replaced, and its shards are given to others.
    """
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    most = min(size.most or len(shards), len(shards))
    workers = ray.data.ActorPoolStrategy(
        min_size=min(size.least, most), max_size=most, max_tasks_in_flight_per_actor=_AHEAD
    )
    todo = ray.data.from_items([shard._asdict() for shard in shards], override_num_blocks=len(shards))
    resources = {"num_cpus": size.cores, **({"num_gpus": pool.gpus} if pool.gpus else {})}
    arguments = {"fn_constructor_kwargs": {"job": job}, "batch_size": 1, "compute": workers, **resources}
    try:
        for row in todo.map_batches(_Worker, **arguments).iter_rows():
            if row["error"]:
                raise PronmetricError(row["error"])
            yield int(row["number"])
    except ray.exceptions.RayError as error:
        lines = str(error).strip().splitlines()
        raise PronmetricError(f"the workers failed: {lines[-1] if lines else type(error).__name__}") from error
