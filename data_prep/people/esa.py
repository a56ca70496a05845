"""Error span annotation of translations (ESA) in three published formats, as the records of `pronmetric.lab.human.mqm`.

- JSONL of WMT24 (`wmt24_esa.jsonl`), a record for each annotation: `langs`, `line_id`, `src`, `tgt`, `doc_id`,
  `esa_spans`, `system`, `annotator` (github.com/wmt-conference/wmt24-news-systems).
- JSONL of WMT25 (`wmt25-genmt-humeval.jsonl`), a record for each segment: `src_text`, `tgt_text` by system, `doc_id`
  with the language pair (`cs-de_DE_#_news_#_NAME_#_0`), and `scores` by system: `annotator1` and `errors1`, and so on
  with 2; or a list of `annotator` and `errors` (github.com/wmt-conference/wmt25-general-mt).
- JSON of contrastive ESA (cESA, `annotations.json` of WMT26), by language pair (`ces_Latn---deu_Latn`) a list of
  documents: `user_id`, `item`, a list of segments with `item_id`, `src` and `tgt` by system, and `annotation`, a list
  with `error_spans` by system (github.com/wmt-conference/wmt26-general-mt, github.com/zouharvi/pearmut).

The spans have inclusive ends; one outside of the text stands for missing words, whose place is not known. Scores are
not read. Of several annotations of a translation by one annotator the last one counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import InputError
from pronmetric.lab.human.esa import CODES
from pronmetric.lab.human.mqm import OMISSION, WEIGHTS, Error, Judgement
from pronmetric.text import entry, numbers, strict_json
from pronmetric.text.entry import Entry
from pronmetric.text.lines import iter_lines

SUFFIXES = (".jsonl", ".json")
_ANNOTATION, _SEGMENT = ("langs", "esa_spans"), ("doc_id", "scores", "tgt_text")
_FIELD, _PART = "_#_", "_###_"
_ERRORS = re.compile(r"errors([0-9]*)")
_RESET = "__RESET__"
_FIX = "expected ESA as WMT publishes it"
CONTROL, REPEATED = "annotations of tutorials and attention checks", "annotations that a later one replaces"
UNCLEAR = "errors without a severity or a span"


Pair = tuple[str, str]


class _Marked(NamedTuple):
    """An annotation: the language pair, and what it says."""

    pair: Pair
    judgement: Judgement


def holds(path: Path) -> bool:
    """Whether a file is one of these, by its first record."""
    if path.suffix == ".jsonl":
        lines = iter_lines(path, kept=False)
        first = next(lines, "")
        lines.close()
        try:
            record = strict_json.parse(first)
        except ValueError:
            return False
        return isinstance(record, dict) and any(set(keys) <= record.keys() for keys in (_ANNOTATION, _SEGMENT))
    try:
        return path.suffix == ".json" and _is_contrastive(strict_json.read(path, _FIX))
    except InputError:
        return False


def sources(path: Path, target: str) -> list[str]:
    """The source languages of the translations into `target` in a file.

    Raises:
        InputError: a record is broken.
    """
    return sorted({source for (source, into), _ in _read(path, None, Counter()) if into == target})


def read(path: Path, tally: Counter[str], *, source: str, target: str) -> list[Judgement]:
    """The annotations of a language pair; what cannot be used is counted in `tally`.

    Raises:
        InputError: with file and line, or the place in the file, for a broken record.
    """
    found: dict[tuple[str, str, int, str], Judgement] = {}
    for _, one in _read(path, (source, target), tally):
        key = one.system, one.doc, one.seg, one.rater
        if key in found:
            tally[REPEATED] += 1
        found[key] = one
    return list(found.values())


def _read(path: Path, wanted: Pair | None, tally: Counter[str]) -> Iterator[_Marked]:
    """The annotations of a language pair, or of all."""
    if path.suffix == ".json":
        yield from _contrastive(path, wanted, tally)
        return
    for record in entry.read(path):
        whole = set(_ANNOTATION) <= record.record.keys()
        name = record.string("langs") if whole else record.string("doc_id").partition(_FIELD)[0]
        pair = _pair(record, name)
        if wanted in (None, pair):
            found = [_annotation(record, tally)] if whole else _segment(record, tally)
            yield from (_Marked(pair, judgement) for judgement in found)


def _annotation(record: Entry, tally: Counter[str]) -> Judgement:
    text = record.string("tgt")
    return Judgement(
        system=record.string("system"),
        doc=record.string("doc_id"),
        seg=record.whole("line_id", least=0),
        rater=record.string("annotator"),
        text=_line(text),
        errors=_errors(record, "esa_spans", text, tally),
        source=_line(record.string("src")),
    )


def _segment(record: Entry, tally: Counter[str]) -> Iterator[Judgement]:
    _, *name, number = record.string("doc_id").split(_FIELD)
    if not name or not numbers.is_whole(number):
        record.fail(f'"doc_id" must be PAIR{_FIELD}DOMAIN{_FIELD}NAME{_FIELD}NUMBER, got {record.get("doc_id")!r}')
    texts, scores = record.entry("tgt_text"), record.entry("scores")
    for system in scores.record:
        text = texts.string(system)
        several = isinstance(scores.get(system), list)
        for given in scores.entries(system) if several else [scores.entry(system)]:
            for key in given.record:
                if (match := _ERRORS.fullmatch(key)) is not None and given.get(key) is not None:
                    yield Judgement(
                        system=system,
                        doc=_FIELD.join(name),
                        seg=int(number),
                        rater=given.string(f"annotator{match[1]}"),
                        text=_line(text),
                        errors=_errors(given, key, text, tally),
                        source=_line(record.string("src_text")),
                    )


def _contrastive(path: Path, wanted: Pair | None, tally: Counter[str]) -> Iterator[_Marked]:
    records = strict_json.read(path, _FIX)
    if not _is_contrastive(records):
        raise InputError(f"{_FIX}: an object of language pairs with lists of annotated documents", file=path)
    for name, documents in records.items():
        whole = Entry({name: documents}, file=path, cure=_FIX)
        pair = _pair(whole, name.split()[0])
        if wanted not in (None, pair):
            continue
        for document in _kept(whole.entries(name), tally):
            items, said = document.entries("item"), document.entries("annotation")
            if len(items) != len(said):
                document.fail(f"{len(said)} annotations of {len(items)} segments; {_FIX}")
            for place, (item, annotation) in enumerate(zip(items, said, strict=True)):
                doc, _, number = item.string("item_id").rpartition(_PART)
                for system in annotation.record:
                    text = item.entry("tgt").string(system)
                    judgement = Judgement(
                        system=system,
                        doc=doc or number,
                        seg=int(number) if doc and numbers.is_whole(number) else place,
                        rater=document.string("user_id"),
                        text=_line(text),
                        errors=_errors(annotation.entry(system), "error_spans", text, tally),
                        source=_line(item.string("src")),
                    )
                    yield _Marked(pair, judgement)


def _kept(documents: Iterable[Entry], tally: Counter[str]) -> list[Entry]:
    """The documents without those that their annotator did again, and without tutorials and attention checks."""
    by_annotator: dict[str, list[Entry]] = {}
    for document in documents:
        own = by_annotator.setdefault(document.string("user_id"), [])
        if document.get("annotation") == _RESET:
            tally[REPEATED] += len(own)
            own.clear()
        elif any(
            "item_id" not in item.record or _is_control(item.string("item_id")) for item in document.entries("item")
        ):
            tally[CONTROL] += 1
        else:
            own.append(document)
    return [document for own in by_annotator.values() for document in own]


def _is_control(identity: str) -> bool:
    return identity.startswith("attention_check") or f"{_FIELD}tutorial{_FIELD}" in identity


def _is_contrastive(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and any(value.values())
        and all(
            isinstance(documents, list)
            and all(isinstance(one, Mapping) and {"item", "annotation", "user_id"} <= one.keys() for one in documents)
            for documents in value.values()
        )
    )


def _errors(record: Entry, key: str, text: str, tally: Counter[str]) -> tuple[Error, ...]:
    """The errors of a list of spans with inclusive ends."""
    found = []
    for span in record.entries(key):
        severity, start, end = str(span.get("severity")).lower(), span.get("start_i"), span.get("end_i")
        if severity not in WEIGHTS:
            tally[UNCLEAR] += 1
        elif start == "missing" or (isinstance(start, int) and start >= len(text)):
            found.append(Error(OMISSION, severity, ()))
        elif isinstance(start, int) and isinstance(end, int) and 0 <= start <= end:
            found.append(Error("", severity, ((start, min(end + 1, len(text))),)))
        else:
            tally[UNCLEAR] += 1
    return tuple(found)


def _pair(record: Entry, name: str) -> Pair:
    """The codes of a language pair such as en-de, cs-de_DE or ces_Latn---deu_Latn, without scripts and countries."""
    codes = [code.partition("_")[0] for code in re.split("-+", name)]
    if len(codes) != 2 or not all(codes):
        record.fail(f"expected a language pair such as cs-de_DE, got {name[:40]!r}")
    source, target = (CODES.get(code, code) for code in codes)
    return source, target


def _line(text: str) -> str:
    """A text of one line and the same length."""
    return re.sub(r"[\r\n\u2028\u2029\x0b\x0c\x85]", " ", text)
