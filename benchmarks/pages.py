"""Shared by the measuring scripts: where pages of figures are, where figures come from, and how they are shown."""

from __future__ import annotations

import argparse
import datetime
import json
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pronmetric.errors import PronmetricError
from pronmetric.report.text import percent as percent
from pronmetric.report.text import table as table
from pronmetric.text.strict_json import plain as plain

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT / "benchmarks" / "published"
TEMPLATES = PUBLISHED / "templates"
_PART = re.compile(r"<!-- part: (.*) -->\n")


def add_shared(parser: argparse.ArgumentParser) -> None:
    """The flag that names the folder with the published test data."""
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", metavar="DIR")


def weights_hash(model: str | Path) -> str:
    """First 8 hex digits of the SHA-256 of a checkpoint's weights, as in `checkpoint.load`."""
    from pronmetric.checkpoint.shards import hash_weights

    return hash_weights(Path(model))


def portable(argument: str) -> str:
    """A command's argument without the folders of this machine: a path in the repository from its root, others' names.

    >>> portable("--out=/tmp/figures/gap.json"), portable("/tmp/data"), portable("checkpoints/small")
    ('--out=gap.json', 'data', 'checkpoints/small')
    """
    flag, equals, value = argument.rpartition("=")
    path = Path(value)
    if not path.is_absolute():
        return argument
    return flag + equals + (path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name)


def origin(name: str) -> dict[str, str]:
    """Date and command of the figures of the script `name`, such as "checkpoint.gap"."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "command": shlex.join(["python", "-m", f"benchmarks.{name}", *map(portable, sys.argv[1:])]),
    }


def template(name: str) -> dict[str, str]:
    """The parts of published/templates/NAME.md by name; each follows a line `<!-- part: ... -->`, for `str.format`."""
    _, *pieces = _PART.split((TEMPLATES / f"{name}.md").read_text(encoding="utf-8"))
    return {part: text.rstrip("\n") for part, text in zip(pieces[::2], pieces[1::2], strict=True)}


def fill(name: str, **values: Any) -> str:
    """The page of a template that has one part, `page`."""
    return template(name)["page"].format(**values) + "\n"


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first row is its header."""
    head, *rest = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *rest])


def write_page(path: Path, text: str, content: Mapping[str, Any]) -> None:
    """Write a page and, under the same name, the JSON that it was written from."""
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".json").write_text(json.dumps(plain(content), indent=1) + "\n", encoding="utf-8")


def publish(content: Mapping[str, Any], text: str, *, out: Path | None, at: Path | None) -> None:
    """Print a page; also write its figures to `out`, and the page with them to `at`, if these are given."""
    if out is not None:
        out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if at is not None:
        write_page(at, text, content)
    print(text, end="")


def run(main: Callable[[], None]) -> None:
    """Run a script's main function; an error in the input is one line on stderr and exit code 1."""
    try:
        main()
    except PronmetricError as error:
        print(f"benchmarks: error: {error}", file=sys.stderr)
        sys.exit(1)
