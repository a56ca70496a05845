"""Missing and surplus pronouns of scored texts by their reference."""

from __future__ import annotations

import pytest

from pronmetric.pronouns.finder import find
from pronmetric.pronouns.languages import ENGLISH, language
from pronmetric.scoring.bulk import ScoredRow
from pronmetric.scoring.missing import count_by_reference
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.corpus import Row


def row(references: tuple[str, ...], *texts: str, contexts: int = 1) -> ScoredRow:
    """A row of texts, all of whose pronouns are right."""
    segments = []
    for text in texts:
        scores = tuple(PronounScore(p.text, p.start, p.end, 1.0, 1.0) for p in find(text))
        segments.append((SegmentScore(1.0 if scores else None, scores),) * contexts)
    return ScoredRow(Row(texts, None, None, references), (("",) * contexts,) * len(texts), segments)


def found(reference: str, text: str) -> tuple[list[str], list[str]]:
    """The missing and the surplus pronouns of one text."""
    (counted,) = count_by_reference([row((reference,), text)], ENGLISH)
    without = counted.segments[0][0].unmatched
    assert without is not None
    return [word.text for word in without.missing], [word.text for word in without.surplus]


@pytest.mark.parametrize(
    ("reference", "text", "expected"),
    [
        ("He said that she sleeps.", "He said that sleeps.", (["she"], [])),
        ("He said so.", "Said so.", (["He"], [])),
        ("I gave him a book.", "I gave a book.", (["him"], [])),
        ("The dog sleeps.", "The dog sleeps with him.", ([], ["him"])),
        ("He said she sleeps.", "He said they sleep.", ([], [])),  # the wrong form in its place
        ("He said she sleeps.", "He said Mary sleeps.", ([], [])),  # a name in its place
        ("He said Mary sleeps.", "He said she sleeps.", ([], [])),  # a pronoun in the place of a name
        ("Their house burned.", "The house burned.", ([], [])),  # another word in its place
        ("The man who sleeps is here.", "The man sleeping is here.", ([], [])),  # relatives do not count
        ("She left and he came.", "Nothing of this kind!", ([], [])),  # nothing is linked: not known
        ("It rains.", "It rains.", ([], [])),
        ("He sleeps.", "", (["He"], [])),
    ],
)
def test_pronouns_without_a_counterpart(reference: str, text: str, expected: tuple[list[str], list[str]]) -> None:
    assert found(reference, text) == expected


def test_spans_are_in_the_reference_and_in_the_text() -> None:
    (counted,) = count_by_reference([row(("The dog saw him.",), "The dog saw.")], ENGLISH)
    without = counted.segments[0][0].unmatched
    assert without is not None and without.missing == (("him", 12, 15),)


def test_each_text_is_counted_by_the_first_reference_in_each_context() -> None:
    rows = [
        row(("He sleeps.", "Sleeps."), "He sleeps.", "Sleeps.", contexts=2),
        row(("",), "He sleeps."),
        row((), "I."),
    ]
    first, empty, without = count_by_reference(rows, ENGLISH)
    numbers = [[None if s.unmatched is None else len(s.unmatched.missing) for s in each] for each in first.segments]
    assert numbers == [[0, 0], [1, 1]]
    assert (empty, without) == (rows[1], rows[2])


def test_a_result_does_not_depend_on_other_texts() -> None:
    rows = [row(("He said that she sleeps.",), "He said that sleeps."), *[row(("She that.",), "That she he.")] * 300]
    together = list(count_by_reference(rows, ENGLISH))
    assert len(together) == 301
    assert [together[0], together[-1]] == [
        *count_by_reference(rows[:1], ENGLISH),
        *count_by_reference(rows[-1:], ENGLISH),
    ]


def test_other_languages_have_no_rules_for_it() -> None:
    rows = [row(("Er schläft.",), "Schläft.")]
    assert list(count_by_reference(rows, language("de"))) == rows
