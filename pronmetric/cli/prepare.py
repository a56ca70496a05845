"""`pronmetric prepare`: WMT system outputs and English documents to training data."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pronmetric import targets
from pronmetric.cli import hydra_app
from pronmetric.errors import InputError

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from data_prep.stages import MakeAligner

DESCRIPTION = """Make training data of WMT test sets (data.wmt=DIR) and plain English documents (data.english=DIR).

Writes to out=DIR what `datasets.load_from_disk` reads, with manifest.json and confusion.json. A run that was stopped
goes on with the test sets that are left."""
_TOP = 12
_PAIRS = ("train", "development", "test")


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return hydra_app.run("prepare", argv, _job, description=DESCRIPTION)


def _job(cfg: DictConfig) -> None:
    from data_prep.prepare import prepare
    from data_prep.settings import Settings, Talk
    from data_prep.splits import Rule

    settings = Settings(
        wmt=Path(cfg.data.wmt),
        out=Path(cfg.out).resolve(),
        english=None if cfg.data.english is None else Path(cfg.data.english),
        years=None if cfg.data.years is None else _several(cfg.data.years),
        pairs=None if cfg.data.pairs is None else _several(cfg.data.pairs),
        exclude=_several(cfg.data.exclude),
        inventory=cfg.inventory,
        context_size=cfg.context.size,
        align_backend=cfg.align.backend,
        align_lines=cfg.align.lines,
        agreement=str(cfg.filter.agreement),
        min_agreement=cfg.filter.min_agreement,
        rule=Rule(
            development=_several(cfg.splits.development),
            test=_several(cfg.splits.test),
            development_share=cfg.splits.development_share,
            block=cfg.splits.block,
            seed=cfg.seed,
        ),
        english_share=cfg.splits.english_share,
        pieces=cfg.passages.pieces,
        outputs=cfg.passages.outputs,
        seed=cfg.seed,
    )
    targets.check([], read=[settings.wmt, settings.english, settings.agreement], folders=[settings.out])
    content = prepare(settings, Talk(note=_note, progress=_progress), make_aligner=_backend(cfg.align.backend))
    confusions = json.loads((settings.out / "confusion.json").read_text(encoding="utf-8"))
    print("\n".join(table(content, confusions)))


def _backend(name: str) -> MakeAligner | None:
    """What sets up the back end; None for the agreement EM, which preparation trains and keeps itself."""
    if name == "agreement":
        return None
    if name == "eflomal":
        from data_prep.align_eflomal import EflomalAligner

        EflomalAligner()  # is the program there?
        return lambda sample: EflomalAligner(train_on=sample)
    if name == "embedding":
        from pronmetric.cli.align import embedding

        aligner = embedding()
        return lambda _: aligner
    raise InputError(f"align.backend={name}: expected agreement, eflomal or embedding")


def _several(value: Any) -> tuple[Any, ...]:
    """A list of the config as a tuple; one value stands for itself (data.years=21), null for none."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str | int) else tuple(value)


def _note(line: str) -> None:
    print(f"pronmetric prepare: {line}", file=sys.stderr)


def _progress(items: Iterable[Any], label: str, length: int | None, unit: str) -> Iterable[Any]:
    from pronmetric.progress import progress

    return progress(items, label=label, total=length, unit=unit)


def table(content: Mapping[str, Any], confusions: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """What was made: the pairs of each test set (Table 3 of the paper), each split, the commonest confusions."""
    rows: list[Sequence[str]] = [("test set", "split", "systems", "outputs", "R vs S", "R vs R'")]
    totals: Counter[str] = Counter()
    for name, counts in content["counts"]["testsets"].items():
        splits = [split for split in _PAIRS if name in content["splits"][split]["testsets"]]
        told = [
            counts["read"]["systems"],
            counts["compared"]["outputs"],
            counts["kept"]["system with a pronoun mismatch"],
            counts["kept"]["noisy"],
        ]
        totals.update(dict(zip(rows[0][2:], told, strict=True)))
        rows.append((name, "+".join(splits) or "-", *(f"{number:,}" for number in told)))
    rows.append(("total", "", *(f"{totals[column]:,}" for column in rows[0][2:])))
    yield from _aligned(rows)
    yield ""
    yield from _aligned(
        [("split", "rows"), *((split, f"{told['rows']:,}") for split, told in content["splits"].items())]
    )
    yield ""
    flat = [(n, form, wrong) for form, row in confusions.items() for wrong, n in row.items()]
    top = sorted(flat, key=lambda entry: (-entry[0], *entry[1:]))[:_TOP]
    yield from _aligned([("reference", "system", "pairs (train)"), *((f, w, f"{n:,}") for n, f, w in top)])


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if rows[-1][k][-1:].isdigit() else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
