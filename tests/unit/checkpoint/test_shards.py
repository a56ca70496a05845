"""A checkpoint in shards with low-bit weights: it scores as what it holds, and damaged ones are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from pronmetric.checkpoint import config, files, locate, low_bit, shards
from pronmetric.errors import InputError, PronmetricError
from pronmetric.metric import PronounMetric

Checkpoints = Callable[..., Path]
MATRIX = "encoder.model.embeddings.word_embeddings.weight"
LARGE = {MATRIX, "encoder.model.embeddings.position_embeddings.weight"}  # the tiny checkpoint's matrices in few bits
RECORDS = [{"text": "She gave it to them."}, {"text": "He saw himself.", "context": ["It rained."]}]


@pytest.fixture
def rounded(tiny_checkpoint: Checkpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny checkpoint with 7 bits, in three shards."""
    monkeypatch.setattr(shards.cut, "__kwdefaults__", {"limit": 20_000})
    loaded = files.load(tiny_checkpoint())
    files.save(tmp_path / "rounded", loaded.model, loaded.pieces, loaded.config, half=True, bits=7)
    return tmp_path / "rounded"


def names(folder: Path) -> list[str]:
    return [path.name for path in shards.weight_files(folder)]


def test_shards_hold_every_tensor_and_the_index_names_them(rounded: Path) -> None:
    found = [load_file(rounded / name) for name in names(rounded)]
    count = len(found)
    assert count > 1 and names(rounded) == [f"model-{k:05}-of-{count:05}.safetensors" for k in range(1, count + 1)]
    index = json.loads((rounded / shards.INDEX).read_text(encoding="utf-8"))
    assert index["weight_map"] == {name: names(rounded)[k] for k, part in enumerate(found) for name in part}
    assert index["metadata"]["total_size"] == sum(tensor.nbytes for part in found for tensor in part.values())
    kinds = {name: tensor.dtype for part in found for name, tensor in part.items()}
    assert {name for name, kind in kinds.items() if kind == torch.int8} == LARGE
    assert {name for name in kinds if name.endswith(".scale")} == {f"{name}.scale" for name in LARGE}
    assert {kind for name, kind in kinds.items() if name not in LARGE} == {torch.float16}
    assert not (rounded / shards.WEIGHTS).exists()


def test_weights_are_those_of_before_but_for_the_rounding(rounded: Path, tiny_checkpoint: Checkpoints) -> None:
    before, after = files.load(tiny_checkpoint()), files.load(rounded)
    assert after.settings == before.settings and after.hash != before.hash
    exact, found = before.model.state_dict(), after.model.state_dict()
    assert {value.dtype for value in found.values()} == {torch.float32}
    for name, value in exact.items():
        expected = value.half().float()
        if name in LARGE:
            expected = torch.from_numpy(low_bit.values(*low_bit.rounded(value.numpy(), bits=7)))
        assert torch.equal(found[name], expected), name


def test_packed_weights_of_earlier_checkpoints_are_the_same(rounded: Path) -> None:
    before = files.load(rounded).model.state_dict()
    for name in names(rounded):
        weights = load_file(rounded / name)
        for tensor in LARGE & weights.keys():
            groups = weights[tensor].reshape(len(weights[tensor]), -1, 8).tolist()
            packed = [
                [sum(k + 64 << 7 * i for i, k in enumerate(group)).to_bytes(7, "little") for group in row]
                for row in groups
            ]
            weights[tensor] = torch.tensor([[*b"".join(row)] for row in packed], dtype=torch.uint8)
        save_file(weights, rounded / name)
    files.write_config(rounded, config.read(rounded / locate.CONFIG))
    after = files.load(rounded).model.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())


def test_it_scores_as_the_same_weights_in_one_file(rounded: Path, tmp_path: Path) -> None:
    loaded = files.load(rounded)
    files.save(tmp_path / "one", loaded.model, loaded.pieces, loaded.config, half=False)
    found, same = (
        PronounMetric.from_pretrained(tmp_path / name, precision="32", gpus=0).predict(RECORDS)
        for name in ("rounded", "one")
    )
    assert found.scores == same.scores
    assert found.signature["weights"] == loaded.hash == shards.hash_weights(rounded)


def test_saved_again_it_has_the_same_hash(rounded: Path, tmp_path: Path) -> None:
    loaded = files.load(rounded)
    assert files.save(tmp_path / "again", loaded.model, loaded.pieces, loaded.config, half=True, bits=7) == loaded.hash


def test_one_shard_has_the_hash_of_its_file(tiny_checkpoint: Checkpoints, tmp_path: Path) -> None:
    loaded = files.load(tiny_checkpoint())
    digest = files.save(tmp_path / "m", loaded.model, loaded.pieces, loaded.config, half=True, bits=6)
    assert names(tmp_path / "m") == ["model-00001-of-00001.safetensors"]
    assert digest == files.hash_file(tmp_path / "m" / names(tmp_path / "m")[0])


def test_every_shard_counts_in_the_hash(rounded: Path) -> None:
    hashes = {shards.hash_weights(rounded)}
    for name in names(rounded):
        weights = load_file(rounded / name)
        last = list(weights)[-1]
        weights[last].view(-1)[0] += 1
        save_file(weights, rounded / name, metadata={"format": "pt"})
        hashes.add(shards.hash_weights(rounded))
    assert len(hashes) == 1 + len(names(rounded))


def test_a_copy_and_a_link_hold_all_shards(rounded: Path, tmp_path: Path) -> None:
    PronounMetric.from_pretrained(rounded, gpus=0).save_pretrained(tmp_path / "copy")
    assert files.load(tmp_path / "copy").hash == shards.hash_weights(rounded)
    for name in names(rounded):
        shutil.move(rounded / name, tmp_path / name)
        (rounded / name).symlink_to(tmp_path / name)  # as the hub's cache does it
    assert locate.locate(rounded).folder == rounded and files.load(rounded).hash == shards.hash_weights(rounded)


def test_new_weights_leave_none_of_another_form(rounded: Path) -> None:
    loaded = files.load(rounded)
    files.save(rounded, loaded.model, loaded.pieces, loaded.config, half=True)
    assert names(rounded) == [shards.WEIGHTS] and not list(rounded.glob("*-of-*")) and files.load(rounded)
    files.save(rounded, loaded.model, loaded.pieces, loaded.config, half=True, bits=8)
    assert not (rounded / shards.WEIGHTS).exists() and files.load(rounded)


def test_parts_are_cut_where_the_next_does_not_fit() -> None:
    assert shards.cut({"a": 3, "b": 4, "c": 5, "d": 1, "e": 20, "f": 2}, limit=8) == [
        ["a", "b"],
        ["c", "d"],
        ["e"],
        ["f"],
    ]


def test_weights_that_have_no_scale_are_never_written(tiny_checkpoint: Checkpoints, tmp_path: Path) -> None:
    loaded = files.load(tiny_checkpoint())
    with torch.no_grad():
        loaded.model.state_dict()[MATRIX][0, 0] = 1e8
    with pytest.raises(PronmetricError, match=rf"no checkpoint is written: {MATRIX}: expected numbers below"):
        files.save(tmp_path / "new", loaded.model, loaded.pieces, loaded.config, half=True, bits=7)
    assert not (tmp_path / "new").exists()


def of_matrix(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], object]:
    """A change of the shard with the largest matrix; the index is written anew."""

    def act(folder: Path) -> None:
        parts = {name: load_file(folder / name) for name in names(folder)}
        name = next(name for name, part in parts.items() if MATRIX in part)
        change(parts[name])
        save_file(parts[name], folder / name)
        shards.write_index(folder, parts, size=0)

    return act


def reindex(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def act(folder: Path) -> None:
        content = json.loads((folder / shards.INDEX).read_text(encoding="utf-8"))
        change(content)
        (folder / shards.INDEX).write_text(json.dumps(content), encoding="utf-8")

    return act


def write_index(content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / shards.INDEX).write_bytes(content)


def rename(name: str) -> Callable[[Path], object]:
    """The index names this file in the place of the first shard."""
    return reindex(lambda c: c["weight_map"].update({tensor: name for tensor in [*c["weight_map"]][:1]}))


def swap(content: dict[str, Any]) -> None:
    """The index names the last shard for a tensor of the first."""
    first = min(content["weight_map"], key=content["weight_map"].__getitem__)
    content["weight_map"][first] = max(content["weight_map"].values())


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a shard is missing": (lambda f: (f / names(f)[1]).unlink(), "a shard of the weights is missing; download"),
    "a shard is cut off": (
        lambda f: (f / names(f)[1]).write_bytes((f / names(f)[1]).read_bytes()[:-9]),
        "broken checkpoint weights",
    ),
    "a shard is a device": (
        lambda f: ((f / names(f)[1]).unlink(), (f / "model-00002-of-00003.safetensors").symlink_to("/dev/zero")),
        "a shard of the weights is missing; download",
    ),
    "both forms": (
        lambda f: (f / shards.WEIGHTS).write_bytes(b""),
        "expected model.safetensors or model.safetensors.index",
    ),
    "no JSON": (write_index(b"{"), "broken index of shards"),
    "no UTF-8": (write_index(b'{"\xff": 1}'), "broken index of shards"),
    "nested": (write_index(b"[" * 100_000), "broken index of shards (nested too deep"),
    "a list": (write_index(b"[1]"), "broken index of shards (expected a mapping weight_map from tensors to shards"),
    "no map": (write_index(b"{}"), "broken index of shards (expected a mapping weight_map"),
    "an empty map": (write_index(b'{"weight_map": {}}'), "broken index of shards (expected a mapping weight_map"),
    "a number": (write_index(b'{"weight_map": {"a": 1}}'), "broken index of shards (expected a mapping weight_map"),
    "too large": (write_index(b" " * (2**24 + 1)), "broken index of shards (expected at most 16,777,216 bytes"),
    "a path": (rename("../../etc/passwd"), "expected shards named as model-00001-of-00002.safetensors, got '../../etc"),
    "a pickle": (rename("pytorch_model.bin"), "expected shards named as model-00001-of-00002.safetensors"),
    "other shards": (rename("model-00009-of-00009.safetensors"), "broken index of shards (expected the 00003 shards"),
    "another shard": (reindex(swap), "broken checkpoint weights (the tensor"),
    "a tensor of no shard": (
        reindex(lambda c: c["weight_map"].update(more=min(c["weight_map"].values()))),
        "broken checkpoint weights (the tensor more: expected in model-00001-of-00003.safetensors, found in no file)",
    ),
    "a tensor that the index lacks": (
        reindex(lambda c: c["weight_map"].pop(MATRIX)),
        f"broken checkpoint weights (the tensor {MATRIX}: expected in no file",
    ),
    "shorter rows": (
        of_matrix(lambda w: w.update({MATRIX: w[MATRIX][:, :5].contiguous()})),
        f"{MATRIX}: expected the shape (300, 32) of config.yaml, got (300, 5)",
    ),
    "fewer rows": (
        of_matrix(lambda w: w.update({MATRIX: w[MATRIX][1:].contiguous()})),
        f"{MATRIX}: expected the shape (300, 32) of config.yaml, got (299, 32)",
    ),
    "packed rows of other bits": (
        of_matrix(lambda w: w.update({MATRIX: torch.zeros(300, 5, dtype=torch.uint8)})),
        f"{MATRIX}: expected rows of 24, 28, 32 bytes (32 integers of 6, 7 or 8 bits), got 5",
    ),
    "fewer packed rows": (
        of_matrix(lambda w: w.update({MATRIX: torch.zeros(299, 28, dtype=torch.uint8)})),
        f"{MATRIX}: expected the 300 rows of config.yaml, got 299",
    ),
    "no scales": (of_matrix(lambda w: w.pop(f"{MATRIX}.scale")), f"the tensor {MATRIX}.scale is missing"),
    "fewer scales": (
        of_matrix(lambda w: w.update({f"{MATRIX}.scale": w[f"{MATRIX}.scale"][1:].contiguous()})),
        f"{MATRIX}.scale: expected 300 numbers of type F16, got F16 (299,)",
    ),
    "scales of another type": (
        of_matrix(lambda w: w.update({f"{MATRIX}.scale": w[f"{MATRIX}.scale"].float()})),
        f"{MATRIX}.scale: expected 300 numbers of type F16, got F32 (300,)",
    ),
    "a scale that is no number": (
        of_matrix(lambda w: w[f"{MATRIX}.scale"][:2].fill_(torch.nan)),
        f"{MATRIX}: expected finite numbers, got 64 that are not",
    ),
    "scales without a matrix": (
        of_matrix(lambda w: w.update({"head.scale": torch.ones(2)})),
        "config.yaml has no tensor head.scale",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_refused(rounded: Path, damage: str) -> None:
    act, message = DAMAGES[damage]
    assert len(names(rounded)) == 3
    act(rounded)
    with pytest.raises(InputError) as error:
        files.load(rounded)
    assert message in str(error.value) and "\n" not in str(error.value) and str(error.value).startswith(str(rounded))


def test_sizes_that_the_shards_do_not_have_take_no_memory(rounded: Path) -> None:
    """An embedding of 4 TB in the config."""
    config = files.checkpoint_config.read(rounded / files.CONFIG)
    config["encoder"] = {**config["encoder"], "hidden_size": 2**20, "intermediate_size": 2**20}
    files.write_config(rounded, config)
    with pytest.raises(InputError, match=r"expected the shape \(.*1048576"):
        files.load(rounded)
