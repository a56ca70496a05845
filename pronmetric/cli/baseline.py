"""`pronmetric baseline`: APT, AutoPRF, and the counts of pronouns by the source, a group of commands."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from functools import partial

from pronmetric.cli import output
from pronmetric.cli.parser import Command, Flags, Group, UsageError, argument, flag, switch
from pronmetric.lab.baselines import apt, apt_corpus
from pronmetric.lab.baselines.apt_config import Config, read_settings
from pronmetric.lab.baselines.apt_corpus import read_corpus
from pronmetric.output import targets
from pronmetric.text import strict_json

DESCRIPTION = """What a metric is compared with: the published scores APT and AutoPRF, which read word alignments, and
counts of missing and surplus pronouns by the source."""
APT = """APT, accuracy of pronoun translation (Miculicich Werlen and Popescu-Belis 2017).

Each source pronoun is aligned to words of the reference and of the candidate, and falls into one case:
  1 same or equivalent pronoun   2 similar pronoun            3 different pronoun
  4 not aligned to candidate     5 not aligned to reference   6 aligned to neither
The score is the weighted share of the selected cases; higher is better. The number of pronouns in each case is printed
with it. The score is null if there is no pronoun."""
APT_EPILOG = """CONFIG is an INI file. Empty values are ignored. Paths are relative to the working directory.
  [lang]        source, target: languages; source_word_separator, target_word_separator: split tokens, such as est-il
  [files]       source, reference, target: one sentence a line, tokens separated by single blanks;
                alignment_source_reference, alignment_source_target: links s-t, counted from 0;
                list_source_pronouns, with input_type = word (one a line) or possition (lines `sentence position`);
                list_target_pronouns: optional, any other word is OTHER
  [dictionary]  equal, similar: one group of words a line, separated by commas;
                source_pronouns, target_pronouns: if both are given, a side without a pronoun gets the nearest target
                pronoun that is not aligned to a source pronoun
  [cases]       cases_to_use = 1,2,3,4,5,6; weigths_per_case = 1,1,0,0,0,0 [sic]; count_OTHER_as_equal = false
  [output]      output_file: prefix of the output files .score and .detail; counting_multiword_in_matrix = false;
                max_length_matrix

examples:
  pronmetric baseline apt apt.ini
  pronmetric baseline apt apt.ini --compat --to_json apt.json"""


class AptFlags(Flags):
    """The settings, and what is written."""

    config: str = argument(metavar="CONFIG", help="INI file with the settings and the input files")
    compat: bool = switch(help="as the published program: repair is case-sensitive and does not split tokens")
    to_json: str | None = flag(metavar="FILE", help="write the result as JSON")
    quiet: bool = switch(help="no notes on stderr")


def run_apt(task: AptFlags) -> None:
    """Compute the score, print and write it."""
    note = output.Notes(quiet=task.quiet)
    config = Config(task.config)
    settings = read_settings(config)
    for message in config.unused():
        note(message)
    score_file, detail_file = (f"{settings.stem}{end}" if settings.stem else None for end in (".score", ".detail"))
    targets.check([task.to_json, score_file, detail_file], read=[task.config, *settings.inputs])

    track = partial(output.bar, task.quiet, total=None, label="apt", unit="pronouns", short=True)
    corpus = read_corpus(settings, compat=task.compat, track=track)
    cases = apt.judge(corpus.renderings, rules=corpus.rules)
    score = apt.score(cases, weights=settings.weights)
    selected = [one for one, case in zip(corpus.renderings, cases, strict=True) if case in settings.weights]
    matrix = apt.matrix(selected, multiword=settings.multiword, limit=settings.limit)
    signature = apt_corpus.make_signature(settings, compat=task.compat)
    for line in apt_corpus.notes(settings, corpus, score, matrix, compat=task.compat):
        note(line)

    with targets.AtomicFiles() as files:  # all of them or none
        if task.to_json is not None:
            content = apt_corpus.result_json(score, matrix, signature)
            files.open(task.to_json).write(strict_json.dump(content, indent=1) + "\n")
        if score_file is not None and detail_file is not None:
            summary = [*apt_corpus.summary_lines(score), "", *apt_corpus.matrix_lines(matrix)]
            files.open(score_file).writelines(_lines(summary))
            files.open(detail_file).writelines(_lines(apt_corpus.detail_lines(corpus.renderings, cases)))
    note.begin()
    print("\n".join(apt_corpus.summary_lines(score)))
    note(f"signature: {signature}")


def _lines(lines: Iterable[str]) -> Iterable[str]:
    return (f"{line}\n" for line in lines)


AUTOPRF = """Precision and recall of pronoun translation (AutoPRF; Hardmeier and Federico 2010): the words aligned
to each "it" and "they" of the source are compared between candidate and reference.

A STEM names three files: STEM.en, the source; STEM.fr, the translation; STEM.en-fr.alig, word links s-t, counted from
0. Words are separated by single blanks. STEM.en-fr.lines-retained is optional: it lists the line numbers (from 1,
ascending) to which the lines of links belong. --documents has one line for each document: the number of its first
sentence, from 0, white space, and its name."""
AUTOPRF_EPILOG = """\
Precision is matches / candidate words, recall is matches / reference words; higher is better. A word
matches as often as it occurs on both sides. The comparison is case-sensitive. A dash (null in JSON) means 0/0.

--compat reproduces the published program: a pronoun without any link in the candidate is missing from the table and
the total; a target index past the end of its line continues on the next line; a source index above the length of all
earlier lines is an error; figures are rounded from single precision.

example:
  pronmetric baseline autoprf --reference data/ref --candidate data/sys --documents data/docs.txt --src en --tgt fr"""


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


def run_autoprf(task: AutoprfFlags) -> None:
    """Compute the figures, print and write them."""
    ends = (task.src, task.tgt, f"{task.src}-{task.tgt}.alig", f"{task.src}-{task.tgt}.lines-retained")
    read = [f"{stem}.{end}" for stem in (task.reference, task.candidate) for end in ends]
    targets.check([task.to_json], read=[*read, task.documents])
    from pronmetric.lab.baselines import autoprf

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


COUNTS = """Learn a table of counts, by which missing and surplus pronouns are counted.

The table is one small file: a pruned word aligner, and how often references have a counterpart for each source pronoun
and a source for each English one. Give it to --source-lang of score, compare, bulk score and serve. The shipped tables
were made with this command from WMT21 and WMT22."""
COUNTS_EPILOG = """Source pronouns are those of pronmetric/pronouns/tables/pronouns.LANG.tsv; for a language without
this file only surplus pronouns are counted.

examples:
  pronmetric baseline counts --source-lang fr --parallel src.fr ref.en sysA.en sysB.en -o fr.npz
  pronmetric baseline counts --source-lang de --wmt-dir wmt -o de.npz
  pronmetric score -t sysA.en -s src.fr --source-lang fr.npz"""


class CountsFlags(Flags):
    """The parallel text, its language, and the table that is learned."""

    source_lang: str = flag("--source-lang", required=True, metavar="LANG", help="code of the source language, e.g. de")
    parallel: Sequence[Sequence[str]] | None = flag(
        nargs="+",
        action="append",
        metavar="FILE",
        help="a source file and line-parallel English files, references or outputs; can be repeated",
    )
    wmt_dir: str | None = flag(
        "--wmt-dir", metavar="DIR", help="all test sets from this language into English in a folder"
    )
    exclude: Sequence[str] | None = flag(
        nargs="+",
        metavar="NAME",
        help="test sets of --wmt-dir to leave out, as in `prepare`; default: its test and development sets",
    )
    output: str = flag("-o", "--output", required=True, metavar="FILE", help="the table")
    quiet: bool = switch(help="no progress bar and no notes on stderr")

    def check(self) -> None:
        """Refuse a run without text, and flags of the other kind of text."""
        if self.parallel is None and self.wmt_dir is None:
            raise UsageError("give --parallel, --wmt-dir, or both")
        if any(len(files) < 2 for files in self.parallel or []):
            raise UsageError("--parallel needs a source file and one or more English files")
        if self.exclude and self.wmt_dir is None:
            raise UsageError("--exclude goes with --wmt-dir")


def run_counts(task: CountsFlags) -> None:
    """Learn the table, and write it."""
    files = [name for group in task.parallel or [] for name in group]
    targets.check([task.output], read=[*files, task.wmt_dir])
    from data_prep.wmt import source_lines
    from pronmetric.alignment.counts import files as source_files
    from pronmetric.alignment.counts import fit as source_fit

    note = output.Notes(quiet=task.quiet)
    lines = [line for group in task.parallel or [] for line in source_fit.read_parallel(group)]
    names = list((task.parallel and files) or [])
    if task.wmt_dir is not None:
        exclude = source_lines.HELD_OUT if task.exclude is None else task.exclude
        testsets = source_lines.testsets(task.wmt_dir, task.source_lang, exclude=exclude)
        names = [testset.id for testset in testsets]
        lines += source_lines.read(testsets)
    note(f"{len(lines)} lines of source")
    note.begin()
    with output.bar(task.quiet, total=source_fit.work(lines), label="counts", unit="lines") as bar:
        about = {"lines": len(lines), "text": names if task.wmt_dir is not None else [], "parallel": len(files)}
        table = source_fit.fit(lines, task.source_lang, about=about, advance=bar.update)
    source_files.save(task.output, table)
    note(f"{len(table.kept)} source pronouns; use the table with --source-lang {task.output}")


VERB = Group(
    "baseline",
    DESCRIPTION,
    None,
    [
        Command("apt", AptFlags, run_apt, APT, APT_EPILOG, help="accuracy of pronoun translation"),
        Command(
            "autoprf",
            AutoprfFlags,
            run_autoprf,
            AUTOPRF,
            AUTOPRF_EPILOG,
            help="precision and recall of pronoun translation",
        ),
        Command(
            "counts",
            CountsFlags,
            run_counts,
            COUNTS,
            COUNTS_EPILOG,
            help="learn from parallel text to count missing and surplus pronouns by the source",
        ),
    ],
)
