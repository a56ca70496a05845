"""The settings of preparation, and the callbacks through which it reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from data_prep.fidelity import things
from data_prep.filters import GRAMMAR, NONE
from data_prep.manifest import NAME as MANIFEST
from data_prep.splits import SplitRule
from pronmetric import settings
from pronmetric.errors import InputError
from pronmetric.pronouns.languages import Language, language
from pronmetric.settings import Count, CountOrNone, Record, Seed, Share, Text
from pronmetric.text.language_codes import CODE, bare

STAGES = ".stages"
LANGUAGE = "language"  # in the manifest: the record of a target language other than English


def _several(value: object) -> object:
    """A single value as a list (data.years=21)."""
    return [value] if isinstance(value, str | int) and not isinstance(value, bool) else value


def _code(target: str) -> str:
    """The bare code of a language; a user's table as it is."""
    return target if target.endswith(".tsv") else bare(target)


ONE = BeforeValidator(_several)
Years = Annotated[list[Annotated[int, Field(ge=6, le=99)] | Annotated[int, Field(ge=2006, le=2099)]], ONE]
Pairs = Annotated[list[Annotated[str, Field(pattern=f"^{CODE}-{{1,3}}{CODE}$", examples=["de-en"])]], ONE]
Names = Annotated[list[Text], ONE]


class Data(Record):
    """Group data."""

    wmt: Annotated[list[Text], ONE]
    english: Text | None
    coreference: Names | None
    parallel: Annotated[list[Text], ONE] | None
    people: Names | None
    years: Years | None
    pairs: Pairs | None
    exclude: Names
    target: Annotated[Text, AfterValidator(_code)]


class Align(Record):
    """Group align."""

    lines: Count


class Context(Record):
    """Group context."""

    size: CountOrNone


class Filter(Record):
    """Group filter."""

    agreement: Text
    min_agreement: Share
    ties: Text | None


class Splits(Record):
    """Group splits."""

    test: Names
    development: Names
    development_share: Share
    block: Count
    english_share: Share
    whole_files: Names


class Passages(Record):
    """Group passages."""

    pieces: Count


class Fidelity(Record):
    """Group fidelity."""

    passages: CountOrNone
    ties: Share
    things: CountOrNone


class Source(Record):
    """Group source."""

    outputs: CountOrNone


class People(Record):
    """Group people: shares of a set's documents that are held out, by NAME or NAME:LP; `longest` words of a mark."""

    test: dict[str, Share]
    development: dict[str, Share]
    longest: Count


class Settings(settings.Settings):
    """The settings of `pronmetric prepare`, as conf/prepare.yaml composes them."""

    FREE: ClassVar = ("people.test", "people.development")

    out: Text
    seed: Seed
    strict: bool
    inventory: Literal["all", "paper"]
    data: Data
    align: Align
    context: Context
    filter: Filter
    splits: Splits
    passages: Passages
    fidelity: Fidelity
    source: Source
    people: People

    def unread(self) -> Iterator[tuple[str, str]]:
        """See `pronmetric.settings.Settings`."""
        if self.filter.agreement in (GRAMMAR, NONE):
            yield (
                "filter.min_agreement",
                f"with filter.agreement={self.filter.agreement}: it applies to a table; name its file or leave it out",
            )
        if not self.language.ruled:
            for key in ("passages", "ties"):
                yield f"fidelity.{key}", f"with data.target={self.data.target}: it is for English targets, leave it out"
        if things.tables(self.language.code) is None:
            yield "fidelity.things", f"with data.target={self.data.target}: there is no table of nouns, leave it out"
        if self.data.parallel is None:
            yield "source.outputs", "without texts to learn sources from: add data.parallel=FOLDER or leave it out"
        if self.data.people is None:
            for key in ("test", "development", "longest"):
                yield f"people.{key}", "without people's judgements: add data.people=FOLDER or leave it out"
        if self.data.english is None:
            for key in ("english_share", "whole_files"):
                yield f"splits.{key}", "without documents: add data.english=FOLDER or leave it out"

    @property
    def folder(self) -> Path:
        """The output folder."""
        return Path(self.out).resolve()

    @property
    def rule(self) -> SplitRule:
        """The assignment of test sets to splits."""
        return SplitRule(
            development=tuple(self.splits.development),
            test=tuple(self.splits.test),
            development_share=self.splits.development_share,
            block=self.splits.block,
            seed=self.seed,
        )

    def check(self) -> None:
        """Refuse an `out` that cannot be written, and what the target language does not have, before reading.

        Raises:
            InputError: `out` is not a prepared folder, a setting is for English targets only, or one lacks another.
        """
        if self.data.coreference and not self.language.ruled:
            raise InputError(
                f"data.coreference is for English targets: leave it out with data.target={self.data.target}"
            )
        alone = self.data.people or (self.data.parallel and not self.language.ruled)
        if not self.data.wmt and not alone:
            raise InputError(
                "data.wmt=[]: expected a folder of test sets; data.people=FOLDER alone is enough, and "
                "data.parallel=FOLDER with another target than English"
            )
        out = self.folder
        if out.exists() and not out.is_dir():
            raise InputError("is a file; out= names the folder to write", file=out)
        if out.is_dir() and not (out / MANIFEST).is_file() and {path.name for path in out.iterdir()} - {STAGES}:
            raise InputError("contains other files than prepared data; name a new folder with out=", file=out)

    @property
    def language(self) -> Language:
        """The target language."""
        return language(self.data.target)

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms of the inventory."""
        return self.language.inventory(self.inventory)

    def to_manifest(self) -> dict[str, Any]:
        """The settings for the manifest: all but paths of this machine."""
        return {
            "years": self.data.years,
            "pairs": self.data.pairs,
            "exclude": self.data.exclude,
            "target": self.language.code,
            "inventory": self.inventory,
            "context_size": self.context.size,
            "context_unit": "sentences",  # manifests without the key: "segments", those without a word too
            "align_lines": self.align.lines,
            "agreement": self.filter.agreement,
            "min_agreement": self.filter.min_agreement,
            "ties": self.filter.ties,
            "rule": dataclasses.asdict(self.rule),
            "english_share": self.splits.english_share,
            "whole_files": self.splits.whole_files,
            **self.passages.model_dump(),
            **({"fidelity": fidelity} if (fidelity := self._fidelity()) else {}),
            **({} if self.data.parallel is None else {"source": self.source.model_dump()}),
            **({} if self.data.people is None else {"people": self.people.model_dump()}),
            "seed": self.seed,
            **({} if (record := self.language.to_record()) is None else {LANGUAGE: record}),
        }

    def _fidelity(self) -> dict[str, Any]:
        """Those settings of the group fidelity that are for the target language."""
        known = {"passages": self.language.ruled, "ties": self.language.ruled}
        known["things"] = things.tables(self.language.code) is not None
        return self.fidelity.model_dump(include={key for key, is_for in known.items() if is_for})


@dataclass(frozen=True, slots=True)
class Reporter:
    """Callbacks of preparation: `note` takes a line; `progress` wraps an iterable; its label, length, unit."""

    note: Callable[[str], None]
    progress: Callable[[Iterable[Any], str, int | None, str], Iterable[Any]]
