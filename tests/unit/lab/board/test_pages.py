"""The pages of the board: hostile names and texts, the policy, file names, tables for download."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from pronmetric.eval.decision import SYSTEM_UNITS
from pronmetric.eval.resampling import SEED
from pronmetric.lab.board import breakdown, figures, human, pages, scored, site
from pronmetric.lab.board.examples import Segment
from pronmetric.lab.board.pages import Names
from pronmetric.lab.board.scored import BoardScores, BoardSet, Pronouns
from pronmetric.pronouns import groups, languages
from pronmetric.report import embed
from pronmetric.text.corpus import Corpus, Row

EVIL = "</script><img src=x onerror=alert(1)>\u202e=1"
TEXT = "<b>She</b> {{title}} left & \u202eran."
NAMES = ("Alder", EVIL)
SET = BoardSet(f"{EVIL}.de-en", EVIL, 2022, "de-en", "common", EVIL)


def pronouns(probability: float) -> Pronouns:
    rows = np.arange(6)
    return Pronouns(rows, np.full(6, 3), np.full(6, 6), rows % 2, np.full(6, probability) - rows / 100, rows % 3)


def rows() -> Any:
    return (Row((f"{TEXT}{n}",) * 2, f"{EVIL}{n}", EVIL, (f"{n} {EVIL}",)) for n in range(6))


SCORED = BoardScores(
    testset=SET,
    segments=6,
    docs=tuple(f"{EVIL}{n}" for n in range(6)),
    classes=("she", EVIL),
    systems=dict(zip(NAMES, (pronouns(0.9), pronouns(0.3)), strict=True)),
    signature=EVIL,
    texts="",
    preferences={"Alder": np.arange(6.0), EVIL: np.arange(1.0, 7.0)},
)
CORPUS = Corpus(NAMES, 6, True, (EVIL,), rows)


def build(folder: Path, *, decision: str = "score", of: BoardScores = SCORED) -> site.Site:
    uses = {SET.id: "training"}
    settings = site.Settings(
        title=EVIL, worst=3, context_size=2, uses=uses, seed=SEED, language=languages.ENGLISH, decision=decision
    )
    made = site.Site(folder, settings)
    made.add(of, CORPUS, advance=lambda _: None)
    people = {SET.id: {"Alder": 0.5, EVIL: 0.1}}
    made.finish(people, human.agree(made.boards, people, held_out=[], seed=SEED))
    return made


class Reader(HTMLParser):
    """The elements of a page and the text of its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] in ("script", "style"):
            self.scripts.append(data)


def test_no_name_or_text_becomes_an_element(tmp_path: Path) -> None:
    made = build(tmp_path)
    found = [path for path in made.written if path.suffix == ".html"]
    assert len(found) == 4  # the first page, a comparison, two systems
    for path in found:
        text = path.read_text(encoding="utf-8")
        reader = Reader()
        reader.feed(text)
        assert not {tag for tag, _ in reader.tags} & {"img", "iframe", "object", "base", "form"}
        assert not [name for _, attributes in reader.tags for name in attributes if name.startswith("on")]
        assert "\u202e" not in text
        assert "{{" not in text.replace("{{title}} left", "")
        assert path.name == path.name.encode("ascii", "ignore").decode() and "<" not in path.name


def test_the_policy_allows_the_own_style_and_script_only(tmp_path: Path) -> None:
    for path in build(tmp_path).written:
        if path.suffix == ".html":
            text = path.read_text(encoding="utf-8")
            css = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
            js = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
            assert len(css) == len(js) == 1
            assert f'content="{embed.policy(css=css[0], js=js[0])}"' in text
            assert not re.findall(r'(?:src|href)="(?:https?:)?//', text)


def test_the_tables_hold_all_figures(tmp_path: Path) -> None:
    build(tmp_path)
    lines = (tmp_path / "board.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t") == list(site.SYSTEM_COLUMNS)
    assert len(lines) == 1 + 2 * 3  # systems; all pronouns and two classes
    first = dict(zip(site.SYSTEM_COLUMNS, lines[1].split("\t"), strict=True))
    assert (first["system"], first["class"], first["pronouns"]) == ("Alder", "all", "6")
    assert float(first["score"]) == 87.5 and float(first["errors_per_100_pronouns"]) == 12.5  # mean of 90, 89 .. 85
    assert (first["cluster"], first["human"]) == ("1", "0.50000")
    pair = (tmp_path / "pairs.tsv").read_text(encoding="utf-8").splitlines()[1].split("\t")
    assert float(dict(zip(site.PAIR_COLUMNS, pair, strict=True))["difference"]) == 60
    found = [line.split("\t") for line in (tmp_path / "buckets.tsv").read_text(encoding="utf-8").splitlines()]
    assert tuple(found[0]) == site.BUCKET_COLUMNS
    assert found[1][1:] == ["form", "she", "Alder", "6", "0.87500", "0.00000"]
    assert [row[1:] for row in found if row[1:4] == ["distance", "1 sentence before", "Alder"]] == [
        ["distance", "1 sentence before", "Alder", "2", "0.87500", "0.00000"]  # 0.89 and 0.86
    ]
    content = json.loads((tmp_path / "board.json").read_text(encoding="utf-8"))
    (testset,) = content["testsets"]
    assert testset["signature"] == EVIL and testset["human"] == {"Alder": 0.5, EVIL: 0.1}
    assert [entry["cluster"] for entry in testset["classes"]["all"]["systems"]] == [1, 2]
    assert content["human_correlation"]["testsets"][SET.id]["systems"] == 2


def test_missing_pronouns_are_in_columns_of_their_own(tmp_path: Path) -> None:
    known = dataclasses.replace(SCORED, missing={"Alder": np.full(6, 0.25)})  # the other system's are not known
    build(tmp_path, of=known)
    names, *lines = ([*line.split("\t")] for line in (tmp_path / "board.tsv").read_text(encoding="utf-8").splitlines())
    assert names == [*site.SYSTEM_COLUMNS, *site.APART_COLUMNS]
    first, second, third = (dict(zip(names, line, strict=True)) for line in lines[:3])
    assert float(first["errors_per_100_pronouns"]) == 37.5 and first["class"] == "all"
    assert [first[name] for name in site.APART_COLUMNS] == ["12.50000", "25.00000", ""]
    assert [each[name] for each in (second, third) for name in site.APART_COLUMNS] == [""] * 6
    (board,) = json.loads((tmp_path / "board.json").read_text(encoding="utf-8"))["testsets"]
    systems = board["classes"]["all"]["systems"]
    assert [site.APART_COLUMNS[0] in entry for entry in systems] == [True, False]
    (page,) = [path for path in (tmp_path / "systems").iterdir() if "Alder" in path.name]
    told = "37.5 pronoun errors per 100 pronouns (12.5 wrong or surplus, 25.0 missing"
    assert told in page.read_text(encoding="utf-8")
    path = tmp_path / "scores.json"
    scored.write(known, path)
    found = scored.read(path)
    assert found is not None and {name: each.tolist() for name, each in found.missing.items()} == {"Alder": [0.25] * 6}


def test_surplus_pronouns_are_told_from_wrong_ones(tmp_path: Path) -> None:
    of = dataclasses.replace(SCORED, missing={"Alder": np.full(6, 0.25)}, surplus={"Alder": np.full(6, 0.0625)})
    build(tmp_path, of=of)
    names, *lines = ([*line.split("\t")] for line in (tmp_path / "board.tsv").read_text(encoding="utf-8").splitlines())
    first = dict(zip(names, lines[0], strict=True))
    assert float(first["errors_per_100_pronouns"]) == 37.5
    assert [float(first[name]) for name in site.APART_COLUMNS] == [6.25, 25.0, 6.25]
    (page,) = [path for path in (tmp_path / "systems").iterdir() if "Alder" in path.name]
    told = "37.5 pronoun errors per 100 pronouns (6.2 wrong, 25.0 missing, 6.2 surplus"
    assert told in page.read_text(encoding="utf-8")
    path = tmp_path / "scores.json"
    scored.write(of, path)
    found = scored.read(path)
    assert found is not None and {name: each.tolist() for name, each in found.surplus.items()} == {
        "Alder": [0.0625] * 6
    }


def test_a_system_page_is_bounded(tmp_path: Path) -> None:
    build(tmp_path)
    (page,) = [path for path in (tmp_path / "systems").iterdir() if "Alder" in path.name]
    assert page.read_text(encoding="utf-8").count("<mark>") == 3


def test_the_worst_pronouns_have_source_and_reference(tmp_path: Path) -> None:
    build(tmp_path)
    (page,) = [path for path in (tmp_path / "systems").iterdir() if "Alder" in path.name]
    text = page.read_text(encoding="utf-8")
    shown = embed.show_controls(EVIL).replace("<", "&lt;").replace(">", "&gt;")
    assert text.count(f'<p class="text source"><span class="tag">source</span><bdi>{shown}</bdi>') == 3
    assert f'<p class="text reference"><span class="tag">reference</span><bdi>5 {shown}</bdi>' in text


def test_the_pages_say_by_what_two_systems_are_compared(tmp_path: Path) -> None:
    said = {"score": "the score, the mean", "errors": "the expected number of wrong", "preference": "the preference"}
    for decision, words in said.items():
        folder = tmp_path / decision
        build(folder, decision=decision)
        (compared,) = (folder / "compare").iterdir()
        for path in (folder / "index.html", compared):
            text = path.read_text(encoding="utf-8")
            assert f"in a segment and in all, is decided by {words}" in text
            assert ("and the clusters, are by the score" in text) == (decision != "score")
        (testset,) = json.loads((folder / "board.json").read_text(encoding="utf-8"))["testsets"]
        assert (testset["by"], testset["unit"]) == (decision, SYSTEM_UNITS[decision])
        rows = [row.split("\t") for row in (folder / "pairs.tsv").read_text(encoding="utf-8").splitlines()]
        found = [dict(zip(site.PAIR_COLUMNS, row, strict=True)) for row in rows[1:]]
        assert [(row["class"], row["by"]) for row in found] == [
            *([] if decision == "score" else [("all", decision)]),
            *((name, "score") for name in ("all", "she", EVIL)),
        ]
        differences = {(row["class"], row["by"]): float(row["difference"]) for row in found}
        # six segments of one pronoun, 0.6 apart; the preferences are 1 apart, the other way
        assert differences["all", decision] == {"score": 60, "errors": 60, "preference": -1}[decision]
        assert testset["verdicts"][0]["difference"] == differences["all", decision]
        assert testset["classes"]["all"]["pairs"][0]["difference"] == differences["all", "score"] == 60


def test_the_limits_are_folded_below_the_table(tmp_path: Path) -> None:
    build(tmp_path)
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert text.index('id="table"') < text.index('<details class="limits">') < text.index('id="years"')
    assert "It judges pronouns only." in text and "<details open" not in text


def test_file_names_are_distinct_whatever_the_case() -> None:
    name = Names()
    assert [name("a.de-en", "Online-A"), name("a.de-en", "online-a"), name("a.de-en", "../x y")] == [
        "a_de-en.Online-A.html",
        "a_de-en.online-a.2.html",
        "a_de-en._x_y.html",
    ]
    assert len(name("x" * 999)) < 80


def test_a_human_translation_is_marked() -> None:
    board = figures.compute(
        BoardScores(
            testset=SET._replace(id="t.de-en"),
            segments=6,
            docs=None,
            classes=("she", "it"),
            systems={"refB": pronouns(0.9)},
            signature="",
            texts="",
        ),
        seed=SEED,
    )
    assert "A human translation, not a system." in pages.system(board, 0, [], {}, compare="c.html")


def test_a_system_is_broken_down_by_form_document_length_and_distance_beside_all_systems() -> None:
    texts = [("She left.", "She and he left."), ("He left.", "He left.")]
    listed = [Segment(None, None, own, ("", "")) for own in texts]
    systems = {
        "Alder": Pronouns(*map(np.array, ([0, 1], [0, 0], [3, 2], [0, 0], [0.9, 0.5], [0, 1]))),
        "Birch": Pronouns(*map(np.array, ([0, 0, 1], [0, 8, 0], [3, 10, 2], [0, 0, 0], [0.8, 0.6, 0.2], [0, -1, 1]))),
    }
    made = BoardScores(
        testset=SET, segments=2, docs=("x", "y"), classes=("she",), systems=systems, signature="", texts=""
    )
    found = breakdown.tables(breakdown.collect(made, listed, languages.ENGLISH), "Birch", 1)
    assert list(found) == ["forms", "documents", "lengths", "sentences"]
    assert found["forms"].header[-1] == "less that of all systems"
    assert found["forms"].rows == (  # he: 0.5, 0.6 and 0.2; she: 0.9 and 0.8
        ("he", "all systems", "3", "0.433", "100.0", "-"),
        ("he", "Birch", "2", "0.400", "100.0", "-0.033"),
        ("she", "all systems", "2", "0.850", "0.0", "-"),
        ("she", "Birch", "1", "0.800", "0.0", "-0.050"),
    )
    assert [row[:3] for row in found["documents"].rows[:2]] == [("x", "all systems", "3"), ("x", "Birch", "2")]
    assert found["lengths"].rows[1] == ("1 to 10", "Birch", "3", "0.533", "66.7", "-0.067")
    assert found["sentences"].rows == (  # the distance of Birch's first "he" is unknown
        ("same sentence", "all systems", "2", "0.850", "0.0", "-"),
        ("same sentence", "Birch", "1", "0.800", "0.0", "-0.050"),
        ("1 sentence before", "all systems", "2", "0.350", "100.0", "-"),
        ("1 sentence before", "Birch", "1", "0.200", "100.0", "-0.150"),
    )
    undated = dataclasses.replace(made, docs=None)
    assert list(breakdown.collect(undated, listed, languages.ENGLISH)) == ["forms", "lengths", "sentences"]


def test_only_third_person_pronouns_have_a_distance() -> None:
    text = "I saw that it left."
    own = Pronouns(*map(np.array, ([0] * 3, [0, 6, 11], [1, 10, 13], [0] * 3, [0.9, 0.8, 0.7], [1, 1, 2])))
    made = BoardScores(
        testset=SET, segments=1, docs=None, classes=("it",), systems={"Alder": own}, signature="", texts=""
    )
    found = breakdown.collect(made, [Segment(None, None, (text,), ("",))], languages.ENGLISH)
    assert found["sentences"] == {(2, "2 sentences before"): [[0.7]]}


def test_the_page_of_a_system_has_its_buckets_and_marks_of_intervals(tmp_path: Path) -> None:
    build(tmp_path)
    text = next((tmp_path / "systems").glob("*Alder.html")).read_text(encoding="utf-8")
    assert re.findall(r'<details id="(\w+)"', text) == ["forms", "documents", "lengths", "sentences"]
    assert '<svg class="mark" width="96" height="12" aria-hidden="true"><line x1="' in text
    assert "less that of all systems" in text


def test_scores_are_kept_exactly(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    scored.write(SCORED, path)
    found = scored.read(path)
    assert found is not None
    assert (found.testset, found.docs, found.classes, found.signature) == (SET, SCORED.docs, SCORED.classes, EVIL)
    for name in NAMES:
        for one, other in zip(found.systems[name], SCORED.systems[name], strict=True):
            assert one.tolist() == other.tolist()
        assert found.preferences[name].tolist() == SCORED.preferences[name].tolist()


def test_classes_of_english_and_of_a_table() -> None:
    text = "He knows himself that these belong to those who left; what is hers?"
    starts = [text.index(word) for word in ("He", "himself", "these", "those", "who", "what", "hers")]
    found = groups.classify(languages.ENGLISH, text, starts)
    assert found == ["he", "he", groups.DEMONSTRATIVE, groups.DEMONSTRATIVE, groups.WH, groups.WH, "she"]
    assert set(found) <= set(groups.names(languages.ENGLISH))
    german = languages.language("de")
    assert groups.classify(german, "Sie kam.", [0])[0] in groups.names(german)
