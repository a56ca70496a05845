"""`pronmetric checkpoint export`: ONNX Runtime gives the scores of PyTorch, whatever the sizes of a batch."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pronmetric.cli.main import main
from pronmetric.data.collate import Example
from pronmetric.installation import pip_install
from pronmetric.pronouns.finder import find

Checkpoints = Callable[..., Path]
TEXTS = (
    ("Maria ran the library.", "On Friday they locked her doors."),
    ("", "She left."),
    ("It rained.", "We saw that they had lost it, and themselves, in the yard of the house."),
)


def examples() -> list[Example]:
    return [Example(context, text, [(p.start, p.end) for p in find(text)]) for context, text in TEXTS]


def test_fewer_bits_keep_everything_but_the_weights(
    tiny_checkpoint: Checkpoints, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pronmetric.checkpoint import files

    model = shutil.copytree(tiny_checkpoint(encoder="mpnet"), tmp_path / "model")
    (model / "README.md").write_text("---\nlicense: a\n---\n\n# A title\n\nIts text.\n", encoding="utf-8")
    assert main(["checkpoint", "export", str(model), "--bits", "7", "-o", str(tmp_path / "out")]) == 0
    before, after = files.load(model), files.load(tmp_path / "out")
    told = capsys.readouterr().err
    assert f"weights {after.hash} of 7 bits" in told and "--data computes them anew" in told
    assert after.settings == before.settings and after.hash != before.hash
    record = {"bits": 7, "weights": before.hash, "calibrated": False}
    assert after.config["training"]["rounded"] == record
    assert {k: v for k, v in after.config.items() if k not in ("training", "weights")} == {
        k: v for k, v in before.config.items() if k not in ("training", "weights")
    }
    assert after.config["weights"] == after.hash
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlicense: a\n---\n\n# A title\n\n> Weights") and card.endswith("\n\nIts text.\n")
    assert f"`{after.hash}`: those of `{before.hash}`" in card


def test_with_data_the_copy_is_calibrated(
    tiny_checkpoint: Checkpoints, tiny_prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pronmetric.checkpoint import files
    from pronmetric.training.after import rounding
    from pronmetric.training.card import recipe

    argv = ["checkpoint", "export", str(tiny_checkpoint(max_pieces=128)), "--bits", "8", "--data", str(tiny_prepared)]
    assert main([*argv, "-o", str(tmp_path / "out")]) == 0
    assert "--data" not in capsys.readouterr().err
    found = files.load(tmp_path / "out")
    assert found.config["decision"] in found.config["training"]["decision"] and found.config["tie"] >= 0
    assert f"Weights `{found.hash}`" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert recipe.commands(found.config["training"], {})[-1] == (
        "pronmetric checkpoint export RUN --bits 8 --data PREPARED -o RUN.rounded"
    )
    fits = rounding.Fit(2.0, 1.0, 0.1, 50), rounding.Fit(3.0, -1.0, 0.2, 60)
    assert rounding._after(*fits)[:4] == (6.0, 2.0, 0.2, 60) and rounding._after(None, fits[1]) == fits[1]


@pytest.mark.parametrize("more", [[], ["--onnx", "--bits", "7"], ["--bits", "5"], ["--onnx", "--data", "d"]])
def test_one_kind_of_export_is_wanted(more: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["checkpoint", "export", "default", *more, "-o", str(tmp_path / "out")])


def exported(model: Path, target: Path) -> Any:
    """A session with the exported file."""
    for name in ("onnx", "onnxscript"):
        pytest.importorskip(name)
    runtime = pytest.importorskip("onnxruntime")
    assert main(["checkpoint", "export", "--onnx", str(model), "-o", str(target), "--quiet"]) == 0
    return runtime.InferenceSession(target)


@pytest.mark.parametrize(("head", "encoder"), [("logit", "huggingface"), ("paper", "huggingface"), ("logit", "mpnet")])
def test_onnx_runtime_gives_the_scores_of_the_model(
    head: str, encoder: str, tiny_checkpoint: Checkpoints, tmp_path: Path
) -> None:
    import torch

    from pronmetric.checkpoint import files
    from pronmetric.metric import PronounMetric

    folder = tiny_checkpoint(head=head, encoder=encoder)
    session = exported(folder, tmp_path / "m.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]
    loaded = files.load(folder)
    signature = session.get_modelmeta().custom_metadata_map["pronmetric"]
    assert f"weights:{loaded.hash}" in signature and f"settings:{loaded.settings}" in signature
    every = examples()
    for rows in (every, every[1:2], every[:2]):
        batch = loaded.collator.pad(loaded.collator.encode(rows))
        with torch.inference_mode():
            expected = loaded.model(batch)
        scores = expected.scores.sigmoid() * batch.pronoun_mask if head == "logit" else expected.scores
        found = dict(zip(("scores", "segment"), session.run(["scores", "segment"], batch.arrays()), strict=True))
        np.testing.assert_allclose(found["scores"], scores.numpy(), atol=1e-5)
        np.testing.assert_allclose(found["segment"], expected.segment.numpy(), atol=1e-5)
    metric = PronounMetric.from_pretrained(folder, gpus=0)
    records = [{"text": text, "context": [context] if context else []} for context, text in TEXTS]
    (segments,) = session.run(["segment"], loaded.collator.pad(loaded.collator.encode(every)).arrays())
    assert [s.score for s in metric.predict(records).segments] == pytest.approx(segments.tolist(), abs=1e-5)


def test_a_missing_package_is_named_before_any_work(
    tiny_checkpoint: Checkpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    target = tmp_path / "m.onnx"
    assert main(["checkpoint", "export", "--onnx", str(tiny_checkpoint()), "-o", str(target)]) == 1
    assert f"an ONNX file needs onnx, which is not installed: {pip_install('onnx', 'onnx')}" in capsys.readouterr().err
    assert not target.exists()


def test_other_encoders_are_refused(
    tiny_checkpoint: Checkpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    model = tiny_checkpoint(encoder="glove")
    assert main(["checkpoint", "export", "--onnx", str(model), "-o", str(tmp_path / "m.onnx")]) == 1
    assert "expected a checkpoint with a Hugging Face encoder, got encoder 'glove'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_architecture_that_cannot_be_exported_is_named(
    tiny_checkpoint: Checkpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    def fail(*_: object, **__: object) -> None:
        raise torch.onnx.OnnxExporterError("no such operator\ndetails")

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(torch.onnx, "export", fail)
    assert main(["checkpoint", "export", "--onnx", str(tiny_checkpoint()), "-o", str(tmp_path / "m.onnx")]) == 1
    told = "an encoder of type 'bert' cannot be exported by this PyTorch: no such operator"
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
