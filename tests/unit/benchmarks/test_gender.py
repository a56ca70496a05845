"""The benchmark of gendered pronouns: what it takes from the development passages, its figures and its table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.checkpoint import gender
from benchmarks.checkpoint.scoring import Record, Result
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.pronouns.finder import find
from pronmetric.schema import Passage

TEXTS = [
    ("letters", "He came late. The aunt smiled. Then she took her hat."),
    ("letters", "The uncle smiled. It rained. He left."),
    ("news", "The aunt wrote to them. They thanked her."),
]


def prepared(folder: Path, texts: Sequence[tuple[str, str]]) -> Path:
    passages = []
    for number, (source, text) in enumerate(texts):
        found = find(text)
        spans, forms = tuple((o.start, o.end) for o in found), tuple(o.form for o in found)
        passages.append(Passage(f"{source}/{number}#1", source, f"{source}/{number}", text, spans, forms))
    pairs = dict.fromkeys(arrow.PAIR_SPLITS, ())
    arrow.write(folder, pairs=pairs, passages={"passages_train": [], "passages_development": passages})
    return folder


def of_relatives(records: Sequence[Record]) -> list[Result]:
    """0.9 where the pronouns fit the relative of the context, 0.1 where not, 0.5 without a relative."""
    results = []
    for record in records:
        context, forms = " ".join(record["context"]), {o.form for o in find(record["text"])}
        women = "aunt" in context
        fits = not forms & ({"he", "him", "his"} if women else {"she", "her"})
        score = 0.5 if not women and "uncle" not in context else 0.9 if fits else 0.1
        results.append(Result(score=score, pronouns=[]))
    return results


def test_figures_of_pronouns_with_sentences_before_them(tmp_path: Path) -> None:
    sourced = gender.read(prepared(tmp_path / "p", TEXTS), number=200, seed=0)
    assert [(source, one.sentence, one.pronoun, one.other) for source, one in sourced] == [
        ("letters", "Then she took her hat.", "she", "he"),
        ("letters", "Then she took her hat.", "her", "his"),
        ("letters", "He left.", "he", "she"),
        ("news", "They thanked her.", "her", "him"),
    ]
    figures = gender.measure(of_relatives, sourced)
    assert (figures["common"]["all"].right, figures["none"]["all"].equal) == (4, 4)
    assert {name: one.pairs for name, one in figures["common"]["by_source"].items()} == {"letters": 3, "news": 1}
    assert set(figures["common"]["by_pronoun"]) == {"she -> he", "her -> his", "he -> she", "her -> him"}
    assert "common - none +100.0" in gender.show(figures)


def test_as_many_of_each_source_as_asked_for(tmp_path: Path) -> None:
    folder = prepared(tmp_path / "p", TEXTS)
    drawn = gender.read(folder, number=1, seed=0)
    assert sorted(source for source, _ in drawn) == ["letters", "news"]
    assert drawn == gender.read(folder, number=1, seed=0)


def test_without_gendered_pronouns(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no gendered pronoun in the development passages"):
        gender.read(prepared(tmp_path / "p", [("news", "It rained. It stopped.")]), number=1, seed=0)
