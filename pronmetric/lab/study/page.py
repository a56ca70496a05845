"""The page on which annotators answer, and that on which organizers follow a served study; each is one HTML file."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from pronmetric.errors import InputError
from pronmetric.eval.agreement import Agreement, gwet_ac1
from pronmetric.eval.ratings import Ratings
from pronmetric.lab.study.answers import FORMAT, Answers
from pronmetric.lab.study.findings import by_item, categories, collect
from pronmetric.lab.study.folder import Study
from pronmetric.output.display import visible
from pronmetric.report import embed
from pronmetric.text.words import words

if TYPE_CHECKING:  # its libraries are an extra
    from pronmetric.lab.study.database import Database

TITLE = "Pronoun study"
QUESTION = "Which version fits the sentences before it?"
_REFRESH = '<meta http-equiv="refresh" content="30">\n'


def page(study: Study, *, title: str = TITLE, question: str = QUESTION, annotators: Sequence[str] | None = None) -> str:
    """The page's HTML. Nothing in it tells which version is the reference.

    annotators: those whose tasks are on the page, None for all.

    Raises:
        InputError: an unknown annotator.
    """
    names = list(study.assignments) if annotators is None else annotators
    if unknown := [name for name in names if name not in study.assignments]:
        raise InputError(f'unknown annotator "{unknown[0]}"; expected one of {", ".join(study.assignments)}')
    return _fill(study, names, title, question, script="local.js", connect="")[0]


def served_page(study: Study, annotator: str, *, title: str = TITLE, question: str = QUESTION) -> tuple[str, str]:
    """The HTML of one annotator's page that keeps the answers on its server, and its Content-Security-Policy."""
    return _fill(study, [annotator], title, question, script="remote.js", connect="'self'")


def _fill(
    study: Study, names: Sequence[str], title: str, question: str, *, script: str, connect: str
) -> tuple[str, str]:
    css, js = _file("page.css"), _file("page.js") + _file(script)
    parts = {
        "title": escape(visible(title)),
        "question": escape(visible(question)),
        "data": embed.dump_json(_data(study, names)),
    }
    return embed.page(_file("page.html"), parts, css=css, js=js, connect=connect)


def differing(one: str, other: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """The span in each text from the first word that differs to the last; whole texts if no word is shared.

    >>> differing("He came home.", "It came home.")
    ((0, 2), (0, 2))
    """
    a, b = words(one), words(other)
    pairs = zip(a, b, strict=False)
    start = sum(1 for _ in takewhile(lambda both: both[0].text == both[1].text, pairs))
    most = min(len(a), len(b)) - start
    backwards = zip(reversed(a[len(a) - most :]), reversed(b[len(b) - most :]), strict=False)
    end = sum(1 for _ in takewhile(lambda both: both[0].text == both[1].text, backwards))

    def span(text: str, split: Sequence[Any]) -> tuple[int, int]:
        inside = split[start : len(split) - end]
        return (inside[0].start, inside[-1].end) if inside else (len(text), len(text))

    return span(one, a), span(other, b)


def _data(study: Study, names: Sequence[str]) -> dict[str, Any]:
    """The data of the script; page.js documents the format."""
    used = {task.item for name in names for task in study.assignments[name]}
    order = {item: number for number, item in enumerate(sorted(used))}
    return {
        "format": FORMAT,
        "study": study.id,
        "answers": study.design.answers,
        "items": [_item(study, item) for item in order],
        "annotators": {
            name: [
                [order[task.item], int(_reference_is_second(study, task.item) != task.swapped)]
                for task in study.assignments[name]
            ]
            for name in names
        },
    }


def _reference_is_second(study: Study, item: str) -> bool:
    """Whether the reference is the second of the two versions in alphabetical order."""
    return study.items[item].text_a > study.items[item].text_b


def _item(study: Study, name: str) -> list[Any]:
    item, show = study.items[name], embed.show_controls
    texts = sorted((item.text_a, item.text_b))
    versions = [[show(text)] for text in texts]
    if study.design.highlight:
        spans = differing(*texts)
        versions = [
            [show(text[:start]), show(text[start:end]), show(text[end:])]
            for text, (start, end) in zip(texts, spans, strict=True)
        ]
    source = show(item.source) if study.design.source and item.source else None
    before = list(map(show, item.source_context)) if source else []
    return [name, list(map(show, item.context)), source, before, versions]


def overview_page(database: Database, title: str, archive: str) -> tuple[str, str]:
    """The HTML and its Content-Security-Policy; the page has no script. archive: the address of the answers."""
    study, given, stored = database.study, database.answers(), database.last_stored()
    css = _file("page.css") + _file("overview.css")
    rows = (
        (name, len(given.get(name, ())), len(tasks), _minute(stored.get(name)))
        for name, tasks in study.assignments.items()
    )
    parts = {
        "title": escape(visible(f"{title}: overview")),
        "study": study.id,
        "time": _minute(time.time()),
        "figures": _rows(progress(study, given, overlap=database.overlap).items()),
        "annotators": _rows(rows),
        "archive": escape(archive),
    }
    return embed.page(_file("overview.html"), parts, css=css, meta=_REFRESH)


def progress(study: Study, given: Answers, *, overlap: int | None) -> Mapping[str, str]:
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
        "items with an answer": f"{sum(answers.total() > 0 for answers in counts.values()):,} of {len(counts):,}",
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
    lines = []
    for first, *rest in rows:
        cells = "".join(f"<td>{escape(visible(str(cell)))}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{escape(visible(str(first)))}</th>{cells}</tr>')
    return "\n".join(lines)


def _file(name: str) -> str:
    return files("pronmetric.lab.study").joinpath(name).read_text(encoding="utf-8")
