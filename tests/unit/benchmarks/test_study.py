from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import pages
from benchmarks.checkpoint import scoring, study
from benchmarks.checkpoint.scoring import Record, Result
from benchmarks.checkpoint.study import Sample
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.accuracy import Confusion
from pronmetric.text.words import words


def sample(number: int, language: str, *, line: int, empty: bool = False) -> dict[str, Any]:
    """A row in the form of the study files: "she" is right where the context speaks of a queen."""
    reference = ["then", "she", "left", "number", str(number)]
    noisy = ["then", "he", "left", "number", str(number)]
    return {
        "id": f"{language}-{number}",
        "lang": language,
        "context": [] if empty else ["the", "queen", str(number), "spoke"],
        "reference": reference,
        "noisy": noisy,
        "position": 1,
        "reference_pronoun": "she",
        "noisy_pronoun": "he",
        "one_token": True,
        "origin_testset": "newstest",
        "origin_line": line,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    where = tmp_path / "shared" / "data" / "study"
    where.mkdir(parents=True)
    for language in study.LANGUAGES:
        rows = [sample(i, language, line=100 * i, empty=i == 0) for i in range(10)]
        (where / f"{language}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return where


def by_number(records: Sequence[Record]) -> list[Result]:
    """Right where the context's number is the sentence's, wrong in a foreign one, equal without any."""
    results = []
    for record in records:
        pronouns = [{"start": w.start, "end": w.end} for w in words(record["text"]) if w.text in ("he", "she")]
        number = record["text"].split()[-1]
        right = record["context"] and number in record["context"][0].split()
        score = 0.5 if not record["context"] else 0.6 if ("she" in record["text"].split()) == bool(right) else 0.4
        results.append(Result(score=score, pronouns=pronouns))
    return results


def test_read_joins_the_context(folder: Path) -> None:
    samples = study.read(folder)
    assert len(samples) == 20
    assert samples[0].context == () and samples[1].context == ("the queen 1 spoke",)
    assert samples[1].reference == ("then", "she", "left", "number", "1")


def test_figures_by_language_and_context(folder: Path) -> None:
    samples = study.read(folder)
    figures = study.measure(by_number, samples)
    for name, pairs in (("french", 10), ("german", 10), ("all", 20)):
        part = figures["languages"][name]
        assert part["common"].accuracy == pytest.approx(0.9)  # the one without context is equal
        assert part["common"].equal == pairs / 10 and part["common"].pairs == pairs
        assert (part["none"].accuracy, part["none"].equal) == (0.0, pairs)
        assert part["shuffled"].accuracy == 0.0  # always a foreign number
        assert part["context_gain"].value == pytest.approx(0.9)
        assert part["unscored"] == {"reference": 0, "noisy": 0, "either": 0, "share": 0.0}
        # nine of ten the reference, one a tie: observed 0.9, shares 0.95, 0, 0.05, chance 2 * 0.95 * 0.05 / 2
        ac1 = part["agreement"]["ac1"]
        assert ac1["estimate"] == pytest.approx((0.9 - 0.0475) / (1 - 0.0475)) and ac1["items"] == pairs
        assert ac1["by_document"][0] < ac1["estimate"] < ac1["by_document"][1] <= 1
        assert part["agreement"]["without_ties"]["ac1"]["estimate"] == 1.0
    assert figures["confusions"] == [Confusion("she", "he", 20, 2)]
    assert "she -> he" in study.show(figures)


def test_unscored_positions_are_counted_by_side(folder: Path) -> None:
    def only_he(records: Sequence[Record]) -> list[Result]:
        found = by_number(records)
        for result, record in zip(found, records, strict=True):
            if "she" in record["text"].split():
                result["pronouns"], result["score"] = [], None
        return found

    part = study.measure(only_he, study.read(folder))["languages"]["all"]
    assert part["unscored"] == {"reference": 20, "noisy": 0, "either": 20, "share": 1.0}
    assert (part["common"].null, part["common"].right) == (20, 0)


def test_token_span() -> None:
    tokens = ["then", "she", "left"]
    start, end = study.token_span(tokens, 2)
    assert " ".join(tokens)[start:end] == "left"
    assert study.token_span(tokens, 0) == (0, 4)


def test_shuffled_context_comes_from_elsewhere_in_the_language(folder: Path) -> None:
    samples = study.read(folder)
    contexts = study.contexts(samples)["shuffled"]
    for one, (better, worse) in zip(samples, contexts, strict=True):
        assert better == worse != one.context
    german = {s.context for s in samples if s.language == "german"}
    assert {better for s, (better, _) in zip(samples, contexts, strict=True) if s.language == "german"} == german


def test_samples_of_one_reference_resample_together(folder: Path) -> None:
    rows = [sample(0, language, line=100 * i) for language in study.LANGUAGES for i in range(4)]
    samples = [study._sample(row) for row in rows]
    with pytest.raises(PronmetricError, match="shuffled context"):  # one sentence alone has no foreign context
        study.measure(by_number, samples)
    figures = study.measure(by_number, [*samples, *study.read(folder)])
    assert figures["languages"]["all"]["common"].pairs == 28


def test_no_study_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--shared"):
        study.read(tmp_path)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    where = tmp_path / "candidate"
    where.mkdir()
    (where / "model.safetensors").write_bytes(b"weights")
    monkeypatch.setattr(scoring, "load", lambda options: scoring.Counting(by_number, "fake"))
    return where


def run(monkeypatch: pytest.MonkeyPatch, *flags: object) -> None:
    monkeypatch.setattr(sys, "argv", ["study", *map(str, flags)])
    study.main()


def test_a_run_is_logged_and_the_seventh_refused(
    folder: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "runs.md"
    flags = ("--model", model, "--shared", folder.parents[1], "--log", log)
    for done in range(study.RUNS_ALLOWED):
        assert study.runs(log) == done
        run(monkeypatch, *flags)
    line = log.read_text(encoding="utf-8").splitlines()[-1]
    digest = pages.weights_hash(model)
    assert f"| {digest} | candidate | 90.0 [" in line and line.endswith("| 2 | 0 | 0.0 % |")
    assert line.count("|") == log.read_text(encoding="utf-8").split("|---")[0].splitlines()[-1].count("|")
    before = log.read_text(encoding="utf-8")
    with pytest.raises(PronmetricError, match="holds 6 runs already"):
        run(monkeypatch, *flags)
    assert log.read_text(encoding="utf-8") == before
    assert "common - none" in capsys.readouterr().out


def test_an_unlogged_run_is_refused_before_anything_is_scored(
    folder: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "load", lambda options: pytest.fail("loaded"))
    with pytest.raises(PronmetricError, match="needs --log"):
        run(monkeypatch, "--model", model, "--shared", folder.parents[1])


def test_sample_is_what_the_files_hold() -> None:
    found = study._sample(sample(3, "german", line=7))
    assert isinstance(found, Sample) and (found.line, found.testset, found.position) == (7, "newstest", 1)


@pytest.mark.shared
def test_the_shared_study_set_is_read_as_in_its_readme(shared: Path) -> None:
    samples = study.read(shared / "data" / "study")
    for language, empty, sentences, blocks in (("french", 21, 369, 6), ("german", 2, 420, 6)):
        part = [s for s in samples if s.language == language]
        assert len(part) == 500
        assert sum(not s.context for s in part) == empty
        assert len({s.reference for s in part}) == sentences
        assert sum(not s.one_token for s in part) == blocks
        for s in part:
            if s.one_token:
                assert s.reference[s.position] == s.reference_pronoun and s.noisy[s.position] == s.noisy_pronoun
