"""`pronmetric clpp`: cross-lingual pronoun prediction, a group of commands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import clpp_baseline, clpp_predict, clpp_prepare, clpp_score, clpp_train
from pronmetric.cli.parser import group_parser, run_command

DESCRIPTION = """Cross-lingual pronoun prediction (the shared tasks of WMT 2016 and DiscoMT 2017): predict the class of
each pronoun that was removed from a lemmatised translation, given the source.

A line of a data file has five tab-separated columns: the classes of the slots, left to right, separated by one space;
the words of the slots; the source, tokenised; the target with REPLACE_k for each slot, k the index of the source token
from 0, and lemma|POS for each other token; the word alignment s-t ..., from 0. A prediction file has as many lines;
only its first column, the classes, is read."""
COMMANDS = (clpp_score, clpp_prepare, clpp_baseline, clpp_train, clpp_predict)


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its commands."""
    return group_parser("clpp", DESCRIPTION, commands=COMMANDS)


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return run_command(parser(), argv)
