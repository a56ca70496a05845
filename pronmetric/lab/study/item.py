"""One item of a study: a sentence with its context and two versions that differ in a pronoun."""

from __future__ import annotations

from dataclasses import dataclass

FIRST, SECOND, BOTH, NEITHER = "first", "second", "both", "neither"
ANSWERS = (FIRST, SECOND, BOTH, NEITHER)
"""The possible answers of an annotator; the last two only if the study offers them."""


@dataclass(frozen=True, slots=True)
class Item:
    """Two versions of a sentence in the same context.

    text_a: the reference; text_b: with another pronoun. language: the source language, or another label by which the
    sample is balanced. doc: the unit of resampling. context, source_context: the previous sentences, oldest first.
    """

    id: str
    language: str
    pronoun_a: str
    pronoun_b: str
    context: tuple[str, ...]
    text_a: str
    text_b: str
    source: str | None = None
    source_context: tuple[str, ...] = ()
    doc: str | None = None

    @property
    def pronouns(self) -> tuple[str, str]:
        """The pronoun of the reference and the other one."""
        return self.pronoun_a, self.pronoun_b
