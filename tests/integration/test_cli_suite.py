from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pronmetric.cli.main import main

NAMES = ("contrapro", "discevalmt", "consistency", "ctxpro", "cai-xiong", "aces", "winomt", "mt-geneval", "protest")
NAMES += ("dip", "winobias", "tsv")


@pytest.fixture(autouse=True)
def suites(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample suites, in the working folder."""
    shutil.copytree(root / "examples" / "suites", tmp_path / "suites")
    monkeypatch.chdir(tmp_path / "suites")
    return tmp_path / "suites"


def score(name: str, *flags: str) -> dict[str, Any]:
    assert main(["suite", "score", name, *flags, "--to_json", "result.json", "--quiet"]) == 0
    return json.loads(Path("result.json").read_text())


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(["suite", *argv]) == 1
    return capsys.readouterr().err


def test_list_and_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed[1:]] == [*NAMES, "clpp"]
    for name in NAMES:
        assert main(["suite", "show", name]) == 0
        assert "Set: " in capsys.readouterr().out
    assert main(["suite", "show", "contrapro", "--set", "contrapro.json"]) == 0
    assert "contrapro.json: 10 items, 30 candidates" in capsys.readouterr().out


def test_scores_of_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    result = score("contrapro", "--set", "contrapro.json", "--scores", "context.scores")
    assert (result["accuracy"], result["correct"], result["total"]) == (0.8, 8, 10)
    assert result["by"]["distance"][">3"]["correct"] == 0
    low, high = result["interval"]
    assert low <= 0.8 <= high
    assert [item["right"] for item in result["items"]] == [True] * 6 + [False, True, True, False]
    assert "distance             >3" in capsys.readouterr().out


def test_the_exported_lines_are_those_that_are_scored(suites: Path) -> None:
    flags = ["--set", "contrapro.json", "--documents", "documents", "--context", "2", "-o", "lines"]
    assert main(["suite", "export", "contrapro", *flags]) == 0
    lines = {path.name: path.read_text().splitlines() for path in (suites / "lines").iterdir()}
    assert {name: len(found) for name, found in lines.items()} == {
        "source.txt": 30,
        "target.txt": 30,
        "source.context.txt": 60,
        "target.context.txt": 60,
        "index.tsv": 31,
        "lines.jsonl": 30,
    }
    assert lines["target.txt"][3:6] == ["Dann sank es im Hafen.", "Dann sank er im Hafen.", "Dann sank sie im Hafen."]
    assert lines["source.context.txt"][:2] == ["", "We bought a boat."]
    record = json.loads(lines["lines.jsonl"][4])
    assert (record["item"], record["candidate"], record["right"]) == ("1", 1, False)
    assert record["target_context"] == ["Wir kauften ein Boot.", "Es war zu klein für uns beide."]
    assert lines["index.tsv"][4].split("\t")[:5] == ["4", "1", "0", "yes", "boat.de"]


def test_an_export_joins_the_context_of_each_line(suites: Path) -> None:
    flags = ["--set", "contrapro.json", "--documents", "documents", "--context", "1", "--join", " _eos ", "-o", "lines"]
    assert main(["suite", "export", "contrapro", *flags]) == 0
    assert (suites / "lines" / "source.txt").read_text().splitlines()[0] == (
        "We bought a boat. _eos It was too small for the two of us."
    )
    assert not (suites / "lines" / "source.context.txt").exists()
    assert main(["suite", "export", "contrapro", "--set", "contrapro.json", "--right-only", "-o", "once"]) == 0
    assert len((suites / "once" / "source.txt").read_text().splitlines()) == 10


def test_a_model_of_our_own_scores_english_targets(tiny_checkpoint: Any) -> None:
    name = "animacy.opensubtitles.it-en.dev.json"
    model = str(tiny_checkpoint())
    flags = ["--set", name, "--model", model, "--context", "2", "--gpus", "0"]
    result = score("ctxpro", *flags, "--save_scores", "mine.scores")
    assert result["total"] == 8
    again = score("ctxpro", "--set", name, "--scores", "mine.scores", "--maximize")
    assert again["items"] == result["items"]
    assert result["judged"].startswith("pronmetric, 2 sentences of context, model:")


def test_a_set_built_of_annotated_english_is_scored_by_distance(suites: Path, tiny_checkpoint: Any) -> None:
    words = "The old cook laughed . I said she was right . Rain fell . Then she left .".split()
    brackets = {0: "(1", 2: "1)", 7: "(1)", 15: "(1)"}
    rows = "".join(f"{number}\t{word}\t{brackets.get(number, '_')}\n" for number, word in enumerate(words))
    (suites / "annotated").mkdir()
    (suites / "annotated" / "a.conll").write_text(f"# begin document a\n{rows}# end document\n")
    flags = ["--target-language", "en", "--target", "annotated", "-o", "built.json", "--quiet"]
    assert main(["suite", "build", "contrastive", *flags, "--blind-model", str(tiny_checkpoint())]) == 0
    blind = json.loads((suites / "built.manifest.json").read_text())["without context"]
    assert [one["judge"].split()[0] for one in blind] == ["frequency", Path(tiny_checkpoint()).name]
    assert all(one["chance"] == 1 / 4 and one["items"] == 2 for one in blind)
    alone = score("contrapro", "--set", "built.json", "--model", str(tiny_checkpoint()), "--gpus", "0")
    assert alone["accuracy"] == blind[1]["accuracy"]
    result = score(
        "contrapro", "--set", "built.json", "--model", str(tiny_checkpoint()), "--context", "2", "--gpus", "0"
    )
    assert {name: share["total"] for name, share in result["by"]["distance"].items()} == {"1": 1, "3": 1}
    assert list(result["by"]["antecedent by"]) == ["chains of the target"]


def test_a_model_that_finds_no_pronoun_is_an_error(tiny_checkpoint: Any, capsys: pytest.CaptureFixture[str]) -> None:
    Path("one.json").write_text(json.dumps([json.loads(Path("contrapro.json").read_text())[6]]))  # geht er, sie, es
    model = str(tiny_checkpoint())
    found = refused(capsys, "score", "contrapro", "--set", "one.json", "--model", model, "--gpus", "0")
    assert "no candidate has a pronoun that the model knows" in found


def test_translations_and_human_judgments(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--set", "cai-xiong.jsonl", "--translations", "cai-xiong.zh"]
    assert score("cai-xiong", *flags)["correct"] == 3
    translated = score("cai-xiong", *flags, "--bleu", "cai-xiong.zh")["further"]
    assert 0 < translated["BLEU"] <= 100 and "tok:zh" in translated["BLEU signature"]
    result = score("cai-xiong", *flags, "--humans", "cai-xiong.humans.jsonl")
    assert result["correct"] == 3
    assert result["further"]["items on which automatic and human verdicts agree"] == 6
    assert "items on which the judges are tied, wrong: 1" in capsys.readouterr().out
    found = refused(capsys, "score", "contrapro", "--set", "contrapro.json", "--humans", "cai-xiong.humans.jsonl")
    assert "the suite contrapro has no human judgments" in found


def test_systems_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("sentence", "context"):
        score("contrapro", "--set", "contrapro.json", "--scores", f"{name}.scores")
        Path("result.json").rename(f"{name}.json")
    capsys.readouterr()
    assert main(["suite", "compare", "sentence.json", "context.json", "--subsample", "5", "--to_json", "c.json"]) == 0
    content = json.loads(Path("c.json").read_text())
    (one,) = content["differences"]
    assert (one["difference"], one["only_a"], one["only_b"]) == (-0.5, 0, 5)
    assert one["p"] == one["holm"] == pytest.approx(2 / 2**5, abs=0.01)  # all five that differ are one side's
    assert content["subsampled"]["context.json"] < 0.2
    assert "-50.0" in capsys.readouterr().out


def test_only_results_of_one_suite_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    score("contrapro", "--set", "contrapro.json", "--scores", "context.scores")
    Path("one.json").write_text(json.dumps(json.loads(Path("result.json").read_text()) | {"suite": "other"}))
    assert "of different suites: contrapro, other" in refused(capsys, "compare", "result.json", "one.json")
    assert "give the results of two or more" in refused(capsys, "compare", "one.json")
    assert "a result is given twice" in refused(capsys, "compare", "one.json", "one.json")
    assert "expected a result of `pronmetric suite score" in refused(capsys, "compare", "one.json", "contrapro.json")


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_accuracy_by_distance_is_plotted(suffix: str) -> None:
    score("contrapro", "--set", "contrapro.json", "--scores", "context.scores", "--plot", f"plot.{suffix}")
    assert Path(f"plot.{suffix}").read_bytes()[:4] == {"png": b"\x89PNG", "svg": b"<?xm"}[suffix]


def test_a_plot_needs_distances_and_a_known_suffix(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["score", "cai-xiong", "--set", "cai-xiong.jsonl", "--translations", "cai-xiong.zh", "--plot"]
    assert "these items have no distances" in refused(capsys, *flags, "p.svg")
    assert not Path("p.svg").exists()
    assert "expected a name that ends in .png or .svg" in refused(capsys, *flags, "p.gif")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], "give one of --scores, --translations, --humans, --model, --seq2seq"),
        (["--scores", "a", "--model", "default"], "got --scores and --model"),
        (["--model", "default", "--maximize"], "--maximize goes with --scores"),
        (["--scores", "a", "--save_scores", "b"], "--save_scores goes with --model or --seq2seq"),
        (["--scores", "a", "--per-piece"], "--per-piece goes with --seq2seq"),
        (["--seq2seq", "a", "--precision", "int8"], "--precision: int8 was dropped in version 1.0.0: give bf16"),
        (["--seq2seq", "a", "--context-mode", "concatN"], "--context-mode concatN needs --context N"),
        (["--seq2seq", "a", "--context", "2"], "--context goes with --context-mode concatN"),
        (["--seq2seq", "a", "--prompt", "x"], "--prompt: expected {source} in it"),
        (["--translations", "a", "--distance", "3", "1"], "--distance: expected MIN <= MAX"),
    ],
)
def test_flags_that_do_not_go_together(flags: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["suite", "score", "contrapro", "--set", "contrapro.json", *flags])
    assert end.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


class Model:
    """A model that prefers short targets, and stops at the text `stop`."""

    read: ClassVar[list[tuple[str, str]]] = []
    stop: ClassVar[str] = ""

    def __init__(self, folder: str, settings: Any) -> None:
        self.settings = settings

    def check(self, pairs: Sequence[tuple[str, str]], *, file: str) -> None:
        assert pairs and Path(file).exists()

    def score(self, pairs: Sequence[tuple[str, str]], *, batch_size: int, advance: Any) -> list[float]:
        if any(target == self.stop for _, target in pairs):
            raise KeyboardInterrupt
        self.read.extend(pairs)
        advance(len(pairs))
        return [-len(target) / (10 if self.settings.per_piece else 1) for _, target in pairs]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> type[Model]:
    Path("model").mkdir()
    Path("model/config.json").write_text("{}")
    monkeypatch.setattr("pronmetric.lab.seq2seq.model.TranslationModel", Model)
    monkeypatch.setattr("pronmetric.lab.seq2seq.model.WINDOW", 7)
    monkeypatch.setattr(Model, "read", [])
    return Model


def test_a_translation_model_scores_with_its_context(model: type[Model]) -> None:
    flags = ["--set", "contrapro.json", "--documents", "documents", "--seq2seq", "model", "--separator", "<b>"]
    result = score("contrapro", *flags, "--context-mode", "concatN", "--context", "2")
    assert len(model.read) == 30
    assert model.read[5] == (
        "We bought a boat. <b> It was too small for the two of us. <b> Then it sank in the harbour.",
        "Wir kauften ein Boot. <b> Es war zu klein für uns beide. <b> Dann sank sie im Hafen.",
    )
    # "er" and "es" are equally long, so the right one ties with a copy or is longer
    assert result["correct"] == 0
    assert result["judged"] == "log-probability by model, context concatN 2"
    assert score("contrapro", *flags, "--context-mode", "concat21", "--per-piece")["judged"].startswith(
        "log-probability by piece by model, context concat21"
    )
    assert model.read[35][1] == "Dann sank sie im Hafen."


def test_a_stopped_run_goes_on_where_it_was(
    model: type[Model], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--set", "contrapro.json", "--seq2seq", "model"]
    whole = score("contrapro", *flags, "--save_scores", "whole")
    monkeypatch.setattr(Model, "stop", "Er kam von meiner Tante.")  # in line 14, in the second window of 7
    assert main(["suite", "score", "contrapro", *flags, "--save_scores", "mine"]) == 130
    assert len(Path("mine.partial").read_text().splitlines()) == 1 + 7 and not Path("mine").exists()
    monkeypatch.setattr(Model, "stop", "")
    capsys.readouterr()
    assert main(["suite", "score", "contrapro", *flags, "--save_scores", "mine"]) == 0
    assert "7 of 30 lines are in mine.partial already" in capsys.readouterr().err
    assert Path("mine").read_bytes() == Path("whole").read_bytes()
    assert score("contrapro", "--set", "contrapro.json", "--scores", "mine", "--maximize")["items"] == whole["items"]


def test_a_run_of_another_set_is_not_continued(model: type[Model], capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.partial").write_text('{"model": "other"}\n')
    flags = ["--set", "contrapro.json", "--seq2seq", "model", "--save_scores", "mine"]
    assert "mine.partial: an interrupted run with another model" in refused(capsys, "score", "contrapro", *flags)
