"""`pronmetric pretrain` from documents to an encoder that `train` takes and that scores."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from pronmetric.checkpoint import elmo as elmo_files
from pronmetric.cli.main import main
from pronmetric.data import characters
from pronmetric.data.pieces import FIRST
from pronmetric.text.words import words
from pronmetric.training.paper.pretrain import LanguageModule

Pretrain = Callable[..., int]

SETTINGS = {
    "seed": 3,
    "data.words": 128,
    "data.row": 24,
    "data.development_share": 0.2,
    "dropout": 0.0,
    "elmo.lstm.dim": 32,
    "elmo.lstm.projection_dim": 16,
    "optim.lr": 0.02,
    "vocabulary.min_count": 1,
    "trainer.max_epochs": 100,
    "trainer.max_steps": 60,
    "trainer.validate_every": 30,
    "trainer.threads": 1,
    "trainer.progress": "false",
}


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten documents in which the names change and little else; one word is too long to be read whole."""
    folder = tmp_path_factory.mktemp("english")
    names = [("Anna", "She", "her"), ("Tom", "He", "his"), ("Ines", "She", "her"), ("Paul", "He", "his")]
    found = [
        [f"{name} lost {own} {thing} in the {place}.", f"{who} looked for the {thing}, and {who.lower()} found it."]
        for name, who, own in names
        for thing in ("key", "ring", "hat", "letter", "coat")
        for place in ("house", "garden")
    ]
    documents = ["\n".join(line for lines in found[at::10] for line in lines) for at in range(10)]
    documents[0] += f"\nThe {'very' * 13}long day ended."
    (folder / "lost.txt").write_text("\n\n".join(documents) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def pretrain(english: Path) -> Pretrain:
    """Runs the verb; the exit code."""

    def run(out: Path, *overrides: str) -> int:
        given = {"data.english": english, "out": out, **SETTINGS}
        later = {override.split("=")[0] for override in overrides}
        return main(["pretrain", *(f"{k}={v}" for k, v in given.items() if k not in later), *overrides])

    return run


@pytest.fixture(scope="module")
def pretrained(pretrain: Pretrain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the verb leaves."""
    out = tmp_path_factory.mktemp("pretrained") / "out"
    assert pretrain(out) == 0
    return out


def record(out: Path) -> dict[str, Any]:
    return json.loads((out / "pretrain.json").read_text(encoding="utf-8"))


def rows(out: Path, version: int = 0) -> list[dict[str, str]]:
    with (out / "csv" / f"version_{version}" / "metrics.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_loss_falls_far_below_the_uniform_one(pretrained: Path) -> None:
    told = record(pretrained)
    classes = FIRST + told["vocabulary"]["words"]
    losses = [float(row["train/loss"]) for row in rows(pretrained) if row["train/loss"]]
    assert losses[-1] < 0.5 * math.log(classes)
    figures = told["figures"]
    assert figures["development/perplexity"] < 0.5 * classes
    directions = figures["development/forward"] * figures["development/backward"]
    assert figures["development/perplexity"] == pytest.approx(math.sqrt(directions))


def test_the_record_has_the_inputs(pretrained: Path, english: Path) -> None:
    told = record(pretrained)
    assert list(told["settings"]["inputs"]) == ["lost.txt"] and told["settings"]["seed"] == 3
    assert (told["steps"], told["best_step"] in (30, 60)) == (60, True)
    total = len(words((english / "lost.txt").read_text(encoding="utf-8")))
    assert sum(told["words"].values()) == total and sum(told["cut"].values()) == 1
    assert 0.1 < told["words"]["development"] / total < 0.3 and 0 <= told["vocabulary"]["unknown"] < 0.2
    assert told["files"].keys() == {"options.json", "weights.hdf5"}
    assert not list(pretrained.glob("*.part"))


def test_the_files_give_the_states_that_training_had(pretrained: Path) -> None:
    elmo = elmo_files.read(str(pretrained / "options.json"), str(pretrained / "weights.hdf5")).eval()
    state = torch.load(pretrained / "best.ckpt", weights_only=True)["state_dict"]
    trained = elmo_files.Elmo(elmo.bilm.shape).eval().bilm
    trained.load_state_dict({k.removeprefix("model.bilm."): v for k, v in state.items() if ".bilm." in k})
    ids = torch.from_numpy(characters.ids("Her aunt lost the other umbrella .".split()))[None]
    mask = torch.ones(1, ids.shape[1], dtype=torch.bool)
    with torch.inference_mode():
        torch.testing.assert_close(elmo.bilm(ids, mask), trained(ids, mask), atol=1e-5, rtol=1e-5)


def test_a_run_that_was_killed_goes_on(
    pretrain: Pretrain, pretrained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def step(module: LanguageModule, *args: Any) -> torch.Tensor:
        if module.global_step == 45:
            raise Killed
        return real(module, *args)

    real = LanguageModule.training_step
    with monkeypatch.context() as patch:
        patch.setattr(LanguageModule, "training_step", step)
        with pytest.raises(Killed):
            pretrain(tmp_path, "trainer.save_every=20")
    assert not (tmp_path / "pretrain.json").exists()
    assert pretrain(tmp_path, "trainer.save_every=20") == 0
    assert [int(row["step"]) for row in rows(tmp_path, 1) if row["train/loss"]] == [49, 59]
    told, expected = record(tmp_path), record(pretrained)
    assert told["steps"] == 60 and told["words"] == expected["words"]
    assert told["figures"] == pytest.approx(expected["figures"], rel=0.1)
    made = (tmp_path / "weights.hdf5").read_bytes()
    assert pretrain(tmp_path) == 0 and record(tmp_path)["steps"] == 60  # it is over, and stays so
    assert (tmp_path / "weights.hdf5").read_bytes() == made


def test_the_metric_is_trained_on_it_and_scores(
    pretrained: Path, tiny_prepared: Path, sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    encoder = ["encoder=elmo", *(f"encoder.{key}={pretrained / name}" for key, name in FILES.items())]
    small = ["data.pieces=512", "data.development=12", "trainer.max_steps=2", "trainer.progress=false"]
    assert main(["train", f"data.dir={tiny_prepared}", f"out={tmp_path}", *encoder, *small]) == 0
    assert yaml.safe_load((tmp_path / "checkpoint" / "config.yaml").read_text())["encoder"]["projection"] == 16
    capsys.readouterr()
    model = ["--model", str(tmp_path / "checkpoint"), "--quiet", "--only_system"]
    assert main(["score", "-t", str(sample / "system-a.txt"), *model]) == 0
    assert 0 < float(capsys.readouterr().out.split("score:")[1]) < 100


FILES = {"options": "options.json", "weights": "weights.hdf5"}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["elmo.lstm.dim=0"], "elmo.lstm.dim=0: expected a whole number of at least 1"),
        (["elmo.char_cnn.filters=[]"], "elmo.char_cnn.filters=[]: expected a list"),
        (["data.words=0"], "data.words=0: expected a whole number of at least 1"),
        (["data.development_share=1"], "data.development_share=1: expected a number from 0 to below 1"),
        (["data.development_share=0"], "give more documents"),
        (["dropout=1"], "dropout=1: expected a number from 0 to below 1"),
        (["data.english=nowhere"], "nowhere: no such folder; data.english is a folder"),
    ],
    ids=str,
)
def test_bad_settings_are_refused_in_one_line(
    pretrain: Pretrain, tmp_path: Path, overrides: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert pretrain(out, *overrides) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert message in line
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Anna left.\nTom left.", "give more documents"),
        ("Anna left.\n\nTom left.", "no word occurs 9 times: give a lower vocabulary.min_count"),
    ],
)
def test_too_little_text_is_refused(
    pretrain: Pretrain, tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "english").mkdir()
    (tmp_path / "english" / "one.txt").write_text(text, encoding="utf-8")
    assert pretrain(tmp_path / "out", f"data.english={tmp_path / 'english'}", "vocabulary.min_count=9") == 1
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_another_run_is_not_gone_on_with(
    pretrain: Pretrain, pretrained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pretrain(pretrained, "elmo.lstm.dim=33") == 1
    assert "the run there has elmo.lstm.dim=32, not elmo.lstm.dim=33" in capsys.readouterr().err


def test_the_config_is_printed_and_nothing_runs(
    pretrain: Pretrain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pretrain(tmp_path / "out", "elmo=large", "--cfg", "job") == 0
    told = yaml.safe_load(capsys.readouterr().out)
    assert told["elmo"]["char_cnn"]["n_highway"] == 2 and told["elmo"]["lstm"]["dim"] == 32
    assert not (tmp_path / "out").exists()
