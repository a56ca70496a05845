"""The model card of a checkpoint: its use, training data, evaluation and limitations.

All figures are those of the measuring scripts (`python -m benchmarks.checkpoint.NAME`); nothing is entered by hand, and
missing measurements are named.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.checkpoint.shards import hash_weights
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.output.targets import AtomicFile
from pronmetric.pronouns.languages import Language
from pronmetric.training.card import recipe

_LICENCES = {
    "wmt": "WMT system outputs, references and sources (wmt-conference/wmtNN-news-systems): for research use",
    "gum": "GUM, CC BY 4.0 (without its reddit documents)",
    "ewt": "UD English EWT, CC BY-SA 4.0",
    "standardebooks": "Standard Ebooks, public domain (CC0)",
}
BY_TABLE = (
    "Pronouns are found by a table of forms without rules of usage: every word with one of its forms counts, and forms "
    "that are articles or conjunctions far more often are not scored."
)
PAPER = "Jwalapuram et al. 2019"
MEASUREMENTS = (
    "study",
    "gap",
    "pair_accuracy",
    "context_gain",
    "calibration",
    "antecedents",
    "bias",
    "fidelity",
)
"""The scripts whose figures a card has, in order."""


@dataclass(frozen=True, slots=True)
class Making:
    """Where and when a checkpoint was made, as far as it is known."""

    machine: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of a checkpoint: figures by name of `MEASUREMENTS`, the errors it overlooks, the commands."""

    figures: Mapping[str, Sequence[str]] = field(default_factory=dict)
    overlooked: str = ""
    commands: tuple[str, ...] = ()


def card(
    *,
    name: str,
    weights: str,
    config: Mapping[str, Any],
    manifest: Mapping[str, Any],
    manifest_hash: str,
    measured: Measured = Measured(),
    making: Making = Making(),
) -> str:
    """The card as Markdown.

    Args:
        name: of the checkpoint.
        weights: first 8 hex digits of the weights' SHA-256.
        config: the checkpoint's config.yaml.
        manifest: that of the prepared data, and `manifest_hash`, the SHA-256 of its file.
        manifest_hash: see `manifest`.
        measured: its figures.
        making: where and when it was made; the commands are derived from `config` and `manifest`.
    """
    sections = [
        _head(name, weights, config),
        _use(config),
        _ties(config),
        _figures(measured),
        _limits(config, measured),
        _data(manifest, manifest_hash),
        _made(config, manifest, making, measured),
    ]
    return "\n\n".join(sections) + "\n"


def write(folder: Path, *, data: Path, measured: Measured = Measured(), making: Making = Making()) -> None:
    """Write the card of the checkpoint in `folder`, made from the prepared folder `data`, with these figures."""
    manifest = data / arrow.MANIFEST
    for path in (folder / "config.yaml", manifest):
        if not path.is_file():
            raise InputError("a card needs this file, which is not there", file=path)
    text = card(
        name=locate.name_of(folder),
        weights=hash_weights(folder),
        config=checkpoint_config.read(folder / "config.yaml"),
        manifest=arrow.read_manifest(data),
        manifest_hash=_sha256(manifest),
        measured=measured,
        making=making,
    )
    with AtomicFile(folder / locate.CARD) as file:
        file.write(text)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _head(name: str, weights: str, config: Mapping[str, Any]) -> str:
    language = checkpoint_config.language_of(config)
    return "\n".join(
        [
            front_matter([language.code]),
            "",
            f"# pronmetric checkpoint `{name}`",
            "",
            f"Gives the probability that each pronoun of {_kind(language)} is the right one, given the sentences "
            "before it. A segment's score comes from its pronouns, a system's is 100 x the mean over all "
            f"pronouns. Weights `{weights}`, head `{config['head']['kind']}`, segment score `{config['segment']}` of "
            f"the pronouns, {len(config['pronouns'])} pronoun forms.",
        ]
    )


def _kind(language: Language) -> str:
    return "an English translation" if language.ruled else f"a translation into `{language.code}`"


def _use(config: Mapping[str, Any]) -> str:
    language = checkpoint_config.language_of(config)
    target = "English" if language.ruled else f"`{language.code}`"
    return f"""## Intended use

To compare machine translations into {target} by their pronouns alone: personal, possessive, reflexive, demonstrative,
interrogative and relative ones. It complements a metric of overall quality and does not replace one. With a
reference (`-r`) all systems are scored in the reference's context; without one each is scored in its own.

```
pronmetric score -t system.txt -r reference.txt --model FOLDER
pronmetric compare -t a.txt b.txt --model FOLDER
```

Not for: other target languages; grading sentences of individual people; deciding which pronoun a person uses. It was
trained with context `{config["context"]}`."""


def _ties(config: Mapping[str, Any]) -> str:
    """The tie threshold of `--tie auto`, and how it was chosen."""
    title = "## Ties\n\n"
    if checkpoint_config.TIE not in config:
        return title + "No tie threshold: `--tie auto` is refused."
    threshold = f"Segments whose scores differ by no more than {config[checkpoint_config.TIE]:g} tie with `--tie auto`"
    how = config["training"].get("tie")
    if how is None:
        return f"{title}{threshold}."
    return (
        f"{title}{threshold}: so {100 * how['ties'] / how['pairs']:.1f} % of {how['pairs']:,} development pairs of "
        f"reference and noisy reference tie. The aim was {100 * how['people']:.1f} %, the share of ties among the "
        f"answers that {PAPER} publish, where the raters agreed. On other texts people may tie far more often than "
        "this threshold does."
    )


def _figures(measured: Measured) -> str:
    sections = [
        "## Figures",
        "Accuracy in percent: the better text must score strictly higher; equal and null scores are wrong and counted. "
        "In brackets the 95 % interval, over the reference sentences of the study set, the articles of GAP, else the "
        "documents.",
    ]
    for name in MEASUREMENTS:
        sections += measured.figures.get(name, [f"`{name}`: not measured."])
    return "\n\n".join(sections)


def _limits(config: Mapping[str, Any], measured: Measured) -> str:
    lines = [
        *([] if checkpoint_config.language_of(config).ruled else [BY_TABLE]),
        "Where the source does not count (`-s` with a reader of sources), a pronoun that fits its "
        "sentence and the text before it counts as right, whatever the source has.",
        "Choices between forms that both fit the sentence (his/her, he/they) depend on the antecedent, which is harder "
        "to find than what fits locally: compare the figures with and without context.",
        "Singular they, neopronouns and ships called she are rarer in the training data than in the world, and so are "
        "women in some roles: a low probability is no statement about a person.",
        f"Context beyond {config['max_pieces']} sub-word pieces is cut from the left; such segments are counted.",
        "A dropped pronoun is not scored: only pronouns in the text have a probability.",
    ]
    if measured.overlooked:
        lines.append(f"Errors it overlooks most often: {measured.overlooked}.")
    return "## Limits\n\n" + "\n".join(f"- {line}" for line in lines)


def _data(manifest: Mapping[str, Any], manifest_hash: str) -> str:
    rows = [
        [split, f"{part['rows']:,}", ", ".join(part["testsets"]) or "-"] for split, part in manifest["splits"].items()
    ]
    sources = dict.fromkeys(
        ["wmt"] * ("wmt" in manifest["inputs"]) + [name.split("/")[0] for name in manifest["inputs"].get("english", {})]
    )
    licences = [f"- {_LICENCES.get(name, f'`{name}`: see where it came from')}" for name in sources]
    agreement = manifest["config"].get("agreement")
    return "\n".join(
        [
            "## Training data and licence",
            "",
            f"Prepared folder with manifest SHA-256 `{manifest_hash}`, pronmetric {manifest['package_version']}, "
            f"schema {manifest['schema_version']}. Pronoun pairs that count as no error: filter `{agreement}`. Never "
            f"read: {', '.join(manifest['config'].get('exclude', [])) or 'none'}.",
            "",
            table(["split", "rows", "test sets"], rows),
            "",
            *licences,
            "",
            "The weights are under Apache-2.0, as the code. They contain no text of the data; the terms of the "
            "data are those of its owners.",
        ]
    )


def _made(config: Mapping[str, Any], manifest: Mapping[str, Any], making: Making, measured: Measured) -> str:
    hidden = ("pronouns", "encoder", "training", checkpoint_config.LANGUAGE)
    shown = {key: value for key, value in config.items() if key not in hidden}
    shown["training"] = {key: value for key, value in config.get("training", {}).items() if key != "confusion"}
    settings = yaml.safe_dump(shown, sort_keys=False).strip()
    where = ", ".join(each for each in (making.date and f"On {making.date}", making.machine) if each)
    minutes = [f"{seconds / 60:.0f}" for seconds in _seconds(config.get("training", {}))]
    taught = [f"Taught by weights `{each}`." for each in sorted(_teachers(config.get("training", {})))]
    time = f"Training took {', '.join(minutes)} minutes." if minutes else "The time of training is not recorded."
    return "\n".join(
        [
            "## How it was made",
            "",
            f"{where}. {time}" if where else time,
            *taught,
            "",
            "```",
            *recipe.commands(config.get("training", {}), manifest),
            "```",
            "",
            *(("Measured with", "", "```", *measured.commands, "```", "") if measured.commands else ()),
            "Settings of the checkpoint:",
            "",
            "```yaml",
            settings,
            "```",
        ]
    )


def _seconds(training: Mapping[str, Any]) -> list[int]:
    """The duration of each run of a checkpoint, or of each stage of one, in seconds."""
    if recipe.STAGES in training:
        return [each["seconds"] for each in training[recipe.STAGES]]
    if "average" in training:
        return [seconds for part in training["average"] for seconds in _seconds(part)]
    return [training["seconds"]] if "seconds" in training else []


def _teachers(training: Mapping[str, Any]) -> set[str]:
    """The weights' hashes of the teachers of a checkpoint's runs."""
    if "average" in training:
        return {each for part in training["average"] for each in _teachers(part)}
    return {training["teacher"]} if "teacher" in training else set()


def front_matter(codes: Sequence[str]) -> str:
    """The first lines of a card, which the Hugging Face hub reads; codes: of the target languages."""
    content = {
        "license": "apache-2.0",
        "language": list(codes),
        "library_name": "pronmetric",
        "tags": ["evaluation", "machine-translation", "pronouns", "metric"],
    }
    return f"---\n{yaml.safe_dump(content, sort_keys=False).strip()}\n---"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
