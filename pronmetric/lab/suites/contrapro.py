"""ContraPro (Müller et al. 2018, en-de) and the sets in its format (Lopes et al. 2020, en-fr).

A JSON list of items: a source and reference segment with an ambiguous pronoun, and contrastive copies of the reference
with another pronoun. The generation variant is a TSV file of a system's output (Post and Junczys-Dowmunt 2023).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from pronmetric.errors import InputError, MissingExtra
from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Judging,
    Reading,
    Scores,
    SuiteVerdicts,
    Verdict,
    read_list,
    strict_verdicts,
)
from pronmetric.text import numbers
from pronmetric.text.entry import Entry
from pronmetric.text.lines import iter_lines, read_lines

PRONOUNS = ("sie", "er", "es", "il", "elle", "elles", "ils")
ENGLISH = ("he", "she", "it", "they")
"""The reference pronouns of sets into English, of `suite build contrastive`."""
PAIR, LOCATION, DISTANCE, BY = "pronoun pair", "antecedent location", "distance", "antecedent by"
LANGUAGE = "de"
_LOCATIONS = {True: "same segment", False: "earlier segment", None: "unknown"}
_COLUMNS = (6, 7)  # without, and with, the index of the sentence before them
_EXPECTED = "expected ContraPro's JSON list of items"

ABOUT = About(
    name="contrapro",
    title="ContraPro (Müller et al., WMT 2018); en-fr: Lopes et al., EAMT 2020",
    languages="en-de, en-fr",
    targets=("de", "fr"),
    phenomena="translation of ambiguous pronouns (it, they)",
    judged=("scores", "translations"),
    by=PAIR,
    text="""Set: contrapro.json of github.com/ZurichNLP/ContraPro, or a file in its format. One score for each line: the
reference, then its contrastive copies, item by item. An item is right if the reference scores strictly better than
every copy. Accuracy by pronoun pair, antecedent location and distance (0, 1, 2, 3, >3).
--documents DIR: the OpenSubtitles documents, one sentence a line, as ContraPro's setup script writes them. A set of
`suite build contrastive` holds its previous sentences ("src context", "ref context") and says by what its antecedents
are known.
--pronouns judges only items with these reference pronouns, after scoring; without values: sie er es il elle elles ils.
--translations: TSV with the columns distance, label, pronoun, source, reference, system, optionally preceded by the
index of the sentence to judge; an item is right if its pronoun is a token of that sentence (needs sacremoses).
--compat: surplus lines are ignored, fields after the score too, NaN is allowed, and --pronouns leaves the scores of the
copies of filtered items unread, as the fork of the program does.""",
)


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The items of a set; each with its previous sentences, of `reading.documents` or those that it holds.

    Raises:
        InputError: with the item, where a key is missing or a value is of another kind; no previous sentences.
    """
    documents = Documents(reading.documents) if reading.documents is not None else None
    return tuple(_item(entry, number, documents, reading) for number, entry in enumerate(read_list(path, _EXPECTED)))


def _item(entry: Entry, number: int, documents: Documents | None, reading: Reading) -> Item:
    def text(of: Entry, key: str, other: str = "") -> str:
        return of.string(key) if reading.texts or key in of.record else other

    source, reference = text(entry, "src segment"), text(entry, "ref segment")
    errors = [text(error, "contrastive") for error in entry.entries("errors")]
    distance = entry.whole("ante distance", least=0)
    document = text(entry, "document id", f"item {number}")
    before: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    if documents is not None:
        try:
            before = documents.before(document, entry.whole("segment id", least=0), source, reading.context)
        except InputError as error:
            raise InputError(f"{entry.name}: {error}", file=entry.file) from None
    elif reading.context:
        before = _held(entry, "src context", reading.context), _held(entry, "ref context", reading.context)
    by = {BY: entry.string(BY)} if BY in entry.record else {}
    pronoun = entry.string("ref pronoun").lower()
    pair = f"{entry.string('src pronoun').lower()}:{pronoun}"
    location = _LOCATIONS[entry.one_of("intrasegmental", (True, False, None))]
    return Item(
        id=str(number),
        candidates=tuple(Candidate(source, target, *before) for target in (reference, *errors)),
        groups={PAIR: pair, LOCATION: location, DISTANCE: str(distance) if distance <= 3 else ">3", **by},
        document=document,
        language="en" if pronoun in ENGLISH else "",
    )


def _held(entry: Entry, key: str, size: int) -> tuple[str, ...]:
    """The last `size` previous sentences that an item holds, oldest first."""
    if key not in entry.record:
        raise InputError("holds no context sentences: give `documents=DIR`, or `context=0`", file=entry.file)
    return entry.strings(key)[-size:]


def judge(items: Sequence[Item], scores: Sequence[Scores], judging: Judging) -> SuiteVerdicts:
    """The verdicts, filtered by reference pronoun, and how many items of each pair there are by distance."""
    if judging.compat and judging.pronouns is not None:
        items, scores = _misaligned(items, scores, judging.pronouns)
    kept = [
        (item, values)
        for item, values in zip(items, scores, strict=True)
        if judging.pronouns is None or _reference_pronoun(item) in judging.pronouns
    ]
    verdicts = strict_verdicts([item for item, _ in kept], [values for _, values in kept])
    counts = Counter((verdict.groups[DISTANCE], verdict.groups[PAIR]) for verdict in verdicts)
    by_distance: dict[str, dict[str, int]] = {}
    for (distance, pair), count in sorted(counts.items()):
        by_distance.setdefault(distance, {})[pair] = count
    further: dict[str, object] = {"pairs by distance": by_distance}
    if judging.pronouns is not None:
        further["items left out by --pronouns"] = len(items) - len(kept)
    return SuiteVerdicts(verdicts, further)


def _reference_pronoun(item: Item) -> str:
    return item.groups[PAIR].split(":", 1)[1]


def _misaligned(
    items: Sequence[Item], scores: Sequence[Scores], pronouns: Sequence[str]
) -> tuple[list[Item], list[Scores]]:
    """Scores as the fork reads them: of an item that is filtered out, only the first score is consumed."""
    stream = (value for values in scores for value in values)
    cut: list[Scores] = []
    for item in items:
        wanted = len(item.candidates) if _reference_pronoun(item) in pronouns else 1
        cut.append([next(stream) for _ in range(wanted)])
    return list(items), cut


def judge_translations(path: str | Path | None, translations: str | Path, judging: Judging) -> SuiteVerdicts:
    """The verdicts on a TSV of translations, which brings its own references: `path` is not read.

    With `judging.proportional`, instead of the sentence, the last int(tokens of the system's text x share of the source
    that is its last sentence x `proportional`) tokens are searched; all are where that is 0, as in the fork's program.

    Raises:
        InputError: with the line, where it has another number of columns or a column of another kind.
        MissingExtra: sacremoses is not installed.
    """
    try:
        from sacremoses import MosesTokenizer
    except ModuleNotFoundError:
        raise MissingExtra("sacremoses", "suites", "the generation variant of contrapro") from None
    tokenizer = MosesTokenizer(lang=judging.language or LANGUAGE)
    verdicts, empty = [], 0
    for number, (place, distance, pronoun, source, system) in _rows(translations):
        if judging.distance is not None and not judging.distance[0] <= distance <= judging.distance[1]:
            continue
        if judging.pronouns is not None and pronoun not in judging.pronouns:
            continue
        sentence = _sentence(system, source, place, judging)
        empty += sentence is None
        tokens = tokenizer.tokenize(sentence or "", return_str=True).lower().split()
        groups = {"pronoun": pronoun, DISTANCE: str(distance) if distance <= 3 else ">3"}
        verdicts.append(Verdict(str(number), pronoun in tokens, groups, str(number)))
    return SuiteVerdicts(tuple(verdicts), {"sentence index out of range": empty})


def _rows(path: str | Path) -> Iterator[tuple[int, tuple[int | None, int, str, str, str]]]:
    """The rows labelled "correct": line, (index of the sentence, distance, pronoun, source, system's text)."""
    for number, line in enumerate(iter_lines(path), start=1):
        cells = line.split("\t")
        if len(cells) not in _COLUMNS:
            expected = "distance, label, pronoun, source, reference, system, optionally an index before them"
            raise InputError(f"expected 6 or 7 columns ({expected}), got {len(cells)}", file=path, line=number)
        place = _whole(cells[0], "index", path, number) if len(cells) == _COLUMNS[1] else None
        distance, label, pronoun, source, _, system = cells[-6:]
        if label == "correct":
            yield number, (place, _whole(distance, "distance", path, number), pronoun.lower(), source, system)


def _sentence(system: str, source: str, place: int | None, judging: Judging) -> str | None:
    """The part of the system's text that is searched; None where it has too few sentences."""
    if judging.proportional is not None:
        share = len(source.split(judging.separator)[-1].split()) / max(1, len(source.split()))
        tokens = system.split()
        return " ".join(tokens[-int(len(tokens) * share * judging.proportional) :])
    sentences = system.split(judging.separator)
    try:
        return sentences[-1 if place is None else place]
    except IndexError:
        return None


def _whole(cell: str, name: str, path: str | Path, line: int) -> int:
    try:
        return numbers.whole(cell)
    except ValueError:
        raise InputError(f"expected a whole number as {name}, got {cell[:40]!r}", file=path, line=line) from None


class Documents:
    """The documents of parallel subtitles below a folder, one sentence a line, as ContraPro's setup script writes them.

    A document is two line-parallel files: NAME.SOURCE and NAME.TARGET. An id with a suffix names the target file and
    counts segments from 1; an id without one names both files and counts from 0.

    Raises:
        InputError: there is no such folder.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise InputError("no such folder; expected the documents of the subtitles", file=folder)
        self._files: dict[str, list[Path]] = {}
        for path in sorted(self.folder.rglob("*")):
            if path.is_file():
                self._files.setdefault(path.stem, []).append(path)
        self._lines = lru_cache(maxsize=64)(read_lines)

    def before(self, document: str, segment: int, source: str, size: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The `size` source and target sentences before a segment, oldest first, "" where the document has none.

        Raises:
            InputError: the document is not there, its files differ in length, or its segment is not `source`.
        """
        named = Path(document).suffix
        files = self._files.get(Path(document).stem, [])
        place = segment - 1 if named else segment
        sides = {path: self._lines(path) for path in files}
        originals = [path for path in files if path.suffix != named and _same(sides[path], place, source)]
        targets = [path for path in files if (path.suffix == named if named else path not in originals)]
        if len(originals) != 1 or len(targets) != 1:
            names = ", ".join(path.name for path in files) or "none"
            message = f"expected the document {document} as two files, one with the item's source in line {place + 1}"
            raise InputError(f"{message}; found {names}", file=self.folder)
        pair = sides[originals[0]], sides[targets[0]]
        if len(pair[0]) != len(pair[1]):
            raise InputError(f"{len(pair[1])} lines, but {originals[0].name} has {len(pair[0])}", file=targets[0])
        return _before(pair[0], place, size), _before(pair[1], place, size)


def _before(lines: list[str], place: int, size: int) -> tuple[str, ...]:
    return tuple(lines[k] if k >= 0 else "" for k in range(place - size, place))


def _same(lines: list[str], place: int, text: str) -> bool:
    return 0 <= place < len(lines) and "".join(lines[place].split()) == "".join(text.split())
