"""Appraise: the tasks of a study as batches of a campaign "Pairwise", and the answers from its exported scores.

Format: Examples/Pairwise of github.com/AppraiseDev/Appraise, and the CSV of `manage.py ExportSystemScoresToCSV`. The
source text of an item is the context (and the source, if it is shown). Annotators score both versions from 0 to 100:
the higher score is the answer; equal scores are "both" from 50, else "neither". Batches have exactly 100 items;
the last one of an annotator is filled with items of the type "CHK", whose scores are ignored.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.lab.study.answers import TaskAnswer
from pronmetric.lab.study.folder import BOTH, FIRST, NEITHER, SECOND, Item, Study
from pronmetric.text import language_codes, numbers, strict_json
from pronmetric.text.lines import read_lines

BATCH = 100
"""Items of a task, as in WMT's campaigns with Appraise; control items fill the last one."""
CONTROL = "scores of control items (CHK)"
_BLOCK = 1_000_000  # itemID: number of the annotator times this, and the number of the task
_COLUMNS = "user, version, item, type, source language, target language, score, start, end"
_CURE = "export it by `manage.py ExportSystemScoresToCSV CAMPAIGN`"


def batches(study: Study, annotator: str) -> str:
    """The batches of an annotator, JSON; both sides are in the language of the texts."""
    language = language_codes.three(study.design.target)
    own = [_item(study, annotator, number, "TGT") for number in range(len(study.assignments[annotator]))]
    own += [_item(study, annotator, number % len(own), "CHK") for number in range(-len(own) % BATCH)]
    tasks = [
        {
            "items": [{**item, "_block": -1, "_item": k} for k, item in enumerate(own[start : start + BATCH])],
            "task": {
                "batchNo": start // BATCH + 1,
                "batchSize": BATCH,
                "randomSeed": study.design.seed,
                "requiredAnnotations": 1,
                "sourceLanguage": language,
                "targetLanguage": language,
            },
        }
        for start in range(0, len(own), BATCH)
    ]
    return strict_json.dump(tasks, indent=1) + "\n"


def read(
    study: Study, files: Sequence[str | Path], *, tally: Counter[str] | None = None
) -> dict[str, tuple[TaskAnswer, ...]]:
    """The answers of each annotator in exported scores, without a header; `tally` counts control items (CHK).

    Raises:
        InputError: with file and line, for another table, an item that is no task of the study, a version scored twice
            or alone, and equal scores where the study offers no such answer.
    """
    counts: Counter[str] = Counter() if tally is None else tally
    scores: dict[tuple[str, int], dict[str, tuple[float, float]]] = {}
    for path in files:
        for line, row in enumerate(csv.reader(read_lines(path)), start=1):
            if not row:
                continue
            if len(row) > 3 and row[3] == "CHK":
                counts[CONTROL] += 1
                continue
            task, version, score, seconds = _row(study, row, path, line)
            own = scores.setdefault(task, {})
            if version in own:
                raise InputError(f'"{version}" of item {row[2]} is scored twice; keep one', file=path, line=line)
            own[version] = score, seconds
    by_annotator: dict[str, list[TaskAnswer]] = {}
    for (annotator, number), own in sorted(scores.items()):
        where = f"task {number} of annotator {annotator}"
        if len(own) < 2:
            raise InputError(f"{where}: only one version is scored; {_CURE}")
        answer = _answer(own[FIRST][0], own[SECOND][0])
        if answer not in study.design.answers:
            raise InputError(f'{where}: equal scores mean "{answer}", which the study does not offer; correct them')
        by_annotator.setdefault(annotator, []).append(TaskAnswer(number, answer, own[FIRST][1]))
    return {name: tuple(given) for name, given in by_annotator.items()}


def _item(study: Study, annotator: str, number: int, kind: str) -> dict[str, Any]:
    task = study.assignments[annotator][number]
    item = study.items[task.item]
    texts = (item.text_b, item.text_a) if task.swapped else (item.text_a, item.text_b)
    names = zip((FIRST, SECOND), texts, strict=True)
    return {
        "itemID": (list(study.assignments).index(annotator) + 1) * _BLOCK + number,
        "itemType": kind,
        "sourceID": study.id,
        "sourceText": _context(item, shown=study.design.source),
        "targets": [{"_target": k, "targetID": name, "targetText": text} for k, (name, text) in enumerate(names)],
        "targetsSize": 2,
    }


def _context(item: Item, *, shown: bool) -> str:
    parts = [*item.source_context, item.source or ""] if shown else []
    return " ".join([*parts, *item.context]).strip() or "(no sentence before)"


def _row(study: Study, row: Sequence[str], path: str | Path, line: int) -> tuple[tuple[str, int], str, float, float]:
    if len(row) < 9:
        raise InputError(f"expected at least 9 columns ({_COLUMNS}), got {len(row)}; {_CURE}", file=path, line=line)
    try:
        code, score, start, end = numbers.whole(row[2]), *map(numbers.real, row[6:9])
    except ValueError:
        raise InputError(
            f"expected numbers in columns 3, 7, 8 and 9 ({_COLUMNS}); {_CURE}", file=path, line=line
        ) from None
    names = list(study.assignments)
    person, number = code // _BLOCK - 1, code % _BLOCK
    if not 0 <= person < len(names) or number >= len(study.assignments[names[person]]):
        raise InputError(f"item {row[2]} is no task of the study {study.id}", file=path, line=line)
    if row[1] not in (FIRST, SECOND) or not 0 <= score <= 100 or not math.isfinite(end - start):
        raise InputError(f'expected "first" or "second" and a score from 0 to 100; {_CURE}', file=path, line=line)
    return (names[person], number), row[1], score, max(0.0, end - start)


def _answer(first: float, second: float) -> str:
    if first != second:
        return FIRST if first > second else SECOND
    return BOTH if first >= 50 else NEITHER
