"""Texts about a thing whose noun decides the gender of its pronouns, with their English (*it*), for other targets.

The tables of a language (tables/*.LANG.tsv, written for pronmetric) have nouns with their gender, sentence frames with
their English, and the words that agree with the noun: in a frame {N} is the noun, {n} its English, and each other slot
a word of the table `thing_words`, which begins with a capital where the slot does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from pronmetric.pronouns.languages import ENGLISH
from pronmetric.schema import Translation
from pronmetric.text.context import SOURCE_CONTEXT, join, nearest

KIND = TESTSET = "frames"
GENDERS = "masculine", "feminine", "neuter"
KINDS = "thing", "place", "work"
LEVELS = 4
"""The antecedent is in the same sentence (0), or in one of the three sentences before."""
_SLOT = re.compile(r"\{(\w+)\}")


class Noun(NamedTuple):
    """A noun; `kind` is one of `KINDS`."""

    use: str
    kind: str
    gender: str
    noun: str
    english: str


class Frame(NamedTuple):
    """A sentence and its English. place: in the text: first, next, within (both in one), other, filler."""

    kind: str
    place: str
    sentence: str
    english: str


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a language.

    words: of each slot, the form of each gender ("-" for one that the language does not have). pronouns: those slots
    that are pronouns; the others are articles and other words that agree with the noun.
    """

    nouns: Sequence[Noun]
    frames: Sequence[Frame]
    words: Mapping[str, Mapping[str, str]]
    pronouns: frozenset[str]

    @property
    def genders(self) -> tuple[str, ...]:
        """The genders of its nouns."""
        return tuple(gender for gender in GENDERS if any(one.gender == gender for one in self.nouns))

    def draw_noun(self, rng: np.random.Generator, *, kind: str, gender: str, use: str) -> Noun:
        """A noun of this kind, gender and use."""
        fitting = [one for one in self.nouns if (one.use, one.kind, one.gender) == (use, kind, gender)]
        return fitting[int(rng.integers(len(fitting)))]

    def draw_frames(self, rng: np.random.Generator, kind: str, place: str, number: int = 1) -> list[Frame]:
        """Different frames of a place that fit the kind."""
        fitting = [one for one in self.frames if one.kind in (kind, "any") and one.place == place]
        return [fitting[k] for k in rng.permutation(len(fitting))[:number].tolist()]

    def fill(self, frame: Frame, noun: Noun, *, pronouns: str | None = None) -> tuple[str, str]:
        """The sentence of a frame about a noun, and its English; pronouns: their gender, if it is not the noun's."""

        def word(match: re.Match[str]) -> str:
            slot = match[1]
            if slot in ("N", "n"):
                return noun.noun if slot == "N" else noun.english
            low = slot.lower()
            gender = pronouns if pronouns is not None and low in self.pronouns else noun.gender
            found = self.words[low][gender] if low in self.words else low
            return found.capitalize() if slot[0].isupper() else found

        target, english = _SLOT.sub(word, frame.sentence), _SLOT.sub(word, frame.english)
        return target, re.sub(r"\b([Aa])(?= [aeiou])", r"\1n", english)


@cache
def tables(code: str) -> Tables | None:
    """The tables of a target language; None if it has none."""
    if not files(__package__).joinpath("tables", f"things.{code}.tsv").is_file():
        return None
    rows = _rows(f"thing_words.{code}.tsv")
    words = {slot: dict(zip(GENDERS, forms, strict=True)) for slot, _, *forms in rows}
    pronouns = frozenset(slot for slot, kind, *_ in rows if kind == "pronoun")
    nouns = [Noun(*row) for row in _rows(f"things.{code}.tsv")]
    return Tables(nouns, [Frame(*row) for row in _rows(f"thing_frames.{code}.tsv")], words, pronouns)


def translations(
    known: Tables, number: int, *, use: str, context_size: int, seed: int, turn: int = 0
) -> Iterator[Translation]:
    """So many texts, evenly over genders and distances (the level of a text is its `doc`); each by its own seed.

    turn: 1, and 2 where there are three genders, give the same texts with pronouns of another one, which are wrong.
    """
    for at in range(number):
        rng = np.random.default_rng([seed, len(use), at])
        level, gender = at % LEVELS, known.genders[at // LEVELS % len(known.genders)]
        kind = KINDS[int(rng.integers(len(KINDS)))]
        noun = known.draw_noun(rng, kind=kind, gender=gender, use=use)
        plan = _plan(known, rng, noun, level, use)
        wrong = known.genders[(at // LEVELS + turn) % len(known.genders)] if turn else None
        sentences = [known.fill(frame, one, pronouns=wrong) for frame, one in plan]
        size = min(len(sentences), max(1 + int(rng.integers(2)), 1 + level - context_size))  # of the text
        before, text = sentences[:-size], sentences[-size:]
        yield Translation(
            id=f"{TESTSET}#{at + 1}",
            kind=KIND,
            testset=TESTSET,
            language=ENGLISH.code,
            doc=f"level {level}",
            text=join(sentence for sentence, _ in text),
            context=nearest((sentence for sentence, _ in reversed(before)), context_size),
            source=join(english for _, english in text),
            source_context=nearest((english for _, english in reversed(before)), SOURCE_CONTEXT),
        )


def _plan(known: Tables, rng: np.random.Generator, noun: Noun, level: int, use: str) -> list[tuple[Frame, Noun]]:
    """The frames of a text in order, with their nouns."""
    plan = []
    if rng.random() < 0.3:  # another thing, before the one that is meant
        gender = known.genders[int(rng.integers(len(known.genders)))]
        other = known.draw_noun(rng, kind=noun.kind, gender=gender, use=use)
        plan += [(frame, other) for frame in known.draw_frames(rng, noun.kind, "other")]
    places = [("first", 1), ("filler", level - 1), ("next", 1)] if level else [("within", 1)]
    plan += [(frame, noun) for place, size in places for frame in known.draw_frames(rng, noun.kind, place, size)]
    return plan


def _rows(name: str) -> list[list[str]]:
    """The rows of a table below its source and its header."""
    text = files(__package__).joinpath("tables", name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[2:]]
