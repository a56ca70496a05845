"""What a study is drawn from: a prepared folder, a suite of `suite build wmt`, judged pairs, a table, or records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.eval.decision import B
from pronmetric.lab.human import judged_pairs
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.human.pair_sets import BLOCK
from pronmetric.lab.study import own_pairs
from pronmetric.lab.study.folder import Item
from pronmetric.pronouns import languages
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.text import entry, language_codes
from pronmetric.text.entry import Entry

SPLIT = "train"
ALL = "all"
"""The label of records without "group"."""
_SUITE_TEXTS = ("id", "testset", "lp", "doc", "reference", "noisy_reference", "right", "wrong", "source")
_SUITE_LISTS = ("reference_context", "source_context")


def language_of(path: str, lang: str | None) -> str:
    """The code of the texts' language: that which a prepared folder or a suite names, else `lang`, or English.

    Raises:
        InputError: there is no table of it, or `lang` is another one than that of the data.
    """
    chosen = languages.language(lang or ENGLISH.code).code
    if Path(path).is_dir():
        own = _language_of_prepared(path)
    elif _is_table(path) or (first := next(entry.read(path), None)) is None or not _is_suite(first):
        return chosen
    else:
        codes = language_codes.pair(first.string("lp"))
        own = chosen if codes is None else codes[1]
    if lang is not None and own != chosen:
        raise InputError(f"the texts are in {own}, not in `lang={lang}`; leave it out", file=path)
    return own


def read(path: str, *, split: str | None, note: Callable[[str], object], language: str = ENGLISH.code) -> list[Item]:
    """The candidates of a prepared folder, a JSONL file or a table, in order; equal items count once.

    split: of a prepared folder, default "train"; the pairs are references and noisy references (R vs R'). language: the
    code of the language of a table, by which its pronouns are found.

    Raises:
        InputError: the data cannot be read, or has no pair that differs in one pronoun.
    """
    if Path(path).is_dir():
        items = list(_prepared(path, split or SPLIT))
        expected = f"noisy reference in split {split or SPLIT}; choose another `split=`"
    else:
        if split is not None:
            raise InputError(f"`split={split}`: applies to a prepared folder; leave it out", file=path)
        items = list(
            own_pairs.read(path, languages.language(language), note) if _is_table(path) else _jsonl(path, note)
        )
        expected = 'pair with "pronoun_a", "pronoun_b" and "group"'
    if not items:
        raise InputError(f"expected at least one {expected}", file=path)
    return _once(items, note)


def read_translations(path: str, *, note: Callable[[str], object]) -> list[Item]:
    """The candidates of a study in two stages: records as `score --jsonl` reads them, with sources.

    Each has the translation of a sentence and of the one before it ("text", the last of "context"), their sources
    ("source", the last of "source_context"), and maybe "group", the source language. Records without a previous
    sentence are left out and noted.

    Raises:
        InputError: a broken record, or none with a previous sentence.
    """
    items, first = [], 0
    for record in entry.read(path):
        context, source_context = record.sentences("context"), record.sentences("source_context")
        if not context or not source_context:
            first += 1
            continue
        items.append(
            Item(
                id=record.identity(),
                language=record.label("group") or ALL,
                pronoun_a="",
                pronoun_b="",
                context=context[-1:],
                text_a=record.text("text"),
                text_b="",
                source=record.text("source"),
                source_context=source_context[-1:],
                doc=record.label("doc"),
            )
        )
    if first:
        note(f"left out: {first} records without a previous sentence and its source")
    if not items:
        raise InputError('expected at least one record with "context" and "source_context"', file=path)
    return _once(items, note)


def _is_table(path: str) -> bool:
    return Path(path).suffix.lower() in own_pairs.SUFFIXES


def _is_suite(first: Entry) -> bool:
    return "noisy_reference" in first.record


def _language_of_prepared(folder: str) -> str:
    from pronmetric.data import arrow

    config = arrow.read_manifest(folder).get("config", {})
    try:
        return languages.of_record(config.get("language")).code
    except (AttributeError, ValueError) as error:
        raise InputError(f"broken table of pronouns in its manifest ({error}); prepare again", file=folder) from None


def _prepared(folder: str, split: str) -> Iterator[Item]:
    from pronmetric.data import arrow

    for row in arrow.read_pairs(folder, split):
        pair = arrow.to_pair(row)
        if pair.kind != "noisy":
            continue
        (mismatch,) = pair.mismatches
        testset = f"{pair.testset}.{pair.lp}"
        doc = f"{testset}#{pair.seg // BLOCK}" if pair.doc == testset else f"{testset}/{pair.doc}"
        yield Item(
            id=pair.id,
            language=pair.lp.partition("-")[0],
            pronoun_a=mismatch.ref_form,
            pronoun_b=mismatch.hyp_form,
            context=pair.context,
            text_a=pair.better,
            text_b=pair.worse,
            doc=doc,
        )


def _jsonl(path: str, note: Callable[[str], object]) -> Iterator[Item]:
    first = next(entry.read(path), None)
    if first is not None and _is_suite(first):
        yield from map(_suite_item, entry.read(path))
        return
    left_out = 0
    for pair in judged_pairs.read(path):
        if pair.pronoun_a is None or pair.pronoun_b is None or pair.group is None:
            left_out += 1
        else:
            yield _judged_item(pair)
    if left_out:
        note(f'left out: {left_out} pairs without "pronoun_a", "pronoun_b" or "group"')


def _suite_item(record: Entry) -> Item:
    texts, lists = {key: record.string(key) for key in _SUITE_TEXTS}, {key: record.strings(key) for key in _SUITE_LISTS}
    if empty := [key for key, text in texts.items() if not text]:
        record.fail(f'"{empty[0]}" is empty; give a suite as `suite build wmt` writes it')
    return Item(
        id=texts["id"],
        language=texts["lp"].partition("-")[0],
        pronoun_a=texts["right"],
        pronoun_b=texts["wrong"],
        context=lists["reference_context"],
        text_a=texts["reference"],
        text_b=texts["noisy_reference"],
        source=texts["source"],
        source_context=lists["source_context"],
        doc=f"{texts['testset']}.{texts['lp']}/{texts['doc']}",
    )


def _judged_item(pair: JudgedPair) -> Item:
    """Text A is taken as the reference, unless B is given as the better one."""
    versions = (pair.text_a, pair.pronoun_a), (pair.text_b, pair.pronoun_b)
    (text_a, pronoun_a), (text_b, pronoun_b) = reversed(versions) if pair.better == B else versions
    assert pronoun_a is not None and pronoun_b is not None and pair.group is not None
    source, before = (None, ()) if pair.source is None else pair.source[:2]
    return Item(pair.id, pair.group, pronoun_a, pronoun_b, pair.context, text_a, text_b, source, before, pair.doc)


def _once(items: Iterable[Item], note: Callable[[str], object]) -> list[Item]:
    unique: dict[tuple[Any, ...], Item] = {}
    ids: dict[str, Item] = {}
    repeated = equal = 0
    for item in items:
        if item.text_a == item.text_b:
            equal += 1
            continue
        key = item.language, item.context, item.text_a, item.text_b
        if key in unique:
            repeated += 1
            continue
        if item.id in ids:
            raise InputError(f'duplicate id "{item.id}"; each pair needs its own')
        unique[key] = ids[item.id] = item
    for count, why in ((repeated, "that occur more than once, kept once"), (equal, "whose two versions are equal")):
        if count:
            note(f"left out: {count} pairs {why}")
    return list(unique.values())
