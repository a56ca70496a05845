"""A study as a folder: `study.json` (design, counts, id), `items.jsonl` and `assignments.jsonl`."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.lab.study.assignment import Assignments, Task
from pronmetric.lab.study.design import Design
from pronmetric.lab.study.item import Item
from pronmetric.output.targets import AtomicFiles
from pronmetric.text import strict_json
from pronmetric.text.entry import read as read_entries

FORMAT = "pronmetric study 1"
_STUDY, _ITEMS, _ASSIGNMENTS = "study.json", "items.jsonl", "assignments.jsonl"
_CURE = "run `pronmetric study sample` again"


@dataclass(frozen=True, slots=True)
class Study:
    """The items of a study by id, its design and the tasks of each annotator."""

    items: Mapping[str, Item]
    design: Design
    assignments: Assignments

    @property
    def id(self) -> str:
        """Sixteen hexadecimal digits: a hash of the items, the design and the assignments."""
        return hashlib.sha256("\n".join([*self._lines(), _dump(self.design)]).encode()).hexdigest()[:16]

    def _lines(self) -> list[str]:
        return [*map(_dump, self.items.values()), *_assignment_lines(self.assignments)]


def write(study: Study, folder: str | Path, *, data: str) -> None:
    """Write the folder, which is made; `data` names where the items are from."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    head = {"format": FORMAT, "id": study.id, "data": data, "items": len(study.items)}
    head["tasks"] = {name: len(tasks) for name, tasks in study.assignments.items()}
    head["design"] = dataclasses.asdict(study.design)
    with AtomicFiles() as files:
        files.open(place / _ITEMS).writelines(f"{_dump(item)}\n" for item in study.items.values())
        files.open(place / _ASSIGNMENTS).writelines(f"{line}\n" for line in _assignment_lines(study.assignments))
        files.open(place / _STUDY).write(strict_json.dump(head, indent=1) + "\n")


def read(folder: str | Path) -> Study:
    """The study in a folder.

    Raises:
        InputError: a file is missing or broken, or was changed after `study sample`.
    """
    place = Path(folder)
    if not (place / _STUDY).is_file():
        raise InputError("no study: expected a folder written by `pronmetric study sample`", file=place)
    head = strict_json.read(place / _STUDY, _CURE)
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise InputError(f'expected the format "{FORMAT}"; {_CURE}', file=place / _STUDY)
    try:
        study = Study(_items(place / _ITEMS), Design(**head["design"]), _assignments(place))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"broken study ({type(error).__name__}: {error}); {_CURE}", file=place) from None
    if study.id != head["id"]:
        raise InputError(
            f"the files were changed after `study sample` (id {study.id}, not {head['id']}); {_CURE}", file=place
        )
    return study


def _items(path: Path) -> dict[str, Item]:
    items = {}
    for row in (entry.record for entry in read_entries(path)):
        lists = {key: tuple(row[key]) for key in ("context", "source_context")}
        items[row["id"]] = Item(**{**row, **lists})
    return items


def _assignments(place: Path) -> dict[str, tuple[Task, ...]]:
    return {
        row["annotator"]: tuple(Task(item, bool(swapped), bool(again)) for item, swapped, again in row["tasks"])
        for row in (entry.record for entry in read_entries(place / _ASSIGNMENTS))
    }


def _assignment_lines(assignments: Assignments) -> list[str]:
    return [
        strict_json.dump({"annotator": name, "tasks": [[t.item, int(t.swapped), int(t.repeated)] for t in tasks]})
        for name, tasks in assignments.items()
    ]


def _dump(record: Item | Design) -> str:
    return strict_json.dump(dataclasses.asdict(record))
