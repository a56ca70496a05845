"""The paper's suite with sources: entries, contexts, counts by source language, JSON lines and SQLite."""

from __future__ import annotations

import argparse
import json
import sqlite3
from pathlib import Path

import pytest

from data_prep import source_suite
from data_prep.filters import agreement_filter
from data_prep.wmt import discovery
from pronmetric.cli import suite_build
from pronmetric.pronouns.languages import ENGLISH

SOURCE = ["Das ist Ada.", "Sie hat einen Hund.", "Er bellt immer sehr laut.", "Ada mag ihn trotzdem gern."]
REFERENCE = ["This is Ada.", "She has a dog.", "It always barks very loudly.", "Ada likes it all the same."]
OUTPUT = ["This is Ada.", "She has a dog.", "He always barks very loudly.", "Ada likes him all the same."]


@pytest.fixture
def wmt(tmp_path: Path) -> Path:
    """A test set with a source and one, of the same errors, without."""
    folder = tmp_path / "wmt"
    folder.mkdir()
    for name, lines in (
        ("demo2031.de-en.src.de", SOURCE),
        ("demo2031.de-en.ref.A.en", REFERENCE),
        ("demo2031.de-en.hyp.S.en", OUTPUT),
        ("demo2031.de-en.hyp.T.en", OUTPUT),
        ("other2031.cs-en.ref.A.en", REFERENCE),
        ("other2031.cs-en.hyp.S.en", OUTPUT),
    ):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def build(wmt: Path, missing: dict[str, int]) -> list[source_suite.Entry]:
    testsets = discovery.discover(wmt, exclude=()).testsets
    keep = agreement_filter("grammar", min_agreement=0.8)
    return list(source_suite.build(testsets, ENGLISH, keep=keep, context_size=2, seed=1, without_source=missing))


def test_entries_have_source_and_reference_contexts_once(wmt: Path) -> None:
    missing: dict[str, int] = {}
    found = build(wmt, missing)
    assert [(entry.right, entry.wrong, entry.system) for entry in found] == [("it", "he", "S"), ("it", "him", "S")]
    first = found[0]
    assert first.source == SOURCE[2] and first.source_context == tuple(SOURCE[:2])
    assert first.reference_context == tuple(REFERENCE[:2]) and first.output == OUTPUT[2]
    assert first.noisy_reference == "He always barks very loudly."
    assert first.reference[first.start : first.end] == "It"
    assert missing == {"cs": 2}


def test_counts_are_those_of_the_papers_table(wmt: Path) -> None:
    missing: dict[str, int] = {}
    found = build(wmt, missing)
    figures = source_suite.counts([*found, found[0]], missing)
    assert figures[0] == source_suite.Count("cs", 0, 0, 0, 0, 2)
    assert figures[1] == source_suite.Count("de", 1, 2, 3, 2, 0)  # two distinct sources of three entries
    assert figures[2] == source_suite.Count("all", 1, 2, 3, 2, 2)


def test_the_command_writes_both_files(wmt: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = argparse.ArgumentParser()
    suite_build.add(made.add_subparsers())
    jsonl, database = tmp_path / "s.jsonl", tmp_path / "s.db"
    flags = ["--wmt-dir", str(wmt), "--to_jsonl", str(jsonl), "--to_sqlite", str(database), "--quiet"]
    args = made.parse_args(["build", "wmt", *flags])
    assert args.run(args) == 0
    lines = [json.loads(line) for line in jsonl.read_text(encoding="utf-8").splitlines()]
    assert lines[0]["source_context"] == SOURCE[:2]
    connection = sqlite3.connect(database)
    rows = connection.execute('SELECT "right", wrong, source_context FROM entries').fetchall()
    totals = connection.execute("SELECT contexts FROM counts WHERE language = 'all'").fetchone()
    connection.close()
    assert rows[0] == ("it", "he", json.dumps(SOURCE[:2])) and totals == (2,)
    assert "source contexts" in capsys.readouterr().out
