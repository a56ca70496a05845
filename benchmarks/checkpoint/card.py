"""Write the model card of a checkpoint from the JSON of the measuring scripts.

python -m benchmarks.checkpoint.card --model FOLDER --data PREPARED --reports FILE.json ... --machine TEXT

The commands and the time of training come from the checkpoint's config and the manifest of its data.
"""

from __future__ import annotations

import argparse
import datetime
import json
from pathlib import Path

from benchmarks import pages
from benchmarks.checkpoint.card_figures import measured
from pronmetric.checkpoint.locate import CARD
from pronmetric.training.card.checkpoint import Making, write


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, metavar="FOLDER", help="checkpoint folder")
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="the folder it was trained on")
    parser.add_argument(
        "--reports", type=Path, nargs="*", default=[], metavar="FILE.json", help="of the scripts' --out"
    )
    parser.add_argument("--machine", required=True, help="what it was trained on")
    parser.add_argument("--date", default=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"))
    options = parser.parse_args()
    making = Making(options.machine, options.date)
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in options.reports]
    figures = measured(reports, weights=pages.weights_hash(options.model))
    write(options.model, data=options.data, measured=figures, making=making)
    print(options.model / CARD)


if __name__ == "__main__":
    pages.run(main)
