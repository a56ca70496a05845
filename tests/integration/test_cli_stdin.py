"""Stdin in place of a file, in any verb that reads one; stdout, which is no folder."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.text import corpus

PAIRS = [
    {"id": f"p{n}", "text_a": "She fed it.", "text_b": "He fed it.", "votes": {"ann": a, "bob": b}, "doc": f"d{n}"}
    for n, (a, b) in enumerate(["AA", "AB", "BB"])
]
SCORES = [{"id": one["id"], "score_a": 0.9, "score_b": 0.1 * n} for n, one in enumerate(PAIRS)]
MQM = ["system doc seg_id rater source target category severity"] + [
    f"{system} d {n} r x {target} {category} {severity}"
    for n in (1, 2)
    for system, target, category, severity in (
        ("s", "<v>He</v>_left.", "Accuracy/Mistranslation", "Major"),
        ("t", "She_left.", "no-error", "no-error"),
        ("ref", "She_left.", "no-error", "no-error"),
    )
]


def lines(*rows: object) -> str:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


FILES = {
    "pairs": lines(*PAIRS),
    "scores": lines(*SCORES),
    "table": "item,one,two\n1,x,x\n2,x,y\n3,y,y\n4,y,y\n",
    "human": "".join(f"{name}\t{value}\n" for value, name in enumerate("abcdef")),
    "metric": "".join(f"{name}\t{value}\n" for value, name in enumerate("abdcef")),
    "mqm": lines(*(row.replace(" ", "\t").replace("_", " ").replace("seg id", "seg_id") for row in MQM)),
    "text": "Sie ging .\nEr kam .\n",
    "sampled": "src,mt\nSie ging.,She left.\nEr kam.,He came.\n",
}
VERBS = {
    "agree @": "pairs",
    "agree --ratings @": "table",
    "agree pairs --scores @": "scores",
    "evaluate @ --scores scores": "pairs",
    "evaluate pairs --scores @": "scores",
    "correlate metric @": "human",
    "correlate @ human": "metric",
    "mqm @ --pairs out": "mqm",
    "align @ text": "text",
    "rerank --nbest @ --size 2 --mbr": "text",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


def give(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))


@pytest.mark.parametrize("verb", VERBS)
def test_stdin_gives_what_the_file_gives(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = VERBS[verb]
    assert main(verb.replace("@", name).split()) == 0, capsys.readouterr().err
    wanted = capsys.readouterr().out
    for stdin in ("-", "/dev/stdin"):
        give(monkeypatch, FILES[name].encode())
        assert main(verb.replace("@", stdin).split()) == 0, capsys.readouterr().err
        found = capsys.readouterr().out
        assert re.findall(r"[-+]?\d+(?:\.\d+)?", found) == re.findall(r"[-+]?\d+(?:\.\d+)?", wanted)
        assert len(found.splitlines()) == len(wanted.splitlines())
    assert not Path("-").exists()


def test_errors_name_it_with_the_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    give(monkeypatch, lines(*PAIRS, PAIRS[0]).encode())
    assert main(["agree", "-"]) == 1
    assert capsys.readouterr().err.startswith('pronmetric: error: <stdin>:4: duplicate id "p0"')
    give(monkeypatch, b"x" * 20)
    monkeypatch.setenv("PRONMETRIC_MAX_FILE_BYTES", "10")
    assert main(["agree", "-"]) == 1
    assert "<stdin>: more than 10 bytes" in capsys.readouterr().err


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_any_format_and_gzip_come_from_stdin(pack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(pack)
    give(monkeypatch, pack(FILES["sampled"].encode()))
    found = corpus.read(["-"], print)
    assert [(row.source, row.texts) for row in found.rows()] == [
        ("Sie ging.", ("She left.",)),
        ("Er kam.", ("He came.",)),
    ]


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
@pytest.mark.parametrize(
    "verb",
    [
        "bulk score records.jsonl -o @",
        "prepare data.wmt=. out=@",
        "study sample pairs -o @",
        "suite export tsv --set pairs -o @",
        "board build --wmt . -o @",
    ],
)
def test_a_folder_is_not_stdout(verb: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("records.jsonl").write_text('{"text": "She left."}\n')
    assert main(verb.replace("@", name).split()) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "pronmetric: error: <stdout>: is no folder; give a folder to write\n")
    assert not Path("-").exists()
