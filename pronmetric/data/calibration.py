"""The texts by which an encoder is quantised: what its inputs look like."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from pronmetric.data.collate import Collator, Example

CONTEXT_SIZE = 2  # sentences


def texts() -> list[tuple[str, str]]:
    """English sentences of several kinds of text, each as (context, text); a paragraph of the file is a document."""
    content = (files("pronmetric.data") / "calibration.txt").read_text(encoding="utf-8")
    documents = [paragraph.split("\n") for paragraph in content.strip().split("\n\n")]
    return [
        (" ".join(lines[max(0, number - CONTEXT_SIZE) : number]), line)
        for lines in documents
        for number, line in enumerate(lines)
    ]


def rows(collator: Collator) -> list[NDArray[np.int64]]:
    """The piece ids of the texts, each (pieces,), unpadded."""
    return [row.ids for row in collator.encode([Example(context, text, [(0, 1)]) for context, text in texts()])]
