"""A translation and the text that a person made of it: what became of the pronouns.

The words of the two texts are compared (`difflib`, case ignored). A changed phrase of at most `LONGEST` words on each
side is a change of its pronouns: those that stand on one side alone are paired in order; a pair is a replaced pronoun,
the rest are deleted or inserted ones, if the phrase has no other words, or an article in place of a determiner. A
longer phrase, and one in which other words come or go with an unpaired pronoun, was rewritten, and says nothing about
its pronouns; nor does a pronoun that was moved, deleted in one place and inserted in another. Another inflection of a
pronoun (German seine, seinen) is no change of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import Language
from pronmetric.text.words import Word
from pronmetric.text.writing import is_unspaced

LONGEST = 3
"""Words of a change that says what became of a pronoun; a longer one rewrites a phrase, which does not."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Changes of the pronouns of a text; offsets are those of the text.

    corrections: start of a pronoun -> the form that replaced it, "" if it was deleted. insertions: offset of the word
    before which a pronoun was put (of the text's end after the last one), and the form. unjudged: spans of rewritten
    phrases and of moved pronouns. mended: the text with each phrase that changes a pronoun as the person wrote it.
    """

    corrections: dict[int, str]
    insertions: tuple[tuple[int, str], ...]
    unjudged: tuple[tuple[int, int], ...]
    mended: str


def compare(text: str, edited: str, language: Language) -> Edits:
    """What became of the pronouns of `text` in `edited`."""
    words = language.words(text), language.words(edited)
    pronouns = tuple(
        {o.word: o for o in language.find(each, split)} for each, split in zip((text, edited), words, strict=True)
    )
    lower = [[word.text.lower() for word in split] for split in words]
    longest = language.writing.tokens(LONGEST)
    changes: list[Change] = []
    unjudged: list[tuple[int, int]] = []
    for tag, i, j, k, m in SequenceMatcher(None, lower[0], lower[1], autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if max(j - i, m - k) > longest:
            unjudged.append(_span(words[0], i, j, text))
            continue
        gone, new = _changed(
            [pronouns[0][n] for n in range(i, j) if n in pronouns[0]],
            [pronouns[1][n] for n in range(k, m) if n in pronouns[1]],
            language,
        )
        if not gone and not new:
            continue
        phrases = words[0][i:j], words[1][k:m]
        unpaired = gone[len(new) :], new[len(gone) :]
        if any(unpaired) and not (
            _has_no_other_word(phrases[0], unpaired[1], words[1], language)
            and _has_no_other_word(phrases[1], unpaired[0], words[0], language)
        ):
            unjudged.append(_span(words[0], i, j, text))
            continue
        changes.append(Change(i, j, k, m, gone, new))
    moved = _moved(changes, language)
    unjudged += [_span(words[0], one.i, one.j, text) for one in moved]
    changes = [one for one in changes if one not in moved]
    corrections: dict[int, str] = {}
    insertions: list[tuple[int, str]] = []
    for i, _, _, _, gone, new in changes:
        for number, each in enumerate(gone):
            corrections[each.start] = new[number].form if number < len(new) else ""
        at = gone[-1].word + 1 if gone else i
        insertions += [(_span(words[0], at, at, text)[0], each.form) for each in new[len(gone) :]]
    return Edits(corrections, tuple(insertions), tuple(sorted(unjudged)), _mended(changes, words, (text, edited)))


class Change(NamedTuple):
    """Words `i` to `j` of the text became words `k` to `m` of the other; the pronouns that one of them has alone."""

    i: int
    j: int
    k: int
    m: int
    gone: list[Occurrence]
    new: list[Occurrence]


def _moved(changes: Sequence[Change], language: Language) -> list[Change]:
    """The changes that take a pronoun to another place of the sentence: each deletes, or puts in, the same pronoun."""
    put_in = [one for one in changes if not one.gone]
    moved: list[Change] = []
    for one in changes:
        if one.new:
            continue
        other = next((other for other in put_in if _are_same(one.gone, other.new, language)), None)
        if other is not None:
            put_in.remove(other)
            moved += [one, other]
    return moved


def _are_same(gone: Sequence[Occurrence], new: Sequence[Occurrence], language: Language) -> bool:
    """Whether two phrases have the same pronouns in the same order."""
    return len(gone) == len(new) and all(
        a.form == b.form or language.same(a.form, b.form) for a, b in zip(gone, new, strict=True)
    )


def _mended(changes: Sequence[Change], words: tuple[Sequence[Word], Sequence[Word]], texts: tuple[str, str]) -> str:
    """The first text with its changed phrases as they are in the second; empty without a change."""
    mended, done = "", 0
    for i, j, k, m, _, _ in changes:
        if i == j or k == m:  # with a word beside it, for the space and the capital
            if i and words[0][i - 1].start >= done:
                i, k = i - 1, k - 1
            elif j < len(words[0]):
                j, m = j + 1, m + 1
        (start, end), (first, last) = _span(words[0], i, j, texts[0]), _span(words[1], k, m, texts[1])
        for part in (texts[0][done:start], texts[1][first:last]):
            mended += _apart(mended, part)
        done = end
    return mended + _apart(mended, texts[0][done:]) if mended else ""


def _has_no_other_word(
    phrase: Sequence[Word], unpaired: Sequence[Occurrence], others: Sequence[Word], language: Language
) -> bool:
    """Whether a phrase has pronouns, articles and punctuation alone.

    unpaired: the pronouns among the words `others` of the other text to which none of the phrase corresponds. Unless
    they are determiners, an article in the phrase may be a pronoun in their place (German die for sie).
    """
    determiners = all(
        any(place.endswith("determiner") for place in language.places(others, each.word)) for each in unpaired
    )
    allowed = {*language.forms, *(language.articles if determiners else ())}
    return all(word.text.lower() in allowed for word in phrase if any(map(str.isalnum, word.text)))


def _apart(before: str, part: str) -> str:
    """A part of a text as it follows what is before it, with a blank between two words of a script that has blanks."""
    two = before[-1:] + part[:1]
    return f" {part}" if len(two) == 2 and all(map(str.isalnum, two)) and not is_unspaced(two) else part


def _changed(
    before: Sequence[Occurrence], after: Sequence[Occurrence], language: Language
) -> tuple[list[Occurrence], list[Occurrence]]:
    """The pronouns of two phrases without those that both have, also in another inflection."""
    gone, new = list(before), list(after)
    for alike in (str.__eq__, language.same):
        for each in tuple(gone):
            other = next((one for one in new if alike(each.form, one.form)), None)
            if other is not None:
                gone.remove(each)
                new.remove(other)
    return gone, new


def _span(words: Sequence[Word], i: int, j: int, text: str) -> tuple[int, int]:
    """The offsets of the words from `i` to `j`; of none the place before word `i`."""
    if i < j:
        return words[i].start, words[j - 1].end
    place = words[i].start if i < len(words) else len(text.rstrip())
    return place, place
