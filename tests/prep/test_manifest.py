"""The manifest: hashes of the inputs, the config, no word of time or place."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from data_prep import manifest
from pronmetric import __version__
from pronmetric.schema import SCHEMA_VERSION


def test_hashes_are_those_of_the_bytes_told_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    paths = [tmp_path / "b" / "two", tmp_path / "one"]
    for path in paths:
        path.write_bytes(path.name.encode())
    assert manifest.hashes(tmp_path, paths) == {
        "b/two": hashlib.sha256(b"two").hexdigest(),
        "one": hashlib.sha256(b"one").hexdigest(),
    }
    assert list(manifest.hashes(tmp_path, paths)) == ["b/two", "one"]
    assert manifest.hashes(tmp_path / "one", [tmp_path / "one"]) == {"one": hashlib.sha256(b"one").hexdigest()}


def test_a_key_is_that_of_the_value_whatever_the_order_of_names() -> None:
    assert manifest.key({"a": 1, "b": [2]}) == manifest.key({"b": [2], "a": 1}) != manifest.key({"a": 1, "b": [3]})
    assert manifest.code() == manifest.code()


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
