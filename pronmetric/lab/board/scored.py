"""A scored test set: the pronouns of all its systems with probabilities, preferences, expected missing pronouns.

It is one file, without texts.

What the folder of scored test sets has with the same signature and texts is not scored again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from pronmetric.errors import InputError
from pronmetric.output.targets import AtomicFile
from pronmetric.output.tsv import DIGITS
from pronmetric.pronouns import groups
from pronmetric.pronouns.languages import Language
from pronmetric.scoring.bulk import score_rows
from pronmetric.scoring.score import SPEAKERS, SegmentScore
from pronmetric.signature import Signature
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, NONE, History, Text, introduce
from pronmetric.text.corpus import Corpus

FORMAT = "pronmetric board scores 3"
_EARLIER = ("pronmetric board scores 1", "pronmetric board scores 2")  # without preferences; without distances
_COLUMNS = ("segment", "start", "end", "kind", "probability", "distance")
UNKNOWN = -1
"""The distance of a pronoun that attends to no other word."""


class BoardSet(NamedTuple):
    """A test set on the board: id "newstest2021.de-en", name "newstest2021", year (None if unknown), lp "de-en".

    context: the kind of context. reference: the name of the reference that gives it, None with another context.
    """

    id: str
    name: str
    year: int | None
    lp: str
    context: str
    reference: str | None


class Pronouns(NamedTuple):
    """The scored pronouns of a system, one a row, in order of the text.

    segment: from 0. start, end: the span in its text, in code points. kind: index in the classes. probability: that the
    pronoun is correct. distance: how many segments back the word stands that it attends to most, 0 in its own,
    `UNKNOWN` without one.
    """

    segment: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    kind: NDArray[np.int64]
    probability: NDArray[np.float64]
    distance: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardScores:
    """The scores of a test set's systems. docs: the document of each segment, None where documents are unknown.

    signature: of the scores. texts: a hash of all texts that the scores depend on. preferences: of each system's
    segments (segments,), NaN without a pronoun or a pair head. missing: the expected number of missing pronouns of each
    system's segments (segments,), where they are known of all; surplus: that of surplus ones.
    """

    testset: BoardSet
    segments: int
    docs: tuple[str, ...] | None
    classes: tuple[str, ...]
    systems: Mapping[str, Pronouns]
    signature: str
    texts: str
    preferences: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    missing: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    surplus: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


def hash_texts(corpus: Corpus) -> str:
    """Sixteen hexadecimal digits: a hash of the systems' names and texts, the references, documents and speakers."""
    digest = hashlib.sha256(strict_json.dump([corpus.systems, corpus.documents]).encode())
    for row in corpus.rows():
        speaker = [] if row.speaker is None else [row.speaker]
        digest.update(strict_json.dump([row.texts, row.doc, row.reference, *speaker]).encode())
    return digest.hexdigest()[:16]


def score(
    testset: BoardSet,
    corpus: Corpus,
    *,
    size: int,
    stream: Callable[[Iterable[Text]], Iterator[SegmentScore]],
    language: Language,
    signature: str,
) -> BoardScores:
    """Score all systems of a test set.

    Args:
        testset: the test set, with the kind of context.
        corpus: its texts.
        size: number of previous sentences in a context.
        stream: scores texts, in order, with probabilities and the words attended to.
        language: of the texts.
        signature: of the scores.
    """
    known = {name: number for number, name in enumerate(groups.names(language))}
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in corpus.systems}
    preferences: dict[str, list[float]] = {name: [] for name in corpus.systems}
    missing: dict[str, list[float | None]] = {name: [] for name in corpus.systems}
    surplus: dict[str, list[float | None]] = {name: [] for name in corpus.systems}
    histories = {name: History(size=size) for name in corpus.systems}
    docs: list[str | None] = []
    for number, scored in enumerate(score_rows(corpus, testset.context, size=size, stream=stream)):
        row = scored.row
        docs.append(row.doc)
        for name, text, (segment, *_) in zip(corpus.systems, row.texts, scored.segments, strict=True):
            kinds = groups.classify(language, text, [p.start for p in segment.pronouns])
            attended = segment.attended or (None,) * len(segment.pronouns)
            line = row.references[0] if testset.context == COMMON else text
            context = histories[name].before(line, row.doc, row.speaker) or [""]
            context[-1] = introduce(context[-1], row.speaker)
            rows[name] += [
                (number, p.start, p.end, known[kind], round(p.score, DIGITS), _distance(context, offset))
                for p, kind, offset in zip(segment.pronouns, kinds, attended, strict=True)
            ]
            preferences[name].append(np.nan if segment.preference is None else round(segment.preference, DIGITS))
            missing[name].append(None if segment.missing is None else round(segment.missing, DIGITS))
            surplus[name].append(None if segment.surplus is None else round(segment.surplus, DIGITS))
    return BoardScores(
        testset=testset,
        segments=corpus.segments,
        docs=tuple(doc or "" for doc in docs) if corpus.documents else None,
        classes=tuple(known),
        systems={name: _columns(list(zip(*own, strict=True)) or [()] * len(_COLUMNS)) for name, own in rows.items()},
        signature=signature,
        texts=hash_texts(corpus),
        preferences={name: np.array(each, dtype=np.float64) for name, each in preferences.items()},
        missing=_known(missing),
        surplus=_known(surplus),
    )


def _known(values: Mapping[str, Sequence[float | None]]) -> dict[str, NDArray[np.float64]]:
    """The systems of whose segments all are known."""
    return {name: np.array(each, dtype=np.float64) for name, each in values.items() if None not in each}


def _distance(before: Sequence[str], offset: int | None) -> int:
    """How many lines back a character stands, 0 in the text itself.

    before: the lines before the text, oldest first; the context joins them, see `pronmetric.text.context.join`.
    offset: from the start of the text, below 0 in the context; None is `UNKNOWN`.

    >>> before = ["Ann came.", " ", "It rained."]  # the context is "Ann came. It rained."
    >>> [_distance(before, offset) for offset in (5, -1, -10, -12, -20, None)]
    [0, 1, 1, 3, 3, -1]
    """
    if offset is None:
        return UNKNOWN
    start, back = 0, 0
    while offset < start:
        back += 1
        if line := before[-back].strip():
            start -= len(line) + (start < 0)
    return back


def reference_of(corpus: Corpus, context: str) -> str | None:
    """The name of the reference that gives the context, None with another context."""
    return corpus.references[0] if context == COMMON else None


def write(scored: BoardScores, path: Path) -> None:
    """Write the file of a scored test set."""
    content = {
        "format": FORMAT,
        "signature": scored.signature,
        "texts": scored.texts,
        "testset": scored.testset._asdict(),
        "segments": scored.segments,
        "docs": scored.docs,
        "classes": scored.classes,
        "systems": {
            name: {column: values.tolist() for column, values in values_of._asdict().items()}
            for name, values_of in scored.systems.items()
        },
        "preferences": {
            name: [None if np.isnan(value) else value for value in values_of.tolist()]
            for name, values_of in scored.preferences.items()
        },
        **{
            kind: {name: values.tolist() for name, values in expected.items()}
            for kind, expected in (("missing", scored.missing), ("surplus", scored.surplus))
            if expected
        },
    }
    with AtomicFile(path) as file:
        file.write(strict_json.dump(content) + "\n")


def read(path: Path) -> BoardScores | None:
    """Read what `write` wrote; None for a file of an earlier version, which lacks something.

    Raises:
        InputError: a broken file, or one of another format.
    """
    cure = "remove the file; the test set is then scored again"
    content = strict_json.read(path, cure, bytes_of_names=True)
    if isinstance(content, dict) and content.get("format") in _EARLIER:
        return None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f'expected the format "{FORMAT}"; {cure}', file=path)
    try:
        return BoardScores(
            testset=BoardSet(**content["testset"]),
            segments=content["segments"],
            docs=None if content["docs"] is None else tuple(content["docs"]),
            classes=tuple(content["classes"]),
            systems={name: _columns([own[c] for c in _COLUMNS]) for name, own in content["systems"].items()},
            signature=content["signature"],
            texts=content["texts"],
            preferences={name: np.array(own, dtype=np.float64) for name, own in content["preferences"].items()},
            **{
                kind: {name: np.array(own, dtype=np.float64) for name, own in content.get(kind, {}).items()}
                for kind in ("missing", "surplus")
            },
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"broken scores ({type(error).__name__}: {error}); {cure}", file=path) from None


def _columns(values: list[Any]) -> Pronouns:
    *places, probability, distance = values
    segment, start, end, kind, back = (np.array(column, dtype=np.int64) for column in (*places, distance))
    return Pronouns(segment, start, end, kind, np.array(probability, dtype=np.float64), back)


class StoredScores(NamedTuple):
    """A test set's scores, and whether they were in the folder already."""

    scored: BoardScores
    reused: bool


@dataclass(frozen=True, slots=True)
class Store:
    """Scores test sets, or reads their scores from `folder`.

    stream: scores texts, in order, with probabilities and the words attended to. size: number of previous sentences in
    a context. signature: of scores in a kind of context. progress: makes the bar of a test set while it is
    scored, from its id and its number of texts.
    """

    folder: Path
    stream: Callable[[Iterable[Text]], Iterator[SegmentScore]]
    size: int
    language: Language
    signature: Callable[[str], Signature]
    progress: Callable[[str, int], AbstractContextManager[object]]

    def get(self, testset: BoardSet, corpus: Corpus) -> StoredScores:
        """The scores of a test set's systems, from the folder if version, signature and texts are the same.

        Raises:
            InputError: a broken file in the folder.
        """
        signature = self.signature(testset.context)
        if testset.context == COMMON:
            signature = signature.plus(references=testset.reference)
        if corpus.has_speakers and testset.context != NONE:
            signature = signature.plus(speakers=SPEAKERS)
        path = self.folder / f"{quote(testset.id, safe='')}.json"
        if path.exists():
            kept = read(path)
            wanted = testset, str(signature), hash_texts(corpus)
            if kept is not None and (kept.testset, kept.signature, kept.texts) == wanted:
                return StoredScores(kept, reused=True)
        with self.progress(testset.id, corpus.segments * len(corpus.systems)):
            new = score(
                testset,
                corpus,
                size=self.size,
                stream=self.stream,
                language=self.language,
                signature=str(signature),
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        write(new, path)
        return StoredScores(new, reused=False)
