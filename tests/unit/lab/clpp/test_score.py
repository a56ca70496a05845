"""The official score of cross-lingual pronoun prediction: figures, oddities of the original program, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp import score as clpp_score

REST = "x\tit works\tREPLACE_0 gehen|VERB\t0-0 1-1"


def write(folder: Path, gold: list[str], predicted: list[str], end: str = "\n") -> tuple[Path, Path]:
    """A data file of these labels, and a prediction file of these lines."""
    files = folder / "gold", folder / "predicted"
    files[0].write_text("".join(f"{label}\t{REST}{end}" for label in gold), encoding="utf-8", newline="")
    files[1].write_text("".join(f"{line}{end}" for line in predicted), encoding="utf-8", newline="")
    return files


def test_figures_by_hand(tmp_path: Path) -> None:
    files = write(tmp_path, ["er sie", "", "es", "es", "OTHER"], ["er er", "", "es", "NONE", "OTHER"])
    found = clpp_score.score(*files, clpp.task("en-de"))
    # er: P 1/2, R 1/1; sie: P 0/0, R 0/1; es: P 1/1, R 1/2; man: no instance; OTHER: P 1/2, R 1/1
    assert (found.correct, found.total, found.accuracy) == (3, 5, 60)
    assert found.macro.precision == pytest.approx((50 + 0 + 100 + 0 + 50) / 5)
    assert found.macro.recall == pytest.approx((100 + 0 + 50 + 0 + 100) / 5)
    f1 = 100 * 2 * 0.5 / 1.5
    assert found.macro.f1 == pytest.approx((f1 + 0 + f1 + 0 + f1) / 5)
    assert found.in_gold == ("er", "sie", "es", "OTHER")  # "man" is left out
    assert found.macro_in_gold.recall == pytest.approx((100 + 0 + 50 + 100) / 4)
    assert found.macro_in_gold.precision == pytest.approx((50 + 0 + 100 + 50) / 4)
    assert found.macro_in_gold.f1 == pytest.approx((f1 + 0 + f1 + f1) / 4)
    assert found.count("es", "OTHER") == 1 and found.gold("es") == 2 and found.predicted("er") == 2


def test_spellings_are_one_class(tmp_path: Path) -> None:
    files = write(tmp_path, ["c' ça ca ç'", "NONE"], ["ce cela cela cela", "OTHER"])
    assert clpp_score.score(*files, clpp.task("en-fr")).accuracy == 100
    files = write(tmp_path, ["that those"], ["this these"])
    assert clpp_score.score(*files, clpp.task("de-en")).accuracy == 100


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("rest", ["", "\tsie", f"\t{REST}"])
def test_only_the_first_column_of_predictions_counts(tmp_path: Path, rest: str, end: str) -> None:
    files = write(tmp_path, ["sie", ""], [f"sie{rest}", ""], end)
    files[1].write_text(files[1].read_text(encoding="utf-8") + "nonsense\n", encoding="utf-8", newline="")
    assert clpp_score.score(*files, clpp.task("en-de")).total == 1


def test_the_alignment_column_may_be_empty(tmp_path: Path) -> None:
    gold, predicted = write(tmp_path, ["er"], ["er"])
    gold.write_text("er\tx\tit\tREPLACE_0\t\n", encoding="utf-8")
    assert clpp_score.score(gold, predicted, clpp.task("en-de")).correct == 1


@pytest.mark.parametrize(
    ("gold", "predicted", "told"),
    [
        (["er", "er"], ["er", ""], "predicted:2: expected a label"),
        (["er", ""], ["er", "er"], "predicted:2: predicts 'er' where"),
        (["er"], ["Er"], "predicted:1: unknown label 'Er' for en-de; expected er sie es man OTHER NONE"),
        (["it"], ["er"], "gold:1: unknown label 'it'"),
        (["er er"], ["er  er"], "predicted:1: expected labels separated by one space"),
        (["er"], ["er "], "predicted:1: expected labels separated by one space"),
        (["er er"], ["er"], "predicted:1: expected 2 labels as in"),
        (["er", "er"], ["er"], "predicted: ends before line 2"),
        (["", ""], ["", ""], "gold: has no label"),
    ],
)
def test_refusals(tmp_path: Path, gold: list[str], predicted: list[str], told: str) -> None:
    files = write(tmp_path, gold, predicted)
    with pytest.raises(InputError) as error:
        clpp_score.score(*files, clpp.task("en-de"))
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("er\tx\tit\tREPLACE_0", "gold:1: expected 5 tab-separated columns, got 4"),
        ("er\tx\tit\tREPLACE_0\t0-0\tmore", "gold:1: expected 5 tab-separated columns, got 6"),
        ("\t\t\tREPLACE_0\t0-0", "gold:1: expected a source sentence"),
        ("er\tx\tit\t\t0-0", "gold:1: expected a target sentence"),
    ],
)
def test_broken_data_lines(tmp_path: Path, line: str, told: str) -> None:
    gold, predicted = write(tmp_path, [], ["er"])
    gold.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        clpp_score.score(gold, predicted, clpp.task("en-de"))
    assert told in str(error.value)


def test_the_pairs_are_those_of_the_task() -> None:
    assert sorted(clpp.TASKS) == ["de-en", "en-de", "en-fr", "es-en", "fr-en"]
    assert clpp.task("fr-en").classes == ("he", "she", "it", "they", "this", "these", "there", "OTHER")
    with pytest.raises(InputError, match="`pair=en-cs`: expected one of"):
        clpp.task("en-cs")


def test_read_checks_slots_against_the_source_and_the_labels(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("er\ter\tit works\tREPLACE_0 gehen|VERB\t0-0 1-1\n", encoding="utf-8")
    (line,) = clpp.read(path, clpp.task("en-de"))
    assert (line.labels, line.slots, line.sources, line.links) == (("er",), (0,), (0,), ((0, 0), (1, 1)))
    for text, told in (
        ("er\ter\tit\tREPLACE_1\t0-0", "data:1: REPLACE_1: the source has 1 tokens"),
        ("er er\ter er\tit\tREPLACE_0\t0-0", "data:1: expected a label for each slot, got 2 labels, 1 slots"),
        ("er\ter\tit\tREPLACE_0\t0:0", "data:1: expected links s-t, got '0:0'"),
        (f"er\ter\tit\tREPLACE_0\t0-{'9' * 5000}", "data:1: expected links s-t, got '0-9"),
    ):
        path.write_text(f"{text}\n", encoding="utf-8")
        with pytest.raises(InputError, match="data:1") as error:
            clpp.read(path, clpp.task("en-de"))
        assert told in str(error.value)


def test_the_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold, predicted = write(tmp_path, ["er", "sie"], ["er", "es"])
    assert main(["clpp", "score", "--pair", "en-de", str(gold), str(predicted), "--to_json", f"{tmp_path}/j"]) == 0
    out = capsys.readouterr().out
    assert "Accuracy = 1/2 = 50.00%" in out
    assert "Official score, 2016 and 2017 (macro-averaged R): 20.00%" in out
    assert "As in the paper of 2016, over 2 of 5 classes (macro-averaged R): 50.00%" in out
    content = json.loads((tmp_path / "j").read_text(encoding="utf-8"))
    assert (content["macro_recall"], content["accuracy"]) == (20, 50)
    assert (content["gold_classes"], content["macro_recall_of_gold_classes"]) == (["er", "sie"], 50)
    assert content["confusion"]["sie"] == {"er": 0, "sie": 0, "es": 1, "man": 0, "OTHER": 0}
    assert content["classes"]["er"]["recall"] == 100 and list(content["classes"])[-1] == "OTHER"


def test_a_fault_leaves_no_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold, predicted = write(tmp_path, ["er"], ["he"])
    assert main(["clpp", "score", "--pair", "en-de", str(gold), str(predicted), "--to_json", f"{tmp_path}/j"]) == 1
    assert "unknown label 'he'" in capsys.readouterr().err
    assert not (tmp_path / "j").exists()
