"""Error span annotation as WMT24, WMT25 and WMT26 publish it: the same judged texts out of each format."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data_prep.people import esa, sets
from pronmetric.errors import InputError
from pronmetric.lab.human.contrastive_esa import CONTROL, REPEATED
from pronmetric.lab.human.mqm import OMISSION, Error, Judgement
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.schema import JudgedPronoun

BEFORE, TEXT = "Ann came.", "She saw\nhim."
SHE = {"start_i": 0, "end_i": 2, "severity": "minor"}
HIM = {"start_i": 8, "end_i": 10, "severity": "major"}
MISSING = {"start_i": "missing", "end_i": "missing", "severity": "major"}
UNCLEAR = {**SHE, "severity": "undecided"}
ENDING = {"start_i": len(TEXT), "end_i": len(TEXT) + 8, "severity": "minor"}  # the word [missing] after the text


def wmt24() -> list[dict[str, Any]]:
    one = {"langs": "cs-en", "line_id": 1, "src": "S1", "tgt": TEXT, "doc_id": "d", "domain": "news", "system": "A"}
    first = {**one, "line_id": 0, "src": "S0", "tgt": BEFORE, "esa_spans": [], "annotator": "x"}
    return [
        first,
        {**one, "esa_spans": [], "annotator": "x"},
        {**one, "esa_spans": [SHE, UNCLEAR], "annotator": "x"},  # later
        {**one, "esa_spans": [HIM, SHE, MISSING], "annotator": "y"},
        {**one, "langs": "en-cs", "esa_spans": [UNCLEAR], "annotator": "y"},
    ]


def wmt25() -> list[dict[str, Any]]:
    said = {
        "annotator1": "x",
        "errors1": [SHE, UNCLEAR],
        "human1": 9,
        "annotator2": "y",
        "errors2": [HIM, SHE, MISSING],
    }
    name = "cs-en_#_news_#_d_#_"
    return [
        {
            "doc_id": f"{name}0",
            "src_text": "S0",
            "tgt_text": {"A": BEFORE},
            "scores": {"A": [{"annotator": "x", "errors": []}]},
        },
        {"doc_id": f"{name}1", "src_text": "S1", "tgt_text": {"A": TEXT, "B": "It."}, "scores": {"A": said}},
        {"doc_id": "en-cs_CZ_#_news_#_d_#_0", "src_text": "S", "tgt_text": {}, "scores": {}},
        {
            "doc_id": "de-en_#_news_#_d_#_0",
            "src_text": "S",
            "tgt_text": {"A": "It."},
            "scores": {"A": {"annotator1": "x", "errors1": []}},
        },
    ]


def wmt26() -> dict[str, list[dict[str, Any]]]:
    items = [{"item_id": f"news_###_d_###_{k}", "src": f"S{k}", "tgt": {"A": t}} for k, t in enumerate((BEFORE, TEXT))]

    def document(who: str, *spans: dict[str, Any]) -> dict[str, Any]:
        return {
            "user_id": who,
            "item": items,
            "annotation": [{"A": {"error_spans": []}}, {"A": {"error_spans": [*spans]}}],
        }

    check = {"user_id": "y", "item": [{"item_id": "attention_check_1"}], "annotation": [{}]}
    documents = [
        document("x", HIM),
        {"user_id": "x", "item": items, "annotation": "__RESET__"},
        document("x", SHE, UNCLEAR),
        check,
        document("y", HIM, SHE, ENDING),
    ]
    return {"ces_Latn---eng_Latn v3": documents, "eng_Latn---ces_Latn v3": []}


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    lines = [json.dumps(each) for each in content] if path.suffix == ".jsonl" else [json.dumps(content)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


FORMATS = {"wmt24.jsonl": wmt24, "wmt25.jsonl": wmt25, "annotations.json": wmt26}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_gives_the_same_judged_text(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, name, FORMATS[name]())
    found = [one for one in sets.find([str(tmp_path)], target="en") if one.source == "cs"]
    assert found == [one for one in sets.find([str(path)], target="en") if one.source == "cs"]
    (one,) = found
    tally: Counter[str] = Counter()
    texts = list(one.read(context_size=2, longest=2, language=ENGLISH, tally=tally))
    text = texts[-1]
    assert one.id("en") == f"{path.stem}:cs-en"
    assert (text.raters, text.text, text.context) == (("x", "y"), "She saw him.", (BEFORE,))
    assert (text.source, text.source_context) == ("S1", ("S0",))
    assert text.pronouns == (JudgedPronoun(0, 3, "she", ("x", "y")), JudgedPronoun(8, 11, "him", ("y",)))
    expected = {"wmt24.jsonl": {REPEATED: 1}, "annotations.json": {REPEATED: 1, CONTROL: 1}}
    assert tally == {**expected.get(name, {}), esa.UNCLEAR: 1}


def test_a_missing_word_is_an_error_without_a_place(tmp_path: Path) -> None:
    for name in ("wmt24.jsonl", "annotations.json"):
        path = write(tmp_path, name, FORMATS[name]())
        judged = [one for one in esa.read(path, Counter(), source="cs", target="en") if one.rater == "y"]
        severity = "major" if name == "wmt24.jsonl" else "minor"
        errors = (Error("", "major", ((8, 11),)), Error("", "minor", ((0, 3),)), Error(OMISSION, severity, ()))
        assert judged[-1] == Judgement(
            "A", "d" if path.suffix == ".jsonl" else "news_###_d", 1, "y", "She saw him.", errors, "S1"
        )


def test_a_set_for_each_source_language(tmp_path: Path) -> None:
    write(tmp_path, "wmt25.jsonl", wmt25())
    write(tmp_path, "other.jsonl", [{"text": "no annotation"}])
    write(tmp_path, "other.json", {"no": "annotation"})
    assert [one.id("en") for one in sets.find([str(tmp_path)], target="en")] == ["wmt25:cs-en", "wmt25:de-en"]
    with pytest.raises(
        InputError, match=r"no judgements of translations into fr: expected MQM .* or error span annotation"
    ):
        sets.find([str(tmp_path / "wmt25.jsonl")], target="fr")


@pytest.mark.parametrize(
    ("number", "change", "message"),
    [
        (1, {"langs": "cs"}, r"wmt\.jsonl:2: expected a language pair such as cs-de_DE, got 'cs'"),
        (1, {"line_id": "two"}, r'wmt\.jsonl:2: "line_id" must be a whole number from 0'),
        (2, {"esa_spans": ["x"]}, r'wmt\.jsonl:3: "esa_spans", entry 1: expected an object'),
        (2, {"annotator": None}, r'wmt\.jsonl:3: "annotator" must be a string'),
    ],
)
def test_a_broken_record_is_named(number: int, change: dict[str, Any], message: str, tmp_path: Path) -> None:
    records = wmt24()
    records[number] |= change
    path = write(tmp_path, "wmt.jsonl", records)
    with pytest.raises(InputError, match=message):
        sets.find([str(path)], target="en")


def test_a_segment_and_a_document_without_their_parts_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, "wmt.jsonl", [{**wmt25()[0], "doc_id": "cs-en_#_x"}])
    with pytest.raises(InputError, match=r'wmt\.jsonl:1: "doc_id" must be PAIR_#_DOMAIN_#_NAME_#_NUMBER'):
        esa.sources(path, "en")
    documents = wmt26()
    documents["ces_Latn---eng_Latn v3"][0]["annotation"] = [{}]
    documents["ces_Latn---eng_Latn v3"].pop(1)
    path = write(tmp_path, "annotations.json", documents)
    with pytest.raises(InputError, match=r"entry 1: 1 annotations of 2 segments; expected ESA as WMT publishes it"):
        esa.sources(path, "en")
