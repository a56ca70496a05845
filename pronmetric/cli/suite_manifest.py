"""A built suite with its manifest: its inputs, flags and counts, and what judges without context reach on it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from data_prep.manifest import hashes, sha256
from data_prep.suites.corpus import Document
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.cli import output
from pronmetric.cli.parser import Flags, flag
from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.suites.blind import FREQUENCY, Blind, by_frequency, measure
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.contrastive import Item, Reading, for_pronouns, texts_of
from pronmetric.output import targets
from pronmetric.report.text import table
from pronmetric.schema import SCHEMA_VERSION
from pronmetric.text.strict_json import plain
from pronmetric.version import __version__

NO_MODEL = "none"
SUFFIX = ".manifest.json"


class BlindFlags(Flags):
    """What judges the set without context."""

    blind_model: str | None = flag(
        "--blind-model",
        metavar="NAME|FOLDER",
        help="checkpoint that judges the set without context, for the manifest (default: base, or multilingual, if it "
        "scores the language and is there; none: the frequency of the words alone)",
    )


class Words(Counter[str]):
    """The words of the target side, counted while its documents are read."""

    def of(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The same documents."""
        for document in documents:
            for pair in document.pairs:
                self.update(pair.target.text().lower().split())
            yield document


def path_of(file: str) -> Path:
    """The manifest's place: beside the set."""
    return Path(file).with_suffix(SUFFIX)


def write(file: str, content: str, suite: str, *, counts: Mapping[str, int], **given: Any) -> None:
    """Write the set, describe it as `describe` does with these arguments, and print its counts."""
    with targets.AtomicFile(file) as opened:
        opened.write(f"{content}\n")
    describe(file, suite, counts=counts, **given)
    print(table(("", "count"), sorted(counts.items())))


def describe(
    file: str,
    suite: str,
    *,
    words: Mapping[str, int],
    language: str,
    blind: BlindFlags,
    inputs: Sequence[str | None],
    settings: Mapping[str, Any],
    counts: Mapping[str, int],
    note: output.Notes,
) -> None:
    """Judge the set `file` without context, and write its manifest; a judge above chance is noted.

    Raises:
        PronmetricError: --blind-model names no checkpoint, or one of another language.
    """
    items = SUITES[suite].read(file, Reading())
    found = [measure(FREQUENCY, items, by_frequency(items, words))]
    name = _default(language) if blind.blind_model is None else blind.blind_model
    if name is None:
        note(f"no checkpoint here scores {language}: {FREQUENCY} alone judges the set without context")
    elif name != NO_MODEL:
        found += _by_model(name, items, suite, language)
    for one in found:
        if one.above_chance:
            note(
                f"{file}: without context, {one.judge} is right on {100 * one.accuracy:.1f} % of the items, chance is "
                f"{100 * one.chance:.1f} %: part of the set needs no context; say so with its figures"
            )
    read = [path for path in map(Path, filter(None, inputs)) if path.is_file()]
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "package_version": __version__,
        "inputs": hashes(read, read) if read else {},
        "settings": plain(settings),
        "counts": dict(sorted(counts.items())),
        "set": sha256(Path(file)),
        "without context": [{**one._asdict(), "above chance": one.above_chance} for one in found],
    }
    output.write_json(str(path_of(file)), manifest)


def _default(language: str) -> str | None:
    """The first checkpoint of this installation that scores a language."""
    for name in (locate.DEFAULT, *locate.REPOSITORY[::-1]):
        try:
            place = locate.locate(name)
        except PronmetricError:
            continue
        if language in _languages(place):
            return name
    return None


def _languages(place: locate.Location) -> list[str]:
    """The codes of the languages that a checkpoint scores."""
    config = checkpoint_config.read(place.folder / locate.CONFIG)
    return [one.code for one in checkpoint_config.languages_of(config)]


def _by_model(name: str, items: Sequence[Item], suite: str, language: str) -> list[Blind]:
    """The judgement of a checkpoint; none where no item is of pronouns."""
    kept = for_pronouns(items, replace(SUITES[suite].ABOUT, targets=()), language)
    if not kept:
        return []
    from pronmetric.metric import PronounMetric

    several = len(_languages(locate.locate(name))) > 1
    metric = PronounMetric.from_pretrained(name, lang=language if several else None)
    if metric.language.code != language:
        raise InputError(f"--blind-model: {name} scores {metric.language.code}, and the set is in {language}")
    scores = (segment.score for segment in metric.stream(texts_of(kept)))
    values = [-math.inf if score is None else score for score in scores]
    return [measure(f"{metric.name} {metric.hash}", kept, values)]
