"""Passages with annotated antecedents, and pairs that only the context decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path

from data_prep.coreference import antecedents, conll
from data_prep.coreference.antecedents import trained_on
from data_prep.coreference.conll import Annotated
from data_prep.fidelity import passages as fidelity
from data_prep.fidelity import persons, rewriting
from data_prep.products.work import Counts, Product, Unique, Work
from data_prep.splits import DEVELOPMENT, TRAIN
from data_prep.survey import Row, is_free
from pronmetric.data import arrow
from pronmetric.schema import Pair


def write_coreference(work: Work, openings: Mapping[str, set[str]]) -> Product:
    """The passages with antecedents; a document that is not of training's plain English alone is held out."""
    done = Product()
    splits = dict(zip((TRAIN, DEVELOPMENT), arrow.COREFERENCE_SPLITS, strict=True))
    with work.open_splits(arrow.COREFERENCE_SPLITS, arrow.coreference_features()) as rows:
        for name, document, split in _annotated(work, openings):
            counts = done.counts[splits[split]]
            counts["documents", name] += 1
            for passage in antecedents.passages(document):
                if work.survey.held_out[split].near(passage.text):
                    counts["dropped", "copy on another side"] += 1
                else:
                    counts["kept", name] += 1
                    counts[("antecedents",)] += len(passage.antecedents)
                    rows[splits[split]].add(passage)
    done.rows.update({name: file.rows for name, file in rows.items()})
    return done


def write_fidelity(work: Work, openings: Mapping[str, set[str]]) -> Product:
    """The pairs that only the context decides: of frames, of annotated documents with other referents, and of talk.

    Development has a tenth as many of frames, with frames, roles and names of its own.
    """
    done, new, settings = Product(), Unique(), work.settings
    annotated = list(_annotated(work, openings))
    for split, name in zip((TRAIN, DEVELOPMENT), arrow.FIDELITY_SPLITS, strict=True):
        number, counts = settings.fidelity.passages, done.counts[name]
        framed = fidelity.pairs(
            number if split == TRAIN else max(1, number // 10),
            split=split,
            seed=settings.seed,
            ties=settings.fidelity.ties,
        )
        rewritten = (
            rewriting.pairs(
                document,
                source=folder,
                split=split,
                seed=settings.seed,
                near=work.survey.held_out[split].near,
                counts=counts,
            )
            for folder, document, its in annotated
            if its == split
        )
        talk = (
            persons.pairs(
                document,
                is_free=partial(_is_free, work, split),
                context_size=settings.context.size,
                seed=settings.seed,
                counts=counts,
            )
            for document in work.survey.documents
        )
        every = chain(framed, chain.from_iterable(rewritten), chain.from_iterable(talk))
        done.rows[name] = work.write(name, _new(every, counts, new), arrow.pair_features())
    return done


def _is_free(work: Work, split: str, row: Row) -> bool:
    """Whether a row is of a split, and not near a text of another one."""
    near = work.survey.held_out[split].near
    return is_free(work.survey, row.segment, split) and not any(map(near, row.refs.values()))


def _annotated(work: Work, openings: Mapping[str, set[str]]) -> Iterator[tuple[str, Annotated, str]]:
    """The annotated documents with the name of their folder and their split."""
    for folder in work.settings.data.coreference or ():
        for document in conll.read_folder(folder):
            learned = trained_on(document, openings.get(TRAIN, set()))
            held_out = trained_on(document, openings.get(DEVELOPMENT, set()))
            yield Path(folder).name, document, TRAIN if learned and not held_out else DEVELOPMENT


def _new(pairs: Iterator[Pair], counts: Counts, new: Unique) -> Iterator[Pair]:
    for pair in pairs:
        if new(pair.kind, *pair.context, pair.better, pair.worse):
            counts["kept", pair.testset, pair.kind] += 1
            yield pair
        else:
            counts["dropped", "repeated"] += 1
