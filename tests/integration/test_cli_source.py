"""`--source-lang`: the source counts in score, compare, suggest and rerank; without it nothing changes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from safetensors.torch import load_file, save_file

from data_prep.wmt import source_lines
from pronmetric.checkpoint.files import WEIGHTS
from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.metric import PronounMetric
from pronmetric.scoring.rerank import Weighting, rerank
from pronmetric.source import files as source_files
from pronmetric.text.context import Source, Text

Checkpoints = Callable[..., Path]
SOURCES = ["Sie hat ihre Schwester gesehen.", "Es regnet.", "Er schläft."]
OUTPUT = ["He has seen his sister.", "It rains.", "He sleeps."]
OTHER = ["She has seen her sister.", "It rains.", "She sleeps."]


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("s", SOURCES), ("a", OUTPUT), ("b", OTHER)):
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def model(tiny_checkpoint: Checkpoints) -> list[str]:
    return ["--model", str(tiny_checkpoint()), "--gpus", "0"]


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0, source_lang="de")


def test_score_is_the_model_and_the_evidence_combined(metric: PronounMetric, tiny_checkpoint: Checkpoints) -> None:
    plain = PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0)
    records = [{"text": text, "source": source} for text, source in zip(OUTPUT, SOURCES, strict=True)]
    with_source, without = metric.predict(records), plain.predict(records)
    for scored, alone in zip(with_source.segments, without.segments, strict=True):
        assert scored.score == pytest.approx(sum(p.score for p in scored.pronouns) / len(scored.pronouns))
        for p, q in zip(scored.pronouns, alone.pronouns, strict=True):
            assert p.evidence is not None and q.evidence is None
            (expected,) = source_files.of_language("de").combination.probabilities([q.score], [p.evidence.log_odds])
            assert p.score == pytest.approx(expected, abs=1e-6)
    assert with_source.signature["source"].startswith("de-") and "source:" not in str(without.signature)


def test_texts_without_a_source_have_the_score_of_the_model(
    metric: PronounMetric, tiny_checkpoint: Checkpoints
) -> None:
    plain = PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0)
    texts = [Text("", text) for text in OUTPUT]
    assert list(metric.stream(texts)) == list(plain.stream(texts))
    sources = [Text("", text, Source(source)) for text, source in zip(OUTPUT, SOURCES, strict=True)]
    assert list(plain.stream(sources)) == list(plain.stream(texts))


def test_a_record_without_source_is_refused(metric: PronounMetric) -> None:
    with pytest.raises(InputError, match='record:1: the key "source" is missing'):
        metric.predict([{"text": "He sleeps."}])
    with pytest.raises(InputError, match='"source_context" must be a list of strings'):
        metric.predict([{"text": "He sleeps.", "source": "Er schläft.", "source_context": "Er"}])


def test_compare_swaps_signs_with_sources(metric: PronounMetric) -> None:
    one, other = (
        [{"text": text, "source": source} for text, source in zip(side, SOURCES, strict=True)]
        for side in (OUTPUT, OTHER)
    )
    there, back = metric.compare(one, other), metric.compare(other, one)
    for a, b in zip(there.decisions, back.decisions, strict=True):
        assert a.difference is not None and b.difference == pytest.approx(-a.difference)


def test_rerank_follows_the_source(tiny_checkpoint: Checkpoints, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_checkpoint(), tmp_path / "undecided")
    weights = load_file(folder / WEIGHTS)
    save_file({k: w * (not k.startswith("head.")) for k, w in weights.items()}, folder / WEIGHTS, {"format": "pt"})
    undecided = PronounMetric.from_pretrained(folder, gpus=0, source_lang="de")  # all pronouns are equally probable
    candidates = list(zip(OUTPUT, OTHER, strict=True))
    choices = rerank(
        candidates, undecided.stream, weighting=Weighting(), contexts=[""] * 3, sources=[Source(s) for s in SOURCES]
    )
    texts = [candidates[line][choice.chosen] for line, choice in choices]
    assert texts[0] == OTHER[0] and texts[2] == OUTPUT[2]


@pytest.mark.usefixtures("texts")
def test_flags_of_score_and_its_files(model: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["-t", "a", "-s", "s", "--source-lang", "de", "--to_json", "r.json", *model]
    assert main(["score", *flags]) == 0
    assert "|source:de-" in capsys.readouterr().err
    entries = json.loads(Path("r.json").read_text(encoding="utf-8"))["segments"]
    he = entries[0]["pronouns"][0]["source"]
    assert he["log_odds"] < 0 and (he["word"], he["start"], he["end"]) == ("Sie", 0, 3)
    assert [entry["missing"] for entry in entries] == [[], [], []] and "surplus" in entries[0]
    assert main(["report", "r.json", "--format", "md", "--show", "pronouns", "--no-model"]) == 0
    assert f"| Sie | {he['log_odds']:+.2f} |" in capsys.readouterr().out
    assert main(["report", "r.json", "--no-model", "-o", "r.html"]) == 0
    assert f'["Sie",{round(he["log_odds"], 2)},' in Path("r.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("texts")
def test_missing_pronouns_are_counted_and_are_no_errors(model: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("a").write_text("He has seen his sister.\nIt rains.\nSleeps.\n", encoding="utf-8")
    flags = ["-t", "a", "-s", "s", "--source-lang", "de", "--verbose", *model]
    assert main(["score", *flags, "--to_json", "r.json"]) == 0
    said = capsys.readouterr().err
    assert "a: 1 source pronouns without a counterpart, 0 pronouns without one in the source" in said
    assert "does not affect scores" not in said  # it does
    result = json.loads(Path("r.json").read_text(encoding="utf-8"))
    last = result["segments"][2]
    assert last["missing"] == [{"text": "Er", "start": 0, "end": 2}] and last["surplus"] == []
    assert last["score"] is None and last["errors"] == 0.0
    assert (result["systems"][0]["missing_pronouns"], result["systems"][0]["surplus_pronouns"]) == (1, 0)
    assert main(["score", "-t", "a", "--verbose", "--to_json", "r.json", *model]) == 0  # no source counts
    plain = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert "missing" not in plain["segments"][2] and "missing_pronouns" not in plain["systems"][0]
    assert "without a counterpart" not in capsys.readouterr().err


@pytest.mark.usefixtures("texts")
def test_missing_pronouns_are_counted_by_the_reference(model: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("a").write_text("He has seen his sister.\nIt rains with her.\nSleeps.\n", encoding="utf-8")
    Path("ref").write_text("He has seen his sister.\nIt rains.\nHe sleeps.\n", encoding="utf-8")
    assert main(["score", "-t", "a", "-r", "ref", "--verbose", "--to_json", "r.json", *model]) == 0
    said = capsys.readouterr().err
    assert "a: 1 reference pronouns without a counterpart, 1 pronouns without one in the reference" in said
    result = json.loads(Path("r.json").read_text(encoding="utf-8"))
    first, second, last = result["segments"]
    assert first["missing"] == first["surplus"] == second["missing"] == last["surplus"] == []
    assert second["surplus"] == [{"text": "her", "start": 14, "end": 17}]
    assert last["missing"] == [{"text": "He", "start": 0, "end": 2}] and last["errors"] == 0.0
    assert (result["systems"][0]["missing_pronouns"], result["systems"][0]["surplus_pronouns"]) == (1, 1)
    flags = ["-t", "a", "-r", "ref", "-s", "s", "--source-lang", "de", "--verbose", "--to_json", "r.json", *model]
    assert main(["score", *flags]) == 0  # with a source, by the source
    assert "source pronouns without a counterpart" in capsys.readouterr().err


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    ("verb", "flags"),
    [("compare", ["-t", "a", "b"]), ("suggest", ["-t", "a", "--all"]), ("rerank", ["--candidates", "a", "b"])],
)
def test_flags_of_other_verbs(
    verb: str, flags: list[str], model: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, *flags, "-s", "s", "--source-lang", "de", *model]) == 0
    assert "|source:de-" in capsys.readouterr().err
    assert main([verb, *flags, "-s", "s", "--source-lang", "tlh", *model]) == 1
    assert "no source table for language 'tlh': expected one of cs, de" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([verb, *flags, "--source-lang", "de", *model])
    assert "--source-lang needs the source: give -s" in capsys.readouterr().err


@pytest.mark.usefixtures("texts")
def test_train_source_writes_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["train-source", "--source-lang", "xx", "--parallel", "s", "a", "b", "-o", "xx.npz"]
    assert main(flags) == 0
    assert source_files.load("xx.npz").language == "xx"
    first = Path("xx.npz").read_bytes()
    assert main(flags) == 0 and Path("xx.npz").read_bytes() == first
    with pytest.raises(SystemExit):
        main(["train-source", "--source-lang", "xx", "-o", "xx.npz"])
    assert "give --parallel, --wmt-dir, or both" in capsys.readouterr().err


def test_train_source_leaves_out_the_test_sets_of_prepare(
    tmp_path: Path, wmt_sample: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # its only test set is de-en of WMT23
    flags = ["train-source", "--source-lang", "de", "--wmt-dir", str(wmt_sample), "-o", str(tmp_path / "de.npz")]
    assert main(flags) == 1
    assert "no test set de-en left: there are generaltest2023.de-en" in capsys.readouterr().err
    assert main([*flags, "--exclude", "wmt22"]) == 0
    assert source_files.load(tmp_path / "de.npz").language == "de"


def test_the_default_of_exclude_is_the_test_and_development_sets_of_prepare(root: Path) -> None:
    splits = yaml.safe_load((root / "conf" / "prepare.yaml").read_text(encoding="utf-8"))["splits"]
    assert list(source_lines.HELD_OUT) == [*splits["test"], *splits["development"]]
