"""The page segment-level.md: segment scores against WMT's direct assessment, from the JSON of `correlate`.

    python -m benchmarks.checkpoint.segment_level FIGURES.json --title NAME:LP --weights HASH --how "..."
        [--page [FILE.md]]

FIGURES.json is the output of `pronmetric correlate SCORES ... ad-seg-scores-SL-TL.csv --to_json`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import pages
from pronmetric.lab.human.correlation_tables import SEGMENT_LABELS
from pronmetric.report.tables import Table, markdown

PAGE = pages.PUBLISHED / "segment-level.md"


def page(content: Mapping[str, Any]) -> str:
    """The page as Markdown; no figure on it is typed by hand."""
    found = content["figures"]
    rows = [
        (Path(one["metric"]).name, *(_number(one[name]["value"]) for name in SEGMENT_LABELS), f"{one['threshold']:.3g}")
        for one in found["metrics"]
    ]
    test = found["significance"]
    p = [(name, *map(_number, row)) for name, row in zip(test["metrics"], test["p"], strict=True)]
    figures = Table("Figures", ("metric", *SEGMENT_LABELS.values(), "threshold"), tuple(rows))
    values = Table(
        "One-sided p: the row's metric agrees better than the column's", ("metric", *test["metrics"]), tuple(p)
    )
    first = found["metrics"][0]
    return pages.fill(
        "segment-level",
        title=content["title"],
        weights=content["weights"],
        date=content["date"],
        how=content["how"],
        scores=found["scores"],
        number=len(found["systems"]),
        human_scores=found["human_scores"],
        names=", ".join(found["systems"]),
        average=found["average"],
        groups=first["groups"],
        pairs=first["pairs"],
        table=markdown([figures, values]),
        resamples=test["resamples"],
        figure=SEGMENT_LABELS[test["figure"]],
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("figures", type=Path, metavar="FIGURES.json", help="JSON output of correlate")
    parser.add_argument("--title", required=True, metavar="NAME:LP", help="the test set")
    parser.add_argument("--weights", required=True, metavar="HASH", help="of the checkpoint that scored")
    parser.add_argument("--how", required=True, help="the commands")
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help=f"default {PAGE.name}")
    options = parser.parse_args()
    told = {name: pages.origin("checkpoint.segment_level")[name] for name in ("date", "command")}
    figures = json.loads(options.figures.read_text(encoding="utf-8"))
    content = {**told, "title": options.title, "weights": options.weights, "how": options.how, "figures": figures}
    text = page(content)
    if options.page is not None:
        pages.write_page(options.page, text, content)
    print(text)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    pages.run(main)
