"""Pretraining of an ELMo of our own: a language model in each direction on plain English, exported as AllenNLP's files.

It is not the official ELMo, which read 30 million sentences; it is what the metric can learn from in its place.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.utilities.types import OptimizerLRScheduler
from torch import Tensor

import pronmetric
from pronmetric.checkpoint.files import hash_file
from pronmetric.data import characters
from pronmetric.data.pieces import FIRST, Vocabulary
from pronmetric.errors import InputError, PronmetricError
from pronmetric.nn.elmo import BiLM
from pronmetric.nn.language_model import LanguageModel
from pronmetric.pretrained import elmo as elmo_files
from pronmetric.text.words import words
from pronmetric.training import vocabulary as words_of
from pronmetric.training.language_data import LanguageData, WordBatch
from pronmetric.training.module import NOT_FINITE_CURE, decayed, refuse_not_finite, scheduled
from pronmetric.training.run import FREE, Goal, begun, fitted, refuse_other, run_length

RECORD = "pretrain.json"
MOST_NATS = 700.0  # a word; e to a little more is no float
PERPLEXITY = Goal("development/perplexity", "min")


class Result(NamedTuple):
    """What a run left: the files that `encoder=elmo` reads, and what `pretrain.json` holds."""

    options: Path
    weights: Path
    record: dict[str, Any]


class LanguageModule(pl.LightningModule):
    """Trains a language model; its arguments are those of `pronmetric.training.module.ScorerModule`.

    `figures` are those of the last validation.
    """

    def __init__(
        self, model: LanguageModel, *, optim: Mapping[str, float], steps: int, epoch: float, seed: int
    ) -> None:
        super().__init__()
        self.model = model
        self.optim = dict(optim)
        self.steps = steps
        self.epoch = epoch
        self.seed = seed
        self.figures: dict[str, float] = {}
        self._found: list[np.ndarray] = []

    def training_step(self, item: WordBatch, index: int) -> Tensor:
        """The mean loss of both directions, in nats a token."""
        torch.manual_seed(self.seed * 1_000_003 + self.global_step)  # a run that goes on draws the same dropout
        loss = torch.cat(self.model(item.characters, item.mask, item.words)).mean()
        refuse_not_finite(loss, step=self.global_step + 1)
        self.log("epoch", self.global_step / self.epoch)
        self.log("train/loss", loss.detach(), prog_bar=True, batch_size=len(item.words))
        return loss

    def validation_step(self, item: WordBatch, index: int) -> None:
        """Add up the losses of both directions, and the tokens."""
        forward, backward = self.model(item.characters, item.mask, item.words)
        self._found.append(np.array([forward.sum().item(), backward.sum().item(), len(forward)]))

    def on_validation_epoch_end(self) -> None:
        """Perplexity of both directions and of each: e to the mean loss, 1 at best, lower is better."""
        forward, backward, tokens = np.sum(self._found, axis=0)
        self._found.clear()
        if not max(forward, backward) / tokens < MOST_NATS:
            raise PronmetricError(
                f"the held-out loss is {max(forward, backward) / tokens:.4g} nats a word after step "
                f"{self.global_step}: training stops, nothing is exported; {NOT_FINITE_CURE}"
            )
        sums = {"perplexity": (forward + backward) / 2, "forward": forward, "backward": backward}
        self.figures = {f"development/{name}": math.exp(total / tokens) for name, total in sums.items()}
        self.log_dict({**self.figures, "epoch": self.global_step / self.epoch}, sync_dist=True)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep the figures with the weights that reached them."""
        checkpoint["figures"] = self.figures

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """AdamW with linear warm-up and linear decay to 0."""
        groups = decayed(list(self.model.parameters()), self.optim["lr"], self.optim["weight_decay"])
        optimizer = torch.optim.AdamW(groups, betas=(0.9, self.optim["beta2"]))
        return scheduled(optimizer, warmup=self.optim["warmup"], steps=self.steps)


def pretrain(
    out: str | Path,
    *,
    train: Sequence[str],
    development: Sequence[str],
    inputs: Mapping[str, str],
    elmo: Mapping[str, Any],
    data: Mapping[str, Any],
    vocabulary: Mapping[str, Any],
    dropout: float,
    optim: Mapping[str, float],
    trainer: Mapping[str, Any],
    seed: int,
) -> Result | None:
    """Train, keep the weights of the lowest held-out perplexity, and export them into `out`.

    Args:
        out: a folder; a run that was killed goes on from its last.ckpt.
        train: the texts, each a row.
        development: the held-out texts.
        inputs: hashes of the files that they are from; a run goes on only with the same.
        elmo: its architecture, as AllenNLP's options.
        data: the group `data` of `pronmetric.training.settings.Pretrain`, of which `words` is used here.
        vocabulary: likewise, and so are the others.
        dropout: of what the LSTMs and the softmax read.
        optim: the optimizer's settings.
        trainer: Lightning's.
        seed: of the run.

    None in the further processes of a run on several devices: the first one exports.

    Raises:
        PronmetricError: there is nothing to train on or to validate with, or `out` holds a run of other settings.
    """
    out = Path(out)
    settings: dict[str, Any] = {
        "inputs": dict(inputs),
        "elmo": dict(elmo),
        "data": dict(data),
        "vocabulary": dict(vocabulary),
        "dropout": dropout,
        "optim": dict(optim),
        "trainer": {key: value for key, value in trainer.items() if key not in FREE},
        "seed": seed,
    }
    refuse_other(out, settings, results=(elmo_files.OPTIONS, elmo_files.WEIGHTS))
    counts, lengths = _counted(train)
    held_out, held_out_lengths = _counted(development)
    if not counts or not held_out:
        raise InputError("nothing to train on, or nothing held out: give more documents, or another development_share")
    known = words_of.chosen(counts, most=vocabulary["max_words"], least=vocabulary["min_count"])
    if not known:
        raise InputError(f"no word stands {vocabulary['min_count']} times: give a lower vocabulary.min_count")
    with begun(trainer, seed=seed):
        batches = LanguageData(
            train=(train, lengths),
            development=(development, held_out_lengths),
            vocabulary=Vocabulary(known, lower=False),
            epochs=trainer["max_epochs"],
            words=data["words"],
            workers=trainer["workers"],
            seed=seed,
        )
        steps, epoch = run_length(len(batches.steps), trainer)
        bilm = BiLM(_shape(elmo), stateful=False)
        model = LanguageModel(bilm, classes=FIRST + len(known), cutoffs=vocabulary["cutoffs"], dropout=dropout)
        module = LanguageModule(model, optim=optim, steps=steps, epoch=epoch, seed=seed)
        best = fitted(
            module, batches, out, trainer=trainer, goal=PERPLEXITY, settings=settings, steps=steps, epoch=epoch
        )
    if best is None:
        return None
    options, weights = elmo_files.write(out, bilm, elmo)
    record = {
        "version": pronmetric.__version__,
        "files": {path.name: hash_file(path) for path in (options, weights)},
        **best._asdict(),
        "words": {"train": counts.total(), "development": held_out.total()},
        "cut": {"train": _cut(counts), "development": _cut(held_out)},
        "vocabulary": {"words": len(known), "unknown": round(1 - _covered(held_out, known), 4)},
        "settings": settings,
    }
    part = out / f"{RECORD}.part"
    part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    part.replace(out / RECORD)
    return Result(options, weights, record)


def _shape(elmo: Mapping[str, Any]) -> elmo_files.Shape:
    return elmo_files.shape(elmo, characters=1 + characters.PAD, file="elmo")


def _counted(texts: Sequence[str]) -> tuple[Counter[str], list[int]]:
    """How often each word stands in `texts`, and the number of words of each text."""
    counts: Counter[str] = Counter()
    lengths = []
    for text in texts:
        found = [word.text for word in words(text)]
        counts.update(found)
        lengths.append(len(found))
    return counts, lengths


def _cut(counts: Counter[str]) -> int:
    """How many of the words are not read to their end."""
    return sum(number for word, number in counts.items() if characters.cut([word]))


def _covered(counts: Counter[str], known: Sequence[str]) -> float:
    return sum(counts[word] for word in known) / counts.total()
