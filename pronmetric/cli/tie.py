"""The flag `--tie auto|X`: a number, or the band that stands in the checkpoint's config."""

from __future__ import annotations

from pronmetric.checkpoint import config, locate
from pronmetric.cli import numbers
from pronmetric.eval.ties import band_of
from pronmetric.signature import Signature

AUTO = "auto"


def argument(text: str) -> float | str:
    """The value of the flag: "auto", or a number from 0."""
    return AUTO if text == AUTO else numbers.from_zero(text, other="auto or ")


def band(tie: float | str, model: str | None, *, allow_network: bool = False, storage: str | None = None) -> float:
    """The band that the flag asks for; "auto" is that of the checkpoint `model`.

    Raises:
        PronmetricError: there is no such checkpoint, or it has no band.
    """
    if isinstance(tie, str):
        place = locate.locate(model, allow_network=allow_network, storage=storage)
        return band_of(config.read(place.folder / locate.CONFIG), name=place.name)
    return tie


def signed(signature: Signature, band: float | None) -> Signature:
    """The signature with the tie band, where there is one: answers depend on it."""
    return signature if band is None else signature.plus(tie=f"{band:g}")
