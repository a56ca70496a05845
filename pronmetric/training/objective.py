"""What a training learns from: passages, pairs or both, each kind with the keys that it uses (group objective)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from pronmetric.errors import InputError
from pronmetric.settings import Count, Fraction, Positive, Record, Share, Weight

FRESH_UNREAD: dict[str, Any] = {"fresh": 0.3, "tie": 0.1}
PAIRS_UNREAD: dict[str, Any] = {
    "pair": 1.0,
    "preference": 1.0,
    "soft_preference": 1.0,
    "pair_share": 0.0,
    "system_share": 0.6,
    "people": 0.0,
    "people_pairs": 0.0,
    "fidelity": {"share": 0.0, "ties": 0.4},
}
"""Keys of pairs that had no effect in runs on passages alone, as these recorded them: such a run goes on."""


def _at_most_one(shares: dict[str, float]) -> dict[str, float]:
    if sum(shares.values()) > 1 + 1e-9:
        raise InputError(f"objective.source_share: expected shares that sum to at most 1, got {sum(shares.values()):g}")
    return shares


Shares = Annotated[dict[str, Annotated[float, Field(gt=0, le=1)]], AfterValidator(_at_most_one)]


class Fidelity(Record):
    """Pairs in which only the context decides, and their ties."""

    share: Fraction
    ties: Share


class Corruption(Record):
    """MixedCorruption of passages."""

    rate: Share
    power: Weight
    same_slot_share: Share
    joint: Share
    must_agree: Share
    plain: Share
    clean: Share
    context: Share
    gender_swap: Share
    name_swap: Share
    emphasis: dict[str, Weight] | None


class MixedCorruption(Corruption):
    """MixedCorruption of passages and pairs."""

    fresh: Share
    tie: Share


class Detection(Record):
    """Group objective: detection on passages, with the pair loss."""

    kind: Literal["detection"]
    detection: Weight
    antecedent: Weight
    pair: Weight
    preference: Weight
    soft_detection: Weight
    soft_preference: Weight
    pair_share: Fraction
    system_share: Annotated[float, Field(gt=0, lt=1)] | None
    people: Fraction
    people_pairs: Fraction
    fidelity: Fidelity
    source_share: Shares | None
    source_turns: dict[str, Count] | None
    form_weight: dict[str, Positive] | None
    corruption: MixedCorruption


class OnlyPassages(Record):
    """Group objective: only passages, as readers of sources learn from; without pairs, and texts that people judged."""

    pair_share: ClassVar = 0.0
    pair: ClassVar = 0.0
    preference: ClassVar = 0.0
    people: ClassVar = 0.0
    people_pairs: ClassVar = 0.0
    soft_preference: ClassVar = 0.0
    kind: Literal["passages"]
    detection: Weight
    antecedent: Weight
    soft_detection: Weight
    source_share: Shares | None
    source_turns: dict[str, Count] | None
    form_weight: dict[str, Positive] | None
    corruption: Corruption

    def as_recorded(self) -> dict[str, Any]:
        """The values under the keys with which a run records them: those of `Detection`, without pairs."""
        own = self.model_dump()
        return {**PAIRS_UNREAD, **own, "kind": "detection", "corruption": {**FRESH_UNREAD, **own["corruption"]}}


class PairCorruption(Record):
    """MixedCorruption of pairs; the shares of what is done to passages alone are 0."""

    gender_swap: ClassVar = 0.0
    name_swap: ClassVar = 0.0
    emphasis: ClassVar = None
    plain: Share
    fresh: Share
    tie: Share


class Pairs(Record):
    """Group objective: only pairs; without passages, annotated antecedents and teacher."""

    pair_share: ClassVar = 1.0
    antecedent: ClassVar = 0.0
    soft_detection: ClassVar = 0.0
    soft_preference: ClassVar = 0.0
    people: ClassVar = 0.0
    source_share: ClassVar = None
    source_turns: ClassVar = None
    form_weight: ClassVar = None
    kind: Literal["pairs"]
    detection: Weight
    pair: Weight
    preference: Weight
    system_share: Annotated[float, Field(gt=0, lt=1)] | None
    people_pairs: Fraction
    fidelity: Fidelity
    corruption: PairCorruption


Objective = Annotated[Detection | OnlyPassages | Pairs, Field(discriminator="kind")]
