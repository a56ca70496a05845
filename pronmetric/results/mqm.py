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
RATER, CATEGORY, NO_ERROR = "pronmetric", "Accuracy/Mistranslation", "No-error"
_BLANKS = str.maketrans("\t\r\n", "   ")
Add = Callable[[str, int, Row, str, SegmentScore], None]
"""Adds a segment: system, number from 0, row, text, score."""


class Severities(NamedTuple):
    """The probabilities below which a pronoun is a minor and a major error."""

    minor: float = THRESHOLD
    major: float = 0.3

    def of(self, pronoun: PronounScore) -> str | None:
        """The severity of a pronoun; None if it is no error.

        Raises:
            PronmetricError: it has no probability.
        """
        if pronoun.probability is None:
            raise PronmetricError("the checkpoint gives no probabilities, so that nothing tells errors: no `to_mqm=`")
        if pronoun.probability >= self.minor:
            return None
        return "Major" if pronoun.probability < self.major else "Minor"


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
            found = [(p, severity) for p in segment.pronouns if (severity := severities.of(p)) is not None]
            rows = [
                (f"{text[: p.start]}<v>{text[p.start : p.end]}</v>{text[p.end :]}", CATEGORY, severity)
                for p, severity in found
            ] or [(text, NO_ERROR, NO_ERROR)]
            head = (system, str(row.doc or ""), str(number + 1), RATER, row.source or "")
            file.writelines("\t".join(cell.translate(_BLANKS) for cell in (*head, *rest)) + "\n" for rest in rows)

        yield add
