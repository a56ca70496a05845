"""MQM error annotations (Marot TSV): the errors on pronouns, as judged pairs of texts and as labelled pronouns.

A file has a header and one line for each error that a rater marked in a system's translation of a segment: system, doc,
seg_id, rater, source, target, category, severity; the span is marked in the target (or source) as `<v>..</v>`. A text
without errors has one line of category and severity "No-error". Freitag et al. 2021, "Experts, Errors, and Context".

A pronoun error is an error whose span overlaps a pronoun in use, is at most `longest` words long (in a long span the
pronoun is usually not the error), and whose category is none of `OTHER_CATEGORIES`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import combinations
from pathlib import Path
from zlib import crc32

from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.decision import TIE, A, B
from pronmetric.pronouns.finder import Occurrence, find
from pronmetric.suites.judged_pairs import JudgedPair
from pronmetric.text.context import CONTEXT_SIZE
from pronmetric.text.lines import read_lines
from pronmetric.text.words import words

COLUMNS = ("system", "doc", "seg_id", "rater", "source", "target", "category", "severity")
WEIGHTS = {"no-error": 0.0, "neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 10.0}
OTHER_CATEGORIES = ("no-error", "fluency/punctuation", "fluency/spelling", "locale convention", "source")
JUDGE = "the raters' votes"
REFERENCE = "ref"
LONGEST = 4
_MARK = re.compile(r"</?v>")
_NUMBER = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Error:
    """One error; `spans` are offsets in the target without marks, empty if the error is marked in the source."""

    category: str
    severity: str
    spans: tuple[tuple[int, int], ...]

    @property
    def weight(self) -> float:
        """The weight of its severity: minor 1, major 5, critical 10."""
        return WEIGHTS[self.severity.lower()]


@dataclass(frozen=True)
class Judgement:
    """One rater's annotation of one translation; `errors` is empty for a translation without errors."""

    system: str
    doc: str
    seg: int
    rater: str
    text: str
    errors: tuple[Error, ...]

    @cached_property
    def pronouns(self) -> tuple[Occurrence, ...]:
        """The pronouns in use."""
        return find(self.text)

    def pronoun_errors(self, *, longest: int = LONGEST) -> tuple[tuple[Error, tuple[Occurrence, ...]], ...]:
        """The pronoun errors, each with the pronouns that it overlaps."""
        found = []
        for error in self.errors:
            if error.weight and not error.category.lower().startswith(OTHER_CATEGORIES):
                spans = [(a, b) for a, b in error.spans if len(self.text[a:b].split()) <= longest]
                touched = tuple(o for o in self.pronouns if any(o.start < b and a < o.end for a, b in spans))
                if touched:
                    found.append((error, touched))
        return tuple(found)

    def penalty(self, *, longest: int = LONGEST) -> float:
        """The sum of the pronoun errors' weights; lower is better."""
        return sum(error.weight for error, _ in self.pronoun_errors(longest=longest))


def read(path: str | Path) -> list[Judgement]:
    """The annotations of each translation by each rater, in the order of the file.

    Raises:
        InputError: with file and line, for a missing column, a wrong number of fields, a segment without a number, an
            unknown severity, unpaired marks of a span, or a translation that differs between its lines; for a file
            without annotations.
    """
    first, *rest = read_lines(path) or [""]
    header = first.split("\t")
    if missing := [name for name in COLUMNS if name not in header]:
        raise InputError(
            f"the column {missing[0]!r} is missing: expected a header of tabs with {', '.join(COLUMNS)}",
            file=path,
            line=1,
        )
    at = [header.index(name) for name in COLUMNS]
    texts: dict[tuple[str, str, int], str] = {}
    found: dict[tuple[str, str, int, str], list[Error]] = {}
    for number, line in enumerate(rest, start=2):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != len(header):
            raise InputError(f"{len(fields)} fields, but the header has {len(header)}", file=path, line=number)
        system, doc, seg, rater, _, target, category, severity = (fields[k].strip() for k in at)
        if not _NUMBER.fullmatch(seg):
            raise InputError(f'"seg_id" must be a whole number, got {seg[:40]!r}', file=path, line=number)
        if severity.lower() not in WEIGHTS:
            known = ", ".join(WEIGHTS)
            raise InputError(f"unknown severity {severity!r}; expected one of {known}", file=path, line=number)
        text, spans = _plain(target, path, number)
        place = system, doc, int(seg)
        if texts.setdefault(place, text) != text:
            what = f"the translation of {doc} {seg} by {system} differs from that of earlier lines"
            raise InputError(f"{what}; expected one translation of a segment for each system", file=path, line=number)
        errors = found.setdefault((*place, rater), [])
        if severity.lower() != "no-error":
            errors.append(Error(category, severity, spans))
    if not found:
        raise InputError("no annotations: expected a header, and a line for each error", file=path)
    return [
        Judgement(system, doc, seg, rater, texts[system, doc, seg], tuple(errors))
        for (system, doc, seg, rater), errors in found.items()
    ]


def contexts(
    judgements: Iterable[Judgement], *, reference: str | None = REFERENCE
) -> dict[tuple[str, int], tuple[str, ...]]:
    """The context of each segment (doc, number): up to two preceding segments in the text of the system `reference`.

    None gives no context.

    Raises:
        PronmetricError: the file has no such system.
    """
    judgements = list(judgements)
    systems = sorted({one.system for one in judgements})
    if reference is not None and reference not in systems:
        raise PronmetricError(
            f"no system {reference!r} for the context; there are {', '.join(systems)}; give one of them or none with "
            "--reference"
        )
    text = {(one.doc, one.seg): one.text for one in judgements if one.system == reference}
    return {
        (one.doc, one.seg): tuple(
            text[one.doc, seg] for seg in range(one.seg - CONTEXT_SIZE, one.seg) if (one.doc, seg) in text
        )
        for one in judgements
    }


def pairs(
    judgements: Sequence[Judgement],
    context: Mapping[tuple[str, int], tuple[str, ...]],
    *,
    longest: int = LONGEST,
    other_words: int | None = None,
    all_pairs: bool = False,
    reference: str | None = REFERENCE,
    tally: Counter[str] | None = None,
) -> Iterator[JudgedPair]:
    """Pairs of two systems' translations of a segment, with the vote of each rater who annotated both.

    A rater votes for the text with the lower penalty, the sum of the pronoun errors' weights; equal penalties are a
    tie. `better` is the answer with more votes, else "tie". Which system is text A is decided for each pair by a
    checksum. Left out, and counted in `tally`: pairs that no rater annotated in full, equal texts, pairs without a
    pronoun error (unless `all_pairs`), and, if `other_words` is given, pairs that differ in more than so many words
    besides pronouns, or in no pronoun. Each pair has the text of the system `reference`, if the segment has one.
    """
    count: Counter[str] = Counter() if tally is None else tally
    segments: dict[tuple[str, int], dict[str, dict[str, Judgement]]] = defaultdict(lambda: defaultdict(dict))
    references = {(one.doc, one.seg): one.text for one in judgements if one.system == reference}
    for one in judgements:
        segments[one.doc, one.seg][one.system][one.rater] = one
    penalties = {id(one): one.penalty(longest=longest) for one in judgements}
    for (doc, seg), systems in segments.items():
        for names in combinations(sorted(systems), 2):
            first, second = names if crc32("\t".join((doc, str(seg), *names)).encode()) % 2 else names[::-1]
            raters = [rater for rater in systems[first] if rater in systems[second]]
            texts = [next(iter(systems[name].values())) for name in (first, second)]
            both = {r: (penalties[id(systems[first][r])], penalties[id(systems[second][r])]) for r in raters}
            if not both:
                count["no rater judged both"] += 1
            elif texts[0].text == texts[1].text:
                count["equal texts"] += 1
            elif not all_pairs and not any(map(any, both.values())):
                count["without a pronoun error"] += 1
            else:
                forms, others = difference(*texts)
                if other_words is not None and (others > other_words or not any(forms)):
                    count["too many other words"] += 1
                    continue
                count["pairs"] += 1
                yield _pair(texts, context[doc, seg], both, forms, references.get((doc, seg)))


def difference(a: Judgement, b: Judgement) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], int]:
    """The differences of two texts: the forms of the differing pronouns of each, and the number of other words.

    Case and punctuation are ignored. Of a replaced span, the longer side counts.
    """
    split = words(a.text), words(b.text)
    lower = [word.text.lower() for word in split[0]], [word.text.lower() for word in split[1]]
    pronouns = [{o.word: o.form for o in one.pronouns} for one in (a, b)]
    forms: tuple[list[str], list[str]] = ([], [])
    others = 0
    for tag, *edges in SequenceMatcher(None, lower[0], lower[1], autojunk=False).get_opcodes():
        if tag != "equal":
            sizes = []
            for side, (start, end) in enumerate((edges[:2], edges[2:])):
                plain = [k for k in range(start, end) if any(map(str.isalnum, lower[side][k]))]
                forms[side].extend(pronouns[side][k] for k in plain if k in pronouns[side])
                sizes.append(sum(k not in pronouns[side] for k in plain))
            others += max(sizes)
    return (tuple(forms[0]), tuple(forms[1])), others


def label_pronouns(
    judgements: Iterable[Judgement],
    context: Mapping[tuple[str, int], tuple[str, ...]],
    *,
    longest: int = LONGEST,
    tally: Counter[str] | None = None,
) -> Iterator[dict[str, object]]:
    """Each pronoun in use of each annotated text: "wrong" if it is in a pronoun error, else "right"."""
    count: Counter[str] = Counter() if tally is None else tally
    for one in judgements:
        blame = {o.start: error for error, touched in reversed(one.pronoun_errors(longest=longest)) for o in touched}
        for o in one.pronouns:
            error = blame.get(o.start)
            label = "right" if error is None else "wrong"
            count[label] += 1
            yield {
                "id": f"{one.doc}:{one.seg}:{one.system}:{one.rater}:{o.start}",
                "context": list(context[one.doc, one.seg]),
                "text": one.text,
                "start": o.start,
                "end": o.end,
                "pronoun": o.text.lower(),
                "label": label,
                "doc": one.doc,
                "system": one.system,
                "rater": one.rater,
                **({} if error is None else {"category": error.category, "severity": error.severity}),
            }


def _pair(
    texts: Sequence[Judgement],
    context: tuple[str, ...],
    penalties: Mapping[str, tuple[float, float]],
    forms: tuple[tuple[str, ...], tuple[str, ...]],
    reference: str | None,
) -> JudgedPair:
    a, b = texts
    votes = {rater: A if x < y else B if y < x else TIE for rater, (x, y) in penalties.items()}
    lead = sum((vote == A) - (vote == B) for vote in votes.values())
    single = len(forms[0]) == len(forms[1]) == 1
    return JudgedPair(
        id=f"{a.doc}:{a.seg}:{a.system}:{b.system}",
        context=context,
        text_a=a.text,
        text_b=b.text,
        better=A if lead > 0 else B if lead < 0 else TIE,
        votes=votes,
        group="with a reference" if any(one.system.startswith(REFERENCE) for one in texts) else "two systems",
        doc=a.doc,
        pronoun_a=forms[0][0] if single else None,
        pronoun_b=forms[1][0] if single else None,
        judge=JUDGE,
        reference=reference,
        system_a=a.system,
        system_b=b.system,
    )


def _plain(target: str, path: str | Path, line: int) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text without its marks, and the marked spans; an open span runs to the end."""
    text, spans, last = "", [], 0
    start: int | None = None
    for mark in _MARK.finditer(target):
        text += target[last : mark.start()]
        last = mark.end()
        if (mark.group() == "<v>") != (start is None):
            raise InputError(f"unpaired {mark.group()} in the target; expected <v>..</v>", file=path, line=line)
        if start is None:
            start = len(text)
        else:
            spans.append((start, len(text)))
            start = None
    text += target[last:]
    if start is not None:
        spans.append((start, len(text)))
    return text, tuple(spans)
