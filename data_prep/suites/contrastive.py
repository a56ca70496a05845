"""ContraPro's recipe: a contrastive test suite of pronouns from an aligned corpus with coreference on both sides.

An item is a source pronoun that is aligned to a target pronoun of the rules, both in a coreference chain, each with an
earlier nominal mention, and the heads of these aligned to each other. Its contrastive sentences have the pronouns of
the other genders of the same number; possessives of the same chain agree with them. Müller et al. 2018, section 3.1.

Relative to the paper: any tags, dependencies and chains are taken (CoNLL-U, CorefUD), and a target pronoun that has a
dependency label must be a subject, as the rules have the nominative alone.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from data_prep.suites.corpus import Chains, Document, Place
from pronmetric.alignment.parsed import SUBJECTS
from pronmetric.errors import InputError
from pronmetric.pronouns import finder, tables
from pronmetric.text import conllu
from pronmetric.text.conllu import Mention, Sentence

NOMINAL = ("NOUN", "PROPN")
TYPE = "pronominal coreference"
NOT_ALIGNED = "antecedents are not aligned"


class Rule(NamedTuple):
    """A target pronoun, its gender and number, the source word it stands for and its possessive ("-" for none)."""

    pronoun: str
    gender: str
    number: str
    source: str
    possessive: str


def rules(code: str) -> tuple[Rule, ...]:
    """The rules for a target language."""
    return tuple(Rule(**row) for row in tables.rows(f"contrast.{code}.tsv"))


def items(
    document: Document, of: Sequence[Rule], *, writing: Writing, counts: Counter[str]
) -> Iterator[dict[str, Any]]:
    """The items of a document in ContraPro's JSON schema, in order.

    `counts` takes "pronoun pairs" (aligned), of these "dropped: REASON", and "items".
    """
    by_form = {rule.pronoun: rule for rule in of}
    for number, pair in enumerate(document.pairs):
        for s, t in sorted(pair.links, key=lambda link: link[::-1]):
            rule = by_form.get(pair.target.tokens[t].form.lower())
            if rule is None or pair.source.tokens[s].form.lower() != rule.source:
                continue
            counts["pronoun pairs"] += 1
            antecedents = _antecedents(document, number, s, t)
            if isinstance(antecedents, str):
                counts[f"dropped: {antecedents}"] += 1
                continue
            counts["items"] += 1
            errors = [
                (pair.target.text(_replaced(document, number, t, rule, other)), other.pronoun, other.gender)
                for other in of
                if other.number == rule.number and other != rule
            ]
            forms = pair.source.tokens[s].form, pair.target.tokens[t].form
            yield item(document, number, forms, antecedents, errors, writing)


def _antecedents(document: Document, number: int, s: int, t: int) -> tuple[Place, Place] | str:
    """The nominal antecedents of source and target pronoun, or the reason why there is no item."""
    pair = document.pairs[number]
    label = pair.target.tokens[t].deprel.lower()
    if label != conllu.NOTHING and label not in SUBJECTS:
        return "target pronoun is no subject"
    source = nominal(document.source, [one.source for one in document.pairs], number, s)
    if isinstance(source, str):
        return source
    target = nominal(document.target, [one.target for one in document.pairs], number, t)
    if isinstance(target, str):
        return target
    return (source, target) if aligned(document, source, target) else NOT_ALIGNED


def chain_of(chains: Chains, number: int, word: int) -> tuple[Place, ...]:
    """The chain in which a word of sentence `number` is a mention by itself; none where there is no such chain."""
    return next((chain for chain in chains.values() if any(_is_word(p, number, word) for p in chain)), ())


def nominal(chains: Chains, sentences: Sequence[Sentence], number: int, word: int) -> Place | str:
    """The nearest earlier nominal mention of the chain of a word, or the reason why there is none."""
    chain = chain_of(chains, number, word)
    if len(chain) < 2:
        return "not in a coreference chain"
    before = [p for p in chain if (p.segment, p.mention.end) <= (number, word)]
    found = [p for p in before if _is_nominal(sentences[p.segment], p.mention)]
    return found[-1] if found else "no nominal antecedent"


def _is_nominal(sentence: Sentence, mention: Mention) -> bool:
    """Whether the head is a noun by its tag; without tags, whether it is no English pronoun."""
    head = sentence.tokens[mention.head]
    return head.pos in NOMINAL if head.pos != conllu.NOTHING else head.form.lower() not in finder.FORMS


def aligned(document: Document, source: Place, target: Place) -> bool:
    """Whether the heads of two mentions are aligned to each other."""
    links = document.pairs[source.segment].links
    return source.segment == target.segment and (source.mention.head, target.mention.head) in links


def _is_word(place: Place, number: int, word: int) -> bool:
    return (place.segment, place.mention.start, place.mention.end) == (number, word, word + 1)


class Writing(NamedTuple):
    """How items are written: the name of the corpus, and how many previous sentences they hold."""

    corpus: str
    context: int


def item(
    document: Document,
    number: int,
    forms: tuple[str, str],
    antecedents: tuple[Place | None, Place],
    errors: Sequence[tuple[str, str, str]],
    writing: Writing,
) -> dict[str, Any]:
    """An item in ContraPro's JSON schema, with its previous sentences as "src context" and "ref context".

    forms: the pronouns of source and reference. errors: each contrastive sentence, its pronoun and its gender.
    """
    pair, (source, target) = document.pairs[number], antecedents
    before = document.pairs[max(0, number - writing.context) : number]
    return {
        "src segment": pair.source.text(),
        "ref segment": pair.target.text(),
        "src pronoun": forms[0],
        "ref pronoun": forms[1],
        "document id": document.name,
        "segment id": number + 1,
        "corpus": writing.corpus,
        "ante distance": number - target.segment,
        "intrasegmental": target.segment == number,
        "errors": [
            {"contrastive": text, "replacement": pronoun, "replacement gender": gender, "type": TYPE}
            for text, pronoun, gender in errors
        ],
        **({} if source is None else _antecedent("src", document.pairs[source.segment].source, source.mention)),
        **_antecedent("ref", document.pairs[target.segment].target, target.mention),
        "src context": [one.source.text() for one in before],
        "ref context": [one.target.text() for one in before],
    }


def _replaced(document: Document, number: int, t: int, rule: Rule, other: Rule) -> dict[int, str]:
    """The words of the contrastive sentence that differ: the pronoun, and possessives of its chain."""
    tokens = document.pairs[number].target.tokens
    changed = {t: cased(other.pronoun, tokens[t].form)}
    if rule.possessive == other.possessive:
        return changed
    for place in chain_of(document.target, number, t):
        at = place.mention.start
        if at != t and _is_word(place, number, at) and tokens[at].form.lower().startswith(rule.possessive):
            form = tokens[at].form
            changed[at] = cased(other.possessive + form.lower().removeprefix(rule.possessive), form)
    return changed


def cased(form: str, like: str) -> str:
    """A form with a capital if `like` has one."""
    return form.capitalize() if like[:1].isupper() else form


def _antecedent(side: str, sentence: Sentence, mention: Mention) -> dict[str, Any]:
    head = sentence.tokens[mention.head]
    part = sentence.tokens[mention.start : mention.end]
    return {
        f"{side} ante head": head.form,
        f"{side} ante head id": mention.head + 1,
        f"{side} ante head lemma": head.lemma,
        f"{side} ante head morpho": "|".join(f"{k}={v}" for k, v in head.feats.items()) or None,
        f"{side} ante head pos": head.pos,
        f"{side} ante head gender": head.feats.get("Gender"),
        f"{side} ante phrase": "".join(token.form + (" " if token.space else "") for token in part).strip(),
    }


def balance(entries: Sequence[dict[str, Any]], *, each: int | None, seed: int) -> list[dict[str, Any]]:
    """As many items of each target pronoun, drawn by seed, in the order of the documents.

    each: items of a pronoun; None for as many as the rarest pronoun has.

    Raises:
        InputError: a pronoun has fewer than `each`.
    """
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for number, item in enumerate(entries):
        groups[item["ref pronoun"].lower()].append(number)
    size = min(map(len, groups.values()), default=0) if each is None else each
    if short := [f"{form} ({len(group)})" for form, group in groups.items() if len(group) < size]:
        raise InputError(f"expected {size} items of each pronoun, got fewer of {', '.join(short)}")
    drawn = random.Random(seed)
    chosen = {number for form in sorted(groups) for number in drawn.sample(groups[form], size)}
    return [item for number, item in enumerate(entries) if number in chosen]
