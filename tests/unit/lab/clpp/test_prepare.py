"""Task data from a corpus: slots, classes, inserted slots, subjects, null subjects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pronmetric.alignment import parsed
from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp import prepare as clpp_prepare
from pronmetric.text import conllu


def made(pair: str, source: str, target: str, links: str, counts: Counter[str] | None = None) -> list[str]:
    """The columns of one factored sentence pair."""
    left, right = (next(conllu.read_factored([text], file="f")) for text in (source, target))
    found = tuple((int(s), int(t)) for s, t in (link.split("-") for link in links.split()))
    corpus = [parsed.Aligned(left, right, found, 1)]
    ((line, _),) = clpp_prepare.prepare(corpus, clpp.task(pair), counts=Counter() if counts is None else counts)
    return line.split("\t")


def test_markup_is_no_corpus(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"src":"Sie", "mt":"She"}\n')
    (tmp_path / "links").write_text("0-0\n")
    files = [str(tmp_path / name) for name in ("a.jsonl", "a.jsonl", "links")]
    with pytest.raises(InputError, match=r"a\.jsonl: is JSON Lines, but word links are of plain lines"):
        list(parsed.read(*files))


def test_a_slot_takes_the_place_of_the_aligned_class() -> None:
    cells = made("de-en", "Sie geht", "Well|well|INTJ She|she|PRON goes|go|VERB", "0-0 0-1 1-2")
    assert cells == ["she", "She", "Sie geht", "well|INTJ REPLACE_0 go|VERB", "0-0 0-1 1-2"]


def test_another_word_is_other_and_demonstratives_have_one_class() -> None:
    assert made("de-en", "Es brennt", "Something|something|PRON burns|burn|VERB", "0-0 1-1")[:2] == [
        "OTHER",
        "Something",
    ]
    assert made("de-en", "Es brennt", "That|that|PRON burns|burn|VERB", "0-0 1-1")[:2] == ["this", "That"]
    assert made("en-fr", "It burns", "C'|ce|PRON brûle|brûler|VERB", "0-0 1-1")[:2] == ["ce", "C'"]


def test_an_unaligned_pronoun_gets_a_slot_after_the_word_before() -> None:
    cells = made("de-en", "Heute brennt es hier", "Today|today|ADV fire|fire|NOUN here|here|ADV", "0-0 1-1 3-2")
    assert cells == [
        "OTHER",
        "NONE",
        "Heute brennt es hier",
        "today|ADV fire|NOUN REPLACE_2 here|ADV",
        "0-0 1-1 2-2 3-3",
    ]
    assert made("de-en", "Es brennt", "Fire|fire|NOUN", "1-0")[3:] == ["REPLACE_0 fire|NOUN", "0-0 1-1"]


def test_only_subjects_where_there_are_labels() -> None:
    counts: Counter[str] = Counter()
    cells = made(
        "en-de", "They|_|X|nsubj see it|_|X|obj", "Sie|sie|PRON sehen|sehen|VERB es|es|PRON", "0-0 1-1 2-2", counts
    )
    assert cells[0] == "sie" and counts["dropped: no subject"] == 1
    assert made("en-de", "They see it", "Sie|sie|PRON sehen|sehen|VERB es|es|PRON", "0-0 1-1 2-2")[0] == "sie es"


def test_two_pronouns_of_one_word_give_one_slot() -> None:
    counts: Counter[str] = Counter()
    assert made("de-en", "er und sie gehen", "they|they|PRON go|go|VERB", "0-0 2-0 3-1", counts)[0] == "they"
    assert counts["dropped: its word is a slot already"] == 1


def test_spanish_verbs_without_subject() -> None:
    feats = {"Person": "3", "VerbForm": "Fin"}
    tokens = (
        conllu.Token("Ana", "Ana", "PROPN", {}, 1, "nsubj", True, {}),
        conllu.Token("ríe", "reír", "VERB", feats, -1, "root", True, {}),
        conllu.Token("y", "y", "CCONJ", {}, 3, "cc", True, {}),
        conllu.Token("canta", "cantar", "VERB", feats, 1, "conj", True, {}),
    )
    source = conllu.Sentence("d", tokens, (), 1)
    target = next(
        conllu.read_factored(["Ana|Ana|PROPN laughs|laugh|VERB and|and|CCONJ she|she|PRON sings|sing|VERB"], file="f")
    )
    pair = parsed.Aligned(source, target, ((0, 0), (1, 1), (2, 2), (3, 3), (3, 4)), 1)
    ((line, doc),) = clpp_prepare.prepare([pair], clpp.task("es-en"), counts=Counter())
    assert (line.split("\t")[0], doc) == ("she", "d") and "REPLACE_3 sing|VERB" in line
    with pytest.raises(InputError, match="es-en needs dependency labels"):
        made("es-en", "canta", "sings|sing|VERB", "0-0")


def test_the_command_writes_what_the_scorer_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "s": "Er|_|X|nsubj geht\nDanke\n",
        "t": "He|he|PRON goes|go|VERB\nThanks|thanks|INTJ\n",
        "a": "0-0 1-1\n\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    paths = [f"{tmp_path}/{name}" for name in files]
    flags = ["--source", paths[0], "--target", paths[1], "--alignment", paths[2], "-o", f"{tmp_path}/out"]
    assert main(["clpp", "prepare", "--pair", "de-en", *flags]) == 0
    assert "segments with a slot" in capsys.readouterr().out
    assert len((tmp_path / "out.data").read_text().splitlines()) == 2
    (line,) = clpp.read(tmp_path / "out.data.filtered", clpp.task("de-en"))
    assert line.labels == ("he",) and not (tmp_path / "out.doc-ids").exists()
    (tmp_path / "a").write_text("0-2\n\n", encoding="utf-8")
    assert main(["clpp", "prepare", "--pair", "de-en", *flags]) == 1
    assert "a:1: link 0-2: the sentences have 2 and 2 words" in capsys.readouterr().err
