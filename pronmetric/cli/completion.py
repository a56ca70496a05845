"""`pronmetric --print-completion`: a shell script that completes verbs, flags and file names."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish")


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for the parser of the whole command, whose subcommands are the verbs."""
    import shtab

    _complete_files(parser)
    return shtab.complete(parser, shell=shell)


def _complete_files(parser: argparse.ArgumentParser) -> None:
    """Mark the arguments whose metavar is a file or a folder, so that names of files are completed after them."""
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                _complete_files(each)
        names = [action.metavar] if isinstance(action.metavar, str) else action.metavar or ()
        if any("DIR" in name for name in names):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        if any("FILE" in name or "." in name for name in names):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
