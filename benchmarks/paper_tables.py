"""The page benchmarks/paper-tables.md: Table 4 from the cells of a sweep, Table 5 from the JSON of `benchmarks.people`.

    python -m benchmarks.paper_tables GRID --people people.json --minutes 80 --how "..." [--page [FILE.md]]

GRID is the folder of `pronmetric train --multirun experiment=table4`; --minutes is its duration, --how the machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import scoring
from benchmarks.people_page import UNTOUCHED, raters, study
from pronmetric.report import paper
from pronmetric.report.tables import Table, markdown

PAGE = scoring.BENCHMARKS / "paper-tables.md"
Figures = Mapping[str, Any]


def tables(found: paper.Found) -> list[Table]:
    """Table 4 in both measures, and the paper's findings in these cells."""
    grid = [paper.table4(found.cells, measure) for measure in paper.MEASURES]
    return [*grid, paper.findings(found.cells, found.sources)]


def page(found: paper.Found, people: Figures, *, command: str, date: str, minutes: float, how: str) -> str:
    """The page as Markdown; people: a report of `benchmarks.people`."""
    figures = people["figures"]
    french, german = paper.STUDY["french"], paper.STUDY["german"]
    sets = {name: part for name, part in figures["sets"].items() if name != UNTOUCHED}
    return f"""# The paper's tables

Weights: of Table 5 `{people["weights"]}`, Table 4 trains its own; JSON: `paper-tables.json`.

Jwalapuram et al., EMNLP-IJCNLP 2019, on our data and encoders. {date}; written by

```
{command}
```

{len(found.cells)} cells in {minutes:.0f} minutes, {how}. {" ".join(f"{note}." for note in paper.notes(found)[1:])}
`docs/paper-tables.md` explains the rows and columns; `table4-sample.json` names the pairs.

{markdown(tables(found))}
The interval resamples source sentences, the standard error is over the settings; where the interval has 0 in it, a
finding is open. In the respective context each text is preceded by itself, so that a model can
distinguish the texts by their context, without their pronouns.

# Table 5, a trained checkpoint

Weights `{people["weights"]}`, {people["date"]}, by `{people["command"]}`. The paper's metric has {french[0]} (French)
and {german[0]} (German) on its study set, its trigram model {french[1]} and {german[1]}.

{study(figures["study"])}

{raters(sets)}
"""


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("grid", metavar="GRID", help="folder of the sweep")
    parser.add_argument("--people", type=Path, required=True, metavar="FILE.json", help="report of benchmarks.people")
    parser.add_argument("--minutes", type=float, required=True, help="how long the sweep took")
    parser.add_argument("--how", required=True, help="on what machine and with which launcher")
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help="where to write the page")
    options = parser.parse_args()
    people = scoring.read_report(options.people, "people")
    made = scoring.origin("paper_tables")
    text = page(paper.read([options.grid]), people, **made, minutes=options.minutes, how=options.how)
    if options.page is None:
        print(text)
    else:
        content = {**made, "tables": [one._asdict() for one in tables(paper.read([options.grid]))], "people": people}
        scoring.write_page(options.page, text, content)


if __name__ == "__main__":
    scoring.run(main)
