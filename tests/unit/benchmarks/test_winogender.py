"""Winogender's files: templates and the shares of women."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.checkpoint.winogender import OCCUPATION, PARTICIPANT, Template, WomenShares, read, read_shares
from pronmetric.errors import InputError

HEAD = "sentid\tsentence"


def rows(occupation: str, answer: int, sentence: str) -> list[str]:
    forms = {"male": "he", "female": "she", "neutral": "they"}
    name = f"{occupation}.guest.{answer}"
    return [f"{name}.{gender}.txt\t{sentence.format(form)}" for gender, form in forms.items()]


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_templates(tmp_path: Path) -> None:
    told = "The {} said that {{}} was late."
    lines = rows("baker", 0, told.format("baker")) + rows("baker", 1, 'A baker met a guest, "{}" nodded.')
    one, other = read(write(tmp_path / "all.tsv", HEAD, *lines))
    assert one == Template(
        "baker", "guest", OCCUPATION, "The baker said that he was late.", "The baker said that she was late.", 20
    )
    assert other.referent == PARTICIPANT and other.female[other.start :] == 'she" nodded.'


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["name\tsentence"], "whose first line names sentid"),
        ([HEAD, "baker.guest.2.male.txt\tHe left."], "expected OCCUPATION.PARTICIPANT"),
        ([HEAD, "baker.guest.1.male.txt\tHe left."], "expected a male and a female sentence of baker"),
        ([HEAD, "a.b.1.male.txt\tHe left.", "a.b.1.female.txt\tShe went."], "that differ in one word"),
        ([HEAD, "a.b.1.male.txt"], "with 2 tab-separated columns"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(write(tmp_path / "all.tsv", *lines))


def test_shares_of_women(tmp_path: Path) -> None:
    head = "occupation\tbergsma_pct_female\tbls_pct_female\tbls_year"
    path = write(tmp_path / "stats.tsv", head, "baker\t12.5\t50\t2015")
    assert read_shares(path) == {"baker": WomenShares(12.5, 50.0)}
    with pytest.raises(InputError, match="expected shares in percent, got many, 50"):
        read_shares(write(tmp_path / "stats.tsv", head, "baker\tmany\t50\t2015"))


@pytest.mark.shared
def test_the_real_files(shared: Path) -> None:
    folder = shared / "data" / "winogender"
    templates = read(folder / "all_sentences.tsv")
    assert len(templates) == 240 and {each.occupation for each in templates} == set(
        read_shares(folder / "occupations-stats.tsv")
    )
    assert all(each.male[each.start : each.start + 2].lower() in ("he", "hi") for each in templates)
