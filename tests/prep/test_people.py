"""What people marked and corrected: edits of pronouns, marks of raters, published formats, splits."""

# ruff: noqa: RUF001  (letters of other scripts)

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from data_prep.people import mqm, sets, wmt_qe
from data_prep.people.edits import Edits, compare
from data_prep.people.texts import judged_texts
from pronmetric.cli.main import main
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.lab.human.mqm import Error, Insertion, Judgement
from pronmetric.pronouns.languages import ENGLISH, Language, language
from pronmetric.schema import JudgedGap, JudgedPronoun, JudgedText

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
SOURCE = "她把它给了他。"


@pytest.mark.parametrize(
    ("text", "edited", "expected"),
    [
        ("He lost his key.", "She lost her key.", Edits({0: "she", 8: "her"}, (), (), "She lost her key.")),
        ("She said it was late.", "She said was late.", Edits({9: ""}, (), (), "She said was late.")),
        ("It was cold.", "Was cold.", Edits({0: ""}, (), (), "Was cold.")),
        ("Said that he left.", "She said that he left.", Edits({}, ((0, "she"),), (), "She said that he left.")),
        ("We saw", "We saw her", Edits({}, ((6, "her"),), (), "We saw her")),
        ("We went home", "We went home with her", Edits({}, (), ((12, 12),), "")),
        ("The dog saw a cat.", "Its dog saw a cat.", Edits({}, ((0, "its"),), (), "Its dog saw a cat.")),
        ("He came.", "He left.", Edits({}, (), (), "")),
        # a phrase is reworded: the pronoun in it was not missing
        ("It is the database, People.", "It is the database that belongs People.", Edits({}, (), ((18, 19),), "")),
        (
            "They named winner.",
            "They named her the winner.",
            Edits({}, ((11, "her"),), (), "They named her the winner."),
        ),
        ("Let's play.", "Let me play.", Edits({}, (), ((3, 5),), "")),
        ("Lives of others.", "His of others.", Edits({}, (), ((0, 5),), "")),
        ("She saw,him.", "She saw it him.", Edits({}, ((7, "it"),), (), "She saw it him.")),
        ("He had a long old boat.", "My one two three four boat.", Edits({}, (), ((0, 17),), "")),
        # a pronoun at another place of the sentence is no error, one that comes in for another is
        ("Have they seen it?", "They have seen it?", Edits({}, (), ((0, 0), (5, 9)), "")),
        (
            "Have they seen it?",
            "You have seen it?",
            Edits({5: ""}, ((0, "you"),), (), "You have seen it?"),
        ),
    ],
)
def test_what_became_of_the_pronouns(text: str, edited: str, expected: Edits) -> None:
    assert compare(text, edited, ENGLISH) == expected


@pytest.mark.parametrize(
    ("code", "text", "edited", "expected"),
    [
        # another inflection alone is no correction, also beside one
        ("de", "Er nahm seine Hut.", "Er nahm seinen Hut.", Edits({}, (), (), "")),
        (
            "de",
            "Mit seinem Kind sang sie.",
            "Mit seiner Frau sang er.",
            Edits({21: "er"}, (), (), "Mit seinem Kind sang er."),
        ),
        # an article in place of a determiner is no other word, in place of a personal pronoun it may be a pronoun
        ("de", "Sie hob ihre Hand.", "Sie hob die Hand.", Edits({8: ""}, (), (), "Sie hob die Hand.")),
        ("de", "Ein Hund bellt.", "Sein Hund bellt.", Edits({}, ((0, "sein"),), (), "Sein Hund bellt.")),
        ("de", "Dann kam sie.", "Dann kam die.", Edits({}, (), ((9, 12),), "")),
        # what is inserted beside a replaced pronoun stands after it
        (
            "de",
            "Als sie umdrehte.",
            "Als er sich umdrehte.",
            Edits({4: "er"}, ((8, "sich"),), (), "Als er sich umdrehte."),
        ),
        ("fr", "Il leva sa main.", "Il leva la main.", Edits({8: ""}, (), (), "Il leva la main.")),
        ("ru", "Он взял свой книгу.", "Он взял свою книгу.", Edits({}, (), (), "")),
        # a word has more characters than one, and no blanks
        ("zh", "他把它带走了。", "他把她带走了。", Edits({2: "她"}, (), (), "他把她带走了。")),
        ("zh", "昨天他在家。", "他昨天在家。", Edits({}, (), ((0, 0), (2, 3)), "")),
        ("zh", "他走了，她来。", "他走了，来。", Edits({4: ""}, (), (), "他走了，来。")),
        ("zh", "那时它们在这里。", "那个时候他们在这里。", Edits({2: "他们"}, (), (), "那时候他们在这里。")),
    ],
)
def test_what_became_of_the_pronouns_of_other_languages(code: str, text: str, edited: str, expected: Edits) -> None:
    assert compare(text, edited, language(code)) == expected


@pytest.mark.parametrize(
    ("category", "marked", "text", "spans", "inserted"),
    [
        ("Grammar", "Ann saw <it>him</it> there.", "Ann saw him there.", ("him",), ()),
        # an inserted word that is marked; a copy of the word before it, which marks that word
        ("Accuracy/Omission", "Ann saw <her> there.", "Ann saw there.", (), (Insertion(8, "her"),)),
        ("Grammar", "Ann saw him<him> there.".replace("him<", "him <"), "Ann saw him there.", ("him",), ()),
        # another word in its place
        ("Grammar", "Ann saw <her> there.", "Ann saw him there.", ("him",), (Insertion(8, "her"),)),
        # words that are there and one that is not: an omission marks none of those that are there
        ("Accuracy/Omission", "Ann saw <the dog her> there.", "Ann saw the dog there.", (), (Insertion(16, "her"),)),
    ],
)
def test_an_error_is_carried_over_to_the_systems_text(
    category: str, marked: str, text: str, spans: tuple[str, ...], inserted: tuple[Insertion, ...]
) -> None:
    marked = marked.replace("<it>", "<").replace("</it>", ">") if "<it>" in marked else marked
    start = marked.index("<")
    plain = marked.replace("<", "").replace(">", "")
    end = marked.index(">") - 1
    carried = mqm.carry(Error(category, "major", ((start, end),)), plain, text)
    assert carried is not None
    assert tuple(text[a:b] for a, b in carried.spans) == spans and carried.inserted == inserted


def test_an_error_without_a_place_is_none() -> None:
    assert mqm.carry(Error("Grammar", "major", ()), "Ann left.", "Ann went.") is None


def read_marks(
    judged: Sequence[Judgement], *, source: str = "zh", into: Language = ENGLISH, tally: Counter[str] | None = None
) -> Iterator[JudgedText]:
    tally = Counter() if tally is None else tally
    return judged_texts(judged, testset="t", source=source, context_size=2, longest=2, language=into, tally=tally)


def test_contexts_are_sentences() -> None:
    """Segments without a word, and those that the file lacks, take no place."""
    texts = {1: "Ann came.", 2: "She sat.", 3: "<range>", 4: "12", 5: "", 8: "She left."}
    judged = [Judgement("s", "d", seg, "r", text, (), text) for seg, text in reversed(texts.items())]
    last, *_ = read_marks(judged)
    assert (last.text, last.context, last.source_context) == ("She left.", *[("Ann came.", "She sat.")] * 2)


def test_rows_under_the_number_of_another_segment_are_left_out() -> None:
    """Segment 2 has the source of segment 1 more often than its own, but less often than segment 1 has it."""
    first, second = ("Ann kam.", "Ann came."), ("Sie ging.", "She left.")
    rows = [judgement(name, 1, first) for name in "abcde"] + [judgement(name, 2, second) for name in "ac"]
    moved = [judgement(name, 2, first) for name in "abde"]
    changed = judgement("c", 2, (second[0], "He left."))
    tally: Counter[str] = Counter()
    found = read_marks([*moved, *rows, changed], source="de", tally=tally)
    assert [(text.id, text.source, text.text) for text in found] == [
        *((f"t.de-en/d/1/{name}", *first) for name in "abcde"),
        *((f"t.de-en/d/2/{name}", *second) for name in "ac"),
    ]
    assert tally == {
        "rows with the source of another segment": 4,
        "rows with another text than the first of their segment": 1,
    }


def judgement(system: str, seg: int, texts: tuple[str, str]) -> Judgement:
    source, text = texts
    return Judgement(system, "d", seg, "r", text, (), source)


def test_raters_who_marked_each_pronoun_and_missed_one() -> None:
    before = Judgement("s", "d", 1, "r1", "Ann came.", (), "安来了。")
    one = Judgement("s", "d", 2, "r1", "She gave it to him.", (Error("Grammar", "major", ((0, 3),)),), SOURCE)
    long = Error("Grammar", "major", ((0, 18),))
    missed = Error("Accuracy/Omission", "minor", (), (Insertion(12, "her"),))
    spelt = Error("Fluency/Spelling", "minor", ((9, 11),))
    two = Judgement("s", "d", 2, "r2", one.text, (Error("", "minor", ((0, 3), (9, 11))), long, missed, spelt), SOURCE)
    _, text = read_marks([before, one, two])
    assert (text.raters, text.context, text.source, text.source_context) == (
        ("r1", "r2"),
        ("Ann came.",),
        SOURCE,
        ("安来了。",),
    )
    assert text.pronouns == (
        JudgedPronoun(0, 3, "she", ("r1", "r2")),
        JudgedPronoun(9, 11, "it", ("r2",)),
        JudgedPronoun(15, 18, "him"),
    )
    assert text.gaps == (JudgedGap(12, "her", ("r2",)),)


def test_a_rater_who_put_another_form_corrects_the_pronoun() -> None:
    error = Error("Grammar", "major", ((0, 3),), (Insertion(0, "He"),))
    one = Judgement("s", "d", 1, "r", "She left.", (error,), SOURCE)
    (text,) = read_marks([one])
    assert text.pronouns == (JudgedPronoun(0, 3, "she", ("r",), "he"),)


@pytest.mark.parametrize(
    ("target", "start", "end", "marked"),
    [
        # three characters too far, with and without the blank after the span; a span at the end
        ("Он видел её вчера.", 0, 6, "Он"),
        ("Он видел её вчера.", 9, 14, "её"),
        ("Он видел её, а не нас.", 9, 14, "её"),
        ("Он видел её", 9, 15, "её"),
        # right as it is: the word would be cut
        ("Это был абсолютно тёмный дом.", 8, 17, "абсолютно"),
        # quoted as in CSV
        ('"Он сказал: ""Мы тут"" и ушёл."', 14, 20, "Мы"),
        ('"Он сказал: ""Мы тут"" и ушёл."', 1, 7, "Он"),
        ("Да, нет.", 2, 3, ","),
        ("Да, нет.", 2, 1, ""),
    ],
)
def test_the_spans_of_a_file_with_a_header(target: str, start: int, end: int, marked: str, tmp_path: Path) -> None:
    path = tmp_path / "demo_en-ru_processed.tsv"
    row = ("s", "d", "1", "r", '"He said ""we""."', target, str(start), str(end), "minor")
    path.write_text("\n".join(map("\t".join, (wmt_qe.COLUMNS, row))) + "\n", encoding="utf-8")
    tally = Counter[str]()
    (one,) = mqm.read(path, tally)
    (((first, last),),) = (error.spans for error in one.errors)
    assert one.text[first:last] == marked and one.source == 'He said "we".' and not tally
    assert one.text == (target[1:-1].replace('""', '"') if target[0] == '"' else target)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """One set of each format, and post-edits into another language."""
    folder = tmp_path / "people"
    (folder / "de2en").mkdir(parents=True)
    rows = [
        HEADER,
        *(
            f"s\td{doc}\td\t{seg}\tr{rater}\t{SOURCE}\t<v>She</v> saw it, {doc} {seg}.\tGrammar\tMajor"
            for doc in range(10)
            for seg in range(2)
            for rater in range(2)
        ),
        f"Human-A.0\td0\td\t0\tr0\t{SOURCE}\tShe gave it to us.\tNo-error\tNo-error",
    ]
    (folder / "mqm_demo_zhen.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    spans = [
        f"hyp.s\td1\t1\tr1\t{SOURCE}\tThey left him alone in the garden then.\t0 10\t4 13\tminor major",
        f"hyp.s\tthe\td1\t2\t{SOURCE}\tThey left.\t-1\t-1\tno-error",
        f"hyp.s\ta\tb\td1\t{SOURCE}\t{SOURCE}\tThey left.\t-1\t-1\tno-error",
    ]
    spans[2] = f"hyp.s\ta\tb\td1\t{SOURCE}\tThey left.\t-1\t-1\tno-error"
    (folder / "demo_zh-en_processed.tsv").write_text("\n".join(spans) + "\n", encoding="utf-8")
    mark = {"startIndex": 0, "endIndex": 1, "error_category": "Accuracy", "error_subcategory": "Wrong"}
    segment = {"DOC_ID": "m1", "SEG_ID": "1", "MT_Engine": "e", "source": "Es half.", "target": "It helped her knee."}
    errors = [{**mark, "severity": "Minor"}, {**mark, "severity": "?"}]
    (folder / "de2en" / "e.json").write_text(json.dumps([{**segment, "target_errors": errors}]), encoding="utf-8")
    for pair, lines in (("et-en", ("Ta tuli .", "He came , but did n't see it .", "She came , but did n't see .")),):
        (folder / "edits" / pair).mkdir(parents=True)
        for part in ("train", "test"):
            for suffix, line in zip(("src", "mt", "pe"), lines, strict=True):
                text = line if part == "train" else f"{line.split(' , ')[0]} too ."
                (folder / "edits" / pair / f"{part}.{suffix}").write_text(f"{text}\n", encoding="utf-8")
    (folder / "edits" / "en-de").mkdir()
    return folder


def test_every_format_gives_the_same_record(people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    given = ["people.test={mqm_demo_zhen:0.3}", "people.development={mqm_demo_zhen:0.2}"]
    assert main(["prepare", "data.wmt=[]", f"data.people={people}", "fidelity.passages=0", *given, f"out={out}"]) == 0
    notes = capsys.readouterr().err
    assert "demo_zh-en_processed:zh-en: 1 rows without a segment, left out" in notes
    assert "people:de-en: all documents are for training" in notes and "edits:et-en: all" not in notes
    assert "people:de-en: 1 errors without a severity or a span, left out" in notes
    rows = {split: [arrow.to_judged(row) for row in arrow.read_people(out, split)] for split in arrow.PEOPLE_SPLITS}
    by_set = {split: Counter(text.testset for text in texts) for split, texts in rows.items()}
    assert by_set["people_test"] == {"mqm_demo_zhen": 6, "edits": 1}
    assert by_set["people_development"] == {"mqm_demo_zhen": 4}
    assert by_set["people_train"] == {"mqm_demo_zhen": 10, "demo_zh-en_processed": 2, "people": 1, "edits": 1}
    documents = [{(text.testset, text.doc) for text in texts} for texts in rows.values()]
    assert sum(map(len, documents)) == len(set.union(*documents))
    by_id = {text.id: text for text in rows["people_train"]}
    edited = by_id["edits.et-en/train/1"]
    assert (edited.kind, edited.text, edited.mended) == (
        "edits",
        "He came, but didn't see it.",
        "She came, but didn't see.",
    )
    assert edited.pronouns == (
        JudgedPronoun(0, 2, "he", ("editor",), "she"),
        JudgedPronoun(24, 26, "it", ("editor",), ""),
    )
    marked = by_id["demo_zh-en_processed.zh-en/d1/1/hyp.s"]
    assert [each.marked_by for each in marked.pronouns] == [("r1",), ("r1",)]
    medical = next(text for text in rows["people_train"] if text.testset == "people")
    assert [(each.form, each.marked_by) for each in medical.pronouns] == [("it", ("rater",)), ("her", ())]
    content = arrow.read_manifest(out)
    assert content["counts"]["people"]["train"]["kept"]["mqm_demo_zhen:zh-en"]["marked pronouns"] == 10
    assert content["inputs"]["people"].keys() == {
        "de2en/e.json",
        "demo_zh-en_processed.tsv",
        "edits/et-en/test.mt",
        "edits/et-en/test.pe",
        "edits/et-en/test.src",
        "edits/et-en/train.mt",
        "edits/et-en/train.pe",
        "edits/et-en/train.src",
        "mqm_demo_zhen.tsv",
    }


def test_marks_out_of_english_and_ted_is_no_training_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "people", tmp_path / "out"
    folder.mkdir()
    for name, text in (
        ("2021_TED_en-de_processed", "Die alte Lampe war hell, bis es brach"),
        ("2021_en-de_processed", "Kein Mensch las den Brief, weil es lang war"),
    ):
        place = f"{text.index('es')}\t{text.index('es') + 2}"
        lines = [
            f"s\td{doc}\t{seg}\tr\t{name}, it {doc} {seg}.\t{text} {doc} {seg}.\t{place}\tminor"
            for doc in range(10)
            for seg in range(2)
        ]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["prepare", "data.wmt=[]", "data.target=de", f"data.people={folder}", f"out={out}"]) == 0
    capsys.readouterr()
    rows = {split: [arrow.to_judged(row) for row in arrow.read_people(out, split)] for split in arrow.PEOPLE_SPLITS}
    assert {text.testset for text in rows["people_test"]} == {"2021_TED_en-de_processed"}
    assert {text.testset for split in ("people_train", "people_development") for text in rows[split]} == {
        "2021_en-de_processed"
    }
    assert [each.marked_by for each in rows["people_test"][0].pronouns] == [("r",)]


def test_a_whole_language_can_be_held_out_and_a_human_translation_is_never_trained_on(people: Path) -> None:
    (marks,) = (one for one in sets.find([str(people)], target="en") if one.name == "mqm_demo_zhen")
    read = {"context_size": 2, "longest": 2, "language": ENGLISH}
    texts = list(marks.read(**read, tally=Counter()))  # type: ignore[arg-type]
    assert set(sets.split_of(texts, {"mqm_demo_zhen:zh-en": 1.0}, {}, 1).values()) == {"test"}
    assert set(sets.split_of(texts, {}, {}, 1).values()) == {"train"}
    assert any(text.system == "Human-A.0" for text in texts)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nothing", None, "no such file or folder: data.people names"),
        ("marks.tsv", HEADER, "the language pair is unknown: expected it in the name, such as LANG-en"),
        ("marks_zh-en.tsv", "a\tb", r"marks_zh-en\.tsv:1: the column 'system' is missing"),
        ("x_zh-en.tsv", f"s\td\t1\tr\t{SOURCE}\tHe left.\t0 4\t2\tminor", "as many starts as ends and severities"),
        ("x_zh-en.tsv", f"s\td\t1\tr\t{SOURCE}\tHe left.\t0\t2\tawful", "unknown severity 'awful'"),
        ("x_zh-en.json", "{}", "expected a JSON list of segments"),
        ("x_zh-en.json", '[{"DOC_ID": 1}]', "segment 1 has no 'SEG_ID'"),
    ],
)
def test_a_broken_file_is_named(name: str, content: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        for one in sets.find([str(path)], target="en"):
            list(one.read(context_size=2, longest=2, language=ENGLISH, tally=Counter()))


def test_post_edits_of_a_script_without_blanks_are_joined(tmp_path: Path) -> None:
    folder = tmp_path / "edits" / "en-zh"
    folder.mkdir(parents=True)
    for suffix, line in (
        ("src", "In 2013 , Ann Lee gave it to him ."),
        ("mt", "2013   年   ，   Ann   Lee   把   它   给了   他   的   “   朋友   ”   。"),
        ("pe", "2013   年 ， Ann   Lee 把   她 给了 他 的 “ 朋友 ” 。"),
    ):
        (folder / f"train.{suffix}").write_text(f"{line}\n", encoding="utf-8")
    (one,) = sets.find([str(tmp_path)], target="zh")
    (text,) = one.read(context_size=2, longest=2, language=language("zh"), tally=Counter())
    assert (text.text, text.mended) == ("2013年，Ann Lee把它给了他的“朋友”。", "2013年，Ann Lee把她给了他的“朋友”。")
    assert text.source == "In 2013, Ann Lee gave it to him."
    assert [(each.form, each.correction) for each in text.pronouns] == [("它", "她"), ("他", None)]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("newstest2020_zhen.tsv", "zh"),
        ("2031_zh-en_processed.tsv", "zh"),
        ("2031_TED_cs-en_processed.tsv", "cs"),  # TED_cs looks like a language with its country
        ("zh_Hant_TW-eng_Latn.tsv", "zh"),
        ("liv-en.tsv", "liv"),
        ("2031_en-de.tsv", None),
    ],
)
def test_the_source_language_is_in_the_name_of_a_file(name: str, source: str | None) -> None:
    assert sets.source_of(Path(name), "en") == source


def test_a_mark_of_two_words_without_blanks_has_up_to_four_characters() -> None:
    short, long = Error("", "major", ((2, 6),)), Error("", "major", ((0, 6),))
    for error, who in ((short, ("r",)), (long, ())):
        one = Judgement("s", "d", 1, "r", "昨天他的时候来。", (error,), "He came.")
        (text,) = read_marks([one], source="en", into=language("zh"))
        assert [(each.form, each.marked_by) for each in text.pronouns] == [("他", who)]


def test_the_files_of_post_edits_have_as_many_lines(people: Path) -> None:
    (people / "edits" / "et-en" / "train.mt").write_text("He came .\nShe left .\n", encoding="utf-8")
    one = next(each for each in sets.find([str(people)], target="en") if each.parts)
    with pytest.raises(InputError, match=r"as many lines in each file, found train\.src 1, train\.mt 2, train\.pe 1"):
        list(one.read(context_size=2, longest=2, language=ENGLISH, tally=Counter()))
