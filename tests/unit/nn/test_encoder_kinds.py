"""Every kind of encoder is complete: its folder, its settings, its reader and its values."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import get_args

import pytest
import yaml

from pronmetric.nn.encoders import kinds

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "pronmetric" / "nn" / "encoders"


def test_the_kinds_are_the_folders() -> None:
    folders = {path.name for path in FOLDER.iterdir() if (path / "__init__.py").is_file()}
    named = {get_args(each.model_fields["kind"].annotation)[0] for each in get_args(kinds.EncoderOptions)}
    assert folders == set(get_args(kinds.Kind)) == named


@pytest.mark.parametrize("kind", get_args(kinds.Kind))
def test_a_kind_is_complete(kind: kinds.Kind) -> None:
    encoder = kinds.module(kind)
    assert list(signature(encoder.build).parameters) == ["config", "trainable"]
    assert all(hasattr(encoder.PIECES, name) for name in ("FILES", "load", "save", "__call__"))
    reader = import_module(f"pronmetric.training.encoders.{kind}")
    assert list(signature(reader.read).parameters) == ["options", "data"]
    assert list(signature(reader.choose_trained).parameters) == ["encoder", "options"]
    values = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in (ROOT / "conf" / "encoder").glob("*.yaml")]
    options = next(each for each in get_args(kinds.EncoderOptions) if each.__module__.split(".")[-2] == kind)
    mine = [each for each in values if each["kind"] == kind]
    assert mine and all(set(each) == set(options.model_fields) for each in mine)


def test_the_description_of_a_model_and_the_settings_need_no_torch() -> None:
    code = "import sys, pronmetric.checkpoint.model_config, pronmetric.training.settings; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
