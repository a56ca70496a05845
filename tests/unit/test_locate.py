"""Names of checkpoints: those that are shipped, their aliases, and those that an installation lacks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.checkpoint import locate
from pronmetric.errors import PronmetricError

Shelf = Callable[..., Path]


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """Makes the folder of shipped checkpoints, with these names."""

    def make(*names: str) -> Path:
        folder = tmp_path / "shelf"
        for name in names:
            (folder / name).mkdir(parents=True)
            for file in (locate.CONFIG, locate.WEIGHTS):
                (folder / name / file).touch()
        monkeypatch.setattr(locate, "files", lambda package: folder)
        monkeypatch.chdir(tmp_path)
        return folder

    return make


@pytest.mark.parametrize("folder", ["default", "base"])
def test_default_is_another_name_of_a_shipped_checkpoint(
    folder: str, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(locate.ALIASES, locate.DEFAULT, folder)
    place = shelf(folder, "small")
    expected = locate.Location(folder, place / folder)
    assert locate.locate() == locate.locate("default") == locate.locate(folder) == expected
    assert locate.locate("small") == locate.Location("small", place / "small")


def test_the_default_is_shipped() -> None:
    assert locate.locate().folder.is_dir() and locate.locate().name == locate.ALIASES[locate.DEFAULT]


def test_a_checkpoint_that_is_left_out_is_found_in_the_repository(shelf: Shelf, tmp_path: Path) -> None:
    shelf("default")
    message = "checkpoint base is not in this installation: get the folder checkpoints/base of the repository"
    with pytest.raises(PronmetricError, match=re.escape(message)):
        locate.locate("base")
    folder = tmp_path / "base"
    folder.mkdir()
    for file in (locate.CONFIG, locate.INDEX):
        (folder / file).touch()
    assert locate.locate("base").folder.resolve() == folder  # its path, relative to the working folder


def test_an_unknown_name_is_told_the_shipped_ones(shelf: Shelf) -> None:
    shelf("default", "other")
    with pytest.raises(PronmetricError, match=r"no checkpoint 'nothing': .* \(shipped: default, other\)"):
        locate.locate("nothing")


@pytest.mark.parametrize("kept", [locate.CONFIG, locate.WEIGHTS, locate.INDEX])
def test_half_a_checkpoint_is_refused(kept: str, tmp_path: Path) -> None:
    (tmp_path / kept).touch()
    with pytest.raises(PronmetricError, match=r"not a checkpoint: expected a folder with "):
        locate.locate(tmp_path)
