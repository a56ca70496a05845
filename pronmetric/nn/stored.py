"""A frozen encoder's states, computed once and then looked up."""

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
    """Replaces the frozen `encoder` by a look-up of stored states.

    A batch with a row that is not stored is computed by the encoder. The encoder is not a submodule: its weights are
    neither trained nor saved with the model, and it has no dropout.

    Args:
        encoder: the frozen encoder; it is set to evaluation mode.
        states: the states (pieces, width) of each row, by its `key`.
    """

    def __init__(self, encoder: Encoder, states: Mapping[bytes, np.ndarray]) -> None:
        super().__init__()
        assert isinstance(encoder, nn.Module)
        encoder.eval().requires_grad_(False)
        self._whole: tuple[Any] = (encoder,)  # inside a tuple torch does not register it
        self._states = states
        self.width = encoder.width
        self.max_pieces = encoder.max_pieces

    @property
    def encoder(self) -> Any:
        """The frozen encoder."""
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
        """Piece states in fp32; each row's real pieces come first; the states of padded ones are undefined."""
        rows, lengths = ids.cpu().numpy(), mask.sum(1).tolist()
        found = [self._states.get(key(row[:length])) for row, length in zip(rows, lengths, strict=True)]
        if any(states is None for states in found):
            return read(self.encoder.to(ids.device), ids, mask)
        out = np.zeros((*mask.shape, self.width), dtype=np.float16)
        for row, states, length in zip(out, found, lengths, strict=True):
            row[:length] = states
        return torch.from_numpy(out).to(ids.device).float()


def key(ids: np.ndarray) -> bytes:
    """The key of a row without its padding: a digest of its piece ids (pieces, ...).

    The states depend only on these ids, and these on context, text, tokenizer and separator.
    """
    return blake2b(np.ascontiguousarray(ids, dtype=np.int64).tobytes(), digest_size=16).hexdigest().encode()


@torch.no_grad()
def read(
    encoder: Encoder, ids: Int[Tensor, "batch pieces *characters"], mask: Bool[Tensor, "batch pieces"]
) -> Float[Tensor, "batch pieces width"]:
    """The states in the precision of the encoder's weights, whatever the precision of the training."""
    with torch.autocast(ids.device.type, enabled=False):
        return encoder(ids, mask)
