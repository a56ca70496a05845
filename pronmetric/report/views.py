"""Attention and alternative pronouns of the listed segments of a result, for its report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.report.content import ModelView
from pronmetric.results import Output, Result
from pronmetric.scoring.alternatives import PronounAlternatives
from pronmetric.signature import Signature
from pronmetric.text.context import Text


class Attention(Protocol):
    """The attention of one pronoun: where it starts, and its weights (words,) over context and text, None if none."""

    @property
    def start(self) -> int:
        """The offset of the pronoun in the text."""

    @property
    def weights(self) -> np.ndarray | None:
        """The weights of the words."""


def outputs(result: Result, listed: Sequence[int]) -> list[Output]:
    """The outputs of the listed segments, segment by segment."""
    return [output for index in listed for output in result.segments[index].outputs]


def texts(result: Result, listed: Sequence[int]) -> list[Text]:
    """The outputs of the listed segments with their contexts, as the model reads them."""
    return [Text(output.context, output.text) for output in outputs(result, listed)]


def model_views(
    result: Result,
    listed: Sequence[int],
    attention: Iterable[Sequence[Attention]],
    alternatives: Iterable[Sequence[PronounAlternatives]],
    language: Language = ENGLISH,
) -> dict[int, tuple[ModelView, ...]]:
    """By index of a listed segment, the attention and alternatives of each of its outputs (in the order of `texts`).

    Of the alternatives those that agree are kept.
    """
    made = []
    for output, rows, pronouns in zip(outputs(result, listed), attention, alternatives, strict=True):
        weights = {row.start: row.weights for row in rows}
        others = {p.pronoun.start: tuple((o.form, o.probability) for o in p.others if o.agrees) for p in pronouns}
        made.append(_view(output, weights, others, language))
    size = len(result.systems)
    return {index: tuple(made[k * size : (k + 1) * size]) for k, index in enumerate(listed)}


def _view(
    output: Output,
    weights: Mapping[int, np.ndarray | None],
    others: Mapping[int, tuple[tuple[str, float], ...]],
    language: Language,
) -> ModelView:
    """For the pronouns of the result; a pronoun that this checkpoint does not score has attention 0 and no others."""
    size = len(language.words(output.context)) + len(language.words(output.text))
    rows = [weights.get(p.start) for p in output.pronouns]
    known = any(row is not None for row in rows)
    attention = tuple((0.0,) * size if row is None else tuple(row.tolist()) for row in rows) if known else None
    return ModelView(attention, tuple(others.get(p.start) for p in output.pronouns))


def describe_model(loaded: str, scored: str) -> str:
    """A note on the model behind attention and alternatives: whether it is the one that produced the scores.

    Args:
        loaded: the signature of the loaded model.
        scored: the signature of the result.
    """
    own = Signature.parse(loaded)
    try:
        differences = Signature.parse(scored).differences(own)
    except ValueError:
        differences = {"weights": (scored, loaded)}
    if not differences.keys() & {"weights", "settings"}:  # its name may have changed since
        return f"attention and alternative pronouns are from the model that produced the scores, {own['model']}"
    return (
        f"attention and alternative pronouns are from a different model ({own['model']}, weights {own['weights']}, "
        f"settings {own['settings']}) than the scores (see the signature); choose that model with `model=`"
    )
