"""Preparation from end to end: WMT test sets and English documents to a folder of pairs and passages.

First all test sets are surveyed (splits, copies across splits, lines for the aligner). Then each is aligned and
compared on its own; that result is stored, so that an interrupted run resumes. The remaining steps need all of them
(unique pairs, splits); their result is written next to OUT and replaces it at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from data_prep import documents, manifest, result, translations
from data_prep.coreference import conll
from data_prep.english import English
from data_prep.filters import GRAMMAR, NONE, agreement_filter
from data_prep.products.work import Work
from data_prep.settings import Reporter, Settings
from data_prep.splits import DEVELOPMENT
from data_prep.stages import Stages
from data_prep.survey import Survey, survey
from data_prep.ties import Ties
from data_prep.wmt import discovery, jsonl
from data_prep.wmt.testset import TestSet
from pronmetric.errors import InputError


def prepare(settings: Settings, reporter: Reporter) -> dict[str, Any]:
    """Prepare training data in `settings.out`; returns the manifest.

    Raises:
        InputError: a missing folder, an invalid file, a filter that leaves nothing, an `out` with other content; with
            `strict`, texts that do not look like the target language.
    """
    settings.check()
    keep = agreement_filter(
        settings.filter.agreement, min_agreement=settings.filter.min_agreement, language=settings.language
    )
    ties = Ties(settings.filter.ties)
    testsets = _discover(settings, reporter)
    plain = English(settings)
    surveyed = _survey(settings, testsets, plain, reporter)
    inputs = _hash_inputs(settings, testsets)
    compared = inputs["wmt"] | ({} if settings.language.ruled else inputs.get("parallel", {}))
    stages = Stages(settings, compared, surveyed.sample, reporter)
    shown = reporter.progress(testsets, "align and compare", len(testsets), "test sets")
    files = [stages.prepare_pairs(testset) for testset in shown]
    stages.remove_unused()
    with result.replace_folder(settings.folder) as folder:
        return result.write(Work(settings, folder, surveyed, reporter), files, plain, inputs, keep, ties)


def _discover(settings: Settings, reporter: Reporter) -> Sequence[TestSet]:
    """The test sets to read; those skipped are reported with the reason.

    For another target than English also the translations of `data.parallel`.
    """
    given, target = settings.data.parallel, settings.language
    translated = translations.parallel_sets(given, target=target.code) if given and not target.ruled else []
    if not settings.data.wmt:
        return translated
    found = discovery.discover(
        settings.data.wmt,
        years=settings.data.years,
        pairs=settings.data.pairs,
        exclude=settings.data.exclude,
        target=settings.language.code,
    )
    return [*found.noted(reporter.note), *translated]


def _survey(settings: Settings, testsets: Sequence[TestSet], plain: English, reporter: Reporter) -> Survey:
    """Survey the test sets; empty files and divided documents are reported."""
    surveyed = survey(
        reporter.progress(testsets, "read", len(testsets), "test sets"),
        rule=settings.rule,
        context_size=settings.context.size,
        sample_size=settings.align.lines,
        development_lines=(line for doc in plain.of(DEVELOPMENT) for line in doc.lines),
        language=settings.language,
    )
    for name, doubt in surveyed.doubts.items():
        if settings.strict:
            raise InputError(f"{name}: {doubt}; leave it out with data.exclude, or set strict=false")
        reporter.note(f"{name}: {doubt}")
    for name, counts in surveyed.counts.items():
        if empty := counts[jsonl.EMPTY]:
            reporter.note(f"{name}: {empty} {jsonl.EMPTY}")
    if surveyed.was_divided:
        reporter.note(
            "train or development has no test set: documents are divided, "
            f"splits.development_share={settings.splits.development_share} of them for development"
        )
    return surveyed


def _hash_inputs(settings: Settings, testsets: Iterable[TestSet]) -> dict[str, dict[str, str]]:
    """The hashes of all input files."""
    folders = [Path(folder) for folder in settings.data.wmt]
    translated: list[TestSet] = []
    if settings.data.parallel:
        translated = translations.parallel_sets(settings.data.parallel, target=settings.language.code)
    into_target = [testset for testset in testsets if testset not in translated]
    out_of = [testset for testset in discovery.find(folders) if testset.source == settings.language.code]
    hashes: dict[str, dict[str, str]] = {"wmt": {}, "wmt_english": {}}
    for name, some in (("wmt", into_target), ("wmt_english", out_of)) if folders else ():
        hashes[name] = manifest.hashes(folders, {path for testset in some for path in testset.paths})
    if settings.data.english is not None:
        english = Path(settings.data.english)
        hashes["english"] = manifest.hashes(english, documents.files(english))
    if settings.data.coreference:
        annotated = [Path(folder) for folder in settings.data.coreference]
        hashes["coreference"] = manifest.hashes(annotated, {p for each in annotated for p in conll.files(each)})
    if settings.data.parallel:
        folders = [Path(folder) for folder in settings.data.parallel]
        hashes["parallel"] = manifest.hashes(folders, {path for each in translated for path in each.paths})
    if settings.data.people:
        from data_prep.people import sets  # as in `result.write`

        people = sets.find(settings.data.people, target=settings.language.code)
        folders = [Path(each) for each in settings.data.people]
        hashes["people"] = manifest.hashes(folders, {path for source in people for path in source.files})
    if settings.filter.agreement not in (GRAMMAR, NONE):
        table = Path(settings.filter.agreement)
        hashes["agreement"] = manifest.hashes(table, [table])
    if settings.filter.ties is not None:
        judged = Path(settings.filter.ties)
        hashes["ties"] = manifest.hashes(judged, [judged])
    return hashes
