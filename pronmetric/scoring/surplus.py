"""Which of the wrong pronouns are surplus: people would delete them, and replace the others."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum

from pronmetric.scoring.score import PronounScore, SegmentScore

OTHER_FORMS = ""
"""The key of the share of the forms that have none of their own."""


def tell_surplus(segment: SegmentScore, shares: Mapping[str, float]) -> SegmentScore:
    """A segment whose pronouns have probabilities, with those of being surplus and their sum.

    shares: by lower-cased form, of its wrong pronouns, in [0, 1].

    >>> it = PronounScore("It", 0, 2, 0.5, 0.5)
    >>> told = tell_surplus(SegmentScore(0.5, (it,), missing=0.0), {"it": 0.25, "": 0.5})
    >>> told.surplus, told.wrong, told.errors
    (0.125, 0.375, 0.5)
    """
    pronouns = tuple(_with_share(p, shares.get(p.text.lower(), shares[OTHER_FORMS])) for p in segment.pronouns)
    return segment._replace(pronouns=pronouns, surplus=fsum(p.surplus or 0.0 for p in pronouns))


def _with_share(pronoun: PronounScore, share: float) -> PronounScore:
    return pronoun._replace(surplus=None if pronoun.probability is None else (1 - pronoun.probability) * share)
