"""A result of `score` with probabilities by hand, and the figures of `correlate`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pronmetric.cli.main import main


def result(name: str, systems: Mapping[str, Sequence[float | None]], docs: Sequence[str | None] | None = None) -> str:
    """Write what `score --to_json` writes: segments "It fell." with these probabilities, "Snow fell." for None."""
    docs = docs or [None] * len(next(iter(systems.values())))
    segments = []
    for number, doc in enumerate(docs):
        for system, scores in systems.items():
            p = scores[number]
            pronouns = [] if p is None else [{"text": "It", "start": 0, "end": 2, "probability": p}]
            text = "Snow fell." if p is None else "It fell."
            head = {"system": system, "segment": number, "doc": doc, "source": None, "reference": "It fell."}
            segments.append({**head, "context": "", "text": text, "score": p, "pronouns": pronouns})
    told = []
    for system, scores in systems.items():
        known = [p for p in scores if p is not None]
        own = {"score": 100 * sum(known) / len(known) if known else None, "interval": None, "pronouns": len(known)}
        told.append({"system": system, **own, "segments": len(docs), "segments_with_pronoun": len(known)})
    content = {"segments": segments, "systems": told, "counts": {}, "signature": "model:x|context:common"}
    Path(name).write_text(json.dumps(content))
    return name


def run(*argv: str) -> dict[str, Any]:
    """The figures that `correlate` writes."""
    assert main(["correlate", *argv, "--to_json", "out.json"]) == 0
    return dict(json.loads(Path("out.json").read_text()))
