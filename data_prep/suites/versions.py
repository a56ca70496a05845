"""Fragments whose last sentence has other versions: the items of consistency sets, and what is asked about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from data_prep.suites.fragments import Check, Fragment, check
from pronmetric.text.conllu import Sentence

SEPARATOR = " _eos "
_BEFORE_CAPITALS = frozenset('.!?;:\u2026"\u00ab\u00bb\u201e\u201c\u201d\u2013\u2014-(')
Words = Mapping[int, str]
"""Other forms of words, by place."""


class VersionItem(NamedTuple):
    """An item in the JSON schema of the sets, and what people are asked about it."""

    item: dict[str, Any]
    check: Check


class Version(NamedTuple):
    """The last sentence otherwise: the new form of some words, and the first old and new form."""

    replaced: Words
    forms: tuple[str, str]


def make(
    fragment: Fragment,
    kind: str,
    versions: Sequence[Version],
    distance: int,
    *,
    changed: Mapping[int, Words] | None = None,
    right: int = 0,
) -> VersionItem:
    """The item whose candidates are the last sentence as it is and in other versions.

    changed: words of previous sentences, by sentence, that differ in all candidates. right: the place of the right one.
    """
    before = [one.target.text((changed or {}).get(at)) for at, one in enumerate(fragment.before)]
    texts = [fragment.pair.target.text(), *(fragment.pair.target.text(one.replaced) for one in versions)]
    source = [*(one.source.text() for one in fragment.before), fragment.pair.source.text()]
    item = {
        "src": SEPARATOR.join(source),
        "dst": [SEPARATOR.join([*before, text]) for text in texts],
        "true_ind": right,
        "ctx_dist": distance,
        "kind": kind,
        "document id": fragment.document,
        "segment id": fragment.number + 1,
    }
    old, new = versions[max(0, right - 1)].forms
    wrong, forms = (texts[1], (old, new)) if right == 0 else (texts[0], (new, old))
    asked = check(fragment, kind if right == 0 else f"{kind}.{right}", texts[right], wrong, forms)
    return VersionItem(item, asked._replace(context=tuple(before), group=kind))


def opens(sentence: Sentence, at: int) -> bool:
    """Whether a word has a capital by its place: the first one of a sentence or quotation, or after a colon."""
    begins = not any(token.form[:1].isalnum() for token in sentence.tokens[:at])
    return begins or sentence.tokens[at - 1].form in _BEFORE_CAPITALS


def cased(form: str, sentence: Sentence, at: int) -> str:
    """A form with the capitals of its place: those of a word in capitals, or of a first word."""
    old = sentence.tokens[at].form
    if len(old) > 1 and old.isupper():
        return form.upper()
    return form[:1].upper() + form[1:] if opens(sentence, at) and old[:1].isupper() else form
