"""Sources that cannot be right: a note, with --strict an error before anything is scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pronmetric.cli.main import main

TEXT = ["She was late.", "He had sold it.", "They know who she is.", "We saw him."]
EMPTY = "1 of 4 lines has no source (the first is line 2)"
COPIED = "in 4 of 4 lines the source is the text itself"
VERBS = {
    "score": ["score", "-t", "t.txt"],
    "compare": ["compare", "-t", "t.txt", "t.txt"],
    "check": ["check", "-t", "t.txt", "--min-score", "0"],
    "suggest": ["suggest", "-t", "t.txt"],
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = ["Sie kam zu spät.", "", "Sie wissen, wer sie ist.", "Wir sahen ihn."]
    for name, lines in (("t.txt", TEXT), ("s.txt", source)):
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    records = [
        {"id": k, "text": text, "source": line or None} for k, (text, line) in enumerate(zip(TEXT, source, strict=True))
    ]
    Path("r.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_with_lines(verb: str, with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [*VERBS[verb], "--model", str(with_reader), "--gpus", "0"]
    for source, said in (("s.txt", EMPTY), ("t.txt", COPIED)):
        assert main([*argv, "-s", source]) == 0
        assert f"pronmetric: {source}, the source of t.txt: {said}" in capsys.readouterr().err
        assert main([*argv, "-s", source, "--strict"]) == 1
        out, err = capsys.readouterr()
        assert f"{source}, the source of t.txt: {said}" in err and "or leave out --strict" in err and not out
    assert main([*argv, "-s", "t.txt", "--no-source", "--strict"]) == 0, "a source that is ignored is not judged"


def test_records(with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["score", "--jsonl", "r.jsonl", "--model", str(with_reader), "--gpus", "0"]
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert f"pronmetric: r.jsonl: {EMPTY}" in err and len(out.splitlines()) == len(TEXT)
    assert main([*argv, "--strict"]) == 1


def test_rerank(with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["rerank", "--candidates", "t.txt", "t.txt", "-s", "t.txt", "--model", str(with_reader), "--gpus", "0"]
    assert main(argv) == 0
    assert f"pronmetric: t.txt: {COPIED}" in capsys.readouterr().err


def test_a_right_source_has_no_note(sample: Path, with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        "-t",
        str(sample / "system-a.txt"),
        "-s",
        str(sample / "src.de.txt"),
        "--docids",
        str(sample / "docids.txt"),
    ]
    assert main(["score", *given, "--model", str(with_reader), "--gpus", "0", "--strict"]) == 0
    assert "source of" not in capsys.readouterr().err
