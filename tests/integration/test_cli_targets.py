"""No verb writes over what it reads, or twice to one file, and none works long before it sees that it can't write."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from pronmetric.cli.main import VERBS, main
from tests.tools import bad_inputs

APT = bad_inputs.APT + "output_file = {}\n"
AUTOPRF = "autoprf --reference ref --candidate sys --documents docs"


class Call(NamedTuple):
    """A call: what is read, by file or folder; the flags that write a file; those that write a folder."""

    line: str
    reads: str
    writes: Sequence[str] = ()
    folders: Sequence[str] = ()


TEXTS, EXPORTS = "-t a b -r c -s d --docids e --speakers f --model model", ("--to_json", "--to_tsv")
CALLS: Mapping[str, Sequence[Call]] = {
    "score": [
        Call(TEXTS, "a b c d e f model/config.yaml", (*EXPORTS, "--to_mqm")),
        Call("--jsonl a", "a", EXPORTS),
        Call("-d wmt22:de-en --wmt-dir tests", "tests/de.txt", (*EXPORTS, "--to_mqm")),
    ],
    "compare": [
        Call(TEXTS, "a b c d e f model/model.safetensors", EXPORTS),
        Call("-d wmt22:de-en --wmt_dir tests", "tests/de.txt", EXPORTS),
    ],
    "check": [
        Call(
            "-t a --baseline b -r c --docids d --speakers e --model model", "a b c d e model/config.yaml", ["--junit"]
        ),
    ],
    "suggest": [Call("-t a", "a"), Call("--jsonl a", "a")],
    "serve": [Call("--port 0", "")],
    "report": [
        Call("a --model model --format html", "a model/config.yaml", ["-o"]),
        Call("tables a data --format html", "a data/manifest.json", ["-o"]),
    ],
    "attention": [Call("text", "")],
    "rerank": [
        Call(
            "--candidates a b --scores c d --weight 1 -r e --docids f --speakers g",
            "a b c d e f g",
            ("-o", "--to_json", "--to_pairs"),
        ),
        Call("--nbest a --model model", "a model/config.yaml", ("-o", "--to_json", "--to_pairs")),
    ],
    "prepare": [Call("data.wmt=tests data.english=data", "tests data", folders=["out="])],
    "train": [Call("data.dir=data init=model", "data model", folders=["out="])],
    "pretrain": [Call("data.english=tests", "tests", folders=["out="])],
    "checkpoint": [
        Call("average model data --data tests", "model data tests", folders=["-o"]),
        Call("export --onnx model", "model/config.yaml model/model.safetensors", ["-o"]),
        Call("export model --bits 7 --data data", "model data", folders=["-o"]),
    ],
    "align": [Call("a b --train-on c d", "a b c d", ["--save-table"])],
    "evaluate": [
        Call("a --model model --seen b --against c", "a b c model/config.yaml", ("--to_json", "--save_scores")),
        Call("a --scores b", "a b", ["--to_json"]),
        Call("data --split test", "data/manifest.json", ("--to_json", "--save_scores")),
        Call("-d wmt22:de-en --wmt-dir tests", "tests/de.txt", ("--to_json", "--save_scores")),
        Call("data --split people_test", "data/manifest.json", ("--to_html",)),
    ],
    "agree": [Call("a --scores b", "a b", ["--to_json"]), Call("--ratings a", "a", ["--to_json"])],
    "correlate": [Call("a b", "a b", ("--to_json", "--to_sys_score", "--to_seg_score"))],
    "mqm": [
        Call("a", "a", ("--pairs", "--pronouns", "--to_json")),
        Call("a --evaluate", "a", ("--to_html",)),
    ],
    "baseline": [
        Call("apt apt.ini", "apt.ini a b c d e f", ["--to_json"]),
        Call(AUTOPRF, "ref.en ref.fr ref.en-fr.alig sys.en sys.fr sys.en-fr.alig docs", ["--to_json"]),
        Call("counts --source-lang xx --parallel a b", "a b", ["-o"]),
    ],
    "clpp": [
        Call("score --pair en-de a b", "a b", ["--to_json"]),
        Call("baseline --pair de-en --lm b a --tune c", "a b c", ["-o"]),
        Call("train --pair de-en a --dev b", "a b", folders=["-o"]),
        Call("predict model a", "a model/config.yaml", ["-o"]),
    ],
    "nmt": [
        Call("train data.source=a data.target=b data.docids=c init=model", "a b c model", folders=["out="]),
        Call("translate model a --docids b", "a b model/config.yaml", ["-o"]),
    ],
    "suite": [
        Call("score contrapro --set a --scores b", "a b", ("--to_json", "--plot")),
        Call("score contrapro --set a --model model", "a model/config.yaml", ("--to_json", "--save_scores")),
        Call("score ALL --set a --model model", "a model/config.yaml", ["--to_json"]),
        Call("export contrapro --set a", "a", folders=["-o"]),
        Call("build wmt --wmt-dir tests", "tests/de.txt", ("--to_jsonl", "--to_sqlite")),
        Call("build contrastive --target-language de --source a --target b --alignment c", "a b c", ["-o"]),
        Call("compare a b", "a b", ["--to_json"]),
    ],
    "study": [
        Call("sample a --scores b", "a b", folders=["-o"]),
        Call("page data", "data/manifest.json", ["-o"]),
        Call("serve data", "data"),
        Call("simulate data", "data", folders=["-o"]),
        Call("report data a b", "data/manifest.json a b", ("--table", "--to_pairs", "--to_json")),
        Call("export data --to appraise", "data", folders=["-o"]),
        Call("import data a --from appraise", "data a", folders=["-o"]),
    ],
    "board": [
        Call("build --wmt tests --human data", "tests data", folders=["-o"]),
        Call("build --wmt tests -o site", "tests", folders=["--scores"]),
    ],
    "bulk": [Call("score a --model model", "a", folders=["-o"])],
}
GROUPS = (
    "baseline",
    "board",
    "bulk",
    "checkpoint",
    "clpp",
    "nmt",
    "study",
    "suite",
)  # their help lists commands, not flags
BOTH = [(verb, call) for verb, calls in CALLS.items() for call in calls]
EACH = [
    pytest.param(verb, call, flag, id=f"{verb} {call.line} {flag}")
    for verb, call in BOTH
    for flag in (*call.writes, *call.folders)
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All files and folders that the calls read; their content does not matter."""
    files = ["a", "b", "c", "d", "e", "f", "tests/de.txt", "docs"]
    files += [f"{stem}.{end}" for stem in ("ref", "sys") for end in ("en", "fr", "en-fr.alig")]
    files += [f"{folder}/{name}" for folder in ("model", "data") for name in ("config.yaml", "model.safetensors")]
    for name in (*files, "data/manifest.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    (tmp_path / "apt.ini").write_text(APT.format(""))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def argv(verb: str, call: Call, flag: str, target: str) -> list[str]:
    return [verb, *call.line.split(), *([flag + target] if flag.endswith("=") else [flag, target])]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(line: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of the error; nothing was written."""
    before = tree(Path())
    assert main(line) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("pronmetric: error: ") and told.err.count("\n") == 1
    assert tree(Path()) == before
    return told.err


def test_every_verb_is_here() -> None:
    assert CALLS.keys() == VERBS.keys()


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in ("train", "prepare", "pretrain", *GROUPS)])
def test_every_flag_that_writes_is_here(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    options = capsys.readouterr().out.replace("-", "_")
    found = set(
        re.findall(r"^  (?:_o [\w|]+, )?(__(?:to_|save_|output)\w*|__pairs|__pronouns|__junit)", options, re.MULTILINE)
    )
    known = {flag.replace("-", "_") for call in CALLS[verb] for flag in (*call.writes, *call.folders)}
    assert found == {"__output" if flag == "_o" else flag for flag in known}


@pytest.mark.parametrize(("verb", "call", "flag"), EACH)
def test_no_output_is_an_input(verb: str, call: Call, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in call.reads.split():
        assert "would be overwritten" in refused(argv(verb, call, flag, f"./{name}"), capsys), name
    first = Path(call.reads.split()[0])
    Path("soft").symlink_to(first)
    assert "would be overwritten" in refused(argv(verb, call, flag, "soft"), capsys)
    if first.is_file() and first.parent == Path():  # a link to a file of a folder is replaced, and the file stays
        os.link(first, "hard")
        assert "would be overwritten" in refused(argv(verb, call, flag, "hard"), capsys)


@pytest.mark.parametrize(
    ("verb", "call"), [pytest.param(*both, id=f"{both[0]} {both[1].line}") for both in BOTH if len(both[1].writes) > 1]
)
def test_no_two_outputs_are_the_same_file(verb: str, call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = call.writes[:2]
    assert "would be overwritten" in refused([*argv(verb, call, one, "new"), other, "./new"], capsys)


@pytest.mark.parametrize(("verb", "call", "flag"), EACH)
def test_a_place_that_cannot_be_written_is_seen_first(
    verb: str, call: Call, flag: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("pronmetric.output.targets.tempfile.TemporaryFile", full)
    assert "cannot be written (Read-only file system)" in refused(argv(verb, call, flag, "new"), capsys)


@pytest.mark.parametrize(("verb", "call", "flag"), [each for each in EACH if each.values[2] in each.values[1].writes])
def test_a_target_that_cannot_be_written_is_seen_first(
    verb: str, call: Call, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("old").touch(0o444)
    Path("folder").mkdir()
    assert "old: is read-only" in refused(argv(verb, call, flag, "old"), capsys)
    assert "folder: is a folder" in refused(argv(verb, call, flag, "folder"), capsys)
    assert "the folder no does not exist" in refused(argv(verb, call, flag, "no/new"), capsys)


@pytest.mark.parametrize("flag", ["out=", "-o"])
def test_a_folder_to_write_may_not_be_a_file(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    verb = "checkpoint" if flag == "-o" else "train"
    assert "a: is a file" in refused(argv(verb, CALLS[verb][0], flag, "a"), capsys)


@pytest.mark.parametrize("out", ["model", "data"])
def test_training_does_not_export_over_what_it_starts_from(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("run").mkdir()
    Path(out).rename("run/checkpoint")
    names = {"model": "model", "data": "data"} | {out: "run/checkpoint"}
    said = refused(["train", f"data.dir={names['data']}", f"init={names['model']}", "out=run"], capsys)
    assert "run/checkpoint: would be overwritten" in said


@pytest.mark.parametrize("end", ["score", "detail"])
def test_the_files_that_apts_configuration_names(end: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("apt.ini").write_text(APT.format("x").replace("source = a", f"source = x.{end}"))
    Path(f"x.{end}").write_text("it\n")
    assert f"x.{end}: would be overwritten" in refused(["baseline", "apt", "apt.ini"], capsys)


@pytest.mark.parametrize(
    ("verb", "call"),
    [pytest.param(verb, call, id=f"{verb} {call.line}") for verb, call in BOTH if len(call.writes) > 1],
)
def test_stdout_takes_one_output(verb: str, call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = call.writes[:2]
    said = refused([*argv(verb, call, first, "-"), second, "/dev/stdout"], capsys)
    assert "<stdout>: only one output can be written to stdout; give a file for the others" in said


@pytest.mark.parametrize(
    ("verb", "call", "flag"),
    [
        each
        for each in EACH
        if each.values[2] not in each.values[1].writes and each.values[0] not in ("prepare", "bulk")
    ],
)
def test_stdout_is_no_folder(verb: str, call: Call, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "give a folder to write" in refused(argv(verb, call, flag, "-"), capsys)
