"""Contrastive suites into English: from chains of one side or both, from agreement, from annotated English alone."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data_prep.coreference.conll import Annotated, Mention
from data_prep.suites import contrastive, corpus, english
from pronmetric.alignment.parsed import Aligned
from pronmetric.cli import suite_build
from pronmetric.errors import InputError
from pronmetric.lab.suites import contrapro
from pronmetric.lab.suites.contrastive import Reading
from pronmetric.text import conllu
from pronmetric.text.conllu import Sentence

WRITING = contrastive.Writing("demo", 2)
GERMAN = english.source_pronouns("de")


def built(
    document: corpus.Document, language: english.Source, counts: Counter[str] | None = None
) -> list[dict[str, Any]]:
    return list(english.items(document, language, writing=WRITING, counts=Counter() if counts is None else counts))


def sentence(text: str) -> Sentence:
    return corpus.sentence_of(text, corpus.split(text, "en"), "doc", 1)


def parallel(*pairs: tuple[str, str, str], **chains: list[tuple[int, int, int, str]]) -> corpus.Document:
    """A document of (source, target, links); chains: (sentence, start, end, entity) of `source` and `target`."""
    aligned = []
    for number, (source, target, links) in enumerate(pairs, start=1):
        found = tuple((int(a), int(b)) for a, b in (link.split("-") for link in links.split()))
        aligned.append(Aligned(sentence(source), sentence(target), found, number))
    made = {
        side: corpus.by_entity(corpus.Place(n, conllu.Mention(a, b, entity, b - 1)) for n, a, b, entity in places)
        for side, places in chains.items()
    }
    return corpus.Document("doc", tuple(aligned), **made)


STOVE = ("Der Ofen war alt.", "The stove was old.", "0-0 1-1 2-2 3-3 4-4")
IT = ("Er verlor oft seine Hitze.", "It often loses its heat.", "0-0 1-2 2-1 3-3 4-4 5-5")


def test_a_text_without_words_is_a_sentence_without_tokens() -> None:
    documents = corpus.from_text([corpus.Row("doc", "", " "), corpus.Row("doc", "Er", "He")], source="de", target="en")
    assert [len(pair.target.tokens) for pair in documents[0].pairs] == [0, 1]


def test_by_the_chains_of_both_sides_the_verb_and_the_chain_agree() -> None:
    chains = {side: [(0, 0, 2, "e"), (1, 0, 1, "e"), (1, 3, 4, "e")] for side in ("source", "target")}
    (item,) = built(parallel(STOVE, ("Sie lädt oft seine Hitze.", *IT[1:]), **chains), GERMAN)
    assert [(e["replacement"], e["contrastive"]) for e in item["errors"]] == [
        ("she", "She often loses her heat."),
        ("they", "They often lose their heat."),
    ]
    assert item[english.BY] == english.BOTH and item["src allows"] == ["she", "it", "they"]
    assert (item["ante distance"], item["src ante phrase"], item["ref ante phrase"]) == (1, "Der Ofen", "The stove")
    assert (item["src context"], item["ref context"]) == (["Der Ofen war alt."], ["The stove was old."])


def test_the_source_pronoun_limits_the_contrast() -> None:
    target = [(0, 0, 2, "e"), (1, 0, 1, "e")]
    (item,) = built(parallel(STOVE, IT, target=target), GERMAN)
    assert [(e["contrastive"], e["replacement gender"]) for e in item["errors"]] == [
        ("He often loses its heat.", "Masc")
    ]
    assert (item["src pronoun"], item["ref pronoun"], item[english.BY]) == ("Er", "It", english.OF_TARGET)


def test_the_chains_of_the_source_alone_lead_to_the_target_by_links() -> None:
    document = parallel(STOVE, IT, source=[(0, 0, 2, "e"), (1, 0, 1, "e")])
    (item,) = built(document, GERMAN)
    assert (item["ref ante phrase"], item[english.BY]) == ("stove", english.OF_SOURCE)


def test_without_chains_the_nearest_noun_that_agrees_is_the_antecedent() -> None:
    lamp = ("Die Lampe stand neben Frauen.", "The lamp stood near women.", "0-0 1-1 2-2 3-3 4-4 5-5")
    sie = ("Sie war alt.", "It was old.", "0-0 1-1 2-2 3-3")
    (item,) = built(parallel(lamp, sie), GERMAN)
    assert item[english.BY] == english.AGREEMENT and item["ref ante phrase"] == "lamp"
    assert item["src ante phrase"] == "Lampe"
    assert [e["contrastive"] for e in item["errors"]] == ["She was old.", "They were old."]
    they = ("Sie waren alt.", "They were old.", "0-0 1-1 2-2 3-3")
    (item,) = built(parallel(lamp, they), GERMAN)
    assert item["ref ante phrase"] == "women"
    assert [e["contrastive"] for e in item["errors"]] == ["She was old.", "It was old."]


def test_an_antecedent_is_a_noun_of_the_right_gender_in_german() -> None:
    """A lower-case word is no noun ("work" as a verb); "die Lampe" is no "er"."""
    er = ("Er war alt.", "It was old.", "0-0 1-1 2-2 3-3")
    stove = ("Der Ofen soll arbeiten.", "The stove shall work.", "0-0 1-1 2-2 3-3 4-4")
    (item,) = built(parallel(stove, er), GERMAN)
    assert (item["ref ante phrase"], item["src ante phrase"]) == ("stove", "Ofen")
    lamp = ("Der Ofen neben die Lampe.", "The stove beside the lamp.", "0-0 1-1 2-2 3-3 4-4 5-5")
    (item,) = built(parallel(lamp, er), GERMAN)
    assert item["src ante phrase"] == "Ofen"


@pytest.mark.parametrize(
    "text",
    [
        "It doesn't look like they won.",
        "How's it going?",
        "It did not feel as if he won.",
        "It helps me that they won.",
        "It remains to be seen.",
        "It is about them.",
    ],
)
def test_it_of_an_idiom_is_expletive(text: str) -> None:
    counts: Counter[str] = Counter()
    at = text.lower().split().index("it")
    assert not built(parallel(STOVE, ("Er " * 9, text, f"0-{at} 1-{at + 1}")), GERMAN, counts)
    assert counts["dropped: expletive"] == 1


def test_a_floating_quantifier_has_no_singular() -> None:
    women = ("Die Frauen kamen.", "The women came.", "0-0 1-1 2-2 3-3")
    counts: Counter[str] = Counter()
    assert not built(parallel(women, ("Sie lachten.", "They had all laughed.", "0-0 1-3")), GERMAN, counts)
    assert counts["dropped: no other pronoun whose verb is known"] == 1


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (("Heute fiel der Preis.", "It fell today.", "1-1 0-2"), "no source pronoun that stands for it"),
        (("Er fiel.", "She fell.", "0-0 1-1"), "no source pronoun that stands for it"),
        (("Er ist klar , dass es regnet.", "It is clear that rain fell.", "0-0 1-1"), "expletive"),
        (("Er fiel.", "He fell.", "0-0 1-1"), "no earlier noun that agrees"),
    ],
)
def test_what_is_no_item_is_counted(pair: tuple[str, str, str], reason: str) -> None:
    counts: Counter[str] = Counter()
    assert not built(parallel(STOVE, pair), GERMAN, counts)
    assert counts == {"pronouns": 1, f"dropped: {reason}": 1}


def test_polite_forms_inside_a_sentence_are_no_source_pronouns() -> None:
    counts: Counter[str] = Counter()
    pair = ("Heute gingen Sie.", "Today they left.", "0-0 1-2 2-1 3-3")
    assert not built(parallel(("Die Frauen kamen.", "The women came.", "0-0 1-1 2-2 3-3"), pair), GERMAN, counts)
    assert counts["dropped: no source pronoun that stands for it"] == 1


def test_a_dropped_pronoun_of_a_language_that_drops_them() -> None:
    first = ("男孩 来了。", "The boy came.", "0-1 1-2")
    pair = ("昨天 走了。", "Yesterday he left.", "0-0 1-2")
    (item,) = built(parallel(first, pair), english.source_pronouns("zh"))
    assert item["src pronoun"] == "-" and len(item["errors"]) == 3
    counts: Counter[str] = Counter()
    assert not built(parallel(first, ("他 昨天 走了。", pair[1], "1-0 2-2")), english.source_pronouns("zh"), counts)
    assert counts["dropped: no source pronoun that stands for it"] == 1  # 他 is there, without a link


def test_annotated_english_alone() -> None:
    tokens = "The old woman laughed . I said she was right , and she sat down .".split()
    mentions = [Mention(0, 3, "1"), Mention(5, 6, "2"), Mention(7, 8, "1"), Mention(12, 13, "1")]
    document = corpus.from_annotated(Annotated("story", tuple(tokens), tuple(mentions)))
    first, second = built(document, english.NO_SOURCE)
    assert first["ref segment"] == "I said she was right, and she sat down." and first["src segment"] == ""
    assert [e["contrastive"] for e in first["errors"]] == [
        "I said he was right, and he sat down.",
        "I said it was right, and it sat down.",
        "I said they were right, and they sat down.",
    ]
    assert (first["ref ante head"], first["ante distance"], second["document id"]) == ("woman", 1, "story")


def test_ranges_have_the_places_of_their_words() -> None:
    whole = Sentence("", sentence("do not go").tokens, (conllu.Surface(0, 2, "don't", True),), 1)
    text, places = corpus.written(whole)
    assert text == "don't go" and [(w.start, w.end) for w in places] == [(0, 5), (0, 5), (6, 8)]


def test_the_command_on_text_and_its_set_is_scored_with_its_context(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [("Der Mann kam.", "The man came."), ("Er lachte.", "He laughed.")] * 6
    for name, column in zip(("de", "en"), zip(*lines, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in column), encoding="utf-8")
    (tmp_path / "ids").write_text("".join(f"d{n // 2}\n" for n in range(12)))
    files = ["--source", str(tmp_path / "de"), "--target", str(tmp_path / "en"), "--docids", str(tmp_path / "ids")]
    out = tmp_path / "suite.json"
    flags = ["contrastive", "--target-language", "en", "--source-language", "de", *files, "-o", str(out)]
    flags += ["--blind-model", "none"]
    assert suite_build.GROUP.main(flags) == 0
    assert "items by agreement of number and gender      6" in capsys.readouterr().out
    items = contrapro.read(out, Reading(context=1))
    assert [one.target for one in items[0].candidates] == ["He laughed.", "It laughed."]
    assert items[0].candidates[0].target_context == ("The man came.",)
    assert items[0].groups["distance"] == "1" and items[0].groups["antecedent by"] == english.AGREEMENT
    assert len({item.document for item in items}) == 6
    assert json.loads(out.read_text(encoding="utf-8"))[0]["corpus"] == ""


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--target-language", "de", "--target", "x"], "--target-language de needs --source and --target, or"),
        (["--target-language", "en"], "give --target, or --wmt-dir"),
        (["--target-language", "en", "--target", "x", "--source", "y"], "--source goes with --source-language"),
        (["--target-language", "en", "--target", "x", "--pairs", "de-en"], "--pairs goes with --wmt-dir"),
        (["--target-language", "en", "--wmt-dir", "w", "--target", "x"], "leave the flags of files out"),
    ],
)
def test_flags_that_do_not_go_together(flags: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        suite_build.GROUP.main(["contrastive", *flags, "-o", "suite.json"])
    assert message in capsys.readouterr().err


def test_wrong_files_are_refused_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Er kam.\nEr ging.\n")
    (tmp_path / "b").write_text("He came.\n")
    with pytest.raises(InputError, match=r"1 lines, but .*a has 2"):
        corpus.read_text(str(tmp_path / "a"), str(tmp_path / "b"), None)
    (tmp_path / "c").write_text("He came.\nHe left.\n")
    (tmp_path / "ids").write_text("x\n")
    with pytest.raises(InputError, match="ids"):
        corpus.read_text(str(tmp_path / "a"), str(tmp_path / "c"), str(tmp_path / "ids"))
    (tmp_path / "a.csv").write_text("src,ref\nEr kam.,He came.\nEr ging.,He left.\n")
    both = str(tmp_path / "a.csv")
    rows = corpus.read_text(both, both, None)
    assert [row[1:] for row in rows] == [("Er kam.", "He came."), ("Er ging.", "He left.")]
    (tmp_path / "a.po").write_text('msgid "Er kam."\nmsgstr "He came."\n')
    with pytest.raises(InputError, match=r"a\.po: is PO, whose strings are no running text"):
        corpus.read_text(str(tmp_path / "a.po"), str(tmp_path / "a.po"), None)
    with pytest.raises(InputError, match="there are rules for de, fr, ja, ru, uk, zh"):
        english.source_pronouns("xx")
