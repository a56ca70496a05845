"""A test set in mt-metrics-eval's folders through `score`, `compare`, `correlate`, `board` and `prepare`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main

Run = Callable[..., tuple[str, str]]
DATASET = "wmt32:de-en"


@pytest.fixture
def folder(tmp_path: Path, sample: Path) -> Path:
    """The sample as the test set wmt32 of mt-metrics-eval: two domains, two references among the outputs."""
    root = tmp_path / "data" / "wmt32"
    for name in ("documents", "sources", "references", "system-outputs/de-en", "human-scores"):
        (root / name).mkdir(parents=True)
    ids = (sample / "docids.txt").read_text(encoding="utf-8").split()
    first = ids[0]
    lines = [f"{'news' if doc == first else 'mail'}\t{doc}\n" for doc in ids]
    (root / "documents" / "de-en.docs").write_text("".join(lines))
    shutil.copy(sample / "src.de.txt", root / "sources" / "de-en.txt")
    shutil.copy(sample / "ref.txt", root / "references" / "de-en.refA.txt")
    for name, file in (
        ("a", "system-a"),
        ("b", "system-b"),
        ("c", "system-c"),
        ("refA", "ref"),
        ("synthetic_ref", "ref"),
    ):
        shutil.copy(sample / f"{file}.txt", root / "system-outputs" / "de-en" / f"{name}.txt")
    scores = root / "human-scores"
    (scores / "de-en.mqm.sys.score").write_text("a\t-1\nb\t-2\nc\t-3\nrefA\t-0.5\n")
    (scores / "de-en.mqm.domain.score").write_text(
        "".join(f"{domain} {system} {-n}\n" for n, system in enumerate("abc") for domain in ("news", "mail"))
    )
    (scores / "de-en.mqm.seg.score").write_text(
        "".join(f"{system} {-(k % 4) - n}\n" for n, system in enumerate("abc") for k in range(len(ids)))
    )
    return root.parent


def scored(run_tiny: Run, folder: Path, out: Path) -> dict[str, Any]:
    run_tiny("score", "-d", DATASET, "--wmt-dir", folder, "--to_json", out, "--only_system")
    return json.loads(out.read_text(encoding="utf-8"))


def test_score_is_that_of_the_same_lines(run_tiny: Run, folder: Path, sample: Path, tmp_path: Path) -> None:
    out, err = run_tiny(
        "score", "-d", DATASET, "--wmt-dir", folder, "--to_json", tmp_path / "own.json", "--only_system", "--verbose"
    )
    assert [line.split("\t")[0] for line in out.splitlines()] == ["a", "b", "c"]  # no reference is a system
    assert "refA, synthetic_ref among the system outputs: references, no systems" in err
    assert "of the same document" in err and "no document ids" not in err
    files = [sample / f"system-{name}.txt" for name in "abc"]
    texts = ["-r", sample / "ref.txt", "--docids", sample / "docids.txt"]
    run_tiny("score", "-t", *files, *texts, "--to_json", tmp_path / "lines.json", "--only_system")
    own, lines = (json.loads((tmp_path / f"{name}.json").read_text())["segments"] for name in ("own", "lines"))
    assert [entry["doc"] for entry in own] == [entry["doc"] for entry in lines]
    assert own[1]["source"] == (sample / "src.de.txt").read_text(encoding="utf-8").splitlines()[0]
    assert [entry["score"] for entry in own] == pytest.approx([entry["score"] for entry in lines], abs=1e-5)


def test_compare_and_a_reference_as_a_system(run_tiny: Run, folder: Path) -> None:
    out, _ = run_tiny(
        "compare", "-d", DATASET, "--wmt-dir", folder, "--systems", "a", "refA", "--only_system", "--num_splits", "50"
    )
    assert "refA" in out


def test_without_documents_a_note_says_what_that_means(run_tiny: Run, folder: Path) -> None:
    (folder / "wmt32" / "documents" / "de-en.docs").unlink()
    _, err = run_tiny("score", "-d", DATASET, "--wmt-dir", folder, "--only_system")
    expected = "no document ids: all lines are one document, so that contexts cross documents; intervals and tests take"
    assert expected in err and f"the files of {DATASET} name no documents" in err


def test_correlate(
    run_tiny: Run, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scored(run_tiny, folder, tmp_path / "own.json")
    scores = folder / "wmt32" / "human-scores"
    for name, level in (("sys", None), ("domain", "domain"), ("seg", "segment")):
        human = scores / f"de-en.mqm.{name}.score"
        assert main(["correlate", str(tmp_path / "own.json"), str(human), "--to_json", str(tmp_path / "c.json")]) == 0
        found = json.loads((tmp_path / "c.json").read_text())
        assert found.get("level") == level
        names = [one["system"] for one in found["systems"]] if level is None else found["systems"]
        assert names == ["a", "b", "c"]
    capsys.readouterr()


def test_board(run_tiny: Run, folder: Path, tmp_path: Path) -> None:
    out, err = run_tiny("board", "build", "--wmt", folder, "-o", tmp_path / "site")
    assert out.splitlines()[0].startswith("3 systems of 1 test set")
    assert "wmt32.de-en: human scores of de-en.mqm.sys.score" in err
    board = json.loads((tmp_path / "site" / "board.json").read_text(encoding="utf-8"))
    assert board["testsets"][0]["resampled"] == "documents" and board["testsets"][0]["human"] == {
        "a": -1,
        "b": -2,
        "c": -3,
    }


def test_prepare(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["prepare", f"data.wmt={folder}", "data.english=null", f"out={tmp_path / 'out'}"]
    assert main(argv) == 0, capsys.readouterr().err
    assert "wmt32.de-en" in capsys.readouterr().out
