from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites import winomt
from pronmetric.lab.suites.contrastive import Judging, Reading, SuiteVerdicts

ROWS = """male\t1\tThe tailor met the singer because he was early.\ttailor
female\t4\tThe tailor met a singer because she wanted her coat.\tsinger
neutral\t0\tSomeone met the tailor because they were early.\tsomeone
"""
# die Schneiderin (wrong), eine Sängerin (right), jemand (no gender)
PARSES = (
    (("Die", "Fem"), ("Schneiderin", "Fem"), ("kam", "")),
    (("Der", "Masc"), ("Schneider", "Masc"), ("traf", ""), ("eine", "Fem"), ("Sängerin", "Fem")),
    (("Jemand", ""), ("kam", "")),
)
LINKS = "0-0 1-1\n0-0 1-1 2-2 3-3 4-4\n0-0\n"


def conllu(sentences: tuple[tuple[tuple[str, str], ...], ...]) -> str:
    return "\n".join(
        "".join(
            f"{number}\t{form}\t_\tX\t_\t{f'Gender={gender}' if gender else '_'}\t0\troot\t_\t_\n"
            for number, (form, gender) in enumerate(words, start=1)
        )
        for words in sentences
    )


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "en_pro.txt"
    path.write_text(ROWS)
    return path


def translated(made: Path, sentences: tuple[tuple[tuple[str, str], ...], ...], links: str = LINKS) -> SuiteVerdicts:
    parse, alignment = made.with_name("out.conllu"), made.with_name("links.txt")
    parse.write_text(conllu(sentences))
    alignment.write_text(links)
    return winomt.judge_translations(made, parse, Judging(alignment=str(alignment)))


def test_a_sentence_has_a_copy_with_the_other_gender(made: Path) -> None:
    items = winomt.read(made, Reading())
    assert [[one.target for one in item.candidates] for item in items] == [
        [
            "The tailor met the singer because he was early.",
            "The tailor met the singer because she was early.",
        ],
        [
            "The tailor met a singer because she wanted her coat.",
            "The tailor met a singer because he wanted his coat.",
        ],
        ["Someone met the tailor because they were early."],
    ]
    assert [item.groups["gender"] for item in items] == ["male", "female", "neutral"]
    assert items[0].groups["stereotype"] == "pro"
    judged = winomt.judge(items, [(1.0, 0.0), (0.0, 1.0), (1.0,)], Judging())
    assert [one.right for one in judged.verdicts] == [True, False]
    assert judged.further == {"items without a pronoun of their gender, left out": 1}


def test_the_gender_of_the_linked_words_is_judged(made: Path) -> None:
    judged = translated(made, PARSES)
    assert [one.right for one in judged.verdicts] == [False, True, False]
    assert judged.further == {
        "F1, male": 0.0,
        "F1, female": pytest.approx(2 / 3),  # one of one of the set, one of two found
        "Delta G: F1 of male minus female": pytest.approx(-2 / 3),
        "items without a Gender, wrong": 1,
    }


def test_the_most_common_gender_counts(made: Path) -> None:
    first = (("Der", "Masc"), ("alte", "Masc"), ("Schneiderin", "Fem"))
    judged = translated(made, (first, *PARSES[1:]), LINKS.replace("0-0 1-1\n", "0-0 1-1 1-2\n"))
    assert judged.verdicts[0].right


def test_wrong_files_are_refused(made: Path) -> None:
    with pytest.raises(InputError, match="the occupation is found by word alignment: give `alignment=`"):
        winomt.judge_translations(made, made, Judging())
    with pytest.raises(InputError, match=r"out.conllu: expected CoNLL-U of 3 sentences, one for each item, got 2"):
        translated(made, PARSES[:2])
    with pytest.raises(InputError, match=r"links.txt:1: expected links s-t below 3 target words, got '1-3'"):
        translated(made, PARSES, LINKS.replace("1-1\n", "1-3\n", 1))
    with pytest.raises(InputError, match=r"links.txt:2: expected links i-j"):
        translated(made, PARSES, LINKS.replace("4-4", "4?4"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("man\t1\tThe tailor sang.\ttailor", '"gender" must be one of "male", "female", "neutral", got "man"'),
        ("male\t3\tThe tailor sang.\ttailor", "\"index\" must be the place of a word, from 0 to 2, got '3'"),
        ("male\t0000000099\tThe tailor sang.\ttailor", '"index" must be the place of a word'),
        ("male\t-1\tThe tailor sang.\ttailor", '"index" must be the place of a word'),
        ("male\tThe tailor sang.\ttailor", "expected a file of WinoMT with 4 tab-separated columns .*, got 3"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(row: str, said: str, made: Path) -> None:
    made.write_text(f"{ROWS}{row}\n")
    with pytest.raises(InputError, match=f"en_pro.txt:4: {said}"):
        winomt.read(made, Reading())
