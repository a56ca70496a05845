"""MkDocs hooks: help texts in pages, and one word at each fence.

The line `<!-- help: VERB -->` or `<!-- help: VERB COMMAND -->` of a page becomes the output of `--help`. A second word
at a fence (```` ```bash needs-wmt ````) tells the tests how to run the block; MkDocs takes one word only, so it is
removed.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from typing import Any

HELP = re.compile(r"^<!-- help: ([\w -]+) -->$", re.MULTILINE)
OPEN = re.compile(r"```|<code>(?:bash|python) (?:needs|setup)")
FENCE = re.compile(r"^([ ]*```\w+)[ ]+[\w-]+[ ]*$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with the help text of each command that it asks for, and one word at each fence."""
    return HELP.sub(lambda match: f"```text\n{help_of(match[1])}```", FENCE.sub(r"\1", markdown))


def on_page_content(html: str, **_: Any) -> str:
    """The HTML of a page as it is.

    Raises:
        ValueError: a fence stands in it as text, because the builder did not take it for one.
    """
    if found := OPEN.search(html):
        raise ValueError(f"a fence was not read as one, near {html[found.start() : found.end() + 60]!r}")
    return html


def help_of(command: str) -> str:
    """The help text of a command, 100 columns wide."""
    from pronmetric.cli.main import main

    printed = io.StringIO()
    os.environ["COLUMNS"] = "100"
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([*command.split(), "--help"])
    return printed.getvalue()
