"""`pronmetric check`: a gate for a release: it passes or fails with a reason, and lists the worst segments."""

from __future__ import annotations

import argparse
from dataclasses import replace

from pronmetric.cli import flags
from pronmetric.cli.corpus_run import CorpusRun
from pronmetric.cli.defaults import ConfigFlags, ConfiguredCommand
from pronmetric.cli.flags import ModelFlags, OutputFlags, TextFlags
from pronmetric.cli.parser import Flags, UsageError, flag, number, part, switch, whole
from pronmetric.errors import PronmetricError
from pronmetric.eval.decision import DECISIONS, PREFERENCE, SCORE
from pronmetric.eval.significance import RESAMPLES
from pronmetric.output import targets
from pronmetric.report import gate_text
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.scoring.comparison import TIE_THRESHOLD
from pronmetric.scoring.gate import ALPHA, MARGIN, Gate, Limits, doubts, score_sides
from pronmetric.text.context import COMMON, CROSSED, NONE, RESPECTIVE

FAILED = 3
"""Exit code of a gate that was not passed, apart from 1 (bad input) and 2 (wrong flags), so that a script can tell."""
LEAST = 1 / RESAMPLES
"""The smallest level: no p of the test is below 1 / (1 + the number of swaps)."""
MOST = 0.5
"""From this level on, a text passes that is worse by more than the margin."""
CONDITIONS = "conditions"
TEXTS = ("translations", "references", "sources", "docids", "speakers", "resegment", "systems", "format", "text_key")
DESCRIPTION = """Check the pronouns of a translation before a release: it passes or fails, with a reason.

--min-score X     its score is at least X
--max-errors N    at most N pronoun errors are expected in the whole text: wrong or surplus pronouns and, where the
                  reader of the source finds them, missing ones
--baseline FILE   it is not worse than this translation of the same text by --margin or more

Give one or more of them; all must be met, and no line may be a refusal, a comment or the thoughts of a language model,
JSON, or far longer than its source or reference (--max-refusals allows some). "Not worse" is a test: the outputs of
each document (each segment, if documents are not known) are swapped at random with those of the baseline less the
margin, and the one-sided p must be below --alpha. A text that is as good passes if there is enough of it to tell; too
little text is an error.

The worst segments are listed: those that are worse than in the baseline or, without one, those with a pronoun whose
probability is below {threshold:g}, or with a gap where none is missing with a probability below {threshold:g}."""
EPILOG = f"""exit codes: 0 passed, 1 an error in the input, 2 wrong flags, {FAILED} failed

context: as for `compare` with --baseline, else as for `score`.

examples:
  pronmetric check -t new.txt -r ref.txt --docids ids.txt --min-score 90
  pronmetric check -t new.txt --baseline old.txt --docids ids.txt --junit pronouns.xml
  pronmetric check --show-config"""


def _level(text: str) -> float:
    """The value of --alpha."""
    value = number(LEAST)(text)
    if value >= MOST:
        raise argparse.ArgumentTypeError(f"expected a number from {LEAST:g} to below {MOST:g}, got {text!r}")
    return value


class CheckFlags(Flags):
    """What is asked of the text, and where the verdict goes."""

    min_score: float | None = flag(
        group=CONDITIONS, type=number(0, 100), metavar="X", help="least score of the text, from 0 to 100"
    )
    max_errors: float | None = flag(
        group=CONDITIONS, type=number(0), metavar="N", help="most pronoun errors expected in the whole text"
    )
    max_refusals: int = flag(
        group=CONDITIONS,
        type=whole(0),
        default=0,
        metavar="N",
        help="most lines that a language model refused or commented instead of translating (default: %(default)s)",
    )
    baseline: str | None = flag(
        group=CONDITIONS, metavar="FILE", help="translation of the same text that must not be better"
    )
    margin: float | None = flag(
        group=CONDITIONS,
        type=number(0),
        metavar="X",
        help=f"with --baseline: a difference of X is too much (default: {MARGIN:g}, in points of the score)",
    )
    alpha: float = flag(
        group=CONDITIONS,
        type=_level,
        default=ALPHA,
        metavar="P",
        help=f"level of the test, from {LEAST:g} to below {MOST:g} (default: %(default)s)",
    )
    by: str = flag(
        group=CONDITIONS,
        choices=DECISIONS,
        default=SCORE,
        help="what is compared with the baseline; with errors and preference give --margin too (default: %(default)s)",
    )
    texts: TextFlags = part(TextFlags, flags.TEXTS, only=TEXTS)
    context: str | None = flag(group=flags.TEXTS, choices=[COMMON, RESPECTIVE, NONE], help="see below")
    model: ModelFlags = part(ModelFlags, flags.MODEL)
    seed: int = flags.seed_flag()
    worst: int = flag(
        group=flags.OUTPUT,
        type=whole(0),
        default=10,
        metavar="N",
        help="list at most N segments (default: %(default)s)",
    )
    junit: str | None = flag(group=flags.OUTPUT, metavar="FILE", help="write the verdict as JUnit XML")
    github: bool = switch(group=flags.OUTPUT, help="also print annotations of GitHub Actions, in the lines of -t")
    out: OutputFlags = part(OutputFlags, flags.OUTPUT, only=flags.NOTES)
    strict: bool = flags.strict_flag(flags.OUTPUT)
    defaults: ConfigFlags = part(ConfigFlags)

    def check(self) -> None:
        """Refuse no condition, conditions that do not go together, and other than one text."""
        if self.min_score is None and self.max_errors is None and self.baseline is None:
            raise UsageError("give one or more of --min-score, --max-errors and --baseline")
        if self.margin is not None and self.baseline is None:
            raise UsageError("--margin is below a baseline: give --baseline")
        if self.baseline is not None and self.margin is None and self.by != SCORE:
            raise UsageError(f"--by {self.by} needs --margin, in the unit of its differences (see `compare`)")
        if self.margin is not None and self.margin >= 100 and self.by != PREFERENCE:
            raise UsageError(f"--margin {self.margin:g}: expected a number below 100, as no text is worse by more")
        if self.texts.translations is None or len(self.texts.translations) != 1:
            raise UsageError("give one translation to check: -t FILE")

    @property
    def limits(self) -> Limits:
        """The conditions."""
        margin = MARGIN if self.margin is None else self.margin
        return Limits(
            min_score=self.min_score,
            max_errors=self.max_errors,
            margin=margin,
            alpha=self.alpha,
            by=self.by,
            max_refusals=self.max_refusals,
        )


def run(task: CheckFlags) -> int:
    """Check the text, print and write the verdict; the exit code."""
    texts = task.texts
    lines = (*(texts.translations or ()), *(texts.references or ()), texts.sources, texts.docids, texts.speakers)
    targets.check([task.junit], read=[*lines, task.baseline, task.model.model])
    if task.baseline is not None:
        texts = replace(texts, translations=[*(texts.translations or ()), task.baseline])
    with CorpusRun(texts, task.model, task.out, alone=RESPECTIVE if task.baseline is None else CROSSED) as run:
        return _check(task, run)


def _check(task: CheckFlags, run: CorpusRun) -> int:
    systems, compared = run.corpus.systems, task.baseline is not None
    if len(systems) != 1 + compared:
        found = ", ".join(systems)
        raise PronmetricError(f"expected one translation to check, found the systems {found}: choose with `systems=`")
    run.checkpoint.decision(task.by, sourced=run.corpus.has_source)
    gate = Gate(task.limits, tie=TIE_THRESHOLD, worst=task.worst, baseline=compared)
    for segment, scored in enumerate(run.rows(score_sides)):
        gate.add(segment, *scored)
    verdict = gate.verdict(seed=task.seed)
    by = {"by": task.by, "margin": f"{task.limits.margin:g}"} if compared else {}
    signature = run.sign_texts(seed=task.seed if compared else None, **by)
    names = gate_text.Names(systems[0], task.baseline, task.by)
    if task.junit is not None:
        with targets.AtomicFile(task.junit) as file:
            file.buffer.write(gate_text.junit(verdict, names, signature))
    print(gate_text.summary(verdict, names))
    if task.github:
        print("\n".join(gate_text.github_commands(verdict, names)))
    for said in doubts(task.limits, verdict.system, probabilities=run.metric.probability, baseline=compared):
        run.note(said)
    return 0 if verdict.passed else FAILED


VERB = ConfiguredCommand(
    "check", CheckFlags, run, DESCRIPTION.format(threshold=THRESHOLD), EPILOG, stray="give one translation: -t FILE"
)
