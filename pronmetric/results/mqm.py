"""Doubtful pronouns as MQM errors (--to_mqm): the table of error spans that tools for MQM annotations read.

A line for each error, its span marked in the target as `<v>..</v>`; a text without errors has one line of category and
severity "No-error" (Freitag et al. 2021; `lab/human/mqm.py` reads such files).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from pronmetric.errors import InputError, PronmetricError
from pronmetric.output.targets import AtomicFile
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.corpus import Row

COLUMNS = ("system", "doc", "seg_id", "rater", "source", "target", "category", "severity")
RATER, NO_ERROR = "pronmetric", "No-error"
CATEGORY, OMISSION, ADDITION = "Accuracy/Mistranslation", "Accuracy/Omission", "Accuracy/Addition"
_BLANKS = str.maketrans("\t\r\n", "   ")
Add = Callable[[str, int, Row, str, SegmentScore], None]
"""Adds a segment: system, number from 0, row, text, score."""


class Severities(NamedTuple):
    """The probabilities of being right below which a pronoun or a gap is a minor and a major error."""

    minor: float = THRESHOLD
    major: float = 0.3

    def of(self, probability: float | None) -> str | None:
        """The severity of a pronoun or gap with this probability of being right; None if it is no error.

        Raises:
            PronmetricError: it has no probability.
        """
        if probability is None:
            raise PronmetricError("the checkpoint gives no probabilities, so that nothing tells errors: no `to_mqm=`")
        if probability >= self.minor:
            return None
        return "Major" if probability < self.major else "Minor"


@contextmanager
def writer(path: str | None, severities: Severities) -> Iterator[Add]:
    """Write the errors of the segments that are added; nothing without a path."""
    if path is None:
        yield lambda *_: None
        return
    with AtomicFile(path) as file:
        file.write("\t".join(COLUMNS) + "\n")

        def add(system: str, number: int, row: Row, text: str, segment: SegmentScore) -> None:
            if "<v>" in text or "</v>" in text:
                raise InputError("the text holds <v> or </v>, the marks of a span in MQM: remove it", line=number + 1)
            doubts = [(p.start, p.end, _category(p), p.probability) for p in segment.pronouns]
            doubts += [(gap.start, gap.start, OMISSION, 1 - gap.probability) for gap in segment.gaps]
            rows = [
                (f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}", category, severity)
                for start, end, category, probability in sorted(doubts, key=lambda doubt: doubt[:2])
                if (severity := severities.of(probability)) is not None
            ] or [(text, NO_ERROR, NO_ERROR)]
            head = (system, str(row.doc or ""), str(number + 1), RATER, row.source or "")
            file.writelines("\t".join(cell.translate(_BLANKS) for cell in (*head, *rest)) + "\n" for rest in rows)

        yield add


def _category(pronoun: PronounScore) -> str:
    """An addition where the pronoun is more likely surplus than the wrong one."""
    if pronoun.surplus is None or pronoun.probability is None:
        return CATEGORY
    return ADDITION if 2 * pronoun.surplus > 1 - pronoun.probability else CATEGORY
