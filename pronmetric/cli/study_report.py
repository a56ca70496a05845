"""`pronmetric study report`: the figures of a study, and the table for `prepare`."""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.cli import output
from pronmetric.cli.parser import Command, argument, flag, switch, whole
from pronmetric.cli.study_folder import StudyFlags
from pronmetric.errors import InputError
from pronmetric.eval.resampling import SEED
from pronmetric.lab.human import judged_pairs
from pronmetric.lab.study import answers, arms, findings, folder, stages
from pronmetric.lab.study.folder import Study
from pronmetric.output import targets
from pronmetric.text import strict_json

REPORT = """The figures of a study: Gwet's AC1 between the annotators, by source language and by pronoun pair too,
how often the reference is preferred, and for each annotator the consistency on repeated items and the share of answers
for the version shown first. Every answer that the study offers is a category of AC1, also if nobody gave it. Repeated
answers count for consistency only. Unfinished answers are read too.

In two stages: the pairs of sentences that are bad alone, bad in context and good, the phenomena, and AC1 at each
level."""


REPORT_EPILOG = """\
--arm compares with a second study of the same items, such as one without the source, on the items with two
answers in each: disagreements that the arms have in common, AC1 of all annotators together, and the difference in
preference (Jwalapuram et al. 2019, section 3.3). Draw both studies from the same data with the same --seed.

--table writes the table that `prepare filter.agreement=FILE` and `suite build wmt --agreement FILE` read:
for each pronoun pair a line a source language, and their sum. --to_pairs writes judged pairs for `agree` and
`evaluate`: the reference is text A, "better" is the answer with most votes, "tie" if "both fine" has most; items for
which "neither" or "cannot be judged" has most are left out.

Intervals: of AC1, Gwet's; by document and of the preference, 2000 resamples of whole documents.

example:
  pronmetric study report study answers-*.json --table table.tsv --to_pairs pairs.jsonl
  pronmetric study report with with/*.json --arm without without/*.json"""


class ReportFlags(StudyFlags):
    """The answers of a study, and what is written."""

    answers: Sequence[str] = argument(nargs="+", metavar="ANSWERS.json", help="answers, one file for each annotator")
    table: str | None = flag(metavar="FILE", help="write the table of pronoun pairs")
    to_pairs: str | None = flag(metavar="FILE", help="write the items with their votes as judged pairs")
    to_json: str | None = flag(metavar="FILE", help="write all figures as JSON")
    arm: Sequence[str] | None = flag(
        nargs="+", metavar=("STUDY", "ANSWERS.json"), help="a second study of the same items, and its answers"
    )
    seed: int = flag(type=whole(0), default=SEED, metavar="N", help="of the resampling (default: 12345)")
    quiet: bool = switch(help="no notes on stderr")


def run_report(task: ReportFlags) -> None:
    """Measure, write what is asked for, print."""
    targets.check([task.table, task.to_pairs, task.to_json], read=[task.study, *task.answers, *(task.arm or ())])
    study = task.read()
    given = answers.read(study, task.answers)
    note = output.Notes(quiet=task.quiet)
    note.begin()
    if absent := [name for name in study.assignments if name not in given]:
        note(f"no answers of annotators {', '.join(absent)}")
    if study.design.stages:
        _report_stages(task, study, given)
        return
    measured = findings.measure(study, given, seed=task.seed)
    compared = None
    if task.arm is not None:
        other = folder.read(task.arm[0])
        compared = arms.compare((study, given), (other, answers.read(other, task.arm[1:])), seed=task.seed)
    if task.table is not None:
        if unrated := findings.without_agreement(measured):
            note(f"not in the table: {unrated} pronoun pairs without an item that has two answers")
        with targets.AtomicFile(task.table) as file:
            file.writelines(findings.agreement_lines(measured))
    if task.to_pairs is not None:
        pairs = list(findings.judged_pairs(study, findings.collect(study, given)))
        note(f"{len(pairs)} judged pairs, {sum(pair.better == 'tie' for pair in pairs)} of them ties")
        with targets.AtomicFile(task.to_pairs) as file:
            file.writelines(f"{judged_pairs.to_line(pair)}\n" for pair in pairs)
    with_arm = {} if compared is None else {"arms": strict_json.plain(compared)}
    output.write_json(task.to_json, {**strict_json.plain(measured), **with_arm})
    print(findings.format_findings(measured))
    if compared is not None:
        print(f"\n{arms.format_arms(compared)}")


def _report_stages(task: ReportFlags, study: Study, given: answers.Answers) -> None:
    for name, wanted in (("--table", task.table), ("--to_pairs", task.to_pairs), ("--arm", task.arm)):
        if wanted:
            raise InputError(f"{name}: the study is in two stages, with one version of each sentence; leave it out")
    measured = stages.measure(study, given)
    output.write_json(task.to_json, strict_json.plain(measured))
    print(stages.format_findings(measured))


COMMAND = Command(
    "report",
    ReportFlags,
    run_report,
    REPORT,
    REPORT_EPILOG,
    help="agreement, preference and consistency; the table for `prepare`",
)
