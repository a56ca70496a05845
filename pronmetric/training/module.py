"""The Lightning module: the scorer, its losses and its optimizer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pytorch_lightning as pl
import torch
from jaxtyping import Float, Int
from pytorch_lightning.utilities.types import OptimizerLRScheduler
from torch import Tensor

from pronmetric.data.collate import Batch
from pronmetric.errors import PronmetricError
from pronmetric.eval.accuracy import accuracy_by_count, decide
from pronmetric.eval.decision import ERRORS, PREFERENCE, SCORE
from pronmetric.nn import loss as losses
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.nn.head import HeadOutput, mean
from pronmetric.nn.inference import for_inference
from pronmetric.nn.scorer import PronounScorer
from pronmetric.training.callbacks import may_wait
from pronmetric.training.examples.batches import Labelled
from pronmetric.training.groups import Adam, Adamw, Logistic, Margin, Sgd
from pronmetric.training.objective import Objective
from pronmetric.training.teacher import Teacher, TeacherOutput

SUFFIX = {SCORE: "", ERRORS: "_errors", PREFERENCE: "_preference"}  # of the figures' names
Columns = dict[str, np.ndarray]
"""For each of `DECISIONS` that a scorer gives, (4, pairs): the numbers of the better and of the worse texts, higher is
better, then the texts' numbers of pronouns."""
DTYPES = {"16-mixed": torch.float16, "bf16-mixed": torch.bfloat16}  # of products, by Lightning's names
MARGIN = 0.1  # of the margin loss (Jwalapuram et al. 2019, section 4)
BETA2 = 0.98  # of AdamW
Item = TypeVar("Item")
NOT_FINITE_CURE = "give another out= and a lower optim.lr or optim.head_lr, or trainer.precision=32"


class Length(NamedTuple):
    """Optimizer steps of a whole run, and of one epoch."""

    steps: int
    epoch: float


class ScorerModule(pl.LightningModule):
    """Trains a scorer.

    Args:
        scorer: the model.
        loss: the pair loss.
        objective: the weights of the losses.
        optim: `layer_decay` multiplies the learning rate once for each layer below the top, `warmup` is a share of the
            steps until the rate is 0 (`decay_steps`, or all); with `halve_from` the rate is halved in each epoch from
            that one (counted from 1), without warm-up.
        length: of the run, for the schedule and the logs.
        seed: of the run; the dropout of a step depends only on the seed and the step.
        teacher: gives the soft labels of batches with lessons; it is no part of the module's weights.

    `figures` are those of the last validation.
    """

    def __init__(
        self,
        scorer: PronounScorer,
        *,
        loss: Logistic | Margin,
        objective: Objective,
        optim: Adamw | Sgd,
        length: Length,
        seed: int,
        teacher: Teacher | None = None,
    ) -> None:
        super().__init__()
        self.teacher = teacher
        self.scorer = scorer
        self.loss = loss
        self.objective = objective
        self.optim = optim
        self.length = length
        self.seed = seed
        self.figures: dict[str, float] = {}
        self._columns: dict[str, list[np.ndarray]] = {}
        self._unread: list[tuple[int, Tensor]] = []  # steps and their losses, which the host has not seen yet
        self._inference = (scorer,)  # inside a tuple torch does not register it
        layers = self.scorer.encoder.layers()
        for parameter in chain.from_iterable(layers if self.optim.frozen else layers[: self.optim.frozen_layers]):
            parameter.requires_grad_(False)
        if self.optim.frozen_head:
            self.scorer.head.requires_grad_(False)

    def on_fit_start(self) -> None:
        """Prepare the encoder for the device, and the teacher for the device and the precision of the training."""
        encoder = self.scorer.encoder
        if self.device.type != "cpu" and isinstance(encoder, HuggingFaceEncoder):
            encoder.fuse_attention()
        if self.teacher is not None:
            self.teacher.prepare(self.device, self._inference_dtype())

    def _inference_dtype(self) -> torch.dtype:
        """The type of products outside training steps: that of the training."""
        return DTYPES.get(str(self.trainer.precision), torch.float32)

    def training_step(self, batches: Sequence[Sequence[Labelled]], index: int) -> Tensor:
        """The weighted loss of one step: the mean over its batches.

        Each batch is given as micro-batches, whose activations are in memory one after the other. The gradient of the
        returned loss is that of all batches.
        """
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        earlier, logged = Gradients(trained), defaultdict[str, list[Tensor]](list)
        left = sum(map(len, batches))
        for items in batches:
            seed_step(self.seed, self.global_step)
            whole = sum(map(self.counts, items), start=Counter())
            for item in items:
                counts = self.counts(item)
                parts = self.losses(self.scorer(item.batch), item)
                for name, part in parts.items():  # means, each over its number of pronouns or pairs
                    parts[name] = part * (counts[name] / max(1, whole[name]) / len(batches))
                    logged[name].append(parts[name].detach())
                loss = sum((self._weight(name) * part for name, part in parts.items()), start=parts["detection"] * 0)
                left -= 1
                if left:
                    earlier.add(loss)
        total = earlier.append_to(loss)
        step = self.global_step + 1
        self._unread.append((step, total.detach()))
        if not may_wait(self.device, step):  # numbers are logged, and the loss is read, where the host may wait for it
            return total
        self._check_losses()
        rows = sum(len(item.batch.ids) for items in batches for item in items)
        self.log("epoch", self.global_step / self.length.epoch)
        self.log_dict({f"train/{name}": torch.stack(parts).sum() for name, parts in logged.items()}, batch_size=rows)
        self.log("train/loss", total.detach(), prog_bar=True, batch_size=rows, sync_dist=True)
        return total

    def _weight(self, name: str) -> float:
        """The weight of a loss in the objective."""
        return float(getattr(self.objective, name))

    def _check_losses(self) -> None:
        """Refuse a loss that is not finite in the steps since the last check; all are read from the device at once."""
        if self._unread:
            steps, losses = zip(*self._unread, strict=True)
            self._unread.clear()
            for step, loss in zip(steps, torch.stack(losses).cpu(), strict=True):
                refuse_not_finite(loss, step=step)

    def counts(self, item: Labelled) -> Counter[str]:
        """The number of pronouns or pairs that each of `losses` is the mean of."""
        places = item.places
        return Counter(
            detection=len(self._labelled(item)),
            antecedent=len(places.antecedent),
            pair=len(self._paired(item)),
            preference=len(places.pairs),
            soft_detection=len(places.pronouns),
            soft_preference=len(places.pairs),
            gaps=len(places.gaps),
        )

    def _labelled(self, item: Labelled) -> Int[Tensor, " labelled"]:
        """The pronouns of the detection loss: none if the head has no probabilities."""
        return item.places.labelled if self.scorer.probability else item.places.labelled[:0]

    def _paired(self, item: Labelled) -> Int[Tensor, " pairs"]:
        """The pairs of the score's loss: system outputs, which differ in more than pronouns, are the pair head's."""
        return item.places.pairs if self.scorer.pair_head is None else item.places.natural

    def losses(self, out: HeadOutput, item: Labelled) -> dict[str, Float[Tensor, ""]]:
        """The losses of a batch by name, unweighted; only those that the head supports."""
        parts: dict[str, Tensor] = {}
        places = item.places
        parts["detection"] = losses.detection(out.scores, item.right, self._labelled(item))
        if item.antecedent is not None and out.weights is not None:
            parts["antecedent"] = losses.antecedent(out.weights, item.antecedent, places.antecedent)
        pair_head = self.scorer.pair_head
        if out.gaps is not None and item.missing is not None:
            parts["gaps"] = losses.gaps(out.gaps, item.missing, places.gaps)
        if len(item.better):
            logit = self.loss.kind == "logistic" and self.scorer.probability  # the logit of the score
            segment = out.segment.logit(eps=1e-4) if logit else out.segment
            parts["pair"] = self._pair_loss(segment, item, self._paired(item))
        if pair_head is not None and out.preferences is not None:  # 0 without pairs, so that DDP finds its gradient
            y = pair_head.segment(out.preferences, item.batch.pronoun_mask)
            parts["preference"] = self._pair_loss(y, item, places.pairs)
        if self.teacher is not None and item.lesson is not None:
            parts |= self._soft_losses(out, item, self.teacher.answer(item.lesson))
        return parts

    def _soft_losses(self, out: HeadOutput, item: Labelled, answer: TeacherOutput) -> dict[str, Float[Tensor, ""]]:
        """The losses to a teacher's answer: on all pronouns and all pairs, whether or not they have labels."""
        real = item.batch.pronoun_mask
        parts = {"soft_detection": losses.detection(out.scores, answer.logits.sigmoid(), item.places.pronouns)}
        if out.preferences is not None and answer.preferences is not None:
            own, theirs = mean(out.preferences, real), mean(answer.preferences, real)
            better, worse = item.better[item.places.pairs], item.worse[item.places.pairs]
            gap = theirs[better] - theirs[worse]
            parts["soft_preference"] = losses.soft_logistic(own[better], own[worse], gap.sigmoid())
        return parts

    def _pair_loss(
        self, y: Float[Tensor, " batch"], item: Labelled, chosen: Int[Tensor, " chosen"]
    ) -> Float[Tensor, ""]:
        """The pair loss of the `chosen` pairs, from the scores of all rows."""
        better, worse, tie = y[item.better[chosen]], y[item.worse[chosen]], item.tie[chosen]
        if self.loss.kind == "margin":
            return losses.margin(better, worse, margin=MARGIN, tie=tie)
        return losses.logistic(better, worse, tie=tie)

    def on_validation_epoch_start(self) -> None:
        """Prepare the scorer for inference in the precision of the training."""
        self._check_losses()
        self._inference = (for_inference(self.scorer, self._inference_dtype()),)

    def validation_step(self, item: Labelled, index: int, dataloader_idx: int = 0) -> None:
        """Collect the scores and the numbers of pronouns of the pairs."""
        with torch.autocast(item.batch.ids.device.type, enabled=False):
            columns = pair_columns(self._inference[0], item)
        for name in (SCORE, PREFERENCE) if PREFERENCE in columns else (SCORE,):
            self._columns.setdefault(item.name + SUFFIX[name], []).append(columns[name])

    def on_validation_epoch_end(self) -> None:
        """Pair accuracy of each development set (equal and null are wrong), by each head.

        `development/accuracy` is the mean over the sets in the run's context: of system outputs by the pair head where
        there is one, else by the score.
        """
        figures = {name: accuracies(np.concatenate(parts, axis=1)) for name, parts in self._columns.items()}
        self._columns.clear()
        self._inference = (self.scorer,)
        self.figures = {f"development/{name}{part}": v for name, parts in figures.items() for part, v in parts.items()}
        self.log_dict({**self.figures, "epoch": self.global_step / self.length.epoch}, sync_dist=True)
        chosen = {
            name: parts[""] for name, parts in figures.items() if not name.endswith(("_none", SUFFIX[PREFERENCE]))
        }
        if (by_pair_head := f"system{SUFFIX[PREFERENCE]}") in figures:
            chosen["system"] = figures[by_pair_head][""]
        accuracy = float(np.mean(list(chosen.values())))
        self.figures["development/accuracy"] = accuracy
        self.log("development/accuracy", accuracy, prog_bar=True, sync_dist=True)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Save the figures of the last validation with the weights."""
        self._check_losses()
        checkpoint["figures"] = self.figures

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """Adam (or SGD) with layer-wise rates, linear warm-up and linear decay to 0."""
        groups = self._groups()
        if self.optim.kind == "sgd":
            optimizer: torch.optim.Optimizer = torch.optim.SGD(groups)
        else:
            fused = next(self.parameters()).device.type == "cpu"  # a single pass over memory
            optimizer = torch.optim.AdamW(groups, betas=(0.9, BETA2), fused=fused)
        if self.optim.halve_from is not None:
            return halve_by_epoch(optimizer, since=self.optim.halve_from, epoch=self.length.epoch)
        steps = max(self.optim.decay_steps or 0, self.length.steps)
        return warm_up_and_decay(optimizer, warmup=self.optim.warmup, steps=steps)

    def configure_gradient_clipping(
        self, optimizer: Any, gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None
    ) -> None:
        """Clip by the norm of all gradients; Lightning does not clip for a fused optimizer."""
        if next(self.parameters()).device.type != "cpu":
            self.clip_gradients(optimizer, gradient_clip_val, gradient_clip_algorithm)
        elif gradient_clip_val:
            torch.nn.utils.clip_grad_norm_(self.parameters(), gradient_clip_val)

    def _groups(self) -> list[dict[str, Any]]:
        heads = (self.scorer.head, self.scorer.pair_head, self.scorer.gap_head)
        head = [p for each in heads if each is not None for p in each.parameters() if p.requires_grad]
        groups = parameter_groups(head, self.optim.head_lr, self.optim.weight_decay)
        if self.optim.frozen:
            return groups
        layers = self.scorer.encoder.layers()
        for depth, parameters in enumerate(reversed(layers)):
            rate = self.optim.lr * self.optim.layer_decay**depth
            trained = [p for p in parameters if p.requires_grad]  # a part of the encoder may be frozen
            groups += parameter_groups(trained, rate, self.optim.weight_decay)
        return groups


class Gradients:
    """The summed gradients of the losses of a batch's earlier micro-batches; their activations are freed.

    parameters: those that are trained.
    """

    def __init__(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        self._parameters = list(parameters)
        self._sums: list[Tensor | None] = [None] * len(self._parameters)
        self._losses: list[Tensor] = []

    def add(self, loss: Float[Tensor, ""]) -> None:
        """Compute and add the gradients of a loss."""
        self._losses.append(loss.detach())
        with torch.autocast(loss.device.type, enabled=False):
            new = torch.autograd.grad(loss, self._parameters, allow_unused=True)
        for number, (old, one) in enumerate(zip(self._sums, new, strict=True)):
            if one is not None:
                self._sums[number] = one if old is None else old.add_(one)

    def append_to(self, loss: Float[Tensor, ""]) -> Float[Tensor, ""]:
        """`loss` plus the earlier losses; `backward` of it gives the parameters the gradients of all."""
        if not self._losses:
            return loss
        total: Tensor = _Known.apply(loss + torch.stack(self._losses).sum(), self._sums, *self._parameters)
        return total


class _Known(torch.autograd.Function):
    """The identity on a loss, whose backward pass also adds known gradients of the parameters."""

    @staticmethod
    def forward(ctx: Any, loss: Tensor, known: Sequence[Tensor | None], *parameters: Tensor) -> Tensor:
        ctx.known = known
        return loss.clone()

    @staticmethod
    def backward(ctx: Any, scale: Tensor) -> Any:
        known, ctx.known = ctx.known, ()
        return scale, None, *(None if one is None else one.mul_(scale) for one in known)


class LanguageTraining(pl.LightningModule):
    """Trains a model of language by the mean loss of its batches; `figures` are those of the last validation.

    Args:
        optim: AdamW with linear warm-up and linear decay to 0, over the weights that are trained.
        length: of the run, for the schedule and the logs.
        seed: of the run; the dropout of a step depends only on the seed and the step.
    """

    def __init__(self, *, optim: Adam, length: Length, seed: int) -> None:
        super().__init__()
        self.optim, self.length, self.seed = optim, length, seed
        self.figures: dict[str, float] = {}

    def step(self, items: Sequence[Item], loss_of: Callable[[Item], Float[Tensor, ""]], *, rows: int) -> Tensor:
        """The mean of the losses of a step's batches, which have so many rows; it is logged."""
        earlier = Gradients(self._trained())
        for number, item in enumerate(items, start=1):
            seed_step(self.seed, self.global_step)
            loss = loss_of(item) / len(items)
            refuse_not_finite(loss, step=self.global_step + 1)
            if number < len(items):
                earlier.add(loss)
        total = earlier.append_to(loss)
        self.log("epoch", self.global_step / self.length.epoch)
        self.log("train/loss", total.detach(), prog_bar=True, batch_size=rows)
        return total

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Save the figures of the last validation with the weights."""
        checkpoint["figures"] = self.figures

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """See `optim`."""
        groups = parameter_groups(self._trained(), self.optim.lr, self.optim.weight_decay)
        optimizer = torch.optim.AdamW(groups, betas=(0.9, self.optim.beta2))
        return warm_up_and_decay(optimizer, warmup=self.optim.warmup, steps=self.length.steps)

    def _trained(self) -> list[torch.nn.Parameter]:
        return [parameter for parameter in self.parameters() if parameter.requires_grad]


def seed_step(seed: int, step: int) -> None:
    """Seed the dropout of a step, which a resumed run draws again."""
    torch.manual_seed(seed * 1_000_003 + step)


def refuse_not_finite(loss: Tensor, *, step: int) -> None:
    """Stop a run whose loss is infinite or NaN.

    Raises:
        PronmetricError: with the step, counted from 1.
    """
    if not loss.isfinite():
        raise PronmetricError(
            f"the loss is {loss.item()} at step {step}: training stops, nothing is exported; {NOT_FINITE_CURE}"
        )


def text_values(scorer: PronounScorer, batch: Batch) -> dict[str, Float[Tensor, " batch"]]:
    """For each of `DECISIONS` that the scorer gives: the numbers of a batch's texts, higher is better.

    NaN for a text without a pronoun.
    """
    out, real = scorer(batch), batch.pronoun_mask
    values = {SCORE: out.segment.float()}
    if scorer.probability:
        errors = out.scores.float().neg().sigmoid().masked_fill(~real, 0.0).sum(1)
        values[ERRORS] = torch.where(real.any(1), -errors, torch.nan)
    if scorer.pair_head is not None:
        values[PREFERENCE] = scorer.pair_head.segment(out.preferences, real).float()
    return values


def pair_columns(scorer: PronounScorer, item: Labelled) -> Columns:
    """The numbers of a batch's pairs."""
    count, columns_of = item.batch.pronoun_mask.sum(1), {}
    for name, value in text_values(scorer, item.batch).items():
        columns = (value[item.better], value[item.worse], count[item.better], count[item.worse])
        columns_of[name] = np.stack([column.cpu().numpy() for column in columns])
    return columns_of


def accuracies(columns: np.ndarray) -> dict[str, float]:
    """Pair accuracy of all pairs (""), and of the parts by number of pronouns if some pair has unequal numbers.

    columns: scores of the better and the worse texts, then their numbers of pronouns (4, pairs). The share of unequal
    pairs won by the text with fewer pronouns shows whether dropping pronouns raises the score.
    """
    better, worse, more, less = columns
    decisions = decide(better.tolist(), worse.tolist())
    parts = accuracy_by_count(more.tolist(), less.tolist(), decisions, [0] * len(better))
    figures = {"": float(decisions.right.mean())}
    if parts.unequal is not None and parts.fewer_won is not None:
        figures |= {"_unequal": parts.unequal.accuracy, "_fewer_won": parts.fewer_won.value}
        figures |= {"_equal": parts.equal.accuracy} if parts.equal is not None else {}
    return figures


def parameter_groups(parameters: list[torch.nn.Parameter], rate: float, decay: float) -> list[dict[str, Any]]:
    """Two parameter groups with the same learning rate: weight decay for matrices, none for vectors (biases, norms)."""
    matrices = [p for p in parameters if p.ndim > 1]
    vectors = [p for p in parameters if p.ndim <= 1]
    return [
        {"params": matrices, "lr": rate, "weight_decay": decay},
        {"params": vectors, "lr": rate, "weight_decay": 0.0},
    ]


def warm_up_and_decay(optimizer: torch.optim.Optimizer, *, warmup: float, steps: int) -> OptimizerLRScheduler:
    """Linear warm-up over a share `warmup` of the steps, then linear decay to 0.

    `transformers.get_linear_schedule_with_warmup` is the same, but starts one step later, with rate 0.
    """
    warm = max(1, int(warmup * steps))

    def rate(step: int) -> float:
        return min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def halve_by_epoch(optimizer: torch.optim.Optimizer, *, since: int, epoch: float) -> OptimizerLRScheduler:
    """A constant rate within an epoch of `epoch` steps, halved in each epoch from `since` on (counted from 1)."""

    def rate(step: int) -> float:
        return 0.5 ** max(0, int(step / epoch) + 2 - since)

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}
