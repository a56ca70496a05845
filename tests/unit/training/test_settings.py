"""The settings of the Hydra verbs: each preset and option binds, and what is none is refused before torch."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from data_prep.settings import Settings as Prepare
from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.installation import folder
from pronmetric.lab.nmt.settings import NmtTrain
from pronmetric.settings import REMOVED, Settings
from pronmetric.training.objective import Detection
from pronmetric.training.paper.pretrain_settings import Pretrain
from pronmetric.training.settings import UNREAD, Train

CONF = folder("conf")
VERBS: dict[str, tuple[type[Settings], list[str]]] = {
    "train": (Train, ["data.dir=d", "out=o"]),
    "prepare": (Prepare, ["data.wmt=[d]", "out=o"]),
    "pretrain": (Pretrain, ["data.english=d", "out=o"]),
    "nmt": (NmtTrain, ["data.source=s", "data.target=t", "out=o"]),
}
# Further settings that an option needs.
NEEDS = {
    "head=average": ["objective=pairs"],
    "head=paper": ["objective=pairs"],
    "encoder=huggingface": ["encoder.name=n"],
    "encoder=elmo": ["encoder.options=o", "encoder.weights=w"],
    "experiment=distil": ["teacher=t"],
    "experiment=preference": ["init=c"],
    **{f"table4/size={size}": ["experiment=table4"] for size in ("full", "sample")},
    **{f"table4/setup={setup}": ["experiment=table4"] for setup in ("glove", "minilm", "sgd", "tuned")},
    "table4/setup=elmo": ["experiment=table4", "table.elmo=e"],
}


def chosen(verb: str) -> list[str]:
    """Each option of each group of a verb's config, presets included."""
    defaults = OmegaConf.to_container(OmegaConf.load(CONF / f"{verb}.yaml"))["defaults"]
    groups = [key for entry in defaults if isinstance(entry, dict) for key in entry]
    return [f"{group}={path.stem}" for group in groups for path in sorted((CONF / group).glob("*.yaml"))]


def config(verb: str, *overrides: str) -> dict[str, Any]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        found = OmegaConf.to_container(compose(verb, overrides=[*VERBS[verb][1], *overrides]), resolve=True)
    assert isinstance(found, dict)
    return found


OPTIONS = [(verb, option) for verb in VERBS for option in chosen(verb)]


@pytest.mark.parametrize(("verb", "option"), OPTIONS)
def test_every_key_of_an_option_is_read_and_none_is_wanting(verb: str, option: str) -> None:
    """The models forbid further keys and fill in none, so that the config and what is read of it are the same."""
    given = config(verb, option, *NEEDS.get(option, ()))
    assert plain(VERBS[verb][0].read(given).model_dump(exclude_unset=True)) == plain(given)


def plain(tree: Any) -> Any:
    """As JSON has it; names of digits, and a list for one value, as the settings have them."""
    if isinstance(tree, Mapping):
        return {key: str(value) if key == "precision" else plain(value) for key, value in tree.items()}
    return json.loads(json.dumps(tree))


@pytest.mark.parametrize(
    ("overrides", "pieces", "factor"),
    [
        ([], 4096, 1.0),
        (["trainer=gpu"], 32768, math.sqrt(8)),
        (["trainer=ddp", "trainer.scale=2"], 8192, math.sqrt(2)),
        (["trainer=gpu", "optim=sgd", "data.pieces=100"], 800, 8.0),
        (["trainer=gpu", "data.batch=30"], 4096, 1.0),  # which fixes the batch
    ],
)
def test_a_gpu_has_greater_batches_and_rates(overrides: list[str], pieces: int, factor: float) -> None:
    settings = Train.read(config("train", *overrides))
    optim = settings.scaled_optim()
    assert settings.pieces == pieces
    assert (optim.lr, optim.head_lr) == (settings.optim.lr * factor, settings.optim.head_lr * factor)
    assert optim.model_dump(exclude={"lr", "head_lr"}) == settings.optim.model_dump(exclude={"lr", "head_lr"})


@pytest.mark.parametrize("overrides", [["experiment=base", "encoder.name=n"], ["experiment=paper"]])
def test_the_batch_of_a_preset_on_a_gpu(overrides: list[str]) -> None:
    cpu, gpu = (Train.read(config("train", *overrides, f"trainer={name}")) for name in ("cpu", "gpu"))
    fixed = cpu.data.batch is not None
    assert gpu.pieces == cpu.pieces * (1 if fixed else 8)
    assert gpu.scaled_optim().lr == cpu.optim.lr * (1 if fixed else math.sqrt(8))
    assert (gpu.trainer.accelerator, gpu.trainer.workers, gpu.trainer.scale) == ("gpu", 8, 8)


def test_a_scaled_run_is_another_run_and_an_unscaled_one_is_as_before() -> None:
    assert "scale" not in Train.read(config("train")).results()["trainer"]
    assert Train.read(config("train", "trainer=gpu")).results()["trainer"]["scale"] == 8


def test_pretraining_on_a_gpu_has_greater_batches_and_rates() -> None:
    settings = Pretrain.read(config("pretrain", "trainer=gpu"))
    assert (settings.words, settings.scaled_optim().lr) == (8 * 4096, settings.optim.lr * math.sqrt(8))
    assert "scale" in settings.results()["trainer"]


def test_pairs_alone_have_neutral_values_of_what_only_passages_have() -> None:
    pairs = Train.read(config("train", "objective=pairs")).objective
    assert all(hasattr(pairs, name) for name in Detection.model_fields)
    assert (pairs.pair_share, pairs.antecedent, pairs.soft_detection, pairs.soft_preference) == (1, 0, 0, 0)
    assert not (pairs.source_share or pairs.source_turns or pairs.form_weight)
    corruption = pairs.corruption
    assert not (corruption.gender_swap or corruption.name_swap)


@pytest.mark.parametrize("head", ["average", "paper", "logit"])
def test_each_head_of_table_4_has_its_loss(head: str) -> None:
    settings = Train.read(config("train", "experiment=table4", f"head={head}"))
    assert settings.loss.kind == ("logistic" if head == "logit" else "margin")


HOSTILE = [
    ("train", "optim.lr=fast", "optim.lr=fast: expected a number of at least 0"),
    ("train", "optim.lr=-1", "optim.lr=-1: expected a number of at least 0"),
    ("train", "optim.lr=nan", "optim.lr=nan: expected a number of at least 0"),
    ("train", "optim.lr=inf", "optim.lr=inf: expected a number of at least 0"),
    ("train", "optim.lr=null", "optim.lr=null: expected a number of at least 0"),
    ("train", "optim.lr=true", "optim.lr=true: expected a number of at least 0"),
    ("train", "optim.warmup=5", "optim.warmup=5: expected a number from 0 to 1"),
    ("train", "optim.layer_decay=0", "optim.layer_decay=0: expected a number above 0 to 1"),
    ("train", "optim.kind=adam", "optim.kind=adam: expected adamw or sgd"),
    ("train", "~optim", "optim is missing: expected a group of kind adamw or sgd"),
    ("train", "~optim.lr", "optim.lr is missing: expected a number of at least 0"),
    ("train", "~optim.kind", "optim.kind is missing: expected adamw or sgd"),
    ("train", "optim.halve_from=2", "the rate of each epoch is set by halve_from alone, add optim.warmup=0"),
    ("train", "loss.kind=hinge", "loss.kind=hinge: expected logistic or margin"),
    ("train", "seed=x", "seed=x: expected a whole number from 0 to below 4294967296"),
    ("train", "seed=-1", "seed=-1: expected a whole number from 0 to below 4294967296"),
    ("train", "head_seed=1.5", "head_seed=1.5: expected a whole number from 0"),
    ("train", "head.dropout=2", "head.dropout=2: expected a number from 0 to below 1"),
    ("train", "context.name=all", "context.name=all: expected none, respective or common"),
    ("train", "data.pieces=-1", "data.pieces=-1: expected a whole number of at least 1"),
    ("train", "data.batch=0", "data.batch=0: expected a whole number of at least 1 or null"),
    ("train", "data.dir=''", "data.dir=: expected text"),
    ("train", "objective.pair_share=1", "objective.pair_share=1: expected a number from 0 to below 1"),
    ("train", "objective.system_share=1", "system_share=1: expected a number above 0 to below 1 or null"),
    ("train", "objective.corruption.rate=-1", "objective.corruption.rate=-1: expected a number from 0 to 1"),
    ("train", "objective.corruption=null", "objective.corruption=null: expected the keys rate, power"),
    ("train", "objective.source_share=wmt:1", "source_share=wmt:1: expected {NAME: VALUE, ...}, each value a number"),
    ("train", "objective.form_weight={she:0}", "objective.form_weight.she=0: expected a number above 0"),
    ("train", "trainer.devices=-1", "trainer.devices=-1 takes all GPUs: expected trainer=gpu, or a whole number"),
    ("train", "trainer.devices=auto", "trainer.devices=auto: expected a whole number of at least 1 or -1"),
    ("train", "trainer.accelerator=abacus", "trainer.accelerator=abacus: expected cpu, gpu"),
    ("train", "trainer.strategy=none", "trainer.strategy=none: expected auto, ddp"),
    ("train", "trainer.precision=8", "trainer.precision=8: expected 32, bf16 or 16"),
    ("train", "trainer.max_epochs=0", "trainer.max_epochs=0: expected a whole number of at least 1"),
    ("train", "trainer.max_steps=0", "trainer.max_steps=0: expected a whole number of at least 1 or -1"),
    (
        "train",
        "trainer.validate_every=0",
        "validate_every=0: expected a whole number of at least 1 or a num",
    ),
    ("train", "trainer.save_every=0", "trainer.save_every=0: expected a whole number of at least 1"),
    ("train", "+encoder._target_=os.system", "unknown key 'encoder._target_': expected the keys kind, name"),
    ("train", "+foo=1", "unknown key 'foo': expected the keys out, seed"),
    ("train", "++optim.betas=[0,1]", "unknown key 'optim.betas': expected the keys lr, head_lr"),
    ("train", "out=${nope}", "out: cannot be resolved (Interpolation key 'nope' not found)"),
    ("train", "encoder_cache=s", "encoder_cache= caches the states of a frozen encoder: add optim.frozen=true"),
    ("train", "optim.frozen_head=true", "optim.frozen_head=true: add init=CHECKPOINT, whose scores it keeps"),
    ("train", "head=paper", "learns from pairs alone: add objective=pairs"),
    ("train", "encoder=elmo", "encoder=elmo needs encoder.options=FILE"),
    (
        "prepare",
        "data.years=foo",
        "data.years[0]=foo: expected a whole number from 6 to 99 or a whole",
    ),
    ("prepare", "data.pairs=[english]", "data.pairs[0]=english: expected text like de-en"),
    ("prepare", "context.size=-1", "context.size=-1: expected a whole number of at least 0"),
    ("prepare", "splits.english_share=nan", "splits.english_share=nan: expected a number from 0 to 1"),
    ("prepare", "passages.pieces=0", "passages.pieces=0: expected a whole number of at least 1"),
    ("prepare", "align.lines=many", "align.lines=many: expected a whole number of at least 1"),
    ("pretrain", "elmo.char_cnn.filters=[[51,1]]", "elmo.char_cnn.filters: expected [SPAN, CHANNELS], a span from 1"),
    (
        "pretrain",
        "elmo.char_cnn.filters=[[1]]",
        "elmo.char_cnn.filters[0]=[1]: expected a list of 2, each item a",
    ),
    ("pretrain", "vocabulary.cutoffs=[5,2]", "vocabulary.cutoffs=[5, 2]: expected ascending whole numbers"),
    ("pretrain", "trainer.clip=-1", "trainer.clip=-1: expected a number of at least 0"),
]
NOT_READ = [
    ("train", ["objective=pairs", "head=paper", "head.dropout=0.1"], "head.dropout is not read with head=paper; it"),
    ("train", ["encoder.hidden=3"], "encoder.hidden is not read with encoder=minilm; it belongs to encoder=glove"),
    ("train", ["objective=pairs", "objective.corruption.rate=0.1"], "it belongs to objective=detection"),
    ("train", ["init=c", "encoder.name=n"], "encoder.name is not read with init=, which brings its own encoder: leave"),
    ("train", ["init=c", "encoder=glove", "encoder.width=3"], "encoder.width is not read with init="),
    ("train", ["optim.frozen=true", "optim.lr=0.1"], "optim.lr is not read with optim.frozen=true"),
    (
        "train",
        ["experiment=preference", "init=c", "objective.pair=1"],
        "objective.pair is not read with optim.frozen_head=true",
    ),
    (
        "train",
        ["optim.frozen=true", "encoder_cache=s", "encoder.dropout=0.1"],
        "encoder.dropout is not read with encoder_cache=",
    ),
    ("train", ["head=logit", "objective.preference=0.5"], "objective.preference is not read without a pair head"),
    ("train", ["head=logit", "teacher=t", "objective.soft_preference=2"], "soft_preference is not read without a pair"),
    (
        "train",
        ["experiment=source", "source.hard=1"],
        "source.hard is not read without a teacher: leave it out, or add",
    ),
    ("train", ["objective=pairs", "teacher=t"], "teacher= gives labels to passages and pairs: expected objective=det"),
    ("train", ["objective.pair_share=0"], "objective.pair_share=0: expected a number above 0; for passages alone give"),
    ("train", ["objective=passages", "objective.preference=0.5"], "preference is not read with objective=passages"),
    ("train", ["objective=passages", "objective.corruption.fresh=0.1"], "it belongs to objective=detection or pairs"),
    (
        "train",
        ["objective=passages", "loss=margin", "loss.kind=margin"],
        "loss.kind is not read with objective=pass",
    ),
    ("train", ["experiment=source", "objective.people=0.1"], "objective.people is not read with objective=passages"),
    (
        "train",
        ["experiment=source", "objective.pair_share=0.1"],
        "pair_share is not read with objective=passages",
    ),
    ("train", ["experiment=source", "objective=detection"], "(experiment=source) needs objective=passages"),
    ("train", ["encoder=elmo", "encoder.stateful=true"], "encoder.stateful: ELMo's state is reset for each batch"),
    ("train", ["encoder=elmo", "+encoder.stateful=true"], "encoder.stateful: ELMo's state is reset for each batch"),
    ("train", ["objective.fidelity.ties=0.5"], "objective.fidelity.ties is not read with objective.fidelity.share=0"),
    (
        "train",
        ["objective.fidelity.share=0.5", "context=none"],
        "objective.fidelity.share is not read with context=none",
    ),
    (
        "prepare",
        ["data.target=de", "fidelity.ties=0.5"],
        "fidelity.ties is not read with data.target=de: it is for Eng",
    ),
    (
        "prepare",
        ["data.target=cs", "fidelity.things=5"],
        "fidelity.things is not read with data.target=cs: there is no table of nouns",
    ),
    ("prepare", ["filter.min_agreement=0.5"], "filter.min_agreement is not read with filter.agreement=grammar"),
    ("prepare", ["splits.english_share=0.5"], "splits.english_share is not read without documents"),
    ("train", ["encoder=glove", "encoder.hidden=0"], "encoder.hidden=0: expected a whole number of at least 1"),
]


@pytest.mark.parametrize(
    ("verb", "overrides", "said"),
    [*((verb, [line], said) for verb, line, said in HOSTILE), *NOT_READ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_wrong_value_is_one_line(
    verb: str, overrides: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    given = VERBS[verb][1] if not any(line.startswith("out=") for line in overrides) else VERBS[verb][1][:1]
    with contextlib.chdir(tmp_path):
        assert main([verb, *given, *overrides]) == 1
    told, notes = capsys.readouterr()
    assert told == "" and notes.count("\n") == 1 and notes.startswith("pronmetric: error: ") and said in notes, notes
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("verb", "gone"), [(verb, gone) for verb, keys in REMOVED.items() for gone in keys])
def test_a_key_that_is_gone_is_refused_with_the_version(
    verb: str, gone: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = gone if "=" in gone else f"{gone}=1"
    with contextlib.chdir(tmp_path):
        assert main([verb, *VERBS[verb][1], given]) == 1
    assert capsys.readouterr().err == f"pronmetric: error: {gone} was removed in 1.0.0\n"


@pytest.mark.parametrize("verb", VERBS)
def test_it_is_refused_before_torch_is_there(verb: str) -> None:
    code = (
        "import sys; from pronmetric.cli.main import main; code = main(sys.argv[1:]); "
        "heavy = {'torch', 'transformers', 'pytorch_lightning', 'datasets'} & sys.modules.keys(); "
        "print(code, sorted(heavy))"
    )
    command = ["nmt", "train"] if verb == "nmt" else [verb]
    line = [sys.executable, "-c", code, *command, *VERBS[verb][1], "seed=x"]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.stdout == "1 []\n" and "seed=x: expected a whole number" in done.stderr


def test_a_setting_that_training_can_do_something_with_is_taken() -> None:
    given = ["init=c", "encoder=glove", "encoder.dropout=0.2", "encoder.trainable=false", "data.dir=2024"]
    settings = Train.read(config("train", *given))
    assert not {"encoder.dropout", "encoder.trainable"} & dict(settings.unread()).keys()
    assert settings.data.dir == "2024"
    assert Prepare.read(config("prepare", "data.years=21", "data.pairs=de-en")).data.years == [21]


def test_settings_do_not_change() -> None:
    settings = Train.read(config("train"))
    with pytest.raises(ValueError, match="frozen"):
        settings.seed = 2  # type: ignore[misc]
    with pytest.raises(InputError):
        Train.read({})


def test_a_bare_run_is_the_default_experiment() -> None:
    assert config("train") == config("train", "experiment=default")


def test_the_presets_are_those_that_a_user_chooses_each_with_one_line() -> None:
    files = sorted((CONF / "experiment").glob("*.yaml"))
    assert [path.stem for path in files] == [
        "base",
        "default",
        "distil",
        "fidelity",
        "paper",
        "paper_wmt13",
        "preference",
        "reader",
        "source",
        "table4",
        "targets",
    ]
    for path in files:
        package, comment, then = path.read_text(encoding="utf-8").splitlines()[:3]
        assert package == "# @package _global_" and comment.startswith("# ") and not then.startswith("#")


def test_the_settings_of_results_leave_out_paths_and_the_machine() -> None:
    one = ["out=a", "data.dir=b", "trainer.workers=3", "trainer.threads=2", "encoder_cache=c", "optim.frozen=true"]
    other = ["out=o", "data.dir=d", "trainer.workers=0", "trainer.threads=1", "optim.frozen=true"]
    found = [Train.read(config("train", *each)).results() for each in (one, other)]
    assert found[0] == found[1] != Train.read(config("train", *other, "seed=2")).results()
    assert found[0]["context"] == "common" and "workers" not in found[0]["trainer"]


RUNS = {
    "default": [],
    "passages": ["objective=passages"],
    "preference": ["experiment=preference", "init=c"],
    "distil": ["experiment=distil", "teacher=t"],
    "paper": ["experiment=paper"],
    "source": ["experiment=source", "encoder.name=n"],
    "source-taught": ["experiment=source", "encoder.name=n", "teacher=t"],
    "targets": ["experiment=targets", "encoder.name=n"],
}


@pytest.mark.parametrize("run", RUNS)
def test_a_run_of_before_the_kinds_goes_on(run: str, root: Path) -> None:
    """It recorded the keys of all kinds; one on passages alone had pair_share=0."""
    before = json.loads((root / "tests" / "fixtures" / "training" / "run-records.json").read_text(encoding="utf-8"))[
        run
    ]
    assert plain(Train.read(config("train", *RUNS[run])).results()) == plain(before)


def test_a_key_without_effect_is_a_key() -> None:
    """Each key of the table is one of some preset, so that a renamed key does not leave its row behind."""
    options = [[], ["objective=passages"], ["experiment=source"], ["encoder=glove"], ["encoder=elmo"], ["loss=margin"]]
    known = {key for option in options for key in dotted(config("train", *option))}
    assert {key for case in UNREAD for key in case.keys} <= known


def dotted(tree: Mapping[str, Any], parent: str = "") -> list[str]:
    """The dotted keys of a config, groups included."""
    below = (dotted(value, f"{parent}{key}.") for key, value in tree.items() if isinstance(value, Mapping))
    return [*(f"{parent}{key}" for key in tree), *itertools.chain.from_iterable(below)]


def test_the_settings_of_results_have_a_teachers_own_only_with_a_teacher() -> None:
    """So that runs of earlier versions, which had no such settings, go on."""
    plain, taught = (Train.read(config("train", *more)).results() for more in ([], ["teacher=t"]))
    own = {"soft_detection", "soft_preference"}
    assert not own & plain["objective"].keys() and "teacher" not in plain and "choose" not in plain["data"]
    assert own <= taught["objective"].keys() and taught["teacher"] == "t"
