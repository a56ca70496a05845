"""The texts with a source: of the test sets and, for training, of `data.parallel`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from data_prep import translations
from data_prep.fidelity import things
from data_prep.products.work import Counts, Product, Unique, Work
from data_prep.splits import DEVELOPMENT, TRAIN
from data_prep.wmt.testset import TestSet
from pronmetric.data import arrow
from pronmetric.schema import Translation


def write(work: Work, testsets: list[TestSet]) -> Product:
    """Write the texts of training and of development with their sources."""
    done, new, settings = Product(), Unique(), work.settings
    given = settings.data.parallel if settings.language.ruled else ()  # else they are test sets
    for split, name in zip((TRAIN, DEVELOPMENT), arrow.TRANSLATION_SPLITS, strict=True):
        counts = done.counts[name]
        texts: Iterable[Translation] = translations.of_testsets(
            work.reporter.progress(testsets, name, len(testsets), "test sets"),
            work.survey,
            split,
            systems=settings.source.outputs if split == TRAIN else 0,
            context_size=settings.context.size,
            language=settings.language,
            seed=settings.seed,
            counts=counts,
        )
        if split == TRAIN:
            turned = translations.of_reversed(
                translations.parallel_sets(given or (), target=settings.language.code),
                work.survey,
                context_size=settings.context.size,
                language=settings.language,
                counts=counts,
            )
            texts = chain(turned, texts, _about_things(work, counts))
        done.rows[name] = work.write(name, _new(texts, counts, new), arrow.translation_features())
    return done


def _about_things(work: Work, counts: Counts) -> Iterator[Translation]:
    """Texts whose only clue is the gender of a noun, for a target language that has the tables.

    Those whose only pronouns are forms that are not scored, such as French *le*, are left out and counted.
    """
    settings = work.settings
    if (known := things.tables(settings.language.code)) is not None:
        texts = things.translations(
            known, settings.fidelity.things, use=TRAIN, context_size=settings.context.size, seed=settings.seed
        )
        for each in texts:
            if settings.language.find(each.text):
                yield each
            else:
                counts["dropped", "no pronoun"] += 1


def _new(texts: Iterable[Translation], counts: Counts, new: Unique) -> Iterator[Translation]:
    for each in texts:
        if new(*each.context, each.text, each.language, each.source):
            counts["kept", each.language, each.kind] += 1
            yield each
        else:
            counts["dropped", "repeated"] += 1
