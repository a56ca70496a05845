"""Discourse sets as those of Cai and Xiong (WMT 2020), English to Chinese: pronouns, connectives, ellipsis.

Selection: a sentence with a previous one, and (pronouns) one form of you or they in the source and one of the class's
forms in the reference; (connectives) the ambiguous connective once, and the forms of one of its senses in the reference
(tables/connectives.zh.tsv); (ellipsis) an English auxiliary that stands for a verb phrase, whose link gives the words
that the translation must have. As many items of each class.

Relative to the paper: its items are chosen and labelled by people. Here rules choose, and each item is a question for a
study (`Check`): its reference against a copy with a rival form.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from data_prep.fidelity.rewriting import Unclean
from data_prep.suites.corpus import Document, written
from data_prep.suites.fragments import Check, Fragment, check, ellipsis, fragments, literal, occurrences, table
from pronmetric.text.conllu import Sentence

TARGET = "zh"
PRONOUN, CONNECTIVE, ELLIPSIS = "pronoun", "connective", "ellipsis"
EACH = 80
"""Items of each class in the published suite."""
_ENGLISH = {
    "you": frozenset("you your yours yourself yourselves".split()),
    "they": frozenset("they them their theirs themselves".split()),
}
_CLASSES = {"you": ("你", "你们"), "they": ("他们", "她们", "它们")}
_POLITE = "您"
_OTHER = "-"
_BEFORE = {  # words before a connective with which it is another word or joins no clauses
    "as": frozenset("such same so just well known".split()),
    "since": frozenset({"ever"}),
    "or": frozenset(),
    "though": frozenset({"as", "even"}),
    "while": frozenset("a the little worth for all".split()),
}
_AFTER = {"as": frozenset("well such soon long far if much many".split()), "or": frozenset({"so"})}


class DiscourseItem(NamedTuple):
    """An item in the JSON schema of the suite `cai-xiong`, and what people are asked about it."""

    item: dict[str, Any]
    check: Check


def items(documents: Sequence[Document], *, context: int, counts: Counter[str]) -> Iterator[DiscourseItem]:
    """The items of all three kinds, in order, with at most `context` previous sentences.

    `counts` takes "KIND candidates", of these "KIND dropped: REASON", and "KIND items".
    """
    for document in documents:
        for fragment in fragments(document, least=1, most=context):
            for kind, find in ((PRONOUN, _pronoun), (CONNECTIVE, _connective), (ELLIPSIS, _ellipsis)):
                try:
                    made = find(fragment)
                except Unclean as why:
                    counts[f"{kind} candidates"] += 1
                    counts[f"{kind} dropped: {why}"] += 1
                    continue
                if made is not None:
                    counts[f"{kind} candidates"] += 1
                    counts[f"{kind} items"] += 1
                    yield made


def draw(made: Sequence[DiscourseItem], *, each: int, seed: int) -> tuple[list[DiscourseItem], dict[str, int]]:
    """At most `each` items of each class, drawn by seed, in order; and the number that each short class lacks."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(made):
        groups[f"{one.item['kind']}: {one.item['class']}"].append(number)
    drawn = random.Random(seed)
    chosen = {n for name in sorted(groups) for n in drawn.sample(groups[name], min(each, len(groups[name])))}
    short = {name: each - len(groups[name]) for name in sorted(groups) if len(groups[name]) < each}
    return [one for number, one in enumerate(made) if number in chosen], short


def _low(sentence: Sentence) -> list[str]:
    return [token.form.lower() for token in sentence.tokens]


def _pronoun(fragment: Fragment) -> DiscourseItem | None:
    low = _low(fragment.pair.source)
    places = [(at, group) for at, form in enumerate(low) for group, forms in _ENGLISH.items() if form in forms]
    if not places:
        return None
    if len(places) > 1:
        raise Unclean("several pronouns in the source")
    ((at, group),) = places
    forms, text = _CLASSES[group], fragment.pair.target.text()
    spans = occurrences([form for of in _CLASSES.values() for form in of], text)
    if len(spans) != 1 or _POLITE in text:
        raise Unclean("not one pronoun in the reference")
    name = text[slice(*spans[0])]
    if name not in forms:
        raise Unclean("pronoun of another person in the reference")
    rivals = [form for form in forms if form != name]
    return _made(fragment, PRONOUN, name, at, (), spans[0], rivals)


@cache
def _senses(name: str) -> Mapping[str, tuple[str, ...]]:
    return {row["sense"]: tuple(row["forms"].split()) for row in table("connectives", TARGET) if row["class"] == name}


@cache
def _connectives() -> tuple[str, ...]:
    return tuple(dict.fromkeys(row["class"] for row in table("connectives", TARGET)))


def _connective(fragment: Fragment) -> DiscourseItem | None:
    low = _low(fragment.pair.source)
    places = [at for at, form in enumerate(low) if form in _connectives()]
    if not places:
        return None
    if len(places) > 1:
        raise Unclean("several connectives in the source")
    (at,), name, text = places, low[places[0]], fragment.pair.target.text()
    if not (_BEFORE[name].isdisjoint(low[:at][-1:]) and _AFTER.get(name, frozenset()).isdisjoint(low[at + 1 : at + 2])):
        raise Unclean("connective in a fixed phrase")
    senses = {sense: forms for sense, forms in _senses(name).items() if sense != _OTHER}
    found = occurrences({form for forms in _senses(name).values() for form in forms}, text)
    spans = [span for span in found if text[slice(*span)] not in _senses(name).get(_OTHER, ())]
    used = [sense for sense, forms in senses.items() if any(text[slice(*span)] in forms for span in spans)]
    if len(used) != 1:
        raise Unclean("forms of no sense or of several in the reference")
    if len(spans) != 1:
        raise Unclean("several forms in the reference")
    right = senses[used[0]]
    rivals = [form for sense, forms in senses.items() if sense != used[0] for form in forms if form not in right]
    return _made(fragment, CONNECTIVE, name, at, right, spans[0], rivals)


def _ellipsis(fragment: Fragment) -> DiscourseItem | None:
    if (found := ellipsis(fragment.pair.source)) is None:
        return None
    at, name = found
    linked = sorted(t for s, t in fragment.pair.links if s == at)
    if not linked:
        raise Unclean("auxiliary without a link")
    text, words = written(fragment.pair.target)
    span = words[linked[0]].start, words[linked[-1]].end
    form = text[slice(*span)]
    other = literal(form, TARGET)
    if other is None or not form[0].isalpha():
        raise Unclean("auxiliary is translated literally")
    return _made(fragment, ELLIPSIS, name, at, (form,), span, [other])


def _made(
    fragment: Fragment,
    kind: str,
    name: str,
    at: int,
    right: Sequence[str],
    span: tuple[int, int],
    rivals: Sequence[str],
) -> DiscourseItem:
    """The item; its contrastive sentences have a rival in place of the form at `span` of the reference."""
    text, source = fragment.pair.target.text(), fragment.pair.source
    start, end = span
    contrastive = [f"{text[:start]}{rival}{text[end:]}" for rival in rivals]
    asked = check(fragment, kind, text, contrastive[0], (text[start:end], rivals[0]))
    item = {
        "id": asked.id,
        "kind": kind,
        "class": name,
        "source": source.text(),
        "source_context": list(asked.source_context),
        "reference": text,
        "target_context": list(asked.context),
        "source_tokens": [_blank_separated(source, at)],
        **({"right": list(right), "rivals": list(rivals)} if right else {}),
        "contrastive": contrastive,
    }
    return DiscourseItem(item, asked)


def _blank_separated(sentence: Sentence, at: int) -> int:
    """The place of a word among the tokens between blanks."""
    text, words = written(sentence)
    return len(text[: words[at].end].split()) - 1
