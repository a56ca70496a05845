"""Antecedents of third-person pronouns in annotated documents, passages with them, the choice of held-out documents.

A pronoun's antecedent is a mention of its entity that starts before it and is not itself a pronoun; if the mention
contains the pronoun ("the man who lost his hat"), only its words before the pronoun count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from data_prep.coreference.conll import Annotated, Mention
from pronmetric.pronouns.finder import FORMS, THIRD_PERSON, find
from pronmetric.schema import Antecedent, Passage
from pronmetric.text.context import join
from pronmetric.text.sentences import starts
from pronmetric.text.words import Word, words

ANTECEDENT, EARLIER = "antecedent", "any earlier mention"
SOURCE = "coreference"
_WORDS = 116  # of a passage, about as many pieces as a passage of plain English has (128)
_OPENING = 40  # letters and digits at the start of a training passage by which it is recognised


class Sentence(NamedTuple):
    """A sentence of a document; `tokens` has the annotated token of each of its words (words,)."""

    text: str
    words: tuple[Word, ...]
    tokens: NDArray[np.int64]


class Target(NamedTuple):
    """The words that a pronoun should attend to (words,), the baseline's, nearest first; whether there are any."""

    words: NDArray[np.bool_]
    nearest: tuple[int, ...]
    exists: bool


class Pronoun(NamedTuple):
    """A third-person pronoun: the candidate words (words,), and its targets, none if it refers to no entity."""

    form: str
    counts: NDArray[np.bool_]
    targets: dict[str, Target]


def natural(tokens: Iterable[str]) -> str:
    """Tokens as running text; only spaces are added or removed.

    >>> natural(["She", "did", "n't", "(", "yet", ")", "see", "“", "a", "well", "-", "known", "man", "”", "."])
    "She didn't (yet) see “a well-known man”."
    """
    text = " ".join(tokens)
    text = re.sub(r'(?<!\S)" ([^"]+) "(?!\S)', r'"\1"', text)
    text = re.sub(r"(?<=\w) - (?=\w)", "-", text)
    text = re.sub(
        r" (?=[.,;:!?%)\]}\u2026\u201d\u2019]|n['\u2019]t\b|['\u2019](?:s|re|ve|ll|d|m)\b)",
        "",
        text,
        flags=re.IGNORECASE,
    )
    return re.sub(r"(?<=[(\[{\u201c\u2018$£€#]) ", "", text)


def sentences(document: Annotated) -> list[Sentence]:
    """The document as one writes it, cut into sentences by rule (the annotation marks none)."""
    text = natural(document.tokens)
    tokens = np.repeat(np.arange(len(document.tokens)), [len("".join(t.split())) for t in document.tokens])  # by letter
    letter = np.cumsum([not character.isspace() for character in text]) - 1
    found = []
    for start, end in pairwise((0, *starts(text), len(text))):
        sentence = text[start:end].rstrip()
        split = words(sentence)
        found.append(Sentence(sentence, split, tokens[letter[[start + word.start for word in split]]]))
    return found


def pronoun(document: Annotated, form: str, own: int, shown: Sequence[Sentence]) -> Pronoun:
    """The pronoun `form` that is word `own` of the sentences shown, and what it should look at there."""
    tokens = np.concatenate([sentence.tokens for sentence in shown])
    real = np.array([word.text[-1].isalnum() for sentence in shown for word in sentence.words])  # no punctuation
    token = int(tokens[own])
    counts = real & (np.arange(len(real)) != own)
    entities = {m.entity for m in document.mentions if (m.start, m.end) == (token, token + 1)}
    earlier = [m for m in document.mentions if m.start < token]
    kinds = {ANTECEDENT: [m for m in earlier if not _bare(document, m)], EARLIER: earlier}
    targets = {}
    for kind, mentions in kinds.items() if entities else ():
        where, nearest = np.zeros_like(counts), set()
        for mention in (m for m in mentions if m.end > tokens[0]):
            inside = counts & (mention.start <= tokens) & (tokens < min(mention.end, token))
            if mention.entity in entities:
                where |= inside
            if mention.end <= token:
                nearest.update(np.flatnonzero(inside)[-1:].tolist())
        exists = any(mention.entity in entities for mention in mentions)
        targets[kind] = Target(where, tuple(sorted(nearest, reverse=True)), exists)
    return Pronoun(form, counts, targets)


def _bare(document: Annotated, mention: Mention) -> bool:
    """Whether a mention is a pronoun and nothing else."""
    return mention.end == mention.start + 1 and document.tokens[mention.start].lower() in FORMS


def openings(texts: Iterable[str]) -> set[str]:
    """By what passages are known again in a document: their first letters and digits; short ones by nothing."""
    return {letters[:_OPENING] for text in texts if len(letters := _letters(text)) >= _OPENING}


def trained_on(document: Annotated, known: Collection[str]) -> bool:
    """Whether a passage whose opening is among those `known` begins in the document; it is held out where none does."""
    text = _letters("".join(document.tokens))
    return any(text[i : i + _OPENING] in known for i in range(len(text) - _OPENING + 1))


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text.lower())


def passages(document: Annotated) -> Iterator[Passage]:
    """Passages of a document, each of which begins in the middle of the last one; those without an antecedent left out.

    `antecedents` has each third-person pronoun with an antecedent within the passage: what attention learns from.
    """
    parts = sentences(document)
    begins = np.cumsum([0, *(len(part.words) for part in parts)])
    for number, first in enumerate(range(0, max(1, int(begins[-1]) - _WORDS // 2), _WORDS // 2), start=1):
        shown = [part for part, at in zip(parts, begins[:-1], strict=True) if first <= at < first + _WORDS]
        text = join(part.text for part in shown)
        found = find(text)
        antecedents = tuple(
            Antecedent(each.word, tuple(np.flatnonzero(target.words).tolist()))
            for each in found
            if each.form in THIRD_PERSON
            and (target := pronoun(document, each.form, each.word, shown).targets.get(ANTECEDENT))
            and target.words.any()
        )
        if antecedents:
            spans, forms = tuple((o.start, o.end) for o in found), tuple(o.form for o in found)
            name = f"{SOURCE}/{document.name}#{number}"
            yield Passage(name, SOURCE, document.name, text, spans, forms, antecedents)
