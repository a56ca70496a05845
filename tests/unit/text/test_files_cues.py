"""Subtitles: what is text, who speaks, and where a sentence ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.text.files import srt, vtt
from pronmetric.text.files.unit import FileTexts


def read_srt(folder: Path, text: str) -> FileTexts:
    path = folder / "film.srt"
    path.write_text(text, encoding="utf-8")
    return srt.read(path)


def read_vtt(folder: Path, text: str) -> FileTexts:
    path = folder / "film.vtt"
    path.write_text(text, encoding="utf-8")
    return vtt.read(path)


def film(*cues: str, seconds: int = 2) -> str:
    """Cues of `seconds` each, one after the other without a pause."""

    def time(number: int) -> str:
        at = number * seconds
        return f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02},000"

    return "\n".join(f"{n}\n{time(n - 1)} --> {time(n)}\n{cue}\n" for n, cue in enumerate(cues, start=1))


def texts(folder: Path, *cues: str) -> list[str]:
    return [unit.text for unit in read_srt(folder, film(*cues)).units]


@pytest.mark.parametrize(
    ("cues", "sentences"),
    [
        (["She lost", "her keys."], ["She lost her keys."]),
        (["She lost\nher keys."], ["She lost her keys."]),
        (["She left. He", "stayed. They"], ["She left.", "He stayed.", "They"]),
        (["I saw Dr.", "Smith there."], ["I saw Dr. Smith there."]),
        (["No.", "It was No. 5."], ["No.", "It was No. 5."]),
        (["He said...", "...that she left.", "Wait...", "Anna!"], ["He said... ...that she left.", "Wait...", "Anna!"]),
        (['"Why?"', "she asked."], ['"Why?" she asked.']),
        (
            ["\u5f7c\u5973\u306f", "\u884c\u3063\u305f\u3002\u5f7c\u306f"],
            ["\u5f7c\u5973\u306f\u884c\u3063\u305f\u3002", "\u5f7c\u306f"],
        ),
        (["She looked", "[door slams]", "at him."], ["She looked", "[door slams]", "at him."]),
        (["she left", "\u266a la la \u266a", "and he stayed"], ["she left", "\u266a la la \u266a", "and he stayed"]),
    ],
)
def test_sentences_go_on_over_cues_and_lines(tmp_path: Path, cues: list[str], sentences: list[str]) -> None:
    assert texts(tmp_path, *cues) == sentences


@pytest.mark.parametrize(
    ("cue", "sentences"),
    [
        (r"{\an8}<i>She</i> <font color='red'>left</font>.", ["She left."]),
        (r"She\Nleft.\nHe stayed.", ["She left.", "He stayed."]),
        ("{Y:i}She<br>left.", ["She left."]),
        ("<ruby>\u5f7c\u5973<rt>\u304b\u306e\u3058\u3087</rt></ruby>\u306f\u3002", ["\u5f7c\u5973\u306f\u3002"]),
        ("She &amp; he&nbsp;left.", ["She & he left."]),
        ("It is 5 < 6 and 7 > 6.", ["It is 5 < 6 and 7 > 6."]),
        ("-5 is cold for her.", ["-5 is cold for her."]),
    ],
)
def test_mark_up_is_no_text(tmp_path: Path, cue: str, sentences: list[str]) -> None:
    assert texts(tmp_path, cue) == sentences


@pytest.mark.parametrize(
    ("cues", "spoken"),
    [
        (["ANNA: She left", "with him."], [("She left with him.", "ANNA")]),
        (["ANNA: She left", "BOB: With him."], [("She left", "ANNA"), ("With him.", "BOB")]),
        (
            ["ANNA: She left.\nHe stayed.", "It rained."],
            [("She left.", "ANNA"), ("He stayed.", "ANNA"), ("It rained.", None)],
        ),
        (["[ANNA] She left.", "(BOB) He did."], [("She left.", "ANNA"), ("He did.", "BOB")]),
        (["- Is it his?\n- No."], [("Is it his?", None), ("No.", None)]),
        (["- Is it his? - No, hers."], [("Is it his?", None), ("No, hers.", None)]),
        (["- ANNA: Is it\n- BOB: No."], [("Is it", "ANNA"), ("No.", "BOB")]),
        ([">> MR. HALL: It is."], [("It is.", "MR. HALL")]),
        (["ANNA: It is", "- Never."], [("It is", "ANNA"), ("Never.", None)]),
        (["She looked up", "- and then left."], [("She looked up and then left.", None)]),
        (["Listen: she left.", "It is 9:30: go."], [("Listen: she left.", None), ("It is 9:30: go.", None)]),
        (["<v Anna>She left", "<v Anna>with him.</v> <v Bob>No."], [("She left with him.", "Anna"), ("No.", "Bob")]),
        (["<v.loud Anna Hall>She\nleft.</v> It"], [("She left.", "Anna Hall"), ("It", None)]),
    ],
)
def test_speakers(tmp_path: Path, cues: list[str], spoken: list[tuple[str, str | None]]) -> None:
    assert [(unit.text, unit.speaker) for unit in read_srt(tmp_path, film(*cues)).units] == spoken


def test_a_sentence_without_a_mark_ends_before_a_long_pause_but_not_before_a_small_letter(tmp_path: Path) -> None:
    pause = "1\n00:00:01,000 --> 00:00:02,000\nLONDON\n\n2\n00:00:05,001 --> 00:00:06,000\n{}\n"
    assert [unit.text for unit in read_srt(tmp_path, pause.format("She left.")).units] == ["LONDON", "She left."]
    assert [unit.text for unit in read_srt(tmp_path, pause.format("she left.")).units] == ["LONDON she left."]
    shorter = pause.replace("05,001", "05,000")
    assert [unit.text for unit in read_srt(tmp_path, shorter.format("She left.")).units] == ["LONDON She left."]


def test_without_full_stops_a_capital_in_a_new_cue_begins_a_sentence(tmp_path: Path) -> None:
    cues = ["She left", "He stayed\nin Rome", "because of her?"] * 4
    assert texts(tmp_path, *cues) == ["She left", "He stayed in Rome because of her?"] * 4
    assert texts(tmp_path, *cues, "It rained.")[:2] == ["She left He stayed in Rome because of her?"] * 2


def test_two_cues_do_not_tell_whether_a_file_has_full_stops(tmp_path: Path) -> None:
    assert texts(tmp_path, "She saw", "Anna") == ["She saw Anna"]
    assert texts(tmp_path, "She saw", "Anna", "He left") == ["She saw", "Anna", "He left"]


def test_text_without_marks_is_cut_after_six_cues(tmp_path: Path) -> None:
    assert [len(text.split()) for text in texts(tmp_path, *["she left"] * 20)] == [12, 12, 12, 4]


def test_the_place_is_the_cue_in_which_the_sentence_begins(tmp_path: Path) -> None:
    read = read_srt(
        tmp_path, "7\n01:02:03,900 --> 01:02:05,000\nOne. She\n\n\n8\n1:2:6.0 --> 01:02:07,000\nleft.\nHe did.\n"
    )
    assert [(unit.line, unit.place) for unit in read.units] == [
        (3, "cue 7, 01:02:03"),
        (3, "cue 7, 01:02:03"),
        (9, "cue 8, 01:02:06"),
    ]


def test_cues_without_text_are_counted_and_numbers_may_be_missing(tmp_path: Path) -> None:
    read = read_srt(
        tmp_path, "00:00:01,000 --> 00:00:02,000 X1:1\n{\\an8}\n\n00:00:03,000 --> 00:00:04,000\nShe\n\n42\n"
    )
    assert read.left_out == {"cues without text": 1}
    assert [(unit.text, unit.place) for unit in read.units] == [("She 42", "cue 2, 00:00:03")]


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_file_without_a_line_has_no_units(tmp_path: Path, text: str) -> None:
    assert read_srt(tmp_path, text).units == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("She left.\n", r'film\.srt:1: expected a cue, .* found "She left\."'),
        ("She\n\n" + film("left."), r":1: expected a cue"),
        ("1\n00:00:01,000 -> 00:00:02,000\nShe\n", r":1: expected a cue|:2: broken times"),
        ("1\n00:61:01,000 --> 00:00:02,000\nShe\n", r":2: broken times .*expected"),
        (film("She") + "2\n00:00:05,000 00:00:06,000\nleft.", r":5: broken times"),
        (film("She") + "2\n--> 00:00:06,000\nleft.", r":5: broken times"),
        (film("She left.") + "\n2\n", r":5: cue 2 has no times; is the file cut off\?"),
    ],
)
def test_a_broken_srt_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_srt(tmp_path, text)


def test_an_arrow_in_a_text_is_text(tmp_path: Path) -> None:
    assert texts(tmp_path, "She --> he.") == ["She --> he."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n00:00:01.000 --> 00:00:02.000\nShe", r"film\.vtt:1: expected \"WEBVTT\""),
        ("WEBVTTX\n", r":1: expected \"WEBVTT\""),
        ("", r":1: expected \"WEBVTT\""),
        ("WEBVTT\n00:01.000 --> 00:02.000\nShe", r":2: expected a blank line before this cue"),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nShe\n00:03.000 --> 00:04.000\nleft", r":5: expected a blank line"),
        ("WEBVTT\n\nShe left.\n", r':3: a block without times, "She left\."'),
        ("WEBVTT\n\n00:01.000 --> 00:02\nShe", r":3: broken times"),
    ],
)
def test_a_broken_webvtt_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_vtt(tmp_path, text)


def test_webvtt_names_its_cues(tmp_path: Path) -> None:
    read = read_vtt(
        tmp_path,
        "WEBVTT\n\nintro\n10:01.000 --> 11:02.000\nShe.\n\nNOTE\nhe\n\n00:03.000 --> 00:04.000\nIt.\n",
    )
    assert [unit.place for unit in read.units] == ["cue intro, 00:10:01", "cue 2, 00:00:03"]


def test_lines_that_roll_are_read_once(tmp_path: Path) -> None:
    rolling = (
        "WEBVTT\n\n00:00.080 --> 00:02.389 align:start\n \nshe<00:00:00.320><c> left</c>\n\n"
        "00:02.389 --> 00:02.399\nshe left\n \n\n00:02.399 --> 00:04.550\nshe left\nwith<00:00:02.700><c> him</c>\n"
    )
    read = read_vtt(tmp_path, rolling)
    assert [unit.text for unit in read.units] == ["she left with him"]
    assert read.left_out == {"cues without text": 1, "repeated lines": 2}


def test_lines_that_people_repeat_are_read_twice(tmp_path: Path) -> None:
    read = read_vtt(tmp_path, "WEBVTT\n\n00:01.000 --> 00:02.000\nNo.\n\n00:02.000 --> 00:03.000\nNo.\nIt is.\n")
    assert [unit.text for unit in read.units] == ["No.", "No.", "It is."]
