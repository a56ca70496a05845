"""`--also` of `score` and `evaluate`: reference-based baselines in one table with the learned score."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.installation import pip_install
from pronmetric.lab.baselines import corpus_scores
from tests.tools.row_files import jsonl

Checkpoints = Callable[..., Path]
Run = Callable[..., tuple[str, str]]
OF_PRONOUNS = "apt,autoprf,exact"


@pytest.fixture
def model(tiny_checkpoint: Checkpoints) -> list[Any]:
    return ["--model", tiny_checkpoint(), "--precision", "32", "--gpus", "0"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a verb, which must end well; gives stdout and stderr."""

    def call(*argv: object) -> tuple[str, str]:
        assert main([*map(str, argv)]) == 0
        return capsys.readouterr()

    return call


@pytest.fixture
def fails(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a verb, which must end with exit code 1 and one line; gives it."""

    def call(*argv: object) -> str:
        assert main([*map(str, argv)]) == 1
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("pronmetric: error: ") and err.count("\n") == 1
        return err.removeprefix("pronmetric: error: ").strip()

    return call


def cells(out: str, name: str) -> list[str]:
    """The cells of the last line of that name, after it."""
    line = [line for line in out.splitlines() if line.startswith(f"{name} ")][-1]
    return re.split(r" {2,}", line.strip())[1:]


# score

REFERENCE = ["Anna came.", "She gave him her book.", "It rained.", "Nothing else."]
GOOD = ["Anna came.", "She gave him her book.", "It rained.", "Nothing else."]
BAD = ["Anna came.", "He gave him her book.", "She rained.", "Nothing else."]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A reference of four pronouns; one output that is the reference, and one that has two of them wrong."""
    for name, lines in (("ref", REFERENCE), ("good", GOOD), ("bad", BAD)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def test_the_table_follows_what_score_prints_without_it(
    run: Run, texts: Path, model: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(texts)
    flags = ["score", "-t", "good", "bad", "-r", "ref", "--verbose", *model]
    plain, _ = run(*flags)
    out, err = run(*flags, "--also", OF_PRONOUNS)
    assert out.startswith(f"{plain}\n")
    table = out.removeprefix(plain).strip().splitlines()
    assert table[0].split() == ["pronmetric", "apt", "autoprf", "exact"] and len(table) == 3
    good, bad = cells(out, "good"), cells(out, "bad")
    assert good[1:] == ["100.00 (4)"] * 3 and bad[1:] == ["50.00 (4)"] * 3
    line = re.search(r"^good\tscore: (\S+)$", out, re.MULTILINE)
    assert line and good[0] == f"{float(line[1]):.2f} (4)"
    assert "in brackets: pronouns (pronmetric); reference pronouns (apt, autoprf); aligned reference pronouns" in err
    assert re.search(r"signature of apt: apt\|aligner:agreement\|learned:8\|lines:[0-9a-f]{8}\|version:", err)


def test_files_hold_what_the_table_shows(run: Run, texts: Path, model: list[Any], tmp_path: Path) -> None:
    good, bad = texts / "good", texts / "bad"
    flags = ["--only_system", "--quiet", "--to_json", tmp_path / "o.json", "--to_tsv", tmp_path / "o.tsv"]
    out, err = run("score", "-t", good, bad, "-r", texts / "ref", *flags, *model, "--also", "exact,apt")
    assert err == "" and cells(out, str(bad))[1:] == ["50.00 (4)", "50.00 (4)"]
    content = json.loads((tmp_path / "o.json").read_text())
    of_bad = content["systems"][1]["also"]
    assert list(of_bad) == ["exact", "apt"]
    assert of_bad["exact"] == {
        "score": 50.0,
        "instances": 4,
        "unit": "aligned reference pronouns",
        "counts": {"kept": 2, "aligned": 4, "pronouns": 4},
    }
    assert of_bad["apt"]["counts"] == {"case_1": 2, "case_2": 0, "case_3": 2, "case_4": 0}
    assert content["also"]["signatures"].keys() == content["also"]["segment_signatures"].keys() == {"exact", "apt"}
    segments = [s["also"] for s in content["segments"] if s["system"] == str(bad)]
    assert [s["exact"] for s in segments] == [None, pytest.approx(200 / 3, abs=1e-5), 0.0, None]
    rows = [line.split("\t") for line in (tmp_path / "o.tsv").read_text().splitlines()]
    assert rows[0][-3:] == ["score", "exact", "apt"] and {len(row) for row in rows} == {12}
    assert {tuple(row[-2:]) for row in rows if row[:2] == [str(bad), "1"]} == {("66.66667", "66.66667")}
    assert main(["report", str(tmp_path / "o.json"), "--format", "md", "--show", "systems", "--no-model"]) == 0


def test_all_five_on_the_sample(run: Run, sample: Path, model: list[Any], tmp_path: Path) -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacreBLEU is not installed (extra peers)")
    paths, ref = [sample / f"system-{x}.txt" for x in "abc"], sample / "ref.txt"
    out, err = run(
        "score", "-t", *paths, "-r", ref, "--only_system", "--verbose", *model, "--also", "apt,autoprf,bleu,chrF,exact"
    )
    assert "signature of bleu: BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in err
    assert "signature of chrf: chrF2|nrefs:1|" in err and "segments (bleu, chrf)" in err
    lines = [path.read_text(encoding="utf-8").splitlines() for path in paths]
    references = [ref.read_text(encoding="utf-8").splitlines()]
    for path, hyps in zip(paths, lines, strict=True):
        found = cells(out, str(path))
        assert found[3] == f"{sacrebleu.corpus_bleu(hyps, references).score:.2f} (37)"
        assert found[4] == f"{sacrebleu.corpus_chrf(hyps, references).score:.2f} (37)"
    exact = [float(cells(out, str(path))[5].split()[0]) for path in paths]
    assert exact[0] > exact[1] > exact[2]
    one, _ = run("score", "-t", *paths, "-r", ref, "--only_system", *model, "--also", "chrf")
    assert [cells(one, str(path))[1] for path in paths] == [cells(out, str(path))[4] for path in paths]


def test_segments_without_a_reference_are_left_out(run: Run, texts: Path, model: list[Any], tmp_path: Path) -> None:
    (texts / "ref").write_text("Anna came.\n\nIt rained.\n  \n")
    flags = ["--only_system", "--to_json", tmp_path / "o.json", *model, "--also", OF_PRONOUNS]
    out, err = run("score", "-t", texts / "bad", "-r", texts / "ref", *flags)
    assert "left out of --also: 2 segments without a reference" in err
    assert cells(out, str(texts / "bad"))[1:] == ["0.00 (1)"] * 3
    segments = json.loads((tmp_path / "o.json").read_text())["segments"]
    assert segments[1]["also"] == {"apt": None, "autoprf": None, "exact": None}
    (texts / "ref").write_text("\n" * 4)
    out, _ = run("score", "-t", texts / "bad", "-r", texts / "ref", *flags)
    assert cells(out, str(texts / "bad"))[1:] == ["- (0)"] * 3


def test_the_aligner_learns_from_lines_spread_over_the_files(
    run: Run, sample: Path, model: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [sample / f"system-{x}.txt" for x in "abc"]
    flags = ["--only_system", "--verbose", *model, "--also", "exact"]
    monkeypatch.setattr(corpus_scores, "MAX_TRAINING_LINES", 30)
    _, err = run("score", "-t", *paths, "-r", sample / "ref.txt", *flags)
    assert "|learned:28|" in err  # each fourth of 111


def test_wmt_test_sets(run: Run, fails: Callable[..., str], wmt_sample: Path, model: list[Any], tmp_path: Path) -> None:
    flags = ["score", "-d", "wmt23:de-en", "--only_system", *model, "--also", "exact", "--wmt-dir"]
    out, _ = run(*flags, wmt_sample)
    assert {line.split()[0] for line in out.splitlines()[-3:]} == {"Alder", "Birch", "Cedar"}
    copy = tmp_path / "wmt"
    shutil.copytree(wmt_sample, copy)
    shutil.rmtree(copy / "wmt23-news-systems" / "xml")
    shutil.rmtree(copy / "wmt23-news-systems" / "txt" / "references")
    assert fails(*flags, copy) == "--also needs a reference, and wmt23:de-en has none"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["score", "--jsonl", "x", "--also", "apt"], "give -r with -t"),
        (["score", "-t", "x", "-r", "y", "--also", "apt,meteor"], "expected some of apt, autoprf, bleu, chrf, exact"),
        (["score", "-t", "x", "-r", "y", "--also", ""], "got ''"),
        (["evaluate", "x", "--also", "comet"], "got 'comet'"),
        (["compare", "-t", "x", "y", "-r", "z", "--also", "apt"], "unrecognized arguments: --also"),
    ],
)
def test_wrong_flags(flags: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(flags)
    assert ended.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_without_sacrebleu(
    run: Run, fails: Callable[..., str], texts: Path, model: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    flags = ["score", "-t", texts / "bad", "-r", texts / "ref", "--only_system", *model]
    assert fails(*flags, "--also", "apt,bleu") == (
        f"--also bleu needs sacrebleu, which is not installed: {pip_install('peers', 'sacrebleu')}"
    )
    out, _ = run(*flags, "--also", OF_PRONOUNS)
    assert cells(out, str(texts / "bad"))[1:] == ["50.00 (4)"] * 3


# evaluate


def pair(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"p{number}",
        "context": ["Anna came."],
        "text_a": "Then she left.",
        "text_b": "Then it left.",
        "better": "A",
        "doc": f"d{number // 2}",
        **more,
    }


# Of the first six, the reference has the pronoun of A in three, that of B in one, and none of either in two.
PAIRS = [
    *(pair(i, reference=f"She left {when}.") for i, when in enumerate(("then", "early", "soon"))),
    pair(3, reference="It left soon."),
    pair(4, reference="Anna left."),
    pair(5, reference="They left soon."),
    pair(6, reference="Then she left."),  # is text A
    pair(7),
    pair(8, better="tie", reference="She left."),
]


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "pairs.jsonl", PAIRS)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Prefers A but for p0, which is null."""
    scores = [{"id": p["id"], "score_a": 0.9 if p["id"] != "p0" else None, "score_b": 0.1} for p in PAIRS]
    return jsonl(tmp_path / "mine.jsonl", scores)


def test_each_on_the_pairs_whose_reference_is_neither_text(run: Run, judged: Path, mine: Path, tmp_path: Path) -> None:
    flags = ["--scores", mine, "--also", "exact,apt", "--verbose", "--to_json", tmp_path / "o.json"]
    out, err = run("evaluate", judged, *flags)
    title = "pairs with an independent reference; left out: 1 whose reference is one of the texts, 1 without a"
    assert title in out
    assert cells(out, str(mine))[:2] == ["6", "83.3"]  # too few documents for an interval
    assert cells(out, str(mine))[2:] == ["0", "1", "-"]
    found = cells(out, "exact")
    assert found[:4] == ["6", "50.0", "1", "1"]
    assert found[4] == "+33.3"
    assert cells(out, "apt")[2:4] == ["1", "1"]
    assert "signature of exact: exact|aligner:agreement|learned:12|" in err
    content = json.loads((tmp_path / "o.json").read_text())
    assert content["also"]["left_out"] == {"reference_is_a_text": 1, "no_reference": 1}
    contest = content["also"]["parts"]["pairs"]["exact"]
    assert contest["first"]["right"] == 5 and contest["second"]["right"] == 3
    assert content["pairs"][0]["also"] == {"exact": [100.0, 0.0], "apt": [100.0, 0.0]}
    assert content["pairs"][4]["also"] == {"exact": [None, None], "apt": [None, None]}
    assert content["pairs"][7]["also"] == {"exact": None, "apt": None}


def test_sentence_bleu_and_chrf_of_pairs(run: Run, judged: Path, mine: Path, tmp_path: Path) -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacreBLEU is not installed (extra peers)")
    out, err = run(
        "evaluate", judged, "--scores", mine, "--also", "bleu,chrf", "--verbose", "--to_json", tmp_path / "o.json"
    )
    assert cells(out, "chrf")[0] == "6" and "signature of bleu: BLEU|nrefs:1|case:mixed|eff:yes|" in err
    first = json.loads((tmp_path / "o.json").read_text())["pairs"][0]["also"]
    texts, reference = (PAIRS[0]["text_a"], PAIRS[0]["text_b"]), [PAIRS[0]["reference"]]
    assert first["bleu"] == pytest.approx([sacrebleu.sentence_bleu(text, reference).score for text in texts])
    assert first["chrf"] == pytest.approx([sacrebleu.sentence_chrf(text, reference).score for text in texts])


def test_beside_the_model(run: Run, judged: Path, model: list[Any]) -> None:
    out, _ = run("evaluate", judged, *model, "--also", "exact")
    assert cells(out, "pronmetric")[0] == cells(out, "exact")[0] == "6"


@pytest.mark.parametrize("reference", [None, "", "Then it left. "])
def test_no_pair_with_a_reference(fails: Callable[..., str], mine: Path, tmp_path: Path, reference: str | None) -> None:
    records = [{**record, "reference": reference} for record in PAIRS]
    path = jsonl(tmp_path / "p", records)
    message = fails("evaluate", path, "--scores", mine, "--also", "apt")
    assert message.startswith(f"{path}: ") and "add another reference translation" in message
    given = "0 pairs have none, 8 have one" if reference else "8 pairs have none, 0 have one"
    assert given in message


def test_a_reference_must_be_text(fails: Callable[..., str], mine: Path, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "p", [pair(0, reference=["She", "left"])])
    assert f'{path}:1: "reference" must be a string' in fails("evaluate", path, "--scores", mine, "--also", "apt")


def test_single_pronouns_have_no_pairs(fails: Callable[..., str], mine: Path, tmp_path: Path) -> None:
    token = {"id": 1, "text": "She left.", "start": 0, "end": 3, "pronoun": "She", "label": "right"}
    path = jsonl(tmp_path / "t", [token])
    message = fails("evaluate", path, "--scores", mine, "--also", "apt")
    assert message == f"{path}: holds labelled pronouns, but --also needs pairs of texts"


def test_a_test_set_needs_another_reference(
    run: Run, fails: Callable[..., str], wmt_sample: Path, model: list[Any], tmp_path: Path
) -> None:
    flags = ["evaluate", "-d", "wmt23:de-en", *model, "--systems", "Alder", "--also", "exact"]
    assert "a second reference" in fails(*flags, "--wmt-dir", wmt_sample)
    copy = tmp_path / "wmt"
    shutil.copytree(wmt_sample, copy)
    shutil.rmtree(copy / "wmt23-news-systems" / "xml")
    folder = copy / "wmt23-news-systems" / "txt" / "references"
    lines = (folder / "generaltest2023.de-en.ref.refA.en").read_text(encoding="utf-8").splitlines()
    other = "".join(f"Indeed, {line}\n" for line in lines)
    (folder / "generaltest2023.de-en.ref.refB.en").write_text(other, encoding="utf-8")
    out, _ = run(*flags, "--wmt-dir", copy)
    titles = re.findall(r"^pairs with an independent reference$", out, re.MULTILINE)
    assert len(titles) == 2  # R vs S, R vs R'
    assert cells(out, "exact")[1].startswith("100.0")


def test_prepared_folders_have_one_reference(fails: Callable[..., str], tiny_prepared: Path, model: list[Any]) -> None:
    message = fails("evaluate", tiny_prepared, *model, "--also", "apt")
    assert message.startswith(f'{tiny_prepared} (development): --also needs pairs with a "reference"')
