"""What a checkpoint's config.yaml says of people: how its marks meet those of professional raters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.checkpoint.config import UNTRAINED, read
from pronmetric.checkpoint.locate import CONFIG
from pronmetric.errors import PronmetricError

PEOPLE = "people"  # the key of the config


class People(NamedTuple):
    """The metric as a further rater, on texts that no training saw; shares from 0 to 1.

    texts: which. shared: of the pronouns that it marks, as many as a rater does, those that a given rater marks too.
    raters: the same of the raters among each other. marks: a rater's marks for each wrong or surplus pronoun that it
    expects, on development texts; None where it was not measured.
    """

    texts: str
    shared: float
    raters: float
    marks: float | None = None


def people_of(config: Mapping[str, Any], reader: Path | None = None) -> People | None:
    """The record of a checkpoint, or of its reader where sources count; None without one, or in a further language.

    Raises:
        PronmetricError: the record is none.
    """
    if config.get(UNTRAINED):
        return None
    given = (config if reader is None else read(reader / CONFIG)).get(PEOPLE)
    return None if given is None else people_from(given)


def people_from(given: object) -> People:
    """The record that a mapping holds.

    Raises:
        PronmetricError: it holds something else.
    """
    if isinstance(given, Mapping) and {"texts", "shared", "raters"} <= given.keys() <= set(People._fields):
        found = People(**given)
        shares = found.shared, found.raters
        marks = 1.0 if found.marks is None else found.marks
        if isinstance(found.texts, str) and all(map(_number, (*shares, marks))):
            if all(0 < share <= 1 for share in shares) and marks > 0:
                return found
    raise PronmetricError(
        f'"{PEOPLE}": expected texts, shared and raters (shares above 0, at most 1), and perhaps marks (above 0), '
        f"got {given!r}"
    )


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
