"""Speakers: `--speakers`, "speaker" of records, and the same in Python; the model alone reads the names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.bulk.score import signature
from pronmetric.bulk.statistics import ShardStatistics
from pronmetric.cli.main import main
from pronmetric.errors import PronmetricError
from pronmetric.metric import PronounMetric
from pronmetric.results import read
from pronmetric.scoring.score import Counts
from pronmetric.signature import Signature

Checkpoints = Callable[..., Path]
LINES = ["I can send it to you.", "You can keep it.", "I thank you for it."]
OTHER = ["You can send it to me.", "I can keep it.", "You thank me for it."]
NAMES = ["He Wang", "", "It"]  # pronouns in names
CONTEXTS = ["He Wang:", "He Wang: I can send it to you.", "He Wang: I can send it to you. You can keep it. It:"]


@pytest.fixture
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, lines in {"a": LINES, "b": OTHER, "who": NAMES, "nobody": [""] * 3, "short": ["Ann"]}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    records = [
        {"id": 0, "text": LINES[0], "speaker": NAMES[0]},
        {"id": 1, "text": LINES[1], "context": LINES[:1], "context_speakers": NAMES[:1]},
        {"id": 2, "text": LINES[2], "context": LINES[:2], "speaker": NAMES[2], "context_speakers": NAMES[:2]},
    ]
    (tmp_path / "records").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(
    tiny_checkpoint: Checkpoints, folder: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[str, str]]:
    def call(*argv: str) -> tuple[str, str]:
        code = main([*argv, "--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"])
        out, err = capsys.readouterr()
        assert code == 0, err
        return out, err

    return call


def segments(path: str) -> list[dict[str, Any]]:
    return json.loads(Path(path).read_text(encoding="utf-8"))["segments"]


def test_the_model_reads_names_and_scores_no_pronoun_in_them(
    run: Callable[..., tuple[str, str]], metric: PronounMetric
) -> None:
    _, err = run("score", "-t", "a", "--speakers", "who", "--to_json", "o.json")
    assert "|speakers:named" in err
    expected = metric.predict([{"text": t, "context": [c]} for t, c in zip(LINES, CONTEXTS, strict=True)])
    for got, segment, text, context, name in zip(
        segments("o.json"), expected.segments, LINES, CONTEXTS, NAMES, strict=True
    ):
        assert (got["text"], got["context"], got["speaker"]) == (text, context, name)
        assert [p["text"] for p in got["pronouns"]] == [p.text for p in segment.pronouns]
        assert all(text[p["start"] : p["end"]] == p["text"] for p in got["pronouns"])
        assert got["score"] == pytest.approx(segment.score, abs=1e-4)
    run("score", "-t", "a", "--to_json", "plain.json")
    assert [one["score"] for one in segments("plain.json")] != [one["score"] for one in segments("o.json")]
    assert not any("speaker" in one for one in segments("plain.json"))
    assert [output.context for one in read("o.json").segments for output in one.outputs] == CONTEXTS


def test_records_and_python_give_the_scores_of_files(
    run: Callable[..., tuple[str, str]], metric: PronounMetric, folder: Path
) -> None:
    out, err = run("score", "--jsonl", "records")
    assert "|speakers:named" in err
    files = metric.score_files("a", speakers="who")
    assert files.signature == metric.corpus_score(LINES, speakers=NAMES).signature
    assert [text.context for text in files.texts] == CONTEXTS and [text.speaker for text in files.texts] == NAMES
    assert metric.corpus_score(LINES, speakers=NAMES).scores == pytest.approx(files.scores, abs=1e-5)
    assert [json.loads(line)["score"] for line in out.splitlines()] == pytest.approx(files.scores, abs=1e-4)
    records = [json.loads(line) for line in (folder / "records").read_text(encoding="utf-8").splitlines()]
    predicted = metric.predict(records)
    assert predicted.scores == pytest.approx(files.scores, abs=1e-5) and predicted.signature["speakers"] == "named"
    pytest.importorskip("pandas")
    assert list(predicted.to_pandas()["speaker"]) == NAMES


def test_without_a_name_scores_are_those_of_today(run: Callable[..., tuple[str, str]], metric: PronounMetric) -> None:
    _, err = run("score", "-t", "a", "--speakers", "nobody")
    assert "nobody: no line names a speaker: scores are those without it" in err
    plain = metric.score_files("a")
    with pytest.warns(UserWarning, match="no line names a speaker"):
        assert metric.score_files("a", speakers="nobody").scores == plain.scores
    assert "speakers" not in dict(plain.signature.fields)


def test_a_comparison_is_read_back_with_its_names(run: Callable[..., tuple[str, str]], metric: PronounMetric) -> None:
    run("compare", "-t", "a", "b", "--speakers", "who", "--to_json", "o.json")
    assert [one["speaker"] for one in segments("o.json")] == NAMES
    assert [one.outputs[0].context for one in read("o.json").segments] == CONTEXTS
    compared = metric.compare_files("a", "b", speakers="who")
    assert compared.signature["speakers"] == "named"
    records = [[{"text": t, "speaker": n} for t, n in zip(one, NAMES, strict=True)] for one in (LINES, OTHER)]
    assert metric.compare(*records).signature["speakers"] == "named"


@pytest.mark.parametrize(
    "argv",
    [
        ["check", "-t", "a", "--min-score", "0"],
        ["suggest", "-t", "a", "--all"],
        ["rerank", "--candidates", "a", "b"],
        ["rerank", "--candidates", "a", "b", "-r", "a"],
    ],
)
def test_further_verbs_take_speakers(run: Callable[..., tuple[str, str]], argv: list[str]) -> None:
    assert "|speakers:named" in run(*argv, "--speakers", "who")[1]
    assert "|speakers:" not in run(*argv)[1]


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (
            ["score", "-t", "a", "--speakers", "short"],
            1,
            "short: expected 3 lines, a speaker for each line of a, got 1",
        ),
        (["rerank", "--candidates", "a", "b", "--speakers", "short"], 1, "short: expected 3 lines"),
        (["score", "-t", "a", "--speakers", "who", "--context", "none"], 2, "--context none does not use"),
        (["rerank", "--candidates", "a", "b", "--speakers", "who", "--context", "none"], 2, "--context none does not"),
        (["rerank", "--candidates", "a", "b", "--mbr", "--speakers", "who"], 2, "leave out --speakers"),
        (["score", "--jsonl", "records", "--speakers", "who"], 2, "--speakers go with -t, not with --jsonl"),
        (["suggest", "--jsonl", "records", "--speakers", "who"], 2, "--speakers go with -t, not with --jsonl"),
    ],
)
def test_wrong_speakers(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], code: int, message: str
) -> None:
    if code == 2:
        with pytest.raises(SystemExit) as end:
            main(argv)
        assert end.value.code == 2
    else:
        assert main(argv) == code
    assert message in capsys.readouterr().err


def test_speakers_need_a_context(metric: PronounMetric, folder: Path) -> None:
    with pytest.raises(PronmetricError, match="speakers are named in the context"):
        metric.score_files("a", speakers="who", context="none")


def test_the_manifest_of_a_bulk_run_tells_speakers(metric: PronounMetric) -> None:
    class Planned:
        record = {"signature": str(metric.signature())}  # noqa: RUF012

    for number, expected in ((0, None), (2, "named")):
        found = ShardStatistics(3, 0, {}, Counts(with_speaker=number))
        signed = Signature.parse(signature(Planned(), found))  # type: ignore[arg-type]
        assert dict(signed.fields).get("speakers") == expected
