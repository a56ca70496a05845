"""The vocabulary of a run: the words of its training data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pronmetric.pronouns.finder import FORMS
from pronmetric.schema import Pair
from pronmetric.training.encoders.glove import choose_words, count_words


def test_words_of_distinct_training_texts_are_counted(
    make_prepared: Callable[..., Path], sample_pairs: list[Pair]
) -> None:
    texts = {
        "better": "Zebras saw him.",
        "worse": "Zebras saw her.",
        "context": ("Zebras run.",),
        "system_context": ("So Yaks run.",),
    }
    one = replace(sample_pairs[0], **texts)  # type: ignore[arg-type]
    unseen = replace(sample_pairs[1], better="Quaggas saw him.")
    folder = make_prepared(train=[one, one], development=[unseen], passages=["Yaks left.", "Zebras run."])
    counts = count_words(folder)
    assert {word: counts[word] for word in ("zebras", "yaks", "saw", "so", "left", "run")} == {
        "zebras": 3,  # its two texts and the sentence that is both context and passage
        "yaks": 2,
        "saw": 2,
        "so": 1,
        "left": 1,
        "run": 2,
    }
    assert "quaggas" not in counts and "Zebras" not in counts
    assert all(counts[form] >= 1 for form in FORMS) and counts["him"] == 2 and counts["whose"] == 1


def test_forms_are_taken_first_then_frequent_words() -> None:
    counts = {"b": 3, "a": 3, "c": 5, "d": 1, "whom": 1}
    assert choose_words(counts, most=10, least=2) == ("whom", "c", "a", "b")
    assert choose_words(counts, most=2, least=2) == ("whom", "c")
    assert choose_words(counts, most=10, least=1, among={"d": 0, "b": 0}) == ("b", "d")
