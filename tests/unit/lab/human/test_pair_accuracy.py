from __future__ import annotations

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval.accuracy import Confusion
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.human.pair_accuracy import (
    SEEN,
    UNSEEN,
    Labels,
    clusters_of,
    compare_metrics,
    evaluate,
    human_answer,
    pronouns_of,
)
from pronmetric.pronouns.languages import language


def pair(id: str, **values: object) -> JudgedPair:
    given = {"context": (), "text_a": "She left.", "text_b": "He left."} | values
    return JudgedPair(id, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("better", "votes", "expected"),
    [
        ("A", {}, "A"),
        ("tie", {"x": "A"}, "tie"),
        ("B", {"x": "A", "y": "A"}, "B"),  # what is given counts
        (None, {"x": "A"}, "A"),
        (None, {"x": "A", "y": "A", "z": "B"}, "A"),
        (None, {"x": "tie", "y": "tie", "z": "B"}, "tie"),
        (None, {"x": "A", "y": "B"}, None),
        (None, {"x": "A", "y": "A", "z": "B", "w": "tie"}, None),  # half is no majority
        (None, {}, None),
    ],
)
def test_answer(better: str | None, votes: dict[str, str], expected: str | None) -> None:
    assert human_answer(pair("1", better=better, votes=votes)) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("Then she left.", "Then it left.", ("she", "it")),
        ("Her son left.", "Their son left.", ("her", "their")),
        ("She left him.", "He left her.", None),
        ("She left.", "She may leave.", None),
        ("She left.", "She wept.", None),
        ("She left.", "Anna left.", None),
        ("She left.", "she left.", None),
    ],
)
def test_pronouns_are_found_where_one_word_differs(a: str, b: str, expected: tuple[str, str] | None) -> None:
    assert pronouns_of(pair("1", text_a=a, text_b=b)) == expected


def test_pronouns_of_another_language_are_found_by_its_table() -> None:
    pair = JudgedPair("1", (), "Er schläft.", "Sie schläft.", better="A")
    assert pronouns_of(pair) is None and pronouns_of(pair, language("de")) == ("er", "sie")
    figures = evaluate([pair], [(1.0, 0.0)], language=language("de"))
    assert set(figures.by_kind) == {"gender"} and set(figures.by_pronouns) == {"er -> sie"}


def test_named_pronouns_count() -> None:
    assert pronouns_of(pair("1", text_a="a b", text_b="c d e", pronoun_a="She", pronoun_b="HE")) == ("she", "he")


def test_what_is_resampled() -> None:
    with_doc = [pair("1", doc="d", group="g"), pair("2", doc="e", group="g")]
    assert clusters_of(with_doc) == ("doc", ["d", "e"])
    assert clusters_of([*with_doc, pair("3", group="h")]) == ("pair", ["1", "2", "3"])
    assert clusters_of([*with_doc, pair("3")]) == ("pair", ["1", "2", "3"])


def test_accuracy_turns_pairs_whose_b_is_better() -> None:
    pairs = [
        pair("1", better="A", doc="d"),  # she -> he, right
        pair("2", better="B", doc="d"),  # he -> she, right
        pair("3", better="B", doc="e"),  # he -> she, wrong
        pair("4", votes={"x": "A"}, doc="e"),  # equal
        pair("5", better="A", doc="f", text_b="It left."),  # she -> it, null
        pair("6", better="tie", doc="f"),
        pair("7", votes={"x": "A", "y": "B"}, doc="f"),
        pair("8", better="A", doc="g", votes={"x": "B", "y": "B"}, text_b="Bo left."),  # right, no pronoun pair
    ]
    scores = [(0.9, 0.1), (0.1, 0.9), (0.9, 0.1), (0.5, 0.5), (0.5, None), (0.1, 0.2), (0.1, 0.2), (0.8, 0.3)]
    found = evaluate(pairs, scores, seen={("she", "he")})
    assert found.labels == Labels(pairs=8, better=5, votes=1, ties=1, open=1, against_votes=1, judges={})
    whole = found.accuracy
    assert (whole.pairs, whole.right, whole.equal, whole.null) == (6, 3, 1, 1)
    assert whole.accuracy == 0.5 and whole.low is not None and whole.high is not None
    assert found.clusters == ("doc", 4)
    assert {name: (part.right, part.pairs) for name, part in found.by_pronouns.items()} == {
        "he -> she": (1, 2),
        "she -> he": (1, 2),
        "she -> it": (0, 1),
    }
    assert found.by_seen is not None
    assert {name: part.pairs for name, part in found.by_seen.items()} == {SEEN: 2, UNSEEN: 3}
    assert {name: (part.right, part.pairs) for name, part in found.by_kind.items()} == {
        "gender": (2, 4),
        "animacy": (0, 1),
    }
    assert found.confusions == [
        Confusion("he", "she", 2, 1),
        Confusion("she", "he", 2, 1),
        Confusion("she", "it", 1, 1),
    ]
    assert found.by_group == {} and found.ties is None


def test_the_judges_are_named() -> None:
    pairs = [pair("1", better="A", judge="Ann"), pair("2", better="B", judge="Ann"), pair("3", better="A")]
    assert evaluate(pairs, [(1.0, 0.0)] * 3).labels.judges == {"Ann": 2}


def test_without_known_training_there_is_no_split_by_it() -> None:
    assert evaluate([pair("1", better="A")], [(1.0, 0.0)]).by_seen is None


def test_pairs_are_the_units_where_documents_are_unknown() -> None:
    grouped = [pair("1", better="A", group="x", doc="1"), pair("2", better="A", group="y", doc="2")]
    scores = [(1.0, 0.0), (0.0, 1.0)]
    assert {k: v.right for k, v in evaluate(grouped, scores).by_group.items()} == {"x": 1, "y": 0}
    without = [pair("1", better="A", group="x"), pair("2", better="A", group="y")]
    found = evaluate(without, scores)
    assert set(found.by_group) == {"x", "y"} and found.clusters == ("pair", 2)  # a group is no sample of anything


def test_ties() -> None:
    pairs = [pair("1", better="A"), pair("2", better="tie"), pair("3", better="B"), pair("4", better="tie")]
    scores = [(0.9, 0.1), (0.50, 0.52), (0.2, 0.7), (0.3, 0.6)]
    found = evaluate(pairs, scores, tie_threshold=0.05)
    assert found.people_ties == 0.5
    assert found.matching_threshold == pytest.approx(0.4)  # differences 0.02, 0.3, 0.5, 0.8
    assert found.ties is not None and found.ties.accuracy.value == 0.75
    assert found.accuracy.accuracy == 1.0 and found.accuracy.pairs == 2


def test_nothing_to_judge() -> None:
    with pytest.raises(PronmetricError, match="none of 1 pairs has a better text"):
        evaluate([pair("1", better="tie")], [(1.0, 0.0)])
    with pytest.raises(PronmetricError, match="got 0 for 1 pairs"):
        evaluate([pair("1", better="A")], [])


def test_contest() -> None:
    pairs = [pair(str(i), better="A" if i % 2 else "B", doc=str(i // 4)) for i in range(80)]
    good = [(0.9, 0.1) if i % 2 else (0.1, 0.9) for i in range(80)]
    bad = [(0.5, 0.5) if i < 40 else score for i, score in enumerate(good)]
    found = compare_metrics(pairs, good, bad)
    assert (found.first.accuracy, found.second.accuracy) == (1.0, 0.5)
    assert (found.only_first, found.only_second) == (40, 0)
    assert found.difference.value == 0.5 and found.difference.low is not None and found.difference.low > 0.2
    assert found.p_t is not None and found.p_t < 0.01
    assert found.p_randomisation is not None and found.p_randomisation < 0.01
    turned = compare_metrics(pairs, bad, good)
    assert turned.difference.value == -0.5 and turned.only_second == 40
    assert turned.p_t == pytest.approx(found.p_t)


def test_a_metric_against_itself() -> None:
    pairs = [pair(str(i), better="A") for i in range(10)]
    scores = [(float(i % 3), 1.0) for i in range(10)]
    found = compare_metrics(pairs, scores, scores)
    assert found.difference.value == 0.0 and found.p_t == 1.0 and found.p_randomisation == 1.0


@pytest.mark.parametrize("wrong", range(0, 16, 2))
def test_the_interval_of_a_contest_excludes_zero_exactly_where_p_is_below_5_percent(wrong: int) -> None:
    pairs = [pair(str(i), better="A", doc=str(i // 2)) for i in range(24)]
    good = [(0.9, 0.1)] * 24
    found = compare_metrics(pairs, good, [(0.1, 0.9) if i < wrong else (0.9, 0.1) for i in range(24)])
    assert found.difference.value == pytest.approx(wrong / 24)
    if not wrong:
        assert (found.difference.low, found.p_t) == (None, 1.0)
        return
    assert found.difference.low is not None and found.difference.high is not None and found.p_t is not None
    assert (found.difference.low > 0 or found.difference.high < 0) == (found.p_t < 0.05)


def test_contest_of_one_document_has_no_test() -> None:
    found = compare_metrics([pair("1", better="A", doc="d")], [(1.0, 0.0)], [(0.0, 1.0)])
    assert found.p_randomisation is found.p_t is None and found.difference.low is None
