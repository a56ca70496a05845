"""`bulk score` without Ray: shards scored in this process equal `score --jsonl`; stopped runs, bad rows."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pronmetric.alignment.counts import files as source_files
from pronmetric.bulk import run
from pronmetric.cli.main import main
from pronmetric.installation import pip_install
from pronmetric.signature import Signature
from tests.tools.row_files import parts, write

Bulk = Callable[..., int]


@pytest.fixture
def bulk(serial: list[int], tiny_checkpoint: Callable[..., Path]) -> Bulk:
    """Runs `bulk score` with the tiny checkpoint; gives the exit code."""

    def call(*argv: str | Path) -> int:
        return main(["bulk", "score", *map(str, argv), "--model", str(tiny_checkpoint())])

    return call


@pytest.fixture
def records(sample: Path) -> list[dict[str, Any]]:
    """The outputs of two systems of the sample, in the context of their previous line, some twice."""
    found = []
    for name in ("a", "b"):
        lines = (sample / f"system-{name}.txt").read_text(encoding="utf-8").splitlines()[:25]
        for at, line in enumerate(lines):
            found.append({"id": f"{name}{at}", "text": line, "context": lines[max(0, at - 1) : at], "system": name})
    return [*found, *({**record, "id": f"again-{record['id']}"} for record in found[:5])]


def manifest(out: Path) -> dict[str, Any]:
    return json.loads((out / "manifest.json").read_text(encoding="utf-8"))


def test_scores_are_those_of_score(
    bulk: Bulk, tmp_path: Path, records: list[dict[str, Any]], run_tiny: Callable[..., tuple[str, str]]
) -> None:
    half = len(records) // 2
    inputs = [write(tmp_path / "1.parquet", records[:half]), write(tmp_path / "2.jsonl", records[half:])]
    assert bulk(*inputs, "-o", tmp_path / "out", "--shard-rows", "12") == 0
    whole = write(tmp_path / "all.jsonl", records)
    out, _ = run_tiny("score", "--jsonl", whole, "--to_json", tmp_path / "all.json")
    expected = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    found = parts(tmp_path / "out" / "scores")
    assert [row["id"] for row in found] == [one["id"] for one in expected] == [one["id"] for one in records]
    for row, one in zip(found, expected, strict=True):
        assert row["score"] == pytest.approx(one["score"], abs=1.1e-5)
        assert row["errors"] == pytest.approx(one["errors"], abs=1.1e-5)
        assert [p["probability"] for p in row["pronouns"]] == pytest.approx(
            [p["probability"] for p in one["pronouns"]], abs=1.1e-5
        )
        spans = [[(p["text"], p["start"], p["end"]) for p in each["pronouns"]] for each in (row, one)]
        assert spans[0] == spans[1]
    told = manifest(tmp_path / "out")
    system = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))["systems"][0]
    assert (told["rows"], told["scored"], told["skipped"], told["shards"]) == (len(records), len(records), 0, 6)
    assert sum(one["pronouns"] for one in told["systems"]) == system["pronouns"]
    assert [one["rows"] for one in told["inputs"]] == [half, len(records) - half]
    assert f"weights:{json.loads(json.dumps(told['signature'])).split('weights:')[1][:8]}" in told["signature"]


def test_systems_are_told_apart(
    bulk: Bulk,
    tmp_path: Path,
    records: list[dict[str, Any]],
    run_tiny: Callable[..., tuple[str, str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = write(tmp_path / "in.jsonl", records[:50])
    assert bulk(source, "-o", tmp_path / "out", "--shard-rows", "7") == 0
    printed = capsys.readouterr().out.splitlines()
    for name, line in zip("ab", printed, strict=True):
        alone = write(tmp_path / f"{name}.jsonl", [one for one in records[:50] if one["system"] == name])
        run_tiny("score", "--jsonl", alone, "--to_json", tmp_path / "one.json", "--only_system")
        expected = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))["systems"][0]
        found = next(one for one in manifest(tmp_path / "out")["systems"] if one["system"] == name)
        assert line == f"{name}\tscore: {found['score']:.4f}"
        assert found["score"] == pytest.approx(expected["score"], abs=1e-3)
        same = ("pronouns", "segments", "segments_with_pronoun", "units", "resampled")
        assert {key: found[key] for key in same} == {key: expected[key] for key in same}
        assert found["errors_per_100_pronouns"]["value"] == pytest.approx(
            expected["errors_per_100_pronouns"]["value"], abs=1e-3
        )
        assert found["interval"][0] < found["score"] < found["interval"][1]


def test_each_distinct_text_of_a_shard_is_encoded_once(
    bulk: Bulk, tmp_path: Path, records: list[dict[str, Any]]
) -> None:
    source = write(tmp_path / "in.jsonl", records[:5] * 4)
    assert bulk(source, "-o", tmp_path / "out") == 0
    with_pronoun = {json.dumps([r["context"], r["text"]]) for r in records[:5]}
    assert 0 < manifest(tmp_path / "out")["counts"]["encoded"] <= len(with_pronoun)


def test_a_stopped_run_goes_on_at_the_first_unfinished_shard(
    bulk: Bulk,
    serial: list[int],
    tmp_path: Path,
    records: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = write(tmp_path / "in.jsonl", records)
    call = [source, "-o", tmp_path / "out", "--shard-rows", "11"]
    assert bulk(*call) == 0
    whole = parts(tmp_path / "out" / "scores")
    first = capsys.readouterr().out
    (tmp_path / "out" / "manifest.json").unlink()  # as if it had been killed before shards 1 and 3 were written
    for number in (1, 3):
        path = tmp_path / "out" / "scores" / f"part-{number:06d}.parquet"
        path.rename(path.with_name(f".{path.name}.01234567.part"))
    serial.clear()
    assert bulk(*call) == 0
    assert serial == [1, 3]
    printed = capsys.readouterr()
    assert printed.out == first and "3 of 5 shards are finished" in printed.err
    assert parts(tmp_path / "out" / "scores") == whole
    assert len(list((tmp_path / "out" / "scores").iterdir())) == 5
    serial.clear()
    assert bulk(*call) == 0 and serial == []


@pytest.mark.parametrize("change", ["--context none", "--shard-rows 9", "input"])
def test_a_folder_of_another_run_is_refused(
    bulk: Bulk, tmp_path: Path, records: list[dict[str, Any]], capsys: pytest.CaptureFixture[str], change: str
) -> None:
    source = write(tmp_path / "in.jsonl", records[:20])
    assert bulk(source, "-o", tmp_path / "out") == 0
    if change == "input":
        write(source, records[:19])
    capsys.readouterr()
    assert bulk(source, "-o", tmp_path / "out", *(change.split() if change != "input" else [])) == 1
    assert "out: holds another run: " in capsys.readouterr().err


def test_a_bad_row_is_an_error_or_is_skipped(
    bulk: Bulk,
    serial: list[int],
    tmp_path: Path,
    records: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = write(tmp_path / "in.jsonl", [*records[:9], {"id": "bad", "text": None}, *records[9:12]])
    call = [source, "-o", tmp_path / "out", "--shard-rows", "4"]
    assert bulk(*call) == 1
    assert capsys.readouterr().err.endswith(f'pronmetric: error: {source}:10: "text" must be a string, got null\n')
    assert serial == [0, 1] and not (tmp_path / "out" / "manifest.json").exists()
    assert bulk(*call, "--on-error", "skip") == 0
    assert "bad rows skipped, see errors.parquet: 1 of 13" in capsys.readouterr().err
    (bad,) = pq.read_table(tmp_path / "out" / "errors.parquet").to_pylist()
    assert bad == {
        "input": str(source),
        "row": 10,
        "reason": '"text" must be a string, got null',
        "record": '{"id": "bad", "text": null}',
    }
    told = manifest(tmp_path / "out")
    assert (told["rows"], told["scored"], told["skipped"]) == (13, 12, 1)
    assert [row["row"] for row in parts(tmp_path / "out" / "scores")] == [*range(1, 10), 11, 12, 13]
    assert bulk(*call) == 1
    assert "an earlier run skipped 1 bad rows here" in capsys.readouterr().err


def test_the_context_counts_unless_none_is_asked_for(
    bulk: Bulk, tmp_path: Path, records: list[dict[str, Any]], run_tiny: Callable[..., tuple[str, str]]
) -> None:
    source = write(tmp_path / "in.jsonl", records[:12])
    assert bulk(source, "-o", tmp_path / "out", "--context", "none") == 0
    out, _ = run_tiny("score", "--jsonl", source, "--context", "none")
    expected = [json.loads(line)["score"] for line in out.splitlines() if line.startswith("{")]
    assert [row["score"] for row in parts(tmp_path / "out" / "scores")] == pytest.approx(expected, abs=1.1e-5)
    assert "|context:none|" in manifest(tmp_path / "out")["signature"]


def test_rows_in_another_language_are_noted(
    bulk: Bulk, tmp_path: Path, records: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    german = [
        "Sie kaufte dort ein Buch, weil es ihr gefiel.",
        "Am Abend las sie das Buch ihrem Bruder vor, und er h\u00f6rte zu.",
    ]
    write(tmp_path / "de.jsonl", [{"id": k, "text": text} for k, text in enumerate(german * 2)])
    assert bulk(tmp_path / "de.jsonl", "-o", tmp_path / "out", "--shard_rows", "3") == 0
    assert "pronmetric: the first rows: do the texts look like en? " in capsys.readouterr().err
    assert bulk(write(tmp_path / "en.jsonl", records[:12]), "-o", tmp_path / "en") == 0
    assert "do the texts look like" not in capsys.readouterr().err


def test_missing_pronouns_are_counted_by_the_source(
    bulk: Bulk,
    tmp_path: Path,
    sample: Path,
    run_tiny: Callable[..., tuple[str, str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts, sources = (
        (sample / name).read_text(encoding="utf-8").splitlines() for name in ("system-c.txt", "src.de.txt")
    )
    found = [{"id": k, "text": t, "source": s} for k, (t, s) in enumerate(zip(texts, sources, strict=True))]
    path = write(tmp_path / "in.parquet", found)
    assert bulk(path, "-o", tmp_path / "out", "--source-lang", "de") == 0
    run_tiny(
        "score", "--jsonl", write(tmp_path / "in.jsonl", found), "--source-lang", "de", "--to_json", tmp_path / "x"
    )
    expected = json.loads((tmp_path / "x").read_text(encoding="utf-8"))
    assert [row["score"] for row in parts(tmp_path / "out" / "scores")] == pytest.approx(
        [one["score"] for one in expected["segments"]], abs=1.1e-5
    )
    (mine,), (theirs,) = manifest(tmp_path / "out")["systems"], expected["systems"]
    assert mine["missing_pronouns"] == theirs["missing_pronouns"] > 0
    assert mine["surplus_pronouns"] == theirs["surplus_pronouns"]
    assert bulk(path, "-o", tmp_path / "plain") == 0  # the same scores; the table adds columns, and is signed
    plain, counted = parts(tmp_path / "plain" / "scores"), parts(tmp_path / "out" / "scores")
    added = {"missing", "surplus"}
    assert [{name: value for name, value in row.items() if name not in added} for row in counted] == plain
    assert added <= counted[0].keys() and all("source" not in p for row in counted for p in row["pronouns"])
    signed = Signature.parse(manifest(tmp_path / "plain")["signature"]).plus(
        unmatched=f"de-{source_files.of_language('de').hash}"
    )
    assert manifest(tmp_path / "out")["signature"] == str(signed)
    assert Signature.parse(expected["signature"]).differences(signed).keys() == {"unmatched"}
    capsys.readouterr()
    assert bulk(path, "-o", tmp_path / "plain", "--source-lang", "de") == 1
    assert "unmatched" in capsys.readouterr().err


def test_other_weights_on_a_worker_are_refused(
    serial: list[int],
    tmp_path: Path,
    records: list[dict[str, Any]],
    tiny_checkpoint: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, model = write(tmp_path / "in.jsonl", records[:3]), tmp_path / "model"
    shutil.copytree(tiny_checkpoint(), model)
    prepare = run.prepare

    def change(*args: Any, **options: Any) -> Any:
        shutil.rmtree(model)
        shutil.copytree(tiny_checkpoint(max_pieces=32), model)
        return prepare(*args, **options)

    monkeypatch.setattr(run, "prepare", change)
    assert main(["bulk", "score", str(source), "-o", str(tmp_path / "out"), "--model", str(model)]) == 1
    assert "a worker has another checkpoint or version: expected model:model|" in capsys.readouterr().err


def test_flags_that_are_refused(bulk: Bulk, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for flags, message in (
        (["--gpus-per-worker", "1.5"], "expected a part of a GPU, or a whole number, got '1.5'"),
        (["--workers", "0"], "expected a whole number from 1"),
    ):
        with pytest.raises(SystemExit) as stop:
            bulk("in.jsonl", "-o", tmp_path, *flags)
        assert stop.value.code == 2 and message in capsys.readouterr().err


def test_an_empty_input_is_refused(bulk: Bulk, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "in.jsonl", [])
    assert bulk(source, "-o", tmp_path / "out") == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"pronmetric: error: {source}: has no rows"


def test_a_missing_extra_is_named(
    tmp_path: Path, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["bulk", "score", str(write(tmp_path / "in.jsonl", records)), "-o", str(tmp_path / "out")]) == 1
    assert f"bulk needs ray, which is not installed: {pip_install('ray', 'ray')}\n" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["align", "prepare"])
def test_a_removed_command_says_so(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bulk", command, "in.jsonl", "-o", "out"]) == 1
    assert f"`bulk {command}` was removed in 1.0.0" in capsys.readouterr().err
