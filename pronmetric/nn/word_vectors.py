"""Word vectors from an intermediate layer of an encoder, for word alignment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from pronmetric.nn.encoder import word_states
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder


class WordVectors:
    """Turns lists of words into arrays (words, width): the mean of each word's piece states at one layer.

    The encoder is truncated to that layer permanently. A list that is too long for the encoder is split into windows
    at word boundaries; a word without pieces gets zeros.
    """

    def __init__(
        self, encoder: HuggingFaceEncoder, tokenizer: PreTrainedTokenizerBase, *, layer: int, batch_size: int = 64
    ) -> None:
        """Truncate the encoder to its first `layer` layers."""
        stack = next(module for module in encoder.modules() if isinstance(module, nn.ModuleList))
        if not 1 <= layer <= len(stack):
            raise ValueError(f"expected a layer from 1 to {len(stack)}, got {layer}")
        del stack[layer:]
        self._encoder = encoder.eval()
        self._tokenizer = tokenizer
        self._batch_size = batch_size

    def __call__(self, sides: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """The vectors of each list of words, in order."""
        windows = [(side, *window) for side, words in enumerate(sides) for window in self._windows(words)]
        order = sorted(range(len(windows)), key=lambda number: len(windows[number][1]))
        parts: list[np.ndarray] = [np.zeros(0)] * len(windows)
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            states = self._states([windows[number][1:] for number in batch])
            for number, state in zip(batch, states, strict=True):
                parts[number] = state
        vectors = [np.zeros((0, self._encoder.width), np.float32)] * len(sides)
        for side, group in groupby(range(len(windows)), key=lambda number: windows[number][0]):
            vectors[side] = np.concatenate([parts[number] for number in group])
        return vectors

    def _windows(self, words: Sequence[str]) -> Iterator[tuple[list[int], list[int], int]]:
        """Piece ids, the word of each piece (-1 for special pieces) and the number of words, for each window."""
        room = self._encoder.max_pieces - 2
        pieces = self._tokenizer(list(words), add_special_tokens=False)["input_ids"] if words else []
        ids: list[int] = []
        word: list[int] = []
        count = 0
        for of_word in pieces:
            if count and len(ids) + len(of_word) > room:
                yield self._add_markers(ids), [-1, *word, -1], count
                ids, word, count = [], [], 0
            ids += of_word[:room]
            word += [count] * len(of_word[:room])
            count += 1
        if count:
            yield self._add_markers(ids), [-1, *word, -1], count

    def _add_markers(self, ids: list[int]) -> list[int]:
        return [self._tokenizer.cls_token_id, *ids, self._tokenizer.sep_token_id]

    @torch.inference_mode()
    def _states(self, windows: Sequence[tuple[list[int], list[int], int]]) -> list[np.ndarray]:
        longest = max(len(ids) for ids, _, _ in windows)
        ids = torch.zeros(len(windows), longest, dtype=torch.long)
        word = torch.full((len(windows), longest), -1)
        mask = torch.zeros(len(windows), longest, dtype=torch.bool)
        for row, (pieces, words, _) in enumerate(windows):
            ids[row, : len(pieces)] = torch.tensor(pieces)
            word[row, : len(words)] = torch.tensor(words)
            mask[row, : len(pieces)] = True
        states = word_states(self._encoder(ids, mask), word, max(count for _, _, count in windows), how="mean")
        return [state[:count].numpy() for state, (_, _, count) in zip(states, windows, strict=True)]
