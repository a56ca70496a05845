"""What all tests share: shapes are checked, the network is closed, the real data is found or the test is skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

# Before anything imports these modules: each tensor is held against the shape in its signature.
install_import_hook(["pronmetric.nn", "pronmetric.data.collate"], "beartype.beartype")

# pytest-socket closes the network in this process (pyproject.toml: only loopback); these close it in its children.
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not (SHARED / "data").is_dir():
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(pytest.mark.skip(reason=f"{SHARED} is not there"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of the real data; the test is skipped where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"{SHARED} is not there")
    return SHARED


@pytest.fixture(scope="session")
def sample() -> Path:
    """The bundled sample: ref.txt, docids.txt, src.de.txt, system-a.txt, system-b.txt, system-c.txt."""
    return ROOT / "examples" / "sample"


@pytest.fixture(scope="session")
def wmt_sample() -> Path:
    """A small test set in the layout of the WMT23 repository."""
    return ROOT / "examples" / "wmt-sample"
