"""Shares of surplus pronouns: counted on what people deleted and replaced, and stored in a reader of sources."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.checkpoint import files, locate
from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.schema import JudgedPronoun, JudgedText, Pair
from pronmetric.text.context import Source, Text
from pronmetric.training.after import surplus_fit
from pronmetric.training.after.surplus_fit import PRIOR, Corrections

Make = Callable[..., Path]
TEXT = Text("", "He has seen his sister.", Source("Sie hat ihre Schwester gesehen."))


def judged(number: int, form: str, correction: str | None) -> JudgedText:
    text = f"{form} house {number} fell."
    pronoun = JudgedPronoun(0, len(form), form, ("editor",), correction)
    return JudgedText(
        str(number), "edits", "own", "et-en", str(number), "s", ("editor",), text, (), "S", (), (pronoun,)
    )


def people(*, deleted: int = 12) -> list[JudgedText]:
    """*my* deleted as often as `deleted` says, and replaced 4 times; *its* deleted 2 times and replaced 32 times."""
    kinds = [("my", "", deleted), ("my", "his", 4), ("its", "", 2), ("its", "her", 32), ("his", None, 9)]
    corrected = [(form, correction) for form, correction, number in kinds for _ in range(number)]
    return [judged(number, *each) for number, each in enumerate(corrected)]


@pytest.fixture
def prepared(make_prepared: Make, sample_pairs: list[Pair]) -> Make:
    def make(texts: list[JudgedText]) -> Path:
        return make_prepared(train=sample_pairs[:4], development=sample_pairs[4:6], people=texts)

    return make


def test_shares_of_forms_are_drawn_to_that_of_all(prepared: Make) -> None:
    fitted = surplus_fit.fit(prepared(people()), ENGLISH.forms)
    assert fitted.shares is not None and set(fitted.shares) == {"", "my", "its"}
    overall = 14 / 50
    assert fitted.shares[""] == overall
    assert fitted.shares["my"] == pytest.approx((12 + PRIOR * overall) / (16 + PRIOR))
    assert fitted.shares["its"] == pytest.approx((2 + PRIOR * overall) / (34 + PRIOR))
    assert fitted.figures == {}  # no development texts


def test_with_few_corrections_there_are_no_shares(prepared: Make) -> None:
    assert surplus_fit.fit(prepared(people(deleted=7)), ENGLISH.forms).shares is None
    assert surplus_fit.fit(prepared([]), ENGLISH.forms).shares is None
    assert surplus_fit.fit(prepared(people()), {"its"}).shares is None


def test_figures_of_other_texts() -> None:
    other = Corrections(Counter(my=3, us=1), Counter(my=1, its=5))
    figures = other.figures({"": 0.25, "my": 0.5, "its": 0.125})
    assert figures == {
        surplus_fit.EXPECTED: 4 * 0.5 + 0.25 + 5 * 0.125,
        surplus_fit.DELETED: 4.0,
        surplus_fit.CORRECTED: 10.0,
        surplus_fit.AREA: pytest.approx((3 * (0.5 + 5) + 1 * 5) / (4 * 6)),
    }


def test_a_checkpoint_is_told_what_is_surplus(
    with_gaps: Path, prepared: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    argv = ["checkpoint", "surplus", str(with_gaps), "--data", str(prepared(people())), "-o", str(out)]
    assert main(argv) == 0
    before, after = (files.load(folder / locate.READER) for folder in (with_gaps, out))
    assert (before.hash, before.settings) == (after.hash, after.settings)  # no score changes
    shares = after.config["source"]["surplus"]
    assert shares["my"] > shares[""] > shares["its"] and "surplus" not in before.config["source"]
    assert "## Surplus pronouns" in (out / locate.READER / locate.CARD).read_text(encoding="utf-8")
    plain, told = (PronounMetric.from_pretrained(folder, gpus=0) for folder in (with_gaps, out))
    (first,), (second,) = plain.stream([TEXT]), told.stream([TEXT])
    assert (second.score, second.errors, second.preference) == (first.score, first.errors, first.preference)
    assert first.surplus is None and second.surplus is not None and second.missing is not None
    wrong = [1 - p.score for p in second.pronouns]
    assert second.surplus == pytest.approx(sum(each * shares[""] for each in wrong))  # *he* and *his* have no own
    assert second.wrong == pytest.approx(sum(wrong) - second.surplus)
    (alone,) = told.stream([TEXT._replace(source=None)])
    assert alone.surplus is None and all(p.surplus is None for p in alone.pronouns)
    assert main(argv) == 1 and "exists" in capsys.readouterr().err


def test_what_cannot_be_told_is_refused(
    with_gaps: Path, prepared: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = prepared(people(deleted=7))
    argv = ["checkpoint", "surplus", str(with_gaps), "--data", str(few), "-o", str(tmp_path / "out")]
    assert main(argv) == 1
    assert "expected 10 or more pronouns that people deleted" in capsys.readouterr().err
    shutil.copytree(with_gaps, tmp_path / "bare", ignore=shutil.ignore_patterns(locate.READER))
    assert main([*argv[:2], str(tmp_path / "bare"), *argv[3:]]) == 1
    assert "expected a checkpoint with a reader of sources" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
