from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites import pair_table
from pronmetric.lab.suites.contrastive import Judging, Reading

TABLE = """context\tbetter\tworse\tgroup\tsource\treference\tdocument
It was late. The lamp was lit.\tIt shone.\tShe shone.\tthing\tSie schien.\tThe lamp shone.\td1
\tHe left.\tIt left.\tperson\t\t\t
"""


def read(tmp_path: Path, text: str, context: int = 0) -> list[pair_table.Item]:
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    return list(pair_table.read(path, Reading(context=context)))


def test_a_row_is_a_pair_in_its_context(tmp_path: Path) -> None:
    first, second = read(tmp_path, TABLE, context=1)
    assert [one.target for one in first.candidates] == ["It shone.", "She shone."]
    assert first.candidates[0].target_context == ("The lamp was lit.",)
    assert (first.candidates[0].source, first.reference) == ("Sie schien.", "The lamp shone.")
    assert (first.groups, first.document, first.language) == ({"group": "thing"}, "d1", "")
    assert (second.document, second.candidates[0].target_context) == ("2", ())
    judged = pair_table.judge([first, second], [(1.0, 0.0), (0.0, 0.0)], Judging())
    assert [one.right for one in judged.verdicts] == [True, False]


def test_the_four_columns_are_enough_in_any_order(tmp_path: Path) -> None:
    (item,) = read(tmp_path, "group\tworse\tbetter\tcontext\nx\tShe shone.\tIt shone.\t\n")
    assert item.candidates[0].target == "It shone."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("context\tbetter\tgroup\n", "tsv:1: expected a TSV file of pairs, whose first line names worse"),
        ("context\tbetter\tworse\tgroup\tgroup\n", "tsv:1: the first line names 'group' twice"),
        ("context\tbetter\tworse\tgroup\n", "no rows: expected a TSV file of pairs"),
        ("context\tbetter\tworse\tgroup\na\tb\n", "tsv:2: expected a TSV file of pairs with 4 tab-separated columns"),
        ("context\tbetter\tworse\tgroup\n\tIt.\t \tx\n", 'tsv:2: "worse" is empty; both texts of a pair are needed'),
        ("context\tbetter\tworse\tgroup\n\tIt.\tIt.\tx\n", 'tsv:2: "better" and "worse" are the same text'),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, text)


def test_only_scores_are_judged() -> None:
    with pytest.raises(InputError, match="this suite judges scores of its candidates, not translations"):
        pair_table.judge_translations("set", "out", Judging())
