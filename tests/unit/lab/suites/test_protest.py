from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites import protest
from pronmetric.lab.suites.contrastive import Judging, Reading, SuiteVerdicts

SCHEMA = """
CREATE TABLE corpora (id INTEGER, name TEXT, srctgt INTEGER);
CREATE TABLE documents (corpus INTEGER, start INTEGER, "end" INTEGER);
CREATE TABLE sentences (corpus INTEGER, line INTEGER, sentence TEXT);
CREATE TABLE categories (id INTEGER, description TEXT, antagreement INTEGER);
CREATE TABLE pro_candidates (id INTEGER, srccorpus INTEGER, tgtcorpus INTEGER, example_no INTEGER, line INTEGER,
    srcpro TEXT, srcpos INTEGER, category_no INTEGER);
CREATE TABLE pro_antecedents (srccorpus INTEGER, tgtcorpus INTEGER, example_no INTEGER, ant_no INTEGER, line INTEGER,
    srcheadpos INTEGER);
CREATE TABLE translations (tgtcorpus INTEGER, example_no INTEGER, ant_no INTEGER, line INTEGER, tgtpos INTEGER);
CREATE TABLE annotations (id INTEGER, candidate INTEGER, annotator_id INTEGER, ant_annotation TEXT,
    anaph_annotation TEXT, conflict_status TEXT);
INSERT INTO corpora VALUES (1, 'talks.en', 0), (2, 'talks.fr', 1), (3, 'one', 1), (4, 'two', 1);
INSERT INTO documents VALUES (1, 0, 2), (1, 3, 3);
INSERT INTO sentences VALUES
    (1, 0, 'Hello .'), (1, 1, 'The bridge is old .'), (1, 2, 'It will close .'), (1, 3, 'It rains .'),
    (2, 0, 'Bonjour .'), (2, 1, 'Le pont est vieux .'), (2, 2, 'Il va fermer .'), (2, 3, 'Il pleut .'),
    (3, 0, 'Bonjour .'), (3, 1, 'Le pont est vieux .'), (3, 2, 'Elle va fermer .'), (3, 3, 'Il pleut .'),
    (4, 0, 'Bonjour .'), (4, 1, 'Le pont est vieux .'), (4, 2, 'Il fermera .'), (4, 3, 'Il pleut .');
INSERT INTO categories VALUES (1, 'anaphoric_inter_subject_it', 1), (2, 'pleonastic_it', 0);
INSERT INTO pro_candidates VALUES
    (10, 1, 3, 1, 2, 'It', 0, 1), (11, 1, 4, 1, 2, 'It', 0, 1),
    (12, 1, 3, 2, 3, 'It', 0, 2), (13, 1, 4, 2, 3, 'It', 0, 2);
INSERT INTO pro_antecedents VALUES (1, 3, 1, 0, 1, 1), (1, 4, 1, 0, 1, 1);
INSERT INTO translations VALUES (2, 1, NULL, 2, 0), (2, 1, 0, 1, 1), (2, 2, NULL, 3, 0), (3, 1, NULL, 2, 0);
INSERT INTO annotations VALUES
    (1, 10, 1, 'ok', 'bad', ''), (2, 10, 2, 'ok', 'bad', ''), (3, 10, 3, 'ok', 'ok', ''), (4, 11, 1, 'ok', 'ok', ''),
    (5, 12, 1, NULL, 'ok', '');
"""
WRITTEN = ["Bonjour .", "Le pont est vieux .", "Il se ferme .", "Il pleut ."]
LINKS = ["0-0", "0-0 1-1", "0-0 1-2", "0-0 1-1"]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "protest.db"
    change(path, SCHEMA)
    return path


def change(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def translated(made: Path, lines: list[str], links: list[str]) -> SuiteVerdicts:
    for name, given in (("out.txt", lines), ("links.txt", links)):
        made.with_name(name).write_text("".join(f"{line}\n" for line in given))
    alignment = str(made.with_name("links.txt"))
    return protest.judge_translations(made, made.with_name("out.txt"), Judging(alignment=alignment))


def test_the_reference_is_scored_against_bad_translations(made: Path) -> None:
    first, second = protest.read(made, Reading(context=5))
    assert [one.target for one in first.candidates] == ["Il va fermer .", "Elle va fermer ."]  # "two" is called ok
    assert first.candidates[0].source_context == ("Hello .", "The bridge is old .")
    assert first.candidates[0].target_context == ("Bonjour .", "Le pont est vieux .")
    assert first.groups == {"category": "anaphoric_inter_subject_it", "pronoun": "it"}
    assert (len(second.candidates), second.candidates[0].source_context) == (1, ())  # the first line of its document
    assert first.document != second.document
    judged = protest.judge([first, second], [(1.0, 0.0), (1.0,)], Judging())
    assert [one.right for one in judged.verdicts] == [True]
    assert judged.further == {"items without a translation that annotators call bad, left out": 1}
    with pytest.raises(InputError, match="no item has a translation that annotators call bad to score; annotate"):
        protest.judge([second], [(1.0,)], Judging())


def test_pronoun_and_antecedent_are_compared_with_the_reference(made: Path) -> None:
    judged = translated(made, WRITTEN, LINKS)
    assert [one.right for one in judged.verdicts] == [True, True]
    house = translated(made, [WRITTEN[0], "La passerelle est vieille .", *WRITTEN[2:]], LINKS)
    assert [one.right for one in house.verdicts] == [False, True]  # the antecedent's head differs
    assert house.further == {"pronouns right, whatever the antecedent": 2}
    she = translated(made, [*WRITTEN[:2], "Elle se ferme .", WRITTEN[3]], LINKS)
    assert [one.right for one in she.verdicts] == [False, True]
    unaligned = translated(made, WRITTEN, [*LINKS[:3], ""])
    assert [one.right for one in unaligned.verdicts] == [True, False]


def test_a_pronoun_that_neither_side_translates_is_right(made: Path) -> None:
    change(made, "DELETE FROM translations WHERE example_no = 2;")
    assert translated(made, WRITTEN, [*LINKS[:3], ""]).verdicts[1].right
    assert not translated(made, WRITTEN, LINKS).verdicts[1].right


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("DROP TABLE categories;", "expected the SQLite database of PROTEST 1.1: no such table: categories"),
        ("DELETE FROM pro_candidates;", "its table pro_candidates is empty; it has no examples"),
        ("DELETE FROM corpora WHERE id = 2;", r"with one reference \(target corpus without candidates\), got 0"),
        ("DELETE FROM sentences WHERE corpus = 2 AND line = 2;", "row 1: line 2 of corpus 2 is not in the table"),
        ("UPDATE pro_candidates SET category_no = 9;", "table pro_candidates, row 1: category 9 is not in the table"),
        ("UPDATE sentences SET line = 'x' WHERE corpus = 4;", 'table sentences, row 13: "line" must be a whole number'),
        (
            "UPDATE translations SET tgtpos = 7;",
            'table translations, row 1: "tgtpos" must be a whole number from 0 to 3',
        ),
    ],
)
def test_a_wrong_database_is_refused_with_table_and_row(script: str, said: str, made: Path) -> None:
    change(made, script)
    with pytest.raises(InputError, match=rf"protest.db: .*{said}"):
        protest.read(made, Reading())


def test_wrong_files_are_refused(made: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("She left. " * 200)
    with pytest.raises(
        InputError, match=r"text.db: expected the SQLite database of PROTEST 1.1: file is not a database"
    ):
        protest.read(text, Reading())
    with pytest.raises(InputError, match="no such file; expected the SQLite database"):
        protest.read(tmp_path / "none.db", Reading())
    with pytest.raises(InputError, match="the pronoun is found by word alignment: give `alignment=`"):
        protest.judge_translations(made, text, Judging())
    with pytest.raises(InputError, match=r"out.txt:4: expected 4 lines, one for each item, got 3"):
        translated(made, WRITTEN[:3], LINKS)
    with pytest.raises(InputError, match=r"links.txt:3: expected links s-t below 4 target words, got '0-9'"):
        translated(made, WRITTEN, [*LINKS[:2], "0-9", LINKS[3]])
