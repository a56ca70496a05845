"""`pronmetric clpp`: cross-lingual pronoun prediction, a group of commands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import clpp_baseline, clpp_predict, clpp_prepare, clpp_score, clpp_train, output
from pronmetric.cli.verb_parser import verb_parser

DESCRIPTION = """Cross-lingual pronoun prediction (the shared tasks of WMT 2016 and DiscoMT 2017): predict the class of
each pronoun that was removed from a lemmatised translation, given the source.

A line of a data file has five tab-separated columns: the classes of the slots, left to right, separated by one space;
the words of the slots; the source, tokenised; the target with REPLACE_k for each slot, k the index of the source token
from 0, and lemma|POS for each other token; the word alignment s-t ..., from 0. A prediction file has as many lines;
only its first column, the classes, is read."""
COMMANDS = (clpp_score, clpp_prepare, clpp_baseline, clpp_train, clpp_predict)


def main(argv: Sequence[str]) -> int:
    """Run one command of the group; the exit code."""
    args = parser().parse_args(argv)
    output.open_stdout()
    return args.run(args)


def parser() -> argparse.ArgumentParser:
    """The commands of the group and their flags."""
    made = verb_parser("clpp", DESCRIPTION)
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    return made
