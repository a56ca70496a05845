"""The page of the board's time and size, and the made-up test sets of its screenshots."""

from __future__ import annotations

from pathlib import Path

from benchmarks.cost import board
from data_prep.wmt import discovery

CONTENT = {
    "date": "2026-01-01",
    "command": "python -m benchmarks.cost.board",
    "weights": "12345678",
    "machine": "none",
    "all": {"testsets": 2, "systems": 6, "texts": 60, "pairs": 6, "bytes": 300},
    "sets": {
        "a.de-en": {
            **{"systems": 3, "texts": 30, "pronouns": 40, "cpu_seconds": 60.0, "seconds": 61.0},
            "bytes": 100,
        }
    },
    "site": {"cpu_seconds": 30.0, "seconds": 40.0, "files": 8, "bytes": 2_000_000, "largest": 100_000},
}


def test_the_page_extrapolates_what_is_not_measured() -> None:
    text = board.page(CONTENT)
    # scores 60 s for 100 of 300 bytes; the site 30 s for 3 of 6 pairs and 2 MB for 3 of 6 systems
    assert (
        "all 60 texts of 6 systems take 240 CPU seconds: 2 minutes on 2 free cores; and the site has about 4 MB" in text
    )
    assert "| a.de-en | 3 | 30 | 40 | 60.0 | 61.0 |" in text


def test_the_page_of_all_test_sets() -> None:
    whole = {"testsets": 1, "systems": 3, "texts": 30, "pairs": 3, "bytes": 100}
    text = board.page({**CONTENT, "all": whole})
    assert "These are all 30 texts of 3 systems: 1 minutes on 2 free cores." in text and "not measured" not in text


def test_the_made_up_test_sets_are_read(tmp_path: Path) -> None:
    board.made_up(tmp_path)
    found = discovery.discover(tmp_path, exclude=())
    assert [(testset.lp, testset.year, len(testset.having("hyp"))) for testset in found.testsets] == [
        ("de-en", 2021, 6),
        ("de-en", 2022, 5),
        ("fr-en", 2022, 4),
    ]
    assert (tmp_path / "kites2021.de-en.sys.score").read_text().splitlines()[0] == "Alder\t1.0"
