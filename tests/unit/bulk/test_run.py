"""Whole bulk runs of `score` in one process, with a stand-in for the model; no Ray."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pronmetric.bulk import inputs, rows, run, score, statistics, storage
from pronmetric.bulk.job import Job
from pronmetric.bulk.statistics import GROUPS, DocumentSums, SystemSums
from pronmetric.bulk.worker import Model, Scoring, ShardScorer
from pronmetric.errors import InputError
from pronmetric.scoring.score import Counts, PronounScore, SegmentScore, Tally
from pronmetric.signature import Signature
from pronmetric.text.context import Text
from tests.tools.row_files import jsonl

FORM = rows.to_score(with_source=False)
SIGNATURE = Signature.of(model="tiny")
MODEL = Model(None, None, 0, False, None, None)


def segment(text: str) -> SegmentScore:
    """The score that a text states: "0.8 0.9"."""
    values = [float(word) for word in text.split()]
    pronouns = tuple(PronounScore("it", 0, 2, value, value) for value in values)
    return SegmentScore(sum(values) / len(values), pronouns, None, words=10)


class Task:
    """A run whose workers read the scores from the texts; `during` is called after the first row of each shard."""

    def __init__(self, during: Callable[[], object]) -> None:
        self.during = during

    def worker(self, job: Job) -> ShardScorer:
        made = ShardScorer(job, Scoring(MODEL, "given", None, str(SIGNATURE)))
        made._stream = self.stream  # type: ignore[method-assign]
        return made

    def stream(self, texts: Iterable[Text], counts: Counts) -> Iterator[SegmentScore]:
        for number, text in enumerate(texts):
            if not number:
                self.during()
            yield segment(text.text)


@contextmanager
def tracked(_: Sequence[int]) -> Iterator[Callable[[int], object]]:
    yield lambda _: None


class Run:
    """A run: planned, then done."""

    def __init__(self, out: Path, *names: object, size: int | None = None, skip: bool = False) -> None:
        self.place, self.skip = storage.place(str(out)), skip
        self.sources, _ = inputs.find([str(name) for name in names], output=self.place)
        surveyed = inputs.survey(self.sources, FORM.columns)
        self.plan = run.prepare(self.place, surveyed, SIGNATURE, rows=size)

    def job(self, during: Callable[[], object]) -> Job:
        return Job(self.place.url, self.sources, self.plan.shards, self.skip, Task(during))

    def __call__(self, during: Callable[[], object] = lambda: None) -> dict[str, Any]:
        job = self.job(during)

        @contextmanager
        def connect() -> Iterator[Callable[[Job, Sequence[int]], Iterator[int]]]:
            worker = job.task.worker(job)

            def do(_: Job, numbers: Sequence[int]) -> Iterator[int]:
                for number in numbers:
                    worker.work(number)
                    yield number

            yield do

        score.score(self.plan, job, connect, track=tracked)
        return dict(json.loads((Path(self.place.path) / "manifest.json").read_text()))


def records(number: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": k, "text": f"0.{k % 9 + 1}", **more} for k in range(number)]


def parquet(path: Path, content: list[dict[str, Any]], **options: Any) -> Path:
    pq.write_table(pa.Table.from_pylist(content), path, **options)
    return path


CHANGED = "the file has changed since the run began: run again, into a new folder"


@pytest.mark.parametrize("write", [parquet, jsonl])
@pytest.mark.parametrize("rows_now", [20, 37, 50])
def test_an_input_that_is_rewritten_after_the_survey_is_refused(
    tmp_path: Path, write: Callable[..., Path], rows_now: int
) -> None:
    path = write(tmp_path / "a.jsonl" if write is jsonl else tmp_path / "a.parquet", records(37))
    planned = Run(tmp_path / "out", path, skip=True)
    write(path, [{**row, "text": "0.5"} for row in records(rows_now)])
    with pytest.raises(InputError) as raised:
        planned()
    assert str(raised.value) == f"{path}: {CHANGED}"
    assert not (tmp_path / "out" / "manifest.json").exists()
    assert not list((tmp_path / "out").rglob("part-*.parquet"))


def test_an_input_that_is_rewritten_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", records(37))
    with pytest.raises(InputError, match=CHANGED):
        Run(tmp_path / "out", path)(lambda: jsonl(path, records(38)))
    assert not list((tmp_path / "out").rglob("part-*.parquet"))


def test_an_input_that_is_removed_is_named(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", records(3))
    planned = Run(tmp_path / "out", path)
    path.unlink()
    with pytest.raises(InputError, match=r"a.jsonl: is not there any more"):
        planned()


@pytest.mark.parametrize("write", [parquet, jsonl])
def test_rows_that_are_missing_are_noticed_without_times(
    tmp_path: Path, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "version_of", lambda where: "the same")  # as on a store that knows none
    path = write(tmp_path / "a.jsonl" if write is jsonl else tmp_path / "a.parquet", records(37))
    planned = Run(tmp_path / "out", path, skip=True)
    write(path, records(20))
    with pytest.raises(InputError, match=r"ends at row 20, before row 37; the file has changed"):
        planned()


def test_the_driver_checks_the_rows_of_each_shard(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", records(10))
    planned = Run(tmp_path / "out", path, size=5)
    planned()
    again = Run(tmp_path / "more", jsonl(tmp_path / "b.jsonl", records(3)))
    again()
    (tmp_path / "more" / "scores" / "part-000000.parquet").replace(tmp_path / "out" / "scores" / "part-000001.parquet")
    with pytest.raises(InputError, match=r"part-000001.parquet: has 3 rows of the input, the plan 5; delete it"):
        Run(tmp_path / "out", path, size=5)()


@pytest.mark.parametrize("skip", [False, True])
def test_a_damaged_page_is_an_error_of_the_input(tmp_path: Path, skip: bool) -> None:
    path = parquet(tmp_path / "a.parquet", records(4000), compression="none", use_dictionary=False)
    planned = Run(tmp_path / "out", path, skip=skip)
    raw = bytearray(path.read_bytes())
    raw[4:604] = b"\xff" * 600
    stat = path.stat()
    path.write_bytes(raw)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(InputError) as raised:
        planned()
    assert str(raised.value).startswith(f"{path}: the rows from 1 on cannot be read (")
    assert str(raised.value).endswith("); fetch or write it again")


def test_a_damaged_first_page_is_named_before_the_run(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", records(4000), compression="none", use_dictionary=False)
    raw = bytearray(path.read_bytes())
    raw[4:604] = b"\xff" * 600
    path.write_bytes(raw)
    sources, _ = inputs.find([str(path)], output=storage.place(str(tmp_path / "out")))
    with pytest.raises(InputError, match=r"a.parquet: the rows from 1 on cannot be read"):
        rows.check_first(inputs.survey(sources, FORM.columns), FORM)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.Table.from_arrays([pa.array([1]), pa.array(["a"]), pa.array(["b"])], ["id", "text", "text"]), path
    )
    with pytest.raises(InputError, match=r"a.parquet: 2 columns are named 'text': rename or drop all but one"):
        Run(tmp_path / "out", path)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_link_to_an_input_is_the_same_input(tmp_path: Path, link: Callable[[Path, Path], None]) -> None:
    (tmp_path / "d").mkdir()
    path = jsonl(tmp_path / "d" / "a.jsonl", records(3))
    link(path, tmp_path / "d" / "b.jsonl")
    with pytest.raises(InputError, match=rf"b.jsonl: is given twice by a link: it is the file {path}; give each"):
        Run(tmp_path / "out", tmp_path / "d")


def test_an_output_below_an_input_through_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    jsonl(tmp_path / "d" / "a.jsonl", records(3))
    os.symlink(tmp_path / "d", tmp_path / "link")
    with pytest.raises(InputError, match="is inside this input folder"):
        Run(tmp_path / "link" / "out", tmp_path / "d")


def test_a_second_driver_that_finishes_first_does_no_harm(tmp_path: Path) -> None:
    content: list[dict[str, Any]] = [*records(9), {"id": 9}, {"id": 10}]
    path = jsonl(tmp_path / "a.jsonl", content)
    whole = Run(tmp_path / "alone", path, size=4, skip=True)()
    first = Run(tmp_path / "out", path, size=4, skip=True)
    second = Run(tmp_path / "out", path, size=4, skip=True)
    done: list[dict[str, Any]] = []

    def finish() -> None:
        if not done:
            done.append({})
            done[0] = second()

    assert first(finish)["systems"] == done[0]["systems"] == whole["systems"]
    assert pq.read_table(tmp_path / "out" / "errors.parquet").num_rows == 2
    assert not [path for path in (tmp_path / "out").rglob("*") if path.name.endswith(".part")]


def test_a_system_named_all_is_not_that_of_rows_without_one(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [*records(6), *records(6, system="all"), *records(6, system="(no system)")])
    found = Run(tmp_path / "out", path)()
    assert [one["system"] for one in found["systems"]] == [None, "all", "(no system)"]


def scored(number: int, docs: int) -> list[dict[str, Any]]:
    """Rows in which all segments of a document have the same score."""
    return [{"id": k, "text": f"0.{5 + k % docs % 5}", "doc": f"d{k % docs}"} for k in range(number)]


@pytest.mark.parametrize("size", [3, 7, 1000])
def test_intervals_are_over_documents_in_whatever_shards(tmp_path: Path, size: int) -> None:
    content = scored(40, 8)
    path = jsonl(tmp_path / "a.jsonl", content)
    (found,) = Run(tmp_path / "out", path, size=size)()["systems"]
    tally = Tally()
    for row in content:
        tally.add(segment(row["text"]), row["doc"])
    expected = tally.score()
    assert (found["resampled"], found["units"]) == ("documents", 8) == (expected.resampled, expected.units)
    assert found["interval"] == pytest.approx(expected.interval, abs=1e-5)
    assert found["errors_per_100_pronouns"]["interval"] == pytest.approx(expected.errors.interval, abs=1e-5)  # type: ignore[union-attr]


def test_a_row_without_a_document_makes_it_segments(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [*scored(40, 8), {"id": 40, "text": "0.5"}])
    (found,) = Run(tmp_path / "out", path, size=6)()["systems"]
    assert (found["resampled"], found["units"]) == ("segments", 41)


def test_documents_may_be_integers(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", [{"id": k, "text": f"0.{5 + k % 3}", "doc": k % 5} for k in range(30)])
    (found,) = Run(tmp_path / "out", path, size=7)()["systems"]
    assert (found["resampled"], found["units"]) == ("documents", 5)


def tallied(names: Iterable[int]) -> Tally:
    tally = Tally()
    for name in names:
        tally.add(segment(f"0.{name * 7919 % 9 + 1} 0.{name * 104729 % 9 + 1}"), f"doc-{name}")
    return tally


def test_very_many_documents_are_grouped_whatever_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "MOST", 50)
    names = range(600)
    whole = SystemSums.of(tallied(names))
    exact = tallied(names).score()
    assert whole.documents is not None and whole.documents.grouped and len(whole.documents.sums) == 50
    for step in (20, 170):  # a few documents a shard, or more than are kept one by one
        merged = SystemSums()
        for at in range(0, 600, step):
            merged = merged.merge(SystemSums.of(tallied(names[at : at + step])))
        assert merged.documents is not None and whole.documents is not None
        assert merged.documents.sums.keys() == whole.documents.sums.keys()
        for name, sums in merged.documents.sums.items():
            assert sums == pytest.approx(whole.documents.sums[name])
    found = whole.system_score()
    assert (found.resampled, found.units) == (GROUPS, 50)
    assert found.score == pytest.approx(exact.score)
    assert found.interval is not None and exact.interval is not None
    width, expected = (ends[1] - ends[0] for ends in (found.interval, exact.interval))
    assert 0.6 < width / expected < 1.6  # 49 degrees of freedom


def test_sums_of_documents_survive_json() -> None:
    sums = SystemSums.of(tallied(range(7)))
    statistics = score.ShardStatistics(7, 0, {"A": sums}, Counts())
    assert score.ShardStatistics.read(json.loads(json.dumps(statistics.record()))) == statistics
    assert DocumentSums.of(Tally()) == DocumentSums({})
