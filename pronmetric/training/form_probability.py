"""The probability of a text with each of the forms of one slot, by a causal language model.

The texts of a slot are equal up to the form. What they share on the left is computed once, and its keys and values are
used for every form; the pieces from the form to the end are computed for each of them, as a form changes the
probability of what follows. Differences between a slot's numbers are those between the log-probabilities of its texts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from pronmetric.errors import InputError
from pronmetric.nn.inference import cpu_has_bf16

PIECES = 1024  # that a CPU computes together for all forms, padding included
ON_GPU = 16  # times as many
_ATTENTION = frozenset({"full_attention", "sliding_attention", "chunked_attention"})
_IGNORED = -100


def default_precision(gpus: int | None) -> str:
    """The precision in which a language model reads: bf16, or "32" on a CPU that has no bf16."""
    on_gpu = torch.cuda.is_available() if gpus is None else gpus > 0
    return "bf16" if on_gpu or cpu_has_bf16() else "32"


class _Slot(NamedTuple):
    """The pieces of the texts of one slot: those that all share, at least one, and the rest of each, at least one."""

    shared: list[int]
    rest: list[list[int]]

    @property
    def width(self) -> int:
        """Pieces of the longest rest."""
        return max(map(len, self.rest))


class FormReader:
    """Reads texts with a causal model of Hugging Face and its tokenizer.

    Args:
        model: in evaluation mode, on its device and in its precision.
        tokenizer: with a piece for the beginning or the end of a text, which is read before each text.
        positions: pieces that a text may have; None: any number.
        folder: of the model.

    Raises:
        InputError: the model has layers without keys and values, whose state cannot be shared by several texts, or its
            tokenizer lacks that piece.
    """

    def __init__(self, model: Any, tokenizer: Any, *, positions: int | None, folder: str | Path) -> None:
        self.folder = Path(folder).resolve()
        self._model, self._tokenizer, self._positions = model, tokenizer, positions
        known = inspect.signature(model.forward).parameters
        others = set(getattr(model.config, "layer_types", None) or ()) - _ATTENTION
        if others or "past_key_values" not in known:
            given = f"layers of type {', '.join(sorted(others))}" if others else type(model).__name__
            raise InputError(
                f"expected a causal model with attention alone, whose keys and values are cached, got {given}",
                file=folder,
            )
        self._has_places = "position_ids" in known
        pieces = tokenizer.bos_token_id, tokenizer.eos_token_id
        first = next((piece for piece in pieces if piece is not None), None)
        if first is None:
            raise InputError("the tokenizer has no piece for the beginning or the end of a text", file=folder)
        self._first: int = first

    @property
    def name(self) -> str:
        """The name of the model's folder."""
        return self.folder.name

    def fits(self, texts: Sequence[str]) -> bool:
        """Whether no text is longer than the model reads."""
        return self._positions is None or max(len(self._encode(text)) for text in texts) <= self._positions

    @torch.inference_mode()
    def read(
        self, slots: Sequence[Sequence[str]], *, advance: Callable[[int], object] | None = None
    ) -> list[list[float]]:
        """For each slot the natural logarithms of its texts' probabilities, up to a constant of the slot.

        slots: of each the texts, one for each form; two or more, all different. advance: called with the number of
        slots finished since the last call.
        """
        encoded = [_split([self._encode(text) for text in texts]) for texts in slots]
        by_slot: list[list[float]] = [[]] * len(slots)
        for batch in _batches(encoded, PIECES if self._model.device.type == "cpu" else ON_GPU * PIECES):
            for place, numbers in zip(batch, self._read([encoded[place] for place in batch]), strict=True):
                by_slot[place] = numbers
            if advance is not None:
                advance(len(batch))
        return by_slot

    def _encode(self, text: str) -> list[int]:
        return [self._first, *self._tokenizer(text, add_special_tokens=False)["input_ids"]]

    def _read(self, slots: Sequence[_Slot]) -> list[list[float]]:
        """The numbers of slots that are computed together."""
        device = self._model.device
        # The last shared piece is read again with each form: its state predicts the form's first piece.
        before, seen = _padded([slot.shared[:-1] for slot in slots], left=True)
        rows = [(number, rest) for number, slot in enumerate(slots) for rest in slot.rest]
        of = torch.tensor([number for number, _ in rows])  # (rows,)
        inputs, real = _padded([[slots[number].shared[-1], *rest[:-1]] for number, rest in rows])
        labels = _padded([rest for _, rest in rows])[0].masked_fill(~real, _IGNORED)
        cache = self._cache(before.to(device), seen.to(device), of.to(device)) if before.shape[1] else None
        mask = torch.cat([seen[of], real], dim=1)
        places = _places(mask)[:, before.shape[1] :]
        logits = self._forward(self._model, inputs.to(device), mask.to(device), places.to(device), cache).logits
        costs = functional.cross_entropy(
            logits.flatten(0, 1).float(), labels.flatten().to(device), ignore_index=_IGNORED, reduction="none"
        )
        totals = iter((-costs.view(labels.shape).double().sum(1)).tolist())
        return [[next(totals) for _ in slot.rest] for slot in slots]

    def _cache(self, before: Tensor, seen: Tensor, of: Tensor) -> Any:
        """The keys and values of what is shared (slots, pieces), repeated for the rows of each slot."""
        from transformers import DynamicCache

        cache = (
            DynamicCache()
        )  # without the configuration every layer keeps all pieces; the mask hides those out of reach
        self._forward(self._model.base_model, before, seen, _places(seen), cache)
        cache.batch_select_indices(of)
        return cache

    def _forward(self, model: Any, inputs: Tensor, mask: Tensor, places: Tensor, cache: Any) -> Any:
        more = {"position_ids": places} if self._has_places else {}
        return model(
            input_ids=inputs, attention_mask=mask.long(), past_key_values=cache, use_cache=cache is not None, **more
        )


def _split(texts: Sequence[list[int]]) -> _Slot:
    """What the texts share on the left, and the rest of each."""
    columns = enumerate(zip(*texts, strict=False))
    shared = next((n for n, column in columns if len(set(column)) > 1), min(map(len, texts)) - 1)
    return _Slot(texts[0][:shared], [text[shared:] for text in texts])


def _batches(slots: Sequence[_Slot], most: int) -> Iterator[list[int]]:
    """The numbers of the slots, in batches of at most `most` pieces of all forms, of like length on the left."""
    batch: list[int] = []
    width = rows = 0
    for place in sorted(range(len(slots)), key=lambda place: (len(slots[place].shared), place)):
        slot = slots[place]
        if batch and max(width, slot.width) * (rows + len(slot.rest)) > most:
            yield batch
            batch, width, rows = [], 0, 0
        batch.append(place)
        width, rows = max(width, slot.width), rows + len(slot.rest)
    if batch:
        yield batch


def _padded(rows: Sequence[Sequence[int]], *, left: bool = False) -> tuple[Tensor, Tensor]:
    """The rows as one tensor with 0 for padding, and where they are real (rows, pieces)."""
    width = max(map(len, rows))
    lengths = torch.tensor([len(row) for row in rows])
    fill = [[0] * (width - len(row)) for row in rows]
    padded = [[*more, *row] if left else [*row, *more] for row, more in zip(rows, fill, strict=True)]
    at = torch.arange(width)
    real = at >= width - lengths[:, None] if left else at < lengths[:, None]
    return torch.tensor(padded, dtype=torch.long).view(len(rows), width), real


def _places(mask: Tensor) -> Tensor:
    """The position of each piece in its text; 0 for padding before it (rows, pieces)."""
    return (mask.long().cumsum(1) - 1).clamp(min=0)
