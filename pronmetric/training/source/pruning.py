"""A multilingual vocabulary without the pieces that no text needs: most of the weights are its embedding."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import PreTrainedTokenizerFast

from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder

_AT_ONCE = 1000  # texts
_SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def prune(encoder: HuggingFaceEncoder, pieces: Subwords, texts: Iterable[str], *, most: int) -> Subwords:
    """Leave `most` pieces: special ones, those of `texts`, then the first of the rest, the most frequent ones.

    The embedding of `encoder` loses the other rows in place; a text of known pieces alone keeps its states. If `texts`
    have more pieces, the rarest are left out.

    Returns:
        The tokenizer of the pieces that are left.

    Raises:
        InputError: the tokenizer is none of a Unigram model, such as that of XLM-R, with its pieces by frequency.
    """
    backend = pieces.tokenizer.backend_tokenizer
    content = json.loads(backend.to_str())
    model = content["model"]
    if model["type"] != "Unigram":
        raise InputError(f"source.pieces: expected a Unigram tokenizer, got {model['type']}; set source.pieces=null")
    special = [model["unk_id"], *(each["id"] for each in content["added_tokens"])]
    numbers_kept = _choose(pieces, texts, size=len(model["vocab"]), special=special, most=most)
    numbers = {old: new for new, old in enumerate(numbers_kept)}
    model["vocab"] = [model["vocab"][old] for old in numbers_kept]
    model["unk_id"] = numbers[model["unk_id"]]
    for each in content["added_tokens"]:
        each["id"] = numbers[each["id"]]
    for each in (content["post_processor"] or {}).get("special_tokens", {}).values():
        each["ids"] = [numbers[old] for old in each["ids"]]
    _keep_rows(encoder.model, numbers_kept, padding=numbers[int(pieces.pad)])
    named = {name: piece for name in _SPECIAL if (piece := getattr(pieces.tokenizer, name, None)) is not None}
    tokenizer = Tokenizer.from_str(json.dumps(content))
    return Subwords(PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named))


def _choose(pieces: Subwords, texts: Iterable[str], *, size: int, special: Sequence[int], most: int) -> list[int]:
    """The ids of the pieces that are left, in their order."""
    counts = torch.zeros(size, dtype=torch.long)
    rest = iter(texts)
    while part := list(islice(rest, _AT_ONCE)):
        for encoded in pieces(part):
            counts.index_add_(0, torch.from_numpy(encoded.ids), torch.ones(len(encoded.ids), dtype=torch.long))
    counts[list(special)] = torch.iinfo(torch.long).max
    order = torch.sort(counts, descending=True, stable=True).indices  # unseen ones in the order of the vocabulary
    return sorted(order[:most].tolist())


def _keep_rows(model: Any, kept: list[int], *, padding: int) -> None:
    """Leave these rows of the embedding of pieces."""
    table = model.get_input_embeddings()
    smaller = nn.Embedding(len(kept), table.embedding_dim, padding_idx=padding)
    with torch.no_grad():
        smaller.weight.copy_(table.weight[kept])
    model.set_input_embeddings(smaller)
    model.config.vocab_size, model.config.pad_token_id = len(kept), padding
