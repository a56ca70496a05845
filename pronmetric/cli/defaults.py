"""Defaults of flags from a file: TOML, with a table [tool.pronmetric]; --show-config prints the flags in force."""

from __future__ import annotations

import argparse
import difflib
import importlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pronmetric.cli.parser import Command, F, Flags, flag, switch
from pronmetric.errors import InputError

CONFIG_FILES = ("pronmetric.toml", "pyproject.toml")
NO_FILE = "none"
CONFIGURED = ("score", "compare", "check")
"""The verbs that read the file; each has its own table, [tool.pronmetric.VERB]."""
_TABLE = "tool.pronmetric"
_NOT_IN_FILE = ("help", "config", "show_config")
_FILE, _NAMED = "file of defaults", "values of the file"


class ConfigFlags(Flags):
    """The flags of the file."""

    config: str | None = flag(
        group="defaults",
        metavar="FILE",
        help=f"TOML file with defaults of flags, in its tables [{_TABLE}] and [{_TABLE}.VERB] (default: "
        f"{' or '.join(CONFIG_FILES)} of the working folder; {NO_FILE}: no file)",
    )
    show_config: bool = switch(group="defaults", help="print the flags in force and their origin, and exit")


class ConfiguredCommand(Command[F]):
    """A verb whose flags have the defaults of a file; its record has `ConfigFlags`."""

    def _parse(self, parser: argparse.ArgumentParser, argv: Sequence[str]) -> Mapping[str, Any]:
        """The flags of the command line; those that it does not give are those of the file, else their defaults.

        With --show-config they are printed as TOML, and the program ends.

        Raises:
            InputError: the file is missing or no TOML, or a key is unknown or has a wrong value.
        """
        ahead = argparse.ArgumentParser(prog=parser.prog, usage=argparse.SUPPRESS, add_help=False, allow_abbrev=False)
        ahead.add_argument("--config")
        path = ahead.parse_known_args(argv)[0].config
        if path is None:
            path = next((name for name in CONFIG_FILES if _gives_defaults(name)), NO_FILE)
        file = None if path == NO_FILE else path
        table = {} if file is None else _read_table(file)
        if file is not None and not table:
            raise InputError(f"has no table [{_TABLE}]", file=file)
        options = _options_of(parser)
        defaults = {name: option.default for name, option in options.items()}
        values = {} if file is None else _values_of_file(parser, self.name, table, file)
        parser.set_defaults(**{options[name].dest: value for name, value in values.items()})
        given = super()._parse(parser, argv)
        if given["show_config"]:
            shown = {name: given[option.dest] for name, option in options.items()}
            print(_as_toml(self.name, shown, defaults, values, file))
            parser.exit()
        named = {str(each) for value in values.values() for each in (value if isinstance(value, list) else [value])}
        return {**given, _FILE: file if values else None, _NAMED: named}

    def _hint(self, given: Mapping[str, Any]) -> str:
        return f" ({given[_FILE]} gives defaults; --config {NO_FILE} reads no file)" if given[_FILE] else ""

    def _hint_of(self, file: str | Path | None, given: Mapping[str, Any]) -> str:
        named = str(file) in given[_NAMED]
        return f" ({given[_FILE]} names it; --config {NO_FILE} reads no defaults)" if named else ""


def _gives_defaults(name: str) -> bool:
    return Path(name).is_file() and bool(_read_table(name))


def _read_table(path: str) -> Mapping[str, Any]:
    """The table [tool.pronmetric] of a file; empty if it has none."""
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file).get("tool", {}).get("pronmetric", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is no TOML: {error}", file=path) from None
    if not isinstance(table, dict):
        raise InputError(f"expected a table [{_TABLE}]", file=path)
    return table


def _options_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """The flags that a file may set, by their keys: their first long spelling, with underscores."""
    return {
        next(name for name in option.option_strings if name.startswith("--"))[2:].replace("-", "_"): option
        for option in parser._actions
        if option.option_strings and option.dest not in _NOT_IN_FILE and option.help != argparse.SUPPRESS
    }


def _values_of_file(parser: argparse.ArgumentParser, verb: str, table: Mapping[str, Any], file: str) -> dict[str, Any]:
    """The values of this verb's flags, those of its own table before those of the common one."""
    options = _options_of(parser)
    common = {key: value for key, value in table.items() if key not in CONFIGURED}
    own = table.get(verb, {})
    if not isinstance(own, dict):
        raise InputError(f"expected a table [{_TABLE}.{verb}]", file=file)
    found = {}
    for place, keys in ((_TABLE, common), (f"{_TABLE}.{verb}", own)):
        for key, value in keys.items():
            name = key.replace("-", "_")
            if name in options:
                found[name] = _value_of_file(options[name], value, where=f"[{place}] {key}", file=file)
            elif place != _TABLE or not any(
                name in _options_of(_parser_of(other)) for other in CONFIGURED if other != verb
            ):
                near = difflib.get_close_matches(name, options, n=1)
                cure = f"; did you mean {near[0]!r}?" if near else f"; `pronmetric {verb} --help` lists the flags"
                raise InputError(f"[{place}] has the unknown key {key!r}{cure}", file=file)
    return found


def _parser_of(verb: str) -> argparse.ArgumentParser:
    return importlib.import_module(f"pronmetric.cli.{verb}").VERB.parser()


def _value_of_file(option: argparse.Action, value: object, *, where: str, file: str) -> Any:
    """A value as the flag would have it."""

    def fail(expected: str) -> InputError:
        return InputError(f"{where} = {json.dumps(value, default=str)}: {expected}", file=file)

    if option.nargs == 0:  # a switch
        if not isinstance(value, bool):
            raise fail("expected true or false")
        return value
    several = option.nargs == "+" or isinstance(option.nargs, int)
    given = value if several and isinstance(value, list) else [value]
    if not given or not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in given):
        raise fail("expected text or a number" + (", or a list of them" if several else ""))
    if isinstance(option.nargs, int) and len(given) != option.nargs:
        raise fail(f"expected a list of {option.nargs}")
    convert = option.type if callable(option.type) else str
    try:
        read = [convert(str(one)) for one in given]
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise fail(str(error)) from None
    if option.choices is not None and (wrong := [one for one in read if one not in option.choices]):
        raise fail(f"expected one of {', '.join(map(str, option.choices))}, got {wrong[0]}")
    return read if several else read[0]


def _as_toml(
    verb: str, given: Mapping[str, Any], defaults: Mapping[str, Any], values: Mapping[str, Any], file: str | None
) -> str:
    """The flags in force as TOML; a comment names the origin of each."""

    def origin(name: str) -> str:
        if name in values and given[name] == values[name]:
            return str(file)
        return "default" if given[name] == defaults[name] else "command line"

    lines = [
        f"{name} = {json.dumps(given[name], ensure_ascii=False)}  # {origin(name)}"
        for name in defaults
        if given[name] is not None and given[name] is not False
    ]
    return "\n".join([f"[{_TABLE}.{verb}]", *lines])
