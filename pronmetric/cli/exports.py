"""Files that hold a whole result: JSON with everything, and a flat table of pronouns; written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from pronmetric.errors import InputError
from pronmetric.score import Counts, PronounScore, SegmentScore, SystemScore

_DIGITS = 6
_TSV_ESCAPES = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"})


def check_targets(targets: Iterable[str | None], *, read: Iterable[str | None]) -> None:
    """Refuse an output file that could not be written, or is named twice or `read` as well, before any work is done."""
    taken = {os.path.realpath(path) for path in read if path is not None}
    for path in targets:
        if path is None:
            continue
        if os.path.realpath(path) in taken:
            raise InputError("would be overwritten: it is named for something else too", file=path)
        taken.add(os.path.realpath(path))
        folder = Path(path).parent
        if Path(path).is_dir():
            raise InputError("is a folder; give the name of a file to write", file=path)
        if not folder.is_dir():
            raise InputError(f"the folder {folder} is not there; make it first", file=path)
        if not os.access(folder, os.W_OK):
            raise InputError(f"the folder {folder} cannot be written", file=path)


class AtomicFile:
    """A text file that appears under its name only when the block ends well."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def __enter__(self) -> IO[str]:
        """A file beside the target."""
        handle, name = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        self._partial = Path(name)
        self._file = os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape", newline="\n")
        return self._file

    def __exit__(self, kind: object, *_: object) -> None:
        """Take the target's place, or vanish."""
        self._file.close()
        if kind is not None:
            self._partial.unlink()
            return
        mask = os.umask(0)
        os.umask(mask)
        self._partial.chmod(0o666 & ~mask)  # mkstemp gives 0600
        self._partial.replace(self.path)


class Exports:
    """The files asked for: segments are added one by one, so that memory stays flat; the rest comes at the end."""

    def __init__(self, *, json_path: str | None, tsv_path: str | None, columns: Sequence[str]) -> None:
        self._paths = json_path, tsv_path
        self._columns = columns
        self._stack = ExitStack()
        self._json: IO[str] | None = None
        self._tsv: IO[str] | None = None
        self._first = True

    def __enter__(self) -> Exports:
        """Open the files beside their targets."""
        json_path, tsv_path = self._paths
        if json_path is not None:
            self._json = self._stack.enter_context(AtomicFile(json_path))
            self._json.write('{\n"segments": [')
        if tsv_path is not None:
            self._tsv = self._stack.enter_context(AtomicFile(tsv_path))
            self._tsv.write("\t".join(self._columns) + "\n")
        return self

    def __exit__(self, *error: Any) -> None:
        """Put the files in their places; after an error nothing is left of them."""
        self._stack.__exit__(*error)

    def segment(self, content: Mapping[str, Any], rows: Iterable[Sequence[object]]) -> None:
        """Add a segment: its JSON object, and its rows of the table."""
        if self._json is not None:
            self._json.write("\n" if self._first else ",\n")
            self._json.write(json.dumps(content, ensure_ascii=False))
            self._first = False
        if self._tsv is not None:
            for row in rows:
                self._tsv.write("\t".join(_cell(value) for value in row) + "\n")

    def finish(self, **rest: Any) -> None:
        """Add what is known at the end: signature, systems, counts."""
        if self._json is not None:
            self._json.write("\n]")
            for key, value in rest.items():
                self._json.write(f",\n{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, indent=1)}")
            self._json.write("\n}\n")


def rounded(value: float | None) -> float | None:
    """A score as files give it: six decimals."""
    return None if value is None else round(value, _DIGITS)


def pronoun(p: PronounScore) -> dict[str, Any]:
    """A pronoun in JSON; `probability`, or with an unbounded head `score`."""
    number = {"score": rounded(p.score)} if p.probability is None else {"probability": rounded(p.probability)}
    return {"text": p.text, "start": p.start, "end": p.end, **number}


def scored(segment: SegmentScore) -> dict[str, Any]:
    """A segment's score and pronouns in JSON."""
    return {"score": rounded(segment.score), "pronouns": [pronoun(p) for p in segment.pronouns]}


def system(name: str, score: SystemScore) -> dict[str, Any]:
    """A system in JSON."""
    return {
        "system": name,
        "score": rounded(score.score),
        "interval": None if score.interval is None else [rounded(end) for end in score.interval],
        "resampled": score.resampled,
        "units": score.units,
        "pronouns": score.pronouns,
        "segments": score.segments,
        "segments_with_pronoun": score.with_pronoun,
    }


def encoded(counts: Counts) -> dict[str, int]:
    """The counts in JSON."""
    return {
        "encoded": counts.encoded,
        "context_cut": counts.cut,
        "windowed": counts.windowed,
        "surplus": counts.surplus,
        "unread": counts.unread,
    }


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.{_DIGITS}f}" if isinstance(value, float) else str(value).translate(_TSV_ESCAPES)
