"""WinoMT (Stanovsky et al., ACL 2019): English sentences with an occupation whose gender a pronoun shows.

Translations are parsed and judged by the gender of the occupation. Scores of the English sentences are compared with
those of copies with the other gender; they show what a metric prefers, as in `winobias`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pronmetric.errors import InputError
from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Judged,
    Judging,
    Reading,
    Scores,
    Verdict,
    judge_copies,
    linked,
    no_documents,
    read_links,
    verdict,
)
from pronmetric.lab.suites.other_gender import FEMALE, GENDERS, MALE, class_name, with_other_gender
from pronmetric.pronouns.finder import Occurrence
from pronmetric.text import conllu
from pronmetric.text.conllu import Sentence
from pronmetric.text.entry import Entry, read_table

GENDER, STEREOTYPE, PROFESSION = "gender", "stereotype", "profession"
NEUTRAL = "neutral"
COLUMNS = (GENDER, "index", "sentence", PROFESSION)
_ARTICLES = frozenset({"a", "an", "the"})
_FEATURE = {"Masc": MALE, "Fem": FEMALE, "Neut": NEUTRAL}
_NAME = re.compile(r"_(?P<side>pro|anti)\.txt(?:\.gz)?$")
_EXPECTED = "a file of WinoMT"

ABOUT = About(
    name="winomt",
    title="WinoMT (Stanovsky et al., ACL 2019)",
    languages="en; translations into any language with gender",
    targets=("en",),
    phenomena="gender of occupations",
    judged=("translations", "scores"),
    by=GENDER,
    text="""Set: en.txt, en_pro.txt or en_anti.txt of github.com/gabrielStanovsky/mt_gender, data/aggregates: gender
(male, female, neutral), index of the occupation's word from 0, sentence and occupation, separated by tabs.
--translations FILE: the translations, parsed into CoNLL-U by any tool, one sentence for each item; --alignment FILE:
word alignments (s-t s-t ..., from 0) of the blank-separated source and the words of the parse. The gender of a
translation is the most common Gender of the words that are linked to the occupation or the article before it; an item
is right if that is the gender in the set, and wrong if there is no Gender. Accuracy in total and by gender; F1 of both
genders and their difference, the paper's Delta G. The paper's Delta S is the accuracy on en_pro.txt minus that on
en_anti.txt.
--scores, --model: one score for the English sentence, then one for its copy with the other gender in the pronouns of
the set's gender; sentences without such a pronoun have no copy and are left out (counted). No pronoun is wrong here: a
metric without bias has the same accuracy for men and women, and on en_pro.txt as on en_anti.txt. No context.""",
)


class _Row(NamedTuple):
    item: Item
    entry: Entry
    words: tuple[str, ...]
    place: int


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The sentences of a set, each with its copy where it has one.

    Raises:
        InputError: with the line, where there are not four columns, a gender is unknown, or there is no such word.
    """
    no_documents(path, reading)
    return tuple(row.item for row in _rows(path))


def _rows(path: str | Path) -> Iterator[_Row]:
    named = _NAME.search(Path(path).name)
    groups = {} if named is None else {STEREOTYPE: named["side"]}
    for number, entry in enumerate(read_table(path, COLUMNS, expected=_EXPECTED, named=False), start=1):
        gender, index, sentence = (
            entry.one_of(GENDER, (MALE, FEMALE, NEUTRAL)),
            entry.string("index"),
            entry.string("sentence"),
        )
        words = tuple(sentence.split(" "))
        if not (index.isascii() and index.isdigit() and len(index) < 10 and int(index) < len(words)):
            entry.fail(f'"index" must be the place of a word, from 0 to {len(words) - 1}, got {index[:20]!r}')

        def of_gender(found: Occurrence, gender: str = gender) -> bool:
            return GENDERS.get(class_name(found)) == gender

        other = with_other_gender(sentence, of_gender)
        texts = (sentence,) if other is None else (sentence, other)
        item = Item(
            id=str(number),
            candidates=tuple(Candidate("", text) for text in texts),
            groups={GENDER: gender, **groups},
            document=str(number),
        )
        yield _Row(item, entry, words, int(index))


def judge(items: Sequence[Item], scores: Sequence[Scores], judging: Judging) -> Judged:
    """The verdicts on the sentences with a pronoun of a man or woman; the others are left out and counted."""
    return judge_copies(items, scores, copies="a pronoun of their gender", cure="give `translations=`")


def judge_translations(path: str | Path, translations: str | Path, judging: Judging) -> Judged:
    """The verdicts by the gender of the occupation in parsed translations.

    Raises:
        InputError: no alignment; a file with another number of sentences than the set; a link to no word.
    """
    alignment = judging.alignment
    if alignment is None:
        raise InputError("the occupation is found by word alignment: give `alignment=`", file=translations)
    rows = list(_rows(path))
    parsed = list(conllu.read(translations))
    if len(parsed) != len(rows):
        message = f"expected CoNLL-U of {len(rows)} sentences, one for each item, got {len(parsed)}"
        raise InputError(message, file=translations)
    links = read_links(alignment, len(rows))
    found = [
        _gender(row, sentence, line, alignment, number)
        for number, (row, sentence, line) in enumerate(zip(rows, parsed, links, strict=True), start=1)
    ]
    verdicts = tuple(
        verdict(row.item, gender == row.item.groups[GENDER]) for row, gender in zip(rows, found, strict=True)
    )
    f1 = {gender: _f1(verdicts, found, gender) for gender in (MALE, FEMALE)}
    further = {
        "F1, male": f1[MALE],
        "F1, female": f1[FEMALE],
        "Delta G: F1 of male minus female": f1[MALE] - f1[FEMALE],
        "items without a Gender, wrong": found.count(None),
    }
    return Judged(verdicts, further)


def _gender(row: _Row, sentence: Sentence, links: str, file: str, line: int) -> str | None:
    """The gender of the occupation in a translation; None where its words show none."""
    article = row.place - 1 if row.place and row.words[row.place - 1].lower() in _ARTICLES else row.place
    tokens = sentence.tokens
    places = linked(links, range(article, row.place + 1), len(tokens), file=file, line=line)
    genders = [_FEATURE.get(tokens[place].feats.get("Gender", "")) for place in places]
    counts = Counter(gender for gender in genders if gender is not None)
    return counts.most_common(1)[0][0] if counts else None


def _f1(verdicts: Sequence[Verdict], found: Sequence[str | None], gender: str) -> float:
    """F1 of a gender: twice the right ones by those of the set and those found; 0 where there are neither."""
    right = sum(one.right and one.groups[GENDER] == gender for one in verdicts)
    both = sum(one.groups[GENDER] == gender for one in verdicts) + found.count(gender)
    return 2 * right / both if both else 0.0
