"""A training run of a translation model; one that was stopped is resumed from its folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.utils.data import Dataset

from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.lab.nmt.data import Document, Passage, Row, corrupted, passages, with_draft
from pronmetric.lab.nmt.network import Batch
from pronmetric.lab.nmt.pieces import PAD, Pieces
from pronmetric.lab.nmt.settings import CADEC, CONFIG, NONE, SIZES, Draft, NmtTrain, Shape
from pronmetric.lab.nmt.translator import WEIGHTS, Translator, costs_of
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.contrastive import Item, Judging, Reading
from pronmetric.lab.suites.export import cut
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.output.progress import progress
from pronmetric.training.average import mean_weights
from pronmetric.training.examples.loader import PlannedData
from pronmetric.training.examples.planning import Plan, Step
from pronmetric.training.fit import Goal, fit, prepare_process, refuse_other, run_length, training_device
from pronmetric.training.groups import Adam
from pronmetric.training.module import LanguageTraining, Length
from pronmetric.training.paper.language_data import plan_texts
from pronmetric.version import __version__

LOSS, ACCURACY = "development/loss", "development/accuracy"
SNAPSHOTS = "snapshots"
BLOCK = 20
"""Lines of a block that is held out as a document is, where the text has no documents."""

Encoder = tuple[HuggingFaceEncoder, Subwords]


class Result(NamedTuple):
    """The outcome of `train`: figures of the development data, numbers of sentences, and the record of the training."""

    figures: dict[str, float]
    counts: Counter[str]
    record: dict[str, Any]


class Contrastive(NamedTuple):
    """A contrastive set whose accuracy chooses the weights."""

    suite: str
    file: str
    items: Sequence[Item]

    def accuracy(self, model: Translator) -> float:
        """The model's accuracy, from 0 to 1; higher is better."""
        texts = model.shape.reads.concatenation.texts
        pairs = [texts(one) for item in self.items for one in item.candidates]
        scores = cut(model.score(pairs), self.items, self.file)
        verdicts = SUITES[self.suite].judge(self.items, scores, Judging()).verdicts
        return sum(one.right for one in verdicts) / len(verdicts)


def read_contrastive(suite: str, path: str, documents: str | None, shape: Shape) -> Contrastive:
    """A contrastive set with as many previous sentences as the system reads.

    Raises:
        InputError: the suite is unknown, or its reader refuses the file.
    """
    if suite not in SUITES:
        raise InputError(f"data.suite={suite}: expected one of {', '.join(SUITES)}")
    reads = shape.reads
    context = max(reads.source, reads.target)
    return Contrastive(suite, path, SUITES[suite].read(path, Reading(documents, context)))


class Rows(Dataset[Batch]):
    """Batches of rows by step; with `drafts`, CADec's drafts are corrupted anew in each epoch."""

    def __init__(self, rows: Sequence[Row], model: Translator, *, drafts: Draft | None = None, seed: int = 0) -> None:
        self.rows, self._reader, self._drafts, self._seed = rows, model.reader, drafts, seed

    def __getitem__(self, step: Step) -> Batch:
        """One batch."""
        return self._reader.pad([self._row(*draw) for draw in zip(step.rows, step.turns, strict=True)])

    def _row(self, number: int, turn: int) -> Row:
        row = self.rows[number]
        if self._drafts is None:
            return row
        drawn = np.random.default_rng([self._seed, number, turn])
        if drawn.random() >= self._drafts.corrupted:
            return row
        pieces = len(self._reader.pieces)
        return with_draft(row, corrupted(row.target[1:-1], noise=self._drafts.noise, pieces=pieces, drawn=drawn))


class NmtModule(LanguageTraining):
    """Trains a translation model; arguments that are not described here are those of `LanguageTraining`.

    Args:
        model: whose network is trained.
        smoothing: of the labels in the training loss.
        contrastive: a set that is scored at each validation.
        snapshots: the folder of the weights of the last validations, and how many are kept.
    """

    def __init__(
        self,
        model: Translator,
        *,
        optim: Adam,
        smoothing: float,
        length: Length,
        seed: int,
        contrastive: Contrastive | None,
        snapshots: tuple[Path, int],
    ) -> None:
        super().__init__(optim=optim, length=length, seed=seed)
        self.network = model.network
        self.model, self.smoothing, self.contrastive, self.snapshots = model, smoothing, contrastive, snapshots
        self._costs: list[tuple[float, int]] = []

    def training_step(self, items: Sequence[Batch], index: int) -> Tensor:
        """The mean loss of a batch in nats per piece, averaged over the batches of a step."""

        def loss(item: Batch) -> Tensor:
            return costs_of(self.network, item, smoothing=self.smoothing).sum() / (item.target[:, 1:] != PAD).sum()

        return self.step(items, loss, rows=sum(len(item.target) for item in items))

    def validation_step(self, item: Batch, index: int) -> None:
        """Keep the sum of the costs and the number of pieces."""
        self._costs.append((costs_of(self.network, item).sum().item(), int((item.target[:, 1:] != PAD).sum())))

    def development_figures(self) -> dict[str, float]:
        """The loss in nats per piece since the last call, and the accuracy on the contrastive set."""
        total, pieces = np.sum(self._costs, axis=0)
        self._costs.clear()
        figures = {LOSS: float(total / pieces)}
        if self.contrastive is not None:
            self.model.device = self.device
            figures[ACCURACY] = self.contrastive.accuracy(self.model)
        return figures

    def on_validation_epoch_end(self) -> None:
        """Log the figures, and save the weights for the average."""
        self.figures = self.development_figures()
        self.log_dict({**self.figures, "epoch": self.global_step / self.length.epoch}, sync_dist=True)
        folder, kept = self.snapshots
        if kept and self.trainer.is_global_zero:
            folder.mkdir(parents=True, exist_ok=True)
            save_file(dict(self.network.state_dict()), folder / f"{self.global_step:09d}.safetensors")
            for old in sorted(folder.glob("*.safetensors"))[:-kept]:
                old.unlink()


def train(
    settings: NmtTrain,
    documents: Sequence[Document],
    *,
    inputs: Mapping[str, str],
    base: Translator | None = None,
    encoder: Encoder | None = None,
) -> Result | None:
    """Train, and write the model with the best development figure to `out`, or the average of the last ones.

    A killed run is resumed from `out`/last.ckpt. On several devices only the first process writes, and the others
    return None.

    Args:
        settings: of the run.
        documents: the parallel text.
        inputs: hashes of the input files; a run is resumed only if they are the same.
        base: the model of `init`.
        encoder: the frozen encoder of `bert_fused`.

    Raises:
        PronmetricError: there is no sentence to train on or to validate with; `base` reads a context; `out` holds a run
            of other settings.
    """
    out, shape = Path(settings.out), settings.nmt
    if base is not None:
        if base.shape.system != NONE:
            raise InputError(f"init: expected a model without context, got {base.shape.system}")
        shape = shape.model_copy(update={key: getattr(base.shape, key) for key in SIZES})
    kept = {"inputs": dict(inputs), **settings.results()}
    refuse_other(out, kept, results=(CONFIG, WEIGHTS))
    data = settings.data
    contrastive = None
    if data.suite is not None and data.set is not None:
        contrastive = read_contrastive(data.suite, data.set, data.documents, shape)
    counts: Counter[str] = Counter()
    sides = split(documents, share=data.development_share, seed=settings.seed)
    texts = [list(passages(side, shape)) for side in sides]
    counts["without text on both sides"] = sum(len(one) for one, _ in documents) - sum(map(len, texts))
    with prepare_process(settings.trainer, seed=settings.seed):
        pieces = _learn_pieces(texts[0], shape.vocabulary) if base is None else base.reader.pieces
        model = Translator.make(shape, pieces, bert=encoder)
        if base is not None:
            _start_from(base, model, frozen=settings.frozen)
        rows = [_rows(model, side, most=data.max_pieces, counts=counts) for side in texts]
        counts |= {"to train on": len(rows[0]), "held out": len(rows[1])}
        for side, name in zip(rows, ("to train on", "held out"), strict=True):
            if not side:
                raise InputError(f"no sentence {name}: give more text, or another data.development_share")
        if shape.system == CADEC:
            rows = _drafted(model, rows, settings)
        batches = _batches(model, rows, settings)
        length = run_length(len(batches.steps), settings.trainer)
        module = NmtModule(
            model,
            optim=settings.optim,
            smoothing=settings.smoothing,
            length=length,
            seed=settings.seed,
            contrastive=contrastive,
            snapshots=(out / SNAPSHOTS, settings.average),
        )
        model.network.train()
        goal = Goal(LOSS, "min") if contrastive is None else Goal(ACCURACY, "max")
        best = fit(module, batches, out, trainer=settings.trainer, goal=goal, settings=kept, length=length)
        if best is None:
            return None
        figures, averaged = _average(module, batches, goal, best.figures)
    record = {
        "version": __version__,
        **{key: value for key, value in best._asdict().items() if key not in ("device", "figures")},
        "averaged": averaged,
        "figures": figures,
        "sentences": dict(counts),
        "settings": kept,
    }
    model.to("cpu").save(out, about=record)
    return Result(figures, counts, record)


def split(documents: Sequence[Document], *, share: float, seed: int) -> tuple[list[Document], list[Document]]:
    """The documents to train on, and those held out; a single document is first cut into blocks of lines.

    Raises:
        InputError: there is only one block.
    """
    if len(documents) == 1:
        source, target = documents[0]
        starts = range(0, len(source), BLOCK)
        documents = [(source[start : start + BLOCK], target[start : start + BLOCK]) for start in starts]
    if len(documents) < 2:
        raise InputError(f"expected two documents, or more than {BLOCK} lines: one is held out")
    number = min(len(documents) - 1, max(1, round(share * len(documents))))
    chosen = set(np.random.default_rng([seed, 1]).permutation(len(documents))[:number].tolist())
    sides: tuple[list[Document], list[Document]] = ([], [])
    for k, document in enumerate(documents):
        sides[k in chosen].append(document)
    return sides


def _learn_pieces(found: Sequence[Passage], size: int) -> Pieces:
    return Pieces.train((text for one in found for text in (one.source[-1], one.target[-1])), size=size)


def _start_from(base: Translator, model: Translator, *, frozen: bool) -> None:
    """Copy the weights of `base`; with `frozen`, only the others are trained."""
    weights = base.network.state_dict()
    model.network.load_state_dict(weights, strict=False)
    if frozen:
        for name, parameter in model.network.named_parameters():
            parameter.requires_grad_(parameter.requires_grad and name not in weights)


def _rows(model: Translator, found: Sequence[Passage], *, most: int, counts: Counter[str]) -> list[Row]:
    """The rows of passages, without those that are too long, which are counted."""
    rows = model.reader.rows(found)
    readable = [row for row in rows if model.reader.fits(row)]
    kept = [row for row in readable if row.length <= most]
    counts["longer than the frozen encoder reads"] += len(rows) - len(readable)
    counts["longer than data.max_pieces"] += len(readable) - len(kept)
    return kept


def _batches(model: Translator, rows: Sequence[Sequence[Row]], settings: NmtTrain) -> PlannedData:
    """The batches of all epochs of the rows to train on, and those of the held-out rows."""
    data, trainer, seed = settings.data, settings.trainer, settings.seed
    lengths = [[row.length for row in side] for side in rows]
    epochs = range(trainer.max_epochs)
    return PlannedData(
        Rows(rows[0], model, drafts=settings.draft if settings.nmt.cadec else None, seed=seed),
        Plan.join(plan_texts(lengths[0], data.pieces, seed, epoch) for epoch in epochs),
        Rows(rows[1], model),
        plan_texts(lengths[1], 2 * data.pieces, 0, 0),
        workers=trainer.workers,
        pin=training_device(trainer).type == "cuda",
        accumulated=trainer.accumulate,
    )


def _drafted(model: Translator, rows: Sequence[Sequence[Row]], settings: NmtTrain) -> list[list[Row]]:
    """The rows with a draft of each sentence by the base: a sample to train on, its best translation to validate."""
    model.to(training_device(settings.trainer))
    noise = torch.Generator(model.device).manual_seed(settings.seed)
    total = sum(map(len, rows)) if settings.draft.corrupted < 1 else len(rows[1])
    bar = progress(label="draft", total=total, unit="sentences", short=True) if settings.trainer.progress else None
    advance = None if bar is None else bar.update
    made = []
    for side, draws in zip(rows, (noise, None), strict=True):
        sources = [row.context[-1][:-1] for row in side]
        if draws is not None and settings.draft.corrupted == 1:
            drafts: list[list[int]] = [[]] * len(side)  # none is read
        else:
            drafts = model.draft_pieces(sources, noise=draws, batch_size=128, advance=advance)
        made.append([with_draft(row, draft) for row, draft in zip(side, drafts, strict=True)])
    if bar is not None:
        bar.close()
    return made


def _average(
    module: NmtModule, data: PlannedData, goal: Goal, figures: dict[str, float]
) -> tuple[dict[str, float], int]:
    """Take the mean of the last validations' weights if its development figure is better.

    Returns the development figures of the weights taken, and how many weights were averaged, 0 for none.
    """
    folder, _ = module.snapshots
    files = sorted(folder.glob("*.safetensors")) if folder.is_dir() else []
    if len(files) < 2:
        return figures, 0
    before = {name: value.clone() for name, value in module.network.state_dict().items()}
    module.network.load_state_dict(mean_weights([load_file(file) for file in files], [1.0] * len(files)))
    found = _evaluate(module, data)
    sign = 1 if goal.mode == "max" else -1
    if sign * (found[goal.figure] - figures[goal.figure]) > 0:
        return found, len(files)
    module.network.load_state_dict(before)
    return figures, 0


def _evaluate(module: NmtModule, data: PlannedData) -> dict[str, float]:
    """The development figures of the module's weights."""
    module.model.to(module.device)
    with torch.inference_mode():
        for number, batch in enumerate(data.val_dataloader()):
            module.validation_step(batch.to(module.device), number)
    return module.development_figures()
