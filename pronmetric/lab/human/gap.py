"""GAP (Webster et al., TACL 2018): a pronoun against the same-case form of the other gender.

The text is the sentence with the pronoun, the context is the passage before it. GAP is test data: it is never used for
training or tuning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.eval.decision import A
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.pronouns.corrupt import replace
from pronmetric.pronouns.slots import slot
from pronmetric.text import numbers
from pronmetric.text.entry import read_table
from pronmetric.text.sentences import sentence_at
from pronmetric.text.words import words

COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "URL")
"""The required columns of a GAP file; there may be others, in any order."""

JUDGE = "the pronoun of the text is better"
_OTHER = {"he": "she", "she": "he", "him": "her", "hers": "his", "himself": "herself", "herself": "himself"}
_BY_SLOT = ("her", "his")

# Items of the development part whose "her" is an object (him, not his), annotated by hand among all 572 with "her".
OBJECT_HER = frozenset(
    int(number)
    for number in (
        "25 67 85 90 108 115 165 223 229 246 311 312 313 331 351 353 359 361 397 451 462 646 654 662 673 700 710 713 "
        "736 761 844 845 850 853 872 877 887 894 935 968 971 984 985 1017 1020 1031 1077 1099 1115 1137 1144 1148 1152 "
        "1153 1157 1215 1238 1333 1352 1355 1357 1361 1376 1379 1390 1395 1430 1471 1484 1545 1556 1564 1599 1621 1626 "
        "1633 1635 1647 1668 1674 1680 1693 1697 1706 1712 1722 1741 1744 1767 1771 1801 1805 1813 1814 1827 1858 1889 "
        "1893 1911 1917 1920 1932 1971 1973 1978 1989 1991"
    ).split()
)
_READ_BY_HAND = "development-"


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its sentence, the span of the pronoun in it, the other gender's form and the passage before."""

    id: str
    article: str
    sentence: str
    start: int
    end: int
    pronoun: str
    other: str
    before: str

    @property
    def swapped(self) -> str:
        """The sentence with the pronoun of the other gender."""
        return replace(self.sentence, self.start, self.end, self.other)


def is_header(line: str) -> bool:
    """Whether this is the first line of a GAP file."""
    return {"ID", "Text", "Pronoun"} <= set(line.split("\t"))


def read(path: str | Path) -> list[Item]:
    """The items of a GAP file, in order.

    Raises:
        InputError: with file and line, if a column is missing or the pronoun is not at its offset.
    """
    items = []
    for row in read_table(path, COLUMNS, expected="a GAP file"):
        identity, text, pronoun, offset, article = map(row.string, COLUMNS)
        if not numbers.is_whole(offset):
            row.fail(f"expected a whole number as Pronoun-offset, got {offset!r}")
        try:
            items.append(item(identity, article, text, pronoun, int(offset)))
        except InputError as error:
            row.fail(str(error))
    return items


def item(id: str, article: str, text: str, pronoun: str, offset: int) -> Item:
    """Split the passage into sentence and context, and find the other gender's form of the same case."""
    if not pronoun or text[offset : offset + len(pronoun)] != pronoun:
        raise InputError(f"{id}: expected {pronoun!r} at {offset}, got {text[offset : offset + len(pronoun)]!r}")
    start, end = sentence_at(text, offset)
    return Item(
        id=id,
        article=article,
        sentence=text[start:end],
        start=offset - start,
        end=offset - start + len(pronoun),
        pronoun=pronoun.lower(),
        other=other_gender(id, text, pronoun.lower(), offset),
        before=text[:start].strip(),
    )


def other_gender(id: str, text: str, pronoun: str, offset: int) -> str:
    """The form of the other gender in the same case: "her" is "him" or "his", "his" is "her" or "hers", by slot."""
    if pronoun in _OTHER:
        return _OTHER[pronoun]
    starts = [word.start for word in words(text)]
    if pronoun not in _BY_SLOT or offset not in starts:
        raise InputError(f"{id}: expected he, she or a case of theirs as a word of its own, got {pronoun!r}")
    number = id.removeprefix(_READ_BY_HAND)
    if id.startswith(_READ_BY_HAND) and numbers.is_whole(number):
        determiner = pronoun == "his" or int(number) not in OBJECT_HER
    else:
        determiner = slot(words(text), starts.index(offset)) == "possessive determiner"
    return {"her": "his" if determiner else "him", "his": "her" if determiner else "hers"}[pronoun]


def pairs(items: Sequence[Item]) -> list[JudgedPair]:
    """Pairs of each sentence (A, better) and its copy with the other gender; an article is a document."""
    return [
        JudgedPair(
            id=item.id,
            context=(item.before,) if item.before else (),
            text_a=item.sentence,
            text_b=item.swapped,
            better=A,
            doc=item.article,
            pronoun_a=item.pronoun,
            pronoun_b=item.other,
            judge=JUDGE,
        )
        for item in items
    ]
