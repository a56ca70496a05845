"""Exact pronoun match: the share of a reference's aligned pronouns that an output keeps; no torch.

The simplest reference-based score: of the reference's pronouns in use that are aligned with a word of the output, the
share aligned with the same pronoun. Unaligned pronouns are counted separately and are not in the share: the links do
not show whether the translator chose other words or the system dropped the pronoun.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pronmetric.pronouns.finder import Occurrence, form_of
from pronmetric.text.words import Word


@dataclass(frozen=True, slots=True)
class Exact:
    """Counts of one segment or of many.

    kept: pronouns linked to the same pronoun. aligned: pronouns linked to some word. pronouns: all of the reference.
    """

    kept: int = 0
    aligned: int = 0
    pronouns: int = 0

    @property
    def share(self) -> float | None:
        """The share of kept among aligned, in [0, 1], higher is better; None if nothing is aligned."""
        return self.kept / self.aligned if self.aligned else None


def exact(ref_pronouns: Sequence[Occurrence], hyp_words: Sequence[Word], links: Iterable[tuple[int, int]]) -> Exact:
    """Count one segment: the reference's pronouns in use and the words of an output.

    links: (index in the reference's words, index in the output's), as `schema.Alignment.links`. Case is ignored, and a
    pronoun with several links is kept if one of them leads to it.

    >>> from pronmetric.pronouns import find
    >>> from pronmetric.text.words import words
    >>> exact(find("She knows what he saw."), words("She knows what it saw."), [(0, 0), (2, 2), (3, 3)])
    Exact(kept=2, aligned=3, pronouns=3)
    """
    linked: dict[int, set[str]] = {}
    for here, there in links:
        linked.setdefault(here, set()).add(form_of(hyp_words, there) or hyp_words[there].text.lower())
    there_of = [(found.form, linked.get(found.word)) for found in ref_pronouns]
    return Exact(
        kept=sum(forms is not None and form in forms for form, forms in there_of),
        aligned=sum(forms is not None for _, forms in there_of),
        pronouns=len(ref_pronouns),
    )


def total(parts: Iterable[Exact]) -> Exact:
    """The counts of many segments, for the share over all their pronouns.

    >>> total([Exact(1, 1, 1), Exact(0, 1, 2)]).share
    0.5
    """
    parts = list(parts)
    return Exact(sum(p.kept for p in parts), sum(p.aligned for p in parts), sum(p.pronouns for p in parts))
