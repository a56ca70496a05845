"""Finite verbs in another person, by two lexicons that must agree; no form is made by rule alone.

simplemma's dictionary gives the infinitive of a form, ablaut's tables the forms of the infinitive; a form that is not
in the dictionary is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

from pronmetric.errors import PronmetricError

_TENSES = (  # ablaut's simple tenses, in all of its languages
    "present",
    "preterite",
    "konjunktiv2",
    "imperfect",
    "future",
    "conditional",
    "subjunctive_present",
    "subjunctive_imperfect",
)
_MODULES = ("ablaut", "simplemma")


class Table(NamedTuple):
    """The forms of a verb: of each tense those of the six persons, and the singular imperative."""

    tenses: tuple[tuple[str, ...], ...]
    imperative: str | None


def check() -> None:
    """Raise PronmetricError where the lexicons are not installed."""
    if missing := [name for name in _MODULES if find_spec(name) is None]:
        raise PronmetricError(f'{" and ".join(missing)} not installed: pip install "pronmetric[suites]"')


@cache
def _dictionary(code: str) -> Mapping[str, str]:
    from simplemma.strategies.dictionaries.dictionary_factory import DefaultDictionaryFactory

    return DefaultDictionaryFactory().get_dictionary(code)


@cache
def _table(infinitive: str, code: str) -> Table | None:
    import ablaut

    try:
        found = ablaut.conjugate(infinitive, lang=code)
    except ValueError:
        return None
    tenses = (getattr(found, name, None) for name in _TENSES)
    rows = tuple(tuple(map(_joined, row)) for row in tenses if row is not None)
    imperative = found.imperative[0] if hasattr(found, "imperative") else None
    return Table(rows, None if imperative is None else _joined(imperative))


def _joined(form: str) -> str:
    """A separable verb as one word, as it stands at the end of a clause: steht auf, aufsteht."""
    verb, _, prefix = form.partition(" ")
    return prefix + verb


def _of(form: str, code: str) -> Table | None:
    infinitive = _dictionary(code).get(form)
    return None if infinitive is None else _table(infinitive, code)


@cache
def in_person(form: str, code: str, here: int, there: int) -> str | None:
    """The form of the person `there` that stands for a form of the person `here`, in the first tense that has it.

    Persons are numbered from 0: first to third singular, first to third plural. None: no such form is known.
    """
    if (table := _of(form, code)) is None:
        return None
    found = next((row[there] for row in table.tenses if row[here] == form), None)
    return found if found is not None and _dictionary(code).get(found) is not None else None


def is_imperative(form: str, code: str) -> bool:
    """Whether a form is a singular imperative, with or without a final e."""
    table = _of(form, code)
    return table is not None and table.imperative is not None and form in (table.imperative, f"{table.imperative}e")


def is_infinitive(form: str, code: str) -> bool:
    """Whether a form is the infinitive of a verb that has an imperative."""
    table = _of(form, code)
    return table is not None and table.imperative is not None and _dictionary(code).get(form) == form


def is_known(form: str, code: str) -> bool:
    """Whether the dictionary has a lower-cased form, as it has no German nouns."""
    return _dictionary(code).get(form) is not None


def may_be_verb(form: str, code: str) -> bool:
    """Whether a form may be an infinitive, or one that is spelt as it: one of a verb, or none that is known."""
    infinitive = _dictionary(code).get(form)
    return infinitive is None or (infinitive == form and _table(infinitive, code) is not None)
