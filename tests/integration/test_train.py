"""`pronmetric train` from a prepared folder to a checkpoint that scores: choices, kills, devices, faults."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from data_prep.coreference import antecedents, conll
from pronmetric.checkpoint import files as checkpoint
from pronmetric.checkpoint.model_config import Model
from pronmetric.cli.main import main
from pronmetric.eval.calibration import Platt, fit_platt
from pronmetric.nn.head import AverageHead, PaperHead
from pronmetric.pronouns.finder import FORMS
from pronmetric.schema import Pair
from pronmetric.training import fit as training_fit
from pronmetric.training import module as training_module
from pronmetric.training.after import calibrate
from pronmetric.training.examples.datamodule import PronounData
from pronmetric.training.module import ScorerModule

Arguments = Callable[..., list[str]]
Train = Callable[..., int]

EXPORTED = {"README.md", "config.yaml", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}


@pytest.fixture(scope="module")
def train(arguments: Arguments) -> Train:
    """Runs it in this process; the exit code."""

    def run(out: Path, *overrides: str, **more: Any) -> int:
        return main(arguments(out, *overrides, **more))

    return run


def config(out: Path) -> dict[str, Any]:
    return yaml.safe_load((out / "checkpoint" / "config.yaml").read_text(encoding="utf-8"))


def weights(out: Path) -> bytes:
    return (out / "checkpoint" / "model.safetensors").read_bytes()


def rows(out: Path, version: int = 0) -> list[dict[str, str]]:
    with (out / "csv" / f"version_{version}" / "metrics.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def files(out: Path) -> set[str]:
    """What a run leaves, event files by one name."""
    found = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    return {re.sub(r"events\.out\.tfevents\..*", "events", name) for name in found}


LEFT = {
    "best.ckpt",
    "last.ckpt",
    "csv/version_0/metrics.csv",
    "tensorboard/events",
    "tensorboard/hparams.yaml",
    *(f"checkpoint/{name}" for name in EXPORTED),
}


# The command


@pytest.fixture(scope="module")
def command(
    arguments: Arguments, tmp_path_factory: pytest.TempPathFactory, programs: dict[str, str]
) -> tuple[Path, str, str]:
    """A run of twenty steps as a user starts it, with its bar and in the default precision: OUT, stdout, stderr."""
    out = tmp_path_factory.mktemp("command") / "out"
    given = ["trainer.max_steps=20", "trainer.max_epochs=30", "trainer.progress=true", "trainer.precision=bf16"]
    line = ["bash", "-c", shlex.join(["pronmetric", *arguments(out, *given)])]
    done = subprocess.run(line, capture_output=True, text=True, cwd=out.parent, env=programs)
    assert done.returncode == 0, done.stderr
    return out, done.stdout, done.stderr


def test_stdout_holds_the_figures_and_stderr_the_rest(command: tuple[Path, str, str]) -> None:
    out, told, notes = command
    lines = dict(line.split("\t") for line in told.splitlines())
    assert {name: float(value) for name, value in lines.items()} == pytest.approx(
        config(out)["training"]["figures"], abs=1e-4
    )
    by_head = [f"{name}{head}" for name in ("noisy", "noisy_none", "study_form") for head in ("", "_preference")]
    parts = ("", "_equal", "_unequal", "_fewer_won")
    by_head += [f"system{head}{part}" for head in ("", "_preference") for part in parts]
    assert set(lines) == {f"development/{name}" for name in ("accuracy", *by_head)}
    assert (
        "train: 20/20 steps (100 %), " in notes
        and "development pairs: " in notes
        and "v_num" not in notes
        and f"checkpoint {out / 'checkpoint'} (" in notes
    )
    assert "warn" not in notes.lower() and "Traceback" not in notes


def test_a_run_leaves_its_logs_its_places_and_its_checkpoint(command: tuple[Path, str, str]) -> None:
    out, _, _ = command
    assert files(out) == LEFT and {path.name for path in out.parent.iterdir()} == {"out"}


def test_the_checkpoint_scores(
    command: tuple[Path, str, str], sample: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _, _ = command
    model = str(out / "checkpoint")
    assert main(["score", "-t", str(sample / "system-a.txt"), "--model", model, "--quiet", "--only_system"]) == 0
    assert 0 < float(capsys.readouterr().out.split("score:")[1]) < 100
    found = config(out)
    assert found["training"]["steps"] == 20 and found["max_pieces"] == 128 and found["segment"] == "mean"
    assert found["training"]["figures"].keys() > {"development/accuracy"} and found["training"]["seconds"] >= 0


def test_the_checkpoint_knows_its_tie_threshold_and_the_pairs_it_met(
    command: tuple[Path, str, str], tiny_prepared: Path, sample: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _, _ = command
    found = config(out)
    assert found["tie"] == found["training"]["tie"]["threshold"] >= 0 and found["training"]["tie"]["pairs"] > 0
    assert found["training"]["confusion"] == json.loads((tiny_prepared / "confusion.json").read_text(encoding="utf-8"))
    texts = [str(sample / f"system-{name}.txt") for name in "ab"]
    model = ["--model", str(out / "checkpoint"), "--tie", "auto", "--only_system"]
    for by, tie in {"score": found["tie"], **found["ties"]}.items():
        assert main(["compare", "-t", *texts, *model, "--by", by]) == 0
        assert f"|by:{by}|tie:{tie:g}" in capsys.readouterr().err
    assert main(["compare", "-t", *texts, *model]) == 0
    assert f"|by:{found['decision']}|" in capsys.readouterr().err


def test_logs_have_each_validation_and_the_losses(command: tuple[Path, str, str]) -> None:
    out, _, _ = command
    found = rows(out)
    assert [row["step"] for row in found if row["development/accuracy"]] and found[-1]["step"] == "19"
    (last,) = [row for row in found if row["train/loss"] and row["step"] == "19"]
    assert {"train/detection", "train/loss", "epoch"} <= {name for name, value in last.items() if value}
    assert any(name.startswith("lr-") for name in found[0])
    events = EventAccumulator(str(out / "tensorboard")).Reload()
    assert {"development/accuracy", "train/loss", "epoch"} <= set(events.Tags()["scalars"])


def test_the_config_is_printed_and_nothing_runs(
    arguments: Arguments, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments(tmp_path / "out", "seed=7", "head=paper"), "--cfg", "job"]) == 0
    told = yaml.safe_load(capsys.readouterr().out)
    assert (told["seed"], told["head"]["kind"], told["out"]) == (7, "paper", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_sweep_runs_once_for_each_value(train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert train(tmp_path / "out", "--multirun", "seed=1,2", "trainer.max_steps=2") == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"0", "1", "multirun.yaml"}
    assert [config(tmp_path / "out" / n)["training"]["seed"] for n in "01"] == [1, 2]
    assert weights(tmp_path / "out" / "0") != weights(tmp_path / "out" / "1")
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


# What is learned and what is kept


def test_eight_pairs_are_learned_by_heart(
    train: Train, make_prepared: Callable[..., Path], sample_pairs: list[Pair], tmp_path: Path
) -> None:
    eight = [pair for pair in sample_pairs if pair.kind == "noisy"][:16:2]
    folder = make_prepared(train=eight, development=eight)
    learn = ["optim.lr=3e-3", "optim.head_lr=3e-3", "head.dropout=0.0", "encoder.dropout=0.0", "trainer.max_epochs=40"]
    assert train(tmp_path, "objective=pairs", "trainer.validate_every=40", *learn, folder=folder) == 0
    assert config(tmp_path)["training"]["figures"]["development/noisy"] == 1


def test_labels_are_learned_too(
    train: Train, make_prepared: Callable[..., Path], sample_pairs: list[Pair], tmp_path: Path
) -> None:
    """Detection alone, on passages whose pronouns are replaced: it falls well below the entropy of the labels."""
    few = sample_pairs[:16]
    folder = make_prepared(train=few, development=few, passages=[pair.better for pair in few[::4]])
    learn = ["optim.lr=3e-3", "head.dropout=0.0", "encoder.dropout=0.0", "trainer.max_epochs=60", "data.pieces=256"]
    assert train(tmp_path, "objective=passages", "trainer.validate_every=60", *learn, folder=folder) == 0
    losses = [float(row["train/detection"]) for row in rows(tmp_path) if row["train/detection"]]
    entropy = -(0.3 * math.log(0.3) + 0.7 * math.log(0.7))  # of labels three in ten of which say replaced
    assert statistics.mean(losses[-3:]) < 0.85 * entropy


def test_the_export_is_the_best_by_development_accuracy(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of equal ones the first; the accuracies are given, those of all development sets alike."""
    accuracies = [0.25, 0.5, 0.75, 0.5, 0.75, 0.25]

    def end_of_validation(self: ScorerModule) -> None:
        monkeypatch.setattr(training_module, "accuracies", lambda _: {"": accuracies[self.global_step - 1]})
        real(self)

    real = ScorerModule.on_validation_epoch_end
    monkeypatch.setattr(ScorerModule, "on_validation_epoch_end", end_of_validation)
    given = ["half=false", "trainer.max_epochs=4", "trainer.max_steps=6", "optim.lr=3e-3", "trainer.validate_every=1"]
    assert train(tmp_path, *given) == 0
    found = [float(row["development/accuracy"]) for row in rows(tmp_path) if row["development/accuracy"]]
    assert found == pytest.approx(accuracies)
    told = config(tmp_path)["training"]
    assert told["best_step"] == 3 and told["steps"] == 6
    assert set(told["figures"].values()) == {0.75} and "development/accuracy" in told["figures"]
    best, last = (torch.load(tmp_path / f"{name}.ckpt", weights_only=True) for name in ("best", "last"))
    exported = load_file(tmp_path / "checkpoint" / "model.safetensors")
    assert (best["global_step"], last["global_step"]) == (3, 6)
    assert best["state_dict"].keys() == {f"scorer.{name}" for name in exported}
    assert all(torch.equal(best["state_dict"][f"scorer.{name}"], value) for name, value in exported.items())
    assert not all(torch.equal(last["state_dict"][f"scorer.{name}"], value) for name, value in exported.items())


def test_a_calibrated_run_is_reported(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(calibrate, "FEWEST", 10_000)
    assert train(tmp_path / "not", "trainer.max_steps=2") == 0
    assert config(tmp_path / "not")["training"]["calibration"] is None
    assert "not calibrated" in capsys.readouterr().err

    def fit(_: np.ndarray, labels: np.ndarray) -> Platt:
        """That of a model that has learned something: four in five of its logits say what the labels say."""
        sides = np.where(np.arange(len(labels)) % 5, labels, 1 - labels)
        return fit_platt(np.where(sides == 1, 1.0, -1.0), labels)

    monkeypatch.setattr(calibrate, "FEWEST", 5)
    monkeypatch.setattr(calibrate, "fit_platt", fit)
    assert train(tmp_path / "out", "trainer.max_steps=2", "half=false") == 0
    told = config(tmp_path / "out")["training"]["calibration"]
    assert told["rate"] == 0.5 and told["scale"] > 1 and "not calibrated" not in capsys.readouterr().err
    kept = torch.load(tmp_path / "out" / "best.ckpt", weights_only=True)["state_dict"]["scorer.head.logit.weight"]
    exported = load_file(tmp_path / "out" / "checkpoint" / "model.safetensors")["head.logit.weight"]
    torch.testing.assert_close(exported, told["scale"] * kept)
    further = ["optim.lr=0", "optim.head_lr=0", "half=false", "trainer.max_steps=1"]
    assert train(tmp_path / "from", *further, f"init={tmp_path / 'out' / 'checkpoint'}") == 0
    first = config(tmp_path / "from")["training"]["init_calibration"]
    assert 0.1 < first["rate"] < 0.6 and first["scale"] > 1  # that of training, before it begins


def test_a_run_without_a_gain_stops_early(train: Train, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    still = ["optim.lr=0", "optim.head_lr=0", "trainer.max_epochs=50", "trainer.validate_every=2", "trainer.patience=3"]
    assert train(tmp_path, *still) == 0
    assert config(tmp_path)["training"]["steps"] == 2 * (1 + 3)
    before = weights(tmp_path)
    assert train(tmp_path, *still) == 0  # it is over, and stays so
    assert config(tmp_path)["training"]["steps"] == 2 * (1 + 3) and weights(tmp_path) == before


CHOICES = [
    (["loss=margin", "optim=sgd", "context=common", "head=paper"], PaperHead, "weighted"),
    (["loss=logistic", "context=none", "head=average"], AverageHead, "mean"),
]


@pytest.mark.parametrize(("choices", "kind", "segment"), CHOICES)
def test_the_papers_choices(train: Train, tmp_path: Path, choices: list[str], kind: type, segment: str) -> None:
    assert train(tmp_path, *choices, "objective=pairs", "half=false", "trainer.max_epochs=2") == 0
    loaded = checkpoint.load(tmp_path / "checkpoint")
    assert isinstance(loaded.model.head, kind) and loaded.config["segment"] == segment
    assert f"context={loaded.config['context']}" in choices
    assert any(row.get("train/pair") for row in rows(tmp_path))
    assert loaded.config["training"]["calibration"] is None


def test_further_choices(train: Train, tiny_encoder: Path, tmp_path: Path) -> None:
    frozen = ["optim.frozen=true", "optim.head_lr=1e-2", "trainer.max_epochs=4"]
    assert train(tmp_path, "context=respective", *frozen, "half=false") == 0
    loaded = checkpoint.load(tmp_path / "checkpoint")
    assert loaded.config["context"] == "respective"
    last = torch.load(tmp_path / "last.ckpt", weights_only=True)["state_dict"]
    encoder = {k: v for k, v in load_file(tiny_encoder / "model.safetensors").items() if "pooler" not in k}
    assert all(torch.equal(last[f"scorer.encoder.model.{name}"], value) for name, value in encoder.items())


def test_attention_learns_from_annotated_documents(
    train: Train, make_prepared: Callable[..., Path], sample_pairs: list[Pair], root: Path, tmp_path: Path
) -> None:
    (annotated, *_) = conll.read_folder(root / "tests" / "fixtures" / "coreference")
    text = "The cat of Ann slept. It rained. She fed it, and they left."
    folder = make_prepared(
        train=sample_pairs[:8],
        development=sample_pairs[:2],
        passages=[text],
        coreference=list(antecedents.passages(annotated)),
    )
    given = ["objective=passages", "objective.antecedent=0.5", "trainer.max_epochs=10"]
    assert train(tmp_path, *given, folder=folder) == 0
    assert config(tmp_path)["training"]["coreference"] == {"documents": 1, "passages": 1, "weight": 0.5}
    assert config(tmp_path)["training"]["mix"].keys() == {"coreference", "tiny"}
    assert any(row.get("train/antecedent") for row in rows(tmp_path))


def test_training_starts_from_a_checkpoint(
    train: Train, tiny_checkpoint: Callable[..., Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    still = ["optim.lr=0", "optim.head_lr=0", "half=false", "trainer.max_steps=1", f"init={tiny_checkpoint()}"]
    source = load_file(tiny_checkpoint() / "model.safetensors")
    assert train(tmp_path / "same", *still, "head=logit") == 0
    found = load_file(tmp_path / "same" / "checkpoint" / "model.safetensors")
    assert all(torch.equal(found[key], source[key]) for key in source) and caplog.text == ""
    assert config(tmp_path / "same")["training"]["init"] == checkpoint.hash_file(tiny_checkpoint() / checkpoint.WEIGHTS)
    assert config(tmp_path / "same")["training"]["head_seed"] is None
    assert config(tmp_path / "same")["max_pieces"] == 128
    assert train(tmp_path / "other", *still, "head=paper", "objective=pairs") == 0
    found = load_file(tmp_path / "other" / "checkpoint" / "model.safetensors")
    assert all(torch.equal(found[key], source[key]) for key in source if key.startswith("encoder."))
    assert isinstance(checkpoint.load(tmp_path / "other" / "checkpoint").model.head, PaperHead)
    assert "its encoder is used, with a new head" in caplog.text


def test_two_heads_are_trained_together(train: Train, tiny_checkpoint: Callable[..., Path], tmp_path: Path) -> None:
    """From a checkpoint without a pair head to one with it, and further from there."""
    given = ["half=false", "trainer.max_steps=4", "optim.head_lr=1e-2"]
    assert train(tmp_path / "first", *given, f"init={tiny_checkpoint()}") == 0
    losses = rows(tmp_path / "first")
    assert any(row.get("train/preference") for row in losses) and any(row.get("train/detection") for row in losses)
    told = config(tmp_path / "first")
    assert told["pair_head"] == {"heads": 4, "dropout": 0.1} and told["training"]["head_seed"] == 1
    assert {"development/system", "development/system_preference"} <= told["training"]["figures"].keys()
    still = ["half=false", "trainer.max_steps=1", "optim.lr=0", "optim.head_lr=0"]
    first = tmp_path / "first" / "checkpoint"
    assert train(tmp_path / "second", *still, f"init={first}") == 0
    before, after = (load_file(path / "model.safetensors") for path in (first, tmp_path / "second" / "checkpoint"))
    assert any(name.startswith("pair_head.") for name in before)
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert config(tmp_path / "second")["training"]["head_seed"] is None


def test_a_pair_head_is_added_without_a_change_of_the_scores(
    train: Train, tiny_checkpoint: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    init = tmp_path / "init"
    shutil.copytree(tiny_checkpoint(max_pieces=128), init)
    before = yaml.safe_load((init / "config.yaml").read_text(encoding="utf-8"))
    calibration = {"scale": 1.5, "bias": 0.25, "rate": 0.1, "pronouns": 40}
    before["training"] = {**before.get("training", {}), "calibration": calibration}
    before["separator"] = True
    (init / "config.yaml").write_text(yaml.safe_dump(before), encoding="utf-8")
    given = ["experiment=preference", "objective=pairs", f"init={init}", "trainer.max_steps=4", "half=false"]
    assert train(tmp_path / "out", *given, "optim.head_lr=1e-2") == 0
    assert "not calibrated" not in capsys.readouterr().err
    old, new = (load_file(path / "model.safetensors") for path in (init, tmp_path / "out" / "checkpoint"))
    assert all(torch.equal(new[name], old[name]) for name in old)
    assert new.keys() - old.keys() and all(name.startswith("pair_head.") for name in new.keys() - old.keys())
    assert config(tmp_path / "out")["training"]["calibration"] == calibration
    assert any(row.get("train/preference") for row in rows(tmp_path / "out"))
    capsys.readouterr()
    assert train(tmp_path / "other", *given, "context=none") == 1
    assert f"expected context='common', as in init={init}, whose scores are kept, got 'none'" in capsys.readouterr().err


def test_a_source_that_only_the_preset_names_is_a_warning(
    train: Train, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert train(tmp_path, "objective.source_share.tiny=0.3", "trainer.max_steps=1") == 0
    assert "objective.source_share: no passage to train on is of the source coreference, ewt, gum, wmt" in caplog.text


def test_heads_begin_alike_whatever_the_seed(train: Train, tmp_path: Path) -> None:
    still = ["optim.lr=0", "optim.head_lr=0", "half=false", "trainer.max_steps=1"]
    for name, given in (("one", "seed=1"), ("two", "seed=2"), ("other", "head_seed=2")):
        assert train(tmp_path / name, *still, given) == 0
    one, two, other = (load_file(tmp_path / n / "checkpoint" / "model.safetensors") for n in ("one", "two", "other"))
    assert torch.equal(one["head.query.weight"], two["head.query.weight"])
    assert not torch.equal(one["head.query.weight"], other["head.query.weight"])
    assert [config(tmp_path / name)["training"]["head_seed"] for name in ("two", "other")] == [1, 2]


# Kills

BEST = 9  # the step whose validation is the best one in the runs that are killed

# Imports all once, then forks a process for each job (a line of JSON: argv, log, and where to die); answers with its
# exit code, negative for a signal. `poll` is killed from outside as soon as the file is there; such a process does not
# go beyond step 12, so that it is there to be killed, however late. The best step is chosen
# by a figure that depends on nothing but the step, so that no arithmetic decides what a death destroys.
SERVER = (
    f"BEST = {BEST}"
    """
import json, os, signal, sys, time
from pathlib import Path
import datasets, hydra, pytorch_lightning.loggers, transformers
from torch.utils import tensorboard
from pronmetric.checkpoint import weights
from pronmetric.text import writing
from pronmetric.cli.main import main
from pronmetric.training.detection import DetectionTraining
from pronmetric.training.fit import Goal
from pronmetric.training.module import ScorerModule
from pronmetric.training.callbacks import AtomicCheckpointIO, ResumePoint

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def stay():
    while True:
        signal.pause()

def end_of_validation(self):
    real_end(self)
    self.log("nearness", -abs(self.global_step - BEST), sync_dist=True)

real_end, ScorerModule.on_validation_epoch_end = ScorerModule.on_validation_epoch_end, end_of_validation
DetectionTraining.goal = Goal("nearness", "max")

def before(owner, name, when):
    real = getattr(owner, name)
    setattr(owner, name, lambda self, *args, **more: die() if when(self, *args) else real(self, *args, **more))

def half_written(number):
    def save(self, checkpoint, path, storage_options=None):
        if checkpoint["global_step"] >= number and "last" in str(path):
            Path(f"{path}.part").write_bytes(b"PK" * 1000)
            die()
        real(self, checkpoint, path)
    real, AtomicCheckpointIO.save_checkpoint = AtomicCheckpointIO.save_checkpoint, save

DEATHS = {
    "step": lambda n: before(ScorerModule, "training_step", lambda module, *_: module.global_step == n),
    "validation": lambda n: before(ScorerModule, "on_validation_epoch_end", lambda module: module.global_step >= n),
    "best": lambda n: before(ResumePoint, "on_validation_end", lambda point, trainer, *_: trainer.global_step >= n),
    "write": half_written,
    "export": lambda n: setattr(weights, "save_file", lambda *_, **__: die()),
}

for line in sys.stdin:
    job = json.loads(line)
    pid = os.fork()
    if pid == 0:
        log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1), os.dup2(log, 2)
        if job["death"]:
            DEATHS[job["death"]](job["number"])
        if job["poll"]:
            there = Path(job["poll"]).exists
            before(ScorerModule, "training_step", lambda module, *_: module.global_step >= 12 and there() and stay())
        sys.argv = ["pronmetric", *job["argv"]]
        code = main(job["argv"])
        sys.stdout.flush()
        os._exit(code)
    if job["poll"]:
        while not Path(job["poll"]).exists():
            time.sleep(0.02)
        time.sleep(job["number"])
        os.kill(pid, signal.SIGKILL)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
)


@pytest.fixture(scope="module")
def run(arguments: Arguments) -> Iterator[Callable[..., int]]:
    """Runs a command line in a separate process that is killed at a given point; its exit code."""
    line = [sys.executable, "-c", SERVER]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None

        def run(out: Path, *overrides: str, death: str = "", number: float = 0, poll: Path | str = "") -> int:
            log, argv = out.with_suffix(".log"), arguments(out, *overrides)
            job = {"argv": argv, "log": str(log), "death": death, "number": number, "poll": str(poll)}
            print(json.dumps(job), file=server.stdin, flush=True)
            code = int(server.stdout.readline())
            assert code in (0, -signal.SIGKILL), log.read_text(encoding="utf-8")
            return code

        yield run
        server.stdin.close()


@pytest.fixture(scope="module")
def long(make_prepared: Callable[..., Path], sample_pairs: list[Pair], sample: Path) -> list[str]:
    """A run of four epochs, a validation after every third step."""
    pairs, lines = sample_pairs[:24], (sample / "ref.txt").read_text(encoding="utf-8").splitlines()
    folder = make_prepared(
        train=pairs, development=pairs, passages=[" ".join(lines[i : i + 2]) for i in range(0, 12, 2)]
    )
    given = ["data.pieces=128", "data.development=0", "objective.pair_share=0.5", "optim.lr=3e-3", "head.dropout=0.2"]
    return [f"data.dir={folder}", "trainer.max_epochs=4", "trainer.validate_every=3", *given]


@pytest.fixture(scope="module")
def undisturbed(run: Callable[..., int], long: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    assert run(out, *long, "trainer.save_every=2") == 0
    told = config(out)["training"]
    assert told["steps"] >= 16 and told["best_step"] == BEST
    return out


def kept(out: Path) -> tuple[int, int]:
    """The steps of last.ckpt and best.ckpt, 0 where there is none."""
    last, best = (out / f"{name}.ckpt" for name in ("last", "best"))
    steps = [torch.load(path, weights_only=True)["global_step"] if path.exists() else 0 for path in (last, best)]
    return steps[0], steps[1]


def ended_alike(out: Path, other: Path) -> None:
    """The same exported weights, final weights and choice; no temporary files are left."""
    assert weights(out) == weights(other)
    one, two = (torch.load(path / "last.ckpt", weights_only=True) for path in (out, other))
    assert one["global_step"] == two["global_step"]
    assert all(torch.equal(value, two["state_dict"][name]) for name, value in one["state_dict"].items())
    for state, again in zip(one["optimizer_states"], two["optimizer_states"], strict=True):
        for key, moments in state["state"].items():
            assert all(torch.equal(value, again["state"][key][name]) for name, value in moments.items())
    first, second = config(out)["training"], config(other)["training"]
    for key in ("steps", "best_step", "figures", "calibration"):
        assert first[key] == second[key]
    starts = {name for name in files(out) if re.fullmatch(r"csv/version_\d+/metrics.csv", name)}
    assert files(out) - starts == LEFT - {"csv/version_0/metrics.csv"}


@pytest.mark.parametrize(
    ("every", "deaths"),
    [
        # each death: where, at which step, the steps of last.ckpt and best.ckpt that it leaves
        (2, [("step", 5, (4, 3)), ("best", 6, (4, 6))]),  # within an epoch; with best.ckpt written, last.ckpt not
        (1, [("validation", 3, (2, 0)), ("step", 7, (7, 6))]),  # in a validation; right after a place was kept
        (3, [("write", 7, (6, 9)), ("export", 0, (-1, 9))]),  # last.ckpt half written; all done but the export
        (50, [("step", 2, (0, 0)), ("validation", 6, (3, 3))]),  # before anything is kept; in a later validation
    ],
)
def test_a_run_killed_twice_ends_with_the_same_weights(
    run: Callable[..., int],
    long: list[str],
    undisturbed: Path,
    tmp_path: Path,
    every: int,
    deaths: list[tuple[str, int, tuple[int, int]]],
) -> None:
    out, given = tmp_path / "out", [*long, f"trainer.save_every={every}"]
    steps = config(undisturbed)["training"]["steps"]
    for death, number, (last, best) in deaths:
        assert run(out, *given, death=death, number=number) == -signal.SIGKILL
        assert kept(out) == (steps if last == -1 else last, best)
    assert run(out, *given) == 0
    ended_alike(out, undisturbed)
    assert "Traceback" not in (log := out.with_suffix(".log").read_text(encoding="utf-8")) and "warn" not in log.lower()


def test_a_run_killed_from_outside_twice_ends_with_the_same_weights(
    run: Callable[..., int], long: list[str], undisturbed: Path, tmp_path: Path
) -> None:
    out, given = tmp_path / "out", [*long, "trainer.save_every=1"]
    assert run(out, *given, poll=out / "last.ckpt") == -signal.SIGKILL
    assert run(out, *given, poll=out / "csv" / "version_1", number=0.05) == -signal.SIGKILL
    assert not (out / "checkpoint").exists()
    assert run(out, *given) == 0
    ended_alike(out, undisturbed)


def test_a_finished_run_stays_as_it_is(
    run: Callable[..., int], long: list[str], undisturbed: Path, tmp_path: Path
) -> None:
    last = (undisturbed / "last.ckpt").read_bytes()
    assert run(undisturbed, *long, "trainer.save_every=2", "trainer.workers=1") == 0
    assert (undisturbed / "last.ckpt").read_bytes() == last


def test_a_run_of_other_settings_is_not_gone_on_with(
    train: Train, long: list[str], undisturbed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = weights(undisturbed)
    for change, said in (
        ("seed=2", "the run there has seed=1, not seed=2"),
        ("optim.lr=1e-3", "the run there has optim.lr=0.003"),
    ):
        others = [given for given in long if given.split("=")[0] != change.split("=")[0]]
        assert train(undisturbed, *others, change) == 1
        told, notes = capsys.readouterr()
        assert told == "" and notes.count("\n") == 1
        assert notes.startswith(f"pronmetric: error: {undisturbed / 'last.ckpt'}: ") and said in notes
    assert weights(undisturbed) == before


def test_a_place_that_is_none_is_refused(train: Train, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content in (b"", b"nothing", b"PK\x03\x04"):
        (tmp_path / "last.ckpt").write_bytes(content)
        assert train(tmp_path) == 1
        assert "last.ckpt: not a run that can be resumed: delete it" in capsys.readouterr().err


# Devices


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")  # Python 3.12
def test_the_settings_of_the_gpu_on_a_cpu(train: Train, tmp_path: Path) -> None:
    """All of trainer=gpu but the device itself; the batches of its workers give the weights of a run without."""
    gpu = ["trainer=gpu", "trainer.accelerator=cpu", "trainer.workers=2", "trainer.scale=1"]
    gpu += ["trainer.precision=bf16", "trainer.max_epochs=1"]
    assert train(tmp_path / "gpu", *gpu) == 0
    assert train(tmp_path / "cpu", "trainer.precision=bf16", "trainer.max_epochs=1") == 0
    assert weights(tmp_path / "gpu") == weights(tmp_path / "cpu")


# Writes the loss of each step of each process to the file LOSSES.RANK.
RECORDER = """
import os, sys
from pronmetric.cli.main import main
from pronmetric.training.module import ScorerModule

def recorded(self, item, index):
    loss = step(self, item, index)
    with open(f"{os.environ['LOSSES']}.{self.global_rank}", "a") as file:
        print(loss.item(), file=file)
    return loss

step, ScorerModule.training_step = ScorerModule.training_step, recorded
sys.exit(main(sys.argv[1:]))
"""


class Two(NamedTuple):
    """A run of two processes: its OUT, stdout and stderr, and the losses of each process."""

    out: Path
    told: str
    notes: str
    losses: tuple[list[float], list[float]]


@pytest.fixture(scope="module")
def two_processes() -> list[str]:
    """The settings of that run; plain gradient descent, so that the weights show the gradients."""
    ddp = ["trainer=ddp", "trainer.accelerator=cpu", "trainer.devices=2", "trainer.workers=0", "trainer.max_epochs=2"]
    ddp += ["trainer.scale=1"]
    even = ["objective.system_share=null", "objective.form_weight=null"]
    return [
        *ddp,
        "data.pieces=72",
        "objective.pair_share=0.5",
        *even,
        "optim=sgd",
        "optim.lr=0.02",
        "optim.head_lr=0.02",
    ]


@pytest.fixture(scope="module")
def two(arguments: Arguments, two_processes: list[str], tmp_path_factory: pytest.TempPathFactory) -> Two:
    out, aside = tmp_path_factory.mktemp("two") / "out", tmp_path_factory.mktemp("aside")
    (aside / "recorder.py").write_text(RECORDER, encoding="utf-8")
    line = [sys.executable, str(aside / "recorder.py"), *arguments(out, *two_processes)]
    environment = {**os.environ, "LOSSES": str(aside / "losses")}
    done = subprocess.run(line, capture_output=True, text=True, cwd=out.parent, env=environment)
    assert done.returncode == 0, done.stderr
    losses = [[float(x) for x in (aside / f"losses.{rank}").read_text().split()] for rank in (0, 1)]
    return Two(out, done.stdout, done.stderr, (losses[0], losses[1]))


@pytest.fixture
def not_begun(
    train: Train, two_processes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[ScorerModule, PronounData]:
    """The module and the data of that run as this process makes them, before the first step."""
    made: list[tuple[ScorerModule, PronounData]] = []
    stub = SimpleNamespace(fit=lambda module, data, **_: made.append((module, data)), is_global_zero=False)
    monkeypatch.setattr(training_fit, "make_trainer", lambda *_, **__: stub)
    assert train(tmp_path / "out", *two_processes) == 0
    return made[0]


def test_a_run_of_two_processes_prints_once_and_leaves_the_same_files(two: Two) -> None:
    assert two.told.count("development/accuracy\t") == 1 and "warn" not in two.notes.lower()
    assert files(two.out) == LEFT and {path.name for path in two.out.parent.iterdir()} == {"out"}


def test_a_batch_that_two_processes_cannot_share_is_reported(two: Two) -> None:
    steps = len(two.losses[0])
    assert len(two.losses[1]) == steps
    assert two.notes.count(f"left out: 1 of {2 * steps + 1} batches, so that 2 processes take as many each") == 1


def test_two_processes_learn_as_one_does(two: Two, not_begun: tuple[ScorerModule, PronounData]) -> None:
    """Against a plain loop: each step descends the mean gradient of the two batches, of which each process had one."""
    module, data = not_begun
    data.trainer = SimpleNamespace(global_rank=0, world_size=1, max_steps=2 * module.length.steps)  # type: ignore[assignment]
    batches = iter(data.train_dataloader())
    made: Any = module.configure_optimizers()
    optimizer, schedule = made["optimizer"], made["lr_scheduler"]["scheduler"]
    before = {name: value.clone() for name, value in module.state_dict().items()}
    losses: tuple[list[float], list[float]] = ([], [])
    for step in range(module.length.steps):
        optimizer.zero_grad()
        for rank in (0, 1):
            (items,) = next(batches)  # the micro-batches of one batch
            torch.manual_seed(module.seed * 1_000_003 + step)
            whole = sum(map(module.counts, items), start=Counter())
            terms = [
                getattr(module.objective, name) * part * (module.counts(item)[name] / max(1, whole[name]))
                for item in items
                for name, part in module.losses(module.scorer(item.batch), item).items()
            ]
            loss = torch.stack(terms).sum()
            (loss / 2).backward()
            losses[rank].append(loss.item())
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    assert two.losses[0] == pytest.approx(losses[0], abs=1e-5) and two.losses[1] == pytest.approx(losses[1], abs=1e-5)
    logged = {int(row["step"]): float(row["train/loss"]) for row in rows(two.out) if row["train/loss"]}
    assert logged == pytest.approx({n: (losses[0][n] + losses[1][n]) / 2 for n in logged}, abs=1e-5) and logged
    last = torch.load(two.out / "last.ckpt", weights_only=True)["state_dict"]
    torch.testing.assert_close(last, module.state_dict(), rtol=0, atol=1e-5)
    assert max((last[name] - value).abs().max().item() for name, value in before.items()) > 1e-3


def test_one_process_that_accumulates_two_batches_learns_as_two_do(
    two: Two, train: Train, two_processes: list[str], tmp_path: Path
) -> None:
    single = [setting for setting in two_processes if not setting.startswith(("trainer=", "trainer.devices="))]
    assert train(tmp_path / "out", *single, "trainer.accumulate=2") == 0
    last, other = (torch.load(out / "last.ckpt", weights_only=True) for out in (tmp_path / "out", two.out))
    assert last["global_step"] == other["global_step"]
    torch.testing.assert_close(last["state_dict"], other["state_dict"], rtol=0, atol=1e-5)


def test_two_processes_validate_as_one_does(
    two: Two, not_begun: tuple[ScorerModule, PronounData], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, data = not_begun
    best = torch.load(two.out / "best.ckpt", weights_only=True)
    module.load_state_dict(best["state_dict"])
    module.eval()
    monkeypatch.setattr(module, "log", lambda *_, **__: None)
    monkeypatch.setattr(module, "log_dict", lambda *_, **__: None)
    with torch.inference_mode():
        for number, item in enumerate(chain.from_iterable(data.val_dataloader())):
            module.validation_step(item, number)
        module.on_validation_epoch_end()
    assert best["figures"] == pytest.approx(module.figures) == config(two.out)["training"]["figures"]


# Faults


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["objective.antecedent=1"], "no passages with annotated antecedents: prepare with data.coreference"),
        (["data.coreference=."], "`pronmetric prepare` reads annotated documents now"),
        (["objective.source_weight={wmt: 2}"], "replaced by objective.source_share"),
        (["objective.source_share={tiny: 0.7, wmt: 0.4}"], "expected shares that sum to at most 1, got 1.36"),
        (["head.kind=neck"], "head.kind=neck: expected average, logit or paper"),
        (["trainer.devices=99", "data.pieces=4096"], "are too few for 99 devices"),
        (["objective.source_share={wmmt:0.2}"], "objective.source_share.wmmt: no passage to train on"),
        (["encoder.max_pieces=5"], "expected max_pieces with room for 8 pieces of text, got 5"),
        (["encoder.name=/no/such/folder"], "no encoder at /no/such/folder"),
        (["init=/no/such/folder"], "no checkpoint '/no/such/folder'"),
        (["data.dir=/no/such/folder"], "/no/such/folder: no prepared data"),
        (["out=/proc/none/out"], "/proc/none"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_fault_is_one_line(
    train: Train, tmp_path: Path, overrides: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path / "out", *overrides) == 1
    told, notes = capsys.readouterr()
    assert told == "" and notes.count("\n") == 1 and notes.startswith("pronmetric: error: ") and said in notes, notes
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_one_line(train: Train, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path / "out", "trainer=gpu") == 1
    notes = capsys.readouterr().err
    assert notes.count("\n") == 1 and notes.startswith("pronmetric: error: trainer: "), notes
    assert "trainer.accelerator=cpu" in notes


def test_a_folder_that_lacks_something_is_one_line(
    train: Train,
    make_prepared: Callable[..., Path],
    sample_pairs: list[Pair],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    some, texts = sample_pairs[:4], ["She left."]
    damaged = make_prepared(train=some, development=some, passages=texts)
    (damaged / "manifest.json").write_text("{")
    for folder, said in (
        (make_prepared(train=some, development=some), "no passages to train on: add objective=pairs"),
        (make_prepared(train=[], development=some, passages=texts), "no pairs to train on"),
        (make_prepared(train=some, development=[], passages=texts), "no development pairs"),
        (make_prepared(train=some, development=some, passages=texts, pronouns=0), "counts no reference pronoun"),
        (damaged, "; run `pronmetric prepare` again"),
    ):
        assert train(tmp_path / "out", folder=folder) == 1
        told, notes = capsys.readouterr()
        assert told == "" and notes.count("\n") == 1 and said in notes, notes
    assert list(tmp_path.iterdir()) == []


def test_the_inventory_and_the_context_of_the_data_reach_the_checkpoint(
    train: Train, tiny_prepared: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(tiny_prepared, tmp_path / "prepared")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["config"] = {"inventory": "paper", "context_size": 3}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert train(tmp_path / "out", "trainer.max_steps=1", folder=folder) == 0
    found = config(tmp_path / "out")
    assert found["context_size"] == 3 and found["pronouns"] == [form for form in FORMS if form != "theirs"]
    assert Model.read(found).to_config() == found
