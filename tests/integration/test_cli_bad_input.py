"""Bad input to `score`, `compare`, `prepare` and `train`: exit code 1, one line that helps, nothing written."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.cli.main import main

GOOD = {"id": 1, "text": "She left.", "context": ["Anna came."]}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """A folder with files of every kind of badness; tests run in it."""
    folder = tmp_path_factory.mktemp("bad")
    for name in ("ref.txt", "docids.txt", "system-a.txt", "system-b.txt"):
        shutil.copy(sample / name, folder)
    (folder / "short.txt").write_text("One line.\n")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "latin1.txt").write_bytes("Good.\nGrün.\n".encode("latin-1"))
    (folder / "nul.txt").write_bytes(b"Good.\nBad\0.\n")
    (folder / "one-id-short.txt").write_text("a\n" * 5 + "\n" + "a\n" * 31)
    (folder / "folder").mkdir()
    (folder / "halfway").mkdir()
    (folder / "halfway" / "config.yaml").write_text("format: 1\n")
    for name, lines in {
        "broken": [json.dumps(GOOD), '{"id": 2, "text": "She'],
        "array": [json.dumps(GOOD), "[1, 2]"],
        "number": ["7"],
        "blank": [json.dumps(GOOD), ""],
        "comet": ['{"src": "Sie ging.", "mt": "She left."}'],
        "no-text": ['{"id": 1, "txt": "She left."}'],
        "no-id": ['{"text": "She left."}'],
        "twice": [json.dumps(GOOD), json.dumps({**GOOD, "id": "1"}), json.dumps(GOOD)],
        "text-number": ['{"id": 1, "text": 5}'],
        "context-string": ['{"id": 1, "text": "She.", "context": "One."}'],
        "context-numbers": ['{"id": 1, "text": "She.", "context": ["One.", 2]}'],
        "nan": ['{"id": NaN, "text": "She."}'],
        "surrogate": ['{"id": 1, "text": "She \\ud800."}'],
        "escaped-nul": ['{"id": 1, "text": "She \\u0000."}'],
        "deep": ["[" * 100_000],
    }.items():
        (folder / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))
    (folder / "latin1.jsonl").write_bytes(b'{"id": 1, "text": "Gr\xfcn"}\n')
    return folder


A, REF = "system-a.txt", "ref.txt"
BAD = {
    "missing file": (["score", "-t", "nix.txt"], "nix.txt: no such file"),
    "missing reference": (["score", "-t", A, "-r", "nix.txt"], "nix.txt: no such file"),
    "missing source": (["compare", "-t", A, A, "-s", "nix.txt"], "nix.txt: no such file"),
    "empty file": (["score", "-t", A, "empty.txt"], "empty.txt: is empty"),
    "folder": (["score", "-t", "folder"], "folder: expected a file, found a folder"),
    "lengths": (["score", "-t", A, "short.txt"], "system-a.txt has 37, short.txt has 1"),
    "length of the reference": (["score", "-t", A, "-r", "short.txt"], "system-a.txt has 37, short.txt has 1"),
    "length of the source": (["score", "-t", A, "-s", "short.txt"], "system-a.txt has 37, short.txt has 1"),
    "length of the ids": (["compare", "-t", A, A, "--docids", "short.txt"], "system-a.txt has 37, short.txt has 1"),
    "empty document id": (
        ["score", "-t", A, "--docids", "one-id-short.txt"],
        "one-id-short.txt:6: expected a document id",
    ),
    "not UTF-8": (["score", "-t", "latin1.txt"], "latin1.txt:2: byte 0xfc (byte 3 of the line) is not UTF-8"),
    "NUL": (["compare", "-t", A, "nul.txt"], "nul.txt:2: a NUL byte"),
    "one system": (["compare", "-t", A], "expected two or more systems to compare, got only system-a.txt"),
    "no checkpoint": (
        ["score", "-t", A, "--model", "folder"],
        "folder: not a checkpoint: expected a folder with config.yaml",
    ),
    "half a checkpoint": (["compare", "-t", A, A, "--model", "halfway"], "expected a folder with model.safetensors"),
    "unknown checkpoint": (["score", "-t", A, "--model", "nix"], "no checkpoint 'nix'"),
    "hub without network": (["score", "-t", A, "--model", "no/such-metric"], "downloading it with --allow_network"),
    "file as checkpoint": (["score", "-t", A, "--model", REF], "ref.txt: not a checkpoint"),
    "output folder missing": (["score", "-t", A, "--to_json", "nix/out.json"], "the folder nix does not exist"),
    "output is a folder": (["compare", "-t", A, A, "--to_tsv", "folder"], "folder: is a folder"),
    "output is an input": (["score", "-t", A, "--to_json", A], "system-a.txt: would be overwritten"),
    "outputs are one": (["score", "-t", A, "--to_json", "o", "--to_tsv", "./o"], "./o: would be overwritten"),
    "no JSON file": (["score", "--jsonl", "nix.jsonl"], "nix.jsonl: no such file"),
    "folder as JSON": (["score", "--jsonl", "folder"], "folder"),
    "empty JSON file": (["score", "--jsonl", "empty.txt"], "empty.txt: is empty"),
    "broken JSON": (["score", "--jsonl", "broken.jsonl"], "broken.jsonl:2: broken JSON"),
    "JSON array": (["score", "--jsonl", "array.jsonl"], "array.jsonl:2: expected an object"),
    "JSON number": (["score", "--jsonl", "number.jsonl"], "number.jsonl:1: expected an object"),
    "blank line": (["score", "--jsonl", "blank.jsonl"], "blank.jsonl:2: broken JSON"),
    "text missing": (["score", "--jsonl", "no-text.jsonl"], 'no-text.jsonl:1: the key "text" is missing'),
    "text of others": (["score", "--jsonl", "comet.jsonl"], 'comet.jsonl:1: the text is under "mt", not "text"'),
    "id twice": (["score", "--jsonl", "twice.jsonl"], "twice.jsonl:3: the id 1 is also on an earlier line"),
    "text no string": (["score", "--jsonl", "text-number.jsonl"], '"text" must be a string, got a number'),
    "context a string": (["score", "--jsonl", "context-string.jsonl"], '"context" must be a list of strings'),
    "context of numbers": (["score", "--jsonl", "context-numbers.jsonl"], '"context" must be a list of strings'),
    "NaN": (["score", "--jsonl", "nan.jsonl"], "nan.jsonl:1: broken JSON (NaN is not valid JSON"),
    "lone surrogate": (
        ["score", "--jsonl", "surrogate.jsonl"],
        "surrogate.jsonl:1: broken JSON (\"text\" has a lone surrogate",
    ),
    "escaped NUL": (["score", "--jsonl", "escaped-nul.jsonl"], "escaped-nul.jsonl:1: \"text\" holds a NUL"),
    "too deep": (["score", "--jsonl", "deep.jsonl"], "deep.jsonl:1: broken JSON"),
    "JSON not UTF-8": (["score", "--jsonl", "latin1.jsonl"], "latin1.jsonl:1: byte 0xfc"),
    "no WMT folder": (["score", "-d", "wmt22:de-en", "--wmt-dir", "nix"], "nix: no such folder"),
    "no test set in the folder": (
        ["score", "-d", "wmt22:de-en", "--wmt-dir", "folder"],
        "'wmt22:de-en' is no test set there",
    ),
    "prepare without data": (["prepare", "data.wmt=nix", "out=made"], "nix: no such folder"),
    "prepare with an unknown key": (["prepare", "data.wmt=folder", "out=made", "data.yaers=[21]"], "data.years"),
    "train without data": (["train", "data.dir=nix", "out=made"], "nix"),
    "train with an unknown key": (["train", "data.dir=nix", "out=made", "optim.lrr=1"], "optim.lr"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_one_clear_line(
    case: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    argv, message = BAD[case]
    monkeypatch.chdir(place)
    before = sorted(place.rglob("*"))
    outputs = ["--to_json", "out.json", "--to_tsv", "out.tsv"]
    named = argv[0] in ("prepare", "train") or "--to_json" in argv or "--to_tsv" in argv
    assert main([*argv, *([] if named else outputs)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1 and err.startswith("pronmetric: error: ") and message in err, err
    assert sorted(place.rglob("*")) == before


HEAVY = {"torch", "transformers", "tokenizers", "datasets", "pandas", "scipy", "ray", "pytorch_lightning"}  # to import


def test_all_of_it_before_a_heavy_library_is_loaded(place: Path) -> None:
    code = (
        "import json, sys; from pronmetric.cli.main import main\n"
        "for argv in json.loads(sys.argv[1]):\n"
        "    assert main(argv) == 1, argv\n"
        f"    assert not {HEAVY} & sys.modules.keys(), argv\n"
    )
    cases = [argv for argv, _ in BAD.values() if argv[0] in ("score", "compare")]
    result = subprocess.run([sys.executable, "-c", code, json.dumps(cases)], capture_output=True, text=True, cwd=place)
    assert result.returncode == 0 and "Traceback" not in result.stderr, result.stderr
    assert len(result.stderr.splitlines()) == len(cases)


def test_a_negative_tie_exits_2(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for value in ("-1", "inf", "nan", "x"):
        with pytest.raises(SystemExit) as exit:
            main(["compare", "-t", A, A, f"--tie={value}"])
        assert exit.value.code == 2
        assert "or a number from 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "config.yaml").write_text("- a\n: b: c"), "config.yaml: "),
        (lambda folder: (folder / "config.yaml").write_text(""), "config.yaml: "),
        (lambda folder: (folder / "config.yaml").write_text("format: 99\n"), "expected checkpoint format 1, got 99"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}"), "weights"),
        (lambda folder: [path.unlink() for path in folder.glob("token*")], "tokenizer"),
    ],
    ids=["no YAML", "empty config", "other format", "broken weights", "no tokenizer"],
)
def test_a_damaged_checkpoint_is_refused(
    tiny_checkpoint: Callable[..., Path],
    tmp_path: Path,
    sample: Path,
    damage: Callable[[Path], object],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = shutil.copytree(tiny_checkpoint(), tmp_path / "copy")
    damage(folder)
    assert main(["score", "-t", str(sample / A), "--model", str(folder), "--to_json", str(tmp_path / "o.json")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1 and err.startswith("pronmetric: error: ") and message in err, err
    assert not (tmp_path / "o.json").exists()


def test_too_many_gpus(tiny_checkpoint: Callable[..., Path], sample: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "-t", str(sample / A), "--model", str(tiny_checkpoint()), "--gpus", "99"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "99 GPUs were requested" in err and err.count("\n") == 1


def test_a_fault_after_thousands_of_records_of_a_pipe_leaves_no_file(
    tiny_checkpoint: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import io

    lines = [json.dumps({"id": i, "text": "Yes."}) for i in range(5000)] + ["{"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(lines).encode())))
    files = ["--to_json", str(tmp_path / "o.json"), "--to_tsv", str(tmp_path / "o.tsv")]
    assert main(["score", "--jsonl", "-", "--model", str(tiny_checkpoint()), "--quiet", *files]) == 1
    _, err = capsys.readouterr()
    assert "<stdin>:5001: broken JSON" in err and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
