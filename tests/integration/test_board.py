"""`pronmetric board build`: its figures, a stopped run, changed texts, errors."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.lab.board.scored import UNKNOWN
from pronmetric.metric import PronounMetric

Run = Callable[..., tuple[str, str]]


@pytest.fixture
def wmt(tmp_path: Path, sample: Path) -> Path:
    """Two plain test sets of three systems each: one with documents, one without."""
    folder = tmp_path / "wmt"
    for name, docs in (("kites2022.de-en", True), ("lamps2023.fr-en", False)):
        (folder / name).mkdir(parents=True)
        for file in ("ref", "system-a", "system-b", "system-c", *(["docids"] if docs else [])):
            shutil.copy(sample / f"{file}.txt", folder / name)
    return folder


def content(site: Path) -> dict[str, Any]:
    return json.loads((site / "board.json").read_text(encoding="utf-8"))


def test_the_figures_are_those_of_score_and_compare(run_tiny: Run, wmt: Path, sample: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (wmt / "kites2022.de-en.sys.score").write_text("system-a\t2\nsystem-b\t1\nsystem-c\t0\n")
    out, _ = run_tiny("board", "build", "--wmt", wmt, "-o", site)
    assert out.splitlines()[0].startswith("6 systems of 2 test sets, 13 files")
    assert out.splitlines()[1] == str(site / "index.html")
    board, _ = content(site)["testsets"]
    assert (board["id"], board["year"], board["lp"], board["reference"]) == ("kites2022.de-en", 2022, "de-en", "ref")
    assert board["resampled"] == "documents" and "references:ref" in board["signature"]

    texts = ["-t", *(sample / f"system-{x}.txt" for x in "abc"), "-r", sample / "ref.txt"]
    texts += ["--docids", sample / "docids.txt", "--quiet", "--only_system"]
    run_tiny("score", *texts, "--to_json", tmp_path / "score.json")
    run_tiny("compare", *texts, "--to_json", tmp_path / "compare.json", "--by", "score")
    whole = board["classes"]["all"]
    scored = json.loads((tmp_path / "score.json").read_text())["systems"]
    for own, system in zip(whole["systems"], scored, strict=True):
        assert own["pronouns"] == system["pronouns"]
        assert own["score"] == pytest.approx(system["score"], abs=1e-3)
        assert [own["score_low"], own["score_high"]] == pytest.approx(system["interval"], abs=1e-3)
        errors = system["errors_per_100_pronouns"]
        assert own["errors_per_100_pronouns"] == pytest.approx(errors["value"], abs=1e-3)
        assert [own["errors_low"], own["errors_high"]] == pytest.approx(errors["interval"], abs=1e-3)
    compared = json.loads((tmp_path / "compare.json").read_text())["pairs"]
    for pair, expected in zip(whole["pairs"], compared, strict=True):
        assert pair["difference"] == pytest.approx(expected["difference"], abs=1e-3)
        assert [pair["a_better"], pair["ties"], pair["b_better"]] == [expected[k] for k in ("wins", "ties", "losses")]
        assert pair["p_randomisation"] == pytest.approx(expected["p_randomisation"], abs=2e-3)
    assert sum(own["pronouns"] for own in board["classes"]["she"]["systems"]) > 0
    page = (site / "index.html").read_text(encoding="utf-8")
    system = (site / "systems" / "kites2022_de-en.system-a.html").read_text(encoding="utf-8")
    assert "Third-person pronouns by distance in sentences" in system and "<td>system-a<td" in system
    assert "mean of 1 test set:" in page and "the previous 2 sentences of the reference" in page
    assert content(site)["human_correlation"]["testsets"]["kites2022.de-en"]["systems"] == 3


def test_two_systems_are_compared_by_what_decides_in_compare(
    wmt: Path, sample: Path, tmp_path: Path, tiny_checkpoint: Callable[..., Path]
) -> None:
    site, kept = tmp_path / "site", tmp_path / "site.scores" / "kites2022.de-en.json"
    fixed = ["--model", str(tiny_checkpoint(pair_head=True)), "--precision", "32", "--gpus", "0", "--quiet"]
    build = ["board", "build", "--wmt", str(wmt), "-o", str(site), "--testsets", "kites2022.de-en", *fixed]
    assert main(build) == 0
    (board,) = content(site)["testsets"]
    assert (board["by"], board["unit"]) == ("preference", "mean preference")

    texts = ["-t", *(str(sample / f"system-{x}.txt") for x in "abc"), "-r", str(sample / "ref.txt")]
    texts += ["--docids", str(sample / "docids.txt"), "--only_system", "--to_json", str(tmp_path / "compare.json")]
    assert main(["compare", *texts, *fixed]) == 0
    compared = json.loads((tmp_path / "compare.json").read_text())["pairs"]
    for pair, expected, by_score in zip(board["verdicts"], compared, board["classes"]["all"]["pairs"], strict=True):
        assert pair["difference"] == pytest.approx(expected["difference"], abs=1e-4)
        assert [pair["difference_low"], pair["difference_high"]] == pytest.approx(expected["interval"], abs=1e-4)
        assert pair["p_randomisation"] == pytest.approx(expected["p_randomisation"], abs=2e-3)
        assert [pair[k] for k in ("a_better", "ties", "b_better")] == [expected[k] for k in ("wins", "ties", "losses")]
        assert by_score["difference"] == pytest.approx(expected["score_difference"], abs=1e-3)
    page = (site / "compare" / "kites2022_de-en.html").read_text(encoding="utf-8")
    assert "is decided by the preference" in page and '"units":["mean preference","preference"]' in page

    earlier = json.loads(kept.read_text(encoding="utf-8"))  # as the version before wrote it
    earlier |= {"format": "pronmetric board scores 2"}
    distances = [own.pop("distance") for own in earlier["systems"].values()]
    assert {0, 1, 2} <= {distance for own in distances for distance in own} <= {0, 1, 2, UNKNOWN}
    kept.write_text(json.dumps(earlier), encoding="utf-8")
    first = content(site)
    assert main(build) == 0
    scored = json.loads(kept.read_text(encoding="utf-8"))
    assert content(site) == first and [own["distance"] for own in scored["systems"].values()] == distances


def test_a_stopped_run_goes_on(
    run_tiny: Run, wmt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_checkpoint: Callable[..., Path]
) -> None:
    scored: list[int] = []
    stream = PronounMetric.stream

    def counting(self: PronounMetric, texts: Any, **options: Any) -> Iterator[Any]:
        scored.append(0)
        if len(scored) == 2:
            raise KeyboardInterrupt
        for segment in stream(self, texts, **options):
            scored[-1] += 1
            yield segment

    monkeypatch.setattr(PronounMetric, "stream", counting)
    site = tmp_path / "site"
    argv = ["board", "build", "--wmt", str(wmt), "-o", str(site), "--model", str(tiny_checkpoint()), "--gpus", "0"]
    assert main(argv) == 130
    kept = tmp_path / "site.scores"
    assert [path.name for path in kept.iterdir()] == ["kites2022.de-en.json"]
    assert not (site / "index.html").exists()
    _, err = run_tiny("board", "build", "--wmt", wmt, "-o", site)
    assert f"kites2022.de-en: scores are those of {kept}" in err
    number = 3 * len((wmt / "lamps2023.fr-en" / "ref.txt").read_text().splitlines())
    assert scored == [number, 0, number]  # the first test set was not scored again
    first = content(site)
    run_tiny("board", "build", "--wmt", wmt, "-o", site, "--scores", kept)
    assert len(scored) == 3 and content(site) == first

    changed = wmt / "kites2022.de-en" / "system-a.txt"
    changed.write_text(changed.read_text(encoding="utf-8").replace("she", "he"), encoding="utf-8")
    run_tiny("board", "build", "--wmt", wmt, "-o", site, "--years", "2022")
    assert len(scored) == 4  # other texts
    run_tiny("board", "build", "--wmt", wmt, "-o", site, "--testsets", "kites2022.de-en", "--context", "respective")
    assert len(scored) == 5  # another context
    assert content(site)["testsets"][0]["reference"] is None


def test_broken_scores_are_refused_with_a_cure(
    wmt: Path, tmp_path: Path, tiny_checkpoint: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    argv = ["board", "build", "--wmt", str(wmt), "-o", str(tmp_path / "site"), "--scores", str(kept), "--gpus", "0"]
    for broken in ("{", "{}", '{"format": "pronmetric board scores 3", "testset": {}}'):
        (kept / "kites2022.de-en.json").write_text(broken)
        assert main([*argv, "--model", str(tiny_checkpoint())]) == 1
        assert "remove the file; the test set is then scored again" in capsys.readouterr().err
    assert main([*argv, "--model", str(tiny_checkpoint()), "--testsets", "lamps.fr-en"]) == 1
    assert "no test set lamps.fr-en; there are: kites2022.de-en, lamps2023.fr-en" in capsys.readouterr().err
    assert main([*argv, "--model", str(tiny_checkpoint(head="paper"))]) == 1
    assert "gives no probabilities, which a board needs" in capsys.readouterr().err
