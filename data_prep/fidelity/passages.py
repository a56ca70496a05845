"""Passages about two people or things, each with its own pronouns, as pairs: the right pronouns against wrong ones.

The level of a passage is the number of sentences about the other one between the last mention of the one in question
and the sentence that is judged. In a tie nothing decides between the two sets of pronouns but a stereotype of the role.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from data_prep.fidelity.frames import PRONOUNS, FilledFrame, Tables, fill, pronouns, tables
from pronmetric.schema import FIDELITY, TIE, Mismatch, Pair

SOURCE = "frames"
LEVELS = 6
"""Levels 0 to 5; more: longer passages, of which a context of few sentences holds less."""
PERSONS = ("he", "she", "they")
_OF_TIES = (("he", "she"), ("he", "she"), ("he", "she"), ("he", "they"), ("she", "they"))
_TITLES = {"he": ("Mr",), "she": ("Ms", "Mrs"), "they": ("Mx",)}


@dataclass(frozen=True, slots=True)
class Referent:
    """A person or thing: how it is first mentioned and mentioned again, and the set of its pronouns.

    told: its pronouns do not follow from what it is called, so that the text has to say them. thing: no person.
    """

    first: str
    again: str
    pronouns: str
    told: bool = True
    thing: bool = False


def pairs(number: int, *, split: str, seed: int, ties: float) -> Iterator[Pair]:
    """Pairs of "train" or "development"; `ties` is the chance of a tie.

    Passages are written evenly over the levels; half of those above 0 then judge a sentence about the person mentioned
    last (level 0), so that neither the first nor the last person of a passage is mostly the right one.

    Each is a function of its number, the split and the seed.
    """
    for at in range(number):
        rng = np.random.default_rng([seed, len(split), at])
        writer = Writer(rng, tables(split))
        level = at % LEVELS
        yield (writer.tie if rng.random() < ties else writer.pair)(level, number=at + 1)


class Writer:
    """Writes one passage; no frame is used twice where there are others."""

    def __init__(self, rng: np.random.Generator, known: Tables) -> None:
        self._rng, self._tables = rng, known
        self._used: set[str] = set()

    def pair(self, level: int, *, number: int, pronouns_of: str | None = None) -> Pair:
        """The right pronouns against wrong ones, mostly those of the other one.

        pronouns_of: the right set; the texts are then one sentence, in the worse of which all are another person's.
        """
        chosen_set = pronouns_of is not None
        own, other = self._two(pronouns_of)
        earlier = self._introduce(other) if not level and self._chance(0.5) else []
        before = [*earlier, *self._introduce(own)]
        if self._chance(0.2):
            before.append(self._continue(own))
        about_other = self._about(other, level)
        if about_other and self._chance(0.1):
            about_other.insert(int(self._rng.integers(len(about_other) + 1)), self._frame("filler", own))
        if (
            level and not chosen_set and self._chance(0.5)
        ):  # the one mentioned last: else the first would always be right
            own, other, level = other, own, 0
        chosen = self._judged(own, other, level, known=bool(earlier or about_other))
        wrong = other.pronouns if chosen_set else self._wrong(own.pronouns, other.pronouns)
        return self._written(
            [*before, *about_other],
            chosen,
            own,
            other,
            wrong,
            kept=frozenset() if chosen_set else self._kept(sum(map(pronouns, chosen))),
            within=0 if chosen_set else self._within(len(about_other)),
            level=level,
            number=number,
        )

    def tie(self, level: int, *, number: int) -> Pair:
        """Two sets of pronouns for somebody of whom the text says nothing that decides between them."""
        right, wrong = _OF_TIES[int(self._rng.integers(len(_OF_TIES)))]
        if self._chance(0.5):
            right, wrong = wrong, right
        own = self._role(right) if self._chance(0.75) else self._name(right)
        other = self._person(self._one(PERSONS), unlike=own)
        before = [self._frame("neutral", own, first=True)] if level or self._chance(0.5) else []
        before += self._about(other, level)
        if self._chance(0.15):
            before.insert(int(self._rng.integers(len(before) + 1)), self._frame("filler", own))
        continued = not level and self._chance(0.3)
        chosen = [self._draw("neutral"), self._draw("continue")] if continued else [self._draw("person")]
        return self._written(
            before, chosen, own, other, wrong, kept=frozenset(), within=0, level=level, number=number, kind=TIE
        )

    def _written(
        self,
        before: Sequence[FilledFrame],
        chosen: Sequence[str],
        own: Referent,
        other: Referent,
        wrong: str,
        *,
        kept: frozenset[int],
        within: int,
        level: int,
        number: int,
        kind: str = FIDELITY,
    ) -> Pair:
        """The pair of the frames `chosen`, with `own`'s pronouns and with those of the set `wrong`.

        kept: numbers of the pronouns that stay right. within: so many sentences before are part of the texts.
        """
        at = len(before) - within
        shared = [sentence.text for sentence in before[at:]]
        texts: list[list[FilledFrame]] = []
        times = [self._one(self._tables.times) for _ in chosen]
        for new in (own.pronouns, wrong):
            done = 0
            texts.append([])
            for place, frame in enumerate(chosen):
                count = pronouns(frame)
                sets = [own.pronouns if k in kept else new for k in range(done, done + count)]
                first = not before and not place
                words = {
                    "X": own.first if first else own.again,
                    "Y": other.again,
                    "t": times[place],
                    "w": _was(own),
                }
                texts[-1].append(fill(frame, words, sets))
                done += count
        (better, right), (worse, replaced) = (_joined(shared, sentences) for sentences in texts)
        context = tuple(sentence.text for sentence in before[:at])
        mismatches = tuple(
            Mismatch("pronoun", better[a:b].lower(), worse[c:d].lower(), a, b, c, d)
            for k, ((a, b), (c, d)) in enumerate(zip(right, replaced, strict=True))
            if k not in kept
        )
        return Pair(
            id=f"{SOURCE}#{number}",
            kind=kind,
            testset=SOURCE,
            lp="en-en",
            doc=f"level {level}",
            seg=number,
            ref=own.pronouns,
            system=wrong,
            better=better,
            worse=worse,
            context=context,
            system_context=context,
            mismatches=mismatches,
        )

    def _judged(self, own: Referent, other: Referent, level: int, *, known: bool) -> list[str]:
        """The frames of the sentences that are judged; `known`: the other one was mentioned."""
        if own.thing:
            return [self._draw("thing continue" if not level and self._chance(0.4) else "thing")]
        if known and not other.thing and self._chance(0.15):
            return [self._draw("two")]
        if not level and self._chance(0.3):
            return [self._draw("continue")]
        return [self._draw("person"), *([self._draw("continue")] if self._chance(0.15) else [])]

    def _wrong(self, right: str, other: str) -> str:
        """A wrong set: mostly the other one's."""
        if other != right and self._chance(0.85):
            return other
        return self._one([name for name in (PRONOUNS if self._chance(0.2) else PERSONS) if name != right])

    def _kept(self, count: int) -> frozenset[int]:
        """The numbers of pronouns that stay right in the worse text: mostly none, never all."""
        if count < 2 or self._chance(0.6):
            return frozenset()
        chosen = self._rng.permutation(count)[: int(self._rng.integers(1, count))]
        return frozenset(chosen.tolist())

    def _within(self, about_other: int) -> int:
        """How many of the sentences about the other one are judged too; the first of them never is."""
        return int(self._rng.integers(1, about_other)) if about_other > 1 and self._chance(0.2) else 0

    def _two(self, pronouns_of: str | None) -> tuple[Referent, Referent]:
        """The one in question and the other one, mostly with another set of pronouns."""
        if pronouns_of == "it" or (pronouns_of is None and self._chance(0.1)):
            thing = self._thing(plural=pronouns_of is None)
            return thing, self._person(self._one([each for each in PERSONS if each != thing.pronouns]))
        own = self._person(pronouns_of or self._one(PERSONS))
        if pronouns_of is None and self._chance(0.12):
            return own, self._thing()
        same = pronouns_of is None and self._chance(0.1)
        return own, self._person(self._one([each for each in PERSONS if same or each != own.pronouns]), unlike=own)

    def _person(self, wanted: str, *, unlike: Referent | None = None) -> Referent:
        while True:
            draw = self._rng.random()
            if draw < 0.6:
                found = self._role(wanted)
            elif draw < 0.68 and wanted in self._tables.roles:
                noun = self._one(self._tables.roles[wanted])
                found = Referent(f"the {noun}", f"the {noun}", wanted, told=False)
            elif draw < 0.75:
                called = f"{self._one(_TITLES[wanted])} {self._one(self._tables.names['last'])}"
                found = Referent(called, called, wanted, told=False)
            elif draw < 0.85 and wanted != "they":
                name = self._one(self._tables.names[wanted])
                found = Referent(f"{name} {self._one(self._tables.names['last'])}", name, wanted, told=False)
            else:
                found = self._name(wanted)
            if unlike is None or not _names(found) & _names(unlike):
                return found

    def _role(self, wanted: str) -> Referent:
        """A person called by a role that says nothing about the pronouns."""
        noun = self._one(self._tables.roles["any"])
        article = "the" if self._chance(0.7) else "an" if noun[0] in "aeiou" else "a"
        return Referent(f"{article} {noun}", f"the {noun}", wanted)

    def _name(self, wanted: str) -> Referent:
        """A person called by a name that says nothing about the pronouns."""
        first, last = self._one(self._tables.names["neutral"]), self._one(self._tables.names["last"])
        if self._chance(0.4):
            return Referent(first, first, wanted)
        return Referent(f"{first} {last}", first if self._chance(0.6) else last, wanted)

    def _thing(self, *, plural: bool = True) -> Referent:
        number = "plural" if plural and self._chance(0.2) else "singular"
        noun = self._one(self._tables.things[number])
        return Referent(f"the {noun}", f"the {noun}", "they" if number == "plural" else "it", thing=True)

    def _introduce(self, who: Referent) -> list[FilledFrame]:
        """Sentences after which the pronouns of `who` are known."""
        if who.thing:
            return [self._frame("thing", who, first=True)]
        draw = self._rng.random()
        if not who.told and draw < 0.4:
            return [self._frame("neutral", who, first=True)]
        if draw < 0.55:
            return [self._frame("person", who, first=True)]
        if draw < 0.67:
            plain = who.pronouns != "they" or self._chance(0.5)
            return [self._frame("explicit" if plain else "explicit they", who, first=True)]
        return [self._frame("neutral", who, first=True), self._continue(who)]

    def _about(self, who: Referent, number: int) -> list[FilledFrame]:
        """That many sentences about the other one, the first of which has a pronoun of it."""
        found = [self._frame("thing" if who.thing else "person", who, first=True)] if number else []
        while len(found) < number:
            draw = self._rng.random()
            if draw < 0.45:
                found.append(self._continue(who))
            elif draw < 0.55 and not who.thing:
                found.append(self._frame("neutral", who))
            else:
                found.append(self._frame("thing" if who.thing else "person", who))
        return found

    def _continue(self, who: Referent) -> FilledFrame:
        return self._frame("thing continue" if who.thing else "continue", who)

    def _frame(self, kind: str, who: Referent, *, first: bool = False) -> FilledFrame:
        frame = self._draw(kind)
        words = {"X": who.first if first else who.again, "t": self._one(self._tables.times), "w": _was(who)}
        return fill(frame, words, [who.pronouns] * pronouns(frame))

    def _draw(self, kind: str) -> str:
        """A frame of a kind, a new one where there is one."""
        frames = self._tables.frames[kind]
        frame = self._one([each for each in frames if each not in self._used] or frames)
        self._used.add(frame)
        return frame

    def _one(self, values: Sequence[str]) -> str:
        return values[int(self._rng.integers(len(values)))]

    def _chance(self, share: float) -> bool:
        return bool(self._rng.random() < share)


def _names(who: Referent) -> set[str]:
    """The words that someone is called by."""
    return set(who.first.split()) - {"a", "an", "the"}


def _was(who: Referent) -> str:
    return "were" if who.thing and who.pronouns == "they" else "was"


def _joined(shared: Sequence[str], judged: Sequence[FilledFrame]) -> tuple[str, list[tuple[int, int]]]:
    """Sentences as one text, and the spans of the pronouns of those judged in it."""
    text, spans = " ".join(shared), list[tuple[int, int]]()
    for sentence in judged:
        begin = len(text) + bool(text)
        spans += [(begin + start, begin + end) for start, end in sentence.spans]
        text = f"{text} {sentence.text}" if text else sentence.text
    return text, spans
