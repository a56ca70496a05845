"""Tables of the pronoun rules: one TSV per language and subject, whose first line cites its source."""

from __future__ import annotations

from importlib.resources import files


def rows(name: str, package: str = __name__) -> list[dict[str, str]]:
    """The rows of a package's table `name` under its header; the first line is its source and is skipped."""
    lines = files(package).joinpath(name).read_text(encoding="utf-8").splitlines()[1:]
    header = lines[0].split("\t")
    return [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]


def codes() -> list[str]:
    """The target languages, besides English, that have a table of pronouns."""
    return sorted(name.split(".")[1] for name in names() if name.startswith("target.") and name.endswith(".tsv"))


def names() -> list[str]:
    """The names of the files of tables."""
    return [path.name for path in files(__name__).iterdir()]
