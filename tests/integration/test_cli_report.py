"""`pronmetric report` from flags to files."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.installation import pip_install

Checkpoints = Callable[..., Path]
RESULT = Path(__file__).parents[1] / "fixtures" / "report" / "score.json"


def data_of(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def segment_of(data: dict[str, Any], number: int) -> list[Any]:
    return next(segment for segment in data["segments"] if segment[0] == number)


def report(*argv: str | Path) -> int:
    return main(["report", *map(str, argv)])


def test_a_page_without_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(RESULT, "-o", tmp_path / "r.html", "--no-model") == 0
    out, err = capsys.readouterr()
    assert out == "" and "agreement aligner, trained on these 111 line pairs" in err and "no model was loaded" in err
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
    data = data_of(tmp_path / "r.html")
    assert data["total"] == 37 and data["differing"] == len(data["segments"])
    assert all(len(p) == 2 for s in data["segments"] for o in s[4] for p in o[3])
    kinds = {name: k for k, name in enumerate(data["kinds"])}
    links = segment_of(data, 1)[4][2][4]  # "On Friday they locked her doors" for "On Friday she locked its doors"
    assert links == [[kinds["pronoun"], 2, "she", 2, "they"], [kinds["pronoun"], 4, "its", 4, "her"]]
    assert data["confusion"][2]["she"]["they"] >= 2


def test_the_pronouns_of_the_reference_are_all_in_the_matrix(tmp_path: Path) -> None:
    from pronmetric.pronouns.finder import find

    assert report(RESULT, "-o", tmp_path / "r.html", "--no-model", "--quiet") == 0
    content = json.loads(RESULT.read_text(encoding="utf-8"))
    references = [s["reference"] for s in content["segments"] if s["system"] == "system-a.txt"]
    expected = sum(len(find(text)) for text in references)
    for system, matrix in zip(content["systems"], data_of(tmp_path / "r.html")["confusion"], strict=True):
        counts = {(row, column): n for row, columns in matrix.items() for column, n in columns.items()}
        assert sum(n for (row, _), n in counts.items() if row != "(nothing)") == expected
        scored = sum(n for (_, column), n in counts.items() if column not in ("(nothing)", "(other word)"))
        assert abs(scored - system["pronouns"]) <= 2  # a word that is the reference's pronoun, but not scored


def test_limit_takes_those_that_differ_most(tmp_path: Path) -> None:
    assert report(RESULT, "-o", tmp_path / "all.html", "--no-model", "--quiet") == 0
    assert report(RESULT, "-o", tmp_path / "few.html", "--no-model", "--quiet", "--limit", "4") == 0
    whole, few = data_of(tmp_path / "all.html"), data_of(tmp_path / "few.html")
    assert [s[0] for s in few["segments"]] == [s[0] for s in whole["segments"][:4]]
    assert few["differing"] == len(whole["segments"]) > 4 and few["confusion"] == whole["confusion"]


def test_without_a_reference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json.loads(RESULT.read_text(encoding="utf-8"))
    for segment in content["segments"]:
        segment["reference"] = None
    (tmp_path / "bare.json").write_text(json.dumps(content), encoding="utf-8")
    assert report(tmp_path / "bare.json", "-o", tmp_path / "r.html", "--no-model") == 0
    assert "has no reference" in capsys.readouterr().err
    data = data_of(tmp_path / "r.html")
    assert data["confusion"] is None and data["segments"] and all(s[3] == -1 for s in data["segments"])
    assert report(tmp_path / "bare.json", "--format", "md", "--show", "confusion") == 1
    assert "nothing to show for confusion" in capsys.readouterr().err


def test_tables(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert report(RESULT, "--format", "md", "--quiet") == 0
    text, err = capsys.readouterr()
    assert err == "" and "| system-a.txt | 95.57 | 93.79 to 97.17 | 88 | 34 | 37 |" in text
    assert "## Confusions" in text and "| she | they |" in text and "signature: model:default" in text
    assert report(RESULT, "-o", tmp_path / "t.tex", "--show", "systems", "--quiet") == 0
    text = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert "    system-a.txt & \\textbf{95.57} & 93.79 to 97.17 & 88 \\\\\n" in text and "Confusions" not in text
    assert "% columns left out, which can be chosen by name: segments_with_pronoun segments\n" in text
    columns = ["--columns", "segments", "system", "--show", "systems", "--quiet"]
    assert report(RESULT, "-o", tmp_path / "t.tex", *columns) == 0
    assert "    37 & system-a.txt \\\\\n" in (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert report(RESULT, "-o", tmp_path / "p.tsv", "--no-model", "--quiet") == 0
    rows = [line.split("\t") for line in (tmp_path / "p.tsv").read_text(encoding="utf-8").splitlines()]
    assert {len(row) for row in rows} == {10}
    assert ["1", "library", "system-c.txt", "they", "10"] in [row[:5] for row in rows]


def test_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra plots)")
    assert report(RESULT, "-o", tmp_path / "s.png", "--quiet") == 0
    assert report(RESULT, "-o", tmp_path / "c.svg", "--show", "confusion", "--quiet") == 0
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    assert "reference" in (tmp_path / "c.svg").read_text(encoding="utf-8")


def test_a_missing_extra_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert report(RESULT, "-o", tmp_path / "s.png", "--quiet") == 1
    assert pip_install("plots", "matplotlib") in capsys.readouterr().err and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], "-o FILE is needed with --format html"),
        (["--format", "png"], "-o FILE is needed"),
        (["-o", "x.html", "--show", "systems"], "--show is for tables"),
        (["-o", "x.html", "--limit", "0"], "from 1"),
        (["-o", "x.tsv", "--show", "systems", "pairs"], "expected one name"),
        (["-o", "x.svg", "--show", "pronouns"], "is a table, not a plot"),
        (["-o", "x.html", "--no-model", "--model", "m"], "cannot be used with"),
        (["-o", "x.md", "--title", "t"], "--title is for the web page"),
        (["-o", "x.md", "--columns", "system"], "--columns is for one table: give --show NAME"),
        (["-o", "x.html", "--columns", "system"], "--columns is for one table"),
        (["-o", "x.html", "--format", "pdf"], "invalid choice"),
        (["-o", "x.pdf"], "expected one of the suffixes .html, .htm, .md, .tsv, .tex, .png, .svg, got .pdf"),
        (["-o", "x"], "got none; or choose with --format"),
        (["-o", "x.md", "--format", "html"], "the suffix .md means md, but --format is html"),
        (["-o", "x.PNG", "--format", "svg"], "the suffix .png means png, but --format is svg"),
    ],
)
def test_wrong_flags(capsys: pytest.CaptureFixture[str], flags: list[str], said: str) -> None:
    with pytest.raises(SystemExit) as stop:
        report(RESULT, *flags)
    assert stop.value.code == 2 and said in capsys.readouterr().err


def test_format_decides_where_the_suffix_means_nothing(tmp_path: Path) -> None:
    assert report(RESULT, "-o", tmp_path / "r.txt", "--format", "md", "--show", "systems", "--quiet") == 0
    assert (tmp_path / "r.txt").read_text(encoding="utf-8").startswith("## Systems")
    assert report(RESULT, "-o", tmp_path / "r.HTM", "--no-model", "--quiet", "--limit", "1") == 0
    assert (tmp_path / "r.HTM").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["-o", "x.pdf"], "expected one of the suffixes .md, .tex, .html, .htm, got .pdf"),
        (["-o", "x.html", "--format", "md"], "the suffix .html means html, but --format is md"),
    ],
)
def test_wrong_suffixes_of_report_tables(capsys: pytest.CaptureFixture[str], flags: list[str], said: str) -> None:
    with pytest.raises(SystemExit) as stop:
        report("tables", "nothing", *flags)
    assert stop.value.code == 2 and said in capsys.readouterr().err


def test_wrong_input_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.json"
    for content in ("", "[1]", '{"segments": [{}], "systems": [], "signature": "x:1"}', RESULT.read_text()[:5000]):
        broken.write_text(content, encoding="utf-8")
        assert report(broken, "-o", tmp_path / "r.html") == 1
        err = capsys.readouterr().err
        assert err.startswith(f"pronmetric: error: {broken}: ") and err.count("\n") == 1
    for target, said in (
        (broken, "would be overwritten"),
        (tmp_path, "is a folder"),
        (tmp_path / "no/r", "does not exist"),
    ):
        assert report(broken, "-o", target, "--format", "html") == 1
        assert said in capsys.readouterr().err
    assert report(RESULT, "-o", tmp_path / "r.html", "--model", tmp_path / "nothing") == 1
    assert "no checkpoint" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["broken.json"]


def test_attention_and_alternatives_of_the_model(
    tmp_path: Path, sample: Path, tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]
) -> None:
    from pronmetric.metric import PronounMetric
    from pronmetric.text.context import Text

    model = ["--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"]
    files = ["-t", *(str(sample / f"system-{x}.txt") for x in "bc"), "-r", str(sample / "ref.txt")]
    left_out = False  # a probable form that does not agree
    for verb in ("score", "compare"):
        result = tmp_path / f"{verb}.json"
        assert main([verb, *files, *model, "--to_json", str(result), "--quiet", "--only_system"]) == 0
        page = tmp_path / f"{verb}.html"
        assert report(result, "-o", page, *model, "--limit", "5", "--all-alternatives") == 0
        err = capsys.readouterr().err
        assert "from the model that made the result" in err and "probability below" not in err
        data = data_of(page)
        assert len(data["segments"]) == 5
        metric = PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)
        for segment in data["segments"]:
            for output in segment[4]:
                context, text = ("".join(data["strings"][k]) for k in output[:2])
                (looks,), (places,) = (
                    metric.attention([Text(context, text)]),
                    metric.alternatives([Text(context, text)]),
                )
                assert len(output[3]) == len(looks) == len(places)
                for (word, score, (top, letters), others), look, place in zip(output[3], looks, places, strict=True):
                    assert data["strings"][output[1]][word].strip() == text[look.start : look.end]
                    assert score == pytest.approx(place.pronoun.score, abs=1e-3)
                    assert look.weights is not None and top == pytest.approx(look.weights.max(), abs=1e-3)
                    size = len(data["strings"][output[0]]) + len(data["strings"][output[1]]) - 2
                    assert len(letters) <= size == len(look.weights)
                    fitting = [o for o in place.better() if o.agrees][:3]
                    assert [tuple(o) for o in others] == [
                        (o.form, pytest.approx(o.probability, abs=2e-3)) for o in fitting
                    ]
                    left_out |= len(fitting) < len(place.others[:3])
    assert left_out
    tsv = [tmp_path / "score.json", "--format", "tsv", *model, "--quiet", "--limit", "2"]
    assert report(*tsv, "--all-alternatives") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert all((row[7] == "") == (row[8] == "") for row in rows[1:])
    assert all(float(row[8]) > float(row[5]) for row in rows[1:] if row[7])


@pytest.mark.parametrize("verb", ["score", "compare"])
def test_the_sources_of_a_test_set_have_their_language(
    verb: str, tmp_path: Path, wmt_sample: Path, tiny_checkpoint: Checkpoints
) -> None:
    result, page = tmp_path / "r.json", tmp_path / "r.html"
    flags = ["-d", "wmt23:de-en", "--wmt-dir", str(wmt_sample), "--to_json", str(result), "--quiet", "--only_system"]
    assert main([verb, *flags, "--model", str(tiny_checkpoint()), "--gpus", "0"]) == 0
    assert json.loads(result.read_text(encoding="utf-8"))["source_language"] == "de"
    assert report(result, "-o", page, "--no-model", "--quiet", "--limit", "2") == 0
    data = data_of(page)
    assert data["sourceLang"] == "de" and data["segments"][0][2] >= 0  # with a source


def test_alternatives_of_probable_pronouns_are_left_out_by_default(
    tmp_path: Path,
    sample: Path,
    tiny_checkpoint: Checkpoints,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = ["--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"]
    files = ["-t", str(sample / "system-b.txt"), "-r", str(sample / "ref.txt")]
    result, pages = tmp_path / "r.json", [tmp_path / "some.html", tmp_path / "all.html"]
    assert main(["score", *files, *model, "--to_json", str(result), "--quiet", "--only_system"]) == 0
    assert report(result, "-o", pages[1], *model, "--all-alternatives") == 0
    every = [p for s in data_of(pages[1])["segments"] for o in s[4] for p in o[3]]
    scores = sorted({p[1] for p in every})
    middle = max(range(1, len(scores)), key=lambda k: scores[k] - scores[k - 1])  # the widest gap
    threshold = (scores[middle - 1] + scores[middle]) / 2
    monkeypatch.setattr("pronmetric.cli.report.THRESHOLD", threshold)
    capsys.readouterr()
    assert report(result, "-o", pages[0], *model) == 0
    assert f"alternatives are shown for pronouns with a probability below {threshold:g}" in capsys.readouterr().err
    some = [p for s in data_of(pages[0])["segments"] for o in s[4] for p in o[3]]
    for one, full in zip(some, every, strict=True):
        assert one[:2] == full[:2] and one[2][0] == pytest.approx(full[2][0], abs=1e-3)
        assert full[3] is not None and (one[3] is None) == (full[1] > threshold)
        if one[3] is not None:
            assert [tuple(o) for o in one[3]] == [(form, pytest.approx(value, abs=2e-4)) for form, value in full[3]]


def test_another_model_shows_nothing_beside_a_result(
    tmp_path: Path, tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence never holds the numbers of two models."""
    model = ["--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"]
    assert report(RESULT, "-o", tmp_path / "r.html", *model, "--limit", "2") == 0
    err = capsys.readouterr().err
    assert "than the model that made the result" in err and "give that model with --model" in err
    pronouns = [p for s in data_of(tmp_path / "r.html")["segments"] for o in s[4] for p in o[3]]
    assert pronouns and all(len(p) == 2 for p in pronouns)


def test_the_model_of_a_result_that_is_not_found_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = json.loads(RESULT.read_text(encoding="utf-8"))
    made["signature"] = made["signature"].replace("model:default", "model:of-somebody")
    (tmp_path / "r.json").write_text(json.dumps(made), encoding="utf-8")
    assert report(tmp_path / "r.json", "-o", tmp_path / "r.html", "--limit", "2") == 0
    assert "of-somebody, the model that made the result, is not found by this name" in capsys.readouterr().err
    assert report(tmp_path / "r.json", "-o", tmp_path / "r.html", "--model", "of-nobody") == 1


def test_an_unbounded_head_has_no_alternatives(
    tmp_path: Path, sample: Path, tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]
) -> None:
    for head in ("paper", "average"):
        model = ["--model", str(tiny_checkpoint(head=head)), "--precision", "32", "--gpus", "0"]
        result = tmp_path / f"{head}.json"
        files = ["-t", str(sample / "system-b.txt"), "-r", str(sample / "ref.txt")]
        assert main(["score", *files, *model, "--to_json", str(result), "--quiet", "--only_system"]) == 0
        assert report(result, "-o", tmp_path / "r.html", *model, "--limit", "2") == 0
        assert "alternative pronouns are not shown" in capsys.readouterr().err
        pronouns = [p for s in data_of(tmp_path / "r.html")["segments"] for o in s[4] for p in o[3]]
        assert all(p[3] is None and (p[2] == 0) == (head == "average") for p in pronouns)
