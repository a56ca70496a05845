"""Label Studio: the tasks of a study as its JSON, and the answers from its exports JSON and JSON-MIN.

Formats: "Label Studio JSON format of annotated tasks" (labelstud.io/guide/task_format), and JSON-MIN
(labelstud.io/guide/export), which has one object for each annotation: the task's data, the choice under the name of its
control, and the annotator of Label Studio under "annotator". A task's `data` names the study, the annotator (for
JSON-MIN also as "assigned") and the number of the task, so that an export can be read in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.lab.study.answers import Answer
from pronmetric.lab.study.folder import BOTH, FIRST, INVALID, NEITHER, SECOND, Study
from pronmetric.lab.study.page import QUESTION
from pronmetric.text import strict_json

CONFIG = "label-studio.xml"
_NAME, _TO = "answer", "first"
_SHOWN = {FIRST: "1", SECOND: "2", BOTH: "Both are fine", NEITHER: "Neither is right", INVALID: "Cannot be judged"}
_HOTKEYS = {FIRST: "1", SECOND: "2", BOTH: "0", NEITHER: "9", INVALID: "8"}
_CURE = "export the project from Label Studio as JSON"
UNANSWERED = "tasks without an annotation"
SKIPPED = "skipped tasks"
EMPTY = "annotations without an answer"


def config(study: Study) -> str:
    """The labelling configuration of a project, XML."""
    source = ""
    if study.design.source:
        source = '  <Text name="source-context" value="$source_context"/>\n  <Text name="source" value="$source"/>\n'
    choices = "".join(
        f'    <Choice value="{name}" alias="{name}" html="{escape(_SHOWN[name])}" hotkey="{_HOTKEYS[name]}"/>\n'
        for name in study.design.answers
    )
    return (
        f'<View>\n  <Header value="{escape(QUESTION)}"/>\n{source}  <Text name="context" value="$context"/>\n'
        f'  <Header value="1" size="5"/>\n  <Text name="{_TO}" value="$first"/>\n'
        f'  <Header value="2" size="5"/>\n  <Text name="second" value="$second"/>\n'
        f'  <Choices name="{_NAME}" toName="{_TO}" choice="single" required="true" showInline="true">\n{choices}'
        "  </Choices>\n</View>\n"
    )


def tasks(study: Study, annotator: str) -> str:
    """The tasks of an annotator, JSON."""
    rows = []
    for number, task in enumerate(study.assignments[annotator]):
        item = study.items[task.item]
        first, second = (item.text_b, item.text_a) if task.swapped else (item.text_a, item.text_b)
        data = {"study": study.id, "annotator": annotator, "assigned": annotator, "task": number}
        data["context"] = " ".join(item.context)
        data |= {"first": first, "second": second}
        if study.design.source:
            data |= {"source": item.source or "", "source_context": " ".join(item.source_context)}
        rows.append({"data": data})
    return strict_json.dump(rows, indent=1) + "\n"


def read(
    study: Study, files: Sequence[str | Path], *, tally: Counter[str] | None = None
) -> dict[str, tuple[Answer, ...]]:
    """The answers of each annotator in exports, JSON or JSON-MIN; `tally` counts the tasks that have none, by kind.

    Raises:
        InputError: no such export, tasks of another study, two answers to a task, or an answer that is none.
    """
    counts: Counter[str] = Counter() if tally is None else tally
    by_annotator: dict[str, dict[int, Answer]] = {}
    for path in files:
        content = strict_json.read(path, _CURE)
        if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
            raise InputError(f"expected a list of tasks; {_CURE}", file=path)
        for row in content:
            short = "data" not in row and "annotations" not in row and "annotation_id" in row
            annotator, number = _task(
                study, {**row, "annotator": row.get("assigned")} if short else row.get("data"), path
            )
            own = by_annotator.setdefault(annotator, {})
            given = _answer(study, row, number, path, counts) if short else _answers(study, row, number, path, counts)
            for answer in given:
                if number in own:
                    raise InputError(f"two answers to task {number} of annotator {annotator}; keep one", file=path)
                own[number] = answer
    return {name: tuple(own[k] for k in sorted(own)) for name, own in by_annotator.items()}


def _task(study: Study, data: Any, path: str | Path) -> tuple[str, int]:
    data = data if isinstance(data, dict) else {}
    if data.get("study") != study.id:
        got = strict_json.dump(data.get("study"))
        raise InputError(f'expected tasks of the study {study.id}, got "study": {got}; {_CURE}', file=path)
    annotator, number = data.get("annotator"), data.get("task")
    if not isinstance(annotator, str) or annotator not in study.assignments:
        raise InputError(f"unknown annotator {strict_json.dump(annotator)}; {_CURE}", file=path)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(study.assignments[annotator]):
        raise InputError(f"annotator {annotator} has no task {strict_json.dump(number)}; {_CURE}", file=path)
    return annotator, number


def _answer(study: Study, row: dict[str, Any], number: int, path: str | Path, tally: Counter[str]) -> list[Answer]:
    """The answer of an annotation in JSON-MIN; none if it has no choice."""
    choice = row.get(_NAME)
    if choice in (None, "", []):
        tally[EMPTY] += 1
        return []
    if choice not in study.design.answers:
        expected, got = ", ".join(study.design.answers), strict_json.dump(choice)[:60]
        raise InputError(f"task {number}: expected one choice of {expected}, got {got}", file=path)
    seconds = row.get("lead_time")
    return [Answer(number, choice, float(seconds) if isinstance(seconds, int | float) else None)]


def _answers(study: Study, row: dict[str, Any], number: int, path: str | Path, tally: Counter[str]) -> list[Answer]:
    annotations = row.get("annotations")
    if not isinstance(annotations, list):
        raise InputError(f'task {number} has no list "annotations"; {_CURE}', file=path)
    tally[UNANSWERED] += not annotations
    answers = []
    for annotation in annotations:
        results = annotation.get("result") if isinstance(annotation, dict) else None
        if not isinstance(results, list):
            raise InputError(f'task {number}: an annotation has no list "result"; {_CURE}', file=path)
        if annotation.get("was_cancelled") or not results:
            tally[SKIPPED if annotation.get("was_cancelled") else EMPTY] += 1
            continue
        seconds = annotation.get("lead_time")
        answer = _choice(study, results, number, path)
        answers.append(Answer(number, answer, float(seconds) if isinstance(seconds, int | float) else None))
    return answers


def _choice(study: Study, results: Sequence[Any], number: int, path: str | Path) -> str:
    """The one choice of an annotation."""
    values = [r.get("value") for r in results if isinstance(r, dict) and r.get("from_name") == _NAME]
    chosen = [value.get("choices") for value in values if isinstance(value, dict)]
    for answer in study.design.answers:
        if chosen == [[answer]]:
            return answer
    expected, got = ", ".join(study.design.answers), strict_json.dump(chosen)[:60]
    raise InputError(f"task {number}: expected one choice of {expected}, got {got}", file=path)
