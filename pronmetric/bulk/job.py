"""What a worker of a bulk run needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pronmetric.bulk.inputs import Source
from pronmetric.bulk.plan import Shard

SCORE, SPREAD, BUCKET, COLLECT = "score", "spread", "bucket", "collect"
"""What a worker does: score a shard, or with --dedupe the steps of `pronmetric.bulk.dedupe`."""


class Step(NamedTuple):
    """Shards or buckets to work on, by their numbers."""

    name: str
    numbers: Sequence[int]


@dataclass(frozen=True, slots=True)
class Model:
    """The metric that workers load; the fields are the arguments of `PronounMetric.from_pretrained`."""

    model: str | None
    precision: str | None
    gpus: int
    allow_network: bool
    storage: str | None
    source_lang: str | None


@dataclass(frozen=True, slots=True)
class Job:
    """A bulk run of `score`.

    output: path or URL of its folder. buckets: of the steps of `pronmetric.bulk.dedupe`; 0 without them. context: the
    kind of context, "given" or "none". skip: bad rows are skipped, not errors. signature: that of the plan, which each
    worker's metric must have.
    """

    output: str
    sources: Sequence[Source]
    shards: Sequence[Shard]
    buckets: int
    model: Model
    context: str
    batch_size: int | None
    skip: bool
    signature: str
