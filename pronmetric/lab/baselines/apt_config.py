"""APT's configuration file: an INI file with the keys of the published program."""

from __future__ import annotations

import math
import re
from configparser import (
    ConfigParser,
    DuplicateOptionError,
    DuplicateSectionError,
    MissingSectionHeaderError,
    ParsingError,
)
from dataclasses import dataclass
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text import numbers
from pronmetric.text.lines import read_lines

KEYS = {
    "lang": ("source", "target", "source_word_separator", "target_word_separator"),
    "files": (
        "source",
        "reference",
        "target",
        "alignment_source_reference",
        "alignment_source_target",
        "list_source_pronouns",
        "input_type",
        "list_target_pronouns",
    ),
    "dictionary": ("equal", "similar", "source_pronouns", "target_pronouns"),
    "cases": ("cases_to_use", "weigths_per_case", "count_other_as_equal"),
    "output": ("output_file", "counting_multiword_in_matrix", "max_length_matrix"),
}
_SPELLINGS = {"weights_per_case": "weigths_per_case"}
_POSITIONS = ("possition", "position")


class Config:
    """The values of an INI file by section and key; an empty value counts as missing."""

    def __init__(self, path: str) -> None:
        """Read the file.

        Raises:
            InputError: no such file, a line that is neither `[section]` nor `key = value`, a key given twice.
        """
        self.path = path
        self._parser = ConfigParser(interpolation=None)
        self._parser.optionxform = lambda name: _SPELLINGS.get(name.lower(), name.lower())  # type: ignore[method-assign,assignment]
        try:
            self._parser.read_string("\n".join(map(str.strip, read_lines(path))))
        except MissingSectionHeaderError as error:
            message = "a key before the first section; expected `[lang]` or `[files]`"
            raise InputError(message, file=path, line=error.lineno) from None
        except ParsingError as error:
            line = error.errors[0][0]
            raise InputError("expected `[section]` or `key = value`", file=path, line=line) from None
        except DuplicateOptionError as error:
            message = f"[{error.section}] {error.option} is given twice; keep one"
            raise InputError(message, file=path, line=error.lineno) from None
        except DuplicateSectionError as error:
            raise InputError(f"[{error.section}] is given twice", file=path, line=error.lineno) from None

    def get(self, section: str, key: str) -> str:
        """The value, "" if not given."""
        return self._parser.get(section, key, fallback="")

    def need(self, section: str, key: str, example: str) -> str:
        """The value, which must be given."""
        if not self.get(section, key):
            raise self.fault(section, key, f"is missing; add a line `{key} = {example}`")
        return self.get(section, key)

    def file(self, section: str, key: str) -> str:
        """The name of an existing file, "" if not given."""
        name = self.get(section, key)
        if name and not Path(name).exists():
            raise self.fault(section, key, f"no such file {name}; paths start from the working directory {Path.cwd()}")
        return name

    def needed_file(self, section: str, key: str) -> str:
        """The name of an existing file, which must be given."""
        self.need(section, key, "FILE")
        return self.file(section, key)

    def flag(self, section: str, key: str) -> bool:
        """The value as true or false; false if it is not given."""
        value = self.get(section, key)
        if value and value.lower() not in ConfigParser.BOOLEAN_STATES:
            raise self.fault(section, key, f"expected true or false, got {value!r}")
        return bool(value) and ConfigParser.BOOLEAN_STATES[value.lower()]

    def fault(self, section: str, key: str, message: str) -> InputError:
        """An error that names the key."""
        return InputError(f"[{section}] {key}: {message}", file=self.path)

    def unused(self) -> list[str]:
        """One message for each entry with an unknown key."""
        return [
            f"{self.path}: [{section}] {key} is not a key of APT; ignored"
            for section in self._parser.sections()
            for key in self._parser[section]
            if key not in KEYS.get(section, ())
        ]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one run; file names are "" if not given.

    weights: weight of each selected case, in the order of the configuration. stem: prefix of the two output files.
    """

    source_separator: str
    target_separator: str
    source: str
    reference: str
    candidate: str
    links_to_reference: str
    links_to_candidate: str
    source_list: str
    source_list_is_positions: bool
    target_list: str
    equal: str
    similar: str
    source_pronouns: str
    target_pronouns: str
    weights: dict[int, float]
    other_is_equal: bool
    stem: str
    multiword: bool
    limit: int | None

    @property
    def inputs(self) -> list[str]:
        """The files that are read."""
        texts = [self.source, self.reference, self.candidate, self.links_to_reference, self.links_to_candidate]
        lists = [self.source_list, self.target_list, self.equal, self.similar, self.source_pronouns]
        return [name for name in (*texts, *lists, self.target_pronouns) if name]

    @property
    def repairs(self) -> bool:
        """Whether sides without a pronoun are repaired; this needs both lists of pronouns."""
        return bool(self.source_pronouns and self.target_pronouns)


def read_settings(config: Config) -> Settings:
    """Read and check the settings of a configuration.

    Raises:
        InputError: a missing key, an invalid value, or a missing file.
    """
    return Settings(
        source_separator=config.get("lang", "source_word_separator").lower(),
        target_separator=config.get("lang", "target_word_separator").lower(),
        source=config.needed_file("files", "source"),
        reference=config.needed_file("files", "reference"),
        candidate=config.needed_file("files", "target"),
        links_to_reference=config.needed_file("files", "alignment_source_reference"),
        links_to_candidate=config.needed_file("files", "alignment_source_target"),
        source_list=config.needed_file("files", "list_source_pronouns"),
        source_list_is_positions=_is_positions(config),
        target_list=config.file("files", "list_target_pronouns"),
        equal=config.file("dictionary", "equal"),
        similar=config.file("dictionary", "similar"),
        source_pronouns=config.file("dictionary", "source_pronouns"),
        target_pronouns=config.file("dictionary", "target_pronouns"),
        weights=_weights(config),
        other_is_equal=config.flag("cases", "count_other_as_equal"),
        stem=config.get("output", "output_file"),
        multiword=config.flag("output", "counting_multiword_in_matrix"),
        limit=_limit(config),
    )


def _is_positions(config: Config) -> bool:
    kind = config.need("files", "input_type", "word").lower()
    if kind != "word" and kind not in _POSITIONS:
        raise config.fault("files", "input_type", f"expected word or {_POSITIONS[0]}, got {kind!r}")
    return kind in _POSITIONS


def _weights(config: Config) -> dict[int, float]:
    cases = []
    for item in _items(config.need("cases", "cases_to_use", "1, 2, 3, 4, 5, 6")):
        if not re.fullmatch(r"[1-6]", item):
            raise config.fault("cases", "cases_to_use", f"expected case numbers from 1 to 6, got {item!r}")
        if int(item) in cases:
            raise config.fault("cases", "cases_to_use", f"case {item} is given twice; keep one")
        cases.append(int(item))
    weights = []
    for item in _items(config.need("cases", "weigths_per_case", "1, 1, 0, 0, 0, 0")):
        try:
            weight = numbers.real(item)
        except ValueError:
            weight = math.nan
        if not math.isfinite(weight):
            raise config.fault("cases", "weigths_per_case", f"expected numbers, got {item!r}")
        weights.append(weight)
    if len(weights) != len(cases):
        message = f"expected a weight for each of the {len(cases)} cases of cases_to_use, got {len(weights)}"
        raise config.fault("cases", "weigths_per_case", message)
    return dict(zip(cases, weights, strict=True))


def _items(value: str) -> list[str]:
    return re.sub(r"[,;]", " ", value).split()


def _limit(config: Config) -> int | None:
    value = config.get("output", "max_length_matrix")
    if not value:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", value) or not int(value):
        raise config.fault("output", "max_length_matrix", f"expected a whole number from 1, got {value!r}")
    return int(value)
