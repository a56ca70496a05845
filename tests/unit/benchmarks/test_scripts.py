"""Each script of benchmarks/ runs as from the command line, on the bundled sample or files as small."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from benchmarks import pages
from benchmarks.checkpoint import card_figures, people, study
from benchmarks.cost import board, bulk, performance, performance_page, scoring_speed
from pronmetric.cli.main import main as pronmetric
from pronmetric.data import arrow
from pronmetric.errors import PronmetricError
from pronmetric.pronouns.finder import find
from pronmetric.schema import Pair, Passage
from tests.tools.browser import find as find_browser
from tests.tools.source_readers import save_scorer

TESTED = {  # scripts, by this file, or by the test of their names: `card`, `dialogues`, `originals`, `target_suites`
    "checkpoint": {
        "antecedents", "bias", "calibration", "card", "confusions", "context_gain", "deciding", "dialogues", "fidelity",
        "gap", "gender", "originals", "pair_accuracy", "paper_tables", "people", "reference_free", "short_sources",
        "source_reader", "study", "system_level", "talk", "target_languages", "target_suites", "translation_models",
    },
    "cost": {
        "board", "bulk", "faults", "fuzz", "performance", "precision", "report", "scoring_speed", "serve_load",
        "source_speed", "study",
    },
}  # fmt: skip
GAP = [
    *(f"The aunt came in May {year}. Then she left." for year in range(1950, 1954)),
    *(f"The uncle came in May {year}. Then he left." for year in range(1950, 1954)),
]
SETS = {"31": (None, 4), "30": (8, 1)}  # by year: lines of the sample, and how often each comes
SYSTEMS = {"Alder": "a", "Birch": "b", "Cedar": "c"}
Run = Callable[..., str]


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, sample: Path, root: Path) -> Path:
    """A folder like the shared one: GAP, Winogender, the study set, GUM, MQM, and the sample as WMT31 with DA."""
    place = tmp_path_factory.mktemp("shared")
    data = place / "data"
    rows = [(text, next(o for o in find(text) if o.form in ("he", "she"))) for text in GAP]
    items = [f"test-{k}\t{text}\t{o.text}\t{o.start}\tarticle-{k}" for k, (text, o) in enumerate(rows)]
    write(data / "gap" / "gap-development.tsv", ["ID\tText\tPronoun\tPronoun-offset\tURL", *items])
    told = [
        f"job{n}.guest.{answer}.{gender}.txt\tThe job{n} said that {form} was late."
        for n in range(5)
        for answer in (0, 1)
        for gender, form in (("male", "he"), ("female", "she"))
    ]
    write(data / "winogender" / "all_sentences.tsv", ["sentid\tsentence", *told])
    shares = [f"job{n}\t{20 * n}\t{100 - 20 * n}" for n in range(5)]
    write(data / "winogender" / "occupations-stats.tsv", ["occupation\tbergsma_pct_female\tbls_pct_female", *shares])
    for language in study.LANGUAGES:
        write(data / "study" / f"{language}.jsonl", [json.dumps(study_row(language, k)) for k in range(4)])
    tree = (root / "tests" / "fixtures" / "coreference" / "own.conll").read_text(encoding="utf-8")
    write(data / "gum-coref" / "GENTLE_one.conll", [tree.replace("OWN_", "GENTLE_")])
    write(data / "human" / "mqm" / "mqm_ted_zhen.tsv", mqm_lines())
    write_wmt(data, sample)
    return place


def study_row(language: str, number: int) -> dict[str, Any]:
    texts = {name: ["then", form, "left", str(number)] for name, form in (("reference", "she"), ("noisy", "he"))}
    told = {"reference_pronoun": "she", "noisy_pronoun": "he", "position": 1, "one_token": True}
    told |= {"context": ["the", "aunt", str(number), "spoke"], "origin_testset": "news", "origin_line": 100 * number}
    return {"id": f"{language}-{number}", "lang": language, **texts, **told}


def mqm_lines() -> list[str]:
    """Oak has him for her, Elm a wrong word next to a pronoun."""
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    said = [("Oak", 1, "The dog saw <v>him</v>."), ("Elm", 1, "The dog saw her."), ("ref", 1, "The dog saw her.")]
    said += [("Oak", 2, "She slept."), ("Elm", 2, "She <v>sleeps</v>."), ("ref", 2, "She slept.")]
    kinds = {True: "Accuracy/Mistranslation\tMajor", False: "No-error\tNo-error"}
    return [head] + [
        f"{system}\t{doc}\t1\t{seg}\tr{seg}\tquelle\t{target}\t{kinds['<v>' in target]}"
        for doc in ("one", "two")
        for system, seg, target in said
    ]


def write_wmt(data: Path, sample: Path) -> None:
    """The sample's lines as de-en, and direct assessment of its systems."""
    files = {"ref.A.en": ("references", "ref"), "src.de": ("sources", "src.de")}
    files |= {f"hyp.{name}.en": ("system-outputs", f"system-{file}") for name, file in SYSTEMS.items()}
    for year, (lines, times) in SETS.items():
        for name, (folder, file) in files.items():
            own = (sample / f"{file}.txt").read_text(encoding="utf-8").splitlines()[:lines]
            own += [f"{line} It was {k}." for k in range(times - 1) for line in own]
            place = data / "wmt" / f"wmt{year}-news-systems" / "txt" / folder
            write(place / f"generaltest20{year}.de-en.{name}", own)
    human = data / "human" / "wmt30-da"
    ranked = [f"70 {z} 9 9 {name}.{z} {name}" for z, name in enumerate(SYSTEMS)]
    write(human / "ad-sys-ranking-de-en-z-names.csv", ranked)
    rated = [f"{name}.{z} {line} 50 {z + line} 1" for z, name in enumerate(SYSTEMS) for line in range(1, 6)]
    write(human / "ad-seg-scores-de-en.csv", ["SYS SID RAW.SCR Z.SCR N", *rated])


@pytest.fixture(scope="module")
def prepared(make_prepared: Callable[..., Path], sample_pairs: list[Pair]) -> Path:
    """The prepared sample, which names WMT31 as its development data and has gendered pronouns in its passages."""
    pairs = [
        replace(pair, testset="generaltest2031", doc=f"d{pair.seg}", system=("Alder", "Birch")[pair.seg % 2])
        for pair in sample_pairs
    ]
    folder = make_prepared(train=pairs[:2], development=pairs, passages=["It rained."])
    found = {text: find(text) for text in GAP}
    passages = [
        Passage(
            f"home/{k}#1", "home", f"home/{k}", text, tuple((o.start, o.end) for o in own), tuple(o.form for o in own)
        )
        for k, (text, own) in enumerate(found.items())
    ]
    other = folder.with_name("other")
    arrow.write(other, pairs={}, passages={"passages_development": passages})
    shutil.copytree(other / "passages_development", folder / "passages_development", dirs_exist_ok=True)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["splits"]["development"]["testsets"] = ["generaltest2031.de-en"]
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the main function of a script with these arguments; gives what it prints."""

    def call(script: str, *arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", [script, *map(str, arguments)])
        import_module(f"benchmarks.{script}").main()
        return capsys.readouterr().out

    return call


def test_the_translation_models_are_trained_and_scored(run: Run, tmp_path: Path) -> None:
    small = ["--language", "easy", "--documents", 8, "--seeds", 1, "--overrides", "trainer.max_epochs=1"]
    out = run("checkpoint.translation_models", "--work", tmp_path, "--systems", "none", *small)
    (row,) = [line for line in out.splitlines() if line.startswith("| none |")]
    assert all(0 <= float(cell) <= 100 for cell in row.strip("| ").split(" | ")[1:-1])
    assert "Not run yet: concat21" in out


def test_each_script_is_run_here(root: Path) -> None:
    for folder, names in TESTED.items():
        files = (root / "benchmarks" / folder).glob("*.py")
        assert {path.stem for path in files if "__main__" in path.read_text(encoding="utf-8")} == names


def test_make_runs_the_scripts_whose_figures_a_card_has(root: Path, tmp_path: Path) -> None:
    given = [f"FIGURES={tmp_path / 'figures'}", "DATA=prepared", "MODEL=checkpoints/base", "PYTHON=python"]
    command = ["make", "-n", "-f", "benchmarks/figures.mk", "card", "pages", "study", "people_test", *given]
    shown = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    found = set(re.findall(r"-m benchmarks\.checkpoint\.(\w+)", shown))
    assert found <= TESTED["checkpoint"] and found >= {"card", *card_figures.SCRIPTS}
    assert "-m pronmetric evaluate prepared --split people_test" in shown


@pytest.mark.parametrize(
    ("script", "flags", "said"),
    [
        ("pair_accuracy", ["--data", "PREPARED", "--contexts", "all", "--by", "preference"], "R vs R', crossed"),
        ("context_gain", ["--data", "PREPARED"], "common - none"),
        ("confusions", ["--data", "PREPARED", "--examples", "1"], "R vs R': "),
        ("gender", ["--data", "PREPARED", "--number", "2"], "gendered pronouns"),
        (
            "deciding",
            ["--data", "PREPARED", "--number", "4", "--page", "PAGE"],
            "| two names and one gendered pronoun, ",
        ),
        ("calibration", ["--data", "PREPARED", "--shared", "SHARED", "--natural", "tiny*"], "calibration error"),
        ("calibration", ["--data", "PREPARED", "--shared", "SHARED", "--natural", "tiny*", "--form", "study"], "Brier"),
        ("antecedents", ["--data", "PREPARED", "--shared", "SHARED", "--page", "PAGE"], "hit@1"),
        ("gap", ["--shared", "SHARED", "--by", "preference"], "GAP development"),
        ("bias", ["--shared", "SHARED", "--page", "PAGE"], "| job0 |"),
        ("fidelity", ["--number", "4", "--page", "PAGE"], "| level 5 |"),
        ("talk", [], "74 pronouns in 72 lines of 36 dialogues"),
        ("study", ["--shared", "SHARED", "--log", "LOG"], "study set"),
    ],
)
def test_scripts_that_judge_contrasts(
    script: str, flags: list[str], said: str, run: Run, with_reader: Path, prepared: Path, data: Path, tmp_path: Path
) -> None:
    places = {"PREPARED": prepared, "SHARED": data, "PAGE": tmp_path / "page.md", "LOG": tmp_path / "log.md"}
    out = tmp_path / "figures.json"
    told = run(
        f"checkpoint.{script}", *(places.get(flag, flag) for flag in flags), "--model", with_reader, "--out", out
    )
    assert said in told
    content = json.loads(out.read_text(encoding="utf-8"))
    assert content["benchmark"] == script and content["weights"] == pages.weights_hash(with_reader)
    assert content["figures"] and content["records"] > 0 and content["signature"].startswith("model:")
    if "PAGE" in flags:
        page = places["PAGE"].read_text(encoding="utf-8")
        assert said in page and content["weights"] in page
        assert json.loads(places["PAGE"].with_suffix(".json").read_text(encoding="utf-8")) == content
    if "LOG" in flags:
        assert content["weights"] in places["LOG"].read_text(encoding="utf-8")


def test_runs_on_the_study_set_are_counted(tmp_path: Path) -> None:
    with pytest.raises(PronmetricError, match="needs --log"):
        study.check_log(None)
    write(tmp_path / "log.md", ["| 2026-01-02 | x |"] * study.RUNS_ALLOWED)
    with pytest.raises(PronmetricError, match="holds 6 runs already"):
        study.check_log(tmp_path / "log.md")


@pytest.mark.filterwarnings("ignore:records. the source is the same line")
def test_people_and_the_papers_tables(
    run: Run, with_reader: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "measure", partial(people.measure, draws=20))
    of_study, out, page = tmp_path / "study.json", tmp_path / "people.json", tmp_path / "people.md"
    model = ["--shared", data, "--model", with_reader]
    run("checkpoint.study", *model, "--log", tmp_path / "log.md", "--out", of_study)
    told = run("checkpoint.people", *model, "--sources", "--study", of_study, "--out", out, "--page", page)
    assert page.read_text(encoding="utf-8").strip() == told.strip() and "| french | 4 |" in told
    for head, row, noisy in (("average", 6, 0.5), ("paper", 7, 0.75)):
        cell = {"column": "glove", "name": "BiLSTM", "context": "common", "head": head, "row": row, "seed": 1}
        cell |= {"test": {kind: {"accuracy": share} for kind, share in (("noisy", noisy), ("system", 0.625))}}
        cell |= {"pairs": {"test": {"noisy": 4, "system": 8}}, "seconds": 60.0}
        write(tmp_path / "grid" / head / "cell.json", [json.dumps(cell)])
    flags = ["--people", out, "--minutes", "1.6", "--how", "on two cores"]
    told = run("checkpoint.paper_tables", tmp_path / "grid", *flags)
    assert "| 7 | common | attention (the paper's) | 75.0 | 89.1 |" in told and "| french | 4 |" in told
    run("checkpoint.paper_tables", tmp_path / "grid", *flags, "--page", tmp_path / "tables.md")
    assert json.loads((tmp_path / "tables.json").read_text(encoding="utf-8"))["people"]["benchmark"] == "people"


@pytest.mark.parametrize("natural", [False, True])
def test_source_reader(natural: bool, run: Run, with_reader: Path, prepared: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "source.json"
    flags = ["--natural"] if natural else ["--lines", "20"]
    flags += ["--wmt-dir", data / "data" / "wmt", "--datasets", "wmt31:de-en", "--out", out]
    told = run("checkpoint.source_reader", "--model", with_reader, "--data", prepared, *flags)
    found = json.loads(out.read_text(encoding="utf-8"))["figures"]["wmt31:de-en"]
    assert found["reader"]["all"]["pronouns"] == found["without source"]["all"]["pronouns"] > 10 and "together" in told


def test_short_sources(run: Run, with_reader: Path, tmp_path: Path) -> None:
    page = tmp_path / "short.md"
    told = run("checkpoint.short_sources", "--model", with_reader, "--page", page)
    found = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    assert found["figures"]["all"]["items"] == sum(own["items"] for own in found["figures"].values()) / 2
    assert "|source:reader-" in found["signature"] and told.strip() == page.read_text(encoding="utf-8").strip()


def test_reference_free(run: Run, with_reader: Path, data: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    flags = ["--shared", data, "--model", with_reader, "--datasets", "wmt30:de-en", "--out", tmp_path, "--page", page]
    told = run("checkpoint.reference_free", *flags)
    assert "## wmt30:de-en, DA" in told and "| chrF |" in told and "source:reader-" in told
    files = sorted(tmp_path.rglob("*.score"))
    written = [path.stat().st_mtime_ns for path in files]
    run("checkpoint.reference_free", *flags)
    assert files and [path.stat().st_mtime_ns for path in files] == written  # nothing is scored again


def test_system_level(run: Run, with_reader: Path, data: Path, tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    table = tmp_path / "table.md"
    run("checkpoint.system_level", "--shared", data, "--model", with_reader, "--out", tmp_path, "--table", table)
    averages = json.loads(table.with_suffix(".json").read_text(encoding="utf-8"))["averages"]["all"]
    assert list(averages) == ["pronmetric", "pronmetric errors", "pronmetric preference", "exact", "bleu", "chrf"]
    assert "| pronmetric preference | 1 | " in table.read_text(encoding="utf-8")


def test_target_languages(run: Run, unigram: PreTrainedTokenizerFast, data: Path, tmp_path: Path) -> None:
    model = save_scorer(tmp_path / "multi", unigram, {"de": None, "ru": None}, gaps=True)
    rows = [("It shines.", "Sie leuchtet."), ("He saw his sister.", "Er sah seine Schwester.")]
    texts = [(f"{en} {k * 37}", f"{de} {k * 37}") for k in range(20) for en, de in rows]
    for name, lines in zip(("ref.en", "src.de"), zip(*texts, strict=True), strict=True):
        write(tmp_path / "parallel" / "home31.de-en" / name, list(lines))
    write(tmp_path / "parallel" / "home31.hr-en" / "ref.en", [en for en, _ in texts])
    write(tmp_path / "parallel" / "home31.hr-en" / "src.hr", [f"Ona ga je vidjela {k}." for k in range(len(texts))])
    for code in ("de", "hr"):
        given = ["data.wmt=[]", f"data.parallel={tmp_path / 'parallel'}", f"data.target={code}", "splits.block=4"]
        assert pronmetric(["prepare", *given, "splits.development_share=0.5", f"out={tmp_path / code}"]) == 0
    folders = ["--data", tmp_path / "de", tmp_path / "hr"]
    flags = ["--shared", data, "--model", model, *folders, "--testset", "wmt31", "--limit", 10]
    told = run("checkpoint.target_languages", *flags, "--page", tmp_path / "page.md")
    content = json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))
    assert all(content["figures"][name]["de"]["detection"]["texts"] == 10 for name in ("development", "test"))
    assert content["figures"]["held out"]["hr"]["detection"]["texts"] == 10
    assert (tmp_path / "page.md").read_text(encoding="utf-8") in told and "originals of wmt31" in told
    assert "## Not in training" in told and "| hr | 10 | 20 |" in told
    deleted = content["figures"]["development"]["de"]["deleted"]
    assert deleted["texts"] == 10 and 0 < deleted["deleted"] < 10 and 0 <= deleted["area"]["value"] <= 1
    assert "### Deleted pronouns" in told and f"| de | 10 | {deleted['gaps']} | {deleted['deleted']} |" in told


@pytest.mark.parametrize(
    ("script", "flags", "figure"),
    [
        ("scoring_speed", [], "share_of_gemm"),
        ("precision", ["--segments", "20", "--alone", "5"], "mean_absolute_difference"),
        ("performance", ["--parts", "start_up", "--runs", "1", "--lines", "4"], "first_score"),
    ],
)
def test_scripts_of_make_bench(
    script: str,
    flags: list[str],
    figure: str,
    run: Run,
    root: Path,
    with_reader: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scoring_speed, "_SIZE", 64)
    recipe = (root / "Makefile").read_text(encoding="utf-8").partition("\nbench:")[2].partition("\n\n")[0]
    assert f"-m benchmarks.cost.{script}\n" in f"{recipe}\n"
    given = ["--wmt-dir", tmp_path / "none", "--model", with_reader, "--out", tmp_path / "out.json"]  # so: the sample
    systems = [] if script == "performance" else ["--systems", "2"]
    run(f"cost.{script}", *given, *systems, *flags)
    assert figure in json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))


def test_source_speed(run: Run, with_gaps: Path, tiny_checkpoint: Callable[..., Path], tmp_path: Path) -> None:
    flags = ["--wmt-dir", tmp_path / "none", "--lines", "6", "--out", tmp_path / "out.json"]
    told = run("cost.source_speed", *flags, "--model", with_gaps)
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert found["texts"] == 6 > found["texts_with_pronoun"] > 0 and "with_pronoun: " in told
    assert found["all"]["ratio"] == found["all"]["with"] / found["all"]["without"] > 0
    with pytest.raises(PronmetricError, match="has no reader of sources"):
        run("cost.source_speed", *flags, "--model", tiny_checkpoint())


def test_speed_of_metrics_of_several_sizes(
    run: Run, with_reader: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.cost import peer_models

    small = dict(peer_models.XLM_R_LARGE, vocab_size=30_522, hidden_size=8, intermediate_size=8, num_hidden_layers=1)
    monkeypatch.setattr(peer_models, "XLM_R_LARGE", small | {"num_attention_heads": 2})
    monkeypatch.setattr(peer_models.CometSized.__init__, "__defaults__", (small | {"num_attention_heads": 2},))
    shape = replace(peer_models.PUBLISHED, cell=8, projection=4, filters=((1, 4), (2, 4)))
    monkeypatch.setattr(peer_models.elmo_metric, "__defaults__", (shape,))
    flags = ["--wmt-dir", tmp_path / "none", "--model", with_reader, "--lines", "30", "--runs", "1"]
    for number, contender in enumerate(performance.CONTENDERS):
        row = json.loads(run("cost.performance", *flags, "--only", number))
        assert (row["name"], row["precision"]) == (contender.name, contender.precision)
        assert row["pieces_per_cpu_second"] > 0 and (row["preparing_seconds_a_line"] is not None) == (number < 2)


def test_seconds_of_checkpoints(run: Run, with_reader: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performance, "LINES", 4)
    monkeypatch.setattr(performance, "timed", lambda command, folder, threads=1: {"seconds": 2.0, "cpu_seconds": 1.0})
    flags = ["--wmt-dir", tmp_path / "none", "--models", with_reader, "--runs", "1", "--parts", "sizes", "reports"]
    told = run("cost.performance", *flags, "--model", with_reader)
    assert f"| {with_reader.name}, bf16 | 2.0 | 2.0 |" in told and "| `pronmetric report` of its result | 1.0 |" in told


def test_the_page_of_performance_is_that_of_its_figures(tmp_path: Path) -> None:
    content = json.loads(performance_page.JSON.read_text(encoding="utf-8"))
    assert performance_page.PAGE.read_text(encoding="utf-8") == performance_page.page(content)
    pytest.importorskip("matplotlib")
    performance_page.plot(content, tmp_path / "a.svg")
    assert "<svg" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_bulk(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With runs of made-up length: tests/integration/test_bulk_ray.py starts Ray."""
    runs = []

    def watch(command: list[str], *, shards: Path | None) -> dict[str, Any]:
        runs.append(command)
        assert Path(command[command.index("--jsonl") + 1 if shards is None else 5]).is_file()
        told: dict[str, Any] = {"seconds": 40.0, "memory_mib": 900}
        return told if shards is None else {**told, "finished": [10.0, 10.0, 20.0, 30.0], "over_time": [[0.0, 10]]}

    monkeypatch.setattr(bulk, "watch", watch)
    out = tmp_path / "bulk.json"
    flags = ["--folder", tmp_path, "--rows", "5", "--compared", "9", "--repeats", "1", "--json", out]
    assert json.loads(run("cost.bulk", *flags).partition("\n{\n")[2].join(("{", "")))["speedup"] == 1.0
    assert len(runs) == 4
    for name in ("PAGE", "PLOT"):
        monkeypatch.setattr(bulk, name, tmp_path / f"{name}.svg")
    pytest.importorskip("matplotlib")
    run("cost.bulk", "--page", "--json", out)
    assert "| 5 | 40 | 0 | 900 |" in (tmp_path / "PAGE.svg").read_text(encoding="utf-8")


def test_board(run: Run, with_reader: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "ModelFlags", partial(board.ModelFlags, model=str(with_reader), precision="32"))
    monkeypatch.setattr(
        board, "pronmetric", lambda argv: pronmetric([*argv, "--model", str(with_reader), "--precision", "32"])
    )
    monkeypatch.setattr(board, "PAGE", tmp_path / "board.md")
    board.made_up(tmp_path / "wmt")
    out = tmp_path / "board.json"
    run("cost.board", "--wmt", tmp_path / "wmt", "--site", tmp_path / "site", "--out", out, "--page")
    content = json.loads(out.read_text(encoding="utf-8"))
    assert len(content["sets"]) == 3 and content["site"]["files"] > 3
    assert "| kites2021.de-en | 6 |" in (tmp_path / "board.md").read_text(encoding="utf-8")


def test_serve_load(run: Run, with_reader: Path) -> None:
    pytest.importorskip("uvicorn")
    told = run("cost.serve_load", "--models", with_reader, "--seconds", "0.2")
    assert told.count(f"| `{with_reader}`, ") == 6 and pages.weights_hash(with_reader) in told


def test_report(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    told = run("cost.report", "--segments", "3")
    assert ("made-up.html: " in told) == (find_browser() is not None)


@pytest.mark.browser
@pytest.mark.skipif(find_browser() is None, reason="no browser")
def test_study_pictures(run: Run, tmp_path: Path) -> None:
    run("cost.study", tmp_path)
    pictures = [(tmp_path / f"study-{name}.webp").read_bytes() for name in ("light", "dark-phone")]
    assert all(picture[8:12] == b"WEBP" and len(picture) < 100_000 for picture in pictures)


def test_faults(run: Run) -> None:
    (row,) = json.loads(run("cost.faults", "--parts", "inputs", "--verbs", "agree"))["inputs"]
    assert row["verb"] == "agree" and row["other"] == [] and row["cases"] == row["exit 1"] + row["exit 2"] > 0


def test_fuzz(run: Run, tmp_path: Path) -> None:
    from tests.tools.fuzz import NAMES

    for name in NAMES[:2]:  # the figures of other parsers are kept
        run("cost.fuzz", "--minutes", "0", "--parsers", name, "--out", tmp_path / "fuzz.json")
    rows = json.loads((tmp_path / "fuzz.json").read_text(encoding="utf-8"))["rows"]
    assert [row["parser"] for row in rows] == list(NAMES[:2]) and all(row["files"] > 0 for row in rows)


def test_time_of_the_model_is_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(performance.time, "process_time", lambda: float(next(clock)))
    replicas = SimpleNamespace(map=lambda batches, compute: iter(batches))
    metric = SimpleNamespace(config={"encoder": {}}, inference=SimpleNamespace(replicas=replicas))
    metric.predict = lambda records: list(metric.inference.replicas.map(records, None))
    counting = performance._Metric(metric)
    counting.score([{}, {}, {}])
    assert counting.forward_seconds == 3.0  # a second for each batch
