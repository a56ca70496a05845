"""A scorer of several target languages from parallel text to scores: `prepare`, `train experiment=targets`, `score`."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from transformers import BertConfig, BertModel

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import files, locate
from pronmetric.cli.main import main
from pronmetric.data import arrow
from pronmetric.data.collate import Example
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.languages import language
from pronmetric.text.context import Source, Text
from pronmetric.training.card import scorer as scorer_card
from tests.tools.source_readers import SHAPE, make_tokenizer

PRONOUNS = {
    "de": (("She", "Sie", "him", "ihm"), ("He", "Er", "her", "ihr"), ("It", "Es", "them", "ihnen")),
    "cs": (("She", "Ona", "him", "mu"), ("He", "On", "her", "jí"), ("They", "Oni", "them", "jim")),
}
FRAMES = {"de": "{0} gab {1} {2} alte Briefe.", "cs": "{0} dal {1} {2} dopisů."}
LINES = 80


def lines_of(code: str) -> list[tuple[str, str]]:
    """Originals and their translations, none a copy of another."""
    lines = []
    for number in range(LINES):
        she, sie, him, ihm = PRONOUNS[code][number % 3]
        own = " ".join(str((number + 1) * factor) for factor in range(101, 107))
        lines.append((f"{she} gave {own} old letters to {him}.", FRAMES[code].format(sie, ihm, own)))
    return lines


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A prepared folder of each language."""
    folder = tmp_path_factory.mktemp("targets")
    for code in FRAMES:
        place = folder / "parallel" / f"home31.{code}-en"
        place.mkdir(parents=True)
        originals, translated = zip(*lines_of(code), strict=True)
        for name, lines in (("ref.en", originals), (f"src.{code}", translated)):
            (place / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for code in FRAMES:
        given = ["data.wmt=[]", f"data.parallel={folder / 'parallel'}", f"data.target={code}", "splits.block=4"]
        made = ["splits.development_share=0.5", "passages.pieces=40", f"out={folder / code}"]
        made += ["fidelity.things=0"] if code == "de" else []
        assert main(["prepare", *given, *made]) == 0
    return {code: folder / code for code in FRAMES}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a random encoder whose pieces are those of the texts."""
    folder = tmp_path_factory.mktemp("encoder")
    tokenizer = make_tokenizer("\n".join(text for code in FRAMES for pair in lines_of(code) for text in pair))
    with torch.random.fork_rng():
        torch.manual_seed(3)
        BertModel(BertConfig(vocab_size=len(tokenizer), **SHAPE)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def command(prepared: str, encoder: Path, out: Path, **more: Any) -> list[str]:
    given = {
        "data.dir": prepared,
        "encoder.name": encoder,
        "out": out,
        "source.english": 0.25,
        "source.pieces": 300,
        "source.context": 32,
        "source.before": 32,
        "optim.lr": 2e-3,
        "optim.warmup": 0,
        "data.pieces": 256,
        "trainer.max_epochs": 4,
        "trainer.max_steps": 12,
        "trainer.validate_every": 12,
        "trainer.precision": 32,
        "trainer.progress": "false",
        "trainer.threads": 1,
    }
    return ["train", "experiment=targets", *(f"{key}={value}" for key, value in {**given, **more}.items())]


@pytest.fixture(scope="module")
def several(prepared: dict[str, Path], encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a scorer of both languages."""
    out = tmp_path_factory.mktemp("run") / "several"
    assert main(command(f"[{','.join(map(str, prepared.values()))}]", encoder, out)) == 0
    return out


def test_one_checkpoint_scores_each_language_with_its_source(several: Path, tmp_path: Path) -> None:
    made = several / "checkpoint"
    assert [each.code for each in checkpoint_config.languages_of(files.load(made).config)] == list(FRAMES)
    for code in FRAMES:
        metric = PronounMetric.from_pretrained(made, lang=code, gpus=0)
        assert metric.language == language(code)
        original, translated = lines_of(code)[0]
        found = metric.predict([{"text": translated, "source": original}, {"text": translated}])
        assert [p.text for p in found.pronouns[0]] == list(PRONOUNS[code][0][1::2])
        assert found.scores[0] != found.scores[1]
        assert found.signature["language"] == code and found.signature["source"] == "read"


def test_its_config_and_its_card_say_what_was_trained_and_how_well(several: Path, prepared: dict[str, Path]) -> None:
    made = several / "checkpoint"
    config = yaml.safe_load((made / locate.CONFIG).read_text(encoding="utf-8"))
    training = config["training"]
    assert config["reads_source"] == {"context": 32, "before": 32, "languages": ["en"]}
    assert "source" not in config and "language" not in config and not (made / locate.READER).exists()
    card = (made / locate.CARD).read_text(encoding="utf-8")
    for code in FRAMES:
        own = {name: training["figures"][f"development/{name}"] for name in (f"source_{code}", f"no_source_{code}")}
        assert all(0 <= value <= 1 for value in own.values())
        assert training["translations"][code] > 0 and training["development"][code]["pronouns"] > 30
        (row,) = [line for line in card.splitlines() if line.startswith(f"| {code} |")]
        cells = row.strip("| ").split(" | ")
        assert cells[1] == str(training["translations"][code])
        assert cells[4] == f"{100 * own[f'source_{code}']:.1f}" and cells[6] == f"{100 * own[f'no_source_{code}']:.1f}"
        assert f"pronmetric prepare 'data.wmt=[]' data.parallel=PARALLEL data.target={code}" in card
        assert card.count(f"fidelity.things=0 out=PREPARED-{code}") == (code == "de")
    assert "experiment=targets" in card and "'data.dir=[PREPARED-de,PREPARED-cs]'" in card
    manifests = [arrow.read_manifest(folder) for folder in prepared.values()]
    shipped = scorer_card.card(config, name="multilingual", weights="0" * 8, manifests=manifests)
    assert "--model FOLDER --lang de" in card and "--model multilingual --lang de" in shipped
    assert "A dropped pronoun is not scored" in card


def test_its_card_says_what_missing_pronouns_were_fitted_on(several: Path, prepared: dict[str, Path]) -> None:
    config = checkpoint_config.read(several / "checkpoint" / locate.CONFIG)
    manifests = [arrow.read_manifest(folder) for folder in prepared.values()]

    def limits(fits: dict[str, Any]) -> str:
        training = {**config["training"], "missing": fits}
        made = scorer_card.card({**config, "training": training}, name="x", weights="0" * 8, manifests=manifests)
        return made.partition("## Limits")[2]

    inserted, deleted = {"on": "inserted", "missing": 14}, {"on": "deleted", "missing": 234, "rate": 0.015}
    both = limits({"de": inserted, "cs": deleted})
    assert "on what post-editors inserted in `de`." in both and "are not found" not in both
    assert "missing for 100 in the text, in `cs` (1.5);" in both
    assert "Missing pronouns are not found in `cs`." in limits({"de": inserted})


def test_the_calibration_is_that_of_the_chosen_language(several: Path) -> None:
    made = several / "checkpoint"
    config, loaded = checkpoint_config.read(made / locate.CONFIG), files.load(made)
    for code, target in zip(FRAMES, config["languages"], strict=True):
        fit = config["training"]["calibration"][code]
        calibration = target.get("calibration", {"scale": 1.0, "bias": 0.0})
        if fit is not None:
            assert calibration == {"scale": fit["scale"], "bias": fit["bias"]} and fit["rate"] == 0.05
        original, translated = lines_of(code)[0]
        (found,) = PronounMetric.from_pretrained(made, lang=code, gpus=0).stream(
            [Text("", translated, Source(original))]
        )
        collator = files.load(made, lang=code).collator
        spans = [(p.start, p.end) for p in found.pronouns]
        (row,) = collator.encode([Example("", translated, spans, Source(original))])
        with torch.inference_mode():
            logits = loaded.model(collator.pad([row])).scores[0].tolist()
        for pronoun, logit in zip(found.pronouns, logits, strict=True):
            expected = 1 / (1 + math.exp(-(calibration["scale"] * logit + calibration["bias"])))
            assert pronoun.probability == pytest.approx(expected, abs=1e-4)


def test_scorers_of_two_seeds_are_averaged(
    several: Path, prepared: dict[str, Path], encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = list(map(str, prepared.values()))
    assert main([*command(f"[{','.join(data)}]", encoder, tmp_path / "second"), "seed=2"]) == 0
    runs, mean = [several, tmp_path / "second"], tmp_path / "mean"
    both = [str(run / "checkpoint") for run in runs]
    assert main(["checkpoint", "average", *both, "--data", *data[::-1], "-o", str(mean)]) == 0
    states = [files.load(folder).model.state_dict() for folder in (*both, mean)]
    name = "head.hidden.bias"  # vectors are not rounded to integers
    assert torch.allclose((states[0][name] + states[1][name]) / 2, states[2][name], atol=1e-3)
    config = checkpoint_config.read(mean / locate.CONFIG)
    assert [each["code"] for each in config["languages"]] == list(FRAMES)
    assert {"development/source_de", "development/no_source_cs"} <= config["training"]["figures"].keys()
    card = (mean / locate.CARD).read_text(encoding="utf-8")
    line = "pronmetric checkpoint average OUT1/checkpoint OUT2/checkpoint --data PREPARED-de PREPARED-cs -o AVERAGE"
    assert line in card
    assert PronounMetric.from_pretrained(mean, lang="cs", gpus=0).predict([{"text": "Ona mu psala."}]).scores
    capsys.readouterr()
    assert main(["checkpoint", "average", *both, "--data", data[0], "-o", str(tmp_path / "other")]) == 1
    assert "expected prepared data of cs, de, the languages of the scorer, got de" in capsys.readouterr().err


def test_the_same_command_goes_on_and_another_is_refused(
    several: Path, prepared: dict[str, Path], encoder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = list(map(str, prepared.values()))
    assert main(command(f"[{','.join(folders)}]", encoder, several)) == 0
    capsys.readouterr()
    assert main(command(f"[{','.join(folders[::-1])}]", encoder, several)) == 1
    assert "give another out=" in capsys.readouterr().err


def test_one_folder_gives_a_checkpoint_of_one_language(
    prepared: dict[str, Path], encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(str(prepared["de"]), encoder, tmp_path / "run")) == 0
    made = tmp_path / "run" / "checkpoint"
    config = checkpoint_config.read(made / locate.CONFIG)
    assert config["language"]["code"] == "de" and "languages" not in config
    original, translated = lines_of("de")[0]
    (tmp_path / "t").write_text(f"{translated}\n", encoding="utf-8")
    (tmp_path / "s").write_text(f"{original}\n", encoding="utf-8")
    capsys.readouterr()
    assert (
        main(["score", "-t", str(tmp_path / "t"), "-s", str(tmp_path / "s"), "--model", str(made), "--gpus", "0"]) == 0
    )
    said = capsys.readouterr().err
    assert "|language:de|" in said and "|source:read|" in said
    assert "its config.yaml records no training" not in said


def test_rounded_weights_are_calibrated_anew_in_each_language(
    several: Path, prepared: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, data = several / "checkpoint", list(map(str, prepared.values()))
    argv = ["checkpoint", "export", str(made), "--bits", "7", "-o"]
    assert main([*argv, str(tmp_path / "kept")]) == 0
    assert main([*argv, str(tmp_path / "anew"), "--data", *data[::-1]]) == 0
    before, kept, anew = (files.load(folder) for folder in (made, tmp_path / "kept", tmp_path / "anew"))
    assert kept.hash == anew.hash != before.hash
    assert [each["code"] for each in anew.config["languages"]] == list(FRAMES)
    record = {"bits": 7, "weights": before.hash, "calibrated": True}
    assert anew.config["training"]["rounded"] == record
    assert anew.config["training"]["translations"] == before.config["training"]["translations"]
    figures = anew.config["training"]["figures"]
    assert {f"development/{side}_{code}" for side in ("source", "no_source") for code in FRAMES} <= figures.keys()
    card = (tmp_path / "anew" / locate.CARD).read_text(encoding="utf-8")
    assert "export OUT/checkpoint --bits 7 --data PREPARED-de PREPARED-cs -o ROUNDED" in card
    capsys.readouterr()
    assert main([*argv, str(tmp_path / "other"), "--data", data[0]]) == 1
    assert "expected prepared data of cs, de, the languages of the scorer, got de" in capsys.readouterr().err
    assert main([*argv, str(tmp_path / "other"), "--data", *data, "--reader", "base"]) == 1
    assert "--reader: this checkpoint reads sources itself and takes no reader" in capsys.readouterr().err
    assert main(["checkpoint", "export", "small", *argv[3:], str(tmp_path / "other"), "--data", *data]) == 1
    assert "--data: this checkpoint takes one prepared folder, got 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("folders", "more", "said"),
    [
        (("de", "de"), {}, "expected folders of different languages, got two of de"),
        (("de", "cs"), {"teacher": "base"}, "teacher= scores one language: expected one prepared folder"),
        (("de", "cs"), {"source.model": "base"}, "several prepared folders are for a scorer of several languages"),
        (("de",), {"data.choose": 5}, "data.choose is not read with source.model=null"),
        (("de",), {"objective.corruption.gender_swap": 0.3}, "experiment=targets leaves out"),
    ],
)
def test_what_does_not_fit_is_refused(
    prepared: dict[str, Path],
    encoder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    folders: tuple[str, ...],
    more: dict[str, Any],
    said: str,
) -> None:
    given = f"[{','.join(str(prepared[code]) for code in folders)}]"
    assert main(command(given, encoder, tmp_path / "run", **more)) == 1
    assert said in capsys.readouterr().err


@pytest.fixture(scope="module")
def judging(prepared: dict[str, Path], encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scorer that learnt what post-editors replaced, inserted and deleted in German.

    So short a training may leave the gap head without an order: its calibration in German is a given one.
    """
    folder = tmp_path_factory.mktemp("judging")
    place = folder / "edits" / "home32" / "en-de"
    place.mkdir(parents=True)
    for part, first in (("train", 1000), ("dev", 2000)):
        columns: dict[str, list[str]] = {"src": [], "mt": [], "pe": []}
        for number in range(first, first + 90):
            she, sie, him, ihm = PRONOUNS["de"][number % 2]
            wrong = PRONOUNS["de"][(number + 1) % 2][1] if number % 3 == 0 else sie
            own = " ".join(str(number * factor) for factor in range(101, 105))
            columns["src"].append(f"{she} gave {own} old letters to {him} .")
            beside = ("", "", "ihnen ")[number % 3]
            columns["mt"].append(f"{wrong} gab {'' if number % 3 == 1 else ihm + ' '}{beside}{own} alte Briefe .")
            columns["pe"].append(f"{sie} gab {ihm} {own} alte Briefe .")
        for suffix, lines in columns.items():
            (place / f"{part}.{suffix}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    parallel = prepared["de"].parent / "parallel"
    given = ["data.wmt=[]", f"data.parallel={parallel}", f"data.people={folder / 'edits'}", "data.target=de"]
    made = ["splits.block=4", "splits.development_share=0.5", "passages.pieces=40", f"out={folder / 'de'}"]
    made += ["fidelity.things=0"]
    assert main(["prepare", *given, *made]) == 0
    folders, out = {"de": folder / "de", "cs": prepared["cs"]}, folder / "run"
    dirs = f"[{','.join(map(str, folders.values()))}]"
    assert main(command(dirs, encoder, out, **{"source.people": 0.5, "source.deleted": 0.3})) == 0
    config = checkpoint_config.read(out / "checkpoint" / locate.CONFIG)
    config["languages"][0]["missing"] = {"scale": 1.0, "bias": 0.0}
    files.write_config(out / "checkpoint", config)
    return out / "checkpoint"


def test_what_people_changed_calibrates_finds_missing_pronouns_and_decides(
    judging: Path,
) -> None:
    made = judging
    config = checkpoint_config.read(made / locate.CONFIG)
    de, cs = config["languages"]
    assert "missing" not in cs
    assert set(config["judged"]) == {"own", "logit", "missing", "empty"} and config["judged"]["own"] == 0
    assert 0 <= config["training"]["figures"]["people/missing_de"] <= 1
    assert 0 <= config["training"]["figures"]["people/area_de"] <= 1 and "people/area_cs" not in config["training"]
    assert de["tie"] >= 0 and cs["tie"] >= 0 and set(de["ties"]) == {"errors", "preference"}
    card = (made / locate.CARD).read_text(encoding="utf-8")
    assert card.index("## What people marked (development)") < card.index("## Figures")
    assert "In `cs` it has never seen a system's output or a person's mark." in card
    assert "no tie threshold" not in card and f"By default `{config['decision']}` decides." in card
    original, translated = lines_of("de")[0]
    texts = [Text("", translated, Source(original, ())), Text("", "Gab alte Briefe.", Source(original, ()))]
    metric = PronounMetric.from_pretrained(made, lang="de", gpus=0)
    assert metric.finds_missing
    whole, without = metric.stream(texts)
    assert whole.missing is not None and whole.preference is not None
    assert not without.pronouns and without.missing is not None and without.preference is not None
    assert next(metric.stream([Text("", translated)])).missing is None  # without a source nothing is said of gaps
    czech = PronounMetric.from_pretrained(made, lang="cs", gpus=0)
    assert not czech.finds_missing
    assert next(czech.stream([Text("", lines_of("cs")[0][1], Source("She gave it.", ()))])).missing is None


def test_what_people_deleted_tells_surplus_pronouns(judging: Path, tmp_path: Path) -> None:
    config = checkpoint_config.read(judging / locate.CONFIG)
    shares, figures = config["languages"][0]["surplus"], config["training"]["figures"]
    assert shares["ihnen"] > shares[""] > shares["er"] and "surplus" not in config["languages"][1]
    assert figures["surplus/corrected_de"] > figures["surplus/deleted_de"] > 0
    card = (judging / locate.CARD).read_text(encoding="utf-8")
    assert "## Surplus pronouns" in card and f"| de | {100 * shares['']:.0f} |" in card
    text, metric = (
        Text("", "Er gab ihnen Briefe.", Source("He gave letters.")),
        PronounMetric.from_pretrained(judging, lang="de", gpus=0),
    )
    (found,) = metric.stream([text])
    er, ihnen = found.pronouns
    assert er.surplus == pytest.approx((1 - er.score) * shares["er"])
    assert ihnen.surplus == pytest.approx((1 - ihnen.score) * shares["ihnen"])
    assert found.surplus == pytest.approx(er.surplus + ihnen.surplus)
    assert found.errors == pytest.approx(found.wrong + found.missing + found.surplus)
    assert next(metric.stream([text._replace(source=None)])).surplus is None
    config["languages"][0].pop("surplus")
    shutil.copytree(judging, tmp_path / "untold")
    files.write_config(tmp_path / "untold", config)
    untold = PronounMetric.from_pretrained(tmp_path / "untold", lang="de", gpus=0)
    (plain,) = untold.stream([text])
    assert (plain.score, plain.errors, plain.surplus) == (found.score, found.errors, None)
    same = [files.load(folder, lang="de").settings for folder in (judging, tmp_path / "untold")]
    assert same[0] == same[1] and files.load(judging).settings == files.load(tmp_path / "untold").settings


def test_missing_pronouns_do_not_depend_on_the_batch(judging: Path) -> None:
    made = judging
    metric = PronounMetric.from_pretrained(made, lang="de", gpus=0)
    texts = [Text("", translated, Source(original, ())) for original, translated in lines_of("de")[:6]]
    together = list(metric.stream(texts))
    for text, found in zip(texts, together, strict=True):
        (alone,) = metric.stream([text])
        assert alone.missing == pytest.approx(found.missing, abs=1e-5)


def test_a_missing_form_is_one_of_the_target_language(judging: Path) -> None:
    made = judging
    forms = files.load(made).config["gap_head"]["forms"]
    assert set(forms) >= {*language("de").forms, *language("cs").forms}
    metric = PronounMetric.from_pretrained(made, lang="de", gpus=0)
    texts = [Text("", translated, Source(original, ())) for original, translated in lines_of("de")]
    named = {gap.form for segment in metric.stream(texts) for gap in segment.gaps}
    assert named <= set(language("de").forms)


def test_in_a_language_without_training_no_missing_form_is_told(judging: Path) -> None:
    metric = PronounMetric.from_pretrained(judging, lang="hr", gpus=0)
    missing = checkpoint_config.read(judging / locate.CONFIG)["languages"][0]["missing"]
    assert metric.finds_missing and metric.config["missing"] == missing  # the mean of one
    (found,) = metric.stream([Text("", "Ona mu je pisala.", Source("She wrote to him."))], every_gap=True)
    assert {gap.form for gap in found.gaps} == {"?"} and len(found.gaps) == 5
    assert found.missing == pytest.approx(sum(gap.probability for gap in found.gaps))


def test_people_without_their_texts_are_refused(
    prepared: dict[str, Path], encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dirs = f"[{','.join(map(str, prepared.values()))}]"
    assert main(command(dirs, encoder, tmp_path / "out", **{"source.people": 0.5})) == 1
    assert "prepare one of the languages with data.people" in capsys.readouterr().err
