"""Reading result files: both verbs' into one form, and every broken one refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError
from pronmetric.results import Verdict, read

FIXTURES = Path(__file__).parents[2] / "fixtures" / "report"

SIGNATURE = "model:tiny|hash:00|head:logit|context:common|seed:1"


def pronoun(text: str, start: int, probability: float) -> dict[str, Any]:
    return {"text": text, "start": start, "end": start + len(text), "probability": probability}


def system(name: str, score: float) -> dict[str, Any]:
    interval = [score - 1, score + 1]
    counts = {"pronouns": 2, "segments": 2, "segments_with_pronoun": 2}
    return {"system": name, "score": score, "interval": interval, "resampled": "segments", "units": 2, **counts}


def entry(name: str, number: int, text: str, *pronouns: dict[str, Any]) -> dict[str, Any]:
    given = {"doc": "d", "source": None, "reference": "She left.", "context": "Anna came."}
    score = sum(p["probability"] for p in pronouns) / len(pronouns) if pronouns else None
    return {"system": name, "segment": number, **given, "text": text, "score": score, "pronouns": list(pronouns)}


def scored() -> dict[str, Any]:
    segments = [
        entry("a", 0, "She left.", pronoun("She", 0, 0.9)),
        entry("b", 0, "He left.", pronoun("He", 0, 0.2)),
        entry("a", 1, "Gone."),
        entry("b", 1, "It left.", pronoun("It", 0, 0.5)),
    ]
    systems = [system("a", 90.0), system("b", 35.0)]
    return {"segments": segments, "systems": systems, "counts": {}, "signature": SIGNATURE}


def compared(context: str) -> dict[str, Any]:
    """What `compare` writes of three systems and three segments of two documents."""
    texts = {name: [f"He {verb} {name}." for verb in ("saw", "met", "left")] for name in "xyz"}
    pairs = [("x", "y"), ("x", "z"), ("y", "z")]

    def side(name: str, number: int) -> dict[str, Any]:
        probability = {"x": 0.9, "y": 0.5, "z": 0.1}[name]
        return {"score": probability, "pronouns": [pronoun("He", 0, probability)]}

    segments = [
        {
            **{"a": a, "b": b, "segment": number, "doc": ["d", "d", "e"][number], "source": None},
            **{"reference": f"Line {number}.", "better": "a", "difference": 0.4},
            **{"a_text": texts[a][number], "b_text": texts[b][number]},
            **{"a_scored": side(a, number), "b_scored": side(b, number), "a_decided": [], "b_decided": []},
        }
        for number in range(3)
        for a, b in pairs
    ]
    told = {"difference": 40.0, "interval": [1.0, 70.0], "p_randomisation_holm": 0.01, "p_t_holm": 0.02}
    told |= {"wins": 3, "ties": 0, "losses": 0}
    made = [{"a": system(a, 90.0), "b": system(b, 50.0), **told} for a, b in pairs]
    signature = SIGNATURE.replace("common", context)
    return {"segments": segments, "pairs": made, "tie": 0.05, "counts": {}, "signature": signature}


def written(folder: Path, value: Any) -> str:
    path = folder / "result.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return str(path)


def test_few_resampled_units_and_holm_are_noted(tmp_path: Path) -> None:
    value = compared("common")
    assert not any("rough" in note for note in read(written(tmp_path, value)).notes)
    for made in value["pairs"]:
        made["units"] = 5
    notes = read(written(tmp_path, value)).notes
    few = "only 5 documents or segments: intervals and p values of pairs are rough"
    assert f"{few}, and the two tests can differ" in notes
    assert any("adjusted by Holm's method" in note for note in notes)


def test_what_score_wrote(tmp_path: Path) -> None:
    result = read(written(tmp_path, scored()))
    assert result.names == ("a", "b") and result.pairs == () and result.probability and result.tie == 0.01
    assert [len(segment.outputs) for segment in result.segments] == [2, 2]
    first, second = result.segments
    assert (first.number, first.doc, first.source, first.reference) == (0, "d", None, "She left.")
    assert first.outputs[1].text == "He left." and first.outputs[1].context == "Anna came."
    assert first.outputs[1].pronouns[0] == ("He", 0, 2, 0.2, None, None)
    assert second.outputs[0].score is None and second.outputs[0].pronouns == ()
    assert result.systems[0].interval == (89.0, 91.0)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("common", [["", "", ""], ["Line 0."] * 3, ["", "", ""]]),
        ("none", [["", "", ""]] * 3),
        ("respective", [["", "", ""], [f"He saw {name}." for name in "xyz"], ["", "", ""]]),
        ("crossed", [["", "", ""], [f"He saw {name}." for name in "xyz"], ["", "", ""]]),
    ],
)
def test_what_compare_wrote(tmp_path: Path, context: str, expected: list[list[str]]) -> None:
    result = read(written(tmp_path, compared(context)))
    assert result.names == ("x", "y", "z") and result.tie == 0.05
    assert [(p.a, p.b, p.difference, p.interval) for p in result.pairs] == [
        (a, b, 40.0, (1.0, 70.0)) for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    assert [[output.context for output in segment.outputs] for segment in result.segments] == expected
    assert [output.text for output in result.segments[1].outputs] == [f"He met {name}." for name in "xyz"]
    assert [output.score for output in result.segments[1].outputs] == [0.9, 0.5, 0.1]
    assert result.by == "score" and result.segments[1].verdicts == (Verdict("a", 0.4),) * 3
    assert any("contexts of both systems" in note for note in result.notes) == (context == "crossed")


def test_the_language_of_the_sources(tmp_path: Path) -> None:
    value = scored()
    assert read(written(tmp_path, value)).source_language is None
    assert read(written(tmp_path, {**value, "source_language": "ar"})).source_language == "ar"
    value["signature"] = f"{SIGNATURE}|source:he-1234abcd"  # of a version in which --source-lang affected scores
    assert read(written(tmp_path, value)).source_language == "he"
    with pytest.raises(InputError, match='"source_language" must be a string'):
        read(written(tmp_path, {**value, "source_language": 7}))


def test_unbounded_scores(tmp_path: Path) -> None:
    value = scored()
    for item in value["segments"]:
        for p in item["pronouns"]:
            p["score"] = 5 * p.pop("probability")
    result = read(written(tmp_path, value))
    assert not result.probability and any("unbounded" in note for note in result.notes)


def test_the_sample_is_read_as_score_wrote_it() -> None:
    result = read(str(FIXTURES / "score.json"))
    assert result.names == ("system-a.txt", "system-b.txt", "system-c.txt") and len(result.segments) == 37
    assert result.segments[1].outputs[2].text == "On Friday they locked her doors for the last time."


def test_bytes_of_file_names_that_are_no_text_are_shown_as_question_marks(tmp_path: Path) -> None:
    value = scored()
    text = json.dumps(value).replace('"a"', '"\\udcff.txt"')
    assert read(written(tmp_path, text)).names == ("\ufffd.txt", "b")


def change(path: str, new: Any) -> Callable[[dict[str, Any]], None]:
    def apply(value: Any) -> None:
        *way, last = (int(key) if key.isdigit() else key for key in path.split("."))
        for key in way:
            value = value[key]
        if new is None and last in ("signature", "text"):
            del value[last]
        else:
            value[last] = new

    return apply


@pytest.mark.parametrize(
    ("path", "new", "said"),
    [
        ("pairs", [], "not the number of pairs"),
        ("segments.4.a", "q", 'expected "a" "x", got "q"'),
        ("signature", "nonsense", "names no context"),
        ("tie", "wide", '"tie" must be a number'),
        ("pairs.1.wins", None, "must be a whole number, got null"),
        ("segments.3.b_scored", [], 'entry 4, "b_scored": expected an object, got a list'),
    ],
)
def test_a_broken_comparison_is_refused(tmp_path: Path, path: str, new: Any, said: str) -> None:
    value = compared("common")
    change(path, new)(value)
    with pytest.raises(InputError, match=said):
        read(written(tmp_path, value))


def one_entry() -> dict[str, Any]:
    """What `compare` writes since format 2: of the same texts as `compared`, one entry for each segment."""
    value = compared("common")
    segments = []
    for number in range(3):
        rows = [row for row in value["segments"] if row["segment"] == number]
        sides = [(rows[0], "a"), (rows[0], "b"), (rows[1], "b")]
        segments.append(
            {
                **{key: rows[0][key] for key in ("segment", "doc", "source", "reference")},
                "outputs": [{"text": row[f"{side}_text"], **row[f"{side}_scored"]} for row, side in sides],
                "pairs": [
                    {key: row[key] for key in ("better", "difference", "a_decided", "b_decided")} for row in rows
                ],
            }
        )
    return {**value, "format": 2, "segments": segments, "by": "preference", "unit": "preference"}


def test_both_formats_of_compare_are_read_alike(tmp_path: Path) -> None:
    old, new = (read(written(tmp_path, value)) for value in (compared("common"), one_entry()))
    assert new.segments == old.segments and new.systems == old.systems and new.pairs == old.pairs
    assert (old.by, new.by) == ("score", "preference")


@pytest.mark.parametrize(
    ("path", "new", "said"),
    [
        ("format", 3, '"format" is 3, expected 1 or 2'),
        ("format", True, '"format" is true'),
        ("by", "length", '"by" must be one of score, errors, preference, got "length"'),
        ("segments.1.segment", 7, 'entry 2: expected "segment" 1, got 7'),
        ("segments.1.outputs", [], "entry 2: expected 3 outputs and 3 pairs, got 0 outputs and 3 pairs"),
        ("segments.1.outputs.2", 5, 'entry 2, "outputs", entry 3: expected an object, got a number'),
        (
            "segments.1.outputs.2.text",
            "Left.",
            'entry 2, "outputs", entry 3, "pronouns", entry 1: \'He\' is not at 0 to 2',
        ),
        ("segments.1.pairs.0", None, 'entry 2, "pairs", entry 1: expected an object, got null'),
        (
            "segments.1.pairs.0.better",
            "x",
            'entry 2, "pairs", entry 1: "better" must be "a", "b" or "tie", with a difference',
        ),
        ("segments.1.pairs.0.difference", None, 'entry 2, "pairs", entry 1: "better" must be'),
        ("signature", f"{SIGNATURE}|context_size:{10**30}", "names no context"),
    ],
)
def test_a_broken_comparison_of_format_2_is_refused(tmp_path: Path, path: str, new: Any, said: str) -> None:
    value = one_entry()
    change(path, new)(value)
    with pytest.raises(InputError) as error:
        read(written(tmp_path, value))
    assert said in str(error.value)


@pytest.mark.parametrize(("code", "is_read"), [("zh", True), ("eo", True), ("de", False), (None, False)])
def test_a_pronoun_begins_a_word_of_the_language(tmp_path: Path, code: str | None, is_read: bool) -> None:
    """Chinese is cut into words without blanks; the table of "eo" is a user's, which is not known here."""
    content = scored()
    content["segments"][0] |= {"text": "\u6628\u5929\u5979", "pronouns": [pronoun("\u5979", 2, 0.9)]}
    content["signature"] = SIGNATURE if code is None else f"{SIGNATURE}|language:{code}"
    path = tmp_path / "result.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    if is_read:
        assert read(str(path)).segments[0].outputs[0].pronouns[0].start == 2
    else:
        with pytest.raises(InputError, match="begins inside a word"):
            read(str(path))
