"""The pairs of references with system outputs and with noisy references, unique, by split."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from data_prep.filters import Filter, filter_pair
from data_prep.noise import study_pair
from data_prep.products.work import Counts, Product, Unique, Work
from data_prep.settings import STAGES
from data_prep.splits import DEVELOPMENT, TRAIN
from data_prep.survey import SegmentId
from data_prep.ties import Ties, as_tie
from data_prep.wmt.testset import TestSet
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.schema import Pair
from pronmetric.text import strict_json

STUDY = "development_study"
_ALWAYS_COUNTED = (
    ("compared", "outputs"),
    ("kept", "system"),
    ("kept", "system with a pronoun mismatch"),
    ("kept", "noisy"),
)
"""Counts in the manifest of every test set, even if 0."""


@dataclass(frozen=True, slots=True)
class Pairs(Product):
    """The splits of pairs; what was counted is by test set.

    testsets: those of each split. confusion: how often a system has one form for another of the reference, in training.
    """

    testsets: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)


def write(work: Work, files: list[tuple[TestSet, Path]], keep: Filter, ties: Ties) -> Pairs:
    """Write the pairs of each test set from the file of its stage.

    Raises:
        InputError: no pair with a pronoun for a pronoun is left, or no tie of `filter.ties` is a pair of this data.
    """
    done, new = Pairs(), Unique()
    with work.open_splits(arrow.PAIR_SPLITS, arrow.pair_features()) as rows:
        for testset, path in work.reporter.progress(files, "unique pairs", len(files), "test sets"):
            counts = done.counts[testset.id]
            counts.update(dict.fromkeys(_ALWAYS_COUNTED, 0))
            counts.update({("read", name): count for name, count in work.survey.counts[testset.id].items()})
            counts.update(_read_counts(path.with_suffix(".json")))
            for row in arrow.read_rows(path):
                for split, pair in _sort(work, arrow.to_pair(row), done, keep, ties, new):
                    rows[split].add(pair)
                    if testset.id not in done.testsets[split]:
                        done.testsets[split].append(testset.id)
    done.rows.update({split: file.rows for split, file in rows.items()})
    _refuse_empty(work, done)
    _check_ties(work, ties)
    for split in (TRAIN, DEVELOPMENT):
        if not done.rows[split]:
            work.reporter.note(f"split {split} has no pair")
    return done


def _sort(work: Work, pair: Pair, done: Pairs, keep: Filter, ties: Ties, new: Unique) -> Iterator[tuple[str, Pair]]:
    """The pair with its split, and a copy in the study's form; nothing if it is dropped; counted."""
    counts = done.counts[f"{pair.testset}.{pair.lp}"]
    counts["found", pair.kind] += 1
    segment = SegmentId(pair.testset, pair.lp, pair.seg)
    if segment in work.survey.barred:
        counts["dropped", pair.kind, "copy on another side"] += 1
        return
    tied = ties.has(pair)
    kept = pair if tied else filter_pair(pair, keep)
    if kept is None:
        counts["dropped", pair.kind, "agreement filter"] += 1
        return
    if not new(pair.kind, pair.better, pair.worse):
        counts["dropped", pair.kind, "repeated"] += 1
        return
    split = work.survey.splits[segment]
    if tied:
        if split == TRAIN:
            counts["kept", "tie"] += 1
            yield split, as_tie(pair)
        else:
            counts["dropped", "noisy", "tie"] += 1
        return
    counts["kept", pair.kind] += 1
    if pair.kind == "system":
        wrong = [(m.ref_form, m.hyp_form) for m in kept.mismatches if m.kind == "pronoun"]
        counts["kept", "system with a pronoun mismatch"] += bool(wrong)
        if split == TRAIN:
            done.confusion.update(wrong)
    yield split, kept
    if split == DEVELOPMENT and pair.kind == "noisy" and work.settings.language.ruled:
        yield from _study(kept, counts, new)


def _study(pair: Pair, counts: Counts, new: Unique) -> Iterator[tuple[str, Pair]]:
    study = study_pair(pair)
    if study is None:
        counts["dropped", "study", "not one word for one"] += 1
    elif not new("study", study.better, study.worse):
        counts["dropped", "study", "repeated"] += 1
    else:
        counts["kept", "study"] += 1
        yield STUDY, study


def _refuse_empty(work: Work, done: Pairs) -> None:
    """Raise an error with the cause if no pair with a pronoun-pronoun mismatch is left."""
    settings, total = work.settings, sum(done.counts.values(), Counter())
    if total["kept", "noisy"] or not settings.data.wmt:
        return
    if not total["found", "noisy"]:
        raise InputError(
            f"data.wmt: none of {total['compared', 'outputs']:,} system outputs differs from its reference "
            f"in a pronoun of inventory={settings.inventory}",
            file=", ".join(settings.data.wmt),
        )
    if total["dropped", "noisy", "agreement filter"]:
        raise InputError(
            f"filter.agreement={settings.filter.agreement} leaves none of {total['found', 'noisy']:,} "
            "pronoun mismatches; choose another table, grammar or none"
        )
    raise InputError(f"splits: each of {total['found', 'noisy']:,} pronoun mismatches has a copy in another split")


def _check_ties(work: Work, ties: Ties) -> None:
    """Report ties of the file that are no pair of this data; refuse a file without any other."""
    missing = len(ties) - len(ties.found)
    if not missing:
        return
    if not ties.found:
        raise InputError(
            "no tie is a noisy reference of this data; prepare the data that the study was drawn from",
            file=work.settings.filter.ties,
        )
    work.reporter.note(f"filter.ties: {missing} of {len(ties)} ties are no noisy references of this data")


def _read_counts(path: Path) -> dict[tuple[str, ...], int]:
    stored: list[tuple[list[str], int]] = strict_json.read(path, f"delete the folder {STAGES} and prepare again")
    return {tuple(name): count for name, count in stored}
