"""A chat model as a baseline (`--endpoint`): its flags, and the notes about its answers; of `evaluate` and `mqm`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pronmetric.cli import output
from pronmetric.cli.output import Notes
from pronmetric.cli.parser import Flags, UsageError, flag, whole
from pronmetric.lab.baselines.endpoint import Endpoint, Passes
from pronmetric.lab.baselines.marking import Question, mark
from pronmetric.lab.human import labelled_pronouns
from pronmetric.lab.human.judged_pairs import PairScores
from pronmetric.lab.human.labelled_pronouns import LabelledPronoun
from pronmetric.lab.human.pair_accuracy import share_right
from pronmetric.lab.human.pair_sets import PairSet
from pronmetric.schema import JudgedText
from pronmetric.text.context import Text


class EndpointFlags(Flags):
    """The endpoint, its model, and how often it is asked."""

    endpoint: str | None = flag(
        metavar="URL",
        help="also ask a chat model behind this OpenAI-compatible endpoint, as a baseline: the texts are sent there",
    )
    endpoint_model: str | None = flag(metavar="NAME", help="the name of that model")
    endpoint_passes: int = flag(
        type=whole(1), default=1, metavar="N", help="ask it so many times (default: %(default)s); a note has the spread"
    )
    endpoint_answers: str | None = flag(
        metavar="FILE.jsonl", help="keep its answers in this file, and take those that it has"
    )

    def check(self) -> None:
        """Refuse half an endpoint."""
        if (self.endpoint is None) != (self.endpoint_model is None):
            raise UsageError("give --endpoint URL and --endpoint-model NAME together")
        if self.endpoint is None and (self.endpoint_passes > 1 or self.endpoint_answers is not None):
            raise UsageError("--endpoint-passes and --endpoint-answers go with --endpoint")

    def open(self, note: Notes) -> Endpoint | None:
        """The endpoint, with a note that the texts are sent there; None if none is given."""
        if self.endpoint is None or self.endpoint_model is None:
            return None
        note(f"the texts are sent to {self.endpoint.rstrip('/')} (--endpoint)")
        return Endpoint(self.endpoint, self.endpoint_model, kept=self.endpoint_answers)


def ask_pairs(
    pairs: PairSet, texts: Sequence[Text], given: EndpointFlags, note: Notes, *, quiet: bool
) -> tuple[dict[str, PairScores], Passes | None]:
    """By the baseline's name the points of both texts of each pair, and its passes; nothing without an endpoint."""
    if (asked := given.open(note)) is None:
        return {}, None
    both = list(zip(texts[::2], texts[1::2], strict=True))
    passes, judged = given.endpoint_passes, list(pairs)
    with output.bar(quiet, total=passes * len(both), label="endpoint", unit="pairs") as bar:
        found = asked.ask(both, passes=passes, advance=bar.update)
    if found.unclear:
        note(f"{found.unclear} of {passes * len(texts)} answers of {asked.model} are unclear, and count as ties")
    shares = tuple(share_right(judged, points) for points in found.by_pass)
    told = Passes(asked.model, shares, found.unsteady, found.unclear)
    _note_spread(told, "prefers the better text of", "pairs", len(judged), note)
    by_id = dict(zip((pair.id for pair in judged), found.points, strict=True))
    return {_name(asked): by_id}, told


def ask_marks(
    judged: Sequence[JudgedText], texts: Sequence[Text], given: EndpointFlags, note: Notes, *, quiet: bool
) -> tuple[dict[str, tuple[float, ...]], Passes | None]:
    """By the name of the baseline the share of the passes that marked each judged pronoun, and the passes.

    Nothing without an endpoint. texts: those of `scoring.judged.to_score`.
    """
    if (asked := given.open(note)) is None:
        return {}, None
    stream, questions = iter(texts), []
    for one in judged:
        questions.append(Question(next(stream), tuple((each.start, each.end) for each in one.pronouns)))
        if one.mended:
            next(stream)
    shares, told = _marks(asked, questions, given, note, quiet=quiet)
    return {_name(asked): shares}, told


def ask_labelled(
    pronouns: Sequence[LabelledPronoun], texts: Sequence[Text], given: EndpointFlags, note: Notes, *, quiet: bool
) -> tuple[dict[str, list[float | None]], Passes | None]:
    """By the name of the baseline its scores of labelled pronouns, and the passes; nothing without an endpoint."""
    if (asked := given.open(note)) is None:
        return {}, None
    questions = labelled_pronouns.questions(texts, pronouns)
    shares, told = _marks(asked, questions, given, note, quiet=quiet)
    return {_name(asked): labelled_pronouns.unmarked(texts, pronouns, questions, shares)}, told


def _marks(
    asked: Endpoint, questions: Sequence[Question], given: EndpointFlags, note: Notes, *, quiet: bool
) -> tuple[tuple[float, ...], Passes]:
    """The share of the passes that marked each pronoun of the questions, and the passes."""
    passes = given.endpoint_passes
    total = passes * sum(bool(each.places) for each in questions)
    with output.bar(quiet, total=total, label="endpoint", unit="answers") as bar:
        found = mark(asked, questions, passes=passes, advance=bar.update)
    if found.unclear:
        note(f"{found.unclear} of {total} answers of {asked.model} are unclear, and are left out")
    clear = tuple(None if math.isnan(share) else share for share in found.by_pass)
    told = Passes(asked.model, clear, found.unsteady, found.unclear)
    _note_spread(told, "marks", "pronouns", len(found.shares), note)
    return found.shares, told


def _note_spread(told: Passes, does: str, items: str, number: int, note: Notes) -> None:
    """Note how several passes differ."""
    clear = [100 * share for share in told.by_pass if share is not None]
    if len(told.by_pass) > 1 and clear:
        note(
            f"{told.model} {does} {min(clear):.1f} to {max(clear):.1f} % of the {items} in {len(told.by_pass)} passes; "
            f"{told.unsteady} of {number} {items} get different answers"
        )


def _name(asked: Endpoint) -> str:
    return f"{asked.model}, asked"
