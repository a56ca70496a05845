# ruff: noqa: RUF001
"""Discourse sets from English-Chinese text, and counts of what a source pronoun is aligned to."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from data_prep.suites import corpus, counterparts, discourse
from pronmetric.alignment.parsed import AlignedSentences
from pronmetric.cli import suite_build
from pronmetric.errors import PronmetricError
from pronmetric.lab.suites import cai_xiong
from pronmetric.lab.suites.contrastive import Reading

FIRST = ("The cups are new .", "杯子是新的。", "")


def document(*rows: tuple[str, str, str]) -> corpus.Document:
    pairs = []
    for number, (source, target, links) in enumerate(rows, start=1):
        found = tuple((int(a), int(b)) for a, b in (link.split("-") for link in links.split()))
        sides = (
            corpus.sentence_of(text, corpus.split(text, code), "doc", 1)
            for text, code in ((source, "en"), (target, "zh"))
        )
        pairs.append(AlignedSentences(*sides, found, number))
    return corpus.Document("doc", tuple(pairs))


def made(source: str, target: str, links: str = "") -> tuple[list[discourse.DiscourseItem], Counter[str]]:
    counts: Counter[str] = Counter()
    return list(discourse.items([document(FIRST, (source, target, links))], context=2, counts=counts)), counts


def test_a_pronoun_and_its_rivals() -> None:
    (one,), counts = made("I washed them.", "我洗了它们。")
    assert one.item["kind"] == "pronoun" and one.item["class"] == "它们"
    assert one.item["contrastive"] == ["我洗了他们。", "我洗了她们。"] and one.item["source_tokens"] == [2]
    assert (one.item["source_context"], one.item["target_context"]) == (["The cups are new ."], ["杯子是新的。"])
    assert (one.check.right, one.check.forms) == ("我洗了它们。", ("它们", "他们"))
    assert counts == {"pronoun candidates": 1, "pronoun items": 1}


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("They saw you .", "他们看见你。", "pronoun dropped: several pronouns in the source"),
        ("They left .", "走了。", "pronoun dropped: not one pronoun in the reference"),
        ("They left .", "你走了。", "pronoun dropped: pronoun of another person in the reference"),
        ("It is as well .", "因为好。", "connective dropped: connective in a fixed phrase"),
        ("Cups or cats since May .", "杯子。", "connective dropped: several connectives in the source"),
        ("Rain fell while snow fell .", "下雨下雪。", "connective dropped: forms of no sense or of several"),
        ("She did .", "她洗了。", "ellipsis dropped: auxiliary without a link"),
    ],
)
def test_what_is_no_item_is_counted(source: str, target: str, reason: str) -> None:
    found, counts = made(source, target)
    assert not found and any(name.startswith(reason) for name in counts), counts


def test_a_connective_by_its_sense() -> None:
    (one,), _ = made("She sang while he slept .", "她唱歌，而他睡觉。")
    assert (one.item["class"], one.item["source_tokens"]) == ("while", [2])
    assert "而" in one.item["right"] and "同时" in one.item["rivals"]
    assert one.item["contrastive"][0] == "她唱歌，的时候他睡觉。"

    assert not made("She sang while he slept .", "她唱歌，而且他睡觉。")[0]  # a word that contains a form


def test_an_ellipsis_by_the_link_of_its_auxiliary() -> None:
    (one,), _ = made("She did .", "她洗了。", "1-1")
    assert (one.item["class"], one.item["right"], one.item["rivals"]) == ("do", ["洗"], ["做"])
    assert one.item["contrastive"] == ["她做了。"]


def test_the_first_sentence_of_a_document_is_no_item() -> None:
    assert not list(discourse.items([document(("They left .", "他们走了。", ""))], context=2, counts=Counter()))


def test_classes_are_drawn_equally_and_the_short_ones_named() -> None:
    found = made("I washed them.", "我洗了它们。")[0] * 3 + made("They left .", "她们走了。")[0]
    drawn, short = discourse.draw(found, each=2, seed=1)
    assert [one.item["class"] for one in drawn] == ["它们", "它们", "她们"]
    assert short == {"pronoun: 她们": 1}


def test_the_command_and_its_set_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("The cups are new.", "杯子是新的。"), ("I washed them.", "我洗了它们。")] * 2
    for name, column in zip(("en", "zh"), zip(*rows, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in column), encoding="utf-8")
    (tmp_path / "ids").write_text("a\na\nb\nb\n")
    out = tmp_path / "suite.jsonl"
    files = ["--source", str(tmp_path / "en"), "--target", str(tmp_path / "zh"), "--docids", str(tmp_path / "ids")]
    assert suite_build.GROUP.main(["discourse", *files, "-o", str(out), "--blind-model", "none"]) == 0
    told = capsys.readouterr()
    assert re.search("written, pronoun: 它们 +2", told.out) and "pronoun: 它们: 78 fewer than 80" in told.err
    items = cai_xiong.read(out, Reading(context=1))
    assert [c.target for c in items[0].candidates] == ["我洗了它们。", "我洗了他们。", "我洗了她们。"]
    assert items[0].candidates[0].target_context == ("杯子是新的。",)
    (tmp_path / "zh").write_text("茶。\n" * 4, encoding="utf-8")
    with pytest.raises(PronmetricError, match="expected an English source and its Chinese translation"):
        suite_build.GROUP.main(["discourse", *files, "-o", str(out), "--blind-model", "none"])


def test_counterparts_of_a_pronoun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = document(("It left , it did", "它 走 了", "0-0 3-0"), ("It rained", "下雨", ""), ("it", "茶杯", "0-0 0-1"))
    assert counterparts.count([one], ["it"], most=1) == [
        counterparts.Count("it", "它", 2, 0.5),
        counterparts.Count("it", counterparts.OTHER, 2, 0.5),
    ]
    assert [row.target for row in counterparts.count([one], ["it"], most=3)][1:] == [counterparts.NOTHING, "茶 杯"]
    (tmp_path / "en").write_text("it left\nit came\n")
    (tmp_path / "de").write_text("es ging\nes kam\n")
    (tmp_path / "links").write_text("0-0 1-1\n0-0\n")
    files = [
        f"--{name}={tmp_path / file}" for name, file in (("source", "en"), ("target", "de"), ("alignment", "links"))
    ]
    flags = ["counts", "it", "--source-language", "en", "--target-language", "de", *files]
    assert suite_build.GROUP.main([*flags, "--to_json", str(tmp_path / "counts.json")]) == 0
    assert re.search(r"it +es +2 +100\.0", capsys.readouterr().out)
    written = json.loads((tmp_path / "counts.json").read_text())
    assert written["counts"] == [{"source": "it", "target": "es", "count": 2, "share": 1.0}]
    with pytest.raises(PronmetricError, match="they: not in"):
        suite_build.GROUP.main([flags[0], "they", *flags[1:]])
