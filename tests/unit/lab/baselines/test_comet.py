from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.baselines.comet import Comet, Translation

ROWS = [Translation("Sie schien.", "It shone.", "The lamp shone."), Translation("Er ging.", "He went.", "He left.")]


class Model:
    """A model of COMET that prefers short translations."""

    def __init__(self, needs_reference: bool) -> None:
        self.needs_reference = needs_reference
        self.given: list[Any] = []

    def requires_references(self) -> bool:
        return self.needs_reference

    def predict(self, rows: list[dict[str, str]], **settings: Any) -> SimpleNamespace:
        self.given.append((rows, settings))
        return SimpleNamespace(scores=[-len(row["mt"]) for row in rows], system_score=0.0)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "model.ckpt"
    path.write_bytes(b"weights")
    return path


def install(monkeypatch: pytest.MonkeyPatch, load: Any) -> None:
    monkeypatch.setitem(sys.modules, "comet", SimpleNamespace(load_from_checkpoint=load))


@pytest.mark.parametrize("needs_reference", [True, False])
def test_comet_scores_with_what_its_checkpoint_needs(
    needs_reference: bool, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model(needs_reference)
    install(monkeypatch, lambda path: model if path == str(checkpoint) else None)
    comet = Comet(checkpoint, batch_size=4, gpus=0)
    assert comet.score(ROWS) == [-9.0, -8.0]
    ((rows, settings),) = model.given
    assert rows[0].get("ref") == ("The lamp shone." if needs_reference else None)
    assert settings == {"batch_size": 4, "progress_bar": False, "gpus": 0}


def test_a_checkpoint_that_cannot_be_loaded_is_refused(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(path: str) -> None:
        raise KeyError("state_dict")

    install(monkeypatch, load)
    with pytest.raises(InputError, match=r"model.ckpt: cannot be loaded by COMET: 'state_dict'"):
        Comet(checkpoint)
    with pytest.raises(InputError, match="no such file; expected a checkpoint of COMET"):
        Comet(checkpoint.with_name("none.ckpt"))


def test_comet_must_be_installed(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(PronmetricError, match=r"`comet=` needs unbabel-comet, .*: pip install unbabel-comet"):
        Comet(checkpoint)
