"""`make demo`: score and compare three systems of the bundled sample, and show the pronouns that cost them most."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pronmetric.cli.main import main as pronmetric

SYSTEMS = ["system-a.txt", "system-b.txt", "system-c.txt"]
GIVEN = ["-t", *SYSTEMS, "-r", "ref.txt", "-s", "src.de.txt", "--docids", "docids.txt", "--quiet", "--only_system"]
WIDTH = 40  # of the bar for a score of 100
WORST = 4  # sentences shown of each system


def main(sample: str, *flags: str) -> int:
    """Run both verbs on the sample; further flags go to both."""
    os.chdir(sample)
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/scores.json"
        print(f"$ pronmetric score {' '.join(GIVEN)}", flush=True)
        code = pronmetric(["score", *GIVEN, *flags, "--to_json", file])
        if code:
            return code
        result = json.loads(Path(file).read_text(encoding="utf-8"))
    print("\n".join(["", *table(result["systems"]), "", *worst(result["segments"]), ""]))
    print(f"$ pronmetric compare {' '.join(GIVEN)}")
    return pronmetric(["compare", *GIVEN, *flags])


def table(systems: list[dict[str, Any]]) -> Iterator[str]:
    """Each system's score: 100 x the mean probability that a pronoun is right."""
    yield "system        score   95 % interval   pronouns   (100: every pronoun is surely right)"
    for system in systems:
        low, high = system["interval"]
        bar = "#" * round(WIDTH * system["score"] / 100)
        yield f"{system['system']:<13}{system['score']:6.1f}{low:10.1f} -{high:5.1f}{system['pronouns']:9}    {bar}"


def worst(segments: list[dict[str, Any]]) -> Iterator[str]:
    """The sentences with the least probable pronouns, these marked, and the reference below."""
    yield "Where a pronoun is most likely wrong, with [pronoun probability]:"
    for system in SYSTEMS:
        found = [s for s in segments if s["system"] == system and s["pronouns"]]
        yield f"\n{system}"
        for segment in sorted(found, key=lowest)[:WORST]:
            yield f"  line {segment['segment'] + 1:<6}{marked(segment)}"
            yield f"  reference  {segment['reference']}"


def lowest(segment: dict[str, Any]) -> float:
    """The probability of the segment's least probable pronoun."""
    return min(pronoun["probability"] for pronoun in segment["pronouns"])


def marked(segment: dict[str, Any]) -> str:
    """The text with its least probable pronoun in brackets, and all others that are more likely wrong than right."""
    text = segment["text"]
    for pronoun in reversed(segment["pronouns"]):
        start, end, probability = pronoun["start"], pronoun["end"], pronoun["probability"]
        if probability < 0.5 or probability == lowest(segment):
            text = f"{text[:start]}[{text[start:end]} {probability:.2f}]{text[end:]}"
    return text


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
