"""The model card of a checkpoint: its use, figures, limits and training, for people.

The record for machines (settings, splits, calibration, the overrides of each run) is the checkpoint's config.yaml.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Making:
    """Where and when a checkpoint was made, as far as it is known."""

    machine: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """The sections on what was measured of a checkpoint, as Markdown, and the errors that it overlooks most often."""

    sections: str = "## What people marked (test)\n\nNot measured.\n\n## Tests\n\nNot measured."
    overlooked: str = ""


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
        measured.sections,
        _limits(config, measured),
        _training(config, manifest, manifest_hash, making),
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
            f"Gives the probability that each pronoun of {_kind(language)} is right, given the sentences before "
            f"it. A segment's score is the {config['segment']} of its pronouns, a system's 100 x the mean over all "
            f"pronouns. Weights `{weights}`, head `{config['head']['kind']}`, {len(config['pronouns'])} pronoun forms; "
            "the record for machines is `config.yaml`.",
        ]
    )


def _kind(language: Language) -> str:
    return "an English translation" if language.ruled else f"a translation into `{language.code}`"


def _use(config: Mapping[str, Any]) -> str:
    language = checkpoint_config.language_of(config)
    target = "English" if language.ruled else f"`{language.code}`"
    return f"""## Intended use

To compare machine translations into {target} by their pronouns alone (personal, possessive, reflexive, demonstrative,
interrogative, relative), beside a metric of overall quality. Not for other target languages, for grading people's
sentences, or for deciding which pronoun a person uses.

```
pronmetric score -t system.txt -r reference.txt --model FOLDER
pronmetric compare -t a.txt b.txt --model FOLDER
```"""


def _limits(config: Mapping[str, Any], measured: Measured) -> str:
    lines = [
        *([] if checkpoint_config.language_of(config).ruled else [BY_TABLE]),
        "Without the source, a pronoun that fits its sentence and the text before it counts as right, and a missing "
        "pronoun is none.",
        "Where several forms fit the sentence (his/her, he/they) the antecedent decides, which is harder to find.",
        "Singular they, neopronouns and women in some roles are rarer in the training data than in the world: a low "
        "probability is no statement about a person.",
        f"Trained with context `{config['context']}`; context beyond {config['max_pieces']} sub-word pieces is cut "
        "from the left and counted.",
        _ties(config),
    ]
    if measured.overlooked:
        lines.append(f"Errors it overlooks most often: {measured.overlooked}.")
    return "## Limits\n\n" + "\n".join(f"- {line}" for line in lines)


def _ties(config: Mapping[str, Any]) -> str:
    """What `--tie auto` does."""
    if checkpoint_config.TIE not in config:
        return "No tie threshold: `--tie auto` is refused."
    how = config["training"].get("tie")
    share = f"; so {100 * how['ties'] / how['pairs']:.1f} % of {how['pairs']:,} development pairs tie" if how else ""
    return (
        f"`--tie auto`: scores that differ by no more than {config[checkpoint_config.TIE]:g} tie{share}. On other "
        "texts people may tie far more often."
    )


def _training(config: Mapping[str, Any], manifest: Mapping[str, Any], manifest_hash: str, making: Making) -> str:
    training = config.get("training", {})
    sources = dict.fromkeys(
        ["wmt"] * ("wmt" in manifest["inputs"]) + [name.split("/")[0] for name in manifest["inputs"].get("english", {})]
    )
    licences = "; ".join(_LICENCES.get(name, f"`{name}` (see where it came from)") for name in sources)
    rows = ", ".join(f"{part['rows']:,} {split}" for split, part in manifest["splits"].items())
    where = ", ".join(each for each in (making.date and f"On {making.date}", making.machine) if each)
    minutes = [f"{seconds / 60:.0f}" for seconds in _seconds(training)]
    time = f"Training took {', '.join(minutes)} minutes." if minutes else "The time of training is not recorded."
    taught = [f"Taught by weights `{each}`." for each in sorted(_teachers(training))]
    return "\n".join(
        [
            "## Training",
            "",
            f"- Data: {rows} (manifest SHA-256 `{manifest_hash}`). Never read: "
            f"{', '.join(manifest['config'].get('exclude', [])) or 'none'}.",
            f"- From: {licences}. The terms of the data are those of its owners; the weights contain no text of it and "
            "are under Apache-2.0.",
            f"- {' '.join([where + '.'] * bool(where) + [time, *taught])}",
            "",
            "```",
            *recipe.commands(training, manifest),
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
