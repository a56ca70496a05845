"""Laws of the server: it gives the numbers of the verbs, whatever else is asked at the same time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric
from pronmetric.serve.interface import CompareRequest, ScoreRequest, SuggestRequest
from pronmetric.serve.service import Service
from pronmetric.text.context import GIVEN, in_context

ROUNDED = 2e-5


def close(found: Any, expected: Any) -> None:
    """Equal but for the last digit of numbers."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            close(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            close(one, other)
    else:
        assert found == (pytest.approx(expected, abs=ROUNDED) if isinstance(expected, float) else expected)


def records(path: Path) -> list[dict[str, Any]]:
    made = in_context(path.read_text(encoding="utf-8").splitlines())
    return [{"id": number, **record} for number, record in enumerate(made)]


@pytest.fixture(scope="module")
def asked(sample: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return records(sample / "system-a.txt"), records(sample / "system-b.txt")


def test_the_server_gives_the_numbers_of_the_verbs_to_each_of_many(
    tiny_checkpoint: Callable[..., Path],
    asked: tuple[list[dict[str, Any]], list[dict[str, Any]]],
    sample: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    a, b = asked
    model = tiny_checkpoint(pair_head=True)
    fixed = ["--model", str(model), "--precision", "32", "--gpus", "0", "--quiet"]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in a), encoding="utf-8")

    def printed(verb: str, *flags: str) -> list[dict[str, Any]]:
        assert main([verb, "--jsonl", str(tmp_path / "a.jsonl"), *flags, *fixed]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    scores, forms = printed("score"), printed("suggest", "--threshold", "1")
    files = [str(sample / f"system-{x}.txt") for x in "ab"]
    assert main(["compare", "-t", *files, "--to_json", str(tmp_path / "both.json"), *fixed]) == 0
    compared = json.loads((tmp_path / "both.json").read_text(encoding="utf-8"))

    service = Service(PronounMetric.from_pretrained(model, precision="32", gpus=0), context=GIVEN)

    async def play() -> list[dict[str, Any]]:
        halves = (a[:5], a[5:])
        each = [service.score(ScoreRequest(records=half)) for half in halves]
        suggested = [service.suggest(SuggestRequest(records=half, threshold=1.0)) for half in halves]
        both = service.compare(CompareRequest(a=a, b=b))
        return list(await asyncio.gather(*each, *suggested, both))

    *found, both = asyncio.run(play())
    close(found[0]["records"] + found[1]["records"], scores)
    close(found[2]["records"] + found[3]["records"], forms)
    close([{**segment, "id": None} for segment in both["segments"]], [{**s, "id": None} for s in compared["segments"]])
    for key in ("difference", "interval", "wins", "ties", "losses", "unit", "units"):
        close(both["pairs"][0][key], compared["pairs"][0][key])
    assert (both["by"], both["unit"], both["tie"]) == (compared["by"], compared["unit"], compared["tie"])
