"""Evidence from the source: how much more or less probable it makes the form of each pronoun in a translation.

A table of one language holds a pruned word aligner and a log-linear model of the class of an English pronoun (I, we,
you, he, she, ...) given what the source shows at its place (`source_features`). The log-odds of a pronoun are those of
its class with the source, minus those without it, among the seven personal classes: person, number and gender are what
a source can say. A demonstrative counts as the personal class that it competes with ("this" as "it", "these" as
"they"), so that one in place of the other changes no evidence. For "it", "this" and "that" there is evidence against
the form only: what takes their place in a source is too varied to support them. Relatives and interrogatives have
none. Where the source shows nothing the log-odds are 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.cells import Array
from pronmetric.pronouns.classes import CLASSES, INDEX, PERSON_OF, PERSONAL, class_of, group_of
from pronmetric.pronouns.closed_class import ClosedClass, closed_class
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.slots import slot
from pronmetric.source import words as source_words
from pronmetric.source.features import NOWHERE, Counted, Feature, Links, features
from pronmetric.source.unmatched import person, unmatched
from pronmetric.source.words import SourceWords
from pronmetric.text.context import SOURCE_CONTEXT, Source
from pronmetric.text.words import Word, lower_words

STEP = 1 / 16  # of the weights as stored, in eight bits
MOST = 4.0  # log-odds beyond this count as this
RELIABLE = 0.9  # share of references from which a pronoun without a counterpart counts as missing or surplus
_LEAST = 1e-4  # of a probability
_COMPETING = [INDEX[name] for name in PERSON_OF]
_PERSONS = np.array([[PERSON_OF[name] == person for person in CLASSES[:PERSONAL]] for name in PERSON_OF], np.float64)
_LEAST_OF_MODEL = 1e-7  # of a probability that the model gives, in single precision


class Evidence(NamedTuple):
    """What the source says about one pronoun.

    log_odds: above 0 where it supports the form, below 0 where it contradicts it; in [-MOST, MOST]. word, start, end:
    the source word that decided most, its span in the source; "" and -1 where it is none of this sentence.
    """

    log_odds: float
    word: str
    start: int
    end: int


NO_EVIDENCE = Evidence(0.0, "", -1, -1)


class Judgement(NamedTuple):
    """What the source says about a translation.

    evidence: about each of its pronouns. missing: pronouns of the source without a counterpart. surplus: numbers of the
    pronouns without a source.
    """

    evidence: tuple[Evidence, ...]
    missing: tuple[Word, ...]
    surplus: tuple[int, ...]


class Item(NamedTuple):
    """A translation to judge: its source, its words and its pronouns."""

    source: Source
    words: Sequence[Word]
    pronouns: Sequence[Occurrence]


class Combination(NamedTuple):
    """The logit of a pronoun with a source: logit * the model's + evidence * the log-odds + bias.

    The values are those of benchmarks/published/source.md, fitted on WMT23.
    """

    logit: float = 0.99
    evidence: float = 0.3
    bias: float = -0.05

    def probabilities(self, of_model: Sequence[float], log_odds: Sequence[float]) -> list[float]:
        """The probabilities of pronouns, from those of the model and the source's log-odds."""
        p = np.clip(np.asarray(of_model, np.float64), _LEAST_OF_MODEL, 1 - _LEAST_OF_MODEL)
        logit = self.logit * (np.log(p) - np.log1p(-p)) + self.evidence * np.asarray(log_odds) + self.bias
        return (1 / (1 + np.exp(-logit))).tolist()


@dataclass(frozen=True)
class SourceTable:
    """The table of one source language.

    aligner: source words to English words. vocabulary: feature -> row of weights. weights: float32 (features, classes).
    groups: group of slots -> row of base. base: float64 (groups + 1, classes), the shares of the classes; the last row
    is for groups that training did not meet. kept: how often each source pronoun has a counterpart in references.
    sourced: how often an English pronoun of each personal class has a source there. combination: fitted on development
    data. about: how it was made. hash: of its file, 8 hexadecimal digits.
    """

    language: str
    aligner: AgreementAligner
    vocabulary: Mapping[str, int]
    weights: Array
    groups: Mapping[str, int]
    base: Array
    kept: Mapping[str, float] = field(default_factory=dict)
    sourced: Mapping[str, float] = field(default_factory=dict)
    combination: Combination = field(default_factory=Combination)
    about: Mapping[str, Any] = field(default_factory=dict)
    hash: str = ""

    @cached_property
    def closed(self) -> ClosedClass:
        """The closed-class table of the language."""
        return closed_class(self.language)

    def evidence(self, items: Sequence[Item]) -> Iterator[tuple[Evidence, ...]]:
        """The evidence about each item's pronouns, in order."""
        for item, (source, links) in zip(items, self.aligned(items), strict=True):
            yield self._judge(item, source, links)

    def judge(self, items: Sequence[Item]) -> Iterator[Judgement]:
        """The evidence about each item's pronouns, and its missing and surplus pronouns, in order.

        Forms that references often leave without a counterpart, such as subjects of pro-drop languages, don't count.
        """
        for item, (source, links) in zip(items, self.aligned(items), strict=True):
            found = unmatched(source, self.closed, item.words, item.pronouns, links)
            persons = {k: person(item.words, item.pronouns[k]) for k in found.surplus}
            yield Judgement(
                self._judge(item, source, links),
                tuple(source.words[k] for k in found.missing if self.kept.get(source.forms[k], 0.0) >= RELIABLE),
                tuple(k for k, name in persons.items() if self.sourced.get(name, 0.0) >= RELIABLE),
            )

    def aligned(self, items: Sequence[Item]) -> Iterator[tuple[SourceWords, Links]]:
        """The source words of each item and their links to its English words."""
        read = [self.read(item.source.text) for item in items]
        pairs = [(source.lower, lower_words(item.words)) for source, item in zip(read, items, strict=True)]
        for source, item, links in zip(read, items, self.aligner.align_all(pairs), strict=True):
            yield source, Links.read(links.links, len(item.words))

    def read(self, text: str) -> SourceWords:
        """The words of a source sentence."""
        return _read(text, self.closed)

    def counted(self, source: Source) -> Counted:
        """The closed classes of a source sentence and of those before it."""
        before: Counter[str] = Counter()
        for text in source.before[-SOURCE_CONTEXT:]:
            before.update(_classes(text, self.closed))
        return Counted(_classes(source.text, self.closed), before)

    def _judge(self, item: Item, source: SourceWords, links: Links) -> tuple[Evidence, ...]:
        if not item.pronouns:
            return ()
        if not source.words:
            return (NO_EVIDENCE,) * len(item.pronouns)
        counted = self.counted(item.source)
        found = []
        for pronoun in item.pronouns:
            place = slot(item.words, pronoun.word)
            seen = [f for f in features(source, counted, links, pronoun.word, self.closed) if f.name in self.vocabulary]
            found.append(self._weigh(seen, class_of(pronoun.form, place), group_of(place), source))
        return tuple(found)

    def _weigh(self, seen: Sequence[Feature], name: str, group: str, source: SourceWords) -> Evidence:
        """The evidence for the class `name`, from the features seen in its place."""
        if not seen or name not in PERSON_OF:
            return NO_EVIDENCE
        this = INDEX[PERSON_OF[name]]
        base = self.base[self.groups.get(group, len(self.base) - 1), _COMPETING]
        rows = [self.vocabulary[f.name] for f in seen]
        effects = self.weights[rows][:, _COMPETING] * np.array([[f.value] for f in seen])
        with_source = base * np.exp(effects.sum(axis=0))
        shares = with_source @ _PERSONS
        log_odds = _log_odds(shares / shares.sum(), this) - _log_odds(base @ _PERSONS / base.sum(), this)
        if PERSON_OF[name] == "it":
            log_odds = min(log_odds, 0.0)
        of_person = (effects * with_source) @ _PERSONS / shares
        rest = np.delete(shares, this)
        against = np.delete(of_person, this, axis=1) @ (rest / rest.sum())
        support = (of_person[:, this] - against) * np.sign(log_odds)
        most = int(np.argmax(support))
        at = seen[most].at
        word = None if at == NOWHERE or not log_odds else source.words[at]
        log_odds = float(np.clip(log_odds, -MOST, MOST))
        return Evidence(log_odds, "", -1, -1) if word is None else Evidence(log_odds, *word)


def _log_odds(shares: Array, this: int) -> float:
    share = min(max(float(shares[this]), _LEAST), 1 - _LEAST)
    return float(np.log(share) - np.log1p(-share))


@lru_cache(maxsize=4096)
def _read_cached(text: str, language: str) -> SourceWords:
    return source_words.read(text, closed_class(language))


def _read(text: str, table: ClosedClass) -> SourceWords:
    return _read_cached(text, table.language)


def _classes(text: str, table: ClosedClass) -> Counter[str]:
    return source_words.classes(_read(text, table), table)
