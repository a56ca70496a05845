"""The organizers' page of a served study: progress and agreement so far."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files

from pronmetric.eval.agreement import Agreement, gwet_ac1
from pronmetric.eval.ratings import Ratings
from pronmetric.lab.study.answers import Answers
from pronmetric.lab.study.database import Database
from pronmetric.lab.study.findings import categories
from pronmetric.lab.study.folder import Study
from pronmetric.lab.study.votes import by_item, collect
from pronmetric.output.display import visible
from pronmetric.report import embed


def page(database: Database, title: str, archive: str) -> tuple[str, str]:
    """The HTML and its Content-Security-Policy; the page has no script. archive: the address of the answers."""
    study, given, stored = database.study, database.answers(), database.last_stored()
    css = _file("page.css") + _file("overview.css")
    policy = f"{embed.POLICY}; style-src '{embed.digest(css)}'"
    rows = (
        (name, len(given.get(name, ())), len(tasks), _minute(stored.get(name)))
        for name, tasks in study.assignments.items()
    )
    parts = {
        "title": escape(visible(title)),
        "policy": policy,
        "css": css,
        "study": study.id,
        "time": _minute(time.time()),
        "figures": _rows(figures(study, given, overlap=database.overlap).items()),
        "annotators": _rows(rows),
        "archive": escape(archive),
    }
    return embed.fill(_file("overview.html"), parts), policy


def figures(study: Study, given: Answers, *, overlap: int | None) -> Mapping[str, str]:
    """Progress and Gwet's AC1 so far, with its interval.

    overlap: answers that each item gets, None for one of each annotator of its group.
    """
    counts = by_item(study, collect(study, given))
    groups = [study.design.group_of(number) for number in range(len(study.assignments))]
    wanted = {
        item: groups.count(number % study.design.groups) if overlap is None else overlap
        for number, item in enumerate(study.items)
    }
    complete = sum(counts[item].total() >= number for item, number in wanted.items())
    ac1 = running_ac1(study, given)
    return {
        "answers": f"{sum(map(len, given.values())):,}",
        "items with an answer": f"{sum(found.total() > 0 for found in counts.values()):,} of {len(counts):,}",
        "items with all answers": f"{complete:,} of {len(counts):,}",
        "Gwet's AC1 so far": "no item has two answers" if ac1 is None else _interval(ac1),
    }


def running_ac1(study: Study, given: Answers) -> Agreement | None:
    """AC1 of all items, with every answer that the study offers as a category; None if no item has two answers."""
    ratings = Ratings.of(collect(study, given).first, categories=categories(study), order=study.items)
    return gwet_ac1(ratings.counts()) if (ratings.counts().sum(axis=1) > 1).any() else None


def _interval(ac1: Agreement) -> str:
    interval = "" if ac1.low is None else f" [{ac1.low:.3f}, {ac1.high:.3f}]"
    return f"{ac1.ac1:.3f}{interval} from {ac1.rated_twice:,} items"


def _minute(seconds: float | None) -> str:
    return "" if seconds is None else time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def _rows(rows: Iterable[Iterable[object]]) -> str:
    made = []
    for first, *rest in rows:
        cells = "".join(f"<td>{escape(visible(str(cell)))}</td>" for cell in rest)
        made.append(f'<tr><th scope="row">{escape(visible(str(first)))}</th>{cells}</tr>')
    return "\n".join(made)


def _file(name: str) -> str:
    return files("pronmetric.lab.study").joinpath(name).read_text(encoding="utf-8")
