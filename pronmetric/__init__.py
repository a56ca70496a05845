"""pronmetric: a learned, context-aware metric of pronouns in machine translation.

The names of `__all__` are the public interface of the package; docs/api.md describes them. Others may change.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from pronmetric.version import __version__

if TYPE_CHECKING:
    from pronmetric.errors import InputError, PronmetricError
    from pronmetric.metric import PronounMetric
    from pronmetric.prediction import Comparison, Prediction
    from pronmetric.text.context import in_context
    from pronmetric.text.lines import read_lines

__all__ = [
    "Comparison",
    "InputError",
    "Prediction",
    "PronmetricError",
    "PronounMetric",
    "__version__",
    "in_context",
    "read_lines",
]
_HOMES = {
    "Comparison": "prediction",
    "InputError": "errors",
    "Prediction": "prediction",
    "PronmetricError": "errors",
    "PronounMetric": "metric",
    "in_context": "text.context",
    "read_lines": "text.lines",
}


def __getattr__(name: str) -> object:
    """Import a public name at first use, so that `import pronmetric` costs no torch."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"pronmetric.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
