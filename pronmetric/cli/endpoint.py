"""A chat model as a baseline (`--endpoint`): its flags, and the notes about its answers; of `evaluate` and `mqm`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pronmetric.cli import output
from pronmetric.cli.output import Notes
from pronmetric.cli.parser import Flags, UsageError, flag, whole
from pronmetric.lab.baselines.endpoint import Endpoint
from pronmetric.lab.baselines.marking import Question, mark
from pronmetric.lab.human.judged_pairs import PairScores
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
        type=whole(1), default=1, metavar="N", help="people's marks: ask it so many times (default: %(default)s)"
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
) -> dict[str, PairScores]:
    """The points of both texts of each pair, by the endpoint's model; nothing without one."""
    if (asked := given.open(note)) is None:
        return {}
    with output.bar(quiet, total=len(texts) // 2, label="endpoint", unit="pairs") as bar:
        found = asked.ask(zip(texts[::2], texts[1::2], strict=True), advance=bar.update)
    if found.unclear:
        note(f"{found.unclear} of {len(texts)} answers of {asked.model} are unclear, and count as ties")
    return {f"{asked.model}, asked": dict(zip((pair.id for pair in pairs), found.points, strict=True))}


def ask_marks(
    judged: Sequence[JudgedText], texts: Sequence[Text], given: EndpointFlags, note: Notes, *, quiet: bool
) -> dict[str, tuple[float, ...]]:
    """By the name of the baseline, the share of the passes that marked each judged pronoun; nothing without one.

    texts: those of `scoring.judged.to_score`.
    """
    if (asked := given.open(note)) is None:
        return {}
    stream, questions = iter(texts), []
    for one in judged:
        questions.append(Question(next(stream), tuple((each.start, each.end) for each in one.pronouns)))
        if one.mended:
            next(stream)
    passes = given.endpoint_passes
    total = passes * sum(bool(each.places) for each in questions)
    with output.bar(quiet, total=total, label="endpoint", unit="answers") as bar:
        found = mark(asked, questions, passes=passes, advance=bar.update)
    if found.unclear:
        note(f"{found.unclear} of {total} answers of {asked.model} are unclear, and are left out")
    clear = [100 * share for share in found.by_pass if not math.isnan(share)]
    if passes > 1 and clear:
        note(
            f"{asked.model} marks {min(clear):.1f} to {max(clear):.1f} % of the pronouns in {passes} passes; "
            f"{found.unsteady} of {len(found.shares)} pronouns are marked in some passes and not in others"
        )
    return {f"{asked.model}, asked": found.shares}
