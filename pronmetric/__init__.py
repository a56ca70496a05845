"""pronmetric: a learned, context-aware metric of pronouns in machine translation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pronmetric.metric import PronounMetric

__all__ = ["PronounMetric", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import `PronounMetric` at first use, so that `import pronmetric` costs no torch."""
    if name == "PronounMetric":
        from pronmetric.metric import PronounMetric

        return PronounMetric
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
