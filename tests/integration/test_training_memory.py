"""A prepared folder is read memory-mapped: what training keeps of it hardly grows with it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pronmetric.schema import Pair
from pronmetric.training.settings import Train

ROWS = 4_000
TIMES = 10
BOUND = 8  # MB for 36,000 passages more, in four epochs; lists of numbers took over 20, the texts alone are 5

PROBE = """
import ctypes, gc, json, sys
from pathlib import Path
from types import SimpleNamespace

def anonymous():  # memory in use that is no page of a file, in MB; blocks that the C library keeps are given back
    gc.collect()
    if trim is not None:
        trim(0)
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["RssAnon"].split()[0]) / 1024

from transformers import AutoTokenizer
from pronmetric.data.collate import Collator
from pronmetric.data.pieces import Subwords
from pronmetric.pronouns.finder import FORMS
from pronmetric.training.examples.datamodule import PronounData
from pronmetric.training.examples.prepared import Prepared
from pronmetric.training.settings import Train

trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
settings = Train.model_validate_json(sys.argv[1])
collator = Collator(Subwords(AutoTokenizer.from_pretrained(sys.argv[2])), max_pieces=128, separator=False)

def used(folder):
    own = settings.data.model_copy(update={"dir": folder})
    data = PronounData(settings.model_copy(update={"data": own}), collator, prepared=Prepared(FORMS, 2))
    data.trainer = SimpleNamespace(global_rank=0, world_size=1, max_steps=5)
    for _ in data.train_dataloader():
        pass
    return data

kept = [used(sys.argv[3])]  # libraries are loaded
taken = []
for folder in sys.argv[3:]:
    before = anonymous()
    kept.append(used(folder))
    taken.append(anonymous() - before)
print(json.dumps({"taken": taken, "steps": [len(data.steps()) for data in kept[1:]]}))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc")
def test_memory_hardly_grows_with_the_data(
    make_prepared: Callable[..., Path],
    train_settings: Callable[..., Train],
    sample_pairs: list[Pair],
    tiny_encoder: Path,
) -> None:
    def folder(times: int) -> Path:
        pairs = [
            replace(pair, id=f"{pair.id}/{copy}", better=f"{copy} {pair.better}")
            for copy in range(times * 200 // len(sample_pairs) + 1)
            for pair in sample_pairs
        ]
        texts = [f"Number {number}: " + "she saw that it was theirs. " * 5 for number in range(times * ROWS)]
        return make_prepared(train=pairs, development=sample_pairs[:20], passages=texts)

    settings = train_settings({"trainer.max_epochs": 4, "objective.source_share": None})
    given = [settings.model_dump_json(), str(tiny_encoder), str(folder(1)), str(folder(TIMES))]
    run = subprocess.run([sys.executable, "-c", PROBE, *given], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    one, other = found["steps"]
    assert other > 0.8 * TIMES * one
    small, large = found["taken"]
    assert large - small < BOUND
