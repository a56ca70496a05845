"""A checkpoint as a Python package of its own: a wheel without code, which `locate` finds when it is installed.

The files stand in the namespace package `pronmetric_checkpoints`, in a folder of the checkpoint's name.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import yaml

from pronmetric.checkpoint.files import own_files
from pronmetric.checkpoint.locate import CARD, SHELF
from pronmetric.checkpoint.shards import hash_weights
from pronmetric.errors import PronmetricError
from pronmetric.installation import NAME
from pronmetric.output.targets import AtomicFile
from pronmetric.version import __version__

_NAMES = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_VERSIONS = re.compile(r"\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?(?:\.post\d+)?(?:\.dev\d+)?")
_CARD = re.compile(r"\A---\n(?P<front>.*?\n)---\n(?P<text>.*)", re.DOTALL)
_TAGS = f"""Wheel-Version: 1.0
Generator: {NAME} {__version__}
Root-Is-Purelib: true
Tag: py3-none-any
"""


def file_name(name: str, version: str) -> str:
    """The name of the wheel of the checkpoint `name`.

    Raises:
        PronmetricError: a name or version that no package has.
    """
    if not _NAMES.fullmatch(name):
        raise PronmetricError(f"checkpoint {name!r}: expected a name of lower-case letters, digits and single - _ .")
    if not _VERSIONS.fullmatch(version):
        raise PronmetricError(f"`release={version}`: expected a version such as 1.0.0 or 1.1.0rc1")
    return f"{_distribution(name)}-{version}-py3-none-any.whl"


def write_wheel(folder: Path, name: str, path: Path, *, version: str) -> str:
    """Write the wheel of the checkpoint in `folder`, the same bytes for the same files; the hash of its weights.

    Raises:
        InputError: `folder` is not a checkpoint.
        PronmetricError: as `file_name`.
    """
    info = f"{file_name(name, version).removesuffix('-py3-none-any.whl')}.dist-info"
    digest = hash_weights(folder)
    rows = []
    with AtomicFile(path) as file, ZipFile(cast("IO[bytes]", file.buffer), "w") as archive:
        for place, content in _contents(folder, name, info, digest, version):
            _add(archive, place, content)
            code = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{place},sha256={code},{len(content)}")
        _add(archive, f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,", ""]).encode())
    return digest


def _contents(folder: Path, name: str, info: str, digest: str, version: str) -> Iterator[tuple[str, bytes]]:
    """The files of the wheel but its record, one in memory at a time."""
    for path in sorted(own_files(folder)):
        yield f"{SHELF}/{name}/{path.relative_to(folder).as_posix()}", path.read_bytes()
    card = (folder / CARD).read_text(encoding="utf-8") if (folder / CARD).is_file() else ""
    yield f"{info}/METADATA", _metadata(name, digest, version, card).encode()
    yield f"{info}/WHEEL", _TAGS.encode()


def _metadata(name: str, digest: str, version: str, card: str) -> str:
    """The metadata: the hash of the weights, the card as description, and the licence that the card names."""
    found = _CARD.match(card)
    licence = (yaml.safe_load(found["front"]) or {}).get("license") if found else None
    return "\n".join(
        [
            "Metadata-Version: 2.4",
            f"Name: {NAME}-{name}",
            f"Version: {version}",
            f"Summary: Checkpoint {name} of {NAME}, weights {digest}",
            *([f"License-Expression: {licence}"] if licence else []),
            "Description-Content-Type: text/markdown",
            "",
            found["text"] if found else card,
        ]
    )


def _distribution(name: str) -> str:
    """The name of the package as file names have it."""
    return re.sub(r"[-_.]+", "_", f"{NAME}-{name}")


def _add(archive: ZipFile, place: str, content: bytes) -> None:
    entry = ZipInfo(place)  # of 1980: no time of the build
    entry.compress_type, entry.external_attr = ZIP_DEFLATED, 0o644 << 16
    archive.writestr(entry, content)
