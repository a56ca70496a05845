"""PROTEST (Guillou and Hardmeier, LREC 2016): hand-picked pronouns by function, with judged translations of systems.

The published file is an SQLite database (version 1.1 of the tables). A reference is scored against the systems'
translations whose pronoun was judged bad. New translations are compared with the reference at the pronoun and, where
agreement is required, at the head of its antecedent, as in the paper's automatic evaluation.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pronmetric.errors import InputError
from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Judged,
    Judging,
    Reading,
    Scores,
    judge_copies,
    linked,
    no_documents,
    read_links,
    read_translations,
    verdict,
)
from pronmetric.text.entry import Entry

CATEGORY, PRONOUN = "category", "pronoun"
_OK, _BAD = "ok", "bad"
_TABLES = (
    "corpora",
    "documents",
    "sentences",
    "categories",
    "pro_candidates",
    "pro_antecedents",
    "translations",
    "annotations",
)
_EXPECTED = "expected the SQLite database of PROTEST 1.1"

ABOUT = About(
    name="protest",
    title="PROTEST (Guillou and Hardmeier, LREC 2016)",
    languages="en-fr, en-de",
    targets=("fr", "de"),
    phenomena="pronouns by function (anaphoric, event, pleonastic, addressee reference)",
    judged=("scores", "translations"),
    by=CATEGORY,
    text="""Set: the SQLite database of bitbucket.org/lianeg/protest, version 1.1 of its tables. The reference is the
target corpus without pronoun candidates.
One score for each line: the reference, then each different translation of a system whose pronoun was judged bad by more
annotators than ok. An item is right if the reference scores strictly better than all of these. Examples without a bad
translation are left out (counted).
--translations: one line for each sentence of the source corpus; --alignment FILE: word alignments (s-t s-t ..., from
0) of its blank-separated words. An example is right if a translation of the pronoun is also one in the reference,
lower-cased; in the categories with agreement, a translation of the head of an antecedent too. A word that neither side
translates is right. Accuracy by category and pronoun. Intervals are over the documents.""",
)

Place = tuple[int, int]
"""A line of the source corpus and the index of a word in it."""


class _Category(NamedTuple):
    name: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class _Example:
    """A pronoun of the source and its translations.

    antecedents: the places of their heads, by number. wanted: the reference's words, lower-cased, by the number of the
    antecedent (None: the pronoun).
    """

    item: Item
    category: _Category
    pronoun: Place
    antecedents: Mapping[int, Place]
    wanted: Mapping[int | None, frozenset[str]]


class _Database:
    """The tables of a file, indexed."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.tables = _read_tables(path)
        self.sentences = {
            (one.whole("corpus"), one.whole("line")): one.string("sentence") for one in self.tables["sentences"]
        }
        self.categories = {
            one.whole("id"): _Category(one.string("description"), bool(one.get("antagreement")))
            for one in self.tables["categories"]
        }
        self.source, self.reference = self._corpora()
        self.annotated: defaultdict[int, Counter[object]] = defaultdict(Counter)
        for one in self.tables["annotations"]:
            self.annotated[one.whole("candidate")][one.get("anaph_annotation")] += 1

    def _corpora(self) -> tuple[int, int]:
        """The source corpus and the reference."""
        candidates = self.tables["pro_candidates"]
        if not candidates:
            raise InputError(f"{_EXPECTED}: its table pro_candidates is empty; it has no examples", file=self.path)
        sources = {one.whole("srccorpus") for one in candidates}
        with_candidates = {one.whole("tgtcorpus") for one in candidates}
        references = [
            one.whole("id")
            for one in self.tables["corpora"]
            if one.one_of("srctgt", (0, 1)) == 1 and one.whole("id") not in with_candidates
        ]
        for name, found in (("source corpus", sources), ("reference (target corpus without candidates)", references)):
            if len(found) != 1:
                raise InputError(f"{_EXPECTED} with one {name}, got {len(found)}: leave others out", file=self.path)
        return sources.pop(), references[0]

    def lines(self) -> list[int]:
        """The lines of the source corpus, in order."""
        return sorted(line for corpus, line in self.sentences if corpus == self.source)

    def sentence(self, corpus: int, line: int, entry: Entry) -> str:
        """A sentence; `entry` is what needs it, for the error."""
        if (corpus, line) not in self.sentences:
            entry.fail(f"line {line} of corpus {corpus} is not in the table sentences; give the whole database")
        return self.sentences[corpus, line]

    def start(self, line: int) -> int:
        """The first line of the document that contains a line; 0 where there is none."""
        spans = ((one.whole("start"), one.whole("end")) for one in self.tables["documents"] if self._of_source(one))
        return max((start for start, end in spans if start <= line <= end), default=0)

    def _of_source(self, document: Entry) -> bool:
        return document.whole("corpus") == self.source

    def is_bad(self, candidate: Entry) -> bool:
        """Whether more annotators call the pronoun bad than ok."""
        answers = self.annotated[candidate.whole("id")]
        return answers[_BAD] > answers[_OK]


def _read_tables(path: str | Path) -> dict[str, list[Entry]]:
    if not Path(path).is_file():
        raise InputError(f"no such file; {_EXPECTED}", file=path)
    try:
        with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return {name: _rows(path, name, connection.execute(f"SELECT * FROM {name}")) for name in _TABLES}
    except sqlite3.Error as error:
        raise InputError(f"{_EXPECTED}: {error}", file=path) from None


def _rows(path: str | Path, table: str, rows: Iterable[sqlite3.Row]) -> list[Entry]:
    named = ((f"table {table}, row {number}", dict(row)) for number, row in enumerate(rows, start=1))
    return [Entry(row, file=path, name=name) for name, row in named]


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The examples: the reference's sentence, and the systems' sentences with a bad pronoun.

    Raises:
        InputError: the file is no such database; with table and row, where a value or a sentence is missing.
    """
    no_documents(path, reading)
    return tuple(one.item for one in _examples(_Database(path), reading.context))


def _examples(database: _Database, size: int) -> list[_Example]:
    by_number: dict[int, list[Entry]] = {}
    for candidate in database.tables["pro_candidates"]:
        by_number.setdefault(candidate.whole("example_no"), []).append(candidate)
    antecedents: defaultdict[int, dict[int, Place]] = defaultdict(dict)
    for one in database.tables["pro_antecedents"]:
        place = one.whole("line", least=0), one.whole("srcheadpos", least=0)
        antecedents[one.whole("example_no")][one.whole("ant_no")] = place
    wanted: defaultdict[int, dict[int | None, frozenset[str]]] = defaultdict(dict)
    for one in database.tables["translations"]:
        if one.whole("tgtcorpus") == database.reference:
            words = wanted[one.whole("example_no")]
            number = None if one.get("ant_no") is None else one.whole("ant_no")
            words[number] = words.get(number, frozenset()) | {_word(database, one)}
    return [
        _example(database, example, candidates, size, antecedents[example], wanted[example])
        for example, candidates in by_number.items()
    ]


def _word(database: _Database, translation: Entry) -> str:
    """The reference's word at a place, lower-cased."""
    words = database.sentence(database.reference, translation.whole("line", least=0), translation).split(" ")
    return words[translation.whole("tgtpos", least=0, most=len(words) - 1)].lower()


def _example(
    database: _Database,
    number: int,
    candidates: Sequence[Entry],
    size: int,
    antecedents: Mapping[int, Place],
    wanted: Mapping[int | None, frozenset[str]],
) -> _Example:
    first = candidates[0]
    line, start = first.whole("line", least=0), database.start(first.whole("line", least=0))
    category = database.categories.get(first.whole("category_no"))
    if category is None:
        first.fail(f"category {first.whole('category_no')} is not in the table categories")
    bad = [one.whole("tgtcorpus") for one in candidates if database.is_bad(one)]
    source = database.sentence(database.source, line, first)
    contexts = [
        tuple(database.sentence(corpus, before, first) for before in range(max(start, line - size), line))
        for corpus in (database.source, database.reference)
    ]
    targets = [database.sentence(corpus, line, first) for corpus in (database.reference, *bad)]
    item = Item(
        id=str(number),
        candidates=tuple(Candidate(source, target, *contexts) for target in dict.fromkeys(targets)),
        groups={CATEGORY: category.name, PRONOUN: first.string("srcpro").lower()},
        document=f"from line {start}",
    )
    return _Example(item, category, (line, first.whole("srcpos", least=0)), antecedents, wanted)


def judge(items: Sequence[Item], scores: Sequence[Scores], judging: Judging) -> Judged:
    """The verdicts on the examples with a bad translation; the others are left out and counted."""
    cure = "annotate translations in the database, or give `translations=`"
    return judge_copies(items, scores, copies="a translation that annotators call bad", cure=cure)


def judge_translations(path: str | Path, translations: str | Path, judging: Judging) -> Judged:
    """The verdicts by the reference's words for the pronoun and its antecedent.

    Raises:
        InputError: no alignment; another number of lines than source sentences; a link to no word.
    """
    alignment = judging.alignment
    if alignment is None:
        raise InputError("the pronoun is found by word alignment: give `alignment=`", file=translations)
    database = _Database(path)
    lines = database.lines()
    written = dict(zip(lines, read_translations(translations, len(lines), blank=True), strict=True))
    links = dict(zip(lines, read_links(alignment, len(lines)), strict=True))

    def matches(place: Place, wanted: Collection[str]) -> bool:
        line, word = place
        if line not in written:
            raise InputError(f"{_EXPECTED}: line {line} of the source corpus is missing", file=path)
        words = written[line].split()
        places = linked(links[line], (word,), len(words), file=alignment, line=lines.index(line) + 1)
        found = {words[place].lower() for place in places}
        return bool(found & set(wanted)) or not (found or wanted)

    verdicts, pronouns = [], 0
    for one in _examples(database, 0):
        right = matches(one.pronoun, one.wanted.get(None, frozenset()))
        pronouns += right
        heads = one.antecedents.items() if one.category.agrees else ()
        agrees = [matches(place, one.wanted.get(number, frozenset())) for number, place in heads]
        verdicts.append(verdict(one.item, right and (any(agrees) or not agrees)))
    return Judged(tuple(verdicts), {"pronouns right, whatever the antecedent": pronouns})
