from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.human import labelled_pronouns as labelled
from pronmetric.lab.human import mqm, mqm_pairs
from pronmetric.lab.human.mqm import Error, Judgement

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"


def row(system: str, seg: int, rater: str, target: str, category: str, severity: str, doc: str = "talk") -> str:
    return f"{system}\t{doc}\t1\t{seg}\t{rater}\tquelle\t{target}\t{category}\t{severity}\n"


FILE = (
    HEADER
    + row("ref", 4, "r1", "Ann came home.", "No-error", "No-error")
    + row("ref", 5, "r1", "The dog saw her.", "No-error", "No-error")
    + row("Oak", 5, "r1", "The dog saw <v>him</v>.", "Accuracy/Mistranslation", "Major")
    + row("Oak", 5, "r1", "The <v>hound</v> saw him.".replace("hound", "dog"), "Style/Awkward", "Minor")
    + row("Elm", 5, "r1", "The dog <v>saw it</v>.", "Fluency/Grammar", "Minor")
    + row("Oak", 5, "r2", "The dog saw him.", "No-error", "No-error")
    + row("Elm", 5, "r2", "The dog saw <v>it.", "Accuracy/Mistranslation", "minor")
    + row("ref", 6, "r1", "She fed it.", "No-error", "No-error")
    + row("Oak", 6, "r1", "She <v>fed</v> it.", "Style/Awkward", "Major")
    + row("Elm", 6, "r1", "She fed it.", "No-error", "No-error")
    + row("Oak", 1, "r1", "<v>It was</v> late.", "Fluency/Punctuation", "Major", doc="other")
)


@pytest.fixture
def judgements(tmp_path: Path) -> list[Judgement]:
    (tmp_path / "m.tsv").write_text(FILE, encoding="utf-8")
    return mqm.read(tmp_path / "m.tsv")


def test_one_judgement_a_text_and_rater(judgements: list[Judgement]) -> None:
    assert [(one.system, one.doc, one.seg, one.rater, len(one.errors)) for one in judgements] == [
        ("ref", "talk", 4, "r1", 0),
        ("ref", "talk", 5, "r1", 0),
        ("Oak", "talk", 5, "r1", 2),
        ("Elm", "talk", 5, "r1", 1),
        ("Oak", "talk", 5, "r2", 0),
        ("Elm", "talk", 5, "r2", 1),
        ("ref", "talk", 6, "r1", 0),
        ("Oak", "talk", 6, "r1", 1),
        ("Elm", "talk", 6, "r1", 0),
        ("Oak", "other", 1, "r1", 1),
    ]
    oak = judgements[2]
    assert oak.text == "The dog saw him."
    assert oak.errors == (
        Error("Accuracy/Mistranslation", "Major", ((12, 15),)),
        Error("Style/Awkward", "Minor", ((4, 7),)),
    )
    assert judgements[5].errors[0].spans == ((12, 15),)  # never closed: to the end, the full stop too


def test_errors_that_touch_a_pronoun(judgements: list[Judgement]) -> None:
    assert [[o.text for _, touched in one.pronoun_errors() for o in touched] for one in judgements] == [
        [],
        [],
        ["him"],
        ["it"],
        [],
        ["it"],
        [],
        [],
        [],
        [],  # punctuation
    ]
    assert [one.penalty() for one in judgements[2:6]] == [5.0, 1.0, 0.0, 1.0]


def test_long_spans_and_source_errors() -> None:
    text = "We gave the old dog to her."
    whole = Judgement("Oak", "d", 1, "r", text, (Error("Style/Awkward", "Major", ((0, 26),)),))
    assert whole.pronoun_errors() == () and [len(touched) for _, touched in whole.pronoun_errors(longest=7)] == [2]
    omitted = Judgement("Oak", "d", 1, "r", text, (Error("Accuracy/Omission", "Major", ()),))
    source = Judgement("Oak", "d", 1, "r", text, (Error("Source error", "Minor", ((0, 2),)),))
    neutral = Judgement("Oak", "d", 1, "r", text, (Error("Style/Awkward", "Neutral", ((0, 2),)),))
    assert omitted.penalty() == source.penalty() == neutral.penalty() == 0.0
    beside = Judgement("Oak", "d", 1, "r", text, (Error("Style/Awkward", "Minor", ((2, 7),)),))
    assert beside.penalty() == 0.0  # " gave" ends where nothing of "We" is left


def test_context_is_the_references(judgements: list[Judgement]) -> None:
    assert mqm.contexts(judgements) == {
        ("talk", 4): (),
        ("talk", 5): ("Ann came home.",),
        ("talk", 6): ("Ann came home.", "The dog saw her."),
        ("other", 1): (),
    }
    assert mqm.contexts(judgements, reference="Elm")["talk", 6] == ("The dog saw it.",)
    assert set(mqm.contexts(judgements, reference=None).values()) == {()}
    with pytest.raises(PronmetricError, match=r"no system 'refA' .* there are Elm, Oak, ref; give one"):
        mqm.contexts(judgements, reference="refA")


def test_contexts_are_sentences() -> None:
    """Segments without a word, and those that the file lacks, take no place."""
    texts = {1: "Ann came.", 2: "She sat.", 3: "<range>", 4: "12", 5: " ", 8: "She left."}
    judged = [Judgement("ref", "d", seg, "r", text, (), text) for seg, text in texts.items()]
    assert mqm.contexts(judged)["d", 8] == mqm.sources(judged)["d", 8].before == ("Ann came.", "She sat.")


def test_pairs_and_votes(judgements: list[Judgement]) -> None:
    tally: Counter[str] = Counter()
    found = {
        frozenset(p.id.split(":")[2:]): p for p in mqm_pairs.pairs(judgements, mqm.contexts(judgements), tally=tally)
    }
    assert tally == {"pairs": 3, "equal texts": 3}  # of segment 6 all three are equal
    pair = found[frozenset({"Oak", "Elm"})]
    oak, elm = ("A", "B") if pair.text_a == "The dog saw him." else ("B", "A")
    # r1: Oak 5, Elm 1; r2: Oak 0, Elm 1. One vote each.
    assert pair.votes == {"r1": elm, "r2": oak} and pair.better == "tie"
    assert (pair.context, pair.doc, pair.group) == (("Ann came home.",), "talk", "two systems")
    assert {pair.pronoun_a, pair.pronoun_b} == {"him", "it"}
    assert pair.id == f"talk:5:{pair.system_a}:{pair.system_b}" and pair.reference == "The dog saw her."
    pair = found[frozenset({"Oak", "ref"})]
    assert pair.votes == {"r1": "A" if pair.text_a == "The dog saw her." else "B"} and pair.group == "with a reference"
    assert pair.better == pair.votes["r1"]
    without = mqm_pairs.pairs(judgements, mqm.contexts(judgements, reference=None), reference=None)
    assert {p.reference for p in without} == {None}


def test_which_pairs_are_left_out() -> None:
    def text(system: str, seg: int, words: str, *errors: Error, rater: str = "r") -> Judgement:
        return Judgement(system, "d", seg, rater, words, errors)

    wrong = Error("Accuracy/Mistranslation", "Major", ((0, 2),))
    judged = [
        text("a", 1, "It ran."),
        text("b", 1, "He ran."),
        text("a", 2, "It ran.", wrong),
        text("b", 2, "The cat ran fast.", rater="s"),
        text("a", 3, "It ran.", wrong),
        text("b", 3, "She went far away."),
        text("a", 4, "He saw it.", wrong),
        text("b", 4, "He saw, it!"),
    ]
    context = {("d", seg): () for seg in range(1, 5)}
    tally: Counter[str] = Counter()
    found = list(mqm_pairs.pairs(judged, context, other_words=2, tally=tally))
    # 3: it/she, and "ran" for "went far away", which counts three; 4: no word differs, nor does a pronoun.
    assert not found
    assert tally == {"without a pronoun error": 1, "no rater judged both": 1, "too many other words": 2}
    assert len(list(mqm_pairs.pairs(judged, context, other_words=3))) == 1
    assert len(list(mqm_pairs.pairs(judged, context))) == 2
    everything = list(mqm_pairs.pairs(judged, context, all_pairs=True))
    assert len(everything) == 3 and everything[0].votes == {"r": "tie"}


def test_difference_by_hand() -> None:
    def differ(a: str, b: str) -> object:
        return mqm_pairs.difference(Judgement("a", "d", 1, "r", a, ()), Judgement("b", "d", 1, "r", b, ()))

    assert differ("He saw it.", "he saw them!") == ((("it",), ("them",)), 0)
    assert differ("He saw it.", "He saw the dog.") == ((("it",), ()), 2)
    assert differ("They know that she left.", "They know she left.") == (((), ()), 1)  # no pronoun in use
    assert differ("", "It is.") == (((), ("it",)), 1)


def test_tokens(judgements: list[Judgement], tmp_path: Path) -> None:
    tally: Counter[str] = Counter()
    found = list(mqm_pairs.label_pronouns(judgements, mqm.contexts(judgements), tally=tally))
    # her, him, it, him, it; then She, it three times over; and It of the other talk.
    assert tally == {"right": 9, "wrong": 3}
    assert found[1] == {
        "id": "talk:5:Oak:r1:12",
        "context": ["Ann came home."],
        "text": "The dog saw him.",
        "start": 12,
        "end": 15,
        "pronoun": "him",
        "label": "wrong",
        "doc": "talk",
        "system": "Oak",
        "rater": "r1",
        "category": "Accuracy/Mistranslation",
        "severity": "Major",
        "source": "quelle",
        "source_context": ["quelle"],
    }
    assert [token["label"] for token in found[:5]] == ["right", "wrong", "wrong", "right", "wrong"]


def read_text(tmp_path: Path, text: str) -> tuple[list[Judgement], dict[str, int]]:
    (tmp_path / "m.tsv").write_text(text, encoding="utf-8")
    tally: Counter[str] = Counter()
    return mqm.read(tmp_path / "m.tsv", tally=tally), dict(+tally)


GOOD = row("Oak", 1, "r", "She <v>came</v>.", "Style/Awkward", "Minor")


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (row("Elm", 1, "r", "It <v>barked</v>.", "Found", "HOTW-test"), mqm.CHECKS),
        (row("Elm", 1, "", "It barked.", "", ""), mqm.RATER),
        (row("Elm", 1, "AutoMQM-3", "It <v>barked</v>.", "Style/Awkward", "Minor"), mqm.AUTOMATIC),
        (row("Elm", 1, "r", "It <v>barked</v>.", "Style/Awkward", "Dreadful"), mqm.SEVERITY),
        (row("Elm", 1, "r", "It </v>barked.", "Style/Awkward", "Minor"), mqm.MARKS),
        (row("Elm", 1, "r", "It barked.", "No-error", "No-error").replace("\t1\t1\t", "\t1\tone\t"), mqm.SEGMENT),
        (row("Elm", 1, "r", "It barked.", "No-error", "No-error").replace("\tquelle", ""), mqm.FIELDS),
        (row("Elm", 1, "r", "It barked.", "No-error", "No-error\tmore"), mqm.FIELDS),
    ],
)  # fmt: skip
def test_a_row_that_is_no_annotation_is_left_out_and_counted(tmp_path: Path, rows: str, kind: str) -> None:
    judgements, counts = read_text(tmp_path, HEADER + GOOD + rows)
    assert [(one.system, one.text) for one in judgements] == [("Oak", "She came.")]
    assert counts == {kind: 1} and kind in mqm.DESCRIPTIONS
    with pytest.raises(InputError, match=r"m\.tsv:3: "):
        mqm.read(tmp_path / "m.tsv", strict=True)


def test_the_text_of_most_raters_counts(tmp_path: Path) -> None:
    judgements, counts = read_text(
        tmp_path,
        HEADER
        + row("Oak", 1, "r1", "She <v>has come</v>.", "Style/Awkward", "Minor")  # corrected by the rater
        + row("Oak", 1, "r2", "She came.", "No-error", "No-error")
        + row("Oak", 1, "r3", "<v>She</v> came.", "Accuracy/Mistranslation", "Major")
        + row("Oak", 1, "r1", "She came.", "Accuracy/Omission", "Minor")  # the rest of an annotation without its first
        + row("Oak", 2, "r1", "He left.", "No-error", "No-error")
        + row("Oak", 2, "r2", "He <v>went</v>.", "Style/Awkward", "Minor"),  # one rater each: the first
    )
    assert [(one.seg, one.rater, one.text, len(one.errors)) for one in judgements] == [
        (1, "r2", "She came.", 0),
        (1, "r3", "She came.", 1),
        (2, "r1", "He left.", 0),
    ]
    assert counts == {mqm.TEXT: 2, mqm.REST: 1}


def test_an_attention_check_leaves_the_rest_of_an_annotation(tmp_path: Path) -> None:
    judgements, counts = read_text(
        tmp_path, HEADER + row("Oak", 1, "r", "She <v>bark</v>.", "Missed", "HOTW-test") + GOOD
    )
    assert [len(one.errors) for one in judgements] == [1] and counts == {mqm.CHECKS: 1}


def test_a_row_with_a_field_too_few_leaves_its_annotation_out(tmp_path: Path) -> None:
    short = row("Oak", 1, "r", "She <v>came</v>.", "Style/Awkward", "Minor").replace("\tStyle/Awkward", "")
    judgements, counts = read_text(
        tmp_path, HEADER + GOOD + short + row("Elm", 1, "r", "He came.", "No-error", "No-error")
    )
    assert [one.system for one in judgements] == ["Elm"] and counts == {mqm.FIELDS: 1, mqm.REST: 1}


def test_spaces_and_quotes_of_csv_are_no_other_text(tmp_path: Path) -> None:
    judgements, counts = read_text(
        tmp_path,
        HEADER
        + row("Oak", 1, "r1", 'She "came"  late.', "No-error", "No-error")
        + row("Oak", 1, "r2", '"She ""<v>came</v>"" late<v> </v>."', "Style/Awkward", "Minor")
        + row("Oak", 1, "r3", 'She "came" <v>late</v>.', "Style/Awkward", "Minor"),
    )
    assert counts == {} and {one.text for one in judgements} == {'She "came" late.'}
    marked = [[one.text[a:b] for error in one.errors for a, b in error.spans] for one in judgements]
    assert marked == [[], ["came", ""], ["late"]]
    for text in ('"She came."', '""She"" came.', '"She" came "late"', '"'):
        assert mqm._unquoted(text) == text
    assert mqm._unquoted('"""Who?"" she asked."') == '"Who?" she asked.'


def test_the_columns_of_2023(tmp_path: Path) -> None:
    head = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata\n"
    judgements, counts = read_text(
        tmp_path,
        head
        + "Oak\tshop\t2\t0\tr\tx\tHer <v>dog</v>.\tstyle_awkward\tminor\t{}\n"
        + "Elm\tshop\t2\t0\tr\tx\tHer dog.\tno-error\tno_error\t{}\n"
        + "Ash\tshop\t2\t0\tr\tx\tHer dog.\tNo-error\t\t{}\n"
        + "Fir\tshop\t2\t0\tr\tx\t<v>Her</v> dog.\tpunctuation\tmajor\t{}\t\n",
    )
    assert [(one.system, one.seg, len(one.errors)) for one in judgements] == [
        ("Oak", 2, 1),
        ("Elm", 2, 0),
        ("Ash", 2, 0),
        ("Fir", 2, 1),
    ]
    assert not counts and judgements[3].penalty() == 0  # punctuation, in the names of 2023


def test_a_file_of_left_out_rows_alone_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no annotations: .*; left out: 1 attention checks \(HOTW-test\)"):
        read_text(tmp_path, HEADER + row("Elm", 1, "r", "It barked.", "Found", "HOTW-test"))


@pytest.mark.shared
def test_the_real_file(shared: Path) -> None:
    judgements = mqm.read(shared / "data" / "human" / "mqm" / "mqm_ted_zhen.tsv")
    assert len(judgements) == 7935 and sum(len(one.errors) for one in judgements) == 5618
    tally: Counter[str] = Counter()
    found = list(mqm_pairs.pairs(judgements, mqm.contexts(judgements), tally=tally))
    # Each text has one rater, so that each pair has one vote.
    assert all(len(pair.votes) == 1 and pair.better in pair.votes.values() for pair in found)
    assert len(found) == tally["pairs"] > 500
    assert sum(tally.values()) == 529 * 105  # pairs of 15 systems
    assert {pair.votes[rater] for pair in found for rater in pair.votes} == {"A", "B", "tie"}


def test_evaluate_reads_the_tokens(judgements: list[Judgement], tmp_path: Path) -> None:
    import json

    records = list(mqm_pairs.label_pronouns(judgements, mqm.contexts(judgements)))
    (tmp_path / "t").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    found = labelled.read(tmp_path / "t")
    assert [one.wrong for one in found].count(True) == 3 and found[1].form == "him"


@pytest.mark.parametrize(
    "target", ["&lt;v&gt;He&lt;/v&gt; left.", "&amp;lt;v&amp;gt;He&#60;/v&#62; left.", "<V>He&lt;/v&gt; left."]
)
def test_escaped_marks_are_marks(tmp_path: Path, target: str) -> None:
    clean = row("Elm", 1, "r1", "He left.", "No-error", "No-error")
    judgements, counts = read_text(tmp_path, HEADER + clean + row("Oak", 1, "r1", target, "Accuracy", "Major"))
    assert counts == {mqm.ESCAPED: 1}
    labels = {
        one["system"]: one["label"]
        for one in mqm_pairs.label_pronouns(judgements, mqm.contexts(judgements, reference=None))
    }
    assert labels == {"Elm": "right", "Oak": "wrong"}
    assert {one.text for one in judgements} == {"He left."}
