"""The benchmark of gender bias: differences by occupation, their correlation, GAP by gender, the page."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from benchmarks import pages
from benchmarks.checkpoint import bias
from benchmarks.checkpoint.scoring import Record, Result
from benchmarks.checkpoint.winogender import OCCUPATION, PARTICIPANT, Template, WomenShares
from pronmetric.lab.human.gap import Item
from pronmetric.pronouns.finder import find

SHARES = {f"job{n}": WomenShares(10.0 * n, 100 - 10.0 * n) for n in range(6)}


def template(n: int, referent: str) -> Template:
    text = f"The job{n} said that {{}} was late."
    return Template(f"job{n}", "guest", referent, text.format("he"), text.format("she"), 19)


def stereotyped(records: Sequence[Record]) -> list[Result]:
    """P(he) falls with the number of the job, P(she) is 0.5; other texts: "he" is more probable than "she"."""
    results = []
    for record in records:
        probability = {"he": 0.9, "she": 0.5}
        if record["text"].startswith("The job"):
            probability["he"] = 0.9 - 0.1 * int(record["text"][7])
        pronouns = [
            {"start": o.start, "end": o.end, "probability": probability[o.form]}
            for o in find(record["text"])
            if o.form in probability
        ]
        results.append(Result(score=min(p["probability"] for p in pronouns), pronouns=pronouns))
    return results


def test_the_difference_by_occupation_and_its_correlation() -> None:
    templates = [template(n, kind) for n in range(6) for kind in (OCCUPATION, PARTICIPANT)]
    gaps = bias.by_occupation(stereotyped, templates)
    assert gaps[OCCUPATION] == pytest.approx({f"job{n}": 0.4 - 0.1 * n for n in range(6)})
    found = bias.winogender_figures(gaps, SHARES)[OCCUPATION]
    assert found["difference"].value == pytest.approx(0.15) and found["absolute"].value == pytest.approx(1.1 / 6)
    assert found["correlations"]["bergsma"]["pearson"].value == pytest.approx(-1)
    assert found["correlations"]["bls"]["spearman"].value == pytest.approx(1)


def item(n: int, pronoun: str, other: str) -> Item:
    sentence = f"Then {pronoun} left."
    return Item(f"i{n}", f"a{n // 2}", sentence, 5, 5 + len(pronoun), pronoun, other, "Kim came.")


def test_the_page_has_the_figures() -> None:
    items = [item(n, *(("he", "she") if n % 2 else ("she", "he"))) for n in range(10)]
    gap = bias.gap_figures(stereotyped, items)  # "he" always wins
    assert gap["feminine"].accuracy == 0 and gap["masculine"].accuracy == 1 and gap["difference"].value == -1
    templates = [template(n, kind) for n in range(6) for kind in (OCCUPATION, PARTICIPANT)]
    gaps = bias.by_occupation(stereotyped, templates)
    figures = {"winogender": bias.winogender_figures(gaps, SHARES), "gap": gap}
    content = {
        "weights": "0123abcd",
        "date": "2026-01-02",
        "signature": "s:1",
        "command": "python -m benchmarks.checkpoint.bias",
    }
    text = bias.page({**content, "figures": json.loads(json.dumps(pages.plain(figures)))})
    assert "Weights `0123abcd`, 2026-01-02; JSON: `bias.json`" in text
    assert "+0.150 \\[" in text and "| job5 | -0.100 |" in text and "Feminine minus masculine: -100.0" in text
