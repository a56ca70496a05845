# ruff: noqa: RUF001
"""Consistency sets by tables: deixis, lexical cohesion, ellipsis; what people are asked, and their answers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from data_prep.suites import consistency, corpus, fragments, versions
from data_prep.suites.consistency import DEIXIS, LEXICAL, VERB_PHRASE
from pronmetric.alignment.parsed import AlignedSentences
from pronmetric.cli import suite_build
from pronmetric.errors import InputError
from pronmetric.lab.study import candidates
from pronmetric.lab.suites import consistency as reader
from pronmetric.lab.suites.contrastive import Reading
from pronmetric.text.conllu import Sentence

RAIN = ("Rain fell .", "Шёл дождь .", "")
Rows = list[tuple[str, str, str]]


def sentence(text: str, code: str) -> Sentence:
    return corpus.sentence_of(text, corpus.split(text, code), "doc", 1)


def document(rows: Rows, code: str = "ru") -> corpus.Document:
    pairs = []
    for number, (source, target, links) in enumerate(rows, start=1):
        found = tuple((int(a), int(b)) for a, b in (link.split("-") for link in links.split()))
        pairs.append(AlignedSentences(sentence(source, "en"), sentence(target, code), found, number))
    return corpus.Document("doc", tuple(pairs))


def made(
    rows: Rows, kind: str, code: str = "ru", lexicon: consistency.Lexicon | None = None
) -> tuple[list[versions.VersionItem], Counter[str]]:
    counts: Counter[str] = Counter()
    found = consistency.items([document(rows, code)], kind, language=code, lexicon=lexicon, counts=counts)
    return list(found), counts


def last(one: versions.VersionItem) -> list[str]:
    return [text.split(versions.SEPARATOR)[-1] for text in one.item["dst"]]


@pytest.mark.parametrize(
    ("code", "before", "text", "other"),
    [
        ("ru", "Я вижу тебя .", "Ты хочешь спать ?", "Вы хотите спать ?"),
        ("ru", "Я вижу вас .", "Утром вы не работаете .", "Утром ты не работаешь ."),
        ("ru", "Я вижу вас .", "Утром вы читали .", None),  # masculine or feminine
        ("ru", "Я вижу вас .", "Это ваш дом .", "Это твой дом ."),
        ("ru", "Я вижу Вас .", "Это Вам .", "Это тебе ."),
        ("de", "Ich sehe dich .", "Du machst das mit deinem Hund .", "Sie machen das mit Ihrem Hund ."),
        ("de", "Ich sehe dich .", "Wartest du ?", "Warten Sie ?"),
        ("de", "Ich sehe dich .", "Was hast du gewittert ?", "Was haben Sie gewittert ?"),
        ("de", "Ich sehe dich .", "Da sagst du was , Spezialist .", "Da sagen Sie was , Spezialist ."),
        ("de", "Ich sehe dich .", "Wächst du noch ?", "Wachsen Sie noch ?"),
        ("de", "Ich sehe dich .", "Er sieht , dass du aufstehst .", "Er sieht , dass Sie aufstehen ."),
        ("de", "Ich sehe dich .", "JETZT HAST DU DEINEN HUND .", "JETZT HABEN SIE IHREN HUND ."),
        ("de", "Das ist Ihr Hund .", "Das gehört Ihnen .", "Das gehört dir ."),
        ("de", "Das ist Ihr Hund .", "Wir sehen Sie .", None),  # du or dich
        ("de", "Das ist Ihr Hund .", "Frauen sehen Sie .", None),
        ("de", "Ich sehe Sie .", "Heute fahren Sie nach Rom .", "Heute fährst du nach Rom ."),
        ("de", "Ich sehe Sie .", "Dann wollen Sie nur schlafen .", "Dann willst du nur schlafen ."),
        ("de", "Ich sehe Sie .", "Er ruft , wenn Sie gehen wollen .", "Er ruft , wenn du gehen willst ."),
        ("de", "Ich sehe Sie .", "Wenn er ruft , können Sie gehen .", "Wenn er ruft , kannst du gehen ."),
        ("de", "Ich sehe Sie .", "Er sagt , dass Sie haben schlafen wollen .", None),  # haben, or wollen
        ("de", "Ich sehe Sie .", "Ein Hund , den Sie sehen .", None),  # whom you see, or who see you
        ("de", "Ich sehe Sie .", "Heute kommen Sie und sehen ihn .", None),  # sehen has the same subject
        ("de", "Ich sehe Sie .", "Fahren Sie nach Rom !", None),  # imperative
        ("de", "Ich sehe Sie .", "Fahren Sie nach Rom ?", "Fährst du nach Rom ?"),
        ("de", "Ich sehe Sie .", "Es freut , dass Sie # X # kennen .", "Es freut , dass du # X # kennst ."),
        ("de", "Ich sehe Sie .", "Seien Sie brav , mein Hund .", None),
        ("de", "Ich sehe Sie .", "Heute verblurgen Sie viel .", None),
        ("de", "Ich sehe dich .", "Ado : Hast du ihn ?", "Ado : Haben Sie ihn ?"),
        ("de", "Ich sehe Sie .", "Heute freuen Sie sich .", None),  # dich or dir
        ("de", "Das ist Ihr Hund .", "Sie haben Ihren Hund .", None),  # she, they or you
        ("de", "Ich sehe dich .", "Du kommst und siehst ihn .", None),  # siehst has the same subject
        ("de", "Ich sehe dich .", "Heute wäschst du dich .", None),  # sich or Sie
        ("de", "Ich sehe dich .", "Komm mit deinem Hund .", None),
        ("de", "Ich sehe dich .", "Heute blurgst du viel .", None),
        ("de", "Heute blurgst du viel .", "Das ist für dich .", None),
        ("de", "Ich sehe dich .", "Er sagte : „ Du schläfst “ .", None),  # another person may speak
        ("fr", "Je vois ton chien .", "Tu parles de toi .", "Vous parlez de vous ."),
        ("fr", "Je vois ton chien .", "Il veut que tu parles .", None),  # parliez, here
        ("fr", "Je vois votre chien .", "Prenez votre chien .", None),  # imperative
        ("es", "Aquí vive usted .", "Canta con usted .", None),  # tú or ti
        ("es", "Hoy cantas tú .", "Tú cantas .", "Usted canta ."),
    ],
)
def test_the_other_form_of_address(code: str, before: str, text: str, other: str | None) -> None:
    rows = [(RAIN[0], before, ""), RAIN, RAIN, ("That is for you .", text, "")]
    found, counts = made(rows, DEIXIS, code)
    if other is None:
        assert not found and counts["candidates"] == 1
        return
    one, mirror = found
    assert last(one) == last(mirror) == [text, other]
    assert (one.item["true_ind"], mirror.item["true_ind"], one.item["ctx_dist"]) == (0, 1, 3)
    assert (one.check.right, one.check.wrong, one.check.group) == (text, other, DEIXIS)
    assert (mirror.check.right, mirror.check.wrong, mirror.check.group) == (other, text, DEIXIS)
    assert one.item["dst"][0].startswith(before) and not mirror.item["dst"][0].startswith(before)


@pytest.mark.parametrize(("you", "why"), [("That , sir , is for you .", "source names the person"),
                                          ("That is for you guys .", "several persons")])  # fmt: skip
def test_a_source_that_tells_who_is_addressed_is_left_out(you: str, why: str) -> None:
    _, counts = made([(RAIN[0], "Для тебя .", ""), RAIN, RAIN, (you, "Для тебя .", "")], DEIXIS)
    assert counts == {"candidates": 1, f"dropped: {why}": 1}


def test_no_deixis_without_english_you_or_earlier_address() -> None:
    assert not made([RAIN, RAIN, RAIN, ("For you .", "Для тебя .", "")], DEIXIS)[1]
    rows = [(RAIN[0], "Для тебя .", ""), RAIN, RAIN]
    assert not made([*rows, ("For him .", "Для тебя .", "")], DEIXIS)[1]
    _, counts = made([*rows, ("For you .", "Для вас .", "")], DEIXIS)
    assert counts == {"candidates": 1, "dropped: both forms of address": 1}
    _, counts = made([*rows[1:], (RAIN[0], "Для вас .", ""), ("You .", "Возьмите ваш дом .", "")], DEIXIS)
    assert counts["dropped: another verb in the form of address"] == 1


def test_a_german_sie_that_begins_a_sentence_is_no_address() -> None:
    rows = [(RAIN[0], "Sie sangen .", ""), RAIN, RAIN, ("You know .", "Das wissen Sie .", "")]
    assert not made(rows, DEIXIS, "de")[1]


NAME = ("We met Lanie .", "Мы встретили Лэйни .", "0-0 1-1 2-2 3-3")


def test_a_repeated_name_in_another_translation_and_its_mirror_image() -> None:
    again = ("Hello , Lanie .", "Привет , Лэйни .", "0-0 1-1 2-2 3-3")
    lexicon = {"Lanie": ("Лэйни", "Лани", "Лэйне")}  # the last one is an inflection
    (one, mirror), counts = made([RAIN, NAME, RAIN, again], LEXICAL, lexicon=lexicon)
    assert last(one) == ["Привет , Лэйни .", "Привет , Лани ."] and one.item["true_ind"] == 0
    assert last(mirror) == last(one) and mirror.item["true_ind"] == 1
    assert all("встретили Лани" in text for text in mirror.item["dst"]) and one.item["ctx_dist"] == 2
    assert (mirror.check.right, mirror.check.forms) == ("Привет , Лани .", ("Лани", "Лэйни"))
    assert mirror.check.context[1] == "Мы встретили Лани ." and one.check.id != mirror.check.id
    assert counts["items"] == 2
    # the table of the corpus: each translation twice
    other = ("We met Lanie .", "Мы встретили Лани .", NAME[2])
    assert consistency.count_lexicon([document([NAME, NAME, other, other])]) == {"Lanie": ("Лэйни", "Лани")}
    assert not consistency.count_lexicon([document([NAME, NAME, other])])


def test_lexical_tables_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "names.tsv"
    path.write_text("Lanie\tЛэйни Лани\nFran\tФрэн\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"names.tsv, line 2|names.tsv:2"):
        consistency.read_lexicon(path)
    path.write_text("Lanie\tЛэйни Лани\n" * 2, encoding="utf-8")
    with pytest.raises(InputError, match="'Lanie' is there twice"):
        consistency.read_lexicon(path)


def test_a_left_out_verb_phrase() -> None:
    rows = [RAIN, RAIN, ("Who sang ?", "Кто пела ?", "0-0 1-1"), ("She did .", "Она пела .", "0-0 1-1 2-2")]
    (one,), _ = made(rows, VERB_PHRASE)
    assert last(one) == ["Она пела .", "Она делала ."] and one.item["ctx_dist"] == 1
    _, counts = made([*rows[:2], RAIN, rows[3]], VERB_PHRASE)
    assert counts["dropped: verb is not in a previous sentence"] == 1
    _, counts = made([*rows[:3], ("She did .", "Она пела .", "0-0")], VERB_PHRASE)
    assert counts["dropped: auxiliary without a link"] == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("She did.", "do"),
        ("No, she doesn't.", "do"),
        ("So do I.", "do"),
        ("I have, too!", "have"),
        ("Did you?", "do"),
        ("They could not", "modal"),
        ("She left, didn't she?", None),
        ("She did it.", None),
        ("Do!", None),
        ("It was.", "be"),
        ("It was, however, late.", None),
        ("There are.", None),
    ],
)
def test_patterns_of_ellipsis(text: str, kind: str | None) -> None:
    found = fragments.ellipsis(sentence(text, "en"))
    assert (None if found is None else found[1]) == kind


def test_a_language_without_a_table_is_refused() -> None:
    with pytest.raises(InputError, match="`target_language=cs`: there is no table of register"):
        made([RAIN], DEIXIS, "cs")


def test_the_command_its_study_and_the_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    block = [("He saw you.", "Он видел тебя."), ("Rain.", "Дождь."), ("Snow.", "Снег."), ("For you.", "Для тебя.")]
    other = [("She saw you.", "Она видела тебя."), *block[1:]]
    for name, column in zip(("en", "ru"), zip(*block, *other, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in column), encoding="utf-8")
    (tmp_path / "ids").write_text("a\n" * 4 + "b\n" * 4)
    files = ["--source", str(tmp_path / "en"), "--target", str(tmp_path / "ru"), "--docids", str(tmp_path / "ids")]
    out, pairs, answers = (str(tmp_path / name) for name in ("set.json", "pairs.jsonl", "answers.jsonl"))
    flags = ["consistency", "--kind", DEIXIS, "--target-language", "ru", *files, "-o", out, "--blind-model", "none"]
    assert suite_build.GROUP.main([*flags, "--study", pairs]) == 0
    manifest = json.loads((tmp_path / "set.manifest.json").read_text(encoding="utf-8"))
    (blind,) = manifest["without context"]
    assert (blind["accuracy"], blind["chance"], blind["items"]) == (0.5, 0.5, 4)
    assert set(manifest["inputs"]) == {"en", "ids", "ru"} and manifest["counts"]["items"] == 4
    items = reader.read(out, Reading(context=3))
    assert [[c.target for c in item.candidates] for item in items] == [["Для тебя.", "Для вас."]] * 4
    first, *_ = candidates.read(pairs, split=None, note=print)
    assert (first.pronouns, first.text_a, first.source) == (("тебя", "вас"), "Для тебя.", "For you.")
    assert first.source_context == ("He saw you.", "Rain.", "Snow.") and first.language == DEIXIS
    records = [json.loads(line) for line in Path(pairs).read_text(encoding="utf-8").splitlines()]
    for record, better in zip(records, "BBAB", strict=True):
        record["better"] = better
    Path(answers).write_text("".join(json.dumps(record) + "\n" for record in records))
    assert suite_build.GROUP.main([*flags, "--judged", answers]) == 0
    (kept,) = json.loads(Path(out).read_text(encoding="utf-8"))
    assert kept["document id"] == "b"
    assert "4 of 4 items have answers; the right version is better in 1, kept" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        suite_build.GROUP.main([*flags, "--lexicon", "names.tsv"])
    assert "--lexicon goes with --kind lex_cohesion" in capsys.readouterr().err
