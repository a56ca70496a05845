"""Contrastive and generation test suites: their common records, and how scores and translations are judged.

A contrastive suite gives several candidate translations of a source, one of which is right; a system is right where it
scores that one better than the others. A generation suite looks for forms in a system's own translation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Protocol

from pronmetric.alignment.links import from_pharaoh
from pronmetric.errors import InputError
from pronmetric.text import running_text, strict_json
from pronmetric.text.context import Source, Text, join
from pronmetric.text.entry import Entry, kind, read_by_id
from pronmetric.text.files.columns import Role
from pronmetric.text.lines import read_lines

Scores = Sequence[float]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A translation to score; contexts are the previous sentences, oldest first."""

    source: str
    target: str
    source_context: tuple[str, ...] = ()
    target_context: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its candidates, the place of the right one, and the groups by which figures are broken down.

    groups: break-down -> group, such as "distance" -> "2"; a break-down that does not concern the item is absent.
    document: the unit of intervals. reference: a translation beside the candidates, "" for none. language: of
    the candidates, where a set has several; "" is the suite's. of_pronouns: whether the candidates differ in pronouns
    or in what these refer to.
    """

    id: str
    candidates: tuple[Candidate, ...]
    right: int = 0
    groups: Mapping[str, str] = field(default_factory=dict)
    document: str = ""
    reference: str = ""
    language: str = ""
    of_pronouns: bool = True

    def better_than_all(self, scores: Scores) -> bool:
        """Whether the right candidate's score is above every other; equal scores and NaN are wrong."""
        return all(scores[self.right] > score for place, score in enumerate(scores) if place != self.right)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a system is right on an item."""

    id: str
    right: bool
    groups: Mapping[str, str]
    document: str


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on a suite, and further figures of the suite's own, by name."""

    verdicts: tuple[Verdict, ...]
    further: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a suite is read.

    documents: the folder or file that holds the documents, where the set does not. context: how many previous sentences
    a candidate has. texts: whether the candidates' texts are needed; judging scores needs their number only, so that
    ContraPro's original program reads no text.
    """

    documents: str | None = None
    context: int = 0
    texts: bool = True


@dataclass(frozen=True, slots=True)
class Judging:
    """How a suite is judged.

    compat: as the original program does where it is odd. pronouns: only items with these reference pronouns,
    lower-cased (None: all). language: of the translations, for the tokenizer or sentence splitter; None is the suite's.
    distance: only items whose antecedent is so many sentences away, inclusive. separator: between the sentences of a
    translation. proportional: see `contrapro`. alignment: a file of word alignments, source to translation.
    """

    compat: bool = False
    pronouns: tuple[str, ...] | None = None
    language: str | None = None
    distance: tuple[int, int] | None = None
    separator: str = "<eos>"
    proportional: float | None = None
    alignment: str | None = None


@dataclass(frozen=True, slots=True)
class About:
    """The description of a suite, for `pronmetric suite list` and `show`.

    phenomena: what is tested, in a few words. judged: what is judged, such as "scores" and "translations".
    ignores_surplus: whether the original program ignores surplus lines of a score file. targets: the languages of the
    published candidates that are scored; () for any. by: the break-down whose groups are the phenomena.
    """

    name: str
    title: str
    languages: str
    phenomena: str
    judged: tuple[str, ...]
    text: str
    ignores_surplus: bool = True
    targets: tuple[str, ...] = ()
    by: str = ""


class Suite(Protocol):
    """What the module of a suite provides."""

    @property
    def ABOUT(self) -> About:
        """The description of the suite."""

    def read(self, path: str | Path, reading: Reading) -> tuple[Item, ...]:
        """The items of a set, with the candidates whose scores `judge` takes."""

    def judge(self, items: Sequence[Item], scores: Sequence[Scores], judging: Judging) -> Judged:
        """The verdicts by the scores of each item's candidates, higher is better."""

    def judge_translations(self, path: str | Path, translations: str | Path, judging: Judging) -> Judged:
        """The verdicts on generated translations."""


def judge_file(suite: Suite, items: Sequence[Item], scores: Sequence[Scores], judging: Judging, *, file: str) -> Judged:
    """The suite's verdicts; an error names the set's file."""
    try:
        return suite.judge(items, scores, judging)
    except InputError as error:
        raise error if error.file else InputError(str(error), file=file) from None


def strict_verdicts(items: Sequence[Item], scores: Sequence[Scores]) -> tuple[Verdict, ...]:
    """The verdicts where the right candidate must be strictly better than every other.

    >>> item = Item("1", (Candidate("It left.", "Er ging."), Candidate("It left.", "Sie ging.")))
    >>> [strict_verdicts([item], [s])[0].right for s in ((-1.0, -2.0), (-1.0, -1.0))]
    [True, False]
    """
    return tuple(verdict(item, item.better_than_all(values)) for item, values in zip(items, scores, strict=True))


def judge_scores(items: Sequence[Item], scores: Sequence[Scores], judging: Judging) -> Judged:
    """`Suite.judge` of suites without further figures: the right candidate must be strictly better than every other."""
    return Judged(strict_verdicts(items, scores))


def no_translations(path: str | Path, translations: str | Path, judging: Judging) -> NoReturn:
    """`Suite.judge_translations` of suites that judge scores only: raises InputError."""
    message = "this suite judges scores of its candidates, not translations; give `scores=`"
    raise InputError(message, file=translations)


def judge_copies(items: Sequence[Item], scores: Sequence[Scores], *, copies: str, cure: str) -> Judged:
    """The verdicts on the items with more than one candidate; the others, without `copies`, are left out and counted.

    Raises:
        InputError: no item has more than one; with the `cure`.
    """
    pairs = [(item, values) for item, values in zip(items, scores, strict=True) if len(item.candidates) > 1]
    if not pairs:
        raise InputError(f"no item has {copies} to score; {cure}")
    verdicts = strict_verdicts([item for item, _ in pairs], [values for _, values in pairs])
    return Judged(verdicts, {f"items without {copies}, left out": len(items) - len(pairs)})


def verdict(item: Item, right: bool) -> Verdict:
    """The verdict on an item."""
    return Verdict(item.id, right, item.groups, item.document)


def for_pronouns(items: Sequence[Item], about: About, code: str) -> tuple[Item, ...]:
    """The items that a metric of pronouns in the language `code` judges: in this language, and of pronouns."""
    return tuple(
        item
        for item in items
        if item.of_pronouns and (item.language == code if item.language else code in (about.targets or (code,)))
    )


def texts_of(items: Sequence[Item]) -> list[Text]:
    """The candidates in their contexts, with the source where there is one."""
    return [
        Text(join(one.target_context), one.target, Source(one.source, one.source_context) if one.source else None)
        for item in items
        for one in item.candidates
    ]


def no_documents(path: str | Path, reading: Reading) -> None:
    """Refuse documents for a set that holds its context sentences."""
    if reading.documents is not None:
        raise InputError("has its context sentences in it; leave `documents=` out", file=path)


def last(sentences: Sequence[str], size: int) -> tuple[str, ...]:
    """The last `size` sentences of a context.

    >>> last(("A.", "B."), 1), last(("A.", "B."), 0)
    (('B.',), ())
    """
    return tuple(sentences[max(0, len(sentences) - size) :])


def linked(links: str, places: Collection[int], length: int, *, file: str | Path, line: int) -> list[int]:
    """The target places that a line of links s-t joins to one of the source `places`, in order.

    Raises:
        InputError: a word that is not a link, or a target place from `length`, the number of target words.
    """
    found = from_pharaoh(links, file=file, number=line).links
    if beyond := [f"{s}-{t}" for s, t in found if t >= length]:
        message = f"expected links s-t below {length} target words, got {beyond[0]!r}"
        raise InputError(message, file=file, line=line)
    return sorted({t for s, t in found if s in places})


def read_translations(path: str | Path, expected: int, *, blank: bool) -> list[str]:
    """The texts of a file, one for each of the `expected` items.

    Raises:
        InputError: another number of texts; unless `blank`, a blank one; strings, which are no running text.
    """
    lines = _counted(running_text.read(path, Role.TRANSLATION), path, expected)
    if not blank and "" in (stripped := [line.strip() for line in lines]):
        message = "a blank line; `compat=True` judges it too"
        raise InputError(message, file=path, line=stripped.index("") + 1)
    return lines


def read_links(path: str | Path, expected: int) -> list[str]:
    """The lines of a file of word links, one for each of the `expected` items.

    Raises:
        InputError: another number of lines.
    """
    return _counted(read_lines(path), path, expected)


def _counted(lines: list[str], path: str | Path, expected: int) -> list[str]:
    if len(lines) != expected:
        message = f"expected {expected} lines, one for each item, got {len(lines)}"
        raise InputError(message, file=path, line=min(len(lines), expected) + 1)
    return lines


def target_language(entry: Entry, key: str) -> str:
    """The target language of a language pair such as "de-en".

    Raises:
        InputError: with the line, where it is no pair.
    """
    pair = entry.string(key)
    target = pair.partition("-")[2]
    if not target:
        entry.fail(f'"{key}" must be a language pair such as "de-en", got "{pair}"')
    return target


def read_objects(path: str | Path, make: Callable[[Entry], Item]) -> list[tuple[Item, Entry]]:
    """The item of each object of a JSONL file, which `make` makes, and the object.

    Raises:
        InputError: with the line, where an id is there twice or `make` refuses an object; a file without objects.
    """

    def both(entry: Entry) -> tuple[str, tuple[Item, Entry]]:
        item = make(entry)
        return item.id, (item, entry)

    return list(read_by_id(path, both, what="items").values())


def read_list(path: str | Path, expected: str) -> list[Entry]:
    """The objects of a JSON list in a file.

    Raises:
        InputError: the file holds no JSON, something else than a list, an empty list, or another item than an object.
    """
    value = strict_json.read(path, expected)
    if not isinstance(value, list) or not value:
        got = "an empty list" if value == [] else kind(value)
        raise InputError(f"{expected}, got {got}", file=path)
    return [Entry(one, file=path, name=f"item {number}") for number, one in enumerate(value, start=1)]
