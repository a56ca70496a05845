"""The model card of a checkpoint: its use, training data, evaluation and limitations.

All figures come from reports of the measuring scripts (`python -m benchmarks.checkpoint.NAME --out FILE.json`); nothing
is entered by hand, and missing measurements are named.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_PAPER = "Jwalapuram et al. 2019"
_PARTS = {"system": "R vs S", "noisy": "R vs R'", "system other": "R vs S, against another word or nothing"}
_SPLITS = {
    "development": "development",
    "test": "test",
    "development_study": "development in the study's form",
}
_KNOWN = {("test", "system"): "90.7 on WMT14", ("test", "noisy"): "89.1 on WMT14"}


@dataclass(frozen=True, slots=True)
class Making:
    """Where and when a checkpoint was made, as far as it is known."""

    machine: str | None = None
    date: str | None = None


def card(
    *,
    name: str,
    weights: str,
    config: Mapping[str, Any],
    manifest: Mapping[str, Any],
    manifest_hash: str,
    reports: Sequence[Mapping[str, Any]],
    making: Making = Making(),
) -> str:
    """The card as Markdown.

    Args:
        name: of the checkpoint.
        weights: first 8 hex digits of the weights' SHA-256.
        config: the checkpoint's config.yaml.
        manifest: that of the prepared data, and `manifest_hash`, the SHA-256 of its file.
        manifest_hash: see `manifest`.
        reports: what the measuring scripts wrote, in any order.
        making: where and when it was made; the commands are derived from `config` and `manifest`.

    Raises:
        InputError: a report of other weights.
    """
    for report in reports:
        if report["weights"] != weights:
            raise InputError(
                f"the report of {report['benchmark']} is of weights {report['weights']}, the checkpoint has {weights}; "
                f"measure again: {report['command']}"
            )
    sections = [
        _head(name, weights, config),
        _use(config),
        _ties(config),
        "## Figures\n\n" + "\n\n".join(_figures(reports)),
        _limits(config, reports),
        _data(manifest, manifest_hash),
        _made(config, manifest, making, reports),
    ]
    return "\n\n".join(sections) + "\n"


def write(folder: Path, *, data: Path, reports: Iterable[Path] = (), making: Making = Making()) -> None:
    """Write the card of the checkpoint in `folder`, made from the prepared folder `data`, with these reports."""
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
        reports=[json.loads(path.read_text(encoding="utf-8")) for path in reports],
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
        f"answers that {_PAPER} publish, where the raters agreed. On other texts people may tie far more often than "
        "this threshold does."
    )


def _figures(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """One block for each kind of measurement."""
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for report in reports:
        by_name.setdefault(report["benchmark"], []).append(report["figures"])
    yield (
        "Accuracy in percent: the better text must score strictly higher; equal and null scores are wrong and counted. "
        "In brackets the 95 % interval, over the reference sentences of the study set, the articles of GAP, else the "
        "documents."
    )
    for name, render in (
        ("study", _study),
        ("gap", _gap),
        ("pair_accuracy", _pairs),
        ("context_gain", _context),
        ("calibration", _calibration),
        ("antecedents", _antecedents),
        ("bias", _bias),
        ("fidelity", _fidelity),
    ):
        for figures in by_name.get(name, []):
            yield render(figures)
        if name not in by_name:
            yield f"`{name}`: not measured."


def _study(figures: Mapping[str, Any]) -> str:
    known = {"french": "82.0", "german": "81.6"}
    rows = []
    for language, part in figures["languages"].items():
        cells = [_share(part[kind]) for kind in ("common", "none", "shuffled")]
        counts = f"{part['common']['equal']} / {part['common']['null']} / {part['unscored']['either']}"
        rows.append([language, str(part["common"]["pairs"]), *cells, counts, known.get(language, "")])
    header = ["language", "pairs", "common context", "none", "shuffled", "equal / null / unscored", _PAPER]
    return "### Published study set (test)\n\n" + table(header, rows)


def _gap(figures: Mapping[str, Any]) -> str:
    rows = [
        [kind, _share(figures[kind]), _share(figures["first_600"][kind])] for kind in ("common", "none", "shuffled")
    ]
    return (
        "### GAP development part (test): the pronoun against the other gender's\n\n"
        + table(["context", f"accuracy, {figures['common']['pairs']} items", "first 600"], rows)
        + f"\n\nContext helps by {_gain(figures['context_gain'])} points, shuffled context by "
        + f"{_gain(figures['shuffled_gain'])}."
    )


def _pairs(figures: Mapping[str, Any]) -> str:
    rows, notes = [], []
    for part, title in _PARTS.items():
        if part not in figures:
            continue
        own = figures[part]
        known = _KNOWN.get((figures["split"], part), "")
        for kind, value in own["contexts"].items():
            counts = f"{value['equal']} / {value['null']}"
            rows.append([title, kind, str(value["pairs"]), _share(value), counts, known if kind == "common" else ""])
        notes.append(f"{title}: {_counts(own['by_count'])}.")
    header = ["pairs", "context", "number", "accuracy", "equal / null", _PAPER]
    title = f"### Reference against system and noisy reference ({_SPLITS[figures['split']]})\n\n"
    return title + "\n\n".join([table(header, rows), *notes])


def _counts(split: Mapping[str, Any]) -> str:
    """Accuracy on pairs with equal and unequal numbers of pronouns."""
    parts = []
    if split["equal"] is not None:
        parts.append(f"{_share(split['equal'])} where both texts have as many pronouns")
    if split["unequal"] is not None:
        parts.append(
            f"{_share(split['unequal'])} of {split['unequal']['pairs']} pairs where not, of which the text with fewer "
            f"pronouns wins {_share(split['fewer_won'])}"
        )
    return "; ".join(parts)


def _context(figures: Mapping[str, Any]) -> str:
    rows = [
        [
            group,
            str(part["common"]["pairs"]),
            *(f"{100 * part[kind]['accuracy']:.1f}" for kind in ("common", "none", "shuffled")),
            _gain(part["context_gain"]),
            _gain(part["shuffled_gain"]),
        ]
        for group, part in figures.items()
        if not group.startswith("third,")
    ]
    header = ["pronouns", "pairs", "common", "none", "shuffled", "common - none", "shuffled - none"]
    return "### Does context help? R vs R'\n\n" + table(header, rows)


def _calibration(figures: Mapping[str, Any]) -> str:
    rows = [
        [f"{b['low']:.3f} to {b['high']:.3f}", str(b["count"]), f"{b['probability']:.3f}", f"{b['frequency']:.3f}"]
        for b in figures["reliability"]
    ]
    return (
        f"### Calibration ({figures['split']}, {figures['form']} text)\n\n"
        f"Expected calibration error {figures['ece']:.3f} ({figures['bins']} equal-mass bins) over "
        f"{figures['pronouns']} pronouns of held-out references, {figures['wrong']} of them replaced: at "
        f"{100 * figures['rate']:.1f} %, the rate at which the outputs of WMT22 have another pronoun than the "
        "reference.\n\n" + table(["probability", "pronouns", "mean", "right"], rows)
    )


def _antecedents(figures: Mapping[str, Any]) -> str:
    rows = [
        [group, str(part["pronouns"]), method, *(_share(part[method][hit]) for hit in ("hit@1", "hit@3"))]
        for group, group_figures in figures["groups"].items()
        for part in [group_figures.get("antecedent")]
        if part is not None
        for method in ("attention", "nearest noun", "chance")
    ]
    gain = figures["groups"]["held out"]["antecedent"]["gain"]["hit@1"]
    return (
        "### Does a third-person pronoun look at its antecedent? GUM's coreference\n\n"
        + table(["documents", "pronouns", "", "hit@1", "hit@3"], rows)
        + "\n\nHit@k: one of the k words most attended, the pronoun itself excluded, is part of its antecedent. "
        + f"Attention minus the nearest noun, held out: {_gain(gain)} points (hit@1). What `pronmetric attention` "
        + "shows is a guess at antecedents, useful only where it is better than that baseline."
    )


def _bias(figures: Mapping[str, Any]) -> str:
    own, gap = figures["winogender"]["occupation"], figures["gap"]
    correlations = ", ".join(
        f"{own['correlations'][source]['pearson']['value']:+.2f} ({label})"
        for source, label in (("bergsma", "web text"), ("bls", "US"))
    )
    rows = [[name, str(gap[name]["pairs"]), _share(gap[name])] for name in ("feminine", "masculine")]
    return (
        "### Bias by gender (test)\n\n"
        + f"Winogender: P(he) - P(she) in the same sentence is {own['difference']['value']:+.3f} on average over "
        + f"{own['occupations']} occupations (absolute {own['absolute']['value']:.3f}; 0 is unbiased). Its correlation "
        + f"with the share of women in the occupation: {correlations}; a negative one follows the statistics.\n\n"
        + table(["GAP development part, pronouns", "items", "accuracy"], rows)
        + f"\n\nFeminine minus masculine: {_gain(gap['difference'])} points."
    )


def _fidelity(figures: Mapping[str, Any]) -> str:
    groups = [(f"level {level}", shares) for level, shares in figures["levels"].items()]
    groups += [("rewritten documents", figures["rewritten"])] if "rewritten" in figures else []
    sets = ("all", "he", "she", "they", "it")
    rows = [[name, *(_share(shares[each]) if each in shares else "" for each in sets)] for name, shares in groups]
    they, bias = figures["they"]["all"], figures["stereotypes"]
    share = bias["share"]
    return (
        "### Fidelity: the right pronouns against another person's (held-out frames, roles and names)\n\n"
        + table(["passages", *sets], rows)
        + "\n\nThe level is the number of sentences about the other person in between. Singular they that the text "
        + f"has established, against he or she: {_share(they)} % of {they['pairs']} texts. Where nothing "
        + f"but a stereotype of the role decides between he and she, {_share({**share, 'accuracy': share['value']})} % "
        + f"of {bias['pairs']} decisions are on its side; 50 % is unbiased. Neopronouns are not scored."
    )


def _limits(config: Mapping[str, Any], reports: Sequence[Mapping[str, Any]]) -> str:
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
    wrong = next((r["figures"]["confusions"] for r in reports if r["benchmark"] == "study"), None)
    if wrong is None:
        wrong = next((r["figures"]["noisy"]["confusions"] for r in reports if "noisy" in r["figures"]), None)
    if wrong:
        listed = ", ".join(
            f"{c['system']} for {c['reference']} ({c['wrong']} of {c['pairs']})" for c in wrong[:8] if c["wrong"]
        )
        lines.append(f"Errors it overlooks most often: {listed}.")
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


def _made(
    config: Mapping[str, Any], manifest: Mapping[str, Any], making: Making, reports: Sequence[Mapping[str, Any]]
) -> str:
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
            *_measured(reports),
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


def _measured(reports: Sequence[Mapping[str, Any]]) -> list[str]:
    if not reports:
        return []
    return ["Measured with", "", "```", *dict.fromkeys(str(report["command"]) for report in reports), "```", ""]


def _share(value: Mapping[str, Any] | None) -> str:
    """An accuracy or an estimate: "86.4 [83.1, 89.2]"."""
    if value is None:
        return "-"
    share = value["accuracy"] if "accuracy" in value else value["value"]
    if value["low"] is None:
        return f"{100 * share:.1f}"
    return f"{100 * share:.1f} [{100 * value['low']:.1f}, {100 * value['high']:.1f}]"


def _gain(value: Mapping[str, Any]) -> str:
    if value["low"] is None:
        return f"{100 * value['value']:+.1f}"
    return f"{100 * value['value']:+.1f} [{100 * value['low']:+.1f}, {100 * value['high']:+.1f}]"


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
