"""`pronmetric completion`: a shell script that completes verbs, flags and file names."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterable, Sequence

from pronmetric.cli import output
from pronmetric.cli.parser import verb_parser

DESCRIPTION = """Print a shell script that completes the verbs and flags of pronmetric, and file names after flags that
take one."""
EPILOG = """installation:
  bash  pronmetric completion bash > ~/.local/share/bash-completion/completions/pronmetric
  zsh   pronmetric completion zsh > DIR/_pronmetric, where DIR is a folder of $fpath
  fish  pronmetric completion fish > ~/.config/fish/completions/pronmetric.fish"""
SHELLS = ("bash", "zsh", "fish")


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = verb_parser("completion", DESCRIPTION, EPILOG)
    made.add_argument("shell", choices=SHELLS)
    return made


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = parser().parse_args(argv)
    output.open_stdout()
    import shtab

    print(shtab.complete(_command(), shell=args.shell))
    return 0


def _command() -> argparse.ArgumentParser:
    """The parser of the whole command, each verb as a subcommand."""
    from pronmetric.cli.main import VERBS

    made = argparse.ArgumentParser(prog="pronmetric")
    made.add_argument("--version", action="store_true", help="show the version and exit")
    verbs = made.add_subparsers()
    for verb, line in VERBS.items():
        flags = importlib.import_module(f"pronmetric.cli.{verb.replace('-', '_')}").parser()
        _complete_files(flags._actions)
        verbs.add_parser(verb, help=line, description=line, parents=[flags], add_help=False)
    return made


def _complete_files(actions: Iterable[argparse.Action]) -> None:
    """Mark the arguments whose metavar is a file or a folder, so that names of files are completed after them."""
    import shtab

    for action in actions:
        names = [action.metavar] if isinstance(action.metavar, str) else action.metavar or ()
        if any("DIR" in name for name in names):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        if any("FILE" in name or "." in name for name in names):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
