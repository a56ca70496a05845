"""Text layout of the wmtNN-news-systems repositories: line-parallel files, described by their names.

`TESTSET.LP.src.LANG`, `TESTSET.LP.ref.NAME.LANG` (the name is optional) and `TESTSET.LP.hyp.SYSTEM.LANG`, in any
folder, plain or gzip-compressed. A system's name may contain dots ("Allegro.eu"). There are no document boundaries.
`data_prep.wmt.parallel` reads the files.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from data_prep.wmt.testset import Part, TestSet, year_of

NAME = re.compile(
    r"(?P<testset>[^.]+)\.(?P<lp>[a-z]{2,3}-[a-z]{2,3})\.(?P<role>src|ref|hyp)"
    r"(?:\.(?P<name>.+?))?\.(?P<language>[a-z]{2,3})(?:\.txt)?(?:\.gz)?"
)


def find(files: Iterable[Path]) -> list[TestSet]:
    """The test sets in file names of this layout; other files are ignored."""
    parts: defaultdict[tuple[str, str], list[Part]] = defaultdict(list)
    for path in files:
        if match := NAME.fullmatch(path.name):
            name = match["name"] or ("" if match["role"] == "src" else match["role"])
            parts[match["testset"], match["lp"]].append(Part(match["role"], name, path))
    return [
        TestSet(name=name, year=year_of(name, found[0].path), lp=lp, parts=tuple(sorted(found)))
        for (name, lp), found in sorted(parts.items())
    ]
