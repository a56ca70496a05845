"""`pronmetric suite build`: new test suites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from data_prep.filters import Reader, agreement_filter
from data_prep.suites import consistency, counterparts, discourse
from data_prep.suites import wmt as suite_entries
from data_prep.suites.fragments import Check
from data_prep.wmt import discovery
from pronmetric.cli import output, suite_contrastive, suite_manifest
from pronmetric.cli.parser import (
    Command,
    Flags,
    Group,
    UsageError,
    argument,
    flag,
    number,
    part,
    switch,
    whole,
)
from pronmetric.cli.suite_contrastive import CORPUS, CorpusFlags, reasons
from pronmetric.cli.suite_manifest import BlindFlags, Words
from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.human import judged_pairs
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.output import targets
from pronmetric.pronouns.languages import ENGLISH, language
from pronmetric.report.text import table
from pronmetric.text import strict_json
from pronmetric.text.context import Source, Text
from pronmetric.text.strict_json import plain

WMT = """Build the pronoun test suite of the paper (section 3.2) from WMT test sets: for each pronoun error of a
system the source with its previous sentences, the reference with its context, the system's output, and the reference
with the system's pronoun. A reference with the same wrong pronoun counts once for a source language. The table counts
distinct source sentences with their context, as the paper's Table 2, after each filter. Errors without a source are
left out, counted. A manifest beside --to_jsonl has what judges without context reach on the set
(`suite score dip`)."""
WMT_EPILOG = """examples:
  pronmetric suite build wmt --wmt-dir wmt --to_jsonl suite.jsonl --to_sqlite suite.db
  pronmetric suite build wmt --wmt-dir wmt --source drop --reader base --to_jsonl suite.jsonl
  pronmetric suite build wmt --wmt-dir wmt --pairs de-en --agreement pair_agreement.tsv --to_jsonl suite.jsonl"""


class WmtFlags(Flags):
    """The test sets, the errors that are kept, and what is written."""

    wmt_dir: Sequence[str] = flag(
        "--wmt-dir", required=True, nargs="+", metavar="DIR", help="WMT test sets, in any layout of `prepare`"
    )
    pairs: Sequence[str] | None = flag(nargs="+", metavar="LP", help="language pairs (default: all into --target)")
    target: str = flag(default="en", metavar="CODE", help="target language (default: en)")
    agreement: str = flag(default="grammar", metavar="NAME|FILE", help="as filter.agreement of `prepare`")
    min_agreement: float = flag(
        "--min-agreement", type=number(0, 1), default=0.8, metavar="X", help="of a file (default: 0.8)"
    )
    source: str = flag(
        choices=("none", "drop"),
        default="none",
        help="drop errors whose right form the source contradicts, or of which it "
        "supports both forms, into English (default: none)",
    )
    reader: str | None = flag(
        metavar="NAME|FOLDER", help="with --source drop: a checkpoint whose reader of sources judges that"
    )
    context: int = flag(type=whole(0), default=2, metavar="N", help="previous sentences (default: 2)")
    seed: int = flag(type=whole(0), default=1, metavar="N", help="of the aligner's sample (default: 1)")
    by_blind: BlindFlags = part(BlindFlags, "without context")
    to_jsonl: str | None = flag(metavar="FILE", help="write a JSON object an entry")
    to_sqlite: str | None = flag(metavar="FILE", help="write a database")
    to_json: str | None = flag(metavar="FILE", help="write the counts")
    quiet: bool = switch(help="no progress and notes on stderr")

    def check(self) -> None:
        """Refuse a filter without its reader, and a reader without its filter."""
        if (self.source == "drop") != (self.reader is not None):
            raise UsageError("--source drop and --reader go together")
        if self.by_blind.blind_model is not None and self.to_jsonl is None:
            raise UsageError("--blind-model judges what --to_jsonl writes: give both")

    @property
    def settings(self) -> dict[str, object]:
        """What the counts depend on."""
        return {name: vars(self)[name] for name in ("target", "agreement", "source", "reader", "context", "seed")}


def run_wmt(task: WmtFlags) -> None:
    """Build the suite."""
    manifest = None if task.to_jsonl is None else str(suite_manifest.path_of(task.to_jsonl))
    targets.check([task.to_jsonl, manifest, task.to_sqlite, task.to_json], read=[*task.wmt_dir, task.agreement])
    chosen = language(task.target)
    keep = agreement_filter(task.agreement, min_agreement=task.min_agreement, language=chosen)
    if task.reader is not None and chosen.code != ENGLISH.code:
        raise PronmetricError(f"--source drop is for English targets: leave it out with --target {chosen.code}")
    note = output.Notes(quiet=task.quiet)
    testsets = discovery.discover(task.wmt_dir, pairs=task.pairs, exclude=(), target=chosen.code).noted(note)
    reader = None if task.reader is None else _load_source_reader(task.reader)
    note.begin()
    missing, words = dict[str, int](), Words()
    filters = suite_entries.Filters(keep, reader)
    with output.bar(task.quiet, testsets, total=len(testsets), label="build", unit="test sets") as shown:
        errors = list(
            suite_entries.build(
                shown,
                chosen,
                filters=filters,
                context_size=task.context,
                seed=task.seed,
                without_source=missing,
                words=words,
            )
        )
    figures = suite_entries.counts(errors, missing)
    entries = [one.entry for one in errors if not one.dropped]
    if task.to_jsonl is not None:
        with targets.AtomicFile(task.to_jsonl) as file:
            file.writelines(suite_entries.json_lines(entries))
    if task.to_sqlite is not None:
        suite_entries.write_sqlite(Path(task.to_sqlite), entries, figures)
    output.write_json(task.to_json, {"settings": task.settings, "counts": plain(figures)})
    header = ("source", "filter", "test sets", "source contexts", "errors", "pronoun pairs", "without source")
    rows = [
        (one.language, one.filter, one.testsets, one.contexts, one.entries, one.pronoun_pairs, one.without_source)
        for one in figures
    ]
    print(table(header, rows, left=(0, 1)))
    if task.to_jsonl is None:
        return
    if not entries:
        note(f"{task.to_jsonl}: no error is left, so that no judge without context is asked and there is no manifest")
        return
    suite_manifest.describe(
        task.to_jsonl,
        "dip",
        words=words,
        language=chosen.code,
        blind=task.by_blind,
        inputs=[*(str(path) for testset in testsets for path in testset.paths), task.agreement],
        settings={"kind": "wmt", "pairs": task.pairs, "min_agreement": task.min_agreement, **task.settings},
        counts={f"errors from {one.language}, filter {one.filter}": one.entries for one in figures},
        note=note,
    )


def _load_source_reader(name: str) -> Reader:
    """The reader of sources of the checkpoint --reader; each text is read once.

    Raises:
        PronmetricError: there is no such checkpoint, or it has no reader.
    """
    from pronmetric.eval.calibration import logit
    from pronmetric.metric import PronounMetric

    metric = PronounMetric.from_pretrained(name)
    if metric.reader is None:
        raise InputError(f"--reader: expected a checkpoint with a reader of sources, got {metric.name}")

    @cache
    def read(text: Text) -> dict[int, float]:
        (segment,) = metric.stream([text])
        return {p.start: float(logit(p.score)) for p in segment.pronouns}

    return Reader(f"{metric.name} {metric.hash}", lambda text, start: read(text).get(start, 0.0))


class StudyFlags(Flags):
    """The questions to people about the items, and their answers."""

    study: str | None = flag(
        metavar="FILE", help="write the items as pairs for `study sample`: is the right version better in its context?"
    )
    judged: str | None = flag(
        metavar="FILE",
        help="pairs of `study report --to_pairs` on these items: keep those whose right version people found better",
    )

    def kept(self, checks: Sequence[Check], note: output.Notes) -> list[bool]:
        """Which items are kept by the answers; the pairs of these are written."""
        kept = [True] * len(checks)
        if self.judged is not None:
            better = {pair.id: pair.better for pair in judged_pairs.read(self.judged)}
            kept = [better.get(one.id) == "A" for one in checks]
            asked = sum(one.id in better for one in checks)
            note(f"{asked} of {len(checks)} items have answers; the right version is better in {sum(kept)}, kept")
        if self.study is not None:
            with targets.AtomicFile(self.study) as file:
                chosen = (one for one, keep in zip(checks, kept, strict=True) if keep)
                file.writelines(f"{judged_pairs.to_line(_pair(one))}\n" for one in chosen)
        return kept


def _pair(asked: Check) -> JudgedPair:
    """Text A is the right version."""
    return JudgedPair(
        asked.id,
        asked.context,
        asked.right,
        asked.wrong,
        group=asked.group,
        doc=asked.document,
        pronoun_a=asked.forms[0],
        pronoun_b=asked.forms[1],
        source=Source(asked.source, asked.source_context),
    )


CONSISTENCY = """Build a consistency set in the JSON format of Voita et al. 2019 (`suite score consistency`) from an
English source and its translation: fragments of four sentences of a document, the last of which has one version that is
consistent with the others.

  deixis         the last sentence in the other form of address, by a table of forms and lexicons of verbs (de es fr
                 ru); English you in the source, and one form of address in the fragment; with its mirror image, in
                 which the whole fragment has the other one
  lex_cohesion   a name that the fragment repeats, in another translation of the lexical table; with its mirror image,
                 in which the other translation is the consistent one
  ellipsis_vp    "I did": the verb that the translation repeats, replaced by a literal "do", by a table (de fr ru)

The versions are made by rules: have people check them (--study, then --judged)."""
CONSISTENCY_EPILOG = """example:
  pronmetric suite build consistency --kind deixis --target-language ru --source en.txt --target ru.txt \\
    --docids docids.txt --study deixis.pairs.jsonl -o deixis.json"""


class ConsistencyFlags(Flags):
    """The parallel corpus, and the kind of set."""

    kind: str = flag(required=True, choices=consistency.KINDS, help="what is tested (see above)")
    target_language: str = flag("--target-language", required=True, metavar="CODE", help="of --target")
    files: CorpusFlags = part(CorpusFlags, CORPUS)
    lexicon: str | None = flag(
        metavar="FILE",
        help="lex_cohesion: lexical table, a name, a tab and its translations (default: counted on the corpus's links)",
    )
    by_people: StudyFlags = part(StudyFlags, "people")
    by_blind: BlindFlags = part(BlindFlags, "without context")
    output: str = flag("-o", "--output", required=True, metavar="FILE", help="the set, JSON")
    quiet: bool = switch(help="no notes on stderr")

    def check(self) -> None:
        """Refuse a lexical table for another kind."""
        if self.lexicon is not None and self.kind != consistency.LEXICAL:
            raise UsageError(f"--lexicon goes with --kind {consistency.LEXICAL}")


def run_consistency(task: ConsistencyFlags) -> None:
    """Build the set."""
    _check_files(task.files, task.by_people, task.output, also=task.lexicon)
    note = output.Notes(quiet=task.quiet)
    note.begin()
    lexicon = None if task.lexicon is None else consistency.read_lexicon(task.lexicon)
    words, counts = Words(), Counter[str]()
    documents = list(words.of(task.files.documents(source_language=ENGLISH.code, target_language=task.target_language)))
    drawn = consistency.items(documents, task.kind, language=task.target_language, lexicon=lexicon, counts=counts)
    candidates = list(drawn)
    is_kept = task.by_people.kept([candidate.check for candidate in candidates], note)
    items = [candidate.item for candidate, keep in zip(candidates, is_kept, strict=True) if keep]
    if not items:
        raise PronmetricError(f"no item of {task.kind} is left ({reasons(counts)})")
    content = strict_json.dump(items, indent=2)
    counts.update(f"items at distance {item['ctx_dist']}" for item in items)
    suite_manifest.write(
        task.output,
        content,
        "consistency",
        words=words,
        language=task.target_language,
        blind=task.by_blind,
        inputs=[*task.files.files, task.lexicon, task.by_people.judged],
        settings={"kind": task.kind, "target_language": task.target_language},
        counts=counts,
        note=note,
    )


def _check_files(files: CorpusFlags, people: StudyFlags, to: str, *, also: str | None = None) -> None:
    targets.check([to, str(suite_manifest.path_of(to)), people.study], read=[*files.files, people.judged, also])


DISCOURSE = """Build a discourse suite of English-Chinese pronouns, connectives and ellipsis after Cai and Xiong 2020
(`suite score cai-xiong`) from a parallel corpus: sentences with a previous one, chosen by forms of source and
reference, with --each items of each class. Have people check them (--study, then --judged)."""
DISCOURSE_EPILOG = """example:
  pronmetric suite build discourse --source en.txt --target zh.txt --docids docids.txt \\
    --study discourse.pairs.jsonl -o discourse.jsonl"""


class DiscourseFlags(Flags):
    """The parallel corpus, and how many items of it are taken."""

    files: CorpusFlags = part(CorpusFlags, CORPUS)
    context: int = flag(type=whole(1), default=2, metavar="N", help="previous sentences of an item (default: 2)")
    each: int = flag(
        type=whole(1), default=discourse.EACH, metavar="N", help="items of each class, at most (default: %(default)s)"
    )
    seed: int = flag(type=whole(0), default=1, metavar="N", help="of the sample (default: 1)")
    by_people: StudyFlags = part(StudyFlags, "people")
    by_blind: BlindFlags = part(BlindFlags, "without context")
    output: str = flag("-o", "--output", required=True, metavar="FILE", help="the suite, JSONL")
    quiet: bool = switch(help="no notes on stderr")


def run_discourse(task: DiscourseFlags) -> None:
    """Build the suite."""
    _check_files(task.files, task.by_people, task.output)
    note = output.Notes(quiet=task.quiet)
    note.begin()
    words, counts = Words(), Counter[str]()
    documents = list(words.of(task.files.documents(source_language=ENGLISH.code, target_language=discourse.TARGET)))
    candidates = list(discourse.items(documents, context=task.context, counts=counts))
    if not candidates:
        raise PronmetricError("no sentence is an item: expected an English source and its Chinese translation")
    drawn, short = discourse.draw(candidates, each=task.each, seed=task.seed)
    is_kept = task.by_people.kept([one.check for one in drawn], note)
    items = [one.item for one, keep in zip(drawn, is_kept, strict=True) if keep]
    if not items:
        raise PronmetricError("people found no right version better: no item is left")
    content = "\n".join(map(strict_json.dump, items))
    for name, missing in short.items():
        note(f"{name}: {missing} fewer than {task.each}")
    counts.update(f"written, {item['kind']}: {item['class']}" for item in items)
    suite_manifest.write(
        task.output,
        content,
        "cai-xiong",
        words=words,
        language=discourse.TARGET,
        blind=task.by_blind,
        inputs=[*task.files.files, task.by_people.judged],
        settings={"kind": "discourse", "context": task.context, "each": task.each, "seed": task.seed},
        counts=counts,
        note=note,
    )


COUNTS = """Count what the pronouns of a source language are aligned to in a parallel corpus, as Table 2 of
Müller et al. 2018: which forms a suite of them would have to contrast. The share is of the source form's
occurrences."""
COUNTS_EPILOG = """example:
  pronmetric suite build counts --source-language en --target-language de --source en.txt --target de.txt it they"""


class CountsFlags(Flags):
    """The parallel corpus, and what is counted."""

    forms: Sequence[str] = argument(nargs="+", metavar="FORM", help="source pronouns")
    source_language: str = flag("--source-language", required=True, metavar="CODE", help="of --source")
    target_language: str = flag("--target-language", required=True, metavar="CODE", help="of --target")
    files: CorpusFlags = part(CorpusFlags, CORPUS)
    most: int = flag(type=whole(1), default=10, metavar="N", help="target forms of each source form (default: 10)")
    to_json: str | None = flag(metavar="FILE", help="write the counts")


def run_counts(task: CountsFlags) -> None:
    """Print the counts, and write them where asked for."""
    targets.check([task.to_json], read=task.files.files)
    documents = task.files.documents(source_language=task.source_language, target_language=task.target_language)
    forms = list(dict.fromkeys(form.lower() for form in task.forms))
    counts = counterparts.count(documents, forms, most=task.most)
    if missing := [form for form in forms if form not in {one.source for one in counts}]:
        raise PronmetricError(f"{', '.join(missing)}: not in {task.files.source}")
    output.write_json(task.to_json, {"counts": plain(counts)})
    rows = [(one.source, one.target, one.count, f"{100 * one.share:.1f}") for one in counts]
    print(table(("source", "target", "count", "share, %"), rows, left=(0, 1)))


GROUP = Group(
    "build",
    "Build a new test suite.",
    None,
    [
        Command("wmt", WmtFlags, run_wmt, WMT, WMT_EPILOG, help="the paper's suite from WMT test sets with sources"),
        suite_contrastive.COMMAND,
        Command(
            "consistency",
            ConsistencyFlags,
            run_consistency,
            CONSISTENCY,
            CONSISTENCY_EPILOG,
            help="a set of deixis, lexical cohesion or ellipsis after Voita et al.",
        ),
        Command(
            "discourse",
            DiscourseFlags,
            run_discourse,
            DISCOURSE,
            DISCOURSE_EPILOG,
            help="pronouns, connectives and ellipsis into Chinese after Cai and Xiong",
        ),
        Command("counts", CountsFlags, run_counts, COUNTS, COUNTS_EPILOG, help="what source pronouns are aligned to"),
    ],
    help="build a new suite",
    kind="kind",
)
