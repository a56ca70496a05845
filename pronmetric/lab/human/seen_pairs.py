"""The pronoun pairs (correct form, wrong form) that occur in the training data."""

from __future__ import annotations

from collections.abc import Mapping

from pronmetric.pronouns.corrupt import ConfusionTable

PronounPairs = frozenset[tuple[str, str]]
"""(correct form, wrong form)."""


def read(path: str) -> PronounPairs:
    """The pronoun pairs of a confusion.json of `pronmetric prepare`."""
    return _with_counts(ConfusionTable.load(path).to_dict())


def read_config(config: Mapping[str, object]) -> PronounPairs | None:
    """The pronoun pairs in a checkpoint's config (training: confusion: form -> wrong form -> count), if it has any."""
    training = config.get("training")
    table = training.get("confusion") if isinstance(training, Mapping) else None
    return _with_counts(table) if isinstance(table, Mapping) else None


def _with_counts(table: Mapping[str, Mapping[str, float]]) -> PronounPairs:
    return frozenset((form, wrong) for form, row in table.items() for wrong, count in row.items() if count > 0)
