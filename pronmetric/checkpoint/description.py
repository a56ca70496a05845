"""What a located checkpoint says of its scores, for one of its languages. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint.locate import CONFIG, Location, reader_of
from pronmetric.pronouns.languages import Language


@dataclass(frozen=True)
class Description:
    """A checkpoint, its config for one of its languages, and whether sources of texts are ignored."""

    name: str
    folder: Path
    config: Mapping[str, Any]
    no_source: bool = False

    @classmethod
    def read(cls, place: Location, lang: str | None = None, *, no_source: bool = False) -> Description:
        """That of the checkpoint at `place`.

        Raises:
            PronmetricError: it does not score the language `lang`, or it scores several and none is named.
        """
        config = checkpoint_config.of_language(checkpoint_config.read(place.folder / CONFIG), lang, name=place.name)
        return cls(*place, config, no_source)

    @cached_property
    def language(self) -> Language:
        """The language of the texts."""
        return checkpoint_config.language_of(self.config)

    @property
    def context_size(self) -> int:
        """The number of context sentences in training."""
        return int(self.config["context_size"])

    @property
    def reader(self) -> Path | None:
        """The folder of the reader by which sources affect scores; None if it has none, or sources are ignored."""
        return None if self.no_source else reader_of(self.folder)

    @property
    def reads_source(self) -> bool:
        """Whether a source affects the score of a text."""
        return not self.no_source and (self.reader is not None or checkpoint_config.reads_source(self.config))

    @property
    def finds_missing(self) -> bool:
        """Whether texts with a source have an expected number of missing pronouns."""
        return self.reads_source and checkpoint_config.finds_missing(self.config, self.reader)

    def decision(self, by: str | None, *, sourced: bool) -> str:
        """What decides between two texts: `by`, else what the config names.

        sourced: the texts have sources, with which the checkpoint's reader, if it counts, may name another number.

        Raises:
            PronmetricError: the checkpoint does not give it.
        """
        reader = self.reader if sourced else None
        return checkpoint_config.decision_of(self.config, by, name=self.name, reader=reader)

    def tie_threshold(self, *, by: str) -> float:
        """The tie threshold for what decides.

        Raises:
            PronmetricError: it has none.
        """
        return checkpoint_config.tie_threshold(self.config, name=self.name, by=by)
