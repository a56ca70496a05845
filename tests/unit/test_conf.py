"""The configs and their groups; tests/unit/training/test_settings.py composes and reads each option."""

from __future__ import annotations

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from pronmetric.installation import folder

CONF = folder("conf")
PRIMARIES = sorted(path.stem for path in CONF.glob("*.yaml"))


def groups(primary: str) -> list[str]:
    """The groups in the config's defaults list: its one-key entries, `override` and `optional` taken off."""
    defaults = OmegaConf.to_container(OmegaConf.load(CONF / f"{primary}.yaml"))["defaults"]
    return [str(key).split()[-1].strip("/") for entry in defaults if isinstance(entry, dict) for key in entry]


def test_each_hydra_verb_has_a_config() -> None:
    assert PRIMARIES == ["nmt", "prepare", "pretrain", "train"]


@pytest.mark.parametrize(("encoder", "dropout"), [("minilm", 0.1), ("glove", 0.1), ("elmo", 0.5)])
def test_the_paper_keeps_the_dropout_of_each_encoder(encoder: str, dropout: float) -> None:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        assert compose("train", overrides=["experiment=paper", f"encoder={encoder}"]).encoder.dropout == dropout


def test_every_folder_is_a_group_of_some_config() -> None:
    folders = {str(path.parent.relative_to(CONF)) for path in CONF.glob("*/**/*.yaml")}
    assert folders == {group for primary in PRIMARIES for group in groups(primary)}
