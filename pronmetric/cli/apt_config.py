"""APT's configuration file, and the texts, links and lists that it names."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pronmetric.alignment.links import from_pharaoh
from pronmetric.baselines import apt
from pronmetric.errors import InputError
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
_FLAGS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


class Entry(NamedTuple):
    """A value of the configuration and the line where it stands."""

    value: str
    line: int


class Config:
    """The entries of an INI file by section and key, both in lower case; an empty value counts as not given."""

    def __init__(self, path: str) -> None:
        """Read the file.

        Raises:
            InputError: no such file, a line that is neither `[section]` nor `key = value`, a key that stands twice.
        """
        self.path = path
        self._entries = dict(_entries(path))

    def get(self, section: str, key: str) -> str:
        """The value, "" where it is not given."""
        entry = self._entries.get((section, key))
        return "" if entry is None else entry.value

    def need(self, section: str, key: str, example: str) -> str:
        """The value, which must be given."""
        if not self.get(section, key):
            raise self.fault(section, key, f"is missing; add a line `{key} = {example}`")
        return self.get(section, key)

    def file(self, section: str, key: str) -> str:
        """The name of a file that is there, "" where none is given."""
        name = self.get(section, key)
        if name and not Path(name).exists():
            raise self.fault(section, key, f"no such file {name}; paths start from the working directory {Path.cwd()}")
        return name

    def needed_file(self, section: str, key: str) -> str:
        """The name of a file that is there and must be given."""
        self.need(section, key, "FILE")
        return self.file(section, key)

    def flag(self, section: str, key: str) -> bool:
        """Whether the value says yes; no where it is not given."""
        value = self.get(section, key)
        if value and value.lower() not in _FLAGS:
            raise self.fault(section, key, f"expected true or false, got {value!r}")
        return bool(value) and _FLAGS[value.lower()]

    def fault(self, section: str, key: str, message: str) -> InputError:
        """An error that names the key, and its line where it has one."""
        entry = self._entries.get((section, key))
        return InputError(f"[{section}] {key}: {message}", file=self.path, line=entry and entry.line)

    def unused(self) -> list[str]:
        """One line about each entry whose key means nothing."""
        said = []
        for (section, key), entry in self._entries.items():
            if key not in KEYS.get(section, ()):
                homes = [home for home, keys in KEYS.items() if key in keys]
                near = difflib.get_close_matches(key, KEYS.get(section, ()), n=1)
                cure = f"; it belongs to [{homes[0]}]" if homes else f"; did you mean {near[0]}?" if near else ""
                said.append(f"{self.path}:{entry.line}: [{section}] {key} is no key of APT and is not used{cure}")
        return said


def _entries(path: str) -> Iterator[tuple[tuple[str, str], Entry]]:
    section: str | None = None
    seen: dict[tuple[str, str], int] = {}
    for number, line in enumerate(map(str.strip, read_lines(path)), start=1):
        if not line or line[0] in "#;":
            continue
        if heading := re.fullmatch(r"\[(.+)\]", line):
            section = heading[1].strip().lower()
            continue
        parts = re.fullmatch(r"([^:=]*)[:=](.*)", line)
        if parts is None or not parts[1].strip():
            raise InputError(f"expected `[section]` or `key = value`, got {line[:60]!r}", file=path, line=number)
        if section is None:
            raise InputError("a key before the first section; expected `[lang]` or `[files]`", file=path, line=number)
        name = parts[1].strip().lower()
        key = section, _SPELLINGS.get(name, name)
        if key in seen:
            raise InputError(f"[{section}] {name} stands on line {seen[key]} too; keep one", file=path, line=number)
        seen[key] = number
        yield key, Entry(parts[2].strip(), number)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the configuration says; names of files are "" where none is given.

    weights: of each selected case, in the order of the configuration. stem: of the two files to write.
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
        """Whether sides are repaired: only with both lists of pronouns."""
        return bool(self.source_pronouns and self.target_pronouns)


def settings(config: Config) -> Settings:
    """The settings of a configuration.

    Raises:
        InputError: a key that is missing or has a value that it cannot have; a file that is not there.
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
            raise config.fault("cases", "cases_to_use", f"case {item} stands twice; keep one")
        cases.append(int(item))
    weights = []
    for item in _items(config.need("cases", "weigths_per_case", "1, 1, 0, 0, 0, 0")):
        try:
            weight = float(item)
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


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the files hold: renderings (repaired where that is asked for) and rules.

    unlinked: sentences without any link to the one or the other text, which the published program's repair fails on.
    """

    renderings: tuple[apt.Rendering, ...]
    rules: apt.Rules
    unlinked: int


def corpus(made: Settings, *, compat: bool) -> Corpus:
    """The texts, links and lists, read and put together.

    Raises:
        InputError: texts of other lengths, a link or position outside its sentence, a file that can't be read.
    """
    source = _sentences(made.source)
    texts = [_Linked(name, links, source, made.source) for name, links in _translations(made)]
    listed = frozenset(_words(made.target_list)) if made.target_list else None
    rules = apt.Rules(listed, _groups(made.equal), _groups(made.similar), made.other_is_equal)
    dictionary = None
    if made.repairs:
        dictionary = apt.Dictionary(frozenset(_words(made.source_pronouns)), frozenset(_words(made.target_pronouns)))

    def side(instance: apt.Instance, text: _Linked) -> apt.Side:
        tokens, links = text.sentences[instance.sentence], text.links[instance.sentence]
        found = apt.side(instance.position, tokens, links, listed=listed, separator=made.target_separator)
        if dictionary is None:
            return found
        return apt.repair(
            found,
            source=source[instance.sentence],
            tokens=tokens,
            links=links,
            dictionary=dictionary,
            separator=made.source_separator,
            compat=compat,
        )

    if made.source_list_is_positions:
        instances = _positions(made.source_list, source, made.source)
    else:
        instances = apt.find(source, frozenset(_words(made.source_list)), separator=made.source_separator)
    renderings = tuple(apt.Rendering(one, *(side(one, text) for text in texts)) for one in instances)
    return Corpus(renderings, rules, sum(not all(links) for links in zip(*(t.links for t in texts), strict=True)))


def _translations(made: Settings) -> list[tuple[str, str]]:
    return [(made.reference, made.links_to_reference), (made.candidate, made.links_to_candidate)]


class _Linked:
    """A text with its links from the source, checked against it."""

    def __init__(self, name: str, links: str, source: list[list[str]], source_name: str) -> None:
        self.sentences = _sentences(name)
        lines = read_lines(links)
        for file, count in ((name, len(self.sentences)), (links, len(lines))):
            if count != len(source):
                message = f"{count} lines, but {source_name} has {len(source)}: expected as many in both"
                raise InputError(message, file=file)
        self.links = []
        for number, line in enumerate(lines, start=1):
            found = from_pharaoh(line, file=links, number=number).links
            here, there = len(source[number - 1]), len(self.sentences[number - 1])
            for i, j in found:
                if i >= here or j >= there:
                    message = f"link {i}-{j}, but the line has {here} tokens in {source_name} and {there} in {name}"
                    raise InputError(f"{message}, counted from 0; align these very files", file=links, line=number)
            self.links.append(found)


def _sentences(name: str) -> list[list[str]]:
    """The tokens of each line: stripped and split at single blanks."""
    return [line.strip().split(" ") for line in read_lines(name)]


def _words(name: str) -> list[str]:
    return [word for line in read_lines(name) if (word := line.strip().lower())]


def _groups(name: str) -> tuple[tuple[str, ...], ...]:
    """Groups of words, separated by commas, one group a line; no groups where no file is given."""
    lines = _words(name) if name else []
    return tuple(tuple(word for word in re.sub(r"\s", "", line).split(",") if word) for line in lines)


def _positions(name: str, source: list[list[str]], source_name: str) -> Iterator[apt.Instance]:
    for number, line in enumerate(read_lines(name), start=1):
        if not line.strip():
            continue
        if not re.fullmatch(r"\s*[0-9]{1,9}\s+[0-9]{1,9}\s*", line, re.ASCII):
            message = f"expected `sentence position`, two whole numbers from 0, got {line[:40]!r}"
            raise InputError(f"{message}; for a list of words set input_type = word", file=name, line=number)
        sentence, position = map(int, line.split())
        if sentence >= len(source):
            message = f"sentence {sentence}, but {source_name} has {len(source)}, counted from 0"
            raise InputError(message, file=name, line=number)
        if position >= len(source[sentence]):
            length = f"sentence {sentence} of {source_name} has {len(source[sentence])} tokens"
            raise InputError(f"position {position}, but {length}, counted from 0", file=name, line=number)
        yield apt.Instance(sentence, position, source[sentence][position].lower())
