"""Figures on what people marked: of hand-made scores of judged texts."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pronmetric.cli.main import main
from pronmetric.errors import PronmetricError
from pronmetric.lab.human import form_places, people, people_figures, source_counterparts
from pronmetric.lab.human.people_figures import PeopleScores
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.schema import JudgedPronoun, JudgedText
from pronmetric.scoring import judged
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.context import Source, Text


def text(number: int, *marked: int, raters: int = 2, mended: str = "", correction: str | None = None) -> JudgedText:
    """A text with so many marks of each of its two pronouns, in a document of its own."""
    pronouns = tuple(
        JudgedPronoun(start, end, form, tuple(f"r{k}" for k in range(marks)), correction if marks else None)
        for (start, end, form), marks in zip(((0, 3, "she"), (8, 10, "it")), marked, strict=True)
    )
    names = tuple(f"r{k}" for k in range(raters))
    place = (str(number), "marks", "set", "zh-en", f"d{number}", "s", names)
    return JudgedText(*place, "She saw it.", ("Ann came.",), "\u5979", ("\u5b89",), pronouns, mended=mended)


def scored(she: float, it: float, preference: float = 0.0) -> SegmentScore:
    pronouns = tuple(PronounScore(*each, p, p) for each, p in ((("She", 0, 3), she), (("it", 8, 10), it)))
    return SegmentScore((she + it) / 2, pronouns, preference)


def test_each_text_and_its_mended_copy_are_scored_with_their_source() -> None:
    one = text(1, 0, 0, mended="He saw it.")
    source = Source("\u5979", ("\u5b89",), "zh")
    assert judged.to_score([one], "common") == [Text("Ann came.", t, source) for t in ("She saw it.", "He saw it.")]
    assert judged.to_score([one], "none")[0] == Text("", "She saw it.", Source("\u5979", (), "zh"))


def test_sources_of_a_set_are_those_of_its_first_system() -> None:
    texts = [text(1, 0, 0), replace(text(1, 0, 0), system="t"), text(2, 0, 0), replace(text(3, 0, 0), lp="ru-en")]
    assert people.sources(texts) == {
        "set:zh-en": [("\u5979", "She saw it.")] * 2,
        "set:ru-en": [("\u5979", "She saw it.")],
    }


def test_doubts_stand_beside_marks() -> None:
    texts = [text(1, 2, 0, mended="He saw it.", correction="he"), text(2, 0, 1)]
    found, pairs = people.items(texts, [scored(0.2, 0.9, 1.0), scored(0.8, 0.9, 2.0), scored(0.7, 0.4)])
    assert found.doubt.tolist() == pytest.approx([0.8, 0.1, 0.3, 0.6]) and found.marks.tolist() == [2, 0, 0, 1]
    assert found.kinds == ("replaced", "marked", "marked", "marked") and found.forms == ("she", "it") * 2
    figures = people_figures.figures(found, seed=1, draws=0)
    assert (figures.pronouns, figures.marked, figures.documents) == (4, 2, 2)
    assert figures.expected == pytest.approx((0.8 + 0.1 + 0.3 + 0.6) / 4)
    assert figures.area is not None and figures.area.value == 1.0
    assert figures.two_area is not None and figures.two_area.value == 1.0
    assert figures.rater is not None and figures.rater.share == pytest.approx((1 + 0.5 * 0.5) / 1.5)
    assert figures.raters is not None and figures.raters.share == pytest.approx(1 / 1.5)
    pair = people_figures.pair_figures(pairs, {})
    assert {by: each.value for by, each in pair.accuracy.items()} == {"score": 1.0, "errors": 1.0, "preference": 1.0}
    assert pair.by_count["score"] == {"as many": (1, 1.0)} and (pair.fewer, pair.more) == (0.0, 0.0)


def test_a_pronoun_that_the_metric_does_not_find_is_the_least_doubtful() -> None:
    (found, _) = people.items([text(1, 1, 0)], [SegmentScore(0.9, (PronounScore("it", 8, 10, 0.9, 0.9),))])
    figures = people_figures.figures(found, seed=1)
    assert figures.area is not None and figures.area.value == 0.0
    assert figures.expected == pytest.approx(0.1 / 2)  # and no error is expected of it


def test_parts_are_all_pronouns_the_sets_and_the_kinds_of_edits() -> None:
    found, _ = people.items([text(1, 1, 0, correction="he"), text(2, 0, 0)], [scored(0.5, 0.5)] * 2)
    parts = people.parts(found)
    assert list(parts) == ["all", "set:zh-en", "set:zh-en, replaced"]
    assert len(parts["set:zh-en, replaced"].forms) == 4
    assert list(people.forms(found, least=1)) == ["she"] and people.forms(found) == {}


def test_what_the_source_adds_by_set_and_language() -> None:
    texts = [text(k, 2 * (k % 2), 0) for k in range(12)]
    texts += [replace(one, testset="other") for one in texts]
    texts += [replace(one, lp="ru-en") for one in texts[:12]]
    good, bad = scored(0.1, 0.9), scored(0.9, 0.1)
    right = [good if k % 2 else scored(0.8, 0.9) for k in range(12)]
    without, _ = people.items(texts, [*right, *[bad] * 12, *right])
    with_source, _ = people.items(texts, [*right, *right, *[bad] * 12])
    found = people_figures.source_figures(without, with_source, seed=1, draws=50)
    assert list(found) == ["all", "other:zh-en", "set:ru-en", "set:zh-en", "sources in zh"]
    same, better, worse = (found[name] for name in ("set:zh-en", "other:zh-en", "set:ru-en"))
    assert same.area == (1.0, 1.0) and same.area_gain is not None and same.area_gain.value == 0
    assert better.area[1] == 1.0 and better.area_gain is not None and better.area_gain.low is not None
    assert better.area_gain.value == pytest.approx(1.0 - better.area[0]) and better.area_gain.low > 0
    assert worse.precision_gain is not None and worse.precision_gain.value < 0
    assert (same.pronouns, same.marked, same.documents) == (24, 6, 12)
    shown = people_figures.format_source(found).splitlines()
    assert shown[0].startswith("what the source adds") and shown[-1].startswith("sources in zh")


def test_the_rate_of_a_form_is_a_baseline() -> None:
    texts = [text(k, 2, 0) for k in range(10)]
    rates = people.form_rates(texts)
    assert rates["she"] == pytest.approx((10 + 5 * 0.5) / 15) and rates["it"] == pytest.approx(2.5 / 15)
    found, _ = people.items(texts, [scored(0.9, 0.1)] * 10)
    area = people_figures.figures(people.by_form(found, rates), seed=1, draws=10).area
    assert area is not None and area.value == 1.0


def test_the_rate_of_a_form_elsewhere_is_that_of_the_other_documents() -> None:
    texts = [text(1, 2, 0), text(1, 2, 0), text(2, 0, 0), text(3, 0, 1)]
    found, _ = people.items(texts, [scored(0.5, 0.5)] * 4)
    doubt = people.by_form_elsewhere(found).doubt
    for number, document in enumerate(("d1", "d1", "d2", "d3")):
        rates = people.form_rates(one for one in texts if one.doc != document)
        assert doubt[2 * number : 2 * number + 2].tolist() == pytest.approx([rates["she"], rates["it"]])


def test_a_human_translation_of_the_segment_is_a_baseline() -> None:
    pytest.importorskip("sacrebleu")
    human = replace(text(1, 0, 0), system="hyp.Human-A.0", doc="d1", text="She saw it then.")
    texts = [human, text(1, 0, 0), replace(text(1, 0, 0), text="He went to sea."), text(2, 0, 0)]
    found, _ = people.items(texts, [scored(0.5, 0.5)] * 4)
    doubt = people.by_translation(found, texts).doubt
    assert np.isnan(doubt[[0, 1, 6, 7]]).all()  # the translation itself, and a segment without one
    assert 0 < doubt[2] == doubt[3] < doubt[4] == doubt[5] < 1


def test_a_pronoun_without_a_counterpart_in_the_source_is_told_from_others() -> None:
    texts = [
        replace(text(1, 0, 0), source=source) for source in ("\u5979\u770b\u4e86\u5b83\u3002", "\u770b\u4e86\u3002", "")
    ]
    other = replace(texts[0], lp="et-en")
    found = source_counterparts.of([*texts, other])
    with_one, without = source_counterparts.NAMES
    assert found[:2] == [with_one, with_one] and found[2] == without and found[4:] == [""] * 4


def test_each_set_of_several_raters_is_a_panel_with_their_points() -> None:
    texts = [text(1, 2, 0), text(2, 1, 0), text(3, 2, 1), replace(text(4, 1, 0, raters=1), testset="other")]
    found, pairs = people.items(texts, [scored(0.2, 0.9), scored(0.9, 0.8), scored(0.3, 0.7), scored(0.1, 0.1)])
    panels = people_figures.panels(PeopleScores(texts, found, pairs, (found, pairs), {"form": found}))
    assert list(panels) == ["set:zh-en"] and list(panels["set:zh-en"].lines) == [
        "pronmetric",
        "pronmetric, without the source",
        "form",
    ]
    # r0 marked four pronouns, two of which r1 marked too, who marked no other
    assert panels["set:zh-en"].points == {"r0": (1.0, 0.5), "r1": (0.5, 1.0)}
    recall, precision = panels["set:zh-en"].lines["pronmetric"]
    assert recall[0] == pytest.approx(1 / 3) and precision[0] == 1.0 and recall[-1] == pytest.approx(1.0)
    alone = people_figures.panels(PeopleScores(texts[3:], found.select([False] * 6 + [True] * 2), []))
    assert list(alone) == ["all"] and not alone["all"].points


def test_baselines_stand_in_the_same_tables() -> None:
    texts = [text(k, 1, 0, mended="He saw it.", correction="he") for k in range(4)]
    found, pairs = people.items(texts, [scored(0.9, 0.1, 2.0), scored(0.8, 0.4, 1.0)] * 4)
    said = PeopleScores(texts, found, pairs, (found, pairs), {"form": found}, {"language model, sum": [(1.0, 0.0)] * 4})
    measured = people_figures.measure(said, seed=1)
    assert list(measured.pronouns)[-1] == "form" and "all, without the source" in measured.pronouns
    assert measured.pairs is not None
    assert list(measured.pairs.accuracy)[-2:] == ["preference, without the source", "language model, sum"]
    printed = people_figures.format_measured(measured)
    assert printed.count("\n\n") == 3 and "mended against not" in printed and "what the source adds" in printed


def test_no_judged_pronoun_is_refused() -> None:
    with pytest.raises(PronmetricError, match="no text has a pronoun that people judged"):
        people.items([], [])


def test_forms_are_written_as_they_would_stand() -> None:
    one = replace(text(1, 0, 0), text="She saw it.", context=("Ann came.",))
    (before, she), (middle, it) = form_places.places([one], "common", ENGLISH)
    assert (before, she[0], middle, it[0]) == ("Ann came.", " She", "Ann came. She saw", " it")
    assert " He" in she and " I" in it and " him" in it and len(set(she)) == len(she) == len(ENGLISH.forms)
    (alone, first), _ = form_places.places([one], "none", ENGLISH)
    assert (alone, first[0]) == ("", "She")


def test_evaluate_measures_a_people_split(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in ("train", "test"):
        (tmp_path / "edits" / "et-en").mkdir(parents=True, exist_ok=True)
        rows = {
            "src": ["Ta tuli .", "Ta l\u00e4ks ."] * 3,
            "mt": [f"He came {part} {k} ." if k % 2 else f"She left it {part} {k} ." for k in range(6)],
            "pe": [f"She came {part} {k} ." if k % 2 else f"She left {part} {k} ." for k in range(6)],
        }
        for suffix, lines in rows.items():
            (tmp_path / "edits" / "et-en" / f"{part}.{suffix}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    data = tmp_path / "data"
    given = ["data.wmt=[]", f"data.people={tmp_path / 'edits'}", "fidelity.passages=0", f"out={data}"]
    assert main(["prepare", *given]) == 0
    capsys.readouterr()
    out = tmp_path / "out.json"
    call = ["evaluate", str(data), "--split", "people_test", "--model", str(tiny_checkpoint()), "--to-json", str(out)]
    plot = tmp_path / "curve.svg"
    page = tmp_path / "people.html"
    assert main([*call, "--plot", str(plot), "--to_html", str(page)]) == 0
    assert "precision, %" in plot.read_text(encoding="utf-8")
    made = page.read_text(encoding="utf-8")
    (image,) = re.findall('<img alt="precision against recall[^"]*" src="data:image/svg.xml;base64,([^"]*)">', made)
    assert b64decode(image) == plot.read_bytes() and "img-src data:" in made
    assert "<h2>Pronouns</h2>" in made and "Mended texts against the texts" in made and "people_test" in made
    printed = capsys.readouterr().out
    assert "edits:et-en, replaced" in printed and "edits:et-en, deleted" in printed and "mended has fewer" in printed
    content = json.loads(out.read_text(encoding="utf-8"))
    assert content["pronouns"]["all"]["pronouns"] == 9 and content["pronouns"]["all"]["marked"] == 6
    assert content["pairs"]["pairs"] == 6 and content["pairs"]["fewer"] == 0.5
    assert main([*call[:4], "--tie", "0.1", "--scores", "x"]) == 1
    assert "people_test holds people's marks: leave out --scores and --tie" in capsys.readouterr().err
    assert main(["evaluate", str(data), "--split", "people_development", "--model", str(tiny_checkpoint())]) == 1
    assert "people_development has no text: prepare with data.people" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", str(data), "--plot", str(plot)])
    assert (
        "--plot, --to_html and --also_no_source go with --split people_development or people_test"
        in capsys.readouterr().err
    )
