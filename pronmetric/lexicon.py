"""Closed classes and verb lists of English that the pronoun rules ask for (resources/lexicon.en.tsv)."""

from __future__ import annotations

from pronmetric.resources import rows

CLASSES = {row["class"]: frozenset(row["words"].split()) for row in rows("lexicon.en.tsv")}
