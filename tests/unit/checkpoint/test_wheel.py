"""Checkpoints as Python packages: what the wheel holds, and that pip's installation of it is found by name."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path
from zipfile import ZipFile

import pytest

from pronmetric import PronounMetric
from pronmetric.checkpoint import locate
from pronmetric.checkpoint.shards import hash_weights
from pronmetric.cli.main import main

CARD = "---\nlicense: apache-2.0\n---\n\n# A card\n\nWith umlauts: Schlüssel.\n"


@pytest.fixture
def tiny(tmp_path: Path, tiny_checkpoint: Callable[..., Path]) -> Path:
    """A checkpoint with a card, a folder for its reader of sources, and a file that is none of its own."""
    folder = tmp_path / "tiny"
    shutil.copytree(tiny_checkpoint(), folder)
    shutil.copytree(tiny_checkpoint(), folder / locate.READER)
    (folder / locate.CARD).write_text(CARD, encoding="utf-8")
    (folder / "notes.txt").touch()
    return folder


@pytest.fixture
def wheel(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["checkpoint", "package", str(tiny), "-o", str(tmp_path / "dist"), "--release", "1.2"]) == 0
    path = tmp_path / "dist" / "pronmetric_tiny-1.2-py3-none-any.whl"
    size = path.stat().st_size / 1e6
    assert capsys.readouterr().out == f"{path}\tweights {hash_weights(tiny)}\t{size:.1f} MB\n"
    return path


@pytest.fixture
def site(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages with that of the checkpoint; pip checks the record of the wheel."""
    folder = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", str(folder)]
    done = subprocess.run([*command, str(wheel)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_the_wheel_has_the_files_of_the_checkpoint_and_no_others(tiny: Path, wheel: Path) -> None:
    own = [path for path in tiny.rglob("*") if path.is_file() and path.name != "notes.txt"]
    expected = {f"{locate.SHELF}/tiny/{path.relative_to(tiny).as_posix()}": path.read_bytes() for path in own}
    with ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    assert held == expected and f"{locate.SHELF}/tiny/{locate.READER}/{locate.CONFIG}" in held


def test_the_same_files_give_the_same_bytes(tiny: Path, wheel: Path, tmp_path: Path) -> None:
    for path in tiny.iterdir():
        path.touch()
    assert main(["checkpoint", "package", str(tiny), "-o", str(tmp_path / "again"), "--release", "1.2"]) == 0
    assert (tmp_path / "again" / wheel.name).read_bytes() == wheel.read_bytes()


def test_an_installed_package_is_found_by_its_name(tiny: Path, site: Path) -> None:
    place = locate.locate("tiny")
    assert place == locate.Location("tiny", site / locate.SHELF / "tiny")
    assert locate.name_of(place.folder) == "tiny" and locate.reader_of(place.folder) is not None
    assert PronounMetric.from_pretrained("tiny", no_source=True).hash == hash_weights(tiny)
    (said,) = (each.metadata for each in distributions(path=[str(site)]))
    assert (said["Name"], said["Version"], said["License-Expression"]) == ("pronmetric-tiny", "1.2", "apache-2.0")
    assert said["Summary"] == f"Checkpoint tiny of pronmetric, weights {hash_weights(tiny)}"
    assert str(said.get_payload()).startswith("\n# A card") or "# A card" in str(said["Description"])


def test_an_installed_package_comes_before_what_pronmetric_has(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny, tmp_path / "site" / locate.SHELF / "base")
    own = locate.locate().folder
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    found = locate.locate()
    assert found.name == "base" and found.folder == tmp_path / "site" / locate.SHELF / "base" != own
    assert locate.locate("small").folder.parent == own.parent  # the others are still there


@pytest.mark.parametrize(
    ("name", "release", "message"),
    [
        ("Tiny", "1.0", "checkpoint 'Tiny': expected a name of lower-case letters"),
        ("tiny", "1.0-best", "--release 1.0-best: expected a version such as 1.0.0"),
    ],
)
def test_what_no_package_is_called_is_refused(
    name: str, release: str, message: str, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs" / name
    shutil.copytree(tiny, folder)
    assert main(["checkpoint", "package", str(folder), "-o", str(tmp_path / "dist"), "--release", release]) == 1
    assert message in capsys.readouterr().err and not (tmp_path / "dist").exists()
