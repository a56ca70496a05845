"""Writer of result files: JSON (--to_json) and a flat table (--to_tsv); a file is written completely or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

from pronmetric.output import tsv
from pronmetric.output.targets import AtomicFiles
from pronmetric.scoring.alternatives import PronounAlternatives
from pronmetric.scoring.score import Counts, PronounScore, Rate, SegmentScore, SystemScore, Unmatched
from pronmetric.text import strict_json

FORMAT = 2
"""The version of the JSON of `score` and `compare`; in version 1 `compare` wrote an entry for each segment and pair."""


class Writer:
    """Writes the result files that are asked for; segments are added one by one, so that memory use is constant."""

    def __init__(self, *, json_path: str | None, tsv_path: str | None, columns: Sequence[str]) -> None:
        self._paths = json_path, tsv_path
        self._columns = columns
        self._stack = AtomicFiles()
        self._json: IO[str] | None = None
        self._tsv: IO[str] | None = None
        self._first = True

    def __enter__(self) -> Writer:
        """Open temporary files next to the targets."""
        json_path, tsv_path = self._paths
        if json_path is not None:
            self._json = self._stack.open(json_path)
            self._json.write('{\n"segments": [')
        if tsv_path is not None:
            self._tsv = self._stack.open(tsv_path)
            self._tsv.write(tsv.line(self._columns))
        return self

    def __exit__(self, *error: Any) -> None:
        """Move the files to their targets; after an error remove them."""
        self._stack.__exit__(*error)

    def segment(self, content: Mapping[str, Any], rows: Iterable[Sequence[object]]) -> None:
        """Add a segment: its JSON object and its rows of the table."""
        if self._json is not None:
            self._json.write("\n" if self._first else ",\n")
            self._json.write(strict_json.dump(content))
            self._first = False
        if self._tsv is not None:
            for row in rows:
                self._tsv.write(tsv.line(row))

    def finish(self, *, source_language: str | None = None, **rest: Any) -> None:
        """Add the keys that follow the segments: systems or pairs, counts, signature, the language of known sources."""
        if self._json is not None:
            self._json.write("\n]")
            known = {} if source_language is None else {"source_language": source_language}
            for key, value in {**rest, **known}.items():
                self._json.write(f",\n{json.dumps(key)}: {strict_json.dump(value, indent=1)}")
            self._json.write("\n}\n")


def round_score(value: float | None) -> float | None:
    """A score with the five decimals that result files have."""
    return None if value is None else round(value, tsv.DIGITS)


def pronoun(p: PronounScore) -> dict[str, Any]:
    """A pronoun in JSON, with `probability`, or `score` if the head is unbounded, and the source's evidence."""
    number = {"score": round_score(p.score)} if p.probability is None else {"probability": round_score(p.probability)}
    return {"text": p.text, "start": p.start, "end": p.end, **number, **_evidence(p)}


def suggestions(text: str, places: Sequence[PronounAlternatives], *, top: int) -> dict[str, Any]:
    """A text and its listed pronouns, with at most `top` better forms of each, in JSON."""
    listed = [
        {
            **pronoun(place.pronoun),
            "better": [{**o._asdict(), "probability": round_score(o.probability)} for o in place.better(top)],
        }
        for place in places
    ]
    return {"text": text, "pronouns": listed}


def _evidence(p: PronounScore) -> dict[str, Any]:
    """What the source says about a pronoun, in JSON."""
    if p.evidence is None:
        return {}
    return {"source": {**p.evidence._asdict(), "log_odds": round_score(p.evidence.log_odds)}}


def segment_entry(segment: SegmentScore) -> dict[str, Any]:
    """A segment's score and pronouns in JSON."""
    preference = {} if segment.preference is None else {"preference": round_score(segment.preference)}
    pronouns = [pronoun(p) for p in segment.pronouns]
    return {
        "score": round_score(segment.score),
        "errors": round_score(segment.errors),
        **preference,
        "pronouns": pronouns,
        **_unmatched(segment.unmatched),
    }


def _unmatched(found: Unmatched | None) -> dict[str, Any]:
    """Missing and surplus pronouns, in JSON."""
    return (
        {} if found is None else {name: [word._asdict() for word in words] for name, words in found._asdict().items()}
    )


def interval(ends: tuple[float, float] | None) -> list[float | None] | None:
    """An interval in JSON."""
    return None if ends is None else [round_score(end) for end in ends]


def system(name: str, score: SystemScore) -> dict[str, Any]:
    """A system in JSON."""
    return {
        "system": name,
        "score": round_score(score.score),
        "interval": interval(score.interval),
        "resampled": score.resampled,
        "units": score.units,
        "pronouns": score.pronouns,
        "segments": score.segments,
        "segments_with_pronoun": score.with_pronoun,
        "errors_per_100_pronouns": rate(score.errors),
        "errors_per_1000_words": rate(score.errors_in_words),
        **({} if score.preference is None else {"preference": rate(score.preference)}),
        **({} if score.missing is None else {"missing_pronouns": score.missing, "surplus_pronouns": score.surplus}),
    }


def rate(found: Rate | None) -> dict[str, Any] | None:
    """A rate in JSON."""
    return None if found is None else {"value": round_score(found.value), "interval": interval(found.interval)}


def counts_entry(counts: Counts) -> dict[str, int]:
    """The counts in JSON."""
    return {
        "encoded": counts.encoded,
        "context_cut": counts.cut,
        "windowed": counts.windowed,
        "surplus": counts.surplus,
        "unread": counts.unread,
        "entities": counts.entities,
        "apostrophes": counts.apostrophes,
        "letters": counts.letters,
        "markup": counts.markup,
    }
