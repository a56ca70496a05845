"""Whether texts look like the language in which they are scored."""

from __future__ import annotations

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.pronouns.known_words import ENOUGH, KnownWords, check_texts, doubt
from pronmetric.pronouns.languages import ENGLISH, language

GERMAN = [
    "Anna ging gestern in die Stadt.",
    "Sie kaufte dort ein Buch, weil es ihr gefiel.",
    "Der Händler gab ihr noch eine Tasche dazu.",
    "Am Abend las sie das Buch ihrem Bruder vor.",
    "Er hörte lange zu, denn es war schön.",
    "Dann schliefen beide ein.",
]
LOOK_ALIKES = [  # German whose "was", "will", "in", "am" and "also" are English words too
    "Er ging nach Hause.",
    "Das ist es, was er will.",
    "Sie kam in der Nacht.",
    "Er hat es die ganze Zeit gewusst.",
    "Der Mann war also da.",
    "Am Ende war die Stadt leer.",
]
ENGLISH_LINES = ["Anna went to the town yesterday.", "She bought a book there because she liked it.", "It was late."]
SPANISH = ["Ella me dijo que no lo sabía, pero que su hermano sí lo había visto con nosotros en la plaza de su pueblo."]
RUSSIAN = ["Она сказала ему, что его брат не видел её книгу, и он ей не поверил, потому что сам её видел у него вчера."]  # noqa: RUF001
CHINESE = ["他告诉她，他的哥哥没有看见她的书，但是她不相信他。"]  # noqa: RUF001
NAMES = [
    "Ann Weiss, Oslo; Robin Lind, Lima; Jo Al Khan, La Paz; Kim Berg, Bonn; Lee Sand, Rome; Max Holt, Kyiv; Eva Moss"
]


@pytest.mark.parametrize("texts", [GERMAN, LOOK_ALIKES, SPANISH, RUSSIAN], ids=["de", "look-alikes", "es", "ru"])
def test_another_language_is_noticed(texts: list[str]) -> None:
    assert str(doubt(texts, ENGLISH)).startswith("do the texts look like en? ")


@pytest.mark.parametrize("texts", [ENGLISH_LINES, NAMES, GERMAN[:1], [], ["x = y; " * 40]])
def test_english_odd_and_short_texts_are_not_doubted(texts: list[str]) -> None:
    assert doubt(texts, ENGLISH) is None


@pytest.mark.parametrize(
    ("code", "own", "other"), [("de", GERMAN, ENGLISH_LINES), ("es", SPANISH, GERMAN), ("ru", RUSSIAN, GERMAN)]
)
def test_other_target_languages(code: str, own: list[str], other: list[str]) -> None:
    assert doubt(own, language(code)) is None
    assert doubt(other * 3, language(code)) is not None


def test_a_language_without_blanks() -> None:
    assert doubt(CHINESE, language("zh")) is None
    assert "another script" in str(doubt(ENGLISH_LINES * 2, language("zh")))
    assert "another script" in str(doubt(RUSSIAN, language("de")))


def test_entities_and_mark_up_are_no_words_and_a_long_file_is_not_read_to_its_end() -> None:
    assert doubt(["&quot;<b>&apos;</b>" * 40], ENGLISH) is None
    sample = KnownWords(ENGLISH)
    sample.add("the " * ENOUGH)
    sample.add(GERMAN[0] * ENOUGH)
    assert sample.doubt() is None


def test_a_note_or_an_error() -> None:
    notes: list[str] = []
    named = {"a.txt": ENGLISH_LINES, "b.txt": GERMAN}
    check_texts(named, ENGLISH, notes.append, strict=False)
    assert len(notes) == 1 and notes[0].startswith("b.txt: do the texts look like en? ")
    with pytest.raises(PronmetricError, match=r"^b\.txt: do the texts .*give texts in en, or leave out `strict=True`$"):
        check_texts(named, ENGLISH, notes.append, strict=True)
