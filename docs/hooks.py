"""MkDocs hook: the line `<!-- help: VERB -->` of a page becomes the output of `pronmetric VERB --help`."""

from __future__ import annotations

import contextlib
import io
import os
import re
from typing import Any

HELP = re.compile(r"^<!-- help: (\w+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with the help text of each command that it asks for."""
    return HELP.sub(lambda match: f"```text\n{help_of(match[1])}```", markdown)


def help_of(verb: str) -> str:
    """The help text of a command, 100 columns wide."""
    from pronmetric.cli.main import main

    printed = io.StringIO()
    os.environ["COLUMNS"] = "100"
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([verb, "--help"])
    return printed.getvalue()
