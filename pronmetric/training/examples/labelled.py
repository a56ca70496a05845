"""Prepared rows to labelled examples: seeded corruption of passages, pairs, the study's form."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pronmetric.data.collate import Example
from pronmetric.pronouns.corrupt import ConfusionTable, CorruptionRates, corrupt, replace
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.schema import FIDELITY, TIE
from pronmetric.text import sentences
from pronmetric.text.context import join
from pronmetric.text.words import words
from pronmetric.training.examples import swaps
from pronmetric.training.examples.swaps import Names
from pronmetric.training.objective import Corruption


class LabelledExample(NamedTuple):
    """An example whose pronouns have labels.

    right: 1 as written, 0 replaced, one for each span. labelled: whether detection learns from this example.
    antecedents: for each pronoun the words of its antecedent, as distances in words (-1: the word before it), empty if
        unknown; empty if no antecedent is known.
    kind: of a pair's texts (see `pronmetric.schema.Pair`).
    gaps: for each word of the text the form that is missing before it, "" for none, None where that is not known; empty
        if nothing is known.
    """

    example: Example
    right: tuple[float, ...]
    labelled: bool
    antecedents: tuple[tuple[int, ...], ...] = ()
    kind: str = ""
    gaps: tuple[str | None, ...] = ()


def of_forms(item: LabelledExample, forms: Collection[str], language: Language = ENGLISH) -> LabelledExample:
    """`item` without the labels of pronouns whose form is not in `forms`; the text is unchanged."""
    _, text, spans, _ = item.example
    known = language.forms
    keep = [i for i, (a, b) in enumerate(spans) if (form := text[a:b].lower()) in forms or form not in known]
    if len(keep) == len(spans):
        return item
    return item._replace(
        example=item.example._replace(spans=tuple(spans[i] for i in keep)),
        right=tuple(item.right[i] for i in keep),
        antecedents=tuple(item.antecedents[i] for i in keep) if item.antecedents else (),
    )


class Corrupter(NamedTuple):
    """Statistics of the training data for the corruption of passages.

    table: confusion counts. frequency: how often each form is right in each slot; None if forms are not balanced.
    names: first names; None if none are swapped. language: of the texts.
    """

    table: ConfusionTable
    frequency: Mapping[str, Mapping[str, float]] | None = None
    names: Names | None = None
    language: Language = ENGLISH


def passage(
    row: Mapping[str, Any], rng: np.random.Generator, corrupter: Corrupter, settings: Corruption
) -> LabelledExample:
    """A passage with about `settings.rate` of its pronouns replaced (see `pronmetric.pronouns.corrupt.corrupt`).

    The antecedents in the row's `antecedents`, if any, belong to its pronouns, replaced or not. The settings are
    documented in `conf/objective/detection.yaml`.
    """
    text = _swap_genders_and_names(row["text"], rng, corrupter.names, settings)
    before, language = "", corrupter.language
    if rng.random() < settings.context:
        before, text = _halves(text, rng, language)
    split = language.words(text)
    occurrences = language.find(text, split)
    rates = draw_rates(rng, settings)
    result = corrupt(
        text,
        occurrences,
        rng,
        rates,
        table=corrupter.table,
        frequency=corrupter.frequency,
        language=language,
        words=split,
    )
    example = natural = Example(before, result.text, result.spans)
    if rng.random() < settings.plain:
        flatten = language.writing.flatten
        example = Example(flatten(before), flatten(result.text), result.spans)
    right = tuple(0.0 if replaced else 1.0 for replaced in result.replaced)
    return LabelledExample(example, right, True, _antecedents(row, natural, example))


def draw_rates(rng: np.random.Generator, settings: Corruption) -> CorruptionRates:
    """The rates for one text.

    The rate varies between texts, so that other replaced pronouns give no evidence about a single one.
    """
    clean = rng.random() < settings.clean
    varied = float(rng.uniform(0.5, 1.5))
    return CorruptionRates(
        rate=0.0 if clean else settings.rate * varied,
        power=settings.power,
        same_slot_share=settings.same_slot_share,
        joint=0.0 if clean else settings.joint,
        must_agree=settings.must_agree,
        emphasis=settings.emphasis or {},
    )


def _swap_genders_and_names(text: str, rng: np.random.Generator, names: Names | None, settings: Corruption) -> str:
    """`text`, by chance with swapped genders, by chance with other first names; swapped genders imply other names."""
    swapped = rng.random() < settings.gender_swap
    if swapped:
        text = swaps.swap_genders(text)
    if names is not None and (rng.random() < settings.name_swap or swapped):
        text = names.swap(text, rng, other_gender=swapped)
    return text


def _antecedents(row: Mapping[str, Any], natural: Example, example: Example) -> tuple[tuple[int, ...], ...]:
    """The antecedents of a row's pronouns in `example`, which is `natural` or its plain form.

    Names, nouns and pronouns are replaced word for word, so that the words of `natural` have the same indices as in the
    row's text (if the numbers of words differ, no antecedent is known); the plain form has other words at the same
    offsets.
    """
    known = {each["word"]: each["antecedent"] for each in row.get("antecedents") or ()}
    if not known:
        return ()
    before = _positions(natural)
    if len(before) != len(words(row["text"])):
        return ()
    numbers = {position: number for number, position in enumerate(before)}
    after = {position: number for number, position in enumerate(_positions(example))}
    slots = []
    for start, _ in natural.spans:
        place = after.get((1, start))
        antecedent = [before[word] for word in known.get(numbers.get((1, start), -1), ())]
        slots.append(
            () if place is None else tuple(after[position] - place for position in antecedent if position in after)
        )
    return tuple(slots)


def _positions(example: Example) -> list[tuple[int, int]]:
    """For each word its part, context (0) or text (1), and its offset there."""
    return [(part, word.start) for part, text in enumerate(example[:2]) for word in words(text)]


def _halves(text: str, rng: np.random.Generator, language: Language) -> tuple[str, str]:
    """`text` split at the start of one of its sentences, drawn uniformly; the second part has a pronoun.

    The first part is empty if only the first sentence qualifies.
    """
    last = max((o.start for o in language.find(text)), default=0)
    cuts = [start for start in sentences.starts(text, language.writing.context_ends) if start <= last]
    cut = cuts[int(rng.integers(len(cuts)))] if cuts else 0
    return text[:cut].rstrip(), text[cut:]


def add_noise(
    context: str,
    text: str,
    rng: np.random.Generator,
    *,
    table: ConfusionTable,
    rate: float,
    plain: float,
    language: Language = ENGLISH,
) -> LabelledExample:
    """A text in its clean context with about `rate` of its pronouns replaced, drawn from the raw confusion counts."""
    split = language.words(text)
    occurrences = language.find(text, split)
    result = corrupt(text, occurrences, rng, CorruptionRates.raw(rate), table=table, language=language, words=split)
    example = Example(context, result.text, result.spans)
    if rng.random() < plain:
        flatten = language.writing.flatten
        example = Example(flatten(context), flatten(result.text), result.spans)
    right = tuple(0.0 if replaced else 1.0 for replaced in result.replaced)
    return LabelledExample(example, right, True)


def pair(
    row: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    context: str,
    plain: float,
    fresh: float,
    table: ConfusionTable | None,
    tie: float = 0.0,
    language: Language = ENGLISH,
) -> tuple[LabelledExample, LabelledExample]:
    """The better and the worse text of a pair, each in its context.

    For kinds "noisy" and "fidelity" the replaced pronouns are labelled wrong and all others right; for kind "tie" all
    are right. The single pronouns of a system output have no known labels, so that only the reference is labelled.

    fresh: chance that the worse text is replaced by a new noisy reference: one pronoun of the better text, drawn
    uniformly, replaced by one drawn from its counts in `table`. tie: chance of a pair in which
    neither text is better instead (`_make_tie`). Pairs of kinds "tie" and "fidelity" are not replaced.
    """
    fixed = row["kind"] in (TIE, FIDELITY)
    if not fixed and tie and rng.random() < tie:
        row = _make_tie(row, rng, language)
    elif not fixed and table is not None and rng.random() < fresh:
        row = _noisy_anew(row, rng, table, language)
    common = join(row["context"])
    of_system = join(row["system_context"])
    contexts = {"none": ("", ""), "respective": (common, of_system), "common": (common, common)}[context]
    if row["kind"] == TIE and context != "none":
        contexts = (common, of_system)
    texts = (row["better"], row["worse"])
    if rng.random() < plain:
        flatten = language.writing.flatten
        contexts = (flatten(contexts[0]), flatten(contexts[1]))
        texts = (flatten(texts[0]), flatten(texts[1]))
    better = language.find(texts[0])
    worse = language.find(texts[1])
    kind = row["kind"]
    replaced = {each["hyp_start"] for each in row["mismatches"]} if kind in ("noisy", FIDELITY) else set()
    return (
        LabelledExample(Example(contexts[0], texts[0], _spans(better)), tuple(1.0 for _ in better), True, kind=kind),
        LabelledExample(
            Example(contexts[1], texts[1], _spans(worse)),
            tuple(0.0 if o.start in replaced else 1.0 for o in worse),
            kind != "system",
            kind=kind,
        ),
    )


def texts(rows: Iterable[Mapping[str, Any]], *, context: str, language: Language = ENGLISH) -> Iterator[Example]:
    """The better and the worse text of each pair as prepared, each in its context."""
    rng = np.random.default_rng(0)  # with plain=0 nothing is drawn
    for row in rows:
        both = pair(row, rng, context=context, plain=0.0, fresh=0.0, table=None, language=language)
        yield from (item.example for item in both)


def _noisy_anew(
    row: Mapping[str, Any], rng: np.random.Generator, table: ConfusionTable, language: Language
) -> Mapping[str, Any]:
    """A row of kind "noisy" with one pronoun of the better text replaced; `row` if none can be replaced."""
    occurrences = [occurrence for occurrence in language.find(row["better"]) if table.probability(occurrence.form)]
    if not occurrences:
        return row
    old = occurrences[int(rng.integers(len(occurrences)))]
    new = table.draw(rng, old.form)
    assert new is not None
    if language.same(old.form, new):
        return row
    new = language.shape(new, row["better"][old.end :].lstrip())
    worse = replace(row["better"], old.start, old.end, new)
    return {**row, "kind": "noisy", "worse": worse, "mismatches": [{"hyp_start": old.start, "ref_form": old.form}]}


def _make_tie(row: Mapping[str, Any], rng: np.random.Generator, language: Language) -> Mapping[str, Any]:
    """A row of kind "tie": the better text and one whose pronouns are as good.

    With equal chance, the second text has another demonstrative of the same number (this, that; see
    `Language.demonstratives`), or the last sentence of the context before it, so that it is longer and has more
    pronouns. If only one of the two is possible, it is used; if neither, `row` is returned.
    """
    better, context = row["better"], row["context"]
    split, others = language.words(better), language.demonstratives
    occurrences = [
        o
        for o in language.find(better, split)
        if o.form in others and language.slot(split, o.word).startswith("demonstrative")
    ]
    if context and (not occurrences or rng.random() < 0.5):
        longer = f"{context[-1]} {better}"
        return {**row, "kind": TIE, "worse": longer, "system_context": context[:-1]}
    if not occurrences:
        return row
    old = occurrences[int(rng.integers(len(occurrences)))]
    worse = replace(better, old.start, old.end, others[old.form])
    return {**row, "kind": TIE, "worse": worse, "system_context": context}


def _spans(occurrences: Sequence[Occurrence]) -> tuple[tuple[int, int], ...]:
    return tuple((o.start, o.end) for o in occurrences)
