"""Soft labels to labelled examples: two texts that differ in the form of one slot, with a language model's labels.

The labels are those that hard ones would have on average if the language model had written the text, its posterior over
the slot's K forms being p: a form f is drawn by p and written, a wrong form g is drawn from the K - 1 others with equal
chance, and both texts are shown.

- Which of the two was written? f, with probability p(f) / (p(f) + p(g)): the wrong form is drawn in the same way in
  both cases, so that nothing but p counts. This is the label of the pair head, which sees both texts.
- Is the form h of a single text the one that was written? It was written, with p(h), or drawn for another form, with
  (1 - p(h)) / (K - 1), so that the label of the detection is p(h) / (p(h) + (1 - p(h)) / (K - 1)). It is p(h) for two
  forms, and one half where all forms are equally likely, however many there are.

Other pronouns of the texts have no label. Training draws f and g anew at each turn, by the same chances.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pronmetric.data.collate import Example
from pronmetric.pronouns.corrupt import match_case, replace
from pronmetric.pronouns.languages import Language
from pronmetric.schema import SOFT
from pronmetric.text.context import join
from pronmetric.training.examples import LabelledExample


def posterior(log_probabilities: np.ndarray, *, temperature: float) -> np.ndarray:
    """The probability of each form of a slot (forms,); a temperature above 1 makes them more alike.

    >>> posterior(np.log([0.6, 0.2]), temperature=1.0).round(2).tolist()
    [0.75, 0.25]
    """
    scaled = (log_probabilities - log_probabilities.max()) / temperature
    odds: np.ndarray = np.exp(scaled) / np.exp(scaled).sum()
    return odds


def label(probability: float, forms: int) -> float:
    """The label of a single text for detection, from the posterior of its form; one half for an average form.

    >>> label(0.25, 4), label(0.9, 2)
    (0.5, 0.9)
    """
    return probability / (probability + (1 - probability) / (forms - 1))


def pair(
    row: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    context: str,
    plain: float,
    temperature: float,
    language: Language,
) -> tuple[LabelledExample, LabelledExample]:
    """Two texts of a row of soft labels, each in its context, with another form of the slot.

    context: of pairs, "none" or another. plain: chance of the study's form. temperature: divides the log-probabilities.
    """
    text, slot = row["better"], row["mismatches"][0]
    start, end = slot["ref_start"], slot["ref_end"]
    forms = [each["form"] for each in row["slot_forms"]]
    chances = posterior(np.array([each["log_probability"] for each in row["slot_forms"]]), temperature=temperature)
    first = min(int(np.searchsorted(np.cumsum(chances), rng.random(), side="right")), len(forms) - 1)
    second = (first + 1 + int(rng.integers(len(forms) - 1))) % len(forms)
    flat = rng.random() < plain
    before = "" if context == "none" else join(row["context"])
    spans = [(o.start, o.end) for o in language.find(text) if o.start != start]
    odds = float(chances[first] / (chances[first] + chances[second]))
    labelled = []
    for chosen in (first, second):
        form = forms[chosen] if chosen == 0 else language.shape(forms[chosen], text[end:].lstrip())
        new = text if chosen == 0 else replace(text, start, end, form)
        own = (start, end) if chosen == 0 else (start, start + len(match_case(text, start, end, form)))
        shift = len(new) - len(text)
        moved = [(a + shift, b + shift) if a > start else (a, b) for a, b in spans]
        marked = sorted([*moved, own])
        example = Example(before, new, tuple(marked))
        if flat:
            flatten = language.writing.flatten
            example = Example(flatten(before), flatten(new), example.spans)
        soft = tuple(label(float(chances[chosen]), len(forms)) if span == own else np.nan for span in marked)
        labelled.append(LabelledExample(example, (1.0,) * len(marked), False, kind=SOFT, soft=soft, odds=odds))
    return labelled[0], labelled[1]
