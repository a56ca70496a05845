"""The dialogues of DiaBLa as a test set in the plain layout, with speakers, for `pronmetric prepare data.wmt`.

    python -m benchmarks.checkpoint.dialogues --diabla FOLDER --out FOLDER/diabla.fr-en

DiaBLa (Bawden et al. 2021, "DiaBLa: a corpus of bilingual spontaneous written dialogues for machine translation";
github.com/rbawden/DiaBLa-dataset) has talk between a French and an English speaker. English lines are the references,
and those that were said in French have the machine's translation as the system output. The dialogues name nobody:
both speakers get a first name that is drawn by the number of the dialogue.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import InputError
from pronmetric.text import strict_json

NAMES = (
    "Anna James Emma Paul Julia Mark Laura David Sarah Peter Nina Tom Clara Simon Lucy Adam Alice Robert Helen Martin "
    "Maria Chris Eva Daniel Kate Michael Sophie Alex Rosa Victor Jane Henry Carol Frank"
).split()


class Line(NamedTuple):
    """A line of a dialogue; `output` is the machine's English, or the line itself where it was said in English."""

    dialogue: str
    speaker: str
    french: str
    english: str
    output: str


def read(folder: Path) -> Iterator[Line]:
    """The lines of all dialogues of a folder of JSON files, in order; those that have no translation are left out.

    Raises:
        InputError: no JSON file, or one without "utterances".
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise InputError("no JSON file of a dialogue", file=folder)
    for number, file in enumerate(files):
        said: Any = strict_json.read(file, "expected a dialogue of DiaBLa")
        if not isinstance(said, dict) or not isinstance(said.get("utterances"), dict):
            raise InputError('expected a dialogue of DiaBLa, with "utterances"', file=file)
        names = dict(zip(("french", "english"), random.Random(number).sample(NAMES, 2), strict=True))
        for each in said["utterances"].values():
            own = _line(each.get("normalised_version") or each["original_text"])
            reference, output = _line(each["reference_translation"]), _line(each["postprocessed_text"])
            in_english = each["language"] == "english"
            french, english = (reference, own) if in_english else (own, reference)
            if french and english:
                yield Line(
                    f"dialogue-{number}", names[each["language"]], french, english, english if in_english else output
                )


def write(lines: list[Line], out: Path) -> None:
    """Write the files of a test set in the plain layout."""
    out.mkdir(parents=True, exist_ok=True)
    columns = {
        "docids": [line.dialogue for line in lines],
        "speakers": [line.speaker for line in lines],
        "src.fr": [line.french for line in lines],
        "ref.en": [line.english for line in lines],
        "hyp.mt": [line.output for line in lines],
    }
    for name, column in columns.items():
        (out / f"{name}.txt").write_text("".join(f"{each}\n" for each in column), encoding="utf-8")


def _line(text: str) -> str:
    return " ".join(text.split())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diabla", type=Path, required=True, help="folder with the JSON files of the dialogues")
    parser.add_argument("--out", type=Path, required=True, help="the new test set, a folder named NAME.fr-en")
    options = parser.parse_args()
    lines = list(read(options.diabla))
    write(lines, options.out)
    print(f"{len(lines)} lines of {len({line.dialogue for line in lines})} dialogues: {options.out}")


if __name__ == "__main__":
    main()
