"""Does `study report` recover AC1? Studies answered by simulated annotators with known error rates.

    python -m benchmarks.study_simulation [--seeds N] [--page]

For each seed and design, made-up pairs are sampled (`study sample`), answered by five annotators (`study simulate`) and
measured (`study report`). A seed counts if the 95 % interval of AC1 holds the AC1 of infinitely many items. `--page`
writes study-simulation.md and its JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from benchmarks import scoring
from pronmetric.lab.study.design import PAPER, Design
from pronmetric.lab.study.findings import measure
from pronmetric.lab.study.item import Item
from pronmetric.lab.study.sample import sample
from pronmetric.lab.study.simulation import expected_ac1, simulate

ERRORS = (0.02, 0.05, 0.1, 0.15, 0.25)
LANGUAGES = ("de", "fr")
PAIRS = (("he", "it"), ("she", "it"), ("it", "he"), ("they", "it"), ("his", "its"), ("who", "which"))
SEEDS = 100
PAGE = scoring.BENCHMARKS / "study-simulation.md"


class Setting(NamedTuple):
    """A design and what it is."""

    name: str
    design: Design


_SMALL = replace(PAPER, items=60, groups=1)
SETTINGS = (
    Setting("120 items, one group", _SMALL),
    Setting("120 items, two groups", replace(_SMALL, groups=2)),
    Setting('120 items, one group, no "both fine"', replace(_SMALL, both=False)),
    Setting('120 items, one group, "both fine" and "neither"', replace(_SMALL, neither=True)),
    Setting("the paper's design: 1000 items, two groups", PAPER),
)


def made_up(each: int) -> list[Item]:
    """`each` pairs of each pronoun pair and language; their texts do not matter."""
    return [
        Item(f"{language}-{a}-{b}-{k}", language, a, b, (), f"{a} {k}", f"{b} {k}", doc=f"{language} {k // 5}")
        for language in LANGUAGES
        for a, b in PAIRS
        for k in range(each)
    ]


class Recovered(NamedTuple):
    """One simulated study: whether the interval of AC1 holds the expected value, and its figures."""

    held: bool
    ac1: float
    width: float


def recover(setting: Setting, seed: int) -> Recovered:
    """Sample, answer and measure one study."""
    candidates = made_up(1 + (setting.design.items or 0) // len(PAIRS))
    study = sample(candidates, replace(setting.design, seed=seed))
    found = measure(study, simulate(study, ERRORS, seed=seed), draws=2).overall.ac1
    assert found is not None and found.low is not None and found.high is not None
    expected = expected_ac1(study, ERRORS)
    return Recovered(found.low <= expected <= found.high, found.ac1, found.high - found.low)


def measure_setting(setting: Setting, seeds: int) -> dict[str, Any]:
    """The figures of the seeds 1, 2, ... of one setting."""
    found = [recover(setting, seed) for seed in range(1, seeds + 1)]
    study = sample(made_up(1 + (setting.design.items or 0) // len(PAIRS)), setting.design)
    return {
        "design": setting.name,
        "expected": round(expected_ac1(study, ERRORS), 4),
        "mean": round(sum(one.ac1 for one in found) / seeds, 4),
        "width": round(sum(one.width for one in found) / seeds, 4),
        "held": sum(one.held for one in found),
    }


def page(content: Mapping[str, Any]) -> str:
    """The page of these figures."""
    rows = "\n".join(
        f"| {one['design']} | {one['expected']:.4f} | {one['mean']:.4f} | {one['width']:.4f} | "
        f"{one['held']} of {content['seeds']} |"
        for one in content["designs"]
    )
    errors = ", ".join(f"{100 * error:g} %" for error in ERRORS)
    return f"""# Simulated annotation studies

Weights: none, no checkpoint is used. JSON: `study-simulation.json`. Written by
`python -m benchmarks.study_simulation --page`.

Five simulated annotators with error rates of {errors} answer a sample of made-up pairs in two source
languages and six pronoun pairs. A seed counts if the 95 % interval of `study report` holds the AC1 that infinitely many
items would have (`pronmetric.lab.study.simulation.expected_ac1`).

| design | expected AC1 | mean AC1 | mean width of the interval | seeds |
|---|---:|---:|---:|---:|
{rows}
"""


def main() -> int:
    """Run all settings; print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="studies of each design (default: %(default)s)")
    parser.add_argument("--page", action="store_true", help="write the page and its JSON")
    args = parser.parse_args()
    content = {"seeds": args.seeds, "designs": [measure_setting(setting, args.seeds) for setting in SETTINGS]}
    if args.page:
        PAGE.with_suffix(".json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(content), encoding="utf-8")
    print(page(content))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
