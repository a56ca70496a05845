"""Rewritten referents: natural passages in which people have other names and nouns, and another set of pronouns.

In a window of a document with annotated coreference, each person whose mentions are all plain (a name; an article or
demonstrative with a noun; a pronoun) gets another name or role and one of the sets he, she and they, verbs included. In
the last sentence one person's pronouns are then exchanged for another's. A person who cannot be rewritten cleanly is
left as is, and a window in which something else may tell the gender is dropped; both are counted with the reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from data_prep.coreference.antecedents import Sentence, sentences
from data_prep.coreference.conll import Annotated, Mention
from data_prep.fidelity.frames import PRONOUNS, tables
from data_prep.fidelity.passages import PERSONS
from pronmetric.pronouns.corrupt import match_case
from pronmetric.pronouns.finder import FORMS, Occurrence, find
from pronmetric.pronouns.lexicon import ADVERB, BASE, CLASSES
from pronmetric.pronouns.slots import slot
from pronmetric.schema import FIDELITY, Mismatch, Pair
from pronmetric.text.context import join
from pronmetric.text.words import Word

WORDS = 100  # of a window up to its last sentence
LONGEST = 150  # words of a window
CASE = {
    "subject": "s",
    "object": "o",
    "possessive determiner": "p",
    "possessive independent": "a",
    "reflexive": "r",
}
_GENDER = {form: name for name in ("he", "she") for form in PRONOUNS[name].values()}
_PLURAL_VERB = {"is": "are", "was": "were", "has": "have", "does": "do"}
_SINGULAR_VERB = {plural: singular for singular, plural in _PLURAL_VERB.items()}
_PARTICIPLES = frozenset("been got gone had done become come seen taken given made".split())
_DEFINITE = frozenset({"the", "this", "that"})
_ARTICLES = _DEFINITE | {"a", "an"}
_POSSESSIVE = frozenset({"'s", "\u2019s", "'", "\u2019"})
_GENDERED = frozenset(
    "man men woman women boy boys girl girls gentleman lady ladies lord sir madam madame mr mrs ms miss mister dame "
    "king queen prince princess duke duchess count countess husband wife father mother dad daddy mom mum papa mama "
    "mamma son daughter brother sister uncle aunt nephew niece grandfather grandmother grandson granddaughter bride "
    "bridegroom widow widower monk nun actor actress waiter waitress host hostess hero heroine policeman "
    "policewoman fellow chap guy lad lass maid maiden master mistress bachelor spinster pregnant beard male female "
    "masculine feminine manly womanly girlfriend boyfriend fireman sportsman sportswoman spokesman spokeswoman "
    "chairman chairwoman businessman businesswoman dude bloke baron baroness abbess abbot priestess".split()
)


def _thirds(verb: str) -> str:
    """The third person singular of a regular verb."""
    if verb.endswith("y") and verb[-2] not in "aeou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{verb}s"


_BASE = {**{_thirds(verb): verb for verb in BASE}, **_PLURAL_VERB}
_THIRD = {**{verb: _thirds(verb) for verb in BASE}, **_SINGULAR_VERB}


class Unclean(Exception):
    """Why a person or a window cannot be rewritten."""


class Edit(NamedTuple):
    """A change of the characters [start, end) of a sentence; `pronoun`: a pronoun of the person in question."""

    start: int
    end: int
    new: str
    pronoun: bool = False


class Person(NamedTuple):
    """A person that can be rewritten: pronouns and edits of the other mentions, by sentence of the window."""

    pronouns: Mapping[int, Sequence[Occurrence]]
    mentions: Mapping[int, Sequence[Edit]]


def pairs(
    document: Annotated,
    *,
    source: str,
    split: str,
    seed: int,
    near: Callable[[str], bool],
    counts: Counter[tuple[str, ...]],
) -> Iterator[Pair]:
    """Pairs for each person in each window of a document, one with each set of pronouns; windows overlap by half.

    near: tells a text that another split has nearly the same of. counts: windows and people, by outcome.
    """
    parts = sentences(document)
    common = frozenset(token for token in document.tokens if token.islower())
    begins = np.cumsum([0, *(len(part.words) for part in parts)])
    for number, first in enumerate(range(0, max(1, int(begins[-1]) - WORDS // 2), WORDS // 2), start=1):
        shown = [part for part, at in zip(parts, begins[:-1], strict=True) if first <= at < first + WORDS]
        if not 0 < sum(len(part.words) for part in shown) <= LONGEST:
            counts["windows", "dropped", "too long a sentence"] += 1
            continue
        if near(join(part.text for part in shown)):
            counts["windows", "dropped", "copy on another side"] += 1
            continue
        rng = np.random.default_rng([seed, len(split), number, *document.name.encode()])
        try:
            window = _Window(document, shown, common, rng, split, counts)
            found = list(window.pairs(f"{source}/{document.name}#{number}", source))
        except Unclean as why:
            counts["windows", "dropped", str(why)] += 1
            continue
        outcome = ("rewritten",) if found else ("dropped", "no pronoun known from an earlier sentence")
        counts["windows", *outcome] += 1
        yield from found


class _Window:
    """Some sentences of a document, and their people."""

    def __init__(
        self,
        document: Annotated,
        shown: Sequence[Sentence],
        common: frozenset[str],
        rng: np.random.Generator,
        split: str,
        counts: Counter[tuple[str, ...]],
    ) -> None:
        self._shown, self._common, self._rng, self._split = shown, common, rng, split
        self._found = [find(part.text, part.words) for part in shown]
        self._place = {int(t): (i, k) for i, part in enumerate(shown) for k, t in reversed([*enumerate(part.tokens)])}
        low, high = int(shown[0].tokens[0]), int(shown[-1].tokens[-1]) + 1
        self._mentions: defaultdict[str, list[Mention]] = defaultdict(list)
        for mention in document.mentions:
            if low <= mention.start and mention.end <= high:
                self._mentions[mention.entity].append(mention)
        gendered = {
            int(part.tokens[o.word]): (i, o)
            for i, (part, found) in enumerate(zip(shown, self._found, strict=True))
            for o in found
            if o.form in _GENDER
        }
        self.left: set[str] = set()  # the sets of people that are left as they are
        self.people: dict[str, Person] = {}
        owned: set[int] = set()
        for entity, mentions in self._mentions.items():
            own = {m.start: gendered[m.start] for m in mentions if m.end == m.start + 1 and m.start in gendered}
            owned |= own.keys()
            if not own:
                continue
            try:
                self.people[entity] = self._person(mentions, own)
                counts["people", "rewritten"] += 1
            except Unclean as why:
                counts["people", "left", str(why)] += 1
                self.left |= {_GENDER[o.form] for _, o in own.values()}
        if gendered.keys() - owned:
            raise Unclean("pronoun of nobody annotated")
        self._refuse_gender_and_names(document)

    def _person(self, mentions: Sequence[Mention], own: Mapping[int, tuple[int, Occurrence]]) -> Person:
        if len({_GENDER[o.form] for _, o in own.values()}) > 1:
            raise Unclean("he and she")
        pronouns: defaultdict[int, list[Occurrence]] = defaultdict(list)
        for sentence, occurrence in own.values():
            words = self._shown[sentence].words
            after = words[occurrence.word + 1].text.lower() if occurrence.word + 1 < len(words) else ""
            doubtful = occurrence.form == "her" and (after.endswith("ly") or after in ADVERB)
            if doubtful or slot(words, occurrence.word) not in CASE:
                raise Unclean("pronoun of unknown case")
            pronouns[sentence].append(occurrence)
        edits: defaultdict[int, list[Edit]] = defaultdict(list)
        known = tables(self._split)
        first, last = self._one(known.names["neutral"]), self._one(known.names["last"])
        role = self._one(known.roles["any"])
        mentioned = False
        for mention in mentions:
            sentence, inside = self._words(mention)
            text = [word.text for word in inside]
            if mention.start in own or (len(text) == 1 and text[0].lower() in FORMS):
                continue
            if self._is_name(text):
                new = f"{first} {last}" if len(text) > 1 else first
            elif self._is_noun(text, mention):
                article = text[0].lower()
                if article not in _DEFINITE and mentioned:
                    raise Unclean("indefinite mention")
                article = article if article in _DEFINITE else "an" if role[0] in "aeiou" else "a"
                new = f"{article.capitalize() if text[0][0].isupper() else article} {role}"
            else:
                raise Unclean("other kind of mention")
            mentioned = True
            edits[sentence].append(Edit(inside[0].start, inside[-1].end, new))
        return Person(dict(pronouns), dict(edits))

    def _words(self, mention: Mention) -> tuple[int, Sequence[Word]]:
        """The sentence of a mention and its words there, without the possessive mark."""
        places = [self._place[t] for t in range(mention.start, mention.end) if t in self._place]
        if not places or len({sentence for sentence, _ in places}) > 1:
            raise Unclean("mention across sentences")
        sentence = places[0][0]
        tokens = self._shown[sentence].tokens
        words = [
            word
            for word, token in zip(self._shown[sentence].words, tokens, strict=True)
            if mention.start <= token < mention.end
        ]
        while len(words) > 1 and words[-1].text in _POSSESSIVE:
            words.pop()
        return sentence, words

    def _is_name(self, text: Sequence[str]) -> bool:
        named = [word for word in text if word != "."]
        return 0 < len(named) <= 4 and all(
            word[0].isupper() and word.isalpha() and word.lower() not in self._common and word.lower() not in FORMS
            for word in named
        )

    def _is_noun(self, text: Sequence[str], mention: Mention) -> bool:
        nested = any(
            mention.start <= other.start and other.end <= mention.end and other != mention
            for others in self._mentions.values()
            for other in others
        )
        simple = all(word.isalpha() and word.islower() for word in text[1:])
        return not nested and text[0].lower() in _ARTICLES and 2 <= len(text) <= 6 and simple

    def _refuse_gender_and_names(self, document: Annotated) -> None:
        """Drop a window in which a gendered noun, or a part of a name that was changed, is left.

        A gendered noun in a mention of somebody else, who is mentioned twice at least, is no harm.
        """
        times = Counter(mention.entity for mention in document.mentions)
        others = {
            token
            for entity, mentions in self._mentions.items()
            for mention in (mentions if entity not in self.people and times[entity] > 1 else ())
            for token in range(mention.start, mention.end)
        }
        names: set[str] = set()
        left: set[str] = set()
        gendered = False
        for i, part in enumerate(self._shown):
            edits = [edit for person in self.people.values() for edit in person.mentions.get(i, ())]
            for word, token in zip(part.words, part.tokens.tolist(), strict=True):
                inside = any(edit.start <= word.start < edit.end for edit in edits)
                if not inside:
                    left.add(word.text.lower())
                    gendered |= word.text.lower() in _GENDERED and token not in others
                elif word.text[0].isupper():
                    names.add(word.text.lower())
        if gendered:
            raise Unclean("gendered noun")
        if (names - self._common - _ARTICLES - {"."}) & left:
            raise Unclean("name outside of a mention")

    def pairs(self, name: str, source: str) -> Iterator[Pair]:
        """Pairs for each person: the last sentence with a pronoun of it, which an earlier one has too."""
        wanted = [
            (entity, person, own)
            for entity, person in self.people.items()
            for own in PERSONS
            if min(person.pronouns) < max(person.pronouns) and self._fits(person, own)
        ]
        for number, (entity, person, own) in enumerate(wanted, start=1):
            sets, at = self._sets(entity, own), max(person.pronouns)
            others = sorted({*self.left, *(sets[each] for each in sets if each != entity)} - {own})
            choices = [*(self._rng.permutation(others).tolist() if self._rng.random() < 0.85 else [])]
            choices += self._rng.permutation([each for each in PERSONS if each != own]).tolist()
            wrong = next((each for each in choices if self._fits(person, each, {at})), None)
            if wrong is None:
                continue
            context = tuple(self._sentence(i, sets, entity)[0] for i in range(at))
            better, right = self._sentence(at, sets, entity)
            worse, replaced = self._sentence(at, {**sets, entity: wrong}, entity)
            if not _starts(right) <= _starts((o.start, o.end) for o in find(better)):
                continue
            yield Pair(
                id=f"{name}.{number}",
                kind=FIDELITY,
                testset=source,
                lp="en-en",
                doc=name.partition("/")[2].partition("#")[0],
                seg=number,
                ref=own,
                system=wrong,
                better=better,
                worse=worse,
                context=context,
                system_context=context,
                mismatches=tuple(
                    Mismatch("pronoun", better[a:b].lower(), worse[c:d].lower(), a, b, c, d)
                    for (a, b), (c, d) in zip(right, replaced, strict=True)
                ),
            )

    def _sets(self, entity: str, own: str) -> dict[str, str]:
        """A set for each person: `own` for one, and another one for each other as long as there are any."""
        sets = {entity: own}
        for each, person in self.people.items():
            if each != entity:
                drawn = self._rng.permutation(PERSONS).tolist()
                drawn.sort(key=lambda name: name in sets.values())
                sets[each] = next(name for name in drawn if self._fits(person, name))
        return sets

    def _fits(self, person: Person, name: str, of: set[int] | None = None) -> bool:
        """Whether the verbs of a person's pronouns, in all sentences or in some, can be those of a set."""
        try:
            for i, pronouns in person.pronouns.items():
                for occurrence in pronouns if of is None or i in of else ():
                    agree(self._shown[i].words, occurrence, name)
        except Unclean:
            return False
        return True

    def _sentence(self, i: int, sets: Mapping[str, str], entity: str) -> tuple[str, list[tuple[int, int]]]:
        """Sentence i rewritten, and the spans of the pronouns of one person in it."""
        part, edits = self._shown[i], list[Edit]()
        for each, person in self.people.items():
            edits += person.mentions.get(i, ())
            for occurrence in person.pronouns.get(i, ()):
                form = PRONOUNS[sets[each]][CASE[slot(part.words, occurrence.word)]]
                new = match_case(part.text, occurrence.start, occurrence.end, form)
                edits.append(Edit(occurrence.start, occurrence.end, new, each == entity))
                edits += agree(part.words, occurrence, sets[each])
        return apply(part.text, edits)

    def _one(self, values: Sequence[str]) -> str:
        return values[int(self._rng.integers(len(values)))]


def _starts(spans: Iterator[tuple[int, int]] | Sequence[tuple[int, int]]) -> set[int]:
    return {start for start, _ in spans}


def apply(text: str, edits: Sequence[Edit]) -> tuple[str, list[tuple[int, int]]]:
    """The edited text, and the spans of the pronouns in question."""
    pieces, spans, last, length = list[str](), list[tuple[int, int]](), 0, 0
    for edit in sorted(set(edits)):
        if edit.start < last:
            raise Unclean("overlapping mentions")
        length += edit.start - last
        pieces += [text[last : edit.start], edit.new]
        if edit.pronoun:
            spans.append((length, length + len(edit.new)))
        length += len(edit.new)
        last = edit.end
    return "".join([*pieces, text[last:]]), spans


def agree(words: Sequence[Word], occurrence: Occurrence, name: str) -> list[Edit]:
    """The edits that make the verb of a pronoun he, she, it or they agree with another set.

    Raises:
        Unclean: it is not clear which word the verb is, or what its other number is.
    """
    at, plural = occurrence.word, name == "they"
    if plural == (occurrence.form in PRONOUNS["they"].values()) or slot(words, at) != "subject":
        return []
    forms, auxiliaries = (_BASE, _PLURAL_VERB) if plural else (_THIRD, _SINGULAR_VERB)
    low = [word.text.lower().replace("\u2019", "'") for word in words]
    before = at - 2 if at > 1 and low[at - 1] == "n't" else at - 1
    if before >= 0 and low[before] in auxiliaries:
        return [_other_number(words[before], auxiliaries[low[before]])]
    if before >= 0 and low[before] in ("'s", "'re", "'ve"):
        raise Unclean("verb")
    after = _after_adverbs(low, at + 1)
    for conjunction in range(after, len(low) - 1):
        if low[conjunction] in ("and", "or", "but") and low[_after_adverbs(low, conjunction + 1)] in forms:
            raise Unclean("verb")
    verb = low[after] if after < len(low) else ""
    mark = words[after].text[:1] if after < len(low) else ""
    if plural and verb == "'s":
        then = low[_after_adverbs(low, after + 1)] if after + 1 < len(low) else ""
        if then.endswith("ed"):
            raise Unclean("verb")
        return [Edit(words[after].start, words[after].end, f"{mark}{'ve' if then in _PARTICIPLES else 're'}")]
    if not plural and verb in ("'re", "'ve"):
        return [Edit(words[after].start, words[after].end, f"{mark}s")]
    if not plural and (verb in CLASSES["past"] or verb in CLASSES["modal"] or verb.endswith("ed")):
        return []
    if verb in forms:
        return [_other_number(words[after], forms[verb])]
    if verb == "who" or not (verb[:1].isalpha() or verb in ("'d", "'ll")):
        raise Unclean("verb")
    if not plural or (verb.endswith("s") and verb not in CLASSES["not_third_singular_s"]):
        raise Unclean("verb")
    return []


def _after_adverbs(low: Sequence[str], at: int) -> int:
    """The place of the first word from `at` on that is no adverb; at most the last one."""
    while at < len(low) - 1 and (low[at] in ADVERB or low[at].endswith("ly") or low[at] in ("not", "n't", "never")):
        at += 1
    return min(at, len(low) - 1)


def _other_number(word: Word, new: str) -> Edit:
    return Edit(word.start, word.end, new.capitalize() if word.text[0].isupper() else new)
