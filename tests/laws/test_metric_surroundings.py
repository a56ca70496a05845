"""A metric in other surroundings gives the same scores: copied, in another process, under PyTorch's global settings.

And arguments of the library that are wrong are refused before anything is scored.
"""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from pronmetric.checkpoint import config, files, locate
from pronmetric.checkpoint.locate import WEIGHTS
from pronmetric.errors import PronmetricError
from pronmetric.metric import PronounMetric

Checkpoints = Callable[..., Path]
RECORDS = [{"text": "She took it.", "context": ["Anna left."]}, {"text": "Yes."}, {"text": "They miss her."}] * 2


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


@pytest.fixture(scope="module")
def expected(metric: PronounMetric) -> list[float | None]:
    return metric.predict(RECORDS).scores


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_gives_the_same_scores(
    metric: PronounMetric, expected: list[float | None], again: Callable[[PronounMetric], PronounMetric]
) -> None:
    made = again(metric)
    assert made is not metric and (made.name, made.precision) == (metric.name, metric.precision)
    found = made.predict(RECORDS)
    assert found.scores == pytest.approx(expected, abs=1e-5)
    assert found.signature == metric.predict(RECORDS).signature


def test_the_shipped_checkpoint_is_loaded_by_its_name_where_its_folder_is_another(
    metric: PronounMetric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(metric.folder, folder)
    own = PronounMetric.from_pretrained(folder, gpus=0)
    content = pickle.dumps(own)
    folder.rename(tmp_path / "there")
    monkeypatch.setattr(locate, "locate", lambda name: locate.Location(name, tmp_path / "there"))
    assert pickle.loads(content).hash == own.hash


def test_a_copy_of_a_checkpoint_that_has_changed_is_refused(
    tiny_checkpoint: Checkpoints, tmp_path: Path, metric: PronounMetric
) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(tiny_checkpoint(), folder)
    content = pickle.dumps(PronounMetric.from_pretrained(folder, gpus=0))
    weights = {name: value + 1 for name, value in load_file(folder / WEIGHTS).items()}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    files.write_config(folder, config.read(folder / locate.CONFIG))
    with pytest.raises(PronmetricError, match=r"a copy of a metric loads its checkpoint again, but .*mine has changed"):
        pickle.loads(content)


def scores_in_a_process(metric: PronounMetric) -> list[float | None]:
    return metric.predict(RECORDS).scores


def test_a_pool_of_new_processes_scores(metric: PronounMetric, expected: list[float | None]) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(scores_in_a_process, (metric,)) == pytest.approx(expected, abs=1e-5)


@contextmanager
def default_type(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_outside_changes_nothing(
    metric: PronounMetric, expected: list[float | None], dtype: torch.dtype
) -> None:
    attention = [each.weights for each in next(metric.attention([("Anna left.", "She took it.")]))]  # type: ignore[list-item]
    with torch.autocast("cpu", dtype=dtype):
        assert metric.predict(RECORDS).scores == expected
        again = [each.weights for each in next(metric.attention([("Anna left.", "She took it.")]))]  # type: ignore[list-item]
    assert all(np.array_equal(a, b) for a, b in zip(attention, again, strict=True) if a is not None and b is not None)


@pytest.mark.parametrize("head", ["logit", "paper"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_the_default_type_changes_nothing(tiny_checkpoint: Checkpoints, dtype: torch.dtype, head: str) -> None:
    folder = tiny_checkpoint(head=head)
    before = PronounMetric.from_pretrained(folder, precision="32", gpus=0)
    wanted = before.predict(RECORDS).scores
    with default_type(dtype):
        assert before.predict(RECORDS).scores == pytest.approx(wanted, abs=1e-6)
        loaded = PronounMetric.from_pretrained(folder, precision="32", gpus=0)
        assert loaded.predict(RECORDS).scores == pytest.approx(wanted, abs=1e-6)
        assert torch.get_default_dtype() == dtype
    assert loaded.predict(RECORDS).scores == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("batch_size", [1.5, 0, -3, float("inf"), float("nan"), "32", True, [32]])
def test_batch_sizes_that_are_none(metric: PronounMetric, monkeypatch: pytest.MonkeyPatch, batch_size: Any) -> None:
    monkeypatch.setattr(metric.inference, "_encode", None)  # nothing is scored
    wanted = "expected a whole number from 1 as batch_size, got "
    for call in (
        lambda: metric.predict(RECORDS, batch_size=batch_size),
        lambda: metric.compare(RECORDS, RECORDS, batch_size=batch_size),
        lambda: next(metric.attention([("", "She left.")], batch_size=batch_size)),  # type: ignore[list-item]
    ):
        with pytest.raises(PronmetricError, match=wanted):
            call()


@pytest.mark.parametrize("gpus", [1.5, -1, float("nan"), "0", True])
def test_numbers_of_gpus_that_are_none(tiny_checkpoint: Checkpoints, gpus: Any) -> None:
    with pytest.raises(PronmetricError, match="expected a whole number from 0 as gpus, got "):
        PronounMetric.from_pretrained(tiny_checkpoint(), gpus=gpus)


def test_batch_sizes_of_numpy_are_numbers(metric: PronounMetric, expected: list[float | None]) -> None:
    assert metric.predict(RECORDS, batch_size=np.int64(2)).scores == pytest.approx(expected, abs=1e-5)  # type: ignore[arg-type]


DOCS: list[tuple[Any, str]] = [
    (["a"], "expected one document for each record in docs, got 1 for 6 records"),
    (["a"] * 7, "got 7 for 6 records"),
    ("abcdef", "expected docs to be a list of values, got a str"),
    ({"a", "b", "c", "d", "e", "f"}, "got a set"),
    (dict.fromkeys("abcdef"), "got a dict"),
    (6, "got an int"),
    ([[1], [1], [1], [1], [1], [1]], r"in docs\[0\], got a list"),
    (["a", "b", float("nan"), "c", "d", "e"], r"in docs\[2\], got NaN"),
]


@pytest.mark.parametrize(("docs", "message"), DOCS, ids=[message[-20:] for _, message in DOCS])
def test_documents_that_are_none(
    metric: PronounMetric, monkeypatch: pytest.MonkeyPatch, docs: Any, message: str
) -> None:
    monkeypatch.setattr(metric.inference, "_encode", None)
    with pytest.raises(PronmetricError, match=message):
        metric.predict(RECORDS, docs=docs)
    with pytest.raises(PronmetricError, match=message):
        metric.compare(RECORDS, RECORDS, docs=docs)


def test_documents_of_numpy_and_tuples_are_documents(metric: PronounMetric) -> None:
    for docs in (np.array([0, 0, 1, 1, 2, 2]), ("a", "a", "b", "b", "c", None), iter("aabbcc")):
        assert metric.predict(RECORDS, docs=docs).system.segments == 6  # type: ignore[arg-type]


@pytest.mark.parametrize("tie", [-1, -0.1, float("nan"), float("inf"), "0.1", True, None, [0.1]])
def test_tie_thresholds_that_are_none(metric: PronounMetric, monkeypatch: pytest.MonkeyPatch, tie: Any) -> None:
    monkeypatch.setattr(metric.inference, "_encode", None)
    with pytest.raises(PronmetricError, match='expected "auto" or a finite number from 0 as tie, got '):
        metric.compare(RECORDS, RECORDS, tie=tie)


@pytest.mark.parametrize("seed", [-1, 0.5, "1", None])
def test_seeds_that_are_none(metric: PronounMetric, monkeypatch: pytest.MonkeyPatch, seed: Any) -> None:
    monkeypatch.setattr(metric.inference, "_encode", None)
    with pytest.raises(PronmetricError, match="expected a whole number from 0 as seed, got "):
        metric.compare(RECORDS, RECORDS, seed=seed)
