"""Figures on what people marked: of hand-made scores of judged texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.lab.human import people
from pronmetric.schema import JudgedPronoun, JudgedText
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
    source = Source("\u5979", ("\u5b89",))
    assert people.to_score([one], "common") == [Text("Ann came.", t, source) for t in ("She saw it.", "He saw it.")]
    assert people.to_score([one], "none")[0] == Text("", "She saw it.", Source("\u5979"))


def test_doubts_stand_beside_marks() -> None:
    texts = [text(1, 2, 0, mended="He saw it.", correction="he"), text(2, 0, 1)]
    found, pairs = people.items(texts, [scored(0.2, 0.9, 1.0), scored(0.8, 0.9, 2.0), scored(0.7, 0.4)])
    assert found.doubt.tolist() == pytest.approx([0.8, 0.1, 0.3, 0.6]) and found.marks.tolist() == [2, 0, 0, 1]
    assert found.kinds == ("replaced", "marked", "marked", "marked") and found.forms == ("she", "it") * 2
    figures = people.figures(found, seed=1, draws=0)
    assert (figures.pronouns, figures.marked, figures.documents) == (4, 2, 2)
    assert figures.area is not None and figures.area.value == 1.0
    assert figures.two_area is not None and figures.two_area.value == 1.0
    assert figures.rater is not None and figures.rater.share == pytest.approx((1 + 0.5 * 0.5) / 1.5)
    assert figures.raters is not None and figures.raters.share == pytest.approx(1 / 1.5)
    pair = people.pair_figures(pairs)
    assert {by: each.value for by, each in pair.accuracy.items()} == {"score": 1.0, "errors": 1.0, "preference": 1.0}
    assert pair.by_count["score"] == {"as many": (1, 1.0)} and (pair.fewer, pair.more) == (0.0, 0.0)


def test_a_pronoun_that_the_metric_does_not_find_is_the_least_doubtful() -> None:
    (found, _) = people.items([text(1, 1, 0)], [SegmentScore(0.9, (PronounScore("it", 8, 10, 0.9, 0.9),))])
    figures = people.figures(found, seed=1)
    assert figures.area is not None and figures.area.value == 0.0


def test_parts_are_all_pronouns_the_sets_and_the_kinds_of_edits() -> None:
    found, _ = people.items([text(1, 1, 0, correction="he"), text(2, 0, 0)], [scored(0.5, 0.5)] * 2)
    parts = people.parts(found)
    assert list(parts) == ["all", "set:zh-en", "set:zh-en, replaced"]
    assert len(parts["set:zh-en, replaced"].forms) == 4
    assert list(people.forms(found, least=1)) == ["she"] and people.forms(found) == {}


def test_the_rate_of_a_form_is_a_baseline() -> None:
    texts = [text(k, 2, 0) for k in range(10)]
    rates = people.form_rates(texts)
    assert rates["she"] == pytest.approx((10 + 5 * 0.5) / 15) and rates["it"] == pytest.approx(2.5 / 15)
    found, _ = people.items(texts, [scored(0.9, 0.1)] * 10)
    area = people.figures(people.by_form(found, rates), seed=1, draws=10).area
    assert area is not None and area.value == 1.0


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
    assert main(call) == 0
    printed = capsys.readouterr().out
    assert "edits:et-en, replaced" in printed and "edits:et-en, deleted" in printed and "mended has fewer" in printed
    content = json.loads(out.read_text(encoding="utf-8"))
    assert content["pronouns"]["all"]["pronouns"] == 9 and content["pronouns"]["all"]["marked"] == 6
    assert content["pairs"]["pairs"] == 6 and content["pairs"]["fewer"] == 0.5
    assert main([*call[:4], "--tie", "0.1", "--scores", "x"]) == 1
    assert "people_test holds people's marks: leave out --scores and --tie" in capsys.readouterr().err
    assert main(["evaluate", str(data), "--split", "people_development", "--model", str(tiny_checkpoint())]) == 1
    assert "people_development has no text: prepare with data.people" in capsys.readouterr().err
