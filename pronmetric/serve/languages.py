"""The choice of a language: the services of one checkpoint, each loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint.locate import CONFIG
from pronmetric.errors import PronmetricError
from pronmetric.serve.service import Service


class NoLanguage(PronmetricError):
    """A request asks for a language that the checkpoint does not score."""


class Languages:
    """The services of the checkpoint of `first`, which is that of requests that name no language.

    codes: the languages that the checkpoint was trained on.
    """

    def __init__(self, first: Service) -> None:
        self._config = checkpoint_config.read(first.metric.folder / CONFIG)
        self.codes = tuple(each.code for each in checkpoint_config.languages_of(self._config))
        self.first = first
        self._loaded = {first.metric.language.code: first}

    async def service(self, lang: str | None) -> Service:
        """The service of a language; None: of the first.

        Raises:
            NoLanguage: the checkpoint does not score it.
        """
        if lang is None:
            return self.first
        if lang in self._loaded:
            return self._loaded[lang]
        try:
            chosen = checkpoint_config.of_language(self._config, lang, name=self.first.metric.name)
        except PronmetricError as error:
            raise NoLanguage(str(error)) from None
        code = checkpoint_config.language_of(chosen).code
        service: Service
        (service,) = await self.first.batches.run(self._load, [code], size=0)
        return service

    def _load(self, codes: Sequence[str]) -> Iterator[Service]:
        """Those of `codes`; in the one thread of the model, so that two requests do not load the same language."""
        for code in codes:
            if code not in self._loaded:
                self._loaded[code] = self.first.in_language(code)
            yield self._loaded[code]
