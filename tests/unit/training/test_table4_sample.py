"""The fixed sample of a prepared folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.schema import Pair
from pronmetric.training.paper.table4 import sample

SIZES = {"train": 5, "development": None, "test": 2}


def parts(pairs: list[Pair]) -> dict[str, list[Pair]]:
    return {"train": pairs[:20], "development": pairs[20:26], "test": pairs[26:32]}


def ids(folder: Path, split: str) -> list[str]:
    return list(arrow.read_pairs(folder, split)["id"])


def test_it_holds_so_many_pairs_of_each_kind(
    make_prepared: Callable[..., Path], sample_pairs: list[Pair], tmp_path: Path
) -> None:
    source = make_prepared(**parts(sample_pairs))
    told = sample.draw(source, tmp_path / "out", sizes=SIZES, seed=0)
    for split, number in {"train": 5, "development": 3, "test": 2}.items():
        kinds = arrow.read_pairs(tmp_path / "out", split)["kind"]
        assert [list(kinds).count(kind) for kind in sample.KINDS] == [number, number]
        assert sorted(ids(tmp_path / "out", split)) == sorted(
            identity for part in told["splits"][split].values() for identity in part["ids"]
        )
    assert len(arrow.read_passages(tmp_path / "out", "passages_train")) == 0
    assert json.loads((tmp_path / "out" / "sample.json").read_text(encoding="utf-8")) == told
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["splits"]["test"] == {"rows": 4, "testsets": ["tiny.de-en"]} and manifest["counts"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_other_rows_and_their_order_change_nothing(
    make_prepared: Callable[..., Path], sample_pairs: list[Pair], tmp_path: Path
) -> None:
    given = parts(sample_pairs)
    whole, turned = make_prepared(**given), make_prepared(**{**given, "train": given["train"][::-1]})
    one, other = (sample.draw(f, tmp_path / str(k), sizes=SIZES, seed=0) for k, f in enumerate((whole, turned)))
    assert set(ids(tmp_path / "0", "train")) == set(ids(tmp_path / "1", "train"))
    assert one["splits"]["test"] == other["splits"]["test"]
    assert sample.draw(whole, tmp_path / "2", sizes=SIZES, seed=1)["splits"] != one["splits"]


def test_pairs_without_a_pronoun_against_a_pronoun_are_left_out(
    make_prepared: Callable[..., Path], sample_pairs: list[Pair], tmp_path: Path
) -> None:
    given = parts(sample_pairs)
    odd = [replace(pair, mismatches=(replace(pair.mismatches[0], kind="word"),)) for pair in given["test"][:2]]
    source = make_prepared(**{**given, "test": [*odd, *given["test"][2:]]})
    sample.draw(source, tmp_path / "out", sizes={**SIZES, "test": None}, seed=0)
    assert ids(tmp_path / "out", "test") == [pair.id for pair in given["test"][2:]]


def test_an_existing_sample_is_kept_and_another_refused(
    make_prepared: Callable[..., Path], sample_pairs: list[Pair], tmp_path: Path
) -> None:
    source = make_prepared(**parts(sample_pairs))
    told = sample.draw(source, tmp_path / "out", sizes=SIZES, seed=0)
    assert sample.draw(source, tmp_path / "out", sizes=SIZES, seed=0) == told
    with pytest.raises(InputError, match="a sample of other data or sizes"):
        sample.draw(source, tmp_path / "out", sizes={**SIZES, "test": 1}, seed=0)
    with pytest.raises(InputError, match="split test has 3 pairs of R vs R', 99 are needed"):
        sample.draw(source, tmp_path / "new", sizes={**SIZES, "test": 99}, seed=0)
    assert not (tmp_path / "new").exists()
    empty = make_prepared(**{**parts(sample_pairs), "test": []})
    with pytest.raises(InputError, match="split test has 0 pairs of R vs R', 1 are needed"):
        sample.draw(empty, tmp_path / "new", sizes={**SIZES, "test": None}, seed=0)
