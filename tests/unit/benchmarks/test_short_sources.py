"""The short sources: the table, and what is counted of a metric's scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import pages
from benchmarks.checkpoint.short_sources import Item, Judged, figures, page, read, wrong
from pronmetric.errors import InputError
from pronmetric.pronouns.finder import find

EIGHT = {"de", "fr", "es", "it", "pt", "cs", "ru", "zh"}


def test_the_table_has_eight_languages_and_pronouns_where_it_says() -> None:
    items = read()
    assert {item.language for item in items} == EIGHT
    assert all(sum(item.language == code for item in items) >= 8 for code in EIGHT)
    assert len({(item.language, item.source) for item in items}) == len(items)
    for item in items:
        assert item.right != item.wrong
        for text in (item.right, item.wrong):
            assert item.start in [found.start for found in find(text)], text


def test_a_text_without_two_pronouns_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "t.tsv"
    table.write_text("language\tsource\ttext\nde\tSie ging.\t{She|He} left.\nde\tEr kam.\tHe came.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.tsv:3: expected one \{right\|wrong\} in the text, got 'He came\.'"):
        read(table)


def test_what_is_counted() -> None:
    one, other = Item("de", "Sie ging.", "She left.", "He left.", 0), Item("ru", "Он ушёл.", "He left.", "She left.", 0)
    judged = [
        Judged(one, (0.8, 0.9), (0.9, 0.2), (0.8, 0.9), 1.5),
        Judged(other, (0.9, 0.8), (0.6, 0.7), (0.9, 0.6), -1.0),
        Judged(other._replace(language="de"), (0.9, 0.8), (0.85, 0.2), (0.9, 0.85), -0.5),
    ]
    found = figures(judged)
    assert list(found) == ["all", "de", "ru"] and [own["items"] for own in found.values()] == [3, 2, 1]
    shares = {name: found["all"][name].value for name in ("without", "with", "against", "contradicted", "falls")}
    assert shares == pytest.approx(
        {"without": 2 / 3, "with": 2 / 3, "against": 2 / 3, "contradicted": 1 / 3, "falls": 1 / 3}
    )
    (row,) = wrong(judged)
    assert (row["language"], row["faults"]) == ("ru", ["wrong", "contradicted", "falls"])
    content = {"weights": "12345678", "date": "d", "signature": "s", "command": "c", "figures": found, "wrong": [row]}
    told = page(pages.plain(content))
    assert (
        "3 short sentences of our own in 2 languages" in told
        and "| ru | 1 | 100.0 | 0.0 | 100.0 | 100.0 | 100.0 |" in told
    )
    assert (
        "| ru | Он ушёл. | He left. | She left. | 0.90 / 0.80 | 0.60 / 0.70 | -1.00 | wrong, contradicted, falls |"
        in told
    )
