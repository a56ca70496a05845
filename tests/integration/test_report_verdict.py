"""The report of a comparison shows its verdicts: badges and filters agree with the table of pairs."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.eval.decision import DECISIONS
from pronmetric.results import write
from pronmetric.results.write import FORMAT, Writer
from pronmetric.scoring.comparison import AllPairs
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.corpus import Row
from tests.tools.browser import Browser

SEGMENTS = 60


def compare(folder: Path, by: str, systems: int) -> Path:
    """What `compare` writes of made-up scores: scores, errors and preferences disagree, and some texts have none."""
    rng = random.Random(7)
    pairs = AllPairs([f"system-{k}" for k in range(systems)], (), tie=0.1, by=by)
    path = folder / "comparison.json"

    def scored(text: str) -> SegmentScore:
        if not text.startswith("He"):
            return SegmentScore(None, ())
        found = [rng.random() for _ in range(1 + (text.count(" it") > 0))]
        places = [(0, 2), (text.find(" it") + 1, text.find(" it") + 3)]
        pronouns = tuple(
            PronounScore(text[start:end], start, end, p, p) for p, (start, end) in zip(found, places, strict=False)
        )
        return SegmentScore(sum(found) / len(found), pronouns, rng.choice([0.0, 0.05, rng.gauss(0, 2)]), words=3)

    with Writer(json_path=str(path), tsv_path=None, columns=()) as writer:
        for number in range(SEGMENTS):
            texts = tuple(rng.choice(["He left.", "He saw it.", "Gone."]) for _ in range(systems))
            each = [scored(text) for text in texts]
            decided = list(pairs.add({(a, b): (each[a],) for a, b in permutations(range(systems), 2)}))
            write.add_compared(writer, number, Row(texts, None, None, ()), decided, by=by)
        entries = [write.pair_entry(result, by=by) for result in pairs.results(seed=1, resamples=20)]
        decision = write.decision_entry(by, 0.1)
        writer.finish(format=FORMAT, pairs=entries, **decision, counts={}, signature="model:x|context:none")
    return path


def page_of(result: Path) -> Path:
    page = result.with_suffix(".html")
    assert main(["report", str(result), "-o", str(page), "--no-model", "--quiet"]) == 0
    return page


def data_of(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8")
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


@pytest.mark.parametrize("by", DECISIONS)
def test_the_verdicts_of_the_page_are_those_of_the_comparison(tmp_path: Path, by: str) -> None:
    result = compare(tmp_path, by, systems=2)
    content = json.loads(result.read_text(encoding="utf-8"))
    (pair,) = content["pairs"]
    data = data_of(page_of(result))
    assert data["by"] == by
    verdicts = {"a": [0], "b": [1], "tie": [], None: None}
    shown = {number: best for number, *_, best, _ in data["segments"]}
    expected = {s["segment"]: verdicts[s["pairs"][0]["better"]] for s in content["segments"]}
    assert all(expected[number] == best for number, best in shown.items())
    assert all(expected[number] in ([], None) for number in expected.keys() - shown.keys())  # it lists all that differ
    count = Counter(map(str, shown.values()))
    assert (count["[0]"], count["[1]"]) == (pair["wins"], pair["losses"]) and pair["wins"] and pair["losses"]
    assert count["[]"] <= pair["ties"]
    gaps = [segment[-1] for segment in data["segments"]]
    assert gaps == sorted(gaps, reverse=True)


@pytest.mark.browser
@pytest.mark.usefixtures("no_faults")
def test_badges_and_filters_count_as_the_table_of_pairs(browser: Browser, tmp_path: Path) -> None:
    browser.open(page_of(compare(tmp_path, "preference", systems=2)))
    browser.run("document.getElementById('systems').open = true")
    cells = browser.run("[...document.querySelectorAll('#systems table')].at(-1).querySelector('tbody tr').innerText")
    wins, _, losses = map(int, cells.split()[-3:])
    for value, name, number in (("0", "system-0", wins), ("1", "system-1", losses)):
        browser.run(f"(() => {{ const s = document.getElementById('better'); s.value = '{value}'; s.onchange(); }})()")
        assert browser.run("document.getElementById('found').textContent").startswith(f"{number} of ")
        badges = browser.run("[...document.querySelectorAll('.badge')].map((b) => b.textContent)")
        assert badges and all(badge.startswith(f"better by preference: {name} (") for badge in badges)
    assert browser.run("document.getElementById('better-label').textContent") == "Better system by preference"
    heading = "[...document.querySelectorAll('#systems table')].at(-1).querySelector('thead').innerText"
    assert "A - B (mean preference)" in browser.run(heading) and "A - B (score, points)" in browser.run(heading)


@pytest.mark.browser
@pytest.mark.usefixtures("no_faults")
def test_doubtful_pronouns_are_marked_also_without_colour(browser: Browser, tmp_path: Path) -> None:
    browser.open(page_of(compare(tmp_path, "score", systems=2)))
    found = browser.run(
        "[...document.querySelectorAll('button.p')].map((p) => [Number(p.querySelector('small').textContent), "
        "getComputedStyle(p).borderTopStyle, p.title.includes('doubtful')])"
    )
    assert {low for _, _, low in found} == {True, False}
    assert all((style == "dashed") == low == (score < 0.7) for score, style, low in found if score != 0.7)


@pytest.mark.browser
@pytest.mark.usefixtures("no_faults")
def test_a_page_of_many_systems_folds_its_pairs(browser: Browser, tmp_path: Path) -> None:
    browser.open(page_of(compare(tmp_path, "preference", systems=7)))
    assert browser.run("document.querySelector('#systems details summary').textContent") == "21 pairs"
    assert browser.run("document.querySelectorAll('article').length") == 20  # the others come as one scrolls
    assert browser.run("document.querySelectorAll('article')[0].querySelectorAll('.output').length") == 7
