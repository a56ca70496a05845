"""Bad lines and files, given to the verbs that judge, show and choose: each ends in one clear line.

The line names the file, where lines are read also the line, and what is wrong; the exit code is 1, nothing is printed
and no output file is left. Errors that these verbs share with `score` are in test_cli_bad_input.py.
"""

from __future__ import annotations

import codecs
import copy
import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pronmetric.cli.main import main

BAD = "bad"
OUT = ["--to_json", "out.json"]


class Case(NamedTuple):
    """An invalid file and its error: the line and a part of the message."""

    name: str
    verbs: tuple[str, ...]
    content: bytes
    line: int | None
    says: str


COMMANDS = {
    "evaluate": ["evaluate", BAD, "--scores", "scores.jsonl", *OUT],
    "evaluate --scores": ["evaluate", "pairs.jsonl", "--scores", BAD, *OUT],
    "evaluate --against": ["evaluate", "pairs.jsonl", "--scores", "scores.jsonl", "--against", BAD, *OUT],
    "evaluate --seen": ["evaluate", "pairs.jsonl", "--scores", "scores.jsonl", "--seen", BAD, *OUT],
    "evaluate tokens": ["evaluate", BAD, "--scores", "token-scores.jsonl", *OUT],
    "evaluate tokens --scores": ["evaluate", "tokens.jsonl", "--scores", BAD, *OUT],
    "agree": ["agree", BAD, *OUT],
    "agree a metric": ["agree", BAD, "--scores", "scores.jsonl", *OUT],
    "agree --scores": ["agree", "pairs.jsonl", "--scores", BAD, *OUT],
    "agree --ratings": ["agree", "--ratings", BAD, *OUT],
    "mqm": ["mqm", BAD, "--strict", "--pairs", "out.jsonl", "--tokens", "out-tokens.jsonl"],
    "mqm --reference none": ["mqm", BAD, "--strict", "--reference", "none", "--pairs", "out.jsonl"],
    "report": ["report", BAD, "--no-model", "-o", "out.html"],
    "report tables": ["report", BAD, "--no-model", "--format", "tsv", "-o", "out.tsv"],
    "suggest": ["suggest", "--jsonl", BAD],
    "suggest -t": ["suggest", "-t", BAD],
    "suggest --docids": ["suggest", "-t", "two.txt", "--docids", BAD],
    "rerank --nbest": ["rerank", "--mbr", "--nbest", BAD, "-o", "out.txt", *OUT],
    "rerank --size": ["rerank", "--mbr", "--nbest", BAD, "--size", "2", "-o", "out.txt", *OUT],
    "rerank --candidates": ["rerank", "--mbr", "--candidates", "two.txt", BAD, "-o", "out.txt", *OUT],
    "rerank --scores": ["rerank", "--mbr", "--nbest", "nbest.txt", "--scores", BAD, "--weight", "0.5", *OUT],
    "rerank --docids": ["rerank", "--nbest", "nbest.txt", "--docids", BAD, *OUT],
    "rerank -r": ["rerank", "--nbest", "nbest.txt", "-r", BAD, *OUT],
}

PAIR = {
    "id": "p2",
    "context": ["Anna came."],
    "text_a": "She left.",
    "text_b": "He left.",
    "better": "A",
    "votes": {"r1": "A", "r2": "B"},
    "group": "German",
    "doc": "d2",
}
STUDY = {"id": 2, "lang": "fr", "context": ["anna", "came"], "reference": ["she", "left"], "noisy": ["he", "left"]}
TOKEN = {
    "id": "t2",
    "context": ["Anna came."],
    "text": "He left.",
    "start": 0,
    "end": 2,
    "label": "wrong",
    "doc": "d",
    "system": "one",
}
SCORE = {"id": "p2", "score_a": 0.9, "score_b": 0.1}
TOKEN_SCORE = {"id": "t2", "score": 0.1}
GONE = object()
NUL, HALF = "a\0b", "a\ud800b"


def changed(record: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """The record with other values; those that are GONE are left out."""
    return {key: value for key, value in {**record, **changes}.items() if value is not GONE}


def dump(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def lines(*values: Any) -> bytes:
    return "".join(f"{dump(value)}\n" for value in values).encode()


def second(record: Mapping[str, Any], first: Mapping[str, Any], bad: Any) -> bytes:
    """A file whose second line is bad, between two good ones."""
    return lines(changed(record, **first), bad, changed(record, id="p3" if first["id"] == "p1" else "t3"))


SHARED_JSON = {
    "cut off": ('{"id": "p2", "text', "broken JSON ("),
    "comma at the end": ('{"id": "p2",}', "broken JSON ("),
    "no JSON": ("p2\tShe left.\tHe left.", "broken JSON ("),
    "list": ("[1, 2]", "expected a JSON object, got a list"),
    "null": ("null", "expected a JSON object, got null"),
    "NaN": ('{"id": "p2", "text_a": NaN}', "NaN is not valid JSON; write null"),
    "infinity": ('{"id": "p2", "text_a": Infinity}', "Infinity is not valid JSON; write null"),
    "key twice": ('{"id": "p2", "id": "p3"}', 'duplicate key "id"'),
    "too deep": ("[" * 100_000, "broken JSON ("),
    "empty object": ("{}", "is missing"),
}
NO_TEXT = {
    "empty file": b"",
    "empty lines only": b"\n\n  \n",
    "byte-order mark only": codecs.BOM_UTF8,
}
BYTES = {
    "Latin-1": ("Grün".encode("latin-1"), "byte 0xfc (byte 3 of the line) is not UTF-8; convert to UTF-8"),
    "NUL byte": (b"She\0left", "a NUL byte: expected plain UTF-8 text"),
    "UTF-16": ("She left.".encode("utf-16-le"), "a NUL byte: expected plain UTF-8 text (UTF-16 or a binary file?)"),
}

BAD_PAIRS: dict[str, tuple[Any, str]] = {
    **SHARED_JSON,
    "no id": (changed(PAIR, id=GONE), 'the key "id" is missing'),
    "id null": (changed(PAIR, id=None), '"id" must be a string or a whole number, got null'),
    "id empty": (changed(PAIR, id=""), '"id" must be a string or a whole number, got ""'),
    "id with NUL": (changed(PAIR, id=NUL), '"id" holds a NUL'),
    "id with a lone surrogate": (changed(PAIR, id=HALF), '"id" has a lone surrogate'),
    "id again": (changed(PAIR, id="p1"), 'duplicate id "p1", first in line 1'),
    "no text_a": (changed(PAIR, text_a=GONE), 'the key "text_a" is missing'),
    "no text_b": (changed(PAIR, text_b=GONE), 'the key "text_b" is missing'),
    "text_a a number": (changed(PAIR, text_a=5), '"text_a" must be a string, got a number'),
    "text_a words": (changed(PAIR, text_a=["She", "left"]), '"text_a" must be a string, got a list'),
    "text with NUL": (changed(PAIR, text_b=NUL), '"text_b" holds a NUL'),
    "text with a lone surrogate": (changed(PAIR, text_a=HALF), '"text_a" has a lone surrogate'),
    "context a string": (changed(PAIR, context="Anna came."), '"context" must be a list of strings, got a string'),
    "context with a number": (changed(PAIR, context=["Anna came.", 3]), "got a list with other items"),
    "better C": (changed(PAIR, better="C"), '"better" must be "A", "B" or "tie", got "C"'),
    "better empty": (changed(PAIR, better=""), "leave the key out if there is no answer"),
    "better a number": (changed(PAIR, better=1), '"better" must be "A", "B" or "tie", got 1'),
    "votes a list": (changed(PAIR, votes=["A", "B"]), '"votes" must be an object {rater: "A"|"B"|"tie"}, got a list'),
    "votes counts": (changed(PAIR, votes={"A": 2, "B": 1}), 'the vote of rater "A" must be "A", "B" or "tie", got 2'),
    "vote C": (changed(PAIR, votes={"r1": "C"}), 'the vote of rater "r1" must be "A", "B" or "tie"'),
    "vote null": (changed(PAIR, votes={"r1": "A", "r2": None}), "leave out raters who did not vote"),
    "rater without a name": (changed(PAIR, votes={"": "A"}), 'a rater in "votes" has no name'),
    "rater with NUL": (changed(PAIR, votes={NUL: "A"}), '"votes" holds a NUL'),
    "rater twice": ('{"id": "p2", "text_a": "", "text_b": "", "votes": {"r": "A", "r": "B"}}', "duplicate key"),
    "group a list": (changed(PAIR, group=["German"]), '"group" must be a string, got a list'),
    "vote": (changed(PAIR, votes=GONE, vote={"r1": "A"}), 'unknown key "vote"; did you mean "votes"?'),
    "beter": (changed(PAIR, better=GONE, beter="A"), 'unknown key "beter"; did you mean "better"?'),
    "study without an id": (changed(STUDY, id=GONE), 'the key "id" is missing'),
    "study, a sentence": (changed(STUDY, reference="she left"), '"reference" must be a list of strings, got a string'),
    "study, no tokens": (changed(STUDY, noisy=[]), '"noisy" has no tokens'),
    "study, null": (changed(STUDY, reference=None), '"reference" has no tokens'),
    "study, context a string": (changed(STUDY, context="anna came"), '"context" must be a list of strings'),
    "text_b an object": (changed(PAIR, text_b={"text": "He"}), '"text_b" must be a string, got an object'),
    "doc an object": (changed(PAIR, doc={"d": 1}), '"doc" must be a string, got an object'),
    "pronoun a fraction": (changed(PAIR, pronoun_b=0.5), '"pronoun_b" must be a string, got a number'),
    "judge a list": (changed(PAIR, judge=["I"]), '"judge" must be a string, got a list'),
}
UNDECIDED = {
    "all ties": [changed(PAIR, id=f"p{i}", better="tie") for i in (1, 2, 3)],
    "nobody says": [changed(PAIR, id=f"p{i}", better=GONE, votes=GONE) for i in (1, 2, 3)],
    "no majority": [changed(PAIR, id=f"p{i}", better=GONE) for i in (1, 2, 3)],
    "votes for ties alone": [
        changed(PAIR, id=f"p{i}", better=GONE, votes={"r1": "tie", "r2": "tie"}) for i in (1, 2, 3)
    ],
}
TOO_FEW_RATERS = {
    "no votes": ([changed(PAIR, id=f"p{i}", votes=GONE) for i in (1, 2)], 'no pair has "votes"'),
    "empty votes": ([changed(PAIR, id=f"p{i}", votes={}) for i in (1, 2)], 'no pair has "votes"'),
    "one rater": ([changed(PAIR, id=f"p{i}", votes={"r1": "A"}) for i in (1, 2)], "no pair has votes of two raters"),
    "never both": ([changed(PAIR, id=f"p{i}", votes={f"r{i}": "A"}) for i in (1, 2)], "votes of two raters"),
}
BAD_SCORES: dict[str, tuple[Any, str]] = {
    "score NaN": (
        '{"id": "p2", "score_a": NaN, "score_b": 0.1}',
        "NaN is not valid JSON; write null for a missing number",
    ),
    "score infinity": ('{"id": "p2", "score_a": 0.5, "score_b": -Infinity}', "Infinity is not valid JSON"),
    "score too large": ('{"id": "p2", "score_a": 1e999, "score_b": 0.1}', "expected a finite number, got 1e999"),
    "score of 400 digits": (
        f'{{"id": "p2", "score_a": {"9" * 400}, "score_b": 1}}',
        '"score_a" must be a finite number',
    ),
    "score of 5000 digits": (
        f'{{"id": "p2", "score_a": {"9" * 5000}, "score_b": 1}}',
        "broken JSON (expected a",
    ),
    "score true": (changed(SCORE, score_b=True), '"score_b" must be a number or null, got true'),
    "score missing": (changed(SCORE, score_b=GONE), 'the key "score_b" is missing'),
    "id missing": (changed(SCORE, id=GONE), 'the key "id" is missing'),
    "id null": (changed(SCORE, id=None), '"id" must be a string or a whole number'),
    "id again": (changed(SCORE, id="p1"), 'duplicate id "p1"'),
    "a list": ("[0.9, 0.1]", "expected a JSON object, got a list"),
}
BAD_TOKENS: dict[str, tuple[Any, str]] = {
    **{f"no {key}": (changed(TOKEN, **{key: GONE}), f'the key "{key}" is missing') for key in ("id", "text", "start")},
    **{f"{key} gone": (changed(TOKEN, **{key: GONE}), f'the key "{key}" is missing') for key in ("end", "label")},
    "id null": (changed(TOKEN, id=None), '"id" must be a string or a whole number'),
    "id again": (changed(TOKEN, id="t1"), 'duplicate id "t1", first in line 1'),
    "id with a lone surrogate": (changed(TOKEN, id=HALF), '"id" has a lone surrogate'),
    "label good": (changed(TOKEN, label="good"), '"label" must be one of "right", "wrong", got "good"'),
    "start a string": (changed(TOKEN, start="0"), '"start" must be a whole number, got "0"'),
    "end true": (changed(TOKEN, end=True), '"end" must be a whole number, got true'),
    "start below 0": (changed(TOKEN, start=-2), "start -2, end 2 is not a span of a text of 8 characters"),
    "end past the text": (changed(TOKEN, end=9), "start 0, end 9 is not a span of a text of 8 characters"),
    "end before start": (changed(TOKEN, start=2, end=0), "is not a span"),
    "nothing between": (changed(TOKEN, start=2), "is not a span"),
    "another pronoun": (changed(TOKEN, pronoun="she"), "expected the pronoun 'she' at start, got 'He'"),
    "text a number": (changed(TOKEN, text=5), '"text" must be a string, got a number'),
    "text with NUL": (changed(TOKEN, text="He\0left"), '"text" holds a NUL'),
    "context a string": (changed(TOKEN, context="Anna came."), '"context" must be a list of strings'),
    "system a list": (changed(TOKEN, system=["one"]), '"system" must be a string'),
    "a pair among them": (PAIR, "is missing"),
    "doc an object": (changed(TOKEN, doc={"d": 1}), '"doc" must be a string'),
    "pronoun a list": (changed(TOKEN, pronoun=["He"]), '"pronoun" must be a string'),
}
BAD_TOKEN_SCORES: dict[str, tuple[Any, str]] = {
    "token score NaN": ('{"id": "t2", "score": NaN}', "NaN is not valid JSON; write null for a missing number"),
    "token score too large": ('{"id": "t2", "score": 1e999}', "expected a finite number, got 1e999"),
    "token score of 400 digits": (f'{{"id": "t2", "score": {"9" * 400}}}', '"score" must be a finite number or null'),
    "token score a string": (changed(TOKEN_SCORE, score="0.1"), '"score" must be a number or null'),
    "token score missing": (changed(TOKEN_SCORE, score=GONE), 'the key "score" is missing'),
    "token score without id": (changed(TOKEN_SCORE, id=GONE), 'the key "id" is missing'),
    "token score again": (changed(TOKEN_SCORE, id="t1"), 'duplicate id "t1"'),
}
MQM_HEAD = ("system", "doc", "seg_id", "rater", "source", "target", "category", "severity")
MQM_ROW = ("one", "talk", "1", "r1", "Quelle", "<v>He</v> left.", "Accuracy/Mistranslation", "Major")
MQM_ROWS: dict[str, tuple[Sequence[str], str]] = {
    "seven fields": (MQM_ROW[:-1], "7 fields, but the header has 8"),
    "segment without number": ((*MQM_ROW[:2], "first", *MQM_ROW[3:]), "\"seg_id\" must be a whole number, got 'first'"),
    "segment below 0": ((*MQM_ROW[:2], "-1", *MQM_ROW[3:]), '"seg_id" must be a whole number'),
    "segment of many digits": ((*MQM_ROW[:2], "9" * 5000, *MQM_ROW[3:]), '"seg_id" must be a whole number, got'),
    "severity unknown": ((*MQM_ROW[:-1], "Terrible"), "unknown severity 'Terrible'"),
    "mark that is not opened": ((*MQM_ROW[:5], "He</v> left.", *MQM_ROW[6:]), "unpaired </v> in the target"),
    "mark in a mark": ((*MQM_ROW[:5], "<v>He <v>left</v>.", *MQM_ROW[6:]), "unpaired <v> in the target"),
    "another translation": ((*MQM_ROW[:5], "She went.", *MQM_ROW[6:]), "differs from that of most raters"),
}


def tabs(*rows: Sequence[str]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in rows).encode()


TABLE = "item,r1,r2\n1,yes,no\n"
BAD_TABLES = {
    "table without header": ("1,yes,no\n2,no,no\n", 1, 'expected a header item,rater1,rater2,..., got "1,yes,no"'),
    "table of ids": ("id,r1,r2\n1,yes,no\n", 1, "expected a header item"),
    "table with tabs": ("item\tr1\tr2\n1\tyes\tno\n", 1, "expected a header item"),
    "table of ratings only": ("item\n1\n", 1, "with at least two raters, got 0"),
    "table of one rater": ("item,r1\n1,yes\n", 1, "with at least two raters, got 1"),
    "rater without name": ("item,r1,\n1,yes,no\n", 1, "rater 2 has no name"),
    "rater twice": ("item,r1,r1\n1,yes,no\n", 1, 'duplicate rater "r1"'),
    "header only": ("item,r1,r2\n", None, "has a header, but no items"),
    "short row": (f"{TABLE}2,yes\n", 3, "2 cells, but the header has 3"),
    "item twice": (f"{TABLE}1,no,no\n", 3, 'duplicate item "1", first in line 2'),
    "item without name": (f"{TABLE},no,no\n", 3, "the item has no name"),
    "open quote": (f'{TABLE}2,"yes,no\n', 3, "no CSV"),
    "rater who rated nothing": ("item,r1,r2\n1,yes,\n2,no,\n", None, 'the rater "r2" rated nothing'),
    "raters who never meet": ("item,r1,r2\n1,yes,\n2,,no\n", None, "an item that two raters rated"),
}
SIGNATURE = "model:m|hash:1|context:common|version:0"
OUTPUT = {
    "segment": 0,
    "system": "one",
    "doc": "d",
    "source": None,
    "reference": None,
    "context": "Anna came.",
    "text": "She left.",
    "score": 0.9,
    "pronouns": [{"text": "She", "start": 0, "end": 3, "probability": 0.9}],
}
SYSTEM = {
    "system": "one",
    "score": 90.0,
    "interval": [80.0, 95.0],
    "pronouns": 1,
    "segments": 1,
    "segments_with_pronoun": 1,
}
RESULT = {"segments": [OUTPUT], "systems": [SYSTEM], "signature": SIGNATURE}
BAD_RESULTS: dict[str, tuple[Sequence[Any], Any, str]] = {
    "no segments": (["segments"], GONE, 'the key "segments" is missing'),
    "segments empty": (["segments"], [], '"segments" is empty'),
    "no signature": (["signature"], GONE, 'the key "signature" is missing'),
    "signature a number": (["signature"], 7, '"signature" must be a string'),
    "no systems": (["systems"], GONE, 'has neither "systems" nor "pairs"'),
    "systems empty": (["systems"], [], "no multiple of the 0 systems"),
    "system a string": (["systems", 0], "one", '"systems", entry 1: expected an object, got a string'),
    "system without name": (["systems", 0, "system"], GONE, 'the key "system" is missing'),
    "system score a string": (["systems", 0, "score"], "90", '"score" must be a number, got "90"'),
    "interval turned": (["systems", 0, "interval"], [95, 80], '"interval" must be null or two numbers in order'),
    "interval a number": (["systems", 0, "interval"], 5, '"interval" must be null or two numbers in order'),
    "another system": (["segments", 0, "system"], "two", 'expected "system" "one", got "two"'),
    "another segment": (["segments", 0, "segment"], 4, 'expected "segment" 0, got 4'),
    "text gone": (["segments", 0, "text"], GONE, "has no text (`pronmetric score --jsonl` wrote it)"),
    "text null": (["segments", 0, "text"], None, '"text" must be a string, got null'),
    "context a list": (["segments", 0, "context"], ["Anna came."], '"context" must be a string'),
    "context gone": (["segments", 0, "context"], GONE, 'the key "context" is missing'),
    "score gone": (["segments", 0, "score"], None, "expected a score if and only if there are pronouns"),
    "no pronouns": (["segments", 0, "pronouns"], [], "expected a score if and only if there are pronouns"),
    "pronouns null": (["segments", 0, "pronouns"], None, '"pronouns" must be a list'),
    "probability above 1": (["segments", 0, "pronouns", 0, "probability"], 1.5, '"probability" must lie in [0, 1]'),
    "probability below 0": (["segments", 0, "pronouns", 0, "probability"], -0.1, '"probability" must lie in [0, 1]'),
    "probability of 400 digits": (
        ["segments", 0, "pronouns", 0, "probability"],
        10**400,
        "must be a number from -1e+299 to 1e+299",
    ),
    "probability null": (["segments", 0, "pronouns", 0, "probability"], None, '"probability" must be a number'),
    "another place": (["segments", 0, "pronouns", 0, "start"], 1, "is not at 1 to 3 of its text"),
    "place past the end": (["segments", 0, "pronouns", 0, "end"], 90, "is not at 0 to 90 of its text"),
    "inside a word": (
        ["segments", 0, "pronouns", 0],
        {"text": "he", "start": 1, "end": 3, "probability": 0.9},
        "the pronoun 'he' begins inside a word",
    ),
    "pairs of none": (["pairs"], [], '"pairs" has 0 entries'),
    "segments an object": (["segments"], {}, '"segments" must be a list'),
    "segment a string": (["segments", 0], "She left.", '"segments", entry 1: expected an object, got a string'),
    "count a fraction": (["systems", 0, "pronouns"], 1.5, '"pronouns" must be a whole number'),
    "doc a number": (["segments", 0, "doc"], 3, '"doc" must be a string, got a number'),
    "reference a list": (["segments", 0, "reference"], ["She"], '"reference" must be a string'),
    "score a string": (["segments", 0, "score"], "0.9", '"score" must be a number, got "0.9"'),
    "place a string": (["segments", 0, "pronouns", 0, "start"], "0", '"start" must be a whole number'),
    "pairs a number": (["pairs"], 3, '"pairs" must be a list'),
}
NO_RESULTS = {
    "result cut off": ('{"segments": [', "broken JSON"),
    "result NaN": ('{"segments": NaN}', "NaN is not valid JSON"),
    "result a list": ("[]", "expected an object, got a list"),
    "result of lines": ('{"id": 1}\n{"id": 2}\n', "broken JSON"),
    "result too deep": ("[" * 100_000, "broken JSON"),
}
GAP_HEAD = ("ID", "Text", "Pronoun", "Pronoun-offset", "URL")
GAP_ROW = ("x-1", "Anna came. She left.", "She", "11", "http://a")
GAP_ROWS: dict[str, tuple[Sequence[str], str]] = {
    "GAP offset a word": ((*GAP_ROW[:3], "eleven", "u"), "expected a whole number as Pronoun-offset, got 'eleven'"),
    "GAP offset below 0": ((*GAP_ROW[:3], "-11", "u"), "expected a whole number as Pronoun-offset"),
    "GAP another place": ((*GAP_ROW[:3], "3", "u"), "expected 'She' at 3"),
    "GAP no pronoun": (("x-1", "Anna came.", "", "0", "u"), "expected '' at 0"),
    "GAP a name": (("x-1", "Anna came.", "Anna", "0", "u"), "expected he, she or a case of theirs"),
    "GAP inside a word": (("x-1", "Others left.", "her", "2", "u"), "expected he, she or a case of theirs"),
    "GAP four cells": (GAP_ROW[:4], "columns (ID, Text, Pronoun, Pronoun-offset, URL), got 4"),
}
NBEST = {
    "n-best without bars": ("0 ||| She left.\nHe left.\n", 2, 'expected "number ||| text"'),
    "n-best without number": ("||| She left.\n", 1, 'expected "number ||| text"'),
    "n-best from 5": ("5 ||| She left.\n", 1, "expected the number 0 or 1, got 5; none may be missing"),
    "n-best with a gap": ("0 ||| A.\n0 ||| B.\n2 ||| C.\n", 3, "expected the number 0 or 1, got 2"),
    "n-best backwards": ("0 ||| A.\n1 ||| B.\n0 ||| C.\n", 3, "expected the number 1 or 2, got 0"),
}
NUMBERS = {
    "number nan": ("0.1\nnan\n0.2\n0.3\n", 2, "expected a finite number, got 'nan'"),
    "number a word": ("0.1\nhigh\n0.2\n0.3\n", 2, "expected a finite number, got 'high'"),
    "number empty": ("0.1\n\n0.2\n0.3\n", 2, "expected a finite number, got ''"),
    "numbers too few": ("0.1\n0.2\n", None, "expected 4 lines"),
    "numbers too many": ("0.1\n" * 5, None, "expected 4 lines"),
}
ONLY_SCORES = ("evaluate --scores", "evaluate --against", "agree --scores")


def cases() -> Iterator[Case]:
    """All bad files."""
    pairs = ("evaluate", "agree", "agree a metric")
    first = {"id": "p1"}
    for name, (bad, says) in BAD_PAIRS.items():
        yield Case(f"pair: {name}", pairs, second(PAIR, first, bad), 2, says)
    for name, records in UNDECIDED.items():
        yield Case(f"pairs: {name}", ("evaluate",), lines(*records), None, "none of 3 pairs has a better text")
    for name, (records, says) in TOO_FEW_RATERS.items():
        yield Case(f"pairs: {name}", ("agree",), lines(*records), None, says)
    for name, content in NO_TEXT.items():
        yield Case(f"pairs: {name}", pairs, content, None, "no pairs: expected one JSON object a line")
        yield Case(f"scores: {name}", ONLY_SCORES, content, None, "no scores: expected one object")
        yield Case(f"table: {name}", ("agree --ratings",), content, None, "is empty: expected a header")
    for name, (content, says) in BYTES.items():
        good = lines(changed(PAIR, **first))
        yield Case(f"pair: {name}", pairs, good + content + b"\n", 2, says)
        yield Case(f"score: {name}", ONLY_SCORES, lines(changed(SCORE, **first)) + content + b"\n", 2, says)
        yield Case(f"table: {name}", ("agree --ratings",), TABLE.encode() + content + b",a,b\n", 3, says)
        yield Case(f"mqm: {name}", ("mqm",), tabs(MQM_HEAD) + content + b"\n", 2, says)
        yield Case(f"lines: {name}", ("rerank --nbest", "rerank --size"), b"0 ||| A.\n" + content + b"\n", 2, says)
        yield Case(f"text: {name}", ("suggest -t", "rerank --candidates"), b"She left.\n" + content + b"\n", 2, says)
    packed = gzip.compress(lines(changed(PAIR, **first)))[:-9]
    yield Case("pairs: gzip cut off", pairs, packed, None, "broken gzip file")
    yield Case(
        'pairs: id 2 and "2"',
        pairs,
        lines(changed(PAIR, id=2), changed(PAIR, id="2")),
        2,
        'duplicate id "2", first in line 1',
    )
    for name, (bad, says) in BAD_SCORES.items():
        yield Case(f"score: {name}", ONLY_SCORES, second(SCORE, first, bad), 2, says)
    few, many = [changed(SCORE, id=f"p{i}") for i in (1, 2)], [changed(SCORE, id=f"p{i}") for i in (1, 2, 3, 4)]
    yield Case("scores: one is missing", ONLY_SCORES, lines(*few), None, '1 of the ids have no scores here, first "p3"')
    yield Case("scores: one too many", ONLY_SCORES, lines(*many), None, 'are scored, but are no pairs, first "p4"')
    yield Case("seen: no JSON", ("evaluate --seen",), b"she -> he\n", None, "")
    yield Case("seen: a list", ("evaluate --seen",), b"[]\n", None, "")
    yield Case("seen: a count below 0", ("evaluate --seen",), b'{"she": {"he": -1}}\n', None, "")

    first = {"id": "t1", "label": "right"}
    for name, (bad, says) in BAD_TOKENS.items():
        yield Case(f"token: {name}", ("evaluate tokens",), second(TOKEN, first, bad), 2, says)
    for name, (bad, says) in BAD_TOKEN_SCORES.items():
        content = second(TOKEN_SCORE, {"id": "t1"}, bad)
        yield Case(name, ("evaluate tokens --scores",), content, 2, says)
    right = [changed(TOKEN, id=f"t{i}", label="right") for i in (1, 2, 3)]
    yield Case("tokens: all right", ("evaluate tokens",), lines(*right), None, "labelled right")
    wrong = [changed(TOKEN, id=f"t{i}") for i in (1, 2, 3)]
    yield Case("tokens: all wrong", ("evaluate tokens",), lines(*wrong), None, "labelled wrong")

    for name, (row, says) in GAP_ROWS.items():
        yield Case(name, ("evaluate",), tabs(GAP_HEAD, (*GAP_ROW[:4], "u"), ("x-2", *row[1:])), 3, says)
    yield Case(
        "GAP header only", ("evaluate",), tabs(GAP_HEAD), None, "no rows: expected a GAP file, one item on each line"
    )
    yield Case("GAP without URL", ("evaluate",), tabs(GAP_HEAD[:4], GAP_ROW[:4]), 1, "whose first line names URL")
    yield Case("GAP the same ID", ("evaluate",), tabs(GAP_HEAD, GAP_ROW, GAP_ROW), None, "duplicate ID x-1")

    for name, (text, line, says) in BAD_TABLES.items():
        yield Case(f"table: {name}", ("agree --ratings",), text.encode(), line, says)

    for column in MQM_HEAD:
        head = [name for name in MQM_HEAD if name != column]
        yield Case(f"mqm: no {column}", ("mqm",), tabs(head, MQM_ROW[1:]), 1, f"the column '{column}' is missing")
    for name, (row, says) in MQM_ROWS.items():
        yield Case(f"mqm: {name}", ("mqm", "mqm --reference none"), tabs(MQM_HEAD, MQM_ROW, row), 3, says)
    yield Case("mqm: empty file", ("mqm",), b"", 1, "the column 'system' is missing")
    yield Case("mqm: header only", ("mqm",), tabs(MQM_HEAD), None, "no annotations")
    yield Case("mqm: commas", ("mqm",), ",".join(MQM_HEAD).encode(), 1, "expected a header of tabs")
    yield Case("mqm: no reference", ("mqm",), tabs(MQM_HEAD, MQM_ROW), None, "no system 'ref'")

    for name, (path, value, says) in BAD_RESULTS.items():
        yield Case(f"result: {name}", ("report", "report tables"), with_value(path, value), None, says)
    for name, (text, says) in NO_RESULTS.items():
        yield Case(name, ("report", "report tables"), text.encode(), None, says)
    yield Case("result: empty file", ("report", "report tables"), b"", None, "broken JSON")
    yield Case("result: Latin-1", ("report",), '{"signature": "ü"}'.encode("latin-1"), 1, "byte 0xfc is not UTF-8")

    yield Case("records: empty file", ("suggest",), b"", None, "is empty; expected one JSON object a line")
    yield Case("text: empty file", ("suggest -t", "rerank --candidates"), b"", None, "is empty; expected one segment")
    yield Case("ids: an empty one", ("suggest --docids", "rerank --docids"), b"a\n\n", 2, "expected a document id")

    for name, (text, line, says) in NBEST.items():
        yield Case(name, ("rerank --nbest",), text.encode(), line, says)
    for name, (text, line, says) in NUMBERS.items():
        yield Case(name, ("rerank --scores",), text.encode(), line, says)
    yield Case("n-best of odd length", ("rerank --size",), b"A.\nB.\nC.\n", None, "expected 2 candidates for each line")
    yield Case("n-best empty", ("rerank --nbest", "rerank --size"), b"", None, "is empty; expected the candidates")
    yield Case("reference too long", ("rerank -r",), b"A.\nB.\nC.\n", None, "expected 2 lines")
    yield Case("reference too short", ("rerank -r", "rerank --docids"), b"A.\n", None, "expected 2 lines")


def with_value(path: Sequence[Any], value: Any) -> bytes:
    """The result of `score` with another value in one place."""
    result = copy.deepcopy(RESULT)
    place: Any = result
    for key in path[:-1]:
        place = place[key]
    if value is GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(result).encode()


CASES = list(cases())


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of good files."""
    folder = tmp_path_factory.mktemp("judgements")
    (folder / "pairs.jsonl").write_bytes(lines(*(changed(PAIR, id=f"p{i}") for i in (1, 2, 3))))
    (folder / "scores.jsonl").write_bytes(lines(*(changed(SCORE, id=f"p{i}") for i in (1, 2, 3))))
    labels = {1: "right", 2: "wrong", 3: "wrong"}
    (folder / "tokens.jsonl").write_bytes(lines(*(changed(TOKEN, id=f"t{i}", label=x) for i, x in labels.items())))
    (folder / "token-scores.jsonl").write_bytes(lines(*(changed(TOKEN_SCORE, id=f"t{i}") for i in labels)))
    (folder / "result.json").write_text(json.dumps(RESULT))
    (folder / "two.txt").write_text("She left.\nHe came.\n")
    (folder / "nbest.txt").write_text("0 ||| She left.\n0 ||| He left.\n1 ||| It was late.\n1 ||| This was late.\n")
    return folder


def refused(argv: Sequence[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The error: one line, exit code 1, no output."""
    assert main([*argv]) == 1, argv
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pronmetric: error: ") and err.count("\n") == 1, err
    assert len(err) < 400, err
    return err.removeprefix("pronmetric: error: ").strip()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_one_clear_line(
    case: Case, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(good, tmp_path, dirs_exist_ok=True)
    (tmp_path / BAD).write_bytes(case.content)
    (tmp_path / "out.json").write_text("of an earlier run\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.chdir(tmp_path)
    for verb in case.verbs:
        said = refused(COMMANDS[verb], capsys)
        where = BAD if case.line is None else f"{BAD}:{case.line}"
        assert said.startswith(f"{where}: "), said
        assert case.says in said
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_no_two_bad_files_are_the_same() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert len({(case.verbs, case.content) for case in CASES}) == len(CASES)


@pytest.mark.parametrize("verb", [verb for verb, argv in COMMANDS.items() if BAD in argv])
def test_a_file_that_is_not_there_and_a_folder(
    verb: str, good: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(good)
    before = sorted(good.iterdir())
    assert refused(COMMANDS[verb], capsys).startswith("bad: ")
    assert sorted(good.iterdir()) == before
    (good / BAD).mkdir()
    try:
        assert BAD in refused(COMMANDS[verb], capsys)
        assert sorted(good.rglob("*")) == sorted([*before, good / BAD])
    finally:
        (good / BAD).rmdir()


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["She\0left."], 'attention: "text" holds a NUL'),
        (["She\ud800 left."], 'attention: "text" has a lone surrogate'),
        (["She left.", "--context", "Anna\0came."], 'attention: "context" holds a NUL'),
        (["She left.", "--context", "\udcff"], 'attention: "context" has a lone surrogate'),
        (["She left.", "--model", "nix"], "no checkpoint 'nix'"),
        (["She left.", "--model", "."], ".: not a checkpoint: expected a folder with config.yaml"),
        (["She left.", "--model", "two.txt"], "two.txt: not a checkpoint"),
    ],
)
def test_attention(
    argv: Sequence[str],
    says: str,
    good: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(good)
    assert says in refused(["attention", *argv], capsys)


def test_the_good_files_are_good(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(good, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    instead = {
        "evaluate": "pairs.jsonl",
        "evaluate --against": "scores.jsonl",
        "evaluate tokens": "tokens.jsonl",
        "agree": "pairs.jsonl",
        "agree --scores": "scores.jsonl",
        "report": "result.json",
        "rerank --nbest": "nbest.txt",
        "rerank --candidates": "two.txt",
    }
    for verb, file in instead.items():
        assert main([file if word == BAD else word for word in COMMANDS[verb]]) == 0, capsys.readouterr().err
    capsys.readouterr()


def test_one_category_is_an_answer_where_section_8_defines_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("item,r1,r2\n1,yes,yes\n2,yes,yes\n")
    assert main(["agree", "--ratings", "table.csv", *OUT]) == 0
    found = json.loads((tmp_path / "out.json").read_text())
    assert (found["ac1"]["estimate"], found["ac1"]["se"], found["ac1"]["ci_low"]) == (1, None, None)
    assert found["fleiss_kappa"]["estimate"] is None
    assert "1.00000" in capsys.readouterr().out


def test_all_of_it_before_torch_is_loaded(good: Path, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path, dirs_exist_ok=True)
    chosen = {verb: case for case in CASES for verb in case.verbs}
    runs = []
    for number, (verb, case) in enumerate(chosen.items()):
        (tmp_path / f"bad-{number}").write_bytes(case.content)
        runs.append([f"bad-{number}" if word == BAD else word for word in COMMANDS[verb]])
    code = (
        "import json, sys; from pronmetric.cli.main import main\n"
        "for argv in json.loads(sys.argv[1]):\n"
        "    assert main(argv) == 1, argv\n"
        "    assert 'torch' not in sys.modules, argv\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, json.dumps(runs)], capture_output=True, text=True, cwd=tmp_path
    )
    assert result.returncode == 0 and "Traceback" not in result.stderr, result.stderr
    assert len(result.stderr.splitlines()) == len(runs)
