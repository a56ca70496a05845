"""The flag `--tie auto|X`: a number, or the band that stands in the checkpoint's config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pronmetric import address
from pronmetric.cli import numbers
from pronmetric.errors import InputError
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
        place = address.locate(model, allow_network=allow_network, storage=storage)
        return band_of(config(place), name=place.name)
    return tie


def signed(signature: Signature, band: float | None) -> Signature:
    """The signature with the tie band, where there is one: answers depend on it."""
    return signature if band is None else signature.plus(tie=f"{band:g}")


def config(place: address.Address) -> Mapping[str, Any]:
    """The config of a checkpoint, read without torch."""
    import yaml

    path = place.folder / address.CONFIG
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(
            f"broken checkpoint config ({str(error).splitlines()[0]}); fetch it again", file=path
        ) from None
    if not isinstance(found, dict):
        raise InputError("broken checkpoint config: expected keys and values; fetch the checkpoint again", file=path)
    return found
