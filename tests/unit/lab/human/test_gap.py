from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.lab.human import gap
from pronmetric.lab.human.judged_pairs import JudgedPair

HEADER = "ID\tText\tPronoun\tPronoun-offset\tA\tURL"


def write(path: Path, *rows: str, header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_pairs(tmp_path: Path) -> None:
    path = write(
        tmp_path / "gap.tsv",
        "test-1\tThe queen spoke. Then she left.\tshe\t22\tx\tqueens",
        "test-2\tHis horse fell.\tHis\t0\tx\thorses",
    )
    assert gap.is_header(HEADER) and not gap.is_header('{"ID": 1, "Text": 2, "Pronoun": 3}')
    assert gap.pairs(gap.read(path)) == [
        JudgedPair(
            id="test-1",
            context=("The queen spoke.",),
            text_a="Then she left.",
            text_b="Then he left.",
            better="A",
            doc="queens",
            pronoun_a="she",
            pronoun_b="he",
            judge=gap.JUDGE,
        ),
        JudgedPair(
            id="test-2",
            context=(),
            text_a="His horse fell.",
            text_b="Her horse fell.",
            better="A",
            doc="horses",
            pronoun_a="his",
            pronoun_b="her",
            judge=gap.JUDGE,
        ),
    ]


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
    found = gap.item("own-1", "article", text, pronoun, text.index(pronoun))
    assert found.swapped == swapped
    assert found.before == ("" if found.sentence == text else text.split(". ")[0] + ".")


def test_slots_of_the_development_part_are_those_read_by_hand() -> None:
    text = "Marc gave her notes."
    assert gap.other_gender("development-1215", text, "her", 10) == "him"
    assert gap.other_gender("development-1", text, "her", 10) == "his"
    assert gap.other_gender("development-1", "He took his.", "his", 8) == "her"
