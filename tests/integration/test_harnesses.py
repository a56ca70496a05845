"""The adapters of evaluation harnesses, with stand-ins for what they import of them.

The stand-ins have the signatures of lm-eval 0.4.13, inspect-ai 0.3.285 and lighteval 0.13.0.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

from pronmetric import PronounMetric

TEXTS = ["The bakery sold her ovens.", "She has been empty since then.", "Jana is looking for a dog.", "He ran away."]


@pytest.fixture
def folder(root: Path, tiny_checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRONMETRIC_MODEL", str(tiny_checkpoint()))
    return root / "examples" / "harnesses"


@pytest.fixture
def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "data" / "test.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def expected(rows: list[dict[str, Any]], tiny_checkpoint: Callable[..., Path]) -> float:
    records = [{"text": text, "context": row["context"]} for text, row in zip(TEXTS, rows, strict=True)]
    score = PronounMetric.from_pretrained(tiny_checkpoint()).predict(records).score
    assert score is not None
    return score


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"adapter_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stand_in(monkeypatch: pytest.MonkeyPatch, **modules: dict[str, Any]) -> None:
    """Put modules with these names in place; "__" stands for a dot."""
    for name, content in modules.items():
        module = ModuleType(name.replace("__", "."))
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, module.__name__, module)


def test_lm_evaluation_harness(folder: Path, rows: list[dict[str, Any]], expected: float) -> None:
    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))
    task = yaml.load((folder / "lm_eval" / "pronouns.yaml").read_text(encoding="utf-8"), Loader)
    adapter = load(folder / "lm_eval" / "utils.py")
    process, (listed,) = getattr(adapter, task["process_results"].removeprefix("utils.")), task["metric_list"]
    found = [process(row, [f" {text}\n"]) for row, text in zip(rows, TEXTS, strict=True)]
    assert all(one.keys() == {listed["metric"]} for one in found)
    aggregate = getattr(adapter, listed["aggregation"].removeprefix("utils."))
    assert aggregate([one[listed["metric"]] for one in found]) == pytest.approx(expected, abs=1e-4)
    assert math.isnan(aggregate([{"text": "Gone.", "context": []}]))
    assert (folder.parents[1] / task["dataset_kwargs"]["data_files"]["test"]).is_file()


def test_inspect(folder: Path, rows: list[dict[str, Any]], expected: float, monkeypatch: pytest.MonkeyPatch) -> None:
    class Score(SimpleNamespace):
        @classmethod
        def unscored(cls, **given: Any) -> Score:
            return cls(value=math.nan, **given)

    def same(function: Any) -> Any:
        return function

    stand_in(
        monkeypatch,
        inspect_ai={"Task": SimpleNamespace, "task": same},
        inspect_ai__dataset={"FieldSpec": SimpleNamespace, "json_dataset": lambda file, fields: (file, fields)},
        inspect_ai__scorer={"Score": Score, "metric": same, "scorer": lambda metrics: same},
        inspect_ai__solver={"generate": lambda: "generate", "prompt_template": lambda template: template},
    )
    adapter = load(folder / "inspect_pronouns.py")
    task = adapter.translate()
    file, fields = task.dataset
    assert Path(file).is_file() and fields.input in rows[0] and fields.target in rows[0]

    def score(text: str, row: dict[str, Any]) -> SimpleNamespace:
        state = SimpleNamespace(
            output=SimpleNamespace(completion=text), metadata={name: row[name] for name in fields.metadata}
        )
        return SimpleNamespace(score=asyncio.run(task.scorer(state, row["reference"])))

    scored = [score(text, row) for text, row in zip(TEXTS, rows, strict=True)]
    assert [math.isnan(one.score.value) for one in scored] == [False, False, True, False]
    assert adapter.pronoun_score()(scored) == pytest.approx(expected, abs=1e-4)
    assert math.isnan(adapter.pronoun_score()([scored[2]]))


def test_lighteval(folder: Path, rows: list[dict[str, Any]], expected: float, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(
        monkeypatch,
        lighteval={},
        lighteval__metrics={},
        lighteval__metrics__metrics_sample={"SampleLevelComputation": type("SampleLevelComputation", (), {})},
        lighteval__metrics__utils={},
        lighteval__metrics__utils__metric_utils={"CorpusLevelMetric": SimpleNamespace},
        lighteval__tasks={},
        lighteval__tasks__lighteval_task={"LightevalTaskConfig": SimpleNamespace},
        lighteval__tasks__requests={"Doc": SimpleNamespace, "SamplingMethod": SimpleNamespace(GENERATIVE="g")},
    )
    (task,) = load(folder / "lighteval_pronouns.py").TASKS_TABLE
    (metric,) = task.metrics
    docs = [task.prompt_function(row, task.name) for row in rows]
    responses = [SimpleNamespace(final_text=[text]) for text in TEXTS]
    items = metric.sample_level_fn.compute(responses=responses, docs=docs)
    assert metric.batched_compute and len(items) == len(rows) and items[2] == []
    assert metric.corpus_level_fn(items) == pytest.approx(expected, abs=1e-4)
    assert "mean" not in metric.corpus_level_fn.__name__  # lighteval would take the items' mean for its error
    assert math.isnan(metric.corpus_level_fn([[]])) and (Path(task.hf_repo) / "test.jsonl").is_file()
