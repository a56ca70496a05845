"""The format of a file by its first lines and its suffix: what is read, what is refused, and what stays plain lines."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.text import corpus
from pronmetric.text.files import detect
from pronmetric.text.files.door import Reading

SRT = "1\n00:00:01,000 --> 00:00:02,000\nShe left.\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nShe left.\n", "vtt"),
        ("\ufeffWEBVTT - title\n", "vtt"),
        (SRT, "srt"),
        ("\ufeff" + SRT.replace("\n", "\r\n"), "srt"),
        ("00:00:01.000 --> 00:00:02.000\nShe left.\n", "srt"),
        ('# Title.\n#, fuzzy\nmsgid ""\nmsgstr ""\n', "po"),
        ('msgctxt "menu"\nmsgid "Datei"\nmsgstr "File"\n', "po"),
        ('<?xml version="1.0"?>\n<!-- a -->\n<xliff version="1.2">\n', "xliff"),
        ('<x:xliff xmlns:x="urn:oasis" version="2.0">\n', "xliff"),
        ('<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n', "tmx"),
        ('{"src": "Sie ging.", "mt": "She left."}\n{"src": "", "mt": ""}\n', "jsonl"),
        ("src\tmt\tref\nSie.\tShe.\tShe.\n", "tsv"),
        ("doc,Source,MT\na,Sie.,She.\n", "csv"),
        ('"source";"hypothesis"\n"Sie.";"She."\n', "csv"),
    ],
)
def test_the_first_lines_tell_the_format_whatever_the_suffix(text: str, kind: str) -> None:
    for name in ("a.txt", "a", "a.en", "a.dat"):
        assert detect.of_head(text.encode(), name) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.csv", "csv"),
        ("A.TSV", "tsv"),
        ("a.srt", "srt"),
        ("a.md", "markdown"),
        ("a.sdlxliff", "xliff"),
        ("a.ndjson", "jsonl"),
        ("a.po.gz", "po"),
        ("wmt.md.txt", "lines"),
        ("a.ref.en", "lines"),
        ("newstest2019.ts", "lines"),
    ],
)
def test_the_suffix_tells_what_the_first_lines_leave_open(name: str, kind: str) -> None:
    assert detect.of_head(b"She left.\n", name) == kind


@pytest.mark.parametrize(
    "text",
    [
        "She, he and it left.\nThey came, too.\n",
        "She left; he stayed.\n",
        "Source, target and system.\nShe left.\n",
        "source\tof it\nShe left.\n",
        "{name} is late.\nShe left.\n",
        "{\nShe left.\n",
        '{"She left"} he said.\n',
        "[Applause] She left.\nHe came.\n",
        '["She left," he said.]\n',
        "[1] In the beginning\n",
        "<i>She</i> left.\n",
        "<range>\nAnd they answered him.\n",
        "<p>She left.</p>\n",
        "<doc>\nShe left.\n</doc>\n",
        "<!-- a comment --> She left.\n",
        "1\nShe left.\n2\nHe came.\n",
        "At 00:00:01,000 --> she left.\n",
        "1984\n\nHe wrote it.\n",
        "msgid is a keyword.\n",
        "# Notes\nShe left.\n",
        "---\nShe left.\n---\n",
        "```\nShe left.\n",
        '"She" = "he";-)\n',
        "WEBVTTs are files.\n",
        "PK is his name.\n",
        "%PDF is a format.\n",
        "text\nShe left.\n",
        "target\tsource\n",
        "",
        "\n\n",
    ],
)
def test_a_plain_text_stays_lines(text: str) -> None:
    assert detect.of_head(text.encode(), "a.txt") == "lines"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.docx", b"PK\x03\x04 word", "a Word document"),
        ("a.txt", b"PK\x03\x04 word", "a ZIP archive"),
        ("a.xlsx", b"PK\x03\x04 xl", "an Excel workbook, which is not read: save the sheet as CSV"),
        ("a.txt", b"%PDF-1.4\n", "a PDF document"),
        ("a.txt", b"{\\rtf1\\ansi She left.}", "an RTF document"),
        ("a.html", b"She left.\n", "an HTML page"),
        ("a.txt", b"<!doctype html>\n<title>x</title>\n", "an HTML page"),
        ("a.txt", b"<html lang='en'>\n", "an HTML page"),
        ("a.strings", b"", "an Apple .strings file"),
        ("a.txt", b'/* Menu. */\n"file.open" = "Open it";\n', "an Apple .strings file"),
        ("a.json", b'{"menu": {"open": "Open it"}}', "a JSON document"),
        ("a.json", b'{\n  "open": "Open it"\n}\n', "a JSON document"),
        ("a.txt", b'[{"mt": "She left."}, {"mt": "He came."}]\n', "a JSON document"),
        ("a.txt", b'[\n {"mt": "She left."}\n]\n', "write one object a line (JSON Lines)"),
        ("a.sgm", b"She left.", "a WMT test set"),
        ("a.txt", b'<refset setid="x">\n<doc docid="y">\n<seg id="1">She left.</seg>\n', "-d NAME:LP"),
        ("a.txt", b'<?xml version="1.0"?>\n<dataset id="x"><doc id="y"><src><p><seg id="1">A</seg>', "a WMT test set"),
        ("a.txt", b'<?xml version="1.0"?>\n<resources><string name="a">She left.</string>', "XML of an unknown kind"),
        ("a.txt", b"[Script Info]\nTitle: x\n", "ASS subtitles, which is not read: convert it to SRT"),
        ("a.parquet", b"PAR1abc", "a Parquet table"),
        ("a.yml", b"a: b\n", "a YAML file"),
    ],
)
def test_other_formats_are_refused_in_one_line(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(
        InputError, match=r"which is not read: .* \(`format=lines` takes its lines as texts\)"
    ) as refused:
        detect.of_file(path)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_gzip_is_looked_into(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(SRT.encode()))
    assert detect.of_file(path) == "srt"


def test_another_format_is_read_from_stdin_and_refused_from_pipes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "stdin"
    path.write_text(SRT, encoding="utf-8")
    with path.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert corpus.read(["-"], print).formats == {"<stdin>": "SRT"}
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(SRT,), daemon=True)
    writer.start()
    with pytest.raises(InputError, match="pipe: is SRT, which is not read from a stream: save it as a file"):
        corpus.read([str(pipe)], print)


def test_a_choice_among_plain_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("She left.\n", encoding="utf-8")
    with pytest.raises(Exception, match=r"`text_key=` is of tables and JSON Lines; .* has plain lines"):
        corpus.read([str(path)], print, reading=Reading(text_key="mt"))
