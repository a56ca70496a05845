"""Where the pronouns of a system go wrong: by form, document, length of the sentence and distance, as in the report.

The distance is that of third-person pronouns to the word that they attend to most, in sentences (segments of the test
set). That word is a guess at the antecedent; pronouns of the first and second person have none in the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum

from pronmetric.lab.board.examples import Segment
from pronmetric.lab.board.scored import UNKNOWN, BoardScores
from pronmetric.pronouns.languages import Language, referents
from pronmetric.report import buckets
from pronmetric.report.buckets import Bucket
from pronmetric.report.tables import Table
from pronmetric.scoring.alternatives import THRESHOLD

ALL_SYSTEMS = "all systems"
_KINDS = {"forms": "form", "documents": "document", "lengths": "words", "sentences": "distance"}
Found = Mapping[str, Mapping[Bucket, Sequence[Sequence[float]]]]
"""The scores of each system's pronouns by kind of table and bucket."""


def collect(scored: BoardScores, listed: Sequence[Segment], language: Language) -> Found:
    """The pronouns of all systems in their buckets; without documents there is no table of them."""
    kinds = [kind for kind in _KINDS if kind != "documents" or scored.docs is not None]
    referring = referents(language)
    found: dict[str, dict[Bucket, list[list[float]]]] = {kind: {} for kind in kinds}
    for place, pronouns in enumerate(scored.systems.values()):
        lengths: dict[int, Bucket] = {}
        for segment, start, end, _, p, distance in zip(*(column.tolist() for column in pronouns), strict=True):
            text = listed[segment].texts[place]
            if segment not in lengths:
                lengths[segment] = buckets.of_length(len(language.words(text)))
            keys = {"forms": buckets.of_form(text[start:end]), "lengths": lengths[segment]}
            if distance != UNKNOWN and text[start:end].lower() in referring:
                keys["sentences"] = buckets.of_distance(distance)
            if scored.docs is not None:
                keys["documents"] = 0, scored.docs[segment]
            for kind, key in keys.items():
                found[kind].setdefault(key, [[] for _ in scored.systems])[place].append(p)
    return found


def tables(found: Found, system: str, place: int) -> dict[str, Table]:
    """The tables of one system beside all systems of its test set, itself included."""
    made = {}
    for kind, by_bucket in found.items():
        beside = {
            bucket: [[p for own in each for p in own], each[place]] for bucket, each in by_bucket.items() if each[place]
        }
        made[kind] = buckets.tabulate(kind, beside, (ALL_SYSTEMS, system), bounded=True, first=f"that of {ALL_SYSTEMS}")
    return made


def rows(found: Found, systems: Sequence[str]) -> Iterator[tuple[str, str, str, int, float, float]]:
    """For each bucket and system the kind of bucket, its name, the system, and figures.

    These are the number of pronouns, their mean probability, and the share of doubtful ones, in [0, 1].
    """
    for kind, by_bucket in found.items():
        for bucket in sorted(by_bucket):
            for system, own in zip(systems, by_bucket[bucket], strict=True):
                if own:
                    doubtful = sum(p < THRESHOLD for p in own) / len(own)
                    yield _KINDS[kind], bucket[1], system, len(own), fsum(own) / len(own), doubtful
