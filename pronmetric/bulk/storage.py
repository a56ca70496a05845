"""Files and folders by local path or URL, through fsspec, or Arrow where fsspec has no package for the protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple
from uuid import uuid4

from pronmetric.errors import InputError
from pronmetric.text import strict_json

PARTIAL = ".part"


class Place(NamedTuple):
    """A file or folder: its file system (of fsspec), and its path there."""

    system: Any
    path: str

    def __truediv__(self, name: str) -> Place:
        """The place `name` below this one."""
        return Place(self.system, f"{self.path.rstrip('/')}/{name}")

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rstrip("/").rpartition("/")[2]

    @property
    def url(self) -> str:
        """The local path, or the URL."""
        return self.path if is_local(self) else str(self.system.unstrip_protocol(self.path))


def place(name: str) -> Place:
    """The place of a local path or a URL.

    Raises:
        InputError: an unknown protocol, or one whose package is not installed.
    """
    from fsspec.core import url_to_fs
    from fsspec.implementations.local import LocalFileSystem

    if "://" not in name:
        return Place(LocalFileSystem(), os.path.abspath(name))
    try:
        return Place(*url_to_fs(name))
    except ImportError as missing:
        return _arrow(name, missing)
    except ValueError as error:
        raise InputError(f"cannot be opened ({error}); give a path or a URL that fsspec knows", file=name) from None


def _arrow(name: str, missing: ImportError) -> Place:
    """The place in Arrow's own file system of a protocol whose package for fsspec is missing."""
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem

    try:
        system, path = FileSystem.from_uri(name)
    except (ArrowException, OSError):
        raise InputError(f"cannot be opened: {missing}", file=name) from None
    return Place(ArrowFSWrapper(system), path)


def is_local(where: Place) -> bool:
    """Whether it is on a disk of this machine."""
    protocol = where.system.protocol
    return "file" in ((protocol,) if isinstance(protocol, str) else protocol)


def exists(where: Place) -> bool:
    """Whether there is such a file now."""
    where.system.invalidate_cache()
    return bool(where.system.exists(where.path))


def files(folder: Place) -> list[str]:
    """The names of the files in a folder, sorted; none if there is no such folder."""
    folder.system.invalidate_cache()
    try:
        found = folder.system.ls(folder.path, detail=True)
    except FileNotFoundError:
        return []
    return sorted(entry["name"].rpartition("/")[2] for entry in found if entry["type"] == "file")


@contextmanager
def atomic(target: Place) -> Iterator[IO[bytes]]:
    """A file that gets its name only if the block succeeds; its folder is created.

    An error of the system (a full disk) gets the file's name. If the partial file is gone at the end, and the target is
    there, another driver has written the same, and that is kept.
    """
    folder, _, name = target.path.rpartition("/")
    target.system.makedirs(folder, exist_ok=True)
    partial = f"{folder}/.{name}.{uuid4().hex[:8]}{PARTIAL}"
    try:
        with target.system.open(partial, "wb") as file:
            yield file
        try:
            target.system.mv(partial, target.path)
        except FileNotFoundError:
            if not exists(target):
                raise
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, partial):
            error.filename = target.url
        with suppress(OSError):
            target.system.rm_file(partial)
        raise


def remove_partial(folder: Place) -> None:
    """Remove the partial files of killed runs."""
    for name in files(folder):
        if name.startswith(".") and name.endswith(PARTIAL):
            with suppress(FileNotFoundError):
                folder.system.rm_file(f"{folder.path}/{name}")


def write_json(target: Place, value: object) -> None:
    """Write a JSON file, completely or not at all."""
    with atomic(target) as file:
        file.write((strict_json.dump(value, indent=1) + "\n").encode())


def read_json(source: Place) -> Any:
    """The value in a JSON file that `write_json` wrote; None if there is no such file.

    Raises:
        InputError: it does not hold JSON.
    """
    try:
        text = source.system.cat_file(source.path).decode()
        return strict_json.parse(text, bytes_of_names=True)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise InputError(f"broken JSON ({error}); remove the folder, or give another one", file=source.url) from None
