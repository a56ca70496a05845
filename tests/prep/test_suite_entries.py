"""The paper's suite with sources: entries, contexts, counts by source language, JSON lines and SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from data_prep.filters import Reader, agreement_filter
from data_prep.suites import wmt as suite_entries
from data_prep.wmt import discovery
from data_prep.wmt.testset import TestSet
from pronmetric.cli import suite_build
from pronmetric.errors import PronmetricError
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.schema import Document
from pronmetric.text.context import Text

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


def build(
    testsets: Iterable[TestSet],
    missing: dict[str, int],
    *,
    agreement: str = "grammar",
    reader: Reader | None = None,
) -> list[suite_entries.CandidateError]:
    filters = suite_entries.Filters(agreement_filter(agreement, min_agreement=0.8), reader)
    return list(suite_entries.build(testsets, ENGLISH, filters=filters, context_size=2, seed=1, without_source=missing))


def in_folder(wmt: Path) -> tuple[TestSet, ...]:
    return discovery.discover(wmt, exclude=()).testsets


def test_entries_have_source_and_reference_contexts_once(wmt: Path) -> None:
    missing: dict[str, int] = {}
    found = [one.entry for one in build(in_folder(wmt), missing)]
    assert [(entry.right, entry.wrong, entry.system) for entry in found] == [("it", "he", "S"), ("it", "him", "S")]
    first = found[0]
    assert first.source == SOURCE[2] and first.source_context == tuple(SOURCE[:2])
    assert first.reference_context == tuple(REFERENCE[:2]) and first.output == OUTPUT[2]
    assert first.noisy_reference == "He always barks very loudly."
    assert first.reference[first.start : first.end] == "It"
    assert missing == {"cs": 2}


def test_contexts_of_sources_are_sentences(wmt: Path) -> None:
    """As many as asked for; lines without a word take no place."""
    early, breaks = [f"Satz {k}." for k in "abcdefghijk"], ["<range>", "12"]
    for name, lines in (("src.de", SOURCE), ("ref.A.en", REFERENCE), ("hyp.S.en", OUTPUT), ("hyp.T.en", OUTPUT)):
        content = [*early, *lines[:2], *breaks, *lines[2:]]
        (wmt / f"demo2031.de-en.{name}").write_text("".join(f"{line}\n" for line in content), encoding="utf-8")
    filters = suite_entries.Filters(agreement_filter("grammar", min_agreement=0.8))
    testsets = [one for one in in_folder(wmt) if one.source == "de"]
    found = suite_entries.build(testsets, ENGLISH, filters=filters, context_size=12, seed=1, without_source={})
    entry = next(found).entry
    assert entry.source_context == (*early[1:], *SOURCE[:2])
    assert entry.reference_context == (*early[1:], *REFERENCE[:2])


def test_counts_are_those_of_the_papers_table(wmt: Path) -> None:
    missing: dict[str, int] = {}
    found = build(in_folder(wmt), missing)
    figures = suite_entries.counts([*found, found[0]], missing)
    assert figures[0] == suite_entries.Count("cs", "none", 0, 0, 0, 0, 2)
    assert figures[1] == suite_entries.Count("de", "none", 1, 2, 3, 2, 0)  # two distinct sources of three errors
    assert figures[2] == suite_entries.Count("all", "none", 1, 2, 3, 2, 2)


def test_counts_after_each_filter(wmt: Path) -> None:
    """A reader prefers feminine forms where the source has "Sie"."""

    def log_odds(text: Text, start: int) -> float:
        assert text.source is not None
        return 2.0 if ("Sie" in text.source.text) == text.text[start:].lower().startswith("she") else -2.0

    (wmt / "demo2031.de-en.ref.A.en").write_text("This is Ada.\nHe has that.\nIt barks.\nAda likes it.\n")
    (wmt / "demo2031.de-en.hyp.S.en").write_text("This is Ada.\nShe has this.\nIt barks.\nAda likes it.\n")
    found = build(in_folder(wmt), {}, reader=Reader("tiny", log_odds))
    assert {(one.entry.right, one.entry.wrong): one.dropped for one in found if one.entry.system == "S"} == {
        ("he", "she"): "source",  # "Sie hat einen Hund."
        ("that", "this"): "agreement",
    }
    figures = {(one.language, one.filter): one.entries for one in suite_entries.counts(found, {})}
    everything = figures["de", "none"]
    assert figures["de", "agreement"] == everything - 1 and figures["de", "source"] < everything - 1
    assert not any(one.dropped == "source" for one in build(in_folder(wmt), {}))


@pytest.mark.shared
@pytest.mark.parametrize("code", ["cs", "de", "ha", "is", "ja", "liv", "ru", "uk", "zh"])
def test_every_source_language_of_wmt_is_covered(code: str, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    testset = next(one for one in in_folder(shared / "data" / "wmt") if one.source == code)
    short = list(shortened(discovery.read(testset), most=200))
    monkeypatch.setattr(discovery, "read", lambda _: short)
    missing: dict[str, int] = {}
    found = build([testset], missing)
    assert not missing
    (figures, *_) = suite_entries.counts(found, missing)
    assert figures.language == code and figures.contexts > 0
    assert all(one.entry.source and one.entry.lp == f"{code}-en" for one in found)


def shortened(documents: Iterable[Document], *, most: int) -> Iterator[Document]:
    """The first documents, of about `most` segments, with three systems' outputs."""
    for document in documents:
        segments = [replace(one, hyps=dict(islice(one.hyps.items(), 3))) for one in document.segments[:most]]
        most -= len(segments)
        yield replace(document, segments=tuple(segments))
        if most <= 0:
            return


@pytest.mark.shared
def test_the_languages_of_that_test_are_all_that_are_there(shared: Path) -> None:
    assert {one.source for one in in_folder(shared / "data" / "wmt")} == set("cs de ha is ja liv ru uk zh".split())


def test_the_command_writes_both_files(wmt: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jsonl, database = tmp_path / "s.jsonl", tmp_path / "s.db"
    flags = ["--wmt-dir", str(wmt), "--to_jsonl", str(jsonl), "--to_sqlite", str(database), "--quiet"]
    flags += ["--to_json", str(tmp_path / "s.json"), "--blind-model", "none"]
    assert suite_build.GROUP.main(["wmt", *flags]) == 0
    lines = [json.loads(line) for line in jsonl.read_text(encoding="utf-8").splitlines()]
    assert lines[0]["source_context"] == SOURCE[:2]
    connection = sqlite3.connect(database)
    rows = connection.execute('SELECT "right", wrong, source_context FROM entries').fetchall()
    totals = connection.execute("SELECT contexts FROM counts WHERE language = 'all'").fetchone()
    connection.close()
    assert rows[0] == ("it", "he", json.dumps(SOURCE[:2])) and totals == (2,)
    assert "source contexts" in capsys.readouterr().out
    written = json.loads((tmp_path / "s.json").read_text())
    assert written["counts"][-1]["contexts"] == 2 and written["settings"]["source"] == "none"


def test_judges_without_context_are_in_the_manifest(
    wmt: Path, tmp_path: Path, tiny_checkpoint: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    jsonl = tmp_path / "s.jsonl"
    flags = ["wmt", "--wmt-dir", str(wmt), "--to_jsonl", str(jsonl), "--quiet", "--blind-model"]
    assert suite_build.GROUP.main([*flags, str(tiny_checkpoint())]) == 0
    manifest = json.loads((tmp_path / "s.manifest.json").read_text(encoding="utf-8"))
    frequency, model = manifest["without context"]
    # "he" and "him" are in no reference; "it" is in one beside that of each item.
    assert (frequency["judge"], frequency["accuracy"], frequency["chance"]) == ("frequency of the words", 1.0, 0.5)
    assert model["judge"].startswith(Path(tiny_checkpoint()).name) and (model["items"], model["chance"]) == (2, 0.5)
    assert manifest["counts"]["errors from de, filter none"] == 2
    assert sorted(Path(name).name for name in manifest["inputs"]) == sorted(path.name for path in wmt.iterdir())
    with pytest.raises(SystemExit):
        suite_build.GROUP.main(
            ["wmt", "--wmt-dir", str(wmt), "--to_json", str(tmp_path / "s.json"), *flags[-1:], "none"]
        )
    assert "--blind-model judges what --to_jsonl writes" in capsys.readouterr().err


def test_a_set_without_errors_has_no_manifest(wmt: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("S", "T"):
        (wmt / f"demo2031.de-en.hyp.{name}.en").write_text("".join(f"{line}\n" for line in REFERENCE), encoding="utf-8")
    jsonl = tmp_path / "s.jsonl"
    assert suite_build.GROUP.main(["wmt", "--wmt-dir", str(wmt), "--pairs", "de-en", "--to_jsonl", str(jsonl)]) == 0
    assert "no error is left" in capsys.readouterr().err
    assert jsonl.read_text() == "" and not (tmp_path / "s.manifest.json").exists()


def test_the_source_filter_is_for_english_targets(wmt: Path) -> None:
    flags = ["wmt", "--wmt-dir", str(wmt), "--target", "de", "--source", "drop", "--reader", "base"]
    with pytest.raises(PronmetricError, match="--source drop is for English targets"):
        suite_build.GROUP.main(flags)


def test_the_source_filter_needs_a_reader(
    wmt: Path,
    tmp_path: Path,
    with_reader: Path,
    tiny_checkpoint: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ["wmt", "--wmt-dir", str(wmt), "--to_json", str(tmp_path / "s.json"), "--quiet"]
    for alone in (["--source", "drop"], ["--reader", str(with_reader)]):
        with pytest.raises(SystemExit):
            suite_build.GROUP.main([*flags, *alone])
        assert "--source drop and --reader go together" in capsys.readouterr().err
    with pytest.raises(PronmetricError, match="--reader: expected a checkpoint with a reader of sources, got tiny"):
        suite_build.GROUP.main([*flags, "--source", "drop", "--reader", str(tiny_checkpoint())])
    assert suite_build.GROUP.main([*flags, "--source", "drop", "--reader", str(with_reader)]) == 0
    assert json.loads((tmp_path / "s.json").read_text())["settings"]["reader"] == str(with_reader)
