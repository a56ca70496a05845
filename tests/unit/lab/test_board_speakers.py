"""A board of texts whose speakers are given: distances in contexts with names, and when a set is scored again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pronmetric.lab.board.scored import BoardSet, hash_texts, score
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.context import RESPECTIVE, Text
from pronmetric.text.corpus import of_lines

LINES, NAMES = ["I left.", "You left.", "I came."], ["Ann", "Bo", ""]
WORDS = {"I left.": "Ann", "You left.": "Bo", "I came.": "Ann"}  # what the pronoun of a line attends to


def stream(texts: Iterable[Text]) -> Iterator[SegmentScore]:
    for text in texts:
        end = text.text.index(" ")
        at = text.context.index(WORDS[text.text]) - len(text.context)
        yield SegmentScore(0.5, (PronounScore(text.text[:end], 0, end, 0.5, 0.5),), attended=(at,))


def test_the_name_of_who_speaks_is_a_part_of_the_line_before() -> None:
    corpus = of_lines(LINES, speakers=NAMES)
    scored = score(
        BoardSet("talk.de-en", "talk", None, "de-en", RESPECTIVE, None),
        corpus,
        size=2,
        stream=stream,
        language=ENGLISH,
        signature="s",
    )
    assert scored.systems["system"].distance.tolist() == [1, 1, 2]


def test_other_speakers_are_other_texts() -> None:
    hashes = [hash_texts(of_lines(LINES, speakers=names)) for names in (None, NAMES, ["Ann", "Bo", "Ann"])]
    assert len(set(hashes)) == 3
