"""The command lines that make a checkpoint again: prepare, train, average; from its config and its data's manifest.

Folders have names in capitals: WMT, ENGLISH, PARALLEL and PEOPLE hold the texts, whose files and hashes are in
PREPARED/manifest.json.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from pronmetric.installation import folder
from pronmetric.settings import removed

PREPARED = "PREPARED"
STAGES, STAGE = "stages", "stage"  # the keys of the stages that made a checkpoint; of its own, if not the last
ROUNDED = "rounded"  # the key of a checkpoint's record of training that says how its weights were rounded
_FOLDERS = {
    "wmt": "data.wmt=WMT",
    "english": "data.english=ENGLISH",
    "coreference": "data.coreference=COREFERENCE",
    "parallel": "data.parallel=PARALLEL",
    "people": "data.people=PEOPLE",
}
_MANIFEST = {  # keys of `prepare` by those of the manifest's config
    "align_lines": "align.lines",
    "years": "data.years",
    "pairs": "data.pairs",
    "exclude": "data.exclude",
    "target": "data.target",
    "inventory": "inventory",
    "context_size": "context.size",
    "agreement": "filter.agreement",
    "min_agreement": "filter.min_agreement",
    "ties": "filter.ties",
    "development": "splits.development",
    "test": "splits.test",
    "development_share": "splits.development_share",
    "block": "splits.block",
    "english_share": "splits.english_share",
    "whole_files": "splits.whole_files",
    "pieces": "passages.pieces",
    "fidelity.passages": "fidelity.passages",
    "fidelity.things": "fidelity.things",
    "fidelity.ties": "fidelity.ties",
    "source.outputs": "source.outputs",
    "people.longest": "people.longest",
    "seed": "seed",
}
_PEOPLE_SHARES = ("people.development.", "people.test.")
_PATHS = (
    "init",
    "teacher",
    "encoder.name",
    "encoder.options",
    "encoder.weights",
    "encoder.vectors",
    "encoder_cache",
    "source.model",
)


def recorded(overrides: Sequence[str]) -> list[str]:
    """The overrides of a run for its config: without `data.dir` and `out`, and without the folders of other paths."""
    kept = []
    for override in overrides:
        key, _, value = override.partition("=")
        if key not in ("data.dir", "out"):
            kept.append(f"{key}={value.rstrip('/').rpartition('/')[2]}" if key in _PATHS else override)
    return kept


def commands(training: Mapping[str, Any], manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The command lines, in order.

    training: of a checkpoint's config; a part of an average whose command is not recorded, and a setting that is gone,
    is a comment. manifest: of the prepared data.
    """
    lines = _make(training, "AVERAGE" if _is_average(training) else "RUN")[0]
    return prepare_line(manifest), *lines


def prepare_line(manifest: Mapping[str, Any], out: str = PREPARED) -> str:
    """The line of `prepare`: the kinds of input that the manifest lists, and the settings that are not the default."""
    inputs, config = manifest.get("inputs", {}), manifest.get("config", {})
    given = {**config, **config.get("rule", {}), "seed": config.get("seed")}
    given |= flat({group: config.get(group, {}) for group in ("fidelity", "people", "source")})
    usual = default("prepare") | {f"data.{key}": value for key, value in default("data/wmt").items()}
    words = [override for name, override in _FOLDERS.items() if inputs.get(name)]
    words = ["data.wmt=[]", *words] if inputs.get("wmt") == {} else words
    for name, key in _MANIFEST.items():
        if name in given and given[name] != usual[key] and (given[name] is not None or name != "seed"):
            words.append(f"{key}={override_value(given[name])}")
    for name, share in given.items():
        if name.startswith(_PEOPLE_SHARES) and share != usual.get(name):
            _, part, testset = name.split(".", 2)
            key = testset.replace(":", "\\:")
            words.append(f"people.{part}={{{key}:{share}}}")
    return _line("pronmetric prepare", *words, f"out={out}")


def default(name: str) -> dict[str, Any]:
    """The values of a file of the configuration by their dotted keys; of the defaults list the chosen options."""
    tree = yaml.safe_load((folder("conf") / f"{name}.yaml").read_text(encoding="utf-8"))
    chosen = [each for each in tree.pop("defaults", []) if isinstance(each, dict)]
    return dict(flat(tree)) | {key: value for each in chosen for key, value in each.items()}


def flat(tree: Mapping[str, Any], parent: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested mappings by their dotted keys."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{parent}{key}.")
        else:
            yield f"{parent}{key}", value


def _make(training: Mapping[str, Any], name: str) -> tuple[list[str], list[str]]:
    """The lines that make one run, or an average in the folder `name`; the checkpoints that they leave."""
    if ROUNDED in training:
        return _rounded(training, name)
    if _is_average(training):
        return _average(training, name)
    if "overrides" not in training:
        return [f"# the command of {name} is not recorded"], [name]
    return _train([training], name)


def _is_average(training: Mapping[str, Any]) -> bool:
    """Whether checkpoints were averaged by a command of its own, not by a stage."""
    return "average" in training and STAGES not in training


def stage_lines(training: Mapping[str, Any]) -> list[str]:
    """A comment for each stage of a training: what it sets, its seeds and steps, and the weights that it gave."""
    lines = []
    for each in training.get(STAGES, ()):
        seeds = f"seed{'s' * (len(each['seeds']) > 1)} {', '.join(map(str, each['seeds']))}"
        words = shlex.join(each["overrides"])
        lines.append(
            f"# stage {each['name']}: {words and f'{words}; '}{seeds}, {each['steps']} steps: {each['weights']}"
        )
    return lines


def _rounded(training: Mapping[str, Any], name: str) -> tuple[list[str], list[str]]:
    """The lines that make a checkpoint and round it."""
    how = training[ROUNDED]
    lines, command = _make({key: value for key, value in training.items() if key != ROUNDED}, name)
    words = [*command, "--bits", str(how["bits"]), *(["--data", PREPARED] if how["calibrated"] else [])]
    return [*lines, _line("pronmetric checkpoint export", *words, "-o", f"{name}.rounded")], [f"{name}.rounded"]


def _train(runs: Sequence[Mapping[str, Any]], name: str) -> tuple[list[str], list[str]]:
    """One line for runs that differ in their seed alone."""
    words, comments = _current(word for word in runs[0]["overrides"] if not word.startswith("seed="))
    seeds = (run[STAGES][0]["seed"] if STAGES in run else run["seed"] for run in runs)
    seed = f"seed={','.join(map(str, seeds))}"
    given = (f"data.dir={PREPARED}", f"out={name}")
    comments += stage_lines(runs[0])
    within = [f"{run[STAGE]}/checkpoint" if STAGE in run else "checkpoint" for run in runs]
    if len(runs) == 1:
        return [*comments, _line("pronmetric train", *words, seed, *given)], [f"{name}/{within[0]}"]
    line = _line("pronmetric train --multirun", *words, seed, *given)
    return [*comments, line], [f"{name}/{number}/{each}" for number, each in enumerate(within)]


def _current(overrides: Iterable[str]) -> tuple[list[str], list[str]]:
    """The overrides that `train` takes today, and a comment for each one that is gone."""
    words, comments = [], []
    for word in overrides:
        key, _, value = word.lstrip("+~").partition("=")
        gone = removed("train", key, [value])
        if gone is None:
            words.append(word)
        else:
            comments.append(f"# with {word}: {gone}")
    return words, comments


def _average(training: Mapping[str, Any], name: str) -> tuple[list[str], list[str]]:
    """The lines of an average and of its parts."""
    parts = training["average"]
    groups: dict[str, list[int]] = {}
    for number, part in enumerate(parts):
        words = [word for word in part.get("overrides", ()) if not word.startswith("seed=")]
        single = _is_average(part) or "overrides" not in part
        groups.setdefault(str(number) if single else json.dumps(words), []).append(number)
    lines: list[str] = []
    places: dict[int, str] = {}
    for count, members in enumerate(groups.values(), start=1):
        variable = f"RUNS{count}" if len(groups) > 1 else "RUNS"
        part = parts[members[0]]
        if _is_average(part):
            command, left = _average(part, f"{name}{count}")
        elif "overrides" not in part:
            command, left = [f"# the command of {variable}, weights {part['weights']}, is not recorded"], [variable]
        else:
            command, left = _train([parts[number] for number in members], variable)
        lines += command
        places |= dict(zip(members, left, strict=True))
    words = [places[number] for number in range(len(parts))]
    shares = [part["share"] for part in parts]
    more = ["--shares", *(f"{share:g}" for share in shares)] if len(set(shares)) > 1 else []
    more += ["--seed", str(training["seed"])] if training.get("seed", 1) != 1 else []
    return [*lines, _line("pronmetric checkpoint average", *words, "--data", PREPARED, *more, "-o", name)], [name]


def _line(command: str, *words: str) -> str:
    return " ".join([command, *map(shlex.quote, words)])


def override_value(value: Any) -> str:
    """A value as Hydra's grammar of overrides has it.

    >>> override_value(["a b", None, 1])
    '["a b",null,1]'
    """
    if isinstance(value, list | tuple):
        return f"[{','.join(map(override_value, value))}]"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    text = str(value)
    return text if re.fullmatch(r"[\w.:/+-]+", text) else json.dumps(text)
