"""Contrastive items out of English from text without chains: the gender of nouns, antecedents, the verb."""

# ruff: noqa: RUF001  (Cyrillic)

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data_prep.suites import contrastive, corpus, grammatical
from data_prep.suites.corpus import Document
from pronmetric.cli.main import main
from pronmetric.text.conllu import Sentence

# noun, its German sentence with and without article, pronoun
NOUNS = [
    ("lamp", "Eine alte Lampe brennt.", "Die Lampe brennt.", "Sie"),
    ("stove", "Einen alten Ofen sah ich.", "Der Ofen brennt.", "Er"),
    ("boat", "Ein altes Boot sah ich.", "Das Boot brennt.", "Es"),
]


def sentence(text: str) -> Sentence:
    return corpus.sentence_of(text, corpus.split(text, "de"), "d", 1)


def document(*texts: str) -> Document:
    return Document("d", tuple(corpus.AlignedSentences(sentence(""), sentence(text), (), 1) for text in texts))


def linked(*pairs: tuple[str, str, str]) -> Document:
    """A document of sentence pairs with links such as "0-1 2-2"."""
    return Document(
        "d",
        tuple(
            corpus.AlignedSentences(
                corpus.sentence_of(source, corpus.split(source, "en"), "d", number),
                corpus.sentence_of(target, corpus.split(target, "de"), "d", number),
                tuple((int(link.split("-")[0]), int(link.split("-")[1])) for link in links.split()),
                number,
            )
            for number, (source, target, links) in enumerate(pairs, start=1)
        ),
    )


def made(code: str, document: Document, known: dict[str, str]) -> tuple[list[dict[str, Any]], Counter[str]]:
    counts = Counter[str]()
    found = grammatical.items(
        document,
        contrastive.rules(code),
        agreement=grammatical.Agreement.of(code),
        known=known,
        writing=contrastive.Writing("demo", 3),
        counts=counts,
    )
    return list(found), counts


def test_the_gender_of_a_noun_is_learned_from_the_words_before_it() -> None:
    agreement = grammatical.Agreement.of("de")
    known = grammatical.genders(
        [
            document(
                "Die Lampe brennt, eine helle Lampe.",
                "Das Boot und ein altes Boot.",
                "Den Ofen und einen alten Ofen.",
                # plural: die, der and den allow the feminine or the masculine too, but not all of them
                "Die Häuser, der Häuser, den Häusern.",
                "Die Uhr geht.",  # once
                "Der Hut und die Mütze.",
            )
        ],
        agreement,
    )
    assert known == {"lampe": "Fem", "boot": "Neut", "ofen": "Masc"}
    of = {
        word: grammatical.gender_of(word, known, agreement)
        for word in ("Lampe", "Stehlampe", "Kachelofen", "Hausboot", "Zeitung", "Mädchen", "Hut")
    }
    assert of == {
        "Lampe": "Fem",
        "Stehlampe": "Fem",
        "Kachelofen": None,  # its last part is shorter than five letters
        "Hausboot": None,
        "Zeitung": "Fem",
        "Mädchen": "Neut",
        "Hut": None,
    }


def test_russian_endings_show_the_gender_and_a_pronoun_is_no_adjective() -> None:
    agreement = grammatical.Agreement.of("ru")
    known = grammatical.genders(
        [document("Новая лампа и старая лампа.", "Его лампа, его стол.", "Новый стол, этот стол.")], agreement
    )
    assert known == {"лампа": "Fem", "стол": "Masc"}


KNOWN = {"lampe": "Fem", "ofen": "Masc", "boot": "Neut"}


def test_an_item_of_each_pronoun() -> None:
    (item,), counts = made(
        "de",
        linked(
            ("The lamp is old.", "Die Lampe ist alt.", "0-0 1-1 2-2 3-3"),
            ("Then it shines.", "Dann leuchtet sie.", "0-0 1-2 2-1"),
        ),
        KNOWN,
    )
    assert (item["src pronoun"], item["ref pronoun"], item["ante distance"]) == ("it", "sie", 1)
    assert (item["src ante head"], item["ref ante head"], item["ref ante head gender"]) == ("lamp", "Lampe", "Fem")
    assert [(one["contrastive"], one["replacement"]) for one in item["errors"]] == [
        ("Dann leuchtet er.", "er"),
        ("Dann leuchtet es.", "es"),
    ]
    assert item["ref context"] == ["Die Lampe ist alt."] and item["antecedent by"] == grammatical.BY
    assert counts == {"pronoun pairs": 1, "items": 1}


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([("The boat is old.", "Das Boot ist alt.", "1-1"), ("It shines.", "Sie leuchtet.", "0-0")], "no earlier noun"),
        # nouns of the pronoun's gender: two of them, a plural, a person, a word that is no noun
        (
            [("The lamp and the clock.", "Die Lampe und die Zeitung.", "1-1 4-4"), ("It shines.", "Sie ruht.", "0-0")],
            "several earlier nouns",
        ),
        ([("The lamps are old.", "Die Lampe ist alt.", "1-1"), ("It shines.", "Sie ruht.", "0-0")], "no earlier noun"),
        ([("The queen is old.", "Die Lampe ist alt.", "1-1"), ("It shines.", "Sie ruht.", "0-0")], "no earlier noun"),
        ([("Lamp is old.", "Die Lampe ist alt.", "0-1"), ("It shines.", "Sie ruht.", "0-0")], "no earlier noun"),
        ([("The lamp is old.", "Die Lampe ist alt.", "1-1"), ("It seems late.", "Es ist spät.", "0-0")], "expletive"),
    ],
)
def test_what_is_no_item(pairs: list[tuple[str, str, str]], reason: str) -> None:
    found, counts = made("de", linked(*pairs), KNOWN)
    assert found == [] and [name for name in counts if reason in name]


def test_a_predicate_that_shows_the_gender_gives_no_item() -> None:
    before = ("The lamp is old.", "Эта лампа стоит.", "1-1")
    for verb, count in (("светила", 0), ("светит", 1)):
        found, _ = made("ru", linked(before, ("It shines.", f"Она {verb}.", "0-0")), {"лампа": "Fem"})
        assert len(found) == count


def test_an_object_is_no_item() -> None:
    before = ("The lamp is old.", "Die Lampe ist alt.", "1-1")
    assert made("de", linked(before, ("We saw it.", "Wir sahen sie.", "2-2")), KNOWN)[0] == []


def test_the_command_reads_the_folders_of_translations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "parallel" / "demo.de-en"
    folder.mkdir(parents=True)
    english, german = [], []
    for noun, first, second, pronoun in NOUNS * 2:
        english += [f"I saw an old {noun}.", f"The {noun} burns.", "It sleeps now."]
        german += [first, second, f"{pronoun} schläft jetzt."]
    (folder / "ref.en").write_text("\n".join(english) + "\n", encoding="utf-8")
    (folder / "src.de").write_text("\n".join(german) + "\n", encoding="utf-8")
    out = tmp_path / "suite.json"
    flags = ["--target-language", "de", "--parallel", str(tmp_path / "parallel"), "--context", "1", "-o", str(out)]
    assert main(["suite", "build", "contrastive", *flags]) == 0
    shown = capsys.readouterr().out
    items = json.loads(out.read_text(encoding="utf-8"))
    assert [item["ref pronoun"] for item in items] == ["Sie", "Er", "Es"]  # each sentence once
    assert {item["corpus"] for item in items} == {"demo.en-de"} and "the same sentence again" in shown
    assert main(["suite", "show", "contrapro", "--set", str(out)]) == 0


def test_a_corpus_without_items_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("en", "The lamp burns.\n"), ("de", "Die Lampe brennt.\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = ["--source", str(tmp_path / "en"), "--target", str(tmp_path / "de"), "-o", str(tmp_path / "suite.json")]
    assert main(["suite", "build", "contrastive", "--target-language", "de", *files]) == 1
    assert "no item is left (no candidate)" in capsys.readouterr().err
    assert not (tmp_path / "suite.json").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["de", "--target", "x"], "--target-language de needs --source and --target, or --parallel"),
        (["fr", "--source", "x", "--target", "y"], "--target-language fr needs CoNLL-U with --alignment"),
        (["fr", "--parallel", "x"], "--target-language fr needs CoNLL-U with --alignment"),
        (
            ["ru", "--source", "x", "--target", "y", "--alignment", "z"],
            "--alignment goes with --target-language de or fr",
        ),
        (["en", "--parallel", "x"], "--parallel is out of English"),
        (["de", "--parallel", "x", "--source", "y"], "leave the flags of files out"),
        (["de", "--source", "x", "--source-language", "en"], "--source-language is into English"),
        (["de", "--parallel", "x", "--pairs", "en-de"], "--pairs is into English"),
    ],
)
def test_flags_that_do_not_go_together(flags: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["suite", "build", "contrastive", "--target-language", *flags, "-o", "o.json"])
    assert message in capsys.readouterr().err
