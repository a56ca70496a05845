"""Strict JSON (RFC 8259): reading and writing.

NaN, infinity (also numbers that overflow a float, such as 1e999), duplicate keys in an object and lone surrogates, for
which UTF-8 has no code, are refused.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.text.lines import read_text

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse(text: str, *, bytes_of_names: bool = False) -> Any:
    """The value that a JSON text holds; `bytes_of_names` allows the lone surrogates that `dump` writes.

    Raises:
        ValueError: invalid JSON; the caller adds file, line and cure.
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
        InputError: the file cannot be read, is too large, or does not hold JSON.
    """
    try:
        return parse(read_text(path), bytes_of_names=bytes_of_names)
    except ValueError as error:
        raise InputError(f"broken JSON ({error}); {expected}", file=path) from None


def dump(value: object, *, indent: int | None = None, sort_keys: bool = False) -> str:
    r"""The JSON text of a value, without escapes of non-ASCII text; invalid bytes of file names become `\udcXX`.

    Raises:
        ValueError: the value holds NaN or infinity.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, sort_keys=sort_keys)
    return text if text.isascii() else _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def plain(value: Any) -> Any:
    """Dataclasses, tuples and mappings as values for JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def _refuse_surrogates(value: Any, name: str) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_surrogates(key, "a key")
            _refuse_surrogates(item, f'"{key}"')
    elif isinstance(value, list):
        for item in value:
            _refuse_surrogates(item, name)
    elif isinstance(value, str) and _SURROGATE.search(value):
        raise ValueError(f"{name} has a lone surrogate; write complete characters")


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not valid JSON; write null for a missing number")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"expected a finite number, got {text[:40]}")
    return value


def _whole(text: str) -> int:
    if len(text) > 4000:  # Python's own limit (4300 digits) is configurable
        raise ValueError(f"expected a number with at most 4000 digits, got {len(text)}")
    return int(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f'duplicate key "{key}"')
        found[key] = value
    return found
