"""The error analysis: pronoun pairs by number of errors, with examples."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.checkpoint import confusions
from benchmarks.checkpoint.scoring import Record, Result
from pronmetric.pronouns.finder import find
from pronmetric.schema import Mismatch, Pair


def pair(seg: int, right: str, wrong: str, kind: str = "noisy") -> Pair:
    mismatch = Mismatch("pronoun", right, wrong, 5, 5 + len(right), 5, 5 + len(wrong))
    return Pair(
        id=f"set.de-en/A/S/{seg}/{kind}",
        kind=kind,
        testset="set",
        lp="de-en",
        doc=f"d{seg}",
        seg=seg,
        ref="A",
        system="S",
        better=f"Then {right} left.",
        worse=f"Then {wrong} left.",
        context=(f"Sentence {seg}.",),
        system_context=(),
        mismatches=(mismatch,),
        agrees=True,
    )


def preferring_he(records: Sequence[Record]) -> list[Result]:
    return [
        Result(score=0.9 if " he " in each["text"] else 0.5, pronouns=[{"start": o.start, "end": o.end} for o in found])
        for each in records
        for found in [find(each["text"])]
    ]


PAIRS = [
    *(pair(n, "it", "he") for n in range(3)),
    *(pair(n, "he", "it") for n in range(3, 7)),
    pair(7, "it", "she"),
    pair(8, "she", "he", "system"),
]


def test_errors_by_pronoun_pair() -> None:
    figures, judged = confusions.measure(preferring_he, PAIRS)
    noisy = figures["noisy"]
    assert noisy["errors"] == 4 and noisy["accuracy"].pairs == 8
    first, second, third = noisy["confusions"]
    assert first == {"reference": "it", "wrong": "he", "pairs": 3, "errors": 3, "accuracy": 0, "share": 0.75}
    assert (second["reference"], second["wrong"], second["share"]) == ("it", "she", 0.25)  # equal scores
    assert third["errors"] == 0 and third["accuracy"] == 1
    assert figures["system"]["confusions"][0]["errors"] == 1
    shown = confusions.show(figures)
    row = next(line for line in shown.splitlines() if line.startswith("it -> she"))
    assert row.split()[3:] == ["1", "1", "0.0", "25.0", "100.0"] and "he -> it" not in shown
    told = confusions.examples(PAIRS[:8], judged["noisy"], noisy, most=1)
    assert (
        told.count("it -> he") == 1 and "  context  Sentence 0.\n  0.500    Then it left.\n  0.900    Then he" in told
    )


def test_pairs_with_several_mismatches_are_left_out() -> None:
    one = PAIRS[0]
    assert confusions.mismatch(one) == one.mismatches[0]
    several = Pair(**{name: getattr(one, name) for name in Pair.__slots__} | {"mismatches": one.mismatches * 2})
    word = Mismatch("word", "it", "dog", 5, 7, 5, 8)
    other = Pair(**{name: getattr(one, name) for name in Pair.__slots__} | {"mismatches": (word,)})
    assert confusions.mismatch(several) is None and confusions.mismatch(other) is None
