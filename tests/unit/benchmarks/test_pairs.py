from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.checkpoint import context_gain, pair_accuracy, prepared, scoring
from benchmarks.checkpoint.scoring import Record, Result
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.eval.accuracy import Confusion
from pronmetric.pronouns.finder import find
from pronmetric.schema import Mismatch, Pair

WHO = ("queen", "king", "ship", "crowd")
FORM = {"queen": "she", "king": "he", "ship": "it", "crowd": "they"}


def pair(seg: int, kind: str = "noisy", **changes: object) -> Pair:
    """A pair whose context names who it is about; the worse text has the next one's pronoun."""
    who = WHO[seg % 4]
    right, wrong = FORM[who], FORM[WHO[(seg + 1) % 4]]
    values: dict[str, object] = {
        "id": f"set.de-en/A/sys/{seg}/{kind}",
        "kind": kind,
        "testset": "set",
        "lp": "de-en",
        "doc": f"doc{seg // 2}",
        "seg": seg,
        "ref": "A",
        "system": "sys",
        "better": f"Then {right} left.",
        "worse": f"Then {wrong} left.",
        "context": (f"The {who} came.",),
        "system_context": (f"A {WHO[(seg + 1) % 4]} came.",),
        "mismatches": (Mismatch("pronoun", right, wrong, 5, 5 + len(right), 5, 5 + len(wrong)),),
        "agrees": True,
    }
    return Pair(**{**values, **changes})  # type: ignore[arg-type]


def believing(records: Sequence[Record]) -> list[Result]:
    """0.9 for the pronoun of whoever the context names, 0.2 for another one, 0.5 without context."""
    results = []
    for record in records:
        found = find(record["text"])
        named = [FORM[who] for who in WHO if f" {who} " in " ".join(record["context"])]
        score = 0.5 if not named else 0.9 if found and found[0].form == named[0] else 0.2
        pronouns = [{"start": o.start, "end": o.end, "probability": score} for o in found]
        results.append(Result(score=score if found else None, pronouns=pronouns))
    return results


def test_context_gain() -> None:
    relative = Mismatch("pronoun", "which", "who", 5, 10, 5, 8)
    pairs = [pair(i) for i in range(8)]
    pairs += [pair(8, better="Then which left.", worse="Then who left.", mismatches=(relative,), doc="last")]
    figures = context_gain.measure(believing, pairs)
    third = figures["third"]
    assert third["common"].pairs == 8 and third["common"].accuracy == 1.0
    assert third["none"].equal == 8
    assert (third["context_gain"].value, third["context_gain"].low) == (1.0, None)
    assert third["shuffled_gain"].value == third["shuffled"].accuracy < 1
    assert figures["all"]["common"].pairs == 9
    assert figures["third, she"]["common"].pairs == 2
    assert "third, it" in context_gain.show(figures)


def test_person() -> None:
    def persons(*forms: tuple[str, str]) -> str:
        return prepared.person(pair(0, mismatches=tuple(Mismatch("pronoun", a, b, 0, 1, 0, 1) for a, b in forms)))

    assert persons(("he", "it")) == "both third"
    assert persons(("it", "this")) == "reference third"
    assert persons(("it", "this"), ("his", "their")) == "both third"
    assert persons(("this", "it")) == "other"
    assert prepared.person(pair(0, mismatches=(Mismatch("word", "he", "man", 0, 1, 0, 1),))) == "other"


def test_units_are_documents_or_blocks() -> None:
    found = prepared.units([pair(1), pair(3), pair(19, doc="set.de-en"), pair(20, doc="set.de-en")])
    assert found == [("set", "de-en", "doc0"), ("set", "de-en", "doc1"), ("set", "de-en", 0), ("set", "de-en", 1)]


def test_pair_accuracy_by_part_and_context() -> None:
    word = Mismatch("word", "she", "woman", 5, 8, 5, 10)
    pairs = [pair(i) for i in range(8)]
    pairs += [pair(i, kind="system") for i in range(8, 16)]
    pairs += [
        pair(16, kind="system", mismatches=(word,), worse="The woman left."),
        pair(18, kind="system", agrees=False),
    ]
    figures = pair_accuracy.measure(believing, pairs, pair_accuracy.KINDS)
    assert {part: found["contexts"]["common"].pairs for part, found in figures.items()} == {
        "system": 9,
        "noisy": 8,
        "system other": 1,
    }
    contexts = figures["noisy"]["contexts"]
    assert contexts["common"].accuracy == 1.0
    assert contexts["respective"].equal == 8  # each text is what its own context names: 0.9 and 0.9
    assert contexts["crossed"].equal == 8  # (0.9 + 0.2) / 2 on both sides
    assert contexts["none"].equal == 8
    other = figures["system other"]
    assert other["contexts"]["common"].null == 1 and other["by_count"].unequal.pairs == 1
    assert figures["noisy"]["by_person"]["both third"].pairs == 8
    assert figures["noisy"]["confusions"][0] == Confusion("he", "it", 2, 0)
    assert figures["system"]["by_mismatches"]["one"].pairs == 9
    assert figures["noisy"]["by_count"].fewer_won is None
    shown = pair_accuracy.show(figures)
    assert "R vs R', crossed" in shown and "R vs S, common" in shown and "he -> it" in shown


def test_crossed_context_prefers_what_either_context_names() -> None:
    one = pair(0, system_context=("Nobody came.",))  # 0.9 and 0.5 against 0.2 and 0.5
    (found,) = pair_accuracy.measure(believing, [one], ("common", "crossed")).values()
    assert found["contexts"]["crossed"].right == 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("prepared") / "out"
    pairs = [pair(i // 2, system=f"sys{i % 2}", id=str(i)) for i in range(24)]
    arrow.write(where, pairs={"development": pairs, "test": [pair(0, kind="system")]}, passages={})
    return where


def options(folder: Path, **changes: object) -> argparse.Namespace:
    return argparse.Namespace(
        **{"data": folder, "split": "development", "limit": None, "seed": 0, "testsets": None, **changes}
    )


def test_limit_draws_whole_sentences(folder: Path) -> None:
    assert len(prepared.read(options(folder))) == 24
    found = prepared.read(options(folder, limit=5))
    assert len(found) == 6 and len({prepared.sentence(p) for p in found}) == 3
    assert found == prepared.read(options(folder, limit=5))
    assert [int(p.id) for p in found] == sorted(int(p.id) for p in found)
    assert found != prepared.read(options(folder, limit=5, seed=1))


def test_pairs_of_test_sets(folder: Path) -> None:
    name = prepared.read(options(folder))[0].testset
    assert len(prepared.read(options(folder, testsets=[name]))) == 24
    with pytest.raises(InputError, match="no pair to measure"):
        prepared.read(options(folder, testsets=["other"]))


def test_a_split_without_such_pairs(folder: Path) -> None:
    with pytest.raises(InputError, match="no pair to measure in split test"):
        prepared.read(options(folder, split="test"), lambda p: p.kind == "noisy")


@pytest.mark.parametrize("script", [context_gain, pair_accuracy])
def test_scripts(
    script: object, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr(scoring, "load", lambda options: scoring.Counting(believing, "fake"))
    flags = ["--model", str(tmp_path), "--data", str(folder), "--out", str(tmp_path / "figures.json")]
    monkeypatch.setattr(sys, "argv", ["script", *flags])
    script.main()  # type: ignore[attr-defined]
    assert "100.0" in capsys.readouterr().out
    assert '"signature": "fake"' in (tmp_path / "figures.json").read_text(encoding="utf-8")
