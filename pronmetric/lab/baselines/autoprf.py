"""AutoPRF: precision and recall of pronoun translation (Hardmeier and Federico, IWSLT 2010, section 4).

The target words linked to a source pronoun (it, they) are compared between candidate and reference. A word matches as
often as it occurs on both sides. Figures are in [0, 1], higher is better.

Relative to the published program, whose behaviour in three cases is reproduced only with `compat=True`:

- A pronoun without any link in the whole candidate is missing from its table, and the reference words of the pronoun
  from total recall. Here they count: a candidate that drops each "they" has not translated them.
- A link to a target index past the end of its line refers to a word of the next line. Here it is ignored and counted.
- A link from a source index past the end of its line is ignored and counted by both, but the published program fails
  on an index above the length of all earlier lines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pronmetric.errors import InputError
from pronmetric.report.text import table
from pronmetric.text.lines import read_lines
from pronmetric.text.running_text import require_lines

TRIGGERS = frozenset({"it", "It", "they", "They"})
IGNORED = PAST_SOURCE, PAST_TARGET, SURPLUS = (
    "source_index_past_the_end",
    "target_index_past_the_end",
    "surplus_lines_of_links",
)

_LINK = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_DOCUMENT = re.compile(r"([0-9]{1,9})(?:\s+(.*))?", re.DOTALL)


class Instance(NamedTuple):
    """One source pronoun: the words linked to it on either side (with repeats), and the number of its document."""

    pronoun: str
    reference: Sequence[str]
    candidate: Sequence[str]
    document: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """Source pronouns, their linked words in reference and candidate, and the words that match.

    >>> counts = Counts(instances=2, matches=1, reference=4, candidate=2)
    >>> counts.precision, counts.recall, round(counts.f1, 4)
    (0.5, 0.25, 0.3333)
    """

    instances: int = 0
    matches: int = 0
    reference: int = 0
    candidate: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(
            self.instances + other.instances,
            self.matches + other.matches,
            self.reference + other.reference,
            self.candidate + other.candidate,
        )

    @property
    def precision(self) -> float | None:
        """Matches over candidate words; None if there are none."""
        return self.matches / self.candidate if self.candidate else None

    @property
    def recall(self) -> float | None:
        """Matches over reference words; None if there are none."""
        return self.matches / self.reference if self.reference else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; None if one of them is None, or both are 0."""
        if not self.candidate or not self.reference or not self.matches:
            return None
        return 2 * self.matches / (self.candidate + self.reference)


@dataclass(frozen=True, slots=True)
class Result:
    """The counts in total, by pronoun in alphabetical order, and by number of the document."""

    total: Counts
    pronouns: Mapping[str, Counts]
    documents: tuple[Counts, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """One side of the comparison: its source sentences, and the target words linked to each source word.

    linked: for each sentence, source position -> target words in the order of the links.
    ignored: how often each of `IGNORED` was left out.
    """

    stem: str
    source_file: str
    source: list[list[str]]
    linked: list[dict[int, list[str]]]
    ignored: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Documents:
    """The first sentence (from 0, ascending) and the name of each document."""

    starts: tuple[int, ...]
    names: tuple[str, ...]

    def of(self, sentence: int) -> int:
        """The number of the document that holds a sentence; those before the first boundary are in the first."""
        return max(0, bisect_right(self.starts, sentence) - 1)


def tally(instances: Iterable[Instance], *, documents: int = 1, compat: bool = False) -> Result:
    """Count all instances; `documents` is how many there are.

    >>> they = Instance("they", reference=["ils"], candidate=["ils", "ont"])
    >>> tally([they, Instance("it", ["il"], [])]).total
    Counts(instances=2, matches=1, reference=2, candidate=2)
    """
    by_pronoun: dict[str, Counts] = {}
    by_document = [Counts()] * documents
    for instance in instances:
        counts = _counts(instance)
        by_pronoun[instance.pronoun] = by_pronoun.get(instance.pronoun, Counts()) + counts
        by_document[instance.document] += counts
    shown = {pronoun: c for pronoun, c in sorted(by_pronoun.items()) if c.candidate or not compat}
    return Result(sum(shown.values(), Counts()), shown, tuple(by_document))


def _counts(instance: Instance) -> Counts:
    shared = Counter(instance.reference) & Counter(instance.candidate)
    return Counts(1, shared.total(), len(instance.reference), len(instance.candidate))


def instances(reference: Corpus, candidate: Corpus, documents: Documents) -> Iterator[Instance]:
    """Each trigger of the source, sentence by sentence; the two corpora must have passed `check_sources`."""
    for sentence, words in enumerate(reference.source):
        for position, word in enumerate(words):
            if word in TRIGGERS:
                yield Instance(
                    word.lower(),
                    reference.linked[sentence].get(position, []),
                    candidate.linked[sentence].get(position, []),
                    documents.of(sentence),
                )


def same_language(
    reference: Sequence[str],
    candidate: Sequence[str],
    links: Iterable[tuple[int, int]],
    *,
    positions: Iterable[int],
) -> Iterator[Instance]:
    """Instances with the reference in place of the source, for translation into English.

    `positions` are the reference's pronouns in use, each linked to itself in the reference and by `links` (reference
    word, candidate word) to the candidate. Letter case is ignored, for a pronoun may begin a sentence on one side only.

    >>> links = [(0, 1), (1, 2)]
    >>> list(same_language(["It", "rained"], ["then", "it", "rained"], links, positions=[0]))
    [Instance(pronoun='it', reference=['it'], candidate=['it'], document=0)]
    """
    linked: dict[int, list[str]] = {}
    for i, j in links:
        linked.setdefault(i, []).append(candidate[j].lower())
    for position in positions:
        pronoun = reference[position].lower()
        yield Instance(pronoun, [pronoun], linked.get(position, []))


def split(line: str) -> list[str]:
    """The tokens of a line, split at single spaces: empty tokens count but at the end; an empty line is one.

    >>> split(" it  is "), split("")
    (['', 'it', '', 'is'], [''])
    """
    tokens = line.split(" ")
    while line and tokens and not tokens[-1]:
        tokens.pop()
    return tokens


def read_corpus(stem: str, *, src: str, tgt: str, compat: bool = False) -> Corpus:
    """Read STEM.src, STEM.tgt, STEM.src-tgt.alig and, if present, STEM.src-tgt.lines-retained.

    Raises:
        InputError: a missing or unreadable file, different lengths, a malformed link; with `compat` also a source index
            above the length of each earlier sentence, and a target index past the whole text.
    """
    source_file, target_file, links_file = files = [f"{stem}.{end}" for end in (src, tgt, f"{src}-{tgt}.alig")]
    for path in files:
        if not Path(path).exists():
            raise InputError(f"no such file; the stem {stem!r} stands for {', '.join(files)}", file=path)
    for path in (source_file, target_file):
        require_lines(path)
    source = [split(line) for line in read_lines(source_file)]
    target = [split(line) for line in read_lines(target_file)]
    if len(source) != len(target):
        message = f"{len(source)} lines, but {target_file} has {len(target)}: expected as many in both"
        raise InputError(message, file=source_file)
    rows = read_lines(links_file)
    numbers = _numbers(f"{stem}.{src}-{tgt}.lines-retained", sentences=len(source))
    if len(rows) < len(numbers):
        message = f"{len(rows)} lines for {len(numbers)} sentences: expected one each, empty where nothing is linked"
        raise InputError(message, file=links_file)
    corpus = Corpus(stem, source_file, source, [{} for _ in source])
    corpus.ignored[SURPLUS] = len(rows) - len(numbers)
    belonging = zip(numbers, rows[: len(numbers)], strict=True)
    links = [(sentence, _links(row, links_file, line)) for line, (sentence, row) in enumerate(belonging, start=1)]
    follow = _follow_past_ends if compat else _follow
    follow(links, corpus, target, links_file)
    return corpus


def _numbers(path: str, *, sentences: int) -> Sequence[int]:
    """The sentences (from 0) that the lines of links belong to: all of them if the file `path` does not exist."""
    if not Path(path).exists():
        return range(sentences)
    numbers: list[int] = []
    for line, text in enumerate(read_lines(path), start=1):
        number = int(text) if _NUMBER.fullmatch(text) else 0
        lowest = numbers[-1] + 2 if numbers else 1
        if not lowest <= number <= sentences:
            raise InputError(f"expected a line number from {lowest} to {sentences}, got {text!r}", file=path, line=line)
        numbers.append(number - 1)
    return numbers


def _links(row: str, file: str, line: int) -> list[tuple[int, int]]:
    links = []
    for text in filter(None, row.split(" ")):
        match = _LINK.fullmatch(text)
        if match is None:
            raise InputError(f"expected links such as 0-0 1-2, got {text!r}", file=file, line=line)
        links.append((int(match[1]), int(match[2])))
    return links


_Links = Iterable[tuple[int, list[tuple[int, int]]]]


def _follow(links: _Links, corpus: Corpus, target: Sequence[Sequence[str]], file: str) -> None:
    """Add the linked words; links outside their sentence are counted as ignored."""
    for sentence, pairs in links:
        for i, j in pairs:
            if i >= len(corpus.source[sentence]):
                corpus.ignored[PAST_SOURCE] += 1
            elif j >= len(target[sentence]):
                corpus.ignored[PAST_TARGET] += 1
            else:
                corpus.linked[sentence].setdefault(i, []).append(target[sentence][j])


def _follow_past_ends(links: _Links, corpus: Corpus, target: Sequence[Sequence[str]], file: str) -> None:
    """As the original: a target index may run into the following sentences, a source index must fit an earlier one."""
    text = [word for words in target for word in words]
    starts = [0, *accumulate(map(len, target))]
    longest = [0, *accumulate(map(len, corpus.source), max)]
    for line, (sentence, pairs) in enumerate(links, start=1):
        for i, j in pairs:
            if i < len(corpus.source[sentence]):
                if starts[sentence] + j >= len(text):
                    message = f"target index {j} lies past the end of the whole text, which ends the original program"
                    raise InputError(f"{message}; without `compat=True` it is ignored", file=file, line=line)
                corpus.linked[sentence].setdefault(i, []).append(text[starts[sentence] + j])
            elif i > longest[sentence]:
                message = (
                    f"source index {i} is above the length of each earlier sentence, which ends the original program"
                )
                raise InputError(f"{message}; without `compat=True` it is ignored", file=file, line=line)
            else:
                corpus.ignored[PAST_SOURCE] += 1


def check_sources(reference: Corpus, candidate: Corpus) -> int:
    """How many words differ between the two sources, which must have equally many tokens in each sentence.

    Raises:
        InputError: another number of sentences or tokens.
    """
    if len(reference.source) != len(candidate.source):
        message = f"{len(candidate.source)} lines, but {reference.source_file} has {len(reference.source)}"
        raise InputError(f"{message}: expected the same source in both", file=candidate.source_file)
    differ = 0
    for line, (words, others) in enumerate(zip(reference.source, candidate.source, strict=True), start=1):
        if len(words) != len(others):
            message = f"{len(others)} tokens, but {len(words)} in that line of {reference.source_file}"
            raise InputError(f"{message}: expected the same tokens", file=candidate.source_file, line=line)
        differ += sum(a != b for a, b in zip(words, others, strict=True))
    return differ


def read_documents(path: str, *, sentences: int) -> Documents:
    """Read the file of documents: on each line the first sentence's number from 0 and, after white space, a name.

    Raises:
        InputError: no line, something else on it, numbers that do not ascend or name no sentence.
    """
    starts: list[int] = []
    names: list[str] = []
    for line, text in enumerate(read_lines(path), start=1):
        match = _DOCUMENT.fullmatch(text)
        if match is None:
            raise InputError(f"expected a number, and a name after white space, got {text!r}", file=path, line=line)
        start = int(match[1])
        if starts and start <= starts[-1]:
            raise InputError(f"expected a number above {starts[-1]}, got {start}", file=path, line=line)
        if start >= sentences:
            message = f"no sentence {start}: there are {sentences}, counted from 0"
            raise InputError(message, file=path, line=line)
        starts.append(start)
        names.append((match[2] or "").rstrip() or f"Document {line}")
    if not starts:
        raise InputError("expected a line for each document; write 0 where there is but one", file=path)
    return Documents(tuple(starts), tuple(names))


def format_as_published(counts: Counts) -> tuple[str, str, str]:
    """Precision, recall and F1 as the published program prints them: single precision, four decimals, rounded half up.

    >>> format_as_published(Counts(1, 1, 32, 1))
    ('1.0000', '0.0313', '0.0606')
    """
    nan = float("nan")
    p = np.float32(nan if counts.precision is None else counts.precision)
    r = np.float32(nan if counts.recall is None else counts.recall)
    with np.errstate(invalid="ignore"):
        f1 = np.float32(2) * p * r / (p + r)
    return _half_up(p), _half_up(r), _half_up(f1)


def _half_up(value: np.float32) -> str:
    return "NaN" if np.isnan(value) else str(Decimal(float(value)).quantize(Decimal("0.0001"), ROUND_HALF_UP))


def result_json(
    result: Result, documents: Documents, reference: Corpus, candidate: Corpus, *, differing: int, compat: bool
) -> dict[str, Any]:
    """The result in JSON, figures as fractions."""
    return {
        **_content(result.total),
        "by_pronoun": {pronoun: _content(counts) for pronoun, counts in result.pronouns.items()},
        "by_document": [
            {"document": name, "first": first, **_content(counts)}
            for name, first, counts in zip(documents.names, documents.starts, result.documents, strict=True)
        ],
        "ignored": {"reference": count_ignored(reference), "candidate": count_ignored(candidate)},
        "source_words_differing": differing,
        "compat": compat,
    }


def _content(counts: Counts) -> dict[str, Any]:
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        "instances": counts.instances,
        "matches": counts.matches,
        "reference_words": counts.reference,
        "candidate_words": counts.candidate,
    }


def count_ignored(corpus: Corpus) -> dict[str, int]:
    """How often each of `IGNORED` occurred."""
    return {what: corpus.ignored[what] for what in IGNORED}


def format_autoprf(result: Result, documents: Documents, *, compat: bool) -> str:
    """A table of pronouns and their total, and one of documents; compat: figures rounded as published."""
    rows = [
        (name, *_rates(counts, compat=compat), counts.matches, counts.reference, counts.candidate)
        for name, counts in {**result.pronouns, "total": result.total}.items()
    ]
    by_document = [
        (name, _rates(counts, compat=compat)[1], counts.matches, counts.reference)
        for name, counts in zip(documents.names, result.documents, strict=True)
    ]
    pronouns = table(("", "precision", "recall", "F1", "matches", "reference", "candidate"), rows)
    return f"{pronouns}\n\n{table(('document', 'recall', 'matches', 'reference'), by_document)}"


def _rates(counts: Counts, *, compat: bool) -> tuple[str, ...]:
    if compat:
        return format_as_published(counts)
    return tuple("-" if x is None else f"{x:.4f}" for x in (counts.precision, counts.recall, counts.f1))


def notes(reference: Corpus, candidate: Corpus, *, differing: int) -> Iterator[str]:
    """What was ignored, a line each; differing: the words in which the two sources differ."""
    if not any(word in TRIGGERS for words in reference.source for word in words):
        yield f"{reference.source_file}: no {', '.join(sorted(TRIGGERS))} in the source: there is no score"
    for corpus in (reference, candidate):
        for what, number in count_ignored(corpus).items():
            if number:
                yield f"{corpus.stem}: ignored: {what.replace('_', ' ')} ({number})"
    if differing:
        yield (
            f"{candidate.source_file}: {differing} words differ from {reference.source_file}; "
            "it and they are taken from the latter"
        )
