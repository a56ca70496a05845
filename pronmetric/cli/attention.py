"""`pronmetric attention`: the attention weights of the pronouns of one sentence."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pronmetric.checkpoint.config import context_limit
from pronmetric.cli.flags import MODEL, ModelFlags, OutputFlags
from pronmetric.cli.parser import Command, Flags, UsageError, argument, flag, part, switch, whole
from pronmetric.cli.run import ScoringRun
from pronmetric.errors import InputError
from pronmetric.text.context import Text, text_of

DESCRIPTION = """Show the attention weights of each pronoun of a sentence over the words of sentence and context.

For each pronoun, the output gives the probability that the pronoun is correct and the words with the highest attention
weights. On a colour terminal it also shows the text with each word shaded by its weight (Jwalapuram et al. 2019,
Figures 5 and 6). The weights are those of the attention layer of the scoring head, in which the pronoun is the query.
They do not show which word the pronoun refers to. Where the language has them, the genders of a third-person pronoun
and of the nouns follow in brackets."""
EPILOG = """example:
  pronmetric attention "She locked its doors." --context "Maria ran the library." """


class AttentionFlags(Flags):
    """The sentence, its context, and the model."""

    text: str | None = argument(nargs="?", metavar="SENTENCE", help="sentence with the pronouns")
    context: Sequence[str] = flag(nargs="+", default=(), metavar="SENTENCE", help="preceding sentences")
    top: int = flag(type=whole(1), default=5, metavar="N", help="number of words to show (default: %(default)s)")
    quiet: bool = switch(help="no notes on stderr")
    model: ModelFlags = part(ModelFlags, MODEL)
    out: OutputFlags = part(OutputFlags, only=())

    def check(self) -> None:
        """Refuse a missing sentence."""
        if self.text is None:
            cure = " before --context, which takes all that follows it" if self.context else ""
            raise UsageError(f"give a SENTENCE{cure}")


def run(task: AttentionFlags) -> None:
    """Show the attention of each pronoun."""
    assert task.text is not None  # checked by `AttentionFlags.check`
    if not any(map(str.isspace, task.text)) and os.path.isfile(task.text):
        raise InputError(
            "is a file; expected a sentence in quotation marks (files: `pronmetric score -t`)", file=task.text
        )
    run = ScoringRun(task.model, task.out)
    limit = context_limit(run.checkpoint.config)
    text = text_of({"text": task.text, "context": [*task.context]}, file="attention", context_size=limit)
    if text.left_out:
        run.note(f"the model was trained on {limit} sentences of context: the last {limit} are read")
    _show(text, run, top=task.top)


def _show(text: Text, run: ScoringRun, *, top: int) -> None:
    from rich.console import Console

    from pronmetric.report.attention import describe, shade

    console, metric = Console(highlight=False, soft_wrap=True), run.metric
    (looks,) = metric.attention([text])
    if not looks:
        console.print("no pronoun found")
    split = metric.language.words
    genders = run.genders(metric.language)
    label = "" if metric.probability else "score "
    for number, look in enumerate(looks):
        if number:
            console.print()
        weights = None if look.weights is None else look.weights.tolist()
        pronoun = look.pronoun.text
        score = f"{label}{look.pronoun.score:.3f}"
        console.print(describe(text, pronoun, score, weights, top=top, split=split, genders=genders))
        if weights is not None and console.color_system is not None:
            console.print(shade(text, weights, start=look.start, split=split))


VERB = Command(
    "attention",
    AttentionFlags,
    run,
    DESCRIPTION,
    EPILOG,
    stray="give one SENTENCE in quotation marks; preceding sentences follow --context",
)
