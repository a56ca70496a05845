"""The command lines that a card gives, derived from a checkpoint's config and a manifest."""

from __future__ import annotations

from typing import Any

from pronmetric.training import recipe

MANIFEST: dict[str, Any] = {
    "inputs": {"wmt": {"a": "0"}, "english": {"b": "1"}},
    "config": {
        "years": None,
        "exclude": ["newstest2017", "newsdiscusstest2015", "wmt23:zh-en", "wmt23:he-en"],
        "context_size": 3,
        "align_backend": "agreement",
        "align_lines": 100000,
        "agreement": "grammar",
        "rule": {"development": ["wmt23"], "test": ["wmt14", "wmt22:de-en"], "development_share": 0.1, "seed": 1},
        "pieces": 128,
        "outputs": 8,
        "fidelity": {"passages": 500, "ties": 0.4},
        "seed": 1,
    },
}
PREPARE = (
    "pronmetric prepare data.wmt=WMT data.english=ENGLISH context.size=3 'splits.test=[wmt14,wmt22:de-en]' "
    "passages.outputs=8 fidelity.passages=500 out=PREPARED"
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


def test_soft_labels_have_a_line_of_their_own() -> None:
    model = {"name": "lm", "precision": "bf16", "sha256": {"model.safetensors": "ab"}}
    parts = [
        {**run(seed, "data.soft=soft"), "soft_labels": {"model": model, "slots": 500, "seed": 2}} for seed in (1, 2)
    ]
    lines = recipe.commands({"average": parts, "seed": 1}, MANIFEST)
    assert lines[1] == (
        "pronmetric soft-labels PREPARED --language-model lm --slots 500 --seed 2 --precision bf16 -o soft"
    )
    assert lines[2] == (
        "pronmetric train --multirun experiment=default data.soft=soft seed=1,2 data.dir=PREPARED out=RUNS"
    )
    assert recipe.recorded(["data.soft=/a/b/soft/"]) == ["data.soft=soft"]


def test_recorded_overrides_have_no_folders_of_this_machine() -> None:
    given = ["experiment=default", "data.dir=/a/b", "out=runs/x", "init=/c/d/run/", "~objective.source_share.gum"]
    assert recipe.recorded(given) == ["experiment=default", "init=run", "~objective.source_share.gum"]
