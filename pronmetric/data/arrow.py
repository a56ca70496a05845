"""Pairs and passages as Arrow on disk: `datasets.load_from_disk` reads the folder, another schema version is refused.

A prepared folder is a `DatasetDict`: the pair splits `train`, `development`, `test`, `development_study`, the passage
splits `passages_train`, `passages_development`, where coreference was given also the passages with annotated
antecedents `coreference_train`, `coreference_development`, for English the pairs in which only the context decides
`fidelity_train`, `fidelity_development`, where sources are learned from the texts with a source
`translations_train`, `translations_development`, and where people's judgements were given what they marked and
corrected `people_train`, `people_development`, `people_test`; with `manifest.json` and `confusion.json`.
"""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
import mmap
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pronmetric.errors import InputError
from pronmetric.schema import SCHEMA_VERSION, JudgedGap, JudgedPronoun, JudgedText, Mismatch, Pair, Passage, Translation
from pronmetric.text import strict_json

if TYPE_CHECKING:
    import datasets

PAIR_SPLITS = ("train", "development", "test", "development_study")
MANIFEST = "manifest.json"
PASSAGE_SPLITS = ("passages_train", "passages_development")
COREFERENCE_SPLITS = ("coreference_train", "coreference_development")
FIDELITY_SPLITS = ("fidelity_train", "fidelity_development")
TRANSLATION_SPLITS = ("translations_train", "translations_development")
PEOPLE_SPLITS = ("people_train", "people_development", "people_test")
Record = Pair | Passage | Translation | JudgedText
_ROWS_AT_ONCE = 1000  # more: more memory, fewer: more calls of Arrow
_RELEASED_AFTER = 20  # times that many rows
_VERSION = f"{SCHEMA_VERSION}.0.0"
_AGAIN = "run `pronmetric prepare` again"


def pair_features() -> datasets.Features:
    """The columns of a Pair, in the order of its fields."""
    from datasets import Features, Value

    text, whole, flag = Value("string"), Value("int32"), Value("bool")
    mismatch = {
        "kind": text,
        "ref_form": text,
        "hyp_form": text,
        "ref_start": whole,
        "ref_end": whole,
        "hyp_start": whole,
        "hyp_end": whole,
    }
    return Features(
        {
            "id": text,
            "kind": text,
            "testset": text,
            "lp": text,
            "doc": text,
            "seg": whole,
            "ref": text,
            "system": text,
            "better": text,
            "worse": text,
            "context": [text],
            "system_context": [text],
            "mismatches": [mismatch],
            "agrees": flag,
        }
    )


def passage_features() -> datasets.Features:
    """The columns of a Passage; a span is a list of two numbers."""
    from datasets import Features, Value

    text = Value("string")
    return Features(
        {"id": text, "source": text, "doc": text, "text": text, "spans": [[Value("int32")]], "forms": [text]}
    )


def coreference_features() -> datasets.Features:
    """The columns of a Passage with antecedents."""
    from datasets import Features, Value

    word = Value("int32")
    return Features({**passage_features(), "antecedents": [{"word": word, "antecedent": [word]}]})


def translation_features() -> datasets.Features:
    """The columns of a Translation."""
    from datasets import Features, Value

    text = Value("string")
    columns = ("id", "kind", "testset", "language", "doc", "text", "context", "source", "source_context")
    return Features({name: [text] if name.endswith("context") else text for name in columns})


def people_features() -> datasets.Features:
    """The columns of a JudgedText."""
    from datasets import Features, Value

    text, place = Value("string"), Value("int32")
    span = {"start": place, "form": text, "marked_by": [text]}
    columns = ("id", "kind", "testset", "lp", "doc", "system", "text", "source", "mended")
    return Features(
        {
            **dict.fromkeys(columns, text),
            **{name: [text] for name in ("raters", "context", "source_context")},
            "pronouns": [{**span, "end": place, "correction": text}],
            "gaps": [span],
            "unjudged": [[place]],
        }
    )


def to_row(record: Record) -> dict[str, Any]:
    """A record as plain lists and dictionaries for Arrow."""
    row = {name: getattr(record, name) for name in type(record).__slots__}
    for name in ("mismatches", "antecedents", "pronouns", "gaps"):
        if name in row:
            row[name] = [dataclasses.asdict(each) for each in row[name]]
    return row


def to_pair(row: Mapping[str, Any]) -> Pair:
    """The Pair of one row; the inverse of `to_row`."""
    values = dict(row)
    values["context"] = tuple(row["context"])
    values["system_context"] = tuple(row["system_context"])
    values["mismatches"] = tuple(Mismatch(**mismatch) for mismatch in row["mismatches"])
    return Pair(**values)


def to_judged(row: Mapping[str, Any]) -> JudgedText:
    """The JudgedText of one row; the inverse of `to_row`."""
    values = {**row, **{name: tuple(row[name]) for name in ("raters", "context", "source_context")}}
    for name, kind in (("pronouns", JudgedPronoun), ("gaps", JudgedGap)):
        values[name] = tuple(kind(**{**each, "marked_by": tuple(each["marked_by"])}) for each in row[name])
    values["unjudged"] = tuple((start, end) for start, end in row["unjudged"])
    return JudgedText(**values)


class RowFile:
    """Records of one kind written to one Arrow stream file, a thousand rows at a time.

    Use it as a context manager; `rows` counts what was added. The bytes depend on the records alone.
    """

    def __init__(self, path: Path, features: datasets.Features) -> None:
        import pyarrow as pa

        self.path = path
        self.rows = 0
        self._schema = features.arrow_schema
        self._waiting: list[dict[str, Any]] = []
        self._sink = pa.OSFile(str(path), "wb")
        self._writer = pa.ipc.new_stream(self._sink, self._schema)

    def add(self, record: Record) -> None:
        """Append one record."""
        self._waiting.append(to_row(record))
        self.rows += 1
        if len(self._waiting) == _ROWS_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._waiting:
            self._writer.write_batch(pa.RecordBatch.from_pylist(self._waiting, schema=self._schema))
            self._waiting = []

    def __enter__(self) -> RowFile:
        """The writer, which is already open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Write the remaining rows and close."""
        self._flush()
        self._writer.close()
        self._sink.close()


def write_rows(path: Path, records: Iterable[Record], features: datasets.Features) -> int:
    """Write records to one Arrow stream file; returns their number."""
    with RowFile(path, features) as rows:
        for record in records:
            rows.add(record)
    return rows.rows


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of one Arrow stream file, in order, a batch in memory at a time."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as stream:
        for batch in stream:
            yield from batch.to_pylist()


def write(
    folder: Path, *, pairs: Mapping[str, Iterable[Pair]], passages: Mapping[str, Iterable[Passage]]
) -> dict[str, int]:
    """Write the splits to `folder`, which must not exist, and return the number of rows of each.

    The same records give the same bytes.
    """
    folder.mkdir(parents=True)
    rows: dict[str, int] = {}
    splits: dict[str, Iterable[Pair] | Iterable[Passage]] = {**pairs, **passages}
    with tempfile.TemporaryDirectory(dir=folder, prefix=".rows-") as waiting:
        for split, records in splits.items():
            features = _features(split)
            stream = Path(waiting) / f"{split}.arrow"
            rows[split] = write_rows(stream, records, features)
            save_split(folder / split, stream, features)
            stream.unlink()
    finish(folder, rows)
    return rows


def _features(split: str) -> datasets.Features:
    if split in COREFERENCE_SPLITS:
        return coreference_features()
    if split in PEOPLE_SPLITS:
        return people_features()
    if split in TRANSLATION_SPLITS:
        return translation_features()
    return passage_features() if split in PASSAGE_SPLITS else pair_features()


def finish(folder: Path, splits: Iterable[str]) -> None:
    """Write the list of splits of `folder` for `datasets.load_from_disk`."""
    text = strict_json.dump({"splits": list(splits)})
    (folder / "dataset_dict.json").write_text(text + "\n", encoding="utf-8")


def save_split(folder: Path, stream: Path, features: datasets.Features) -> None:
    """Turn one Arrow stream file into a saved dataset of this schema version.

    The fingerprint is a hash of the bytes; the default of `datasets` is random.
    """
    import pyarrow as pa
    from datasets import Dataset, DatasetInfo, Version
    from datasets.utils.logging import disable_progress_bar, enable_progress_bar, is_progress_bar_enabled

    with stream.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    with pa.memory_map(str(stream)) as source, pa.ipc.open_stream(source) as reader:
        table = reader.read_all()
    info = DatasetInfo(features=features, version=Version(_VERSION))
    shown = is_progress_bar_enabled()
    disable_progress_bar()
    try:
        Dataset(table, info=info, fingerprint=fingerprint).save_to_disk(folder, num_shards=1)
    finally:
        if shown:
            enable_progress_bar()


def _read(folder: str | os.PathLike[str], split: str, known: tuple[str, ...]) -> datasets.Dataset:
    if split not in known:
        raise InputError(f"split {split!r} is none of {', '.join(known)}")
    path = Path(folder) / split
    if not (path / "dataset_info.json").is_file():
        raise InputError(
            f"no split {split!r} here: expected a folder written by `pronmetric prepare`, "
            f"found {'no such folder' if not Path(folder).is_dir() else 'no such split'}",
            file=str(folder),
        )
    found = _read_version(path / "dataset_info.json")
    if found != _VERSION:
        raise InputError(
            f"expected schema version {_VERSION}, found {found}: run `pronmetric prepare` again", file=path
        )
    from datasets import load_from_disk

    return load_from_disk(str(path))


def _read_version(path: Path) -> str | None:
    info = strict_json.read(path, _AGAIN)
    version = info.get("version") if isinstance(info, dict) else None
    return version.get("version_str") if isinstance(version, dict) else None


def read_manifest(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The manifest of a prepared folder.

    Raises:
        InputError: it is missing or broken.
    """
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise InputError("no prepared data: expected a folder written by `pronmetric prepare`", file=Path(folder))
    content = strict_json.read(path, _AGAIN)
    if not isinstance(content, dict):
        raise InputError(f"expected a JSON object, got {type(content).__name__}; {_AGAIN}", file=path)
    return content


def read_pairs(folder: str | os.PathLike[str], split: str, *, kinds: tuple[str, ...] | None = None) -> datasets.Dataset:
    """One pair split of a prepared folder, memory-mapped.

    `kinds` keeps the pairs that have a mismatch of one of these kinds ("pronoun", "word", "nothing").
    Raises InputError for a missing folder or split, another schema version, or an unknown kind.
    """
    if unknown := set(kinds or ()) - {"pronoun", "word", "nothing"}:
        raise InputError(f"expected kinds of mismatches (pronoun, word, nothing), got {', '.join(sorted(unknown))}")
    rows = _read(folder, split, (*PAIR_SPLITS, *FIDELITY_SPLITS))
    return rows if kinds is None else rows.select(list(_with_kind(rows, kinds)))


def read_columns(rows: datasets.Dataset, *names: str) -> Iterator[dict[str, list[Any]]]:
    """These columns, some rows at a time; the pages read are given back (`release`)."""
    for number, part in enumerate(rows.select_columns(list(names)).iter(_ROWS_AT_ONCE), start=1):
        yield part
        if number % _RELEASED_AFTER == 0:
            release(rows)


def release(*splits: datasets.Dataset) -> None:
    """Take the pages of memory-mapped splits out of this process's memory; they are read again when needed.

    The system would keep them until memory runs short, so that a process that reads everything grows with the data.
    """
    files = {os.path.realpath(file["filename"]) for rows in splits for file in rows.cache_files}
    maps = Path("/proc/self/maps")
    if not files or not maps.is_file():
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for line in maps.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        addresses, *_, path = line.split(maxsplit=5)
        if path in files:
            start, end = (int(each, 16) for each in addresses.split("-"))
            madvise(start, end - start, mmap.MADV_DONTNEED)


def _with_kind(rows: datasets.Dataset, kinds: tuple[str, ...]) -> Iterator[int]:
    columns = (part["mismatches"] for part in read_columns(rows, "mismatches"))
    for index, mismatches in enumerate(chain.from_iterable(columns)):
        if any(mismatch["kind"] in kinds for mismatch in mismatches):
            yield index


def read_passages(folder: str | os.PathLike[str], split: str) -> datasets.Dataset:
    """One split of passages of a prepared folder, memory-mapped. Raises as `read_pairs` does."""
    return _read(folder, split, (*PASSAGE_SPLITS, *COREFERENCE_SPLITS))


def read_translations(folder: str | os.PathLike[str], split: str) -> datasets.Dataset:
    """One split of texts with a source, memory-mapped. Raises as `read_pairs` does."""
    return _read(folder, split, TRANSLATION_SPLITS)


def read_people(folder: str | os.PathLike[str], split: str) -> datasets.Dataset:
    """One split of what people marked and corrected, memory-mapped. Raises as `read_pairs` does."""
    return _read(folder, split, PEOPLE_SPLITS)


def where(rows: Any, fits: Callable[..., bool], *columns: str) -> np.ndarray:
    """Which rows have values in some columns that fit (rows,), a part of the rows in memory at a time."""
    parts = (
        np.array([fits(*values) for values in zip(*(part[name] for name in columns), strict=True)], dtype=bool)
        for part in read_columns(rows, *columns)
    )
    return np.concatenate([np.zeros(0, dtype=bool), *parts])


def concatenate(parts: Sequence[Any]) -> Any:
    """Memory-mapped splits, one after the other."""
    from datasets import concatenate_datasets

    return concatenate_datasets(parts)
