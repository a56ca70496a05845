"""`pronmetric prepare`: WMT system outputs and English documents to training data."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pronmetric.cli import hydra_app

if TYPE_CHECKING:
    from omegaconf import DictConfig

DESCRIPTION = """Make training data of WMT test sets (data.wmt=DIR) and plain English documents (data.english=DIR).

Writes to out=DIR what `datasets.load_from_disk` reads, with manifest.json and confusion.json. A run that was stopped
goes on with the test sets that are left."""
_TOP = 12


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return hydra_app.run("prepare", argv, _job, description=DESCRIPTION)


def _job(cfg: DictConfig) -> None:
    import data_prep.prepare as preparation
    from data_prep.splits import Rule

    settings = preparation.Settings(
        wmt=Path(cfg.data.wmt),
        out=Path(cfg.out),
        english=None if cfg.data.english is None else Path(cfg.data.english),
        years=None if cfg.data.years is None else tuple(cfg.data.years),
        pairs=None if cfg.data.pairs is None else tuple(cfg.data.pairs),
        exclude=tuple(cfg.data.exclude),
        inventory=cfg.inventory,
        context_size=cfg.context.size,
        align_lines=cfg.align.lines,
        agreement=cfg.filter.agreement,
        min_agreement=cfg.filter.min_agreement,
        rule=Rule(
            development=tuple(cfg.splits.development),
            test=tuple(cfg.splits.test),
            development_share=cfg.splits.development_share,
            block=cfg.splits.block,
            seed=cfg.seed,
        ),
        english_share=cfg.splits.english_share,
        pieces=cfg.passages.pieces,
        seed=cfg.seed,
    )
    content = preparation.prepare(settings, preparation.Talk(note=_note, progress=_progress))
    print("\n".join(table(content)))


def _note(line: str) -> None:
    print(f"pronmetric prepare: {line}", file=sys.stderr)


def _progress(items: Iterable[Any], label: str, length: int | None) -> Iterable[Any]:
    from tqdm import tqdm

    return tqdm(items, desc=label, total=length, file=sys.stderr, leave=True)


def table(content: Mapping[str, Any]) -> list[str]:
    """The lines to print: pairs of each test set (as Table 3 of the paper), the splits."""
    rows = [("test set", "split", "outputs", "R vs S", "R vs R'")]
    where = {name: split for split, told in content["splits"].items() for name in told["testsets"]}
    for name, counts in content["counts"].items():
        if "outputs" in counts:
            kept = (counts.get("kept system with a pronoun mismatch", 0), counts.get("kept noisy", 0))
            rows.append((name, where.get(name, "-"), str(counts["outputs"]), *map(str, kept)))
    return ["\t".join(row) for row in rows]
