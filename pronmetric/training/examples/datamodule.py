"""The Lightning data module: batches from a prepared folder, each a pure function of seed, epoch and step."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytorch_lightning as pl
from torch.utils.data import DataLoader

from pronmetric.data import arrow
from pronmetric.data.collate import Collator, Example
from pronmetric.errors import InputError
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.schema import FIDELITY, TIE
from pronmetric.text.context import join
from pronmetric.training.examples import labelled as examples
from pronmetric.training.examples import people_text
from pronmetric.training.examples.batches import Labelled, Labeller
from pronmetric.training.examples.development import DevelopmentPairs, development_pairs, pair_lengths
from pronmetric.training.examples.loader import training_loader
from pronmetric.training.examples.planning import Passages, Plan, plan_epoch
from pronmetric.training.examples.prepared import Prepared
from pronmetric.training.examples.steps import TrainingSteps
from pronmetric.training.examples.swaps import Names, common_words, swap_frequency
from pronmetric.training.fit import training_device
from pronmetric.training.objective import Corruption
from pronmetric.training.settings import Train

LOG = logging.getLogger(__name__)
COREFERENCE = "coreference"  # the source of passages with annotated antecedents
COUNTED = 10_000  # passages whose pronouns are counted by slot
PART = 500  # steps that are planned together
READ = 50_000  # passages whose words are counted, to tell names from words


class PronounData(pl.LightningDataModule):
    """Training and development batches from a folder that `pronmetric prepare` wrote.

    For Lightning the whole run is one epoch, so that a run is resumed in the same way at any step: `first` is the
    number of finished steps.

    Args:
        settings: of the run.
        collator: of the encoder.
        prepared: the settings of the preparation: language and inventory.
        required_sources: names in `objective.source_share` that the passages must have; the share of another source
            without passages is ignored with a warning. `COREFERENCE` also requires passages with annotated antecedents.
        teacher: the collator of the run's teacher, if it has one.
        gap_forms: as for `Labeller`.

    Raises:
        InputError: in `setup`, if there is nothing to train on or to validate with, or a required source is missing.
    """

    STEPS: ClassVar[type[TrainingSteps]] = TrainingSteps

    def __init__(
        self,
        settings: Train,
        collator: Collator,
        *,
        prepared: Prepared,
        required_sources: Collection[str] = (),
        teacher: Collator | None = None,
        gap_forms: Sequence[str] | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.folder = Path(settings.data.folder)
        self.collator = collator
        self.labeller = Labeller(collator, forms=prepared.forms, language=prepared.language, gap_forms=gap_forms)
        self.teacher = teacher
        self.required_sources = frozenset(required_sources)
        self.annotated: dict[str, int] = {}  # numbers of training documents and passages with annotated antecedents
        self.first = 0
        self._pin = training_device(settings.trainer).type == "cuda"
        self._sets: TrainingSteps | None = None
        self._steps: Plan | None = None
        self._development: list[tuple[str, Any, str]] = []
        self._mended: Any = ()

    @property
    def taught(self) -> Collection[str] | None:
        """The names of the batches that learn from the teacher; None: all."""
        return None

    @property
    def context(self) -> str:
        """The context of pairs: "none", "respective" or "common"."""
        return self.settings.context.name

    @property
    def pair_share(self) -> float:
        """The share of pairs in the pieces."""
        return self.settings.objective.pair_share

    def setup(self, stage: str | None = None) -> None:
        """Open the prepared folder."""
        if self._sets is not None:
            return
        pairs, fidelity = self._read_pairs(), self._read_fidelity()
        self._natural, self._has_fidelity = len(pairs), fidelity is not None
        self._pairs = pairs if fidelity is None else arrow.concatenate([pairs, fidelity])
        self._passages, self._known = self._read_passages()
        self._pair_lengths = pair_lengths(self._pairs, self.context, self.labeller.language)
        self._refuse_nothing_to_train_on()
        self._check_sources(set(self._known.sources))
        self._development = self._development_sets()
        if not self._development:
            raise InputError("no development pairs: prepare with a test set for them", file=self.folder)
        self._weights = self._known.mixed(self._source_share())
        self._pair_weights = self._weights_by_kind()
        self._sets = self._training_steps()
        self._add_judged(self._sets)

    def _add_judged(self, sets: TrainingSteps) -> None:
        """Add texts that people judged to the passages, and their corrected texts to the pairs."""
        objective = self.settings.objective
        if objective.people and self.pair_share < 1:
            sets.people = people_text.read(self.folder, setting="objective.people", column="pronouns")
            lengths = self._judged_lengths(sets.people, "text")
            weights = self._weights * ((1 - objective.people) / (self._weights * self._known.lengths).sum())
            judged = people_text.draw_weights(sets.people, lengths, objective.people)
            self._weights = np.concatenate([weights, judged])
            self._known = self._known.and_source(people_text.SPLIT, lengths, judged)
        if objective.people_pairs and self.pair_share:
            self._mended = people_text.read(self.folder, setting="objective.people_pairs", column="mended")
            sets.mended = self._mended
            lengths, before = self._judged_lengths(self._mended, "text", "mended"), self._pair_weights
            others = np.ones(len(self._pairs)) if before is None else before
            others = others * ((1 - objective.people_pairs) / (others * self._pair_lengths).sum())
            judged = np.full(len(lengths), objective.people_pairs / lengths.sum())
            self._pair_weights = np.concatenate([others, judged])
            self._pair_lengths = np.concatenate([self._pair_lengths, lengths])

    def _judged_lengths(self, rows: Any, *names: str) -> np.ndarray:
        """Estimated pieces of these texts of each row, each with its context (rows,)."""
        writing, lengths = self.labeller.language.writing, list[int]()
        for part in arrow.read_columns(rows, "context", *names):
            for before, *texts in zip(part["context"], *(part[name] for name in names), strict=True):
                context = "" if self.context == "none" else join(before)
                lengths.append(sum(int(writing.pieces(context) + writing.pieces(text)) + 3 for text in texts))
        return np.array(lengths, dtype=np.int32)

    def _read_pairs(self) -> Any:
        """The pairs with a pronoun against a pronoun that the settings choose."""
        pairs, data = arrow.read_pairs(self.folder, "train", kinds=("pronoun",)), self.settings.data
        chosen = np.ones(len(pairs), dtype=bool)
        if data.kinds is not None:
            kinds = frozenset(data.kinds)
            chosen &= arrow.where(pairs, lambda kind: kind in kinds, "kind")
        if data.testsets is not None:
            chosen &= self._of_testsets(pairs, data.testsets)
        return pairs if chosen.all() else pairs.select(np.flatnonzero(chosen))

    def _read_fidelity(self) -> Any | None:
        """The pairs in which only the context decides, ties included; None where they are not trained on."""
        objective = self.settings.objective
        if objective.kind == "passages" or not objective.fidelity.share:
            return None
        wanted = objective.fidelity
        if self.context == "none":
            LOG.warning("objective.fidelity.share: with context=none nothing decides these pairs, they are left out")
            return None
        train, _ = arrow.FIDELITY_SPLITS
        if train not in arrow.read_manifest(self.folder)["splits"]:
            if FIDELITY in self.required_sources:
                raise InputError(
                    "no pairs in which only the context decides: prepare with fidelity.passages above 0, or set "
                    "objective.fidelity.share=0",
                    file=self.folder,
                )
            LOG.warning(
                "objective.fidelity.share: no pairs in which only the context decides (prepare with fidelity.passages "
                "above 0), the preset's share is left out"
            )
            return None
        rows = arrow.read_pairs(self.folder, train)
        kinds = [kind for kind, share in ((FIDELITY, 1 - wanted.ties), (TIE, wanted.ties)) if share]
        return rows.select(np.flatnonzero(arrow.where(rows, lambda kind: kind in kinds, "kind")))

    def _of_testsets(self, pairs: Any, wanted: Sequence[str]) -> np.ndarray:
        """Which pairs are of these test sets, each NAME or NAME.LP; one without a pair is refused."""
        columns = "testset", "lp"
        parts = arrow.read_columns(pairs, *columns)
        known = sorted({each for part in parts for each in zip(*(part[name] for name in columns), strict=True)})
        both = [f"{name}.{lp}" for name, lp in known]
        for name in wanted:
            if name not in both and all(name != testset for testset, _ in known):
                raise InputError(
                    f"data.testsets: no pair to train on is of {name}, expected some of {', '.join(both)}",
                    file=self.folder,
                )
        return arrow.where(pairs, lambda name, lp: name in wanted or f"{name}.{lp}" in wanted, *columns)

    def _read_passages(self) -> tuple[Any, Passages]:
        """The passages with a pronoun; with `objective.antecedent` also those with annotated antecedents."""
        objective = self.settings.objective
        passages = arrow.read_passages(self.folder, "passages_train")
        if objective.antecedent:
            if "coreference_train" in arrow.read_manifest(self.folder)["splits"]:
                more = arrow.read_passages(self.folder, "coreference_train")
                self.annotated = {"documents": len(set(more["doc"])), "passages": len(more)}
                passages = arrow.concatenate([passages, more])
            elif COREFERENCE in self.required_sources:
                raise InputError(
                    "no passages with annotated antecedents: prepare with data.coreference, or set "
                    "objective.antecedent=0",
                    file=self.folder,
                )
            else:
                LOG.warning(
                    "objective.antecedent: no passages with annotated antecedents (prepare with data.coreference), the "
                    "preset's loss is left out"
                )
        known = Passages.of(passages, objective.form_weight or {}, self.labeller.language.writing)
        filled = np.flatnonzero(known.weights)
        return (passages, known) if len(filled) == len(passages) else (passages.select(filled), known.select(filled))

    def _check_sources(self, known: set[str]) -> None:
        """Refuse a required source that no passage has; warn of others."""
        absent = sorted(self._source_share().keys() - known)
        for source in absent:
            if source in self.required_sources:
                raise InputError(
                    f"objective.source_share.{source}: no passage to train on is of this source, "
                    f"expected one of {', '.join(sorted(known)) or 'none'}; "
                    f"~objective.source_share.{source} leaves the share out",
                    file=self.folder,
                )
        if absent:
            LOG.warning(
                "objective.source_share: no passage to train on is of the source %s, the preset's share is left out",
                ", ".join(absent),
            )

    def _source_share(self) -> Mapping[str, float]:
        return self.settings.objective.source_share or {}

    def _limits(self) -> np.ndarray | None:
        return self._known.limits(self.settings.objective.source_turns or {})

    def _refuse_nothing_to_train_on(self) -> None:
        if not len(self._passages) and self.pair_share < 1:
            raise InputError(
                "no passages to train on: add objective=pairs, or prepare with data.english", file=self.folder
            )
        if not len(self._pairs) and self.pair_share > 0:
            raise InputError(
                "no pairs to train on: add objective=passages, or prepare with more test sets", file=self.folder
            )

    def _training_steps(self) -> TrainingSteps:
        """The training set; for passages, with the statistics and names for their corruption."""
        corruption, language = self.settings.objective.corruption, self.labeller.language
        table = ConfusionTable.load(self.folder / "confusion.json", forms=language.forms)
        frequency = self._frequency(corruption.gender_swap) if isinstance(corruption, Corruption) else None
        swaps = corruption.name_swap or corruption.gender_swap
        names = Names.from_faker(common=common_words(self._texts(READ))) if swaps else None
        corrupter = examples.Corrupter(table, frequency, names, language)
        labeller = Labeller(
            self.collator,
            forms=self.labeller.forms,
            language=language,
            teacher=self.teacher,
            taught=self.taught,
            gap_forms=self.labeller.gap_forms,
        )
        return self.STEPS(self._passages, self._pairs, labeller, corrupter, settings=self.settings)

    def steps(self) -> Plan:
        """The planned steps of the whole run, epoch after epoch, over all processes."""
        self.setup()
        if self._steps is None:
            self._steps = Plan.join(map(self._epoch, range(self.settings.trainer.max_epochs)))
        return self._steps

    def mix(self, steps: int) -> dict[str, dict[str, float]]:
        """What the first steps draw of each source of passages (see `Passages.drawn`); nothing where there are none."""
        return self._known.drawn(self.steps()[:steps]) if self.pair_share < 1 else {}

    def passages(self, batches: int) -> Iterator[Labelled]:
        """The first batches of passages of the run."""
        steps = (step for step in self.steps() if step.kind == "passages")
        assert self._sets is not None
        yield from chain.from_iterable(self._sets[step] for step in islice(steps, batches))

    def texts(self) -> Iterator[Example]:
        """Every text of the pairs of training and development, unchanged, each in its context."""
        self.setup()
        development = ((rows, context) for _, rows, context in self._development)
        for rows, context in ((self._pairs, self.context), *development):
            yield from examples.texts(rows, context=context, language=self.labeller.language)
        rng, language = np.random.default_rng(0), self.labeller.language
        for row in self._mended:
            pair = people_text.mended_pair(row, rng, language, context=self.context, plain=0.0)
            yield from (item.example for item in pair)

    def _epoch(self, number: int) -> Plan:
        """The steps of an epoch, in parts of about `PART` steps, so that a run of less than an epoch is as even."""
        share = self.pair_share
        pieces = self._known.lengths.sum() / (1 - share) if share < 1 else self._pair_lengths.sum()
        return plan_epoch(
            passages=self._known.lengths,
            pairs=self._pair_lengths,
            pair_share=self.pair_share,
            pieces=self.settings.pieces,
            max_pieces=self.collator.max_pieces,
            seed=self.settings.seed,
            epoch=number,
            parts=max(1, round(float(pieces) / (PART * self.settings.pieces))),
            passage_weights=self._weights,
            pair_weights=self._pair_weights,
            passage_turns=self._limits(),
            batch=self.settings.data.batch,
        )

    def _weights_by_kind(self) -> np.ndarray | None:
        """Weights under which each kind of pair has its share of the pieces; None for uniform weights.

        `fidelity.share` of all are those in which only the context decides, `fidelity.ties` of these are ties;
        `system_share` of the others are system outputs.
        """
        objective, pieces = self.settings.objective, self._pair_lengths.astype(float)
        if objective.kind == "passages":
            return None
        fidelity_share = objective.fidelity.share if self._has_fidelity else 0.0
        natural = np.arange(len(pieces)) < self._natural
        system = natural & arrow.where(self._pairs, lambda kind: kind == "system", "kind")
        tie = ~natural & arrow.where(self._pairs, lambda kind: kind == TIE, "kind")
        share, ties = objective.system_share, objective.fidelity.ties
        kinds = [(natural, 1.0)] if share is None else [(system, share), (natural & ~system, 1 - share)]
        groups = [
            *_shares(kinds, 1 - fidelity_share),
            *_shares([(tie, ties), (~natural & ~tie, 1 - ties)], fidelity_share),
        ]
        weights = np.zeros(len(pieces))
        for mask, part in groups:
            weights[mask] = part / pieces[mask].sum()
        return weights if len(groups) > 1 else None

    def _frequency(self, gender_swap: float) -> dict[str, dict[str, float]]:
        """The frequency of each form in each slot, in about `COUNTED` passages drawn by their weights."""
        frequency: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        weights = self._weights / self._weights.min(initial=np.inf)
        every = len(weights) // COUNTED + 1
        language = self.labeller.language
        for text, weight in zip(self._texts(COUNTED), weights[::every].tolist(), strict=True):
            words = language.words(text)
            for occurrence in language.find(text, words):
                for place in language.places(words, occurrence.word):
                    frequency[place][occurrence.form] += weight
        return swap_frequency(frequency, gender_swap)

    def _texts(self, most: int) -> Iterator[str]:
        """The texts of every n-th passage, so that they are fewer than about `most`."""
        some = self._passages.select(range(0, len(self._passages), len(self._passages) // most + 1))
        for part in arrow.read_columns(some, "text"):
            yield from part["text"]

    def train_dataloader(self) -> DataLoader[tuple[Labelled, ...]]:
        """The remaining steps, each a tuple of `trainer.accumulate` batches in micro-batches."""
        steps = self.steps()
        assert self.trainer is not None and self._sets is not None
        return training_loader(self._sets, steps, trainer=self.trainer, first=self.first, settings=self.settings)

    def val_dataloader(self) -> list[DataLoader[Labelled]]:
        """R vs R', R vs S and the study's form in the run's context, and R vs R' without context."""
        return [
            DataLoader(
                DevelopmentPairs(rows, self.labeller, name=name, context=context, pieces=2 * self.settings.pieces),
                batch_size=None,
                pin_memory=self._pin,
            )
            for name, rows, context in self._development
        ]

    def _development_sets(self) -> list[tuple[str, Any, str]]:
        """Name, rows and context of each development set that has any."""
        most = self.settings.data.development
        noisy = development_pairs(self.folder, "development", "noisy", most=most)
        sets = [
            ("noisy", noisy, self.context),
            ("system", development_pairs(self.folder, "development", "system", most=most), self.context),
            ("study_form", development_pairs(self.folder, "development_study", most=most), self.context),
            ("noisy_none", noisy, "none"),
        ]
        if self._has_fidelity:
            fidelity = development_pairs(self.folder, arrow.FIDELITY_SPLITS[1], FIDELITY, most=most)
            sets.append((FIDELITY, fidelity, self.context))
        return [each for each in sets if len(each[1])]


def _shares(kinds: Sequence[tuple[np.ndarray, float]], total: float) -> list[tuple[np.ndarray, float]]:
    """The kinds of which there are any rows, with their shares scaled to sum to `total`."""
    there = [(mask, share) for mask, share in kinds if mask.any()]
    return [(mask, total * share / sum(share for _, share in there)) for mask, share in there]
