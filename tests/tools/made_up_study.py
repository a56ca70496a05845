"""Made-up studies: pairs, annotators with known error rates, and whether `study report` recovers their AC1."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from pronmetric.lab.study.findings import measure
from pronmetric.lab.study.folder import PAPER, Design, Item
from pronmetric.lab.study.sample import sample
from pronmetric.lab.study.simulation import expected_ac1, simulate

ERRORS = (0.02, 0.05, 0.1, 0.15, 0.25)
LANGUAGES = ("de", "fr")
PAIRS = (("he", "it"), ("she", "it"), ("it", "he"), ("they", "it"), ("his", "its"), ("who", "which"))


class Setting(NamedTuple):
    """A design and what it is."""

    name: str
    design: Design


_PAPER = replace(PAPER, invalid=False)
_SMALL = replace(_PAPER, items=60, groups=1)
SETTINGS = (
    Setting("120 items, one group", _SMALL),
    Setting("120 items, two groups", replace(_SMALL, groups=2)),
    Setting('120 items, one group, no "both fine"', replace(_SMALL, both=False)),
    Setting('120 items, one group, "both fine" and "neither"', replace(_SMALL, neither=True)),
    Setting("the paper's design: 1000 items, two groups", _PAPER),
)


def made_up(each: int) -> list[Item]:
    """`each` pairs of each pronoun pair and language; their texts do not matter."""
    return [
        Item(f"{language}-{a}-{b}-{k}", language, a, b, (), f"{a} {k}", f"{b} {k}", doc=f"{language} {k // 5}")
        for language in LANGUAGES
        for a, b in PAIRS
        for k in range(each)
    ]


class Recovered(NamedTuple):
    """One simulated study: whether the interval of AC1 holds the expected value, and its figures."""

    held: bool
    ac1: float
    width: float


def recover(setting: Setting, seed: int) -> Recovered:
    """Sample, answer and measure one study."""
    candidates = made_up(1 + (setting.design.items or 0) // len(PAIRS))
    study = sample(candidates, replace(setting.design, seed=seed))
    found = measure(study, simulate(study, ERRORS, seed=seed), draws=2).overall.ac1
    assert found is not None and found.low is not None and found.high is not None
    expected = expected_ac1(study, ERRORS)
    return Recovered(found.low <= expected <= found.high, found.ac1, found.high - found.low)
