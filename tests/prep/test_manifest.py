"""The manifest: hashes of the inputs, the config, no word of time or place."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from data_prep import manifest
from pronmetric import __version__
from pronmetric.schema import SCHEMA_VERSION


def test_hashes_are_of_the_bytes_with_paths_relative_to_the_folder(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    paths = [tmp_path / "b" / "two", tmp_path / "one"]
    for path in paths:
        path.write_bytes(path.name.encode())
    assert manifest.hashes(tmp_path, paths) == {
        "b/two": hashlib.sha256(b"two").hexdigest(),
        "one": hashlib.sha256(b"one").hexdigest(),
    }
    assert list(manifest.hashes(tmp_path, paths)) == ["b/two", "one"]
    (tmp_path / "b" / "c").mkdir()
    several = manifest.hashes([tmp_path / "b", tmp_path / "b" / "c"], paths[:1])
    assert list(several) == ["two"] and list(manifest.hashes([tmp_path / "b", tmp_path], paths[:1])) == ["b/two"]
    assert manifest.hashes(tmp_path / "one", [tmp_path / "one"]) == {"one": hashlib.sha256(b"one").hexdigest()}


def test_a_key_is_that_of_the_value_whatever_the_order_of_names() -> None:
    assert manifest.key({"a": 1, "b": [2]}) == manifest.key({"b": [2], "a": 1}) != manifest.key({"a": 1, "b": [3]})
    assert manifest.code() == manifest.code()


def test_the_code_of_a_stage_is_all_that_the_preparation_imports() -> None:
    """A stage must not be reused after a change of any module that made it."""
    code = (
        "import sys, data_prep.prepare, data_prep.stages; "
        "print(*{m.__file__ for n, m in list(sys.modules.items()) if n.split('.')[0] in ('pronmetric', 'data_prep')})"
    )
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    packages = {Path(name) for name in imported if Path(name).name != "__init__.py"}
    assert len(packages) > 20
    assert sorted(packages - set(manifest.sources())) == []
    assert {path.suffix for path in manifest.sources()} == {".py", ".tsv"}


def test_another_source_gives_another_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = manifest.code.__wrapped__()
    changed = manifest.sources()[-1]
    real = manifest.sha256
    monkeypatch.setattr(manifest, "sha256", lambda path: "0" if path == changed else real(path))
    assert manifest.code.__wrapped__() != before


def test_it_is_written_as_json(tmp_path: Path) -> None:
    content = manifest.manifest(
        inputs={"wmt": {"a": "00"}},
        config={"seed": 0},
        counts={"testsets": {}},
        splits={"train": {"rows": 1}},
        notes=["\u00e9"],
    )
    manifest.write(tmp_path, content)
    found = json.loads((tmp_path / manifest.NAME).read_text(encoding="utf-8"))
    assert found == content
    assert (found["schema_version"], found["package_version"]) == (SCHEMA_VERSION, __version__)
    assert list(found) == ["schema_version", "package_version", "inputs", "config", "counts", "splits", "notes"]


def test_counts_are_a_tree_whatever_their_names() -> None:
    counts = {("kept", "news"): 1, ("kept", "news.en"): 2, ("dropped", "noisy", "repeated"): 3, ("pronouns",): 4}
    assert manifest.nested(counts) == {
        "kept": {"news": 1, "news.en": 2},
        "dropped": {"noisy": {"repeated": 3}},
        "pronouns": 4,
    }
