"""`pronmetric autoprf`: precision and recall of pronoun translation."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from pronmetric.cli import output
from pronmetric.cli.parser import verb_parser
from pronmetric.lab.baselines import autoprf
from pronmetric.lab.baselines.autoprf import Corpus
from pronmetric.output import targets
from pronmetric.text import strict_json

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


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = made.parse_args(argv)
    if args.src == args.tgt:
        made.error(f"--src and --tgt are both {args.src!r}: expected two different languages")
    ends = (args.src, args.tgt, f"{args.src}-{args.tgt}.alig", f"{args.src}-{args.tgt}.lines-retained")
    read = [f"{stem}.{end}" for stem in (args.reference, args.candidate) for end in ends]
    targets.check([args.to_json], read=[*read, args.documents])
    output.open_stdout()
    reference = autoprf.read_corpus(args.reference, src=args.src, tgt=args.tgt, compat=args.compat)
    candidate = autoprf.read_corpus(args.candidate, src=args.src, tgt=args.tgt, compat=args.compat)
    differing = autoprf.check_sources(reference, candidate)
    documents = autoprf.read_documents(args.documents, sentences=len(reference.source))
    found = autoprf.instances(reference, candidate, documents)
    with output.bar(args.quiet, found, total=None, label="autoprf", unit="pronouns", short=True) as instances:
        result = autoprf.tally(instances, documents=len(documents.names), compat=args.compat)
    if args.to_json is not None:
        content = autoprf.result_json(result, documents, reference, candidate, differing=differing, compat=args.compat)
        with targets.AtomicFile(args.to_json) as file:
            file.write(strict_json.dump(content, indent=1) + "\n")
    print(autoprf.format_autoprf(result, documents, compat=args.compat))
    _note(reference, candidate, differing, output.Notes(quiet=args.quiet))
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = verb_parser("autoprf", DESCRIPTION, EPILOG)
    parser.add_argument("--reference", metavar="STEM", required=True, help="the reference translation")
    parser.add_argument("--candidate", metavar="STEM", required=True, help="the translation to evaluate")
    parser.add_argument("--documents", metavar="FILE", required=True, help="first sentence and name of each document")
    parser.add_argument("--src", metavar="L", type=_language, default="en", help="source (default: %(default)s)")
    parser.add_argument("--tgt", metavar="L", type=_language, default="fr", help="target (default: %(default)s)")
    parser.add_argument("--compat", action="store_true", help="reproduce the published program")
    parser.add_argument("--to_json", "--to-json", metavar="FILE", help="write the result as JSON")
    parser.add_argument("--quiet", action="store_true", help="no notes on stderr")
    return parser


def _language(text: str) -> str:
    if not re.fullmatch(r"[\w.-]+", text):
        raise argparse.ArgumentTypeError(f"expected the end of a file name such as en, got {text!r}")
    return text


def _note(reference: Corpus, candidate: Corpus, differing: int, note: output.Notes) -> None:
    """Report on stderr what was ignored."""
    note.begin()
    if not any(word in autoprf.TRIGGERS for words in reference.source for word in words):
        note(f"{reference.source_file}: no {', '.join(sorted(autoprf.TRIGGERS))} in the source: there is no score")
    for corpus in (reference, candidate):
        for what, number in autoprf.count_ignored(corpus).items():
            if number:
                note(f"{corpus.stem}: ignored: {what.replace('_', ' ')} ({number})")
    if differing:
        note(
            f"{candidate.source_file}: {differing} words differ from {reference.source_file}; "
            "it and they are taken from the latter"
        )
