"""`pronmetric completion`: a shell script that completes verbs, flags and file names."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from pronmetric.cli.parser import Command, Flags, argument

DESCRIPTION = """Print a shell script that completes the verbs and flags of pronmetric, and file names after flags that
take one."""
EPILOG = """installation:
  bash  pronmetric completion bash > ~/.local/share/bash-completion/completions/pronmetric
  zsh   pronmetric completion zsh > DIR/_pronmetric, where DIR is a folder of $fpath
  fish  pronmetric completion fish > ~/.config/fish/completions/pronmetric.fish"""
SHELLS = ("bash", "zsh", "fish")


class CompletionFlags(Flags):
    """The shell."""

    shell: str = argument(choices=SHELLS)


def run(task: CompletionFlags) -> None:
    """Print the script."""
    import shtab

    print(shtab.complete(_command(), shell=task.shell))


def _command() -> argparse.ArgumentParser:
    """The parser of the whole command, each verb as a subcommand."""
    from pronmetric.cli.main import VERBS, load

    command = argparse.ArgumentParser(prog="pronmetric")
    command.add_argument("--version", action="store_true", help="show the version and exit")
    verbs = command.add_subparsers()
    for verb, line in VERBS.items():
        flags = load(verb)[verb].parser()
        _complete_files(flags._actions)
        verbs.add_parser(verb, help=line, description=line, parents=[flags], add_help=False)
    return command


def _complete_files(actions: Iterable[argparse.Action]) -> None:
    """Mark the arguments whose metavar is a file or a folder, so that names of files are completed after them."""
    import shtab

    for action in actions:
        names = [action.metavar] if isinstance(action.metavar, str) else action.metavar or ()
        if any("DIR" in name for name in names):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        if any("FILE" in name or "." in name for name in names):
            action.complete = shtab.FILE  # type: ignore[attr-defined]


VERB = Command("completion", CompletionFlags, run, DESCRIPTION, EPILOG)
