"""The plan, the output and the statistics of bulk runs; no Ray and no model."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from pronmetric.bulk import cluster, plan, shards, storage, worker
from pronmetric.bulk.inputs import InputFile, Source
from pronmetric.bulk.job import Job
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.rows import BadRow, Row
from pronmetric.bulk.shards import ErrorRows, ShardWriter
from pronmetric.bulk.statistics import ShardStatistics, SystemSums
from pronmetric.errors import InputError
from pronmetric.scoring.score import Counts, Evidence, Gap, PronounScore, SegmentScore, Tally, Unmatched
from pronmetric.scoring.surplus import tell_surplus
from pronmetric.signature import Signature
from pronmetric.text.context import Text
from pronmetric.text.words import Word

SIGNATURE = Signature.of(model="tiny", weights="ab", context="given")


def surveyed(*rows: int) -> list[InputFile]:
    return [
        InputFile(Source(f"{k}.parquet", f"/{k}.parquet", "parquet", None), 9, "ab", number)
        for k, number in enumerate(rows)
    ]


def segments(seed: int, number: int) -> list[SegmentScore]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        values = [float(v) for v in rng.random(rng.integers(0, 4))]
        pronouns = tuple(PronounScore("it", 0, 2, v, v) for v in values)
        mean = sum(values) / len(values) if values else None
        found.append(SegmentScore(mean, pronouns, None if mean is None else 3 * mean - 1, words=7))
    return found


def tallied(found: list[SegmentScore]) -> Tally:
    tally = Tally()
    for segment in found:
        tally.add(segment)
    return tally


def test_the_shards_of_two_files_do_not_cross_them() -> None:
    cut = plan.cut(surveyed(5, 0, 3), rows=3)
    assert [(s.number, s.file, s.start, s.stop) for s in cut] == [(0, 0, 0, 3), (1, 0, 3, 5), (2, 2, 0, 3)]
    assert [s.name for s in cut] == ["part-000000.parquet", "part-000001.parquet", "part-000002.parquet"]


def test_a_folder_takes_one_plan(tmp_path: Path) -> None:
    folder = storage.place(str(tmp_path / "out"))
    mine = plan.record(surveyed(5, 3), SIGNATURE, rows=3)
    assert not plan.adopt(folder, mine)
    assert plan.adopt(folder, json.loads(json.dumps(mine)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"signature": str(SIGNATURE.plus(more=1))}, "its signature has more:None, this one more:1"),
        ({"rows_of_shard": 4}, "its shards have 3 rows, these 4 (`shard_rows=`)"),
        ({"inputs": plan.record(surveyed(5), SIGNATURE, rows=3)["inputs"]}, "its inputs are 2 files, these 1"),
        ({"inputs": plan.record(surveyed(5, 4), SIGNATURE, rows=3)["inputs"]}, "the input 1.parquet has changed"),
        ({"format": 0}, "plan.json is of another format"),
    ],
)
def test_a_folder_of_another_plan_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    folder = storage.place(str(tmp_path))
    mine = plan.record(surveyed(5, 3), SIGNATURE, rows=3)
    plan.adopt(folder, mine)
    with pytest.raises(InputError) as raised:
        plan.adopt(folder, {**mine, **change})
    assert message in str(raised.value)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with pytest.raises(InputError, match="has files, but none of a bulk run"):
        plan.adopt(storage.place(str(tmp_path)), {})
    (tmp_path / "plan.json").write_text("{")
    with pytest.raises(InputError, match="broken JSON"):
        plan.adopt(storage.place(str(tmp_path)), {})


def row(number: int, system: str | None = None) -> Row:
    return Row(number, f"id-{number}", system, Text("", "It is."))


def write(folder: Path, shard: Shard, found: list[SegmentScore], bad: list[BadRow] = []) -> None:  # noqa: B006
    place = storage.place(str(folder))
    errors = ErrorRows(place, shard, "in.jsonl")
    for one in bad:
        errors.add(one)
    errors.write()
    with ShardWriter(place / "scores" / shard.name, worker.scores_schema(evidence=False, unmatched=False)) as writer:
        for number, segment in enumerate(found, start=1):
            writer.add(worker.scores_row(row(number), segment, name="in.jsonl"))
        sums = {None: SystemSums.of(tallied(found))}
        writer.finish(ShardStatistics(len(found) + len(bad), len(bad), sums, Counts(encoded=len(found))))


def bad(number: int) -> BadRow:
    return BadRow(number, InputError("no text", file="in.jsonl", line=number), "{}")


def test_a_shard_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_GROUP", 4)
    shard, found = Shard(3, 0, 0, 11, 0, 0), segments(1, 10)
    write(tmp_path, shard, found, [bad(11)])
    rows = pq.read_table(tmp_path / "scores" / shard.name).to_pylist()
    assert [r["row"] for r in rows] == list(range(1, 11)) and {r["input"] for r in rows} == {"in.jsonl"}
    assert [r["score"] for r in rows] == [s.score for s in found]
    assert [r["errors"] for r in rows] == [s.errors for s in found]
    assert [r["preference"] for r in rows] == [s.preference for s in found]
    assert [[p["probability"] for p in r["pronouns"]] for r in rows] == [[p.score for p in s.pronouns] for s in found]
    folder = storage.place(str(tmp_path))
    assert shards.finished(folder) == {shard.name}
    merged = shards.statistics(folder, [shard])
    assert (merged.rows, merged.skipped, merged.counts.encoded) == (11, 1, 10)
    assert merged.systems[None] == SystemSums.of(tallied(found))


def test_what_the_source_says_is_in_columns_of_its_own(tmp_path: Path) -> None:
    pronoun = PronounScore("it", 0, 2, 0.5, 0.5, Evidence(0.25, "er", 3, 5))
    segment = SegmentScore(0.5, (pronoun,), None, 2, Unmatched((Word("sie", 0, 3),), ()))
    shard = Shard(0, 0, 0, 1, 0, 0)
    target = storage.place(str(tmp_path)) / "scores" / shard.name
    with ShardWriter(target, worker.scores_schema(evidence=True, unmatched=True)) as writer:
        writer.add(worker.scores_row(row(1), segment, name="a"))
        writer.finish(ShardStatistics.empty())
    (found,) = pq.read_table(tmp_path / "scores" / shard.name).to_pylist()
    assert found["pronouns"][0]["source"] == {"log_odds": 0.25, "word": "er", "start": 3, "end": 5}
    assert (found["missing"], found["surplus"]) == ([{"text": "sie", "start": 0, "end": 3}], [])


def test_errors_apart_are_in_columns_of_their_own(tmp_path: Path) -> None:
    segment = SegmentScore(0.75, (PronounScore("it", 0, 2, 0.75, 0.75),), missing=0.5, gaps=(Gap(3, "he", 0.25),))
    shard = Shard(0, 0, 0, 1, 0, 0)
    target = storage.place(str(tmp_path)) / "scores" / shard.name
    with ShardWriter(target, worker.scores_schema(evidence=False, unmatched=False, gaps=True)) as writer:
        writer.add(worker.scores_row(row(1), segment, name="a"))
        sums = {None: SystemSums.of(tallied([segment]))}
        writer.finish(ShardStatistics(1, 0, sums, Counts()))
    (found,) = pq.read_table(tmp_path / "scores" / shard.name).to_pylist()
    assert (found["errors"], found["expected_wrong"], found["expected_missing"]) == (0.75, 0.25, 0.5)
    assert found["gaps"] == [{"start": 3, "form": "he", "probability": 0.25}]
    assert shards.statistics(storage.place(str(tmp_path)), [shard]).systems == sums


def test_surplus_pronouns_have_a_column(tmp_path: Path) -> None:
    one = SegmentScore(0.75, (PronounScore("it", 0, 2, 0.75, 0.75),), missing=0.5)
    shard = Shard(0, 0, 0, 1, 0, 0)
    target = storage.place(str(tmp_path)) / "scores" / shard.name
    with ShardWriter(target, worker.scores_schema(evidence=False, unmatched=False, gaps=True)) as writer:
        for number, segment in enumerate((tell_surplus(one, {"": 0.5}), one), start=1):
            writer.add(worker.scores_row(row(number), segment, name="a"))
        sums = {None: SystemSums.of(tallied([tell_surplus(one, {"": 0.5})]))}
        writer.finish(ShardStatistics(1, 0, sums, Counts()))
    first, second = pq.read_table(tmp_path / "scores" / shard.name).to_pylist()
    assert (first["errors"], first["expected_wrong"], first["expected_surplus"]) == (0.75, 0.125, 0.125)
    assert (second["errors"], second["expected_wrong"], second["expected_surplus"]) == (0.75, 0.25, None)
    assert [each["pronouns"][0]["surplus"] for each in (first, second)] == [0.125, None]
    assert shards.statistics(storage.place(str(tmp_path)), [shard]).systems == sums


def test_an_error_leaves_no_file(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="stop"),
        ShardWriter(
            storage.place(str(tmp_path)) / "scores" / "a", worker.scores_schema(evidence=False, unmatched=False)
        ) as writer,
    ):
        writer.add(worker.scores_row(row(1), segments(1, 1)[0], name="a"))
        raise ValueError("stop")
    assert list((tmp_path / "scores").iterdir()) == []


class Full:
    """A worker on a full disk, and its task."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def worker(self, job: Job) -> Full:
        return self

    def work(self, number: int) -> None:
        with storage.atomic(storage.place(str(self.target))):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_worker_names_the_file_that_a_full_disk_broke(tmp_path: Path) -> None:
    job = Job(str(tmp_path), [], [], False, Full(tmp_path / "a"))
    said = cluster._Worker(job)({"item": np.array([4])})
    assert said == {"number": [4], "error": [f"{tmp_path / 'a'}: No space left on device"]}
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_at_the_last_bytes_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, close = tmp_path / "scores" / "a", pq.ParquetWriter.close

    def full(self: pq.ParquetWriter) -> None:
        close(self)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq.ParquetWriter, "close", full)
    schema = worker.scores_schema(evidence=False, unmatched=False)
    with pytest.raises(OSError, match="No space") as caught, ShardWriter(storage.place(str(target)), schema) as writer:
        writer.finish(ShardStatistics(0, 0, {}, Counts()))
    assert caught.value.filename == str(target)
    assert list((tmp_path / "scores").iterdir()) == []


def test_skipped_rows_are_merged_in_order_and_partial_files_are_removed(tmp_path: Path) -> None:
    both = [Shard(0, 0, 0, 2, 0, 0), Shard(1, 0, 2, 4, 0, 0)]
    for shard in both[::-1]:
        write(tmp_path, shard, [], [bad(shard.start + 1), bad(shard.start + 2)])
    (tmp_path / "scores" / ".part-000001.parquet.01234567.part").touch()
    folder = storage.place(str(tmp_path))
    shards.write_errors(folder, both, skipped=4)
    shards.clean(folder)
    found = pq.read_table(tmp_path / "errors.parquet").to_pylist()
    assert [(r["row"], r["reason"], r["record"]) for r in found] == [(k, "no text", "{}") for k in (1, 2, 3, 4)]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "errors.parquet",
        *(shard.name for shard in both),
    ]


def test_a_broken_shard_is_named(tmp_path: Path) -> None:
    (tmp_path / "scores").mkdir()
    shard = Shard(0, 0, 0, 2, 0, 0)
    (tmp_path / "scores" / shard.name).write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"part-000000.parquet: is broken .*; delete it and run again"):
        shards.statistics(storage.place(str(tmp_path)), [shard])


def test_merged_statistics_are_those_of_one_pass() -> None:
    found = segments(4, 500)
    parts = [found[:1], found[1:220], [], found[220:]]
    merged = SystemSums()
    for part in parts:
        merged = merged.merge(SystemSums.of(tallied(part)))
    mine, tally = merged.system_score(), tallied(found).score()
    for name in ("pronouns", "segments", "with_pronoun", "units", "missing", "surplus", "resampled"):
        assert getattr(mine, name) == getattr(tally, name), name
    assert mine.score == pytest.approx(tally.score, rel=1e-12)
    for name in ("errors", "errors_in_words", "preference"):
        assert getattr(mine, name).value == pytest.approx(getattr(tally, name).value, rel=1e-12), name
    for ends, expected in ((mine.interval, tally.interval), (mine.errors.interval, tally.errors.interval)):
        assert ends == pytest.approx(expected, rel=1e-9)


def test_statistics_survive_json() -> None:
    sums = {"Alder": SystemSums.of(tallied(segments(5, 30))), None: SystemSums(missing=2)}
    before = ShardStatistics(40, 3, sums, Counts(encoded=9, cut=1))
    after = ShardStatistics.read(json.loads(json.dumps(before.record())))
    assert after == before
    twice = after.merge(before)
    assert (twice.rows, twice.skipped, twice.counts.encoded, list(twice.systems)) == (80, 6, 18, ["Alder", None])


def test_unbounded_scores_have_no_errors() -> None:
    segment = SegmentScore(7.0, (PronounScore("it", 0, 2, 7.0, None),), words=2)
    both = SystemSums.of(tallied([segment])).merge(SystemSums.of(tallied([segment._replace(score=None, pronouns=())])))
    found = both.system_score()
    assert (found.score, found.errors, found.errors_in_words, found.segments) == (7.0, None, None, 2)
