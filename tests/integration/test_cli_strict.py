"""Texts in another language than the model's: a note, with --strict an error before anything is scored."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    lines("de.jsonl", [{"id": k, "text": line} for k, line in enumerate(GERMAN)])
    header = "system doc seg_id rater source target category severity".split()
    rows = [header, *(["ref", "d", str(k), "r", "s", text, "No-error", "No-error"] for k, text in enumerate(GERMAN))]
    Path("m.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def lines(name: str, records: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def refuses(capsys: pytest.CaptureFixture[str], name: str, *argv: str) -> None:
    """With --strict the verb ends with an error before it prints anything."""
    assert main([*argv, "--strict"]) == 1
    out, err = capsys.readouterr()
    assert f"{name}: {SAID}" in err and "leave out --strict" in err and not out


@pytest.mark.parametrize("given", [["-t", "de.txt"], ["--jsonl", "de.jsonl"]])
def test_score(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str], given: list[str]) -> None:
    fixed = ["--model", str(tiny_checkpoint()), "--gpus", "0"]
    assert main(["score", *given, *fixed]) == 0
    out, err = capsys.readouterr()
    assert f"pronmetric: {given[1]}: {SAID}" in err and out
    refuses(capsys, given[1], "score", *given, *fixed)


@pytest.mark.parametrize("given", [["-t", "de.txt"], ["--jsonl", "de.jsonl"]])
def test_suggest(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str], given: list[str]) -> None:
    argv = ["suggest", *given, "--model", str(tiny_checkpoint()), "--gpus", "0"]
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert f"pronmetric: {given[1]}: {SAID}" in err and len(out.splitlines()) == len(GERMAN)
    refuses(capsys, given[1], *argv)


@pytest.mark.parametrize("by_agreement", [False, True])
def test_rerank(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str], by_agreement: bool) -> None:
    further = ["--mbr"] if by_agreement else ["--model", str(tiny_checkpoint()), "--gpus", "0"]
    assert main(["rerank", "--candidates", "de.txt", "de.txt", *further]) == 0
    out, err = capsys.readouterr()
    assert f"pronmetric: the candidates: {SAID}" in err and out.splitlines() == GERMAN


def test_evaluate_pairs(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [
        {"id": k, "context": [], "text_a": line, "text_b": f"So {line}", "better": "A"} for k, line in enumerate(GERMAN)
    ]
    lines("pairs.jsonl", pairs)
    argv = ["evaluate", "pairs.jsonl", "--model", str(tiny_checkpoint()), "--gpus", "0"]
    assert main(argv) == 0
    assert f"pronmetric: pairs.jsonl: {SAID}" in capsys.readouterr().err
    refuses(capsys, "pairs.jsonl", *argv)


def test_evaluate_labelled_pronouns(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]) -> None:
    line = GERMAN[1]
    label = {"context": [], "text": line, "start": 0, "end": 3, "pronoun": "Sie"}
    lines("tokens.jsonl", [{"id": k, **label, "label": ("right", "wrong")[k % 2]} for k in range(4)])
    argv = ["evaluate", "tokens.jsonl", "--threshold", "0.5", "--model", str(tiny_checkpoint()), "--gpus", "0"]
    assert main(argv) == 0
    assert f"pronmetric: tokens.jsonl: {SAID}" in capsys.readouterr().err
    refuses(capsys, "tokens.jsonl", *argv)


def test_suite(tiny_checkpoint: Checkpoints, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(root / "examples" / "suites" / "contrapro.json", "set.json")  # its targets are German
    argv = ["suite", "score", "contrapro", "--set", "set.json", "--model", str(tiny_checkpoint()), "--gpus", "0"]
    assert main(argv) == 1  # no candidate has an English pronoun
    assert f"pronmetric: set.json: {SAID}" in capsys.readouterr().err
    refuses(capsys, "set.json", *argv)


def test_prepare(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path("wmt", "letters2022.fr-en")
    folder.mkdir(parents=True)
    for name in ("ref", "one"):
        shutil.copy("de.txt", folder / f"{name}.txt")
    argv = ["prepare", "data.wmt=wmt", "out=out", "strict=true"]
    assert main(argv) == 1
    err = capsys.readouterr().err
    assert f"letters2022.fr-en, ref: {SAID}" in err and "set strict=false" in err and not Path("out").exists()
    main([*argv[:-1], "strict=false"])  # nothing is left of these lines
    err = capsys.readouterr().err
    assert f"letters2022.fr-en, ref: {SAID}" in err and "set strict=false" not in err


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
