"""Where pronouns are missing in a text: what the outputs of a gap head say, calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple

import numpy as np

from pronmetric.checkpoint.model_config import Calibration, Model
from pronmetric.eval.calibration import Platt
from pronmetric.scoring.score import LISTED, UNKNOWN, Gap, SegmentScore
from pronmetric.text.words import Word


class MissingPronouns(NamedTuple):
    """Gaps of a text: numbers of the words after them, probabilities of a missing pronoun, likeliest forms (gaps,)."""

    words: np.ndarray
    probabilities: np.ndarray
    forms: Sequence[str]

    def add_to(self, segment: SegmentScore, words: Sequence[Word], *, least: float = LISTED) -> SegmentScore:
        """The score of a text with its missing pronouns; words: of the text, least: probability of a gap in `gaps`."""
        each = zip(self.words.tolist(), self.probabilities.tolist(), self.forms, strict=True)
        gaps = sorted(Gap(words[number].start, form, p) for number, p, form in each if p >= least)
        return segment._replace(missing=fsum(self.probabilities), gaps=tuple(gaps))


class GapReader:
    """Reads the outputs of a gap head in the rows of texts.

    Args:
        forms: those that the head tells apart, in the order of its outputs.
        calibration: of its logits.
        own: the forms that may be missing; None: all. Without any of those that the head tells apart, as in a language
            that it was not trained on, the form is `score.UNKNOWN`.
    """

    def __init__(self, forms: Sequence[str], calibration: Calibration, *, own: Sequence[str] | None = None) -> None:
        kept = [number for number, form in enumerate(forms) if own is None or form in own]
        self._places, self._forms = np.array(kept, np.int64), [forms[number] for number in kept]
        self._platt = Platt(calibration.scale, calibration.bias)

    def read(self, rows: Sequence[tuple[np.ndarray, np.ndarray]]) -> MissingPronouns:
        """The gaps of a text, from the words after them (gaps,) and the outputs there (gaps, 1 + forms) in its rows."""
        words = np.concatenate([np.zeros(0, np.int64), *(numbers for numbers, _ in rows)])
        if not len(words):
            return MissingPronouns(words, np.zeros(0), ())
        outputs = np.concatenate([each for _, each in rows])
        if not self._forms:
            return MissingPronouns(words, self._platt(outputs[:, 0]), [UNKNOWN] * len(words))
        likeliest = outputs[:, 1 + self._places].argmax(1).tolist()
        return MissingPronouns(words, self._platt(outputs[:, 0]), [self._forms[k] for k in likeliest])


def gap_reader(model: Model, calibration: Calibration | None, *, own: Sequence[str] | None = None) -> GapReader | None:
    """What reads the model's gap head; None if it has none, or one that is not calibrated; own: as for `GapReader`."""
    if model.gap_head is None or calibration is None:
        return None
    return GapReader(model.gap_head.forms, calibration, own=own)
