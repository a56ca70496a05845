"""What a reader of sources is trained on: English passages, then texts with their sources, with fresh corruptions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.utils.data import DataLoader

from pronmetric.alignment.counts import files
from pronmetric.alignment.counts.table import Item
from pronmetric.data import arrow
from pronmetric.data.collate import Batch, Collator, Example, cut_batches
from pronmetric.errors import InputError
from pronmetric.pronouns.corrupt import ConfusionTable, CorruptionRates, corrupt
from pronmetric.pronouns.delete import deletable, delete
from pronmetric.pronouns.gaps import missing_before
from pronmetric.pronouns.languages import Language, referents
from pronmetric.text.context import Source, join
from pronmetric.training.examples import labelled as examples
from pronmetric.training.examples import people_text
from pronmetric.training.examples.batches import Labelled
from pronmetric.training.examples.datamodule import READ, PronounData
from pronmetric.training.examples.labelled import Corrupter, LabelledExample
from pronmetric.training.examples.planning import Plan, Step, plan_epoch
from pronmetric.training.examples.steps import TrainingSteps
from pronmetric.training.fit import batches_of_step
from pronmetric.training.groups import SourceTraining
from pronmetric.training.objective import Corruption
from pronmetric.training.settings import Train

# Chosen by hand, not tuned.
RATE, POWER = 0.2, 0.65  # of replaced pronouns in development, and of the counts by which forms are drawn
DELETED = 0.5  # of the texts with sources, those of which pronouns are deleted
SAME_SLOT_SHARE, MUST_AGREE = 0.5, 0.5  # for texts with a source: only the source tells such forms apart
WITH_SOURCE, WITHOUT = "source", "no_source"
_COLUMNS = "text", "source", "context", "source_context"
_MARKS = 5  # special pieces of a row


class DevelopmentBatch(NamedTuple):
    """Development texts with replaced pronouns: right as in `Labelled`, and whether a pronoun was of the third person.

    name: of the figures.
    """

    batch: Batch
    right: Float[Tensor, "batch pronouns"]
    third: Bool[Tensor, "batch pronouns"]
    name: str


def translation(
    row: Mapping[str, Any],
    rng: np.random.Generator,
    corrupter: Corrupter,
    rates: CorruptionRates,
    *,
    dropped: float = 0.0,
    alone: float = 0.0,
    plain: float = 0.0,
    deleted: float = 0.0,
    invented: bool = False,
) -> LabelledExample:
    """A text with its source and about `rates.rate` of its pronouns replaced.

    dropped: the chance that it has no source. alone: that neither has a context. plain: that it is in plain form.
    deleted: the share of the pronouns that are deleted, of those as written; above 0 the gaps have labels. invented:
    pronouns without a counterpart in the source are replaced more often (see `corrupt`).
    """
    language = corrupter.language
    words = language.words(row["text"])
    occurrences = language.find(row["text"], words)
    table = files.of_language(row["language"]) if invented and row["language"] in files.shipped() else None
    result = corrupt(
        row["text"],
        occurrences,
        rng,
        rates,
        table=corrupter.table,
        frequency=corrupter.frequency,
        language=language,
        words=words,
        unsourced=() if table is None else next(table.unsourced([Item(row["source"], words, occurrences)])),
    )
    without, no_context, flat = rng.random(3) < (dropped, alone, plain)
    context, text, spans = "" if no_context else join(row["context"]), result.text, result.spans
    right, missing = tuple(0.0 if replaced else 1.0 for replaced in result.replaced), list[tuple[int, str]]()
    if deleted:
        share = deleted / DELETED if rng.random() < DELETED else 0.0
        drawn = rng.random(len(spans)) < share
        chosen = {k for k in np.flatnonzero(drawn).tolist() if right[k] and deletable(text, *spans[k])}
        shorter = delete(text, spans, chosen)
        missing = list(zip(shorter.places, (result.forms[k] for k in sorted(chosen)), strict=True))
        text, spans, right = shorter.text, shorter.spans, tuple(right[k] for k in shorter.kept)
    if flat:
        context, text = language.writing.flatten(context), language.writing.flatten(text)
    source = None if without else Source(row["source"], () if no_context else tuple(row["source_context"]))
    gaps = missing_before(language.words(text), missing) if deleted else ()
    return LabelledExample(Example(context, text, spans, source), right, True, gaps=gaps)


def joined(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose context is a part of its text, and the source of it a part of its source."""
    size = min(len(row["context"]), len(row["source_context"]))
    context, before = list(row["context"]), list(row["source_context"])
    cuts = len(context) - size, len(before) - size
    return {
        **row,
        "text": join([*context[cuts[0] :], row["text"]]),
        "context": context[: cuts[0]],
        "source": join([*before[cuts[1] :], row["source"]]),
        "source_context": before[: cuts[1]],
    }


def _as_read(row: Mapping[str, Any], index: int, settings: Train) -> Mapping[str, Any]:
    """Row `index` of the training texts, `joined` or not: alike in each epoch, as batches are cut by its length."""
    assert settings.source is not None
    chance = np.random.default_rng([settings.seed, index]).random()
    return joined(row) if chance < settings.source.joined else row


class SourceSteps(TrainingSteps):
    """The steps of a reader's training; those of kind "pairs" hold texts with their sources.

    people: rows of texts that people judged, numbered after the texts with replaced pronouns.
    """

    people: Any = ()

    def __getitem__(self, step: Step) -> tuple[Labelled, ...]:
        """The micro-batches of one planned step; their name is its kind."""
        return self.batches(self.items(step), pairs=False, name=step.kind)

    def items(self, step: Step) -> list[LabelledExample]:
        """The examples of one planned step."""
        if step.kind == "passages":
            return super().items(step)
        settings, corruption = self.settings.source, self.settings.objective.corruption
        assert settings is not None and isinstance(corruption, Corruption)
        labelled = []
        for index, turn in zip(step.rows, step.turns, strict=True):
            if index >= len(self.pairs):
                rng = np.random.default_rng([self.settings.seed, turn, index])
                labelled.append(
                    people_text.people_text(self.people[index - len(self.pairs)], rng, self.corrupter.language)
                )
                continue
            rng = np.random.default_rng([self.settings.seed, turn, index, len(step.kind)])
            rates = replace(
                examples.draw_rates(rng, corruption),
                same_slot_share=SAME_SLOT_SHARE,
                must_agree=MUST_AGREE,
                emphasis={},  # unlike English texts, sources tell who is meant by I, you and we
            )
            labelled.append(
                translation(
                    _as_read(self.pairs[index], index, self.settings),
                    rng,
                    self.corrupter,
                    rates,
                    dropped=settings.dropped,
                    alone=settings.alone,
                    plain=corruption.plain,
                    deleted=settings.deleted,
                    invented=True,
                )
            )
        return labelled


def judged(
    items: Sequence[LabelledExample],
    third: Sequence[Sequence[bool]],
    collator: Collator,
    *,
    name: str,
    pieces: int,
) -> Iterator[DevelopmentBatch]:
    """Batches of about `pieces` pieces; third: whether each item's pronouns were of the third person."""
    rows = collator.encode([item.example for item in items])
    for part in cut_batches([row for row in rows if len(row.pronouns)], pieces=pieces):
        batch = collator.pad(part)
        right = np.ones(tuple(batch.pronoun_mask.shape), np.float32)
        of_third = np.zeros(right.shape, bool)
        for r, row in enumerate(part):
            own = row.pronouns.tolist()
            right[r, : len(own)] = [items[row.example].right[k] for k in own]
            of_third[r, : len(own)] = [third[row.example][k] for k in own]
        yield DevelopmentBatch(batch, torch.from_numpy(right), torch.from_numpy(of_third), name)


class Development(NamedTuple):
    """Development references with a fifth of their pronouns replaced, in their contexts and with their sources.

    third: whether each pronoun was of the third person. languages: of their sources. originals: the texts with no
    pronoun replaced.
    """

    items: list[LabelledExample]
    third: list[tuple[bool, ...]]
    languages: list[str]
    originals: list[Example]

    def of(self, language: str) -> tuple[list[LabelledExample], list[tuple[bool, ...]]]:
        """The items of one source language, and whether their pronouns were of the third person."""
        places = [k for k, each in enumerate(self.languages) if each == language]
        return [self.items[k] for k in places], [self.third[k] for k in places]


def development(folder: Path, *, forms: Collection[str], language: Language, most: int) -> Development:
    """The development references of a prepared folder, at most `most`, drawn by seed 0; 0 for all.

    Raises:
        InputError: there are none, or no pronoun of theirs can be replaced.
    """
    rows = read_translations(folder, arrow.TRANSLATION_SPLITS[1])
    chosen = np.flatnonzero(np.array([kind == "reference" for kind in rows["kind"]], dtype=bool))
    chosen = np.sort(np.random.default_rng(0).permutation(chosen)[: most or None])
    table = ConfusionTable.load(folder / "confusion.json", forms=language.forms)
    numbered = ((number, rows[number]) for number in chosen.tolist())
    judged = replaced(numbered, Corrupter(table, language=language), forms=forms)
    if not any(0.0 in item.right for item in judged.items):
        raise InputError(
            "no development reference with a source and a pronoun that can be replaced: prepare with another "
            "splits.development",
            file=folder,
        )
    return judged


def replaced(
    rows: Iterable[tuple[int, Mapping[str, Any]]], corrupter: Corrupter, *, forms: Collection[str]
) -> Development:
    """Texts with a fifth of their pronouns replaced, each row by its own number as the seed; `forms` are judged."""
    language, rates = corrupter.language, replace(CorruptionRates.raw(RATE), power=POWER)
    judged = Development([], [], [], [])
    for number, row in rows:
        item = translation(row, np.random.default_rng([7, number]), corrupter, rates)
        persons = [each.form in referents(language) for each in language.find(row["text"])]
        third = dict(zip(item.example.spans, persons, strict=True))
        item = examples.of_forms(item, forms, language)
        judged.items.append(item)
        judged.third.append(tuple(third[span] for span in item.example.spans))
        judged.languages.append(row["language"])
        judged.originals.append(item.example._replace(text=row["text"], spans=()))
    return judged


def has_translations(folder: Path) -> bool:
    """Whether a prepared folder has texts with their sources."""
    return set(arrow.TRANSLATION_SPLITS) <= arrow.read_manifest(folder)["splits"].keys()


def read_translations(folder: Path, split: str) -> Any:
    """One split of the texts with a source.

    Raises:
        InputError: the folder has none.
    """
    if not has_translations(folder):
        raise InputError("no texts with a source: prepare with data.parallel=FOLDER", file=folder)
    return arrow.read_translations(folder, split)


def _source_language(lp: str) -> str:
    return lp.split("-")[0]


class SourceData(PronounData):
    """English passages, then texts with their sources, from a folder that `pronmetric prepare` wrote."""

    STEPS = SourceSteps

    @property
    def taught(self) -> Collection[str]:
        """The kinds of steps that learn from the teacher; the others need not wait for it."""
        weights = {"passages": self.settings.objective.soft_detection, "pairs": self.options.hard}
        return [kind for kind, weight in weights.items() if weight]

    @property
    def options(self) -> SourceTraining:
        """The settings of the reader."""
        assert self.settings.source is not None
        return self.settings.source

    def setup(self, stage: str | None = None) -> None:
        """Open the prepared folder."""
        if self._sets is not None:
            return
        self._pairs = read_translations(self.folder, arrow.TRANSLATION_SPLITS[0])
        if without := self.options.without:
            kept = [k for k, code in enumerate(self._pairs["language"]) if code not in without]
            self._pairs = self._pairs.select(kept)
        if not len(self._pairs):
            raise InputError("no text with a source to train on: prepare with data.parallel=FOLDER", file=self.folder)
        self._people = self._read_people()
        self._pair_lengths = np.zeros(0, dtype=np.int64)  # `_lengths` has those of texts with a source
        self._passages, self._known = self._read_passages()
        self._refuse_nothing_to_train_on()
        self._check_sources(set(self._known.sources))
        self._weights, self._pair_weights = self._known.mixed(self._source_share()), None
        self._sets = self._training_steps()
        assert isinstance(self._sets, SourceSteps)
        self._sets.people = self._people

    def _read_people(self) -> Any:
        """The texts that people judged and that have a pronoun to learn from; empty where they are not trained on."""
        if not self.options.people:
            return ()
        rows = people_text.read(self.folder, setting="source.people", column="pronouns")
        without = self.options.without or ()
        return rows.select([k for k, lp in enumerate(rows["lp"]) if _source_language(lp) not in without])

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages of the sources that are trained on."""
        self.setup()
        judged = set(map(_source_language, self._people["lp"])) if len(self._people) else set()
        return tuple(sorted({*self._pairs["language"], *judged}))

    @property
    def size(self) -> int:
        """The number of texts with a source that are trained on."""
        self.setup()
        return len(self._pairs) + len(self._people)

    @property
    def passage_count(self) -> int:
        """The number of passages without a source that are trained on."""
        self.setup()
        return len(self._passages)

    def batches(self, step: Step) -> tuple[Labelled, ...]:
        """The micro-batches of one planned step."""
        self.setup()
        assert self._sets is not None
        return self._sets[step]

    def source_texts(self) -> Iterator[str]:
        """All texts that are trained on, their sources and what stands before them."""
        self.setup()
        for rows in self._with_sources:
            for part in arrow.read_columns(rows, "text", "source"):
                yield from (*part["text"], *part["source"])
        yield from self._texts(READ)

    def steps(self) -> Plan:
        """The planned steps of the whole run: English passages, then texts with their sources, epoch after epoch."""
        self.setup()
        if self._steps is None:
            self._steps = plan_run(self.settings, passages=self.passage_epoch, sources=self.source_epoch)
        return self._steps

    def passage_epoch(self, number: int) -> Plan:
        """The steps of one epoch of passages without sources."""
        self.setup()
        return self._epoch(number)

    def source_epoch(self, number: int) -> Plan:
        """The steps of one epoch of texts with their sources."""
        return plan_epoch(
            passages=[],
            pairs=self._lengths,
            pair_share=1.0,
            pieces=self.settings.pieces,
            max_pieces=self.collator.max_pieces,
            seed=self.settings.seed,
            epoch=number,
            pair_weights=self._source_weights(),
        )

    @property
    def _with_sources(self) -> list[Any]:
        return [self._pairs, self._people] if len(self._people) else [self._pairs]

    def _source_weights(self) -> np.ndarray | None:
        """Weights under which texts that people judged have their share of the pieces; None without any."""
        if not len(self._people):
            return None
        share, (others, judged) = self.options.people, np.split(self._lengths.astype(float), [len(self._pairs)])
        weights = np.full(len(others), (1 - share) / others.sum())
        return np.concatenate([weights, people_text.draw_weights(self._people, judged, share)])

    @cached_property
    def _lengths(self) -> np.ndarray:
        """Pieces of each text with its source and their contexts (rows,)."""
        self.setup()
        most = self.collator.max_pieces
        limits, lengths = [most, most, self.options.context, self.options.before], list[int]()
        for part in chain.from_iterable(arrow.read_columns(rows, *_COLUMNS) for rows in self._with_sources):
            texts: list[str] = []
            rows = (
                dict(zip(_COLUMNS, values, strict=True)) for values in zip(*(part[n] for n in _COLUMNS), strict=True)
            )
            for index, row in enumerate(rows, start=len(lengths)):
                read = _as_read(row, index, self.settings) if index < len(self._pairs) else row
                texts += [read["text"], read["source"], join(read["context"]), join(read["source_context"])]
            counts = np.array([len(each.ids) for each in self.collator.pieces(texts)]).reshape(-1, len(limits))
            lengths += (np.minimum(counts, limits).sum(1) + _MARKS).tolist()
        return np.array(lengths, dtype=np.int64)

    @cached_property
    def development(self) -> Development:
        """The development references, at most `data.development`."""
        return development(
            self.folder,
            forms=self.labeller.forms,
            language=self.labeller.language,
            most=self.settings.data.development,
        )

    def val_dataloader(self) -> list[DataLoader[Any]]:
        """The development references of each source language, with their sources and without."""
        languages = sorted(set(self.development.languages))
        return [each for code in languages for each in self.judged(*self.development.of(code), name=code)]

    def judged(
        self, items: Sequence[LabelledExample], third: Sequence[Sequence[bool]], *, name: str
    ) -> Iterator[DataLoader[Any]]:
        """Development references with their sources and without, for figures of this name."""
        for side, given in ((WITH_SOURCE, items), (WITHOUT, [without_source(item) for item in items])):
            batches: Any = list(
                judged(given, third, self.collator, name=f"{side}_{name}", pieces=2 * self.settings.pieces)
            )
            yield DataLoader(batches, batch_size=None, pin_memory=self._pin)


def plan_run(settings: Train, *, passages: Callable[[int], Plan], sources: Callable[[int], Plan]) -> Plan:
    """The steps of a run: passages without sources, `source.english` of all, then texts with their sources.

    passages, sources: the steps of an epoch.
    """
    assert settings.source is not None
    trainer, share = settings.trainer, settings.source.english
    later = Plan.join(map(sources, range(trainer.max_epochs)))
    most = trainer.max_steps * batches_of_step(trainer)
    whole = int(len(later) / (1 - share)) if trainer.max_steps < 0 else most
    first: list[Plan] = []
    for epoch in count():
        if sum(map(len, first)) >= round(share * whole):
            break
        first.append(passages(epoch))
    return Plan.join([Plan.join(first)[: round(share * whole)], later])


def without_context(example: Example) -> Example:
    """The same without what stands before text and source."""
    source = example.source
    return example._replace(context="", source=None if source is None else source._replace(before=()))


def without_source(item: LabelledExample) -> LabelledExample:
    """The same without its source."""
    return item._replace(example=item.example._replace(source=None))
