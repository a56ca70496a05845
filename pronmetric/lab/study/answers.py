"""The answers of annotators: one JSON file each, as the page saves it.

{"format": "pronmetric study answers 1", "study": id of the study, "annotator": "1", "answers": [{"task": number of the
task from 0, "item": id, "answer": one that the study offers, "seconds": time or null, "comment": text, if there is
one}]}; unknown keys are ignored. An answer names the version as it was shown, so that the file does not reveal the
reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.lab.study.folder import FIRST, SECOND, Study
from pronmetric.text import strict_json
from pronmetric.text.entry import Entry, shown

FORMAT = "pronmetric study answers 1"
REFERENCE, OTHER = "reference", "other"
"""Answers in terms of the item; `both` and `neither` stay."""
_CURE = "save the answers again from the study's page"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one task. seconds: the time it took, None if unknown. comment: the annotator's, "" if none."""

    task: int
    answer: str
    seconds: float | None = None
    comment: str = ""


Answers = Mapping[str, Sequence[Answer]]
"""The answers of each annotator, in the order of the tasks."""


def read(study: Study, files: Iterable[str | Path]) -> dict[str, tuple[Answer, ...]]:
    """The answers of each annotator; unfinished files are read too.

    Raises:
        InputError: no such file, another study, an unknown annotator, task or answer, two answers to a task or two
            files of an annotator.
    """
    by_annotator: dict[str, tuple[Answer, ...]] = {}
    places: dict[str, str | Path] = {}
    for path in files:
        name, answers = _read(study, path)
        if name in by_annotator:
            raise InputError(f'annotator "{name}" is in {places[name]} too; give one file for each', file=path)
        by_annotator[name], places[name] = answers, path
    return {name: by_annotator[name] for name in study.assignments if name in by_annotator}


def dump(study: Study, annotator: str, answers: Sequence[Answer]) -> str:
    """The content of an annotator's file."""
    tasks = study.assignments[annotator]
    rows = [
        {
            **{"task": given.task, "item": tasks[given.task].item, "answer": given.answer, "seconds": given.seconds},
            **({"comment": given.comment} if given.comment else {}),
        }
        for given in answers
    ]
    content = {"format": FORMAT, "study": study.id, "annotator": annotator, "answers": rows}
    return strict_json.dump(content, indent=1) + "\n"


def of_item(answer: str, *, swapped: bool) -> str:
    """The answer in terms of the item: "reference", "other", "both" or "neither".

    >>> of_item("first", swapped=True), of_item("both", swapped=True)
    ('other', 'both')
    """
    if answer not in (FIRST, SECOND):
        return answer
    return REFERENCE if (answer == FIRST) != swapped else OTHER


def as_shown(answer: str, *, swapped: bool) -> str:
    """The inverse of `of_item`.

    >>> as_shown("reference", swapped=True)
    'second'
    """
    if answer not in (REFERENCE, OTHER):
        return answer
    return FIRST if (answer == REFERENCE) != swapped else SECOND


def _read(study: Study, path: str | Path) -> tuple[str, tuple[Answer, ...]]:
    content = Entry(strict_json.read(path, _CURE), file=path, cure=_CURE, expected=f'answers in the format "{FORMAT}"')
    if content.get("format") != FORMAT:
        content.fail(f'expected answers in the format "{FORMAT}"; {_CURE}')
    if content.get("study") != study.id:
        content.fail(f"answers to the study {content.get('study')}, not {study.id}; give its files")
    name = content.one_of("annotator", tuple(study.assignments))
    by_task: dict[int, Answer] = {}
    for row in content.entries("answers"):
        answer = _answer(study, name, row)
        if answer.task in by_task:
            row.fail(f"two answers to task {answer.task}; {_CURE}")
        by_task[answer.task] = answer
    return name, tuple(by_task[task] for task in sorted(by_task))


def _answer(study: Study, annotator: str, row: Entry) -> Answer:
    tasks = study.assignments[annotator]
    task = row.whole("task", least=0, most=len(tasks) - 1)
    if row.get("item") != tasks[task].item:
        row.fail(f'task {task} is about "{tasks[task].item}", got {shown(row.get("item"))}; {_CURE}')
    seconds = None if row.get("seconds") is None else row.number("seconds")
    if seconds is not None and seconds < 0:
        row.fail(f'"seconds" must be a number from 0, or null; got {seconds:g}')
    comment = row.string("comment") if "comment" in row.record else ""
    return Answer(task, row.one_of("answer", study.design.answers), seconds, comment)
