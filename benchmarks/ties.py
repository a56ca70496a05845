"""Add the tie threshold and the pronoun pairs seen in training to a checkpoint's config; the weights stay the same.

    python -m benchmarks.ties --model FOLDER --data PREPARED

`pronmetric train` writes both itself; this is for weights that an earlier version trained, or that were averaged.
Write the card afterwards (`python -m benchmarks.card`).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import scoring
from pronmetric.training import tie_threshold


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, metavar="FOLDER", help="checkpoint folder")
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="the folder it was trained on")
    parser.add_argument("--any_data", action="store_true", help="even where the config names another prepared folder")
    options = parser.parse_args()
    found = tie_threshold.add(options.model, options.data, any_data=options.any_data)
    if found is None:
        print("no tie threshold: the development split has no pair of reference and noisy reference")
    else:
        share, people = 100 * found.ties / found.pairs, 100 * found.people
        print(
            f"tie threshold {found.threshold:g}: {found.ties} of {found.pairs} development pairs tie ({share:.2f} %, "
            f"people {people:.2f} %)"
        )


if __name__ == "__main__":
    scoring.run(main)
