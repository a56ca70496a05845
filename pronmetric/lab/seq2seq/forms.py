"""How much a causal language model doubts what stands in a place, against the most probable form there.

Alternatives from a closed set are compared by their log-probabilities, as by Bryant & Briscoe (2018), Language Model
Based Grammatical Error Correction without Annotated Training Data. That of a form is the sum over its pieces after the
text before it; what follows is not read. Places of one text share a pass of
the model. A form of several pieces is read to its end only if its first piece leaves it a chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch

from pronmetric.lab.seq2seq.model import TEXTS_AT_ONCE, LanguageModel, TranslationModel, in_batches, padded

Place = tuple[str, tuple[str, ...]]
"""The text before a form, and the forms that can stand there as they are written, with a blank; the first one does."""


class _Run(NamedTuple):
    """The pieces before the last of some places; the places: their numbers and numbers of pieces."""

    pieces: list[int]
    places: list[tuple[int, int]]


def doubts(
    model: LanguageModel, places: Sequence[Place], *, advance: Callable[[int], object] | None = None
) -> list[float]:
    """For each place by how much the most probable form is more probable than the one that stands there.

    A difference of natural logarithms, at least 0, higher is more doubtful. A text that is too long for the model loses
    its beginning. advance: called with the number of places finished since the last call.
    """
    return [max(values) - values[0] for values in _log_probabilities_of(model, places, advance)]


def insertions(
    model: LanguageModel, places: Sequence[Place], *, advance: Callable[[int], object] | None = None
) -> list[float]:
    """For each place by how much the most probable other form is more probable than the word that stands there.

    A difference of natural logarithms, higher where a form is more likely missing before the word; else as `doubts`.
    """
    return [max(values[1:]) - values[0] for values in _log_probabilities_of(model, places, advance)]


def _log_probabilities_of(
    model: LanguageModel, places: Sequence[Place], advance: Callable[[int], object] | None
) -> list[list[float]]:
    """The log-probability of each form, by place; -inf for those that others than the first are known to surpass."""
    reader = model.model
    forms = {form: reader.pieces(form) for _, given in places for form in given}
    longest = max(map(len, forms.values()), default=1)
    before = [_cut(reader.before(text), reader.positions, longest) for text, _ in places]
    pieces = [[forms[form] for form in given] for _, given in places]
    found = _read_first(reader, before, pieces, advance)
    unread: list[tuple[int, int]] = []  # of a place, a form of several pieces that may be the most probable one
    for number, ends in enumerate(pieces):
        best = max((found[number][k] for k, end in enumerate(ends) if k and len(end) == 1), default=-math.inf)
        for k, end in enumerate(ends):
            if len(end) > 1 and (k == 0 or found[number][k] > best):
                unread.append((number, k))
            elif len(end) > 1:
                found[number][k] = -math.inf
    whole = _read_whole(reader, [(before[number], pieces[number][k]) for number, k in unread])
    for (number, k), value in zip(unread, whole, strict=True):
        found[number][k] = value
    return found


def _read_first(
    reader: TranslationModel,
    before: Sequence[list[int]],
    pieces: Sequence[Sequence[list[int]]],
    advance: Callable[[int], object] | None,
) -> list[list[float]]:
    """The log-probability of the first piece of each form, by place."""

    def read(runs: Sequence[_Run]) -> Iterator[list[list[float]]]:
        for run, logs in zip(runs, _log_probabilities(reader, [run.pieces for run in runs]), strict=True):
            yield [logs[size - 1, [end[0] for end in pieces[number]]].tolist() for number, size in run.places]
        if advance is not None:
            advance(sum(len(run.places) for run in runs))

    runs = _runs(before)
    values = in_batches(runs, [len(run.pieces) for run in runs], read, batch_size=TEXTS_AT_ONCE, advance=None)
    found = {
        number: value
        for run, its in zip(runs, values, strict=True)
        for (number, _), value in zip(run.places, its, strict=True)
    }
    return [found[number] for number in range(len(before))]


def _read_whole(reader: TranslationModel, rows: Sequence[tuple[list[int], list[int]]]) -> list[float]:
    """The log-probability of pieces after others."""

    def read(batch: Sequence[tuple[list[int], list[int]]]) -> Iterator[float]:
        logs = _log_probabilities(reader, [before + end[:-1] for before, end in batch])
        for own, (before, end) in zip(logs, batch, strict=True):
            yield sum(float(own[len(before) - 1 + n, piece]) for n, piece in enumerate(end))

    return in_batches(rows, [sum(map(len, row)) for row in rows], read, batch_size=TEXTS_AT_ONCE, advance=None)


def _cut(pieces: list[int], positions: int | None, longest: int) -> list[int]:
    """The last pieces for which, with a form after them, the model has positions."""
    return pieces if positions is None else pieces[-max(1, positions - longest + 1) :]


def _runs(before: Sequence[list[int]]) -> list[_Run]:
    """The runs of places that follow each other; one serves those whose pieces are the beginning of the last one's."""
    runs: list[_Run] = []
    for number in reversed(range(len(before))):
        pieces = before[number]
        if not runs or runs[-1].pieces[: len(pieces)] != pieces:
            runs.append(_Run(pieces, []))
        runs[-1].places.append((number, len(pieces)))
    return runs


@torch.inference_mode()
def _log_probabilities(reader: TranslationModel, rows: Sequence[list[int]]) -> Iterator[torch.Tensor]:
    """(pieces, vocabulary) of each row: what is said of the piece after each."""
    inputs = padded(rows, reader.tokenizer.pad_token_id or 0).to(reader.device)
    mask = padded([[1] * len(row) for row in rows], 0).to(reader.device)
    logits = reader.model(input_ids=inputs, attention_mask=mask, use_cache=False).logits
    for row, own in zip(rows, logits, strict=True):
        yield own[: len(row)].float().log_softmax(dim=-1)
