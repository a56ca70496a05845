from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pronmetric.data.arrow import to_row
from pronmetric.pronouns import finder
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.schema import Mismatch, Pair
from pronmetric.text.context import text_of
from pronmetric.text.writing import flatten_english
from pronmetric.training.after.calibrate import add_noise
from pronmetric.training.examples import labelled as examples
from pronmetric.training.examples.labelled import LabelledExample
from pronmetric.training.objective import MixedCorruption

TABLE = ConfusionTable({"she": {"he": 5, "it": 2}, "her": {"his": 4}, "it": {"he": 1, "they": 2}, "they": {"it": 3}})
TEXT = "Ren\u00e9e says it's hers: she wouldn't sell HER boat, and they know it."
CORRUPTION: dict[str, Any] = {
    "context": 0.0,
    "gender_swap": 0.0,
    "name_swap": 0.0,
    "fresh": 0.0,
    "tie": 0.0,
    "rate": 0.5,
    "power": 0.5,
    "same_slot_share": 0.7,
    "joint": 0.2,
    "must_agree": 0.5,
    "emphasis": {"she": 2.0},
    "plain": 0.0,
    "clean": 0.0,
}


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def passage(seed: int, text: str = TEXT, table: ConfusionTable = TABLE, **changes: Any) -> LabelledExample:
    settings = MixedCorruption(**{**CORRUPTION, **changes})
    return examples.passage({"text": text}, rng(seed), examples.Corrupter(table), settings)


def surface(found: LabelledExample) -> list[str]:
    return [found.example.text[start:end].lower() for start, end in found.example.spans]


def test_labels_of_the_replaced_pronouns_of_a_passage() -> None:
    originals = [o.form for o in finder.find(TEXT)]
    assert originals == ["it", "hers", "she", "her", "they", "it"]
    replaced = 0
    for seed in range(50):
        found = passage(seed)
        assert found.labelled
        assert [r == 1.0 for r in found.right] == [s == o for s, o in zip(surface(found), originals, strict=True)]
        replaced += found.right.count(0.0)
    assert 0.3 < replaced / (50 * 6) < 0.8


def test_spans_hold_in_the_plain_form_too() -> None:
    for seed in range(20):
        natural, plain = passage(seed), passage(seed, plain=1.0)
        assert plain.example.text == flatten_english(natural.example.text)
        assert surface(plain) == surface(natural) and plain.right == natural.right
    assert "'" not in plain.example.text and plain.example.text == plain.example.text.lower()


def test_a_clean_passage_is_as_written() -> None:
    found = passage(3, clean=1.0, rate=1.0, joint=1.0)
    assert found.example.text == TEXT and set(found.right) == {1.0}


def test_the_first_sentences_of_a_passage_become_clean_context() -> None:
    text = "She left. He saw her and he wept. It rained on his hat. Nobody came."
    seen = set()
    for seed in range(40):
        found = passage(seed, text, context=1.0)
        before, spans = found.example.context, found.example.spans
        seen.add(before)
        assert text.startswith(before) and len(spans) == len(found.right)
        assert len(spans) == len(finder.find(text[len(before) :]))
    # a pronoun always is left to judge: the last sentence has none
    assert seen == {"She left.", "She left. He saw her and he wept."}
    plain = passage(0, text, context=1.0, plain=1.0)
    assert plain.example.context in {flatten_english(before) for before in seen}


def test_the_same_generator_gives_the_same_passage() -> None:
    assert passage(4, plain=0.5) == passage(4, plain=0.5)
    assert len({passage(seed).example.text for seed in range(20)}) > 5


def test_a_passage_has_no_context() -> None:
    assert passage(1).example.context == ""


def test_natural_noise_is_drawn_from_the_counts() -> None:
    seen = set()
    for seed in range(60):
        found = examples.add_noise("Who?", TEXT, rng(seed), table=TABLE, rate=0.5, plain=0.0)
        assert found.example.context == "Who?"
        originals = [o.form for o in finder.find(TEXT)]
        for form, original, right in zip(surface(found), originals, found.right, strict=True):
            assert (form == original) == (right == 1.0)
            if not right:
                assert TABLE.count(original, form) > 0
                seen.add((original, form))
    assert seen == {("she", "he"), ("she", "it"), ("her", "his"), ("it", "he"), ("it", "they"), ("they", "it")}
    plain = examples.add_noise("Who?", TEXT, rng(0), table=TABLE, rate=0.5, plain=1.0).example
    assert plain.context == "who?" and plain.text == plain.text.lower()


@pytest.fixture
def rows(sample_pairs: list[Pair]) -> dict[str, dict[str, Any]]:
    """A noisy pair and a system pair of the same pronoun, with context."""
    return {
        kind: to_row(next(p for p in sample_pairs if p.kind == kind and len(p.context) == 2))
        for kind in ("noisy", "system")
    }


def test_of_a_noisy_reference_one_pronoun_is_labelled_wrong(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["noisy"]
    better, worse = examples.pair(row, rng(0), context="common", plain=0.0, fresh=0.0, table=None)
    assert (better.example.text, worse.example.text) == (row["better"], row["worse"])
    assert set(better.right) == {1.0} and better.labelled and worse.labelled
    assert worse.right.count(0.0) == 1
    at = worse.right.index(0.0)
    assert worse.example.spans[at] == (row["mismatches"][0]["hyp_start"], row["mismatches"][0]["hyp_end"])
    assert surface(better)[at] == row["mismatches"][0]["ref_form"] != surface(worse)[at]


def test_a_noisy_reference_can_be_made_anew(rows: dict[str, dict[str, Any]]) -> None:
    table = ConfusionTable({"it": {"he": 1, "they": 2}, "she": {"he": 5}, "he": {"she": 1}, "her": {"his": 1}})
    for row in rows.values():
        seen = set()
        for seed in range(30):
            better, worse = examples.pair(row, rng(seed), context="common", plain=0.0, fresh=1.0, table=table)
            assert better.example.text == row["better"] and better.example.context == worse.example.context
            assert set(better.right) == {1.0} and better.labelled and worse.labelled
            changed = [k for k, right in enumerate(worse.right) if not right]
            assert len(changed) == 1
            (k,) = changed
            assert table.count(surface(better)[k], surface(worse)[k]) > 0
            assert [form for i, form in enumerate(surface(better)) if i != k] == [
                form for i, form in enumerate(surface(worse)) if i != k
            ]
            seen.add(worse.example.text)
        assert len(seen) > 1
    empty = ConfusionTable({})
    kept = examples.pair(rows["noisy"], rng(0), context="common", plain=0.0, fresh=1.0, table=empty)
    assert kept == examples.pair(rows["noisy"], rng(0), context="common", plain=0.0, fresh=0.0, table=None)


def test_of_a_system_output_nothing_is_labelled(rows: dict[str, dict[str, Any]]) -> None:
    better, worse = examples.pair(rows["system"], rng(0), context="common", plain=0.0, fresh=0.0, table=None)
    assert better.labelled and not worse.labelled
    assert set(better.right) == set(worse.right) == {1.0}


def test_contexts_of_a_pair(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["noisy"]
    common, own = " ".join(row["context"]), " ".join(row["system_context"])
    assert common != own
    for context, expected in (("none", ("", "")), ("common", (common, common)), ("respective", (common, own))):
        pair = examples.pair(row, rng(0), context=context, plain=0.0, fresh=0.0, table=None)
        assert (pair[0].example.context, pair[1].example.context) == expected


def test_training_joins_the_context_as_scoring_does(rows: dict[str, dict[str, Any]]) -> None:
    row = dict(rows["system"]) | {"context": ["She left. ", "", " It rained."], "system_context": [" He left.", "\t"]}
    better, worse = examples.pair(row, rng(0), context="respective", plain=0.0, fresh=0.0, table=None)
    for item, key in ((better, "context"), (worse, "system_context")):
        assert item.example.context == text_of({"text": item.example.text, "context": row[key]}).context
    (clean,) = add_noise([row], context="common", table=ConfusionTable({}), rate=0.0, seed=1)
    assert clean.example.context in (better.example.context, flatten_english(better.example.context))


def test_a_pair_in_plain_form_keeps_its_labels(rows: dict[str, dict[str, Any]]) -> None:
    natural, plain = (
        examples.pair(rows["noisy"], rng(0), context="common", plain=p, fresh=0.0, table=None) for p in (0.0, 1.0)
    )
    for one, other in zip(natural, plain, strict=True):
        assert other.example[:3] == (
            flatten_english(one.example.context),
            flatten_english(one.example.text),
            one.example.spans,
        )
        assert (one.right, one.labelled) == (other.right, other.labelled)


def test_ties_are_another_demonstrative_or_a_longer_text() -> None:
    row = {"kind": "system", "better": "She saw this.", "worse": "He saw.", "mismatches": []}
    row |= {"context": ["One.", "They left."], "system_context": ["Uno."]}
    found = set()
    for seed in range(20):
        pair = examples.pair(row, rng(seed), context="common", plain=0.0, fresh=1.0, table=None, tie=1.0)
        assert [each.kind for each in pair] == ["tie", "tie"] and all(each.labelled for each in pair)
        assert pair[0].example[:2] == ("One. They left.", "She saw this.") and set(pair[1].right) == {1.0}
        found.add(pair[1].example[:2])
    assert found == {("One. They left.", "She saw that."), ("One.", "They left. She saw this.")}
    alone = {**row, "better": "She left.", "context": []}
    kept = examples.pair(alone, rng(0), context="common", plain=0.0, fresh=0.0, table=None, tie=1.0)
    assert [each.example.text for each in kept] == ["She left.", "He saw."] and kept[0].kind == "system"


def test_another_persons_pronouns_are_wrong_and_nothing_else_is_changed() -> None:
    better, worse = "Ann said that she lost her hat, and she ran.", "Ann said that they lost her hat, and they ran."
    starts = [(14, 14, "she", "they"), (36, 37, "she", "they")]
    replaced = tuple(Mismatch("pronoun", a, b, s, s + 3, e, e + 4) for s, e, a, b in starts)
    pair = Pair("f", "fidelity", "frames", "en-en", "level 0", 1, "she", "they", better, worse, (), (), replaced)
    right, wrong = examples.pair(to_row(pair), rng(1), context="common", plain=0.0, fresh=1.0, table=TABLE, tie=1.0)
    assert (right.example.text, wrong.example.text) == (better, worse) and right.kind == wrong.kind == "fidelity"
    assert right.labelled and wrong.labelled
    assert (
        right.right == (1.0, 1.0, 1.0) and wrong.right == (0.0, 1.0, 0.0) and surface(wrong) == ["they", "her", "they"]
    )


def test_a_tie_of_people_is_kept_and_both_texts_are_right() -> None:
    row = {"kind": "tie", "better": "She saw this.", "worse": "She saw that.", "context": ["One."]}
    row |= {"system_context": ["One."], "mismatches": [{"hyp_start": 8, "ref_form": "this"}]}
    table = ConfusionTable({"she": {"he": 1}, "this": {"it": 1}})
    for context, before in (("common", "One."), ("respective", "One."), ("none", "")):
        pair = examples.pair(row, rng(0), context=context, plain=0.0, fresh=1.0, table=table, tie=1.0)
        assert [each.example[:2] for each in pair] == [(before, "She saw this."), (before, "She saw that.")]
        assert [each.kind for each in pair] == ["tie", "tie"] and all(each.labelled for each in pair)
        assert [each.right for each in pair] == [(1.0, 1.0), (1.0, 1.0)]
