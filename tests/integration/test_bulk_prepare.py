"""`bulk prepare` without Ray: pairs equal those of `prepare`; repeated pairs, stopped runs, bad rows."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest

from data_prep.rows_to_pairs import RowPairs
from data_prep.wmt import corpus, discovery
from pronmetric.bulk import parts as buckets
from pronmetric.bulk import shards
from pronmetric.cli.main import main
from pronmetric.data import arrow
from tests.tools.row_files import parts, write

DATASET = "generaltest2023:de-en"


def bulk(*argv: str | Path) -> int:
    return main(["bulk", "prepare", *map(str, argv)])


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, wmt_sample: Path) -> Path:
    """The pairs of the sample of WMT, all for training."""
    out = tmp_path_factory.mktemp("prepared") / "out"
    call = ["prepare", f"data.wmt={wmt_sample}", "data.exclude=[]", f"out={out}"]
    assert main([*call, "splits.development=[]", "splits.development_share=0"]) == 0
    return out


@pytest.fixture(scope="module")
def records(wmt_sample: Path) -> list[dict[str, Any]]:
    """The outputs of the sample, each with its reference and the previous sentences of both."""
    found = []
    for document in discovery.read(corpus.find(DATASET, str(wmt_sample))):
        for at, segment in enumerate(document.segments):
            before = document.segments[max(0, at - 2) : at]
            for ref, better in segment.refs.items():
                for system, worse in segment.hyps.items():
                    found.append(
                        {
                            "id": f"{document.testset}.{document.lp}/{ref}/{system}/{segment.seg}",
                            "reference": better,
                            "text": worse,
                            "context": [other.refs[ref] for other in before],
                            "system_context": [other.hyps[system] for other in before],
                            "system": system,
                            "ref": ref,
                            "testset": document.testset,
                            "lp": document.lp,
                            "doc": document.doc,
                            "seg": segment.seg,
                        }
                    )
    return found


def read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def test_pairs_are_those_of_prepare(
    serial: list[tuple[str, int]],
    tmp_path: Path,
    prepared: Path,
    records: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(buckets, "BUCKET", 80)
    half = len(records) // 2
    inputs = [write(tmp_path / "1.parquet", records[:half]), write(tmp_path / "2.jsonl", records[half:])]
    out = tmp_path / "out"
    assert bulk(*inputs, "-o", out, "--shard-rows", "30") == 0
    steps = {"compare": 8, "unique": 3, "collect": 8}
    assert serial == [(step, number) for step, count in steps.items() for number in range(count)]
    expected = arrow.read_pairs(prepared, "train")
    assert parts(out / "pairs") == expected.to_list() and len(expected) > 200
    (table,) = (prepared / ".stages").glob("aligner-*.npz")
    assert (out / "table.npz").read_bytes() == table.read_bytes()
    assert read(out / "confusion.json") == read(prepared / "confusion.json")
    told, theirs = read(out / "manifest.json"), read(prepared / "manifest.json")
    counts = theirs["counts"]["testsets"]["generaltest2023.de-en"]
    assert told["counts"] == {name: count for name, count in counts.items() if name != "read"}
    assert (told["rows"], told["skipped"], told["shards"]) == (len(records), 0, 8)
    kept = told["counts"]["kept"]
    assert capsys.readouterr().out == (
        f"rows\t{len(records)}\nsystem pairs\t{kept['system']}\nnoisy pairs\t{kept['noisy']}\n"
    )
    assert sorted(path.name for path in out.iterdir()) == [
        *("confusion.json", "manifest.json", "pairs", "plan.json", "table.npz"),
    ]


def test_datasets_reads_the_pairs(
    serial: list[tuple[str, int]], tmp_path: Path, records: list[dict[str, Any]], prepared: Path
) -> None:
    assert bulk(write(tmp_path / "in.jsonl", records), "-o", tmp_path / "out", "--shard-rows", "50") == 0
    found = datasets.load_dataset(
        "parquet", data_files=str(tmp_path / "out" / "pairs" / "*"), split="train", cache_dir=str(tmp_path / "cache")
    )
    expected = arrow.read_pairs(prepared, "train")
    assert found.features == expected.features and found.to_list() == expected.to_list()


def test_repeated_pairs_are_dropped_in_all_shards(
    serial: list[tuple[str, int]], tmp_path: Path, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "BUCKET", 50)
    again = [{**record, "id": f"again-{record['id']}"} for record in records]
    once, twice = tmp_path / "once", tmp_path / "twice"
    assert bulk(write(tmp_path / "1.jsonl", records), "-o", once) == 0
    call = [write(tmp_path / "2.jsonl", [*records, *again]), "--table", once / "table.npz"]
    assert bulk(*call, "-o", twice, "--shard-rows", "40") == 0
    assert parts(twice / "pairs") == parts(once / "pairs")
    before, after = (read(out / "manifest.json")["counts"] for out in (once, twice))
    assert after["kept"] == before["kept"]
    for kind in ("system", "noisy"):
        repeated = before["dropped"].get(kind, {}).get("repeated", 0)
        assert after["dropped"][kind]["repeated"] == before["kept"][kind] + 2 * repeated


def test_a_stopped_run_goes_on(
    serial: list[tuple[str, int]],
    tmp_path: Path,
    records: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(buckets, "BUCKET", 60)
    out = tmp_path / "out"
    bad = {"id": "bad", "reference": "He left.", "text": None}
    call = [write(tmp_path / "in.jsonl", [*records[:100], bad, *records[100:120]]), "-o", out, "--shard-rows", "25"]
    assert bulk(*call) == 1
    assert capsys.readouterr().err.endswith(':101: "text" must be a string, got null\n')
    assert serial == [("compare", number) for number in range(4)]
    serial.clear()
    monkeypatch.setattr(shards, "clean", lambda *_: None)
    assert bulk(*call, "--on-error", "skip") == 0
    assert serial[0] == ("compare", 4) and "bad rows skipped, see errors.parquet: 1 of 121" in capsys.readouterr().err
    whole, told = parts(out / "pairs"), read(out / "manifest.json")
    assert [row["row"] for row in pq.read_table(out / "errors.parquet").to_pylist()] == [101]
    (out / "dedupe" / "repeated" / "000001.arrow").unlink()
    (out / "pairs" / "part-000002.parquet").unlink()
    serial.clear()
    assert bulk(*call, "--on-error", "skip") == 0
    assert serial == [("unique", 1), ("collect", 2)] and parts(out / "pairs") == whole
    assert read(out / "manifest.json") == told


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"reference": None}, '"reference" must be a string, got null'),
        ({"id": None}, 'the key "id" is missing or null'),
        ({"context": "A."}, '"context" must be a list of strings'),
        ({"seg": "x"}, '"seg" must be a whole number from 0 to 2,147,483,647, got "x"'),
        ({"seg": 2**31}, '"seg" must be a whole number from 0 to 2,147,483,647, got 2147483648'),
        ({"system": 3}, '"system" must be a string or null'),
    ],
)
def test_bad_rows(
    serial: list[tuple[str, int]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    reason: str,
) -> None:
    source = write(tmp_path / "in.jsonl", [{"id": 1, "reference": "He left.", "text": "She left.", **change}])
    assert bulk(source, "-o", tmp_path / "out") == 1
    assert f"pronmetric: error: {source}:1: {reason}" in capsys.readouterr().err


def test_a_row_alone_has_defaults(serial: list[tuple[str, int]], tmp_path: Path) -> None:
    rows_in = [
        {"id": 7, "reference": "He left.", "text": "She left.", "context": ["A.", "B.", " ", "C."]},
        {"id": 8, "reference": "He left.", "text": "He left."},
    ]
    source = write(tmp_path / "in.jsonl", rows_in)
    assert bulk(source, "-o", tmp_path / "out", "--context-size", "3") == 0
    system, noisy = parts(tmp_path / "out" / "pairs")
    assert (system["id"], noisy["id"], system["seg"]) == ("7", "7#1", 1)
    assert (system["ref"], system["system"], system["testset"], system["lp"], system["doc"]) == (
        *("ref", "system"),
        *("", "", ""),
    )
    assert (system["context"], system["system_context"]) == (["B.", "C."], [])
    assert read(tmp_path / "out" / "confusion.json") == {"he": {"she": 1}}
    assert "|context_size:3|agreement:grammar|" in read(tmp_path / "out" / "manifest.json")["signature"]


def test_settings_are_sent_to_workers_without_what_was_read() -> None:
    maker = RowPairs("en", "all", 2, "grammar", 0.8)
    maker.check()  # the filter is a function, which cannot be pickled
    assert pickle.loads(pickle.dumps(maker)) == maker


def test_settings_that_there_are_not(
    serial: list[tuple[str, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", [{"id": 1, "reference": "He left.", "text": "She left."}])
    for flags, message in (
        (["--agreement", "some"], "filter.agreement=some: expected grammar, none or the file of a table"),
        (["--target", "xx"], "xx"),
    ):
        assert bulk(source, "-o", tmp_path / "out", *flags) == 1
        assert message in capsys.readouterr().err and not (tmp_path / "out").exists()
