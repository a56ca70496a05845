"""What loading refuses in a checkpoint's folder, what its two hashes cover, and that nothing in it is run."""

from __future__ import annotations

import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file
from torch.nn.modules.module import register_module_parameter_registration_hook

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import files, locate
from pronmetric.checkpoint.config import DECISION, PAIR_HEAD, TIES
from pronmetric.checkpoint.model_config import KEYS, Model
from pronmetric.checkpoint.people import PEOPLE
from pronmetric.errors import InputError, PronmetricError
from pronmetric.pronouns.finder import FORMS
from pronmetric.pronouns.languages import ENGLISH

Checkpoints = Callable[..., Path]
Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def folder(tiny_checkpoint: Checkpoints, tmp_path: Path) -> Path:
    """A copy to damage."""
    return shutil.copytree(tiny_checkpoint(), tmp_path / "copy")


def rewrite(folder: Path, change: Change) -> None:
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    change(config)
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def reweigh(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors")


def test_weights_of_the_same_shape_but_other_bytes(folder: Path) -> None:
    before = files.load(folder)
    assert before.config["weights"] == before.hash

    def swap(weights: dict[str, torch.Tensor]) -> None:
        one, other = (name for name in weights if name.endswith("attention.self.query.weight"))
        weights[one], weights[other] = weights[other], weights[one]

    reweigh(folder, swap)
    with pytest.raises(
        InputError, match=f"broken checkpoint weights .their hash is [0-9a-f]+, that of .* {before.hash}"
    ):
        files.load(folder)
    rewrite(folder, lambda config: config.pop("weights"))  # as in checkpoints of before
    after = files.load(folder)
    assert after.hash != before.hash and after.settings == before.settings
    rewrite(folder, lambda config: config.update(weights="x"))
    with pytest.raises(InputError, match="weights=x: expected"):
        files.load(folder)


def test_forms_of_the_table_that_a_checkpoint_does_not_know(folder: Path) -> None:
    config = checkpoint_config.read(folder / "config.yaml")
    assert checkpoint_config.unscored_forms(config) == ()
    fewer = [form for form in config["pronouns"] if form not in ("she", "itself")]
    assert checkpoint_config.unscored_forms({**config, "pronouns": fewer}) == ("she", "itself")
    paper = list(ENGLISH.inventory("paper"))
    assert checkpoint_config.unscored_forms({**config, "pronouns": paper}) == (), "chosen in training"


def retokenize(folder: Path, change: Change) -> None:
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    change(tokenizer)
    path.write_text(json.dumps(tokenizer), encoding="utf-8")


def more_layers(key: str) -> Change:
    return lambda c: c["encoder"].update({key: 1_000_000})


CONFIGS: dict[str, tuple[Change, str]] = {
    "segment": (lambda c: c.update(segment="bogus"), "segment=bogus: expected mean or weighted; "),
    "segment of another head": (
        lambda c: c.update(segment="weighted"),
        "segment=weighted: expected mean with head logit; ",
    ),
    "no pronouns": (lambda c: c.update(pronouns=None), "pronouns=null: expected a list, each item text; "),
    "an empty list": (lambda c: c.update(pronouns=[]), "pronouns=[]: expected a list, each item text; "),
    "no pronoun": (lambda c: c.update(pronouns=["foo"]), "pronouns: expected forms of the inventory"),
    "a pronoun twice": (
        lambda c: c.update(pronouns=["he", "she", "he"]),
        "pronouns: expected each form once, got he; ",
    ),
    "a list of lists": (lambda c: c.update(pronouns=[["he"]]), "pronouns[0]=['he']: expected text; "),
    "layers": (lambda c: c["encoder"].update(num_hidden_layers=1_000_000), "encoder.num_hidden_layers"),
    "more layers": (lambda c: c["encoder"].update(num_hidden_layers=10**12), "encoder.num_hidden_layers: expected at"),
    "a vocabulary": (lambda c: c["encoder"].update(vocab_size=10**9), "encoder.vocab_size: expected at most 1,048,576"),
    "labels": (lambda c: c["encoder"].update(num_labels=10**9), "encoder.num_labels: expected at most 1,048,576"),
    "NaN": (lambda c: c["encoder"].update(layer_norm_eps=float("nan")), "encoder.layer_norm_eps: expected a finite"),
    "slots": (
        lambda c: c["head"].update(slots=10**12),
        "head.slots=1000000000000: expected a whole number from 0 to 1048576; ",
    ),
    "dropout": (lambda c: c["head"].update(dropout=2), "head.dropout=2: expected a number from 0 to below 1; "),
    "a head's key": (
        lambda c: c["head"].update(dropuot=0),
        "unknown key 'head.dropuot': expected the keys kind, dropout, slots; ",
    ),
    "max_pieces": (lambda c: c.update(max_pieces=-3), "max_pieces=-3: expected a whole number from 1 to 1048576; "),
    "a word for a number": (
        lambda c: c.update(max_pieces="many"),
        "max_pieces=many: expected a whole number from 1 to 1048576; ",
    ),
    "separator": (lambda c: c.update(separator="maybe"), "separator=maybe: expected true or false; "),
    "context": (lambda c: c.update(context="some"), "context=some: expected none, respective or common; "),
    "context_size": (
        lambda c: c.update(context_size=-1),
        "context_size=-1: expected a whole number from 0 to 1048576; ",
    ),
    "tie": (lambda c: c.update(tie=-0.5), "tie=-0.5: expected a number of at least 0 or null; "),
    "training": (lambda c: c.update(training=[1]), "training=[1]: expected {NAME: VALUE, ...}; "),
    "encoder": (lambda c: c.update(encoder="bert"), "encoder=bert: expected the keys kind; "),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_value_that_no_setting_has_is_refused_at_once(folder: Path, name: str) -> None:
    change, message = CONFIGS[name]
    rewrite(folder, change)
    with pytest.raises(InputError) as error:
        files.load(folder)
    assert str(error.value).startswith(f"{folder / 'config.yaml'}: {message}") and "\n" not in str(error.value)
    assert "download the checkpoint again" in str(error.value)


@pytest.mark.parametrize(("encoder", "key"), [("glove", "layers"), ("elmo", "layers"), ("elmo", "highway")])
def test_a_million_layers_are_never_built(tiny_checkpoint: Checkpoints, tmp_path: Path, encoder: str, key: str) -> None:
    folder = shutil.copytree(tiny_checkpoint(encoder=encoder), tmp_path / "copy")
    rewrite(folder, more_layers(key))
    made: list[str] = []
    counting = register_module_parameter_registration_hook(lambda module, name, parameter: made.append(name))
    try:
        with pytest.raises(InputError, match=rf"encoder\.{key}: expected an architecture of \d+ tensors"):
            files.load(folder)
    finally:
        counting.remove()
    assert 0 < len(made) < 1000  # parameters; a million layers have millions


def test_sizes_that_the_weights_do_not_have_take_no_memory(folder: Path) -> None:
    size = 2**20  # of each weight of the encoder 4 TB
    rewrite(folder, lambda c: c["encoder"].update(hidden_size=size, intermediate_size=size))
    with pytest.raises(
        InputError, match=r"model\.safetensors: broken checkpoint weights .*expected the shape \(.*1048576"
    ):
        files.load(folder)


def test_aliases_that_grow_without_end_are_refused(folder: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    config = (folder / "config.yaml").read_text(encoding="utf-8")
    for more, message in (("\n".join(lines), "expected at most 1,048,576 values"), ("a: &a [*a]", "a recursive alias")):
        (folder / "config.yaml").write_text(f"{config}\n{more}\n", encoding="utf-8")
        with pytest.raises(InputError, match=message):
            files.load(folder)
    (folder / "config.yaml").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(InputError, match="broken checkpoint config"):
        files.load(folder)


WEIGHTS: dict[str, tuple[Callable[[dict[str, torch.Tensor]], object], str]] = {
    "NaN": (lambda w: w["head.logit.bias"].fill_(torch.nan), "head.logit.bias: expected finite numbers, got 1"),
    "infinite": (
        lambda w: w["head.key.weight"][0].fill_(torch.inf),
        "head.key.weight: expected finite numbers, got 32",
    ),
    "missing": (lambda w: w.pop("head.logit.bias"), "the tensor head.logit.bias is missing"),
    "surplus": (lambda w: w.update(more=torch.zeros(1)), "config.yaml has no tensor more"),
    "another shape": (
        lambda w: w.update({"head.logit.bias": torch.zeros(2)}),
        "head.logit.bias: expected the shape (1,)",
    ),
    "whole numbers": (
        lambda w: w.update({"head.logit.bias": torch.zeros(1, dtype=torch.int64)}),
        "head.logit.bias: expected numbers of type torch.float32, got torch.int64",
    ),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_that_do_not_fit_are_refused(folder: Path, name: str) -> None:
    change, message = WEIGHTS[name]
    reweigh(folder, change)
    with pytest.raises(InputError) as error:
        files.load(folder)
    assert str(error.value).startswith(f"{folder / 'model.safetensors'}: broken checkpoint weights ({message}")


def test_a_header_that_promises_too_much_is_refused(folder: Path) -> None:
    header = json.dumps({"x": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}).encode()
    for content in (struct.pack("<Q", len(header)) + header, struct.pack("<Q", 2**60) + b"{}"):
        (folder / "model.safetensors").write_bytes(content)
        with pytest.raises(InputError, match="broken checkpoint weights"):
            files.load(folder)


def test_a_folder_without_its_tokenizer_is_refused(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"not a checkpoint: expected tokenizer\.json in it"):
        files.load(folder)


def test_a_vocabulary_that_does_not_fit_the_encoder_is_refused(folder: Path) -> None:
    number = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))["encoder"]["vocab_size"]
    whole = (folder / "tokenizer.json").read_text(encoding="utf-8")
    retokenize(folder, lambda t: t["model"]["vocab"].update(surplus=number))
    with pytest.raises(
        InputError, match=rf"broken checkpoint tokenizer \(expected {number} pieces .*ids up to {number}\)"
    ):
        files.load(folder)
    (folder / "tokenizer.json").write_text(whole, encoding="utf-8")
    rewrite(folder, lambda c: c["encoder"].update(pieces=number))
    files.load(folder)
    retokenize(folder, lambda t: t["model"]["vocab"].popitem())
    with pytest.raises(InputError, match=rf"expected {number} pieces .*got {number - 1}"):
        files.load(folder)


SCORED: dict[str, Callable[[Path], object]] = {
    "separator": lambda f: rewrite(f, lambda c: c.update(separator=not c["separator"])),
    "word_state": lambda f: rewrite(f, lambda c: c.update(word_state="first")),
    "max_pieces": lambda f: rewrite(f, lambda c: c.update(max_pieces=32)),
    "pronouns": lambda f: rewrite(f, lambda c: c["pronouns"].remove("theirs")),
    "the encoder": lambda f: rewrite(f, lambda c: c["encoder"].update(hidden_act="relu")),
    "the encoder's sizes": lambda f: rewrite(f, lambda c: c["encoder"].update(num_attention_heads=2)),
    "the tokenizer": lambda f: retokenize(f, lambda t: t["normalizer"].update(lowercase=False)),
    "the tokenizer's config": lambda f: (f / "tokenizer_config.json").write_text(
        (f / "tokenizer_config.json").read_text().replace('"sep_token": "[SEP]"', '"sep_token": "[MASK]"')
    ),
}


@pytest.mark.parametrize("name", SCORED)
def test_what_changes_a_score_changes_the_hash_of_the_settings(folder: Path, name: str) -> None:
    before = files.load(folder)
    SCORED[name](folder)
    after = files.load(folder)
    assert len(after.settings) == 8 and after.settings != before.settings
    assert after.hash == before.hash


def test_what_changes_no_score_leaves_it(folder: Path) -> None:
    before = files.load(folder)

    def change(c: dict[str, Any]) -> None:
        c["encoder"] = dict(reversed(c["encoder"].items())) | {"transformers_version": "9", "hidden_dropout_prob": 0.3}
        c["head"].update(dropout=0.4, slots=7, correction=False)
        c["pronouns"].reverse()
        c.update(training={"seed": 4}, tie=0.3)

    rewrite(folder, change)
    retokenize(folder, lambda t: t.update(dict(reversed(t.items()))))
    assert files.load(folder).settings == before.settings


def test_saved_again_it_has_the_same_hashes(tiny_checkpoint: Checkpoints, tmp_path: Path) -> None:
    for encoder in ("huggingface", "glove", "elmo"):
        first = files.load(tiny_checkpoint(encoder=encoder))
        files.save(tmp_path / encoder, first.model, first.pieces, first.config, half=False)
        again = files.load(tmp_path / encoder)
        assert (again.hash, again.settings) == (first.hash, first.settings)


def test_a_slot_counts_where_the_head_has_some(tiny_checkpoint: Checkpoints) -> None:
    config = files.load(tiny_checkpoint(head="paper")).config
    assert Model.read(config).of_scores()["head"] == {"kind": "paper", "slots": 4}


def test_a_folder_of_before_loads_with_the_values_of_before(folder: Path) -> None:
    now = files.load(folder)

    def older(c: dict[str, Any]) -> None:
        del c["context_size"]
        c["head"]["correction"] = False

    rewrite(folder, older)
    then = files.load(folder)
    assert then.config["context_size"] == 2 and then.settings == now.settings


@pytest.mark.parametrize("name", ["base", "small"])
def test_a_shipped_checkpoint_has_no_dead_key(name: str) -> None:
    config = yaml.safe_load((locate.locate(name).folder / "config.yaml").read_text(encoding="utf-8"))
    assert config["head"].keys() == {"kind", "dropout", "slots"}
    assert set(config) == {*KEYS, "format", "tie", "training", files.WEIGHTS_HASH, PAIR_HEAD, DECISION, TIES, PEOPLE}
    assert config["encoder"]["pieces"] == config["encoder"]["vocab_size"] and config["pronouns"] == list(FORMS)


def test_the_shipped_checkpoint_of_several_languages_is_calibrated_for_each() -> None:
    config = checkpoint_config.read(locate.locate("multilingual").folder / locate.CONFIG)
    codes = [each.code for each in checkpoint_config.languages_of(config)]
    assert sorted(codes) == ["cs", "de", "es", "ja", "ru", "uk", "zh"] and checkpoint_config.reads_source(config)
    for code in codes:
        assert checkpoint_config.caveat(checkpoint_config.of_language(config, code, name="multilingual")) is None


def test_weights_that_are_not_finite_are_never_written(tiny_checkpoint: Checkpoints, tmp_path: Path) -> None:
    loaded = files.load(tiny_checkpoint())
    with torch.no_grad():
        loaded.model.head.logit.bias.fill_(1e6)  # infinite in half precision
    with pytest.raises(PronmetricError, match=r"no checkpoint is written: head\.logit\.bias: .*half=false"):
        files.save(tmp_path / "new", loaded.model, loaded.pieces, loaded.config, half=True)
    with torch.no_grad():
        loaded.model.head.logit.bias.fill_(torch.nan)
    with pytest.raises(PronmetricError, match=r"expected finite numbers, got 1"):
        files.save(tmp_path / "new", loaded.model, loaded.pieces, loaded.config, half=False)
    assert not (tmp_path / "new").exists()


def test_no_code_of_the_folder_is_run(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w').close()\nclass Evil: pass\n"
    for name in ("evil.py", "tokenization_evil.py", "modeling_evil.py", "configuration_evil.py", "__init__.py"):
        (folder / name).write_text(code, encoding="utf-8")
    path = folder / "tokenizer_config.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    told |= {"auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}, "tokenizer_class": "Evil"}
    path.write_text(json.dumps(told), encoding="utf-8")
    rewrite(folder, lambda c: c["encoder"].update(auto_map={"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil"}))
    try:
        files.load(folder)
    except InputError as error:
        assert "broken checkpoint" in str(error)
    assert not mark.exists()


def test_nothing_is_unpickled(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(mark),)

    for name in ("pytorch_model.bin", "model.bin", "spiece.pkl", "training_args.bin"):
        torch.save(Evil(), folder / name)
    files.load(folder)
    shutil.copy(folder / "model.bin", folder / "model.safetensors")
    with pytest.raises(InputError, match="broken checkpoint weights"):
        files.load(folder)
    (folder / "config.yaml").write_text(f"!!python/object/apply:os.mkdir ['{mark}']", encoding="utf-8")
    with pytest.raises(InputError, match="broken checkpoint config"):
        files.load(folder)
    assert not mark.exists()


@pytest.mark.parametrize("name", ["config.yaml", "model.safetensors", "tokenizer.json"])
def test_a_link_is_read_only_where_it_leads_to_a_file(folder: Path, tmp_path: Path, name: str) -> None:
    first = files.load(folder)
    outside = shutil.move(folder / name, tmp_path / "outside")
    (folder / name).symlink_to(outside)  # as the hub's cache does it
    assert files.load(folder).settings == first.settings
    for target in ("/dev/zero", tmp_path / "nowhere", tmp_path):
        (folder / name).unlink()
        (folder / name).symlink_to(target)
        with pytest.raises(InputError, match=f"not a checkpoint: expected {name} in it"):
            files.load(folder)


def test_a_copy_holds_the_checkpoint_alone(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("not of the checkpoint", encoding="utf-8")
    (folder / "notes.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "README.md").write_text("its card", encoding="utf-8")
    weights = shutil.move(folder / "model.safetensors", tmp_path / "blob")
    (folder / "model.safetensors").symlink_to(weights)
    files.copy(folder, tmp_path / "new")
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert names == {path.name for path in folder.iterdir()} - {"notes.txt"}
    assert not any(path.is_symlink() for path in (tmp_path / "new").iterdir())
    assert files.load(tmp_path / "new").hash == files.load(folder).hash


@pytest.mark.parametrize(
    ("training", "head", "said"),
    [
        ({}, "logit", "records no training"),
        ({"steps": 0, "calibration": None}, "paper", "records no training"),
        ({"steps": 5, "calibration": None}, "logit", "is not calibrated"),
        ({"average": [{}]}, "logit", "is not calibrated"),
        ({"steps": 5, "calibration": None}, "paper", None),  # its scores are no probabilities anyway
        ({"steps": 5, "calibration": {"scale": 1.0}}, "logit", None),
        ({"average": [{}], "calibration": {"scale": 1.0}}, "logit", None),
    ],
)
def test_what_a_user_must_know_of_a_checkpoint(training: dict[str, Any], head: str, said: str | None) -> None:
    found = checkpoint_config.caveat({"training": training, "head": {"kind": head}})
    assert found is None if said is None else found is not None and said in found


@pytest.mark.parametrize("name", ["base", "small"])
def test_a_shipped_checkpoint_is_trained_and_calibrated(name: str) -> None:
    assert checkpoint_config.caveat(checkpoint_config.read(locate.locate(name).folder / "config.yaml")) is None
