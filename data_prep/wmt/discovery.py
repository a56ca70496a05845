"""WMT test sets in all their layouts: discovery in a folder, and reading.

`discover` is cheap and reads names (for JSONL and SGM files also the content that names the test set); `read` gives
the documents of one test set, so that preparation can process test sets one by one and resume. Layouts: text files
(text), XML (xml), SGM (sgm), JSONL (jsonl), mt-metrics-eval's folders (evalset) and plain files (plain).
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from data_prep.documents import EnglishDocument
from data_prep.wmt import evalset, jsonl, parallel, plain, sgm, xml
from data_prep.wmt.merge import merge
from data_prep.wmt.testset import Columns, Extent, Part, TestSet, documents
from pronmetric.errors import InputError
from pronmetric.schema import Document
from pronmetric.text import language_codes
from pronmetric.text.lines import check_segment

RESERVED = ("newstest2017", "newsdiscusstest2015", "wmt23:zh-en", "wmt23:he-en")
"""Reserved test sets, not read by default: `NAME`, `NAME:LP`, `wmtYY` or `wmtYY:LP`."""

LAYOUTS = (
    "wmtNN-news-systems checkouts (TESTSET.LP.ref.NAME.en and TESTSET.LP.hyp.SYSTEM.en text files, *.xml), "
    "WMT .sgm files, WMT25 .jsonl files, mt-metrics-eval's folders (documents, sources, references, system-outputs), "
    "or a folder with ref.txt and one .txt file a system"
)
ASIDE = {"txt-ts", "humaneval", "humeval", "scores", "tools", "metrics"}
"""Folders of the WMT repositories without test sets (`txt-ts` repeats `txt` with test suites mixed in)."""
TELLING = 20
"""Letters and digits of a line from which on its repetition is not a coincidence."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A test set that is skipped, and the reason, for one line on stderr."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """The test sets of a folder: those to read, sorted by year, name and pair, and those skipped."""

    testsets: tuple[TestSet, ...]
    skipped: tuple[Skipped, ...]

    def noted(self, note: Callable[[str], object]) -> tuple[TestSet, ...]:
        """Those to read, after a note of each that is skipped."""
        for each in self.skipped:
            note(f"skipped {each.id}: {each.reason}")
        return self.testsets


Folders = str | Path | Sequence[str | Path]


def discover(
    folder: Folders,
    *,
    years: Sequence[int] | None = None,
    pairs: Sequence[str] | None = None,
    exclude: Sequence[str] = RESERVED,
    target: str = "en",
) -> Discovery:
    """The test sets into English of a folder (one checkout or several) or of several folders.

    years: 21 or 2021, None for all. pairs: "de-en", None for all. exclude: see `RESERVED`; () lifts it.

    Raises:
        InputError: no such folder, nothing readable in it, a filter that leaves nothing, a malformed filter.
    """
    everything = [testset for testset in find(folder) if testset.target == target]
    lonely = without_collection(folder)
    if not everything:
        raise InputError(
            f"holds no WMT test set into {language_codes.name(target)}"
            f"{f'; {lonely.id}: {lonely.reason}' if lonely else ''}; understood are {LAYOUTS}",
            file=_listed(folder),
        )
    kept, skipped = [], [lonely] if lonely else []
    for testset in select(everything, years=years, pairs=pairs, target=target):
        reason = reason_to_skip(testset, exclude)
        if reason:
            skipped.append(Skipped(testset.id, reason))
        else:
            kept.append(testset)
    if not kept:
        reasons = "; ".join(f"{entry.id}: {entry.reason}" for entry in skipped)
        raise InputError(f"no test set is left ({reasons}); data.exclude=[] lifts the exclusion", file=_listed(folder))
    return Discovery(tuple(kept), tuple(skipped))


def without_collection(folder: Folders) -> Skipped | None:
    """The JSONL files of system outputs that have no collection with their sources and references; None without any."""
    files = list(dict.fromkeys(path for root in roots(folder) for path in walk(root)))
    lonely = jsonl.without_collection(evalset.others(files, evalset.find(files)))
    if not lonely:
        return None
    named = f"{lonely[0]}" + (f" and {len(lonely) - 1} more files of outputs" if len(lonely) > 1 else "")
    return Skipped(
        named,
        'no collection, the .jsonl file with "src_text" and "refs" of the test set (wmt25-genmt.jsonl), in a folder '
        "above it; put it there",
    )


def reason_to_skip(testset: TestSet, exclude: Sequence[str]) -> str | None:
    """The reason why a test set is skipped, or None."""
    for entry in exclude:
        if matches(testset, entry):
            return f"excluded by data.exclude ({entry})"
    roles = {part.role.rpartition("-")[2] for part in testset.parts}
    if roles & {"xml", "jsonl"}:
        return None
    if "ref" not in roles:
        return "no reference"
    return None if "hyp" in roles else "no system output"


def matches(testset: TestSet, entry: str) -> bool:
    """Whether an entry of `exclude` names this test set."""
    name, colon, pair = entry.partition(":")
    lp = language_codes.pair(pair)
    if not name or set(entry) & set(" \t\n") or (colon and lp is None):
        raise InputError(f"data.exclude: {entry!r} is none of NAME, NAME:LP, wmtYY, wmtYY:LP (wmt23:zh-en)")
    short = "" if testset.year is None else f"wmt{testset.year % 100:02d}"
    return name in (testset.name, short) and (lp is None or "-".join(lp) == testset.lp)


def select(
    testsets: Iterable[TestSet], *, years: Sequence[int] | None, pairs: Sequence[str] | None, target: str = "en"
) -> list[TestSet]:
    """The test sets of these years and pairs; an error names the filter that leaves nothing."""
    found = list(testsets)
    if years is not None:
        wanted = {2000 + year if year < 100 else year for year in years}
        have = sorted({testset.year for testset in found if testset.year is not None})
        found = [testset for testset in found if testset.year in wanted]
        if not found:
            raise InputError(f"data.years={list(years)} leaves no test set; there are the years {have}")
    there = sorted({testset.lp for testset in found})
    if pairs is not None:
        wished = set()
        for pair in pairs:
            languages = language_codes.pair(pair)
            if languages is None or languages[1] != target:
                into = language_codes.name(target)
                raise InputError(f"data.pairs: {pair!r} is no pair into {into} such as {there[0]}")
            wished.add("-".join(languages))
        found = [testset for testset in found if testset.lp in wished]
        if not found:
            raise InputError(f"data.pairs={list(pairs)} leaves no test set; there are the pairs {there}")
    return found


def choose(testsets: Sequence[TestSet], ids: Sequence[str] | None) -> tuple[TestSet, ...]:
    """The test sets of these ids ("newstest2021.de-en"), in their order; None: all.

    Raises:
        InputError: there is no such test set.
    """
    there = [testset.id for testset in testsets]
    if unknown := [name for name in ids or () if name not in there]:
        raise InputError(f"no test set {', '.join(unknown)}; there are: {', '.join(there)}")
    return tuple(testset for testset in testsets if ids is None or testset.id in ids)


def roots(folder: Folders) -> list[Path]:
    """The folders, one or several, as a list."""
    return [Path(folder)] if isinstance(folder, str | Path) else [Path(each) for each in folder]


def _listed(folder: Folders) -> str:
    return ", ".join(map(str, roots(folder)))


def find(folder: Folders) -> list[TestSet]:
    """All test sets of a folder or of several, of all pairs, sorted by year, name and pair.

    Raises:
        InputError: no such folder; a duplicate test set.
    """
    files = list(dict.fromkeys(path for root in roots(folder) for path in walk(root)))
    sets = evalset.find(files)
    files = evalset.others(files, sets)
    marked = [*xml.find(files), *sgm.find(files)]
    found = [*sets, *unite(marked, parallel.find(files)), *jsonl.find(files), *plain.find(files)]
    once: dict[str, TestSet] = {}
    for testset in found:
        if other := once.get(testset.id):
            message = f"test set {testset.id} is also in {other.paths[0]}; keep one of them"
            raise InputError(message, file=testset.paths[0])
        once[testset.id] = testset
    return sorted(found, key=lambda testset: (testset.year or 0, testset.name, testset.lp))


def walk(root: Path) -> list[Path]:
    """All files below a folder, sorted, without hidden folders and those without test sets; links are followed."""
    if not root.is_dir():
        problem = "is no folder" if root.exists() else "no such folder"
        raise InputError(f"{problem}; data.wmt is a folder with {LAYOUTS}", file=root)
    files = []
    seen = set()
    for place, folders, names in os.walk(root, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if name not in ASIDE and not name.startswith("."))
        files += [Path(place, name) for name in sorted(names) if not name.startswith(".")]
    return files


def unite(marked: Sequence[TestSet], text: Sequence[TestSet]) -> list[TestSet]:
    """Merge text files and markup of the same test set: by name, else (WMT22 and 23) by year and pair."""
    by_name = {(testset.name, testset.lp): testset for testset in text}
    by_year: defaultdict[tuple[int | None, str], list[TestSet]] = defaultdict(list)
    for testset in (*marked, *text):
        by_year[testset.year, testset.lp].append(testset)
    used: set[str] = set()
    found = []
    for testset in marked:
        same_year = [other for other in by_year[testset.year, testset.lp] if other is not testset]
        twin = by_name.get((testset.name, testset.lp))
        if twin is None and testset.year is not None and len(same_year) == 1 and not markup(same_year[0]):
            twin = same_year[0]
        if twin is None or twin.id in used:
            found.append(testset)
        else:
            used.add(twin.id)
            found.append(replace(twin, parts=tuple(sorted((*twin.parts, *testset.parts)))))
    return found + [testset for testset in text if testset.id not in used]


def markup(testset: TestSet) -> list[Part]:
    """The XML and SGM files of a test set."""
    return testset.having("xml", *sgm.PARTS)


def read(testset: TestSet, *, tally: Counter[str] | None = None) -> Iterator[Document]:
    """The documents of one test set, in order; without document boundaries one with `exact=False`.

    The tally counts removed byte-order marks, empty outputs, test-suite documents left out ...

    Raises:
        InputError: with file and line, for an invalid file, or a segment above its limit of characters.
    """
    yield from documents(testset, check_lengths(testset, columns(testset, tally=tally)))


def columns(testset: TestSet, *, tally: Counter[str] | None = None) -> Columns:
    """The content of a test set, from all its layouts."""
    counts: Counter[str] = Counter() if tally is None else tally
    text = parallel.read(testset, tally=counts) if testset.having(*parallel.ROLES) else None
    marked = None
    for roles, reader in ((("xml",), xml), (sgm.PARTS, sgm), (("jsonl",), jsonl), (evalset.PARTS, evalset)):
        if testset.having(*roles):
            marked = without_marks(reader.read(testset, tally=counts), counts)
    if marked and text:
        files = {"marked_file": markup(testset)[0].path, "text_file": testset.having(*parallel.ROLES)[0].path}
        return count_empty(merge(marked, text, tally=counts, **files), counts)
    found = marked or text
    if found is None or not found.size:
        raise InputError(f"test set {testset.id} holds no segment", file=testset.paths[0])
    return count_empty(found, counts)


def check_lengths(testset: TestSet, found: Columns) -> Columns:
    """The columns, if no segment is longer than the limit; the error names the file and its line or segment."""
    lines = testset.having(*parallel.ROLES, *evalset.PARTS)
    texts = {(part.role.removeprefix(evalset.PREFIX), part.name): part.path for part in lines}
    holder = next((part.path for part in testset.parts if part not in lines), testset.paths[0])
    named: list[tuple[str, str, Sequence[str | None]]] = [("src", "", found.src or [])]
    named += [("ref", name, rows) for name, rows in found.refs.items()]
    named += [("hyp", name, rows) for name, rows in found.hyps.items()]
    for role, name, rows in named:
        path, what = texts.get((role, name)), f"{role} {name}".strip()
        for number, text in enumerate(rows, start=1):
            if path is not None:
                check_segment(text or "", file=path, line=number)
            else:
                check_segment(text or "", file=f"{holder} ({what}, segment {number})")
    return found


def without_marks(found: Columns, tally: Counter[str]) -> Columns:
    """The columns without byte-order marks before a segment, which converters left; they are counted."""

    def clean(text: str) -> str:
        if not text.startswith("\ufeff"):
            return text
        tally["bom"] += 1
        return text.lstrip("\ufeff")

    def cleaned(rows: list[str | None]) -> list[str | None]:
        return [None if text is None else clean(text) for text in rows]

    return replace(
        found,
        src=None if found.src is None else [clean(text) for text in found.src],
        refs={name: cleaned(rows) for name, rows in found.refs.items()},
        hyps={name: cleaned(rows) for name, rows in found.hyps.items()},
    )


def count_empty(found: Columns, tally: Counter[str]) -> Columns:
    """The columns, with their empty texts counted."""
    tally["segments"] += found.size
    tally["empty references"] += sum(text is not None and not text.strip() for r in found.refs.values() for text in r)
    tally["empty outputs"] += sum(text is not None and not text.strip() for r in found.hyps.values() for text in r)
    return found


def english_sources(
    folder: Folders,
    *,
    years: Sequence[int] | None = None,
    exclude: Sequence[str] = RESERVED,
    language: str = "en",
) -> Iterator[EnglishDocument]:
    """The English sources of the pairs out of English, as plain English text, each sentence once.

    The pairs of a year share most of their source: the longest is read first, of the others only the runs of lines
    that are not in an earlier one (or in a part of its lines: WMT23 en-de has paragraphs of the same sentences).
    The source is "wmtYY" (or the test set's name), the genre None.

    Raises:
        InputError: as `discover` and `read`; a folder without such a source is no error.
    """
    found = [testset for testset in find(folder) if testset.source == language and testset.target != language]
    found = [testset for testset in found if not any(matches(testset, entry) for entry in exclude)]
    if years is not None:
        wanted = {2000 + year if year < 100 else year for year in years}
        found = [testset for testset in found if testset.year in wanted]
    groups: defaultdict[str, list[TestSet]] = defaultdict(list)
    for testset in found:
        groups[testset.name if testset.year is None else f"wmt{testset.year % 100:02d}"].append(testset)
    for source, testsets in groups.items():
        yield from drop_repeats(source, testsets)


def drop_repeats(source: str, testsets: Iterable[TestSet]) -> Iterator[EnglishDocument]:
    """The runs of source lines that are new in the group (longer test sets first), ignoring quotes and spaces."""
    contents = [(testset, source_columns(testset)) for testset in testsets]
    seen = ""
    for testset, found in sorted(contents, key=lambda content: (-content[1].size, content[0].id)):
        lines = found.src or []
        number = start = 0
        for extent in found.extents or [Extent(testset.id, len(lines))]:
            rows = lines[start : start + extent.size]
            start += extent.size
            for is_new, run in groupby(zip(mark_new(rows, seen), rows, strict=True), key=lambda pair: pair[0]):
                texts = tuple(text for _, line in run if (text := line.strip()))
                if texts and is_new:
                    number += 1
                    yield EnglishDocument(source, f"{testset.id}.{number}", texts, exact=found.extents is not None)
        seen += "".join(map(bare, lines))


def mark_new(lines: Iterable[str], seen: str) -> Iterator[bool]:
    """For each line, whether it is new; a line too short to decide is treated like the line before it."""
    is_new = True
    for line in lines:
        text = bare(line)
        if len(text) >= TELLING:
            is_new = text not in seen
        yield is_new


def bare(text: str) -> str:
    """The letters and digits of a text, in lower case, for finding near copies."""
    return "".join(character for character in text.lower() if character.isalnum())


def source_columns(testset: TestSet) -> Columns:
    """The columns of a test set for its source alone (other text files are not read)."""
    parts = testset.having("src") or testset.having("sgm-src") or testset.having("evalset-docs", "evalset-src")
    parts = parts or testset.having("xml", "jsonl")
    return columns(replace(testset, parts=tuple(parts)))
