"""The page of scores by the source alone beside people's: ways, baselines, human scores, going on after a stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.checkpoint import reference_free
from pronmetric.errors import InputError

OUTPUT = ["He has seen his sister.", "It rains.", "She sleeps."]
SOURCES = ["Sie hat ihre Schwester gesehen.", "Es regnet.", "Er schläft."]


def test_scores_without_a_reference_beside_people(
    with_reader: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, lines = tmp_path / "data", {"Alder": OUTPUT, "Birch": OUTPUT[::-1], "Cedar": ["It is."] * 3}
    named = {f"hyp.{name}": ("system-outputs", own, "en") for name, own in lines.items()}
    for name, (folder, own, code) in {
        "ref.A": ("references", OUTPUT, "en"),
        "src": ("sources", SOURCES, "de"),
        **named,
    }.items():
        place = data / "wmt" / "wmt31-news-systems" / "txt" / folder
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"generaltest2031.de-en.{name}.{code}"
        path.write_text("".join(f"{line}\n" for line in own), encoding="utf-8")
    human = data / "human" / "wmt31-da"
    human.mkdir(parents=True)
    ranking = "".join(f"70 {z} 9 9 {name}.{z} {name}\n" for z, name in enumerate(lines))
    (human / "ad-sys-ranking-de-en-z-names.csv").write_text(ranking, encoding="utf-8")
    rated = "".join(f"{name}.{z} {line} 50 {z + line} 1\n" for z, name in enumerate(lines) for line in (1, 2, 3))
    (human / "ad-seg-scores-de-en.csv").write_text(f"SYS SID RAW.SCR Z.SCR N\n{rated}", encoding="utf-8")
    mqm = tmp_path / "mqm.seg.score"
    mqm.write_text("".join(f"{name}\t{-z}\n" for z, name in enumerate(lines) for _ in range(3)), encoding="utf-8")
    flags = ["--shared", tmp_path, "--model", with_reader, "--datasets", "wmt31:de-en", "--out", tmp_path / "out"]
    flags += ["--human", f"wmt31:de-en={mqm}", "--page", tmp_path / "page.md"]
    monkeypatch.setattr("sys.argv", ["reference_free", *map(str, flags)])
    reference_free.main()
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "## wmt31:de-en, DA" in text and "## wmt31:de-en, mqm.seg.score" in text
    assert all(text.count(f"| {way}, {by} |") == 2 for way in reference_free.WAYS for by in ("score", "preference"))
    assert text.count("| chrF |") == 2 and "source:reader-" in text
    assert str(tmp_path) not in (tmp_path / "page.json").read_text(encoding="utf-8")  # no folder of this machine
    files = sorted((tmp_path / "out").rglob("*.score"))
    assert len(files) == 2 * (2 * len(reference_free.WAYS) + 3)
    written = [path.stat().st_mtime_ns for path in files]
    capsys.readouterr()
    reference_free.main()
    assert [path.stat().st_mtime_ns for path in files] == written  # nothing is scored again
    with pytest.raises(InputError, match="no human scores of wmt31:ja-en: give --human wmt31:ja-en=FILE"):
        reference_free.people("wmt31:ja-en", data / "human", [])
