"""Does `study report` recover AC1? Studies answered by simulated annotators with known error rates.

    python -m benchmarks.checkpoint.study_simulation [--seeds N] [--page]

For each seed and design, made-up pairs are sampled (`study sample`), answered by five annotators (`study simulate`) and
measured (`study report`). A seed counts if the 95 % interval of AC1 holds the AC1 of infinitely many items. `--page`
writes study-simulation.md and its JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from benchmarks import pages
from pronmetric.lab.study.sample import sample
from pronmetric.lab.study.simulation import expected_ac1
from tests.tools.made_up_study import ERRORS, PAIRS, SETTINGS, Setting, made_up, recover

SEEDS = 100
PAGE = pages.PUBLISHED / "study-simulation.md"


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
    return pages.fill(
        "study-simulation",
        errors=errors,
        rows=rows,
    )


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
