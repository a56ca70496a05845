"""Detection of wrong pronouns: a metric's scores judged against pronouns labelled right or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pronmetric.errors import InputError
from pronmetric.eval.detection import Detection, detect, detect_by
from pronmetric.lab.human.labelled_pronouns import RIGHT, WRONG, LabelledPronoun, clusters_of


@dataclass(frozen=True, slots=True)
class DetectionFigures:
    """Detection over all pronouns, by system and by pronoun; resampled: the unit of resampling and its number.

    by_system is empty where some pronoun has no system.
    """

    whole: Detection
    by_system: dict[str, Detection]
    by_pronoun: dict[str, Detection]
    resampled: tuple[str, int]


def require_both_labels(pronouns: Sequence[LabelledPronoun], *, file: str) -> None:
    """Raise InputError unless some pronouns are right and some are wrong."""
    if len({one.wrong for one in pronouns}) < 2:
        label = WRONG if pronouns[0].wrong else RIGHT
        raise InputError(f"all pronouns are labelled {label}: expected some right and some wrong ones", file=file)


def evaluate(
    pronouns: Sequence[LabelledPronoun], scores: Sequence[float | None], *, threshold: float, seed: int
) -> DetectionFigures:
    """Detection of the wrong pronouns by scores below `threshold`; None is a pronoun without a score."""
    wrong = [one.wrong for one in pronouns]
    unit, clusters = clusters_of(pronouns)
    systems = [one.system for one in pronouns if one.system is not None]
    return DetectionFigures(
        whole=detect(wrong, scores, clusters, threshold=threshold, seed=seed),
        by_system=detect_by(systems, wrong, scores, threshold=threshold) if len(systems) == len(pronouns) else {},
        by_pronoun=detect_by([one.form for one in pronouns], wrong, scores, threshold=threshold),
        resampled=(unit, len(set(clusters))),
    )
