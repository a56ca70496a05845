"""Contrastive items of grammatical gender out of English, from text without coreference chains.

An item is an English "it" as a subject, not an expletive one, that is aligned to a target pronoun of the rules
(tables/contrast.XX.tsv), and an antecedent: the nearest earlier target noun of the pronoun's gender, at most `REACH`
sentences before, that is aligned to an English noun in the singular that has a determiner and is no person. Where its
sentence has another such noun there is no item. Nothing but agreement tells the antecedent, so it is often another
noun: the pronouns are those of the translation, but distances are approximate.

The gender of a noun is learned from the corpus: each word before it allows some genders (tables/agreement.XX.tsv), and
a form has the one that nearly all of these allow, and no other does. A compound has the gender of its last part; other
nouns have that of an ending of the table.

Relative to Müller et al. 2018, section 3.1: no parser and no coreference system; a pronoun whose predicate shows a
gender too (Russian past tense) gives no item, as another pronoun would be wrong beside it in any context.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data_prep.suites import contrastive, english
from data_prep.suites.contrastive import Rule, Writing
from data_prep.suites.corpus import Document, Place, pronouns
from pronmetric.alignment.counterparts import expletive
from pronmetric.pronouns import finder
from pronmetric.pronouns.languages import language
from pronmetric.pronouns.slots import slot
from pronmetric.pronouns.tables import rows
from pronmetric.text.conllu import Mention, Token

BY = "agreement of gender"
LANGUAGES = ("de", "ru")
"""Target languages with tables."""
REACH = 3
"""How many sentences before its own the antecedent may be in."""
_BETWEEN, _CLAUSE = 2, 5  # words between a determiner and its noun; words of a predicate that are looked at
_LAST_PART = 5  # letters of the last part of a compound
_TO_DETERMINER = 3  # words before a noun that may be its determiner: "the very old lamp"
_DETERMINERS = frozenset("a an the this that its his her their my your our no each every another any some".split())
_VOTES, _SHARE, _OTHERS = 2, 0.9, 0.8  # of a noun: uses, share of its gender, below which another is


@dataclass(frozen=True, slots=True)
class Agreement:
    """What shows the gender of a noun in a language, as in tables/agreement.XX.tsv; endings begin with a hyphen."""

    before: Mapping[str, frozenset[str]]
    endings: Mapping[str, str]
    between: tuple[str, ...]
    predicate: frozenset[str]
    capital: bool
    forms: frozenset[str]

    @classmethod
    def of(cls, code: str) -> Agreement:
        """The table of a language."""
        found = rows(f"tables/agreement.{code}.tsv", __package__)
        of = {
            place: [row for row in found if row["place"] == place]
            for place in ("before", "ending", "between", "predicate")
        }
        return cls(
            {form: frozenset(row["genders"].split()) for row in of["before"] for form in row["forms"].split()},
            {form: row["genders"] for row in of["ending"] for form in row["forms"].split()},
            tuple(form.lstrip("-") for row in of["between"] for form in row["forms"].split()),
            frozenset(form for row in of["predicate"] for form in row["forms"].split()),
            any(row["place"] == "noun" for row in found),
            frozenset(language(code).forms),
        )

    def allowed(self, word: str) -> frozenset[str]:
        """The genders that a word allows to the noun after it; none for a word that shows no gender."""
        if word in self.before:
            return self.before[word]
        if word in self.forms:
            return frozenset()
        return next((self.before[key] for key in _endings(word) if key in self.before), frozenset())

    def is_noun(self, token: Token) -> bool:
        """Whether a token can be a noun."""
        form = token.form
        return len(form) > 1 and form.isalpha() and (form[0].isupper() if self.capital else not self.allowed(form))

    def shows_gender(self, tokens: Sequence[Token]) -> bool:
        """Whether one of the words shows the gender of its subject."""
        low = [token.form.lower() for token in tokens]
        return any(
            word in self.predicate or any(key in self.predicate for key in _endings(word))
            for word in low
            if len(word) > 2
        )


def _endings(word: str) -> Iterator[str]:
    return (f"-{word[-size:]}" for size in (4, 3, 2, 1) if size < len(word))


def genders(documents: Iterable[Document], agreement: Agreement) -> dict[str, str]:
    """The gender of each noun form of the target side that the words before it tell, lower-cased."""
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for document in documents:
        for pair in document.pairs:
            tokens = pair.target.tokens
            for at, token in enumerate(tokens):
                if agreement.is_noun(token) and (allowed := _shown(tokens, at, agreement)):
                    form = token.form.lower()
                    votes[form].update(allowed)
                    votes[form]["all"] += 1
    found = {}
    for form, count in votes.items():
        total = count.pop("all")
        (gender, most), *others = count.most_common()
        second = others[0][1] if others else 0
        if total >= _VOTES and most >= _SHARE * total and second < _OTHERS * total:
            found[form] = gender
    return found


def _shown(tokens: Sequence[Token], at: int, agreement: Agreement) -> frozenset[str]:
    """The genders that the words before a noun allow it."""
    for place in range(at - 1, max(-1, at - 2 - _BETWEEN), -1):
        word = tokens[place].form.lower()
        if allowed := agreement.allowed(word):
            return allowed
        if not (tokens[place].form.islower() and word.endswith(agreement.between) and agreement.between):
            break
    return frozenset()


def gender_of(form: str, known: Mapping[str, str], agreement: Agreement) -> str | None:
    """The gender of a noun, of the longest last part of it that is known, or of its ending."""
    low = form.lower()
    parts = (low[n:] for n in (0, *range(1, len(low) - _LAST_PART + 1)))
    part = next((part for part in parts if part in known), None)
    if part is not None:
        return known[part]
    return next((agreement.endings[key] for key in _endings(low) if key in agreement.endings), None)


def items(
    document: Document,
    of: Sequence[Rule],
    *,
    agreement: Agreement,
    known: Mapping[str, str],
    writing: Writing,
    counts: Counter[str],
) -> Iterator[dict[str, Any]]:
    """The items of a document in ContraPro's JSON schema, in order.

    `counts` takes "pronoun pairs" (aligned), of these "dropped: REASON", and "items".
    """
    by_form = {rule.pronoun: rule for rule in of}
    for number, pair in enumerate(document.pairs):
        _, words, found = pronouns(pair.source)
        subjects = {o.word for o in found if o.form == "it" and slot(words, o.word) == "subject"}
        links = defaultdict(list)
        for s, t in pair.links:
            links[s].append(t)
        for s in sorted(subjects):
            if len(links[s]) != 1 or (rule := by_form.get(pair.target.tokens[links[s][0]].form.lower())) is None:
                continue
            t = links[s][0]
            counts["pronoun pairs"] += 1
            if expletive(words, s):
                counts["dropped: expletive"] += 1
                continue
            if agreement.shows_gender(pair.target.tokens[t + 1 : t + 1 + _CLAUSE]):
                counts["dropped: the predicate shows the gender"] += 1
                continue
            found_nouns = _antecedents(document, number, (s, t), rule.gender, agreement, known)
            if len(found_nouns) != 1:
                reason = "several earlier nouns agree" if found_nouns else "no earlier noun agrees"
                counts[f"dropped: {reason}"] += 1
                continue
            counts["items"] += 1
            forms = pair.source.tokens[s].form, pair.target.tokens[t].form
            errors = [
                (pair.target.text({t: contrastive.cased(other.pronoun, forms[1])}), other.pronoun, other.gender)
                for other in of
                if other.number == rule.number and other != rule
            ]
            made = contrastive.item(document, number, forms, found_nouns[0], errors, writing)
            yield {**made, "ref ante head gender": rule.gender, english.BY: BY}


def _antecedents(
    document: Document,
    number: int,
    pronoun: tuple[int, int],
    gender: str,
    agreement: Agreement,
    known: Mapping[str, str],
) -> list[tuple[Place, Place]]:
    """The nouns of a gender, with the English nouns that they are aligned to, of the nearest sentence that has any.

    pronoun: the places of the pronouns in source and target sentence `number`. A noun that comes again counts once.
    """
    for segment in range(number, max(-1, number - REACH - 1), -1):
        pair = document.pairs[segment]
        to_source = {there: here for here, there in pair.links}
        source_end, end = pronoun if segment == number else (len(pair.source.tokens), len(pair.target.tokens))
        found = {}
        for at, token in enumerate(pair.target.tokens[:end]):
            head = to_source.get(at)
            if (
                head is not None
                and head < source_end
                and agreement.is_noun(token)
                and gender_of(token.form, known, agreement) == gender
                and _is_thing(pair.source.tokens, head)
            ):
                found[token.form.lower()] = (
                    Place(segment, Mention(head, head + 1, "", head)),
                    Place(segment, Mention(at, at + 1, "", at)),
                )
        if found:
            return list(found.values())
    return []


def _is_thing(tokens: Sequence[Token], at: int) -> bool:
    """Whether an English word is a noun in the singular, after a determiner, that is no person."""
    low = [token.form.lower() for token in tokens[max(0, at - _TO_DETERMINER) : at + 1]]
    noun = low.pop()
    plural = noun.endswith("s") and not noun.endswith(("ss", "us", "is"))
    return (
        noun.isalpha()
        and not plural
        and not _DETERMINERS.isdisjoint(low)
        and noun not in finder.FORMS
        and "it" in english.nouns().get(noun, {"it"})
    )
