"""`pronmetric suggest` from flags to output."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.corrupt import replace
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.pronouns.slots import replaces, same_slot
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.signature import Signature
from pronmetric.text.context import in_context
from pronmetric.text.words import words
from tests.tools.row_files import jsonl

Checkpoints = Callable[..., Path]
Run = Callable[..., tuple[list[dict[str, Any]], str]]

RECORDS: list[dict[str, Any]] = [
    {"id": "7", "text": "She is late.", "context": ["Anna came."]},
    {"id": 7, "text": "Yes."},
    {"id": None, "text": "\u201cIt\u2019s his.\u201d", "context": []},
    {"id": ["a"], "text": ""},
    {"id": "ü\u2028😀", "text": "They 😀 miss us."},
]


@pytest.fixture
def run(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `suggest` with the tiny checkpoint in fp32; gives the objects on stdout, and stderr."""

    def call(*argv: str | Path) -> tuple[list[dict[str, Any]], str]:
        flags = ["--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"]
        assert main(["suggest", *map(str, argv), *flags]) == 0
        out, err = capsys.readouterr()
        return [json.loads(line) for line in out.split("\n")[:-1]], err

    return call


def test_lines_that_are_no_translation_are_noted(run: Run, tmp_path: Path) -> None:
    refusal = "I'm sorry, but I cannot help with that request."
    (tmp_path / "a.txt").write_text(f"She left.\n{refusal}\nHe slept.\n", encoding="utf-8")
    found, err = run("-t", tmp_path / "a.txt")
    assert [each.get("no_translation") for each in found] == [None, "refusal", None]
    assert "pronmetric: 1 of 3 lines look like what a language model says instead of a translation" in err
    assert "(the first is line 2)" in err
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "x", "text": refusal}) + "\n", encoding="utf-8")
    assert "1 of 1 records look like what a language model says" in run("--jsonl", tmp_path / "a.jsonl")[1]
    assert "look like what" not in run("--jsonl", tmp_path / "a.jsonl", "--quiet")[1]


def test_forms_that_the_checkpoint_does_not_know_are_noted(
    tiny_checkpoint: Checkpoints, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a table to which a form was added after training; in Python it is a warning."""
    folder = shutil.copytree(tiny_checkpoint(), tmp_path / "older")
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    config["pronouns"] = [form for form in config["pronouns"] if form != "itself"]
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    (tmp_path / "a.txt").write_text("It saw itself.\n", encoding="utf-8")
    said = "checkpoint older does not know itself of the table of pronouns, and does not score them: see docs/target-"
    for verb in ("suggest", "score"):
        assert main([verb, "-t", str(tmp_path / "a.txt"), "--model", str(folder), "--gpus", "0"]) == 0
        assert said in capsys.readouterr().err
    older = PronounMetric.from_pretrained(folder, gpus=0)
    records = [{"text": "It saw itself."}]
    calls: dict[str, Callable[[], object]] = {
        "predict": lambda: older.predict(records),
        "compare": lambda: older.compare(records, records),
        "score_files": lambda: older.score_files(tmp_path / "a.txt"),
        "compare_files": lambda: older.compare_files(tmp_path / "a.txt", tmp_path / "a.txt"),
        "corpus_score": lambda: older.corpus_score(["It saw itself."]),
    }
    for name, call in calls.items():
        with pytest.warns(UserWarning, match="does not know itself of the table") as warned:
            call()
        assert [one.filename for one in warned] == [__file__] * len(warned), name


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


PERSONS = {
    entry.form: {other.person if other.person in "12" else "3" for other in ENGLISH.entries if other.form == entry.form}
    for entry in ENGLISH.entries
}


def expected(metric: PronounMetric, record: dict[str, Any], *, below: float, top: int) -> list[dict[str, Any]]:
    """The pronouns of a record as `suggest` must list them: each form written into the text and scored by `predict`."""
    (scored,) = metric.predict([record]).pronouns
    split = words(record["text"])
    listed = []
    for p in scored:
        if p.score >= below:
            continue
        index = next(i for i, word in enumerate(split) if word.start == p.start)
        better = []
        for form in same_slot(split, index):
            changed = replace(record["text"], p.start, p.end, form)
            (others,) = metric.predict([{**record, "text": changed}]).pronouns
            here = next((other for other in others if other.start == p.start), None)
            if here is not None and here.score > p.score:
                fits = replaces(split, index, form)
                same = not PERSONS[form].isdisjoint(PERSONS[p.text.lower()])
                entry = {"form": form, "text": here.text, "probability": here.score, "agrees": fits}
                better.append({**entry, "same_person": same})
        better.sort(key=lambda other: (not other["agrees"], not other["same_person"], -float(other["probability"])))
        listed.append({"text": p.text, "start": p.start, "end": p.end, "probability": p.score, "better": better[:top]})
    return listed


def near(found: Any, wanted: Any) -> bool:
    """Equal, with the same keys in the same order, but for the last decimals of a probability."""
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and all(near(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(near, found, wanted))
    return found == (pytest.approx(wanted, abs=1.1e-5) if isinstance(wanted, float) else wanted)


def test_every_pronoun_with_the_forms_that_are_more_probable(run: Run, metric: PronounMetric, tmp_path: Path) -> None:
    out, err = run("--jsonl", jsonl(tmp_path / "in.jsonl", RECORDS), "--all", "--top", "2", "--verbose")
    wanted = [{"id": r["id"], "text": r["text"], "pronouns": expected(metric, r, below=2, top=2)} for r in RECORDS]
    assert near(out, wanted)
    listed = [p for r in out for p in r["pronouns"]]
    assert [p["text"] for p in listed] == ["She", "It", "his", "They", "us"]
    assert {len(p["better"]) for p in listed} <= {0, 1, 2} and any(p["better"] for p in listed)
    better = sum(bool(p["better"]) for p in listed)
    assert f"5 pronouns in 5 texts; {better} of them with a better form\n" in err
    assert "context: that of each record" in err
    assert Signature.parse(err.split("signature: ")[1].strip()) == metric.signature(context="given")


def test_texts_read_as_plain_text_are_counted_once(run: Run, tmp_path: Path) -> None:
    records = [{"id": k, "text": text} for k, text in enumerate(["<i>She</i> said that it&#39;s his.", "He left."])]
    _, err = run("--jsonl", jsonl(tmp_path / "in.jsonl", records), "--all")
    assert "read as plain text: entities in 1, mark-up in 1 texts\n" in err


def test_doubtful_pronouns_alone(run: Run, metric: PronounMetric, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "in.jsonl", RECORDS)
    every, _ = run("--jsonl", path, "--all")
    for threshold, flags in ((THRESHOLD, []), (0.5, ["--threshold", "0.5"]), (0.0, ["--threshold", "0"])):
        out, err = run("--jsonl", path, "--verbose", *flags)
        assert near(out, [{**r, "pronouns": [p for p in r["pronouns"] if p["probability"] < threshold]} for r in every])
        assert f"pronouns below {threshold:g} in 5 texts" in err


def test_lines_of_a_file_in_their_contexts(run: Run, tmp_path: Path, sample: Path) -> None:
    names = ("system-c.txt", "ref.txt", "docids.txt")
    lines, ref, docs = ((sample / name).read_text(encoding="utf-8").splitlines() for name in names)
    files = ["-t", sample / names[0], "--docids", sample / names[2], "--all", "--top", "1"]
    said = []
    for kind, flags, records in (
        ("respective", [], in_context(lines, docs=docs)),
        ("common", ["-r", sample / names[1]], in_context(lines, reference=ref, docs=docs)),
        ("none", ["--context", "none"], [{"text": line} for line in lines]),
    ):
        out, err = run(*files, *flags)
        records = [{"id": i, **record} for i, record in enumerate(records)]
        assert near(out, run("--jsonl", jsonl(tmp_path / "in.jsonl", records), "--all", "--top", "1")[0])
        assert f"|context:{kind}|" in err
        said.append(out)
    assert said[0] != said[1] != said[2]


def test_contexts_of_records_can_be_left_out(run: Run, tmp_path: Path) -> None:
    bare = [{**record, "context": []} for record in RECORDS]
    out, err = run("--jsonl", jsonl(tmp_path / "a.jsonl", RECORDS), "--all", "--context", "none", "--verbose")
    assert "context: none" in err
    assert near(out, run("--jsonl", jsonl(tmp_path / "b.jsonl", bare), "--all")[0])


def test_records_from_stdin(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = jsonl(tmp_path / "in.jsonl", RECORDS)
    wanted, _ = run("--jsonl", path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    out, err = run("--jsonl", "-", "--quiet")
    assert near(out, wanted) and err == ""


def test_the_help_names_the_limits(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["suggest", "--help"])
    assert "The suggestions are not corrections. The model knows what is probable" in capsys.readouterr().out


@pytest.mark.parametrize("head", ["paper", "average"])
def test_unbounded_heads_are_refused(
    head: str, tiny_checkpoint: Checkpoints, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, model = jsonl(tmp_path / "in.jsonl", RECORDS), tiny_checkpoint(head=head)
    assert main(["suggest", "--jsonl", str(path), "--model", str(model)]) == 1
    out, err = capsys.readouterr()
    untrained, error = err.splitlines()
    assert out == "" and "records no training" in untrained
    assert error.startswith("pronmetric: error: alternatives need probabilities") and f"head '{head}'" in error


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """A folder of bad files; tests run in it."""
    folder = tmp_path_factory.mktemp("bad")
    for name in ("ref.txt", "system-a.txt"):
        shutil.copy(sample / name, folder)
    (folder / "short.txt").write_text("One line.\n")
    (folder / "folder").mkdir()
    (folder / "good.jsonl").write_text('{"id": 1, "text": "She left."}\n')
    (folder / "broken.jsonl").write_text('{"id": 1, "text": "She left."}\n{"id": 2, "text": "She\n')
    return folder


BAD = [
    (["--jsonl", "nix.jsonl"], "nix.jsonl: no such file"),
    (["--jsonl", "broken.jsonl"], "broken.jsonl:2: broken JSON"),
    (["-t", "nix.txt"], "nix.txt: no such file"),
    (["-t", "system-a.txt", "-r", "short.txt"], "system-a.txt has 37, short.txt has 1"),
    (["--jsonl", "good.jsonl", "--model", "folder"], "folder: not a checkpoint"),
]


def test_bad_input_is_one_clear_line_before_torch_is_loaded(place: Path) -> None:
    code = (
        "import json, sys; from pronmetric.cli.main import main\n"
        "for argv in json.loads(sys.argv[1]): assert main(['suggest', *argv]) == 1, argv\n"
        "assert 'torch' not in sys.modules\n"
    )
    cases = json.dumps([argv for argv, _ in BAD])
    result = subprocess.run([sys.executable, "-c", code, cases], capture_output=True, text=True, cwd=place)
    assert result.returncode == 0 and result.stdout == "", result.stderr
    for line, (argv, message) in zip(result.stderr.splitlines(), BAD, strict=True):
        assert line.startswith("pronmetric: error: ") and message in line, argv
