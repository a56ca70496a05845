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
from typing import Any

from data_prep.fidelity import frames
from data_prep.fidelity.frames import PRONOUNS
from data_prep.fidelity.rewriting import CASE, Edit, Unclean, agree, apply
from data_prep.suites import contrastive
from data_prep.suites.contrastive import Writing
from data_prep.suites.corpus import Document, Place, pronouns
from pronmetric.alignment.counterparts import expletive
from pronmetric.alignment.parsed import Aligned
from pronmetric.errors import InputError
from pronmetric.pronouns.corrupt import match_case
from pronmetric.pronouns.finder import THIRD_PERSON, Occurrence
from pronmetric.pronouns.slots import slot
from pronmetric.pronouns.tables import rows
from pronmetric.text.conllu import Mention
from pronmetric.text.words import Word, rule_word

GENDERS = {"he": "Masc", "she": "Fem", "it": "Neut", "they": "Plur"}
DROPPED = "-"
REACH = 5
"""How many sentences before its own the antecedent by agreement may be in."""
BY = "antecedent by"
BOTH, OF_SOURCE, OF_TARGET = "chains of both sides", "chains of the source", "chains of the target"
AGREEMENT = "agreement of number and gender"
_OPENS = frozenset('.!?:"\u00bb\u00ab\u201e\u201c\u201d\u2013-(')
Allowed = Mapping[str, tuple[str, ...]]


def languages() -> tuple[str, ...]:
    """The source languages that have rules."""
    return tuple(sorted({row["language"] for row in _rules()}))


def _rules() -> list[dict[str, str]]:
    return rows("tables/contrast.en.tsv", __package__)


def source_pronouns(code: str) -> Allowed:
    """The English pronouns that each pronoun of a source language can stand for.

    Raises:
        InputError: there are no rules for the language.
    """
    if code not in languages():
        raise InputError(f"`source_language={code}`: into English there are rules for {', '.join(languages())}")
    return {
        form: tuple(r["pronouns"].split()) for r in _rules() if r["language"] == code for form in r["forms"].split()
    }


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


def items(document: Document, allowed: Allowed, *, writing: Writing, counts: Counter[str]) -> Iterator[dict[str, Any]]:
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
                made = _item(document, number, (text, words, found), occurrence, allowed, writing)
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
    allowed: Allowed,
    writing: Writing,
) -> dict[str, Any]:
    """The item of a pronoun; raises Unclean with the reason why there is none."""
    pair, (_, words, _) = document.pairs[number], sentence
    if expletive(words, occurrence.word):
        raise Unclean("expletive")
    s, source_form = _source_pronoun(pair, occurrence, allowed)
    source, target, by = _antecedents(document, number, s, occurrence)
    can_be = allowed[source_form.lower()] if source_form else ()
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


def _source_pronoun(pair: Aligned, occurrence: Occurrence, allowed: Allowed) -> tuple[int | None, str]:
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


def _has_any(pair: Aligned, allowed: Allowed) -> bool:
    """Whether the source sentence has a pronoun without a link, which may be the counterpart."""
    linked = {s for s, _ in pair.links}
    return any(token.form.lower() in allowed and s not in linked for s, token in enumerate(pair.source.tokens))


def _antecedents(
    document: Document, number: int, s: int | None, occurrence: Occurrence
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
    target = _agreeing(document, number, occurrence)
    source = _linked(document, target, to_source=True)
    if source is None:
        raise Unclean(contrastive.NOT_ALIGNED)
    return source, target, AGREEMENT


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


def _agreeing(document: Document, number: int, occurrence: Occurrence) -> Place:
    """The nearest earlier noun of the tables that agrees with a pronoun in number and gender."""
    for segment in range(number, max(-1, number - REACH - 1), -1):
        tokens = document.pairs[segment].target.tokens
        last = occurrence.word if segment == number else len(tokens)
        for at in range(last - 1, -1, -1):
            if occurrence.form in nouns().get(tokens[at].form.lower(), ()):
                return Place(segment, Mention(at, at + 1, "", at))
    raise Unclean("no earlier noun that agrees")


def _contrast(
    document: Document,
    number: int,
    sentence: tuple[str, Sequence[Word], Sequence[Occurrence]],
    occurrence: Occurrence,
    other: str,
) -> str:
    """The sentence with another pronoun, its verb, and the other pronouns of its chain; raises Unclean."""
    text, words, found = sentence
    if _is_joined(words, occurrence.word):
        raise Unclean("verb")
    chain = contrastive.chain_of(document.target, number, occurrence.word)
    own = {p.mention.start for p in chain if p.segment == number and p.mention.end == p.mention.start + 1}
    edits: list[Edit] = []
    for one in found:
        if one.form in THIRD_PERSON and (one.word == occurrence.word or one.word in own):
            form = PRONOUNS[other][CASE[slot(words, one.word)]]
            edits.append(Edit(one.start, one.end, match_case(text, one.start, one.end, form)))
            edits += agree(words, one, other)
    return apply(text, edits)[0]


def _is_joined(words: Sequence[Word], at: int) -> bool:
    """Whether a subject is one of several: he and his wife, the cook and she."""
    low = [rule_word(word) for word in words]
    return low[at + 1 : at + 2] in (["and"], ["or"]) or (at > 1 and low[at - 1] == "or" and low[at - 2][-1].isalnum())
