"""Each format's sample has the texts of sample.txt, with the places and lines of its own."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.text.files import markdown, po, srt, tmx, vtt, xliff
from pronmetric.text.files.unit import FileTexts

SAMPLES = Path(__file__).parents[2] / "fixtures" / "files"
TEXTS = (SAMPLES / "sample.txt").read_text(encoding="utf-8").splitlines()
SOURCES = [
    "Zu der Frau am Schalter: Sie wissen, dass sie ihre Schlüssel verloren hat.",
    "Hat Ihr Bruder sie gefunden?",
    "Ja, er hat sie auf den Tisch gelegt.",
    "Die Tür war offen, als wir kamen.",
    "Sie war nicht verschlossen.",
]
Reader = Callable[[Path], FileTexts]
READERS: dict[str, Reader] = {
    "sample.srt": srt.read,
    "sample.vtt": vtt.read,
    "sample.md": markdown.read,
    "sample.po": po.read,
    "sample.xlf": xliff.read,
    "sample-2.xlf": xliff.read,
    "sample.tmx": tmx.read,
}


@pytest.mark.parametrize("name", READERS)
def test_the_texts_are_those_of_the_plain_lines(name: str) -> None:
    read = READERS[name](SAMPLES / name)
    assert [unit.text for unit in read.units] == TEXTS
    assert read.in_order == (name in ("sample.srt", "sample.vtt", "sample.md"))
    assert [unit.source for unit in read.units] == ([None] * len(TEXTS) if read.in_order else SOURCES)


@pytest.mark.parametrize("name", READERS)
def test_each_line_is_that_of_the_text(name: str) -> None:
    """The first words of a text stand on the line that is given, or on the next one, after the tag or keyword there."""
    lines = (SAMPLES / name).read_text(encoding="utf-8").splitlines()
    for unit in READERS[name](SAMPLES / name).units:
        found = "".join(lines[unit.line - 1 : unit.line + 1])
        assert unit.text.split()[1] in found and unit.text.split()[2] in found


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("sample.srt", {}),
        ("sample.vtt", {}),
        ("sample.md", {"front matter": 1, "code blocks": 2, "comments": 1, "without a letter": 2}),
        ("sample.po", {"header": 1, "untranslated": 2, "fuzzy": 1, "obsolete": 1}),
        ("sample.xlf", {"untranslated": 2, "not to be translated": 1}),
        ("sample-2.xlf", {"untranslated": 1, "not to be translated": 1}),
        ("sample.tmx", {"no text in the target language": 1}),
    ],
)
def test_what_is_left_out_is_counted(name: str, left_out: dict[str, int]) -> None:
    assert READERS[name](SAMPLES / name).left_out == left_out


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("form", ["mark", "windows", "gzip"])
def test_byte_order_marks_windows_line_ends_and_gzip_change_nothing(tmp_path: Path, name: str, form: str) -> None:
    raw = (SAMPLES / name).read_bytes()
    changed = {"mark": b"\xef\xbb\xbf" + raw, "windows": raw.replace(b"\n", b"\r\n"), "gzip": gzip.compress(raw)}
    path = tmp_path / name
    path.write_bytes(changed[form])
    assert READERS[name](path) == READERS[name](SAMPLES / name)


@pytest.mark.parametrize("name", ["sample.srt", "sample.vtt", "sample.md", "sample.po"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_another_encoding_is_refused_in_one_line(tmp_path: Path, name: str, encoding: str) -> None:
    path = tmp_path / name
    path.write_text((SAMPLES / name).read_text(encoding="utf-8") + "\n# caf\u00e9\n", encoding=encoding)
    with pytest.raises(InputError, match=r"sample\.\w+:\d+: .*UTF-8") as raised:
        READERS[name](path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["sample.xlf", "sample-2.xlf", "sample.tmx"])
def test_xml_says_its_encoding(tmp_path: Path, name: str) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8").replace("UTF-8", "UTF-16", 1)
    path = tmp_path / name
    path.write_text(text, encoding="utf-16")
    assert READERS[name](path).units == READERS[name](SAMPLES / name).units


@pytest.mark.parametrize("name", READERS)
def test_a_file_above_the_limit_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRONMETRIC_MAX_FILE_BYTES", "100")
    with pytest.raises(InputError, match="PRONMETRIC_MAX_FILE_BYTES"):
        READERS[name](SAMPLES / name)


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path: Path, name: str) -> None:
    raw = (SAMPLES / name).read_bytes()
    path = tmp_path / name
    refused = 0
    for place in range(0, len(raw), 29):
        for damaged in (raw[:place], raw[:place] + raw[place + 11 :], raw[:place] + b"<" + raw[place:]):
            path.write_bytes(damaged)
            try:
                units = READERS[name](path).units
            except InputError as error:
                assert "\n" not in str(error) and error.file == path
                refused += 1
                continue
            assert all(unit.text == " ".join(unit.text.split()) != "" for unit in units)
            assert all(1 <= unit.line <= damaged.count(b"\n") + 1 for unit in units)
    assert refused or name == "sample.md"
