"""Figures, page and plot of `benchmarks.cost.performance`; the other metrics, in a small size."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import corpora
from benchmarks.cost import performance, performance_page

ROW: dict[str, Any] = {
    "name": "pronmetric",
    "kind": "ours",
    "precision": "32",
    "parameters": 23_000_000,
    "lines": 40,
    "pieces_a_line": 50.0,
    "pieces_per_cpu_second": 5000.0,
    "lines_per_cpu_second": 100.0,
    "preparing_seconds_a_line": 0.0005,
    "flops_a_line": 1.2e9,
    "memory_bytes": 500_000_000,
}
BF16 = ROW | {"precision": "bf16", "lines_per_cpu_second": 200.0}
ELMO = ROW | {"name": "ELMo", "preparing_seconds_a_line": None, "flops_a_line": None, "memory_bytes": None}
LARGE = ROW | {"name": "large", "preparing_seconds_a_line": None, "flops_a_line": 1e12}
ORIGIN: dict[str, Any] = {
    "date": "2026-01-01",
    "command": "python -m benchmarks.cost.performance",
    "model": "small",
    "weights": "01234567",
    "outputs": "some",
    "lines": 40,
    "machine": "a CPU, 2 CPUs",
    "load_average": [0.0, 1.0],
}
CONTENT: dict[str, Any] = {
    "origins": dict.fromkeys(("start_up", "reports", "metrics"), ORIGIN),
    "segments": 40,
    "speed": [ROW, BF16, ELMO, LARGE],
    "help": {"seconds": 0.2, "cpu_seconds": 0.125},
    "first_score": {"seconds": 2.0, "cpu_seconds": 1.9},
    "compare": {"seconds": 10.0, "cpu_seconds": 10.0},
    "report": {"seconds": 17.5, "cpu_seconds": 17.5},
}


def test_costs_of_a_million_lines() -> None:
    assert performance_page.cpu_cost(ROW) == pytest.approx(10_000 / 3600 * 0.05)
    assert performance_page.gpu_cost(ROW) == pytest.approx(500 / 8 / 3600 * 2)  # the cores, not the card's 10 seconds
    assert performance_page.gpu_cost(LARGE) == pytest.approx(1e18 / (312e12 * 0.4) / 3600 * 2)
    assert performance_page.gpu_cost(ELMO) is None


def test_tables_page_and_plot(tmp_path: Path) -> None:
    tables = performance_page.tables(CONTENT)
    assert "| pronmetric, bf16 | 23 M | 200.0 | 5,000 | 50 | 0.50 |" in tables
    assert "| `pronmetric report` of its result | 17.5 | 17.5 | 1.75 |" in tables
    assert "| `pronmetric score`, one line | 3 s | 1.90 | 2.00 |" in tables
    assert "ELMo" not in performance_page.tables({"help": CONTENT["help"], "first_score": CONTENT["first_score"]})
    assert "| ELMo, fp32 | 0.14 | - |" in tables
    page = performance_page.page(CONTENT)
    assert tables.split("\n\n")[0] in page
    assert "2,000 lines a second (5 % of the time of\nscoring in fp32, 10 % in bf16)" in page
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.svg"):
        performance_page.plot(CONTENT, tmp_path / name)
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "large, fp32" in drawn and drawn == (tmp_path / "b.svg").read_text(encoding="utf-8")


def test_seconds_of_checkpoints_stand_beside_those_of_comet() -> None:
    def row(name: str, precision: str, threads: int, seconds: float) -> dict[str, Any]:
        weights = {"base": "0000000a", "small": "0000000b"}[name]
        return {"name": name, "weights": weights, "precision": precision, "threads": threads, "seconds": seconds}

    rows = [row("base", "bf16", 1, 14.25), row("base", "bf16", 2, 8.0), row("small", "32", 1, 5.5)]
    comet = LARGE | {"kind": "comet", "lines_per_cpu_second": 2.0}
    later = ORIGIN | {"date": "2026-02-03", "load_average": [0.25, 1.75]}
    measured = {"sizes": {"lines": 1000, "rows": rows}, "origins": {"sizes": later}}
    content = performance_page.merge(CONTENT | {"speed": [ROW, BF16, ELMO, comet]}, measured)
    table = performance_page.tables(content)
    assert "| checkpoint or metric | s, 1 thread | s, 2 threads |" in table
    assert "| base, bf16 | 14.2 | 8.0 |" in table and "| small, fp32 | 5.5 | - |" in table
    assert "| large, fp32 | 500.0 | - |" in table
    page = performance_page.page(content)
    assert "## Checkpoints" in page and "base `0000000a`, small `0000000b`" in page
    assert page.count("Measured on 2026-01-01 with the weights `01234567` (`small`); a CPU") == 3  # the other parts'
    assert page.count("Measured on 2026-02-03; a CPU, 2 CPUs; load average at start and end 0.2 and 1.8.") == 1
    assert "## Checkpoints" not in performance_page.page(CONTENT)


def test_each_checkpoint_is_timed_on_one_and_two_threads(
    monkeypatch: pytest.MonkeyPatch, sample: Path, tmp_path: Path
) -> None:
    lines = (sample / "ref.txt").read_text(encoding="utf-8").splitlines()
    outputs = corpora.Outputs("sample", lines, ["d"] * len(lines), {"a": lines, "b": lines})
    calls = []

    def timed(command: list[str], folder: Path, *, threads: int = 1) -> dict[str, float]:
        assert (folder / command[2]).is_file() and (folder / "ref.txt").is_file()
        calls.append((command[command.index("--precision") + 1] if "--precision" in command else None, threads))
        return {"seconds": float(len(calls)), "cpu_seconds": 1.0}

    monkeypatch.setattr(performance, "timed", timed)
    found = performance.sizes(outputs, tmp_path, models=performance.shipped()[:1], runs=2)["sizes"]
    both = [("32", 1), ("32", 2), ("bf16", 1), ("bf16", 2)]
    assert calls == [(None, 1), *(each for each in both for _ in range(2))]
    assert [(row["precision"], row["threads"], row["seconds"]) for row in found["rows"]] == [
        (*each, 2.0 * k) for k, each in enumerate(both, start=1)
    ]
    assert found["lines"] == len(lines)


def test_the_page_is_that_of_its_figures() -> None:
    content = json.loads(performance_page.JSON.read_text(encoding="utf-8"))
    assert performance_page.PAGE.read_text(encoding="utf-8") == performance_page.page(content)


def test_time_of_the_model_is_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(performance.time, "process_time", lambda: float(next(clock)))
    metric = SimpleNamespace(config={"encoder": {}}, inference=SimpleNamespace(forward=iter))
    metric.predict = lambda records: list(metric.inference.forward(records))
    counting = performance._Metric(metric)
    counting.score([{}, {}, {}])
    assert counting.forward_seconds == 3.0  # a second for each batch


def test_a_comet_scores_each_triple_by_itself() -> None:
    import torch

    from benchmarks.cost.peer_models import CometSized
    from pronmetric.checkpoint import files, locate

    collator = files.load(locate.locate("small").folder, trainable=False).collator
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    torch.manual_seed(0)
    comet = CometSized(collator, {**sizes, "vocab_size": 30_522, "max_position_embeddings": 40}).eval()
    triples = [("Das ist gut.", "This is good.", "That is good."), ("Ja", "Yes", "Yes, I think that it is so.")]
    one, two = comet.score(triples)
    assert one != two
    assert comet.score(triples[::-1]) == pytest.approx([two, one], abs=1e-6)
    assert comet.score(triples[:1]) == pytest.approx([one], abs=1e-6)
    assert len(comet.encode(triples)) == 6


def test_the_metric_on_elmo_scores_pronouns() -> None:
    from benchmarks.cost.peer_models import PUBLISHED, elmo_metric

    shape = replace(PUBLISHED, cell=8, projection=4, filters=((1, 4), (2, 4)))
    (segment,) = elmo_metric(shape).predict([{"text": "They left when she saw it."}]).segments
    assert segment.score is not None and [p.text for p in segment.pronouns] == ["They", "she", "it"]


def test_the_memory_of_this_process_is_known() -> None:
    found = performance.peak_memory()
    assert found is None or found > 1_000_000
