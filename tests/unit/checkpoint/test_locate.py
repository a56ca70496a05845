"""Names of checkpoints: those that are shipped, their aliases, and those that an installation lacks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from huggingface_hub.utils import filter_repo_objects

from pronmetric import installation
from pronmetric.checkpoint import locate
from pronmetric.errors import PronmetricError

Shelf = Callable[..., Path]


def made(folder: Path) -> None:
    """An empty folder of the look of a checkpoint."""
    folder.mkdir(parents=True)
    for file in (locate.CONFIG, locate.WEIGHTS):
        (folder / file).touch()


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """Makes the folder of shipped checkpoints, with these names."""

    def make(*names: str) -> Path:
        folder = tmp_path / "shelf"
        for name in names:
            made(folder / name)
        monkeypatch.setattr(installation, "folder", lambda name: folder)
        monkeypatch.setattr(installation, "source_tree", lambda: None)
        monkeypatch.chdir(tmp_path)
        return folder

    return make


def test_default_is_another_name_of_base(shelf: Shelf) -> None:
    place = shelf("base", "small")
    expected = locate.Location("base", place / "base")
    assert locate.locate() == locate.locate("default") == locate.locate("base") == expected


def test_a_shipped_checkpoint_is_found_by_its_name_and_by_its_folder(shelf: Shelf) -> None:
    place = shelf("base", "small")
    assert locate.locate("small") == locate.Location("small", place / "small")
    assert locate.locate(place / "small").name == "small" and locate.locate("shelf/base").name == "base"
    assert locate.name_of(Path("shelf/small")) == "small"  # as a card names it


def test_a_folder_of_the_user_is_not_named_like_the_default(shelf: Shelf, tmp_path: Path) -> None:
    shelf("base")
    for name in ("default", "mine"):
        made(tmp_path / "runs" / name)
    assert locate.locate("runs/mine").name == "mine" and locate.locate("runs/default").name == "runs/default"


@pytest.mark.parametrize("name", ["base", "small", "multilingual"])
def test_what_is_shipped_is_here(name: str) -> None:
    found = locate.locate(name)
    assert found.name == found.folder.name == name and found.folder.is_dir()


@pytest.mark.parametrize("name", ["small", "multilingual"])
def test_a_checkpoint_that_is_left_out_is_found_in_the_repository(name: str, shelf: Shelf, tmp_path: Path) -> None:
    shelf("base")
    message = f"checkpoint {name} is not in this installation: get the folder checkpoints/{name} of the repository"
    with pytest.raises(PronmetricError, match=re.escape(message)):
        locate.locate(name)
    made(tmp_path / name)
    assert locate.locate(name).folder.resolve() == tmp_path / name  # its path, relative to the working folder


def test_an_unknown_name_is_told_the_shipped_ones(shelf: Shelf) -> None:
    shelf("base", "small", "other")
    with pytest.raises(PronmetricError, match=r"no checkpoint 'nothing': .* \(shipped: base, other, small\)"):
        locate.locate("nothing")


@pytest.mark.parametrize("kept", [locate.CONFIG, locate.WEIGHTS, locate.INDEX])
def test_half_a_checkpoint_is_refused(kept: str, tmp_path: Path) -> None:
    (tmp_path / kept).touch()
    with pytest.raises(PronmetricError, match=r"not a checkpoint: expected a folder with "):
        locate.locate(tmp_path)


def test_a_checkpoint_on_the_hub_is_found_with_its_reader(tmp_path: Path) -> None:
    """In the layout of the hub's cache; nothing is downloaded."""
    cache = tmp_path / "models--someone--pronmetric-base"
    made(cache / "snapshots" / "ab12")
    made(cache / "snapshots" / "ab12" / locate.READER)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("ab12", encoding="utf-8")
    found = locate.locate("someone/pronmetric-base", storage=tmp_path)
    assert found == locate.Location("someone/pronmetric-base", cache / "snapshots" / "ab12")
    assert locate.reader_of(found.folder) == found.folder / locate.READER


@pytest.mark.parametrize("name", ["base", "small", "multilingual"])
def test_all_files_of_a_shipped_checkpoint_are_read_from_the_hub_and_its_card_is_a_model_card(name: str) -> None:
    folder = locate.locate(name).folder
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert list(filter_repo_objects(paths, allow_patterns=list(locate.PATTERNS))) == paths
    card = ModelCard.load(folder / locate.CARD)
    assert card.data.license == "apache-2.0" and card.data.library_name == "pronmetric" and card.data.language
