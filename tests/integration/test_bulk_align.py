"""`bulk align` without Ray: links equal those of `align` with the same table; the sample, stopped runs, bad rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pronmetric.cli.main import main
from tests.tools import row_files
from tests.tools.row_files import parts

pytestmark = pytest.mark.usefixtures("serial")


def bulk(*argv: str | Path) -> int:
    return main(["bulk", "align", *map(str, argv)])


@pytest.fixture
def texts(sample: Path) -> list[tuple[str, str]]:
    lines = [(sample / name).read_text(encoding="utf-8").splitlines() for name in ("ref.txt", "system-a.txt")]
    return list(zip(*lines, strict=True))


def manifest(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "manifest.json").read_text(encoding="utf-8")))


def write(path: Path, texts: Sequence[tuple[str, str]], **more: Any) -> Path:
    return row_files.write(path, [{"id": k, "reference": a, "text": b, **more} for k, (a, b) in enumerate(texts)])


def links_of_align(
    folder: Path, texts: Sequence[tuple[str, str]], capsys: pytest.CaptureFixture[str], *flags: str | Path
) -> list[str]:
    for name, side in zip("ab", zip(*texts, strict=True), strict=True):
        (folder / name).write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    capsys.readouterr()
    assert main(["align", str(folder / "a"), str(folder / "b"), *map(str, flags)]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("flags", [[], ["--symmetrize", "union"]])
def test_links_are_those_of_align(
    tmp_path: Path, texts: list[tuple[str, str]], capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    half = len(texts) // 2
    inputs = [write(tmp_path / "1.parquet", texts[:half]), write(tmp_path / "2.jsonl", texts[half:])]
    out = tmp_path / "out"
    assert bulk(*inputs, "-o", out, "--shard-rows", "7", *flags) == 0
    printed = capsys.readouterr().out.splitlines()
    found = parts(out / "links")
    expected = links_of_align(tmp_path, texts, capsys, *flags)  # trained on all lines, as the sample has all rows
    assert [row["links"] for row in found] == expected
    assert links_of_align(tmp_path, texts, capsys, "--table", out / "table.npz", *flags) == expected
    assert [row["row"] for row in found] == [*range(1, half + 1), *range(1, len(texts) - half + 1)]
    assert [row["id"] for row in found] == [*map(str, range(half)), *map(str, range(len(texts) - half))]
    links = sum(len(line.split()) for line in expected)
    empty = sum(not line for line in expected)
    counts = {"rows": len(texts), "aligned": len(texts), "links": links, "without_links": empty}
    assert {name: manifest(out)[name] for name in counts} == counts
    assert sorted(printed) == sorted(f"{name.replace('_', ' ')}\t{count}" for name, count in counts.items())


def test_the_sample_and_a_given_table(
    tmp_path: Path, texts: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", texts)
    for name, flags in (("one", []), ("same", ["--workers", "1"]), ("other", ["--seed", "2"])):
        assert bulk(source, "-o", tmp_path / name, "--sample", "12", "--shard-rows", "9", *flags) == 0
        assert "training the alignment table on 12 rows" in capsys.readouterr().err
    one, same, other = ((tmp_path / name / "table.npz").read_bytes() for name in ("one", "same", "other"))
    assert one == same != other
    table = tmp_path / "one" / "table.npz"
    assert bulk(source, "-o", tmp_path / "given", "--table", table) == 0
    assert (tmp_path / "given" / "table.npz").read_bytes() == one
    assert [row["links"] for row in parts(tmp_path / "given" / "links")] == [
        row["links"] for row in parts(tmp_path / "one" / "links")
    ]
    assert bulk(source, "-o", tmp_path / "given") == 1
    assert "given: holds another run: its signature has " in capsys.readouterr().err


def test_a_stopped_run_goes_on_with_its_table(
    serial: list[tuple[str, int]],
    tmp_path: Path,
    texts: list[tuple[str, str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    call = [write(tmp_path / "in.jsonl", texts), "-o", out, "--shard-rows", "10"]
    assert bulk(*call) == 0
    whole, told, made = parts(out / "links"), manifest(out), (out / "table.npz").stat().st_mtime_ns
    (out / "manifest.json").unlink()
    (out / "links" / "part-000001.parquet").unlink()
    serial.clear()
    capsys.readouterr()
    assert bulk(*call) == 0
    assert serial == [("align", 1)] and "training" not in capsys.readouterr().err
    assert (parts(out / "links"), manifest(out), (out / "table.npz").stat().st_mtime_ns) == (whole, told, made)
    serial.clear()
    assert bulk(*call) == 0 and serial == []


def test_a_bad_row_is_an_error_or_is_skipped(
    tmp_path: Path, texts: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", texts[:9])
    with source.open("a", encoding="utf-8") as file:
        file.write('{"reference": "a b", "text": null}\n{"reference": "a b"}\n{"reference": "a b", "text": "a b"}\n')
    call = [source, "-o", tmp_path / "out", "--shard-rows", "4"]
    assert bulk(*call) == 1
    assert capsys.readouterr().err.endswith(f'pronmetric: error: {source}:10: "text" must be a string, got null\n')
    assert bulk(*call, "--on-error", "skip") == 0
    assert "bad rows skipped, see errors.parquet: 2 of 12" in capsys.readouterr().err
    bad = pq.read_table(tmp_path / "out" / "errors.parquet").to_pylist()
    assert [(one["row"], one["reason"]) for one in bad] == [
        (10, '"text" must be a string, got null'),
        (11, "the key \"text\" is missing; the record has ['reference']"),
    ]
    assert parts(tmp_path / "out" / "links")[-1] == {"input": str(source), "row": 12, "id": None, "links": "0-0 1-1"}
    assert {name: manifest(tmp_path / "out")[name] for name in ("rows", "skipped", "aligned")} == {
        "rows": 12,
        "skipped": 2,
        "aligned": 10,
    }


def test_files_of_another_form_are_refused_before_anything_is_written(
    serial: list[tuple[str, int]],
    tmp_path: Path,
    texts: list[tuple[str, str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    good, other = write(tmp_path / "a.jsonl", texts), tmp_path / "b.jsonl"
    other.write_text('{"a": 1}\n', encoding="utf-8")
    assert bulk(good, other, "-o", tmp_path / "out") == 1
    assert capsys.readouterr().err == (
        f"pronmetric: error: {other}:1: the key \"reference\" is missing; the record has ['a']\n"
    )
    assert not (tmp_path / "out").exists() and serial == []


def test_columns_of_bitext(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"source": ["das Haus", "ein Haus"], "target": ["the house", "a house"]}), path)
    assert bulk(path, "-o", tmp_path / "out", "--columns", "source", "target") == 0
    assert [row["id"] for row in parts(tmp_path / "out" / "links")] == [None, None]
    assert bulk(path, "-o", tmp_path / "new") == 1


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--table", "t.npz", "--sample", "5"], "--table replaces training: leave out --sample and --seed"),
        (["--columns", "text", "text"], "--columns needs two different columns other than id"),
        (["--sample", "0"], "expected a whole number from 1"),
    ],
)
def test_flags_that_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as stop:
        bulk("in.jsonl", "-o", tmp_path, *flags)
    assert stop.value.code == 2 and message in capsys.readouterr().err


def test_a_file_that_is_no_table_is_refused(
    tmp_path: Path, texts: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", texts)
    (tmp_path / "t.npz").write_bytes(b"x")
    assert bulk(source, "-o", tmp_path / "out", "--table", tmp_path / "t.npz") == 1
    assert "t.npz: not a table written by" in capsys.readouterr().err and not (tmp_path / "out").exists()
