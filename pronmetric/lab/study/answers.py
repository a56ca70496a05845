"""The answers of annotators: one JSON file each, as the page saves it.

{"format": "pronmetric study answers 1", "study": id of the study, "annotator": "1", "answers": [{"task": number of the
task from 0, "item": id, "answer": one that the study offers, "seconds": time or null, "comment": text, if there is
one}]}; unknown keys are ignored. An answer names the version as it was shown, so that the file does not reveal the
reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.lab.study.folder import FIRST, SECOND, Study
from pronmetric.text import strict_json

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
    content = strict_json.read(path, _CURE)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f'expected answers in the format "{FORMAT}"; {_CURE}', file=path)
    if content.get("study") != study.id:
        raise InputError(f"answers to the study {content.get('study')}, not {study.id}; give its files", file=path)
    name, rows = content.get("annotator"), content.get("answers")
    if not isinstance(name, str) or name not in study.assignments:
        known = ", ".join(study.assignments)
        raise InputError(f"unknown annotator {strict_json.dump(name)}; expected one of {known}", file=path)
    if not isinstance(rows, list):
        raise InputError(f'"answers" must be a list; {_CURE}', file=path)
    by_task: dict[int, Answer] = {}
    for row in rows:
        answer = _answer(study, name, row, path)
        if answer.task in by_task:
            raise InputError(f"two answers to task {answer.task}; {_CURE}", file=path)
        by_task[answer.task] = answer
    return name, tuple(by_task[task] for task in sorted(by_task))


def _answer(study: Study, annotator: str, row: Any, path: str | Path) -> Answer:
    tasks = study.assignments[annotator]
    if not isinstance(row, dict):
        raise InputError(f"an answer must be an object; {_CURE}", file=path)
    task, answer, seconds = row.get("task"), row.get("answer"), row.get("seconds")
    if isinstance(task, bool) or not isinstance(task, int) or not 0 <= task < len(tasks):
        raise InputError(f'"task" must be from 0 to {len(tasks) - 1}, got {strict_json.dump(task)}', file=path)
    if row.get("item") != tasks[task].item:
        got = strict_json.dump(row.get("item"))
        raise InputError(f'task {task} is about "{tasks[task].item}", got {got}; {_CURE}', file=path)
    if answer not in study.design.answers:
        expected = ", ".join(study.design.answers)
        raise InputError(f"task {task}: expected one of {expected}, got {strict_json.dump(answer)}", file=path)
    if seconds is not None and (
        isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf
    ):
        raise InputError(f'task {task}: "seconds" must be a number from 0, or null', file=path)
    comment = row.get("comment", "")
    if not isinstance(comment, str):
        raise InputError(f'task {task}: "comment" must be a string, got {strict_json.dump(comment)[:60]}', file=path)
    return Answer(task, answer, None if seconds is None else float(seconds), comment)
