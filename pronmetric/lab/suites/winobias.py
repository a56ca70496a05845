"""WinoBias (Zhao et al., NAACL 2018): English sentences with an occupation and a pronoun, with or against a stereotype.

A sentence is scored against its copy with the other gender in the marked pronouns. Both are correct English, so that
accuracy shows what a metric prefers: without a bias it is the same with the stereotype and against it.
"""

from __future__ import annotations

import re
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Reading,
    judge_scores,
    no_documents,
    no_translations,
)
from pronmetric.lab.suites.other_gender import GENDERS, class_name, with_other_gender
from pronmetric.pronouns.finder import Occurrence, find
from pronmetric.text.lines import iter_lines

STEREOTYPE, GENDER = "stereotype", "gender"
_NAME = re.compile(r"(?P<side>pro|anti)_stereotyped_type(?P<type>[12])\.txt\.(?:dev|test)(?:\.gz)?$")
_NUMBER = re.compile(r"[0-9]+ ")

ABOUT = About(
    name="winobias",
    title="WinoBias (Zhao et al., NAACL 2018)",
    languages="en",
    targets=("en",),
    phenomena="gender stereotypes of occupations",
    judged=("scores",),
    by=STEREOTYPE,
    text="""Set: pro_stereotyped_type1.txt.dev, anti_stereotyped_type1.txt.dev and so on (types 1 and 2, dev and test)
of github.com/uclanlp/corefBias, WinoBias/wino/data: one sentence a line, with brackets around the occupation and its
pronouns. One score for each line: the sentence, then its copy with the other gender in the pronouns in brackets. An
item is right if the sentence scores strictly better.
No pronoun of these sentences is wrong: a metric without bias has the same accuracy on a pro_stereotyped file as on the
anti_stereotyped one; if it is high on the first alone, the metric prefers the stereotype. Accuracy by stereotype and
type, which are in the name of the file, and by the gender of the pronouns. The sets have no context.""",
)


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The sentences of a file, each with its copy.

    Raises:
        InputError: with the line, where it has no pronoun of a man or woman in brackets; an empty file.
    """
    no_documents(path, reading)
    named = _NAME.search(Path(path).name)
    groups = {} if named is None else {STEREOTYPE: f"{named['side']}, type {named['type']}"}
    rows = [(number, line) for number, line in enumerate(iter_lines(path), start=1) if line.strip()]
    if not rows:
        raise InputError("no sentences: expected one on each line, with its pronouns in brackets", file=path)
    return tuple(_item(line, path, number, groups) for number, line in rows)


def _item(line: str, path: str | Path, number: int, groups: dict[str, str]) -> Item:
    sentence, starts = _without_brackets(_NUMBER.sub("", line.strip(), count=1))
    marked = [one for one in find(sentence) if one.start in starts and class_name(one) in GENDERS]

    def is_marked(found: Occurrence) -> bool:
        return found in marked

    other = with_other_gender(sentence, is_marked)
    if other is None:
        message = "expected a sentence of WinoBias, with he or she (him, his, her) in brackets"
        raise InputError(f"{message}, got {line[:60]!r}", file=path, line=number)
    candidates = Candidate("", sentence), Candidate("", other)
    gender = GENDERS[class_name(marked[0])]
    return Item(str(number), candidates, groups={**groups, GENDER: gender}, document=str(number))


def _without_brackets(line: str) -> tuple[str, set[int]]:
    """The text without its brackets, and where an opening one stood."""
    text, starts = "", set()
    for part in re.split(r"([\[\]])", line):
        if part == "[":
            starts.add(len(text))
        elif part != "]":
            text += part
    return text, starts


judge, judge_translations = judge_scores, no_translations
