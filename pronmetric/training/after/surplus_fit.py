"""Which wrong pronouns are surplus: the share that people deleted instead of replacing, by form.

The share of a form is drawn to that of all forms as if `PRIOR` more of its corrections had that one, as few forms have
been corrected often. Shares are counted on the training texts of people, and judged on the development texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pronmetric.data import arrow
from pronmetric.eval.detection import roc_auc
from pronmetric.scoring.surplus import OTHER_FORMS

PRIOR = 20  # leave-one-out likelihood on the shipped reader's texts (695 corrections) is best from 5 to 20: 343 nats
FEWEST = 10  # deleted and replaced pronouns each, to tell a share
EXPECTED, DELETED, CORRECTED, AREA = (
    f"surplus/{name}" for name in ("expected", "deleted", "corrected", "area")
)  # figures on development texts


class Corrections(NamedTuple):
    """The corrected pronouns of texts by form: those that people deleted, and those that they replaced."""

    deleted: Counter[str]
    replaced: Counter[str]

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, object]], forms: Collection[str]) -> Corrections:
        """The corrections of pronouns of these forms in rows of what people judged."""
        found = cls(Counter(), Counter())
        for row in rows:
            pronouns = row["pronouns"]
            assert isinstance(pronouns, list)
            for each in pronouns:
                if each["form"] in forms and each["correction"] is not None:
                    (found.replaced if each["correction"] else found.deleted)[each["form"]] += 1
        return found

    def shares(self) -> dict[str, float] | None:
        """The share of each form and of the other forms (""), in (0, 1); None with too few corrections.

        >>> known = Corrections(Counter(my=30), Counter(my=10, it=80)).shares()
        >>> {form: round(share, 3) for form, share in known.items()}
        {'': 0.25, 'it': 0.05, 'my': 0.583}
        """
        deleted, replaced = self.deleted.total(), self.replaced.total()
        if min(deleted, replaced) < FEWEST:
            return None
        overall = deleted / (deleted + replaced)
        forms = sorted({*self.deleted, *self.replaced})
        return {OTHER_FORMS: overall} | {
            form: (self.deleted[form] + PRIOR * overall) / (self.deleted[form] + self.replaced[form] + PRIOR)
            for form in forms
        }

    def figures(self, shares: Mapping[str, float]) -> dict[str, float]:
        """How well the shares foretell these corrections: their expected number of deletions and the real one.

        The area is that under the ROC curve of the shares, of deleted pronouns against replaced ones.
        """
        forms = sorted({*self.deleted, *self.replaced})
        each = np.array([shares.get(form, shares[OTHER_FORMS]) for form in forms])
        counts = np.array([[kind[form] for form in forms] for kind in self], dtype=float)
        labels = np.repeat([True, False], len(forms))
        area = roc_auc(labels, np.tile(each, 2), counts.ravel())
        found = {EXPECTED: float(each @ counts.sum(0)), DELETED: counts[0].sum(), CORRECTED: counts.sum()}
        return {name: float(value) for name, value in found.items()} | ({} if area is None else {AREA: area})


class SurplusFit(NamedTuple):
    """The shares by form, None with too few corrections, and their figures on development texts."""

    shares: dict[str, float] | None
    figures: dict[str, float]


def fit(folder: Path, forms: Collection[str]) -> SurplusFit:
    """The shares of the training texts of people in a prepared folder; none if it has no such texts."""
    train, development, _ = arrow.PEOPLE_SPLITS
    splits = arrow.read_manifest(folder)["splits"]
    if train not in splits:
        return SurplusFit(None, {})
    shares = Corrections.of(arrow.read_people(folder, train), forms).shares()
    if shares is None or development not in splits:
        return SurplusFit(shares, {})
    return SurplusFit(shares, Corrections.of(arrow.read_people(folder, development), forms).figures(shares))
