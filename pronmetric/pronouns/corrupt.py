"""Corruption: the confusion table, replacement of one pronoun with its letter case, seeded replacement of many."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pronmetric.errors import InputError
from pronmetric.pronouns.finder import FORMS, Occurrence
from pronmetric.pronouns.languages import ENGLISH, Language, referents
from pronmetric.text import strict_json
from pronmetric.text.words import Word
from pronmetric.text.writing import is_unspaced

UNSOURCED = 2.0  # how much more often a pronoun without a counterpart in the source is replaced; see experiments.md


class ConfusionTable:
    """How often systems wrote one pronoun form where the reference has another.

    Forms are lower-cased; a form paired with itself and forms outside the inventory are refused.
    """

    def __init__(self, counts: Mapping[str, Mapping[str, float]], *, forms: Collection[str] = FORMS) -> None:
        """Check nested counts {form: {wrong: n}} of an inventory, by default the English one."""
        for form, row in counts.items():
            for wrong, count in row.items():
                if form not in forms or wrong not in forms or form == wrong or not count >= 0:
                    raise InputError(
                        "confusion table: expected counts >= 0 of one pronoun for another, "
                        f"got {form} -> {wrong}: {count}"
                    )
        self._counts = {form: {w: row[w] for w in sorted(row)} for form, row in sorted(counts.items())}

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[str, Mapping[str, float]] | Mapping[tuple[str, str], float],
        *,
        forms: Collection[str] = FORMS,
    ) -> ConfusionTable:
        """A table from nested counts {form: {wrong: n}} or from pairs {(form, wrong): n}."""
        nested: dict[str, dict[str, float]] = {}
        for key, value in counts.items():
            if isinstance(key, tuple):
                nested.setdefault(key[0], {})[key[1]] = value  # type: ignore[assignment]
            else:
                nested[key] = dict(value)  # type: ignore[arg-type]
        return cls(nested, forms=forms)

    @classmethod
    def load(cls, path: str | Path, *, forms: Collection[str] = FORMS) -> ConfusionTable:
        """Read the JSON that `save` writes.

        Raises:
            InputError: the file cannot be read, is not strict JSON or has other content.
        """
        expected = "expected a confusion table (JSON: form -> wrong form -> count)"
        content = strict_json.read(path, expected)
        try:
            return cls(content, forms=forms)
        except (AttributeError, TypeError, InputError) as error:
            raise InputError(f"{expected}: {error}", file=path) from None

    def save(self, path: str | Path) -> None:
        """Write the counts as JSON, sorted."""
        text = strict_json.dump(self._counts, indent=1, sort_keys=True)
        Path(path).write_text(text + "\n", encoding="utf-8")

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The counts, form -> wrong form -> count."""
        return {form: dict(row) for form, row in self._counts.items()}

    def count(self, form: str, wrong: str) -> float:
        """How often `wrong` was written for `form`."""
        return self._counts.get(form, {}).get(wrong, 0)

    def probability(self, form: str, *, power: float = 1.0, allowed: Collection[str] | None = None) -> dict[str, float]:
        """The chance of each wrong form: count ** power, over `allowed` or the seen forms; the sum is 1.

        Empty if no form can be drawn.
        """
        row = self._counts.get(form, {})
        forms = [f for f in (row if allowed is None else allowed) if f != form]
        weights = np.array([row.get(f, 0) for f in forms], dtype=float)
        weights = np.where(weights > 0, weights**power, 0.0)
        total = weights.sum()
        return dict(zip(forms, (weights / total).tolist(), strict=True)) if total > 0 else {}

    def draw(
        self,
        rng: np.random.Generator,
        form: str,
        *,
        power: float = 1.0,
        allowed: Collection[str] | None = None,
    ) -> str | None:
        """One wrong form for `form`, drawn by `probability`; None if there is none."""
        chances = self.probability(form, power=power, allowed=allowed)
        if not chances:
            return None
        edges = np.cumsum(list(chances.values()))
        return list(chances)[min(int(np.searchsorted(edges, rng.random(), side="right")), len(chances) - 1)]


def replace(text: str, start: int, end: int, form: str) -> str:
    """`text` with the pronoun at [start, end) replaced by `form` in the letter case of its position.

    >>> replace("He left.", 0, 2, "it"), replace("I know I can.", 7, 8, "he"), replace("SHE LEFT", 0, 3, "they")
    ('It left.', 'I know he can.', 'THEY LEFT')
    """
    new = match_case(text, start, end, form)
    gap, rest = _join(text, end, form)
    return f"{text[:start]}{new}{gap}{text[rest:]}"


def _join(text: str, end: int, form: str) -> tuple[str, int]:
    """What stands between `form` and the text after `end`, and where that text goes on.

    A form that replaces an elided one needs a blank (c'est -> elle est), an elided one none (elle est -> c'est).
    """
    after = text[end : end + 1]
    if form.endswith("'"):
        return "", end + after.isspace()
    return " " if after.isalpha() and not is_unspaced(after) else "", end


def match_case(text: str, start: int, end: int, form: str) -> str:
    """`form` in the letter case for the position [start, end) of `text`."""
    old = text[start:end].strip("'\u2019\u2018\u02bc")
    if not any(letter.isupper() for letter in text):
        return form.lower()
    if old.isupper() and (len(old) > 1 or _shouts(text, start, end)):
        return form.upper()
    if form.lower() == "i":
        return "I"
    if old[:1].isupper() and (old != "I" or _starts_sentence(text, start)):
        return form.capitalize()
    return form.lower()


def _shouts(text: str, start: int, end: int) -> bool:
    rest = text[:start] + text[end:]
    return any(c.isupper() for c in rest) and not any(c.islower() for c in rest)


def _starts_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip()
    bare = before.rstrip("\"'([{\u201c\u201e\u2018\u00ab\u2039-\u2013\u2014\u2022*")
    return not bare or bare[-1] in ".!?\u2026" or (bare != before and text[start - 1] in "\"'\u201c\u201e\u2018\u00ab")


@dataclass(frozen=True, slots=True)
class Corrupted:
    """A text with some pronouns replaced; one entry for each pronoun of `spans`, `replaced` and `forms`."""

    text: str
    spans: tuple[tuple[int, int], ...]
    replaced: tuple[bool, ...]
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CorruptionRates:
    """How `corrupt` replaces pronouns.

    rate: the share of pronouns to replace; `emphasis` has factors of it by form (lower-cased).
    same_slot_share: the chance that a wrong form is drawn from the first grade of its slot; else it is drawn from the
    whole row of the confusion table.
    power: a form's weight is count ** power; power 0 balances the forms.
    joint: the chance that all mentions of one referent in the text (he, him, his, himself) are replaced together by
    those of another, in addition to the single replacements.
    must_agree: the chance that a draw is restricted to forms that the verb agrees with.
    """

    rate: float
    power: float
    same_slot_share: float
    joint: float
    must_agree: float
    emphasis: Mapping[str, float]

    @classmethod
    def raw(cls, rate: float) -> CorruptionRates:
        """Replace about `rate` of the pronouns, each drawn from the raw counts of its row of the confusion table."""
        return cls(
            rate=rate,
            power=1.0,
            same_slot_share=0.0,
            joint=0.0,
            must_agree=0.0,
            emphasis={},
        )


def corrupt(
    text: str,
    occurrences: Sequence[Occurrence],
    rng: np.random.Generator,
    rates: CorruptionRates,
    *,
    table: ConfusionTable,
    frequency: Mapping[str, Mapping[str, float]] | None = None,
    language: Language = ENGLISH,
    words: Sequence[Word] | None = None,
    unsourced: Collection[int] = (),
) -> Corrupted:
    """Replace some of the pronouns of `text` by wrong ones; the same generator state gives the same text.

    frequency: how often each form is right in each slot, {slot: {form: n}}; forms drawn from the slot, and referents,
    are then drawn by it instead of by `table`. Without it a rare form often replaces a common one, so that the model
    learns that it is wrong. The counts are by slot: "her" is far more frequent as a possessive than as an object.
    words: of the text; given, they are not found again.
    unsourced: numbers of the pronouns without a counterpart in the source. Systems invent these, often in the wrong
    person: they are replaced `UNSOURCED` times as often, by forms of their slot.
    """
    words = language.words(text) if words is None else words
    wrong: list[str | None] = [None] * len(occurrences)
    if rng.random() < rates.joint:
        _replace_referent(words, occurrences, rng, wrong, frequency, language)
    for k, occurrence in enumerate(occurrences):
        hit, whole, strict = rng.random(3)
        invented = k in unsourced
        rate = rates.rate * rates.emphasis.get(occurrence.form, 1.0) * (UNSOURCED if invented else 1.0)
        if wrong[k] is not None or hit >= rate:
            continue
        in_slot = invented or whole < rates.same_slot_share
        allowed: Collection[str] | None = None
        if in_slot:
            allowed = next(iter(language.grades(words, occurrence.word)), ())
        if strict < rates.must_agree:
            forms = language.forms if allowed is None else allowed
            allowed = [form for form in forms if language.agrees(words, occurrence.word, form)]
        if frequency is not None and in_slot:
            right = _in_places(frequency, language.places(words, occurrence.word))
            wrong[k] = _draw(rng, [f for f in allowed or () if f != occurrence.form], right)
        else:
            wrong[k] = table.draw(rng, occurrence.form, power=rates.power, allowed=allowed)
    return _write(text, occurrences, wrong, language)


def _in_places(frequency: Mapping[str, Mapping[str, float]], places: Sequence[str]) -> Mapping[str, float]:
    """How often each form is right in one of these slots."""
    if len(places) == 1:
        return frequency.get(places[0], {})
    forms = dict.fromkeys(form for place in places for form in frequency.get(place, {}))
    return {form: max(frequency.get(place, {}).get(form, 0.0) for place in places) for form in forms}


def _replace_referent(
    words: Sequence[Word],
    occurrences: Sequence[Occurrence],
    rng: np.random.Generator,
    wrong: list[str | None],
    frequency: Mapping[str, Mapping[str, float]] | None,
    language: Language,
) -> None:
    """Fill `wrong` for all mentions of one of he, she, it and they (with their other cases) by another's forms."""
    known = referents(language)
    present = sorted(set[str]().union(*(known.get(o.form, ()) for o in occurrences)))
    if not present:
        return
    old = present[rng.integers(len(present))]
    others = sorted(set[str]().union(*known.values()) - {old})
    if frequency is None:
        new = others[rng.integers(len(others))]
    else:
        shares = dict.fromkeys(others, 1.0)
        for form, possible in known.items():
            for referent in possible & shares.keys():
                shares[referent] += sum(right.get(form, 0) for right in frequency.values())
        new = _draw(rng, others, shares) or others[0]
    for k, occurrence in enumerate(occurrences):
        if old in known.get(occurrence.form, ()):
            grade = next(iter(language.grades(words, occurrence.word)), ())
            wrong[k] = next((f for f in grade if new in known.get(f, ()) and old not in known[f]), None)


def _draw(rng: np.random.Generator, forms: Sequence[str], weights: Mapping[str, float]) -> str | None:
    """One of `forms` by weight; None if all weights are 0."""
    edges = np.cumsum([weights.get(form, 0) for form in forms])
    if not len(edges) or edges[-1] <= 0:
        return None
    return forms[min(int(np.searchsorted(edges, rng.random() * edges[-1], side="right")), len(forms) - 1)]


def _write(text: str, occurrences: Sequence[Occurrence], drawn: Sequence[str | None], language: Language) -> Corrupted:
    """The text with the drawn forms in the shape of their places; one that is the same pronoun is not written."""
    wrong = [
        None if form is None or language.same(old.form, form) else language.shape(form, text[old.end :].lstrip())
        for old, form in zip(occurrences, drawn, strict=True)
    ]
    pieces, spans, last, length = [], [], 0, 0
    for occurrence, form in zip(occurrences, wrong, strict=True):
        start, end = occurrence.start, occurrence.end
        new = text[start:end] if form is None else match_case(text, start, end, form)
        gap, rest = ("", end) if form is None else _join(text, end, form)
        pieces += [text[last:start], new, gap]
        length += start - last
        spans.append((length, length + len(new)))
        length += len(new) + len(gap)
        last = rest
    pieces.append(text[last:])
    return Corrupted(
        text="".join(pieces),
        spans=tuple(spans),
        replaced=tuple(form is not None for form in wrong),
        forms=tuple(o.form if form is None else form for o, form in zip(occurrences, wrong, strict=True)),
    )
