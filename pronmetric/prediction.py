"""What `PronounMetric` returns: scores and comparisons, and their views as pandas tables, in notebooks and in LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pronmetric.errors import PronmetricError
from pronmetric.scoring.bulk import ScoredRow
from pronmetric.scoring.comparison import Decision, Outcome, average
from pronmetric.scoring.score import Counts, PronounScore, SegmentScore, SystemScore, tally_segments
from pronmetric.signature import Signature
from pronmetric.text.context import Text
from pronmetric.text.corpus import Place, Row

if TYPE_CHECKING:
    import pandas

Rows = Iterator[Mapping[str, Any]]
_RATES = ("errors", "errors_in_words", "preference", "wrong_in_pronouns", "missing_in_pronouns", "surplus_in_pronouns")


@dataclass(frozen=True, slots=True)
class Prediction:
    """What `PronounMetric.predict`, `score_files` and `corpus_score` return: the segments in order, and the whole.

    texts, docs: of the segments; a document is None if unknown. name: of the system. places: where the texts stand, if
    their file is no list of lines.
    """

    segments: tuple[SegmentScore, ...]
    system: SystemScore
    counts: Counts
    signature: Signature
    texts: tuple[Text, ...] = field(default=(), repr=False)
    docs: tuple[Hashable, ...] = field(default=(), repr=False)
    name: str = "system"
    places: tuple[Place | None, ...] = field(default=(), repr=False)

    @classmethod
    def of_rows(cls, rows: Sequence[ScoredRow], name: str, counts: Counts, signature: Signature) -> Prediction:
        """That of the rows of one system."""
        segments = tuple(average(*one.segments[0]) for one in rows)
        docs = tuple(one.row.doc for one in rows)
        texts = tuple(Text(one.contexts[0][0], one.row.texts[0], one.row.evidence, one.row.speaker) for one in rows)
        places = tuple(one.row.places[0] for one in rows if one.row.places)
        system = tally_segments(segments, docs).score()
        return cls(segments, system, counts, signature, texts, docs, name, places)

    @property
    def scores(self) -> list[float | None]:
        """The segments' scores; None where a text has no pronoun."""
        return [segment.score for segment in self.segments]

    @property
    def score(self) -> float | None:
        """The system's score, in [0, 100] with a logit head, higher is better; None without a pronoun."""
        return self.system.score

    @property
    def system_score(self) -> float | None:
        """The system's score by the name that COMET gives it."""
        return self.system.score

    @property
    def pronouns(self) -> list[tuple[PronounScore, ...]]:
        """The pronouns of each segment."""
        return [segment.pronouns for segment in self.segments]

    def to_pandas(self, table: str = "segments") -> pandas.DataFrame:
        """A table: "segments", "pronouns" (a row for each, numbered by segment) or "systems" (one row).

        Raises:
            PronmetricError: another name.
        """
        return _frame(table, {"segments": self._segments, "pronouns": self._pronouns, "systems": self._systems})

    def to_latex(self) -> str:
        """The system's table in LaTeX, for the package booktabs."""
        from pronmetric.report import notebook

        return notebook.latex([(self.name, self.system)], signature=str(self.signature))

    def _repr_html_(self) -> str:
        """What the score says, and the worst segments with their pronouns coloured, as a notebook shows them."""
        from pronmetric.report import notebook

        return notebook.scores(self.name, self.system, self.texts, self.segments, signature=str(self.signature))

    def _segments(self) -> Rows:
        for number, (segment, text, doc) in enumerate(zip(self.segments, self.texts, self.docs, strict=True)):
            spoken = {} if text.speaker is None else {"speaker": text.speaker}
            where = _where(self.places[number]) if self.places else {}
            row = {"segment": number, "doc": doc, **where, **spoken, "context": text.context, "text": text.text}
            row |= _numbers(segment)
            if segment.unmatched is not None:
                row |= {key: len(words) for key, words in segment.unmatched._asdict().items()}
            yield row

    def _pronouns(self) -> Rows:
        for number, (segment, doc) in enumerate(zip(self.segments, self.docs, strict=True)):
            for p in segment.pronouns:
                yield {"segment": number, "doc": doc, **_pronoun(p)}

    def _systems(self) -> Rows:
        yield _system(self.name, self.system)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `PronounMetric.compare` and `compare_files` return: one decision a segment, in order, and the outcome.

    texts: A's and B's text of each segment. docs: None if unknown. names: of the systems. by: what decides. places:
    where A's and B's texts stand, if their files are no lists of lines.
    """

    decisions: tuple[Decision, ...]
    outcome: Outcome
    counts: Counts
    signature: Signature
    texts: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    docs: tuple[Hashable, ...] = field(default=(), repr=False)
    names: tuple[str, str] = ("A", "B")
    places: tuple[tuple[Place | None, Place | None], ...] = field(default=(), repr=False)

    @classmethod
    def of_rows(
        cls,
        rows: Sequence[Row],
        decisions: Sequence[Decision],
        outcome: Outcome,
        counts: Counts,
        signature: Signature,
        *,
        names: tuple[str, str],
    ) -> Comparison:
        """That of the rows of two systems."""
        texts = tuple((row.texts[0], row.texts[1]) for row in rows)
        places = tuple((row.places[0], row.places[1]) for row in rows if row.places)
        docs = tuple(row.doc for row in rows)
        return cls(tuple(decisions), outcome, counts, signature, texts, docs, names, places)

    @property
    def by(self) -> str:
        """What decides: "score", "errors" or "preference"."""
        return self.signature["by"]

    @property
    def tie(self) -> float:
        """The tie threshold."""
        return float(self.signature["tie"])

    def to_pandas(self, table: str = "segments") -> pandas.DataFrame:
        """A table: "segments", "pronouns" (a row for each pronoun of both systems) or "systems" (two rows).

        Raises:
            PronmetricError: another name.
        """
        return _frame(table, {"segments": self._segments, "pronouns": self._pronouns, "systems": self._systems})

    def to_latex(self) -> str:
        """The tables of the two systems and of their difference in LaTeX, for the package booktabs."""
        from pronmetric.report import notebook

        systems = list(zip(self.names, (self.outcome.a, self.outcome.b), strict=True))
        return notebook.latex(systems, self.outcome, by=self.by, signature=str(self.signature))

    def _repr_html_(self) -> str:
        """The outcome and the segments that differ most with their pronouns coloured, as a notebook shows them."""
        from pronmetric.report import notebook

        return notebook.comparison(
            self.names,
            self.outcome,
            self.texts,
            self.decisions,
            by=self.by,
            tie=self.tie,
            signature=str(self.signature),
        )

    def _segments(self) -> Rows:
        for number, (decision, (a, b), doc) in enumerate(zip(self.decisions, self.texts, self.docs, strict=True)):
            row: dict[str, Any] = {"segment": number, "doc": doc, "better": decision.better}
            row["difference"] = decision.difference
            sides = (("a", a, decision.a, decision.a_decided), ("b", b, decision.b, decision.b_decided))
            for at, (side, text, segment, decided) in enumerate(sides):
                where = _where(self.places[number][at]) if self.places else {}
                row |= {f"{side}_{key}": value for key, value in where.items()}
                row |= {f"{side}_{key}": value for key, value in {"text": text, **_numbers(segment)}.items()}
                row[f"{side}_decided"] = [p.text for p in decided]
            yield row

    def _pronouns(self) -> Rows:
        for number, (decision, doc) in enumerate(zip(self.decisions, self.docs, strict=True)):
            sides = ((decision.a, decision.a_decided), (decision.b, decision.b_decided))
            for name, (segment, decided) in zip(self.names, sides, strict=True):
                for p in segment.pronouns:
                    yield {"segment": number, "doc": doc, "system": name, **_pronoun(p), "decided": p in decided}

    def _systems(self) -> Rows:
        yield from map(_system, self.names, (self.outcome.a, self.outcome.b))


def _frame(table: str, tables: Mapping[str, Callable[[], Rows]]) -> pandas.DataFrame:
    if table not in tables:
        raise PronmetricError(f"expected one of the tables {', '.join(tables)}, got {table!r}")
    from pandas import DataFrame

    return DataFrame(list(tables[table]()))


def _where(place: Place | None) -> dict[str, Any]:
    return {"line": None, "place": None} if place is None else place._asdict()


def _numbers(segment: SegmentScore) -> dict[str, Any]:
    return {
        "score": segment.score,
        "errors": segment.errors,
        **({} if segment.missing is None else {"expected_wrong": segment.wrong, "expected_missing": segment.missing}),
        **({} if segment.surplus is None else {"expected_surplus": segment.surplus}),
        "preference": segment.preference,
        "pronouns": len(segment.pronouns),
    }


def _pronoun(p: PronounScore) -> dict[str, Any]:
    row = {"pronoun": p.text, "start": p.start, "end": p.end, "score": p.score, "probability": p.probability}
    row |= {} if p.surplus is None else {"surplus": p.surplus}
    return row if p.evidence is None else row | {f"source_{key}": value for key, value in p.evidence._asdict().items()}


def _system(name: str, system: SystemScore) -> dict[str, Any]:
    """A system as a row: of an interval its two ends, of a rate its value."""
    low, high = system.interval or (None, None)
    row = {"system": name, "score": system.score, "low": low, "high": high}
    rest = {key: value for key, value in system._asdict().items() if key not in ("score", "interval")}
    return row | {key: value.value if key in _RATES and value is not None else value for key, value in rest.items()}
