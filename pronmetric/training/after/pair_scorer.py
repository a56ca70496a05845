"""Scores of the texts of prepared pairs, each distinct text encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch

from pronmetric.data.collate import Example, cut_batches
from pronmetric.nn.inference import for_inference
from pronmetric.nn.scorer import PronounScorer
from pronmetric.output.progress import progress
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.training.examples import labelled as examples
from pronmetric.training.examples.batches import Labeller
from pronmetric.training.module import Columns, text_values

PIECES = 8192  # of a batch, padding included


class PairScorer:
    """Scores pairs by a scorer whose weights do not change meanwhile, on the scorer's device.

    Args:
        scorer: it is set to evaluation mode.
        labeller: of its collator, inventory and language.
        dtype: of the encoder's products (`pronmetric.nn.inference`).
    """

    def __init__(self, scorer: PronounScorer, labeller: Labeller, *, dtype: torch.dtype = torch.float32) -> None:
        self._device = next(scorer.parameters()).device
        self._scorer = for_inference(scorer.eval(), dtype)
        self.labeller = labeller
        self._rng = np.random.default_rng(0)  # nothing is drawn: texts are as prepared
        self._known: dict[Example, dict[str, float] | None] = {}  # None: split into windows

    def columns(self, rows: Any, *, context: str, label: str | None = None) -> tuple[Columns, np.ndarray]:
        """The numbers of pair rows in their order, and the index of each pair's row (pairs,); see `columns_of`."""
        return self.columns_of([self.texts(row, context) for row in rows], label=label)

    def columns_of(
        self, pairs: Sequence[tuple[Example, Example]], *, label: str | None = None
    ) -> tuple[Columns, np.ndarray]:
        """The numbers of pairs of a better and a worse text in their order, and the index of each (pairs,).

        Texts that earlier calls scored are not encoded again. Pairs with a text that is split into windows are left
        out. label: of the progress shown on stderr; None: none is shown.
        """
        self._read([e for e in dict.fromkeys(chain.from_iterable(pairs)) if e not in self._known], label)
        numbers, values, counts = [], [], []
        for number, both in enumerate(pairs):
            better, worse = (self._known[text] for text in both)
            if better is not None and worse is not None:
                numbers.append(number)
                values.append((better, worse))
                counts.append([len(text.spans) for text in both])
        sizes = np.array(counts, dtype=float).reshape(-1, 2).T  # (2, pairs)
        names = values[0][0] if values else ()
        stacked = {by: np.array([[side[by] for side in both] for both in values]).T for by in names}
        return {by: np.concatenate([each, sizes]) for by, each in stacked.items()}, np.array(numbers, dtype=np.int64)

    def texts(
        self, row: Any, context: str, *, table: ConfusionTable | None = None, rng: np.random.Generator | None = None
    ) -> tuple[Example, Example]:
        """The better and the worse text of a pair as prepared.

        With a table the worse text is the better one with a pronoun replaced by a form drawn from it by `rng`.
        """
        language = self.labeller.language
        fresh = 0.0 if table is None else 1.0
        both = examples.pair(
            row, rng or self._rng, context=context, plain=0.0, fresh=fresh, table=table, language=language
        )
        better, worse = (examples.of_forms(item, self.labeller.forms, language).example for item in both)
        return better, worse

    @torch.inference_mode()
    def _read(self, texts: Sequence[Example], label: str | None) -> None:
        """Score texts that are not known."""
        if not texts:
            return
        collator = self.labeller.collator
        rows = [row for row in collator.encode(texts) if row.windows == 1]
        batches = list(cut_batches(rows, pieces=PIECES))
        self._known |= dict.fromkeys(texts)
        shown = batches if label is None else progress(batches, label=label, total=len(batches), unit="batches")
        for batch in shown:
            values = text_values(self._scorer, collator.pad(batch).to(self._device))
            lines = zip(*(value.cpu().tolist() for value in values.values()), strict=True)
            for row, line in zip(batch, lines, strict=True):
                self._known[texts[row.example]] = dict(zip(values, line, strict=True))
