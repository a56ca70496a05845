from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.checkpoint import calibration, scoring
from benchmarks.checkpoint.calibration import Noised, Sentence
from benchmarks.checkpoint.scoring import Record, Result
from pronmetric.errors import InputError
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.pronouns.finder import find


def counted(pronouns: int, mismatches: int) -> dict[str, dict[str, int]]:
    return {"compared": {"ref pronouns": pronouns}, "mismatches": {"pronoun": mismatches, "word": 50}}


MANIFEST = {
    "counts": {
        "testsets": {
            "generaltest2022.de-en": counted(100, 5),
            "generaltest2022.ja-en": counted(300, 27),
            "generaltest2022.cs-en": {"compared": {"outputs": 3}},
            "newstest2021.ja-en": counted(100, 90),
        }
    },
    "splits": {
        "train": {"testsets": ["newstest2021.ja-en"]},
        "development": {"testsets": ["generaltest2023.de-en"]},
        "test": {"testsets": ["newstest2021.ja-en"]},
    },
}
TABLE = ConfusionTable({"she": {"it": 3.0, "he": 1.0}, "they": {"it": 1.0}})


def test_rate_of_the_systems_of_2022() -> None:
    assert calibration.natural_rate(MANIFEST) == pytest.approx(32 / 400)
    with pytest.raises(InputError, match="--natural"):
        calibration.natural_rate(MANIFEST, "*2019*")


def test_held_out_test_sets() -> None:
    assert calibration.held_out(MANIFEST, "development") == ["generaltest2023.de-en"]
    with pytest.raises(InputError, match="in test and in train"):
        calibration.held_out(MANIFEST, "test")


def test_noise_is_marked_at_its_position() -> None:
    clean = [Sentence("She said they saw her.", ("She came.",), "doc")] * 2000
    made = calibration.add_noise(clean, TABLE, rate=0.1)
    assert sum(len(s.wrong) for s in made) == pytest.approx(0.1 * 2 * 2000, rel=0.2)  # nothing is drawn for her
    for sentence in made:
        assert sentence.context == ("She came.",)
        assert {sentence.text[a:b] for a, b in sentence.wrong} <= {"It", "He", "it"}
        if not sentence.wrong:
            assert sentence.text == "She said they saw her."
    forms = [s.text[a:b] for s in made for a, b in s.wrong if a == 0]
    assert forms.count("It") > 1.8 * forms.count("He")  # natural counts, 3 to 1


def told(wrong: float, right: float) -> scoring.Scorer:
    """A scorer that takes "it" for wrong with one probability and all else for right with another."""

    def score(records: Sequence[Record]) -> list[Result]:
        results = []
        for record in records:
            each = [
                {"start": o.start, "end": o.end, "probability": wrong if o.form == "it" else right}
                for o in find(record["text"])
            ]
            results.append(Result(score=each[0]["probability"] if each else None, pronouns=each))
        return results

    return score


# A hundred "it", ninety of which replace another form; three hundred correct pronouns.
TEXTS = [Noised("It left.", (), f"doc{i % 10}", ((0, 2),) if i % 10 else ()) for i in range(100)] + [
    Noised("She saw them.", (), f"doc{i % 10}", ()) for i in range(150)
]


def test_figures_by_hand() -> None:
    figures = calibration.measure(told(0.1, 1.0), TEXTS)
    assert (figures["pronouns"], figures["wrong"], figures["sentences"]) == (400, 90, 250)
    assert figures["ece"] == pytest.approx(0.0, abs=1e-9)
    assert figures["right"].value == pytest.approx(310 / 400)
    assert calibration.measure(told(0.3, 1.0), TEXTS)["ece"] == pytest.approx(100 / 400 * 0.2)
    assert figures["wrong_unscored"] == 0


def test_platt_mends_shifted_logits_on_the_other_half() -> None:
    figures = calibration.measure(told(0.5, 0.999), TEXTS)
    assert figures["ece"] == pytest.approx(0.1, abs=0.001)
    assert figures["ece_after_platt"] < 0.06


def test_a_replaced_pronoun_without_score_is_counted() -> None:
    texts = [*TEXTS, Noised("Nobody left.", (), "doc1", ((0, 6),))]
    assert calibration.measure(told(0.1, 1.0), texts)["wrong_unscored"] == 1


def test_heads_without_probability_are_refused() -> None:
    def unbounded(records: Sequence[Record]) -> list[Result]:
        return [Result(score=3.0, pronouns=[{"start": 0, "end": 2, "probability": None}]) for _ in records]

    with pytest.raises(InputError, match="head=logit"):
        calibration.measure(unbounded, TEXTS)
