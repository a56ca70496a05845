"""BERT for scoring: the architecture of Devlin et al. (2019) with the parameter names of Hugging Face's `BertModel`.

It gives the same states and needs no transformers, whose import takes longer than scoring a page of text.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pronmetric.nn.encoders.huggingface.layer import Layer

SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
)


class BertModel(nn.Module):
    """Embeddings and layers, under the names of Hugging Face's module of the same name."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        self.config = SimpleNamespace(**config)
        self.embeddings = Embeddings(config)
        layers = nn.ModuleList(_layer(config) for _ in range(config["num_hidden_layers"]))
        self.encoder = nn.ModuleDict({"layer": layers})

    def forward(
        self, ids: Int[Tensor, "batch pieces"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Contextual piece states."""
        return run_layers(self, self.embeddings(ids), mask[:, None, None, :])


class Bert(nn.Module):
    """A BERT encoder that is not trained: no dropout. Its tensors have the names of `HuggingFaceEncoder`.

    Args:
        config: the architecture, a Hugging Face dict for which `fits` holds.
    """

    FIXED: ClassVar[Mapping[str, Any]] = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "is_decoder": False,
        "add_cross_attention": False,
        "position_embedding_type": "absolute",
    }
    DEFAULTS: ClassVar[Mapping[str, Any]] = {
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
        "hidden_act": "gelu",
    }
    UNUSED: ClassVar[int] = 0  # positions that no piece has
    MODEL: ClassVar[type[nn.Module]] = BertModel

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        self.config: dict[str, Any] = {**self.DEFAULTS, **config}
        self.width: int = config["hidden_size"]
        self.max_pieces: int = config["max_position_embeddings"] - self.UNUSED
        if self.width % config["num_attention_heads"]:
            raise ValueError(f"expected a hidden_size that num_attention_heads divides, got {self.width}")
        self.model: Any = self.MODEL(self.config)

    @classmethod
    def fits(cls, config: Mapping[str, Any]) -> bool:
        """Whether this module computes the architecture in `config`."""
        sized = all(type(config.get(name)) is int and config[name] > 0 for name in SIZES)
        typed = all(type(config.get(name, value)) is type(value) for name, value in cls.DEFAULTS.items())
        return sized and typed and all(config.get(name, value) == value for name, value in cls.FIXED.items())

    def layers(self) -> list[list[nn.Parameter]]:
        """Parameters from the embeddings upwards, one list per layer."""
        inside = [list(each.parameters()) for each in stack(self.model)]
        known = {id(parameter) for layer in inside for parameter in layer}
        return [[each for each in self.model.parameters() if id(each) not in known], *inside]

    def forward(
        self, ids: Int[Tensor, "batch pieces"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Contextual piece states."""
        return self.model(ids, mask)


class Embeddings(nn.Module):
    """The sum of piece, position and type embeddings (type 0), normalised."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.word_embeddings = nn.Embedding(config["vocab_size"], width, padding_idx=config["pad_token_id"])
        self.position_embeddings = nn.Embedding(config["max_position_embeddings"], width)
        self.token_type_embeddings = nn.Embedding(config["type_vocab_size"], width)
        self.LayerNorm = nn.LayerNorm(width, eps=config["layer_norm_eps"])

    def forward(self, input_ids: Int[Tensor, "batch pieces"]) -> Float[Tensor, "batch pieces width"]:
        """The embedding of each piece at its position."""
        positions = self.position_embeddings.weight[: input_ids.shape[1]]
        return self.LayerNorm(self.word_embeddings(input_ids) + self.token_type_embeddings.weight[0] + positions)


def stack(model: Any) -> list[Any]:
    """The layers of a model with the names of Hugging Face's, from the lowest."""
    return list(model.encoder.layer)


def run_layers(
    model: Any,
    x: Float[Tensor, "batch pieces width"],
    mask: Bool[Tensor, "batch 1 1 pieces"] | Float[Tensor, "batch heads pieces pieces"],
) -> Float[Tensor, "batch pieces width"]:
    """The states after all layers, from the embeddings `x`; `mask` as for `Layer.next`."""
    for layer in stack(model):
        x = Layer.of(layer).next(x, mask, heads=model.config.num_attention_heads)
    return x


def _layer(config: Mapping[str, Any]) -> nn.ModuleDict:
    width, inner, eps = config["hidden_size"], config["intermediate_size"], config["layer_norm_eps"]

    def mapped(size: int) -> nn.ModuleDict:
        return nn.ModuleDict({"dense": nn.Linear(size, width), "LayerNorm": nn.LayerNorm(width, eps=eps)})

    own = nn.ModuleDict({name: nn.Linear(width, width) for name in ("query", "key", "value")})
    return nn.ModuleDict(
        {
            "attention": nn.ModuleDict({"self": own, "output": mapped(width)}),
            "intermediate": nn.ModuleDict({"dense": nn.Linear(width, inner)}),
            "output": mapped(inner),
        }
    )
