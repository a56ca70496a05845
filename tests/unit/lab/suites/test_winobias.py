from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites import winobias
from pronmetric.lab.suites.contrastive import Judging, Reading

LINES = """1 [The tailor] told the sailor that [she] would finish [her] work.
2 The tailor told [the sailor] that he could bring [his] coat to [him].

[The tailor] sang.
"""


def read(tmp_path: Path, text: str, name: str = "anti_stereotyped_type2.txt.test") -> list[tuple[str, str]]:
    path = tmp_path / name
    path.write_text(text)
    return [(item.candidates[0].target, item.candidates[1].target) for item in winobias.read(path, Reading())]


def test_the_pronouns_in_brackets_get_the_other_gender(tmp_path: Path) -> None:
    assert read(tmp_path, LINES.rsplit("\n\n")[0]) == [
        (
            "The tailor told the sailor that she would finish her work.",
            "The tailor told the sailor that he would finish his work.",
        ),
        (  # "he" has no brackets: it is the tailor
            "The tailor told the sailor that he could bring his coat to him.",
            "The tailor told the sailor that he could bring her coat to her.",
        ),
    ]


def test_stereotype_type_and_gender_are_groups(tmp_path: Path) -> None:
    read(tmp_path, LINES.rsplit("\n\n")[0])
    items = winobias.read(tmp_path / "anti_stereotyped_type2.txt.test", Reading())
    assert [item.groups for item in items] == [
        {"stereotype": "anti, type 2", "gender": "female"},
        {"stereotype": "anti, type 2", "gender": "male"},
    ]
    judged = winobias.judge(items, [(1.0, 0.0), (1.0, 1.0)], Judging())
    assert [one.right for one in judged.verdicts] == [True, False]


def test_a_line_without_a_pronoun_in_brackets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"test:4: expected a sentence of WinoBias, with he or she .*, got '\[The tail"
    ):
        read(tmp_path, LINES)
    with pytest.raises(InputError, match="no sentences: expected one on each line"):
        read(tmp_path, "\n")


def test_only_scores_are_judged(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this suite judges scores of its candidates, not translations"):
        winobias.judge_translations("set", "out", Judging())
