"""`pronmetric prepare`: WMT system outputs and English documents to training data."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from data_prep.settings import Reporter, Settings
from pronmetric.cli.hydra import HydraCommand
from pronmetric.output import targets
from pronmetric.report import preparation

DESCRIPTION = """Make training data from WMT test sets (data.wmt=DIR) and plain English documents (data.english=DIR).

Writes to out=DIR a dataset for `datasets.load_from_disk`, with manifest.json and confusion.json. An interrupted run
resumes with the remaining test sets."""


def _job(settings: Settings) -> None:
    from data_prep.prepare import prepare

    data = settings.data
    targets.check(
        [],
        read=[
            *data.wmt,
            data.english,
            *(data.coreference or ()),
            *(data.parallel or ()),
            *(data.people or ()),
            settings.filter.agreement,
        ],
        folders=[settings.out],
    )
    content = prepare(settings, Reporter(note=_note, progress=_progress))
    confusions = json.loads((settings.folder / "confusion.json").read_text(encoding="utf-8"))
    print(preparation.summary(content, confusions))


def _note(line: str) -> None:
    print(f"pronmetric prepare: {line}", file=sys.stderr)


def _progress(items: Iterable[Any], label: str, length: int | None, unit: str) -> Iterable[Any]:
    from pronmetric.output.progress import progress

    return progress(items, label=label, total=length, unit=unit)


VERB = HydraCommand("prepare", _job, Settings, DESCRIPTION)
