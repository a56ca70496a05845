"""The weight files of a checkpoint: one, or several shards with an index that names the shard of each tensor. No torch.

Shards keep every file below the size from which code hosts warn or refuse. Names and index are those of Hugging Face.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text import strict_json

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
BITS = (6, 7, 8)  # of the integers in which matrices may be stored (`low_bit`)
LIMIT = 47_000_000  # bytes of the tensors in a shard
_NAME = re.compile(r"model-(\d{5})-of-(\d{5})\.safetensors")
_MAP = "weight_map"
_MOST_BYTES = 2**24  # of the index
_CURE = "download the checkpoint again"


def weight_files(folder: Path) -> list[Path]:
    """The weight files in the folder of a checkpoint, in order.

    Raises:
        InputError: there are none, one is missing, or the index is broken.
    """
    if not (folder / INDEX).is_file():
        if not (folder / WEIGHTS).is_file():
            raise InputError(
                f"not a checkpoint: expected {WEIGHTS} in it; give a folder that `pronmetric train` wrote", file=folder
            )
        return [folder / WEIGHTS]
    if (folder / WEIGHTS).exists():
        raise InputError(f"expected {WEIGHTS} or {INDEX}, got both; delete the one that does not belong", file=folder)
    found = [folder / name for name in sorted(set(read_index(folder).values()))]
    for path in found:
        if not path.is_file():
            raise InputError(f"a shard of the weights is missing; {_CURE}", file=path)
    return found


def read_index(folder: Path) -> dict[str, str]:
    """The shard of each tensor, from the index; its names are those of a complete set of shards.

    Raises:
        InputError: the index is broken, or names other files.
    """
    path = folder / INDEX
    try:
        if (size := path.stat().st_size) > _MOST_BYTES:
            raise ValueError(f"expected at most {_MOST_BYTES:,} bytes, got {size:,}")
        content = strict_json.parse(path.read_text(encoding="utf-8"))
        file_of = content.get(_MAP) if isinstance(content, dict) else None
        if not isinstance(file_of, dict) or not file_of or not all(isinstance(name, str) for name in file_of.values()):
            raise ValueError(f"expected a mapping {_MAP} from tensors to shards")
        names = sorted(set(file_of.values()))
        other = next((name for name in names if not _NAME.fullmatch(name)), None)
        if other is not None:
            raise ValueError(f"expected shards named as {shard_name(1, 2)}, got {other[:80]!r}")
        if names != [shard_name(number, len(names)) for number in range(1, len(names) + 1)]:
            raise ValueError(f"expected the {_NAME.fullmatch(names[0])[2]} shards of {names[0]}, got {len(names)}")  # type: ignore[index]
    except (ValueError, OSError) as error:
        raise InputError(f"broken index of shards ({error}); {_CURE}", file=path) from error
    return file_of


def write_index(folder: Path, shards: Mapping[str, Iterable[str]], *, size: int) -> None:
    """Write the index: the tensors of each shard, and their bytes in all."""
    names = {name: shard for shard, tensors in shards.items() for name in tensors}
    content = {"metadata": {"total_size": size}, _MAP: dict(sorted(names.items()))}
    (folder / INDEX).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def shard_name(number: int, shards: int) -> str:
    """The file name of a shard, counted from 1."""
    return f"model-{number:05}-of-{shards:05}.safetensors"


def cut(sizes: Mapping[str, int], *, limit: int = LIMIT) -> list[list[str]]:
    """The names in order, in as many parts as needed for at most `limit` bytes each; a larger one has its own part."""
    parts: list[list[str]] = [[]]
    room = limit
    for name, size in sizes.items():
        if size > room and parts[-1]:
            parts.append([])
            room = limit
        parts[-1].append(name)
        room -= size
    return parts


def is_weight_file(name: str) -> bool:
    """Whether a checkpoint's file holds weights, or their index."""
    return name in (WEIGHTS, INDEX) or _NAME.fullmatch(name) is not None


def hash_weights(folder: Path) -> str:
    """First 8 hex digits of the SHA-256 of the weights: of their file, or of the shards one after the other.

    Raises:
        InputError: as `weight_files`.
    """
    digest = hashlib.sha256()
    for path in weight_files(folder):
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()[:8]
