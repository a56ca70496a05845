"""Sentences are aligned by their lengths and their words; every sentence is in one bead, in order."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from pronmetric.text import sentence_alignment
from pronmetric.text.sentence_alignment import Bead, align, cut

ONE = [
    "The lighthouse had been dark for eleven years.",
    "Marta climbed the stairs with a lamp in her hand.",
    "Her brother waited below, because he was afraid of heights.",
    "Nobody had told them that the door would lock itself.",
    "At midnight the ferry passed, and its captain saw a light.",
    "He wrote it down in his book.",
]
OTHER = [
    "For eleven years, the lighthouse had been dark.",
    "Marta went up the stairs.",
    "She held a lamp in her hand.",
    "Her brother, who was afraid of heights, waited below, and nobody had told them that the door locks itself.",
    "At midnight the ferry passed.",
    "Its captain saw a light.",
    "Elsewhere, trains ran late that Tuesday.",
    "He wrote it in his book.",
]
GERMAN = [
    "Der Leuchtturm war seit elf Jahren dunkel, und Marta stieg mit einer Lampe in der Hand die Treppe hinauf.",
    "Ihr Bruder wartete unten, weil er Angst vor der H\u00f6he hatte.",
    "Niemand hatte ihnen gesagt, dass die T\u00fcr von selbst zuf\u00e4llt.",
    "Um Mitternacht fuhr die F\u00e4hre vorbei.",
    "Ihr Kapit\u00e4n sah ein Licht.",
    "Er schrieb es in sein Buch.",
]


def sizes(beads: Sequence[Bead]) -> list[tuple[int, int]]:
    return [(bead.left[1] - bead.left[0], bead.right[1] - bead.right[0]) for bead in beads]


def test_merged_split_and_inserted_sentences() -> None:
    assert sizes(align(ONE, OTHER)) == [(1, 1), (1, 2), (2, 1), (1, 2), (0, 1), (1, 1)]
    assert sizes(align(OTHER, ONE)) == [(1, 1), (2, 1), (1, 2), (2, 1), (1, 0), (1, 1)]


def test_a_source_is_aligned_by_lengths() -> None:
    assert sizes(align(ONE, GERMAN)) == [(2, 1), (1, 1), (1, 1), (1, 2), (1, 1)]


def test_what_is_left_out_and_what_changed_places() -> None:
    assert sizes(align(ONE, [*ONE[:2], *ONE[3:]])) == [(1, 1), (1, 1), (1, 0), (1, 1), (1, 1), (1, 1)]
    assert sizes(align(ONE, [ONE[0], ONE[2], ONE[1], *ONE[3:]])) == [(1, 1), (2, 2), (1, 1), (1, 1), (1, 1)]


def test_no_bead_spans_two_documents() -> None:
    merged = ["She left. It rained", "He stayed"]
    assert align(["She left.", "It rained.", "He stayed."], merged)[0] == Bead((0, 2), (0, 1))
    assert all(
        bead.left[:1] != (0,) or bead.left[1] < 2 for bead in align(["She left.", "It rained."], merged, starts=[1])
    )


def test_a_side_without_sentences() -> None:
    assert align([], []) == []
    assert align(["A.", "B."], []) == [Bead((0, 1), (0, 0)), Bead((1, 2), (0, 0))]
    assert align([], ["A."]) == [Bead((0, 0), (0, 1))]


@pytest.mark.parametrize("seed", range(20))
def test_every_sentence_is_in_one_bead_in_order(seed: int) -> None:
    rng = random.Random(seed)
    sides = [
        [" ".join(rng.choices("a bb ccc dddd 7".split(), k=rng.randint(0, 9))) for _ in range(rng.randint(0, 40))]
        for _ in range(2)
    ]
    beads = align(*sides)
    for side, sentences in enumerate(sides):
        spans = [bead[side] for bead in beads]
        assert [place for span in spans for place in range(*span)] == list(range(len(sentences)))
    assert all(size in sentence_alignment._COSTS for size in sizes(beads))


def test_a_path_far_from_the_diagonal() -> None:
    rng = random.Random(0)
    own = ["".join(rng.choices("abcdefgh", k=9)) + " left." for _ in range(60)]
    extra = ["".join(rng.choices("stuvwxyz", k=9)) + " stayed." for _ in range(200)]
    beads = align(own, [*extra, *own])
    assert all(200 + i in range(*bead.right) for bead in beads for i in range(*bead.left))


def test_full_stops_of_chinese_and_japanese_end_sentences() -> None:
    line = "\u5979\u8d70\u4e86\u3002\u201c\u4ed6\u5462\uff1f\u201d\u6211\u95ee\u3002"
    assert cut(line) == ["\u5979\u8d70\u4e86\u3002", "\u201c\u4ed6\u5462\uff1f\u201d", "\u6211\u95ee\u3002"]


def test_a_long_line_is_cut_in_linear_time() -> None:
    took = []
    for size in (2_000, 8_000):
        line = "She left the house (it was old). " * size
        start = time.process_time()
        assert len(cut(line)) == size
        took.append(time.process_time() - start)
    assert took[1] < 10 * took[0]


def disturbed(lines: Sequence[str], rng: random.Random) -> list[tuple[str, set[int]]]:
    """The lines with some left out, some merged with the next and some cut at a comma; each with the lines it is of."""
    out: list[tuple[str, set[int]]] = []
    place = 0
    while place < len(lines):
        line, drawn = lines[place], rng.random()
        commas = [match.end() for match in re.finditer(r",\s", line)]
        if drawn < 0.15 and place + 1 < len(lines):
            following = lines[place + 1]
            joined = f"{line.rstrip('.!?')}, and {following[:1].lower()}{following[1:]}"
            out.append((joined, {place, place + 1}))
            place += 1
        elif 0.15 <= drawn < 0.3 and commas:
            middle = min(commas, key=lambda comma: abs(comma - len(line) / 2))
            rest = line[middle:].strip()
            out += [(line[:middle].rstrip(", ") + ".", {place}), (rest[:1].upper() + rest[1:], {place})]
        elif drawn < 0.97:
            out.append((line, {place}))
        place += 1
    return out


@pytest.mark.shared
@pytest.mark.parametrize(
    ("first", "second", "least"),
    [("ref.B", "ref.B", 0.97), ("ref.B", "ref.C", 0.94), ("ref.B", "hyp", 0.96), ("src", "hyp", 0.88)],
    ids=["itself", "another reference", "a system", "the source and a system"],
)
def test_real_documents_that_were_merged_and_split(shared: Path, first: str, second: str, least: float) -> None:
    folder = shared / "data" / "wmt" / "wmt22-news-systems" / "txt"
    names = {
        "src": "sources/generaltest2022.cs-en.src.cs",
        "ref.B": "references/generaltest2022.cs-en.ref.B.en",
        "ref.C": "references/generaltest2022.cs-en.ref.C.en",
        "hyp": "system-outputs/generaltest2022.cs-en.hyp.Online-B.en",
    }
    left, right = ((folder / names[name]).read_text(encoding="utf-8").split("\n")[:300] for name in (first, second))
    parts = disturbed(right, random.Random(0))
    gold = {(line, part) for part, (_, lines) in enumerate(parts) for line in lines}
    beads = align(left, [text for text, _ in parts])
    found = {(i, j) for bead in beads for i in range(*bead.left) for j in range(*bead.right)}
    assert 2 * len(found & gold) / (len(found) + len(gold)) > least
