"""`pronmetric checkpoint average`: the weights are the mean, calibrated anew; what is of another kind is refused."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from pronmetric import PronounMetric
from pronmetric.checkpoint import files, weights
from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.training.after.calibrate import Fit
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.average import average
from pronmetric.training.card import recipe
from pronmetric.training.examples.development import development_pairs

Checkpoints = Callable[..., Path]


@pytest.fixture
def two(tiny_checkpoint: Checkpoints, tmp_path: Path) -> tuple[Path, Path]:
    """A checkpoint, and the same with every weight one and a half times as large."""
    first, second = tiny_checkpoint(max_pieces=128), tmp_path / "second"
    shutil.copytree(first, second)
    weights = {name: 1.5 * tensor for name, tensor in load_file(first / "model.safetensors").items()}
    save_file(weights, second / "model.safetensors")
    change(second)
    return first, second


def change(folder: Path, **keys: object) -> None:
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    files.write_config(folder, {**config, **keys})


@pytest.mark.parametrize(("shares", "factor"), [([], 1.25), (["--shares", "3", "1"], 1.125)])
def test_the_weights_are_the_mean_and_the_figures_are_printed(
    two: tuple[Path, Path],
    tiny_prepared: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    shares: list[str],
    factor: float,
) -> None:
    out = tmp_path / "average"
    argv = ["checkpoint", "average", *map(str, two), "--data", str(tiny_prepared), "-o", str(out), "--full", *shares]
    assert main(argv) == 0
    before, after = load_file(two[0] / "model.safetensors"), load_file(out / "model.safetensors")
    assert before.keys() == after.keys()
    for name in before.keys() - {"head.logit.weight", "head.logit.bias"}:  # the calibration is folded into those
        torch.testing.assert_close(after[name], factor * before[name])
    training = files.load(out).config["training"]
    parts = [(part["weights"], part["share"]) for part in training["average"]]
    assert [share for _, share in parts] == ([3.0, 1.0] if shares else [1.0, 1.0])
    assert [weights for weights, _ in parts] == [files.load(folder).hash for folder in two]
    told = capsys.readouterr()
    for work in ("development", "development_study", "development pairs"):
        assert f"{work}: " in told.err
    printed = dict(line.split("\t") for line in told.out.splitlines())
    assert printed["development/noisy"] == f"{training['figures']['development/noisy']:.4f}"
    assert PronounMetric.from_pretrained(out).predict([{"text": "She left."}]).scores[0] is not None


def test_a_pair_head_is_the_mean_of_those_that_have_one(
    two: tuple[Path, Path], tiny_prepared: Path, tmp_path: Path
) -> None:
    with_head, before = tmp_path / "with", files.load(two[1])
    config = {**before.config, "pair_head": {"heads": 4, "dropout": 0.1}}
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = files.build(config)
    model.load_state_dict(before.model.state_dict(), strict=False)
    files.save(with_head, model, before.pieces, config, half=False)
    result = average([two[0], with_head], tmp_path / "average", data=tiny_prepared, half=False, seed=1)
    plain, other, after = (load_file(path / "model.safetensors") for path in (two[0], with_head, result.folder))
    own = {name for name in other if name.startswith("pair_head.")}
    assert own == other.keys() - plain.keys() and after.keys() == other.keys()
    for name in own:
        torch.testing.assert_close(after[name], other[name])
    for name in plain.keys() - {"head.logit.weight", "head.logit.bias"}:
        torch.testing.assert_close(after[name], 1.25 * plain[name])
    change(with_head, context="none")
    with pytest.raises(InputError, match="its context differs"):
        average([two[0], with_head], tmp_path / "other", data=tiny_prepared, half=False, seed=1)


def test_pair_heads_are_averaged_and_the_scores_stay(
    two: tuple[Path, Path], tiny_prepared: Path, tmp_path: Path
) -> None:
    """Three checkpoints that differ in pair heads alone: thirds of equal weights do not add up to them exactly."""
    before = files.load(two[0])
    fit = Fit(scale=0.9, bias=-0.1, rate=0.05, pronouns=40)
    config = {
        **before.config,
        "pair_head": {"heads": 4, "dropout": 0.1},
        "training": {**before.config["training"], "calibration": fit._asdict()},
    }
    folders = [tmp_path / name for name in "abc"]
    for seed, folder in enumerate(folders):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = files.build(config)
        model.load_state_dict(before.model.state_dict(), strict=False)
        files.save(folder, model, before.pieces, config, half=False)
    result = average(folders, tmp_path / "average", data=tiny_prepared, half=False, seed=1)
    *parts, after = (load_file(path / "model.safetensors") for path in (*folders, result.folder))
    for name, found in after.items():
        if name.startswith("pair_head."):
            torch.testing.assert_close(found, torch.stack([part[name] for part in parts]).mean(0))
        else:
            assert torch.equal(found, parts[0][name])
    assert result.calibration == fit


def test_how_weights_are_stored_is_no_part_of_their_kind(
    two: tuple[Path, Path], tiny_prepared: Path, tmp_path: Path
) -> None:
    encoder = files.load(two[1]).config["encoder"]
    change(two[1], encoder={**encoder, "dtype": "float32", "transformers_version": "4.0.0"})
    average(two, tmp_path / "average", data=tiny_prepared, half=False, seed=1)
    change(two[1], encoder={**encoder, "layer_norm_eps": 0.5})
    with pytest.raises(InputError, match="its encoder differs from that of the first"):
        average(two, tmp_path / "other", data=tiny_prepared, half=False, seed=1)


def test_the_figures_are_of_as_many_pairs_as_in_training(
    two: tuple[Path, Path], tiny_prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: dict[str | None, list[Mapping[str, Any]]] = {}
    score = PairScorer.columns

    def columns(self: PairScorer, rows: Any, *, context: str, label: str | None = None) -> Any:
        measured[label] = list(rows)
        return score(self, rows, context=context, label=label)

    usual = recipe.default
    monkeypatch.setattr(recipe, "default", lambda name: usual(name) | {"data.development": 2})
    monkeypatch.setattr(PairScorer, "columns", columns)
    average(two, tmp_path / "average", data=tiny_prepared, half=False, seed=1)
    noisy = development_pairs(tiny_prepared, "development", "noisy", most=2)
    assert measured["development"] == list(noisy) and len(noisy) == 2
    assert len(development_pairs(tiny_prepared, "development", "noisy", most=0)) > 2
    assert len(measured["development_study"]) == 2


def test_what_scores_in_another_way_is_refused(
    two: tuple[Path, Path], tiny_prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(two[1], context="none")
    out = tmp_path / "average"
    assert main(["checkpoint", "average", *map(str, two), "--data", str(tiny_prepared), "-o", str(out)]) == 1
    assert "its context differs from that of the first" in capsys.readouterr().err and not out.exists()


def test_heads_that_began_with_other_weights_are_refused(
    two: tuple[Path, Path], tiny_prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    third = tmp_path / "third"
    shutil.copytree(two[0], third)
    change(two[1], training={"head_seed": 1})
    change(third, training={"head_seed": 2})
    argv = [
        "checkpoint",
        "average",
        *map(str, (*two, third)),
        "--data",
        str(tiny_prepared),
        "-o",
        str(tmp_path / "average"),
    ]
    assert main(argv) == 1
    said = capsys.readouterr().err
    assert f"{third}: its head has other initial weights (head_seed=2) than the checkpoints before it (1)" in said
    change(third, training={"head_seed": 1})
    assert main(argv) == 0
    assert files.load(tmp_path / "average").config["training"]["head_seed"] == 1


def test_faults_and_wrong_flags(
    two: tuple[Path, Path], tiny_prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names, data = list(map(str, two)), ["--data", str(tiny_prepared)]
    assert main(["checkpoint", "average", *names, "--data", str(tmp_path), "-o", str(tmp_path / "new")]) == 1
    assert "expected a folder written by `pronmetric prepare`" in capsys.readouterr().err
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").touch()
    assert main(["checkpoint", "average", *names, *data, "-o", str(tmp_path / "used")]) == 1
    assert "already exists" in capsys.readouterr().err
    shares = (["1"], ["1", "-2"], ["1", "0"], ["1", "x"])
    for wrong in ([names[0], *data], *([*names, *data, "--shares", *each] for each in shares)):
        with pytest.raises(SystemExit, match="2"):
            main(["checkpoint", "average", *wrong, "-o", str(tmp_path / "new")])
    assert not (tmp_path / "new").exists()


def test_an_existing_output_is_kept(
    two: tuple[Path, Path], tiny_prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("mine")
    link.symlink_to(two[0])
    before = {path.name: path.read_bytes() for path in two[0].iterdir()}
    for output in (file, link, two[0], tiny_prepared, tmp_path):
        assert main(["checkpoint", "average", *map(str, two), "--data", str(tiny_prepared), "-o", str(output)]) == 1
        notes = capsys.readouterr().err
        assert notes.count("\n") == 1 and notes.startswith(f"pronmetric: error: {output}: ")
        with pytest.raises(InputError, match="already exists"):
            average(two, output, data=tiny_prepared, half=True, seed=1)
    assert file.read_text() == "mine" and before == {path.name: path.read_bytes() for path in two[0].iterdir()}


def test_an_average_that_breaks_off_leaves_nothing(
    two: tuple[Path, Path], tiny_prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object, path: Path, **__: object) -> None:
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(weights, "save_file", interrupted)
    before = sorted(tmp_path.iterdir())
    argv = ["checkpoint", "average", *map(str, two), "--data", str(tiny_prepared), "-o", str(tmp_path / "average")]
    assert main(argv) == 130 and sorted(tmp_path.iterdir()) == before


def test_a_full_disk_leaves_no_half_checkpoint(
    two: tuple[Path, Path],
    tiny_prepared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    out = tmp_path / "average"
    argv = ["checkpoint", "average", *map(str, two), "--data", str(tiny_prepared), "-o", str(out), "--full"]
    with monkeypatch.context() as patch:
        patch.setattr("pronmetric.training.card.checkpoint.write", full)
        assert main(argv) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"pronmetric: error: {out}: No space left on device"
    assert not list(tmp_path.glob("*average*"))
    assert main(argv) == 0
    assert (out / "README.md").read_text(encoding="utf-8").count("average") and not list(tmp_path.glob(".average*"))
