"""Alternatives: which texts are made, how their scores come back, and that the metric gives what it would alone."""

from __future__ import annotations

import doctest
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.corrupt import replace
from pronmetric.pronouns.finder import FORMS, find
from pronmetric.pronouns.slots import same_slot
from pronmetric.scoring import alternatives
from pronmetric.scoring.alternatives import Alternative, PronounAlternatives, score_alternatives, variants
from pronmetric.scoring.score import Counts, PronounScore, SegmentScore
from pronmetric.text.context import Text, in_context, text_of
from pronmetric.text.words import words

Checkpoints = Callable[..., Path]


class Scorer:
    """Gives each pronoun the number of its form; keeps what it was asked, and knows some forms only."""

    def __init__(self, chances: dict[str, float], *, known: Iterable[str] = FORMS) -> None:
        self.chances, self.known, self.asked = chances, set(known), []

    def __call__(self, texts: Iterable[Text]) -> Iterator[SegmentScore]:
        for text in texts:
            self.asked.append(text)
            found = [(o, self.chances.get(o.form, 0.1)) for o in find(text.text) if o.form in self.known]
            yield SegmentScore(0.0, tuple(PronounScore(o.text, o.start, o.end, value, value) for o, value in found))


def written(text: str, start: int, end: int) -> dict[str, tuple[str, bool, str]]:
    return {v.form: (v.written, v.agrees, v.text.text) for v in variants(Text("", text), start, end)}


def test_docstrings() -> None:
    result = doctest.testmod(alternatives)
    assert result.attempted and not result.failed


@pytest.mark.parametrize(
    ("text", "start", "end", "form", "expected"),
    [
        ("She is here.", 0, 3, "they", ("They", False, "They is here.")),
        ("She was here.", 0, 3, "he", ("He", True, "He was here.")),
        ("It's late.", 0, 2, "she", ("She", True, "She's late.")),
        ("It's late.", 0, 2, "they", ("They", False, "They's late.")),
        ("Now I'm late.", 4, 5, "he", ("he", False, "Now he'm late.")),
        ("WE SAW HER.", 7, 10, "them", ("THEM", True, "WE SAW THEM.")),
        ("we left", 0, 2, "i", ("i", True, "i left")),
        ("Then we left.", 5, 7, "i", ("I", True, "Then I left.")),
        ("These books fell.", 0, 5, "this", ("This", False, "This books fell.")),
        ("Her book fell.", 0, 3, "its", ("Its", True, "Its book fell.")),
        ("\U0001f600 she left", 2, 5, "it", ("it", True, "\U0001f600 it left")),
    ],
)
def test_a_form_is_written_as_its_place_asks(text: str, start: int, end: int, form: str, expected: tuple) -> None:
    assert written(text, start, end)[form] == expected


def test_all_forms_of_the_slot_and_no_other() -> None:
    line = "We gave her book to him."
    for start, end, index in ((8, 11, 2), (20, 23, 5)):
        found = variants(Text("Anna came.", line), start, end)
        assert tuple(v.form for v in found) == same_slot(words(line), index)
        assert all(v.text == Text("Anna came.", replace(line, start, end, v.form)) for v in found)


def test_only_forms_that_agree_are_scored_where_no_others_are_asked_for() -> None:
    scorer, every = Scorer({"he": 0.9, "they": 0.6}), Scorer({"he": 0.9, "they": 0.6})
    texts = [Text("", "She is here."), Text("", "No.")]
    (found,), _ = score_alternatives(texts, scorer, agreeing=True)
    (whole,), _ = score_alternatives(texts, every)
    assert found.others == tuple(other for other in whole.others if other.agrees)
    assert Text("", "They is here.") in every.asked and Text("", "They is here.") not in scorer.asked


def test_places_come_in_order_most_probable_first() -> None:
    scorer = Scorer({"she": 0.4, "he": 0.9, "it": 0.4, "they": 0.6, "his": 0.7})
    texts = [Text("", "Yes."), Text("", "She left."), Text("", ""), Text("c", "He saw his dog."), Text("", "No.")]
    found = list(score_alternatives(texts, scorer))
    assert [[place.pronoun.text for place in places] for places in found] == [[], ["She"], [], ["He", "his"], []]
    (she,) = found[1]
    assert she.pronoun == PronounScore("She", 0, 3, 0.4, 0.4)
    assert she.others[:3] == (
        Alternative("he", "He", 0.9, True),
        Alternative("they", "They", 0.6, True),
        Alternative("it", "It", 0.4, True),
    )
    assert {other.probability for other in she.others[3:]} == {0.1}
    assert she.better() == she.others[:2] and she.better(1) == she.others[:1]  # "it" is as probable, not more
    assert found[3][0].better() == ()
    assert all(text.context == "c" for text in scorer.asked if text.text.endswith("dog."))


def test_better_forms_that_agree_come_first() -> None:
    scorer = Scorer({"she": 0.2, "these": 0.99, "they": 0.97, "it": 0.95, "he": 0.9})
    ((place,),) = score_alternatives([Text("", "She is late.")], scorer)
    assert [other.form for other in place.others[:4]] == ["these", "they", "it", "he"]
    assert [(other.form, other.agrees) for other in place.better(3)] == [("it", True), ("he", True), ("these", False)]


def test_better_forms_of_the_same_person_come_before_more_probable_ones() -> None:
    """The form "me" is no likely slip for "him", however probable it is alone."""
    scorer = Scorer({"him": 0.2, "me": 0.95, "us": 0.93, "it": 0.92, "them": 0.5})
    ((place,),) = score_alternatives([Text("", "Anna called him.")], scorer)
    assert [(other.form, other.same_person) for other in place.better(4)] == [
        *(("it", True), ("them", True), ("me", False), ("us", False))
    ]


def test_only_pronouns_below_the_threshold_are_tried() -> None:
    scorer = Scorer({"he": 0.9, "his": 0.3, "her": 0.2})
    (places,) = score_alternatives([Text("", "He saw his dog.")], scorer, below=0.3)
    assert places == ()
    (places,) = score_alternatives([Text("", "He saw his dog.")], scorer, below=0.31)
    assert [place.pronoun.text for place in places] == ["his"]
    assert all(text.text.startswith("He saw ") for text in scorer.asked if text.text)


def test_a_form_that_is_not_scored_there_is_left_out() -> None:
    scorer = Scorer({}, known={"she", "he"})
    ((place,),) = score_alternatives([Text("", "She left.")], scorer)
    assert [other.form for other in place.others] == ["he"]
    assert "that" in same_slot(words("He said they all left."), 2)
    ((_, they),) = score_alternatives([Text("", "He said they all left.")], Scorer({}))
    assert they.pronoun.text == "they" and "that" not in [other.form for other in they.others]  # no pronoun there


def test_texts_are_taken_as_they_are_needed() -> None:
    taken = []

    def source() -> Iterator[Text]:
        for number in range(100):
            taken.append(number)
            yield Text("", "She left.")

    found = score_alternatives(source(), Scorer({}))
    next(found)
    assert len(taken) < 3


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


@pytest.fixture(scope="module")
def texts(sample: Path) -> list[Text]:
    """Lines of the sample in their context, among them the same line twice."""
    lines = (sample / "ref.txt").read_text(encoding="utf-8").splitlines()[:12]
    records = [text_of(record) for record in in_context(lines)]
    return [*records, records[3]]


@pytest.fixture(scope="module")
def found(metric: PronounMetric, texts: list[Text]) -> list[tuple[PronounAlternatives, ...]]:
    return list(metric.alternatives(texts))


def close(a: tuple[PronounAlternatives, ...], b: tuple[PronounAlternatives, ...]) -> None:
    assert [place.pronoun[:3] for place in a] == [place.pronoun[:3] for place in b]
    for x, y in zip(a, b, strict=True):
        assert x.pronoun.score == pytest.approx(y.pronoun.score, abs=1e-5)
        chances = [{other.form: other.probability for other in place.others} for place in (x, y)]
        assert chances[0] == pytest.approx(chances[1], abs=1e-5)


def test_a_form_has_the_probability_that_its_text_has_alone(
    metric: PronounMetric, texts: list[Text], found: list[tuple[PronounAlternatives, ...]]
) -> None:
    checked = 0
    for text, places in zip(texts[:4], found, strict=False):
        for place in places:
            for other in place.others[:2]:
                line = replace(text.text, place.pronoun.start, place.pronoun.end, other.form)
                (alone,) = metric.predict([{"text": line, "context": [text.context]}]).pronouns
                (here,) = (p for p in alone if p.start == place.pronoun.start)
                assert (here.text, here.score) == (other.text, pytest.approx(other.probability, abs=1e-5))
                checked += 1
    assert checked > 4
    assert [[p.pronoun for p in places] for places in found] == [list(s.pronouns) for s in metric.stream(texts)]


@pytest.mark.parametrize("window", [1, 5, 10_000])
def test_order_batch_size_and_windows_change_nothing(
    metric: PronounMetric,
    texts: list[Text],
    found: list[tuple[PronounAlternatives, ...]],
    monkeypatch: pytest.MonkeyPatch,
    window: int,
) -> None:
    monkeypatch.setattr("pronmetric.scoring.inference._WINDOW", window)
    order = random.Random(0).sample(range(len(texts)), len(texts))
    shuffled = metric.alternatives([texts[i] for i in order], batch_size=3)
    for i, places in zip(order, shuffled, strict=True):
        close(places, found[i])


def test_texts_with_known_scores_are_not_encoded_again(
    metric: PronounMetric, texts: list[Text], found: list[tuple[PronounAlternatives, ...]]
) -> None:
    finished: list[int] = []
    looks = list(metric.attention(texts, advance=finished.append))
    assert sum(finished) == len(texts)
    for text, here, places in zip(texts, looks, found, strict=True):
        assert [text.text[look.start : look.end] for look in here] == [place.pronoun.text for place in places]
        for look, place in zip(here, places, strict=True):
            assert look.pronoun.score == pytest.approx(place.pronoun.score, abs=1e-5)
    counts = Counts()
    again = list(metric.alternatives(texts, scored=[[look.pronoun for look in here] for here in looks], counts=counts))
    for places, others in zip(again, found, strict=True):
        close(places, others)
    originals = {text for text, here in zip(texts, found, strict=True) if here}
    full = Counts()
    list(metric.alternatives(texts, counts=full))
    assert full.encoded == counts.encoded + len(originals)


def test_each_distinct_text_is_encoded_once(metric: PronounMetric, texts: list[Text]) -> None:
    counts = Counts()
    places = list(metric.alternatives(texts, counts=counts))
    originals = {text for text, here in zip(texts, places, strict=True) if here}
    made = {
        v.text
        for text, here in zip(texts, places, strict=True)
        for place in here
        for v in variants(text, place.pronoun.start, place.pronoun.end)
    }
    assert counts.encoded == len(originals) + sum(bool(find(text.text)) for text in made)


def test_a_threshold_only_leaves_out(
    metric: PronounMetric, texts: list[Text], found: list[tuple[PronounAlternatives, ...]]
) -> None:
    scores = sorted(place.pronoun.score for places in found for place in places)
    below = (scores[len(scores) // 2 - 1] + scores[len(scores) // 2]) / 2
    some = list(metric.alternatives(texts, below=below))
    assert 0 < sum(map(len, some)) < sum(map(len, found))
    for few, places in zip(some, found, strict=True):
        close(few, tuple(place for place in places if place.pronoun.score < below))


@pytest.mark.parametrize("head", ["paper", "average"])
def test_unbounded_scores_are_refused(head: str, tiny_checkpoint: Checkpoints) -> None:
    unbounded = PronounMetric.from_pretrained(tiny_checkpoint(head=head), precision="32", gpus=0)
    with pytest.raises(PronmetricError, match=f"need probabilities; the head '{head}' .* unbounded"):
        unbounded.alternatives([])
