"""The survey: splits, copies on another side, the aligner's sample, the references as plain English."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from data_prep.splits import DEVELOPMENT, TEST, TRAIN, SplitRule
from data_prep.survey import SegmentId, Survey, reference_documents, survey
from data_prep.wmt import discovery

RULE = SplitRule(development=("wmt23",), test=("wmt22:de-en",), development_share=0.5, block=2, seed=1)
FERRY = "The old ferry left the harbour at noon with nine people on board."


@pytest.fixture
def look(tmp_path: Path) -> Callable[..., Survey]:
    def run(testsets: dict[str, Sequence[tuple[str, str]]], lines: Sequence[str] = (), sample: int = 100) -> Survey:
        """Write each test set (year.lp) of (source, reference) lines as text files, with one system, and survey."""
        for name, rows in testsets.items():
            year, lp = name.split(".")
            folder = tmp_path / f"wmt{year}"
            folder.mkdir(exist_ok=True)
            for kind, texts in (
                (f"src.{lp[:2]}", [src for src, _ in rows]),
                ("ref.A.en", [ref for _, ref in rows]),
                ("hyp.North.en", [f"Output {i} of {name}." for i, _ in enumerate(rows)]),
            ):
                path = folder / f"newstest20{year}.{lp}.{kind}"
                path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        found = discovery.discover(tmp_path, exclude=()).testsets
        return survey(found, rule=RULE, context_size=1, sample_size=sample, development_lines=lines)

    return run


def rows(name: str, count: int = 4) -> list[tuple[str, str]]:
    return [(f"{name} Satz {i}", f"{name} says {i} things.") for i in range(count)]


def test_test_sets_are_assigned_by_the_rule(look: Callable[..., Survey]) -> None:
    found = look({"21.de-en": rows("Ada"), "22.de-en": rows("Ben"), "23.de-en": rows("Cleo")})
    assert not found.was_divided and not found.barred
    assert {place.testset: split for place, split in found.splits.items()} == {
        "newstest2021": TRAIN,
        "newstest2022": TEST,
        "newstest2023": DEVELOPMENT,
    }
    counts = found.counts["newstest2021.de-en"]
    assert (counts["segments"], counts["documents"], counts["references"], counts["systems"]) == (4, 0, 1, 1)


def test_copies_are_barred_with_those_that_have_them_as_context(look: Callable[..., Survey]) -> None:
    train = rows("Ada", 6)
    train[1] = (train[1][0], FERRY.lower())  # near a reference of test
    train[4] = ("Cleo Satz 0", train[4][1])  # a source of development
    development = rows("Cleo")
    development[3] = ("ein anderer", FERRY)
    found = look({"21.de-en": train, "22.de-en": [*rows("Ben"), ("Ben", FERRY)], "23.de-en": development})
    assert sorted(found.barred) == [
        *(SegmentId("newstest2021", "de-en", seg) for seg in (2, 3, 5, 6)),
        SegmentId("newstest2023", "de-en", 4),
    ]


def test_a_context_reaches_over_lines_that_are_no_sentences(look: Callable[..., Survey]) -> None:
    train = rows("Ada", 4)
    train[0] = (train[0][0], FERRY)  # a reference of test; the context of the third segment
    train[1] = ("<range>", "<range>")
    found = look({"21.de-en": train, "22.de-en": [("Ben", FERRY)], "23.de-en": rows("Cleo")})
    assert found.barred == {SegmentId("newstest2021", "de-en", seg) for seg in (1, 2, 3)}


def test_development_lines_are_held_out_but_not_the_shortest(look: Callable[..., Survey]) -> None:
    train = [*rows("Ada", 2), ("x", FERRY), ("y", "Yes, of course!")]
    found = look({"21.de-en": train, "23.de-en": rows("Cleo")}, [FERRY, "Yes, of course."])
    assert found.barred == {SegmentId("newstest2021", "de-en", 3), SegmentId("newstest2021", "de-en", 4)}
    assert [place.seg for place in found.barred if place.seg == 4], "its context is barred, not its text"


def test_a_year_alone_is_divided_and_contexts_do_not_cross(look: Callable[..., Survey]) -> None:
    found = look({"23.de-en": rows("Cleo", 8)})  # four blocks of two
    assert found.was_divided
    sides = [found.splits[SegmentId("newstest2023", "de-en", seg)] for seg in range(1, 9)]
    assert sides.count(TRAIN) == sides.count(DEVELOPMENT) == 4
    assert all(sides[i] == sides[i + 1] for i in range(0, 8, 2))
    crossing = {i + 1 for i in range(1, 8) if sides[i] != sides[i - 1]}
    assert {place.seg for place in found.barred} == crossing


def test_references_are_plain_english_in_runs(look: Callable[..., Survey]) -> None:
    train = rows("Ada", 5)
    train[2] = (train[2][0], FERRY)
    found = look({"21.de-en": train, "22.de-en": [("Ben", FERRY)], "23.de-en": rows("Cleo")})
    first, second = reference_documents(found, TRAIN)
    assert first.lines == ("Ada says 0 things.", "Ada says 1 things.")
    assert second.lines == ("Ada says 4 things.",), "its predecessor has a copy in its context"
    assert (first.source, first.doc) == ("wmt", "newstest2021.de-en/A/newstest2021.de-en#1/1")
    assert sum(len(doc.lines) for doc in reference_documents(found, DEVELOPMENT)) == 4


def test_the_sample_is_seeded_and_no_larger_than_asked(look: Callable[..., Survey]) -> None:
    testsets = {"21.de-en": rows("Ada", 50), "23.de-en": rows("Cleo", 50)}
    few, again, all_of_them = look(testsets, sample=10), look(testsets, sample=10), look(testsets)
    assert few.sample == again.sample and len(few.sample) == 10
    assert len(all_of_them.sample) == 100 and set(few.sample) <= set(all_of_them.sample)
