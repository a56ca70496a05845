"""One text has one set of numbers, on whichever road it comes: files, records, Python, `bulk`, `serve`, later verbs.

All in fp32, with the two sentences of the reference before each line as context, with the source and without.
"""

from __future__ import annotations

import asyncio
import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas
import pytest

from pronmetric import Prediction, PronounMetric, in_context
from pronmetric.cli.main import main
from pronmetric.serve.interface import ScoreRequest
from pronmetric.serve.service import Service
from pronmetric.text.context import GIVEN
from tests.tools.row_files import jsonl, parts, write

NUMBERS = ("score", "errors", "preference", "expected_wrong", "expected_missing")
ROUNDED = 2e-5
"""Files have five decimals."""


@dataclass(frozen=True)
class Road:
    """A text's lines with all that belongs to them, the checkpoint, and a folder with them as files."""

    folder: Path
    model: Path
    columns: Mapping[str, Sequence[str]]
    sourced: bool

    @property
    def fixed(self) -> list[str]:
        return ["--model", str(self.model), "--precision", "32", "--gpus", "0", "--quiet"]

    @property
    def source(self) -> list[str]:
        return ["-s", "src.txt"] if self.sourced else []

    def metric(self) -> PronounMetric:
        return PronounMetric.from_pretrained(self.model, precision="32", gpus=0)

    def records(self) -> list[dict[str, Any]]:
        c = self.columns
        made = in_context(c["mt"], reference=c["ref"], docs=c["doc"])
        sources = in_context(c["src"], docs=c["doc"])
        return [
            {"id": f"r{number}", "doc": doc, **record}
            | ({"source": source["text"], "source_context": source["context"]} if self.sourced else {})
            for number, (doc, record, source) in enumerate(zip(c["doc"], made, sources, strict=True))
        ]

    def result(self, *texts: str) -> Any:
        """What `score` writes of these texts."""
        assert main(["score", *texts, "--to_json", "r.json", *self.fixed]) == 0
        return json.loads(Path("r.json").read_text(encoding="utf-8"))


@pytest.fixture(params=[False, True], ids=["without source", "with source"])
def road(
    request: pytest.FixtureRequest, with_gaps: Path, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Road:
    names = {"src": "src.de", "mt": "system-b", "ref": "ref", "doc": "docids"}
    columns = {key: (sample / f"{name}.txt").read_text(encoding="utf-8").splitlines() for key, name in names.items()}
    monkeypatch.chdir(tmp_path)
    for name, lines in columns.items():
        Path(f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Road(tmp_path, with_gaps, columns, request.param)


def plain(segment: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a segment's record, whichever verb wrote it."""
    found = {key: segment.get(key) for key in NUMBERS}
    spans = [(p["text"], p["start"], p["end"]) for p in segment["pronouns"]]
    gaps = [(gap["start"], gap["form"]) for gap in segment.get("gaps") or ()]
    probabilities = [one["probability"] for one in (*segment["pronouns"], *(segment.get("gaps") or ()))]
    return {**found, "spans": spans, "gap places": gaps, "probabilities": probabilities}


def of_python(found: Prediction) -> list[dict[str, Any]]:
    """The same of what Python gives."""
    return [
        plain(
            {
                "score": one.score,
                "errors": one.errors,
                "preference": one.preference,
                **({} if one.missing is None else {"expected_wrong": one.wrong, "expected_missing": one.missing}),
                "pronouns": [p._asdict() for p in one.pronouns],
                "gaps": [gap._asdict() for gap in one.gaps],
            }
        )
        for one in found.segments
    ]


def assert_same(found: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]], road: str) -> None:
    assert len(found) == len(expected), road
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        for key, value in other.items():
            numeric = isinstance(value, float) or (key == "probabilities")
            assert one[key] == (pytest.approx(value, abs=ROUNDED) if numeric else value), f"{road}, {number}, {key}"


def test_files_records_python_bulk_and_serve(road: Road, serial: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    names = ["-r", "ref.txt", "--docids", "doc.txt"]
    whole = road.result("-t", "mt.txt", *names, *road.source)
    expected = [plain(one) for one in whole["segments"]]
    assert sum(one["score"] is not None for one in expected) > 20
    assert (expected[0]["expected_missing"] is not None) == road.sourced
    found: dict[str, list[dict[str, Any]]] = {}

    rows = [dict(zip(road.columns, cells, strict=True)) for cells in zip(*road.columns.values(), strict=True)]
    if not road.sourced:
        rows = [{key: value for key, value in row.items() if key != "src"} for row in rows]
    with Path("t.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    jsonl(Path("t.jsonl"), rows)
    systems = [whole["systems"][0]]
    for name in ("t.csv", "t.jsonl"):
        content = road.result("-t", name)
        found[name] = [plain(one) for one in content["segments"]]
        systems.append(content["systems"][0])

    records = road.records()
    jsonl(Path("records.jsonl"), records)
    capsys.readouterr()
    content = road.result("--jsonl", "records.jsonl")
    found["--jsonl"] = [plain(json.loads(line)) for line in capsys.readouterr().out.splitlines() if line[:1] == "{"]
    assert content["systems"][0]["score"] == pytest.approx(systems[0]["score"], abs=1e-3)

    metric = road.metric()
    predicted = metric.predict(records, docs=road.columns["doc"])
    files = metric.score_files(
        "mt.txt", reference="ref.txt", docids="doc.txt", source="src.txt" if road.sourced else None
    )
    found |= {"predict": of_python(predicted), "score_files": of_python(files)}
    if not road.sourced:  # it takes no sources
        frame = pandas.DataFrame(road.columns)
        listed = metric.corpus_score(road.columns["mt"], [road.columns["ref"]], docs=road.columns["doc"])
        framed = metric.corpus_score(frame["mt"], [frame["ref"]], docs=frame["doc"])
        found |= {"corpus_score": of_python(listed), "DataFrame": of_python(framed)}
    table = files.to_pandas()
    assert [value or None for value in table["errors"]] == [
        value if value is None else pytest.approx(value, abs=ROUNDED)
        for value in (one["errors"] or None for one in expected)
    ]
    for each in (predicted, files):
        assert each.score == pytest.approx(systems[0]["score"], abs=1e-3)
        assert each.system.errors is not None
        assert each.system.errors.value == pytest.approx(systems[0]["errors_per_100_pronouns"]["value"], abs=1e-3)

    write(Path("in.parquet"), records)
    fixed = ["--model", str(road.model), "--precision", "32", "--quiet"]
    assert main(["bulk", "score", "in.parquet", "-o", "out", "--shard-rows", "8", *fixed]) == 0
    found["bulk"] = [plain(row) for row in parts(Path("out") / "scores")]

    answer = asyncio.run(Service(metric, context=GIVEN).score(ScoreRequest(records=records)))
    found["serve"] = [plain(one) for one in answer["records"]]

    for name, numbers in found.items():
        assert_same(numbers, expected, name)
    for system in systems[1:]:
        assert {**system, "system": ""} == {**systems[0], "system": ""}


def test_check_and_report(road: Road, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["-t", "mt.txt", "-r", "ref.txt", "--docids", "doc.txt", *road.source]
    whole = road.result(*texts)
    (system,) = whole["systems"]
    capsys.readouterr()
    assert main(["check", *texts, "--min-score", "2", "--max-errors", "99", *road.fixed]) in (0, 3)  # either verdict
    printed = capsys.readouterr().out
    score = re.search(r"score at least 2 +([\d.]+)", printed)
    errors = re.search(r"errors expected +([\d.]+)", printed)
    assert score is not None and float(score[1]) == pytest.approx(system["score"], abs=0.006)
    total = system["errors_per_100_pronouns"]["value"] * system["pronouns"] / 100
    assert errors is not None and float(errors[1]) == pytest.approx(total, abs=0.006)

    assert main(["report", "r.json", "-o", "r.html", "--no-model"]) == 0
    page = Path("r.html").read_text(encoding="utf-8")
    embedded = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert embedded is not None
    outputs = {segment[0]: segment[4][0] for segment in json.loads(embedded[1])["segments"]}
    assert len(outputs) > 10
    for number, one in enumerate(whole["segments"]):
        if number in outputs:
            shown = [p[1] for p in outputs[number][3]]
            assert outputs[number][2] == (one["score"] and pytest.approx(one["score"], abs=1e-4))
            assert shown == pytest.approx([p["probability"] for p in one["pronouns"]], abs=1e-4)


@pytest.mark.parametrize("by", ["score", "errors", "preference"])
def test_evaluate(road: Road, by: str) -> None:
    segments = road.result("-t", "mt.txt", "-r", "ref.txt", "--docids", "doc.txt", *road.source)["segments"]
    pairs: list[dict[str, Any]] = []
    for record in road.records():
        before: dict[str, Any] = {
            key: record[key] for key in ("id", "doc", "context", "source", "source_context") if key in record
        }
        text = record["text"]
        pairs.append({**before, "text_a": text, "text_b": f"{text} She left.", "better": "A"})
    jsonl(Path("pairs.jsonl"), pairs)
    assert main(["evaluate", "pairs.jsonl", "--by", by, "--save_scores", "s.jsonl", *road.fixed]) == 0
    found = [json.loads(line)["score_a"] for line in Path("s.jsonl").read_text(encoding="utf-8").splitlines()]
    known = [one["score"] is not None or "expected_missing" in one for one in segments]  # of errors
    expected = (
        [-one["errors"] if its else None for one, its in zip(segments, known, strict=True)]
        if by == "errors"
        else [one.get(by) for one in segments]
    )
    assert found == [value if value is None else pytest.approx(value, abs=ROUNDED) for value in expected]
