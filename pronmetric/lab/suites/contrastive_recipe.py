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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.alignment.parsed import SUBJECTS, Aligned
from pronmetric.errors import InputError
from pronmetric.pronouns import tables
from pronmetric.text import conllu
from pronmetric.text.conllu import Mention, Sentence

NOMINAL = ("NOUN", "PROPN")
TYPE = "pronominal coreference"
LANGUAGES = ("de", "fr")


class Rule(NamedTuple):
    """A target pronoun, its gender and number, the source word it stands for and its possessive ("-" for none)."""

    pronoun: str
    gender: str
    number: str
    source: str
    possessive: str


class _Place(NamedTuple):
    """A mention and the number of its sentence in the document."""

    segment: int
    mention: Mention


@dataclass(frozen=True, slots=True)
class Document:
    """A document: its name, its sentence pairs, and the mentions of each side by entity, in order."""

    name: str
    pairs: tuple[Aligned, ...]
    source: Mapping[str, tuple[_Place, ...]]
    target: Mapping[str, tuple[_Place, ...]]


def rules(code: str) -> tuple[Rule, ...]:
    """The rules for a target language."""
    return tuple(Rule(**row) for row in tables.rows(f"contrast.{code}.tsv"))


def documents(corpus: Iterable[Aligned], *, source: str | Path, target: str | Path) -> Iterator[Document]:
    """The documents of a corpus; they are those of the target side, or of the source side where it names none.

    Raises:
        InputError: a coreference bracket without partner.
    """
    name, pairs = "", list[Aligned]()
    for pair in corpus:
        here = pair.target.doc or pair.source.doc
        if pairs and here != name:
            yield _document(name, pairs, source, target)
            pairs = []
        name = here
        pairs.append(pair)
    if pairs:
        yield _document(name, pairs, source, target)


def _document(name: str, pairs: Sequence[Aligned], source: str | Path, target: str | Path) -> Document:
    return Document(
        name,
        tuple(pairs),
        _chains([pair.source for pair in pairs], source),
        _chains([pair.target for pair in pairs], target),
    )


def _chains(sentences: Sequence[Sentence], file: str | Path) -> dict[str, tuple[_Place, ...]]:
    places_of: defaultdict[str, list[_Place]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        for mention in conllu.mentions(sentence, file=file):
            places_of[mention.entity].append(_Place(number, mention))
    return {entity: tuple(sorted(places, key=lambda p: (p.segment, p.mention))) for entity, places in places_of.items()}


def items(document: Document, of: Sequence[Rule], *, corpus: str, counts: Counter[str]) -> Iterator[dict[str, Any]]:
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
            yield _item(document, number, (s, t), antecedents, (rule, of), corpus)


def _antecedents(document: Document, number: int, s: int, t: int) -> tuple[_Place, _Place] | str:
    """The nominal antecedents of source and target pronoun, or the reason why there is no item."""
    pair = document.pairs[number]
    label = pair.target.tokens[t].deprel.lower()
    if label != conllu.NOTHING and label not in SUBJECTS:
        return "target pronoun is no subject"
    places = []
    for chains, sentences, word in (
        (document.source, [one.source for one in document.pairs], s),
        (document.target, [one.target for one in document.pairs], t),
    ):
        chain = next(
            (chain for chain in chains.values() if any(p.segment == number and _is_word(p, word) for p in chain)), None
        )
        if chain is None or len(chain) < 2:
            return "not in a coreference chain"
        before = [p for p in chain if (p.segment, p.mention.end) <= (number, word)]
        nominal = [p for p in before if sentences[p.segment].tokens[p.mention.head].pos in NOMINAL]
        if not nominal:
            return "no nominal antecedent"
        places.append(nominal[-1])
    source, target = places
    links = document.pairs[source.segment].links
    if source.segment != target.segment or (source.mention.head, target.mention.head) not in links:
        return "antecedents are not aligned"
    return source, target


def _is_word(place: _Place, word: int) -> bool:
    return (place.mention.start, place.mention.end) == (word, word + 1)


def _item(
    document: Document,
    number: int,
    pronouns: tuple[int, int],
    antecedents: tuple[_Place, _Place],
    chosen: tuple[Rule, Sequence[Rule]],
    corpus: str,
) -> dict[str, Any]:
    pair, (s, t), (rule, of) = document.pairs[number], pronouns, chosen
    source, target = antecedents
    others = [other for other in of if other.number == rule.number and other != rule]
    return {
        "src segment": pair.source.text(),
        "ref segment": pair.target.text(),
        "src pronoun": pair.source.tokens[s].form,
        "ref pronoun": pair.target.tokens[t].form,
        "document id": document.name,
        "segment id": number + 1,
        "corpus": corpus,
        "ante distance": number - target.segment,
        "intrasegmental": target.segment == number,
        "errors": [
            {
                "contrastive": pair.target.text(_replaced(document, number, t, rule, other)),
                "replacement": other.pronoun,
                "replacement gender": other.gender,
                "type": TYPE,
            }
            for other in others
        ],
        **_antecedent("src", document.pairs[source.segment].source, source.mention),
        **_antecedent("ref", document.pairs[target.segment].target, target.mention),
    }


def _replaced(document: Document, number: int, t: int, rule: Rule, other: Rule) -> dict[int, str]:
    """The words of the contrastive sentence that differ: the pronoun, and possessives of its chain."""
    tokens = document.pairs[number].target.tokens
    changed = {t: _cased(other.pronoun, tokens[t].form)}
    if rule.possessive == other.possessive:
        return changed
    for chain in document.target.values():
        here = [p for p in chain if p.segment == number]
        if any(_is_word(p, t) for p in here):
            for place in here:
                at = place.mention.start
                form = tokens[at].form
                if at != t and _is_word(place, at) and form.lower().startswith(rule.possessive):
                    changed[at] = _cased(other.possessive + form.lower().removeprefix(rule.possessive), form)
    return changed


def _cased(form: str, like: str) -> str:
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
