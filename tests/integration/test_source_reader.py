"""A reader of sources from parallel text to scores: `prepare`, `train experiment=source`, `score -s`."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from pronmetric.checkpoint import files, locate
from pronmetric.checkpoint.model_config import Model
from pronmetric.cli.main import main
from pronmetric.data.collate import Example
from pronmetric.errors import InputError, PronmetricError
from pronmetric.metric import PronounMetric
from pronmetric.output import tsv
from pronmetric.results import read as results
from pronmetric.scoring.score import LISTED
from pronmetric.text.context import Source, Text
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.examples.batches import Labeller
from pronmetric.training.source import mixing as source_mixing
from tests.tools.source_readers import MISSING, SHAPE, let_the_source_count

Checkpoints = Callable[..., Path]
OUTPUT = ["He has seen his sister.", "It rains.", "She sleeps."]
SOURCES = ["Sie hat ihre Schwester gesehen.", "Es regnet.", "Er schläft."]
PRONOUNS = (("She", "Sie", "him", "ihm"), ("He", "Er", "her", "ihr"), ("It", "Es", "them", "ihnen"))


@pytest.fixture(scope="module")
def multilingual(unigram: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a random encoder with that tokenizer."""
    folder = tmp_path_factory.mktemp("multilingual")
    with torch.random.fork_rng():
        torch.manual_seed(3)
        BertModel(BertConfig(vocab_size=len(unigram) + 5, **SHAPE)).save_pretrained(folder)
    unigram.save_pretrained(folder)
    return folder


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("a", OUTPUT), ("b", OUTPUT[::-1]), ("s", SOURCES)):
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def records(sources: bool) -> list[dict[str, Any]]:
    return [
        {"text": text, "context": ["It was late."], **({"source": source} if sources else {})}
        for text, source in zip(OUTPUT, SOURCES, strict=True)
    ]


def test_without_a_source_the_score_is_that_of_the_checkpoint_to_the_bit(
    with_reader: Path, tiny_checkpoint: Checkpoints
) -> None:
    plain = PronounMetric.from_pretrained(tiny_checkpoint(pair_head=True), gpus=0)
    metric = PronounMetric.from_pretrained(with_reader, gpus=0)
    assert metric.predict(records(False)).segments == plain.predict(records(False)).segments
    ignored = PronounMetric.from_pretrained(with_reader, gpus=0, no_source=True)
    assert ignored.predict(records(True)).segments == plain.predict(records(False)).segments
    for found in (metric.predict(records(False)), ignored.predict(records(True))):
        assert "source" not in dict(found.signature.fields)
    empty = [Text("", text, Source(" ")) for text in OUTPUT]
    assert list(metric.stream(empty)) == list(plain.stream([text._replace(source=None) for text in empty]))


@pytest.mark.parametrize("context", ["It was late.", ""])
def test_the_logit_is_the_weighted_sum_of_both(with_reader: Path, context: str) -> None:
    metric = PronounMetric.from_pretrained(with_reader, gpus=0)
    source = Source(SOURCES[0], ("Es war spät.",))
    (alone,) = metric.stream([Text(context, OUTPUT[0])])
    (scored,) = metric.stream([Text(context, OUTPUT[0], source)])
    reader = files.load(with_reader / locate.READER)
    spans = [(p.start, p.end) for p in alone.pronouns]
    (row,) = reader.collator.encode([Example(context, OUTPUT[0], spans, source)])
    with torch.inference_mode():
        logits = reader.model(reader.collator.pad([row])).scores[0].tolist()
    weights = (1.0, 0.5, -0.25) if context else (0.5, 2.0, 0.0)
    changes = []
    for p, q, logit in zip(scored.pronouns, alone.pronouns, logits, strict=True):
        before = math.log(q.score / (1 - q.score))
        both = weights[0] * before + weights[1] * logit + weights[2]
        assert p.score == p.probability == pytest.approx(1 / (1 + math.exp(-both)), abs=1e-4)
        assert p.evidence is not None
        assert p.evidence.log_odds == pytest.approx(max(-4, min(4, weights[1] * logit)), abs=1e-4)
        assert SOURCES[0][p.evidence.start : p.evidence.end] == p.evidence.word != ""
        changes.append(both - before)
    assert scored.score == pytest.approx(sum(p.score for p in scored.pronouns) / len(scored.pronouns))
    assert scored.preference is not None and alone.preference is not None
    head = files.load(with_reader).model.pair_head
    assert head is not None
    factor = float(head.a.detach())
    assert scored.preference - alone.preference == pytest.approx(factor * 0.5 * sum(changes) / len(changes), abs=1e-3)
    assert alone.errors is not None and scored.errors == pytest.approx(sum(1 - p.score for p in scored.pronouns))


def test_scores_do_not_depend_on_the_other_texts(with_reader: Path) -> None:
    metric = PronounMetric.from_pretrained(with_reader, gpus=0)
    given = [Text("It was late.", text, Source(source)) for text in OUTPUT for source in [*SOURCES, "x " * 300]]
    together = list(metric.stream(given, batch_size=2))
    for text, found in zip(given, together, strict=True):
        (own,) = metric.stream([text])
        assert own.score == pytest.approx(found.score, abs=1e-5)
        assert [p.evidence and p.evidence.word for p in own.pronouns] == [
            p.evidence and p.evidence.word for p in found.pronouns
        ]


def test_alternatives_are_scored_with_the_source(with_reader: Path) -> None:
    metric = PronounMetric.from_pretrained(with_reader, gpus=0)
    text = Text("It was late.", OUTPUT[1], Source(SOURCES[1]))
    (found,) = metric.alternatives([text])
    for other in found[0].others[:2]:
        (scored,) = metric.stream([text._replace(text=other.text + text.text[2:])])
        assert other.probability == pytest.approx(scored.pronouns[0].score, abs=1e-5)


def test_compare_swaps_signs_with_sources(with_reader: Path) -> None:
    metric = PronounMetric.from_pretrained(with_reader, gpus=0)
    other = [{**record, "text": text} for record, text in zip(records(True), OUTPUT[::-1], strict=True)]
    there, back = metric.compare(records(True), other), metric.compare(other, records(True))
    for a, b in zip(there.decisions, back.decisions, strict=True):
        assert a.difference is not None and b.difference == pytest.approx(-a.difference, abs=1e-5)
    assert there.signature["source"].startswith("reader-")


def test_a_copy_has_the_reader_and_a_reader_of_other_weights_is_refused(
    with_reader: Path, tiny_checkpoint: Checkpoints, tmp_path: Path
) -> None:
    metric = PronounMetric.from_pretrained(with_reader, gpus=0)
    metric.save_pretrained(tmp_path / "copy")
    again = PronounMetric.from_pretrained(tmp_path / "copy", gpus=0)
    assert again.predict(records(True)).segments == metric.predict(records(True)).segments
    shutil.copytree(tiny_checkpoint(max_pieces=48), tmp_path / "other")
    shutil.copytree(with_reader / locate.READER, tmp_path / "other" / locate.READER)
    config = tmp_path / "other" / locate.READER / locate.CONFIG
    content = yaml.safe_load(config.read_text(encoding="utf-8"))
    content["source"]["model"] = "0" * 8
    config.write_text(yaml.safe_dump(content), encoding="utf-8")
    other = PronounMetric.from_pretrained(tmp_path / "other", gpus=0)
    assert other.predict(records(False)).scores  # it is not read
    with pytest.raises(InputError, match="this reader of sources is for the weights 00000000"):
        other.predict(records(True))
    with pytest.raises(PronmetricError, match="a reader of sources scores nothing by itself"):
        PronounMetric.from_pretrained(with_reader / locate.READER, gpus=0)


@pytest.mark.parametrize("text", ["He has seen his sister.", "Has seen the sister.", "It rained. " * 40])
def test_missing_pronouns_are_expected_in_each_gap(with_gaps: Path, text: str) -> None:
    metric = PronounMetric.from_pretrained(with_gaps, gpus=0)
    (alone,) = metric.stream([Text("It was late.", text)])
    (scored,) = metric.stream([Text("It was late.", text, Source(SOURCES[0]))])
    assert alone.missing is None and alone.gaps == ()
    reader = files.load(with_gaps / locate.READER)
    spans = [(p.start, p.end) for p in scored.pronouns]
    rows = reader.collator.encode([Example("It was late.", text, spans, Source(SOURCES[0]))])
    words = metric.language.words(text)
    probability = dict[int, float]()
    with torch.inference_mode():
        for row in rows:
            assert row.gaps is not None and row.gap_word is not None
            outputs = reader.model(reader.collator.pad([row])).gaps
            assert outputs is not None
            for gap, word in zip(row.gaps.tolist(), row.gap_word.tolist(), strict=True):
                logit = MISSING.scale * outputs[0, word, 0].item() + MISSING.bias
                assert gap not in probability
                probability[gap] = 1 / (1 + math.exp(-logit))
    assert sorted(probability) == list(range(len(words)))
    assert scored.missing == pytest.approx(sum(probability.values()), abs=1e-4)
    listed = {words[gap].start: p for gap, p in probability.items() if p >= LISTED}
    assert [gap.start for gap in scored.gaps] == sorted(listed)
    assert all(gap.probability == pytest.approx(listed[gap.start], abs=1e-5) for gap in scored.gaps)
    assert {gap.form for gap in scored.gaps} <= metric.inference.forms
    (every,) = metric.stream([Text("It was late.", text, Source(SOURCES[0]))], every_gap=True)
    assert [gap.start for gap in every.gaps] == [word.start for word in words] and every._replace(gaps=()) == (
        scored._replace(gaps=())
    )
    wrong = sum(1 - p.score for p in scored.pronouns)
    assert scored.errors == pytest.approx(wrong + scored.missing)
    assert (scored.score is None) == (not spans) and scored.value("errors") == -scored.errors


def test_a_preference_that_was_fitted_on_what_people_judged(with_gaps: Path, tmp_path: Path) -> None:
    folder = tmp_path / "judged"
    shutil.copytree(with_gaps, folder)
    config = files.load(folder / locate.READER).config
    by = {"own": 0.5, "logit": 2.0, "missing": -3.0, "empty": 1.0}
    files.write_config(folder / locate.READER, {**config, "source": {**config["source"], "judged": by}})
    texts = [Text("", text, Source(SOURCES[0])) for text in (OUTPUT[0], "Nothing was found.")]
    before, empty = PronounMetric.from_pretrained(with_gaps, gpus=0).stream(texts)
    scored, without = PronounMetric.from_pretrained(folder, gpus=0).stream(texts)
    assert before.preference is not None and before.missing is not None and empty.missing is not None
    logits = [math.log(p.score / (1 - p.score)) for p in scored.pronouns]
    expected = 0.5 * before.preference + 2 * sum(logits) / len(logits) - 3 * before.missing
    assert scored.preference == pytest.approx(expected, abs=1e-4)
    assert scored.pronouns == before.pronouns
    assert empty.preference is None and without.preference == pytest.approx(1 - 3 * empty.missing)


@pytest.mark.usefixtures("texts")
def test_missing_pronouns_in_results(with_gaps: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a").write_text("He saw it.\nRained.\n", encoding="utf-8")
    Path("s").write_text("Er sah es.\nEs regnete.\n", encoding="utf-8")
    model = ["--model", str(with_gaps), "--gpus", "0"]
    written = ["--to_json", "r.json", "--to_mqm", "r.tsv", "--mqm-thresholds", "0.9", "0.3"]
    assert main(["score", "-t", "a", "-s", "s", *written, *model, "--verbose"]) == 0
    said = capsys.readouterr().err
    result = json.loads(Path("r.json").read_text(encoding="utf-8"))
    first, second = result["segments"]
    rate = result["systems"][0]["expected_missing_per_100_pronouns"]["value"]
    expected = first["expected_missing"] + second["expected_missing"]
    assert rate == pytest.approx(100 * expected / len(first["pronouns"]), abs=1e-3)
    assert f"{rate:.1f} missing" in said
    assert second["score"] is None and second["errors"] == second["expected_missing"] > 0
    assert first["errors"] == pytest.approx(first["expected_wrong"] + first["expected_missing"], abs=2e-5)
    assert {*second["gaps"][0]} == {"start", "form", "probability"}
    omissions = [line.split("\t") for line in Path("r.tsv").read_text(encoding="utf-8").splitlines()]
    assert any(line[5] == "<v></v>Rained." and line[6] == "Accuracy/Omission" for line in omissions)
    Path("b").write_text("He saw it.\nIt rained.\n", encoding="utf-8")
    assert main(["compare", "-t", "a", "b", "-s", "s", "--by", "errors", "--to_json", "c.json", *model]) == 0
    decided = json.loads(Path("c.json").read_text(encoding="utf-8"))["segments"][1]["pairs"][0]
    assert decided["better"] in ("a", "b") and decided["difference"] is not None
    assert results("c.json").segments[1].verdicts[0].better == decided["better"]
    capsys.readouterr()
    assert main(["report", "r.json", "--no-model", "-o", "r.html"]) == 0
    verdict = Path("r.html").read_text(encoding="utf-8").partition('<p class="verdict">')[2].partition("</p>")[0]
    assert f"{rate:.1f} missing" in verdict
    assert main(["report", "r.json", "--no-model", "--format", "tsv", "--show", "gaps", "--quiet"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 1 + len(first["gaps"]) + len(second["gaps"])


@pytest.mark.usefixtures("texts")
def test_wrong_and_missing_pronouns_are_shown_apart(with_gaps: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a").write_text("He saw it.\nRained.\n", encoding="utf-8")
    Path("b").write_text("He saw it.\nIt rained.\n", encoding="utf-8")
    Path("s").write_text("Er sah es.\nEs regnete.\n", encoding="utf-8")
    model = ["-s", "s", "--model", str(with_gaps), "--gpus", "0"]
    apart = {"segment_wrong", "segment_surplus", "segment_missing", "segment_gaps"}
    assert main(["score", "-t", "a", "--to_tsv", "a.tsv", *model]) == 0
    first, *_, last = tsv.read("a.tsv")
    assert apart < set(first) and last["segment_wrong"] == "0.00000" and float(last["segment_missing"]) > 0
    assert main(["score", "-t", "a", "--to_tsv", "plain.tsv", *model[2:]]) == 0  # without the source
    assert not apart & set(next(tsv.read("plain.tsv")))
    assert main(["compare", "-t", "a", "b", "--by", "errors", "--to_tsv", "c.tsv", *model]) == 0
    said = capsys.readouterr().out
    assert " wrong or surplus, " in said and " pronoun errors per 100 pronouns: " in said
    assert {f"{side}_{kind}" for side in "ab" for kind in ("wrong", "surplus", "missing")} < set(
        next(tsv.read("c.tsv"))
    )
    assert main(["check", "-t", "a", "--max-errors", "0", *model]) == 3
    said = capsys.readouterr().out
    assert "at most 0 pronoun errors expected" in said and " missing) in 2 pronouns" in said
    assert "with a doubtful or missing pronoun" in said and "missing: " in said


def test_the_server_tells_missing_pronouns(with_gaps: Path, with_reader: Path) -> None:
    testclient = pytest.importorskip("fastapi.testclient")
    from pronmetric.serve import interface
    from pronmetric.serve.app import make_app
    from pronmetric.serve.service import Service

    found, pages = [], []
    for folder in (with_gaps, with_reader):
        metric = PronounMetric.from_pretrained(folder, gpus=0)
        client = testclient.TestClient(make_app(Service(metric, context="given")))
        record = {"id": 1, "text": "Rained.", "source": "Es regnete."}
        reply = client.post("/score", json={"records": [record]}).json()
        interface.ScoredRecords.model_validate(reply)
        found.append(reply["records"][0])
        pages.append(client.get("/").text)
    assert found[0]["expected_missing"] > 0 and found[0]["expected_wrong"] == 0 and found[0]["gaps"]
    assert not {"expected_missing", "expected_wrong", "gaps"} & set(found[1])
    assert '"findsMissing":true' in pages[0] and '"findsMissing":false' in pages[1]


@pytest.mark.usefixtures("texts")
def test_the_source_counts_in_score_unless_it_is_ignored(with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = ["--model", str(with_reader), "--gpus", "0", "--verbose"]
    assert main(["score", "-t", "a", "-s", "s", "--to_json", "r.json", *model]) == 0
    said = capsys.readouterr().err
    assert "|source:reader-" in said and "does not affect" not in said
    entry = json.loads(Path("r.json").read_text(encoding="utf-8"))["segments"][0]["pronouns"][0]
    assert set(entry["source"]) == {"log_odds", "word", "start", "end"}
    assert main(["score", "-t", "a", "--to_json", "plain.json", *model]) == 0
    assert "|source:" not in capsys.readouterr().err
    assert main(["score", "-t", "a", "-s", "s", "--no-source", "--to_json", "ignored.json", *model]) == 0
    assert "|source:" not in capsys.readouterr().err
    plain, ignored = (json.loads(Path(name).read_text(encoding="utf-8")) for name in ("plain.json", "ignored.json"))
    numbers = [[segment["score"] for segment in each["segments"]] for each in (plain, ignored)]
    assert numbers[0] == numbers[1]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, root: Path, wmt_sample: Path) -> Path:
    """WMT23 for development, a small test set and a translation out of English for training."""
    folder = tmp_path_factory.mktemp("source")
    shutil.copytree(wmt_sample, folder / "wmt", dirs_exist_ok=True)
    shutil.copytree(root / "tests" / "fixtures" / "wmt" / "wmt31-news-systems", folder / "wmt" / "wmt31-news-systems")
    made = folder / "parallel" / "home31.de-en"
    made.mkdir(parents=True)
    lines = [(*PRONOUNS[number % len(PRONOUNS)], number) for number in range(40)]
    originals = "".join(f"{she} gave {number} old letters to {him}.\n" for she, _, him, _, number in lines)
    (made / "ref.en").write_text(originals, encoding="utf-8")
    translations = "".join(f"{sie} gab {ihm} {number} alte Briefe.\n" for _, sie, _, ihm, number in lines)
    (made / "src.de").write_text(translations, encoding="utf-8")
    edited = folder / "edits" / "et-en"
    edited.mkdir(parents=True)
    for suffix, line in (("src", "Ta tuli {} ."), ("mt", "He came {} ."), ("pe", "She came {} .")):
        text = "".join(f"{line.format(number)}\n" for number in range(20))
        (edited / f"train.{suffix}").write_text(text, encoding="utf-8")
    flags = [f"data.wmt={folder / 'wmt'}", f"data.parallel={folder / 'parallel'}", "fidelity.passages=0"]
    assert main(["prepare", *flags, f"data.people={folder / 'edits'}", f"out={folder / 'out'}"]) == 0
    return folder / "out"


@pytest.mark.usefixtures("texts")
def test_a_reader_is_trained_for_a_checkpoint_and_scores(
    prepared: Path,
    multilingual: Path,
    tiny_checkpoint: Checkpoints,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = json.loads((prepared / "manifest.json").read_text(encoding="utf-8"))
    kept = found["counts"]["translations"]
    assert kept["train"]["kept"]["de"]["reversed"] == 40 and kept["development"]["kept"]["de"]["reference"] > 20
    model = tiny_checkpoint(pair_head=True)
    given = {
        "data.dir": prepared,
        "out": tmp_path / "run",
        "source.model": model,
        "source.english": 0.5,
        "source.pieces": 300,
        "source.deleted": 0.2,
        "encoder.name": multilingual,
        "data.pieces": 512,
        "data.development": 40,
        "trainer.max_epochs": 1,
        "trainer.max_steps": 4,
        "trainer.validate_every": 4,
        "trainer.threads": 1,
        "trainer.precision": 32,
        "trainer.progress": "false",
    }
    overrides = ["objective.source_share=null", "objective.antecedent=0"]  # the data have no such passages
    command = ["train", "experiment=source", *overrides, *(f"{key}={value}" for key, value in given.items())]
    assert main(command) == 0
    figures = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    sides = {"source", "no_source", "model", "model_alone", "mixed", "mixed_alone"}
    sides |= {f"preference_{kind}{side}" for kind in ("noisy", "replaced", "system") for side in ("", "_source")}
    assert {f"development/{side}" for side in sides} <= figures.keys()
    assert all(0 <= float(value) <= 1 for value in figures.values())
    made = tmp_path / "run" / "checkpoint"
    for path in model.iterdir():
        assert (made / path.name).read_bytes() == path.read_bytes()
    config = yaml.safe_load((made / locate.READER / locate.CONFIG).read_text(encoding="utf-8"))
    described = Model.read(config).source
    assert described is not None and "de" in described.languages and described.preference >= 0
    assert described.model == files.load(model).hash and config["encoder"]["vocab_size"] == config["encoder"]["pieces"]
    assert config["encoder"]["pieces"] == 300 and (made / locate.READER / "model.safetensors.index.json").is_file()
    assert "| with the source |" in (made / locate.READER / locate.CARD).read_text(encoding="utf-8")
    let_the_source_count(made)
    assert main(["score", "-t", "a", "-s", "s", "--model", str(made), "--gpus", "0"]) == 0
    assert "|source:reader-" in capsys.readouterr().err
    assert "teacher" not in config["training"]
    own = [word for word in command if not word.startswith(("encoder.name=", "source.pieces="))]
    further = [*own, f"init={made / locate.READER}", f"out={tmp_path / 'second'}", "seed=2", f"teacher={model}"]
    assert main([*further, "source.people=0.5"]) == 0
    languages = Model.read(files.load(tmp_path / "second" / "checkpoint" / locate.READER).config).source
    assert languages is not None and "et" not in described.languages and "et" in languages.languages
    taught = files.load(tmp_path / "second" / "checkpoint" / locate.READER).config["training"]
    assert taught["teacher"] == described.model and taught["initial"]["steps"] == 4
    both = [str(made), str(tmp_path / "second" / "checkpoint")]
    assert main(["checkpoint", "average", *both, "--data", str(prepared), "-o", str(tmp_path / "mean")]) == 0
    means = [files.load(Path(each) / locate.READER).model.state_dict() for each in (*both, str(tmp_path / "mean"))]
    name = "head.hidden.bias"  # vectors are not rounded to integers
    assert torch.allclose((means[0][name] + means[1][name]) / 2, means[2][name], atol=1e-3)
    said = (tmp_path / "mean" / locate.READER / locate.CARD).read_text(encoding="utf-8")
    assert [line.split()[-1] for line in said.splitlines() if line.startswith("pronmetric train")] == [
        f"out={name}" for name in ("OUT1", "INITIAL", "OUT2")
    ]
    assert "init=INITIAL/checkpoint/source" in said and "| R vs R' |" in said
    rounded = tmp_path / "rounded"
    assert (
        main(
            ["checkpoint", "export", str(tmp_path / "mean"), "--bits", "8", "--data", str(prepared), "-o", str(rounded)]
        )
        == 0
    )
    again = yaml.safe_load((rounded / locate.READER / locate.CONFIG).read_text(encoding="utf-8"))["source"]
    assert again["model"] == files.load(rounded).hash != described.model
    let_the_source_count(rounded)
    assert main(["score", "-t", "a", "-s", "s", "--model", str(rounded), "--gpus", "0"]) == 0
    assert "|source:reader-" in capsys.readouterr().err
    # as after further training: the reader is for other weights
    other = str(tiny_checkpoint(encoder="mpnet", pair_head=True))
    moved, export = (
        tmp_path / "moved",
        ["checkpoint", "export", other, "--bits", "8", "--reader", str(tmp_path / "mean")],
    )
    with pytest.raises(SystemExit):
        main([*export, "-o", str(moved)])
    assert "--reader goes with --bits and --data" in capsys.readouterr().err
    assert main([*export, "--data", str(prepared), "-o", str(moved)]) == 0
    reader = files.load_reader(moved / locate.READER, model=files.load(moved).hash)
    assert reader.config["source"]["model"] not in (described.model, again["model"])
    kept = files.load_reader(rounded / locate.READER, model=None).model.state_dict()
    assert all(torch.equal(value, kept[name]) for name, value in reader.model.state_dict().items())
    assert (
        main(["checkpoint", "export", other, "--bits", "8", "--reader", other, "--data", str(prepared), "-o", "none"])
        == 1
    )
    assert "expected a checkpoint with a reader of sources" in capsys.readouterr().err
    assert main([*command, "source.without=[de]"]) == 1  # another run is there
    assert "give another out=" in capsys.readouterr().err


def test_a_reader_is_trained_in_stages(
    prepared: Path, multilingual: Path, tiny_checkpoint: Checkpoints, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, model = tmp_path / "out", tiny_checkpoint(pair_head=True)
    given = {
        "data.dir": prepared,
        "out": out,
        "source.model": model,
        "source.pieces": 300,
        "source.english": 0.5,
        "encoder.name": multilingual,
        "data.pieces": 512,
        "data.development": 40,
        "trainer.max_steps": 2,
        "trainer.threads": 1,
        "trainer.precision": 32,
        "trainer.progress": "false",
        "stages.people.seeds": 2,
        "objective.source_share": "null",  # the data have no such passages
        "objective.antecedent": 0,
    }
    command = ["train", "experiment=reader", *(f"{key}={value}" for key, value in given.items())]
    assert main(command) == 0
    first, second = (files.load(out / name / "checkpoint" / locate.READER) for name in ("sources", "people"))
    assert first.model.gap_head is None and second.model.gap_head is not None
    languages = Model.read(second.config).source
    assert languages is not None and "et" in languages.languages
    assert [part["init"] for part in second.config["training"]["average"]] == [first.hash] * 2
    assert files.load(out / "checkpoint" / locate.READER).hash == second.hash
    text = (out / "checkpoint" / locate.READER / locate.CARD).read_text(encoding="utf-8")
    assert [line.split()[2] for line in text.splitlines() if line.startswith("# stage ")] == ["sources:", "people:"]
    (line,) = [line for line in text.splitlines() if line.startswith("pronmetric ")]
    assert line.startswith("pronmetric train experiment=reader ") and "INITIAL" not in text
    capsys.readouterr()
    assert main(command) == 0
    assert capsys.readouterr().err.count(": finished, ") == 2


def test_the_share_is_fitted_on_references_of_which_one_word_is_replaced(
    prepared: Path, tiny_checkpoint: Checkpoints
) -> None:
    loaded = files.load(tiny_checkpoint(pair_head=True))
    labeller = Labeller(loaded.collator, forms=loaded.config["pronouns"], language=loaded.language)
    pairs = source_mixing.pairs_with_sources(PairScorer(loaded.model, labeller), prepared, context="common", most=0)
    assert set(pairs) == {"noisy", "replaced", "system"}
    replaced, sources = pairs["replaced"]
    assert len(replaced) == len(sources) > 0
    for better, worse in replaced:
        words = zip(better.text.split(), worse.text.split(), strict=True)
        assert sum(one.lower() != other.lower() for one, other in words) == 1


@pytest.mark.usefixtures("texts")
def test_records_with_a_source_are_scored_with_it_and_others_without(
    with_reader: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [{"id": 1, "text": OUTPUT[0], "source": SOURCES[0]}, {"id": 2, "text": OUTPUT[1], "source": None}]
    Path("r.jsonl").write_text("".join(json.dumps(record) + "\n" for record in given), encoding="utf-8")
    model = ["--model", str(with_reader), "--gpus", "0"]
    assert main(["score", "--jsonl", "r.jsonl", *model]) == 0
    told = capsys.readouterr()
    one, two = map(json.loads, told.out.splitlines())
    assert "source" in one["pronouns"][0] and "source" not in two["pronouns"][0] and "|source:reader-" in told.err
    for verb, flags in (("suggest", ["-t", "a", "--all"]), ("rerank", ["--candidates", "a", "b"])):
        assert main([verb, *flags, "-s", "s", *model]) == 0
        assert "|source:reader-" in capsys.readouterr().err
    assert main(["compare", "-t", "a", "b", "-s", "s", *model]) == 0
    assert "|source:reader-" in capsys.readouterr().err
    assert main(["score", "-t", "a", "-s", "s", "--no-source", "--source-lang", "de", *model]) == 1
    assert "expected a source language or --no-source, which ignores sources, got both" in capsys.readouterr().err
