"""The rankings of WMT's direct assessment in a folder: `wmtNN-da/ad-sys-ranking-SL-TL-z-names.csv`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from pronmetric.lab.human.wmt_scores import is_human, read_ranking

_NAME = re.compile(r"wmt(?P<year>\d\d)-da/ad-sys-ranking-(?P<source>[a-z]+)-(?P<target>[a-z]+)-z-names\.csv")
_SOURCE = {"lv": "liv"}  # Livonian, which the rankings of WMT22 call by the code of Latvian


class Ranking(NamedTuple):
    """A test set ("wmt22:cs-en") and the human z score of each of its systems.

    humans: the human translations that were also ranked.
    """

    dataset: str
    scores: dict[str, float]
    humans: tuple[str, ...]


def find(folder: Path, *, target: str = "en") -> tuple[list[Ranking], list[str]]:
    """The rankings into `target` in folders `wmtNN-da` anywhere in `folder`, and notes on files that are left out.

    Raises:
        InputError: a malformed ranking.
    """
    found, notes = [], []
    for path in sorted(folder.rglob(f"wmt*-da/ad-sys-ranking-*-{target}-z-names.csv")):
        name = path.relative_to(path.parents[1]).as_posix()
        match = _NAME.fullmatch(name)
        if match is None or not path.stat().st_size:
            notes.append(f"{name}: {'empty' if match else 'no ranking of a language pair'}, left out")
            continue
        ranked = {one.system: one.z for one in read_ranking(path)}
        humans = tuple(filter(is_human, ranked))
        dataset = f"wmt{match['year']}:{_SOURCE.get(match['source'], match['source'])}-{match['target']}"
        found.append(Ranking(dataset, {s: z for s, z in ranked.items() if s not in humans}, humans))
    return found, notes
