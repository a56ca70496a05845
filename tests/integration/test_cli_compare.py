"""`pronmetric compare` from flags to output."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.eval.significance import holm
from pronmetric.metric import PronounMetric
from pronmetric.text.context import in_context

Run = Callable[..., tuple[str, str]]


@pytest.fixture
def run(tiny_checkpoint: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `compare` with the tiny checkpoint in fp32; gives stdout and stderr."""

    def call(*argv: str | Path) -> tuple[str, str]:
        fixed = ["--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"]
        assert main(["compare", *map(str, argv), *fixed]) == 0
        return capsys.readouterr()

    return call


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_output(run: Run, sample: Path, tmp_path: Path) -> None:
    a, c = sample / "system-a.txt", sample / "system-c.txt"
    files = ["-r", sample / "ref.txt", "--docids", sample / "docids.txt", "--to_json", tmp_path / "o.json"]
    out, err = run("-t", a, c, *files, "--to_tsv", tmp_path / "o.tsv", "--tie", "0.02")
    content = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    lines = [line.split("\t") for line in out.splitlines() if "\t" in line]
    assert len(lines) == len(content["segments"]) == 37
    (pair,) = content["pairs"]
    names = {"a": str(a), "b": str(c), "tie": "tie", None: "null"}
    seen = dict.fromkeys(names, 0)
    for number, (line, segment) in enumerate(zip(lines, content["segments"], strict=True)):
        (judged,), (one, other) = segment["pairs"], segment["outputs"]
        assert line[:3] == [str(a), str(c), f"Segment {number}"]
        assert line[3] == f"better: {names[judged['better']]}"
        seen[judged["better"]] += 1
        difference = judged["difference"]
        if difference is None:
            assert line[4] == "difference: null"
        else:  # four and five decimals
            _, printed, unit = line[4].split()
            assert float(printed) == pytest.approx(difference, abs=5.5e-5) and unit == content["unit"] == "score"
        if judged["better"] in ("a", "b"):
            assert judged["a_decided"] or judged["b_decided"]
            assert (difference > 0.02) == (judged["better"] == "a")
        if judged["better"] is None:
            assert one["score"] is None or other["score"] is None
    assert (pair["wins"], pair["losses"], pair["ties"]) == (seen["a"], seen["b"], seen["tie"])
    assert pair["one_sided"] + pair["unscored"] == seen[None]
    assert seen["a"] and seen["b"]
    assert pair["difference"] == pytest.approx(pair["a"]["score"] - pair["b"]["score"], abs=2e-5)
    assert pair["interval"][0] < pair["difference"] < pair["interval"][1]
    assert (pair["resampled"], pair["units"]) == ("documents", 5)
    assert "|context:common|" in content["signature"] and content["tie"] == 0.02
    assert (content["format"], content["by"], pair["unit"]) == (2, "score", "points")
    table = [row.split("\t") for row in read(tmp_path / "o.tsv")]
    assert len(table) == 38 and {len(row) for row in table} == {11}
    summary = out.splitlines()[-7:]
    assert " has better pronouns than " in summary[0] or summary[0].startswith("No clear difference between the ")
    assert str(a) in summary[0] and str(c) in summary[0]
    assert f"segments: {seen['a']} better in {a}, {seen['b']} in {c}, {seen['tie']} ties (within 0.02)" in out
    first, second = out.index("approximate randomisation p = "), out.index("t test, as the interval: p = ")
    assert first < second
    for name, at in (("p_randomisation", first), ("p_t", second)):
        printed = out[at:].partition("p = ")[2].split()[0]
        assert float(printed) == pytest.approx(pair[name], abs=5.5e-5)
    assert "intervals and tests are based on only 5 documents" in err
    assert "(5 documents; few: interval and p are rough)" in out
    assert (pair["interval"][0] > 0 or pair["interval"][1] < 0) == (pair["p_t"] < 0.05)


def test_swapping_changes_the_signs(run: Run, sample: Path, tmp_path: Path) -> None:
    a, b = sample / "system-b.txt", sample / "system-c.txt"
    run("-t", a, b, "--to_json", tmp_path / "1.json")
    run("-t", b, a, "--to_json", tmp_path / "2.json")
    first, second = [json.loads((tmp_path / f"{i}.json").read_text(encoding="utf-8")) for i in (1, 2)]
    assert first["signature"] == second["signature"] and "|context:crossed|" in first["signature"]
    judged = ([segment["pairs"][0] for segment in each["segments"]] for each in (first, second))
    for x, y in zip(*judged, strict=True):
        assert x["difference"] is None or x["difference"] == pytest.approx(-y["difference"], abs=2e-6)
    x, y = first["pairs"][0], second["pairs"][0]
    assert (x["wins"], x["ties"], x["losses"]) == (y["losses"], y["ties"], y["wins"])
    assert x["difference"] == pytest.approx(-y["difference"], abs=2e-5)
    assert x["p_randomisation"] == pytest.approx(y["p_randomisation"], abs=2e-3)


def test_without_a_reference_it_agrees_with_the_library(
    run: Run, sample: Path, tmp_path: Path, tiny_checkpoint: Callable[..., Path]
) -> None:
    metric = PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)
    a, b = sample / "system-a.txt", sample / "system-b.txt"
    for flags, kind in (([], "crossed"), (["--context", "respective"], "respective")):
        run("-t", a, b, *flags, "--to_json", tmp_path / "o.json")
        (pair,) = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["pairs"]
        expected = metric.compare(in_context(read(a)), in_context(read(b)), context=kind).outcome
        assert pair["difference"] == pytest.approx(expected.difference, abs=1e-4)
        assert (pair["wins"], pair["ties"], pair["losses"]) == (expected.wins, expected.ties, expected.losses)
        assert pair["p_randomisation"] == pytest.approx(expected.p_randomisation, abs=2e-3)
        assert (pair["resampled"], pair["units"]) == ("segments", expected.units)


def test_three_systems_are_compared_pairwise_as_if_alone(run: Run, sample: Path, tmp_path: Path) -> None:
    paths = [sample / f"system-{x}.txt" for x in "abc"]
    out, _ = run("-t", *paths, "--only_system", "--to_json", tmp_path / "all.json")
    pairs = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))["pairs"]
    assert [(p["a"]["system"], p["b"]["system"]) for p in pairs] == [
        (str(paths[i]), str(paths[j])) for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    for test in ("randomisation", "t"):
        adjusted = holm([p[f"p_{test}"] for p in pairs])
        assert [p[f"p_{test}_holm"] for p in pairs] == pytest.approx(adjusted, abs=4e-5)  # of rounded p values
    assert "Holm" in out and "\t" not in out
    run("-t", paths[0], paths[2], "--to_json", tmp_path / "two.json")
    (alone,) = json.loads((tmp_path / "two.json").read_text(encoding="utf-8"))["pairs"]
    assert alone["p_randomisation_holm"] == alone["p_randomisation"]
    for key in ("difference", "p_t", "wins", "ties", "losses"):
        assert alone[key] == pytest.approx(pairs[1][key], abs=2e-3)


def test_the_same_system_twice_ties(run: Run, sample: Path) -> None:
    out, _ = run("-t", sample / "system-a.txt", sample / "system-a.txt", "--tie", "0")
    assert set(re.findall(r"better: (\S+)", out)) == {"tie", "null"}
    assert "difference +0.00 points" in out and "p = 1.0000" in out


def test_the_tie_threshold_of_the_checkpoint(
    sample: Path, tiny_checkpoint: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    systems = ["-t", str(sample / "system-a.txt"), str(sample / "system-c.txt"), "--tie", "auto"]
    model = ["--precision", "32", "--gpus", "0", "--model"]
    assert main(["compare", *systems, *model, str(tiny_checkpoint())]) == 1
    assert "has no tie threshold ('tie' in its config.yaml); give --tie a number" in capsys.readouterr().err
    folder = tmp_path / "with-threshold"
    shutil.copytree(tiny_checkpoint(), folder)
    with (folder / "config.yaml").open("a", encoding="utf-8") as file:
        file.write("tie: 0.125\n")
    result = tmp_path / "o.json"
    assert main(["compare", *systems, *model, str(folder), "--only_system", "--to_json", str(result)]) == 0
    out, err = capsys.readouterr()
    content = json.loads(result.read_text(encoding="utf-8"))
    assert content["tie"] == 0.125 and content["signature"].endswith("|tie:0.125")
    assert "ties (within 0.125)" in out and "|tie:0.125" in err
    metric = PronounMetric.from_pretrained(folder, precision="32", gpus=0)
    records = [in_context(read(sample / f"system-{x}.txt")) for x in "ac"]
    auto, given = metric.compare(*records, tie="auto"), metric.compare(*records, tie=0.125)
    assert auto == given and auto.signature["tie"] == "0.125"


def test_systems_without_pronouns(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Yes.\nNo.\n")
    (tmp_path / "b").write_text("She left.\nNo.\n")
    out, _ = run("-t", tmp_path / "a", tmp_path / "b")
    assert "1 with pronouns in one only, 1 in neither" in out
    assert "no interval, no p: fewer than 4 segments with a pronoun" in out


def test_the_help_explains_the_tie_threshold(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "as many of its development pairs are ties as in the human judgements published" in said
    assert "as often as people" not in said


def test_wmt_test_sets(run: Run, wmt_sample: Path) -> None:
    out, err = run("-d", "wmt23:de-en", "--wmt-dir", wmt_sample, "--only_system", "--quiet")
    assert out.count(" pronouns than ") + out.count("the pronouns of ") >= 1 and err == ""


def test_control_characters_in_file_names_do_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    evil = tmp_path / "a\tb\x1b[31m.txt"
    evil.write_text("She left.\nYes.\n")
    out, err = run("-t", evil, evil)
    assert out.splitlines()[0].startswith(f"{tmp_path}/a\\tb\\x1b[31m.txt\t{tmp_path}/a\\tb\\x1b[31m.txt\tSegment 0\t")
    assert f"{tmp_path}/a\\tb\\x1b[31m.txt do not differ in their pronouns." in out and "\x1b" not in out + err
