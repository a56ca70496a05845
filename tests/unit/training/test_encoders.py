from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from transformers import AutoModel, PreTrainedTokenizerFast, T5Config, T5Model

from pronmetric.errors import PronmetricError
from pronmetric.installation import pip_install
from pronmetric.training.encoders.huggingface import load_pretrained


def load(name: str | Path, *, package: str | None = None, dropout: float = 0.0):  # type: ignore[no-untyped-def]
    return load_pretrained(str(name), package=package, dropout=dropout, allow_network=False)


def test_an_encoder_from_a_folder(tiny_encoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    encoder, tokenizer = load(tiny_encoder, dropout=0.25)
    assert (encoder.width, encoder.max_pieces) == (32, 128)
    assert {m.p for m in encoder.modules() if isinstance(m, nn.Dropout)} == {0.25}
    assert {p.dtype for p in encoder.parameters()} == {torch.float32}
    assert tokenizer.is_fast and tokenizer("she")["input_ids"][0] == tokenizer.cls_token_id
    assert capsys.readouterr() == ("", "")  # no bar, no report of what was left out


def test_weights_of_low_precision_come_in_full(tiny_encoder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_encoder, tmp_path / "half")
    AutoModel.from_pretrained(folder).half().save_pretrained(folder)
    assert {p.dtype for p in load(folder)[0].parameters()} == {torch.float32}


def test_a_package_goes_before_the_name(tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "carries_encoder"
    shutil.copytree(tiny_encoder, package / "models" / "small")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load("no/such-name", package="carries_encoder")[0].width == 32
    assert "carries_encoder" not in sys.modules  # found, not run


def test_the_folder_is_taken_where_the_package_is_not_there(tiny_encoder: Path) -> None:
    assert load(tiny_encoder, package="no_such_package")[0].width == 32


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def pickled_weights(folder: Path) -> None:
    no_weights(folder)
    torch.save({}, folder / "pytorch_model.bin")


def broken_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\x10")


def broken_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")


@pytest.mark.parametrize("damage", [no_config, no_weights, pickled_weights, broken_weights, broken_tokenizer])
def test_a_folder_without_a_whole_encoder_is_refused(tiny_encoder: Path, tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    folder = shutil.copytree(tiny_encoder, tmp_path / "damaged")
    damage(folder)
    with pytest.raises(PronmetricError, match=r"no encoder at .*damaged") as error:
        load(folder)
    assert "encoder.name=FOLDER" in str(error.value) and "\n" not in str(error.value)


def test_a_model_with_a_decoder_is_refused(tiny_tokenizer: PreTrainedTokenizerFast, tmp_path: Path) -> None:
    T5Model(T5Config(vocab_size=300, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)).save_pretrained(tmp_path)
    tiny_tokenizer.save_pretrained(tmp_path)
    with pytest.raises(PronmetricError, match=r"expected an encoder at .* got a t5 with a decoder"):
        load(tmp_path)


def test_a_hub_name_needs_the_network_to_be_allowed() -> None:
    with pytest.raises(PronmetricError, match=r"no encoder at no-one/no-model .*encoder.allow_network=true") as error:
        load("no-one/no-model", package="no_such_package")
    assert pip_install("train", "x") in str(error.value)
