"""`pronmetric autoprf`: precision and recall of pronoun translation."""

from __future__ import annotations

import argparse
import re

from pronmetric.cli import output
from pronmetric.cli.parser import Command, Flags, UsageError, flag, switch
from pronmetric.lab.baselines import autoprf
from pronmetric.output import targets

DESCRIPTION = """Precision and recall of pronoun translation (AutoPRF; Hardmeier and Federico 2010): the words aligned
to each "it" and "they" of the source are compared between candidate and reference.

A STEM names three files: STEM.en, the source; STEM.fr, the translation; STEM.en-fr.alig, word links s-t, counted from
0. Words are separated by single blanks. STEM.en-fr.lines-retained is optional: it lists the line numbers (from 1,
ascending) to which the lines of links belong. --documents has one line for each document: the number of its first
sentence, from 0, white space, and its name."""
EPILOG = """Precision is matches / candidate words, recall is matches / reference words; higher is better. A word
matches as often as it occurs on both sides. The comparison is case-sensitive. A dash (null in JSON) means 0/0.

--compat reproduces the published program: a pronoun without any link in the candidate is missing from the table and
the total; a target index past the end of its line continues on the next line; a source index above the length of all
earlier lines is an error; figures are rounded from single precision.

example:
  pronmetric autoprf --reference data/ref --candidate data/sys --documents data/docs.txt --src en --tgt fr"""


def _language(text: str) -> str:
    if not re.fullmatch(r"[\w.-]+", text):
        raise argparse.ArgumentTypeError(f"expected the end of a file name such as en, got {text!r}")
    return text


class AutoprfFlags(Flags):
    """The translations that are compared, and their languages."""

    reference: str = flag(metavar="STEM", required=True, help="the reference translation")
    candidate: str = flag(metavar="STEM", required=True, help="the translation to evaluate")
    documents: str = flag(metavar="FILE", required=True, help="first sentence and name of each document")
    src: str = flag(metavar="L", type=_language, default="en", help="source (default: %(default)s)")
    tgt: str = flag(metavar="L", type=_language, default="fr", help="target (default: %(default)s)")
    compat: bool = switch(help="reproduce the published program")
    to_json: str | None = flag(metavar="FILE", help="write the result as JSON")
    quiet: bool = switch(help="no notes on stderr")

    def check(self) -> None:
        """Refuse one language for both sides."""
        if self.src == self.tgt:
            raise UsageError(f"--src and --tgt are both {self.src!r}: expected two different languages")


def run(task: AutoprfFlags) -> None:
    """Compute the figures, print and write them."""
    ends = (task.src, task.tgt, f"{task.src}-{task.tgt}.alig", f"{task.src}-{task.tgt}.lines-retained")
    read = [f"{stem}.{end}" for stem in (task.reference, task.candidate) for end in ends]
    targets.check([task.to_json], read=[*read, task.documents])
    reference = autoprf.read_corpus(task.reference, src=task.src, tgt=task.tgt, compat=task.compat)
    candidate = autoprf.read_corpus(task.candidate, src=task.src, tgt=task.tgt, compat=task.compat)
    differing = autoprf.check_sources(reference, candidate)
    documents = autoprf.read_documents(task.documents, sentences=len(reference.source))
    pronouns = autoprf.instances(reference, candidate, documents)
    with output.bar(task.quiet, pronouns, total=None, label="autoprf", unit="pronouns", short=True) as instances:
        result = autoprf.tally(instances, documents=len(documents.names), compat=task.compat)
    content = autoprf.result_json(result, documents, reference, candidate, differing=differing, compat=task.compat)
    output.write_json(task.to_json, content)
    print(autoprf.format_autoprf(result, documents, compat=task.compat))
    note = output.Notes(quiet=task.quiet)
    note.begin()
    for line in autoprf.notes(reference, candidate, differing=differing):
        note(line)


VERB = Command("autoprf", AutoprfFlags, run, DESCRIPTION, EPILOG)
