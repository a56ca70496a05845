"""Flags as fields of frozen records, the verbs and commands that take them, and the types of numeric flags.

A record declares each flag once: its name, its type, its default and its help are a field. A verb's function takes the
record. Help texts keep their line breaks, flags cannot be abbreviated; each type names its range in its error.
"""

from __future__ import annotations

import argparse
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, NoReturn, Protocol, TypeVar, dataclass_transform

from pronmetric.errors import InputError
from pronmetric.text import numbers, streams


class UsageError(Exception):
    """Flags that do not go together: exit code 2."""


@dataclass(frozen=True, eq=False)
class Exclusive:
    """Flags that share one exclude each other; if `required`, one of them must be given."""

    required: bool = False


@dataclass(frozen=True)
class _Argument:
    """What argparse is told of a field; without spellings it is positional."""

    spellings: tuple[str, ...] | None
    group: str | None
    exclusive: Exclusive | None
    options: Mapping[str, Any]


@dataclass(frozen=True)
class _Part:
    """A field that is a record: its flags of the names `only` (None: all) are declared there, in `group`."""

    record: type[Flags]
    group: str | None
    only: Sequence[str] | None


def flag(*spellings: str, group: str | None = None, exclusive: Exclusive | None = None, **options: Any) -> Any:
    """A field that is a flag, with the options of argparse; `default` is None.

    spellings: as in COMET the name of the field with hyphens or with underscores by default. group: its title in help.
    """
    if not options.get("required"):
        options.setdefault("default", None)
    return _field(_Argument(spellings, group, exclusive, options))


def switch(*spellings: str, group: str | None = None, exclusive: Exclusive | None = None, help: str) -> Any:
    """A field that is a flag without a value, False by default; see `flag`."""
    return flag(*spellings, group=group, exclusive=exclusive, default=False, action="store_true", help=help)


def argument(*, group: str | None = None, **options: Any) -> Any:
    """A field that is a positional argument, with the options of argparse; None if it may be missing and is."""
    if options.get("nargs") == "?":
        options.setdefault("default", None)
    return _field(_Argument(None, group, None, options))


def part(record: type[Flags], group: str | None = None, *, only: Sequence[str] | None = None) -> Any:
    """A field that is itself a record, and declares its flags here: all, or those of the names `only`.

    group: the title in help of the flags that have none.
    """
    return field(metadata={"part": _Part(record, group, only)})


def _field(declared: _Argument) -> Any:
    metadata = {"argument": declared}
    if "default" in declared.options:
        return field(default=declared.options["default"], metadata=metadata)
    return field(metadata=metadata)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(flag, switch, argument, part))
class Flags:
    """A record of flags, a frozen dataclass.

    A field without a declaration is the flag of its name that another record declares, or its default.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        """Make the subclass a dataclass."""
        dataclass(frozen=True, kw_only=True)(cls)

    def check(self) -> None:
        """Refuse flags that do not go together.

        Raises:
            UsageError: there are such.
        """


F = TypeVar("F", bound=Flags)
Stray = str | Callable[[Sequence[str]], str] | None
"""What is said of arguments that no flag takes: the cure, or the whole message."""


def add_flags(parser: argparse.ArgumentParser, record: type[Flags]) -> None:
    """Add the flags that a record declares, in order."""
    places: dict[object, argparse._ActionsContainer] = {None: parser}
    for name, declared in _declared(record):
        if declared.group not in places:
            places[declared.group] = parser.add_argument_group(declared.group)
        place = places[declared.group]
        if declared.exclusive is not None:
            if declared.exclusive not in places:
                places[declared.exclusive] = place.add_mutually_exclusive_group(required=declared.exclusive.required)
            place = places[declared.exclusive]
        if declared.spellings is None:
            place.add_argument(name, **declared.options)
        else:
            both = dict.fromkeys((f"--{name}", f"--{name.replace('_', '-')}"))
            place.add_argument(*(declared.spellings or both), dest=name, **declared.options)


def _declared(record: type[Flags]) -> Iterator[tuple[str, _Argument]]:
    """The flags of a record and of its parts, with the names of their fields."""
    for each in fields(record):
        if "argument" in each.metadata:
            yield each.name, each.metadata["argument"]
        elif "part" in each.metadata:
            inner: _Part = each.metadata["part"]
            for name, declared in _declared(inner.record):
                if inner.only is None or name in inner.only:
                    yield name, replace(declared, group=declared.group or inner.group)


def read(record: type[F], given: Mapping[str, Any]) -> F:
    """The record of the parsed flags by their names; a field that is none of them has its default."""
    values: dict[str, Any] = {}
    for each in fields(record):
        if "part" in each.metadata:
            values[each.name] = read(each.metadata["part"].record, given)
        elif each.name in given:
            values[each.name] = given[each.name]
    return record(**values)


def unset(record: type[F]) -> F:
    """The record with none of its flags given."""
    return record()


def _check(task: Flags) -> None:
    """The checks of a record, then those of its parts."""
    task.check()
    for each in fields(task):
        if "part" in each.metadata:
            _check(getattr(task, each.name))


class _Verb(ABC):
    """What verbs and their commands have in common."""

    name: str
    description: str
    epilog: str | None
    help: str | None
    stray: Stray = None

    def parser(self) -> argparse.ArgumentParser:
        """The parser of the verb."""
        parser = argparse.ArgumentParser(prog=f"pronmetric {self.name}", **self._texts())
        self._fill(parser)
        return parser

    def main(self, argv: Sequence[str]) -> int:
        """Run the verb, or the command that the arguments name; the exit code."""
        given = self._parse(self.parser(), argv)
        command, of_command = given["chosen"]
        code: int | None = None
        try:
            task = read(command.flags, given)
            _check(task)
            streams.open_stdout()
            code = command.run(task)
        except UsageError as error:  # of flags, or of flags for texts that lack what they need
            of_command.error(f"{error}{self._hint(given)}")
        except InputError as error:
            error.args = (f"{error}{self._hint_of(error.file, given)}",)
            raise
        return code or 0

    def _parse(self, parser: argparse.ArgumentParser, argv: Sequence[str]) -> Mapping[str, Any]:
        """The parsed flags by their names; arguments that no flag takes are usage errors."""
        parsed, surplus = parser.parse_known_args(argv)
        if surplus:
            cure = self.stray
            if cure is None or any(word.startswith("-") for word in surplus):
                parser.error(f"unrecognized arguments: {' '.join(surplus)}")
            parser.error(f"unexpected argument {surplus[0]!r}: {cure}" if isinstance(cure, str) else cure(surplus))
        return vars(parsed)

    def _hint(self, given: Mapping[str, Any]) -> str:
        """What follows the message of a usage error."""
        return ""

    def _hint_of(self, file: str | Path | None, given: Mapping[str, Any]) -> str:
        """What follows the message of an error in a file."""
        return ""

    def add_to(self, commands: argparse._SubParsersAction) -> None:
        """Add the command to a group."""
        self._fill(commands.add_parser(self.name, help=self.help, **self._texts()))

    def _texts(self) -> dict[str, Any]:
        style = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
        return {"description": self.description, "epilog": self.epilog, **style}

    @abstractmethod
    def _fill(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags, or the commands."""


@dataclass(frozen=True)
class Command(_Verb, Generic[F]):
    """A verb, or a command of a group: its flags, and the function that takes them.

    run: gives the exit code, None for 0. help: its line in the group. refused: flags that are usage errors, with the
    reason.
    """

    name: str
    flags: type[F]
    run: Callable[[F], int | None]
    description: str
    epilog: str | None = None
    help: str | None = None
    usage: str | None = None
    stray: Stray = None
    refused: Mapping[str, str] | None = None

    def _fill(self, parser: argparse.ArgumentParser) -> None:
        parser.usage = self.usage or parser.usage
        add_flags(parser, self.flags)
        for spelling, reason in (self.refused or {}).items():
            parser.add_argument(spelling, nargs="?", action=_Refusal, const=reason, help=argparse.SUPPRESS)
        parser.set_defaults(chosen=(self, parser))


class Member(Protocol):
    """What a group has: commands, and groups of kinds."""

    def add_to(self, commands: argparse._SubParsersAction) -> None:
        """Add itself to a group."""


@dataclass(frozen=True)
class Group(_Verb):
    """A verb with commands, or a command with kinds."""

    name: str
    description: str
    epilog: str | None
    commands: Sequence[Member]
    help: str | None = None
    kind: str = "command"

    def _fill(self, parser: argparse.ArgumentParser) -> None:
        commands = parser.add_subparsers(title=f"{self.kind}s", metavar=self.kind.upper(), required=True)
        for command in self.commands:
            command.add_to(commands)


def require_one(given: Mapping[str, object]) -> str:
    """The one flag that is given.

    Raises:
        UsageError: there are more, or none.
    """
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise UsageError(f"give one of {', '.join(given)}" + (f"; got {' and '.join(chosen)}" if chosen else ""))
    return chosen[0]


class _Refusal(argparse.Action):
    """A usage error that gives the reason."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: object, values: object, option: str | None = None
    ) -> NoReturn:
        """Refuse the flag."""
        parser.error(f"{option} of COMET has no meaning here: {self.const}")


def whole(least: int) -> Callable[[str], int]:
    """The type of a flag: a whole number from `least`, which is 0 or more."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"[0-9]+", text) or int(text) < least:
            raise argparse.ArgumentTypeError(f"expected a whole number from {least}, got {text!r}")
        return int(text)

    return parse


def number(
    least: float = -math.inf, most: float = math.inf, *, above: float = -math.inf, other: str = ""
) -> Callable[[str], float]:
    """The type of a flag: a finite number from `least` to `most`, and above `above`.

    other: names another valid value of the flag, for the error.
    """
    limits = (f" from {least:g}" if math.isfinite(least) else "") + (f" to {most:g}" if math.isfinite(most) else "")
    limits += f" above {above:g}" if math.isfinite(above) else ""

    def parse(text: str) -> float:
        try:
            value = numbers.real(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and least <= value <= most and value > above):
            raise argparse.ArgumentTypeError(f"expected {other}a number{limits}, got {text!r}")
        return value

    return parse
