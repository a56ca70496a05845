"""ContraPro's recipe into English: he, she, it and they as subjects, against the others that the source allows.

An item is a target pronoun that is aligned to a source pronoun of tables/contrast.en.tsv ("-": to none, in languages
that drop pronouns), and whose nearest earlier nominal mention is known: by the coreference chains of one side or of
both, where there are any, or by agreement of number and gender (tables/nouns.en.tsv, names). Each item says which.
In a contrastive sentence the verb and, with chains of the target, the other pronouns of the chain agree.

Relative to Müller et al. 2018, section 3.1: the other direction; a source pronoun that allows one English pronoun only
is contrasted with all others; documents without a source (annotated English) give items too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from data_prep.fidelity import frames
from data_prep.fidelity.frames import PRONOUNS
from data_prep.fidelity.rewriting import CASE, Edit, Unclean, agree, apply
from data_prep.suites import contrastive
from data_prep.suites.contrastive import Writing
from data_prep.suites.corpus import Document, Place, pronouns
from pronmetric.alignment.counterparts import expletive
from pronmetric.alignment.parsed import AlignedSentences
from pronmetric.errors import InputError
from pronmetric.pronouns.closed_class import closed_class
from pronmetric.pronouns.corrupt import match_case
from pronmetric.pronouns.finder import THIRD_PERSON, Occurrence
from pronmetric.pronouns.slots import slot
from pronmetric.pronouns.tables import rows
from pronmetric.text.conllu import Mention, Token
from pronmetric.text.words import Word, rule_word

GENDERS = {"he": "Masc", "she": "Fem", "it": "Neut", "they": "Plur"}
DROPPED = "-"
REACH = 5
"""How many sentences before its own the antecedent by agreement may be in."""
BY = "antecedent by"
BOTH, OF_SOURCE, OF_TARGET = "chains of both sides", "chains of the source", "chains of the target"
AGREEMENT = "agreement of number and gender"
_OPENS = frozenset('.!?:"\u00bb\u00ab\u201e\u201c\u201d\u2013-(')
_FLOATING = frozenset({"all", "both", "each"})
_LOOKS = frozenset("look looks looked looking sound sounds sounded feel feels felt".split())
_STATES = frozenset(
    "help helps bother bothers matter matters hurt hurts surprise surprises".split()
)  # that, as long as
_THAT = frozenset("that if when as whether because".split())
_CLAUSE = frozenset("there if though i you he she it we they this that".split())


class Source(NamedTuple):
    """A source language.

    allowed: the English pronouns that each pronoun can stand for. capital: whether nouns have one. not_after: articles
    that no antecedent of a pronoun has.
    """

    allowed: Mapping[str, tuple[str, ...]]
    code: str
    capital: bool
    not_after: Mapping[str, frozenset[str]]


NO_SOURCE = Source({}, "", False, {})
"""Of documents that are English alone."""


def languages() -> tuple[str, ...]:
    """The source languages that have rules."""
    return tuple(sorted({row["language"] for row in _rules()}))


def _rules() -> list[dict[str, str]]:
    return rows("tables/contrast.en.tsv", __package__)


def source_pronouns(code: str) -> Source:
    """What the rules say of a source language.

    Raises:
        InputError: there are no rules for the language.
    """
    if code not in languages():
        raise InputError(f"`source_language={code}`: into English there are rules for {', '.join(languages())}")
    here = [row for row in _rules() if row["language"] == code]
    of = {form: row for row in here for form in row["forms"].split()}
    return Source(
        {form: tuple(row["pronouns"].split()) for form, row in of.items()},
        code,
        here[0]["nouns"] == "capital",
        {form: frozenset(row["not after"].split()) for form, row in of.items()},
    )


@cache
def nouns() -> Mapping[str, frozenset[str]]:
    """The pronouns that agree with each noun or first name, lower-cased."""
    of = {"person": {"he", "she"}, "any": {"he", "she"}, "neutral": {"he", "she"}}
    found: dict[str, frozenset[str]] = {}

    def add(word: str, kind: str) -> None:
        found.setdefault(word.lower(), frozenset(of.get(kind, {kind})))
        if kind not in ("they", "neutral"):
            found.setdefault(_plural(word.lower()), frozenset({"they"}))

    for row in rows("tables/nouns.en.tsv", __package__):
        add(row["noun"], row["agrees"])
    for split in ("train", "development"):
        tables = frames.tables(split)
        for kind, roles in tables.roles.items():
            for role in roles:
                add(role, kind)
        for thing in tables.things["singular"]:
            add(thing, "it")
        for kind in ("he", "she", "neutral"):
            found |= {name.lower(): frozenset(of.get(kind, {kind})) for name in tables.names[kind]}
    return found


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "sh", "ch", "x", "z")) else f"{noun}s"


def items(document: Document, language: Source, *, writing: Writing, counts: Counter[str]) -> Iterator[dict[str, Any]]:
    """The items of a document in ContraPro's JSON schema, in order; the pronouns of a document without a source too.

    `counts` takes "pronouns" (subjects in use), of these "dropped: REASON", and "items".
    """
    for number, pair in enumerate(document.pairs):
        text, words, found = pronouns(pair.target)
        for occurrence in found:
            if occurrence.text.lower() not in GENDERS or slot(words, occurrence.word) != "subject":
                continue
            counts["pronouns"] += 1
            try:
                made = _item(document, number, (text, words, found), occurrence, language, writing)
            except Unclean as why:
                counts[f"dropped: {why}"] += 1
                continue
            counts["items"] += 1
            yield made


def _item(
    document: Document,
    number: int,
    sentence: tuple[str, Sequence[Word], Sequence[Occurrence]],
    occurrence: Occurrence,
    language: Source,
    writing: Writing,
) -> dict[str, Any]:
    """The item of a pronoun; raises Unclean with the reason why there is none."""
    pair, (_, words, _) = document.pairs[number], sentence
    if expletive(words, occurrence.word) or _is_idiom(words, occurrence):
        raise Unclean("expletive")
    s, source_form = _source_pronoun(pair, occurrence, language.allowed)
    source, target, by = _antecedents(document, number, s, occurrence, language)
    can_be = language.allowed[source_form.lower()] if source_form else ()
    others = [form for form in (can_be if len(can_be) > 1 else GENDERS) if form != occurrence.form]
    errors = []
    for other in others:
        try:
            errors.append((_contrast(document, number, sentence, occurrence, other), other, GENDERS[other]))
        except Unclean:
            continue
    if not errors:
        raise Unclean("no other pronoun whose verb is known")
    made = contrastive.item(document, number, (source_form, occurrence.text), (source, target), errors, writing)
    return {**made, "src allows": list(can_be), BY: by}


def _source_pronoun(
    pair: AlignedSentences, occurrence: Occurrence, allowed: Mapping[str, tuple[str, ...]]
) -> tuple[int | None, str]:
    """The place and form of the source pronoun; None and "-" where it is dropped, and "" without a source."""
    if not pair.source.tokens:
        return None, ""
    linked = [s for s, t in pair.links if t == occurrence.word]
    for s in linked:
        form = pair.source.tokens[s].form
        begins = s == 0 or pair.source.tokens[s - 1].form in _OPENS
        if occurrence.form in allowed.get(form.lower() if begins else form, ()):  # German Sie inside a sentence is you
            return s, form
    if not linked and DROPPED in allowed and not _has_any(pair, allowed):
        return None, DROPPED
    raise Unclean("no source pronoun that stands for it")


def _has_any(pair: AlignedSentences, allowed: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether the source sentence has a pronoun without a link, which may be the counterpart."""
    linked = {s for s, _ in pair.links}
    return any(token.form.lower() in allowed and s not in linked for s, token in enumerate(pair.source.tokens))


def _antecedents(
    document: Document, number: int, s: int | None, occurrence: Occurrence, language: Source
) -> tuple[Place | None, Place, str]:
    """The antecedent on the source side, if it is known, and on the target side, and by what they are found."""
    sources, targets = [pair.source for pair in document.pairs], [pair.target for pair in document.pairs]
    source = target = None
    if document.source and s is not None:
        source = _known(contrastive.nominal(document.source, sources, number, s))
    if document.target:
        target = _known(contrastive.nominal(document.target, targets, number, occurrence.word))
    if source is not None and target is not None:
        if not contrastive.aligned(document, source, target):
            raise Unclean(contrastive.NOT_ALIGNED)
        return source, target, BOTH
    if target is not None:
        return _linked(document, target, to_source=True), target, OF_TARGET
    if source is not None:
        target = _linked(document, source, to_source=False)
        if target is None:
            raise Unclean(contrastive.NOT_ALIGNED)
        return source, target, OF_SOURCE
    if document.source or document.target:
        raise Unclean("not in a coreference chain")
    form = "" if s is None else sources[number].tokens[s].form.lower()
    return *_agreeing(document, number, occurrence, form, language), AGREEMENT


def _known(found: Place | str) -> Place:
    if isinstance(found, str):
        raise Unclean(found)
    return found


def _linked(document: Document, place: Place, *, to_source: bool) -> Place | None:
    """The word that the head of a mention is linked to, as a mention."""
    for link in document.pairs[place.segment].links:
        here, there = link[::-1] if to_source else link
        if here == place.mention.head:
            return Place(place.segment, Mention(there, there + 1, place.mention.entity, there))
    return None


def _agreeing(
    document: Document, number: int, occurrence: Occurrence, form: str, language: Source
) -> tuple[Place, Place]:
    """The nearest earlier noun of the tables that agrees with a pronoun in number and gender, on both sides.

    form: the source pronoun. A word whose source word is no noun, or has an article of another gender, is passed over.
    """
    for segment in range(number, max(-1, number - REACH - 1), -1):
        tokens = document.pairs[segment].target.tokens
        last = occurrence.word if segment == number else len(tokens)
        for at in range(last - 1, -1, -1):
            if occurrence.form in nouns().get(tokens[at].form.lower(), ()):
                target = Place(segment, Mention(at, at + 1, "", at))
                source = _linked(document, target, to_source=True)
                if source is None:
                    raise Unclean(contrastive.NOT_ALIGNED)
                if _can_be(document.pairs[segment].source.tokens, source.mention.head, form, language):
                    return source, target
    raise Unclean("no earlier noun that agrees")


def _can_be(tokens: Sequence[Token], at: int, form: str, language: Source) -> bool:
    """Whether a source word can be the antecedent of a source pronoun, by its capital and its article."""
    form_there, begins = tokens[at].form, at == 0 or tokens[at - 1].form in _OPENS
    if language.capital and not form_there[:1].isupper():
        return False
    if language.capital and begins and form_there.lower() in closed_class(language.code).english:
        return False
    return at == 0 or tokens[at - 1].form.lower() not in language.not_after.get(form, ())


def _contrast(
    document: Document,
    number: int,
    sentence: tuple[str, Sequence[Word], Sequence[Occurrence]],
    occurrence: Occurrence,
    other: str,
) -> str:
    """The sentence with another pronoun, its verb, and the other pronouns of its chain; raises Unclean."""
    text, words, pronouns = sentence
    floats = not _FLOATING.isdisjoint(rule_word(word) for word in words[occurrence.word + 1 : occurrence.word + 4])
    if _is_joined(words, occurrence.word) or (floats and "they" in (other, occurrence.form)):
        raise Unclean("verb")
    chain = contrastive.chain_of(document.target, number, occurrence.word)
    in_chain = {p.mention.start for p in chain if p.segment == number and p.mention.end == p.mention.start + 1}
    edits: list[Edit] = []
    for pronoun in pronouns:
        if pronoun.form in THIRD_PERSON and (pronoun.word == occurrence.word or pronoun.word in in_chain):
            form = PRONOUNS[other][CASE[slot(words, pronoun.word)]]
            edits.append(Edit(pronoun.start, pronoun.end, match_case(text, pronoun.start, pronoun.end, form)))
            edits += agree(words, pronoun, other)
    return apply(text, edits)[0]


def _is_idiom(words: Sequence[Word], occurrence: Occurrence) -> bool:
    """Whether "it" stands for nothing: "it does not look like they won", "it helps that", "how is it going"."""
    low = [rule_word(word) for word in words]
    if occurrence.form != "it":
        return False
    after = low[occurrence.word + 1 : occurrence.word + 8]
    looks = next((k for k, word in enumerate(after) if word in _LOOKS), len(after))
    clause = after[looks + 1 : looks + 2] in (["like"], ["as"]) and not _CLAUSE.isdisjoint(after[looks + 2 : looks + 3])
    states = next((k for k, word in enumerate(after) if word in _STATES), len(after))
    clause = clause or not _THAT.isdisjoint(after[states + 1 : states + 4])
    clause = clause or after[:4] == "remains to be seen".split() or after[:2] in (["is", "about"], ["'s", "about"])
    return clause or ("how" in low[: occurrence.word][-2:] and after[:1] in (["like"], ["going"]))


def _is_joined(words: Sequence[Word], at: int) -> bool:
    """Whether a subject is one of several: he and his wife, the cook and she."""
    low = [rule_word(word) for word in words]
    return low[at + 1 : at + 2] in (["and"], ["or"]) or (at > 1 and low[at - 1] == "or" and low[at - 2][-1].isalnum())
