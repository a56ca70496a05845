"""The files of a training run that is interrupted, terminated or fails, and its progress."""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
import torch

from pronmetric.checkpoint import files, weights
from pronmetric.cli.main import main
from pronmetric.errors import PronmetricError
from pronmetric.training import callbacks
from pronmetric.training.module import Length, ScorerModule
from pronmetric.training.paper.pretrain import LanguageModule

Run = Callable[..., int]


@pytest.fixture
def run(tiny_encoder: Path, tiny_prepared: Path) -> Run:
    """Trains the tiny encoder for six steps, a validation after every second; the exit code."""

    def train(out: Path, *overrides: str) -> int:
        given = {
            "data.dir": tiny_prepared,
            "out": out,
            "encoder": "huggingface",
            "encoder.name": tiny_encoder,
            "data.pieces": 256,
            "data.development": 6,
            "trainer.max_steps": 6,
            "trainer.validate_every": 2,
            "trainer.save_every": 1,
            "trainer.precision": 32,
            "trainer.threads": 1,
            "trainer.progress": "false",
        }
        later = {override.split("=")[0] for override in overrides}
        return main(["train", *(f"{key}={value}" for key, value in given.items() if key not in later), *overrides])

    return train


@pytest.fixture(autouse=True)
def sigint() -> Any:
    """SIGINT raises KeyboardInterrupt, also where pytest runs in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler  # a run leaves it as it was
    signal.signal(signal.SIGINT, before)


def before_step(monkeypatch: pytest.MonkeyPatch, step: int, act: Callable[[ScorerModule], object]) -> None:
    """Let `act` happen where the step would begin, counted from 1."""
    real = ScorerModule.training_step

    def training_step(module: ScorerModule, *args: Any) -> torch.Tensor:
        if module.global_step == step - 1:
            act(module)
        return real(module, *args)

    monkeypatch.setattr(ScorerModule, "training_step", training_step)


def left(out: Path) -> set[str]:
    """Files and folders in `out` without the logs, and hidden ones next to it."""
    found = {path.name for path in out.iterdir() if path.name not in ("csv", "tensorboard")}
    return found | {path.name for path in out.parent.iterdir() if path.name.startswith(".")}


SIGNALS = [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]


@pytest.mark.parametrize(("number", "code", "how"), SIGNALS)
def test_a_signal_ends_a_run_in_one_line_and_it_can_be_resumed(
    run: Run,
    tmp_path: Path,
    number: int,
    code: int,
    how: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        before_step(patch, 4, lambda _: os.kill(os.getpid(), number))
        assert run(out) == code
    cure = f"the same command resumes from {out / 'last.ckpt'}"
    assert capsys.readouterr() == ("", f"pronmetric: {how}: after step 3 of 6; {cure}\n")
    assert left(out) == {"best.ckpt", "last.ckpt"}
    assert run(out) == 0 and left(out) == {"best.ckpt", "last.ckpt", "checkpoint"}


def test_a_signal_before_the_first_checkpoint_is_reported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before_step(monkeypatch, 1, lambda _: os.kill(os.getpid(), signal.SIGTERM))
    assert run(tmp_path / "out") == 143
    assert capsys.readouterr().err == "pronmetric: terminated: after step 0 of 6; nothing was saved yet\n"
    assert left(tmp_path / "out") == set()


@pytest.mark.parametrize(("name", "number", "code"), [("best", signal.SIGINT, 130), ("last", signal.SIGTERM, 143)])
def test_a_signal_while_a_file_is_written_leaves_no_part_of_it(
    run: Run, tmp_path: Path, name: str, number: int, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(state: Any, file: BinaryIO) -> None:
        if Path(file.name).name == f"{name}.ckpt.part":
            file.write(b"PK" * 1000)
            os.kill(os.getpid(), number)
        real(state, file)

    real = torch.save
    monkeypatch.setattr(callbacks.torch, "save", save)
    assert run(tmp_path / "out", "trainer.save_every=50") == code
    assert left(tmp_path / "out") == ({"best.ckpt"} if name == "last" else set())


def test_a_full_disk_is_one_line_and_leaves_no_part(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Full(BytesIO):
        """A disk with room for 4 kB."""

        def write(self, data: Any, /) -> int:
            if self.tell() + len(data) > 4096:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data)

    def save(state: Any, file: BinaryIO) -> None:
        file.write(b"PK")
        real(state, Full())

    real = torch.save
    monkeypatch.setattr(callbacks.torch, "save", save)
    assert run(tmp_path / "out") == 1
    told, notes = capsys.readouterr()
    assert told == "" and notes.count("\n") == 1
    assert notes.endswith("last.ckpt: cannot be written: No space left on device\n")
    assert left(tmp_path / "out") == set()


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_full_disk_under_a_log_is_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def write(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "events")

    monkeypatch.setattr("tensorboard.summary.writer.record_writer.RecordWriter.write", write)
    assert run(tmp_path / "out") == 1
    told, notes = capsys.readouterr()
    assert told == "" and "Traceback" not in notes and notes.endswith("No space left on device\n")


@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError])
def test_an_export_that_breaks_off_leaves_no_checkpoint_without_weights(
    run: Run, tmp_path: Path, fault: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def save_file(_: Any, path: Path, **__: Any) -> None:
        path.write_bytes(b"\0")
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr(weights, "save_file", save_file)
        assert run(tmp_path / "out") == (130 if fault is KeyboardInterrupt else 1)
    assert left(tmp_path / "out") == {"best.ckpt", "last.ckpt"}
    assert run(tmp_path / "out") == 0
    assert files.load(tmp_path / "out" / "checkpoint").config["training"]["steps"] == 6


def test_the_last_step_is_saved_before_it_is_validated(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def validation_step(module: ScorerModule, *_: Any, **__: Any) -> None:
        if module.global_step == 6:
            raise MemoryError
        real(module, *_, **__)

    real, given = ScorerModule.validation_step, ["trainer.save_every=50", "half=false"]
    assert run(tmp_path / "whole", *given) == 0
    for name, every in (("later", 2), ("only", 6)):  # there is a validation before, or none
        out = tmp_path / name
        with monkeypatch.context() as patch:
            patch.setattr(ScorerModule, "validation_step", validation_step)
            assert run(out, *given, f"trainer.validate_every={every}") == 1
        saved = torch.load(out / "last.ckpt", weights_only=True)
        assert saved["global_step"] == 6 and not saved["over"]
        for _ in range(2):  # validated; then as a finished run
            assert run(out, *given, f"trainer.validate_every={every}") == 0
        record = files.load(out / "checkpoint").config["training"]
        assert record["steps"] == 6 and "development/accuracy" in record["figures"]
        whole = torch.load(tmp_path / "whole" / "last.ckpt", weights_only=True)
        last = torch.load(out / "last.ckpt", weights_only=True)
        assert last["over"] and last["figures"] == whole["figures"]
        assert all(torch.equal(value, whole["state_dict"][key]) for key, value in last["state_dict"].items())
        best = torch.load(out / "best.ckpt", weights_only=True)
        assert record["best_step"] == best["global_step"]
        if name == "later":
            expected = files.load(tmp_path / "whole" / "checkpoint")
            assert record["best_step"] == expected.config["training"]["best_step"]
            assert files.load(out / "checkpoint").hash == expected.hash
        else:
            assert record["best_step"] == 6


def test_a_loss_that_is_not_finite_stops_the_run_with_its_step(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before_step(monkeypatch, 3, lambda module: module.scorer.head.logit.bias.data.fill_(float("nan")))
    assert run(tmp_path / "out") == 1
    told, notes = capsys.readouterr()
    assert told == "" and notes.count("\n") == 1
    assert notes.startswith("pronmetric: error: the loss is nan at step 3: training stops, nothing is exported; ")
    assert left(tmp_path / "out") == {"best.ckpt", "last.ckpt"}


def test_weights_that_are_not_finite_are_not_exported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last step can break the weights without a later loss that shows it."""

    def clip(module: ScorerModule, *_: Any, **__: Any) -> None:
        module.scorer.head.logit.bias.data.fill_(float("inf"))

    monkeypatch.setattr(ScorerModule, "configure_gradient_clipping", clip)
    assert run(tmp_path / "out", "trainer.max_steps=1", "trainer.validate_every=1") == 1
    told, notes = capsys.readouterr()
    assert told == "" and notes.count("\n") == 1
    assert "the best weights, of step 1, are not finite (scorer.head.logit.bias): nothing is exported" in notes
    assert left(tmp_path / "out") == {"best.ckpt", "last.ckpt"}


def test_a_run_leaves_the_number_of_threads_as_it_was(run: Run, tmp_path: Path) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        assert run(tmp_path / "out", "trainer.max_steps=1", "trainer.validate_every=1") == 0
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_a_checkpoint_of_no_run_here_is_not_overwritten(
    run: Run, tiny_checkpoint: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    (out / "checkpoint").mkdir(parents=True)
    (out / "checkpoint" / "config.yaml").write_text("mine")
    assert run(out) == 1
    assert f"{out / 'checkpoint'}: would be overwritten" in capsys.readouterr().err
    assert (out / "checkpoint" / "config.yaml").read_text() == "mine" and left(out) == {"checkpoint"}


def test_a_log_file_gets_lines_that_count_the_steps_of_the_whole_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["trainer.progress=true", "trainer.max_epochs=30"]
    with monkeypatch.context() as patch:
        before_step(patch, 4, lambda _: os.kill(os.getpid(), signal.SIGINT))
        assert run(tmp_path / "out", *given) == 130
    monkeypatch.setattr("pronmetric.output.progress.SECONDS", 0)
    assert run(tmp_path / "out", *given) == 0
    notes = capsys.readouterr().err
    assert "v_num" not in notes and "\r" not in notes
    found = [line for line in notes.splitlines() if line.startswith(("train:", "validate:"))]
    line = r"train: (\d)/6 steps \((\d+) %\), [\d:]+ elapsed, [\d:?]+ left, loss [\d.]+(, accuracy [\d.]+)?"
    matches = [re.fullmatch(line, each) for each in found]
    assert all(matches), found
    steps = [int(match[1]) for match in matches if match]
    assert steps[0] == 3 and steps[-1] == 6 and sorted(steps) == steps and "accuracy" in found[-1]


def test_pretraining_stops_at_a_loss_that_is_not_finite() -> None:
    def model(*_: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tensor([1.0, float("inf")]), torch.tensor([1.0])

    module = LanguageModule(model, optim=None, length=Length(9, 9.0), seed=1)  # type: ignore[arg-type]
    item: Any = type("Item", (), {"characters": None, "mask": None, "words": [1]})
    with pytest.raises(PronmetricError, match="the loss is inf at step 1: training stops"):
        module.training_step([item], 0)
    with pytest.raises(PronmetricError, match="the held-out loss is nan nats a word after step 0"):
        module._losses = [np.array([float("nan"), 1.0, 2.0])]
        module.on_validation_epoch_end()
    with pytest.raises(PronmetricError, match="the held-out loss is 1000 nats a word after step 0"):
        module._losses = [np.array([1.0, 2000.0, 2.0])]
        module.on_validation_epoch_end()
