"""The result format, byte for byte: what `score` and `compare` write, and that the reader takes it."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest

from pronmetric import results
from pronmetric.errors import InputError
from pronmetric.results import write
from pronmetric.results.write import FORMAT, Writer, counts_entry
from pronmetric.scoring.bulk import SystemTally
from pronmetric.scoring.comparison import AllPairs
from pronmetric.scoring.score import Counts, PronounScore, SegmentScore
from pronmetric.text.corpus import Row

ROW = Row(("She left.", "Gone."), "d", None, ("She left.",))
SHE = SegmentScore(0.9, (PronounScore("She", 0, 3, 0.9, 0.9),), words=2)
NONE = SegmentScore(None, ())
SHE_JSON = '"score": 0.9, "errors": 0.1, "pronouns": [{"text": "She", "start": 0, "end": 3, "probability": 0.9}]'
COUNTS = (
    '"counts": {\n "encoded": 1,\n "context_cut": 0,\n "windowed": 0,\n "surplus": 0,\n "unread": 0,'
    '\n "entities": 0,\n "apostrophes": 0,\n "letters": 0,\n "markup": 0\n}'
)
SIGNATURE = "model:x|context:common|version:1"


def test_the_files_of_score(tmp_path: Path) -> None:
    tallies = [SystemTally(name, ()) for name in ("a", "b")]
    target, table = tmp_path / "o.json", tmp_path / "o.tsv"
    with Writer(json_path=str(target), tsv_path=str(table), columns=write.score_columns((), ())) as writer:
        for tally, text, segment in zip(tallies, ROW.texts, (SHE, NONE), strict=True):
            found = tally.add((segment,), ROW.doc)
            head = {"system": tally.name, "segment": 0, "doc": ROW.doc}
            write.add_scored(writer, head, write.texts_of(ROW, text, ("Then",), (), (segment,)), found)
        entries = [write.system_entry(tally.result()) for tally in tallies]
        writer.finish(systems=entries, counts=counts_entry(Counts(encoded=1)), signature=SIGNATURE)
    texts = '"source": null, "reference": "She left.", "context": "Then"'
    system = ' {{\n  "system": "{}",\n  "score": {},\n  "interval": null,\n  "resampled": "segments",\n  "units": {},\n'
    system += '  "pronouns": {},\n  "segments": 1,\n  "segments_with_pronoun": {},\n  "errors_per_100_pronouns": {},\n'
    system += '  "errors_per_1000_words": {}\n }}'
    rates = ['{\n   "value": 10.0,\n   "interval": null\n  }', '{\n   "value": 50.0,\n   "interval": null\n  }']
    assert target.read_text(encoding="utf-8") == (
        '{\n"segments": [\n'
        f'{{"system": "a", "segment": 0, "doc": "d", {texts}, "text": "She left.", {SHE_JSON}}},\n'
        f'{{"system": "b", "segment": 0, "doc": "d", {texts}, "text": "Gone.", '
        '"score": null, "errors": 0.0, "pronouns": []}\n],\n'
        f'"systems": [\n{system.format("a", "90.0", 1, 1, 1, *rates)},\n'
        f"{system.format('b', 'null', 0, 0, 0, 'null', 'null')}\n],\n"
        f'{COUNTS},\n"signature": "{SIGNATURE}"\n}}\n'
    )
    assert table.read_text(encoding="utf-8").splitlines() == [
        "system\tsegment\tdoc\tsegment_score\tsegment_errors\tsegment_preference\tpronoun\tstart\tend\tscore",
        "a\t0\td\t0.90000\t0.10000\t\tShe\t0\t3\t0.90000",
        "b\t0\td\t\t0.00000\t\t\t\t\t",
    ]
    read = results.read(str(target))
    assert read.names == ("a", "b") and [output.score for output in read.segments[0].outputs] == [0.9, None]


def test_the_files_of_compare(tmp_path: Path) -> None:
    it = SegmentScore(0.4, (PronounScore("It", 0, 2, 0.4, 0.4),))
    row = Row(("She left.", "It left."), None, None, ())
    pairs = AllPairs(("a", "b"), (), tie=0.01)
    target, table = tmp_path / "o.json", tmp_path / "o.tsv"
    with Writer(json_path=str(target), tsv_path=str(table), columns=write.comparison_columns(())) as writer:
        decided = list(pairs.add({(0, 1): (SHE,), (1, 0): (it,)}, row.doc))
        write.add_compared(writer, 0, row, decided, by="score")
        entries = [write.pair_entry(result, by="score") for result in pairs.results(seed=1)]
        decision = write.decision_entry("score", 0.01)
        writer.finish(
            format=FORMAT, pairs=entries, **decision, counts=counts_entry(Counts(encoded=1)), signature=SIGNATURE
        )
    it_json = SHE_JSON.replace("0.9", "0.4").replace("0.1", "0.6").replace("She", "It").replace('"end": 3', '"end": 2')
    first, rest = target.read_text(encoding="utf-8").split('\n],\n"format": 2,\n"pairs": ')
    assert first == (
        '{\n"segments": [\n{"segment": 0, "doc": null, "source": null, "reference": null, '
        f'"outputs": [{{"text": "She left.", {SHE_JSON}}}, {{"text": "It left.", {it_json}}}], '
        '"pairs": [{"better": "a", "difference": 0.5, "a_decided": [0], "b_decided": [0]}]}'
    )
    decision = '"by": "score",\n"unit": "score",\n"tie": 0.01'
    assert rest.endswith(f',\n{decision},\n{COUNTS},\n"signature": "{SIGNATURE}"\n}}\n')
    pair = json.loads(target.read_text(encoding="utf-8"))["pairs"][0]
    keys = "a b difference unit score_difference interval"
    tests = "p_randomisation p_randomisation_holm p_t p_t_holm"
    assert list(pair) == [*keys.split(), *tests.split(), *"wins ties losses one_sided unscored resampled units".split()]
    assert (pair["difference"], pair["wins"], pair["interval"], pair["units"]) == (50.0, 1, None, 1)
    assert (pair["unit"], pair["score_difference"]) == ("points", 50.0)
    assert (
        table.read_text(encoding="utf-8").splitlines()[1]
        == "a\tb\t0\t\ta\t0.50000\tscore\t0.90000\t0.40000\tShe 0.90\tIt 0.40"
    )
    read = results.read(str(target))
    assert [system.score for system in read.systems] == [90.0, 40.0]
    assert read.by == "score" and read.segments[0].verdicts == (results.Verdict("a", 0.5),)


def test_a_comparison_of_several_systems_has_each_text_once(tmp_path: Path) -> None:
    """Of crossed contexts, a pair has its own scores where they are not those that stand with the texts."""
    row = Row(tuple(f"She met {name}." for name in "xyz"), "d", "Quelle", ("She left.",))
    target = tmp_path / "o.json"

    def scored(pair: tuple[int, int]) -> tuple[SegmentScore]:
        score = 0.9 - 0.1 * pair[0] - (0.05 if pair == (1, 2) else 0)
        return (SegmentScore(score, (PronounScore("She", 0, 3, score, score),), 10 * score, words=3),)

    pairs = AllPairs(("a", "b", "c"), (), tie=0.01, by="preference")
    with Writer(json_path=str(target), tsv_path=None, columns=()) as writer:
        for number in range(2):
            decided = list(pairs.add({pair: scored(pair) for pair in permutations(range(3), 2)}, "d"))
            write.add_compared(writer, number, row, decided, by="preference")
        entries = [write.pair_entry(result, by="preference") for result in pairs.results(seed=1)]
        decision = write.decision_entry("preference", 0.01)
        signature = SIGNATURE.replace("common", "crossed")
        writer.finish(format=FORMAT, pairs=entries, **decision, counts={}, signature=signature)
    text = target.read_text(encoding="utf-8")
    assert all(text.count(f'"{line}"') == 2 for line in (*row.texts, "Quelle"))  # of two segments
    segment = json.loads(text)["segments"][0]
    assert [list(pair) for pair in segment["pairs"]] == [
        ["better", "difference", "a_decided", "b_decided"],
        ["better", "difference", "a_decided", "b_decided"],
        ["better", "difference", "a_decided", "b_decided", "a_scored"],  # system 1 in the contexts of 1 and 2
    ]
    read = results.read(str(target))
    assert read.by == "preference" and [output.score for output in read.segments[1].outputs] == [0.9, 0.8, 0.7]
    assert [(v.better, v.difference) for v in read.segments[1].verdicts] == [("a", 1.0), ("a", 2.0), ("a", 0.5)]
    assert read.segments[1].outputs[2].context == "She met z."
    assert (read.pairs[0].difference, read.pairs[0].score_difference) == (1.0, 10.0)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text('{"format": 3, "segments": []}')
    with pytest.raises(InputError, match='"format" is 3, expected 1 or 2: read it with a newer pronmetric'):
        results.read(str(tmp_path / "o.json"))
