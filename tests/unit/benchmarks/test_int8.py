"""Figures of `benchmarks.cost.int8`: the bar, the items, the quantised linear map, the section of the page."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from benchmarks.cost import int8, performance_page
from pronmetric.eval.accuracy import Accuracy


def figures(name: str, precision: str, seconds: float, scores: list[float | None], right: float) -> dict[str, Any]:
    accuracy = Accuracy(right, right, right, pairs=800, right=round(800 * right), equal=0, null=0)
    speed = {"cpu_seconds": seconds, "pieces_per_cpu_second": 1000 / seconds}
    return {"engine": name, "precision": precision, **speed, "accuracy": {"study": accuracy}, "scores": scores}


def test_the_bar_needs_speed_small_differences_and_accuracy() -> None:
    exact = figures("own", "32", 3.0, [0.5, None, 0.75], 0.8)
    found = int8.compare(
        [
            exact,
            figures("own", "bf16", 1.5, [0.5, None, 0.75], 0.8),
            figures("good", "int8", 1.0, [0.5, None, 0.765], 0.79875),
            figures("slow", "int8", 1.25, [0.5, None, 0.75], 0.8),
            figures("rough", "int8", 0.5, [0.5, None, 0.8], 0.8),
            figures("wrong", "int8", 0.5, [0.5, None, 0.75], 0.79),
        ]
    )
    assert [each["engine"] for each in found if each["meets_the_bar"]] == ["good"]
    assert found[2]["times_bf16"] == 1.5 and found[2]["segments"] == 2
    assert found[2]["mean_difference"] == pytest.approx(0.0075) and found[2]["largest_difference"] == pytest.approx(
        0.015
    )


def test_items_are_spread_over_all() -> None:
    assert int8._spread(range(10), 4) == [0, 2, 5, 7]
    assert int8._spread([1, 2], 4) == [1, 2]


@pytest.mark.skipif(not hasattr(torch.ops.onednn, "qlinear_prepack"), reason="this PyTorch has no oneDNN operators")
def test_a_quantised_map_is_close_to_the_exact_one() -> None:
    drawn = torch.Generator().manual_seed(0)
    weight, bias = torch.randn(5, 64, generator=drawn), torch.randn(5, generator=drawn)
    x = torch.randn(2, 3, 64, generator=drawn)
    exact = torch.nn.functional.linear(x, weight, bias)
    for gelu in (False, True):
        expected = torch.nn.functional.gelu(exact) if gelu else exact
        found = int8.QuantizedLinear(weight, bias, dtype=torch.float32, gelu=gelu)(x)
        assert found.shape == (2, 3, 5)
        assert (found - expected).abs().max() < 0.3  # 64 products, each rounded to about 1 %
        assert (found - expected).abs().mean() < 0.08


def test_the_section_of_the_page() -> None:
    each = {"engine": "a runtime", "precision": "int8", "pieces_per_cpu_second": 9000.4, "times_bf16": 1.504}
    each |= {"mean_difference": 0.0031, "largest_difference": 0.05, "meets_the_bar": True}
    content: dict[str, Any] = {
        "command": "python -m benchmarks.cost.int8",
        "date": "2026-01-01",
        "lines": 600,
        "outputs": "some",
        "cpu": ["vnni"],
        "load_average": 1.0,
        "versions": {"torch": "2"},
        "bar": {"times_bf16": 1.5, "mean_difference": 0.01, "accuracy": 0.003},
        "left_out": ["another int8"],
        "quantisation_cpu_seconds": 9.2,
        "items": {"study": 600},
        "engines": [each | {"accuracy": {"study": {"accuracy": 0.8512}}}],
    }
    section = performance_page.int8_section(content)
    assert "| a runtime, int8 | 9,000 | 1.50 | 0.00310 | 0.0500 | 85.1 | yes |" in section
    assert "600 items of the study set: test data" in section and "left out: another int8" in section
    assert "(here 9 CPU seconds)" in section and "none meets" not in section
    slow = content | {"engines": [content["engines"][0] | {"meets_the_bar": False}]}
    assert "none meets the bar" in performance_page.int8_section(slow)
    assert "Accuracy" not in performance_page.int8_section(content | {"items": {}, "engines": [each]})
