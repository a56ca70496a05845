"""Human scores of segments, documents or domains, whichever file holds them; higher is better.

`.seg.score`, `.doc.score`, `.domain.score` and `.seg.rating` of mt-metrics-eval, direct assessment's
`ad-seg-scores-SL-TL.csv`, and error span annotation (ESA) of WMT24 and WMT25. For scores of systems see
`wmt_scores.read_human`; for `.seg.score` and `.doc.score`, `wmt_scores`.

`.seg.rating` has, for each segment of each system in order, a line `SYSTEM<TAB>RATING<TAB>RATER` (or without a rater):
`None`, or JSON with the errors that a rater marked, `{"errors": [{"severity": ..., "category": ..., "score": ...}]}`. A
segment's score is minus the sum of its errors' scores; an error without one counts as in MQM (Freitag et al. 2021:
minor 1, major and critical 5, a non-translation 25, minor punctuation 0.1). `.domain.score` has a line
`DOMAIN SYSTEM SCORE` for each domain of each system. `documents/LP.docs`, in the folder of `human-scores`, has a line
`DOMAIN DOCUMENT` for each segment. Format: the README of github.com/google-research/mt-metrics-eval, and its
`ratings.py` and `converters/score_mqm.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pronmetric.errors import InputError
from pronmetric.lab.human import contrastive_esa, esa
from pronmetric.lab.human.wmt_scores import (
    INDEX,
    MISSING,
    SEGMENT_HEAD,
    finite,
    lines_of,
    read_assessments,
    read_segment_scores,
)
from pronmetric.text import strict_json

RATING_FILE = ".seg.rating"
DOMAIN_FILE = ".domain.score"
DOCUMENT_FILE = ".doc.score"
_WEIGHTS = {"no-error": 0.0, "neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 5.0}
_NON_TRANSLATION, _PUNCTUATION = "non-translation", "fluency/punctuation"

Unit = Literal["systems", "segments", "documents", "domains"]
SYSTEMS: Unit = "systems"
SEGMENTS: Unit = "segments"
DOCUMENTS: Unit = "documents"
DOMAINS: Unit = "domains"
_SUFFIXES: Mapping[str, Unit] = {
    ".seg.score": SEGMENTS,
    RATING_FILE: SEGMENTS,
    DOCUMENT_FILE: DOCUMENTS,
    DOMAIN_FILE: DOMAINS,
}


@dataclass(frozen=True, kw_only=True)
class HumanScores:
    """The human scores in a file.

    unit: what has a score. scores: of each system by the number of the unit, from 0; a missing one is None or absent.
    size: how many units each system has, None if the file does not tell. docs: the documents of segments, as far as the
    file tells. domains: their names in order. numbered: whether a system's name may end in a number (`Alder.3`), which
    its name among the outputs lacks. left_out: rows of the file that are no score, by kind. places: where segments have
    no number in the text, the document of each and its number there.
    """

    path: str | Path
    unit: Unit
    scores: Mapping[str, Mapping[int, float | None]]
    size: int | None = None
    docs: Mapping[int, str] = field(default_factory=dict)
    domains: tuple[str, ...] = ()
    numbered: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[int, tuple[str, int]] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """The names of systems, also without their numbers."""
        return set(self.scores) | ({INDEX.sub("", name) for name in self.scores} if self.numbered else set())

    def by_name(self, systems: Collection[str]) -> dict[str, Mapping[int, float | None]]:
        """The scores by the names that `systems` have.

        Raises:
            InputError: two names of one system.
        """
        named: dict[str, Mapping[int, float | None]] = {}
        for id, own in self.scores.items():
            bare = INDEX.sub("", id)
            name = bare if self.numbered and id not in systems and bare in systems else id
            if name in named:
                raise InputError(f"{id} is a second one of {name}: expected one of each", file=self.path)
            named[name] = own
        return named

    def align(
        self, *, systems: Collection[str], size: int, docs: Sequence[str | None] | None = None
    ) -> dict[str, list[float | None]]:
        """The scores of all `size` units of each system, None if missing, by the names in `systems`.

        docs: the document of each segment of the metric, to check that the texts are the same.

        Raises:
            InputError: another number of units, or another document of a segment.
        """
        if self.places:
            return self._numbered(docs).align(systems=systems, size=size, docs=docs)
        if self.size is not None and self.size != size:
            message = f"{self.size} {self.unit} of each system, but the metric has {size}: expected the same text"
            raise InputError(message, file=self.path)
        for name, own in self.scores.items():
            if own and not 0 <= min(own) <= max(own) < size:
                wrong = (max(own) if max(own) >= size else min(own)) + 1
                message = (
                    f"{name} has a segment {wrong}, but the metric has segments 1 to {size}: expected the same text"
                )
                raise InputError(message, file=self.path)
        for segment, doc in self.docs.items():
            if docs is not None and segment < len(docs) and docs[segment] not in (None, doc):
                message = f"segment {segment + 1} is of document {doc!r}, but in the metric of {docs[segment]!r}"
                raise InputError(f"{message}: expected the same text", file=self.path)
        return {name: [own.get(k) for k in range(size)] for name, own in self.by_name(systems).items()}

    def _numbered(self, docs: Sequence[str | None] | None) -> HumanScores:
        """The same with the numbers that segments have in a text of these documents."""
        numbers: dict[str, list[int]] = {}
        for number, doc in enumerate(docs or ()):
            if doc is not None:
                numbers.setdefault(contrastive_esa.document_of(doc), []).append(number)
        if not numbers:
            message = "has scores of segments by document: give SCORES as a result of `score -d`, which names documents"
            raise InputError(message, file=self.path)
        moved = {}
        for segment, (doc, place) in self.places.items():
            own = numbers.get(doc, [])
            if place >= len(own):
                message = f"has segment {place + 1} of document {doc!r}, of which the metric has {len(own)}"
                raise InputError(f"{message}: expected the same text", file=self.path)
            moved[segment] = own[place]
        scores = {name: {moved[k]: x for k, x in own.items()} for name, own in self.scores.items()}
        return replace(self, scores=scores, docs={}, places={})

    def means(self, systems: Collection[str]) -> dict[str, float | None]:
        """The mean of each system over its units with a score, by the names in `systems`; None without any."""
        scored = {name: [x for x in own.values() if x is not None] for name, own in self.by_name(systems).items()}
        return {name: sum(own) / len(own) if own else None for name, own in scored.items()}


def unit_of(path: str | Path) -> Unit:
    """What a file of human scores has scores of, by its name and its first lines.

    Raises:
        InputError: the file cannot be read, or is empty.
    """
    name = Path(path).name.removesuffix(".gz")
    for suffix, unit in _SUFFIXES.items():
        if name.endswith(suffix):
            return unit
    lines = lines_of(path)
    _, first = next(lines)
    if first.split() == SEGMENT_HEAD or esa.holds(path):
        return SEGMENTS
    seen: set[str] = set()
    for _, text in ((0, first), *lines):
        fields = text.split("\t") if "\t" in text else text.split()
        if len(fields) != 2:
            return SYSTEMS
        if fields[0] in seen:
            return SEGMENTS
        seen.add(fields[0])
    return SYSTEMS


def read(path: str | Path, *, score: Literal["z", "raw"] = "z", pair: str | None = None) -> HumanScores:
    """The human scores of segments, documents or domains in a file (`unit_of` is not "systems").

    score: of direct assessment. pair: the language pair of ESA, None for the only one.

    Raises:
        InputError: with file and line, for a malformed file.
    """
    unit = unit_of(path)
    name = Path(path).name.removesuffix(".gz")
    if unit == DOMAINS:
        by_domain = read_domain_scores(path)
        domains = tuple(sorted({domain for own in by_domain.values() for domain in own}))
        scores = {s: {k: own.get(domain) for k, domain in enumerate(domains)} for s, own in by_domain.items()}
        return HumanScores(path=path, unit=unit, scores=scores, size=len(domains), domains=domains)
    if name.endswith(RATING_FILE):
        return _listed(path, unit, read_ratings(path))
    if next(lines_of(path))[1].split() == SEGMENT_HEAD:
        assessed = read_assessments(path)
        if not assessed:
            raise InputError("no segment: expected lines after the head", file=path)
        values = {
            s: {k - 1: one.z if score == "z" else one.raw for k, one in own.items()} for s, own in assessed.items()
        }
        return HumanScores(path=path, unit=unit, scores=values, numbered=True)
    if unit == SEGMENTS and not name.endswith(".seg.score") and esa.holds(path):
        esas = esa.read(path, pair=pair)
        return HumanScores(
            path=path,
            unit=unit,
            scores=esas.scores,
            size=esas.segments,
            docs=esas.docs,
            left_out=esas.left_out,
            places=esas.places,
        )
    return _listed(path, unit, read_segment_scores(path))


def _listed(path: str | Path, unit: Unit, scores: Mapping[str, Sequence[float | None]]) -> HumanScores:
    size = len(next(iter(scores.values())))
    return HumanScores(path=path, unit=unit, scores={s: dict(enumerate(own)) for s, own in scores.items()}, size=size)


def read_ratings(path: str | Path) -> dict[str, list[float | None]]:
    """The score of each segment of each system, at most 0, None where it has no rating; higher is better.

    Raises:
        InputError: with file and line, for another number of columns, a rating that is no JSON with errors, or an error
            without a score and a known severity; for different numbers of segments.
    """
    scores: dict[str, list[float | None]] = {}
    for number, line in lines_of(path):
        fields = line.rstrip("\r").split("\t")
        if len(fields) not in (2, 3) or not fields[0].strip():
            message = f"expected SYSTEM, RATING and perhaps RATER, with tabs, got {len(fields)} fields"
            raise InputError(message, file=path, line=number)
        scores.setdefault(fields[0], []).append(_penalty(fields[1], path, number))
    if len({len(own) for own in scores.values()}) > 1:
        told = ", ".join(f"{system} has {len(own)}" for system, own in scores.items())
        raise InputError(f"expected as many segments of each system, got: {told}", file=path)
    return scores


def read_domain_scores(path: str | Path) -> dict[str, dict[str, float | None]]:
    """The score of each domain of each system.

    Raises:
        InputError: with file and line, for another number of fields, no finite number, or a domain of a system twice.
    """
    scores: dict[str, dict[str, float | None]] = {}
    for number, line in lines_of(path):
        fields = line.split()
        if len(fields) != 3:
            message = f"expected DOMAIN, SYSTEM and a score or {MISSING}, got {len(fields)} fields"
            raise InputError(message, file=path, line=number)
        domain, system, text = fields
        own = scores.setdefault(system, {})
        if domain in own:
            raise InputError(f"a second score of {system} in the domain {domain}", file=path, line=number)
        own[domain] = None if text == MISSING else finite(text, path, number, expected=f"a finite number or {MISSING}")
    return scores


def read_groups(human: str | Path, *, unit: Literal["documents", "domains"]) -> list[str]:
    """The document or the domain of each segment, from `documents/LP.docs` of the test set that `human` belongs to.

    Raises:
        InputError: there is no such file, or a line is not DOMAIN and DOCUMENT.
    """
    path = Path(human)
    docs = path.resolve().parent.parent / "documents" / f"{path.name.partition('.')[0]}.docs"
    if not docs.is_file():
        raise InputError(
            f"has scores of {unit}; the {unit} of the segments are expected in {docs}: keep mt-metrics-eval's folders, "
            "or give SCORES as a file of mt-metrics-eval of the same level",
            file=human,
        )
    groups = [domain_and_document(line, file=docs, line=number) for number, line in lines_of(docs)]
    return [document if unit == "documents" else domain for domain, document in groups]


def domain_and_document(text: str, *, file: str | Path, line: int) -> tuple[str, str]:
    """The domain and the document in a line of a `.docs` file; further fields are ignored, as mt-metrics-eval does.

    Raises:
        InputError: there are fewer than two fields.
    """
    fields = text.split()
    if len(fields) < 2:
        raise InputError(f"expected DOMAIN and DOCUMENT, got {len(fields)} fields", file=file, line=line)
    return fields[0], fields[1]


def _penalty(text: str, path: str | Path, line: int) -> float | None:
    if text.strip() == MISSING:
        return None
    try:
        rating = strict_json.parse(text)
    except ValueError as error:
        raise InputError(f"broken JSON of a rating: {error}", file=path, line=line) from None
    errors = rating.get("errors") if isinstance(rating, dict) else None
    if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
        raise InputError('expected a rating {"errors": [...]}', file=path, line=line)
    return 0.0 - sum(_weight(error, path, line) for error in errors)


def _weight(error: dict[str, Any], path: str | Path, line: int) -> float:
    score = error.get("score")
    if isinstance(score, int | float) and not isinstance(score, bool):
        return abs(float(score))
    severity, category = (str(error.get(key) or "").lower().replace("_", "-") for key in ("severity", "category"))
    if severity not in _WEIGHTS:
        known = ", ".join(_WEIGHTS)
        message = f'an error without "score" and with the severity {severity!r}; expected one of {known}'
        raise InputError(message, file=path, line=line)
    if severity == "major" and category.startswith(_NON_TRANSLATION):
        return 25.0
    return 0.1 if severity == "minor" and category.startswith(_PUNCTUATION) else _WEIGHTS[severity]
