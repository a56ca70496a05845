"""`pronmetric mqm`: MQM annotations as judged pairs and labelled pronouns, and how a checkpoint agrees with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from pronmetric.cli import flags
from pronmetric.cli import people as people_runs
from pronmetric.cli.endpoint import EndpointFlags
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.parser import Command, Flags, UsageError, argument, flag, part, switch, whole
from pronmetric.cli.people import Measurement, PeopleFlags
from pronmetric.cli.run import ScoringRun
from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.human import mqm, mqm_pairs
from pronmetric.lab.human.judged_pairs import to_line
from pronmetric.lab.human.mqm import Judgement
from pronmetric.output import targets
from pronmetric.pronouns import languages
from pronmetric.pronouns.known_words import check_texts
from pronmetric.pronouns.languages import Language
from pronmetric.schema import UNDETERMINED
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON

DESCRIPTION = """Extracts pronoun errors from an MQM annotation file, as judged pairs of texts or as labelled
pronouns. The file is in Marot format (TSV: system, doc, seg_id or docSegId, rater, source, target, category, severity;
spans marked as <v>..</v>), the TSV of the WMT shared task on quality estimation (spans as offsets) or the JSON of MQM
of medical abstracts. --lang names the language of the translations (default: en).

A pronoun error is an error whose span overlaps a pronoun and has at most --longest words; errors of punctuation,
spelling, locale and source are excluded.

--pairs writes pairs of two systems' translations of a segment that the same rater annotated. A rater votes for the text
with the lower penalty: the sum of its pronoun errors, minor 1, major 5, critical 10; equal penalties are a tie.
--pronouns writes each pronoun of each annotated text, labelled wrong if it is in a pronoun error, else right.
--evaluate scores the texts with --model, and measures how it agrees with the raters, as `pronmetric evaluate` does on
the people splits of a prepared folder."""
EPILOG = """Read the pairs with `pronmetric agree` or `pronmetric evaluate`, the pronouns with `pronmetric evaluate`.
Pairs without a pronoun error are left out unless --all is given, because they are ties by definition. The context is
the two preceding segments in the text of --reference.

Rows that are no annotation of the translation are left out and counted by kind: attention checks (HOTW-test), rows with
another number of fields than the header, without a rater, by an automatic rater, with an unknown severity, and rows
whose text is not that of most raters (of equally many, the shortest text). If a row of a rater's annotation of a text
is not used, none of its rows is. --strict refuses the file instead, with the line. Differences in spaces and quotes of
CSV are accepted. Escaped marks (&lt;v&gt;) are read as marks, with a note.

--evaluate reads each translation with its source, in the context of the system's own previous translations; --reference
is that of pairs and pronouns. An error that a rater marked in a text of their own is carried over to the translation
where it has a place there, so that fewer rows are left out. The figures are explained in `pronmetric evaluate --help`.
Prepared folders count marks of at most two words: --longest 2 gives the same marks.

examples:
  pronmetric mqm mqm_ted_zhen.tsv --pairs pairs.jsonl --pronouns pronouns.jsonl
  pronmetric mqm mqm_ted_zhen.tsv --pairs close.jsonl --other-words 2
  pronmetric mqm mqm_ted_ende.tsv --lang de --pronouns pronouns.jsonl
  pronmetric mqm mqm_ted_zhen.tsv --evaluate --longest 2 --plot raters.svg"""
Context = Mapping[tuple[str, int], tuple[str, ...]]
EVALUATION = "evaluation"


class PairFlags(Flags):
    """Which pairs are written."""

    other_words: int | None = flag(
        type=whole(0), metavar="N", help="only pairs that differ in a pronoun and in at most N other words"
    )
    all: bool = switch(help="include pairs without a pronoun error")


class MqmFlags(Flags):
    """The annotations, and what is made of them."""

    file: str = argument(metavar="FILE", help="the annotations, .tsv or .json")
    pairs: str | None = flag(metavar="OUT.jsonl", help="write pairs of systems with the raters' votes")
    pronouns: str | None = flag(
        "--pronouns", "--tokens", metavar="OUT.jsonl", help="write pronouns labelled right or wrong"
    )
    reference: str = flag(
        default=mqm.REFERENCE,
        metavar="SYSTEM",
        help="the system whose text is the context; none for no context (default: %(default)s)",
    )
    strict: bool = switch(
        help="refuse a file with rows that are no annotation of the translation, or whose texts are in another language"
    )
    longest: int = flag(
        type=whole(1),
        default=mqm.LONGEST,
        metavar="N",
        help="maximum number of words of an error span (default: %(default)s)",
    )
    to_json: str | None = flag(
        metavar="FILE", help="write all counts as JSON, with the rows left out by kind, and the figures of --evaluate"
    )
    out: OutputFlags = part(OutputFlags, only=flags.NOTES)
    of_pairs: PairFlags = part(PairFlags, "pairs")
    evaluate: bool = switch(group=EVALUATION, help="score the texts, and compare what is doubted with what raters mark")
    of_people: PeopleFlags = part(PeopleFlags, EVALUATION)
    language_model: str | None = flag(
        group=EVALUATION, metavar="FOLDER", help="beside a causal language model; see `pronmetric evaluate --help`"
    )
    judge: EndpointFlags = part(EndpointFlags, EVALUATION)
    model: ModelFlags = part(ModelFlags, flags.MODEL)
    seed: int = flags.seed_flag()

    def check(self) -> None:
        """Refuse a run that makes nothing, and flags of pairs and of the evaluation without these."""
        if self.pairs is None and self.pronouns is None and self.to_json is None and not self.evaluate:
            raise UsageError("nothing to write: give --pairs, --pronouns, --to_json or --evaluate")
        given = {
            "--model": self.model.model,
            "--allow_network": self.model.allow_network or None,
            "--batch_size": self.model.batch_size,
            "--gpus": self.model.gpus,
            "--precision": self.model.precision,
            "--no_source": self.model.no_source or None,
            "--language_model": self.language_model,
            "--endpoint": self.judge.endpoint,
            "--plot": self.of_people.plot,
            "--to_html": self.of_people.to_html,
            "--also_no_source": self.of_people.also_no_source or None,
        }
        if not self.evaluate and (extra := [name for name, value in given.items() if value is not None]):
            raise UsageError(f"{' and '.join(extra)}: goes with --evaluate")
        if self.pairs is None and (self.of_pairs.all or self.of_pairs.other_words is not None):
            raise UsageError("--all and --other-words go with --pairs")


def run(task: MqmFlags) -> None:
    """Read the annotations, and write what is asked for."""
    targets.check(
        [task.pairs, task.pronouns, task.to_json, task.judge.endpoint_answers, *task.of_people.files],
        read=[task.file, task.model.model, task.language_model],
    )
    flags.check_plot(task.of_people.plot)
    note = task.out.notes()
    note.begin()
    left_out: Counter[str] = Counter()
    run = ScoringRun(task.model, task.out, note) if task.evaluate else None
    language = languages.language(task.model.lang or languages.ENGLISH.code) if run is None else run.language
    judgements = _read(task, language, left_out)
    if escaped := left_out.pop(mqm.ESCAPED, 0):
        note(f"{task.file}: {escaped} {mqm.READ_ESCAPED}")
    for kind in dict.fromkeys((*mqm.LEFT_OUT, *left_out)):
        if left_out[kind]:
            note(f"{task.file}: {left_out[kind]} {mqm.DESCRIPTIONS.get(kind, kind)}, left out")
    distinct = dict.fromkeys(one.text for one in judgements)
    check_texts({task.file: distinct}, language, note, strict=task.strict)
    reference = None if task.reference == "none" else task.reference
    context: Context = {}
    if task.pairs is not None or task.pronouns is not None:
        try:
            context = mqm.contexts(judgements, reference=reference)
        except PronmetricError as error:
            raise type(error)(f"{task.file}: {error}") from None
    figures = mqm.counts(judgements, longest=task.longest)
    lines = [", ".join(f"{number} {what.replace('_', ' ')}" for what, number in figures.items())]
    content: dict[str, object] = {"file": task.file, **figures, "rows_left_out": dict(+left_out)}
    tables = None
    if run is not None:
        tables, content[EVALUATION] = _evaluate(task, run)
    with targets.AtomicFiles() as files:
        if task.pairs is not None:
            line, content["pairs"] = _write_pairs(files.open(task.pairs), judgements, context, reference, task)
            lines.append(line)
        if task.pronouns is not None:
            line, content["pronouns"] = _write_pronouns(files.open(task.pronouns), judgements, context, task)
            lines.append(line)
        if task.to_json is not None:
            files.open(task.to_json).write(strict_json.dump(content, indent=1) + "\n")
    print("\n".join(lines) + ("" if tables is None else f"\n\n{tables}"))


def _read(task: MqmFlags, language: Language, left_out: Counter[str]) -> list[Judgement]:
    """The annotations of the file, in any format that `prepare data.people` reads."""
    from data_prep.people import mqm as other

    path = Path(task.file)
    if path.suffix != ".json" and not other.has_offsets(path):
        return mqm.read(task.file, strict=task.strict, tally=left_out, language=language)
    judgements = [replace(one, language=language) for one in other.read(path, left_out)]
    _check_used(task, left_out)
    return judgements


def _check_used(task: MqmFlags, left_out: Counter[str]) -> None:
    """Refuse, with --strict, a file of which something was left out."""
    if task.strict and left_out:
        told = ", ".join(f"{number} {kind}" for kind, number in left_out.items())
        raise InputError(f"--strict: {told}; expected annotations that can all be used", file=task.file)


def _evaluate(task: MqmFlags, run: ScoringRun) -> tuple[str, dict[str, object]]:
    """How the checkpoint agrees with the raters: the tables to print, and the figures for JSON."""
    from data_prep.people import mqm as carried
    from data_prep.people import sets
    from data_prep.people.texts import judged_texts

    people_runs.require_probabilities(run.checkpoint.config)
    path, left_out, moved = Path(task.file), Counter[str](), Counter[str]()
    judged = judged_texts(
        carried.read(path, left_out),
        testset=path.stem,
        source=sets.source_of(path, run.language.code) or UNDETERMINED,
        context_size=run.checkpoint.context_size,
        longest=task.longest,
        language=run.language,
        tally=moved,
    )
    texts = [text for text in judged if text.pronouns]
    _check_used(task, moved)
    for kind, number in moved.items():
        run.note(f"{task.file}: {number} {kind}, left out of the evaluation")
    measurement = Measurement(
        judged=texts,
        title=task.file,
        training=(),
        model=task.model,
        wish=task.of_people,
        language_model=task.language_model,
        judge=task.judge,
        seed=task.seed,
    )
    tables, figures = people_runs.measure(measurement, run.choose_context(None, COMMON), run)
    left_out.pop(mqm.ESCAPED, None)  # told by `run`
    return tables, {**figures, "rows_left_out": dict(+left_out + moved)}


def _write_pairs(
    file: IO[str], judgements: Sequence[Judgement], context: Context, reference: str | None, task: MqmFlags
) -> tuple[str, dict[str, object]]:
    """Write the pairs; the line to print, and the counts for JSON."""
    tally: Counter[str] = Counter()
    votes: Counter[str] = Counter()
    for pair in mqm_pairs.pairs(
        judgements,
        context,
        longest=task.longest,
        other_words=task.of_pairs.other_words,
        all_pairs=task.of_pairs.all,
        reference=reference,
        tally=tally,
    ):
        votes.update(pair.votes.values())
        file.write(f"{to_line(pair)}\n")
    number = tally.pop("pairs", 0)
    line = f"{number} pairs ({_counts(votes)}) in {task.pairs}; left out: {_counts(tally)}"
    return line, {"number": number, "votes": dict(votes), "left_out": dict(tally)}


def _write_pronouns(
    file: IO[str], judgements: Sequence[Judgement], context: Context, task: MqmFlags
) -> tuple[str, dict[str, int]]:
    """Write the labelled pronouns; the line to print, and the counts for JSON."""
    tally: Counter[str] = Counter()
    for record in mqm_pairs.label_pronouns(judgements, context, longest=task.longest, tally=tally):
        file.write(strict_json.dump(record) + "\n")
    return f"{tally.total()} pronouns ({_counts(tally)}) in {task.pronouns}", {**tally}


def _counts(tally: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in tally.most_common()) or "none"


VERB = Command(
    "mqm",
    MqmFlags,
    run,
    DESCRIPTION,
    EPILOG,
    stray="give one annotation file; the output files follow --pairs and --pronouns",
)
