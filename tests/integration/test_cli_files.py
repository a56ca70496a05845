"""Files that people have: each format is read to the numbers of its plain text by `score`, `compare`, `check`, Python."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric

FILES = Path(__file__).parents[1] / "fixtures" / "files"
ORDERED, STRINGS = ("csv", "tsv", "jsonl", "srt", "vtt", "md"), ("po", "xlf", "tmx")
NAMES = {
    "sample.csv": ("CSV", [2, 3, 5, 6, 7], "row 2"),
    "sample.tsv": ("TSV", [2, 3, 4, 5, 6], "row 2"),
    "sample.jsonl": ("JSON Lines", [1, 2, 3, 4, 5], "object 2"),
    "sample.srt": ("SRT", [3, 12, 13, 17, 17], "cue 3, 00:00:05"),
    "sample.vtt": ("WebVTT", [11, 20, 21, 24, 25], "cue question, 00:00:05"),
    "sample.po": ("PO", [11, 19, 25, 29, 39], "msgctxt question, line 19"),
    "sample.xlf": ("XLIFF", [8, 17, 18, 27, 42], "unit brother, segment 1"),
    "sample-2.xlf": ("XLIFF", [13, 20, 25, 34, 49], "unit brother, segment 1"),
    "sample.tmx": ("TMX", [11, 17, 21, 25, 32], "unit 2"),
}
"""The format of each file, the lines of its texts, and the place of the second."""
WITH_SOURCE = {name for name in NAMES if not name.endswith((".srt", ".vtt", ".md"))}
CONTEXT = {name: "none" if name.endswith((".po", ".xlf", ".tmx")) else "respective" for name in NAMES}
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the files, and a copy of each in which "her" is "his", in other/."""
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    (tmp_path / "other").mkdir()
    for path in FILES.iterdir():
        changed = re.sub(r"\bher\b", "his", path.read_text(encoding="utf-8"))
        (tmp_path / "other" / path.name).write_text(changed, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(place: Path, tiny_checkpoint: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a verb with the tiny checkpoint in fp32; gives the exit code, stdout and stderr."""

    def run(*argv: str) -> tuple[int, str, str]:
        code = main([*argv, "--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def result(call: Callable[..., Any]) -> Run:
    """Runs a verb that must succeed; gives its JSON."""

    def run(*argv: str) -> dict[str, Any]:
        code, _, err = call(*argv, "--to_json", "out.json")
        assert code == 0, err
        found: dict[str, Any] = json.loads(Path("out.json").read_text(encoding="utf-8"))
        return found

    return run


@pytest.fixture
def metric(tiny_checkpoint: Callable[..., Path]) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


def plain_flags(name: str) -> list[str]:
    """The flags with which the plain text has what the file itself says."""
    return [*(["-s", "sample.de.txt"] if name in WITH_SOURCE else []), "--context", CONTEXT[name]]


def same(found: Any, expected: Any) -> None:
    """Texts, sources and contexts are equal; scores are, up to the batch that they were computed in."""
    for key in ("text", "source", "context"):
        assert found.get(key) == expected.get(key)
    spans = [[(p["text"], p["start"], p["end"]) for p in each["pronouns"]] for each in (found, expected)]
    assert spans[0] == spans[1]
    numbers = [[each["score"], *(p["probability"] for p in each["pronouns"])] for each in (found, expected)]
    assert numbers[0] == pytest.approx(numbers[1], abs=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_are_those_of_the_plain_text(
    name: str, call: Callable[..., Any], result: Run, metric: PronounMetric
) -> None:
    _, lines, second = NAMES[name]
    found, expected = result("score", "-t", name), result("score", "-t", "sample.txt", *plain_flags(name))
    assert [each["line"] for each in found["segments"]] == lines and found["segments"][1]["place"] == second
    for one, other in zip(found["segments"], expected["segments"], strict=True):
        same(one, other)
    assert found["systems"][0]["score"] == pytest.approx(expected["systems"][0]["score"], abs=1e-3)

    scored = metric.score_files(name) if name.endswith(("csv", "tsv", "jsonl", "srt", "vtt")) else None
    if scored is not None:
        assert scored.scores == pytest.approx([each["score"] for each in found["segments"]], abs=2e-5)
        assert scored.to_pandas()["line"].tolist() == lines

    pair = "-t", name, f"other/{name}"
    crossed = ["--context", "crossed" if CONTEXT[name] == "respective" else "none"]
    found = result("compare", *pair, *(crossed if crossed[1] == "none" else []))
    plain = ["-s", "sample.de.txt"] if name in WITH_SOURCE else []
    plain += ["--context", "none"] if crossed[1] == "none" else []
    expected = result("compare", "-t", "sample.txt", "other/sample.txt", *plain)
    assert found["pairs"][0]["difference"] == pytest.approx(expected["pairs"][0]["difference"], abs=1e-3)
    for one, other in zip(found["segments"], expected["segments"], strict=True):
        assert [each["line"] for each in one["outputs"]] == [lines[one["segment"]]] * 2
        for output, wanted in zip(one["outputs"], other["outputs"], strict=True):
            same(output, wanted)

    code, out, err = call("check", "-t", name, "--min-score", "100", "--github")
    of_plain, plain_out, _ = call("check", "-t", "sample.txt", *plain_flags(name), "--min-score", "100")
    assert code == of_plain == 3 and re.findall(r"\d+\.\d\d", out)[0] == re.findall(r"\d+\.\d\d", plain_out)[0], err
    told = re.findall(rf"::error file={name},line=(\d+),", out)
    assert told and set(map(int, told)) <= set(lines) and ("score" in err) is False
