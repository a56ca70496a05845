"""The guide of a study's page: instructions, an example, and training items with feedback.

A file of JSON: {"instructions": [paragraphs], "example": item, "training": [items]}; an item: {"context": [sentences],
"versions": [text, text], "answer": "first", "why": "..."}, in a study of two stages with one text in "versions" and
one sentence in "context"; "source" and "source_context" are optional. `guide.json` has one for each kind of study.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from pronmetric.lab.study.folder import Design
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.text import strict_json
from pronmetric.text.entry import Entry
from pronmetric.text.language_codes import name

TRAINING = 3
"""The number of training items of our own guides."""
_SUBJECT = ("subject", "-")  # cases; "-" where the language has none
_GENDERS = ("masculine", "feminine", "neuter")
_CURE = 'expected {"instructions": [...], "example": {...}, "training": [{...}, ...]}'


@dataclass(frozen=True, slots=True)
class Example:
    """An item with its right answer, as it is shown, and the reason for it."""

    context: tuple[str, ...]
    versions: tuple[str, ...]
    answer: str
    why: str
    source: str | None = None
    source_context: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guide:
    """What annotators read and try before the first task; language: the code of that of its example and training."""

    instructions: tuple[str, ...]
    example: Example
    training: tuple[Example, ...]
    language: str = ENGLISH.code


def own(design: Design) -> Guide:
    """Our guide, in English, with the first training items whose answers the study offers.

    Of texts in another language it names their pronouns, and says that the example and the training are in English.
    """
    content = strict_json.parse(files("pronmetric.lab.study").joinpath("guide.json").read_text(encoding="utf-8"))
    entry = Entry(content["stages" if design.stages else "versions"])
    offered = [item for item in entry.entries("training") if item.get("answer") in design.answers]
    guide = _guide(entry, offered[:TRAINING], design)
    named = "" if design.language is None else ", such as {}, {} or {}".format(*named_forms(design.language))
    first, *rest = (text.replace("{pronouns}", named) for text in guide.instructions)
    other = (
        ()
        if design.target == ENGLISH.code
        else (f"Your sentences are in {name(design.target)}; the example and the training are in English.",)
    )
    return replace(guide, instructions=(first, *other, *rest), language=ENGLISH.code)


def named_forms(language: Language) -> tuple[str, ...]:
    """Three pronouns of a language as examples: subjects of the third person by gender, then other forms.

    >>> from pronmetric.pronouns.languages import language
    >>> named_forms(ENGLISH), named_forms(language("de")), named_forms(language("fr"))
    (('he', 'it', 'their'), ('er', 'sie', 'es'), ('il', 'elle', 'on'))
    """
    if language == ENGLISH:
        return "he", "it", "their"
    third = [
        each for each in language.entries if (each.type, each.person) == ("personal", "3") and each.case in _SUBJECT
    ]
    singular = {each.gender: each.form for each in reversed(third) if each.number == "singular"}
    by_gender = [singular[gender] for gender in _GENDERS if gender in singular]
    return tuple(dict.fromkeys([*by_gender, *(each.form for each in third), *language.forms]))[:3]


def read(path: str | Path, design: Design) -> Guide:
    """The guide in a file.

    Raises:
        InputError: a broken file, no training item, or an answer that the study does not offer.
    """
    entry = Entry(strict_json.read(path, _CURE), file=path, cure=_CURE)
    training = entry.entries("training")
    if not training:
        entry.fail(f'"training" is empty; {_CURE}')
    return _guide(entry, training, design)


def _guide(entry: Entry, training: list[Entry], design: Design) -> Guide:
    return Guide(
        instructions=entry.strings("instructions"),
        example=_example(entry.entry("example"), design),
        training=tuple(_examples(training, design)),
        language=design.target,
    )


def _examples(entries: list[Entry], design: Design) -> Iterator[Example]:
    for entry in entries:
        yield _example(entry, design)


def _example(entry: Entry, design: Design) -> Example:
    context = entry.sentences("context")
    if design.stages and len(context) != 1:
        entry.fail(f'"context" must have the one sentence before, got {len(context)}')
    return Example(
        context=context,
        versions=entry.strings("versions", length=1 if design.stages else 2),
        answer=entry.one_of("answer", design.answers),
        why=entry.text("why"),
        source=entry.name_of("source"),
        source_context=entry.sentences("source_context"),
    )
