"""`pronmetric clpp prepare`: data of the task from an aligned and tagged parallel corpus."""

from __future__ import annotations

import argparse
from collections import Counter

from pronmetric.alignment import parsed
from pronmetric.cli import output
from pronmetric.cli.parser import add_command
from pronmetric.cli.tables import table
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp import prepare as clpp_prepare
from pronmetric.output import targets

DESCRIPTION = """Make data of the task from a parallel corpus with tags and word alignment. Each side is a CoNLL-U file
(NAME.conllu) or a file of lines with tokens form, form|lemma|POS or form|lemma|POS|relation; the alignment has links
s-t from 0, of syntactic words. Documents are those of CoNLL-U (# newdoc).

Source pronouns: it, they (en); il, elle, ils, elles (fr); er, sie, es (de); finite verbs of the third person without a
subject (es, which needs CoNLL-U). If the source has dependency labels, only subjects get a slot."""
EPILOG = """Writes STEM.data (all segments), STEM.data.filtered (those with a slot) and, if the corpus has documents,
STEM.doc-ids, a document for each line of STEM.data.

example:
  pronmetric clpp prepare --pair de-en --source de.conllu --target en.conllu --alignment de-en.links -o train"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group."""
    made = add_command(
        commands,
        "prepare",
        help="data of the task from an aligned and tagged parallel corpus",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    made.add_argument("--pair", required=True, choices=sorted(clpp.TASKS), help="language pair, source first")
    made.add_argument("--source", required=True, metavar="FILE", help="source side")
    made.add_argument("--target", required=True, metavar="FILE", help="target side")
    made.add_argument("--alignment", required=True, metavar="FILE", help="links s-t, one line for each sentence pair")
    made.add_argument(
        "--subjects",
        nargs="+",
        metavar="LABEL",
        default=parsed.SUBJECTS,
        help=f"dependency labels of subjects (default: {' '.join(parsed.SUBJECTS)})",
    )
    made.add_argument("-o", "--output", required=True, metavar="STEM", help="prefix of the files to write")
    made.add_argument("--quiet", action="store_true", help="no notes on stderr")
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prepare the corpus; the exit code."""
    names = [f"{args.output}{end}" for end in (".data", ".data.filtered", ".doc-ids")]
    targets.check(names, read=[args.source, args.target, args.alignment])
    counts: Counter[str] = Counter()
    corpus = parsed.read(args.source, args.target, args.alignment)
    docs = []
    with targets.AtomicFiles() as files:
        data, filtered = files.open(names[0]), files.open(names[1])
        for line, doc in clpp_prepare.prepare(corpus, clpp.task(args.pair), subjects=args.subjects, counts=counts):
            data.write(f"{line}\n")
            if not line.startswith("\t"):
                filtered.write(f"{line}\n")
            docs.append(doc)
        if any(docs):
            files.open(names[2]).writelines(f"{doc}\n" for doc in docs)
    note = output.Notes(quiet=args.quiet)
    note.begin()
    if not any(name.startswith("dropped: no subject") for name in counts):
        note("no source pronoun was dropped as no subject; without dependency labels none can be")
    print(table(("", "count"), [(name, f"{number:,}") for name, number in sorted(counts.items())]))
    return 0
