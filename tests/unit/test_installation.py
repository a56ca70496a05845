"""Where the data folders are, and the command that adds an extra, by how pronmetric was installed."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from pronmetric import installation


class Recorded:
    """A distribution with this direct_url.json; None: without one, as from an index."""

    def __init__(self, recorded: dict[str, object] | None) -> None:
        self.recorded = recorded

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.recorded is None else json.dumps(self.recorded)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package in a folder of installed packages, not installed by pip."""
    package = tmp_path / "site-packages" / "pronmetric"
    package.mkdir(parents=True)
    monkeypatch.setattr(installation, "PACKAGE", package)
    recorded(monkeypatch, PackageNotFoundError())
    return package


def recorded(monkeypatch: pytest.MonkeyPatch, said: dict[str, object] | PackageNotFoundError | None) -> None:
    def found(name: str) -> Recorded:
        if isinstance(said, PackageNotFoundError):
            raise said
        return Recorded(said)

    monkeypatch.setattr(installation, "distribution", found)


def test_a_folder_stands_in_the_package_or_beside_it(site: Path) -> None:
    assert installation.folder("conf") == site.parent / "conf"
    (site / "conf").mkdir()
    assert installation.folder("conf") == site / "conf" and installation.folder("checkpoints").parent == site.parent


def test_in_a_clone_the_hint_names_the_clone(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (site.parent / "pyproject.toml").touch()
    assert installation.source_tree() == site.parent
    assert installation.pip_install("serve", "fastapi") == f'pip install "{site.parent}[serve]"'
    monkeypatch.chdir(site.parent)
    assert installation.pip_install("serve", "fastapi") == 'pip install ".[serve]"'


def test_an_installation_from_a_clone_names_it_while_it_is_there(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "my clone"
    recorded(monkeypatch, {"url": clone.as_uri(), "dir_info": {}})
    assert installation.source_tree() is None
    assert installation.pip_install("serve", "fastapi") == "pip install fastapi"  # and no name of an index
    clone.mkdir()
    (clone / "pyproject.toml").touch()
    assert installation.source_tree() == clone
    assert installation.pip_install("serve", "fastapi") == f'pip install "{clone}[serve]"'


def test_an_installation_from_a_wheel_names_the_file(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "pronmetric-1.0.0-py3-none-any.whl"
    wheel.touch()
    recorded(monkeypatch, {"url": wheel.as_uri(), "archive_info": {}})
    assert installation.source_tree() is None
    assert installation.pip_install("peers", "sacrebleu") == f'pip install "{wheel}[peers]"'
    wheel.unlink()
    assert installation.pip_install("peers", "sacrebleu") == "pip install sacrebleu"


@pytest.mark.parametrize(
    ("said", "command"),
    [
        (None, 'pip install "pronmetric[ray]"'),
        (
            {"url": "https://example.org/p.git", "vcs_info": {"vcs": "git", "commit_id": "ab12"}},
            'pip install "pronmetric[ray] @ git+https://example.org/p.git@ab12"',
        ),
        (
            {
                "url": "https://example.org/p.git",
                "vcs_info": {"vcs": "git", "requested_revision": "v1.0.0", "commit_id": "ab12"},
            },
            'pip install "pronmetric[ray] @ git+https://example.org/p.git@v1.0.0"',
        ),
        (
            {"url": "https://example.org/pronmetric-1.0.0.whl", "archive_info": {}},
            'pip install "pronmetric[ray] @ https://example.org/pronmetric-1.0.0.whl"',
        ),
    ],
)
def test_elsewhere_the_hint_names_the_index_or_the_url(
    said: dict[str, object] | None, command: str, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(monkeypatch, said)
    assert installation.pip_install("ray", "ray") == command


def test_a_package_that_was_only_copied_names_what_is_missing(site: Path) -> None:
    assert installation.source_tree() is None and installation.pip_install("ray", "ray") == "pip install ray"
