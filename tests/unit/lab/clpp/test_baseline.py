"""The n-gram baseline: joint search, the empty filler and its penalty, pruning; the libraries' models."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.errors import InputError, MissingExtra
from pronmetric.lab.clpp import baseline as clpp_baseline
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp import language_models
from pronmetric.lab.clpp.data import Line

TASK = clpp.task("de-en")


def line(target: str, labels: str = "", words: str = "") -> Line:
    return Line(tuple(labels.split()), tuple(words.split()), ("sie",) * 9, tuple(target.split()), ())


class Prefers:
    """A point for each of these bigrams, at a cost of a tenth for each word."""

    def __init__(self, *bigrams: str) -> None:
        self.bigrams = {tuple(bigram.split()) for bigram in bigrams}
        self.asked: list[bool] = []

    def __call__(self, words: Sequence[str], *, whole: bool) -> float:
        self.asked.append(whole)
        padded = ["<s>", *words, *(["</s>"] if whole else [])]
        return sum(pair in self.bigrams for pair in itertools.pairwise(padded)) - 0.1 * len(words)


def test_fillers_are_classes_other_words_and_nothing() -> None:
    found = clpp_baseline.fillers(clpp.task("en-fr"))
    assert clpp_baseline.Filler("c'", "ce") in found and clpp_baseline.Filler("l'", "OTHER") in found
    assert found[-1] == clpp_baseline.Filler("", "OTHER")
    assert len(found) == 7 + 2 + 22 + 1


def test_slots_are_filled_jointly() -> None:
    model = Prefers("<s> she", "she go", "and they", "they </s>")
    found = clpp_baseline.predict(line("REPLACE_0 go|VERB and|CCONJ REPLACE_2"), TASK, model, penalty=0)
    assert [filler.label for filler in found] == ["she", "they"] and all(model.asked)


def test_the_penalty_of_the_empty_filler() -> None:
    model = Prefers("<s> she")
    assert clpp_baseline.predict(line("REPLACE_0 go|VERB"), TASK, model, penalty=0)[0].label == "she"
    model = Prefers("<s> go")
    slot = line("REPLACE_0 go|VERB")
    assert clpp_baseline.predict(slot, TASK, model, penalty=0)[0] == ("", "OTHER")
    assert clpp_baseline.predict(slot, TASK, model, penalty=-2)[0].label == "he"  # the first of equals


def test_other_words_predict_other() -> None:
    assert clpp_baseline.predict(line("REPLACE_0"), TASK, Prefers("<s> them"), penalty=0)[0] == ("them", "OTHER")


def test_many_slots_are_pruned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clpp_baseline, "MOST", 30)
    monkeypatch.setattr(clpp_baseline, "KEPT", 3)
    model = Prefers("<s> it", "it they", "they she")
    found = clpp_baseline.predict(line("REPLACE_0 REPLACE_1 REPLACE_2"), TASK, model, penalty=-9)
    assert [filler.label for filler in found] == ["it", "they", "she"] and False in model.asked


def test_tokens_lose_their_tags() -> None:
    assert [clpp_baseline.bare(token) for token in ("lamp|NOUN", "a|b|X", "plain", "|", "|PUNCT")] == [
        "lamp",
        "a|b",
        "plain",
        "|",
        "|PUNCT",
    ]
    filled = clpp_baseline.sentences([line("REPLACE_0 go|VERB REPLACE_1", "she OTHER", "She NONE")], TASK)
    assert filled == [["she", "go"]]


def test_the_penalty_is_tuned_by_macro_recall() -> None:
    lines = [line("REPLACE_0 go|VERB", "he", "he")]
    scores = clpp_baseline.tune(lines, TASK, Prefers("<s> go"), penalties=(0.0, -2.0))
    assert [scores[one].accuracy for one in (0.0, -2.0)] == [0, 100]


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "kenlm", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[ngram\]"):
        language_models.KenLM("x")


SENTENCES = [["she", "go"]] * 3 + [["he", "sit"]]
BY_HAND = {
    # of 12 words she and go are 3 each, </s> 4, unknown ones 2: with 4 possible words P(she) = (3 + 4 / 4) / (12 + 4)
    "she": 3.5 / 6,  # after <s>, which is 4 times before 2 words: (3 + 2 * 0.25) / (4 + 2)
    "go": 3.25 / 4,  # after she: (3 + 1 * 0.25) / (3 + 1)
    "</s>": 3.3125 / 4,  # after go: (3 + 1 * 0.3125) / (3 + 1), as P(</s>) = (4 + 1) / 16
}


def test_the_trained_model_by_hand() -> None:
    model = language_models.Ngrams.count(SENTENCES, order=2)
    logs = [math.log10(one) for one in BY_HAND.values()]
    assert model(["she"], whole=False) == pytest.approx(logs[0])
    assert model(["she", "go"], whole=True) == pytest.approx(sum(logs))
    assert model.between((), "she", ("go", "x")) == pytest.approx(sum(logs[:2]))  # x is out of its reach
    assert model.between(("x", "she"), "", ()) == pytest.approx(math.log10(0.3125 / 4))
    assert sum(10 ** model([word], whole=False) for word in ("she", "go", "</s>", "x")) == pytest.approx(1)
    with pytest.raises(InputError, match="got none"):
        language_models.Ngrams.count([], order=2)


def test_a_trained_model_predicts_the_slots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["she\tshe\tsie geht\tREPLACE_0 go|VERB\t0-0 1-1", "he\the\ter sitzt\tREPLACE_0 sit|VERB\t0-0 1-1"]
    (tmp_path / "d").write_text("".join(f"{row}\n" for row in rows * 4), encoding="utf-8")
    paths = ["--train-lm", f"{tmp_path}/d", "--order", "2", f"{tmp_path}/d", "-o", f"{tmp_path}/p"]
    assert main(["clpp", "baseline", "--pair", "de-en", "--tune", f"{tmp_path}/d", *paths]) == 0
    assert (tmp_path / "p").read_text().splitlines()[:2] == rows
    assert "macro R" in capsys.readouterr().out


def test_kenlm_reads_an_arpa_file(tmp_path: Path) -> None:
    pytest.importorskip("kenlm", reason="needs the extra ngram")
    unigrams = "-1.0\t<unk>\t0\n-99\t<s>\t0\n-0.5\t</s>\n-0.25\tshe\t0\n"
    arpa = f"\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n{unigrams}\n\\2-grams:\n-0.125\t<s> she\n\n\\end\\\n"
    (tmp_path / "x.arpa").write_text(arpa)
    model = language_models.KenLM(tmp_path / "x.arpa")
    assert model(["she"], whole=True) == pytest.approx(-0.625)
    assert model(["she", "x"], whole=False) == pytest.approx(-1.125)
    (tmp_path / "y.arpa").write_text("no model")
    with pytest.raises(InputError, match="expected an ARPA or KenLM file"):
        language_models.KenLM(tmp_path / "y.arpa")
