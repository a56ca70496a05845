"""Every config and every option of every group composes, from the package as installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from pronmetric.installation import folder

CONF = folder("conf")
PRIMARIES = sorted(path.stem for path in CONF.glob("*.yaml"))


@pytest.fixture(scope="module", autouse=True)
def hydra() -> Iterator[None]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


def groups(primary: str) -> list[str]:
    """The groups in the config's defaults list: its one-key entries, `override` and `optional` taken off."""
    defaults = OmegaConf.to_container(OmegaConf.load(CONF / f"{primary}.yaml"))["defaults"]
    return [str(key).split()[-1].strip("/") for entry in defaults if isinstance(entry, dict) for key in entry]


OPTIONS = [
    (primary, group, path.stem)
    for primary in PRIMARIES
    for group in groups(primary)
    for path in sorted((CONF / group).glob("*.yaml"))
]


def resolve(primary: str, *overrides: str) -> None:
    config = compose(primary, overrides=list(overrides))
    for key in OmegaConf.missing_keys(config):
        OmegaConf.update(config, key, "given")
    assert OmegaConf.to_container(config, resolve=True, throw_on_missing=True)


def test_each_hydra_verb_has_a_config() -> None:
    assert PRIMARIES == ["nmt", "prepare", "pretrain", "train"]


@pytest.mark.parametrize("primary", PRIMARIES)
def test_a_config_composes(primary: str) -> None:
    resolve(primary)


@pytest.mark.parametrize(("primary", "group", "option"), OPTIONS)
def test_an_option_composes(primary: str, group: str, option: str) -> None:
    resolve(primary, f"{group}={option}")


@pytest.mark.parametrize(("encoder", "dropout"), [("minilm", 0.1), ("glove", 0.1), ("elmo", 0.5)])
def test_the_paper_keeps_the_dropout_of_each_encoder(encoder: str, dropout: float) -> None:
    assert compose("train", overrides=["experiment=paper", f"encoder={encoder}"]).encoder.dropout == dropout


def test_every_folder_is_a_group_of_some_config() -> None:
    folders = {str(path.parent.relative_to(CONF)) for path in CONF.glob("*/**/*.yaml")}
    assert folders == {group for _, group, _ in OPTIONS}
