"""`pronmetric check`: a gate for a release: it passes or fails with a reason, and lists the worst segments."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pronmetric.cli import config_file, flags, output
from pronmetric.cli.flags import ModelFlags, OutputFlags, TextFlags
from pronmetric.cli.parser import any_number, number_from_zero, verb_parser, whole_from_zero
from pronmetric.cli.run import (
    ScoringRun,
    announce_context,
    choose_context,
    load_config,
    read_corpus,
    signed_references,
)
from pronmetric.eval.decision import DECISIONS, SCORE
from pronmetric.output import targets
from pronmetric.report import gate_text
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.scoring.comparison import TIE_THRESHOLD, texts_per_row
from pronmetric.scoring.gate import ALPHA, MARGIN, Gate, Limits, score_sides
from pronmetric.text.context import COMMON, CROSSED, RESPECTIVE

FAILED = 3
DESCRIPTION = """Check the pronouns of a translation before a release: it passes or fails, with a reason.

--min-score X     its score is at least X
--max-errors N    at most N wrong pronouns are expected in the whole text
--baseline FILE   it is not worse than this translation of the same text by --margin or more

Give one or more of them; all must be met. "Not worse" is a test: the outputs of each document (each segment, if
documents are not known) are swapped at random with those of the baseline less the margin, and the one-sided p must be
below --alpha. A text that is as good passes if there is enough of it to tell; too little text is an error.

The worst segments are listed: those that are worse than in the baseline or, without one, those with a pronoun whose
probability is below {threshold:g}."""
EPILOG = f"""exit codes: 0 passed, 1 an error in the input, 2 wrong flags, {FAILED} failed

context: as for `compare` with --baseline, else as for `score`.

examples:
  pronmetric check -t new.txt -r ref.txt --docids ids.txt --min-score 90
  pronmetric check -t new.txt --baseline old.txt --docids ids.txt --junit pronouns.xml
  pronmetric check --show-config"""


@dataclass(frozen=True)
class CheckFlags:
    """What is asked of the text, and where the verdict goes."""

    baseline: str | None
    min_score: float | None
    max_errors: float | None
    margin: float | None
    alpha: float
    by: str
    worst: int
    junit: str | None
    github: bool
    seed: int

    @classmethod
    def of(cls, made: argparse.ArgumentParser, args: argparse.Namespace) -> CheckFlags:
        """The record; flags that do not go together are a usage error (exit code 2)."""
        given = flags.read(cls, args)
        if given.min_score is None and given.max_errors is None and given.baseline is None:
            made.error("give one or more of --min-score, --max-errors and --baseline")
        if given.margin is not None and given.baseline is None:
            made.error("--margin is below a baseline: give --baseline")
        if given.baseline is not None and given.margin is None and given.by != SCORE:
            made.error(f"--by {given.by} needs --margin, in the unit of its differences (see `compare`)")
        return given

    @property
    def limits(self) -> Limits:
        """The conditions."""
        margin = MARGIN if self.margin is None else self.margin
        return Limits(min_score=self.min_score, max_errors=self.max_errors, margin=margin, alpha=self.alpha, by=self.by)


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = verb_parser("check", DESCRIPTION.format(threshold=THRESHOLD), EPILOG)
    asked = made.add_argument_group("conditions")
    flags.both(asked, "min-score", type=any_number, metavar="X", help="least score of the text")
    flags.both(
        asked, "max-errors", type=number_from_zero, metavar="N", help="most wrong pronouns expected in the whole text"
    )
    asked.add_argument("--baseline", metavar="FILE", help="translation of the same text that must not be better")
    asked.add_argument(
        "--margin",
        type=number_from_zero,
        metavar="X",
        help=f"with --baseline: a difference of X is too much (default: {MARGIN:g}, in points of the score)",
    )
    asked.add_argument(
        "--alpha",
        type=_level,
        default=ALPHA,
        metavar="P",
        help="level of the test, between 0 and 1 (default: %(default)s)",
    )
    asked.add_argument(
        "--by",
        choices=DECISIONS,
        default=SCORE,
        help="what is compared with the baseline; with errors and preference give --margin too (default: %(default)s)",
    )
    TextFlags.add(made, jsonl=False, dataset=False)
    ModelFlags.add(made)
    written = made.add_argument_group("output")
    written.add_argument(
        "--worst", type=whole_from_zero, default=10, metavar="N", help="list at most N segments (default: %(default)s)"
    )
    written.add_argument("--junit", metavar="FILE", help="write the verdict as JUnit XML")
    written.add_argument(
        "--github", action="store_true", help="also print annotations of GitHub Actions, in the lines of -t"
    )
    flags.add_notes(written)
    flags.add_strict(written)
    config_file.add(made)
    return made


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = config_file.parse(made, "check", argv)
    task, texts, model, out = (
        CheckFlags.of(made, args),
        TextFlags.of(made, args),
        ModelFlags.of(args),
        OutputFlags.of(args),
    )
    if texts.translations is None or len(texts.translations) != 1:
        made.error("give one translation to check: -t FILE")
    lines = (*texts.translations, *(texts.references or ()), texts.sources, texts.docids, task.baseline, model.model)
    targets.check([task.junit], read=lines)
    return _check(task, texts, model, out)


def _level(text: str) -> float:
    """The value of --alpha."""
    value = number_from_zero(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, got {text!r}")
    return value


def _check(task: CheckFlags, texts: TextFlags, model: ModelFlags, out: OutputFlags) -> int:
    note = out.notes()
    output.open_stdout()
    if task.baseline is not None:
        texts = replace(texts, translations=[*(texts.translations or ()), task.baseline])
    corpus = read_corpus(texts, model, note)
    config = load_config(model)
    flags.choose_decision(task.by, model, config)
    otherwise = COMMON if corpus.references else RESPECTIVE if task.baseline is None else CROSSED
    kind = choose_context(texts.context, config, otherwise, note)
    announce_context(kind, corpus, texts, note, size=config["context_size"])
    run = ScoringRun(model, out, note)
    size = run.metric.context_size
    compared = {} if task.baseline is None else {"by": task.by, "margin": f"{task.limits.margin:g}"}
    seed = None if task.baseline is None else task.seed
    signature = run.sign(kind, size=size, seed=seed, references=signed_references(kind, corpus, texts), **compared)
    gate = Gate(task.limits, tie=TIE_THRESHOLD, worst=task.worst, baseline=task.baseline is not None)
    with run.progress(corpus.segments * texts_per_row(corpus, kind)):
        for number, scored in enumerate(score_sides(corpus, kind, size=size, stream=run.stream)):
            gate.add(number, *scored)
    verdict = gate.verdict(seed=task.seed)
    names = gate_text.Names(corpus.systems[0], task.baseline, task.by)
    if task.junit is not None:
        with targets.AtomicFile(task.junit) as file:
            file.buffer.write(gate_text.junit(verdict, names, signature))
    print(gate_text.summary(verdict, names))
    if task.github:
        print("\n".join(gate_text.github_commands(verdict, names)))
    run.finish()
    return 0 if verdict.passed else FAILED
