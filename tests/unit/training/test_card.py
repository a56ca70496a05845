from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks import pages
from benchmarks.checkpoint import card as script
from benchmarks.checkpoint.card_figures import measured
from benchmarks.checkpoint.reliability import Bin
from pronmetric.errors import InputError
from pronmetric.eval.accuracy import Accuracy, Confusion, CountSplit, Estimate
from pronmetric.training.card.checkpoint import Provenance, card

WEIGHTS = hashlib.sha256(b"weights").hexdigest()[:8]
CONFIG = {
    "format": 1,
    "encoder": {"hidden_size": 384},
    "head": {"kind": "logit", "dropout": 0.1, "slots": 0},
    "word_state": "mean",
    "segment": "mean",
    "max_pieces": 256,
    "separator": False,
    "pronouns": ["he", "it"],
    "context": "common",
    "training": {"seed": 3, "overrides": ["experiment=default", "seed=3"], "seconds": 4380},
}
MANIFEST = {
    "schema_version": 1,
    "package_version": "0.1.0",
    "inputs": {"wmt": {"a.en": "0"}, "english": {"gum/a.txt": "1", "gum/b.txt": "2", "mine/c.txt": "3"}},
    "config": {"agreement": "grammar", "exclude": ["newstest2017"]},
    "splits": {"train": {"rows": 12345, "testsets": ["set.de-en"]}, "passages_train": {"rows": 7, "testsets": []}},
}
MAKING = Provenance("two cores of a CPU", "2026-01-02")
SHARE = Accuracy(0.864, 0.831, 0.892, 500, 432, 3, 2)


def report(benchmark: str, figures: dict[str, Any], weights: str = WEIGHTS) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "weights": weights,
        "command": f"python -m benchmarks.checkpoint.{benchmark} --model x",
        "figures": pages.plain(figures),
    }


def study() -> dict[str, Any]:
    part = {
        **dict.fromkeys(("common", "none", "shuffled"), SHARE),
        "unscored": {"either": 4, "share": 0.008},
    }
    return report("study", {"languages": {"french": part}, "confusions": [Confusion("that", "which", 100, 29)]})


def pairs() -> dict[str, Any]:
    part = {
        "contexts": {"common": SHARE},
        "by_count": CountSplit(SHARE, Accuracy(0.5, None, None, 8, 4, 0, 0), Estimate(0.25, None, None)),
        "confusions": [Confusion("its", "their", 45, 9)],
    }
    return report("pair_accuracy", {"split": "test", "noisy": part, "system": part})


def calibration() -> dict[str, Any]:
    figures = {
        "split": "development",
        "form": "natural",
        "ece": 0.0312,
        "bins": 15,
        "pronouns": 9000,
        "wrong": 450,
        "rate": 0.0523,
        "reliability": [Bin(0.1, 0.4, 600, 0.25, 0.31)],
    }
    return report("calibration", figures)


def gap() -> dict[str, Any]:
    kinds = dict.fromkeys(("common", "none", "shuffled"), SHARE)
    gain = Estimate(0.042, 0.01, 0.07)
    return report(
        "gap", {**kinds, "first_600": kinds, "context_gain": gain, "shuffled_gain": Estimate(-0.01, None, None)}
    )


def context_gain() -> dict[str, Any]:
    part = {
        **dict.fromkeys(("common", "none", "shuffled"), SHARE),
        "context_gain": Estimate(0.042, 0.01, 0.07),
        "shuffled_gain": Estimate(-0.01, -0.02, 0.0),
    }
    return report("context_gain", {"third": part, "third, he": part})


def antecedents() -> dict[str, Any]:
    hits = {"hit@1": Estimate(0.25, 0.2, 0.3), "hit@3": Estimate(0.5, None, None)}
    part = {"pronouns": 40, **dict.fromkeys(("attention", "nearest noun", "chance"), hits)}
    part["gain"] = {"hit@1": Estimate(-0.042, -0.07, 0.01)}
    return report("antecedents", {"groups": {"held out": {"antecedent": part}, "read in training": {}}})


def bias() -> dict[str, Any]:
    gain = Estimate(0.042, 0.01, 0.07)
    sources = {name: {"pearson": Estimate(-0.31, -0.5, -0.1)} for name in ("bergsma", "bls")}
    own = {"occupations": 60, "difference": gain, "absolute": gain, "correlations": sources}
    return report(
        "bias",
        {
            "winogender": {"occupation": own},
            "gap": {**dict.fromkeys(("feminine", "masculine"), SHARE), "difference": gain},
        },
    )


def fidelity() -> dict[str, Any]:
    bias = {"pairs": 120, "share": Estimate(0.525, 0.45, 0.6), "he": 0.5}
    levels = {str(level): {"all": SHARE, "they": SHARE} for level in range(2)}
    return report("fidelity", {"levels": levels, "they": {"all": SHARE, "genres": {}}, "stereotypes": bias})


def people() -> dict[str, Any]:
    """The figures that `evaluate --split people_test --to_json` writes."""
    estimate = pages.plain(Estimate(0.864, 0.831, 0.892))
    zh = {"pronouns": 1200, "marked": 90, "area": estimate, "two_area": estimate, "share": estimate}
    et = {"pronouns": 300, "marked": 20, "area": estimate, "two_area": None, "share": None, "raters": None}
    bare = {**et, "area": {"value": 0.25, "low": None, "high": None}}
    own = {"preference": estimate, "preference, without the source": bare["area"]}
    return {
        "signature": f"model:small|weights:{WEIGHTS}",
        "pronouns": {
            "all": zh | {"raters": None},
            "set:zh-en": zh | {"raters": {"share": 0.406}},
            "edits:et-en": et,
            "edits:et-en, replaced": et,
            "small:de-en": et | {"marked": 5},
            "set:zh-en, without the source": bare,
        },
        "pairs": {"pairs": 700, "accuracy": own},
        "missing": {"all": {"area": estimate, "gaps": 62177, "insertions": 151}},
    }


def made(*reports: dict[str, Any]) -> str:
    return card(
        name="small",
        weights=WEIGHTS,
        config=CONFIG,
        manifest=MANIFEST,
        manifest_hash="ab" * 32,
        measured=measured(reports, weights=WEIGHTS),
        making=MAKING,
    )


def test_front_matter_is_yaml() -> None:
    text = made()
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["license"] == "apache-2.0" and front["language"] == ["en"]


def test_says_what_was_not_measured() -> None:
    text = made(study())
    names = ("pair_accuracy", "gap", "context_gain", "fidelity", "calibration", "antecedents", "bias")
    assert f"Not measured: {', '.join(f'`{name}`' for name in names)}." in text


def test_figures_come_from_the_reports() -> None:
    text = made(study(), pairs(), calibration(), gap(), context_gain(), antecedents(), bias(), fidelity(), people())
    assert "ot measured" not in text
    share = "86.4 [83.1, 89.2]"
    counts = "500 (3 equal, 2 missing)"
    assert f"| fidelity, level 1 | {counts} | {share} |  |  |" in text and "52.5 [45.0, 60.0] of 120 decisions" in text
    assert f"| published study set, french (test) | {counts} | {share} | {share} | 82.0 |" in text
    assert f"| R vs S (test), context common | {counts} | {share} |  | 90.7 on WMT14 |" in text
    assert f"| R vs R' (test), context common | {counts} | {share} |  | 89.1 on WMT14 |" in text
    assert f"R vs R' (test): {share} where both texts have as many pronouns; 50.0 of 8 pairs where not" in text
    assert "fewer pronouns wins 25.0." in text
    assert "expected calibration error 0.031 (15 bins) over 9,000 pronouns, 450 of them replaced" in text
    assert "GAP: context helps by +4.2 [+1.0, +7.0] points, shuffled context by -1.0." in text
    assert f"| R vs R', third | {counts} | {share} | {share} |  |" in text and "third, he" not in text
    assert "over 60 occupations (absolute 0.042; 0 is unbiased)" in text and "-0.31 (web text), -0.31 (US)" in text
    assert "feminine minus masculine pronouns: +4.2 [+1.0, +7.0] points." in text
    assert "for 25.0 [20.0, 30.0] % of 40 pronouns" in text
    assert "Errors it overlooks most often: which for that (29 of 100)." in text


def test_people_come_first() -> None:
    text = made(people(), study())
    assert text.index("## What people marked") < text.index("## Tests")
    share = "86.4 [83.1, 89.2]"
    assert f"| set:zh-en | 1,200, 90 | {share} | 25.0 | {share} | {share} | 40.6 |" in text
    assert f"| edits:et-en | 300, 20 | {share} | - | - | - | - |" in text and "replaced" not in text
    assert f"The corrected text is preferred to the text in {share} of 700 pairs; without the source 25.0." in text
    assert f"Missing pronouns: area {share} of 62,177 gaps, 151 of which a post-editor filled." in text
    assert "| small" not in text and "With fewer than 20 marks, in the JSON alone: small:de-en (5)." in text
    assert "Not measured." in made(study()).partition("## Tests")[0]


def test_a_column_of_people_without_a_figure_is_left_out() -> None:
    figures = people()
    figures["pronouns"] = {"edits:et-en": figures["pronouns"]["edits:et-en"]}
    assert "| texts | pronouns, marked | area |\n" in made(figures)


def test_two_reports_of_one_script_are_both_shown() -> None:
    development = pairs()
    development["figures"] = {**development["figures"], "split": "development"}
    text = made(pairs(), development)
    assert "R vs R' (test), context" in text and "R vs R' (development), context" in text
    assert "their for its (9 of 45)" in text  # without a study report


def test_data_licence_and_training() -> None:
    text = made(study())
    assert "ab" * 32 in text and "Never read: newstest2017." in text
    assert "- Data: 12,345 train, 7 passages_train (manifest" in text
    assert "for research use" in text and "GUM, CC BY" in text and "`mine` (see where it came from)" in text
    assert text.count("GUM") == 1
    assert "- On 2026-01-02, two cores of a CPU. Training took 73 minutes." in text
    assert "pronmetric train experiment=default seed=3 data.dir=PREPARED out=RUN\n" in text
    assert "## Intended use" in text and "## Limits" in text and "256 sub-word pieces" in text


def test_the_record_for_machines_is_left_to_the_config() -> None:
    text = made(study(), people())
    assert "yaml\n" not in text and "hidden_size" not in text and "dropout" not in text
    assert len(text.partition("## Training\n")[2].splitlines()) <= 10


def test_the_tie_threshold_and_how_it_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No tie threshold" in made()
    how = {"threshold": 0.0123, "pairs": 2000, "ties": 34, "people": 44 / 2640}
    training = {"seed": 3, "tie": how, "confusion": {"he": {"it": 7}}}
    monkeypatch.setitem(CONFIG, "training", training)
    monkeypatch.setitem(CONFIG, "tie", 0.0123)
    text = made()
    assert "no more than 0.0123 tie; so 1.7 % of 2,000 development pairs tie" in text and "confusion" not in text


def test_tables_are_whole() -> None:
    for block in made(study(), pairs(), calibration(), gap(), context_gain(), antecedents(), bias()).split("\n\n"):
        if block.startswith("| "):
            assert len({line.count(" | ") for line in block.splitlines()}) == 1, block


def test_figures_of_other_weights_are_refused() -> None:
    with pytest.raises(InputError, match="is of weights 00000000, the checkpoint has"):
        made(report("gap", {}, weights="00000000"))
    with pytest.raises(InputError, match="the report of people is of weights 11111111"):
        made({**people(), "signature": "model:x|weights:11111111"})


def test_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = tmp_path / "tiny", tmp_path / "data"
    model.mkdir()
    data.mkdir()
    (model / "model.safetensors").write_bytes(b"weights")
    (model / "config.yaml").write_text(yaml.safe_dump(CONFIG), encoding="utf-8")
    (tmp_path / "study.json").write_text(json.dumps(study()), encoding="utf-8")
    flags = ["--model", model, "--data", data, "--reports", tmp_path / "study.json", "--machine", "m"]
    monkeypatch.setattr(sys, "argv", ["card", *map(str, flags)])
    with pytest.raises(InputError, match=r"manifest\.json"):
        script.main()
    (data / "manifest.json").write_text(json.dumps(MANIFEST), encoding="utf-8")
    script.main()
    text = (model / "README.md").read_text(encoding="utf-8")
    assert "# pronmetric checkpoint `tiny`" in text and ", m. Training took" in text
    assert hashlib.sha256((data / "manifest.json").read_bytes()).hexdigest() in text
    assert capsys.readouterr().out.strip() == str(model / "README.md")


@pytest.mark.parametrize("name", ["base", "small"])
def test_shipped_cards_have_the_sections_of_the_generator(name: str) -> None:
    """Their commands and notes are written by hand, as their runs came together by hand."""
    folder = pages.ROOT / "checkpoints" / name
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert re.findall("^## .*", text, re.MULTILINE) == re.findall("^## .*", made(), re.MULTILINE)
    assert f"Weights `{pages.weights_hash(folder)}`" in text and len(text.split()) < 1250
