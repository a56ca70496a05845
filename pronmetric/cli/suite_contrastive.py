"""`pronmetric suite build contrastive`: suites after ContraPro from parallel corpora."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from data_prep import translations
from data_prep.coreference import conll
from data_prep.suites import contrastive, corpus, english, grammatical
from data_prep.wmt import discovery
from pronmetric.alignment import parsed
from pronmetric.cli import output, suite_manifest
from pronmetric.cli.parser import (
    Command,
    Exclusive,
    Flags,
    UsageError,
    flag,
    part,
    switch,
    whole,
)
from pronmetric.cli.suite_manifest import BlindFlags, Words
from pronmetric.errors import PronmetricError
from pronmetric.output import targets
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.text import strict_json

CORPUS = "corpus"


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
        raise PronmetricError(f"no item is left ({reasons(counts)})")
    if task.balance or task.each is not None:
        items = contrastive.balance(items, each=task.each, seed=task.seed)
    content = strict_json.dump(items, indent=2)
    note.begin()
    note(f"{len(items)} of {counts['items']} items are written")
    counts.update(f"items {item['ref pronoun'].lower()}" for item in items)
    counts.update(f"items by {item[english.BY]}" for item in items if english.BY in item)
    settings = {name: vars(task)[name] for name in ("source_language", "pairs", "context", "balance", "each", "seed")}
    suite_manifest.write(
        task.output,
        content,
        "contrapro",
        words=words,
        language=task.target_language,
        blind=task.by_blind,
        inputs=task.files.files,
        settings={"kind": "contrastive", "target_language": task.target_language, **settings},
        counts=counts,
        note=note,
    )


def reasons(counts: Counter[str]) -> str:
    """Why candidates are no items, with their numbers."""
    return "; ".join(f"{name}: {count}" for name, count in sorted(counts.items())) or "no candidate"


def _with_chains(
    task: ContrastiveFlags, counts: Counter[str], words: Words, note: output.Notes
) -> Iterator[dict[str, Any]]:
    of, writing = contrastive.rules(task.target_language), contrastive.Writing(task.corpus, task.context)
    for document in words.of(task.files.documents(source_language="", target_language=task.target_language)):
        yield from contrastive.items(document, of, writing=writing, counts=counts)


def _by_gender(task: ContrastiveFlags, counts: Counter[str], words: Words, note: output.Notes) -> list[dict[str, Any]]:
    """The items of text in which nothing but agreement tells the antecedent; an item that comes again counts once."""
    code, texts = task.target_language, list[tuple[str, list[corpus.Document]]]()
    if task.wmt_dir is None and task.parallel is None:
        texts.append(("", task.files.documents(source_language=ENGLISH.code, target_language=code)))
    else:
        rows = [
            (testset.id, corpus.read_testset(testset))
            for testset in translations.parallel_sets(task.parallel or (), target=code)
        ]
        if task.wmt_dir is not None:
            testsets = discovery.discover(task.wmt_dir, pairs=[f"{code}-{ENGLISH.code}"], exclude=())
            rows += [(testset.id, corpus.swapped(corpus.read_testset(testset))) for testset in testsets.noted(note)]
        note.begin()
        with output.bar(task.quiet, rows, total=len(rows), label="align", unit="test sets") as shown:
            texts += [(name, corpus.from_text(each, source=ENGLISH.code, target=code)) for name, each in shown]
    agreement = grammatical.Agreement.of(code)
    known = grammatical.genders((document for _, documents in texts for document in documents), agreement)
    items: dict[tuple[str, str, str], dict[str, Any]] = {}
    for name, documents in texts:
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
    testsets = discovery.discover(folders, pairs=pairs, exclude=()).noted(note)
    kept = [one for one in testsets if one.source in english.languages()]
    for testset in testsets:
        if testset not in kept:
            note(f"skipped {testset.id}: no rules of source pronouns for {testset.source}")
    note.begin()
    with output.bar(quiet, kept, total=len(kept), label="build", unit="test sets") as shown:
        for testset in shown:
            rows = corpus.read_testset(testset)
            documents = corpus.from_text(rows, source=testset.source, target=ENGLISH.code)
            yield testset.id, english.source_pronouns(testset.source), documents


COMMAND = Command(
    "contrastive",
    ContrastiveFlags,
    run_contrastive,
    CONTRASTIVE,
    CONTRASTIVE_EPILOG,
    help="a contrastive suite of pronouns after ContraPro's recipe",
)
