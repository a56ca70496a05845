"""Metrics of published sizes with random weights, for speed measurements: a COMET, and the paper's metric on ELMo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pronmetric.checkpoint import files, locate
from pronmetric.data.collate import Collator, Encoded, Example, cut_batches
from pronmetric.data.pieces import Characters
from pronmetric.metric import PronounMetric
from pronmetric.nn.encoders.elmo.encoder import Elmo, Shape
from pronmetric.scoring.replicas import BATCH_SIZE

XLM_R_LARGE: Mapping[str, Any] = {
    "vocab_size": 250_002,
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
    "max_position_embeddings": 514,
    "type_vocab_size": 1,
}
PUBLISHED = Shape(
    characters=262,
    character_width=16,
    filters=((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)),
    highway=2,
    activation="relu",
    layers=2,
    cell=4096,
    projection=512,
    cell_clip=3.0,
    projection_clip=3.0,
    residual=True,
)
"""ELMo's published weights, 2x4096_512."""
_BATCH = 32 * BATCH_SIZE["cpu"]  # pieces, as in `PronounMetric`


class CometSized(nn.Module):
    """A regression of quality on the states of source, translation and reference (Rei et al. 2022), untrained.

    Each text passes the encoder by itself and is the mean of its pieces. Relative to the paper: the states are those of
    the last layer, not a learned mixture of all; texts are cut into the pieces of the tokenizer of `small`.
    """

    def __init__(self, collator: Collator, config: Mapping[str, Any] = XLM_R_LARGE) -> None:
        super().__init__()
        from transformers import XLMRobertaConfig, XLMRobertaModel

        width = config["hidden_size"]
        self.encoder = XLMRobertaModel(XLMRobertaConfig(**config), add_pooling_layer=False)
        self.estimator = nn.Sequential(
            nn.Linear(6 * width, 3 * width), nn.Tanh(), nn.Linear(3 * width, width), nn.Tanh(), nn.Linear(width, 1)
        )
        self.collator = collator

    def encode(self, triples: Sequence[tuple[str, str, str]]) -> list[Encoded]:
        """The rows of source, translation and reference of each triple."""
        return self.collator.encode([Example("", text, []) for triple in triples for text in triple])

    @torch.inference_mode()
    def score(self, triples: Sequence[tuple[str, str, str]]) -> list[float]:
        """A number for each (source, translation, reference)."""
        rows = self.encode(triples)
        means = torch.zeros(len(rows), self.encoder.config.hidden_size)
        for batch in cut_batches(rows, pieces=_BATCH):
            padded = self.collator.pad(batch)
            mask = padded.piece_mask
            states = self.encoder(input_ids=padded.ids, attention_mask=mask.long()).last_hidden_state.float()
            mean = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)  # (batch, width)
            means[[row.example for row in batch]] = mean
        return self.estimator(_features(means.view(len(triples), 3, -1))).squeeze(1).tolist()


def _features(means: Tensor) -> Tensor:
    """(batch, 6 width): translation, reference, and their products and distances, from (batch, 3, width)."""
    source, text, reference = means.unbind(1)
    near, far = text * reference, (text - reference).abs()
    return torch.cat([text, reference, near, far, text * source, (text - source).abs()], dim=1)


def elmo_metric(shape: Shape = PUBLISHED) -> PronounMetric:
    """The paper's metric, its head on an ELMo of the published size, with the other settings of `small`."""
    place = locate.locate("small")
    small = files.load(place.folder, trainable=False)
    config = {key: value for key, value in small.config.items() if key != "pair_head"}
    config |= {
        "encoder": Elmo(shape).config,
        "head": {"kind": "paper", "dropout": 0.0, "slots": 4},
        "separator": False,
        "segment": "weighted",
    }
    loaded = files.Checkpoint(files.build(config), Characters(), config, hash="random", settings="random")
    return PronounMetric(loaded, locate.Location("elmo", Path()), precision="32", gpus=0)
