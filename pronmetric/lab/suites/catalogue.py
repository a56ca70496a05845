"""The test suites by name, and their descriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pronmetric.lab.suites import (
    aces,
    cai_xiong,
    consistency,
    contrapro,
    ctxpro,
    dip,
    discevalmt,
    mt_geneval,
    pair_table,
    protest,
    winobias,
    winomt,
)
from pronmetric.lab.suites.contrastive import Item, Suite
from pronmetric.report.text import table

SUITES: Mapping[str, Suite] = {
    suite.ABOUT.name: suite
    for suite in (
        contrapro,
        discevalmt,
        consistency,
        ctxpro,
        cai_xiong,
        aces,
        winomt,
        mt_geneval,
        protest,
        dip,
        winobias,
        pair_table,
    )
}
_CLPP = (
    "clpp",
    "en-de, en-fr, de-en, fr-en, es-en",
    "cross-lingual pronoun prediction (WMT16, DiscoMT)",
    "predictions, by `pronmetric clpp score`",
)


def format_list() -> str:
    """A table of the suites, and of the shared task, which has a verb of its own."""
    abouts = [suite.ABOUT for suite in SUITES.values()]
    rows = [(about.name, about.languages, about.phenomena, ", ".join(about.judged)) for about in abouts]
    return table(("suite", "languages", "phenomena", "judged"), [*rows, _CLPP], left=range(4))


def format_about(suite: Suite) -> str:
    """The description of a suite."""
    about = suite.ABOUT
    return f"{about.title}\n{about.languages}: {about.phenomena}\n\n{about.text}"


def format_counts(items: Sequence[Item], *, file: str) -> str:
    """The number of items of a set, of their candidates, and of the items of each group."""
    counts = Counter((name, group) for item in items for name, group in item.groups.items())
    rows = [(name, group, count) for (name, group), count in sorted(counts.items())]
    head = f"{file}: {len(items)} items, {sum(len(item.candidates) for item in items)} candidates"
    return f"{head}\n{table(('break-down', 'group', 'items'), rows, left=(0, 1))}"
