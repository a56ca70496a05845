from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from pronmetric.checkpoint import files as checkpoint
from pronmetric.data.collate import Collator, Example
from pronmetric.errors import InputError
from pronmetric.nn.encoders.elmo.encoder import Elmo
from pronmetric.nn.encoders.glove.encoder import BiLSTM
from pronmetric.nn.head import LogitHead, PaperHead

Checkpoints = Callable[..., Path]


@pytest.fixture
def folder(tiny_checkpoint: Checkpoints, tmp_path: Path) -> Path:
    """A copy to damage."""
    return shutil.copytree(tiny_checkpoint(), tmp_path / "copy")


def test_a_checkpoint_comes_back_as_it_was_saved(tiny_checkpoint: Checkpoints, tmp_path: Path) -> None:
    first = checkpoint.load(tiny_checkpoint())
    digest = checkpoint.save(tmp_path / "again", first.model, first.pieces, first.config, half=False)
    again = checkpoint.load(tmp_path / "again")
    assert first.hash == digest == again.hash and len(digest) == 8
    assert again.config == first.config
    for name, value in first.model.state_dict().items():
        assert torch.equal(again.model.state_dict()[name], value)
    (before,), (after,) = (each.pieces(["She gave it to them."]) for each in (first, again))
    assert np.array_equal(before.ids, after.ids) and np.array_equal(before.offsets, after.offsets)


def test_it_is_loaded_in_full_precision_for_evaluation(tiny_checkpoint: Checkpoints) -> None:
    loaded = checkpoint.load(tiny_checkpoint())
    assert not any(module.training for module in loaded.model.modules())
    assert {p.dtype for p in loaded.model.parameters()} == {torch.float32}
    assert isinstance(loaded.collator, Collator) and loaded.collator.max_pieces == 64


def test_heads_are_built_from_the_config(tiny_checkpoint: Checkpoints) -> None:
    logit, paper = (checkpoint.load(tiny_checkpoint(head=head)).model.head for head in ("logit", "paper"))
    assert isinstance(logit, LogitHead) and logit.dropout.p == 0.1
    assert isinstance(paper, PaperHead) and len(paper.w) == 4


def test_half_precision_takes_half_the_room_and_costs_little(tiny_checkpoint: Checkpoints, tmp_path: Path) -> None:
    first = checkpoint.load(tiny_checkpoint())
    checkpoint.save(tmp_path / "half", first.model, first.pieces, first.config, half=True)
    full = tiny_checkpoint() / checkpoint.WEIGHTS
    assert (tmp_path / "half" / checkpoint.WEIGHTS).stat().st_size < 0.6 * full.stat().st_size
    half = checkpoint.load(tmp_path / "half")
    assert {p.dtype for p in half.model.parameters()} == {torch.float32} and half.hash != first.hash
    batch = first.collator.pad(first.collator.encode([Example("", "She gave it.", ((0, 3), (9, 11)))]))
    with torch.no_grad():
        torch.testing.assert_close(half.model(batch).scores, first.model(batch).scores, atol=0.02, rtol=0.02)


@pytest.mark.parametrize(("encoder", "kind", "files"), [("glove", BiLSTM, {"vocabulary.txt"}), ("elmo", Elmo, set())])
def test_encoders_of_words_come_back(
    tiny_checkpoint: Checkpoints, tmp_path: Path, encoder: str, kind: type, files: set[str]
) -> None:
    first = checkpoint.load(tiny_checkpoint(encoder=encoder))
    assert isinstance(first.model.encoder, kind) and checkpoint.encoder_kind(first.config) == encoder
    checkpoint.save(tmp_path, first.model, first.pieces, first.config, half=False)
    assert {path.name for path in tmp_path.iterdir()} == {checkpoint.CONFIG, checkpoint.WEIGHTS, *files}
    again = checkpoint.load(tmp_path)
    assert (again.hash, again.config) == (first.hash, first.config)
    (before,), (after,) = (each.pieces(["She gave Zyx to them."]) for each in (first, again))
    assert np.array_equal(before.ids, after.ids) and np.array_equal(before.offsets, after.offsets)
    assert first.model.encoder.config.items() <= first.config["encoder"].items()
    config = {**first.model.encoder.config, **first.pieces.config}
    checkpoint.write_config(tmp_path, {**first.config, "encoder": config})  # as a run writes it
    assert checkpoint.load(tmp_path).config == first.config


def test_a_vocabulary_that_is_another_is_refused(tiny_checkpoint: Checkpoints, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_checkpoint(encoder="glove"), tmp_path / "copy")
    vocabulary = folder / "vocabulary.txt"
    words = vocabulary.read_text(encoding="utf-8")
    for content, said in (
        (f"{words}more\n", "words in its vocabulary, got"),
        (words + words, "expected distinct words"),
    ):
        vocabulary.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=f"broken checkpoint tokenizer .*{said}"):
            checkpoint.load(folder)
    vocabulary.unlink()
    with pytest.raises(InputError, match=r"not a checkpoint: expected vocabulary\.txt in it"):
        checkpoint.load(folder)


def test_nothing_in_a_checkpoint_can_be_unpickled(tiny_checkpoint: Checkpoints) -> None:
    assert {p.suffix for p in tiny_checkpoint().iterdir()} <= {".yaml", ".json", ".txt", ".safetensors"}


def rewrite(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    change(config)
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def shrink(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])


def rename_a_weight(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["other"] = weights.pop("head.logit.bias")
    save_file(weights, folder / "model.safetensors")


DAMAGES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "no folder": (shutil.rmtree, "", "not a checkpoint: expected config.yaml in it"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "", "expected model.safetensors in it"),
    "no YAML": (lambda f: (f / "config.yaml").write_text("a: [1"), "config.yaml", "broken checkpoint config"),
    "no UTF-8": (lambda f: (f / "config.yaml").write_bytes(b"a: \xff"), "config.yaml", "broken checkpoint config"),
    "a list": (lambda f: (f / "config.yaml").write_text("[1, 2]"), "config.yaml", "expected a mapping of keys"),
    "empty": (lambda f: (f / "config.yaml").write_text(""), "config.yaml", "expected a mapping of keys"),
    "another format": (
        lambda f: rewrite(f, lambda c: c.update(format=2)),
        "config.yaml",
        "expected checkpoint format 1, got 2",
    ),
    "a key is missing": (
        lambda f: rewrite(f, lambda c: c.pop("max_pieces")),
        "config.yaml",
        "max_pieces is missing: expected a whole number from 1 to 1048576",
    ),
    "no such encoder": (
        lambda f: rewrite(f, lambda c: c["encoder"].update(model_type="nonsense")),
        "config.yaml",
        "broken checkpoint config",
    ),
    "no such kind of encoder": (
        lambda f: rewrite(f, lambda c: c["encoder"].update(kind="nonsense")),
        "config.yaml",
        "encoder.kind=nonsense: expected huggingface, glove or elmo",
    ),
    "no architecture": (
        lambda f: rewrite(f, lambda c: c["encoder"].update(num_attention_heads=5)),
        "config.yaml",
        "broken checkpoint config",
    ),
    "an encoder's word": (
        lambda f: rewrite(f, lambda c: c["encoder"].update(hidden_size="wide")),
        "config.yaml",
        "broken checkpoint config",
    ),
    "no such head": (
        lambda f: rewrite(f, lambda c: c["head"].update(kind="neck")),
        "config.yaml",
        "head.kind=neck: expected logit, paper or average",
    ),
    "no such word state": (
        lambda f: rewrite(f, lambda c: c.update(word_state="last")),
        "config.yaml",
        "word_state=last: expected mean or first",
    ),
    "weights of another width": (
        lambda f: rewrite(f, lambda c: c["encoder"].update(hidden_size=64)),
        "model.safetensors",
        "broken checkpoint weights",
    ),
    "weights of another head": (
        lambda f: rewrite(f, lambda c: (c["head"].update(kind="paper"), c.update(segment="weighted"))),
        "model.safetensors",
        "broken checkpoint weights",
    ),
    "a weight of another name": (rename_a_weight, "model.safetensors", "broken checkpoint weights"),
    "weights cut off": (shrink, "model.safetensors", "broken checkpoint weights"),
    "empty weights": (
        lambda f: (f / "model.safetensors").write_bytes(b""),
        "model.safetensors",
        "broken checkpoint weights",
    ),
    "no tokenizer": (lambda f: [p.unlink() for p in f.glob("token*")], "", "expected tokenizer.json in it"),
    "a broken tokenizer": (lambda f: (f / "tokenizer.json").write_text("{}"), "", "broken checkpoint tokenizer"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_an_input_error(folder: Path, damage: str) -> None:
    act, file, message = DAMAGES[damage]
    act(folder)
    with pytest.raises(InputError) as error:
        checkpoint.load(folder)
    assert message in str(error.value) and "\n" not in str(error.value)
    assert str(error.value).startswith(f"{folder / file if file else folder}: ")


def test_a_pair_head_is_saved_and_loaded(tiny_checkpoint: Callable[..., Path], tmp_path: Path) -> None:
    """It changes no score of the other head, and the hash of the settings names it."""
    before = checkpoint.load(tiny_checkpoint())
    config = {**before.config, "pair_head": {"heads": 4, "dropout": 0.1}}
    torch.manual_seed(3)
    model = checkpoint.build(config)
    model.load_state_dict(before.model.state_dict(), strict=False)
    checkpoint.save(tmp_path / "two", model, before.pieces, config, half=False)
    found = checkpoint.load(tmp_path / "two")
    batch = found.collator.pad(found.collator.encode([Example("It rained.", "She left her.", [(0, 3), (9, 12)])]))
    with torch.inference_mode():
        one, two, saved = before.model(batch), found.model(batch), model.eval()(batch)
    assert torch.equal(one.scores, two.scores) and one.preferences is None
    assert torch.equal(two.preferences, saved.preferences) and (two.preferences != 0).all()
    assert found.settings != before.settings


def test_a_record_of_training_with_settings_that_are_gone_is_ignored(
    tiny_checkpoint: Checkpoints, folder: Path
) -> None:
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    config["training"] = {"overrides": ["data.soft=soft", "objective.exchange.share=0.2"], "soft_labels": {"slots": 9}}
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    old, new = (checkpoint.load(each) for each in (folder, tiny_checkpoint()))
    assert old.config["training"] == config["training"] and (old.hash, old.settings) == (new.hash, new.settings)
