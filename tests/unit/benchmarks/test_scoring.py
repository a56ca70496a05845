from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import pages
from benchmarks.checkpoint import scoring
from benchmarks.checkpoint.scoring import Contrast, Record, Result
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.accuracy import Accuracy, Estimate


class Remembering:
    """A scorer that keeps what it was asked: the score is the length of context and text."""

    def __init__(self) -> None:
        self.calls: list[list[Record]] = []

    def __call__(self, records: Sequence[Record]) -> list[Result]:
        self.calls.append(list(records))
        return [Result(score=float(len(" ".join([*r["context"], r["text"]]))), pronouns=[]) for r in records]


def test_all_kinds_of_context_in_one_call_and_each_record_once() -> None:
    scorer = Remembering()
    contrasts = [Contrast("it rains", "he rains"), Contrast("it rains", "she rains")]
    judged = scoring.judge(
        scorer,
        contrasts,
        {"common": scoring.same([["a b"], ["a b"]]), "none": scoring.same([(), ()])},
    )
    (call,) = scorer.calls
    assert Counter((r["text"], tuple(r["context"])) for r in call) == Counter(
        {(text, context): 1 for text in ("it rains", "he rains", "she rains") for context in (("a b",), ())}
    )
    assert [r["score"] for r in judged["common"].better] == [12.0, 12.0]
    assert [r["score"] for r in judged["none"].worse] == [8.0, 9.0]
    assert judged["none"].decisions.equal.tolist() == [True, False]


def test_records_come_in_a_drawn_order() -> None:
    records = [(f"text {i:03}", ()) for i in range(50)]
    first, second, other = Remembering(), Remembering(), Remembering()
    results = scoring.score_all(first, records, seed=1)
    scoring.score_all(second, records, seed=1)
    scoring.score_all(other, records, seed=2)
    order = [r["text"] for r in first.calls[0]]
    assert order != sorted(order)
    assert order == [r["text"] for r in second.calls[0]] != [r["text"] for r in other.calls[0]]
    assert [r["score"] for r in results] == [8.0] * 50


def test_two_contexts_of_one_contrast() -> None:
    judged = scoring.judge(Remembering(), [Contrast("it", "it")], {"respective": [(["a"], ["a b c"])]})
    assert judged["respective"].decisions.lost.tolist() == [True]


def test_shuffled_context_is_that_of_another_document() -> None:
    documents = [d for d, size in enumerate((5, 1, 3, 2, 4)) for _ in range(size)]
    for seed in range(20):
        given = scoring.shuffle_contexts(list(enumerate(documents)), items=range(15), groups=documents, seed=seed)
        assert sorted(given) == list(enumerate(documents))  # each context once
        assert all(own != foreign for own, (_, foreign) in zip(documents, given, strict=True))
    first, second = (scoring.shuffle_contexts(range(15), items=range(15), groups=documents, seed=s) for s in (0, 1))
    assert first != second


def test_shuffled_context_is_the_same_for_the_pairs_of_a_sentence() -> None:
    given = scoring.shuffle_contexts(["a", "a", "b", "c"], items=["x", "x", "y", "z"], groups=[1, 1, 2, 3])
    assert given[0] == given[1] != "a"


def test_a_document_of_more_than_half_cannot_be_shuffled() -> None:
    with pytest.raises(PronmetricError, match="got one with 3 of 5"):
        scoring.shuffle_contexts("abcde", items=range(5), groups=[1, 1, 1, 2, 3])


def test_scored_at() -> None:
    result = Result(score=0.5, pronouns=[{"start": 3, "end": 5}])
    assert scoring.scored_at(result, 3, 5) and scoring.scored_at(result, 0, 4)
    assert not scoring.scored_at(result, 0, 3) and not scoring.scored_at(result, 5, 9)


def test_difference_of_two_contexts_is_paired() -> None:
    contrasts = [Contrast("aa", "a"), Contrast("bb", "b"), Contrast("c", "cc")]
    judged = scoring.judge(Remembering(), contrasts, {"one": scoring.same([()] * 3), "two": [((), ["x"])] * 3})
    # one: right right wrong; two: "x a" is longer than "aa": all wrong
    assert scoring.difference(judged["one"], judged["two"], "abc").value == pytest.approx(2 / 3)


def test_third_person() -> None:
    assert {"he", "her", "its", "themselves", "theirs"} <= scoring.THIRD_PERSON
    assert not {"this", "who", "that", "you", "my"} & scoring.THIRD_PERSON


def test_percent() -> None:
    assert pages.percent(Accuracy(0.864, 0.831, 0.892, 500, 432, 0, 0)) == "86.4 [83.1, 89.2]"
    assert pages.percent(Estimate(-0.01, -0.02, 0.005), signed=True) == "-1.0 [-2.0, +0.5]"
    assert pages.percent(Estimate(0.5, None, None)) == "50.0"
    assert pages.percent(None) == "-"


def test_table() -> None:
    assert pages.table(["form", "n"], [["it", 5], ["himself", 12]]).splitlines() == [
        "form      n",
        "it        5",
        "himself  12",
    ]


def test_report_holds_where_figures_come_from(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    options = argparse.Namespace(model=str(tmp_path), out=tmp_path / "new" / "figures.json")
    scorer = scoring.Counting(Remembering(), "model:x")
    scorer([Record(text="it", context=[])])
    scoring.report("study", options, scorer, {"accuracy": Estimate(0.5, None, None), "list": [(1, 2)]})
    found = json.loads(options.out.read_text(encoding="utf-8"))
    assert found["figures"] == {"accuracy": {"value": 0.5, "low": None, "high": None}, "list": [[1, 2]]}
    assert found["weights"] == hashlib.sha256(b"weights").hexdigest()[:8]
    assert (found["benchmark"], found["signature"], found["records"]) == ("study", "model:x", 1)


def test_a_command_names_no_folder_of_this_machine(root: Path) -> None:
    given = [
        "--out=/tmp/figures/gap.json",
        "/tmp/data",
        str(root / "checkpoints" / "small"),
        "checkpoints/small",
        "4000",
    ]
    expected = ["--out=gap.json", "data", "checkpoints/small", "checkpoints/small", "4000"]
    assert [pages.portable(argument) for argument in given] == expected


def test_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected model\.safetensors"):
        pages.weights_hash(tmp_path)


def test_a_fault_is_one_line_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise InputError("no such thing", file="x.txt", line=3)

    with pytest.raises(SystemExit) as stop:
        pages.run(main)
    assert stop.value.code == 1
    assert capsys.readouterr().err == "benchmarks: error: x.txt:3: no such thing\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file or directory; expected the figures of `python -m benchmarks.checkpoint.people --out`"),
        ("{", "broken JSON"),
        ("[]", "expected the figures"),
        ('{"benchmark": "gap"}', "expected the figures"),
    ],
)
def test_a_file_that_is_no_report_is_named(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "people.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=f"people.json: {message}"):
        scoring.read_report(path, "people")
