"""Files that people have: `score`, `compare`, `check` and Python read each format to the numbers of its plain text."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric
from pronmetric.scoring.score import SegmentScore

FILES = Path(__file__).parents[1] / "fixtures" / "files"
NAMES = {
    "sample.csv": ([2, 3, 5, 6, 7], "row 2"),
    "sample.tsv": ([2, 3, 4, 5, 6], "row 2"),
    "sample.jsonl": ([1, 2, 3, 4, 5], "object 2"),
    "sample.srt": ([3, 12, 13, 17, 17], "cue 3, 00:00:05"),
    "sample.vtt": ([11, 20, 21, 24, 25], "cue question, 00:00:05"),
    "sample.po": ([11, 19, 25, 29, 39], "msgctxt question, line 19"),
    "sample.xlf": ([8, 17, 18, 27, 42], "unit brother, segment 1"),
    "sample-2.xlf": ([13, 20, 25, 34, 49], "unit brother, segment 1"),
    "sample.tmx": ([11, 17, 21, 25, 32], "unit 2"),
    "sample.md": ([6, 12, 14, 18, 18], "line 12"),
}
"""The lines of each file's texts, and the place of the second."""
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the files and, in other/, a copy of each in which "her" is "his"."""
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    (tmp_path / "other").mkdir()
    for path in FILES.iterdir():
        changed = re.sub(r"\bher\b", "his", path.read_text(encoding="utf-8"))
        (tmp_path / "other" / path.name).write_text(changed, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(place: Path, tiny_checkpoint: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a verb with the tiny checkpoint in fp32; gives the exit code, stdout and stderr."""

    def run(*argv: str) -> tuple[int, str, str]:
        code = main([*argv, "--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"])
        return code, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Callable[..., Path]) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


def result(call: Call, *argv: str) -> dict[str, Any]:
    """The JSON of a verb that must succeed."""
    code, _, err = call(*argv, "--to_json", "out.json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(Path("out.json").read_text(encoding="utf-8"))
    return found


def same(found: dict[str, Any], expected: SegmentScore) -> None:
    """An entry has the pronouns and scores of a segment, up to the batch in which they were computed."""
    pronouns = found["pronouns"]
    assert [(p["text"], p["start"], p["end"]) for p in pronouns] == [p[:3] for p in expected.pronouns]
    numbers = [found["score"], *(p["probability"] for p in pronouns)]
    assert numbers == pytest.approx([expected.score, *(p.score for p in expected.pronouns)], abs=2e-5)


@pytest.mark.filterwarnings("ignore:.*does not affect scores")
@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_are_those_of_the_plain_text(name: str, call: Call, metric: PronounMetric) -> None:
    lines, second = NAMES[name]
    source = None if name.endswith((".srt", ".vtt", ".md")) else "sample.de.txt"
    context = "none" if name.endswith((".po", ".xlf", ".tmx")) else None
    plain = metric.score_files("sample.txt", source=source, context=context)
    pair = metric.compare_files("sample.txt", "other/sample.txt", source=source, context=context)

    found = result(call, "score", "-t", name, "--to_tsv", "out.tsv")
    assert [each["line"] for each in found["segments"]] == lines and found["segments"][1]["place"] == second
    for each, segment, text in zip(found["segments"], plain.segments, plain.texts, strict=True):
        same(each, segment)
        assert (each["context"], each["text"]) == (text.context, text.text)
        assert each["source"] == (None if text.source is None else text.source.text)
    assert found["systems"][0]["score"] == pytest.approx(plain.score, abs=2e-3)
    header, first = (line.split("\t") for line in Path("out.tsv").read_text(encoding="utf-8").splitlines()[:2])
    assert header[3:5] == ["line", "place"] and first[3:5] == [str(lines[0]), found["segments"][0]["place"]]

    found = result(call, "compare", "-t", name, f"other/{name}")
    assert found["pairs"][0]["difference"] == pytest.approx(pair.outcome.difference, abs=2e-3)
    for each, decision in zip(found["segments"], pair.decisions, strict=True):
        same(each["outputs"][0], decision.a)
        same(each["outputs"][1], decision.b)
        assert [output["line"] for output in each["outputs"]] == [lines[each["segment"]]] * 2

    code, out, err = call("check", "-t", name, "--min-score", "100", "--github")
    assert code == 3, err
    assert f"  {plain.score:.2f}" in out
    told = list(map(int, re.findall(rf"::error file={name},line=(\d+),", out)))
    assert told and set(told) <= set(lines) and f"{name}:{told[0]}" in out
    assert second.split(",")[0] in out or second == f"line {lines[1]}"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was left out
        scored, compared = metric.score_files(name), metric.compare_files(name, f"other/{name}")
    assert scored.scores == pytest.approx(plain.scores, abs=2e-5)
    assert scored.to_pandas()["line"].tolist() == compared.to_pandas()["b_line"].tolist() == lines
    assert compared.outcome.difference == pytest.approx(pair.outcome.difference, abs=2e-3)


def test_a_wrong_pronoun_of_a_catalogue_fails_in_its_line(call: Call, place: Path) -> None:
    """The gate of a repository: its catalogue alone, no flag but the limit."""
    code, out, err = call("check", "-t", "sample.po", "--max-errors", "0", "--github", "--worst", "1")
    assert code == 3 and out.startswith("sample.po: failed\nsample.po: ")
    assert "\nNOT MET  at most 0 pronoun errors expected" in out
    (annotation,) = re.findall(r"::error file=sample.po,line=(\d+),title=pronouns::(.*)", out)
    line = place.joinpath("sample.po").read_text(encoding="utf-8").splitlines()[int(annotation[0]) - 1]
    assert line.startswith("msgstr") and "doubtful" in annotation[1]
    assert err.count("left out") == 1 and "2 untranslated, 1 fuzzy, 1 obsolete" in err
    assert "scored without context" in err


def test_strings_without_the_order_of_the_program_say_so(call: Call, place: Path, metric: PronounMetric) -> None:
    text = place.joinpath("sample.po").read_text(encoding="utf-8")
    asked = "score", "-t", "sample.po", "--context", "respective", "--only_system"
    assert "references (#:)" not in call(*asked)[2]
    place.joinpath("sample.po").write_text(text.replace("#: door.c:3\n", "#: counter.c:1\n"), encoding="utf-8")
    assert "sample.po: its references (#:) are missing or not in the order of the program" in call(*asked)[2]
    place.joinpath("sample.po").write_text(re.sub("#: .*\n", "", text), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"references \(#:\)|left out"):
        metric.score_files("sample.po", context="respective")


def test_strings_are_matched_by_their_sources(call: Call, place: Path) -> None:
    """An older catalogue lacks a string and has two in another order."""
    entries = place.joinpath("sample.po").read_text(encoding="utf-8").split("\n\n")
    old = [entries[0], entries[4], entries[2], entries[1]]
    place.joinpath("old.po").write_text("\n\n".join(old) + "\n", encoding="utf-8")
    found = result(call, "compare", "-t", "sample.po", "old.po")
    assert [[each["line"] for each in segment["outputs"]] for segment in found["segments"]] == [
        [11, 21],
        [19, 17],
        [29, 11],
    ]
    assert all(segment["outputs"][0]["text"] == segment["outputs"][1]["text"] for segment in found["segments"])
    assert (
        "sample.po: left out: 2 strings that other files of this run do not have"
        in (call("compare", "-t", "sample.po", "old.po", "--only_system")[2])
    )


def test_a_table_has_references_documents_speakers_and_systems(call: Call, place: Path, metric: PronounMetric) -> None:
    rows = [
        ("a", "Anna", "Wo ist er?", "Where is it?", "Where is he?", "Where is it?"),
        ("a", "Bob", "Er ist hier.", "It is here.", "He is here.", "It is here."),
        ("b", "Anna", "Sie kam.", "She came.", "She came.", "They came."),
    ]
    table = ["doc,speaker,src,ref,mt,system"]
    table += [",".join([*row[:4], row[at], name]) for name, at in (("X", 4), ("Y", 5)) for row in rows]
    place.joinpath("w.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    for name, at in (("x", 4), ("y", 5), ("ref", 3), ("src", 2), ("who", 1), ("ids", 0)):
        place.joinpath(f"{name}.txt").write_text("".join(f"{row[at]}\n" for row in rows), encoding="utf-8")
    found = result(call, "compare", "-t", "w.csv")
    expected = result(
        call, "compare", *"-t x.txt y.txt -r ref.txt -s src.txt --docids ids.txt --speakers who.txt".split()
    )
    assert found["pairs"][0]["difference"] == pytest.approx(expected["pairs"][0]["difference"], abs=1e-4)
    assert found["signature"] == expected["signature"] and found["pairs"][0]["a"]["system"] == "X"
    for one, other in zip(found["segments"], expected["segments"], strict=True):
        assert {key: one[key] for key in ("doc", "speaker", "source", "reference")} == {
            key: other[key] for key in ("doc", "speaker", "source", "reference")
        }
    code, _, err = call("check", "-t", "w.csv", "--min-score", "1")
    assert code == 1 and "found the systems X, Y: choose with --systems" in err
    assert call("check", "-t", "w.csv", "--systems", "Y", "--min-score", "0")[0] == 0
    assert metric.score_files("w.csv", systems=["Y"]).name == "Y"
    code, _, err = call("score", "-t", "w.csv", "--systems", "Z")
    assert code == 1 and "there is no system 'Z'; there are X, Y" in err


@pytest.mark.parametrize(
    ("verb", "flag"),
    [
        ("rerank", "--nbest"),
        ("score", "-t"),
        ("compare", "-t"),
        ("check", "-t"),
        ("suggest", "-t"),
        ("rerank", "--candidates"),
    ],
)
def test_each_verb_refuses_what_is_not_read(verb: str, flag: str, call: Call, place: Path) -> None:
    place.joinpath("page.html").write_text("<!DOCTYPE html>\n<p>She left.</p>\n", encoding="utf-8")
    more = ["--min-score", "1"] if verb == "check" else []
    files = ["page.html"] if flag != "--candidates" and verb not in ("compare",) else ["sample.txt", "page.html"]
    code, _, err = call(verb, flag, *files, *more)
    assert code == 1 and err.count("\n") == 1
    assert "page.html: is an HTML page, which is not read" in err and "--format lines" in err


def test_the_format_can_be_insisted_on(call: Call, place: Path) -> None:
    place.joinpath("page.html").write_text("<html>\nShe left.\n", encoding="utf-8")
    code, out, _ = call("score", "-t", "page.html", "--format", "lines")
    assert code == 0 and "Segment 1" in out
    shutil.copy("sample.srt", "sample.en")
    assert "cue 3" in call("suggest", "-t", "sample.en", "--format", "srt")[1]
    code, _, err = call("score", "-t", "sample.txt", "--format", "po")
    assert code == 1 and err.startswith("pronmetric: error: sample.txt:1: ")


def test_the_report_tells_the_place(call: Call, place: Path) -> None:
    for name, (lines, second) in NAMES.items():
        result(call, "score", "-t", name)
        assert main(["report", "out.json", "-o", "r.html", "--no-model", "--quiet"]) == 0
        told = second if second.endswith(f"line {lines[1]}") else f"{second}, line {lines[1]}"
        assert f'"{told}"' in place.joinpath("r.html").read_text(encoding="utf-8"), name
        found = result(call, "compare", "-t", name, f"other/{name}")["segments"][0]["outputs"]  # the one that differs
        assert main(["report", "out.json", "-o", "r.html", "--no-model", "--quiet"]) == 0
        places = re.findall(r'\[("[^"]*"),\1\]', place.joinpath("r.html").read_text(encoding="utf-8"))
        assert any(each["place"] in told and f"line {lines[0]}" in told for each in found for told in places), name


def test_suggestions_and_choices_tell_the_place(call: Call, place: Path) -> None:
    said = [json.loads(line) for line in call("suggest", "-t", "sample.vtt", "--all")[1].splitlines()]
    assert [each["line"] for each in said] == NAMES["sample.vtt"][0] and said[0]["place"] == "cue 1, 00:00:01"
    code, out, err = call("rerank", "--candidates", "sample.po", "other/sample.po", "--to_json", "o.json")
    assert code == 0 and len(out.splitlines()) == 5, err
    found = json.loads(Path("o.json").read_text(encoding="utf-8"))
    assert "|context:none|" in found["signature"]
    assert [each["line"] for each in found["segments"][1]["candidates"]] == [19, 19]
