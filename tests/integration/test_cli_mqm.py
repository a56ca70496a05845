from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from tests.tools.chat_server import says, serving

LINES = [
    "system doc seg-id rater source target category severity",
    "ref d 1 r s Ann_left. No-error No-error",
    "ref d 2 r s She_was_late. No-error No-error",
    "Oak d 2 r s <v>He</v>_was_late. Accuracy/Mistranslation Major",
    "Elm d 2 r s She_came_late. No-error No-error",
]


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.tsv").write_text(
        "".join(line.replace(" ", "\t").replace("_", " ").replace("seg-id", "seg_id") + "\n" for line in LINES)
    )


def test_both_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mqm", "m.tsv", "--pairs", "p.jsonl", "--pronouns", "t.jsonl"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "4 texts, 1 raters, 1 errors, 1 pronoun errors"
    assert out[1].startswith("2 pairs (") and out[1].endswith("in p.jsonl; left out: 1 without a pronoun error")
    assert out[2] == "3 pronouns (2 right, 1 wrong) in t.jsonl"
    pairs = [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()]
    assert all(pair["context"] == ["Ann left."] and pair["judge"] == "the raters' votes" for pair in pairs)
    assert all(pair["text_" + pair["better"].lower()].startswith("She") for pair in pairs)
    tokens = [json.loads(line) for line in Path("t.jsonl").read_text().splitlines()]
    assert [(token["pronoun"], token["label"]) for token in tokens] == [
        ("she", "right"),
        ("he", "wrong"),
        ("she", "right"),
    ]


def test_the_pairs_can_be_held_against_a_metric(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mqm", "m.tsv", "--pairs", "p.jsonl", "--other-words", "0", "--all"]) == 0
    (pair,) = [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()]
    Path("s.jsonl").write_text(json.dumps({"id": pair["id"], "score_a": 1, "score_b": 0}) + "\n")
    assert main(["agree", "p.jsonl", "--scores", "s.jsonl"]) == 0
    assert "the metric against r, ties as a category" in capsys.readouterr().out


def test_the_pronouns_are_those_of_the_language(capsys: pytest.CaptureFixture[str]) -> None:
    texts = {"Ann_left.": "Ann_ging.", "She_was_late.": "Sie_kam_spät.", "<v>He</v>_was_late.": "<v>Er</v>_kam_spät."}
    lines = [line for line in LINES if "Elm" not in line]
    for english, german in texts.items():
        lines = [line.replace(english, german) for line in lines]
    file = "".join(line.replace(" ", "\t").replace("_", " ").replace("seg-id", "seg_id") + "\n" for line in lines)
    Path("de.tsv").write_text(file, encoding="utf-8")
    assert main(["mqm", "de.tsv", "--lang", "de", "--pronouns", "t.jsonl", "--pairs", "p.jsonl"]) == 0
    assert capsys.readouterr().out.startswith("3 texts, 1 raters, 1 errors, 1 pronoun errors")
    tokens = [json.loads(line) for line in Path("t.jsonl").read_text().splitlines()]
    assert [(token["pronoun"], token["label"]) for token in tokens] == [("sie", "right"), ("er", "wrong")]
    (pair,) = [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()]
    assert {pair["pronoun_a"], pair["pronoun_b"]} == {"sie", "er"}
    assert main(["mqm", "de.tsv", "--lang", "sv", "--pronouns", "t.jsonl"]) == 1
    assert "no table of pronouns for 'sv'" in capsys.readouterr().err


def test_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mqm", "m.tsv", "--pairs", "p.jsonl", "--reference", "refA"]) == 1
    assert "m.tsv: no system 'refA'" in capsys.readouterr().err
    assert not Path("p.jsonl").exists()
    assert main(["mqm", "m.tsv", "--pairs", "p.jsonl", "--tokens", "p.jsonl"]) == 1
    assert main(["mqm", "m.tsv", "--pairs", "m.tsv"]) == 1
    assert main(["mqm", "none.tsv", "--pairs", "p.jsonl"]) == 1
    assert main(["mqm", "m.tsv", "--tokens", "t.jsonl", "--reference", "none"]) == 0
    assert '"context": []' in Path("t.jsonl").read_text()


def test_rows_left_out_are_noted_and_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("m.tsv").open("a") as file:
        file.write("Elm\td\t2\tr\ts\tShe barked.\tFound\tHOTW-test\nElm\td\t2\n")
    assert main(["mqm", "m.tsv", "--pairs", "p.jsonl", "--pronouns", "t.jsonl", "--to_json", "c.json"]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[0] == "4 texts, 1 raters, 1 errors, 1 pronoun errors"
    assert told.err.splitlines() == [
        "pronmetric: m.tsv: 1 rows with another number of fields than the header, left out",
        "pronmetric: m.tsv: 1 attention checks (HOTW-test), left out",
    ]
    counts = json.loads(Path("c.json").read_text())
    assert counts["rows_left_out"] == {"attention_checks": 1, "fields": 1}
    assert (counts["texts"], counts["pairs"]["number"], counts["pronouns"]) == (4, 2, {"right": 2, "wrong": 1})
    assert main(["mqm", "m.tsv", "--pairs", "p.jsonl", "--quiet"]) == 0
    assert not capsys.readouterr().err
    assert main(["mqm", "m.tsv", "--pairs", "p.jsonl", "--strict"]) == 1
    assert "m.tsv:6: an attention check (HOTW-test)" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["tsv", "json"])
def test_other_formats_of_mqm(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The TSV with offsets of WMT's shared task, without a header, and the JSON of abstracts."""
    file = Path(f"other_de-en.{kind}")
    if kind == "tsv":
        rows = ["Oak\td\t1\tr\tEr kam.\tShe came.\t0\t3\tmajor", "Elm\td\t1\tr\tEr kam.\tHe came.\t-1\t-1\tno-error"]
        file.write_text("".join(f"{row}\n" for row in [*rows, "Elm\ta\tb\td\tEr kam.\tHe came.\t-1\t-1\tno-error"]))
    else:
        mark = {"startIndex": 0, "endIndex": 2, "error_category": "Accuracy", "severity": "Major"}
        row = {"DOC_ID": "d", "SEG_ID": "1", "Annotator_ID": "r", "source": "Er kam."}
        texts = [("Oak", "She came.", [mark, {**mark, "severity": "?"}]), ("Elm", "He came.", [])]
        segments = [{**row, "MT_Engine": name, "target": text, "target_errors": errors} for name, text, errors in texts]
        file.write_text(json.dumps(segments))
    call = ["mqm", file.name, "--reference", "none", "--pairs", "p.jsonl", "--pronouns", "t.jsonl"]
    assert main(call) == 0
    told = capsys.readouterr()
    assert told.out.startswith("2 texts, 1 raters, 1 errors, 1 pronoun errors\n1 pairs (1 ")
    tokens = [json.loads(line) for line in Path("t.jsonl").read_text().splitlines()]
    assert [(token["pronoun"], token["label"]) for token in tokens] == [("she", "wrong"), ("he", "right")]
    what = {"tsv": "1 rows without a segment", "json": "1 errors without a severity or a span"}[kind]
    assert told.err == f"pronmetric: {file.name}: {what}, left out\n"
    assert main([*call, "--strict"]) == 1
    assert f"{file.name}: --strict: {what}; expected annotations that can all be used" in capsys.readouterr().err


def test_rows_of_another_segment_are_told(
    tiny_checkpoint: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    mark = {"startIndex": 0, "endIndex": 2, "error_category": "Accuracy", "severity": "Major"}
    own, other = {"source": "Er kam.", "target": "She came."}, {"source": "Sie ging.", "target": "She left."}
    rows = [("1", "r", own), ("1", "s", own), ("2", "r", other), ("2", "s", own)]
    segments = [
        {**texts, "DOC_ID": "d", "SEG_ID": seg, "Annotator_ID": who, "MT_Engine": "Oak", "target_errors": [mark]}
        for seg, who, texts in rows
    ]
    Path("x_de-en.json").write_text(json.dumps(segments))
    call = ["mqm", "x_de-en.json", "--evaluate", "--model", str(tiny_checkpoint()), "--to_json", "m.json"]
    assert main(call) == 0
    what = "1 rows with the source of another segment"
    assert f"x_de-en.json: {what}, left out of the evaluation" in capsys.readouterr().err
    found = json.loads(Path("m.json").read_text())["evaluation"]
    assert found["rows_left_out"] == {"rows with the source of another segment": 1}
    assert main([*call, "--strict"]) == 1
    assert f"--strict: {what}; expected" in capsys.readouterr().err


def write_marks(path: Path) -> None:
    """Six texts of two systems in three documents, each judged by two raters."""
    lines = [LINES[0].replace("seg-id", "seg_id").replace(" ", "\t")]
    for number in range(3):
        for system in ("Oak", "Elm"):
            for rater, text in (
                ("r", "<v>She</v> saw it"),
                ("s", "<v>She</v> saw it" if number else "She saw <v>it</v>"),
            ):
                error = "Accuracy/Mistranslation\tMajor"
                lines.append(f"{system}\td{number}\t1\t{rater}\t她看了\t{text}, {system} {number}.\t{error}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_the_figures_are_those_of_a_people_split(
    tiny_checkpoint: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write_marks(Path("marks_zh-en.tsv"))
    model = ["--model", str(tiny_checkpoint())]
    call = ["mqm", "marks_zh-en.tsv", "--evaluate", "--longest", "2", *model]
    assert main([*call, "--plot", "m.svg", "--to_html", "m.html", "--to_json", "m.json", "--also_no_source"]) == 0
    page = Path("m.html").read_text(encoding="utf-8")
    assert "Each rater against the others" in page and "r, marks" in page and "data:image/svg+xml" in page
    printed = capsys.readouterr().out
    assert printed.startswith("6 texts, 2 raters, 12 errors, 12 pronoun errors\n\nmarks_zh-en.tsv; context common; in")
    found = json.loads(Path("m.json").read_text())["evaluation"]
    row = found["pronouns"]["all"]
    assert (row["pronouns"], row["marked"], row["documents"]) == (12, 8, 3)
    assert row["raters"]["share"] == pytest.approx(4 / 6)  # both marked "she" in four of the six texts
    assert "frequency of the form's marks in other documents" in found["pronouns"]
    assert found["pronouns"]["all, without the source"] == row  # this checkpoint reads none
    assert found["rows_left_out"] == {}
    assert "<svg" in Path("m.svg").read_text(encoding="utf-8")
    people = ["data.wmt=[]", "data.people=[marks_zh-en.tsv]", "people.test={marks_zh-en:1.0}", "fidelity.passages=0"]
    assert main(["prepare", *people, "out=data"]) == 0
    split = ["evaluate", "data", "--split", "people_test", *model, "--to_json", "e.json"]
    assert main(split) == 0
    assert json.loads(Path("e.json").read_text())["pronouns"]["all"] == row


def test_a_chat_model_marks_beside_the_raters(
    tiny_checkpoint: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write_marks(Path("marks_zh-en.tsv"))
    call = ["mqm", "marks_zh-en.tsv", "--evaluate", "--longest", "2", "--model", str(tiny_checkpoint()), "--gpus", "0"]
    seen: list[dict[str, object]] = []
    with serving(lambda prompt: says("1" if "She [1]" in prompt else "none"), seen) as url:
        asked = ["--endpoint", url, "--endpoint-model", "chat", "--endpoint-passes", "2"]
        call += [*asked, "--endpoint-answers", "answers.jsonl"]
        assert main([*call, "--to_json", "m.json"]) == 0
        told = capsys.readouterr().err
        assert main(call) == 0
    assert len(seen) == 12  # six texts in two passes; nothing in the second run
    assert f"the texts are sent to {url.rstrip('/')} (--endpoint)" in told
    assert "chat marks 50.0 to 50.0 % of the pronouns in 2 passes; 0 of 12 pronouns get different" in told
    measured = json.loads(Path("m.json").read_text())["evaluation"]
    assert measured["endpoint"] == {"model": "chat", "by_pass": [0.5, 0.5], "unsteady": 0, "unclear": 0}
    found = measured["pronouns"]["chat, asked"]
    assert (found["pronouns"], found["marked"]) == (12, 8)
    with pytest.raises(SystemExit, match="2"):
        main(["mqm", "m.tsv", "--pairs", "p.jsonl", *asked])
    assert "--endpoint: goes with --evaluate" in capsys.readouterr().err


def test_sources_that_cannot_be_right_are_noted(with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_marks(Path("marks_zh-en.tsv"))
    text = Path("marks_zh-en.tsv").read_text(encoding="utf-8").replace("\u5979\u770b\u4e86", "1905")
    Path("marks_zh-en.tsv").write_text(text, encoding="utf-8")
    argv = ["mqm", "marks_zh-en.tsv", "--evaluate", "--longest", "2", "--model", str(with_reader), "--gpus", "0"]
    assert main([*argv, "--also_no_source", "--to_json", "m.json"]) == 0
    out, err = capsys.readouterr()
    assert "marks_zh-en.tsv, marks_zh-en:zh-en: in 3 of 3 lines the source has no word" in err
    found = json.loads(Path("m.json").read_text())["evaluation"]["source"]
    assert found.keys() == {"all", "marks_zh-en:zh-en"} and found["all"]["marked"] == 8
    assert out.count("what the source adds") == 1
    assert main([*argv, "--no_source"]) == 0
    assert "has no word" not in capsys.readouterr().err


def test_flags_of_the_evaluation_need_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["mqm", "m.tsv", "--pairs", "p.jsonl", "--model", "base", "--plot", "x.svg"])
    assert "--model and --plot: goes with --evaluate" in capsys.readouterr().err
    assert main(["mqm", "m.tsv", "--evaluate", "--plot", "x.gif"]) == 1
    assert "--plot x.gif: expected a name that ends in .png or .svg" in capsys.readouterr().err


def test_escaped_marks_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.tsv").write_text(Path("m.tsv").read_text().replace("<v>", "&lt;v&gt;").replace("</v>", "&lt;/v&gt;"))
    assert main(["mqm", "m.tsv", "--pronouns", "t.jsonl", "--to_json", "c.json"]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[0] == "4 texts, 1 raters, 1 errors, 1 pronoun errors"
    assert told.err == "pronmetric: m.tsv: 1 rows with escaped marks (&lt;v&gt;), read as marks\n"
    assert json.loads(Path("c.json").read_text())["rows_left_out"] == {}


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_notes_and_errors_name_stdin(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path("m.tsv").read_text().replace("<v>", "&lt;v&gt;").replace("</v>", "&lt;/v&gt;")
    shown = "<stdin>" if name == "-" else name
    for flags, told in (
        (["--pronouns", "t.jsonl"], f"pronmetric: {shown}: 1 rows with escaped marks (&lt;v&gt;), read as marks\n"),
        (["--pairs", "p.jsonl", "--reference", "refA"], f"pronmetric: error: {shown}: no system 'refA'"),
    ):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        main(["mqm", name, *flags])
        assert told in capsys.readouterr().err
