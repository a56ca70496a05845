"""A frozen checkpoint that teaches another one: soft labels for every pronoun and every pair of texts, without gold.

The label of a pronoun is the teacher's calibrated probability that it is right; that of a pair is its probability that
the first text has the better pronouns, by its pair head (Hinton et al. 2015, "Distilling the Knowledge in a Neural
Network"). Teacher and student may have other pieces: both read the same words, and the teacher's numbers are moved to
the student's rows pronoun by pronoun.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from pronmetric.checkpoint import files
from pronmetric.data.collate import Batch, Collator, Encoded, move
from pronmetric.errors import InputError
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.nn.inference import for_inference
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.languages import Language


@dataclass(frozen=True, slots=True)
class Lesson:
    """What the teacher reads for a batch of the student.

    batch: rows in the teacher's pieces. at: for each pronoun of the student's batch its place in the teacher's pronoun
    slots, row after row; 0 for padding.
    """

    batch: Batch
    at: Int[Tensor, "batch pronouns"]

    def to(self, device: torch.device | str) -> Lesson:
        """The same on another device."""
        return move(self, device)


class TeacherOutput(NamedTuple):
    """The teacher's numbers for the pronouns of a batch: logits, and preferences where it has a pair head."""

    logits: Float[Tensor, "batch pronouns"]
    preferences: Float[Tensor, "batch pronouns"] | None


class Teacher:
    """A frozen scorer in evaluation mode, computed as scoring computes it (`pronmetric.nn.inference`).

    Args:
        scorer: with probabilities.
        collator: of its pieces.
        hash: of its weights.
    """

    def __init__(self, scorer: PronounScorer, collator: Collator, hash: str) -> None:
        self.collator = collator
        self.hash = hash
        self.has_preferences = scorer.pair_head is not None
        self._scorer = scorer.eval().requires_grad_(False)

    def prepare(self, device: torch.device, dtype: torch.dtype) -> None:
        """Move to `device` and compute the encoder's products in `dtype` from now on."""
        encoder = self._scorer.encoder
        if device.type != "cpu" and isinstance(encoder, HuggingFaceEncoder):
            encoder.fuse_attention()
        self._scorer = for_inference(self._scorer.to(device), dtype)

    @torch.no_grad()
    def answer(self, lesson: Lesson) -> TeacherOutput:
        """Its numbers for the pronouns of the student's batch; padded pronouns have arbitrary ones."""
        with torch.autocast(lesson.at.device.type, enabled=False):
            out = self._scorer(lesson.batch)
        logits, preferences = out.scores.flatten()[lesson.at], out.preferences
        return TeacherOutput(logits, None if preferences is None else preferences.flatten()[lesson.at])


def load(folder: str | Path, *, forms: Collection[str], language: Language, name: str = "teacher") -> Teacher:
    """The checkpoint in `folder` as a teacher of a metric for these pronoun forms and this language.

    name: of the setting that names the folder, for the errors.

    Raises:
        InputError: it gives no probabilities, or it scores another language or other forms.
    """
    loaded = files.load(folder)
    if loaded.language != language:
        raise InputError(
            f"{name}: expected a checkpoint for {language.code}, the language of the data, got one for "
            f"{loaded.language.code}",
            file=folder,
        )
    inventory = set(loaded.config["pronouns"])
    if other := sorted(inventory.symmetric_difference(forms)):
        raise InputError(
            f"{name}: expected a checkpoint that scores the same {len(set(forms))} pronoun forms as the data, got one "
            f"with {len(inventory)}; they differ in {', '.join(other)}: prepare the data with its inventory",
            file=folder,
        )
    if not loaded.model.probability:
        raise InputError(f"{name}: expected a checkpoint with probabilities (head=logit or two)", file=folder)
    return Teacher(loaded.model, loaded.collator, loaded.hash)


def lesson(
    collator: Collator, rows: Sequence[Encoded], taught: Mapping[int, Sequence[Encoded]], *, slots: int
) -> Lesson:
    """What the teacher reads for the student's `rows`.

    Args:
        collator: the teacher's.
        rows: of the student's batch.
        taught: by example, its rows in the teacher's pieces.
        slots: pronoun slots of the student's batch.
    """
    own = [row for example in dict.fromkeys(row.example for row in rows) for row in taught[example]]
    batch = collator.pad(own)
    width = batch.pronoun_mask.shape[1]
    places = {
        (row.example, k): r * width + slot for r, row in enumerate(own) for slot, k in enumerate(row.pronouns.tolist())
    }
    at = np.zeros((len(rows), slots), dtype=np.int64)
    for r, row in enumerate(rows):
        at[r, : len(row.pronouns)] = [places[row.example, k] for k in row.pronouns.tolist()]
    return Lesson(batch, torch.from_numpy(at))
