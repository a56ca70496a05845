"""A chat model behind an OpenAI-compatible endpoint, asked which of two texts has the better pronouns: a baseline.

Each pair is asked in both orders (`pair_prompt.txt`), because such models prefer a place. A text has 1 for an answer
for it, 1/2 for a tie and 0 else, averaged over the two orders. Texts leave this machine only for the endpoint that the
user names.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable
from http.client import HTTPException
from importlib.resources import files
from typing import Any, NamedTuple
from urllib import error, request
from urllib.parse import urlsplit

from pronmetric.errors import PronmetricError
from pronmetric.text.context import Text

KEY = "PRONMETRIC_ENDPOINT_KEY"
"""The environment variable with the endpoint's key, if it needs one."""
TRIES, TIMEOUT = 5, 120.0  # seconds
_BUSY = (408, 429, 500, 502, 503, 504)
_MOST_BYTES = 2**20
_NAMED = re.compile(r"\b(?:A|B|(?i:tie))\b")


class _NoRedirect(request.HTTPRedirectHandler):
    """Follows no redirection, which could send the key to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse; the response is then an error of HTTP."""


_OPENER = request.build_opener(_NoRedirect)


class Asked(NamedTuple):
    """Both texts' points of each pair, in [0, 1].

    unclear: the number of answers that named neither text nor a tie; they count as ties.
    """

    points: list[tuple[float, float]]
    unclear: int


class Endpoint:
    """A model of an endpoint; `url` ends before "/chat/completions".

    Raises:
        PronmetricError: no address of HTTP.
    """

    def __init__(self, url: str, model: str, *, wait: Callable[[float], object] = time.sleep) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise PronmetricError(f"expected an address such as http://127.0.0.1:8000/v1, got `endpoint={url}`")
        self.url, self.model, self._wait = url.rstrip("/"), model, wait
        self._prompt = files("pronmetric.lab.baselines").joinpath("pair_prompt.txt").read_text(encoding="utf-8")

    def ask(self, pairs: Iterable[tuple[Text, Text]], *, advance: Callable[[int], object] | None = None) -> Asked:
        """Ask for each pair; `advance` is called with 1 after each.

        Raises:
            PronmetricError: the texts of a pair have different contexts, or the endpoint does not answer.
        """
        points, unclear = [], 0
        for a, b in pairs:
            if a.context != b.context:
                raise PronmetricError(
                    "the endpoint is asked about texts in one context: leave out `context=respective`"
                )
            answers = [self._answer(a.context, a.text, b.text), self._answer(a.context, b.text, a.text)]
            unclear += answers.count(None)
            first = [{"A": 1.0, "B": 0.0}.get(answer or "", 0.5) for answer in answers]
            points.append(((first[0] + 1 - first[1]) / 2, (1 - first[0] + first[1]) / 2))
            if advance is not None:
                advance(1)
        return Asked(points, unclear)

    def _answer(self, context: str, first: str, second: str) -> str | None:
        """A, B or TIE; None if the answer is unclear."""
        return chosen(self._reply(self._prompt.format(context=context or "(none)", first=first, second=second)))

    def _reply(self, prompt: str) -> str:
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": 16,
        }
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(KEY):
            headers["Authorization"] = f"Bearer {key}"
        made = request.Request(f"{self.url}/chat/completions", json.dumps(body).encode(), headers)
        for left in reversed(range(TRIES)):
            try:
                with _OPENER.open(made, timeout=TIMEOUT) as response:
                    content = json.loads(response.read(_MOST_BYTES))["choices"][0]["message"]["content"]
                    return str(content or "")
            except error.HTTPError as fault:
                with fault:
                    why = f"HTTP {fault.code} {fault.reason}"
                if fault.code not in _BUSY or not left:
                    raise PronmetricError(f"{self.url}: {why}; check the address, the model and {KEY}") from None
            except (OSError, HTTPException) as fault:
                if not left:
                    raise PronmetricError(f"{self.url} does not answer: {fault}") from None
            except (ValueError, KeyError, IndexError, TypeError):
                raise PronmetricError(
                    f"{self.url}: expected a chat completion as of OpenAI, got another answer"
                ) from None
            self._wait(2.0 ** (TRIES - left - 1))
        raise AssertionError


def chosen(answer: str) -> str | None:
    """What an answer names, A, B or TIE; None if it names neither text, or both.

    >>> [chosen(answer) for answer in ("**b**", "It's a tie.", "I think a better fit is B.", "A, not B")]
    ['B', 'TIE', 'B', None]
    """
    if word := re.fullmatch(r"\W*([AB])\W*", answer, re.IGNORECASE):
        return word[1].upper()
    named = {word.upper() for word in _NAMED.findall(answer)}
    if "TIE" in named:
        return "TIE"
    return named.pop() if len(named) == 1 else None
