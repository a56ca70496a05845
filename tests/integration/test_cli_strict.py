"""Texts in another language than the model's: a note, with --strict an error before anything is scored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.cli.main import main

Checkpoints = Callable[..., Path]

GERMAN = [
    "Anna ging gestern in die Stadt.",
    "Sie kaufte dort ein Buch, weil es ihr gefiel.",
    "Der H\u00e4ndler gab ihr noch eine Tasche dazu.",
    "Am Abend las sie das Buch ihrem Bruder vor.",
]
SAID = "do the texts look like en? "


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("de.txt").write_text("".join(f"{line}\n" for line in GERMAN), encoding="utf-8")
    records = [json.dumps({"id": k, "text": line}) + "\n" for k, line in enumerate(GERMAN)]
    Path("de.jsonl").write_text("".join(records), encoding="utf-8")
    header = "system doc seg_id rater source target category severity".split()
    rows = [header, *(["ref", "d", str(k), "r", "s", text, "No-error", "No-error"] for k, text in enumerate(GERMAN))]
    Path("m.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize("given", [["-t", "de.txt"], ["--jsonl", "de.jsonl"]])
def test_score(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str], given: list[str]) -> None:
    fixed = ["--model", str(tiny_checkpoint()), "--gpus", "0"]
    assert main(["score", *given, *fixed]) == 0
    out, err = capsys.readouterr()
    assert f"pronmetric: {given[1]}: {SAID}" in err and out
    assert main(["score", *given, *fixed, "--strict"]) == 1
    out, err = capsys.readouterr()
    assert f"{given[1]}: {SAID}" in err and "leave out --strict" in err and not out


def test_mqm(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["mqm", "m.tsv", "--pronouns", "p.jsonl"]
    assert main(given) == 0
    assert f"pronmetric: m.tsv: {SAID}" in capsys.readouterr().err
    Path("p.jsonl").unlink()
    assert main([*given, "--strict"]) == 1
    assert f"m.tsv: {SAID}" in capsys.readouterr().err and not Path("p.jsonl").exists()


def test_entities_and_mark_up_are_noted(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]) -> None:
    Path("en.txt").write_text("It&#39;s late.\nThe <i>Titanic</i> sank.\nShe left.\n", encoding="utf-8")
    Path("lines.jsonl").write_text('{"id": 1, "text": "It&#39;s late."}\n', encoding="utf-8")
    fixed = ["--model", str(tiny_checkpoint()), "--gpus", "0"]
    assert main(["score", "-t", "en.txt", "--context", "none", "--to_json", "r.json", *fixed]) == 0
    assert "pronmetric: read as plain text: entities in 1, mark-up in 1 texts\n" in capsys.readouterr().err
    counts = json.loads(Path("r.json").read_text(encoding="utf-8"))["counts"]
    assert (counts["entities"], counts["markup"], counts["apostrophes"], counts["letters"]) == (1, 1, 0, 0)
    assert main(["score", "--jsonl", "lines.jsonl", *fixed]) == 0
    (pronoun,) = json.loads(capsys.readouterr().out)["pronouns"]
    assert (pronoun["text"], pronoun["start"], pronoun["end"]) == ("It", 0, 2)
