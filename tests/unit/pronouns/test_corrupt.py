"""The confusion table, one replacement, and seeded corruption."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pronmetric.errors import InputError
from pronmetric.pronouns.corrupt import ConfusionTable, Corrupted, CorruptionRates, corrupt, replace
from pronmetric.pronouns.finder import FORMS, find
from pronmetric.pronouns.slots import grades
from pronmetric.text.words import words

TABLE = ConfusionTable.from_counts(
    {
        "he": {"it": 8, "she": 4, "him": 1},
        "she": {"it": 2, "he": 2},
        "it": {"he": 3, "this": 3},
        "his": {"its": 2, "her": 1},
    }
)
EVERY = ConfusionTable.from_counts({form: dict.fromkeys(set(FORMS) - {form}, 1) for form in FORMS})
TEXT = "Anna said she knew him. He gave her his keys, and they thanked them. I saw it myself."


RATES = CorruptionRates(rate=0.5, power=0.6, same_slot_share=1.0, joint=0.0, must_agree=0.0, emphasis={})


def corrupted(
    seed: int, text: str = TEXT, *, table: ConfusionTable = TABLE, frequency: Any = None, **changes: Any
) -> Corrupted:
    rates = replace_fields(RATES, **changes)
    return corrupt(text, find(text), np.random.default_rng(seed), rates, table=table, frequency=frequency)


# the table


def test_probabilities_are_shares_of_the_counts() -> None:
    assert TABLE.probability("he") == pytest.approx({"him": 1 / 13, "it": 8 / 13, "she": 4 / 13})
    assert TABLE.probability("he", power=0) == pytest.approx({"him": 1 / 3, "it": 1 / 3, "she": 1 / 3})
    assert TABLE.probability("he", power=0.5, allowed=("it", "she")) == pytest.approx(
        {"it": 8**0.5 / (8**0.5 + 2), "she": 2 / (8**0.5 + 2)}
    )


def test_a_form_is_never_drawn_for_itself_and_none_where_nothing_can_be() -> None:
    rng = np.random.default_rng(0)
    assert TABLE.probability("he", allowed=("he",)) == {}
    assert TABLE.draw(rng, "theirs") is None
    assert TABLE.draw(rng, "he", allowed=("he",)) is None


def test_draws_follow_the_probabilities() -> None:
    rng = np.random.default_rng(0)
    drawn = Counter(TABLE.draw(rng, "he") for _ in range(13_000))
    # shares 8/13, 4/13, 1/13 of 13,000; standard deviations 55, 53, 30
    assert drawn["it"] == pytest.approx(8000, abs=220)
    assert drawn["she"] == pytest.approx(4000, abs=212)
    assert drawn["him"] == pytest.approx(1000, abs=120)


def test_pairs_and_nested_counts_make_the_same_table() -> None:
    assert ConfusionTable.from_counts({("he", "it"): 2, ("he", "she"): 1, ("it", "he"): 4}).to_dict() == {
        "he": {"it": 2, "she": 1},
        "it": {"he": 4},
    }


def test_count() -> None:
    assert TABLE.count("he", "it") == 8
    assert TABLE.count("he", "we") == 0
    assert TABLE.count("mine", "ours") == 0


def test_saved_tables_load_equal(tmp_path: Path) -> None:
    TABLE.save(tmp_path / "confusion.json")
    assert ConfusionTable.load(tmp_path / "confusion.json").to_dict() == TABLE.to_dict()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"he": 3}',
        '{"he": {"he": 1}}',
        '{"he": {"dog": 1}}',
        '{"he": {"it": -1}}',
        '{"he": {"it": "x"}}',
        '{"he": {"it": 1, "it": 2}}',
    ],
)
def test_another_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "confusion.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"confusion\.json.*expected"):
        ConfusionTable.load(path)
    with pytest.raises(InputError, match=r"absent\.json"):
        ConfusionTable.load(tmp_path / "absent.json")


# one replacement


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("<He> left.", "it", "It left."),
        ("<HE> LEFT.", "it", "IT LEFT."),
        ("Then <he> left.", "it", "Then it left."),
        ("Then <HE> left.", "she", "Then SHE left."),
        ("<I> left.", "he", "He left."),
        ("Then <I> left.", "he", "Then he left."),
        ("THEN <I> LEFT", "he", "THEN HE LEFT"),
        ("Then <he> left.", "i", "Then I left."),
        ("then <he> left", "i", "then i left"),
        ("then <i> left", "we", "then we left"),
        ("<He> left.", "i", "I left."),
        ("It rained. <I> left.", "they", "It rained. They left."),
        ('He said, "<I> left."', "we", 'He said, "We left."'),
        ("He said: \u201c<I> left\u201d", "we", "He said: \u201cWe left\u201d"),
        ("(<I> left.)", "we", "(We left.)"),
        ("Anna, <I> think, left", "we", "Anna, we think, left"),
        ("<It>'s late", "he", "He's late"),
        ("<They>\u2019re late", "it", "It\u2019re late"),
        ("<I>'m late", "he", "He'm late"),
        ("<'T>is late", "he", "He is late"),
        ("and <'t>is late", "he", "and he is late"),
        ("As You Like <It>", "them", "As You Like Them"),
    ],
)
def test_letter_case_is_kept(text: str, form: str, expected: str) -> None:
    start = text.index("<")
    end = text.index(">") - 1
    plain = text.replace("<", "").replace(">", "")
    assert replace(plain, start, end, form) == expected


# corruption


def test_the_same_seed_gives_the_same_text_and_another_seed_another() -> None:
    assert corrupted(1, joint=0.5) == corrupted(1, joint=0.5)
    assert len({corrupted(seed).text for seed in range(20)}) > 10


@pytest.mark.parametrize("seed", range(25))
def test_spans_labels_and_forms_match_the_text(seed: int) -> None:
    result = corrupted(seed, joint=0.4, same_slot_share=0.5)
    before = find(TEXT)
    assert len(result.spans) == len(result.replaced) == len(result.forms) == len(before)
    for occurrence, (start, end), replaced, form in zip(
        before, result.spans, result.replaced, result.forms, strict=True
    ):
        assert result.text[start:end].lower() == form
        assert (form != occurrence.form) is replaced
    kept = TEXT
    for occurrence, (start, end) in reversed(list(zip(before, result.spans, strict=True))):
        kept = kept[: occurrence.start] + result.text[start:end] + kept[occurrence.end :]
    assert kept == result.text


def test_rate_none_and_all() -> None:
    assert corrupted(0, rate=0.0) == Corrupted(
        TEXT, tuple((o.start, o.end) for o in find(TEXT)), (False,) * 10, tuple(o.form for o in find(TEXT))
    )
    assert all(corrupted(0, table=EVERY, rate=1.0).replaced)
    share = np.mean([corrupted(seed, table=EVERY, rate=0.3).replaced for seed in range(300)])
    assert share == pytest.approx(0.3, abs=0.03)


def test_same_slot_draws_are_of_the_first_grade() -> None:
    allowed = {
        "she": {"he", "it", "they"},
        "him": {"her", "it", "them"},
        "he": {"she", "it", "they"},
        "her": {"him", "it", "them"},
        "his": {"her", "its", "their"},
        "they": {"he", "she", "it"},
        "them": {"him", "her", "it"},
        "i": {"we", "you"},
        "it": {"him", "her", "them"},
        "myself": {"ourselves", "yourself", "yourselves"},
    }
    for seed in range(40):
        result = corrupted(seed, table=EVERY, rate=1.0)
        for occurrence, form in zip(find(TEXT), result.forms, strict=True):
            assert form in allowed[occurrence.form]


def test_whole_row_draws_come_from_the_table() -> None:
    text = "He left."
    forms = {corrupted(seed, text, rate=1.0, same_slot_share=0.0).forms[0] for seed in range(60)}
    assert forms == {"it", "she", "him"}


def test_must_agree_leaves_no_verb_that_disagrees() -> None:
    text = "He is here and it has rained."
    forms = [corrupted(seed, text, rate=1.0, must_agree=1.0).forms for seed in range(40)]
    assert {form for pair in forms for form in pair} == {"he", "she", "it"}


def test_joint_replaces_all_mentions_of_one_referent_consistently() -> None:
    text = "He took his hat, for he saw himself. A friend of his told him that she left."
    paradigms = (
        ["she", "her", "she", "herself", "hers", "her", "she"],
        ["they", "their", "they", "themselves", "theirs", "them", "she"],
        ["it", "its", "it", "itself", "his", "it", "she"],  # "its" cannot be independent
        ["he", "his", "he", "himself", "his", "him", "he"],
        ["he", "his", "he", "himself", "his", "him", "it"],
        ["he", "his", "he", "himself", "his", "him", "they"],
    )
    seen = set()
    for seed in range(60):
        result = corrupted(seed, text, rate=0.0, joint=1.0)
        assert list(result.forms) in paradigms
        seen.add(result.text)
    assert len(seen) == 6


def test_emphasis_changes_the_rate_of_a_form() -> None:
    text = "He saw it."
    results = [corrupted(seed, text, table=EVERY, rate=0.5, emphasis={"it": 2.0, "he": 0.0}) for seed in range(20)]
    assert {result.replaced for result in results} == {(False, True)}


def test_a_pronoun_without_a_counterpart_is_replaced_twice_as_often_by_a_form_of_its_slot() -> None:
    text = "He said that they left."
    found = [
        corrupt(text, find(text), np.random.default_rng(seed), CorruptionRates.raw(0.2), table=EVERY, unsourced={0})
        for seed in range(400)
    ]
    shares = np.mean([each.replaced for each in found], axis=0)
    assert shares[0] == pytest.approx(0.4, abs=0.07) and shares[-1] == pytest.approx(0.2, abs=0.06)
    assert {each.forms[0] for each in found} <= {"he", *next(iter(grades(words(text), 0)))}


def test_a_text_without_pronouns_stays() -> None:
    assert corrupted(0, "No one.", rate=1.0, joint=1.0) == Corrupted("No one.", (), (), ())


def test_by_frequency_a_rare_form_is_replaced_for_a_common_one_as_seldom_as_it_is_right() -> None:
    text = "He left."
    drawn = Counter(
        corrupted(
            seed,
            text,
            rate=1.0,
            table=ConfusionTable({}),
            same_slot_share=1.0,
            frequency={"subject": {"it": 8, "she": 2, "they": 0}, "object": {"it": 0, "her": 9}},
        ).forms[0]
        for seed in range(400)
    )
    assert set(drawn) == {"it", "she"}
    assert 0.7 < drawn["it"] / 400 < 0.9


def second(text: str, draws: int, **options: Any) -> Counter[str]:
    """What the second pronoun of `text` becomes, the first staying as it is, in so many draws."""
    first = find(text)[0].form
    options = {"rate": 1.0, "table": ConfusionTable({}), "emphasis": {first: 0.0}, **options}
    return Counter(corrupted(k, text, **options).forms[1] for k in range(draws))


def test_what_is_right_in_another_slot_counts_for_nothing() -> None:
    often = {"object": {"him": 5, "it": 5}, "possessive determiner": {"her": 900, "its": 5}}
    assert set(second("We saw them.", 100, frequency=often)) == {"him", "it"}
    assert set(second("We saw their dog.", 900, frequency=often)) == {"her", "its"}
