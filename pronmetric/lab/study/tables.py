"""A study's sample and its figures as tables of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pronmetric.eval.agreement import Agreement
from pronmetric.lab.human.agreement_tables import five, format_coefficients, percent
from pronmetric.lab.study.findings import Annotator, Cell, Findings
from pronmetric.lab.study.folder import Study
from pronmetric.report.text import table


def format_sample(study: Study) -> str:
    """The items of each source language, and the tasks of each annotator."""
    items = Counter(item.language for item in study.items.values())
    pairs = {code: {i.pronouns for i in study.items.values() if i.language == code} for code in items}
    docs = {code: {i.doc for i in study.items.values() if i.language == code} for code in items}
    drawn = [(code, items[code], len(pairs[code]), len(docs[code])) for code in sorted(items)]
    tasks = [
        (name, study.design.group_of(k) + 1, len(own), sum(task.repeated for task in own))
        for k, (name, own) in enumerate(study.assignments.items())
    ]
    first = table(("source language", "items", "pronoun pairs", "documents"), drawn)
    return f"study {study.id}\n{first}\n\n{table(('annotator', 'group', 'tasks', 'repeated'), tasks)}"


def format_findings(found: Findings) -> str:
    """All figures."""
    tasks = sum(one.tasks for one in found.annotators.values())
    answered = sum(one.answered for one in found.annotators.values())
    head = (
        f"study {found.study}: {found.overall.items} items answered, {len(found.annotators)} annotators, "
        f"{answered} of {tasks} tasks"
    )
    between = "no item has two answers"
    if found.agreement is not None:
        between = format_coefficients(found.agreement, "gwet", found.by_document)
    won = ", ".join(f"{name or 'no answer'} {found.won[name]}" for name in (*found.categories, "") if name in found.won)
    parts = [
        head,
        f"agreement between the annotators\n{between}",
        _cells("", [("all", found.overall), *found.languages.items()], found),
        _cells("pronoun pair", [(f"{a} -> {b}", cell) for (a, b), cell in found.pairs.items()], found),
        _annotators(found),
        f"most votes, in items: {won}",
    ]
    return "\n\n".join(parts)


def _cells(name: str, rows: Sequence[tuple[str, Cell]], found: Findings) -> str:
    header = (name, "items", *found.categories, "prefer reference", "95 % interval", "AC1", "95 % interval")
    return table(
        header,
        [
            (label, cell.items, *(cell.counts.get(n, 0) for n in found.categories), *_preference(cell), *_ac1(cell.ac1))
            for label, cell in rows
        ],
    )


def _preference(cell: Cell) -> tuple[str, str]:
    if cell.preference is None:
        return "-", "-"
    one = cell.preference
    if one.low is None or one.high is None:
        return percent(one.value), "-"
    return percent(one.value), f"{100 * one.low:.1f}..{100 * one.high:.1f}"


def _ac1(found: Agreement | None) -> tuple[str, str]:
    if found is None:
        return "-", "-"
    if found.low is None or found.high is None:
        return five(found.ac1), "-"
    return five(found.ac1), f"{found.low:.5f}..{found.high:.5f}"


def _annotators(found: Findings) -> str:
    header = (
        *("annotator", "tasks", "answered", "prefer reference", "first version"),
        *("repeated", "same answer", "AC1", "95 % interval", "seconds"),
    )
    return table(header, [(name, *_annotator(one)) for name, one in found.annotators.items()])


def _annotator(one: Annotator) -> tuple[object, ...]:
    seconds = "-" if one.seconds is None else f"{one.seconds:.1f}"
    shares = percent(one.preference), percent(one.first)
    return one.tasks, one.answered, *shares, one.repeated, one.same, *_ac1(one.consistency), seconds
