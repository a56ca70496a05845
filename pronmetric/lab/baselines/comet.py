"""COMET (Rei et al. 2020) as a baseline, where the package unbabel-comet is installed; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import InputError, PronmetricError

INSTALL = "pip install unbabel-comet"


class Translation(NamedTuple):
    """A translation with its source, and its reference ("" for none)."""

    source: str
    text: str
    reference: str


class Comet:
    """A checkpoint of COMET, reference-based or not.

    path: the checkpoint (.ckpt), of which COMET also needs the hparams.yaml in the folder above. batch_size: texts that
    are scored at once. gpus: 0 for the CPU, None for a GPU if there is one.

    Raises:
        PronmetricError: unbabel-comet is not installed.
        InputError: there is no such file, or COMET cannot load it.
    """

    def __init__(self, path: str | Path, *, batch_size: int = 16, gpus: int | None = None) -> None:
        if not Path(path).is_file():
            raise InputError("no such file; expected a checkpoint of COMET (.ckpt)", file=path)
        try:
            from comet import load_from_checkpoint
        except ImportError as error:
            message = f"`comet=` needs unbabel-comet, which cannot be imported ({error}): {INSTALL}"
            raise PronmetricError(message) from None
        try:
            self._model: Any = load_from_checkpoint(str(path))
        except Exception as error:  # COMET, its encoder and Lightning raise many kinds of errors
            raise InputError(f"cannot be loaded by COMET: {' '.join(str(error).split())[:300]}", file=path) from None
        self.needs_reference = bool(self._model.requires_references())
        self._batch_size, self._gpus = batch_size, gpus

    def score(self, translations: Sequence[Translation]) -> list[float]:
        """The score of each translation, higher is better."""
        rows = [{"src": one.source, "mt": one.text} for one in translations]
        if self.needs_reference:
            rows = [row | {"ref": one.reference} for row, one in zip(rows, translations, strict=True)]
        gpus = {} if self._gpus is None else {"gpus": self._gpus}
        found = self._model.predict(rows, batch_size=self._batch_size, progress_bar=False, **gpus)
        return [float(score) for score in found.scores]
