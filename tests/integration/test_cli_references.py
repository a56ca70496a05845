"""`score` and `compare` with several references: the score in the context of each, and their mean."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.output import tsv
from pronmetric.results import read as read_result
from pronmetric.signature import Signature

Run = Callable[..., tuple[str, str]]


@pytest.fixture
def files(sample: Path, tmp_path: Path) -> dict[str, Path]:
    found = {name: sample / f"{name}.txt" for name in ("system-a", "system-c", "ref", "docids")}
    lines = found["ref"].read_text(encoding="utf-8").splitlines()
    found["other"] = tmp_path / "other.txt"
    found["other"].write_text("".join(f"{line} They laughed at her.\n" for line in lines), encoding="utf-8")
    return found


def content(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_scores_are_means_over_the_references(run_tiny: Run, files: dict[str, Path], tmp_path: Path) -> None:
    ref, other = str(files["ref"]), str(files["other"])
    base = ["score", "-t", files["system-a"], files["system-c"], "--docids", files["docids"]]
    out, err = run_tiny(
        *base, "-r", ref, other, "--verbose", "--to_json", tmp_path / "2.json", "--to_tsv", tmp_path / "2.tsv"
    )
    both = content(tmp_path / "2.json")
    alone = []
    for reference in (ref, other):
        run_tiny(*base, "-r", reference, "--to_json", tmp_path / "1.json")
        alone.append(content(tmp_path / "1.json"))
    assert [s["score"] for s in alone[0]["systems"]] != [s["score"] for s in alone[1]["systems"]]
    for system, *ones in zip(both["systems"], *(single["systems"] for single in alone), strict=True):
        assert system["score"] == pytest.approx(fmean(one["score"] for one in ones), abs=6e-5)
        assert [part["reference"] for part in system["by_reference"]] == [ref, other]
        for part, one in zip(system["by_reference"], ones, strict=True):
            assert part["score"] == pytest.approx(one["score"], abs=6e-5)
            assert part["interval"] == pytest.approx(one["interval"], abs=1e-3)
        head = f"{system['system']}\t"
        printed = dict(line.rsplit("\tscore: ") for line in out.splitlines())
        assert float(printed[system["system"]]) == pytest.approx(system["score"], abs=6e-5)
        for part in system["by_reference"]:
            assert float(printed[f"{head}reference {part['reference']}"]) == pytest.approx(part["score"], abs=6e-5)
    for segment, *ones in zip(both["segments"], *(single["segments"] for single in alone), strict=True):
        assert [part["context"] for part in segment["by_reference"]] == [one["context"] for one in ones]
        assert [part["text"] for part in segment["by_reference"]] == [one["reference"] for one in ones]
        if segment["score"] is not None:
            assert segment["score"] == pytest.approx(fmean(one["score"] for one in ones), abs=6e-5)
    assert Signature.parse(both["signature"])["references"] == "2"
    assert "references" not in dict(Signature.parse(alone[0]["signature"]).fields)
    assert "scores are means over 2 references" in err
    for row in tsv.read(tmp_path / "2.tsv"):
        if row["score"]:
            parts = [float(row[f"score with {name}"]) for name in (ref, other)]
            assert float(row["score"]) == pytest.approx(fmean(parts), abs=6e-5)
    assert any("several references" in note for note in read_result(str(tmp_path / "2.json")).notes)


def test_differences_are_means_over_the_references(run_tiny: Run, files: dict[str, Path], tmp_path: Path) -> None:
    ref, other = str(files["ref"]), str(files["other"])
    base = ["compare", "-t", files["system-a"], files["system-c"], "--docids", files["docids"], "--only_system"]
    out, _ = run_tiny(*base, "-r", ref, other, "--to_json", tmp_path / "2.json", "--to_tsv", tmp_path / "2.tsv")
    both = content(tmp_path / "2.json")
    (pair,) = both["pairs"]
    alone = []
    for reference in (ref, other):
        run_tiny(*base, "-r", reference, "--to_json", tmp_path / "1.json")
        alone.append(content(tmp_path / "1.json"))
    ones = [single["pairs"][0] for single in alone]
    assert pair["difference"] == pytest.approx(fmean(one["difference"] for one in ones), abs=6e-5)
    for part, one, name in zip(pair["by_reference"], ones, (ref, other), strict=True):
        assert part["reference"] == name
        assert part["difference"] == pytest.approx(one["difference"], abs=6e-5)
        assert part["interval"] == pytest.approx(one["interval"], abs=1e-3)
        assert (part["a"], part["b"]) == pytest.approx((one["a"]["score"], one["b"]["score"]), abs=6e-5)
        assert f"with {name}: {part['a']:.2f} and {part['b']:.2f}, difference {part['difference']:+.2f}" in out
    for segment, row in zip(both["segments"], tsv.read(tmp_path / "2.tsv"), strict=True):
        (judged,) = segment["pairs"]
        if judged["difference"] is not None:
            each = [part["difference"] for part in judged["by_reference"]]
            assert judged["difference"] == pytest.approx(fmean(each), abs=6e-5)
            assert [float(row[f"difference with {name}"]) for name in (ref, other)] == pytest.approx(each, abs=6e-5)
        assert [part["reference"] for part in segment["references"]] == [ref, other]
    assert Signature.parse(both["signature"])["references"] == "2"
    assert any("several references" in note for note in read_result(str(tmp_path / "2.json")).notes)


@pytest.fixture
def two(wmt_sample: Path, tmp_path: Path) -> Path:
    """The bundled test set as text files, with a second reference."""
    folder = tmp_path / "wmt"
    shutil.copytree(wmt_sample, folder)
    (found,) = folder.rglob("*.ref.refA.en")
    for xml in folder.rglob("*.xml"):
        xml.unlink()
    lines = found.read_text(encoding="utf-8").splitlines()
    second = found.with_name(found.name.replace("refA", "refB"))
    second.write_text("".join(f"She said it. {line}\n" for line in lines), encoding="utf-8")
    return folder


def test_references_of_a_test_set(run_tiny: Run, two: Path, tmp_path: Path) -> None:
    scores = {}
    for names in (None, ["refA"], ["refB"], ["refA", "refB"]):
        flags = [] if names is None else ["--refs", *names]
        out, err = run_tiny(
            *["score", "-d", "wmt23:de-en", "--wmt-dir", two, "--only_system", *flags],
            *["--to_json", tmp_path / "o.json"],
        )
        found = content(tmp_path / "o.json")
        said = ",".join(names or ["refA"])
        scores[",".join(names or [])] = [system["score"] for system in found["systems"]]
        assert Signature.parse(found["signature"])["references"] == said
        assert ("reference refB" in out) == (said == "refA,refB")
        assert {"refA": "refA (refB unused)", "refB": "refB (refA unused)", "refA,refB": "refA, refB"}[said] in err
    assert scores[""] == scores["refA"] != scores["refB"]
    for mean, *ones in zip(scores["refA,refB"], scores["refA"], scores["refB"], strict=True):
        assert mean == pytest.approx(fmean(ones), abs=6e-5)


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        (
            ["score", "-t", "A", "--refs", "refA"],
            2,
            "--refs names references of -d; with -t give reference files with -r",
        ),
        (["score", "-t", "A", "-r", "R", "R"], 1, "-r: expected different references"),
        (["score", "-d", "wmt23:de-en", "--wmt-dir", "W", "--refs", "refC"], 1, "no reference refC in wmt23:de-en"),
        (
            ["score", "-d", "wmt23:de-en", "--wmt-dir", "W", "--refs", "refA", "--context", "none"],
            2,
            "--refs names the common context, which --context none does not use",
        ),
    ],
)
def test_references_that_cannot_be(
    flags: list[str], code: int, said: str, files: dict[str, Path], two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = {"A": str(files["system-a"]), "R": str(files["ref"]), "W": str(two)}
    try:
        found = main([paths.get(flag, flag) for flag in flags])
    except SystemExit as end:
        found = int(end.code or 0)
    assert found == code
    assert said in capsys.readouterr().err


def test_a_file_as_stdin(
    run_tiny: Run, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stdin:
        buffer = files["system-a"].open("rb")

    out, _ = run_tiny("score", "-t", files["system-a"], "-r", files["ref"])
    monkeypatch.setattr("sys.stdin", Stdin)
    piped, _ = run_tiny("score", "-t", "-", "-r", files["ref"])
    Stdin.buffer.close()
    assert piped.replace("-\t", f"{files['system-a']}\t") == out
