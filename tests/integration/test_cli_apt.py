from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.cli.main import main

FILES = {
    "src": "it works and they know it\nIt sleeps\n they have said it \nso they left\nthey do\n",
    "ref": "elle marche et ils le savent\nCela dort\nont-ils dit cela\ndonc elles partirent\noui\n",
    "tgt": "il marche et ils la savent\nCela dort\nils ont dit\ndonc elles partirent\noui\n",
    "src-ref": "0-0 1-1 2-2 3-3 4-5 5-4\n0-0 1-1\n0-0 1-0 2-1 3-2\n0-0 2-2\n\n",
    "src-tgt": "0-0 1-1 2-2 3-3 4-5 5-4\n0-1 1-1\n0-0 1-1 2-2\n0-0 1-1 2-2\n\n",
    "src.list": "IT\n\n they \n",
    "tgt.list": "il\nelle\nils\nelles\nle\nla\ncela\nça\n",
    "equal": "cela, ça\n",
    "similar": "il , Elle\nle,la\n",
    "src.pronouns": "it\nthey\n",
    "tgt.pronouns": "il\nelle\nils\nelles\ncela\n",
}
CONFIG = """\
# a comment
[lang]
source: en
target: fr
source_word_separator:
target_word_separator: -

[files]
source = src
reference = ref
target = tgt
alignment_source_reference = src-ref
alignment_source_target = src-tgt
list_source_pronouns = src.list
input_type: word
list_target_pronouns = tgt.list

[dictionary]
equal = equal
similar = similar
source_pronouns = src.pronouns
target_pronouns = tgt.pronouns

[cases]
cases_to_use: 1,2,3,4,5,6
weigths_per_case: 1, 0.5, 0, 0, 0, 0
count_OTHER_as_equal: false

[output]
output_file = out
counting_multiword_in_matrix: true
max_length_matrix: 4
"""
SUMMARY = """\
Score: 0.5000
Cases: 1 2 3 4 5 6
Weights: 1 0.5 0 0 0 0
Findings per case: 3 2 0 1 1 1
Total findings: 8
"""
MATRIX = """\

REF. \\ TARGET|ils|NONE|cela|elle|...|-sum-
ils|2|0|0|0|0|2
NONE|0|1|0|0|1|2
cela|0|1|1|0|0|2
elle|0|0|0|0|1|1
...|0|0|0|0|1|1
-sum-|2|2|1|0|3|8
"""
DETAIL = """\
SENT.|POS. SOURCE|SOURCE|POS. REF.|REF.|POS. TARGET|TARGET|CASE
0|0|it|0|elle|0|il|2
0|3|they|3|ils|3|ils|1
0|5|it|4|le|4|la|2
1|0|it|0|cela|1 0|cela|1
2|0|they|0|ils|0|ils|1
2|3|it|2|cela|-|-|4
3|1|they|-|-|1|elles|5
4|0|they|-|-|-|-|6
"""
Edit = Callable[..., None]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {**FILES, "apt.ini": CONFIG}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def edit(folder: Path) -> Edit:
    """Replace text in a file that has it once."""

    def edit(name: str, old: str, new: str) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return edit


def result(*flags: str) -> dict[str, object]:
    assert main(["baseline", "apt", "apt.ini", "--to_json", "out.json", *flags]) == 0
    return json.loads(Path("out.json").read_text(encoding="utf-8"))


def test_score_and_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline", "apt", "apt.ini", "--to_json", "out.json"]) == 0
    out, err = capsys.readouterr()
    signature = (
        "metric:apt|cases:1,2,3,4,5,6|weights:1,0.5,0,0,0,0|list:yes|equal:yes|similar:yes|repair:yes|"
        "other_is_equal:no|compat:no|version:"
    )
    assert out == SUMMARY
    notes = [line for line in err.splitlines() if not line.startswith("apt: ")]  # without progress
    assert len(notes) == 1 and notes[0].startswith(f"pronmetric: signature: {signature}")
    assert (folder / "out.score").read_text(encoding="utf-8") == SUMMARY + MATRIX.replace("|", "\t")
    assert (folder / "out.detail").read_text(encoding="utf-8") == DETAIL.replace("|", "\t")
    found = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert (found["score"], found["cases"], found["instances"]) == (0.5, [3, 2, 0, 1, 1, 1], 8)
    assert (found["cases_used"], found["weights"], found["findings"]) == ([1, 2, 3, 4, 5, 6], [1, 0.5, 0, 0, 0, 0], 8)
    assert found["matrix"] == {
        "labels": ["ils", "NONE", "cela", "elle", "..."],
        "counts": [[2, 0, 0, 0, 0], [0, 1, 0, 0, 1], [0, 1, 1, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1]],
        "left_out": 0,
    }
    assert found["signature"].startswith(signature)


def test_the_published_program_does_not_find_a_capital(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = result("--compat")
    assert (found["score"], found["cases"]) == ((2 * 1 + 2 * 0.5) / 8, [2, 2, 1, 1, 1, 1])
    assert "1|0|it|0|cela|1|OTHER|3".replace("|", "\t") in (folder / "out.detail").read_text(encoding="utf-8")
    assert "sentences without links, on which the published program fails: 1\n" in capsys.readouterr().err


def test_cases_in_the_order_of_the_configuration(edit: Edit, folder: Path, capsys) -> None:
    edit("apt.ini", "cases_to_use: 1,2,3,4,5,6", "cases_to_use = 4 2")
    edit("apt.ini", "weigths_per_case: 1, 0.5, 0, 0, 0, 0", "weights_per_case = 0 1")
    found = result()
    assert (found["score"], found["cases"], found["instances"], found["findings"]) == (2 / 3, [1, 2], 8, 3)
    assert "5 of 8 pronouns are in cases that are not selected" in capsys.readouterr().err
    lines = (folder / "out.score").read_text(encoding="utf-8").split("\n")
    assert lines[:5] == ["Score: 0.6667", "Cases: 4 2", "Weights: 0 1", "Findings per case: 1 2", "Total findings: 3"]
    assert lines[-2].split("\t")[-1] == "3"
    assert len((folder / "out.detail").read_text(encoding="utf-8").splitlines()) == 9  # all instances


def test_positions_in_the_order_of_their_file(edit: Edit, folder: Path) -> None:
    edit("apt.ini", "input_type: word", "input_type: possition")
    (folder / "src.list").write_text("3 1\n\n0 4\n0 3\n")
    found = result()
    # they/elles: 5; know/savent: OTHER on both sides, no pronoun free to take: 3; they/ils: 1
    assert (found["cases"], found["score"]) == ([1, 0, 1, 0, 1, 0], 1 / 3)
    lines = (folder / "out.detail").read_text(encoding="utf-8").splitlines()[1:]
    assert [line.split("\t")[:3] for line in lines] == [["3", "1", "they"], ["0", "4", "know"], ["0", "3", "they"]]
    edit("apt.ini", "count_OTHER_as_equal: false", "count_OTHER_as_equal: True")
    assert result()["cases"] == [2, 0, 0, 0, 1, 0]


def test_without_lists_any_word_is_a_pronoun(edit: Edit) -> None:
    edit("apt.ini", "list_target_pronouns = tgt.list", "list_target_pronouns =")
    edit("apt.ini", "target_pronouns = tgt.pronouns", "target_pronouns =")
    # not repaired: cela against dort; not split: ont-ils against ils
    assert result()["cases"] == [1, 2, 2, 1, 1, 1]


def test_one_list_alone_repairs_nothing(edit: Edit, capsys: pytest.CaptureFixture[str]) -> None:
    edit("apt.ini", "source_pronouns = src.pronouns", "source_pronouns =")
    assert result()["cases"] == [2, 2, 1, 1, 1, 1]
    assert "no repair: it needs both" in capsys.readouterr().err


def test_what_is_left_out_is_reported(edit: Edit, capsys: pytest.CaptureFixture[str]) -> None:
    edit("equal", "cela, ça", "cela, ceci, ça")
    edit("apt.ini", "[cases]\n", "simliar: x\n[extra]\nzzz: 1\n[cases]\nequal: x\n")
    edit("apt.ini", "list_target_pronouns = tgt.list", "")
    edit("apt.ini", "counting_multiword_in_matrix: true", "")
    result()
    said = capsys.readouterr().err
    assert "equal: words not in any rendering are ignored: ceci ça" in said
    assert "[dictionary] simliar is not a key of APT; ignored\n" in said
    assert "[cases] equal is not a key of APT; ignored\n" in said
    assert "[extra] zzz is not a key of APT; ignored\n" in said
    assert "instances with several words on a side, not in the matrix: 1" in said  # dort and cela
    result("--quiet")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["src", "ref", "tgt"])
def test_a_text_of_another_format_is_refused(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    cues = "".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\nit is old\n\n" for n in range(1, 4))
    (folder / name).write_text(cues)
    assert main(["baseline", "apt", "apt.ini"]) == 1
    error = f"pronmetric: error: {name}: is SRT, but word links are of plain lines: "
    assert capsys.readouterr().err.startswith(error)


def test_no_instance_no_score(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "src.list").write_text("she\n")
    found = result()
    assert (found["score"], found["cases"], found["instances"]) == (None, [0] * 6, 0)
    out, err = capsys.readouterr()
    assert out.startswith("Score: null\n") and "no score: " in err
    assert (folder / "out.score").read_text(encoding="utf-8").endswith("\nREF. \\ TARGET\t-sum-\n-sum-\t0\n")


def test_without_an_output_file_nothing_is_written(edit: Edit, folder: Path, capsys) -> None:
    edit("apt.ini", "output_file = out", "output_file =")
    before = sorted(folder.iterdir())
    assert main(["baseline", "apt", "apt.ini"]) == 0
    assert capsys.readouterr().out == SUMMARY
    assert sorted(folder.iterdir()) == before


def test_a_tab_in_a_token_breaks_no_table(edit: Edit, folder: Path) -> None:
    edit("apt.ini", "list_target_pronouns = tgt.list", "")
    edit("ref", "elle marche", "elle\tla marche")
    result()
    detail = (folder / "out.detail").read_text(encoding="utf-8").splitlines()
    assert {line.count("\t") for line in detail} == {7}
    assert "elle\\tla" in detail[1]


BAD = {
    "no file": ("apt.ini", "source = src\n", "source = nix\n", "apt.ini: [files] source: no such file nix; paths"),
    "no key": ("apt.ini", "reference = ref\n", "", "apt.ini: [files] reference: is missing; add a line"),
    "empty key": ("apt.ini", "target = tgt\n", "target =\n", "apt.ini: [files] target: is missing; add a line"),
    "no links": ("apt.ini", "alignment_source_target = src-tgt", "", "[files] alignment_source_target: is missing"),
    "no list": ("apt.ini", "list_source_pronouns = src.list", "", "[files] list_source_pronouns: is missing"),
    "no type": ("apt.ini", "input_type: word", "", "add a line `input_type = word`"),
    "type": ("apt.ini", "input_type: word", "input_type: words", "apt.ini: [files] input_type: expected word or"),
    "twice": (
        "apt.ini",
        "target = tgt\n",
        "target = tgt\ntarget: ref\n",
        "apt.ini:12: [files] target is given twice",
    ),
    "no section": ("apt.ini", "# a comment", "source: x", "apt.ini:1: a key before the first section"),
    "no value": ("apt.ini", "[cases]", "cases", "apt.ini:24: expected `[section]` or `key = value`"),
    "no name": ("apt.ini", "source: en", ": en", "apt.ini:3: expected `[section]` or `key = value`"),
    "case": ("apt.ini", "1,2,3,4,5,6", "1,2,3,4,5,7", "apt.ini: [cases] cases_to_use: expected case numbers from 1"),
    "case word": ("apt.ini", "1,2,3,4,5,6", "all", "expected case numbers from 1 to 6, got 'all'"),
    "case twice": ("apt.ini", "1,2,3,4,5,6", "1,2,3,4,5,1", "apt.ini: [cases] cases_to_use: case 1 is given twice"),
    "no case": ("apt.ini", "1,2,3,4,5,6", "", "apt.ini: [cases] cases_to_use: is missing"),
    "weights": (
        "apt.ini",
        "0.5, 0, 0",
        "0.5, 0",
        "apt.ini: [cases] weigths_per_case: expected a weight for each of",
    ),
    "weight": ("apt.ini", "0.5", "half", "apt.ini: [cases] weigths_per_case: expected numbers, got 'half'"),
    "weight nan": ("apt.ini", "0.5", "nan", "apt.ini: [cases] weigths_per_case: expected numbers, got 'nan'"),
    "boolean": (
        "apt.ini",
        "equal: false",
        "equal: maybe",
        "apt.ini: [cases] count_other_as_equal: expected true or",
    ),
    "multiword": (
        "apt.ini",
        "matrix: true",
        "matrix: 2",
        "counting_multiword_in_matrix: expected true or false, got '2'",
    ),
    "length": ("apt.ini", "matrix: 4", "matrix: 0", "apt.ini: [output] max_length_matrix: expected a whole number"),
    "folder": ("apt.ini", "output_file = out", "output_file = no/out", "no/out.score: the folder no does not exist"),
    "lines": ("ref", "oui\n", "", "ref: 4 lines, but src has 5: expected as many in both"),
    "link lines": ("src-tgt", "0-1 1-1\n", "", "src-tgt: 4 lines, but src has 5: expected as many in both"),
    "link": ("src-ref", "0-0 2-2", "0-0 2_2", "src-ref:4: expected links i-j separated by spaces, found '2_2'"),
    "link end": ("src-tgt", "0-1 1-1", "0-2", "src-tgt:2: link 0-2, but the line has 2 tokens in src and 2 in tgt"),
    "link start": ("src-ref", "0-0 2-2", "3-0", "src-ref:4: link 3-0, but the line has 3 tokens in src and 3 in ref"),
    "words as positions": (
        "apt.ini",
        "input_type: word",
        "input_type: possition",
        "src.list:1: expected `sentence position`, two whole numbers from 0, got 'IT'; for a list of words",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str, edit: Edit, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, old, new, said = BAD[name]
    edit(file, old, new)
    refused(folder, capsys, said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5 0\n", "src.list:1: sentence 5, but src has 5, counted from 0"),
        ("0 0\n1 2\n", "src.list:2: position 2, but sentence 1 of src has 2 tokens, counted from 0"),
        ("0 -1\n", "src.list:1: expected `sentence position`"),
        ("0\n", "src.list:1: expected `sentence position`"),
    ],
)
def test_bad_positions(text: str, said: str, edit: Edit, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit("apt.ini", "input_type: word", "input_type: position")
    (folder / "src.list").write_text(text)
    refused(folder, capsys, said)


def test_no_input_is_overwritten(edit: Edit, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "src").rename(folder / "out.detail")
    edit("apt.ini", "source = src\n", "source = out.detail\n")
    refused(folder, capsys, "out.detail: would be overwritten")


def refused(folder: Path, capsys: pytest.CaptureFixture[str], said: str) -> None:
    """Exit code 1, one line that says it, and nothing written."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert main(["baseline", "apt", "apt.ini", "--to_json", "out.json"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("pronmetric: error: ") and err.count("\n") == 1
    assert said in err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_no_configuration(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline", "apt", "nix.ini"]) == 1
    assert capsys.readouterr().err == "pronmetric: error: nix.ini: no such file\n"


@pytest.mark.parametrize("argv", [[], ["apt.ini", "more.ini"], ["apt.ini", "--compact"], ["apt.ini", "--to_json"]])
def test_wrong_flags(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["baseline", "apt", *argv])
    assert end.value.code == 2
    assert "usage: pronmetric baseline" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_long_work_shows_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    result()
    assert "pronouns, " not in capsys.readouterr().err  # short work shows none
    monkeypatch.setattr("pronmetric.output.progress.DELAY", 0.0)
    result()
    assert "apt: 8 pronouns, " in capsys.readouterr().err
