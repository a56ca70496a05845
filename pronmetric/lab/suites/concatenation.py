"""How a sentence and its context become the text that a model reads (Tiedemann and Scherrer 2017)."""

from __future__ import annotations

from typing import NamedTuple

from pronmetric.lab.suites.contrastive import Candidate

NONE, TWO_TO_ONE, TWO_TO_TWO, MANY = "none", "concat21", "concat22", "concatN"
MODES = (NONE, TWO_TO_ONE, TWO_TO_TWO, MANY)


class Concatenation(NamedTuple):
    """How many previous sentences stand before the source and before the target, and the text between sentences."""

    source: int
    target: int
    separator: str

    @classmethod
    def of(cls, mode: str, *, size: int, separator: str) -> Concatenation:
        """none: no context; concat21: one previous source sentence; concat22: one of each; concatN: `size` of each."""
        sizes = {NONE: (0, 0), TWO_TO_ONE: (1, 0), TWO_TO_TWO: (1, 1), MANY: (size, size)}
        return cls(*sizes[mode], separator)

    def texts(self, candidate: Candidate) -> tuple[str, str]:
        """The source and target text; a sentence that is not there is left out.

        >>> candidate = Candidate("He left.", "Er ging.", ("Hi.",), ("Hallo.",))
        >>> Concatenation.of("concat21", size=0, separator="<sep>").texts(candidate)
        ('Hi. <sep> He left.', 'Er ging.')
        """
        return (
            self._joined(candidate.source_context, candidate.source, self.source),
            self._joined(candidate.target_context, candidate.target, self.target),
        )

    def _joined(self, context: tuple[str, ...], text: str, size: int) -> str:
        before = [sentence for sentence in context[max(0, len(context) - size) :] if sentence.strip()]
        return f" {self.separator} ".join([*before, text]) if self.separator else " ".join([*before, text])
