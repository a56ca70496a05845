"""Output files: paths are checked before any work, and files are written completely or not at all."""

from __future__ import annotations

import errno
import glob
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from pronmetric.errors import InputError, PronmetricError
from pronmetric.text import streams
from pronmetric.text.streams import is_stdin

STDOUT = "<stdout>"
_PARTIAL = ".part"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_Identity = tuple[int, int] | str


def check(
    files: Iterable[str | Path | None],
    *,
    read: Iterable[str | Path | None],
    folders: Iterable[str | Path | None] = (),
) -> None:
    """Refuse, before any work, outputs that would overwrite an input or another output, or cannot be written.

    An output may be stdout ("-" or "/dev/stdout"): from here on, what is printed goes to stderr.

    Links, `..` and a case-insensitive file system are taken into account. Files in an input folder are inputs. Devices
    and pipes may be given several times. None is an output that was not requested.

    Args:
        files: files to write; stdout is added if it is redirected to a file.
        read: files and folders to read; "-" and "/dev/stdin" are stdin; names without a file are ignored.
        folders: folders to write, which need not exist.

    Raises:
        InputError: with the path and the cure.
    """
    inputs = [str(path) for path in read if path is not None]
    places = [path for path in inputs if Path(path).is_dir()]
    taken: dict[_Identity, str] = {_identity(path): f"the input {path}" for path in inputs if not is_stdin(path)}
    if any(map(is_stdin, inputs)) and (opened := _redirection(0)) is not None:
        taken[opened] = "the input on stdin"
    if (opened := _redirection(1)) is not None:
        if opened in taken:
            raise InputError(f"stdout is redirected into {taken[opened]}; write it to another file")
        taken[opened] = "stdout"
    names = [name for name in files if name is not None]
    written = [name for name in names if streams.is_stdout(name)]
    if len(written) > 1:
        raise InputError("only one output can be written to stdout; give a file for the others", file=STDOUT)
    if written:
        streams.divert_stdout()
    for name in (name for name in names if not streams.is_stdout(name)):
        path = Path(name)
        _check_file(path)
        if _is_special(path):
            continue
        if (same := taken.get(_identity(path))) is not None:
            raise InputError(f"would be overwritten: it is {same} too; give another file to write", file=name)
        if path.exists() and (inside := next((place for place in places if _is_below(path, place)), None)):
            message = f"would be overwritten: it is in the input folder {inside}; give another file to write"
            raise InputError(message, file=name)
        taken[_identity(path)] = f"the output {name}"
    for folder in map(Path, (folder for folder in folders if folder is not None)):
        if streams.is_stdout(folder):
            raise InputError("is no folder; give a folder to write", file=STDOUT)
        if (same := taken.get(_identity(folder))) is not None:
            raise InputError(f"would be overwritten: it is {same} too; give another folder to write", file=folder)
        if folder.exists() and not folder.is_dir():
            raise InputError("is a file; give a folder to write", file=folder)
        _check_place(next(place for place in (folder, *folder.absolute().parents) if place.exists()), folder)
        taken[_identity(folder)] = f"the output {folder}"
        real = Path(os.path.realpath(folder))
        remove_stale(real.parent, prefix=f".{real.name}.")  # also where `new_folder` is not reached


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise InputError("is a folder; give a file to write", file=path)
    if _is_special(path):
        return
    if path.exists() and not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise InputError("is read-only; give another file to write, or make it writable", file=path)
    place = Path(os.path.realpath(path)).parent
    if not place.is_dir():
        raise InputError(f"the folder {path.parent} does not exist; create it first", file=path)
    _check_place(place, path)


def _check_place(place: Path, target: Path) -> None:
    """Create an unnamed file in the folder: permissions alone do not reveal a read-only or full disk."""
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise InputError(f"the folder {place} cannot be written ({error.strerror})", file=target) from None


def _identity(path: str | Path) -> _Identity:
    """The identity of a file, equal for two names of the same file: its inode if it exists, else folder and name."""
    with suppress(OSError):
        found = os.stat(path)
        return found.st_dev, found.st_ino
    real = Path(os.path.realpath(path))
    name = real.name
    with suppress(OSError):
        found = os.stat(real.parent)
        name = name.casefold() if _folds_case(real.parent) else name
        return f"{found.st_dev}:{found.st_ino}/{name}"
    return str(real)


def _folds_case(folder: Path) -> bool:
    """Whether file names in the folder are case-insensitive, tested with the folder's own name; a root has none."""
    if not folder.name:
        return False
    swapped = folder.with_name(folder.name.swapcase())
    return swapped.name != folder.name and swapped.exists() and os.path.samefile(swapped, folder)


def _redirection(handle: int) -> _Identity | None:
    """The file to which stdin (0) or stdout (1) is redirected; None for a terminal, pipe, device or if closed."""
    try:
        found = os.fstat(handle)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _is_special(path: Path) -> bool:
    """Whether it is a device or a pipe, which is written to directly."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _is_below(path: Path, folder: str) -> bool:
    return Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents


def remove_stale(folder: Path, *, prefix: str, suffix: str = "") -> None:
    """Remove the partial files and folders of killed runs: those whose lock no process holds.

    prefix, suffix: of their names, which have eight characters between them (see `tempfile`).
    """
    for path in folder.glob(f"{glob.escape(prefix)}{'[a-z0-9_]' * 8}{glob.escape(suffix)}"):
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                if not lock(handle, wait=False):
                    continue
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
            finally:
                os.close(handle)


def lock(handle: int, *, wait: bool) -> bool:
    """Lock an open file or folder until it is closed or the process ends; False where that can't be done.

    wait: until another process gives it back.
    """
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):  # Windows, and file systems without locks
        return False
    return True


def _make_partial(target: Path) -> tuple[int, Path]:
    """A new locked file next to `target`, open for writing."""
    while True:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=_PARTIAL, dir=target.parent)
        if not lock(handle, wait=True) or os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)  # another process took it for one of a killed run, before it was locked


@contextmanager
def scratch(folder: Path, *, prefix: str) -> Iterator[Path]:
    """A locked folder in `folder` that is removed at the end; those that killed runs left are removed first."""
    remove_stale(folder, prefix=prefix)
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
        with suppress(FileNotFoundError), ExitStack() as held:
            _lock_folder(path, held)
            if path.exists():
                held.callback(shutil.rmtree, path, ignore_errors=True)
                held = held.pop_all()
                break
    with held:
        yield path


@contextmanager
def new_folder(folder: str | Path) -> Iterator[Path]:
    """A waiting folder of the same name, which becomes `folder`, absent or empty before, only if the block succeeds.

    Its parent has the name of the other's too, as a checkpoint may be named for both.

    Errors name `folder`. Waiting folders of killed runs are removed.

    Raises:
        InputError: another process has written `folder` meanwhile.
    """
    target = Path(os.path.realpath(folder))
    target.parent.mkdir(parents=True, exist_ok=True)
    with scratch(target.parent, prefix=f".{target.name}.") as waiting:
        part = waiting / target.parent.name / target.name
        part.mkdir(parents=True)
        try:
            yield part
            if target.is_dir() and any(target.iterdir()):
                raise InputError("was written by another process; give another folder", file=folder)
            try:
                part.replace(target)
            except OSError:  # a mounted folder can be filled, not replaced
                if not target.is_dir():
                    raise
                for path in part.iterdir():
                    shutil.move(path, target)
        except OSError as error:
            if error.filename is not None:
                error.filename = str(error.filename).replace(str(part), str(folder))
            elif error.errno in _FULL:
                error.filename = str(folder)
            raise
        except PronmetricError as error:
            if str(part) not in str(error):
                raise
            raise PronmetricError(str(error).replace(str(part), str(folder))) from error


def _lock_folder(path: Path, held: ExitStack) -> None:
    """Lock a folder until the stack is closed; nothing on Windows, which opens no folders."""
    with suppress(PermissionError):
        handle = os.open(path, os.O_RDONLY)
        held.callback(os.close, handle)
        lock(handle, wait=True)


class _Named(io.FileIO):
    """A raw file whose errors name the requested file."""

    def __init__(self, handle: int, target: str) -> None:
        super().__init__(handle, "w")
        self.target = target

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = self.target
            raise


class AtomicFile:
    """A UTF-8 file that appears under its name only if the block succeeds; otherwise it is removed.

    Partial files of killed runs are removed when the same file is written again.

    `.buffer` takes bytes. If the path is a symbolic link, its target is written; devices, pipes and stdout ("-") are
    written to directly.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._is_stdout = streams.is_stdout(path)
        self._partial: Path | None = None
        self._lock: int | None = None

    def __enter__(self) -> TextIO:
        """Open a temporary file next to the target."""
        if self._is_stdout:
            self._file: TextIO = streams.stdout_file()
            return self._file
        if _is_special(self.path):
            handle = os.open(self.path, os.O_WRONLY)
        else:
            target = Path(os.path.realpath(self.path))
            remove_stale(target.parent, prefix=f".{target.name}.", suffix=_PARTIAL)
            handle, self._partial = _make_partial(target)
            self._lock = os.dup(handle)  # until the file has its name
        raw = io.BufferedWriter(_Named(handle, str(self.path)))
        self._file = io.TextIOWrapper(raw, encoding="utf-8", errors="surrogateescape", newline="\n")
        return self._file

    def flush(self) -> None:
        """Write buffered data, so that errors such as a full disk are raised now."""
        self._file.flush()

    def __exit__(self, kind: object, *_: object) -> None:
        """Rename to the target, or remove the temporary file."""
        if self._is_stdout:
            if kind is None:
                self._file.flush()
            return
        try:
            if kind is not None:
                with suppress(OSError):
                    self._file.close()
                return
            self._file.close()
            if self._partial is not None:
                mask = os.umask(0)
                os.umask(mask)
                self._partial.chmod(0o666 & ~mask)  # mkstemp gives 0600
                self._partial.replace(os.path.realpath(self.path))
                self._partial = None
        finally:
            if self._partial is not None:
                self._partial.unlink(missing_ok=True)
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None


class AtomicFiles(ExitStack):
    """Several atomic files that appear together or, after an error, not at all."""

    def __init__(self) -> None:
        super().__init__()
        self._files: list[AtomicFile] = []

    def open(self, path: str | Path) -> TextIO:
        """Open one more file."""
        self._files.append(AtomicFile(path))
        return self.enter_context(self._files[-1])

    def __exit__(self, *error: Any) -> bool:
        """Rename all files to their targets, or none."""
        try:
            if error[0] is None:
                for file in self._files:
                    file.flush()
        except OSError as full:
            super().__exit__(type(full), full, full.__traceback__)
            raise
        return bool(super().__exit__(*error))
