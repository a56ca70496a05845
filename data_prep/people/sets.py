"""Sets of people's judgements in the files and folders of `data.people`, and which of their documents are held out.

A set is a file of MQM annotations, a folder of them (JSON of medical abstracts: LANG2en/), the post-edits of a folder
LANG-en/ (PART.src, PART.mt, PART.pe), or a language pair of a file of error span annotation (ESA). The language pair is
in the name of the file or of its folder; files of ESA name it themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data_prep.people import esa, mqm, post_edits
from data_prep.people.texts import judged_texts
from data_prep.splits import DEVELOPMENT, TEST, TRAIN, draw
from pronmetric.errors import InputError
from pronmetric.pronouns.languages import Language
from pronmetric.schema import JudgedText
from pronmetric.text import language_codes

_PAIR = re.compile(rf"(?<![A-Za-z])(?=({language_codes.CODE}-{{1,3}}{language_codes.CODE})(?![A-Za-z]))")
PARTS = {"train": TRAIN, "dev": DEVELOPMENT, "test": TEST}
"""Names of published parts of post-edits, and their splits."""


@dataclass(frozen=True, slots=True)
class PeopleSet:
    """Files of one set. source: its source language. parts: of post-edits, the files' names without suffixes.

    spans: whether they are error span annotation.
    """

    name: str
    source: str
    files: tuple[Path, ...]
    parts: tuple[Path, ...] = ()
    spans: bool = False

    def id(self, target: str) -> str:
        """NAME:LP, by which settings name a set."""
        return f"{self.name}:{self.source}-{target}"

    def read(self, *, context_size: int, longest: int, language: Language, tally: Counter[str]) -> Iterator[JudgedText]:
        """Its texts; rows that cannot be used are counted in `tally`."""
        if self.parts:
            for part in self.parts:
                yield from post_edits.read(part, testset=self.name, source=self.source, language=language)
        else:
            judgements = [
                one
                for path in self.files
                for one in (
                    esa.read(path, tally, source=self.source, target=language.code)
                    if self.spans
                    else mqm.read(path, tally)
                )
            ]
            yield from judged_texts(
                judgements,
                testset=self.name,
                source=self.source,
                context_size=context_size,
                longest=longest,
                language=language,
                tally=tally,
            )


def find(given: Sequence[str], *, target: str) -> list[PeopleSet]:
    """The sets into `target` of files and folders; those of other languages in a folder are passed over.

    Raises:
        InputError: a path does not exist, is of another target language, or holds no set.
    """
    sets: list[PeopleSet] = []
    for root in map(Path, given):
        if not root.exists():
            raise InputError("no such file or folder: data.people names people's judgements", file=root)
        found = list(_file(root, target) if root.is_file() else _folder(root, target))
        if not found:
            raise InputError(
                f"data.people: no judgements of translations into {target}: expected MQM annotations (.tsv, .json) or "
                "post-edits (.src, .mt, .pe), with the languages in the name of the file or its folder, such as zh-en, "
                "or error span annotation (.jsonl, .json)",
                file=root,
            )
        sets += found
    ids = Counter(one.id(target) for one in sets)
    if repeated := [name for name, count in ids.items() if count > 1]:
        raise InputError(f"data.people: {repeated[0]} is there twice: give each set once")
    return sets


def _file(path: Path, target: str) -> Iterator[PeopleSet]:
    if path.suffix in esa.SUFFIXES and esa.holds(path):
        yield from _spans(path, target)
        return
    source = source_of(path, target)
    if source is None:
        raise InputError(
            f"data.people: the language pair is unknown: expected it in the name, such as LANG-{target}", file=path
        )
    yield PeopleSet(path.stem, source, (path,))


def _spans(path: Path, target: str) -> Iterator[PeopleSet]:
    """A set for each source language of a file of error span annotation."""
    return (PeopleSet(path.stem, source, (path,), spans=True) for source in esa.sources(path, target))


def _folder(root: Path, target: str) -> Iterator[PeopleSet]:
    for folder in sorted({path.parent for path in root.rglob("*") if path.is_file()}):
        here = sorted(path for path in folder.iterdir() if path.is_file())
        source = _source(folder.name, target)
        edited = [path.with_suffix("") for path in here if path.suffix == ".mt"]
        segments = [path for path in here if path.suffix == ".json" and source is not None]
        if source is not None and edited:
            files = [part.with_name(part.name + suffix) for part in edited for suffix in post_edits.SUFFIXES]
            yield PeopleSet(folder.parent.name, source, tuple(files), tuple(edited))
        elif source is not None and segments:
            yield PeopleSet(folder.parent.name, source, tuple(segments))
        for path in here:
            if path.suffix == ".tsv" and _source(path.stem, target) is not None:
                yield from _file(path, target)
            elif path.suffix in esa.SUFFIXES and path not in segments and esa.holds(path):
                yield from _spans(path, target)


def source_of(path: Path, target: str) -> str | None:
    """The source language in the name of a file, or of its folder; None if neither tells it."""
    return _source(path.stem, target) or _source(path.parent.name, target)


def _source(name: str, target: str) -> str | None:
    """The source language in a name such as mqm_newstest2020_zhen, 2021_zh-en_processed, de2en, ces_Latn-eng_Latn."""
    pairs = map(language_codes.pair, _PAIR.findall(name))
    sources = [codes[0] for codes in pairs if codes is not None and codes[1] == target]
    if sources:  # TED_en-de is a pair of "en" and "de", with a name before it that looks like a language
        return next(filter(language_codes.is_known, sources), sources[0])
    match = re.search(rf"(?<![a-z])([a-z]{{2,3}})[-2]?{target}(?![a-z])", name)
    return match[1] if match else None


def split_of(
    texts: Collection[JudgedText], test: Mapping[str, float], development: Mapping[str, float], seed: int
) -> dict[str, str]:
    """The split of each document of a set: published parts, else shares of its documents drawn by a hash.

    test, development: the share of the documents by NAME:LP or NAME.
    """
    one = next(iter(texts), None)
    if one is None:
        return {}
    documents = dict.fromkeys(text.doc for text in texts)
    names = f"{one.testset}:{one.lp}", one.testset
    shares = [next((given[name] for name in names if name in given), None) for given in (test, development)]
    if shares == [None, None] and one.kind == post_edits.EDITS:
        return {doc: PARTS.get(doc.split("/")[0], TRAIN) for doc in documents}
    units = [(one.testset, one.lp, doc) for doc in documents]
    held_out = draw(units, shares[0] or 0.0, seed)
    left = [unit for unit in units if unit not in held_out]
    kept = draw(left, min(1.0, (shares[1] or 0.0) * len(units) / len(left)), seed) if left else set()
    return {unit[2]: TEST if unit in held_out else DEVELOPMENT if unit in kept else TRAIN for unit in units}
