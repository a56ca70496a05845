"""The benchmark of fidelity: its own texts, levels and sets, the share on the stereotype's side, the page."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import pages
from benchmarks.checkpoint import fidelity, winogender
from benchmarks.checkpoint.scoring import Record, Result
from data_prep.fidelity import passages
from data_prep.fidelity.frames import PRONOUNS, tables
from pronmetric.pronouns.finder import find

MALE = frozenset(PRONOUNS["he"].values())


def men_only(records: Sequence[Record]) -> list[Result]:
    """The score is the share of masculine pronouns."""
    scores = [[o.form in MALE for o in find(record["text"])] for record in records]
    return [Result(score=sum(each) / max(1, len(each)), pronouns=[]) for each in scores]


def test_levels_have_each_set_against_another_persons_in_one_sentence() -> None:
    found = fidelity.levels(8, seed=1)
    assert list(found) == list(range(passages.LEVELS))
    for level, pairs in found.items():
        assert Counter(pair.ref for pair in pairs) == dict.fromkeys(fidelity.SETS, 2)
        for pair in pairs:
            assert pair.system != pair.ref and pair.doc == f"level {level}" and len(pair.context) > level
            forms = PRONOUNS[pair.ref].values()
            assert all(each.ref_form in forms and each.hyp_form not in forms for each in pair.mismatches)


def test_the_texts_with_singular_they_are_many_and_differ_in_pronouns_and_verbs() -> None:
    items = fidelity.singular_they()
    assert len(items) >= 60 and len({genre for genre, _ in items}) >= 12
    for _, item in items:
        better, worse = item.contrast.better, item.contrast.worse
        assert better != worse and not re.search(r"[{}|]", better + worse + item.context[0])
        they = {o.form for o in find(better)} & set(PRONOUNS["they"].values())
        assert they and {o.form for o in find(worse)} & {*PRONOUNS["he"].values(), *PRONOUNS["she"].values()}


def test_roles_with_a_stereotype_are_evenly_of_both_sides_and_none_is_trained_on() -> None:
    items = fidelity.stereotypes()
    assert len(items) == 120 and Counter(side for side, _ in items) == {"he": 60, "she": 60}
    assert items[0][1].contrast.better.startswith("The childminder closed the window because she")
    known = {role for split in ("train", "development") for each in tables(split).roles.values() for role in each}
    assert not {item.unit for _, item in items} & known


@pytest.mark.shared
def test_no_role_is_one_of_winogender(shared: Path) -> None:
    templates = winogender.read(shared / "data" / "winogender" / "all_sentences.tsv")
    known = {name for each in templates for name in (each.occupation, each.participant)}
    roles = {role for split in ("train", "development") for each in tables(split).roles.values() for role in each}
    with_stereotype = {item.unit for _, item in fidelity.stereotypes()}
    assert not {role.split()[-1] for role in roles | with_stereotype} & known


def test_the_figures_and_the_page() -> None:
    held_out = list(passages.pairs(6, split="development", seed=1, ties=0.0))
    figures = fidelity.measure(men_only, held_out, number=8)
    bias = figures["stereotypes"]
    assert bias["pairs"] == 120 and bias["share"].value == 0.5 and bias["he"] == 1.0
    for found in figures["levels"].values():
        assert found["all"].pairs == 8 and found["he"].accuracy == 1 and found["he"].pairs == 2
    assert figures["they"]["all"].accuracy == 0 and figures["rewritten"]["all"].pairs == 6
    content = {"figures": json.loads(json.dumps(pages.plain(figures))), "weights": "w", "signature": "s"}
    text = fidelity.page({**content, "date": "d", "command": "c"})
    assert "| level 5 | " in text and "| rewritten documents | " in text and "50.0 %\n[" in text
    assert "100.0 % are for he" in text
    del content["figures"]["rewritten"]
    assert "rewritten" not in fidelity.page({**content, "date": "d", "command": "c"}).partition("## ")[2]
