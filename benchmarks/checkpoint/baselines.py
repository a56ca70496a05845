"""Baselines without a model on the study set and on GAP, to check that the data is read correctly.

    python -m benchmarks.checkpoint.baselines [--shared DIR]

"frequent" prefers the pronoun that is more frequent in the WMT references, "constant" scores all texts alike. They
run through the same code as a checkpoint does, but are no runs on the study set: nothing is chosen by them. The
study set's README gives 39.8 (French) and 42.6 (German) for "frequent", without saying how it counts: "that" and "it"
are nearly as frequent as each other, so that counting clitics or not moves the figure by two points.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks import pages
from benchmarks.checkpoint import gap, study
from benchmarks.checkpoint.scoring import COMMON, Record, Result, Scorer
from pronmetric.pronouns.finder import FORMS, find
from pronmetric.text.words import words


def frequencies(texts: Iterable[str]) -> Counter[str]:
    """How often each form of the inventory is in use in texts."""
    return Counter(found.form for text in texts for found in find(text))


def frequent(counts: Counter[str]) -> Scorer:
    """A scorer: the sum of the log frequencies of a text's pronoun forms; all of them count as scored."""

    def score(records: Sequence[Record]) -> list[Result]:
        results = []
        for record in records:
            found = [w for w in words(record["text"]) if w.text.lower() in FORMS]
            total = math.fsum(math.log(counts[w.text.lower()] + 1) for w in found)
            results.append(
                Result(score=total if found else None, pronouns=[{"start": w.start, "end": w.end} for w in found])
            )
        return results

    return score


def constant(records: Sequence[Record]) -> list[Result]:
    """A scorer that knows nothing: every pair is equal."""
    return [Result(score=0.5, pronouns=[]) for _ in records]


def references(wmt: Path) -> Iterable[str]:
    """The lines of all references of a folder of `wmtNN-news-systems`."""
    for path in sorted(wmt.glob("wmt*-news-systems/txt/references/*.en")):
        yield from path.read_text(encoding="utf-8-sig").split("\n")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    pages.add_shared(parser)
    data = parser.parse_args().shared / "data"
    samples, items = study.read(data / "study"), gap.read(data / "gap" / "gap-development.tsv")
    rows = []
    for name, scorer in (("frequent", frequent(frequencies(references(data / "wmt")))), ("constant", constant)):
        languages = study.measure(scorer, samples)["languages"]
        figures = [*(languages[language][COMMON] for language in study.LANGUAGES), gap.measure(scorer, items)[COMMON]]
        rows.append([name, *(f"{100 * found.accuracy:.1f}" for found in figures)])
    print(pages.table(["baseline", *study.LANGUAGES, "GAP"], rows))


if __name__ == "__main__":
    pages.run(main)
