"""Tables with named columns and JSON Lines of other tools: what is a text, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pronmetric.alignment.aligner import read_pairs
from pronmetric.errors import InputError
from pronmetric.text.files import door
from pronmetric.text.files.columns import Role
from pronmetric.text.files.door import Reading
from pronmetric.text.files.unit import FileTexts


def read(tmp_path: Path, name: str, text: str, role: Role = Role.TRANSLATION, **reading: Any) -> FileTexts:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    found = door.read(str(path), role, Reading(**reading))
    assert found is not None
    return found


def refused(tmp_path: Path, name: str, text: str, **reading: Any) -> str:
    with pytest.raises(InputError) as error:
        read(tmp_path, name, text, **reading)
    assert "\n" not in str(error.value)
    return str(error.value).removeprefix(str(tmp_path / name))


def texts(found: FileTexts) -> list[str]:
    return [unit.text for unit in found.units]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_csv_file_has_any_of_three_marks(mark: str, tmp_path: Path) -> None:
    rows = [
        ["Doc ID", "src", "hypothesis", "reference"],
        ["d1", "Sie ging.", '"She left, he; I\tstayed."', "She went."],
    ]
    found = read(tmp_path, "a.csv", "".join(f"{mark.join(row)}\n" for row in rows))
    (unit,) = found.units
    assert (unit.text, unit.source, unit.reference, unit.doc) == (
        "She left, he; I\tstayed.",
        "Sie ging.",
        "She went.",
        "d1",
    )
    assert (unit.line, unit.place, found.format, found.in_order) == (2, "row 1", "CSV", True)


def test_cells_may_hold_line_ends_quotes_and_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, "a.csv", 'sep=;\nmt;src\n"She said ""no"",\r\n\nbut left.";x\n;y\n\n;;;\n It. ;z;\n')
    assert texts(found) == ['She said "no", but left.', "", "It."]
    assert [unit.line for unit in found.units] == [3, 6, 9] and found.left_out == {"empty row": 1}


def test_direct_speech_keeps_its_quotes_in_a_tsv_file(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "a.tsv", 'src\tmt\na\t"Yes."\nb\t"No," she said.\n')) == ['"Yes."', '"No," she said.']
    assert texts(read(tmp_path, "a.tsv", 'src\tmt\na\t"""No,"" she said."\n')) == ['"No," she said.']
    assert texts(read(tmp_path, "a.tsv", '"src"\t"mt"\n"a"\t"Yes."\n')) == ["Yes."]


def test_the_role_chooses_the_column(tmp_path: Path) -> None:
    table = "src,target,mt,ref\nSie.,It.,She.,He.\n"
    assert texts(read(tmp_path, "a.csv", table)) == ["She."]  # the target may be the reference
    assert texts(read(tmp_path, "a.csv", table, Role.REFERENCE)) == ["He."]
    assert texts(read(tmp_path, "a.csv", table, Role.SOURCE)) == ["Sie."]
    assert texts(read(tmp_path, "a.csv", table, text_key="target")) == ["It."]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "a.csv",
            "a,b\n1,2\n",
            ":1: no column is known to be the translation: name it in the first line as mt, src or ref",
        ),
        ("a.csv", "src,ref\n1,2\n", "(columns: src, ref)"),
        ("a.csv", "mt,hyp\n1,2\n", ":1: 'mt' and 'hyp' may both be the translation: choose one with `text_key=mt`"),
        ("a.csv", "mt,src,source\n1,2,3\n", ":1: 'src' and 'source' may both be the source: leave one out"),
        ("a.csv", "mt,mt\n1,2\n", ":1: two columns are named 'mt'"),
        ("a.csv", "src,mt\n1,2\n3\n", ":3: expected 2 cells (src, mt), got 1"),
        ("a.tsv", "src\tmt\n1\t2\t3\n", ":2: expected 2 cells (src, mt), got 3"),
        ("a.csv", 'src,mt\n1,"2\n', ":2: broken CSV (unexpected end of data)"),
        ("a.csv", 'src,mt\n1,2\n"a"b,c\n', ":3: broken CSV"),
        ("a.csv", "src,mt\n", ": has no text to read as CSV"),
        ("a.jsonl", '{"a": 1}\n', ":1: no key is known to be the translation: name it mt, src or ref"),
        ("a.jsonl", '{"mt": "It."}\n{"mt": 1}\n', ':2: "mt" must be a string, got a number'),
        ("a.jsonl", '{"mt": "It."}\n{"mt": \n', ":2: broken JSON"),
        ("a.jsonl", '{"mt": "It."}\n["It."]\n', ":2: expected a JSON object, got a list"),
        (
            "a.jsonl",
            '{"id": 1, "text": "It.", "context": []}\n',
            ":1: records with their context: give them with `jsonl=`",
        ),
        ("a.jsonl", '{"messages": [{"role": "user"}]}\n', '"messages", entry 1: no key of a text'),
    ],
)
def test_what_is_wrong_is_said_in_one_line(name: str, text: str, said: str, tmp_path: Path) -> None:
    assert said in refused(tmp_path, name, text)


@pytest.mark.parametrize(
    ("record", "source", "reference", "doc"),
    [
        ({"src": "Sie.", "mt": "She.", "ref": "He."}, "Sie.", "He.", None),
        ({"source": "Sie.", "hypothesis": "She.", "reference": "He."}, "Sie.", "He.", None),
        ({"doc_id": 7, "src_text": "Sie.", "hypothesis": "She.", "refs": {"refA": {"ref": "He."}}}, "Sie.", None, "7"),
        ({"translation": "She.", "text": "Sie.", "ref": None}, None, None, None),
    ],
)
def test_the_keys_of_other_tools(
    record: dict[str, Any], source: str | None, reference: str | None, doc: str | None, tmp_path: Path
) -> None:
    (unit,) = read(tmp_path, "a.jsonl", json.dumps(record) + "\n").units
    assert (unit.text, unit.source, unit.reference, unit.doc) == ("She.", source, reference, doc)
    assert unit.place == "object 1"


def test_a_key_can_be_named(tmp_path: Path) -> None:
    record = {"id": 1, "text": "She.", "context": ["He."], "draft": "It.", "mt": "I."}
    assert texts(read(tmp_path, "a.jsonl", json.dumps(record), text_key="draft")) == ["It."]
    assert "there is no key 'final'" in refused(tmp_path, "a.jsonl", json.dumps(record), text_key="final")


def test_the_messages_of_a_talk_have_speakers(tmp_path: Path) -> None:
    talk = {
        "id": "t1",
        "messages": [
            {"role": "system", "content": "Translate."},
            {"speaker": "Ann", "utterance": "Is she\nhere?", "source": "Ist sie da?"},
            {"role": "user", "content": "Yes."},
        ],
    }
    flat = {"speaker": "Bob", "utterance": "I left."}
    found = read(tmp_path, "a.jsonl", f"{json.dumps(talk)}\n\n{json.dumps(flat)}\n")
    assert [(unit.doc, unit.speaker, unit.text, unit.line) for unit in found.units] == [
        ("t1", "Ann", "Is she here?", 1),
        ("t1", "user", "Yes.", 1),
        (None, "Bob", "I left.", 3),
    ]
    assert found.units[0].place == "object 1, message 2" and found.units[0].source == "Ist sie da?"
    assert found.left_out == {"message of a system prompt or a tool": 1}


def test_a_memory_of_several_languages_gives_that_of_the_model(tmp_path: Path) -> None:
    each = {"de": "Sie ging.", "fr": "Elle partit.", "en": "She left."}
    variants = "".join(f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in each.items())
    memory = f'<tmx version="1.4"><header srclang="de"/><body><tu>{variants}</tu></body></tmx>'
    assert texts(read(tmp_path, "a.tmx", memory, language=lambda: "en")) == ["She left."]
    assert texts(read(tmp_path, "a.tmx", memory, language=lambda: "en", text_key="fr")) == ["Elle partit."]
    assert "name the one to be scored as `text_key=`" in refused(tmp_path, "a.tmx", memory)


def test_tokens_are_aligned_but_pages_are_not(tmp_path: Path) -> None:
    for name, text in (("a.txt", "She left .\n"), ("b.html", "<html>\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_pairs(tmp_path / "a.txt", tmp_path / "a.txt") == [(["She", "left", "."],) * 2]
    with pytest.raises(InputError, match="is an HTML page"):
        read_pairs(tmp_path / "a.txt", tmp_path / "b.html")
