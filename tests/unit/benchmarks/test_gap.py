from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.checkpoint import gap, scoring
from benchmarks.checkpoint.scoring import Contrast, Record, Result
from pronmetric.errors import InputError
from pronmetric.lab.human.gap import OBJECT_HER, item, other_gender, read
from pronmetric.text.sentences import sentence_at, starts
from pronmetric.text.words import words


@pytest.mark.parametrize(
    "sentences",
    [
        ["Ann met Mr. Hill.", "He left at 5 p.m. on a Monday.", "It rained."],
        ["The U.S. Senate met J. R. Moss.", "He spoke.", "They heard him."],
        ["He moved to the U.S.", "She stayed."],
        ["He saw Ben Jr.", "She did not."],
        ["She asked: ``Why?''", "``Who knows,'' he said.", "Nobody did!"],
        ["Was it her?", "Yes ... it was.", "So be it..."],
        ["She saw \u201cVertigo.\u201d", "He did not (it was dull)."],
        ["No. 5 won.", "He (cf. Fig. 2) lost."],
        ["She liked vitamin C.", "He did not."],
        ["*va left him.", "*sa stayed."],
        ["She loved ``Is That You?'' very much.", "He sang."],
    ],
)
def test_sentences(sentences: list[str]) -> None:
    text = " ".join(sentences)
    found = [text[a:b].rstrip() for a, b in zip([0, *starts(text)], [*starts(text), len(text)], strict=True)]
    assert found == sentences


def test_no_cut_inside_brackets() -> None:
    text = "Ann (he knew her. It was long ago.) left. She wept (so he said. Alas."
    assert [text[i : i + 3] for i in starts(text)] == ["She", "Ala"]  # an unclosed bracket does not count


def test_sentence_at_its_edges() -> None:
    text = "He left.  She stayed. "
    assert text[slice(*sentence_at(text, 0))] == "He left."
    assert text[slice(*sentence_at(text, text.index("She")))] == "She stayed."


@pytest.mark.parametrize(
    ("text", "pronoun", "swapped"),
    [
        ("Ann left. Then she wept.", "she", "Then he wept."),
        ("Ann left. Her son wept.", "Her", "His son wept."),
        ("Ann left. Bob saw her.", "her", "Bob saw him."),
        ("Bob left. His son wept.", "His", "Her son wept."),
        ("Bob left. Ann said it was his.", "his", "Ann said it was hers."),
        ("Bob left. HE wept.", "HE", "SHE wept."),
        ("Ann left. It was hers.", "hers", "It was his."),
        ("Bob hurt himself.", "himself", "Bob hurt herself."),
    ],
)
def test_form_of_the_other_gender(text: str, pronoun: str, swapped: str) -> None:
    found = item("own-1", "article", text, pronoun, text.index(pronoun))
    assert gap.contrast(found) == Contrast(found.sentence, swapped)
    assert found.before == ("" if found.sentence == text else text.split(". ")[0] + ".")


def test_slots_of_the_development_part_are_those_read_by_hand() -> None:
    text = "Marc gave her notes."
    assert other_gender("development-1215", text, "her", 10) == "him"
    assert other_gender("development-1", text, "her", 10) == "his"
    assert other_gender("development-1", "He took his.", "his", 8) == "her"


def test_wrong_offset() -> None:
    with pytest.raises(InputError, match="expected 'she' at 3"):
        item("x", "y", "Ann left.", "she", 3)


QUEENS = [
    "The queen spoke. Then she left.",
    "The king spoke. Then he left.",
    "Then he fell. A king!",
    "The queen ate. She smiled.",
]


def write(path: Path) -> None:
    path.parent.mkdir(parents=True)
    rows = ["ID\tText\tPronoun\tPronoun-offset\tURL"]
    for number, text in enumerate(QUEENS):
        pronoun = next(w for w in words(text) if w.text.lower() in ("he", "she"))
        rows.append(f"test-{number}\t{text}\t{pronoun.text}\t{pronoun.start}\tarticle-{number}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def royal(records: Sequence[Record]) -> list[Result]:
    """0.9 where the context names a queen and the text has "she", or a king and "he"; 0.1 where not; else 0.5."""
    results = []
    for record in records:
        found = [w for w in words(record["text"]) if w.text.lower() in ("he", "she")]
        context = " ".join(record["context"])
        wanted = "she" if "queen" in context else "he" if "king" in context else None
        score = 0.5 if wanted is None else 0.9 if found[0].text.lower() == wanted else 0.1
        results.append(Result(score=score, pronouns=[{"start": w.start, "end": w.end} for w in found]))
    return results


def test_figures(tmp_path: Path) -> None:
    write(tmp_path / "gap" / "gap.tsv")
    items = read(tmp_path / "gap" / "gap.tsv")
    assert [item.before for item in items] == ["The queen spoke.", "The king spoke.", "", "The queen ate."]
    figures = gap.measure(royal, items)
    assert (figures["common"].right, figures["common"].equal, figures["common"].pairs) == (3, 1, 4)
    assert figures["none"].equal == 4
    assert figures["context_gain"].value == 0.75
    assert figures["unscored"] == 0
    assert figures["first_600"]["common"] == figures["common"]
    assert {name: found.pairs for name, found in figures["by_pronoun"]["common"].items()} == {
        "he -> she": 2,
        "she -> he": 2,
    }
    assert figures["by_passage"]["nothing before"].right == 0
    assert "common - none +75.0" in gap.show(figures)


def test_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "data" / "gap" / "gap-development.tsv")
    (tmp_path / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr(scoring, "load", lambda options: scoring.Counting(royal, "fake"))
    monkeypatch.setattr(
        sys, "argv", ["gap", "--model", str(tmp_path), "--shared", str(tmp_path), "--out", str(tmp_path / "gap.json")]
    )
    gap.main()
    assert (tmp_path / "gap.json").exists()
    assert capsys.readouterr().out.startswith("GAP development")


@pytest.mark.shared
def test_the_shared_items(shared: Path) -> None:
    items = read(shared / "data" / "gap" / "gap-development.tsv")
    assert len(items) == 2000
    assert all(item.sentence[item.start : item.end].lower() == item.pronoun for item in items)
    assert sum(item.pronoun == "her" for item in items) == 572
    assert sum((item.pronoun, item.other) == ("her", "him") for item in items) == len(OBJECT_HER)
    assert {item.other for item in items if item.pronoun == "his"} == {"her"}
    assert sum(not item.before for item in items) < 100
