"""The preference of a text with its source, as it was fitted on pairs of texts that people judged."""

from __future__ import annotations

from pronmetric.checkpoint.model_config import PeoplePreference
from pronmetric.eval.calibration import logit
from pronmetric.scoring.score import SegmentScore

LEAST = 1e-7  # of a probability, where logits are compared


def prefer_by_source(segment: SegmentScore, by: PeoplePreference) -> SegmentScore:
    """A segment of a scorer that reads sources itself, which has no pair head, with the preference by these weights."""
    return prefer(without_pair_head(segment), by)


def without_pair_head(segment: SegmentScore) -> SegmentScore:
    """A segment of a scorer without a pair head as `prefer` takes it: its preference is 0 if it has pronouns."""
    return segment._replace(preference=0.0 if segment.pronouns else None)


def prefer(segment: SegmentScore, by: PeoplePreference) -> SegmentScore:
    """A segment with the preference by these weights; as it is if it has pronouns and no preference."""
    if segment.preference is not None:
        value = by.own * segment.preference + by.logit * mean_logit(segment)
    elif not segment.pronouns:
        value = by.empty
    else:
        return segment
    return segment._replace(preference=value + by.missing * (segment.missing or 0.0))


def mean_logit(segment: SegmentScore) -> float:
    """The mean logit of the pronouns of a text that has one, unbounded, higher is better."""
    return float(logit([p.score for p in segment.pronouns], floor=LEAST).mean())
