"""The flag `--by score|errors|preference`: what decides between two texts."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.eval.decision import DECISIONS

HELP = (
    "what decides between two texts: score, the mean probability of their pronouns; errors, the expected number of "
    "wrong pronouns (fewer is better); preference, the pair head's number (default: the one that the checkpoint's "
    "config names, which was chosen on development data; score if it names none)"
)


def add(parser: argparse._ActionsContainer) -> None:
    """Add the flag."""
    parser.add_argument("--by", choices=DECISIONS, help=HELP)


def choose(args: argparse.Namespace, config: Mapping[str, Any]) -> str:
    """What decides: the flag's value, else what the checkpoint's config names.

    Raises:
        PronmetricError: the checkpoint does not give it.
    """
    return checkpoint_config.decision_of(config, args.by, name=_name(args))


def choose_default(args: argparse.Namespace, config: Mapping[str, Any]) -> str:
    """What decides by default, for a verb without the flag: what the checkpoint's config names."""
    return checkpoint_config.decision_of(config, None, name=_name(args))


def _name(args: argparse.Namespace) -> str:
    return args.model or locate.DEFAULT
