"""The flag `--tie auto|X`: the tie threshold, given as a number or read from the checkpoint's config."""

from __future__ import annotations

from pronmetric.checkpoint import config, locate
from pronmetric.cli import numbers
from pronmetric.eval.decision import SCORE
from pronmetric.signature import Signature

AUTO = "auto"


def parse_value(text: str) -> float | str:
    """The value of the flag: "auto", or a number from 0."""
    return AUTO if text == AUTO else numbers.from_zero(text, other="auto or ")


def threshold(
    tie: float | str,
    model: str | None,
    *,
    by: str | None = SCORE,
    allow_network: bool = False,
    storage: str | None = None,
) -> float:
    """The tie threshold; "auto" is that of the checkpoint `model` for what decides; by None: what its config names.

    Raises:
        PronmetricError: there is no such checkpoint, or it has no tie threshold.
    """
    if isinstance(tie, str):
        place = locate.locate(model, allow_network=allow_network, storage=storage)
        found = config.read(place.folder / locate.CONFIG)
        return config.tie_threshold(found, name=place.name, by=config.decision_of(found, by, name=place.name))
    return tie


def add_threshold(signature: Signature, threshold: float | None) -> Signature:
    """The signature with the tie threshold, if there is one."""
    return signature if threshold is None else signature.plus(tie=f"{threshold:g}")
