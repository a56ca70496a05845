"""The answers to a pair of texts (A, B or a tie), and the answer that two scores give."""

from __future__ import annotations

A, B, TIE = "A", "B", "tie"
ANSWERS = (A, B, TIE)
SCORE, ERRORS, PREFERENCE = DECISIONS = ("score", "errors", "preference")
"""What may decide: the mean probability, the expected number of pronoun errors, the pair head's number."""
IN_WORDS = {
    SCORE: "the score, the mean probability of pronouns",
    ERRORS: "the expected number of wrong or surplus pronouns and, where the source tells them, missing ones",
    PREFERENCE: "the preference, the number by which the checkpoint compares two translations",
}
SEGMENT_UNITS = {SCORE: "score", ERRORS: "fewer errors", PREFERENCE: "preference"}
SYSTEM_UNITS = {SCORE: "points", ERRORS: "fewer errors in 100 segments", PREFERENCE: "mean preference"}
"""The units of a difference A minus B, of two segments and of two systems, by what decides; above 0, A is better."""


def decide(score_a: float | None, score_b: float | None, *, tie: float = 0.0) -> str | None:
    """The better text by two scores (higher is better): "A", "B", or "tie" where they differ by no more than `tie`.

    None where a text has no score.

    >>> decide(0.9, 0.4), decide(0.5, 0.6, tie=0.2), decide(None, 0.1)
    ('A', 'tie', None)
    """
    if score_a is None or score_b is None:
        return None
    if abs(score_a - score_b) <= tie:
        return TIE
    return A if score_a > score_b else B
