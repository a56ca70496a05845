"""Rate limits: how many requests a sender may make."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

_SENDERS = 10_000


@dataclass(slots=True)
class RateLimit:
    """A token bucket for each sender: `burst` requests at once, then `rate` a second.

    Beyond 10,000 senders, those that were not seen for longest are forgotten.
    """

    rate: float
    burst: int
    now: Callable[[], float] = time.monotonic
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)  # requests left, and when; oldest first

    def allows(self, sender: str) -> bool:
        """Whether this request is within the limit; it counts if it is."""
        now = self.now()
        left, since = self._buckets.pop(sender, (float(self.burst), now))
        left = min(float(self.burst), left + (now - since) * self.rate)
        allowed = left >= 1
        self._buckets[sender] = (left - allowed, now)
        if len(self._buckets) > _SENDERS:
            del self._buckets[next(iter(self._buckets))]
        return allowed
