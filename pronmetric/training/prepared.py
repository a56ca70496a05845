"""Settings of the preparation that training and checkpoint depend on: pronouns and context size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pronmetric.errors import PronmetricError
from pronmetric.pronouns.finder import INVENTORIES
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.text.context import CONTEXT_SIZE


class Prepared(NamedTuple):
    """forms: the forms that are pronouns. context_size: number of context sentences."""

    forms: tuple[str, ...]
    context_size: int

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Prepared:
        """Read a manifest; the defaults are all forms and two sentences.

        Raises:
            PronmetricError: an inventory that this version does not know, or another target language than English.
        """
        config = manifest.get("config", {})
        name = config.get("inventory", "all")
        if (target := config.get("target", ENGLISH.code)) != ENGLISH.code:
            raise PronmetricError(f"data.target={target}: training reads English only; prepare with data.target=en")
        if name not in INVENTORIES:
            raise PronmetricError(f"inventory: expected {' or '.join(INVENTORIES)}, got {name!r}; prepare again")
        return cls(INVENTORIES[name], int(config.get("context_size", CONTEXT_SIZE)))
