"""MT-GenEval (Currey et al., EMNLP 2022): gender in translation from English, from the sentence or the one before it.

The counterfactual part has each sentence in a masculine and a feminine version, in two pairs of files. In the
contextual part the previous source sentence shows the gender, and there are the right and the flipped translation.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pronmetric.errors import InputError
from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Judging,
    Reading,
    Scores,
    SuiteVerdicts,
    Verdict,
    no_documents,
    read_translations,
    strict_verdicts,
    verdict,
)
from pronmetric.lab.suites.other_gender import FEMALE, GENDERS, MALE, class_name
from pronmetric.pronouns.finder import find
from pronmetric.text.lines import read_lines

PART, GENDER = "part", "gender"
CONTEXTUAL, COUNTERFACTUAL = "contextual", "counterfactual"
SEPARATOR = "<sep>"
_UNCLEAR = "unclear"
_FILES = {MALE: "masculine", FEMALE: "feminine"}
_CONTEXTUAL = re.compile(
    r"geneval-context-wikiprofessions-(?:2to1|original|flipped)-(?P<split>dev|test)\.en_(?P<code>[a-z]{2})\.[a-z]{2}"
)
_COUNTERFACTUAL = re.compile(
    r"geneval-sentences-(?:masculine|feminine)-(?P<split>dev|test)\.en_(?P<code>[a-z]{2})\.[a-z]{2}"
)
_MARK = re.compile(r"</?[FM]>")
_TO_BLANKS = str.maketrans(string.punctuation, " " * len(string.punctuation))

ABOUT = About(
    name="mt-geneval",
    title="MT-GenEval (Currey et al., EMNLP 2022)",
    languages="en-ar, en-de, en-es, en-fr, en-hi, en-it, en-pt, en-ru",
    targets=("ar", "de", "es", "fr", "hi", "it", "nl", "pt", "ru"),
    phenomena="gender of persons, also from the previous sentence",
    judged=("scores", "translations"),
    by=GENDER,
    text="""Set: one of the files of github.com/amazon-science/machine-translation-gender-eval under its own name; the
others of the same split and language are read from the same folder.
  counterfactual  data/sentences: geneval-sentences-{masculine,feminine}-SPLIT.en_XX.{en,XX}, also the annotated ones
  contextual      data/context: geneval-context-wikiprofessions-2to1-SPLIT.en_XX.en (the previous sentence, <sep>, the
                  sentence), geneval-context-wikiprofessions-{original,flipped}-SPLIT.en_XX.XX
One score for each line: the right translation, then that with the other gender; of the counterfactual part first all
masculine sources, then all feminine ones. An item is right if the right one scores strictly better; also reported are
the sentences with both genders right. Accuracy by gender: of the counterfactual part that of the file, of the
contextual part that of the English pronouns in the previous sentence, unclear where there are none or both.
--translations: one line for each source in this order, judged as in the published program: wrong if it has a word that
only the translation with the other gender has, lower-cased and without punctuation. A sentence of the counterfactual
part is right if both of its translations are.
--compat: blank lines are right, as in the published program.""",
)


class _Set(NamedTuple):
    items: tuple[Item, ...]
    part: str


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The items of a part: the right translation and the one with the other gender.

    Raises:
        InputError: a file of another name; a file of the part is missing or has another number of lines; with the line,
            a source without its previous sentence.
    """
    return _read(path, reading).items


def _read(path: str | Path, reading: Reading) -> _Set:
    no_documents(path, reading)
    name = Path(path).name
    if match := _CONTEXTUAL.fullmatch(name):
        return _Set(_contextual(Path(path).parent, match["split"], match["code"], reading.context), CONTEXTUAL)
    if match := _COUNTERFACTUAL.fullmatch(name):
        return _Set(_counterfactual(Path(path).parent, match["split"], match["code"]), COUNTERFACTUAL)
    expected = "geneval-sentences-feminine-test.en_de.en or geneval-context-wikiprofessions-2to1-test.en_de.en"
    raise InputError(f"expected a file of MT-GenEval under its own name, such as {expected}", file=path)


def _contextual(folder: Path, split: str, code: str, size: int) -> tuple[Item, ...]:
    stem = "geneval-context-wikiprofessions"
    sources = folder / f"{stem}-2to1-{split}.en_{code}.en"
    files = [sources, *(folder / f"{stem}-{side}-{split}.en_{code}.{code}" for side in ("original", "flipped"))]
    items = []
    for number, (line, *targets) in enumerate(_parallel(files), start=1):
        before, mark, source = (part.strip() for part in line.partition(SEPARATOR))
        if not mark:
            message = f"expected the previous sentence, {SEPARATOR}, and the sentence, got {line[:60]!r}"
            raise InputError(message, file=sources, line=number)
        context = (before,) if size and before else ()
        candidates = tuple(Candidate(source, target, context) for target in targets)
        items.append(_item(str(number), candidates, CONTEXTUAL, _gender(before), str(number), code))
    return tuple(items)


def _gender(text: str) -> str:
    """The gender of the English pronouns of a man or woman in a text."""
    found = {GENDERS[name] for name in map(class_name, find(text)) if name in GENDERS}
    return found.pop() if len(found) == 1 else _UNCLEAR


def _counterfactual(folder: Path, split: str, code: str) -> tuple[Item, ...]:
    stems = [f"geneval-sentences-{name}-{split}.en_{code}" for name in _FILES.values()]
    rows = _parallel([folder / f"{stem}.{side}" for stem in stems for side in ("en", code)])
    items = []
    for right, gender in enumerate(_FILES):
        for number, row in enumerate(rows, start=1):
            source, targets = row[2 * right], (row[1 + 2 * right], row[3 - 2 * right])
            candidates = tuple(Candidate(source, target) for target in targets)
            items.append(_item(f"{number}, {gender}", candidates, COUNTERFACTUAL, gender, str(number), code))
    return tuple(items)


def _item(id: str, candidates: tuple[Candidate, ...], part: str, gender: str, document: str, code: str) -> Item:
    return Item(id, candidates, groups={PART: part, GENDER: gender}, document=document, language=code)


def _parallel(files: Sequence[Path]) -> list[tuple[str, ...]]:
    """The rows of line-parallel files, without the marks of the annotated ones."""
    sides = [[_MARK.sub("", line) for line in read_lines(file)] for file in files]
    for file, side in zip(files, sides, strict=True):
        if len(side) != len(sides[0]):
            message = f"{len(side)} lines, but {files[0].name} has {len(sides[0])}: give the files of one version"
            raise InputError(message, file=file, line=min(len(side), len(sides[0])) + 1)
    if not sides[0]:
        raise InputError("no sentences: expected one on each line", file=files[0])
    return list(zip(*sides, strict=True))


def judge(items: Sequence[Item], scores: Sequence[Scores], judging: Judging) -> SuiteVerdicts:
    """The verdicts; of the counterfactual part also how many sentences have both genders right."""
    verdicts = strict_verdicts(items, scores)
    return SuiteVerdicts(verdicts, _both(verdicts) if items[0].groups[PART] == COUNTERFACTUAL else {})


def _both(verdicts: Sequence[Verdict]) -> Mapping[str, object]:
    right = _right_documents(verdicts)
    return {"sentences with both genders right": sum(right.values()), "sentences": len(right)}


def _right_documents(verdicts: Sequence[Verdict]) -> dict[str, bool]:
    right: dict[str, bool] = {}
    for one in verdicts:
        right[one.document] = right.get(one.document, True) and one.right
    return right


def judge_translations(path: str | Path, translations: str | Path, judging: Judging) -> SuiteVerdicts:
    """The verdicts by the words that only the translation with the other gender has.

    Raises:
        InputError: another number of lines than sources, or a blank one.
    """
    items, part = _read(path, Reading())
    lines = read_translations(translations, len(items), blank=judging.compat)
    verdicts = tuple(verdict(item, _is_right(item, line)) for item, line in zip(items, lines, strict=True))
    if part == CONTEXTUAL:
        return SuiteVerdicts(verdicts)
    pairs = tuple(Verdict(id, right, {PART: part}, id) for id, right in _right_documents(verdicts).items())
    right = {gender: sum(one.right for one in verdicts if one.groups[GENDER] == gender) for gender in _FILES}
    return SuiteVerdicts(
        pairs, {f"translations of {gender} sources, right": number for gender, number in right.items()}
    )


def _is_right(item: Item, line: str) -> bool:
    """Whether a translation has no word that is in the wrong candidate alone."""
    right, wrong = (_words(candidate.target) for candidate in item.candidates)
    return not _words(line) & (wrong - right)


def _words(text: str) -> set[str]:
    return set(text.lower().translate(_TO_BLANKS).split())
