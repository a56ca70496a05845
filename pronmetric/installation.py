"""Where this installation has its data folders, where it came from, and how an extra is added to it. No torch."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

NAME = "pronmetric"
PACKAGE = Path(__file__).resolve().parent
_PROJECT = "pyproject.toml"


def folder(name: str) -> Path:
    """The folder `conf` or `checkpoints`: in the installed package, or beside the package in a source tree."""
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name


def source_tree() -> Path | None:
    """The clone that this package stands in or was installed from; None if there is none, or no longer."""
    if (PACKAGE.parent / _PROJECT).is_file():
        return PACKAGE.parent
    try:
        origin = _local(_origin())
    except PackageNotFoundError:  # the package was only copied
        return None
    return origin if origin is not None and (origin / _PROJECT).is_file() else None


def pip_install(extra: str, package: str) -> str:
    """The command that adds an extra from where pronmetric came, or else the one package of it that is missing.

    An index is named only where pronmetric came from one: elsewhere the name there may be somebody else's.
    """
    if (tree := source_tree()) is not None:
        return f'pip install "{"." if tree == Path.cwd() else tree}[{extra}]"'
    try:
        url = _origin()
    except PackageNotFoundError:
        return f"pip install {package}"
    if (file := _local(url)) is not None:
        return f'pip install "{file}[{extra}]"' if file.exists() else f"pip install {package}"
    return f'pip install "{NAME}[{extra}]{f" @ {url}" if url else ""}"'


def _origin() -> str | None:
    """The URL that pronmetric was installed from; None if it came from an index."""
    recorded = json.loads(distribution(NAME).read_text("direct_url.json") or "{}")
    url, version = recorded.get("url"), recorded.get("vcs_info")
    if version is None:
        return url
    return f"{version['vcs']}+{url}@{version.get('requested_revision', version['commit_id'])}"


def _local(url: str | None) -> Path | None:
    """The path of a file URL."""
    return Path(url2pathname(urlsplit(url).path)) if url is not None and url.startswith("file:") else None
