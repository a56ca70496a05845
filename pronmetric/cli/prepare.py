"""`pronmetric prepare`: WMT system outputs and English documents to training data."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from data_prep.reporter import Reporter
from data_prep.settings import Settings
from pronmetric.cli.hydra import hydra_parser, run_verb
from pronmetric.output import targets
from pronmetric.report.text import table

if TYPE_CHECKING:
    from data_prep.stages import MakeAligner

DESCRIPTION = """Make training data from WMT test sets (data.wmt=DIR) and plain English documents (data.english=DIR).

Writes to out=DIR a dataset for `datasets.load_from_disk`, with manifest.json and confusion.json. An interrupted run
resumes with the remaining test sets."""
_TOP = 12
_PAIRS = ("train", "development", "test")
_COUNTS = {
    "systems": ("read", "systems"),
    "outputs": ("compared", "outputs"),
    "R vs S": ("kept", "system with a pronoun mismatch"),
    "R vs R'": ("kept", "noisy"),
}


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    return hydra_parser("prepare", DESCRIPTION)


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return run_verb("prepare", argv, _job, settings=Settings, description=DESCRIPTION)


def _job(settings: Settings) -> None:
    from data_prep.prepare import prepare

    out, data = settings.folder, settings.data
    targets.check(
        [], read=[*data.wmt, data.english, *(data.coreference or ()), settings.filter.agreement], folders=[out]
    )
    content = prepare(settings, Reporter(note=_note, progress=_progress), make_aligner=_backend(settings.align.backend))
    confusions = json.loads((settings.folder / "confusion.json").read_text(encoding="utf-8"))
    print("\n".join(summary(content, confusions)))


def _backend(name: str) -> MakeAligner | None:
    """A function that sets up the back end; None for the agreement EM, which preparation trains and stores itself."""
    if name == "agreement":
        return None
    if name == "eflomal":
        from pronmetric.alignment.eflomal import EflomalAligner

        EflomalAligner()  # fails if the program is not installed
        return lambda sample: EflomalAligner(train_on=sample)
    from pronmetric.cli.align import embedding_aligner

    aligner = embedding_aligner()
    return lambda _: aligner


def _note(line: str) -> None:
    print(f"pronmetric prepare: {line}", file=sys.stderr)


def _progress(items: Iterable[Any], label: str, length: int | None, unit: str) -> Iterable[Any]:
    from pronmetric.output.progress import progress

    return progress(items, label=label, total=length, unit=unit)


def summary(content: Mapping[str, Any], confusions: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """A summary: the pairs of each test set (Table 3 of the paper), the splits, the most frequent confusions."""
    rows = []
    totals: Counter[str] = Counter()
    for name, counts in content["counts"]["testsets"].items():
        splits = [split for split in _PAIRS if name in content["splits"][split]["testsets"]]
        numbers = {column: counts[stage][key] for column, (stage, key) in _COUNTS.items()}
        totals.update(numbers)
        rows.append((name, "+".join(splits) or "-", *(f"{number:,}" for number in numbers.values())))
    rows.append(("total", "", *(f"{totals[column]:,}" for column in _COUNTS)))
    yield table(("test set", "split", *_COUNTS), rows, left=(0, 1))
    yield ""
    yield table(("split", "rows"), [(split, f"{made['rows']:,}") for split, made in content["splits"].items()])
    yield ""
    flat = [(n, form, wrong) for form, row in confusions.items() for wrong, n in row.items()]
    top = sorted(flat, key=lambda entry: (-entry[0], *entry[1:]))[:_TOP]
    yield table(("reference", "system", "pairs (train)"), [(f, w, f"{n:,}") for n, f, w in top], left=(0, 1))
