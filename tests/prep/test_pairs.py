"""Pairs of a document: context, ids, counts, and that every output is accounted for."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pytest

from data_prep.pairs import system_pairs
from pronmetric.pronouns.finder import FORMS
from pronmetric.schema import Alignment, Document, Pair, Segment

Tokens = tuple[Sequence[str], Sequence[str]]


def straight(pairs: Iterable[Tokens]) -> Iterator[Alignment]:
    """Link word by word, reading three pairs ahead as a batching aligner does."""
    source = iter(pairs)
    while batch := list(islice(source, 3)):
        for a, b in batch:
            yield Alignment(tuple((i, i) for i in range(min(len(a), len(b)))))


DOCUMENT = Document(
    testset="set",
    lp="de-en",
    doc="news.1",
    segments=(
        Segment(11, "Eins.", {"A": "She sold it.", "B": "Rain fell."}, {"N": "He sold it.", "S": "She sold it."}),
        Segment(12, "Zwei.", {"A": "It was red.", "B": "It was red."}, {"N": "They was red.", "S": "It was red !"}),
        Segment(13, "Drei.", {"A": "Ann saw him.", "B": ""}, {"N": "", "S": "Ann saw Tom."}),
        Segment(14, "Vier.", {"A": "Now she sings.", "B": "He sings."}, {"N": "Now he sings.", "S": "Now she sang."}),
    ),
)


def run(document: Document = DOCUMENT, size: int = 2) -> tuple[list[Pair], Counter[tuple[str, ...]]]:
    counts: Counter[tuple[str, ...]] = Counter()
    return list(system_pairs([document], straight, forms=FORMS, context_size=size, counts=counts)), counts


def test_each_reference_meets_each_system() -> None:
    pairs, _ = run()
    assert [(p.id, [(m.kind, m.ref_form, m.hyp_form) for m in p.mismatches]) for p in pairs] == [
        ("set.de-en/A/N/11", [("pronoun", "she", "he")]),
        ("set.de-en/A/N/12", [("pronoun", "it", "they")]),
        ("set.de-en/B/N/12", [("pronoun", "it", "they")]),
        ("set.de-en/A/S/13", [("word", "him", "tom")]),
        ("set.de-en/A/N/14", [("pronoun", "she", "he")]),
        ("set.de-en/B/N/14", [("word", "he", "now")]),
        ("set.de-en/B/S/14", [("word", "he", "now")]),
    ]
    first = pairs[0]
    assert (first.better, first.worse, first.kind, first.seg, first.doc) == (
        "She sold it.",
        "He sold it.",
        "system",
        11,
        "news.1",
    )


def test_every_output_is_accounted_for() -> None:
    pairs, counts = run()
    told = {name[1]: count for name, count in counts.items()}
    assert told == {
        "outputs": 14,  # 4 segments x 2 references x 2 systems, less the empty output twice
        "empty outputs": 2,
        "identical": 1,  # S 11 with A
        "no pronoun": 3,  # N and S 11 with B; S 13 with the empty B
        "aligned": 10,
        "no mismatch": 3,
        "ref pronouns": 4 + 2 + 2 + 1 + 2 + 2,
    }
    assert told["aligned"] - told["no mismatch"] == len(pairs)
    assert told["identical"] + told["no pronoun"] + told["aligned"] == told["outputs"]


def test_context_is_of_the_document_and_as_long_as_asked() -> None:
    pairs = {pair.id: pair for pair in run()[0]}
    assert pairs["set.de-en/A/N/11"].context == ()
    assert pairs["set.de-en/A/S/13"].context == ("She sold it.", "It was red.")
    assert pairs["set.de-en/A/N/14"].context == ("It was red.", "Ann saw him.")
    assert pairs["set.de-en/A/N/14"].system_context == ("He sold it.", "They was red."), "output 13 is empty"
    assert all(pair.context == () for pair in run(size=0)[0])
    longer = {pair.id: pair for pair in run(size=3)[0]}
    assert longer["set.de-en/A/N/14"].context == ("She sold it.", "It was red.", "Ann saw him.")


def test_another_document_is_no_context() -> None:
    first, rest = (
        dataclasses.replace(DOCUMENT, segments=part) for part in (DOCUMENT.segments[:3], DOCUMENT.segments[3:])
    )
    pairs = list(system_pairs([first, rest], straight, forms=FORMS, context_size=2, counts=Counter()))
    assert [pair.id for pair in pairs] == [pair.id for pair in run()[0]]
    assert all(pair.context == () for pair in pairs if pair.seg == 14)


@pytest.mark.parametrize("line", ["", "<range>", "12", "***"])
def test_lines_that_are_no_sentences_take_no_place_in_a_context(line: str) -> None:
    first, second, third, last = DOCUMENT.segments
    between = Segment(20, "", {"A": line, "B": line}, {"N": line, "S": line})
    pairs, _ = run(dataclasses.replace(DOCUMENT, segments=(first, second, between, between, third, last)))
    expected = {pair.id: (pair.context, pair.system_context) for pair in run()[0]}
    assert {pair.id: (pair.context, pair.system_context) for pair in pairs} == expected


def test_contexts_have_the_names_of_speakers() -> None:
    names = ("Ann", "", "Ben", "Ann")
    spoken = [dataclasses.replace(one, speaker=name) for one, name in zip(DOCUMENT.segments, names, strict=True)]
    pairs, _ = run(dataclasses.replace(DOCUMENT, segments=tuple(spoken)))
    by_id = {pair.id: pair for pair in pairs}
    assert by_id["set.de-en/A/N/11"].context == ("Ann:",)
    assert by_id["set.de-en/A/N/12"].context == ("Ann: She sold it.",)
    assert by_id["set.de-en/A/S/13"].system_context == ("Ann: She sold it.", "It was red ! Ben:")
    assert by_id["set.de-en/A/N/14"].context == ("It was red.", "Ben: Ann saw him. Ann:")
