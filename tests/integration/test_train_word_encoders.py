"""`pronmetric train` with encoders of words, from a prepared folder to scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file

from pronmetric.checkpoint import files as checkpoint
from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric

Train = Callable[..., int]

SHARED = {
    "data.pieces": 512,
    "data.development": 12,
    "trainer.max_steps": 5,
    "trainer.max_epochs": 10,
    "trainer.validate_every": 5,
    "trainer.threads": 1,
    "trainer.progress": "false",
}


@pytest.fixture(scope="module")
def kinds(tiny_vectors: Path, tiny_elmo_files: tuple[Path, Path]) -> dict[str, list[str]]:
    """The overrides that name an encoder."""
    options, weights = tiny_elmo_files
    small = ["encoder=glove", "encoder.hidden=4", "encoder.width=6"]
    return {
        "random": small,
        "glove": [*small, f"encoder.vectors={tiny_vectors}", "encoder.trainable=false"],
        "elmo": ["encoder=elmo", f"encoder.options={options}", f"encoder.weights={weights}", "head.pair=false"],
    }


@pytest.fixture(scope="module")
def train(tiny_prepared: Path) -> Train:
    def run(out: Path, *overrides: str) -> int:
        given = {"data.dir": tiny_prepared, "out": out, **SHARED}
        later = {override.split("=")[0] for override in overrides}
        return main(["train", *(f"{k}={v}" for k, v in given.items() if k not in later), *overrides])

    return run


def config(out: Path) -> dict[str, Any]:
    return yaml.safe_load((out / "checkpoint" / "config.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", ["random", "glove", "elmo"])
def test_five_steps_make_a_checkpoint_that_scores(
    train: Train, kinds: dict[str, list[str]], kind: str, tmp_path: Path, sample: Path, capsys: Any
) -> None:
    out = tmp_path / "out"
    assert train(out, *kinds[kind], "head.dropout=0.0") == 0  # in bf16 where the matrices are, as by default
    told = config(out)
    assert told["encoder"]["kind"] == ("elmo" if kind == "elmo" else "glove") and told["max_pieces"] == 512
    assert told["training"]["steps"] == 5 and told["separator"] is True
    files = {"README.md", "config.yaml", "model.safetensors"} | (set() if kind == "elmo" else {"vocabulary.txt"})
    assert {path.name for path in (out / "checkpoint").iterdir()} == files
    if kind == "elmo":
        assert told["training"]["encoder"] == {"options": "options.json", "weights": "weights.hdf5"}
    else:
        assert told["encoder"]["lower"] is True and 0 < told["training"]["encoder"]["coverage"] <= 1
        assert told["encoder"]["words"] == told["training"]["encoder"]["words"]
    metric = PronounMetric.from_pretrained(out / "checkpoint", precision="32", gpus=0)
    pair = [{"text": "She lost her keys.", "context": ["Anna left."]}, {"text": "It lost its keys."}]
    assert all(score is not None and 0 < score < 1 for score in metric.predict(pair).scores)
    capsys.readouterr()
    model = ["--model", str(out / "checkpoint"), "--quiet", "--only_system"]
    assert main(["score", "-t", str(sample / "system-a.txt"), *model]) == 0
    assert 0 < float(capsys.readouterr().out.split("score:")[1]) < 100


def test_what_is_frozen_stays_and_the_rest_learns(
    train: Train, kinds: dict[str, list[str]], tmp_path: Path, tiny_elmo: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    learn = ["half=false", "trainer.precision=32", "optim.lr=0.05"]
    for kind, frozen, moved in (
        ("glove", ("vectors.",), ("marks.", "lstm.")),
        ("elmo", ("bilm.",), ("mix.",)),
    ):
        for steps in (1, 5):
            assert train(tmp_path / f"{kind}-{steps}", *kinds[kind], *learn, f"trainer.max_steps={steps}") == 0
        first, last = (load_file(tmp_path / f"{kind}-{steps}" / "checkpoint" / "model.safetensors") for steps in (1, 5))
        for name in (name.removeprefix("encoder.") for name in first if name.startswith("encoder.")):
            same = torch.equal(first[f"encoder.{name}"], last[f"encoder.{name}"])
            assert same == name.startswith(frozen) and (same or name.startswith(moved)), name
    table = last["encoder.bilm.words.embedding.weight"].numpy()
    assert (table[1:] == tiny_elmo[1]["char_embed"]).all()


def test_a_run_that_goes_on_ends_alike(train: Train, kinds: dict[str, list[str]], tmp_path: Path) -> None:
    """Its vocabulary is made anew from the same data; here the export alone was lost."""
    assert train(tmp_path, *kinds["random"], "trainer.save_every=2") == 0
    exported = tmp_path / "checkpoint"
    vocabulary, weights = (exported / "vocabulary.txt").read_bytes(), load_file(exported / "model.safetensors")
    for name in ("vocabulary.txt", "model.safetensors"):
        (exported / name).unlink()
    assert train(tmp_path, *kinds["random"], "trainer.save_every=2") == 0
    assert (exported / "vocabulary.txt").read_bytes() == vocabulary
    again = load_file(exported / "model.safetensors")
    assert list(again) == list(weights)
    for name, tensor in again.items():  # calibrated anew: its sums run in an order that threads choose
        torch.testing.assert_close(tensor, weights[name], rtol=1e-2, atol=1e-4)


def test_training_starts_from_a_checkpoint_of_its_kind(
    train: Train, tiny_checkpoint: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tiny_checkpoint(encoder="glove")
    still = [f"init={folder}", "head=logit", "optim.lr=0", "optim.head_lr=0", "half=false", "trainer.max_steps=1"]
    assert train(tmp_path / "out", *still, "encoder=glove") == 0
    found, source = (checkpoint.load(each).model.state_dict() for each in (tmp_path / "out" / "checkpoint", folder))
    assert found.keys() == source.keys() and all(torch.equal(found[key], source[key]) for key in source)
    assert (tmp_path / "out" / "checkpoint" / "vocabulary.txt").read_bytes() == (folder / "vocabulary.txt").read_bytes()
    capsys.readouterr()
    assert train(tmp_path / "other", *still, "encoder=elmo") == 1
    assert "encoder.kind: expected glove, the kind of the checkpoint init=, got elmo" in capsys.readouterr().err
    assert train(tmp_path / "none", "encoder=elmo") == 1
    assert "encoder=elmo needs encoder.options=FILE" in capsys.readouterr().err
