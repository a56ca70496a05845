"""JSON by the letter of RFC 8259, in and out: one way to read a value, one way to write it.

Refused are NaN and infinity (a number such as 1e999, too large for a float, is infinity), a key twice in an object, and
half a surrogate pair, which no file in UTF-8 can hold.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.text.lines import read_text

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse(text: str, *, bytes_of_names: bool = False) -> Any:
    """The value that a JSON text holds; `bytes_of_names` allows the halves of pairs that `dump` writes.

    Raises:
        ValueError: what is wrong; the caller knows file, line and cure.
    """
    try:
        value = json.loads(
            text, parse_constant=_no_number, parse_float=_finite, parse_int=_whole, object_pairs_hook=_once
        )
        if not bytes_of_names and _ESCAPED_SURROGATE.search(text):
            _refuse_surrogates(value, "the value")
    except RecursionError:
        raise ValueError("nested too deep") from None
    return value


def read(path: str | Path, expected: str, *, bytes_of_names: bool = False) -> Any:
    """The value in a JSON file; `expected` describes the expected content in errors.

    Raises:
        InputError: the file cannot be read, is too large, or holds no JSON.
    """
    try:
        return parse(read_text(path), bytes_of_names=bytes_of_names)
    except ValueError as error:
        raise InputError(f"broken JSON ({error}); {expected}", file=path) from None


def dump(value: object, *, indent: int | None = None, sort_keys: bool = False) -> str:
    r"""The JSON text of a value, with every character as it is, but bytes of file names that are no UTF-8 as `\udcXX`.

    Raises:
        ValueError: the value holds NaN or infinity.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, sort_keys=sort_keys)
    return text if text.isascii() else _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def _refuse_surrogates(value: Any, name: str) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_surrogates(key, "a key")
            _refuse_surrogates(item, f'"{key}"')
    elif isinstance(value, list):
        for item in value:
            _refuse_surrogates(item, name)
    elif isinstance(value, str) and _SURROGATE.search(value):
        raise ValueError(f"{name} holds half a surrogate pair; write whole characters")


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number; write null where there is none")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"expected a finite number, got {text[:40]}")
    return value


def _whole(text: str) -> int:
    if len(text) > 4000:  # Python's own limit, of 4300 digits, can be set to another
        raise ValueError(f"expected a number of fewer digits than {len(text)}")
    return int(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f'the key "{key}" stands there twice')
        found[key] = value
    return found
