"""What people marked and corrected in translations, divided by document, language and year."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from data_prep.people import sets
from data_prep.people.sets import PeopleSet
from data_prep.products.work import Counts, Product, Unique, Work
from data_prep.splits import DEVELOPMENT, TEST, TRAIN, Copies
from data_prep.survey import long_enough
from pronmetric.data import arrow
from pronmetric.lab.human.mqm import ESCAPED, READ_ESCAPED, is_reference
from pronmetric.schema import JudgedText

SPLITS = {TRAIN: "people_train", DEVELOPMENT: "people_development", TEST: "people_test"}


def write(work: Work) -> Product:
    """Write the judged texts that have a pronoun or a missing one.

    Training and development have no text that is near one of a test or, in training, a development split, and no human
    translation.
    """
    done, new, settings = Product(), Unique(), work.settings
    assert settings.data.people is not None
    judged_sets = sets.find(settings.data.people, target=settings.language.code)
    texts = {
        judged_set: list(_read(work, judged_set))
        for judged_set in work.reporter.progress(judged_sets, "people", len(judged_sets), "sets")
    }
    splits = {
        judged_set: sets.split_of(its_texts, settings.people.test, settings.people.development, settings.seed)
        for judged_set, its_texts in texts.items()
    }
    for judged_set in judged_sets:
        if set(splits[judged_set].values()) == {TRAIN}:
            name = judged_set.id(settings.language.code)
            work.reporter.note(
                f"{name}: all documents are for training, as people.test and people.development have none"
            )
    copies = _copies(texts, splits)
    with work.open_splits(arrow.PEOPLE_SPLITS, arrow.people_features()) as rows:
        for judged_set, its_texts in texts.items():
            for text in its_texts:
                split = splits[judged_set][text.doc]
                if _keep(work, text, split, copies, done.counts[SPLITS[split]], new):
                    rows[SPLITS[split]].add(text)
    done.rows.update({name: file.rows for name, file in rows.items()})
    return done


def _read(work: Work, one: PeopleSet) -> Iterator[JudgedText]:
    settings, tally = work.settings, Counter[str]()
    yield from one.read(
        context_size=settings.context.size, longest=settings.people.longest, language=settings.language, tally=tally
    )
    for what, count in sorted(tally.items()):
        told = READ_ESCAPED if what == ESCAPED else f"{what.replace('_', ' ')}, left out"
        work.reporter.note(f"{one.id(settings.language.code)}: {count} {told}")


def _copies(
    texts: Mapping[PeopleSet, list[JudgedText]], splits: Mapping[PeopleSet, Mapping[str, str]]
) -> Mapping[str, Copies]:
    """The texts that a split must not have."""
    copies = {TRAIN: Copies(), DEVELOPMENT: Copies()}
    for one, every in texts.items():
        for text in every:
            split = splits[one][text.doc]
            for other in {TEST: (TRAIN, DEVELOPMENT), DEVELOPMENT: (TRAIN,)}.get(split, ()):
                if long_enough(text.text):
                    copies[other].add(text.text)
    return copies


def _keep(work: Work, text: JudgedText, split: str, copies: Mapping[str, Copies], counts: Counts, new: Unique) -> bool:
    """Whether a text is written; counted."""
    name = f"{text.testset}:{text.lp}"
    if not text.pronouns and not text.gaps:
        counts["dropped", name, "no pronoun"] += 1
    elif split != TEST and is_reference(text.system.removeprefix("hyp.")):
        counts["dropped", name, "human translation"] += 1
    elif split != TEST and (copies[split].near(text.text) or work.survey.held_out[split].near(text.text)):
        counts["dropped", name, "copy on another side"] += 1
    elif not new(name, text.doc, text.source, text.text):
        counts["dropped", name, "repeated"] += 1
    else:
        counts["kept", name, "texts"] += 1
        counts["kept", name, "pronouns"] += len(text.pronouns)
        counts["kept", name, "marked pronouns"] += sum(bool(each.marked_by) for each in text.pronouns)
        counts["kept", name, "replaced pronouns"] += sum(bool(each.correction) for each in text.pronouns)
        counts["kept", name, "deleted pronouns"] += sum(each.correction == "" for each in text.pronouns)
        counts["kept", name, "missing pronouns"] += len(text.gaps)
        return True
    return False
