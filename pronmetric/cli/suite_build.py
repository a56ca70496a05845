"""`pronmetric suite build`: new test suites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from data_prep import translations
from data_prep.coreference import conll
from data_prep.filters import Reader, agreement_filter
from data_prep.suites import consistency, contrastive, corpus, counterparts, discourse, english, grammatical
from data_prep.suites import wmt as suite_entries
from data_prep.suites.fragments import Check
from data_prep.wmt import discovery
from pronmetric.alignment import parsed
from pronmetric.cli import output, suite_manifest
from pronmetric.cli.parser import (
    Command,
    Exclusive,
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
    discovered = discovery.discover(task.wmt_dir, pairs=task.pairs, exclude=(), target=chosen.code)
    note = output.Notes(quiet=task.quiet)
    for skipped in discovered.skipped:
        note(f"skipped {skipped.id}: {skipped.reason}")
    reader = None if task.reader is None else _load_source_reader(task.reader)
    note.begin()
    missing, words = dict[str, int](), Words()
    filters = suite_entries.Filters(keep, reader)
    testsets = discovered.testsets
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
    suite_manifest.write(
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


class CorpusFlags(Flags):
    """A parallel corpus."""

    source: str | None = flag(metavar="FILE", help="source side: text, one sentence a line, or CoNLL-U")
    target: str | None = flag(metavar="FILE", help="target side, line-parallel")
    docids: str | None = flag(metavar="FILE", help="the document of each line of text (default: one document)")
    alignment: str | None = flag(
        metavar="FILE",
        help="links s-t, one line for each sentence pair, of CoNLL-U files or of text whose words are separated by "
        "blanks (default: the text is split and aligned here)",
    )

    def check(self) -> None:
        """Refuse document ids where the files have documents of their own."""
        if self.docids is not None and self.alignment is not None:
            raise UsageError("--docids goes with text that is aligned here: leave --alignment out")

    @property
    def files(self) -> list[str | None]:
        """What is read."""
        return [self.source, self.target, self.docids, self.alignment]

    def documents(self, *, source_language: str, target_language: str) -> list[corpus.Document]:
        """The documents of both sides."""
        if self.source is None or self.target is None:
            raise PronmetricError("give both sides of the corpus: --source FILE --target FILE")
        if self.alignment is None:
            rows = corpus.read_text(self.source, self.target, self.docids)
            return corpus.from_text(rows, source=source_language, target=target_language)
        pairs = parsed.read(self.source, self.target, self.alignment)
        return list(corpus.from_parsed(pairs, source=self.source, target=self.target))


CORPUS = "corpus"
CONTRASTIVE = """Build a contrastive suite of pronouns in ContraPro's JSON format (`suite score contrapro`) from a
parallel corpus. An item is a source pronoun that is aligned to a target pronoun, both in a coreference chain, whose
nearest earlier nominal mentions are aligned (Müller et al. 2018, section 3.1). Contrastive sentences have the pronouns
of the other genders; possessives of the chain agree with them. Items are in the order of the documents and hold
--context previous sentences.

Into English, he, she, it and they as subjects are contrasted with the others that the source pronoun can stand for, and
verbs agree. Chains of one side are enough; without any, the antecedent is the nearest earlier noun that agrees in
number and gender by tables. Each item says which ("antecedent by"). Annotated English alone (a folder of .conll files,
GUM or LitBank) gives a suite without sources.

Out of English, text without chains gives items of it as a subject: the antecedent is the nearest earlier noun of the
pronoun's gender, which is learned from articles and adjectives of the corpus."""
CONTRASTIVE_EPILOG = """Target languages: de (it: er, sie, es), fr (it: il, elle; they: ils, elles), both from CoNLL-U
with Entity= (CorefUD) on both sides and --alignment; de and ru also from text; en (from de, fr, ru, uk, zh, ja).

examples:
  pronmetric suite build contrastive --target-language de --source en.conllu --target de.conllu \\
    --alignment en-de.links --balance -o suite.json
  pronmetric suite build contrastive --target-language de --parallel parallel --context 3 --balance -o suite.json
  pronmetric suite build contrastive --target-language en --wmt-dir wmt --pairs de-en ru-en -o suite.json
  pronmetric suite build contrastive --target-language en --target litbank-coref -o suite.json"""
WITH_CHAINS = ("de", "fr")
LANGUAGES = ("de", "fr", "ru", ENGLISH.code)
_SAMPLE = Exclusive()


class ContrastiveFlags(Flags):
    """The parallel corpus, and which items are taken from it."""

    target_language: str = flag("--target-language", required=True, choices=LANGUAGES, help="whose rules")
    source_language: str | None = flag("--source-language", metavar="CODE", help="into English: of --source")
    files: CorpusFlags = part(CorpusFlags, CORPUS)
    wmt_dir: Sequence[str] | None = flag(
        "--wmt-dir",
        group=CORPUS,
        nargs="+",
        metavar="DIR",
        help="WMT test sets into English, in any layout of `prepare`; for another --target-language its originals "
        "and their English translations",
    )
    pairs: Sequence[str] | None = flag(
        group=CORPUS, nargs="+", metavar="LP", help="into English: language pairs (default: all)"
    )
    parallel: Sequence[str] | None = flag(
        group=CORPUS,
        nargs="+",
        metavar="DIR",
        help="out of English: folders of NAME.LANG-en/ (ref.en, its translation src.LANG), as data.parallel",
    )
    corpus: str = flag(default="", metavar="NAME", help="name of the corpus, for the items")
    context: int = flag(type=whole(0), default=5, metavar="N", help="previous sentences of an item (default: 5)")
    balance: bool = switch(exclusive=_SAMPLE, help="as many items of each pronoun as of the rarest")
    each: int | None = flag(exclusive=_SAMPLE, type=whole(1), metavar="N", help="items of each pronoun")
    seed: int = flag(type=whole(0), default=1, metavar="N", help="of the sample (default: 1)")
    by_blind: BlindFlags = part(BlindFlags, "without context")
    output: str = flag("-o", "--output", required=True, metavar="FILE", help="the suite, JSON")
    quiet: bool = switch(help="no progress and notes on stderr")

    def check(self) -> None:
        """Refuse flags of another kind of corpus."""
        files, into_english = self.files, self.target_language == ENGLISH.code
        sets = self.wmt_dir is not None or self.parallel is not None
        if sets and (self.source_language or any(files.files)):
            raise UsageError("--wmt-dir and --parallel bring both sides and languages: leave the flags of files out")
        if into_english and self.parallel is not None:
            raise UsageError("--parallel is out of English: give another --target-language")
        if not into_english and self.source_language is not None:
            raise UsageError("--source-language is into English: out of English the source is English")
        if not into_english and not sets and files.source is None:
            raise UsageError(f"--target-language {self.target_language} needs --source and --target, or --parallel")
        if self.chains and not (self.target_language in WITH_CHAINS and files.alignment is not None):
            raise UsageError(f"--target-language {self.target_language} needs CoNLL-U with --alignment")
        if not into_english and files.alignment is not None and not self.chains:
            raise UsageError(f"--alignment goes with --target-language {' or '.join(WITH_CHAINS)}")
        if self.pairs is not None and not into_english:
            raise UsageError("--pairs is into English")
        if self.pairs is not None and self.wmt_dir is None:
            raise UsageError("--pairs goes with --wmt-dir")
        if not sets and files.target is None:
            raise UsageError("give --target, or --wmt-dir")
        if into_english and (files.source is None) != (self.source_language is None):
            raise UsageError("--source goes with --source-language")

    @property
    def chains(self) -> bool:
        """Whether items out of English come from coreference chains."""
        return self.target_language in WITH_CHAINS and (
            self.files.alignment is not None or self.target_language not in grammatical.LANGUAGES
        )


def run_contrastive(task: ContrastiveFlags) -> None:
    """Build the suite."""
    manifest = str(suite_manifest.path_of(task.output))
    read = [*task.files.files, *(task.wmt_dir or []), *(task.parallel or [])]
    targets.check([task.output, manifest], read=read)
    note = output.Notes(quiet=task.quiet)
    counts, words = Counter[str](), Words()
    into_english = task.target_language == ENGLISH.code
    make = _into_english if into_english else _with_chains if task.chains else _by_gender
    items = list(make(task, counts, words, note))
    if not items:
        raise PronmetricError(f"no item is left ({_reasons(counts)})")
    if task.balance or task.each is not None:
        items = contrastive.balance(items, each=task.each, seed=task.seed)
    with targets.AtomicFile(task.output) as file:
        file.write(strict_json.dump(items, indent=2) + "\n")
    note.begin()
    note(f"{len(items)} of {counts['items']} items are written")
    counts.update(f"items {item['ref pronoun'].lower()}" for item in items)
    counts.update(f"items by {item[english.BY]}" for item in items if english.BY in item)
    settings = {name: vars(task)[name] for name in ("source_language", "pairs", "context", "balance", "each", "seed")}
    suite_manifest.write(
        task.output,
        "contrapro",
        words=words,
        language=task.target_language,
        blind=task.by_blind,
        inputs=task.files.files,
        settings={"kind": "contrastive", "target_language": task.target_language, **settings},
        counts=counts,
        note=note,
    )
    print(table(("", "count"), sorted(counts.items())))


def _reasons(counts: Counter[str]) -> str:
    return "; ".join(f"{name}: {count}" for name, count in sorted(counts.items())) or "no candidate"


def _with_chains(
    task: ContrastiveFlags, counts: Counter[str], words: Words, note: output.Notes
) -> Iterator[dict[str, Any]]:
    of, writing = contrastive.rules(task.target_language), contrastive.Writing(task.corpus, task.context)
    for document in words.of(task.files.documents(source_language="", target_language=task.target_language)):
        yield from contrastive.items(document, of, writing=writing, counts=counts)


def _by_gender(task: ContrastiveFlags, counts: Counter[str], words: Words, note: output.Notes) -> list[dict[str, Any]]:
    """The items of text in which nothing but agreement tells the antecedent; an item that comes again counts once."""
    code, made = task.target_language, list[tuple[str, list[corpus.Document]]]()
    if task.wmt_dir is None and task.parallel is None:
        made.append(("", task.files.documents(source_language=ENGLISH.code, target_language=code)))
    else:
        rows = [
            (one.id, corpus.read_testset(one)) for one in translations.parallel_sets(task.parallel or (), target=code)
        ]
        if task.wmt_dir is not None:
            found = discovery.discover(task.wmt_dir, pairs=[f"{code}-{ENGLISH.code}"], exclude=())
            for skipped in found.skipped:
                note(f"skipped {skipped.id}: {skipped.reason}")
            rows += [(one.id, corpus.swapped(corpus.read_testset(one))) for one in found.testsets]
        note.begin()
        with output.bar(task.quiet, rows, total=len(rows), label="align", unit="test sets") as shown:
            made += [(name, corpus.from_text(each, source=ENGLISH.code, target=code)) for name, each in shown]
    agreement = grammatical.Agreement.of(code)
    known = grammatical.genders((document for _, documents in made for document in documents), agreement)
    items: dict[tuple[str, str, str], dict[str, Any]] = {}
    for name, documents in made:
        writing = contrastive.Writing(task.corpus or name, task.context)
        for document in words.of(documents):
            for item in grammatical.items(
                document,
                contrastive.rules(code),
                agreement=agreement,
                known=known,
                writing=writing,
                counts=counts,
            ):
                items.setdefault((item["src segment"], item["ref segment"], item["ref pronoun"]), item)
    if repeated := counts["items"] - len(items):
        counts["items"] = len(items)
        counts["dropped: the same sentence again"] = repeated
    return list(items.values())


def _into_english(
    task: ContrastiveFlags, counts: Counter[str], words: Words, note: output.Notes
) -> Iterator[dict[str, Any]]:
    for name, read, documents in _english_corpora(task, note):
        writing = contrastive.Writing(task.corpus or name, task.context)
        for document in words.of(documents):
            yield from english.items(document, read, writing=writing, counts=counts)


def _english_corpora(
    task: ContrastiveFlags, note: output.Notes
) -> Iterator[tuple[str, english.Source, Iterable[corpus.Document]]]:
    """The name of each corpus, what the rules say of its source language, and its documents."""
    files = task.files
    if task.wmt_dir is not None:
        yield from _testsets(task.wmt_dir, task.pairs, note, quiet=task.quiet)
    elif task.source_language is not None:
        source = english.source_pronouns(task.source_language)
        made = files.documents(source_language=task.source_language, target_language=ENGLISH.code)
        yield "", source, made
    else:
        assert files.target is not None  # `ContrastiveFlags.check` has seen to it
        yield Path(files.target).name, english.NO_SOURCE, map(corpus.from_annotated, conll.read_folder(files.target))


def _testsets(
    folders: Sequence[str], pairs: Sequence[str] | None, note: output.Notes, *, quiet: bool
) -> Iterator[tuple[str, english.Source, Iterable[corpus.Document]]]:
    discovered = discovery.discover(folders, pairs=pairs, exclude=())
    for skipped in discovered.skipped:
        note(f"skipped {skipped.id}: {skipped.reason}")
    kept = [one for one in discovered.testsets if one.source in english.languages()]
    for testset in discovered.testsets:
        if testset not in kept:
            note(f"skipped {testset.id}: no rules of source pronouns for {testset.source}")
    note.begin()
    with output.bar(quiet, kept, total=len(kept), label="build", unit="test sets") as shown:
        for testset in shown:
            rows = corpus.read_testset(testset)
            documents = corpus.from_text(rows, source=testset.source, target=ENGLISH.code)
            yield testset.id, english.source_pronouns(testset.source), documents


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
    found = consistency.items(documents, task.kind, language=task.target_language, lexicon=lexicon, counts=counts)
    made = list(found)
    kept = task.by_people.kept([one.check for one in made], note)
    items = [one.item for one, keep in zip(made, kept, strict=True) if keep]
    if not items:
        raise PronmetricError(f"no item of {task.kind} is left ({_reasons(counts)})")
    with targets.AtomicFile(task.output) as file:
        file.write(strict_json.dump(items, indent=2) + "\n")
    counts.update(f"items at distance {item['ctx_dist']}" for item in items)
    suite_manifest.write(
        task.output,
        "consistency",
        words=words,
        language=task.target_language,
        blind=task.by_blind,
        inputs=[*task.files.files, task.lexicon, task.by_people.judged],
        settings={"kind": task.kind, "target_language": task.target_language},
        counts=counts,
        note=note,
    )
    print(table(("", "count"), sorted(counts.items())))


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
    found = list(discourse.items(documents, context=task.context, counts=counts))
    if not found:
        raise PronmetricError("no sentence is an item: expected an English source and its Chinese translation")
    drawn, short = discourse.draw(found, each=task.each, seed=task.seed)
    kept = task.by_people.kept([one.check for one in drawn], note)
    items = [one.item for one, keep in zip(drawn, kept, strict=True) if keep]
    if not items:
        raise PronmetricError("people found no right version better: no item is left")
    with targets.AtomicFile(task.output) as file:
        file.writelines(f"{strict_json.dump(item)}\n" for item in items)
    for name, missing in short.items():
        note(f"{name}: {missing} fewer than {task.each}")
    counts.update(f"written, {item['kind']}: {item['class']}" for item in items)
    suite_manifest.write(
        task.output,
        "cai-xiong",
        words=words,
        language=discourse.TARGET,
        blind=task.by_blind,
        inputs=[*task.files.files, task.by_people.judged],
        settings={"kind": "discourse", "context": task.context, "each": task.each, "seed": task.seed},
        counts=counts,
        note=note,
    )
    print(table(("", "count"), sorted(counts.items())))


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
        Command(
            "contrastive",
            ContrastiveFlags,
            run_contrastive,
            CONTRASTIVE,
            CONTRASTIVE_EPILOG,
            help="a contrastive suite of pronouns after ContraPro's recipe",
        ),
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
