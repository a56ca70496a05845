"""Sources that cannot be right: a note or a warning, with --strict an error before anything is scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric
from pronmetric.serve.app import make_app
from pronmetric.serve.service import Service
from pronmetric.text.context import GIVEN

TEXT = ["She was late.", "He had sold it.", "They know who she is.", "We saw him."]
EMPTY = "1 of 4 lines has no source (the first is line 2)"
COPIED = "in 4 of 4 lines the source is the text itself"
VERBS = {
    "score": ["score", "-t", "t.txt"],
    "compare": ["compare", "-t", "t.txt", "t.txt"],
    "check": ["check", "-t", "t.txt", "--min-score", "0"],
    "suggest": ["suggest", "-t", "t.txt"],
}
OF_FILES = {  # verbs whose input holds the sources, and the name in the note
    "score --jsonl": (["score", "--jsonl", "r.jsonl"], "r.jsonl", EMPTY),
    "suggest --jsonl": (["suggest", "--jsonl", "r.jsonl"], "r.jsonl", EMPTY),
    "rerank": (["rerank", "--candidates", "t.txt", "t.txt", "-s", "t.txt"], "t.txt", COPIED),
    "evaluate": (["evaluate", "pairs.jsonl"], "pairs.jsonl", COPIED),
    "evaluate labelled": (["evaluate", "labelled.jsonl"], "labelled.jsonl", COPIED),
    "suite": (["suite", "score", "aces", "--set", "aces.tsv"], "aces.tsv", COPIED),
    "suite ALL": (["suite", "score", "ALL", "--set", "sets.tsv"], "aces.tsv", COPIED),
}
ACES = "source", "good-translation", "incorrect-translation", "reference", "phenomena", "langpair"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = ["Sie kam zu spät.", "", "Sie wissen, wer sie ist.", "Wir sahen ihn."]
    for name, lines in (("t.txt", TEXT), ("s.txt", source)):
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    records = [
        {"id": k, "text": text, "source": line or None} for k, (text, line) in enumerate(zip(TEXT, source, strict=True))
    ]
    pairs = [
        {"id": k, "text_a": text, "text_b": "It was it.", "better": "A", "source": text} for k, text in enumerate(TEXT)
    ]
    starts = [
        {"start": 0, "end": len(text.split()[0]), "label": "right" if k else "wrong"} for k, text in enumerate(TEXT)
    ]
    labelled = [{"id": k, "text": text, "source": text, **starts[k]} for k, text in enumerate(TEXT)]
    for name, given in (("r", records), ("pairs", pairs), ("labelled", labelled)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in given), encoding="utf-8")
    items = [(text, text, "It was it.", text, "pleonastic_it:substitution", "de-en") for text in TEXT]
    rows = (ACES, *items), (("suite", "set"), ("aces", "aces.tsv"))
    for name, table in zip(("aces.tsv", "sets.tsv"), rows, strict=True):
        Path(name).write_text("".join("\t".join(row) + "\n" for row in table), encoding="utf-8")


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_with_lines(verb: str, with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [*VERBS[verb], "--model", str(with_reader), "--gpus", "0"]
    for source, said in (("s.txt", EMPTY), ("t.txt", COPIED)):
        assert main([*argv, "-s", source]) == 0
        assert f"pronmetric: {source}, the source of t.txt: {said}" in capsys.readouterr().err
        assert main([*argv, "-s", source, "--strict"]) == 1
        out, err = capsys.readouterr()
        assert f"{source}, the source of t.txt: {said}" in err and "or leave out --strict" in err and not out
    assert main([*argv, "-s", "t.txt", "--no-source", "--strict"]) == 0, "a source that is ignored is not judged"


@pytest.mark.parametrize("verb", OF_FILES)
def test_verbs_whose_input_holds_the_sources(verb: str, with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv, name, said = OF_FILES[verb]
    argv = [*argv, "--model", str(with_reader), "--gpus", "0"]
    assert main(argv) == 0
    assert f"pronmetric: {name}: {said}" in capsys.readouterr().err
    assert main([*argv, "--strict"]) == 1
    out, err = capsys.readouterr()
    assert f"{name}: {said}" in err and "or leave out --strict" in err and not out
    assert main([*argv, "--no-source", "--strict"]) == 0, "a source that is ignored is not judged"


@pytest.mark.usefixtures("serial")
def test_bulk(with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["bulk", "score", "r.jsonl", "-o", "out", "--model", str(with_reader)]
    assert main([*argv, "--strict"]) == 1
    assert f"the first rows: {EMPTY}" in capsys.readouterr().err
    assert main(argv) == 0
    assert f"the first rows: {EMPTY}" in capsys.readouterr().err


def test_a_report_tells_of_the_sources_of_its_result(with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["score", "-t", "t.txt", "-s", "t.txt", "--model", str(with_reader), "--gpus", "0", "--to_json", "r.json"]
    assert main(argv) == 0
    assert main(["report", "r.json", "--no-model", "-o", "r.html"]) == 0
    assert f"pronmetric: the source: {COPIED}" in capsys.readouterr().err
    assert f"the source: {COPIED}" in Path("r.html").read_text(encoding="utf-8")


def test_a_board_tells_of_the_sources_of_its_sets(with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path("wmt", "kites2022.de-en")
    folder.mkdir(parents=True)
    for name in ("src", "ref", "system-a", "system-b"):
        (folder / f"{name}.txt").write_text(Path("t.txt").read_text(encoding="utf-8"), encoding="utf-8")
    assert main(["board", "build", "--wmt", "wmt", "-o", "site", "--model", str(with_reader), "--gpus", "0"]) == 0
    assert f"kites2022.de-en: {COPIED}" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["predict", "compare", "score_files", "compare_files"])
def test_python_warns(method: str, with_reader: Path) -> None:
    records = [{"text": text, "source": text} for text in TEXT]
    given = {
        "predict": [records],
        "compare": [records, records],
        "score_files": ["t.txt"],
        "compare_files": ["t.txt"] * 2,
    }
    more = {"source": "t.txt"} if method.endswith("files") else {}
    metric, ignoring = (PronounMetric.from_pretrained(with_reader, gpus=0, no_source=no) for no in (False, True))
    with pytest.warns(UserWarning, match=COPIED) as told:
        getattr(metric, method)(*given[method], **more)
    assert all(each.filename == __file__ for each in told), "the warning names the caller"
    getattr(ignoring, method)(*given[method], **more)


def test_the_json_interface_has_notes(with_reader: Path) -> None:
    client = TestClient(make_app(Service(PronounMetric.from_pretrained(with_reader, gpus=0), context=GIVEN)))
    records = [{"id": k, "text": text, "source": text} for k, text in enumerate(TEXT)]
    asked = {"/score": {"records": records}, "/suggest": {"records": records}, "/compare": {"a": records, "b": records}}
    for path, body in asked.items():
        (note,) = client.post(path, json=body).json()["notes"]
        assert note.startswith(COPIED)
    bare = [{**record, "source": None} for record in records]
    assert client.post("/score", json={"records": bare}).json()["notes"] == []


def test_a_right_source_has_no_note(sample: Path, with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        "-t",
        str(sample / "system-a.txt"),
        "-s",
        str(sample / "src.de.txt"),
        "--docids",
        str(sample / "docids.txt"),
    ]
    assert main(["score", *given, "--model", str(with_reader), "--gpus", "0", "--strict"]) == 0
    assert "source of" not in capsys.readouterr().err
