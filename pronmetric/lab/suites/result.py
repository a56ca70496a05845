"""The result of `pronmetric suite score` in JSON, and how it is read back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.lab.suites.contrastive import Judged, Verdict
from pronmetric.lab.suites.figures import Figures, Share
from pronmetric.text import strict_json
from pronmetric.text.entry import Entry

_EXPECTED = "expected a result of `pronmetric suite score --to_json`"


def to_json(suite: str, judged: Judged, figures: Figures, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The result: accuracy as a fraction, with its interval; the break-downs; further figures; each item's verdict."""
    return {
        "suite": suite,
        **settings,
        **_share(figures.overall),
        "documents": figures.documents,
        "by": {name: {group: _share(one) for group, one in groups.items()} for name, groups in figures.by.items()},
        "further": dict(judged.further),
        "items": [
            {"id": one.id, "right": one.right, "document": one.document, "groups": dict(one.groups)}
            for one in judged.verdicts
        ],
    }


def _share(share: Share) -> dict[str, Any]:
    ends = None if share.low is None or share.high is None else [share.low, share.high]
    return {"accuracy": share.accuracy, "correct": share.correct, "total": share.total, "interval": ends}


def read(path: str | Path) -> tuple[str, tuple[Verdict, ...]]:
    """The suite's name and the verdicts of a result.

    Raises:
        InputError: it is no such result.
    """
    value = strict_json.read(path, _EXPECTED)
    if not isinstance(value, dict) or "items" not in value:
        raise InputError(_EXPECTED, file=path)
    result = Entry(value, file=path)
    items = result.entries("items")
    if not items:
        raise InputError(f"{_EXPECTED}, got one without items", file=path)
    return result.string("suite"), tuple(
        Verdict(
            id=item.string("id"),
            right=item.one_of("right", (True, False)),
            groups={name: str(group) for name, group in item.entry("groups").record.items()},
            document=item.string("document"),
        )
        for item in items
    )
