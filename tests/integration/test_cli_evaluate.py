"""`pronmetric evaluate` from flags to output."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.lab.human import pair_sets
from tests.tools.row_files import jsonl

Checkpoints = Callable[..., Path]
Run = Callable[..., tuple[str, str]]

PAIRS = [
    {
        "id": f"p{i}",
        "context": [f"Anna saw {chr(97 + i % 20)}{chr(97 + i // 20)}."],
        "text_a": "Then she left.",
        "text_b": "Then he left." if i % 2 else "Then it left.",
        "better": "A",
        "doc": f"d{i // 4}",
    }
    for i in range(40)
]


def score(id: str, a: float | None, b: float | None) -> dict[str, Any]:
    return {"id": id, "score_a": a, "score_b": b}


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "pairs.jsonl", PAIRS)


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """Right for she -> he, and a quarter of the others; one null, one equal."""
    rows = [score(f"p{i}", 0.9, 0.1) if i % 2 or i % 8 == 0 else score(f"p{i}", 0.1, 0.9) for i in range(40)]
    rows[2], rows[4] = score("p2", None, 0.5), score("p4", 0.5, 0.5)
    return jsonl(tmp_path / "theirs.jsonl", rows)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the verb, which must end well; gives stdout and stderr."""

    def call(*argv: object) -> tuple[str, str]:
        assert main(["evaluate", *map(str, argv)]) == 0
        return capsys.readouterr()

    return call


@pytest.fixture
def fails(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs the verb, which must end with exit code 1 and one line; gives it."""

    def call(*argv: object) -> str:
        assert main(["evaluate", *map(str, argv)]) == 1
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("pronmetric: error: ") and err.count("\n") == 1
        return err.removeprefix("pronmetric: error: ").strip()

    return call


def cells(out: str, name: str) -> list[str]:
    """The cells of the first line of that name, after it."""
    line = next(line for line in out.splitlines() if line.startswith(f"{name}  "))
    return re.split(r" {2,}", line)[1:]


def test_scores_of_another_metric(run: Run, pairs: Path, theirs: Path, tmp_path: Path) -> None:
    out, err = run(pairs, "--scores", theirs, "--to_json", tmp_path / "o.json", "--verbose")
    assert (
        cells(out, "all")[0] == "40"
        and cells(out, "all")[1].startswith("62.5 [")
        and cells(out, "all")[2:]
        == [
            "1",
            "1",
        ]
    )
    assert cells(out, "she -> he")[:2] == ["20", "100.0 [66.1, 100.0]"]
    assert cells(out, "gender")[0] == cells(out, "animacy")[0] == "20"
    assert "gold answers: 40 given" in out and "intervals over 10 documents" in out
    assert re.search(r"^she -> it +15 +20$", out, re.MULTILINE)
    assert "give --seen confusion.json" in err
    content = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    part = content["parts"]["pairs"]
    assert (part["accuracy"]["right"], part["accuracy"]["equal"], part["accuracy"]["null"]) == (25, 1, 1)
    assert part["accuracy"]["low"] < part["accuracy"]["accuracy"] < part["accuracy"]["high"]
    assert part["confusions"][0] == {"reference": "she", "system": "it", "pairs": 20, "wrong": 15}
    assert content["signature"] is None and content["context"] is None and content["against"] is None
    assert content["pairs"][2] == {"id": "p2", "part": "pairs", "better": "A", "score_a": None, "score_b": 0.5}


def test_no_torch_is_loaded_for_scores(pairs: Path, theirs: Path) -> None:
    code = (
        "import sys; from pronmetric.cli.main import main; "
        f"code = main(['evaluate', {str(pairs)!r}, '--scores', {str(theirs)!r}, '--quiet', '--tie', '0.1']); "
        "print(code, sorted({'torch', 'transformers', 'datasets'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "0 []" and result.stderr == ""


def test_seen_pairs(run: Run, pairs: Path, theirs: Path, tmp_path: Path) -> None:
    (tmp_path / "confusion.json").write_text('{"she": {"he": 3, "it": 0}}')
    out, err = run(pairs, "--scores", theirs, "--seen", tmp_path / "confusion.json")
    assert cells(out, "seen in training")[:2] == ["20", "100.0 [66.1, 100.0]"]
    assert cells(out, "unseen in training")[0] == "20"
    assert "--seen" not in err


def test_against(run: Run, pairs: Path, theirs: Path, tmp_path: Path) -> None:
    best = jsonl(tmp_path / "best.jsonl", [score(f"p{i}", 1, 0) for i in range(40)])
    out, _ = run(pairs, "--scores", theirs, "--against", best, "--to_json", tmp_path / "o.json")
    assert cells(out, str(theirs))[1:] == ["0"] and cells(out, str(best)) == ["100.0 [66.1, 100.0]", "15"]
    interval, test = r"\[-\d+\.\d, -\d+\.\d\]", r"approximate randomisation p = 0\.\d+; t test p = 0\.\d+"
    assert re.search(rf"difference -37\.5 {interval}; {test}", out)
    found = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["against"]
    assert found["scores"] == str(best) and found["parts"]["pairs"]["only_second"] == 15
    same, _ = run(pairs, "--scores", theirs, "--against", theirs)
    assert "difference +0.0; approximate randomisation p = 1.0000; t test p = 1.0000" in same


def test_ties_and_votes(run: Run, tmp_path: Path) -> None:
    texts = {"text_a": "She left.", "text_b": "He left."}
    path = jsonl(
        tmp_path / "p",
        [
            {"id": 1, **texts, "better": "A"},
            {"id": 2, **texts, "better": "tie"},
            {"id": 3, **texts, "votes": {"x": "B", "y": "B", "z": "A"}},
            {"id": 4, **texts, "votes": {"x": "B", "y": "A"}},
            {"id": 5, **texts},
        ],
    )
    scores = jsonl(
        tmp_path / "s",
        [score("1", 0.9, 0.1), score("2", 0.5, 0.51), score("3", 0.2, 0.3), score("4", 1, 0), score("5", 1, 0)],
    )
    out, _ = run(path, "--scores", scores)
    assert "gold answers: 1 given, 1 by majority vote; excluded: 1 ties, 2 without an answer" in out
    assert cells(out, "all")[:2] == ["2", "100.0"]
    assert "gold tie rate: 33.3 %; a tie threshold of 0.055 gives the metric the nearest tie rate" in out
    assert "same answer (A, B or tie)" not in out
    out, _ = run(path, "--scores", scores, "--tie", "0.2")
    assert "same answer (A, B or tie) in 66.7 % of 3 pairs; tie rate: gold 33.3 %, metric 66.7 %" in out
    assert cells(out, "gold tie") == ["0", "0", "1", "0"] and cells(out, "gold B") == ["0", "0", "1", "0"]


def test_simple_baselines(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    short, long = "The dog slept.", "He slept while it rained."
    made = [{"id": i, "text_a": short, "text_b": long, "better": "A" if i < 3 else "B"} for i in range(4)]
    rows = [{**pair, "reference": "The dog was asleep.", "doc": f"d{i}"} for i, pair in enumerate(made)]
    path = jsonl(tmp_path / "p", rows)
    scores = jsonl(tmp_path / "s", [score(str(i), 1, 0) if i else score("0", 0, 1) for i in range(4)])
    out, _ = run(path, "--scores", scores, "--to_json", tmp_path / "o.json")
    for name in ("fewer pronouns", "chrF to the reference"):  # both take A, which is right in three of four
        found = cells(out, name)
        assert found[:2] == ["4", "4"]
        assert [cell.split(" ")[0] for cell in found[2:]] == ["75.0", "50.0", "-25.0"]
    assert "better system overall" not in out
    baselines = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["baselines"]["pairs"]
    assert baselines["fewer pronouns"]["baseline"]["value"] == 0.75 and set(baselines) == {
        "fewer pronouns",
        "chrF to the reference",
    }
    out, _ = run(jsonl(tmp_path / "p", [{**p, "text_b": "Dogs sleep."} for p in made]), "--scores", scores)
    assert "fewer pronouns" not in out


def test_study_files(run: Run, tmp_path: Path) -> None:
    sample = {
        "lang": "french",
        "context": ["the", "queen", "spoke", "."],
        "reference": ["then", "she", "left"],
        "noisy": ["then", "he", "left"],
        "reference_pronoun": "she",
        "noisy_pronoun": "he",
    }
    path = jsonl(tmp_path / "p", [{"id": "f-1", **sample}, {"id": "g-1", **sample, "lang": "german"}])
    scores = jsonl(tmp_path / "s", [score("f-1", 1, 0), score("g-1", 0, 1)])
    out, err = run(path, "--scores", scores)
    assert "gold answers: 2 given (the reference is better: 2)" in out and "no intervals: fewer than 4 documents" in err
    assert cells(out, "french")[1] == "100.0" and cells(out, "german")[1] == "0.0" and cells(out, "all")[1] == "50.0"


def test_gap_files(run: Run, tmp_path: Path) -> None:
    rows = [
        "ID\tText\tPronoun\tPronoun-offset\tURL",
        "t-1\tThe queen spoke. Then she left.\tshe\t22\ta",
        "t-2\tThe king spoke. Then he left.\the\t21\tb",
    ]
    (tmp_path / "g.tsv").write_text("\n".join(rows) + "\n")
    scores = jsonl(tmp_path / "s", [score("t-1", 1, 0), score("t-2", 0, 1)])
    out, err = run(tmp_path / "g.tsv", "--scores", scores)
    assert cells(out, "gender")[0] == "2" and cells(out, "he -> she")[1] == "0.0"
    assert "GAP, each sentence against its copy with the pronoun of the other gender" in err


def test_no_such_file(fails: Callable[..., str], tmp_path: Path, theirs: Path, pairs: Path) -> None:
    assert fails(tmp_path / "none", "--scores", theirs) == f"{tmp_path / 'none'}: no such file"
    assert fails(pairs, "--scores", tmp_path / "none") == f"{tmp_path / 'none'}: no such file"
    assert "expected a confusion table" in fails(pairs, "--scores", theirs, "--seen", pairs)
    assert "no split 'development' here" in fails(tmp_path, "--scores", theirs)
    assert "--split needs a prepared folder" in fails(pairs, "--scores", theirs, "--split", "test")
    assert "--threshold needs labelled pronouns" in fails(pairs, "--scores", theirs, "--threshold", "0.4")
    assert "would be overwritten" in fails(pairs, "--scores", theirs, "--to_json", theirs)


# Labelled pronouns

TOKENS = [
    {
        "id": i,
        "context": ["Anna came in."],
        "text": "Then he left." if i % 3 else "She wept.",
        "start": 5 if i % 3 else 0,
        "end": 7 if i % 3 else 3,
        "pronoun": "he" if i % 3 else "She",
        "label": "wrong" if i % 3 == 1 else "right",
        "doc": f"d{i // 4}",
        "system": "Alder" if i % 2 else "Birch",
    }
    for i in range(24)
]


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "tokens.jsonl", TOKENS)


def test_detection(run: Run, tokens: Path, tmp_path: Path) -> None:
    scores = jsonl(
        tmp_path / "s",
        [{"id": i, "score": None if i == 1 else 0.2 if i % 3 == 1 else 0.3 if i == 2 else 0.9} for i in range(24)],
    )
    out, err = run(tokens, "--scores", scores, "--to_json", tmp_path / "o.json")
    assert cells(out, "all")[:4] == ["24", "8", "8", "1"]
    assert cells(out, "all")[4].startswith("87.5 [")
    assert cells(out, "he") == ["16", "8", "8", "1", "87.5", "87.5", "87.5", *cells(out, "he")[7:]]
    assert cells(out, "she")[4:] == ["-"] * 5
    assert {cells(out, name)[0] for name in ("Alder", "Birch")} == {"12"}
    assert "flagged below 0.5; intervals resample 6 documents" in out
    assert err == "pronmetric: the intervals are based on only 6 documents\n"
    content = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert content["detection"]["precision"]["value"] == 0.875
    assert content["by_pronoun"]["she"]["roc_auc"] is None
    out, _ = run(tokens, "--scores", scores, "--threshold", "0.25")
    assert cells(out, "all")[2] == "7"


def test_pairs_flags_do_not_go_with_pronouns(fails: Callable[..., str], tokens: Path, theirs: Path) -> None:
    for flags in (["--tie", "0"], ["--against", theirs], ["--seen", theirs], ["--split", "test"]):
        assert "holds labelled pronouns" in fails(tokens, "--scores", theirs, *flags)
    assert "holds labelled pronouns, but --context respective" in fails(tokens, "--context", "respective")
    assert "holds labelled pronouns, but --by" in fails(tokens, "--by", "errors")


def test_shuffled_context_is_that_of_another_document(pairs: Path) -> None:
    found = pair_sets.read_file(str(pairs), note=print)
    texts = list(found.texts("shuffled", seed=0))
    own = {pair["context"][0]: pair["doc"] for pair in PAIRS}
    assert len(texts) == 80 and {text.context for text in texts} == own.keys()
    for pair, a, b in zip(PAIRS, texts[::2], texts[1::2], strict=True):
        assert a.context == b.context and own[a.context] != pair["doc"]


# With a model

Model = list[Any]


@pytest.fixture
def model(tiny_checkpoint: Checkpoints) -> Model:
    return ["--model", tiny_checkpoint(), "--precision", "32", "--gpus", "0"]


def test_a_model_scores_in_context(run: Run, pairs: Path, model: Model, tmp_path: Path) -> None:
    from pronmetric.metric import PronounMetric

    metric = PronounMetric.from_pretrained(model[1], precision="32", gpus=0)
    found = {}
    for kind in ("common", "none", "shuffled"):
        saved = tmp_path / kind
        out, err = run(pairs, *model, "--context", kind, "--save-scores", saved, "--to_json", tmp_path / "o.json")
        assert f"context {kind}" in out and f"|context:{kind}|" in err
        found[kind] = [json.loads(line) for line in saved.read_text().splitlines()]
        content = json.loads((tmp_path / "o.json").read_text())
        assert f"|context:{kind}|" in content["signature"] and content["counts"]["encoded"] > 0
    for kind, context in (("common", PAIRS[3]["context"]), ("none", [])):
        records = [{"text": PAIRS[3][side], "context": context} for side in ("text_a", "text_b")]
        both = metric.predict(records).scores
        assert [found[kind][3]["score_a"], found[kind][3]["score_b"]] == pytest.approx(both, abs=1e-5)
    assert sum(a != b for a, b in zip(found["common"], found["shuffled"], strict=True)) > 30
    saved, _ = run(pairs, "--scores", tmp_path / "common", "--quiet")
    direct, _ = run(pairs, *model, "--quiet")
    assert saved.splitlines()[1:] == direct.splitlines()[1:]


def test_a_text_without_pronoun_is_null(run: Run, model: Model, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "p", [{"id": 1, "text_a": "She left.", "text_b": "Anna left.", "better": "A"}])
    out, _ = run(path, *model)
    assert cells(out, "all") == ["1", "0.0", "0", "1"]


def test_respective_context_needs_systems(fails: Callable[..., str], pairs: Path, model: Model) -> None:
    assert "both texts of a pair have the same context" in fails(pairs, *model, "--context", "respective")


def test_tie_auto(
    run: Run, fails: Callable[..., str], pairs: Path, model: Model, tmp_path: Path, tiny_checkpoint: Checkpoints
) -> None:
    import shutil

    import yaml

    assert "has no tie threshold" in fails(pairs, *model, "--tie", "auto")
    folder = tmp_path / "with-threshold"
    shutil.copytree(tiny_checkpoint(), folder)
    config = yaml.safe_load((folder / "config.yaml").read_text())
    config |= {"tie": 0.125, "training": {"confusion": {"she": {"he": 2}}}}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    out, err = run(pairs, "--model", folder, *model[2:], "--tie", "auto")
    assert "tie threshold 0.125" in out and re.search(r"signature: \S+\|tie:0\.125$", err, re.MULTILINE)
    assert cells(out, "seen in training")[0] == "20" and "give --seen" not in err


def test_prepared_folder(run: Run, tiny_prepared: Path, model: Model, tmp_path: Path) -> None:
    for kind in ("common", "respective"):
        out, _ = run(tiny_prepared, *model, "--context", kind, "--save-scores", tmp_path / kind)
        assert f"{tiny_prepared} (development), R vs S; context {kind}" in out
        assert f"{tiny_prepared} (development), R vs R'; context {kind}" in out
        assert "tiny.de-en" in out
    common, respective = (
        [json.loads(line) for line in (tmp_path / kind).read_text().splitlines()] for kind in ("common", "respective")
    )
    assert [row["score_a"] for row in common] == pytest.approx([row["score_a"] for row in respective], abs=1.1e-5)
    assert [row["score_b"] for row in common] != [row["score_b"] for row in respective]
    out, _ = run(tiny_prepared, "--scores", tmp_path / "common", "--against", tmp_path / "respective")
    assert out.count("correct in this one only") == 2


def test_wmt_test_set(run: Run, wmt_sample: Path, model: Model, tmp_path: Path) -> None:
    flags = ["-d", "wmt23:de-en", "--wmt-dir", wmt_sample]
    out, err = run(*flags, *model, "--save-scores", tmp_path / "s", "--to_json", tmp_path / "o.json")
    assert "wmt23:de-en, R vs S; context common" in out and "wmt23:de-en, R vs R'; context common" in out
    assert "the aligner is trained on this test set only" in err
    content = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert content["parts"].keys() == {"R vs S", "R vs R'"}
    assert all(pair["better"] == "A" for pair in content["pairs"])
    found = [pair["id"] for pair in content["pairs"]]
    assert len(found) == len(set(found)) > 2
    again, _ = run(*flags, "--scores", tmp_path / "s", "--quiet")
    assert [line.split("; ")[0] for line in again.splitlines() if line.startswith("wmt23")] == [
        "wmt23:de-en, R vs S",
        "wmt23:de-en, R vs R'",
    ]


def test_detection_with_a_model(
    run: Run, fails: Callable[..., str], tokens: Path, tiny_checkpoint: Checkpoints, model: Model, tmp_path: Path
) -> None:
    from pronmetric.metric import PronounMetric

    records = [*TOKENS, {**TOKENS[0], "id": "noun", "text": "Anna wept.", "end": 4, "pronoun": "Anna"}]
    path = jsonl(tmp_path / "t", records)
    out, err = run(path, *model, "--save-scores", tmp_path / "s")
    assert cells(out, "all")[0] == "25" and cells(out, "all")[3] == "1" and "|context:common|" in err
    scores = [json.loads(line)["score"] for line in (tmp_path / "s").read_text().splitlines()]
    metric = PronounMetric.from_pretrained(model[1], precision="32", gpus=0)
    assert scores[-1] is None
    assert scores[:2] == pytest.approx([p[0].score for p in metric.predict(TOKENS[:2]).pronouns], abs=1e-5)
    shuffled, _ = run(path, *model, "--context", "none")
    assert "context none" in shuffled
    paper = ["--model", tiny_checkpoint(head="paper"), *model[2:]]
    assert "with --threshold X" in fails(tokens, *paper)
    out, _ = run(tokens, *paper, "--threshold", "0")
    assert "flagged below 0;" in out
