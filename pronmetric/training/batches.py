"""Batches with labels: what a training step and a validation read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pronmetric.data.collate import Batch, Collator, Encoded, move, pin
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.schema import TIE
from pronmetric.training import examples
from pronmetric.training.examples import LabelledExample
from pronmetric.training.teacher import Lesson
from pronmetric.training.teacher import lesson as make_lesson


@dataclass(frozen=True, slots=True)
class Places:
    """What the losses of a batch read, found where the batch is made: for a GPU to find it the host would wait.

    pronouns, labelled, antecedent: places in the flattened (batch, pronouns): of all pronouns, of those in the
    detection loss, and of those with an annotated antecedent. pairs: those both of whose texts have a pronoun.
    natural: those of them without a system output. gaps: places in the flattened (batch, words) of the gaps whose label
    is known.
    """

    pronouns: Int[Tensor, " pronouns"]
    labelled: Int[Tensor, " labelled"]
    antecedent: Int[Tensor, " antecedents"]
    pairs: Int[Tensor, " pairs"]
    natural: Int[Tensor, " natural"]
    gaps: Int[Tensor, " gaps"]

    @classmethod
    def of(cls, item: Labelled) -> Places:
        """The places of a batch in the memory of the host."""
        real, none = item.batch.pronoun_mask, torch.zeros(0, dtype=torch.bool)
        scored = real.any(1)[item.better] & real.any(1)[item.worse]
        return cls(
            pronouns=_places(real),
            labelled=_places(item.labelled & real),
            antecedent=_places(none if item.antecedent is None else item.antecedent.any(-1)),
            pairs=_places(scored),
            natural=_places(scored & ~item.system),
            gaps=_places(none if item.missing is None else item.missing >= 0),
        )


def _places(mask: Bool[Tensor, ...]) -> Int[Tensor, " places"]:
    return mask.flatten().nonzero().flatten()


@dataclass(frozen=True, slots=True)
class Labelled:
    """A batch with labels.

    right: 1 as written, 0 replaced. labelled: pronouns in the detection loss. better, worse: rows of the pairs,
    `pair`: the index of each pair in the batch; `tie`: neither text is better; `system`: one text is a system output.
    name: the data set. antecedent: the words of each pronoun's antecedent; None if no row has annotated antecedents.
    lesson: what a teacher reads; None: no teacher. missing: 0 where no pronoun is missing before a word, else 1 + the
    number of the form that is, -1 where that is not known; None if it is known nowhere.
    places: of the pronouns and pairs that count; they are found here, and only moved with the batch.
    """

    batch: Batch
    right: Float[Tensor, "batch pronouns"]
    labelled: Bool[Tensor, "batch pronouns"]
    better: Int[Tensor, " pairs"]
    worse: Int[Tensor, " pairs"]
    pair: Int[Tensor, " pairs"]
    tie: Bool[Tensor, " pairs"]
    system: Bool[Tensor, " pairs"]
    name: str
    antecedent: Bool[Tensor, "batch pronouns words"] | None = None
    lesson: Lesson | None = None
    missing: Int[Tensor, "batch words"] | None = None
    places: Places = field(init=False)

    def __post_init__(self) -> None:
        """Find the places."""
        object.__setattr__(self, "places", Places.of(self))

    def to(self, device: torch.device | str, **_: Any) -> Labelled:
        """The same batch on another device (Lightning calls this)."""
        return move(self, device)

    def pin_memory(self) -> Labelled:
        """The same batch in pinned memory (the data loader calls this)."""
        return pin(self)


class Labeller:
    """Makes a batch from labelled examples.

    forms: the forms that are pronouns; None for all of the language. language: of the texts. teacher: the collator of
    a teacher, for batches with lessons; None for none. taught: the names of batches with lessons; None: all.
    gap_forms: those that the gap head tells apart, in the order of its outputs; None for all of the language.
    """

    def __init__(
        self,
        collator: Collator,
        *,
        forms: Collection[str] | None = None,
        language: Language = ENGLISH,
        teacher: Collator | None = None,
        taught: Collection[str] | None = None,
        gap_forms: Sequence[str] | None = None,
    ) -> None:
        self.collator = collator
        self.teacher = teacher
        self.taught = taught
        self.forms = frozenset(language.forms if forms is None else forms)
        self.language = language
        self.gap_forms = tuple(language.forms if gap_forms is None else gap_forms)

    def batch(self, items: Sequence[LabelledExample], *, pairs: bool, name: str) -> Labelled:
        """One batch.

        With `pairs`, items 2 k and 2 k + 1 are the better and the worse text of pair k; a pair with a text
        that has to be split into windows has no pair loss, but its labels count.
        """
        items, rows = self._encode(items)
        return self._label(items, rows, self._teach(items, name), pairs=pairs, name=name)

    def micro_batches(
        self, items: Sequence[LabelledExample], *, pairs: bool, name: str, pieces: int
    ) -> tuple[Labelled, ...]:
        """One batch as micro-batches of rows of similar length, each of at most `pieces` pieces, padding included.

        The two texts of a pair share a micro-batch; a row or a pair that is longer is a micro-batch by itself.
        """
        items, rows = self._encode(items)
        parts, taught = _group(rows, pairs=pairs, pieces=pieces), self._teach(items, name)
        return tuple(self._label(items, part, taught, pairs=pairs, name=name) for part in parts)

    def _encode(self, items: Sequence[LabelledExample]) -> tuple[list[LabelledExample], list[Encoded]]:
        items = [examples.of_forms(item, self.forms, self.language) for item in items]
        return items, self.collator.encode([item.example for item in items])

    def _teach(self, items: Sequence[LabelledExample], name: str) -> Mapping[int, Sequence[Encoded]] | None:
        """The rows of each item in the teacher's pieces; None where there is no lesson."""
        if self.teacher is None or (self.taught is not None and name not in self.taught):
            return None
        rows_of: defaultdict[int, list[Encoded]] = defaultdict(list)
        for row in self.teacher.encode([item.example for item in items]):
            rows_of[row.example].append(row)
        return rows_of

    def _label(
        self,
        items: Sequence[LabelledExample],
        rows: Sequence[Encoded],
        taught: Mapping[int, Sequence[Encoded]] | None,
        *,
        pairs: bool,
        name: str,
    ) -> Labelled:
        """The batch of these rows of `items`."""
        batch = self.collator.pad(rows)
        shape = tuple(batch.pronoun_mask.shape)
        right, labelled = np.ones(shape, dtype=np.float32), np.zeros(shape, dtype=bool)
        for r, row in enumerate(rows):
            item = items[row.example]
            for slot, k in enumerate(row.pronouns.tolist()):
                right[r, slot] = item.right[k]
                labelled[r, slot] = item.labelled
        better, worse, pair = _pairs(rows) if pairs else ([], [], [])
        kinds = [items[2 * number].kind for number in pair]
        return Labelled(
            batch=batch,
            right=torch.from_numpy(right),
            labelled=torch.from_numpy(labelled),
            better=torch.tensor(better, dtype=torch.long),
            worse=torch.tensor(worse, dtype=torch.long),
            pair=torch.tensor(pair, dtype=torch.long),
            tie=torch.tensor([kind == TIE for kind in kinds], dtype=torch.bool),
            system=torch.tensor([kind == "system" for kind in kinds], dtype=torch.bool),
            name=name,
            antecedent=_antecedents(rows, items, batch),
            lesson=self._lesson(rows, taught, slots=shape[1]),
            missing=self._missing(rows, items, words=batch.word_mask.shape[1]),
        )

    def _missing(
        self, rows: Sequence[Encoded], items: Sequence[LabelledExample], *, words: int
    ) -> Int[Tensor, "batch words"] | None:
        """What is missing before each word of the rows; None if that is known of no item."""
        if not any(item.gaps for item in items):
            return None
        numbers = {form: number for number, form in enumerate(["", *self.gap_forms])}
        labels = np.full((len(rows), words), -1, dtype=np.int64)
        for r, row in enumerate(rows):
            known = items[row.example].gaps
            if not known or row.gaps is None or row.gap_word is None:
                continue
            for gap, word in zip(row.gaps.tolist(), row.gap_word.tolist(), strict=True):
                form = known[gap]
                labels[r, word] = -1 if form is None else numbers[form]
        return torch.from_numpy(labels)

    def _lesson(
        self, rows: Sequence[Encoded], taught: Mapping[int, Sequence[Encoded]] | None, *, slots: int
    ) -> Lesson | None:
        if self.teacher is None or taught is None:
            return None
        return make_lesson(self.teacher, rows, taught, slots=slots)


def _antecedents(
    rows: Sequence[Encoded], items: Sequence[LabelledExample], batch: Batch
) -> Bool[Tensor, "batch pronouns words"] | None:
    """The antecedent's words in the row of each pronoun; None if no item has any."""
    if not any(item.antecedents for item in items):
        return None
    where = np.zeros((*batch.pronoun_mask.shape, batch.word_mask.shape[1]), dtype=bool)
    for r, row in enumerate(rows):
        known = items[row.example].antecedents
        for slot, k in enumerate(row.pronouns.tolist() if known else ()):
            words = row.pronoun_word[slot] + np.array(known[k], dtype=np.int64)
            where[r, slot, words[(words >= 0) & (words < where.shape[2])]] = True
    return torch.from_numpy(where) & batch.word_mask[:, None, :]


def _group(rows: Sequence[Encoded], *, pairs: bool, pieces: int) -> list[list[Encoded]]:
    """Rows by length, in groups of at most `pieces` padded pieces; the rows of a pair (`_pairs`) stay together."""
    units: list[list[Encoded]] = []
    single = set(range(len(rows)))
    for better, worse in zip(*_pairs(rows)[:2], strict=True) if pairs else ():
        units.append([rows[better], rows[worse]])
        single -= {better, worse}
    units += [[rows[r]] for r in sorted(single)]
    lengths = [max(len(row.ids) for row in unit) for unit in units]
    groups: list[list[Encoded]] = []
    longest = 0
    for at in np.argsort(lengths, kind="stable")[::-1].tolist():
        if not groups or longest * (len(groups[-1]) + len(units[at])) > pieces:
            groups.append([])
            longest = lengths[at]
        groups[-1] += units[at]
    return groups


def _pairs(rows: Sequence[Encoded]) -> tuple[list[int], list[int], list[int]]:
    at = {row.example: r for r, row in enumerate(rows) if row.windows == 1}
    whole = sorted(e for e in at if e % 2 == 0 and e + 1 in at)
    return [at[e] for e in whole], [at[e + 1] for e in whole], [e // 2 for e in whole]
