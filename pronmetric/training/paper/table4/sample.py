"""A fixed sample of a prepared folder, in the form of a prepared folder without passages, for Table 4.

The rule: for each split and kind (noisy: R vs R', system: R vs S), the pairs in which one pronoun replaces another are
ordered by the SHA-256 of "SEED ID", and the first ones are taken. The folder's other rows have no influence.
`sample.json` has the ids of the pairs, without their text.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import files
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.output import targets
from pronmetric.schema import Pair
from pronmetric.text import strict_json

KINDS = {"noisy": "R vs R'", "system": "R vs S"}
SPLITS = ("train", "development", "test")
FILE = "sample.json"
RULE = "of each split and kind, the pairs with a pronoun against another, first by sha256('SEED ID')"


def draw(source: Path, target: Path, *, sizes: Mapping[str, int | None], seed: int) -> dict[str, Any]:
    """Write the sample of the prepared folder `source` to `target`, if it does not exist; returns its `sample.json`.

    sizes: the number of pairs of each kind in each split; None: all.

    Raises:
        InputError: a split has too few pairs, or `target` is another sample.
    """
    wanted = {
        "rule": RULE,
        "seed": seed,
        "prepared": files.hash_file(source / arrow.MANIFEST),
        "sizes": {split: sizes[split] for split in SPLITS},
    }
    if target.exists():
        before = strict_json.read(target / FILE, "expected a sample of Table 4")
        if {key: before.get(key) for key in wanted} != wanted:
            raise InputError("holds a sample of other data or sizes: give another out=, or delete it", file=target)
        return before
    chosen = {split: _choose(source, split, most=sizes[split], seed=seed) for split in SPLITS}
    record = {**wanted, "splits": {split: _summarise(pairs) for split, pairs in chosen.items()}}
    target.parent.mkdir(parents=True, exist_ok=True)
    with targets.scratch(target.parent, prefix=".sample-") as waiting:
        folder = waiting / target.name
        rows = arrow.write(
            folder,
            pairs={**chosen, "development_study": []},
            passages={"passages_train": [], "passages_development": []},
        )
        shutil.copy(source / "confusion.json", folder)
        manifest = arrow.read_manifest(source)
        _write(folder / arrow.MANIFEST, {**manifest, "splits": _splits(rows, chosen), "sample": wanted})
        _write(folder / FILE, record)
        folder.rename(target)
    return record


def _choose(source: Path, split: str, *, most: int | None, seed: int) -> list[Pair]:
    """The pairs of one split, in the order of the folder."""
    rows = arrow.read_pairs(source, split, kinds=("pronoun",))
    ids, kinds = rows["id"], rows["kind"]
    numbers: list[int] = []
    for kind, name in KINDS.items():
        mine = [number for number, each in enumerate(kinds) if each == kind]
        if len(mine) < (most or 1):
            raise InputError(f"split {split} has {len(mine)} pairs of {name}, {most or 1} are needed", file=source)
        numbers += sorted(mine, key=lambda number: hashlib.sha256(f"{seed} {ids[number]}".encode()).digest())[:most]
    return [arrow.to_pair(rows[number]) for number in sorted(numbers)]


def _summarise(pairs: Sequence[Pair]) -> dict[str, Any]:
    """The pairs by kind: their number, their ids, and a digest of their texts."""
    summary: dict[str, Any] = {}
    for kind in KINDS:
        mine = [pair for pair in pairs if pair.kind == kind]
        texts = "\n".join(" ".join((*p.context, *p.system_context, p.better, p.worse)) for p in mine)
        digest = hashlib.sha256(texts.encode()).hexdigest()
        summary[kind] = {"pairs": len(mine), "texts_sha256": digest, "ids": [pair.id for pair in mine]}
    return summary


def _splits(rows: Mapping[str, int], chosen: Mapping[str, Sequence[Pair]]) -> dict[str, Any]:
    """The splits as a manifest lists them."""
    testsets = {split: sorted({f"{pair.testset}.{pair.lp}" for pair in pairs}) for split, pairs in chosen.items()}
    return {split: {"rows": number, "testsets": testsets.get(split, [])} for split, number in rows.items()}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(strict_json.dump(content, indent=1) + "\n", encoding="utf-8")
