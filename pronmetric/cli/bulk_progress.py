"""Progress of the steps of `pronmetric bulk`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pronmetric.bulk.job import Step
from pronmetric.bulk.plan import Shard
from pronmetric.cli import output


@contextmanager
def track(args: argparse.Namespace, shards: Sequence[Shard], step: Step) -> Iterator[Callable[[int], None]]:
    """Progress of a step, by rows, with the number of shards; of buckets by their number."""
    if step.buckets:
        with output.bar(args.quiet, total=len(step.numbers), label=step.name, unit="buckets") as bar:
            yield lambda _: bar.update(1)
        return
    sizes = [shard.stop - shard.start for shard in shards]
    left = sum(sizes[number] for number in step.numbers)
    done = len(shards) - len(step.numbers)
    with output.bar(args.quiet, total=sum(sizes), label=step.name, unit="rows", done=sum(sizes) - left) as bar:

        def advance(number: int) -> None:
            nonlocal done
            done += 1
            bar.set_postfix_str(f"{done}/{len(shards)} shards", refresh=False)
            bar.update(sizes[number])

        yield advance
