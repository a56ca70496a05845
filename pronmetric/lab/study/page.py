"""The page on which annotators answer, and that on which organizers follow a served study; each is one HTML file."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from pronmetric.errors import InputError
from pronmetric.eval.agreement import Agreement, gwet_ac1
from pronmetric.eval.ratings import Ratings
from pronmetric.lab.study.answers import FORMAT, Answers
from pronmetric.lab.study.findings import by_item, categories, collect
from pronmetric.lab.study.folder import Design, Item, Study, Task
from pronmetric.lab.study.guide import Example, Guide
from pronmetric.output.display import visible
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.report import embed

if TYPE_CHECKING:  # its libraries are an extra
    from pronmetric.lab.study.database import Database

TITLE = "Pronoun study"
QUESTION = "Which version fits the sentences before it?"
TOGETHER = "Do the two translations fit together?"
_ALONE, _PHENOMENON = "Is this translation good by itself?", "What does not fit?"
BREAKS = 50
"""Answers after which a break is proposed, by default."""
_REFRESH = '<meta http-equiv="refresh" content="30">\n'


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What a page says and shows beside the tasks.

    question: to the annotators; None: ours. In two stages it is that of the second one. guide: None for a page without
    instructions and training. breaks: the number of answers after which a break is proposed, 0 for none.
    """

    title: str = TITLE
    question: str | None = None
    guide: Guide | None = None
    breaks: int = BREAKS


_PLAIN = PageOptions()


def page(study: Study, look: PageOptions = _PLAIN, *, annotators: Sequence[str] | None = None) -> str:
    """The page's HTML. Nothing in it tells which version is the reference.

    annotators: those whose tasks are on the page, None for all. With several, each opens the page by their own link,
    with `code` as its fragment.

    Raises:
        InputError: an unknown annotator.
    """
    names = list(study.assignments) if annotators is None else annotators
    if unknown := [name for name in names if name not in study.assignments]:
        raise InputError(f'unknown annotator "{unknown[0]}"; expected one of {", ".join(study.assignments)}')
    return _fill(study, names, look, script="local.js", connect="")[0]


def code(study: Study, annotator: str) -> str:
    """The fragment of an annotator's link to a page for several; it keeps people from choosing another's by mistake."""
    return hashlib.sha256(f"{study.id} {annotator}".encode()).hexdigest()[:8]


def served_page(study: Study, annotator: str, look: PageOptions = _PLAIN) -> tuple[str, str]:
    """The HTML of one annotator's page that keeps the answers on its server, and its Content-Security-Policy."""
    return _fill(study, [annotator], look, script="remote.js", connect="'self'")


def _fill(study: Study, names: Sequence[str], look: PageOptions, *, script: str, connect: str) -> tuple[str, str]:
    css, js = _file("page.css"), _file("common.js", "pronmetric.report") + _file("page.js") + _file(script)
    parts = {"title": escape(visible(look.title)), "data": embed.dump_json(_data(study, names, look))}
    return embed.page(_file("page.html"), parts, css=css, js=js, connect=connect)


def differing(one: str, other: str, language: Language = ENGLISH) -> tuple[tuple[int, int], tuple[int, int]]:
    """The span in each text from the first word that differs to the last; whole texts if no word is shared.

    >>> differing("He came home.", "It came home.")
    ((0, 2), (0, 2))
    """
    a, b = language.words(one), language.words(other)
    pairs = zip(a, b, strict=False)
    start = sum(1 for _ in takewhile(lambda both: both[0].text == both[1].text, pairs))
    most = min(len(a), len(b)) - start
    backwards = zip(reversed(a[len(a) - most :]), reversed(b[len(b) - most :]), strict=False)
    end = sum(1 for _ in takewhile(lambda both: both[0].text == both[1].text, backwards))

    def span(text: str, split: Sequence[Any]) -> tuple[int, int]:
        inside = split[start : len(split) - end]
        return (inside[0].start, inside[-1].end) if inside else (len(text), len(text))

    return span(one, a), span(other, b)


def _data(study: Study, names: Sequence[str], look: PageOptions) -> dict[str, Any]:
    """The data of the script; page.js documents the format."""
    used = {task.item for name in names for task in study.assignments[name]}
    order = {item: number for number, item in enumerate(sorted(used))}
    return {
        "format": FORMAT,
        "study": study.id,
        "lang": study.design.target,
        "answers": study.design.answers,
        "stages": study.design.stages,
        "questions": _questions(study, look.question),
        "guide": None if look.guide is None else _guide(study, look.guide),
        "breaks": look.breaks,
        "codes": {code(study, name): name for name in names},
        "items": [_item(study, item) for item in order],
        "annotators": {
            name: [
                [order[task.item], 0 if study.design.stages else _first_shown(study, task)]
                for task in study.assignments[name]
            ]
            for name in names
        },
    }


def _first_shown(study: Study, task: Task) -> int:
    """The version that a task shows first, of the two in alphabetical order."""
    item = study.items[task.item]
    return int((item.text_a > item.text_b) != task.swapped)


def _questions(study: Study, question: str | None) -> list[str]:
    """The question of each step; page.js documents the steps."""
    if not study.design.stages:
        return [visible(question or QUESTION)]
    return [_ALONE, _ALONE, visible(question or TOGETHER), _PHENOMENON]


def _guide(study: Study, guide: Guide) -> dict[str, Any]:
    def example(one: Example) -> list[Any]:
        return [_shown(study.design, "", one, one.versions), one.answer, one.why]

    training = [example(one) for one in guide.training]
    return {
        "lang": guide.language,
        "instructions": guide.instructions,
        "example": example(guide.example),
        "training": training,
    }


def _item(study: Study, name: str) -> list[Any]:
    item = study.items[name]
    return _shown(
        study.design, name, item, (item.text_a,) if study.design.stages else sorted((item.text_a, item.text_b))
    )


def _shown(design: Design, name: str, of: Item | Example, texts: Sequence[str]) -> list[Any]:
    show = embed.show_controls
    versions = [[show(text)] for text in texts]
    if design.highlight and not design.stages:
        versions = [
            [show(text[:start]), show(text[start:end]), show(text[end:])]
            for text, (start, end) in zip(texts, differing(texts[0], texts[1], design.language or ENGLISH), strict=True)
        ]
    source = show(of.source) if design.source and of.source else None
    before = list(map(show, of.source_context)) if source else []
    return [name, list(map(show, of.context)), source, before, versions]


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


def _file(name: str, package: str = "pronmetric.lab.study") -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")
