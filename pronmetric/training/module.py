"""The Lightning module: a thin shell around the scorer, its losses and its optimizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from jaxtyping import Float
from pytorch_lightning.utilities.types import OptimizerLRScheduler
from torch import Tensor

from pronmetric.nn import loss as losses
from pronmetric.nn.encoder import HuggingFaceEncoder
from pronmetric.nn.head import HeadOutput
from pronmetric.nn.scorer import PronounScorer
from pronmetric.training.datamodule import Labelled


class ScorerModule(pl.LightningModule):
    """Trains a scorer.

    Args:
        scorer: the model.
        loss: the pair loss, `{"kind": "logistic" | "margin", "margin": float}`.
        objective: weights of the losses, `{"pair": float, "detection": float, "correction": float}`.
        optim: `{"kind": "adamw" | "sgd", "lr", "head_lr", "layer_decay", "weight_decay", "warmup", "frozen"}`;
            `layer_decay` multiplies the rate once for each layer below the top, `warmup` is a share of the steps.
        steps: optimizer steps of the whole run, for the schedule.
        seed: of the run; the dropout of each step depends on it and on the step alone.
    """

    def __init__(
        self,
        scorer: PronounScorer,
        *,
        loss: Mapping[str, Any],
        objective: Mapping[str, float],
        optim: Mapping[str, Any],
        steps: int,
        seed: int,
    ) -> None:
        super().__init__()
        self.scorer = scorer
        self.loss = dict(loss)
        self.objective = dict(objective)
        self.optim = dict(optim)
        self.steps = steps
        self.seed = seed
        self._differences: dict[str, list[np.ndarray]] = {}

    def training_step(self, item: Labelled, index: int) -> Tensor:
        """The weighted loss of one batch."""
        torch.manual_seed(self.seed * 1_000_003 + self.global_step)  # a run that goes on draws the same dropout
        parts = self.losses(self.scorer(item.batch), item)
        total = sum((self.objective[name] * part for name, part in parts.items()), start=parts["detection"] * 0)
        self.log_dict({f"train/{name}": part.detach() for name, part in parts.items()}, batch_size=len(item.batch.ids))
        self.log("train/loss", total.detach(), prog_bar=True, batch_size=len(item.batch.ids))
        return total

    def losses(self, out: HeadOutput, item: Labelled) -> dict[str, Float[Tensor, ""]]:
        """The losses of a batch by name, unweighted; those that the head cannot have are left out."""
        parts: dict[str, Tensor] = {}
        labelled = item.labelled & item.batch.pronoun_mask
        parts["detection"] = losses.detection(out.scores, item.right, labelled & bool(self.scorer.probability))
        if out.forms is not None:
            parts["correction"] = losses.correction(out.forms, item.original, labelled & (item.original >= 0))
        if len(item.better):
            better, worse = out.segment[item.better], out.segment[item.worse]
            if self.loss["kind"] == "margin":
                parts["pair"] = losses.margin(better, worse, margin=self.loss["margin"])
            elif self.scorer.probability:  # the logit of the score
                parts["pair"] = losses.logistic(better.logit(eps=1e-4), worse.logit(eps=1e-4))
            else:
                parts["pair"] = losses.logistic(better, worse)
        return parts

    def validation_step(self, item: Labelled, index: int, dataloader_idx: int = 0) -> None:
        """Collect the differences of the pairs."""
        segment = self.scorer(item.batch).segment.float()
        difference = (segment[item.better] - segment[item.worse]).cpu().numpy()
        self._differences.setdefault(item.name, []).append(difference)

    def on_validation_epoch_end(self) -> None:
        """Pair accuracy of each development set (equal and null are wrong); their mean is `development/accuracy`."""
        found = {name: float((np.concatenate(parts) > 0).mean()) for name, parts in self._differences.items()}
        self._differences.clear()
        if found:
            self.log_dict({f"development/{name}": value for name, value in found.items()})
            choice = [value for name, value in found.items() if not name.endswith("_none")]
            self.log("development/accuracy", float(np.mean(choice)), prog_bar=True)

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """Adam (or SGD) with layer-wise rates, linear warm-up and linear decay to 0."""
        groups = self._groups()
        if self.optim["kind"] == "sgd":
            optimizer: torch.optim.Optimizer = torch.optim.SGD(groups)
        else:
            optimizer = torch.optim.AdamW(groups, betas=(0.9, self.optim["beta2"]))
        warm = max(1, int(self.optim["warmup"] * self.steps))

        def rate(step: int) -> float:
            return min((step + 1) / warm, max(0.0, (self.steps - step) / max(1, self.steps - warm)))

        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def _groups(self) -> list[dict[str, Any]]:
        head = list(self.scorer.head.parameters())
        groups = _split(head, self.optim["head_lr"], self.optim["weight_decay"])
        encoder = self.scorer.encoder
        assert isinstance(encoder, HuggingFaceEncoder)
        if self.optim["frozen"]:
            for parameter in encoder.parameters():
                parameter.requires_grad_(False)
            return groups
        layers = encoder.layers()
        for depth, parameters in enumerate(reversed(layers)):
            rate = self.optim["lr"] * self.optim["layer_decay"] ** depth
            groups += _split(parameters, rate, self.optim["weight_decay"])
        return groups


def _split(parameters: list[torch.nn.Parameter], rate: float, decay: float) -> list[dict[str, Any]]:
    """Two groups of one rate: matrices are decayed, vectors (biases, norms) are not."""
    matrices = [p for p in parameters if p.ndim > 1]
    vectors = [p for p in parameters if p.ndim <= 1]
    return [
        {"params": matrices, "lr": rate, "weight_decay": decay},
        {"params": vectors, "lr": rate, "weight_decay": 0.0},
    ]
