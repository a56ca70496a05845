"""Fragments of parallel documents: a sentence pair with its previous ones, and what is asked about it by hand."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from data_prep.suites.corpus import Document
from pronmetric.alignment.parsed import Aligned
from pronmetric.errors import InputError
from pronmetric.pronouns import tables
from pronmetric.pronouns.lexicon import AUXILIARY, VERB
from pronmetric.text.conllu import Sentence

_ADDED = frozenset("n't not too either also so".split())
_INVERTING = frozenset("so neither nor".split())
_SUBJECTS = frozenset("i you he she it we they".split())
_ENDS = frozenset(".!?;\u2026")
_CLAUSES = frozenset("and but or so too either because though".split())
_AUXILIARIES = {
    "do": frozenset("do does did don doesn didn".split()),
    "have": frozenset("have has had haven hasn hadn".split()),
    "modal": frozenset("will would can could should must won wouldn ca couldn shouldn mustn".split()),
    "be": frozenset("am is are was were isn aren wasn weren".split()),
}


class Fragment(NamedTuple):
    """A sentence pair and the previous ones of its document, oldest first; the number of the pair from 0."""

    document: str
    number: int
    before: tuple[Aligned, ...]
    pair: Aligned

    @property
    def id(self) -> str:
        """The name of the fragment, of which a document and sentence have one."""
        return f"{self.document}:{self.number + 1}"


class Check(NamedTuple):
    """What people are asked about an item: is the right text better than the wrong one in its context?

    forms: in which the two texts differ. group: the kind of item.
    """

    id: str
    group: str
    document: str
    context: tuple[str, ...]
    right: str
    wrong: str
    forms: tuple[str, str]
    source: str
    source_context: tuple[str, ...]


def fragments(document: Document, *, least: int, most: int) -> Iterator[Fragment]:
    """The sentence pairs that have at least `least` previous ones, each with at most `most`; blank ones are no end."""
    for number, pair in enumerate(document.pairs):
        before = document.pairs[max(0, number - most) : number]
        if len(before) >= least and pair.source.tokens and pair.target.tokens:
            yield Fragment(document.name, number, before, pair)


def check(fragment: Fragment, group: str, right: str, wrong: str, forms: tuple[str, str]) -> Check:
    """The question about a fragment whose last target sentence is `right` or `wrong`."""
    source, target = ([one.text() for one in side] for side in _sides(fragment.before))
    name = f"{fragment.id}:{group}"
    return Check(
        name, group, fragment.document, tuple(target), right, wrong, forms, fragment.pair.source.text(), tuple(source)
    )


def _sides(pairs: Sequence[Aligned]) -> tuple[list[Sentence], list[Sentence]]:
    return [pair.source for pair in pairs], [pair.target for pair in pairs]


def ellipsis(sentence: Sentence) -> tuple[int, str] | None:
    """The auxiliary of an English sentence whose verb phrase is left out, and its kind; None where there is none.

    The auxiliary ends the clause, but for words such as not and too, and for a subject pronoun if it is the first word
    or after so. No verb stands before it, so that neither tag questions nor clauses after another verb count: "I did ."
    and "So does he ." but not "She did it ." and "He left , did he ?".
    """
    low = [token.form.lower().replace("\u2019", "'") for token in sentence.tokens]
    for at, word in enumerate(low):
        kind = next((name for name, forms in _AUXILIARIES.items() if word in forms), None)
        if kind is not None:
            inverted = at == 0 or low[at - 1] in _INVERTING
            passed = _ADDED | _SUBJECTS if inverted else _ADDED
            after = next((k for k in range(at + 1, len(low)) if low[k] not in passed), len(low))
            has_subject = any(form[:1].isalpha() for form in low[:at]) or not _SUBJECTS.isdisjoint(low[at:after])
            return (at, kind) if has_subject and "there" not in low[:at] and _ends(low, after) else None
        if word in VERB or word in AUXILIARY:
            return None
    return None


def _ends(low: Sequence[str], at: int) -> bool:
    """Whether a clause ends before word `at`: at a mark, or at a comma before another clause or too."""
    return at >= len(low) or low[at] in _ENDS or (low[at] == "," and not _CLAUSES.isdisjoint(low[at + 1 : at + 2]))


@cache
def table(name: str, code: str) -> tuple[Mapping[str, str], ...]:
    """The rows of the table of a kind for a target language.

    Raises:
        InputError: there is none.
    """
    try:
        return tuple(tables.rows(f"tables/{name}.{code}.tsv", __package__))
    except FileNotFoundError:
        raise InputError(f"`target_language={code}`: there is no table of {name} for it") from None


def literal(form: str, code: str) -> str | None:
    """The form of the literal translation of "do" that replaces a verb, by its ending; None where no ending fits."""
    rows = sorted(table("ellipsis", code), key=lambda row: -len(row["ending"]))
    low = form.lower()
    if low in (row["literal"] for row in rows):
        return None
    return next((row["literal"] for row in rows if row["ending"] == "*" or low.endswith(row["ending"])), None)


def occurrences(forms: Collection[str], text: str) -> list[tuple[int, int]]:
    """The spans of forms in a text; of overlapping ones the longest counts, and one of letters is a whole word.

    >>> occurrences(["ab", "abc"], "abc ab"), occurrences(["\u4f60", "\u4f60\u4eec"], "\u4f60\u4eec")
    ([(0, 3), (4, 6)], [(0, 2)])
    """
    longest = sorted(forms, key=lambda form: (-len(form), form))
    pattern = "|".join(rf"\b{re.escape(form)}\b" if form.isascii() else re.escape(form) for form in longest)
    return [match.span() for match in re.finditer(pattern, text)]
