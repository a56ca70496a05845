"""A frozen encoder's states, computed once and looked up ever after."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pronmetric.nn.encoder import Encoder


class StoredEncoder(nn.Module):
    """Stands in for `encoder`, whose weights stay as they are, and gives the states that were stored of a row.

    A batch with a row that was not stored is computed as ever. The encoder is no submodule: its weights are neither
    trained nor saved with the model that holds this one, and it has no dropout.

    Args:
        encoder: what is stored; it is set to evaluation.
        states: from the key of a row's pieces (`key`) to their states (pieces, width).
    """

    def __init__(self, encoder: Encoder, states: Mapping[bytes, np.ndarray]) -> None:
        super().__init__()
        assert isinstance(encoder, nn.Module)
        encoder.eval().requires_grad_(False)
        self._whole: tuple[Any] = (encoder,)  # in a tuple torch does not see it
        self._states = states
        self.width = encoder.width
        self.max_pieces = encoder.max_pieces

    @property
    def encoder(self) -> Any:
        """The encoder behind it."""
        return self._whole[0]

    @property
    def config(self) -> dict[str, Any]:
        """The encoder's."""
        return self.encoder.config

    def layers(self) -> list[list[nn.Parameter]]:
        """The encoder's."""
        return self.encoder.layers()

    def forward(
        self, ids: Int[Tensor, "batch pieces *characters"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Piece states in fp32; a row's real pieces stand first, and the states of padded ones are zero or nothing."""
        rows, lengths = ids.cpu().numpy(), mask.sum(1).tolist()
        found = [self._states.get(key(row[:length])) for row, length in zip(rows, lengths, strict=True)]
        if any(states is None for states in found):
            return read(self.encoder.to(ids.device), ids, mask)
        out = np.zeros((*mask.shape, self.width), dtype=np.float16)
        for row, states, length in zip(out, found, lengths, strict=True):
            row[:length] = states
        return torch.from_numpy(out).to(ids.device).float()


def key(ids: np.ndarray) -> bytes:
    """What a row without its padding is stored by: a digest of its piece ids (pieces, ...).

    They hang on context, text, tokenizer and separator alone.
    """
    return blake2b(np.ascontiguousarray(ids, dtype=np.int64).tobytes(), digest_size=16).hexdigest().encode()


@torch.no_grad()
def read(
    encoder: Encoder, ids: Int[Tensor, "batch pieces *characters"], mask: Bool[Tensor, "batch pieces"]
) -> Float[Tensor, "batch pieces width"]:
    """The states in the precision of the encoder's weights, whatever precision a training around it has."""
    with torch.autocast(ids.device.type, enabled=False):
        return encoder(ids, mask)
