"""The prepared folder: the products, the confusion table, the manifest."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from data_prep import manifest
from data_prep.english import English
from data_prep.filters import Filter
from data_prep.noise import confuse_slots
from data_prep.products import annotated, pairs, passages, translations
from data_prep.products.work import Product, Work
from data_prep.settings import STAGES
from data_prep.splits import DEVELOPMENT, TEST, TRAIN
from data_prep.survey import find_forms, reference_documents
from data_prep.ties import Ties
from data_prep.wmt.testset import TestSet
from pronmetric.data import arrow
from pronmetric.pronouns.corrupt import ConfusionTable


@contextmanager
def replace_folder(out: Path) -> Iterator[Path]:
    """A folder next to `out` that replaces it and takes over its stages on success; else it is removed."""
    new, old = out.with_name(f".{out.name}.new"), out.with_name(f".{out.name}.old")
    if old.exists() and not out.exists():  # a run was killed between the two renames below
        old.rename(out)
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        out.rename(old)
        new.rename(out)
        (old / STAGES).rename(out / STAGES)
        shutil.rmtree(old)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def write(
    work: Work,
    files: list[tuple[TestSet, Path]],
    plain: English,
    inputs: Mapping[str, Mapping[str, str]],
    keep: Filter,
    ties: Ties,
) -> dict[str, Any]:
    """Write everything into the folder of `work`; returns the manifest."""
    settings, testsets = work.settings, [testset for testset, _ in files]
    paired = pairs.write(work, files, keep, ties)
    read = passages.write(work, plain)
    products: dict[str, Product] = {"passages": read}
    if settings.data.coreference:
        products["coreference"] = annotated.write_coreference(work, read.openings)
    if settings.fidelity.passages and settings.language.ruled:
        products["fidelity"] = annotated.write_fidelity(work, read.openings)
    if settings.data.parallel is not None:
        products["translations"] = translations.write(work, testsets)
    if settings.data.people is not None:
        from data_prep.products import people  # with the lab's readers, on which no stage depends

        products["people"] = people.write(work)
    rows = paired.rows | {name: count for each in products.values() for name, count in each.rows.items()}
    arrow.finish(work.folder, rows)
    confusion = paired.confusion if settings.data.wmt else _confuse_slots(work)
    ConfusionTable.from_counts(confusion, forms=settings.language.forms).save(work.folder / "confusion.json")
    content = manifest.manifest(
        inputs=inputs,
        config=settings.to_manifest(),
        counts={
            "testsets": {testset.id: manifest.nested(paired.counts[testset.id]) for testset in testsets},
            **{
                kind: {
                    split: manifest.nested(each.counts[f"{kind}_{split}"])
                    for split in ((TRAIN, DEVELOPMENT, TEST) if kind == "people" else (TRAIN, DEVELOPMENT))
                }
                for kind, each in products.items()
            },
        },
        splits={split: {"rows": count, "testsets": paired.testsets.get(split, [])} for split, count in rows.items()},
        notes=_notes(work),
    )
    manifest.write(work.folder, content)
    return content


def _confuse_slots(work: Work) -> Counter[tuple[str, str]]:
    """The confusions where there is no system output: by the forms of the references of training."""
    language = work.settings.language
    lines = (line for document in reference_documents(work.survey, TRAIN) for line in document.lines)
    return confuse_slots(Counter(form for line in lines for form in find_forms(line, language)), language)


def _notes(work: Work) -> Iterator[str]:
    if not work.settings.data.wmt:
        yield "no system outputs: the confusion table has the forms of each slot by their frequency in references"
    else:
        yield f"the aligner learned from {len(work.survey.sample)} lines of all splits, without any label"
    if work.survey.was_divided:
        yield "documents were divided between train and development"
