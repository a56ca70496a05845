"""The page paper-tables.md: Table 4 from the cells of a sweep, Table 5 from the JSON of `checkpoint.people`.

    python -m benchmarks.checkpoint.paper_tables GRID --people people.json --minutes 80 --how "..." [--page [FILE.md]]

GRID is the folder of `pronmetric train --multirun experiment=table4`; --minutes is its duration, --how the machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.checkpoint import scoring
from benchmarks.checkpoint.people_page import UNTOUCHED, raters, study
from pronmetric.report import paper
from pronmetric.report.tables import Table, markdown

PAGE = pages.PUBLISHED / "paper-tables.md"
Figures = Mapping[str, Any]


def tables(found: paper.PaperFiles) -> list[Table]:
    """Table 4 in both measures, and the paper's findings in these cells."""
    grid = [paper.table4(found.cells, measure) for measure in paper.MEASURES]
    return [*grid, paper.findings(found.cells, found.sources)]


def page(found: paper.PaperFiles, people: Figures, *, command: str, date: str, minutes: float, how: str) -> str:
    """The page as Markdown; people: a report of `benchmarks.checkpoint.people`."""
    figures = people["figures"]
    french, german = paper.STUDY["french"], paper.STUDY["german"]
    sets = {name: part for name, part in figures["sets"].items() if name != UNTOUCHED}
    return pages.fill(
        "paper-tables",
        people_weights=people["weights"],
        date=date,
        command=command,
        cells=len(found.cells),
        minutes=minutes,
        how=how,
        notes=" ".join(f"{note}." for note in paper.notes(found)[1:]),
        tables=markdown(tables(found)),
        people_date=people["date"],
        people_command=people["command"],
        french=french[0],
        german=german[0],
        french_trigrams=french[1],
        german_trigrams=german[1],
        study=study(figures["study"]),
        raters=raters(sets),
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("grid", metavar="GRID", help="folder of the sweep")
    parser.add_argument("--people", type=Path, required=True, metavar="FILE.json", help="report of checkpoint.people")
    parser.add_argument("--minutes", type=float, required=True, help="how long the sweep took")
    parser.add_argument("--how", required=True, help="on what machine and with which launcher")
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help="where to write the page")
    options = parser.parse_args()
    people = scoring.read_report(options.people, "people")
    made = pages.origin("checkpoint.paper_tables")
    text = page(paper.read([options.grid]), people, **made, minutes=options.minutes, how=options.how)
    if options.page is None:
        print(text)
    else:
        content = {**made, "tables": [one._asdict() for one in tables(paper.read([options.grid]))], "people": people}
        pages.write_page(options.page, text, content)


if __name__ == "__main__":
    pages.run(main)
