"""Writer of result files: JSON (--to_json) and a flat table (--to_tsv); a file is written completely or not at all.

For `score`, an entry for each segment and system, and a row for each pronoun. For `compare`, an entry for each segment:
"outputs", the texts with their scores in the order of the systems, and "pairs", one object for each two systems in the
order of the file's own "pairs"; "a_decided" and "b_decided" are positions in the outputs' "pronouns". In the table, a
row for each segment and pair.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

from pronmetric.checkpoint.people import PEOPLE, People
from pronmetric.eval.decision import SEGMENT_UNITS, SYSTEM_UNITS
from pronmetric.output import tsv
from pronmetric.output.targets import AtomicFiles
from pronmetric.scoring.alternatives import PronounAlternatives
from pronmetric.scoring.bulk import SystemResult
from pronmetric.scoring.comparison import Decision, PairDecision, PairResult
from pronmetric.scoring.score import Counts, Gap, PronounScore, Rate, SegmentScore, SystemScore, Unmatched
from pronmetric.text import strict_json
from pronmetric.text.context import Text
from pronmetric.text.corpus import Place, Row
from pronmetric.text.no_translation import kind_of

FORMAT = 2
"""The version of the JSON of `score` and `compare`; in version 1 `compare` wrote an entry for each segment and pair."""
_SEGMENT_COLUMNS = ("segment_score", "segment_errors", "segment_preference")
_APART_COLUMNS = ("segment_wrong", "segment_surplus", "segment_missing", "segment_gaps")  # if missing ones are known
_PLACE_COLUMNS = ("line", "place")
_PRONOUN_COLUMNS = ("pronoun", "start", "end", "score")
COMPARISON_COLUMNS = (
    "a",
    "b",
    "segment",
    "doc",
    "better",
    "difference",
    "by",
    "a_score",
    "b_score",
    "a_decided",
    "b_decided",
)


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
    """A pronoun in JSON, with `probability`, or `score` if it is unbounded, `surplus` and the source's evidence."""
    number = {"score": round_score(p.score)} if p.probability is None else {"probability": round_score(p.probability)}
    surplus = {} if p.surplus is None else {"surplus": round_score(p.surplus)}
    return {"text": p.text, "start": p.start, "end": p.end, **number, **surplus, **_evidence(p)}


def suggestions(text: Text, places: Sequence[PronounAlternatives], *, top: int) -> dict[str, Any]:
    """A text and its listed pronouns, with at most `top` better forms of each, in JSON."""
    listed = [
        {
            **pronoun(place.pronoun),
            "better": [{**o._asdict(), "probability": round_score(o.probability)} for o in place.better(top)],
        }
        for place in places
    ]
    why = kind_of(text.text, () if text.source is None else (text.source.text,))
    return {"text": text.text, "pronouns": listed, **({} if why is None else {"no_translation": why})}


def _evidence(p: PronounScore) -> dict[str, Any]:
    """What the source says about a pronoun, in JSON."""
    if p.evidence is None:
        return {}
    return {"source": {**p.evidence._asdict(), "log_odds": round_score(p.evidence.log_odds)}}


def segment_entry(segment: SegmentScore) -> dict[str, Any]:
    """A segment's score, errors, pronouns and gaps in JSON."""
    preference = {} if segment.preference is None else {"preference": round_score(segment.preference)}
    pronouns = [pronoun(p) for p in segment.pronouns]
    return {
        "score": round_score(segment.score),
        "errors": round_score(segment.errors),
        **preference,
        "pronouns": pronouns,
        **_missing(segment),
        **_unmatched(segment.unmatched),
        **({} if segment.no_translation is None else {"no_translation": segment.no_translation}),
    }


def _missing(segment: SegmentScore) -> dict[str, Any]:
    """The expected numbers of wrong, surplus and missing pronouns, and the likely places, in JSON."""
    if segment.missing is None:
        return {}
    wrong = {} if segment.wrong is None else {"expected_wrong": round_score(segment.wrong)}
    gaps = [{**gap._asdict(), "probability": round_score(gap.probability)} for gap in segment.gaps]
    surplus = {} if segment.surplus is None else {"expected_surplus": round_score(segment.surplus)}
    return {**wrong, **surplus, "expected_missing": round_score(segment.missing), "gaps": gaps}


def _unmatched(unmatched: Unmatched | None) -> dict[str, Any]:
    """Missing and surplus pronouns, in JSON."""
    if unmatched is None:
        return {}
    return {name: [word._asdict() for word in words] for name, words in unmatched._asdict().items()}


def interval(ends: tuple[float, float] | None) -> list[float | None] | None:
    """An interval in JSON."""
    return None if ends is None else [round_score(end) for end in ends]


def system(name: str, score: SystemScore) -> dict[str, Any]:
    """A system in JSON."""
    apart = {
        "wrong": score.wrong_in_pronouns,
        "surplus": score.surplus_in_pronouns,
        "missing": score.missing_in_pronouns,
    }
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
        **{f"expected_{kind}_per_100_pronouns": rate(each) for kind, each in apart.items() if each is not None},
        **({} if score.preference is None else {"preference": rate(score.preference)}),
        **({} if score.missing is None else {"missing_pronouns": score.missing, "surplus_pronouns": score.surplus}),
        **({"no_translations": score.no_translations} if score.no_translations else {}),
    }


def rate(measured: Rate | None) -> dict[str, Any] | None:
    """A rate in JSON."""
    return None if measured is None else {"value": round_score(measured.value), "interval": interval(measured.interval)}


def counts_entry(counts: Counts) -> dict[str, int]:
    """The counts in JSON."""
    return {
        "encoded": counts.encoded,
        "context_cut": counts.cut,
        "context_shortened": counts.shortened,
        "windowed": counts.windowed,
        "surplus": counts.surplus,
        "unread": counts.unread,
        "entities": counts.entities,
        "apostrophes": counts.apostrophes,
        "letters": counts.letters,
        "markup": counts.markup,
    }


def score_columns(
    references: Iterable[str], also: Iterable[str], *, apart: bool = False, placed: bool = False
) -> tuple[str, ...]:
    """The columns of the table, with those of several references and of baselines; `apart` as for `add_scored`.

    placed: the texts have places, which are no lines of a list.
    """
    with_each = (f"score with {name}" for name in references)
    where = _PLACE_COLUMNS if placed else ()
    return ("system", "segment", "doc", *where, *_segment_columns(apart), *_PRONOUN_COLUMNS, *with_each, *also)


def record_columns(*, apart: bool = False) -> tuple[str, ...]:
    """The columns of the table of records; `apart` as for `add_scored`."""
    return ("id", *_segment_columns(apart), *_PRONOUN_COLUMNS)


def _segment_columns(apart: bool) -> tuple[str, ...]:
    return (*_SEGMENT_COLUMNS, *(_APART_COLUMNS if apart else ()))


def texts_of(
    row: Row, text: str, contexts: Sequence[str], references: Sequence[str], each: Sequence[SegmentScore]
) -> dict[str, Any]:
    """The texts of an entry: source, reference, context and output; of several references, each with its score.

    With the speaker, if speakers are given; the context has their names.
    """
    texts: dict[str, Any] = {
        **_speaker(row),
        "source": row.source,
        "reference": row.reference,
        "context": contexts[0],
        "text": text,
    }
    if references:
        texts["by_reference"] = [
            {"reference": name, "text": line, "context": context, "score": round_score(one.score)}
            for name, line, context, one in zip(references, row.references, contexts, each, strict=True)
        ]
    return texts


def add_scored(
    writer: Writer,
    head: Mapping[str, Any],
    texts: Mapping[str, Any],
    segment: SegmentScore,
    *,
    apart: bool = False,
    also: Mapping[str, float | None] | None = None,
    each: Sequence[SegmentScore] = (),
) -> None:
    """Add a segment to the files.

    head: what identifies it, the first cells of its rows. texts: of `texts_of`. apart: the table has wrong, surplus and
    missing pronouns apart, in columns of their own. also: its baseline scores. each: its score in the context of each
    of several references.
    """
    cells = tuple(strict_json.dump(v) if k == "id" and not isinstance(v, str) else v for k, v in head.items())
    in_each = list(zip(*(one.pronouns for one in each), strict=True)) or [()] * len(segment.pronouns)
    no_pronoun: list[tuple[object, ...]] = [(None,) * (4 + len(each))]
    rows = [
        (p.text, p.start, p.end, p.score, *(one.score for one in its))
        for p, its in zip(segment.pronouns, in_each, strict=True)
    ] or no_pronoun
    baselines = {} if also is None else {"also": {name: round_score(score) for name, score in also.items()}}
    last = tuple((also or {}).values())
    whole: tuple[object, ...] = (segment.score, segment.errors, segment.preference)
    if apart:
        known = segment.missing is not None
        own = segment.wrong, segment.surplus, segment.missing, list_gaps(segment.gaps)
        whole += own if known else (None,) * len(own)
    writer.segment(
        {**head, **texts, **segment_entry(segment), **baselines}, ((*cells, *whole, *row, *last) for row in rows)
    )


def system_entry(result: SystemResult, *, also: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A system in JSON, with its scores in the context of each of several references and its baseline scores."""
    entry = system(result.name, result.score)
    if result.by_reference:
        entry["by_reference"] = [
            {"reference": name, **{key: system(name, part)[key] for key in ("score", "interval")}}
            for name, part in result.by_reference.items()
        ]
    return entry if also is None else {**entry, "also": also}


def place_entry(place: Place | None) -> dict[str, Any]:
    """Where a text stands in its file, in JSON; nulls for a line of a list."""
    return dict.fromkeys(_PLACE_COLUMNS) if place is None else place._asdict()


def comparison_columns(references: Iterable[str], *, apart: bool = False, placed: bool = False) -> tuple[str, ...]:
    """The columns of the table, with those of several references; the rest as for `score_columns`.

    The places are those of the texts of both systems.
    """
    where = tuple(f"{side}_{column}" for side in "ab" for column in _PLACE_COLUMNS) if placed else ()
    numbers = (f"{side}_{kind}" for side in "ab" for kind in ("wrong", "surplus", "missing")) if apart else ()
    return (*COMPARISON_COLUMNS, *where, *numbers, *(f"difference with {name}" for name in references))


def add_compared(
    writer: Writer, number: int, row: Row, pairs: Sequence[PairDecision], *, by: str, apart: bool = False
) -> None:
    """Add a segment to the files; apart: the table has wrong, surplus and missing pronouns apart, in own columns."""
    writer.segment(segment_content(number, row, pairs), (_cells(number, row, pair, by, apart) for pair in pairs))


def segment_content(number: int, row: Row, pairs: Sequence[PairDecision]) -> dict[str, Any]:
    """A segment in JSON: its outputs, and the decisions on all pairs of systems, in order."""
    scored = [pairs[0].decision.a, *(pair.decision.b for pair in pairs[: len(row.texts) - 1])]  # 0 and 1, 0 and 2, ...
    content: dict[str, Any] = {
        "segment": number,
        "doc": row.doc,
        **_speaker(row),
        "source": row.source,
        "reference": row.reference,
        "outputs": [
            {**where, "text": text, **segment_entry(one)}
            for where, text, one in zip(_places_of(row), row.texts, scored, strict=True)
        ],
        "pairs": [_pair(pair, scored[pair.a], scored[pair.b]) for pair in pairs],
    }
    if names := list(pairs[0].by_reference):
        content["references"] = [
            {"reference": name, "text": text} for name, text in zip(names, row.references, strict=True)
        ]
    return content


def _places_of(row: Row) -> list[dict[str, Any]]:
    """Where each text of a row stands, in JSON; nothing where all are lines of lists."""
    return [place_entry(place) for place in row.places] or [{}] * len(row.texts)


def _speaker(row: Row) -> dict[str, str]:
    """Who says a segment, in JSON; "" if that is unknown, left out where speakers are not given."""
    return {} if row.speaker is None else {"speaker": row.speaker}


def _pair(pair: PairDecision, a: SegmentScore, b: SegmentScore) -> dict[str, Any]:
    """The decision on a pair, with its own scores where those of the outputs are of other contexts ("crossed")."""
    decision = pair.decision
    own = {"a_scored": (decision.a, a), "b_scored": (decision.b, b)}
    references = [{"reference": name, **_verdict(one)} for name, one in pair.by_reference.items()]
    return {
        **_verdict(decision),
        "a_decided": _places(decision.a_decided, decision.a),
        "b_decided": _places(decision.b_decided, decision.b),
        **{side: segment_entry(its) for side, (its, shown) in own.items() if its is not shown and its != shown},
        **({"by_reference": references} if references else {}),
    }


def _verdict(decision: Decision) -> dict[str, Any]:
    return {"better": decision.better, "difference": round_score(decision.difference)}


def _places(decided: Sequence[PronounScore], segment: SegmentScore) -> list[int]:
    """Where the pronouns stand among those of the segment."""
    starts = [p.start for p in segment.pronouns]
    return [starts.index(p.start) for p in decided]


def _cells(number: int, row: Row, pair: PairDecision, by: str, apart: bool) -> tuple[object, ...]:
    decision = pair.decision
    cells = (*pair.names, number, row.doc, decision.better, decision.difference, by)
    scores = decision.a.score, decision.b.score
    decided = list_pronouns(decision.a_decided), list_pronouns(decision.b_decided)
    where = tuple(value for side in (pair.a, pair.b) for value in _places_of(row)[side].values())
    numbers: tuple[float | None, ...] = ()
    if apart:
        both = decision.a, decision.b
        numbers = tuple(
            n for one in both for n in (None if one.missing is None else one.wrong, one.surplus, one.missing)
        )
    return (*cells, *scores, *decided, *where, *numbers, *(one.difference for one in pair.by_reference.values()))


def list_pronouns(pronouns: Sequence[PronounScore]) -> str:
    """Pronouns with their scores in one cell: "she 0.91, it 0.40"."""
    return ", ".join(f"{p.text} {p.score:.2f}" for p in pronouns)


def list_gaps(gaps: Sequence[Gap]) -> str:
    """Likely missing pronouns in one cell, each with the place of the word after it: "he at 12 0.91"."""
    return ", ".join(f"{gap.form} at {gap.start} {gap.probability:.2f}" for gap in gaps)


def people_entry(people: People | None) -> dict[str, Any]:
    """How the model's marks meet those of people, as an entry of the result; empty without a record."""
    if people is None:
        return {}
    return {PEOPLE: {key: value for key, value in people._asdict().items() if value is not None}}


def decision_entry(by: str, tie: float) -> dict[str, Any]:
    """What decides, in JSON: one of `DECISIONS`, the unit of the segments' differences, and the tie threshold."""
    return {"by": by, "unit": SEGMENT_UNITS[by], "tie": tie}


def pair_entry(pair: PairResult, *, by: str) -> dict[str, Any]:
    """A pair of systems in JSON; "difference" is in "unit", "score_difference" that of the two scores."""
    outcome = pair.outcome
    each = [
        {
            "reference": reference,
            "a": round_score(part.a.score),
            "b": round_score(part.b.score),
            "difference": round_score(part.difference),
            "interval": interval(part.interval),
            "p_randomisation": round_score(part.p_randomisation),
            "p_t": round_score(part.p_t),
        }
        for reference, part in pair.by_reference.items()
    ]
    return {
        "a": system(pair.names[0], outcome.a),
        "b": system(pair.names[1], outcome.b),
        "difference": round_score(outcome.difference),
        "unit": SYSTEM_UNITS[by],
        "score_difference": round_score(outcome.score_difference),
        "interval": interval(outcome.interval),
        "p_randomisation": round_score(outcome.p_randomisation),
        "p_randomisation_holm": round_score(pair.p_randomisation_holm),
        "p_t": round_score(outcome.p_t),
        "p_t_holm": round_score(pair.p_t_holm),
        "wins": outcome.wins,
        "ties": outcome.ties,
        "losses": outcome.losses,
        "one_sided": outcome.one_sided,
        "unscored": outcome.unscored,
        "resampled": outcome.resampled,
        "units": outcome.units,
        **({"by_reference": each} if each else {}),
    }
