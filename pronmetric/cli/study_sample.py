"""`pronmetric study sample`: the items of a study, and the tasks of each annotator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pronmetric.cli import output
from pronmetric.cli.parser import Command, Flags, UsageError, argument, flag, number, part, switch, whole
from pronmetric.cli.study_folder import new_folder
from pronmetric.errors import InputError
from pronmetric.lab.human import judged_pairs
from pronmetric.lab.study import candidates, findings, folder
from pronmetric.lab.study.folder import PAPER, TWO_STAGES, Design
from pronmetric.lab.study.sample import choose, sample

SAMPLE = """Draw the items of a study, and the tasks of each annotator, into a new folder STUDY.

DATA is a folder of `prepare` (references and references with a system's pronoun), the JSONL of `suite build wmt` (with
sources), judged pairs (JSONL) with "pronoun_a", "pronoun_b" and "group", the source language, or your own table: a TSV
file with the columns reference and other, which differ in a pronoun of --lang, and maybe group, doc, context, source,
source_context, id and antecedent. Without context, the references above in the same doc are shown: two, or as many as
antecedent says, the number of sentences from the antecedent to this one. A pair that occurs more than once counts
once. In each source language, all pronoun pairs (and with --scores all ranges of the score difference) get equally many
items, up to one; a design for which there are too few pairs is refused, with the number each cell lacks. With --balance
level, rare pairs give all they have.

For --preset two-stage, DATA is records as `score --jsonl` reads them: "text" and "context", the translations of a
sentence and of the one before it; "source" and "source_context", their sources; and maybe "group", the source
language."""


SAMPLE_EPILOG = """\
Annotators are divided among --groups, and so are the items. Each annotator answers the items of one group,
in their own order; in half of the tasks the reference is the second version. Repeated items come in the second half,
with the versions in the other order. The same DATA and --seed give the same study.

--preset paper is the design of Jwalapuram et al. 2019: --items 500 --annotators 5 --groups 2 --repeated 0.1
--balance level --invalid. --preset two-stage is after Voita et al. 2019: of two consecutive sentences each translation
is judged alone, then the two in context of each other; if they do not fit together, the annotator names the phenomenon
(deixis, ellipsis, lexical cohesion, ambiguity, anaphora, other). Other flags change a preset.

examples:
  pronmetric study sample runs/data -o study --items 60 --pronoun-pairs he:it she:it it:he
  pronmetric study sample suite.jsonl -o study --preset paper --show-source
  pronmetric study sample pairs.tsv -o study --balance level
  pronmetric study sample pairs-de.tsv -o study --lang de --balance level
  pronmetric study sample translations.jsonl -o study --preset two-stage --items 200"""


ANSWERS = {
    "both": {"both": True, "neither": False},
    "neither": {"both": False, "neither": True},
    "all": {"both": True, "neither": True},
    "none": {"both": False, "neither": False},
}


PRESETS = {"paper": PAPER, "two-stage": TWO_STAGES}


class ItemFlags(Flags):
    """The items of a study."""

    items: int | None = flag(type=whole(1), metavar="N", help="items of each source language (default: all)")
    split: str | None = flag(metavar="NAME", help=f"of a prepared folder (default: {candidates.SPLIT})")
    languages: Sequence[str] | None = flag(nargs="+", metavar="CODE", help="source languages (default: all)")
    pronoun_pairs: Sequence[str] | None = flag(
        nargs="+", metavar="REF:OTHER", help="pronoun pairs, e.g. he:it (default: all)"
    )
    scores: str | None = flag(metavar="FILE", help='scores to balance by, {"id", "score_a", "score_b"} a line')
    ranges: int | None = flag(type=whole(1), metavar="N", help="ranges of the score difference (default: 3)")
    balance: str | None = flag(choices=["strict", "level"], help="rare pairs: refuse, or take all (default: strict)")

    @property
    def pairs(self) -> list[tuple[str, str]] | None:
        """The pronoun pairs; None for all."""
        if self.pronoun_pairs is None:
            return None
        pairs = [(text, *text.lower().split(":")) for text in self.pronoun_pairs]
        if wrong := [text for text, *pair in pairs if len(pair) != 2]:
            raise InputError(
                f"--pronoun-pairs {wrong[0]}: expected the reference's pronoun and the other, such as he:it"
            )
        return [(own, other) for _, own, other in pairs]

    def differences(self) -> dict[str, float | None] | None:
        """The differences of --scores."""
        if self.scores is None:
            return None
        scores = judged_pairs.read_scores(self.scores)
        return {item: None if a is None or b is None else a - b for item, (a, b) in scores.items()}


class PeopleFlags(Flags):
    """The annotators of a study."""

    annotators: int | None = flag(type=whole(1), metavar="N", help="annotators (default: 3)")
    groups: int | None = flag(type=whole(1), metavar="N", help="groups, each with its own items (default: 1)")
    repeated: float | None = flag(type=number(0, 1), metavar="X", help="share of repeated items (default: 0.1)")


class ShownFlags(Flags):
    """What annotators see."""

    answers: str | None = flag(choices=list(ANSWERS), help="third answers (default: both)")
    invalid: bool = switch(help='offer "cannot be judged", for what is no pronoun or misaligned')
    show_source: bool = switch(help="show the source and its context, if DATA has it")
    highlight: bool = switch(help="mark the words in which the versions differ")


class SampleFlags(Flags):
    """The design of a study, and the data that it is drawn from."""

    data: str = argument(
        metavar="DATA", help="a prepared folder, a suite of `suite build wmt`, judged pairs, a table, or records"
    )
    output: str = flag("-o", "--output", required=True, metavar="STUDY", help="the folder of the study, new")
    preset: str | None = flag(choices=list(PRESETS), help="a design of the literature")
    items: ItemFlags = part(ItemFlags, "items")
    people: PeopleFlags = part(PeopleFlags, "annotators")
    shown: ShownFlags = part(ShownFlags, "what annotators see")
    lang: str | None = flag(
        metavar="CODE", help="language of the texts (default: that of a prepared folder or a suite, else en)"
    )
    seed: int | None = flag(type=whole(0), metavar="N", help="of the sample and of the orders (default: 1)")
    quiet: bool = switch(help="no notes on stderr")

    def check(self) -> None:
        """Refuse what a study in two stages does not have."""
        if not self.design.stages:
            return
        for name, given in (
            ("--answers", self.shown.answers),
            ("--highlight", self.shown.highlight),
            ("--pronoun-pairs", self.items.pronoun_pairs),
            ("--scores", self.items.scores),
            ("--split", self.items.split),
        ):
            if given:
                raise UsageError(f"{name} is for two versions of a sentence; leave it out with --preset two-stage")

    @property
    def design(self) -> Design:
        """The preset with what the other flags change."""
        numbers = {"items": self.items.items, "ranges": self.items.ranges, "seed": self.seed, **vars(self.people)}
        changes = {name: number for name, number in numbers.items() if number is not None}
        given = {"source": self.shown.show_source, "highlight": self.shown.highlight, "invalid": self.shown.invalid}
        changes |= {name: True for name, is_given in given.items() if is_given}
        changes |= ANSWERS[self.shown.answers] if self.shown.answers else {}
        changes |= {"strict": self.items.balance == "strict"} if self.items.balance else {}
        return replace(PRESETS[self.preset] if self.preset else Design(), **changes)


def run_sample(task: SampleFlags) -> None:
    """Draw the study."""
    place = new_folder(
        task.output, [task.data, task.items.scores], why="give a new folder, answers belong to one study"
    )
    note = output.Notes(quiet=task.quiet)
    language = candidates.language_of(task.data, task.lang)
    design = replace(task.design, target=language)
    if design.stages:
        items = candidates.read_translations(task.data, note=note)
    else:
        items = candidates.read(task.data, split=task.items.split, language=language, note=note)
    chosen = choose(items, languages=task.items.languages, pairs=task.items.pairs)
    try:
        study = sample(chosen, design, differences=task.items.differences())
    except InputError as error:
        raise InputError(str(error), file=task.data) from None
    note.begin()
    folder.write(study, place, data=task.data)
    print(findings.format_sample(study))


COMMAND = Command(
    "sample", SampleFlags, run_sample, SAMPLE, SAMPLE_EPILOG, help="draw the items and the tasks of a study"
)
