"""The command lines that a card gives, derived from a checkpoint's config and a manifest."""

from __future__ import annotations

import shlex
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser

from pronmetric.training.card import recipe

MANIFEST: dict[str, Any] = {
    "inputs": {"wmt": {"a": "0"}, "english": {"b": "1"}},
    "config": {
        "years": None,
        "exclude": ["newstest2017", "newsdiscusstest2015", "wmt23:zh-en", "wmt23:he-en"],
        "context_size": 3,
        "align_lines": 100000,
        "agreement": "grammar",
        "rule": {"development": ["wmt23"], "test": ["wmt14", "wmt22:de-en"], "development_share": 0.1, "seed": 1},
        "pieces": 128,
        "fidelity": {"passages": 500, "ties": 0.4},
        "seed": 1,
    },
}
PREPARE = (
    "pronmetric prepare data.wmt=WMT data.english=ENGLISH context.size=3 'splits.test=[wmt14,wmt22:de-en]' "
    "fidelity.passages=500 out=PREPARED"
)


def run(seed: int, *words: str) -> dict[str, Any]:
    return {"overrides": ["experiment=default", f"seed={seed}", *words], "seed": seed, "share": 1.0, "weights": "ab"}


def test_one_run() -> None:
    assert recipe.commands(run(3, "head=logit"), MANIFEST) == (
        PREPARE,
        "pronmetric train experiment=default head=logit seed=3 data.dir=PREPARED out=RUN",
    )


def test_seeds_are_one_sweep_and_other_settings_another() -> None:
    parts = [run(1), run(2), run(1, "optim.lr=1e-4"), run(4)]
    assert recipe.commands({"average": parts, "seed": 1}, MANIFEST)[1:] == (
        "pronmetric train --multirun experiment=default seed=1,2,4 data.dir=PREPARED out=RUNS1",
        "pronmetric train experiment=default optim.lr=1e-4 seed=1 data.dir=PREPARED out=RUNS2",
        "pronmetric checkpoint average RUNS1/0/checkpoint RUNS1/1/checkpoint RUNS2/checkpoint RUNS1/2/checkpoint "
        "--data PREPARED -o AVERAGE",
    )


def staged(seed: int, *names: str) -> dict[str, Any]:
    """The record of the last of these stages, of which the second averages two seeds."""
    made = [
        {"name": name, "overrides": ["optim.lr=1e-4"] * k, "seed": seed, "seeds": [seed, 9][: k + 1], "steps": 5}
        for k, name in enumerate(names)
    ]
    return {**run(seed), "average": [run(seed), run(9)], "stages": [{**each, "weights": "ab"} for each in made]}


def test_stages_are_one_command_and_a_comment_each() -> None:
    comments = ("# stage a: seed 3, 5 steps: ab", "# stage b: optim.lr=1e-4; seeds 3, 9, 5 steps: ab")
    line = "pronmetric train experiment=default seed=3 data.dir=PREPARED out=RUN"
    assert recipe.commands(staged(3, "a", "b"), MANIFEST) == (PREPARE, *comments, line)
    rounded = {**staged(3, "a", "b"), "stage": "b", "rounded": {"bits": 8, "calibrated": False}}
    assert recipe.commands(rounded, MANIFEST)[-1] == (
        "pronmetric checkpoint export RUN/b/checkpoint --bits 8 -o RUN.rounded"
    )
    parts = [staged(3, "a", "b"), staged(4, "a", "b")]
    assert recipe.commands({"average": parts, "seed": 1}, MANIFEST)[3:] == (
        "pronmetric train --multirun experiment=default seed=3,4 data.dir=PREPARED out=RUNS",
        "pronmetric checkpoint average RUNS/0/checkpoint RUNS/1/checkpoint --data PREPARED -o AVERAGE",
    )


def test_shares_nested_averages_and_commands_that_are_not_known() -> None:
    inner = {"average": [run(1), run(2)], "seed": 1, "share": 3.0, "weights": "cd"}
    old = {"seed": 7, "share": 1.0, "weights": "ef"}
    assert recipe.commands({"average": [inner, old], "seed": 5}, {"inputs": {}, "config": {}}) == (
        "pronmetric prepare out=PREPARED",
        "pronmetric train --multirun experiment=default seed=1,2 data.dir=PREPARED out=RUNS",
        "pronmetric checkpoint average RUNS/0/checkpoint RUNS/1/checkpoint --data PREPARED -o AVERAGE1",
        "# the command of RUNS2, weights ef, is not recorded",
        "pronmetric checkpoint average AVERAGE1 RUNS2 --data PREPARED --shares 3 1 --seed 5 -o AVERAGE",
    )
    assert recipe.commands({"seed": 7}, MANIFEST)[1:] == ("# the command of RUN is not recorded",)


def test_recorded_overrides_have_no_folders_of_this_machine() -> None:
    given = ["experiment=default", "data.dir=/a/b", "out=runs/x", "init=/c/d/run/", "~objective.source_share.gum"]
    assert recipe.recorded(given) == ["experiment=default", "init=run", "~objective.source_share.gum"]


def test_a_setting_that_is_gone_is_a_comment() -> None:
    assert recipe.commands(run(1, "data.soft=soft"), MANIFEST)[1:] == (
        "# with data.soft=soft: data.soft was removed in 1.0.0",
        "pronmetric train experiment=default seed=1 data.dir=PREPARED out=RUN",
    )


def test_an_aligner_that_is_gone_is_left_out() -> None:
    manifest = {"inputs": {}, "config": {"align_backend": "eflomal", "align_lines": 100, "source_filter": "none"}}
    assert recipe.commands(run(1), manifest)[0] == "pronmetric prepare align.lines=100 out=PREPARED"


def test_people_and_the_shares_of_theirs_that_are_not_the_default() -> None:
    people = {"test": {"bio-mqm": 0.33, "mlqe-pe:ne-en": 0.5}, "development": {"bio-mqm": 0.1}, "longest": 3}
    line = recipe.prepare_line({"inputs": {"people": {"a.tsv": "0"}}, "config": {"people": people}})
    words = shlex.split(line)
    assert words == [
        *("pronmetric", "prepare", "data.people=PEOPLE", "people.longest=3"),
        *(r"people.test={mlqe-pe\:ne-en:0.5}", "out=PREPARED"),
    ]
    override = OverridesParser.create().parse_override(words[4])
    assert override.value() == {"mlqe-pe:ne-en": 0.5}
