"""Beam search, and sampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from pronmetric.lab.nmt.layers import Memory, Past
from pronmetric.lab.nmt.network import Memories
from pronmetric.lab.nmt.pieces import BEGIN, CONTEXT, END, PAD, SEPARATOR

Next = Callable[[Tensor, Memories, Past], Tensor]
"""Logits (rows, vocabulary) of the next piece of each text (rows, pieces), given the rows' memories and the cache.

The cache holds all pieces but the last; it is empty in the first call.
"""


def search(
    step: Next,
    memories: Memories,
    prefixes: Sequence[Sequence[int]],
    *,
    most: Sequence[int],
    beam: int,
    penalty: float = 1.0,
    noise: torch.Generator | None = None,
) -> list[list[int]]:
    """The best continuation of each prefix, without END; with `noise` a sampled one.

    Hypotheses are ranked by log-probability / length ** penalty; those that were cut, without END, come last.

    Args:
        step: the model.
        memories: of the batch (batch, ...).
        prefixes: of each text, from BEGIN on; their pieces are forced, with probability 1.
        most: the number of pieces after each prefix at which a hypothesis is cut.
        beam: the number of hypotheses kept; 1 with `noise`.
        penalty: exponent of the length.
        noise: pieces are drawn from the model's distribution with this generator.
    """
    rows, device = len(prefixes), next(iter(memories.values())).states.device
    wide = {name: Memory(*(part.repeat_interleave(beam, 0) for part in memory)) for name, memory in memories.items()}
    ids = torch.full((rows * beam, 1), BEGIN, device=device)
    past = Past()
    totals = torch.full((rows, beam), -torch.inf, device=device)
    totals[:, 0] = 0.0
    begins = torch.tensor([len(prefix) for prefix in prefixes], device=device)[:, None]  # (rows, 1)
    lengths = torch.zeros(rows, beam, device=device)  # pieces after the prefix
    done = torch.zeros(rows, beam, dtype=torch.bool, device=device)
    ended = done  # with END; the others that are done were cut
    limits = torch.tensor(most, device=device)[:, None]  # (rows, 1)
    for length in range(1, int((begins + limits).max())):
        logits = step(ids, wide, past).float()
        logits[:, [PAD, BEGIN, SEPARATOR, CONTEXT]] = -torch.inf
        scores = logits.log_softmax(-1).unflatten(0, (rows, beam))  # (rows, beam, vocabulary)
        _force(scores, prefixes, done, length)
        grown = lengths + (~done & (begins <= length))
        found = totals[..., None] + scores
        rank = found / grown.clamp(min=1)[..., None] ** penalty
        if noise is not None:
            rank = scores - torch.empty(scores.shape, device=device).exponential_(generator=noise).log()
        vocabulary = scores.shape[-1]
        chosen = rank.flatten(1).topk(beam).indices  # (rows, beam)
        parent, piece = chosen // vocabulary, chosen % vocabulary
        totals = found.flatten(1).gather(1, chosen)
        lengths, ended = grown.gather(1, parent), ended.gather(1, parent) | (piece == END)
        at = (parent + torch.arange(rows, device=device)[:, None] * beam).flatten()
        ids = torch.cat([ids[at], piece.view(-1, 1)], dim=1)
        done = ended | (lengths >= limits)
        if bool(done.all()):
            break
        past.choose(at)
    ranks = totals / lengths.clamp(min=1) ** penalty  # (rows, beam)
    best = torch.where(ended, ranks, ranks.clamp(min=-1e6) - 1e6).argmax(1)
    texts = ids.unflatten(0, (rows, beam))[torch.arange(rows, device=device), best].tolist()
    return [_cut(text[len(prefix) :]) for text, prefix in zip(texts, prefixes, strict=True)]


def _force(
    scores: Float[Tensor, "rows beam vocabulary"],
    prefixes: Sequence[Sequence[int]],
    done: Tensor,
    length: int,
) -> None:
    """Allow only the next piece of a prefix, and only padding after a finished hypothesis; both have probability 1."""
    for row, prefix in enumerate(prefixes):
        if length < len(prefix):
            scores[row] = -torch.inf
            scores[row, :, prefix[length]] = 0.0
    scores[done] = -torch.inf
    scores[..., PAD] = torch.where(done, 0.0, scores[..., PAD])


def _cut(ids: Sequence[int]) -> list[int]:
    """The pieces before END or padding."""
    return [int(n) for n in ids[: next((k for k, n in enumerate(ids) if n in (END, PAD)), len(ids))]]
