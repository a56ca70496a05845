"""Gaps in which post-editors put a pronoun, beside what a metric says of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pronmetric.cli.main import main
from pronmetric.lab.human import form_places, people, people_figures, people_gaps
from pronmetric.lab.human.people_figures import Said
from pronmetric.lab.human.people_gaps import TextGaps
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.report.text import table
from pronmetric.schema import JudgedGap, JudgedPronoun, JudgedText, Pair
from pronmetric.scoring.score import Gap, PronounScore, SegmentScore

TEXT = JudgedText(
    id="1",
    kind="edits",
    testset="t",
    lp="et-en",
    doc="d",
    system="s",
    raters=("editor",),
    text="Came home late.",
    context=(),
    source="Ta tuli.",
    source_context=(),
    pronouns=(),
    gaps=(JudgedGap(0, "she", ("editor",)),),
    unjudged=((10, 14),),
    mended="",
)
WHOLE = replace(TEXT, id="2", gaps=(), lp="ru-en", doc="e")
STARTS = (0, 5, 10, 14)  # of "Came", "home", "late" and "."


def said(*probabilities: float, form: str = "she") -> SegmentScore:
    """A text whose gaps have these probabilities."""
    gaps = tuple(Gap(start, form, p) for start, p in zip(STARTS, probabilities, strict=True))
    return SegmentScore(None, (), missing=sum(probabilities), gaps=gaps)


def gaps(texts: list[JudgedText], scores: list[SegmentScore]) -> list[TextGaps]:
    found: list[TextGaps] = []
    assert list(people_gaps.keep(texts, scores, ENGLISH, found)) == scores
    return found


def test_gaps_have_labels_but_in_rewritten_phrases() -> None:
    (found,) = gaps([TEXT], [said(0.9, 0.3, 0.8, 0.1)])
    # before "late", which was rewritten, nothing is known
    assert found.forms == ("she", "", "") and [word.text for word in found.words] == ["Came", "home", "."]
    assert found.doubt.tolist() == [0.9, 0.3, 0.1] and found.likeliest == ("she", "she", "she")


def test_mended_copies_marks_and_texts_without_a_source_have_none() -> None:
    mended = replace(TEXT, mended="She came home late.")
    others = [replace(TEXT, kind="marks"), replace(TEXT, source=" ")]
    scores = [said(0.9, 0.3, 0.8, 0.1), said(0.0, 0.0, 0.0, 0.0), said(0.5, 0.5, 0.5, 0.5), SegmentScore(None, ())]
    (found,) = gaps([mended, *others], scores)
    assert found.text is mended and found.doubt[0] == 0.9


def test_figures_are_of_gaps_and_of_texts() -> None:
    scores = [said(0.9, 0.3, 0.5, 0.1), said(0.05, 0.3, 0.5, 0.1, form="he"), said(0.02, 0.02, 0.5, 0.02)]
    found = people_gaps.measure(gaps([TEXT, replace(TEXT, doc="f"), WHOLE], scores), {}, seed=0, draws=20)
    assert list(found) == ["all", "t:et-en", "t:ru-en", people_gaps.ALIKE]
    every = found["all"]
    assert (every.texts, every.lacking, every.documents, every.gaps, every.insertions) == (3, 2, 3, 9, 2)
    # 0.05 is below four of the seven gaps without a pronoun, 0.9 above all
    assert every.area is not None and every.area.value == pytest.approx((7 + 3) / 14)
    assert every.average_precision is not None and every.average_precision.value == pytest.approx((1 + 2 / 6) / 2)
    assert every.text_area is not None and every.text_area.value == 1.0
    assert every.likeliest == 0.5
    assert found["t:ru-en"].area is None and found["t:ru-en"].likeliest is None
    alike = found[people_gaps.ALIKE]
    assert alike.area is not None and alike.area.value == 0.5 and alike.likeliest is None
    assert alike.text_area is not None and alike.text_area.value == 0.5  # all have three gaps
    shown = table(*people_gaps.cells(found)).splitlines()
    assert shown[0].startswith("missing pronouns") and shown[3].startswith("t:ru-en")


def test_a_gap_that_the_metric_does_not_tell_is_the_least_likely() -> None:
    (one,) = gaps([TEXT], [said(0.9, 0.3, 0.8, 0.1)])
    found = people_gaps.measure([one._replace(doubt=np.array([np.nan, 0.0, 0.1]))], {}, seed=0, draws=0)
    area = found["all"].area
    assert area is not None and area.value == 0.0


def test_the_word_after_a_gap_is_a_baseline() -> None:
    rates = people_gaps.word_rates([TEXT, TEXT, WHOLE], ENGLISH)
    mean = 2 / 9
    assert rates[""] == pytest.approx(mean) and rates["came"] == pytest.approx((2 + 5 * mean) / 8)
    assert rates["home"] == pytest.approx(5 * mean / 8)
    assert people_gaps.word_rates([WHOLE], ENGLISH) == {}
    other = replace(TEXT, text="Slept and came.", gaps=(JudgedGap(10, "he", ("editor",)),), unjudged=())
    silent = gaps([other], [SegmentScore(None, ())])
    area = people_gaps.measure(silent, {"word": people_gaps.by_word(silent, rates)}, seed=0, draws=0)["word"].area
    assert area is not None and area.value == 1.0


def test_forms_are_written_as_they_would_stand_before_a_word() -> None:
    one = replace(TEXT, context=("It rained.",), text="So came (home) late.", gaps=(), unjudged=())
    found = gaps([one], [SegmentScore(None, ())])
    places = list(form_places.gaps(found, "common", ENGLISH))
    assert [(before, forms[0]) for before, forms in places][:4] == [
        ("It rained.", " So"),
        ("It rained. So", " came"),
        ("It rained. So came", " ("),
        ("It rained. So came (", "home"),
    ]
    assert {" She", " I", " Them"} < set(places[0][1]) and {" she", " I"} < set(places[1][1]) and "she" in places[3][1]
    ((before, (word, *forms)), *_) = form_places.gaps(found, "none", ENGLISH)
    assert (before, word) == ("", "So") and "She" in forms


def test_why_there_are_no_figures_is_said() -> None:
    told, silent = said(0.9, 0.3, 0.8, 0.1), SegmentScore(None, ())
    assert people_gaps.reason(gaps([TEXT], [told])) is None
    assert people_gaps.reason(gaps([WHOLE], [told])) == people_gaps.NO_INSERTION == people_gaps.reason([])
    assert people_gaps.reason(gaps([TEXT], [silent])) == people_gaps.NOT_TOLD


def scored(missing: float, she: float) -> SegmentScore:
    return SegmentScore(she, (PronounScore("her", 9, 12, she, she),), 0.0, missing=missing)


def test_a_text_that_lacks_a_pronoun_is_compared_with_its_mended_copy() -> None:
    pronoun = JudgedPronoun(9, 12, "her", ("editor",), "him")
    lacks = replace(TEXT, text="Came and her.", pronouns=(pronoun,), unjudged=(), mended="She came and him.")
    wrong = replace(lacks, gaps=(), mended="Came and him.")
    given = [scored(0.8, 0.4), scored(0.1, 0.3), scored(0.2, 0.4), scored(0.2, 0.9)]
    items, pairs = people.items([lacks, wrong], given)
    found = people_figures.measure(Said([lacks, wrong], items, pairs, None, {}, {"other": [(0, 1), (1, 0)]}), seed=1)
    assert found.missing == {} and found.no_missing == people_gaps.NO_INSERTION  # no gaps were kept
    own = found.missing_pairs
    assert own is not None and own.pairs == 1
    right = {by: each.value for by, each in own.accuracy.items()}
    assert right == {"score": 0, "errors": 1, "preference": 0, people_figures.MISSING: 1, "other": 0}
    printed = people_figures.format_measured(found)
    assert f"missing pronouns: no figures; {people_gaps.NO_INSERTION}" in printed
    assert "mended against a text that lacks a pronoun" in printed


@pytest.mark.parametrize("reads", [True, False])
def test_evaluate_measures_missing_pronouns(
    reads: bool,
    with_gaps: Path,
    make_prepared: Callable[..., Path],
    sample_pairs: list[Pair],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pronoun = JudgedPronoun(9, 12, "her", (), None)
    judged = [
        replace(
            TEXT, doc=str(number), text="Came and her.", pronouns=(pronoun,), unjudged=(), mended="She came and her."
        )
        for number in range(3)
    ]
    folder = make_prepared(train=sample_pairs[:4], development=[], people=judged)
    argv = ["evaluate", str(folder), "--split", "people_train", "--model", str(with_gaps), "--gpus", "0"]
    argv += ["--precision", "32", "--to_json", str(tmp_path / "out.json"), "--to_html", str(tmp_path / "out.html")]
    assert main([*argv, *([] if reads else ["--no_source"])]) == 0
    printed = capsys.readouterr().out
    content = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert content["missing_pairs"]["pairs"] == 3
    assert ("missing pronouns: no figures" in page) is not reads
    if reads:
        found = content["missing"]["all"]
        assert (found["insertions"], found["gaps"], found["texts"], found["lacking"]) == (3, 12, 3, 3)
        assert content["no_missing"] is None and people_gaps.BY_WORD in content["missing"]
        assert "\nmissing pronouns " in printed and "<h2>Missing pronouns</h2>" in page
        assert "missing pronouns" in content["missing_pairs"]["accuracy"]
    else:
        assert content["missing"] == {} and f"missing pronouns: no figures; {people_gaps.NOT_TOLD}" in printed
        assert "missing pronouns" not in content["missing_pairs"]["accuracy"]
