"""Pronouns labelled right or wrong, as JSONL; a metric's scores of them, and how well these detect the wrong ones.

One object per line: {"id", "text", "context": [sentences], "start", "end", "label": "right"|"wrong", "doc", "system",
"pronoun", "source", "source_context": [sentences]}; start and end are offsets in code points, half open. context, doc,
system, pronoun, source and source_context are optional.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.eval.detection import Detection, detect, detect_by
from pronmetric.eval.resampling import shuffle_contexts
from pronmetric.lab.baselines.marking import Question
from pronmetric.lab.human.judged_pairs import check_ids
from pronmetric.lab.human.pair_sets import SHUFFLED
from pronmetric.report.text import percent, table
from pronmetric.scoring.score import SegmentScore
from pronmetric.text import strict_json
from pronmetric.text.context import NONE, Text, text_of
from pronmetric.text.entry import Entry, read_by_id

RIGHT, WRONG = "right", "wrong"
KEYS = frozenset({"text", "start", "end", "label"})
"""The keys that distinguish such a file from one of pairs."""


@dataclass(frozen=True, slots=True)
class LabelledPronoun:
    """A pronoun in its text and context, and whether it is wrong. doc: the unit of resampling."""

    id: str
    text: Text
    start: int
    end: int
    wrong: bool
    doc: str | None = None
    system: str | None = None

    @property
    def form(self) -> str:
        """The pronoun, lower-cased."""
        return self.text.text[self.start : self.end].lower()


def is_record(line: str) -> bool:
    """Whether a line is a labelled pronoun, judged by its keys."""
    try:
        record = strict_json.parse(line)
    except ValueError:
        return False
    return isinstance(record, dict) and record.keys() >= KEYS


def score_of(pronoun: LabelledPronoun, segment: SegmentScore) -> float | None:
    """The score of the found pronoun that overlaps the labelled one; None where the finder finds none."""
    return next((p.score for p in segment.pronouns if p.start < pronoun.end and p.end > pronoun.start), None)


def read(path: str | Path) -> list[LabelledPronoun]:
    """The labelled pronouns of a file, in order.

    Raises:
        InputError: with file and line, for a missing key, an invalid value, or a repeated id.
    """
    return list(read_by_id(path, _parse, what="pronouns").values())


def clusters_of(pronouns: Sequence[LabelledPronoun]) -> tuple[str, list[str]]:
    """The units of resampling: documents or, if some pronoun has none, texts in their contexts."""
    docs = [one.doc for one in pronouns]
    if None not in docs:
        return "document", [str(doc) for doc in docs]
    return "text", ["\0".join(one.text[:2]) for one in pronouns]


def texts(pronouns: Sequence[LabelledPronoun], context: str, *, seed: int) -> list[Text]:
    """The text of each pronoun in a context: common (its own), none or shuffled (another document's)."""
    contexts = [one.text.context for one in pronouns]
    if context == SHUFFLED:
        _, groups = clusters_of(pronouns)
        contexts = shuffle_contexts(contexts, items=list(zip(groups, contexts, strict=True)), groups=groups, seed=seed)
    return [
        one.text.without_context() if context == NONE else one.text._replace(context=before)
        for one, before in zip(pronouns, contexts, strict=True)
    ]


def questions(texts: Sequence[Text], pronouns: Sequence[LabelledPronoun]) -> list[Question]:
    """The distinct texts of these pronouns, each with the places of its labelled pronouns in their order."""
    places: dict[Text, set[tuple[int, int]]] = {}
    for text, one in zip(texts, pronouns, strict=True):
        places.setdefault(text, set()).add((one.start, one.end))
    return [Question(text, tuple(sorted(found))) for text, found in places.items()]


def unmarked(
    texts: Sequence[Text], pronouns: Sequence[LabelledPronoun], asked: Sequence[Question], shares: Sequence[float]
) -> list[float | None]:
    """Scores of the pronouns by a chat model: the share of its passes that did not mark each; None without a clear one.

    asked, shares: its questions, and the share that marked each of their places.
    """
    answers = iter(shares)
    marked = {(question.text, place): next(answers) for question in asked for place in question.places}
    found = [marked[text, (one.start, one.end)] for text, one in zip(texts, pronouns, strict=True)]
    return [None if isnan(share) else 1 - share for share in found]


def _parse(entry: Entry) -> tuple[str, LabelledPronoun]:
    identity, text = entry.identity(), text_of(entry.record, file=entry.file, line=entry.line, with_source=None)
    start, end, label = entry.whole("start"), entry.whole("end"), entry.one_of("label", (RIGHT, WRONG))
    if not 0 <= start < end <= len(text.text):
        entry.fail(f"start {start}, end {end} is not a span of a text of {len(text.text)} characters")
    pronoun = entry.label("pronoun")
    if pronoun is not None and pronoun.lower() != text.text[start:end].lower():
        entry.fail(f"expected the pronoun {pronoun!r} at start, got {text.text[start:end]!r}")
    return identity, LabelledPronoun(
        id=identity,
        text=text,
        start=start,
        end=end,
        wrong=label == WRONG,
        doc=entry.label("doc"),
        system=entry.label("system"),
    )


def read_scores(path: str | Path, pronouns: Sequence[LabelledPronoun]) -> list[float | None]:
    """Scores {"id", "score"} of exactly these pronouns, in their order; null for a missing score.

    Raises:
        InputError: with file and line, for a score that is not a finite number, and for ids that are missing, surplus
            or repeated.
    """

    def make(entry: Entry) -> tuple[str, float | None]:
        return entry.identity(), entry.number_or_null("score")

    scores = read_by_id(path, make, what="scores")
    check_ids([one.id for one in pronouns], scores, what="labelled pronouns", file=path)
    return [scores[one.id] for one in pronouns]


@dataclass(frozen=True, slots=True)
class DetectionFigures:
    """Detection over all pronouns, by system and by pronoun; resampled: the unit of resampling and its number.

    by_system is empty where some pronoun has no system.
    """

    resampled: tuple[str, int]
    detection: Detection
    by_system: dict[str, Detection]
    by_pronoun: dict[str, Detection]


def require_both_labels(pronouns: Sequence[LabelledPronoun], *, file: str) -> None:
    """Raise InputError unless some pronouns are right and some are wrong."""
    if len({one.wrong for one in pronouns}) < 2:
        label = WRONG if pronouns[0].wrong else RIGHT
        raise InputError(f"all pronouns are labelled {label}: expected some right and some wrong ones", file=file)


def evaluate(
    pronouns: Sequence[LabelledPronoun], scores: Sequence[float | None], *, threshold: float, seed: int
) -> DetectionFigures:
    """Detection of the wrong pronouns by scores below `threshold`; None is a pronoun without a score."""
    wrong = [one.wrong for one in pronouns]
    unit, clusters = clusters_of(pronouns)
    systems = [one.system for one in pronouns if one.system is not None]
    return DetectionFigures(
        resampled=(unit, len(set(clusters))),
        detection=detect(wrong, scores, clusters, threshold=threshold, seed=seed),
        by_system=detect_by(systems, wrong, scores, threshold=threshold) if len(systems) == len(pronouns) else {},
        by_pronoun=detect_by([one.form for one in pronouns], wrong, scores, threshold=threshold),
    )


def format_detection(figures: DetectionFigures) -> str:
    """Precision, recall, F1, average precision and ROC AUC in percent: of all pronouns, by system, by pronoun."""
    by_frequency = sorted(figures.by_pronoun.items(), key=lambda named: (-named[1].pronouns, named[0]))
    rows = [_row("all", figures.detection)]
    rows += [_row(*named) for named in (*figures.by_system.items(), *by_frequency)]
    return table(["", "pronouns", "wrong", "flagged", "unscored", "P", "R", "F1", "AP", "AUC"], rows)


def _row(name: str, detection: Detection) -> list[object]:
    figures = (detection.precision, detection.recall, detection.f1, detection.average_precision, detection.roc_auc)
    return [name, detection.pronouns, detection.wrong, detection.flagged, detection.unscored, *map(percent, figures)]
