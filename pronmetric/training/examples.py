"""From prepared rows to labelled examples: seeded corruption of passages, pairs, and the study's plain form."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pronmetric.data.collate import Example
from pronmetric.pronouns import finder
from pronmetric.pronouns.corrupt import ConfusionTable, corrupt, replace
from pronmetric.pronouns.slots import grades, slot
from pronmetric.text import sentences
from pronmetric.text.context import join
from pronmetric.text.study_form import flatten
from pronmetric.text.words import words
from pronmetric.training import gender_swap
from pronmetric.training.name_swap import Names


class LabelledExample(NamedTuple):
    """An example whose pronouns have labels.

    right: 1 as written, 0 replaced, one for each span. labelled: whether detection learns from this example.
    antecedents: the words of each one's antecedent, as distances from it in words (-1: the word before it); empty where
    none is known, of any or of all.
    places: slot and form of each one of the third person that is one of the likest of its slot, None for others; empty
        where not asked for.
    """

    example: Example
    right: tuple[float, ...]
    labelled: bool
    antecedents: tuple[tuple[int, ...], ...] = ()
    places: tuple[tuple[str, str] | None, ...] = ()


def of_forms(item: LabelledExample, forms: Collection[str]) -> LabelledExample:
    """`item` without its pronouns of other forms than `forms`: they are read, but neither judged nor learned from."""
    context, text, spans = item.example
    keep = [i for i, (a, b) in enumerate(spans) if (form := text[a:b].lower()) in forms or form not in finder.FORMS]
    if len(keep) == len(spans):
        return item
    return item._replace(
        example=Example(context, text, tuple(spans[i] for i in keep)),
        right=tuple(item.right[i] for i in keep),
        antecedents=tuple(item.antecedents[i] for i in keep) if item.antecedents else (),
        places=tuple(item.places[i] for i in keep) if item.places else (),
    )


def passage(
    row: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    table: ConfusionTable,
    rate: float,
    power: float,
    smoothing: float,
    same_slot_share: float,
    joint: float,
    must_agree: float,
    emphasis: Mapping[str, float],
    frequency: Mapping[str, Mapping[str, float]] | None,
    plain: float,
    clean: float,
    fitting: float = 0.0,
    context: float = 0.0,
    flip: float = 0.0,
    swap: float = 0.0,
    names: Names | None = None,
    places: bool = False,
) -> LabelledExample:
    """A passage with about `rate` of its pronouns replaced (see `pronmetric.pronouns.corrupt.corrupt`).

    What the row's `antecedents` name, if it has any, is what its pronouns refer to, replaced or not.

    context: chance that its first sentences, up to some sentence before the last pronoun, are left as they are and
        become the context of the rest.
    flip: chance that its genders are exchanged, those of its first names too.
    swap: chance that its first names are replaced by others of their gender, from `names`.
    plain: chance of the study's form (lower case, no punctuation but sentence ends).
    clean: chance that nothing is replaced.
    places: tell the places of its pronouns.
    """
    text = row["text"]
    flipped = rng.random() < flip
    if flipped:
        text = gender_swap.flip(text)
    if names is not None and (rng.random() < swap or flipped):
        text = names.swap(text, rng, flip=flipped)
    before = ""
    if rng.random() < context:
        before, text = _halves(text, rng)
    found = finder.find(text)
    if rng.random() < clean:
        rate = joint = 0.0
    # between passages the rate varies, so that the share of replaced ones tells nothing of a single one
    result = corrupt(
        text,
        found,
        rng,
        rate=rate * float(rng.uniform(0.5, 1.5)),
        table=table,
        power=power,
        smoothing=smoothing,
        same_slot_share=same_slot_share,
        fitting=fitting,
        joint=joint,
        must_agree=must_agree,
        emphasis=emphasis,
        frequency=frequency,
    )
    example = natural = Example(before, result.text, result.spans)
    if rng.random() < plain:
        example = Example(flatten(before), flatten(result.text), result.spans)
    right = tuple(0.0 if replaced else 1.0 for replaced in result.replaced)
    antecedents = _antecedents(row, natural, example)
    return LabelledExample(example, right, True, antecedents, _likest(text, found, result.forms) if places else ())


def _likest(text: str, found: Sequence[finder.Occurrence], forms: Sequence[str]) -> tuple[tuple[str, str] | None, ...]:
    """The slot of each pronoun of the third person with the form that stands there now, if one of the likest there."""
    before, places = words(text), []
    for old, form in zip(found, forms, strict=True):
        likest = {old.form, *next(iter(grades(before, old.word)), ())} & finder.THIRD_PERSON
        places.append((slot(before, old.word), form) if form in likest else None)
    return tuple(places)


def _antecedents(row: Mapping[str, Any], natural: Example, example: Example) -> tuple[tuple[int, ...], ...]:
    """The antecedents of a row's pronouns in `example`, which is `natural` or its plain form.

    Names, nouns and pronouns were replaced word for word, so that a word of `natural` has the number that it had in
    the row's text (should that once not be so, no antecedent is known); the plain form has other words, but keeps
    offsets.
    """
    known = {each["word"]: each["antecedent"] for each in row.get("antecedents") or ()}
    if not known:
        return ()
    before = _places(natural)
    if len(before) != len(words(row["text"])):
        return ()
    numbers = {place: number for number, place in enumerate(before)}
    shown = {place: number for number, place in enumerate(_places(example))}
    found = []
    for start, _ in natural.spans:
        own = shown.get((1, start))
        antecedent = [before[word] for word in known.get(numbers.get((1, start), -1), ())]
        found.append(() if own is None else tuple(shown[place] - own for place in antecedent if place in shown))
    return tuple(found)


def _places(example: Example) -> list[tuple[int, int]]:
    """Of each word whether it stands in the context (0) or the text (1), and its offset there."""
    return [(part, word.start) for part, text in enumerate(example[:2]) for word in words(text)]


def _halves(text: str, rng: np.random.Generator) -> tuple[str, str]:
    """`text` in two at the start of one of its sentences, drawn evenly; a pronoun stands in the second part.

    The first part is empty where there is no such sentence but the first.
    """
    last = max((o.start for o in finder.find(text)), default=0)
    cuts = [start for start in sentences.starts(text) if start <= last]
    cut = cuts[int(rng.integers(len(cuts)))] if cuts else 0
    return text[:cut].rstrip(), text[cut:]


def noised(
    context: str, text: str, rng: np.random.Generator, *, table: ConfusionTable, rate: float, plain: float
) -> LabelledExample:
    """A text in its clean context with about `rate` of its pronouns replaced, drawn from the raw confusion counts."""
    found = finder.find(text)
    result = corrupt(text, found, rng, rate=rate, table=table, power=1.0, smoothing=0.0, same_slot_share=0.0)
    example = Example(context, result.text, result.spans)
    if rng.random() < plain:
        example = Example(flatten(context), flatten(result.text), result.spans)
    right = tuple(0.0 if replaced else 1.0 for replaced in result.replaced)
    return LabelledExample(example, right, True)


def pair(
    row: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    context: str,
    plain: float,
    fresh: float = 0.0,
    table: ConfusionTable | None = None,
) -> tuple[LabelledExample, LabelledExample]:
    """The better and the worse text of a pair, each in its context.

    For kind "noisy" the replaced pronoun is labelled wrong and all others right; of a system output nothing
    is known pronoun by pronoun, so that only the reference has labels.

    fresh: chance that the worse text gives way to a noisy reference made anew: one pronoun of the better text, drawn
    evenly, replaced by one from its counts in `table`.
    """
    if table is not None and rng.random() < fresh:
        row = _noisy_anew(row, rng, table)
    common = join(row["context"])
    own = join(row["system_context"])
    contexts = {"none": ("", ""), "respective": (common, own), "common": (common, common)}[context]
    texts = (row["better"], row["worse"])
    if rng.random() < plain:
        contexts = (flatten(contexts[0]), flatten(contexts[1]))
        texts = (flatten(texts[0]), flatten(texts[1]))
    better = finder.find(texts[0])
    worse = finder.find(texts[1])
    noisy = row["kind"] == "noisy"
    at = row["mismatches"][0]["hyp_start"] if noisy else -1
    return (
        LabelledExample(Example(contexts[0], texts[0], _spans(better)), tuple(1.0 for _ in better), True),
        LabelledExample(
            Example(contexts[1], texts[1], _spans(worse)),
            tuple(0.0 if o.start == at else 1.0 for o in worse),
            noisy,
        ),
    )


def texts(rows: Iterable[Mapping[str, Any]], *, context: str) -> Iterator[Example]:
    """The better and the worse text of each pair as prepared, each in its context."""
    rng = np.random.default_rng(0)  # with plain=0 nothing is drawn
    for row in rows:
        yield from (item.example for item in pair(row, rng, context=context, plain=0.0))


def _noisy_anew(row: Mapping[str, Any], rng: np.random.Generator, table: ConfusionTable) -> Mapping[str, Any]:
    """A row of kind "noisy" with one pronoun of the better text replaced; `row` where none can be."""
    found = [occurrence for occurrence in finder.find(row["better"]) if table.probability(occurrence.form)]
    if not found:
        return row
    old = found[int(rng.integers(len(found)))]
    new = table.draw(rng, old.form)
    assert new is not None
    worse = replace(row["better"], old.start, old.end, new)
    return {**row, "kind": "noisy", "worse": worse, "mismatches": [{"hyp_start": old.start, "ref_form": old.form}]}


def _spans(found: Sequence[finder.Occurrence]) -> tuple[tuple[int, int], ...]:
    return tuple((o.start, o.end) for o in found)
