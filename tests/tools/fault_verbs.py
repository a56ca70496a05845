"""The verbs of `tests.tools.fault_points`: command lines with the tiniest models and data, and their inputs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pronmetric.bulk.run import MANIFEST

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "sample"
WMT = ROOT / "examples" / "wmt-sample"
ROWS = 60
_STEPS = ("trainer.max_steps=4", "trainer.validate_every=2", "trainer.save_every=1", "trainer.progress=false")
_SYSTEMS = (str(SAMPLE / "system-a.txt"), str(SAMPLE / "system-b.txt"))
_MODEL = ("--model", "model/checkpoint", "--gpus", "0")


class Verb(NamedTuple):
    """A verb, its command line, the folder that it writes, and the patterns of the files that are its result.

    needs: what it reads of that which the first verbs made: `data` of `prepare`, `model` of `train`.
    """

    name: str
    line: Sequence[str]
    out: str
    results: Sequence[str]
    needs: Sequence[str] = ()


PREPARE = Verb(
    "prepare",
    ("prepare", f"data.wmt={WMT}", "data.exclude=[]", "out=data"),
    "data",
    ("*/*.arrow", "*/*.json", "*.json"),
)
TRAIN = Verb(
    "train",
    (
        *("train", "data.dir=data", "out=model", "data.pieces=512", "data.development=20", "trainer.max_epochs=10"),
        *("encoder=glove", "encoder.width=12", "encoder.hidden=8", "trainer.precision=32", "trainer.threads=1"),
        *_STEPS,
    ),
    "model",
    ("checkpoint/*",),
    ("data",),
)
AVERAGE = Verb(
    "checkpoint average",
    ("checkpoint", "average", "model/checkpoint", "second", "--data", "data", "-o", "average"),
    "average",
    ("*",),
    ("data", "model"),
)
SCORE = Verb(
    "score",
    (
        *("score", "-t", *_SYSTEMS, "-r", str(SAMPLE / "ref.txt"), *_MODEL),
        *("--to_json", "scores/all.json", "--to_tsv", "scores/all.tsv"),
    ),
    "scores",
    ("*",),
    ("model",),
)
BULK = Verb(
    "bulk score",
    ("bulk", "score", "in.jsonl", "-o", "bulk", "--model", "model/checkpoint", "--workers", "1", "--shard-rows", "2"),
    "bulk",
    ("scores/*.parquet", MANIFEST),
    ("model",),
)
BOARD = Verb("board build", ("board", "build", "--wmt", "wmt", "-o", "site", *_MODEL), "site", ("**/*",), ("model",))
NMT = Verb(
    "nmt train",
    (
        *("nmt", "train", "data.source=source", "data.target=target", "data.docids=docids", "out=nmt"),
        *("nmt.vocabulary=300", "nmt.width=16", "nmt.feedforward=16", "nmt.layers=1", "nmt.context=concat21"),
        *("data.pieces=400", "data.development_share=0.1", "average=2", "trainer.max_epochs=10", *_STEPS),
    ),
    "nmt",
    ("nmt.yaml", "model.safetensors", "tokenizer.json"),
)
STUDY = Verb(
    "study sample",
    ("study", "sample", "data", "-o", "study", "--balance", "level", "--items", "20"),
    "study",
    ("*",),
    ("data",),
)


def start(place: Path, verb: Verb, made: Path | None) -> None:
    """Put the inputs of a verb on a disk: `made` has the prepared data and the checkpoint."""
    if made is not None:
        for name in verb.needs:
            (place / name).symlink_to(made / name)
    if verb is SCORE:
        (place / verb.out).mkdir()
    elif verb is AVERAGE:
        shutil.copytree(place / "model" / "checkpoint", place / "second")
    elif verb is BULK:
        lines = (SAMPLE / "system-a.txt").read_text(encoding="utf-8").splitlines()
        rows = [{"id": k, "text": lines[k % len(lines)], "context": [f"Line {k}."]} for k in range(ROWS)]
        (place / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif verb is BOARD:
        for name in ("kites2022.de-en", "lamps2023.fr-en"):
            (place / "wmt" / name).mkdir(parents=True)
            for file in ("ref", "system-a", "system-b", "docids"):
                shutil.copy(SAMPLE / f"{file}.txt", place / "wmt" / name)
    elif verb is NMT:
        for name, file in (("source", "src.de"), ("target", "ref"), ("docids", "docids")):
            shutil.copy(SAMPLE / f"{file}.txt", place / name)
