"""A chat model behind an OpenAI-compatible endpoint, asked which of two texts has the better pronouns: a baseline.

Each pair is asked in both orders (`pair_prompt.txt`), because such models prefer a place, and in several passes if that
is wished: the first takes the most probable answer, further ones are drawn, each with a seed of its own. A text has 1
for an answer for it, 1/2 for a tie and 0 else, averaged over orders and passes. Texts leave this machine only for the
endpoint that the user names. Answers may be kept in a file, from which a run that is started again takes them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple
from urllib import error, request
from urllib.parse import urlsplit

from pronmetric.errors import InputError, PronmetricError
from pronmetric.text.context import Text

KEY = "PRONMETRIC_ENDPOINT_KEY"
"""The environment variable with the endpoint's key, if it needs one."""
TRIES, TIMEOUT = 5, 120.0  # seconds
_BUSY = (408, 429, 500, 502, 503, 504)  # HTTP statuses after which the same request may succeed
_MOST_BYTES = 2**20  # of an answer; far above any of a chat model, and a bound on what a broken server sends
_NAMED = re.compile(r"\b(?:A|B|(?i:tie))\b")
_THOUGHTS = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)  # of servers that leave them in the answer


class _NoRedirect(request.HTTPRedirectHandler):
    """Follows no redirection, which could send the key to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse; the response is then an error of HTTP."""


_OPENER = request.build_opener(_NoRedirect)


class EndpointPoints(NamedTuple):
    """Both texts' points of each pair, in [0, 1], the means over the passes.

    by_pass: the points of each pass. unclear: the number of answers that named neither text nor a tie; they count as
    ties.
    """

    points: list[tuple[float, float]]
    by_pass: list[list[tuple[float, float]]]
    unclear: int

    @property
    def unsteady(self) -> int:
        """Pairs for which the passes do not all decide alike: for A, for B or for a tie."""
        return sum(len({(a > b) - (a < b) for a, b in of_pair}) > 1 for of_pair in zip(*self.by_pass, strict=True))


@dataclass(frozen=True, slots=True)
class Passes:
    """A chat model's passes over the same pairs or pronouns, and how they differ.

    by_pass: of each pass the share of the judged pairs whose better text it prefers, or of the pronouns that it marks;
    None without a clear answer. unsteady: pairs or pronouns with different answers. unclear: answers that were none.
    """

    model: str
    by_pass: tuple[float | None, ...]
    unsteady: int
    unclear: int


class Endpoint:
    """A model of an endpoint; `url` ends before "/chat/completions".

    kept: the file of its answers, which are not asked for again; it need not exist.

    Raises:
        PronmetricError: no address of HTTP, or `kept` is no file of answers.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        kept: str | Path | None = None,
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise PronmetricError(f"expected an address such as http://127.0.0.1:8000/v1, got `endpoint={url}`")
        self.url, self.model, self._wait = url.rstrip("/"), model, wait
        self._kept = None if kept is None else Path(kept)
        self._known = {} if self._kept is None or not self._kept.exists() else _read(self._kept)
        self._prompt = files("pronmetric.lab.baselines").joinpath("pair_prompt.txt").read_text(encoding="utf-8")

    def ask(
        self,
        pairs: Sequence[tuple[Text, Text]],
        *,
        passes: int = 1,
        advance: Callable[[int], object] | None = None,
    ) -> EndpointPoints:
        """Ask for each pair in each pass; `advance` is called with 1 after each.

        Raises:
            PronmetricError: the texts of a pair have different contexts, or the endpoint does not answer.
        """
        if any(a.context != b.context for a, b in pairs):
            raise PronmetricError("the endpoint is asked about texts in one context: leave out `context=respective`")
        by_pass, unclear = [], 0
        for number in range(passes):
            points = []
            for a, b in pairs:
                orders = (a.text, b.text), (b.text, a.text)
                answers = [self._answer(a.context, *texts, number=number) for texts in orders]
                unclear += answers.count(None)
                first = [{"A": 1.0, "B": 0.0}.get(answer or "", 0.5) for answer in answers]
                points.append(((first[0] + 1 - first[1]) / 2, (1 - first[0] + first[1]) / 2))
                if advance is not None:
                    advance(1)
            by_pass.append(points)
        means = [
            (sum(a for a, _ in of_pair) / passes, sum(b for _, b in of_pair) / passes)
            for of_pair in zip(*by_pass, strict=True)
        ]
        return EndpointPoints(means, by_pass, unclear)

    def _answer(self, context: str, first: str, second: str, *, number: int) -> str | None:
        """A, B or TIE; None if the answer is unclear."""
        prompt = self._prompt.format(context=context or "(none)", first=first, second=second)
        return chosen(self.reply(prompt, number=number))

    def reply(self, prompt: str, *, number: int = 0, longest: int = 16) -> str:
        """The answer in a pass, of at most `longest` pieces: the most probable one in pass 0, later drawn, by seed.

        Raises:
            PronmetricError: the endpoint does not answer.
        """
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 1 if number else 0,
            "max_tokens": longest,
            **({"seed": number} if number else {}),
        }
        key = hashlib.sha256(json.dumps([self.url, body], sort_keys=True).encode()).hexdigest()
        if key not in self._known:
            self._known[key] = _THOUGHTS.sub("", self._request(body))
            if self._kept is not None:
                with self._kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"request": key, "answer": self._known[key]}) + "\n")
        return self._known[key]

    def _request(self, body: dict[str, Any]) -> str:
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


def _read(path: Path) -> dict[str, str]:
    """The answers in a file, by the hash of their request; a last line that a killed run left incomplete is removed."""
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    found = {}
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            entry = json.loads(line)
            found[str(entry["request"])] = str(entry["answer"])
        except (ValueError, KeyError, TypeError):
            raise InputError(
                "expected an answer of an endpoint, as this flag writes them", file=path, line=number
            ) from None
    return found


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
