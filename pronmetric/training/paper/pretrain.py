"""Pretraining of an ELMo: a language model in each direction on plain English, exported in AllenNLP's format.

It can replace the official ELMo, which was trained on 30 million sentences.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pronmetric.checkpoint import elmo as elmo_files
from pronmetric.checkpoint.files import hash_file
from pronmetric.data import characters
from pronmetric.data.pieces import FIRST, Vocabulary
from pronmetric.errors import InputError, PronmetricError
from pronmetric.nn.encoders.elmo.encoder import BiLM
from pronmetric.nn.language_model import LanguageModel
from pronmetric.text import strict_json
from pronmetric.text.words import words
from pronmetric.training.encoders.glove import choose_words
from pronmetric.training.fit import Goal, fit, prepare_process, refuse_other, run_length, training_device
from pronmetric.training.groups import Adam
from pronmetric.training.module import NOT_FINITE_CURE, LanguageTraining, Length
from pronmetric.training.paper.language_data import LanguageData, WordBatch
from pronmetric.training.paper.pretrain_settings import Pretrain
from pronmetric.version import __version__

RECORD = "pretrain.json"
MOST_NATS = 700.0  # per word; the exponential of a slightly greater number overflows
PERPLEXITY = Goal("development/perplexity", "min")


class Result(NamedTuple):
    """The exported files, for `encoder=elmo`, and the content of `pretrain.json`."""

    options: Path
    weights: Path
    record: dict[str, Any]


class LanguageModule(LanguageTraining):
    """Trains a language model; its other arguments are those of `LanguageTraining`."""

    def __init__(self, model: LanguageModel, *, optim: Adam, length: Length, seed: int) -> None:
        super().__init__(optim=optim, length=length, seed=seed)
        self.model = model
        self._losses: list[np.ndarray] = []

    def training_step(self, items: Sequence[WordBatch], index: int) -> Tensor:
        """The mean loss of both directions, in nats per token; the mean over the batches of a step."""

        def loss(item: WordBatch) -> Tensor:
            return torch.cat(self.model(item.characters, item.mask, item.words)).mean()

        return self.step(items, loss, rows=sum(len(item.words) for item in items))

    def validation_step(self, item: WordBatch, index: int) -> None:
        """Sum the losses of both directions, and the tokens."""
        forward, backward = self.model(item.characters, item.mask, item.words)
        self._losses.append(np.array([forward.sum().item(), backward.sum().item(), len(forward)]))

    def on_validation_epoch_end(self) -> None:
        """Perplexity of both directions and of each: e to the mean loss, 1 at best, lower is better."""
        forward, backward, tokens = np.sum(self._losses, axis=0)
        self._losses.clear()
        if not max(forward, backward) / tokens < MOST_NATS:
            raise PronmetricError(
                f"the held-out loss is {max(forward, backward) / tokens:.4g} nats a word after step "
                f"{self.global_step}: training stops, nothing is exported; {NOT_FINITE_CURE}"
            )
        sums = {"perplexity": (forward + backward) / 2, "forward": forward, "backward": backward}
        self.figures = {f"development/{name}": math.exp(total / tokens) for name, total in sums.items()}
        self.log_dict({**self.figures, "epoch": self.global_step / self.length.epoch}, sync_dist=True)


def pretrain(
    settings: Pretrain, *, train: Sequence[str], development: Sequence[str], inputs: Mapping[str, str]
) -> Result | None:
    """Train, and export the weights with the lowest held-out perplexity to `out`.

    A killed run is resumed from `out`/last.ckpt. On several devices only the first process exports; the others return
    None.

    Args:
        settings: of the run.
        train: the texts, one per row.
        development: the held-out texts.
        inputs: hashes of the input files; a run is resumed only with the same ones.

    Raises:
        PronmetricError: there is nothing to train on or to validate with, or `out` holds a run of other settings.
    """
    out = Path(settings.out)
    recorded = {"inputs": dict(inputs), **settings.results()}
    refuse_other(out, recorded, results=(elmo_files.OPTIONS, elmo_files.WEIGHTS))
    counts, lengths = _count(train)
    held_out, held_out_lengths = _count(development)
    if not counts or not held_out:
        raise InputError("nothing to train on, or nothing held out: give more documents, or another development_share")
    known = choose_words(counts, most=settings.vocabulary.max_words, least=settings.vocabulary.min_count)
    if not known:
        raise InputError(f"no word occurs {settings.vocabulary.min_count} times: give a lower vocabulary.min_count")
    with prepare_process(settings.trainer, seed=settings.seed):
        batches = LanguageData(
            train=(train, lengths),
            development=(development, held_out_lengths),
            vocabulary=Vocabulary(known, lower=False),
            epochs=settings.trainer.max_epochs,
            words=settings.words,
            workers=settings.trainer.workers,
            pin=training_device(settings.trainer).type == "cuda",
            accumulated=settings.trainer.accumulate,
            seed=settings.seed,
        )
        length = run_length(len(batches.steps), settings.trainer)
        module = _language_module(settings, words=len(known), length=length)
        best = fit(module, batches, out, trainer=settings.trainer, goal=PERPLEXITY, settings=recorded, length=length)
    if best is None:
        return None
    options, weights = elmo_files.write(out, module.model.bilm, settings.elmo.to_options())
    record = {
        "version": __version__,
        "files": {path.name: hash_file(path) for path in (options, weights)},
        **{key: value for key, value in best._asdict().items() if key != "device"},
        "words": {"train": counts.total(), "development": held_out.total()},
        "cut": {"train": _count_cut(counts), "development": _count_cut(held_out)},
        "vocabulary": {"words": len(known), "unknown": round(1 - _coverage(held_out, known), 4)},
        "settings": recorded,
    }
    part = out / f"{RECORD}.part"
    part.write_text(strict_json.dump(record, indent=1) + "\n", encoding="utf-8")
    part.replace(out / RECORD)
    return Result(options, weights, record)


def _language_module(settings: Pretrain, *, words: int, length: Length) -> LanguageModule:
    """The language model with initial weights, for a vocabulary of `words` words."""
    shape = elmo_files.shape(settings.elmo.to_options(), characters=1 + characters.PAD, file="elmo")
    model = LanguageModel(
        BiLM(shape, stateful=False),
        classes=FIRST + words,
        cutoffs=settings.vocabulary.cutoffs,
        dropout=settings.dropout,
    )
    return LanguageModule(model, optim=settings.scaled_optim(), length=length, seed=settings.seed)


def _count(texts: Sequence[str]) -> tuple[Counter[str], list[int]]:
    """Counts of the words in `texts`, and the number of words of each text."""
    counts: Counter[str] = Counter()
    lengths = []
    for text in texts:
        own = [word.text for word in words(text)]
        counts.update(own)
        lengths.append(len(own))
    return counts, lengths


def _count_cut(counts: Counter[str]) -> int:
    """The number of words that are too long to be read completely."""
    return sum(number for word, number in counts.items() if characters.cut([word]))


def _coverage(counts: Counter[str], known: Sequence[str]) -> float:
    return sum(counts[word] for word in known) / counts.total()
