"""The folder of a study on the command line: what a command reads, and the new folders that it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pronmetric.cli.parser import Flags, argument
from pronmetric.errors import InputError
from pronmetric.lab.study import answers, folder
from pronmetric.lab.study.folder import Study
from pronmetric.output import targets


class StudyFlags(Flags):
    """The study that a command reads."""

    study: str = argument(metavar="STUDY", help="the folder that `study sample` wrote")

    def read(self) -> Study:
        """The study."""
        return folder.read(self.study)


def new_folder(name: str, read: Sequence[str | None], *, why: str = "give a new folder") -> Path:
    """The folder to write, which must be new or empty; `why` tells the cure."""
    place = Path(name)
    targets.check([], read=read, folders=[name])
    if place.is_dir() and any(place.iterdir()):
        raise InputError(f"is not empty; {why}", file=place)
    return place


def write_answers(study: Study, place: Path, given: Mapping[str, Sequence[answers.TaskAnswer]]) -> str:
    """Write one file of answers for each annotator; how many there are, in words."""
    write_files(place, {f"answers-{name}.json": answers.dump(study, name, each) for name, each in given.items()})
    return f"{sum(map(len, given.values()))} answers of {len(given)} annotators"


def write_files(place: Path, files: Mapping[str, str]) -> None:
    """Write files, given with their texts, into a new folder, all or none."""
    with targets.new_folder(place) as waiting, targets.AtomicFiles() as opened:
        for name, text in files.items():
            opened.open(waiting / name).write(text)
