"""Preparation from end to end: WMT test sets and English documents to a folder of pairs and passages.

First all test sets are looked over (splits, copies on another side, lines for the aligner). Then each is read, aligned
and compared by itself; that result is kept, so that a run that was stopped goes on where it stood. What follows needs
all of them (unique pairs, splits); it is written beside OUT and takes its place at the end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from data_prep import documents, manifest
from data_prep.documents import EnglishDocument
from data_prep.filters import GRAMMAR, NONE, agreement_filter
from data_prep.result import Result, replaced
from data_prep.settings import Settings, Talk
from data_prep.splits import DEVELOPMENT, TEST, TRAIN, draw
from data_prep.stages import MakeAligner, Stages
from data_prep.survey import survey
from data_prep.wmt import discovery, jsonl
from data_prep.wmt.testset import TestSet


def prepare(settings: Settings, talk: Talk, *, make_aligner: MakeAligner | None = None) -> dict[str, Any]:
    """Prepare training data and write it to `settings.out`; returns the manifest.

    `make_aligner` sets up another back end than the agreement EM; `settings.align.backend` is its name.

    Raises:
        InputError: a missing folder, a fault in a file, a filter that leaves nothing, an `out` that is something else.
    """
    settings.check()
    keep = agreement_filter(settings.filter.agreement, min_agreement=settings.filter.min_agreement)
    found = discovery.discover(
        settings.data.wmt, years=settings.data.years, pairs=settings.data.pairs, exclude=settings.data.exclude
    )
    for skipped in found.skipped:
        talk.note(f"skipped {skipped.id}: {skipped.reason}")
    plain = list(_plain(settings))
    surveyed = survey(
        talk.progress(found.testsets, "read", len(found.testsets), "test sets"),
        rule=settings.rule,
        context_size=settings.context.size,
        sample_size=settings.align.lines,
        development_lines=(line for split, doc in plain if split == DEVELOPMENT for line in doc.lines),
    )
    for name, counts in surveyed.counts.items():
        if empty := counts[jsonl.EMPTY]:
            talk.note(f"{name}: {empty} {jsonl.EMPTY}")
    if surveyed.was_divided:
        talk.note(
            "no test set of train or none of development: documents are divided, "
            f"splits.development_share={settings.splits.development_share} of them for development"
        )
    inputs = _inputs(settings, found.testsets)
    stages = Stages(settings, inputs["wmt"], surveyed.sample, talk, make_aligner)
    shown = talk.progress(found.testsets, "align and compare", len(found.testsets), "test sets")
    files = [stages.of(testset) for testset in shown]
    stages.forget_others()
    with replaced(settings.folder) as folder:
        return Result(settings, folder, surveyed, keep).write(files, plain, inputs, talk)


def _inputs(settings: Settings, testsets: Iterable[TestSet]) -> dict[str, dict[str, str]]:
    """The hashes of all files that the result is made from."""
    folder = Path(settings.data.wmt)
    found = {"wmt": manifest.hashes(folder, {path for testset in testsets for path in testset.paths})}
    sources = {path for testset in discovery.find(folder) if testset.source == "en" for path in testset.paths}
    found["wmt_english"] = manifest.hashes(folder, sources)
    if settings.data.english is not None:
        english = Path(settings.data.english)
        found["english"] = manifest.hashes(english, documents.files(english))
    if settings.filter.agreement not in (GRAMMAR, NONE):
        table = Path(settings.filter.agreement)
        found["agreement"] = manifest.hashes(table, [table])
    return found


def _plain(settings: Settings) -> Iterator[tuple[str, EnglishDocument]]:
    """All plain English documents with their split: `data.english`, then the English sources of WMT."""
    if settings.data.english is not None:
        found = list(documents.read(Path(settings.data.english)))
        held_out = draw([(doc.source, doc.doc) for doc in found], settings.splits.english_share, settings.seed)
        for doc in found:
            yield DEVELOPMENT if (doc.source, doc.doc) in held_out else TRAIN, doc
    for doc in discovery.english_sources(settings.data.wmt, years=settings.data.years, exclude=settings.data.exclude):
        split = settings.rule.of(doc.source, None, "")
        if split != TEST:
            yield split, dataclasses.replace(doc, source="wmt", doc=f"{doc.source}/{doc.doc}")
