"""`pronmetric study`: an annotation study, from the sample to the table that `prepare` reads."""

from __future__ import annotations

from pronmetric.cli import study_answers, study_page, study_report, study_sample
from pronmetric.cli.parser import Group

DESCRIPTION = """Plan, run and evaluate an annotation study: people see a sentence in two versions that
differ in a pronoun, and choose. Pronoun pairs on which they agree become training data (Jwalapuram et al. 2019)."""
EPILOG = """example:
  pronmetric study sample runs/data -o study --items 60 --annotators 3
  pronmetric study report study answers-*.json --table table.tsv
  pronmetric prepare data.wmt=wmt filter.agreement=table.tsv out=runs/agreed"""


VERB = Group(
    "study",
    DESCRIPTION,
    EPILOG,
    [
        study_sample.COMMAND,
        *study_page.COMMANDS,
        study_answers.SIMULATED,
        study_report.COMMAND,
        *study_answers.EXCHANGED,
    ],
)
