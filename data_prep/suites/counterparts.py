"""What a source pronoun is aligned to in parallel documents, as Table 2 of Müller et al. (WMT 2018)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from data_prep.suites.corpus import Document

NOTHING, OTHER = "(nothing)", "(other)"


@dataclass(frozen=True, slots=True)
class Count:
    """How often a source form is aligned to a target form; share: of the source form's occurrences, in [0, 1]."""

    source: str
    target: str
    count: int
    share: float


def count(documents: Iterable[Document], forms: Collection[str], *, most: int) -> list[Count]:
    """The counts of each source form, most frequent first; the rest after `most` target forms is "(other)".

    Forms are lower-cased. Several target words that one occurrence is linked to are one form, in order.
    """
    found: dict[str, Counter[str]] = {form: Counter() for form in forms}
    for document in documents:
        for pair in document.pairs:
            linked: dict[int, list[str]] = {}
            for s, t in sorted(pair.links):
                linked.setdefault(s, []).append(pair.target.tokens[t].form.lower())
            for s, token in enumerate(pair.source.tokens):
                if token.form.lower() in found:
                    found[token.form.lower()][" ".join(linked.get(s, [NOTHING]))] += 1
    rows = []
    for form, counts in found.items():
        kept = counts.most_common(most)
        if rest := counts.total() - sum(number for _, number in kept):
            kept.append((OTHER, rest))
        rows += [Count(form, target, number, number / counts.total()) for target, number in kept]
    return rows
