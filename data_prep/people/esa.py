"""Error span annotation of translations (ESA) in three published formats, as the records of `pronmetric.lab.human.mqm`.

- JSONL of WMT24 (`wmt24_esa.jsonl`), a record for each annotation: `langs`, `line_id`, `src`, `tgt`, `doc_id`,
  `esa_spans`, `system`, `annotator` (github.com/wmt-conference/wmt24-news-systems).
- JSONL of WMT25 (`wmt25-genmt-humeval.jsonl`), a record for each segment: `src_text`, `tgt_text` by system, `doc_id`
  with the language pair (`cs-de_DE_#_news_#_NAME_#_0`), and `scores` by system: `annotator1` and `errors1`, and so on
  with 2; or a list of `annotator` and `errors` (github.com/wmt-conference/wmt25-general-mt).
- JSON of contrastive ESA (cESA, `annotations.json` of WMT26), by language pair (`ces_Latn---deu_Latn`) a list of
  documents: `user_id`, `item`, a list of segments with `item_id`, `src` and `tgt` by system, and `annotation`, a list
  with `error_spans` by system (github.com/wmt-conference/wmt26-general-mt, github.com/zouharvi/pearmut).

HTML tags of WMT26's texts are blanks. The spans have inclusive ends; one outside of the text stands for missing words,
whose place is not known. Scores are not read. Of several annotations of a translation by one annotator the last one
counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from data_prep.wmt.blocks import without_tags
from pronmetric.lab.human import contrastive_esa
from pronmetric.lab.human.contrastive_esa import REPEATED
from pronmetric.lab.human.mqm import OMISSION, WEIGHTS, Error, Judgement
from pronmetric.text import entry, language_codes, numbers, strict_json
from pronmetric.text.entry import Entry
from pronmetric.text.lines import iter_lines

SUFFIXES = (".jsonl", ".json")
_ANNOTATION, _SEGMENT = ("langs", "esa_spans"), ("doc_id", "scores", "tgt_text")
_FIELD = "_#_"
_ERRORS = re.compile(r"errors([0-9]*)")
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
    return path.suffix == ".json" and contrastive_esa.holds(path)


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
    for name, whole in contrastive_esa.read(path):
        pair = _pair(whole, name)
        if wanted not in (None, pair):
            continue
        for one in contrastive_esa.segments(whole, tally):
            for system in one.said.record:
                text = without_tags(one.item.entry("tgt").string(system))
                judgement = Judgement(
                    system=system,
                    doc=one.doc,
                    seg=one.number,
                    rater=one.annotator,
                    text=_line(text),
                    errors=_errors(one.said.entry(system), "error_spans", text, tally),
                    source=_line(without_tags(one.item.string("src"))),
                )
                yield _Marked(pair, judgement)


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
    pair = language_codes.pair(name)
    if pair is None:
        record.fail(f"expected a language pair such as cs-de_DE, got {name[:40]!r}")
    return pair


def _line(text: str) -> str:
    """A text of one line and the same length."""
    return re.sub(r"[\r\n\u2028\u2029\x0b\x0c\x85]", " ", text)
