"""The Lightning data module: a prepared folder to batches, each a pure function of seed, epoch and step."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from pronmetric.data import arrow
from pronmetric.data.collate import Batch, Collator, Encoded, Example
from pronmetric.errors import InputError
from pronmetric.pronouns import finder, slots
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.text.words import words as split
from pronmetric.training import antecedents, examples, logit_adjustment
from pronmetric.training.batching import Step, plan
from pronmetric.training.examples import LabelledExample
from pronmetric.training.gender_swap import flipped_frequency
from pronmetric.training.name_swap import Names, common

LOG = logging.getLogger(__name__)
COUNTED = 10_000  # passages whose pronouns are counted by slot
LETTERS_PER_PIECE = 4.2  # of English text in a BERT vocabulary; only the planning of batches rests on it


@dataclass(frozen=True, slots=True)
class Labelled:
    """A batch with labels.

    right: 1 as written, 0 replaced. labelled: which pronouns detection learns from. better, worse: rows of the pairs,
    `pair`: which of the batch's pairs each is. name: the set. antecedent: which of the row's words each pronoun refers
    to; None where no row tells of any. adjustment: what detection adds to the logits; None for nothing.
    """

    batch: Batch
    right: Float[Tensor, "batch pronouns"]
    labelled: Bool[Tensor, "batch pronouns"]
    better: Int[Tensor, " pairs"]
    worse: Int[Tensor, " pairs"]
    pair: Int[Tensor, " pairs"]
    name: str
    antecedent: Bool[Tensor, "batch pronouns words"] | None = None
    adjustment: Float[Tensor, "batch pronouns"] | None = None

    def to(self, device: torch.device | str, **_: Any) -> Labelled:
        """The same batch on another device (Lightning calls this)."""
        tensors = ("right", "labelled", "better", "worse", "pair", "antecedent", "adjustment")
        moved = {name: each.to(device) for name in tensors if (each := getattr(self, name)) is not None}
        return replace(self, batch=self.batch.to(device), **moved)


class Labeller:
    """Labelled examples to a batch, for one collator.

    odds: by place, what detection adds to the logits (`pronmetric.training.logit_adjustment`); None for nothing.
    forms: those that are pronouns.
    """

    def __init__(
        self,
        collator: Collator,
        odds: Mapping[tuple[str, str], float] | None = None,
        *,
        forms: Collection[str] = finder.FORMS,
    ) -> None:
        self.collator = collator
        self.odds = odds
        self.forms = frozenset(forms)

    def batch(self, items: Sequence[LabelledExample], *, pairs: bool, name: str) -> Labelled:
        """One batch.

        With `pairs`, items 2 k and 2 k + 1 are the better and the worse text of pair k; a pair with a text
        that has to be split into windows has no pair loss, its labels count all the same.
        """
        items = [examples.of_forms(item, self.forms) for item in items]
        rows = self.collator.encode([item.example for item in items])
        batch = self.collator.pad(rows)
        shape = tuple(batch.pronoun_mask.shape)
        right, labelled = np.ones(shape, dtype=np.float32), np.zeros(shape, dtype=bool)
        added = np.zeros(shape, dtype=np.float32)
        for r, row in enumerate(rows):
            item = items[row.example]
            odds = logit_adjustment.adjustment(item, self.odds or {})
            for slot, k in enumerate(row.pronouns.tolist()):
                right[r, slot] = item.right[k]
                labelled[r, slot] = item.labelled
                added[r, slot] = odds[k] if odds else 0.0
        better, worse, pair = _pairs(rows) if pairs else ([], [], [])
        return Labelled(
            batch=batch,
            right=torch.from_numpy(right),
            labelled=torch.from_numpy(labelled),
            better=torch.tensor(better, dtype=torch.long),
            worse=torch.tensor(worse, dtype=torch.long),
            pair=torch.tensor(pair, dtype=torch.long),
            name=name,
            antecedent=_antecedents(rows, items, batch),
            adjustment=torch.from_numpy(added) if self.odds is not None else None,
        )


def _antecedents(
    rows: Sequence[Encoded], items: Sequence[LabelledExample], batch: Batch
) -> Bool[Tensor, "batch pronouns words"] | None:
    """Where the antecedents of the pronouns lie, as far as they are within the row; None where no item has any."""
    if not any(item.antecedents for item in items):
        return None
    where = np.zeros((*batch.pronoun_mask.shape, batch.word_mask.shape[1]), dtype=bool)
    for r, row in enumerate(rows):
        known = items[row.example].antecedents
        for slot, k in enumerate(row.pronouns.tolist() if known else ()):
            words = row.pronoun_word[slot] + np.array(known[k], dtype=np.int64)
            where[r, slot, words[(words >= 0) & (words < where.shape[2])]] = True
    return torch.from_numpy(where) & batch.word_mask[:, None, :]


def _pairs(rows: Sequence[Encoded]) -> tuple[list[int], list[int], list[int]]:
    at = {row.example: r for r, row in enumerate(rows) if row.windows == 1}
    whole = sorted(e for e in at if e % 2 == 0 and e + 1 in at)
    return [at[e] for e in whole], [at[e + 1] for e in whole], [e // 2 for e in whole]


class TrainingSteps(Dataset[Labelled]):
    """Step to batch; corruption is drawn anew in each epoch."""

    def __init__(
        self, passages: Any, pairs: Any, labeller: Labeller, *, table: ConfusionTable, options: Mapping[str, Any]
    ) -> None:
        self.passages, self.pairs, self.labeller, self.options = passages, pairs, labeller, options
        self.table = table
        self.corruption = {"table": table, **options["corruption"]}
        self.fresh = self.corruption.pop("fresh")

    def __getitem__(self, step: Step) -> Labelled:
        """The batch of one planned step."""
        return self.labeller.batch(self.items(step), pairs=step.kind == "pairs", name="train")

    def items(self, step: Step) -> list[LabelledExample]:
        """The examples of one planned step."""
        o = self.options
        items: list[LabelledExample] = []
        for index, turn in zip(step.rows, step.turns, strict=True):
            rng = np.random.default_rng([o["seed"], turn, index, len(step.kind)])
            if step.kind == "passages":
                items.append(examples.passage(self.passages[index], rng, **self.corruption))
            else:
                row = self.pairs[index]
                plain = self.corruption["plain"]
                items += examples.pair(row, rng, context=o["context"], plain=plain, fresh=self.fresh, table=self.table)
        return items


class StepSampler(Sampler[Step]):
    """The steps from `first` on, every `world`-th of them for this `rank`; the length is the whole's."""

    def __init__(self, steps: Sequence[Step], *, first: int, rank: int, world: int) -> None:
        self.steps = steps[rank : len(steps) - len(steps) % world : world]
        self.first = first

    def __iter__(self) -> Iterator[Step]:
        """The steps that are left."""
        return iter(self.steps[self.first :])

    def __len__(self) -> int:
        """The number of steps of this rank, those done included."""
        return len(self.steps)


class DevelopmentPairs(Dataset[Labelled]):
    """Fixed batches of development pairs, one set in one context, by name."""

    def __init__(self, rows: Any, labeller: Labeller, *, name: str, context: str, pieces: int) -> None:
        self.rows, self.labeller, self.name, self.context = rows, labeller, name, context
        lengths = [_pair_length(row, context) for row in rows]
        steps = plan(
            passages=[],
            pairs=lengths,
            pair_share=1.0,
            pieces=pieces,
            max_pieces=labeller.collator.max_pieces,
            seed=0,
            epoch=0,
        )
        self.steps = [step.rows for step in steps]

    def __len__(self) -> int:
        """The number of batches."""
        return len(self.steps)

    def __getitem__(self, index: int) -> Labelled:
        """One batch; the texts are as prepared."""
        rng = np.random.default_rng(0)
        items: list[LabelledExample] = []
        for row in self.steps[index]:
            items += examples.pair(self.rows[row], rng, context=self.context, plain=0.0)
        return self.labeller.batch(items, pairs=True, name=self.name)


class PronounData(pl.LightningDataModule):
    """Training and development batches from a folder that `pronmetric prepare` wrote.

    Args:
        folder: the prepared folder.
        collator: of the encoder.
        epochs: how often each passage is seen.
        inventory: the forms that are pronouns.
        context: "none", "respective" or "common".
        pieces: pieces of a training batch, padding included.
        batch: pairs of a training batch of pairs, whatever their pieces; None for as many as make `pieces`.
        pair_share: share of the pieces that pairs make up; 0 trains on passages alone, 1 on pairs alone.
        system_share: share of the pieces of pairs that (reference, system output) make up beside (reference, noisy
            reference), where there are both; None takes all alike.
        source_weight, form_weight: how often a passage comes against one of weight 1, by its source and by the form
            of highest weight in it; 1 for what is not named.
        corruption: arguments of `pronmetric.training.examples.passage`; `balanced` is whether the forms' frequencies
            are given to it, `adjusted` whether detection allows for what slot and form tell of a label
            (`pronmetric.training.logit_adjustment`), `swap` or `flip` above 0 needs the extra "train" (Faker);
            `fresh` is that of `pronmetric.training.examples.pair`. With a `pair_share` of 1 only `plain` and `fresh`.
        development: pairs of each development set that are used (a seeded sample); 0 for all.
        agreeing: leave out noisy references whose verb no longer agrees.
        workers: processes that make batches; 0 makes them in the training process.
        seed: of the run.
        coreference: a folder of annotated documents, those of which a passage is trained on: they come as further
            passages, of source "coreference", with their pronouns' antecedents.

    To Lightning the whole run is one epoch, so that a run goes on from any step in the same way: from `first`, the
    number of steps that are done.

    Raises:
        InputError: here or in `setup`, where there is nothing to train on or to validate with, or `source_weight` names
            a source that no passage has.
    """

    def __init__(
        self,
        folder: str | Path,
        collator: Collator,
        *,
        epochs: int,
        inventory: Sequence[str],
        context: str,
        pieces: int,
        pair_share: float,
        system_share: float | None,
        source_weight: Mapping[str, float] | None,
        form_weight: Mapping[str, float] | None,
        corruption: Mapping[str, Any],
        development: int,
        agreeing: bool,
        workers: int,
        seed: int,
        batch: int | None = None,
        coreference: str | Path | None = None,
    ) -> None:
        super().__init__()
        self.folder = Path(folder)
        self.epochs = epochs
        self.collator = collator
        self.labeller = Labeller(collator, forms=inventory)
        self.context = context
        self.pieces = pieces
        self.batch = batch
        self.pair_share = pair_share
        self.system_share = system_share
        self.source_weight = dict(source_weight or {})
        self.form_weight = dict(form_weight or {})
        self.corruption = dict(corruption)
        self.development = development
        self.agreeing = agreeing
        self.workers = workers
        self.seed = seed
        self.coreference = coreference
        self.annotated: dict[str, int] = {}  # documents and passages of that folder that are trained on
        self.first = 0
        self._sets: TrainingSteps | None = None
        self._steps: list[Step] = []
        self._development: list[tuple[str, Any, str]] = []

    def setup(self, stage: str | None = None) -> None:
        """Open the prepared folder."""
        if self._sets is not None:
            return
        pairs = arrow.read_pairs(self.folder, "train", kinds=("pronoun",))
        if self.agreeing:
            pairs = pairs.select(np.flatnonzero(pairs["agrees"]))
        passages = arrow.read_passages(self.folder, "passages_train")
        if self.coreference is not None:
            from datasets import concatenate_datasets

            more = antecedents.read(self.coreference, known=passages["text"])
            self.annotated = {"documents": len(set(more["doc"])), "passages": len(more)}
            passages = concatenate_datasets([passages, more])
        self._refuse_other_sources(set(passages["source"]))
        some = [i for i, forms in enumerate(passages["forms"]) if len(forms)]
        self._passages = passages.select(some)
        self._pairs = pairs
        self._lengths = [int(len(t) / LETTERS_PER_PIECE) + 3 for t in self._passages["text"]]
        self._pair_lengths = [_pair_length(row, self.context) for row in pairs]
        if not self._lengths and self.pair_share < 1:
            raise InputError(
                "no passages to train on: add objective=pairs, or prepare with data.english", file=self.folder
            )
        if not self._pair_lengths and self.pair_share > 0:
            raise InputError(
                "no pairs to train on: set objective.pair_share=0, or prepare with more test sets", file=self.folder
            )
        self._development = self._development_sets()
        if not self._development:
            raise InputError("no development pairs: prepare with a test set for them", file=self.folder)
        self._weights = self._passage_weights()
        self._pair_weights = self._weights_by_kind()
        table = ConfusionTable.load(self.folder / "confusion.json")
        corruption = {key: value for key, value in self.corruption.items() if key not in ("balanced", "adjusted")}
        if self.pair_share < 1:
            corruption["frequency"] = self._frequency() if self.corruption["balanced"] else None
            corruption["places"] = self.corruption["adjusted"]
            if self.corruption["swap"] or self.corruption["flip"]:
                corruption["names"] = Names.from_faker(common=common(self._passages["text"]))
        options = {"seed": self.seed, "context": self.context, "corruption": corruption}
        self._sets = TrainingSteps(self._passages, self._pairs, self.labeller, table=table, options=options)
        if self.pair_share < 1 and self.corruption["adjusted"]:
            self._sets.labeller = Labeller(self.collator, self._odds(), forms=self.labeller.forms)

    def _refuse_other_sources(self, known: set[str]) -> None:
        """Refuse a weight of passages that there are none of."""
        for source in sorted(self.source_weight.keys() - known):
            raise InputError(
                f"objective.source_weight.{source}: no passage to train on is of this source, expected one of "
                f"{', '.join(sorted(known)) or 'none'}; ~objective.source_weight.{source} leaves the weight out",
                file=self.folder,
            )

    def steps(self) -> list[Step]:
        """The planned steps of the whole run, epoch after epoch, over all processes."""
        self.setup()
        if not self._steps:
            self._steps = list(chain.from_iterable(map(self._epoch, range(self.epochs))))
        return self._steps

    def passages(self, batches: int) -> Iterator[Labelled]:
        """The first batches of passages of the run."""
        steps = (step for step in self.steps() if step.kind == "passages")
        assert self._sets is not None
        yield from (self._sets[step] for step in islice(steps, batches))

    def texts(self) -> Iterator[Example]:
        """Every text of the pairs of training and development, as prepared, in the contexts that they are seen in."""
        self.setup()
        development = ((rows, context) for _, rows, context in self._development)
        for rows, context in ((self._pairs, self.context), *development):
            yield from examples.texts(rows, context=context)

    def _epoch(self, number: int) -> list[Step]:
        return plan(
            passages=self._lengths,
            pairs=self._pair_lengths,
            pair_share=self.pair_share,
            pieces=self.pieces,
            max_pieces=self.collator.max_pieces,
            seed=self.seed,
            epoch=number,
            passage_weights=self._weights,
            pair_weights=self._pair_weights,
            batch=self.batch,
        )

    def _passage_weights(self) -> list[float]:
        rows = zip(self._passages["source"], self._passages["forms"], strict=True)
        return [
            self.source_weight.get(source, 1.0) * max(self.form_weight.get(form, 1.0) for form in forms)
            for source, forms in rows
        ]

    def _weights_by_kind(self) -> list[float] | None:
        """Weights under which `system_share` of the pieces are of system outputs; None for all alike."""
        if self.system_share is None:
            return None
        system = np.array(self._pairs["kind"]) == "system"
        pieces = np.array(self._pair_lengths, dtype=float)
        if system.all() or not system.any():
            return None
        shares = self.system_share / pieces[system].sum(), (1 - self.system_share) / pieces[~system].sum()
        return np.where(system, *shares).tolist()

    def _frequency(self) -> dict[str, dict[str, float]]:
        """How often each form is met in each slot, as written, in a passage that is drawn by its weight.

        Counted on one in so many of the passages that some `COUNTED` of them are read.
        """
        found: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        every = len(self._weights) // COUNTED + 1
        texts = self._passages["text"]
        for text, weight in zip(texts[::every], self._weights[::every], strict=True):
            words = split(text)
            for occurrence in finder.find(text, words):
                found[slots.slot(words, occurrence.word)][occurrence.form] += weight
        return flipped_frequency(found, self.corruption["flip"])

    def _odds(self) -> dict[tuple[str, str], float]:
        """What slot and form tell of the labels of the first `COUNTED` passages that the run trains on."""
        assert self._sets is not None
        steps = (step for step in self.steps() if step.kind == "passages")
        items = chain.from_iterable(map(self._sets.items, steps))
        return logit_adjustment.log_odds(islice(items, COUNTED))

    def train_dataloader(self) -> DataLoader[Labelled]:
        """The batches that are left."""
        trainer, steps = self.trainer, self.steps()
        assert trainer is not None and self._sets is not None
        world = trainer.world_size
        left = len(steps) % world
        if left and trainer.global_rank == 0 and trainer.max_steps == len(steps) // world:
            LOG.warning("left out: %d of %d batches, so that %d processes take as many each", left, len(steps), world)
        steps = steps[: trainer.max_steps * world]
        sampler = StepSampler(steps, first=self.first, rank=trainer.global_rank, world=world)
        return DataLoader(self._sets, sampler=sampler, batch_size=None, num_workers=self.workers)

    def val_dataloader(self) -> list[DataLoader[Labelled]]:
        """R vs R', R vs S and the study's form in the run's context, and R vs R' without context."""
        return [
            DataLoader(
                DevelopmentPairs(rows, self.labeller, name=name, context=context, pieces=2 * self.pieces),
                batch_size=None,
            )
            for name, rows, context in self._development
        ]

    def _development_sets(self) -> list[tuple[str, Any, str]]:
        """Name, rows and context of each development set that has any."""
        noisy = self._sample("development", "noisy")
        sets = [
            ("noisy", noisy, self.context),
            ("system", self._sample("development", "system"), self.context),
            ("study_form", self._sample("development_study", None), self.context),
            ("noisy_none", noisy, "none"),
        ]
        return [each for each in sets if len(each[1])]

    def _sample(self, split: str, kind: str | None) -> Any:
        rows = arrow.read_pairs(self.folder, split, kinds=("pronoun",))
        if kind is not None:
            rows = rows.select([i for i, found in enumerate(rows["kind"]) if found == kind])
        if self.development and len(rows) > self.development:
            chosen = np.random.default_rng(0).choice(len(rows), self.development, replace=False)
            rows = rows.select(np.sort(chosen))
        return rows


def _pair_length(row: Mapping[str, Any], context: str) -> int:
    letters = len(row["better"]) + len(row["worse"])
    if context != "none":
        letters += 2 * sum(len(sentence) for sentence in row["context"])
    return int(letters / LETTERS_PER_PIECE) + 6
