"""How often 95 % intervals hold the truth, and whether p values are uniform where nothing differs, by documents.

    python -m benchmarks.checkpoint.intervals [--systems N] [--pairs N] [--page]

Systems of made-up documents, of which the true score is known; `eval.significance` gives the intervals and p values, as
for `score` and `compare`. `--page` writes intervals.md and its JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import pages
from pronmetric.eval.ratio_sums import SHARE
from pronmetric.eval.significance import Totals, difference, interval, randomisation

DOCUMENTS = (4, 5, 7, 10, 20, 50, 100)
SYSTEMS, PAIRS, RESAMPLES, SEED = 1000, 300, 399, 1
PAGE = pages.PUBLISHED / "intervals.md"
_PRONOUNS = 2.5  # of a segment, on average
_SPREAD = 0.15  # standard deviation of a pronoun's score

_Array = NDArray[np.float64]
_Draw = Callable[[np.random.Generator, _Array], _Array]
"""Sums of the scores of documents with these numbers of pronouns, (systems, documents) each."""


class Setting(NamedTuple):
    """Documents: their least and greatest number of segments, the true score, and how scores are drawn."""

    name: str
    segments: tuple[int, int]
    score: float
    draw: _Draw


def _differing(spread: float) -> _Draw:
    """Normal scores of pronouns around 0.8, and of documents with this standard deviation."""

    def draw(rng: np.random.Generator, pronouns: _Array) -> _Array:
        documents = rng.normal(0.8, spread, pronouns.shape)
        return documents * pronouns + rng.normal(0.0, 1.0, pronouns.shape) * _SPREAD * np.sqrt(pronouns)

    return draw


def _skewed(rng: np.random.Generator, pronouns: _Array) -> _Array:
    """Right or wrong pronouns; most documents have few wrong ones, some many: Beta(18, 2)."""
    return rng.binomial(pronouns.astype(int), rng.beta(18, 2, pronouns.shape)).astype(float)


def _rare(rng: np.random.Generator, pronouns: _Array) -> _Array:
    """Right or wrong pronouns, 2 % wrong in any document."""
    return rng.binomial(pronouns.astype(int), 0.98).astype(float)


def _concentrated(rng: np.random.Generator, pronouns: _Array) -> _Array:
    """Right or wrong pronouns, 2 % wrong, 62 % of those in a tenth of the documents: Beta(9.8, 0.2)."""
    return rng.binomial(pronouns.astype(int), rng.beta(9.8, 0.2, pronouns.shape)).astype(float)


SETTINGS = (
    Setting("documents differ, sd 0.08", (5, 29), 0.8, _differing(0.08)),
    Setting("documents differ, sd 0.08, of very unequal length", (2, 59), 0.8, _differing(0.08)),
    Setting("documents are alike", (5, 29), 0.8, _differing(0.0)),
    Setting("skewed: few documents have most errors", (5, 29), 0.9, _skewed),
    Setting("2 % of pronouns are wrong", (5, 29), 0.98, _rare),
    Setting("2 % are wrong, two of three of them in a tenth of the documents", (5, 29), 0.98, _concentrated),
)


def _drawn(rng: np.random.Generator, setting: Setting, shape: tuple[int, int]) -> tuple[_Array, _Array]:
    """Sums and numbers of pronouns of documents."""
    low, high = setting.segments
    pronouns = np.maximum(rng.poisson(_PRONOUNS * rng.integers(low, high + 1, shape)), 1).astype(float)
    return setting.draw(rng, pronouns), pronouns


def coverage(setting: Setting, documents: int, *, systems: int) -> dict[str, float]:
    """The share of systems whose interval holds the true score, and the mean width of the intervals."""
    rng = np.random.default_rng((SEED, documents))
    sums, pronouns = _drawn(rng, setting, (systems, documents))
    ends = [interval(Totals(x, y), SHARE) for x, y in zip(sums, pronouns, strict=True)]
    there = [pair for pair in ends if pair is not None]
    held = sum(low <= setting.score <= high for low, high in there)
    width = float(np.mean([high - low for low, high in there]))
    return {"held": held / len(there), "width": width, "without": 1 - len(there) / systems}


def uniformity(setting: Setting, documents: int, *, pairs: int) -> dict[str, Any]:
    """P values of two systems alike on the same documents: the shares at or below some levels, for both tests."""
    rng = np.random.default_rng((SEED, documents, 2))
    low, high = setting.segments
    shape = pairs, documents
    pronouns = np.maximum(rng.poisson(_PRONOUNS * rng.integers(low, high + 1, shape)), 1).astype(float)
    hard = rng.normal(0.0, 0.08, shape)  # of a document, for both systems
    sides = [setting.draw(rng, pronouns) + hard * pronouns for _ in "ab"]
    of_swaps, of_t = [], []
    for a, b, counts in zip(*sides, pronouns, strict=True):
        one, other = Totals(a, counts), Totals(b, counts)
        of_swaps.append(randomisation(one, other, resamples=RESAMPLES, seed=len(of_swaps)))
        of_t.append(difference(one, other).p)
    return {"randomisation": _shares(of_swaps), "t": _shares(of_t)}


def _shares(found: list[float | None]) -> dict[str, float]:
    values = np.array([p for p in found if p is not None])
    return {f"{level:g}": float(np.mean(values <= level)) for level in (0.01, 0.05, 0.1, 0.5)}


def measure(*, systems: int, pairs: int) -> dict[str, Any]:
    """All settings."""
    return {
        "systems": systems,
        "pairs": pairs,
        "settings": [
            {
                "name": setting.name,
                "coverage": {str(n): coverage(setting, n, systems=systems) for n in DOCUMENTS},
                "p": {str(n): uniformity(setting, n, pairs=pairs) for n in DOCUMENTS} if setting.score == 0.8 else None,
            }
            for setting in SETTINGS
        ],
    }


def page(content: Mapping[str, Any]) -> str:
    """The page as Markdown."""
    header = ("| documents | " + " | ".join(map(str, DOCUMENTS)) + " |\n|---|" + "---:|" * len(DOCUMENTS)).splitlines()
    held, tests = [*header], [*header]
    for setting in content["settings"]:
        cells = (f"{100 * setting['coverage'][str(n)]['held']:.1f}" for n in DOCUMENTS)
        held.append(f"| {setting['name']} | {' | '.join(cells)} |")
        for test, level in _tests(setting):
            cells = (f"{100 * setting['p'][str(n)][test][level]:.1f}" for n in DOCUMENTS)
            tests.append(f"| {setting['name']}: {test}, p <= {level} | {' | '.join(cells)} |")
    error = 100 * (0.05 * 0.95 / content["systems"]) ** 0.5
    of_pairs = 100 * (0.05 * 0.95 / content["pairs"]) ** 0.5
    return pages.fill(
        "intervals",
        systems=content["systems"],
        pairs=content["pairs"],
        error=error,
        of_pairs=of_pairs,
        coverage="\n".join(held),
        levels="\n".join(tests),
    )


def _tests(setting: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if setting["p"] is not None:
        yield from ((test, level) for test in ("randomisation", "t") for level in ("0.01", "0.05", "0.5"))


def main() -> int:
    """Run all settings; print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=SYSTEMS, help="for each cell of coverage (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="for each cell of p values (default: %(default)s)")
    parser.add_argument("--page", action="store_true", help="write the page and its JSON")
    args = parser.parse_args()
    content = measure(systems=args.systems, pairs=args.pairs)
    if args.page:
        PAGE.with_suffix(".json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(content), encoding="utf-8")
    print(page(content))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
