"""A study as a folder: `study.json` (design, counts, id), `items.jsonl` and `assignments.jsonl`."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pronmetric.errors import InputError, PronmetricError
from pronmetric.output import targets
from pronmetric.output.targets import AtomicFiles
from pronmetric.pronouns import languages
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.pronouns.tables import codes
from pronmetric.text import strict_json
from pronmetric.text.entry import read as read_entries

FIRST, SECOND, BOTH, NEITHER, INVALID = "first", "second", "both", "neither", "invalid"
"""Answers of an annotator; the last three only if the study offers them. Invalid: the item cannot be judged."""
ALONE, GOOD = "alone", "good"
PHENOMENA = ("deixis", "ellipsis", "cohesion", "ambiguity", "anaphora", "other")
"""Answers in two stages (Voita et al. 2019): bad by itself, good, or bad in context because of a phenomenon."""
FORMAT = "pronmetric study 1"
_STUDY, _ITEMS, _ASSIGNMENTS = "study.json", "items.jsonl", "assignments.jsonl"
_CURE = "run `pronmetric study sample` again"


@dataclass(frozen=True, slots=True)
class Item:
    """Two versions of a sentence in the same context; in a study of two stages, one translation.

    text_a: the reference; text_b: with another pronoun. In two stages, text_a is the translation, and text_b and the
    pronouns are empty. language: the source language, or another label by which the
    sample is balanced. doc: the unit of resampling. context, source_context: the previous sentences, oldest first.
    """

    id: str
    language: str
    pronoun_a: str
    pronoun_b: str
    context: tuple[str, ...]
    text_a: str
    text_b: str
    source: str | None = None
    source_context: tuple[str, ...] = ()
    doc: str | None = None

    @property
    def pronouns(self) -> tuple[str, str]:
        """The pronoun of the reference and the other one."""
        return self.pronoun_a, self.pronoun_b


@dataclass(frozen=True, slots=True)
class Design:
    """The settings of a study.

    items: for each source language, None for all. annotators are divided among the groups, the items too; each
    annotator answers all items of one group. repeated: the share of an annotator's items that come a second time, with
    the versions in the other order. both, neither, invalid: further answers. source: whether it is shown. highlight:
    whether the words that differ are marked. strict: see `sample.draw`. ranges: of score differences. stages: whether
    each of two consecutive translations is judged alone, and then both in context of each other. target: the code of
    the language of the texts.
    """

    items: int | None = None
    annotators: int = 3
    groups: int = 1
    repeated: float = 0.1
    both: bool = True
    neither: bool = False
    source: bool = False
    highlight: bool = False
    strict: bool = True
    ranges: int = 3
    seed: int = 1
    invalid: bool = False
    stages: bool = False
    target: str = ENGLISH.code

    def __post_init__(self) -> None:
        """Refuse settings that exclude each other."""
        if self.groups > self.annotators:
            raise PronmetricError(
                f"{self.groups} groups of {self.annotators} annotators: a group needs an annotator; "
                "give fewer `groups=`"
            )

    @property
    def language(self) -> Language | None:
        """The language of the texts; None where the package has no table of its pronouns, only the user."""
        return languages.language(self.target) if self.target in (ENGLISH.code, *codes()) else None

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers that annotators can give."""
        if self.stages:
            return (GOOD, ALONE, *PHENOMENA, *((INVALID,) if self.invalid else ()))
        offered = {BOTH: self.both, NEITHER: self.neither, INVALID: self.invalid}
        return (FIRST, SECOND, *(name for name, is_offered in offered.items() if is_offered))

    def group_of(self, annotator: int) -> int:
        """The group of an annotator, both counted from 0."""
        return annotator % self.groups


PAPER = Design(items=500, annotators=5, groups=2, repeated=0.1, strict=False)
"""The study of Jwalapuram et al. 2019: 500 items a language, five annotators in two groups, 10 % of them twice."""
TWO_STAGES = Design(repeated=0.0, both=False, source=True, invalid=True, stages=True)
"""Two consecutive translations, each judged alone and then both in context, after Voita et al. 2019."""
_LATER = {"invalid": False, "stages": False, "target": ENGLISH.code}
"""Settings that earlier studies lack, and what those studies have; left out of the id where they have it."""


@dataclass(frozen=True, slots=True)
class Task:
    """One question to an annotator.

    swapped: the reference is shown as the second version. repeated: the annotator answered the item before.
    """

    item: str
    swapped: bool
    repeated: bool


Assignments = Mapping[str, Sequence[Task]]
"""The tasks of each annotator, in their order."""


@dataclass(frozen=True, slots=True)
class Study:
    """The items of a study by id, its design and the tasks of each annotator."""

    items: Mapping[str, Item]
    design: Design
    assignments: Assignments

    @property
    def id(self) -> str:
        """Sixteen hexadecimal digits: a hash of the items, the design and the assignments."""
        design = dataclasses.asdict(self.design)
        settings = {key: value for key, value in design.items() if key not in _LATER or value != _LATER[key]}
        return hashlib.sha256("\n".join([*self._lines(), strict_json.dump(settings)]).encode()).hexdigest()[:16]

    def _lines(self) -> list[str]:
        return [*map(_dump, self.items.values()), *_assignment_lines(self.assignments)]


def write(study: Study, folder: str | Path, *, data: str) -> None:
    """Write the folder, which is made, completely or not at all; `data` names where the items are from."""
    head = {"format": FORMAT, "id": study.id, "data": data, "items": len(study.items)}
    head["tasks"] = {name: len(tasks) for name, tasks in study.assignments.items()}
    head["design"] = dataclasses.asdict(study.design)
    with targets.new_folder(folder) as place, AtomicFiles() as files:
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


def _dump(record: Item) -> str:
    return strict_json.dump(dataclasses.asdict(record))
