from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

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


@pytest.fixture
def wmt(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "wmt" / "wmt23-news-systems" / "txt"
    people = ["She", "He", "They", "It"] * 30
    references = [f"{who} saw {i} of them." if i % 3 else "Nothing." for i, who in enumerate(people)]
    for part, name in (("references", "ref.refA"), ("system-outputs", "hyp.sys")):
        (folder / part).mkdir(parents=True)
        path = folder / part / f"generaltest2023.de-en.{name}.en"
        path.write_text("\n".join(references) + "\n", encoding="utf-8")
    return tmp_path


def test_sentences_with_their_context(wmt: Path) -> None:
    found = calibration.sentences(wmt / "data" / "wmt", ["generaltest2023.de-en"])
    assert found[0] == Sentence("He saw 1 of them.", ("Nothing.",), "generaltest2023.de-en/generaltest2023.de-en/0")
    assert found[1] == Sentence("They saw 2 of them.", ("Nothing.", "He saw 1 of them."), found[0].unit)
    assert all(len(s.context) <= 2 and s.text != "Nothing." for s in found)
    assert len({(s.text, s.context) for s in found}) == len(found)
    with pytest.raises(InputError, match="no reference with a pronoun"):
        calibration.sentences(wmt / "data" / "wmt", ["other.de-en"])


def test_study_form() -> None:
    (found,) = calibration.in_study_form([Sentence("It's hers, Ann!", ("They left.",), "doc")])
    assert (found.text, found.context) == ("it s hers ann !", ("they left .",))


@pytest.mark.parametrize("form", ["natural", "study"])
def test_script(
    form: str, wmt: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    rate_one_in_two = MANIFEST | {"counts": {"testsets": {"generaltest2022.x-en": counted(2, 1)}}}
    (tmp_path / "manifest.json").write_text(json.dumps(rate_one_in_two), encoding="utf-8")
    TABLE.save(tmp_path / "confusion.json")
    monkeypatch.setattr(scoring, "load", lambda options: scoring.Counting(told(0.1, 0.9), "fake"))
    flags = ["--model", tmp_path, "--data", tmp_path, "--shared", wmt, "--form", form, "--out", tmp_path / "c.json"]
    monkeypatch.setattr(sys, "argv", ["calibration", *map(str, flags)])
    calibration.main()
    assert "expected calibration error" in capsys.readouterr().out
    figures = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["figures"]
    assert (figures["rate"], figures["form"], figures["split"]) == (0.5, form, "development")
    assert figures["wrong"] > 0


def test_records_have_their_sources(wmt: Path) -> None:
    sources = wmt / "data" / "wmt" / "wmt23-news-systems" / "txt" / "sources"
    sources.mkdir()
    lines = [f"Satz {number}." for number in range(120)]
    (sources / "generaltest2023.de-en.src.de").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = calibration.sentences(wmt / "data" / "wmt", ["generaltest2023.de-en"])
    record = calibration.add_noise(found, TABLE, rate=0.5)[0].record
    assert record["source"] == "Satz 1." and record["source_context"] == ["Satz 0."]
