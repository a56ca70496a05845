"""Ties: references and noisy references that people found equally good in an annotation study."""

from __future__ import annotations

from dataclasses import replace

from pronmetric.errors import InputError
from pronmetric.schema import Pair

TIE = "tie"  # an answer of people, and a kind of pair
Texts = tuple[tuple[str, ...], str, str]
"""Context, reference and noisy reference."""


class Ties:
    """The tied pairs of a file of judged pairs, as `study report --to_pairs` writes it; without a file none.

    A noisy pair is tied if its texts and its context are those of a tied judged pair; `found` are the texts so far.

    Raises:
        InputError: the file is broken, or has no tie.
    """

    def __init__(self, path: str | None) -> None:
        self._texts = set() if path is None else _read(path)
        self.found: set[Texts] = set()
        if path is not None and not self._texts:
            raise InputError('expected at least one pair with "better": "tie"', file=path)

    def __len__(self) -> int:
        """The number of ties in the file."""
        return len(self._texts)

    def has(self, pair: Pair) -> bool:
        """Whether the pair is tied."""
        key = (pair.context, pair.better, pair.worse)
        if pair.kind != "noisy" or key not in self._texts:
            return False
        self.found.add(key)
        return True


def _read(path: str) -> set[Texts]:
    from pronmetric.lab.human import judged_pairs  # no part of the stages, which depend on all that is imported above

    return {(pair.context, pair.text_a, pair.text_b) for pair in judged_pairs.read(path) if pair.better == TIE}


def as_tie(pair: Pair) -> Pair:
    """A noisy pair as one of kind "tie": both texts have the context that the annotators saw."""
    return replace(pair, kind=TIE, system_context=pair.context)
