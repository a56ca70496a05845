"""Human scores of segments, documents or domains, whichever file holds them; higher is better.

`.seg.score`, `.doc.score`, `.domain.score` and `.seg.rating` of mt-metrics-eval, direct assessment's
`ad-seg-scores-SL-TL.csv`, and error span annotation (ESA) of WMT24 and WMT25. For scores of systems see
`wmt_scores.read_human`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pronmetric.errors import InputError
from pronmetric.lab.human import esa, evalset_scores
from pronmetric.lab.human.wmt_scores import INDEX, SEGMENT_HEAD, lines_of, read_assessments, read_segment_scores

Unit = Literal["systems", "segments", "documents", "domains"]
SYSTEMS: Unit = "systems"
SEGMENTS: Unit = "segments"
DOCUMENTS: Unit = "documents"
DOMAINS: Unit = "domains"
_SUFFIXES: Mapping[str, Unit] = {
    ".seg.score": SEGMENTS,
    evalset_scores.RATING: SEGMENTS,
    evalset_scores.DOCUMENT: DOCUMENTS,
    evalset_scores.DOMAIN: DOMAINS,
}


@dataclass(frozen=True, kw_only=True)
class HumanScores:
    """The human scores in a file.

    unit: what has a score. scores: of each system by the number of the unit, from 0; a missing one is None or absent.
    size: how many units each system has, None if the file does not tell. docs: the documents of segments, as far as the
    file tells. domains: their names in order. numbered: whether a system's name may end in a number (`Alder.3`), which
    its name among the outputs lacks. left_out: rows of the file that are no score, by kind.
    """

    path: str | Path
    unit: Unit
    scores: Mapping[str, Mapping[int, float | None]]
    size: int | None = None
    docs: Mapping[int, str] = field(default_factory=dict)
    domains: tuple[str, ...] = ()
    numbered: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """The names of systems, also without their numbers."""
        return set(self.scores) | ({INDEX.sub("", name) for name in self.scores} if self.numbered else set())

    def by_name(self, systems: Collection[str]) -> dict[str, Mapping[int, float | None]]:
        """The scores by the names that `systems` have.

        Raises:
            InputError: two names of one system.
        """
        found: dict[str, Mapping[int, float | None]] = {}
        for id, own in self.scores.items():
            bare = INDEX.sub("", id)
            name = bare if self.numbered and id not in systems and bare in systems else id
            if name in found:
                raise InputError(f"{id} is a second one of {name}: expected one of each", file=self.path)
            found[name] = own
        return found

    def align(
        self, *, systems: Collection[str], size: int, docs: Sequence[str | None] | None = None
    ) -> dict[str, list[float | None]]:
        """The scores of all `size` units of each system, None if missing, by the names in `systems`.

        docs: the document of each segment of the metric, to check that the texts are the same.

        Raises:
            InputError: another number of units, or another document of a segment.
        """
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
        by_domain = evalset_scores.read_domain_scores(path)
        domains = tuple(sorted({domain for own in by_domain.values() for domain in own}))
        scores = {s: {k: own.get(domain) for k, domain in enumerate(domains)} for s, own in by_domain.items()}
        return HumanScores(path=path, unit=unit, scores=scores, size=len(domains), domains=domains)
    if name.endswith(evalset_scores.RATING):
        return _listed(path, unit, evalset_scores.read_ratings(path))
    if next(lines_of(path))[1].split() == SEGMENT_HEAD:
        assessed = read_assessments(path)
        if not assessed:
            raise InputError("no segment: expected lines after the head", file=path)
        values = {
            s: {k - 1: one.z if score == "z" else one.raw for k, one in own.items()} for s, own in assessed.items()
        }
        return HumanScores(path=path, unit=unit, scores=values, numbered=True)
    if unit == SEGMENTS and not name.endswith(".seg.score") and esa.holds(path):
        found = esa.read(path, pair=pair)
        return HumanScores(
            path=path, unit=unit, scores=found.scores, size=found.segments, docs=found.docs, left_out=found.left_out
        )
    return _listed(path, unit, read_segment_scores(path))


def _listed(path: str | Path, unit: Unit, scores: Mapping[str, Sequence[float | None]]) -> HumanScores:
    size = len(next(iter(scores.values())))
    return HumanScores(path=path, unit=unit, scores={s: dict(enumerate(own)) for s, own in scores.items()}, size=size)
