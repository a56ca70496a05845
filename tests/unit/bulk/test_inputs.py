"""Inputs of bulk runs: which files are read, what they hold, their shards and rows; no Ray."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pronmetric.bulk import inputs, plan, storage
from pronmetric.bulk.inputs import Source
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.rows import BadRow, Reader, Row, to_score
from pronmetric.errors import InputError
from pronmetric.text import lines as line_files

Write = Callable[..., str]
FORM = to_score(with_source=False)


def records(number: int, *, first: int = 0) -> list[dict[str, Any]]:
    return [{"id": k, "text": f"She saw {k}.", "context": [f"Line {k}."]} for k in range(first, first + number)]


def packed(raw: bytes, suffix: str) -> bytes:
    if suffix.endswith(".gz"):
        return gzip.compress(raw)
    return pa.compress(raw, codec="zstd", asbytes=True) if suffix.endswith(".zst") else raw


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes records to a file of the format of its name."""

    def to(name: str, content: Sequence[dict[str, Any]] | bytes, **options: Any) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        if isinstance(content, bytes):
            path.write_bytes(packed(content, name))
        elif name.endswith(".parquet"):
            pq.write_table(pa.Table.from_pylist(list(content)), path, **options)
        else:
            path.write_bytes(packed("".join(json.dumps(r) + "\n" for r in content).encode(), name))
        return str(path)

    return to


def find(*names: str, output: str = "elsewhere") -> list[Source]:
    return inputs.find(names, output=storage.place(output))[0]


def shards_of(names: Sequence[str], rows: int) -> tuple[list[Source], list[Shard]]:
    sources = find(*names)
    return sources, plan.cut(inputs.survey(sources, FORM.columns), rows=rows)


def read(sources: Sequence[Source], shards: Sequence[Shard]) -> list[Row | BadRow]:
    reader = Reader(sources, FORM)
    found = [row for shard in shards for row in reader.read(shard)]
    reader.close()
    return found


NAMES = ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.parquet"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [3, 10, 100])
def test_shards_have_every_row_once_and_in_order(write: Write, name: str, rows: int) -> None:
    sources, shards = shards_of(
        [write(name, records(10), **({"row_group_size": 4} if "parquet" in name else {}))], rows
    )
    assert [(s.start, s.stop) for s in shards] == [(k, min(k + rows, 10)) for k in range(0, 10, rows)]
    found = read(sources, shards)
    assert [(row.number, row.id) for row in found] == [(k + 1, str(k)) for k in range(10)]
    assert [(row.text.context, row.text.text) for row in found] == [(f"Line {k}.", f"She saw {k}.") for k in range(10)]
    assert all(list(read(sources, [shard])) == found[shard.start : shard.stop] for shard in shards)  # a new worker


@pytest.mark.parametrize("name", NAMES[:3])
def test_a_shard_of_jsonl_begins_at_a_known_position(write: Write, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "STEP", 4)
    monkeypatch.setattr(plan, "STEP", 4)
    monkeypatch.setattr(inputs, "_CHUNK", 100)  # positions are counted over chunks
    path = write(name, records(30))
    sources, shards = shards_of([path], 7)
    lines = [json.dumps(record) + "\n" for record in records(30)]
    assert [s.line for s in shards] == [0, 4, 12, 20, 28]
    assert [s.position for s in shards] == [len("".join(lines[: s.line])) for s in shards]
    assert [row.id for row in read(sources, shards[::-1][:2])] == ["28", "29", *map(str, range(21, 28))]


def test_lines_count_as_score_counts_them(write: Write) -> None:
    raw = b'\xef\xbb\xbf{"id": 1, "text": "a"}\r\n{"id": 2, "text": "b"}'  # byte-order mark, no line end at the end
    sources, shards = shards_of([write("a.jsonl", raw)], 1)
    assert [(row.number, row.text.text) for row in read(sources, shards)] == [(1, "a"), (2, "b")]
    assert inputs.survey(find(write("empty.jsonl", b"")), FORM.columns)[0].rows == 0


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_packed_parts_one_after_the_other_are_one_file(write: Write, suffix: str) -> None:
    path = Path(write(f"a.jsonl.{suffix}", records(2)))
    path.write_bytes(path.read_bytes() + packed(json.dumps(records(1)[0]).encode(), f".{suffix}"))
    sources, shards = shards_of([str(path)], 10)
    assert [row.id for row in read(sources, shards)] == ["0", "1", "0"]


def test_what_a_file_holds(write: Write) -> None:
    path = write("a.jsonl.gz", records(5))
    (one,) = inputs.survey(find(path), FORM.columns)
    raw = Path(path).read_bytes()
    assert (one.size, one.sha256, one.rows) == (len(raw), hashlib.sha256(raw).hexdigest(), 5)


def test_ids_and_systems(write: Write) -> None:
    rows = [{"id": ["x", 1], "text": "a", "system": "Alder"}, {"id": "7", "text": "b", "system": None}]
    found = read(*shards_of([write("a.jsonl", rows)], 9))
    assert [(row.id, row.system) for row in found] == [('["x", 1]', "Alder"), ("7", None)]


BAD = [
    (b'{"id": 1}', 'the key "text" is missing'),
    (b'{"id": 1, "text": 5}', '"text" must be a string, got a number'),
    (b'{"id": 1, "text": "a", "context": "b"}', '"context" must be a list of strings'),
    (b'{"id": 1, "text": "a", "system": 4}', '"system" must be a string or null'),
    (b"[1]", "expected an object"),
    (b"{", "broken JSON"),
    (b"", "broken JSON"),
    (b'{"id": 1, "text": "\xff"}', "is not UTF-8"),
    (b'{"id": 1, "text": "' + b"x" * 200 + b'"}', "a line of more than 150 bytes"),
]


@pytest.mark.parametrize(("line", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_bad_rows_have_a_reason_and_the_next_rows_are_read(
    write: Write, line: bytes, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(line_files.MAX_LINE, "150")
    good = json.dumps(records(1)[0]).encode()
    path = write("a.jsonl", b"\n".join([good, line, good, b""]))
    first, bad, last = read(*shards_of([path], 9))
    assert isinstance(first, Row) and isinstance(last, Row) and last.number == 3
    assert isinstance(bad, BadRow) and bad.number == 2
    assert bad.reason.startswith(reason) or reason in bad.reason
    assert str(bad.error).startswith(f"{path}:2: ")


def test_bad_rows_of_parquet(write: Write) -> None:
    valid, offsets, data = pa.array([b"She.", b"\xff", b"He.", None], pa.binary()).buffers()
    text = pa.StringArray.from_buffers(4, offsets, data, valid)
    path = write("a.parquet", records(1))
    pq.write_table(pa.table({"id": [1, 2, 3, 4], "text": text, "more": [0.5] * 4}), path)
    found = read(*shards_of([path], 9))
    assert [(row.number, type(row)) for row in found] == [(1, Row), (2, BadRow), (3, Row), (4, BadRow)]
    assert [row.reason for row in found if isinstance(row, BadRow)] == [
        "not UTF-8 (invalid start byte)",
        '"text" must be a string, got null',
    ]


def test_folders_patterns_and_names(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "d/b.jsonl",
        "d/a.parquet",
        "d/_log.jsonl",
        "d/.x.jsonl",
        "d/sub/c.jsonl.gz",
        "d/notes.txt",
        "e.jsonl",
    ):
        write(name, records(1) if "txt" not in name else b"x")
    monkeypatch.chdir(tmp_path)
    found, ignored = inputs.find(["d", "e.jso*"], output=storage.place("out"))
    assert [one.name for one in found] == ["d/a.parquet", "d/b.jsonl", "d/sub/c.jsonl.gz", "e.jsonl"]
    assert [(one.format, one.compression) for one in found][1:3] == [("jsonl", None), ("jsonl", "gzip")]
    assert ignored == 1
    with pytest.raises(InputError, match=r"d/notes.txt: expected a file .parquet"):  # a pattern names what it matches
        find("d/*")


def test_urls(write: Write) -> None:
    path = write("a.jsonl", records(3))
    sources, shards = shards_of([f"file://{path}"], 2)
    assert sources[0].name == f"file://{path}"
    assert [row.id for row in read(sources, shards)] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["none.jsonl"], "none.jsonl: no such file or folder"),
        (["no*.jsonl"], "no file matches this pattern"),
        (["a.txt"], "expected a file .parquet, .jsonl, .jsonl.gz or .jsonl.zst"),
        (
            ["a.srt"],
            "a.srt: is SRT; expected a file .parquet, .jsonl, .jsonl.gz or .jsonl.zst: its texts are scored by",
        ),
        (["empty"], "no file .parquet, .jsonl"),
        (["a.jsonl", "./a.jsonl"], "./a.jsonl: is given twice"),
        (["a.jsonl", "*.jsonl"], "is given twice"),
        (["."], "is inside this input folder"),
        (["nosuch://a.jsonl"], "cannot be opened"),
    ],
)
def test_names_that_are_refused(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], message: str
) -> None:
    write("a.jsonl", records(1))
    write("a.txt", b"x")
    write("a.srt", b"1\n")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as raised:
        find(*names, output="out")
    assert message in str(raised.value)


def columns(**values: Any) -> list[dict[str, Any]]:
    return [{"id": 1, "text": "a", **values}]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.parquet", [{"id": 1}], "the column 'text' is missing; the file has ['id']"),
        ("a.parquet", columns(id=0.5), "expected the column 'id' to hold strings or integers, got double"),
        ("a.parquet", columns(context="b"), "expected the column 'context' to hold lists of strings, got string"),
        ("a.parquet", columns(system=1), "expected the column 'system' to hold strings, got int64"),
        ("a.parquet", b"no parquet", "cannot be read"),
    ],
)
def test_files_that_are_refused(write: Write, name: str, content: Any, message: str) -> None:
    path = write(name, content)
    with pytest.raises(InputError) as raised:
        inputs.survey(find(path), FORM.columns)
    assert str(raised.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_a_packed_file_that_is_cut_off_is_refused(write: Write, suffix: str) -> None:
    path = Path(write(f"a.jsonl.{suffix}", records(500)))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="cannot be read"):
        inputs.survey(find(str(path)), FORM.columns)


def test_a_column_that_is_required(write: Write) -> None:
    with pytest.raises(InputError, match="the column 'source' is missing"):
        inputs.survey(find(write("a.parquet", records(1))), to_score(with_source=True).columns)
