"""A run opens its texts and its checkpoint once, and tells what is wrong before the model is loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("She left.\nHe saw her.\n", encoding="utf-8")
    Path("b.txt").write_text("He left.\nShe saw him.\n", encoding="utf-8")
    Path("records.jsonl").write_text('{"text": "She left."}\n', encoding="utf-8")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "argv",
    [
        ["score", "-t", "a.txt"],
        ["score", "--jsonl", "records.jsonl"],
        ["compare", "-t", "a.txt", "b.txt", "--tie", "0"],
        ["check", "-t", "a.txt", "--min-score", "0"],
        ["suggest", "-t", "a.txt"],
        ["rerank", "--candidates", "a.txt", "b.txt"],
    ],
    ids=" ".join,
)
def test_the_config_is_read_before_the_model_is_loaded_and_with_it(
    argv: list[str], tiny_checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint, read, paths = tiny_checkpoint(), checkpoint_config.read, []

    def counting(path: Path) -> dict[str, Any]:
        paths.append(path)
        return read(path)

    monkeypatch.setattr(checkpoint_config, "read", counting)
    assert main([*argv, "--model", str(checkpoint), "--gpus", "0", "--quiet"]) == 0
    assert paths == [checkpoint / "config.yaml"] * 2


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["score", "-t", "a.txt", "missing.txt"], "missing.txt"),
        (["compare", "-t", "a.txt"], "expected two or more systems"),
        (["compare", "-t", "a.txt", "b.txt", "--by", "preference"], "has no pair head"),
        (["compare", "-t", "a.txt", "b.txt", "--strict", "-s", "a.txt"], "the source is the text itself"),
    ],
)
def test_wrong_input_is_told_before_the_model_is_loaded(
    argv: list[str],
    said: str,
    tiny_checkpoint: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(PronounMetric, "from_pretrained", None)
    assert main([*argv, "--model", str(tiny_checkpoint()), "--gpus", "0"]) == 1
    assert said in capsys.readouterr().err
