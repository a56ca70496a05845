"""`pronmetric apt`: accuracy of pronoun translation, a reference-based score for any language pair."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from pronmetric.cli import output
from pronmetric.cli.parser import Command, Flags, argument, flag, switch
from pronmetric.lab.baselines import apt, apt_corpus
from pronmetric.lab.baselines.apt_config import Config, read_settings
from pronmetric.lab.baselines.apt_corpus import read_corpus
from pronmetric.output import targets
from pronmetric.text import strict_json

DESCRIPTION = """APT, accuracy of pronoun translation (Miculicich Werlen and Popescu-Belis 2017).

Each source pronoun is aligned to words of the reference and of the candidate, and falls into one case:
  1 same or equivalent pronoun   2 similar pronoun            3 different pronoun
  4 not aligned to candidate     5 not aligned to reference   6 aligned to neither
The score is the weighted share of the selected cases; higher is better. The number of pronouns in each case is printed
with it. The score is null if there is no pronoun."""
EPILOG = """CONFIG is an INI file. Empty values are ignored. Paths are relative to the working directory.
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
  pronmetric apt apt.ini
  pronmetric apt apt.ini --compat --to_json apt.json"""


class AptFlags(Flags):
    """The settings, and what is written."""

    config: str = argument(metavar="CONFIG", help="INI file with the settings and the input files")
    compat: bool = switch(help="as the published program: repair is case-sensitive and does not split tokens")
    to_json: str | None = flag(metavar="FILE", help="write the result as JSON")
    quiet: bool = switch(help="no notes on stderr")


def run(task: AptFlags) -> None:
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


VERB = Command("apt", AptFlags, run, DESCRIPTION, EPILOG)
