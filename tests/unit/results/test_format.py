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
from pronmetric.scoring.score import Counts, Gap, PronounScore, SegmentScore
from pronmetric.scoring.surplus import tell_surplus
from pronmetric.text.corpus import Row

ROW = Row(("She left.", "Gone."), "d", None, ("She left.",))
SHE = SegmentScore(0.9, (PronounScore("She", 0, 3, 0.9, 0.9),), words=2)
NONE = SegmentScore(None, ())
SHE_JSON = '"score": 0.9, "errors": 0.1, "pronouns": [{"text": "She", "start": 0, "end": 3, "probability": 0.9}]'
COUNTS = (
    '"counts": {\n "encoded": 1,\n "context_cut": 0,\n "context_shortened": 0,\n "windowed": 0,\n "surplus": 0,'
    '\n "unread": 0,\n "entities": 0,\n "apostrophes": 0,\n "letters": 0,\n "markup": 0\n}'
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


def test_wrong_and_missing_pronouns_are_apart_where_they_are_known(tmp_path: Path) -> None:
    found = SHE._replace(missing=0.75, gaps=(Gap(4, "it", 0.625),))
    target, table = tmp_path / "o.json", tmp_path / "o.tsv"
    tally = SystemTally("a", ())
    row = Row(("She left.",), None, None, ())
    columns = write.score_columns(("r",), ("bleu",), apart=True)
    with Writer(json_path=str(target), tsv_path=str(table), columns=columns) as writer:
        for number, segment in enumerate((found, SHE)):  # of the second the source is not known
            tally.add((segment,), None)
            head = {"system": "a", "segment": number, "doc": None}
            texts = write.texts_of(row, row.texts[0], ("",), (), (segment,))
            write.add_scored(writer, head, texts, segment, apart=True, also={"bleu": 50.0}, each=(segment,))
        known = write.system_entry(SystemTally("a", ()).result())
        writer.finish(systems=[write.system_entry(tally.result())], counts={}, signature=SIGNATURE)
    assert "expected_wrong_per_100_pronouns" not in known
    first, second = json.loads(target.read_text(encoding="utf-8"))["segments"]
    assert (first["errors"], first["expected_wrong"], first["expected_missing"]) == (0.85, 0.1, 0.75)
    assert first["gaps"] == [{"start": 4, "form": "it", "probability": 0.625}]
    assert not {"expected_wrong", "expected_missing", "gaps"} & set(second)
    names, *rows = (line.split("\t") for line in table.read_text(encoding="utf-8").splitlines())
    assert names[3:10] == [f"segment_{key}" for key in "score errors preference wrong surplus missing gaps".split()]
    assert names[10:] == ["pronoun", "start", "end", "score", "score with r", "bleu"]
    assert rows[0][3:10] == ["0.90000", "0.85000", "", "0.10000", "", "0.75000", "it at 4 0.62"]
    assert rows[1][3:10] == ["0.90000", "0.10000", "", "", "", "", ""]
    read, plain = (segment.outputs[0] for segment in results.read(str(target)).segments)
    assert read.gaps == found.gaps and (read.missing, read.wrong) == (0.75, pytest.approx(0.1))
    assert plain.gaps == () and plain.missing is None and plain.wrong is None
    system = results.read(str(target)).systems[0]
    assert "expected_missing_per_100_pronouns" not in system.rates  # not known of all segments


def test_the_rates_of_a_system_are_read_back(tmp_path: Path) -> None:
    target = tmp_path / "o.json"
    tally = SystemTally("a", ())
    with Writer(json_path=str(target), tsv_path=None, columns=()) as writer:
        found = tally.add((SHE._replace(missing=0.75),), None)
        texts = write.texts_of(ROW, "She left.", ("",), (), (found,))
        write.add_scored(writer, {"system": "a", "segment": 0, "doc": None}, texts, found)
        writer.finish(systems=[write.system_entry(tally.result())], counts={}, signature=SIGNATURE)
    rates = results.read(str(target)).systems[0].rates
    assert rates["expected_wrong_per_100_pronouns"] == (10.0, None)
    assert rates["expected_missing_per_100_pronouns"] == (75.0, None)
    assert rates["errors_per_100_pronouns"] == (85.0, None)


def test_surplus_pronouns_are_apart_where_they_are_told(tmp_path: Path) -> None:
    found = tell_surplus(SHE._replace(missing=0.75), {"": 0.5, "she": 0.25})
    target, table = tmp_path / "o.json", tmp_path / "o.tsv"
    tally = SystemTally("a", ())
    with Writer(json_path=str(target), tsv_path=str(table), columns=write.score_columns((), (), apart=True)) as writer:
        tally.add((found,), None)
        texts = write.texts_of(ROW, "She left.", ("",), (), (found,))
        write.add_scored(writer, {"system": "a", "segment": 0, "doc": None}, texts, found, apart=True)
        writer.finish(systems=[write.system_entry(tally.result())], counts={}, signature=SIGNATURE)
    (entry,) = json.loads(target.read_text(encoding="utf-8"))["segments"]
    numbers = [entry[key] for key in ("errors", "expected_wrong", "expected_surplus", "expected_missing")]
    assert numbers == [0.85, 0.075, 0.025, 0.75] and entry["pronouns"][0]["surplus"] == 0.025
    names, row = (line.split("\t") for line in table.read_text(encoding="utf-8").splitlines())
    assert dict(zip(names, row, strict=True))["segment_surplus"] == "0.02500"
    read = results.read(str(target))
    (output,) = read.segments[0].outputs
    assert (output.surplus, output.wrong) == (0.025, pytest.approx(0.075)) and output.pronouns[0].surplus == 0.025
    rates = read.systems[0].rates
    assert rates["expected_wrong_per_100_pronouns"] == (7.5, None)
    assert rates["expected_surplus_per_100_pronouns"] == (2.5, None)
    target.write_text(target.read_text(encoding="utf-8").replace('"surplus": 0.025', '"surplus": 2'), encoding="utf-8")
    with pytest.raises(InputError, match=r'"surplus" must lie in \[0, 1\], got 2'):
        results.read(str(target))


@pytest.mark.parametrize(
    ("gap", "message"),
    [
        ({"start": 1, "form": "it", "probability": 0.5}, '"start" must be that of a word of the text, got 1'),
        ({"start": 4, "form": "it", "probability": 1.5}, '"probability" must lie in'),
        ({"start": 4, "probability": 0.5}, "form"),
    ],
)
def test_a_broken_gap_is_refused(tmp_path: Path, gap: dict[str, object], message: str) -> None:
    target = tmp_path / "o.json"
    tally = SystemTally("a", ())
    with Writer(json_path=str(target), tsv_path=None, columns=()) as writer:
        found = tally.add((SHE._replace(missing=0.75, gaps=(Gap(4, "it", 0.5),)),), None)
        texts = write.texts_of(ROW, "She left.", ("",), (), (found,))
        write.add_scored(writer, {"system": "a", "segment": 0, "doc": None}, texts, found)
        writer.finish(systems=[write.system_entry(tally.result())], counts={}, signature=SIGNATURE)
    content = json.loads(target.read_text(encoding="utf-8"))
    content["segments"][0]["gaps"] = [gap]
    target.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        results.read(str(target))
    assert message in str(raised.value)


def test_a_comparison_has_both_sides_apart(tmp_path: Path) -> None:
    row = Row(("She left.", "Left."), None, None, ())
    scores = {(0, 1): (SHE._replace(missing=0.0),), (1, 0): (NONE._replace(missing=0.75, gaps=(Gap(0, "she", 0.5),)),)}
    pairs = AllPairs(("a", "b"), (), tie=0.01, by="errors")
    target, table = tmp_path / "o.json", tmp_path / "o.tsv"
    columns = write.comparison_columns((), apart=True)
    with Writer(json_path=str(target), tsv_path=str(table), columns=columns) as writer:
        write.add_compared(writer, 0, row, list(pairs.add(scores, None)), by="errors", apart=True)
        entries = [write.pair_entry(result, by="errors") for result in pairs.results(seed=1)]
        decision = write.decision_entry("errors", 0.01)
        writer.finish(format=FORMAT, pairs=entries, **decision, counts={}, signature=SIGNATURE)
    names, cells = (line.split("\t") for line in table.read_text(encoding="utf-8").splitlines())
    assert names[-6:] == [f"{side}_{kind}" for side in "ab" for kind in ("wrong", "surplus", "missing")]
    assert cells[-6:] == ["0.10000", "", "0.00000", "0.00000", "", "0.75000"]
    assert results.read(str(target)).segments[0].outputs[1].gaps == (Gap(0, "she", 0.5),)
