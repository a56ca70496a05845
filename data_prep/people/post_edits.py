"""Machine translations and their human post-edits, a line each: PART.src, PART.mt, PART.pe of a folder LANG-en.

Published files are tokenised: spaces stand around punctuation and before clitics, in scripts without blanks also
between words. These are removed, mostly by sacremoses, so that the texts look like those that a metric scores (mlqe-pe,
Fomicheva et al. 2022; github.com/sheffieldnlp/mlqe-pe).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from data_prep.people.edits import compare
from pronmetric.errors import InputError, MissingExtra
from pronmetric.pronouns.languages import Language
from pronmetric.schema import JudgedGap, JudgedPronoun, JudgedText
from pronmetric.text.lines import read_lines
from pronmetric.text.writing import UNSPACED_LETTERS, is_unspaced

EDITS, SYSTEM, EDITOR = "edits", "mt", "editor"
SUFFIXES = (".src", ".mt", ".pe")
_UNSPACED = f"[{UNSPACED_LETTERS}\u3001-\u303f\uff01-\uff0f\uff1a-\uff20]"  # with the punctuation of their scripts
_BESIDE_UNSPACED = re.compile(rf" +(?={_UNSPACED})|(?<={_UNSPACED}) +")
_SPLIT_CLITIC = re.compile(r"(?<=\w) (?=(?:['\u2019](?:s|re|ve|ll|d|m|t)|n['\u2019]t)\b)", re.IGNORECASE)


def read(part: Path, *, testset: str, source: str, language: Language) -> Iterator[JudgedText]:
    """The lines of one part, such as LANG-en/train; a text of its own each, without context.

    Raises:
        InputError: the three files have not equally many lines.
        MissingExtra: sacremoses is not installed.
    """
    columns = [read_lines(part.with_name(part.name + suffix)) for suffix in SUFFIXES]
    if len(set(map(len, columns))) > 1:
        sizes = ", ".join(f"{part.name}{suffix} {len(lines)}" for suffix, lines in zip(SUFFIXES, columns, strict=True))
        raise InputError(f"expected as many lines in each file, found {sizes}", file=part.parent)
    joined, joined_source = _joiner(language.code), _joiner(source)
    for number, (src, mt, pe) in enumerate(zip(*columns, strict=True), start=1):
        text, edited = joined(mt), joined(pe)
        if not text or not edited:
            continue
        edits = compare(text, edited, language)
        inside = [span for span in edits.unjudged if span[0] < span[1]]
        yield JudgedText(
            id=f"{testset}.{source}-{language.code}/{part.name}/{number}",
            kind=EDITS,
            testset=testset,
            lp=f"{source}-{language.code}",
            doc=f"{part.name}/{number}",
            system=SYSTEM,
            raters=(EDITOR,),
            text=text,
            context=(),
            source=joined_source(src),
            source_context=(),
            pronouns=tuple(
                JudgedPronoun(
                    o.start, o.end, o.form, (EDITOR,) * (o.start in edits.corrections), edits.corrections.get(o.start)
                )
                for o in language.find(text)
                if not any(start < o.end and o.start < end for start, end in inside)
            ),
            gaps=tuple(JudgedGap(start, form, (EDITOR,)) for start, form in edits.insertions),
            unjudged=edits.unjudged,
            mended=edits.mended,
        )


def _joiner(code: str) -> Callable[[str], str]:
    """Turns tokenised text of a language into running text."""
    try:
        from sacremoses import MosesDetokenizer
    except ImportError:
        raise MissingExtra("sacremoses", "train", "post-edits in data.people") from None
    moses = MosesDetokenizer(lang=code)

    def joined(text: str) -> str:
        plain = _SPLIT_CLITIC.sub("", moses.detokenize(text.split()))
        return (
            _BESIDE_UNSPACED.sub("", plain)
            if 4 * sum(map(is_unspaced, plain)) > sum(map(str.isalnum, plain))
            else plain
        )

    return joined
