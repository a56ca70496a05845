"""`pronmetric baseline autoprf`: what it prints and writes, with and without --compat; faults leave nothing behind."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pronmetric.cli.main import main

ARGS = ["baseline", "autoprf", "--reference", "ref", "--candidate", "sys", "--documents", "docs"]
FILES = {
    "ref.en": "It rains and they know it .\nThey left .\n\nIT is here\n",
    "ref.fr": "il pleut et ils le savent .\nElles sont parties .\n\nil est là\n",
    "ref.en-fr.alig": "0-0 3-3 4-5 5-4\n0-0 1-1 4-0\n\n0-0\n",
    "sys.en": "It rains and they know it .\nThey left .\n\nIT is here\n",
    "sys.fr": "Il pleut et ils le savent .\nIls sont partis .\n\nil est là\n",
    "sys.en-fr.alig": "0-0 3-3 4-5 5-4 5-4\n0-0 1-9\n\n0-0\nsurplus\n",
    "docs": "0 forecast\n1\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_table_json_and_notes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ARGS, "--src", "en", "--tgt", "fr", "--to_json", "out.json"]) == 0
    out, err = capsys.readouterr()
    rows = [line.split() for line in out.splitlines()]
    assert rows[1] == ["it", "0.3333", "0.5000", "0.4000", "1", "2", "3"]  # Il/il no; le, le of le
    assert rows[2] == ["they", "0.5000", "0.5000", "0.5000", "1", "2", "2"]
    assert rows[3] == ["total", "0.4000", "0.5000", "0.4444", "2", "4", "5"]
    assert rows[6] == ["forecast", "0.6667", "2", "3"]
    assert rows[7] == ["Document", "2", "0.0000", "0", "1"]
    assert err.splitlines() == [
        "pronmetric: ref: ignored: source index past the end (1)",
        "pronmetric: sys: ignored: target index past the end (1)",
        "pronmetric: sys: ignored: surplus lines of links (1)",
    ]
    content = json.loads((folder / "out.json").read_text())
    assert [content[key] for key in ("precision", "recall", "f1")] == pytest.approx([2 / 5, 2 / 4, 4 / 9])
    assert list(content["by_pronoun"]) == ["it", "they"]
    assert content["by_pronoun"]["it"]["precision"] == pytest.approx(1 / 3)
    assert [(d["document"], d["recall"], d["f1"]) for d in content["by_document"]] == [
        ("forecast", pytest.approx(2 / 3), pytest.approx(4 / 7)),
        ("Document 2", 0.0, None),
    ]
    assert content["ignored"]["candidate"]["surplus_lines_of_links"] == 1
    assert content["compat"] is False


def test_compat_changes_the_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sys.en-fr.alig").write_text("0-7\n\n\n\n")  # It -> Ils of the next line; no they anywhere
    (folder / "ref.en-fr.alig").write_text("0-7 3-3\n0-0\n\n\n")
    (folder / "ref.fr").write_text("il pleut et ils le savent .\nIls sont partis .\n\nil est là\n")
    assert main([*ARGS, "--to-json", "out.json"]) == 0
    plain = json.loads((folder / "out.json").read_text())
    assert (plain["precision"], plain["recall"], plain["f1"]) == (None, 0.0, None)
    assert main([*ARGS, "--compat", "--to-json", "out.json"]) == 0
    compat = json.loads((folder / "out.json").read_text())
    assert (compat["precision"], compat["recall"], compat["f1"]) == (1.0, 1.0, 1.0)
    assert list(plain["by_pronoun"]) == ["it", "they"] and list(compat["by_pronoun"]) == ["it"]
    out, _ = capsys.readouterr()
    assert "-" in out.splitlines()[1].split() and "1.0000" in out


def test_compat_prints_half_up_and_nan(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = " ".join(f"w{i}" for i in range(32))
    for stem, links in (("ref", [f"0-{j}" for j in range(32)]), ("sys", ["0-5"])):
        (folder / f"{stem}.en").write_text("it\nso\n")
        (folder / f"{stem}.fr").write_text(f"{words}\nx\n")
        (folder / f"{stem}.en-fr.alig").write_text(" ".join(links) + "\n\n")
    assert main([*ARGS, "--compat"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[1][:4] == ["it", "1.0000", "0.0313", "0.0606"]
    assert rows[-1] == ["Document", "2", "NaN", "0", "0"]
    assert main(ARGS) == 0
    assert "0.0312" in capsys.readouterr().out


def test_other_languages_and_no_pronoun(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for stem in ("ref", "sys"):
        (folder / f"{stem}.de").write_text("sie\n")
        (folder / f"{stem}.cs").write_text("oni\n")
        (folder / f"{stem}.de-cs.alig").write_text("0-0\n")
    (folder / "docs").write_text("0\n")
    assert main([*ARGS, "--src", "de", "--tgt", "cs", "--to_json", "out.json"]) == 0
    out, err = capsys.readouterr()
    assert err == "pronmetric: ref.de: no It, They, it, they in the source: there is no score\n"
    assert out.splitlines()[1].split() == ["total", "-", "-", "-", "0", "0", "0"]
    assert json.loads((folder / "out.json").read_text())["f1"] is None
    assert main([*ARGS, "--src", "de", "--tgt", "cs", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("sys.en-fr.alig", "0-0\nx\n\n\n", "sys.en-fr.alig:2: expected links such as 0-0 1-2, got 'x'"),
        ("sys.en-fr.alig", "0-0\n", "sys.en-fr.alig: 1 lines for 4 sentences"),
        ("sys.en", "It rains\nThey left .\n\nIT is here\n", "sys.en:1: 2 tokens, but 7 in that line of ref.en"),
        ("docs", "", "docs: expected a line for each document; write 0 where there is but one"),
        ("docs", "0\n4 last\n", "docs:2: no sentence 4: there are 4, counted from 0"),
        ("ref.fr", None, "ref.fr: no such file; the stem 'ref' stands for ref.en, ref.fr, ref.en-fr.alig"),
        ("docs", None, "docs: no such file"),
        ("sys.en", "WEBVTT\n", "sys.en: is WebVTT, but word links are of plain lines: save its texts as plain text"),
    ],
)
def test_faults_are_one_line_and_leave_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | None, message: str
) -> None:
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_text(content)
    before = sorted(folder.iterdir())
    assert main([*ARGS, "--to_json", "out.json"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"pronmetric: error: {message}") and err.count("\n") == 1
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(("target", "message"), [("sys.fr", "would be overwritten"), ("no/o.json", "does not exist")])
def test_no_input_is_overwritten(folder: Path, capsys: pytest.CaptureFixture[str], target: str, message: str) -> None:
    assert main([*ARGS, "--to_json", target]) == 1
    assert message in capsys.readouterr().err
    assert (folder / "sys.fr").read_text() == FILES["sys.fr"]


@pytest.mark.parametrize(
    "flags", [["--src", "fr"], ["--src", "../en"], ["--compatible"], ["more"], ["--tgt"], ["--documents"]]
)
def test_wrong_flags_exit_2(capsys: pytest.CaptureFixture[str], flags: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*ARGS, *flags])
    assert caught.value.code == 2
    assert "usage: pronmetric baseline" in capsys.readouterr().err


def test_all_files_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["baseline", "autoprf", "--reference", "ref"])
    assert caught.value.code == 2
    assert "--candidate, --documents" in capsys.readouterr().err


def test_long_work_shows_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(ARGS) == 0
    assert "autoprf:" not in capsys.readouterr().err  # short work shows none
    monkeypatch.setattr("pronmetric.output.progress.DELAY", 0.0)
    assert main(ARGS) == 0
    assert re.search(r"^autoprf: \d+ pronouns, ", capsys.readouterr().err, re.MULTILINE)
