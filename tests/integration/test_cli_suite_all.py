from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pronmetric.cli.main import main


@pytest.fixture(autouse=True)
def suites(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample suites, in the working folder."""
    shutil.copytree(root / "examples" / "suites", tmp_path / "suites")
    monkeypatch.chdir(tmp_path / "suites")


def score(*flags: str) -> dict[str, Any]:
    assert main(["suite", "score", "ALL", "--set", "sets.tsv", *flags, "--to_json", "all.json"]) == 0
    return json.loads(Path("all.json").read_text())


def test_metrics_by_phenomenon_in_one_table(tiny_checkpoint: Any, capsys: pytest.CaptureFixture[str]) -> None:
    result = score("--model", str(tiny_checkpoint()), "--gpus", "0", "--context", "2")
    told = capsys.readouterr()
    assert "aces.tsv: 2 of 6 items are left out: not in en, or not of pronouns" in told.err
    aces, ctxpro, pro, anti, pairs = result["sets"]
    assert (aces["suite"], aces["left_out"]) == ("aces", 2)
    own, *baselines = aces["metrics"]
    assert baselines == ["BLEU", "chrF"] and aces["metrics"][own]["total"] == 4
    # a reference without a pronoun shares more letters with "he" than with "it", as it has "the"
    assert aces["metrics"]["chrF"]["correct"] == 3
    assert ctxpro["metrics"]["BLEU"] is None and pairs["metrics"]["chrF"] is None  # no reference beside the candidates
    # a sentence along the stereotype is the copy of one against it
    assert pro["metrics"][own]["correct"] + anti["metrics"][own]["correct"] == 4
    lines = told.out.splitlines()
    assert lines[0].split() == ["suite", "set", "phenomenon", "items", own, "BLEU", "chrF"]
    assert any(line.startswith("aces") and "pleonastic_it:substitution" in line for line in lines)
    assert any(line.startswith("winobias") and "anti, type 1" in line and line.endswith("-") for line in lines)
    assert result["signature"].startswith("model:") and result["context"] == 2


def test_a_set_alone_gives_the_same_figures(tiny_checkpoint: Any, capsys: pytest.CaptureFixture[str]) -> None:
    model = ["--model", str(tiny_checkpoint()), "--gpus", "0", "--quiet"]
    whole = score(*model)["sets"][0]["metrics"]
    argv = ["suite", "score", "aces", "--set", "aces.tsv", *model]
    assert main([*argv, "--to_json", "one.json"]) == 0
    one = json.loads(Path("one.json").read_text())
    assert one["items"] == next(iter(whole.values()))["items"]
    assert main([*argv, "--save_scores", "mine"]) == 1
    assert "the model judges 4 of 6 items, and a file of scores is of all" in capsys.readouterr().err
    assert not Path("mine").exists()


def test_a_language_model_and_comet_are_baselines(
    tiny_causal: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Model:
        def requires_references(self) -> bool:
            return True

        def predict(self, rows: list[dict[str, str]], **settings: Any) -> SimpleNamespace:
            assert all(row["src"] and row["ref"] for row in rows)
            return SimpleNamespace(scores=[float("good" in row["mt"] or "she" in row["mt"]) for row in rows])

    monkeypatch.setitem(sys.modules, "comet", SimpleNamespace(load_from_checkpoint=lambda path: Model()))
    Path("model.ckpt").write_bytes(b"weights")
    result = score("--language-model", str(tiny_causal()), "--comet", "model.ckpt", "--gpus", "0")
    aces = result["sets"][0]
    assert aces["left_out"] == 0  # no model of pronouns chooses
    assert list(aces["metrics"]) == ["BLEU", "chrF", "language model", "COMET"]
    assert aces["metrics"]["language model"]["total"] == aces["metrics"]["COMET"]["total"] == 6
    assert result["sets"][1]["metrics"]["COMET"] is None
    assert any(line.split()[:4] == ["tsv", "pairs.tsv", "all", "4"] for line in capsys.readouterr().out.splitlines())
    assert result["signature"] is None


def test_sets_of_another_language_are_left_out(tiny_checkpoint: Any, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sets.tsv").write_text("suite\tset\ncontrapro\tcontrapro.json\n")
    flags = ["--set", "sets.tsv", "--model", str(tiny_checkpoint()), "--gpus", "0"]
    assert main(["suite", "score", "ALL", *flags]) == 1
    told = capsys.readouterr().err
    assert "contrapro.json: 10 of 10 items are left out: not in en, or not of pronouns" in told
    assert "sets.tsv: the model judges no item of these sets; give sets in its language" in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("suite\tfile\n", "sets.tsv:1: expected a TSV file of sets, whose first line names set"),
        ("suite\tset\nother\ta\n", 'sets.tsv:2: "suite" must be one of "contrapro", "discevalmt"'),
        ("suite\tset\naces\t\n", 'sets.tsv:2: "set" is empty; expected the file of the set'),
        ("suite\tset\naces\tnone.tsv\n", "none.tsv: no such file"),
        ("suite\tset\taces\naces\tpairs.tsv\t\n", "pairs.tsv:1: expected a TSV file of ACES, whose first line names"),
    ],
)
def test_a_wrong_table_of_sets_is_refused(text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sets.tsv").write_text(text)
    assert main(["suite", "score", "ALL", "--set", "sets.tsv"]) == 1
    assert said in capsys.readouterr().err


def test_documents_are_those_of_the_set(capsys: pytest.CaptureFixture[str]) -> None:
    Path("sets.tsv").write_text("suite\tset\tdocuments\ncontrapro\tcontrapro.json\tdocuments\naces\taces.tsv\t\n")
    result = score("--context", "1")
    assert [one["suite"] for one in result["sets"]] == ["contrapro", "aces"]
    assert "contrapro" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "flags", "said"),
    [
        ("ALL", ["--scores", "a"], "ALL scores by --model and baselines; --scores goes with a single set"),
        (
            "ALL",
            ["--seq2seq", "a", "--context-mode", "concat21"],
            "--seq2seq and --context-mode goes with a single set",
        ),
        ("ALL", ["--save_scores", "a", "--plot", "b.svg"], "--save-scores and --plot goes with a single set"),
        ("aces", ["--scores", "a", "--comet", "b"], "--language-model and --comet go with ALL"),
    ],
)
def test_flags_that_do_not_go_together(
    name: str, flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["suite", "score", name, "--set", "sets.tsv", *flags])
    assert end.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_set_without_anything_to_score_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("en.txt").write_text("neutral\t1\tThe cook sang.\tcook\n")
    Path("scores").write_text("1\n")
    assert main(["suite", "score", "winomt", "--set", "en.txt", "--scores", "scores"]) == 1
    assert "en.txt: no item has a pronoun of their gender to score" in capsys.readouterr().err


def test_bleu_of_a_set_in_several_languages() -> None:
    pytest.importorskip("sacrebleu")
    items = [line.split("\t") for line in Path("aces.tsv").read_text().splitlines()]
    place = items[0].index("good-translation")
    Path("made").write_text("".join(f"{row[place]}\n" for row in items[1:]))
    Path("scores").write_text("1\n" * 2 * len(items[1:]))
    argv = ["suite", "score", "aces", "--set", "aces.tsv", "--scores", "scores", "--bleu", "made"]
    assert main([*argv, "--to_json", "one.json"]) == 0
    assert json.loads(Path("one.json").read_text())["further"]["BLEU"] == pytest.approx(100)
