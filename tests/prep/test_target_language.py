"""Preparation for other target languages than English: mismatches, noise and passages by a table; the command."""

# ruff: noqa: RUF001  (Cyrillic and Chinese)

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from data_prep.filters import interchangeable
from data_prep.noise import noisy_references
from data_prep.pairs import system_pairs
from data_prep.passages import passages
from pronmetric.cli import main as command
from pronmetric.data import arrow
from pronmetric.errors import InputError, PronmetricError
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.pronouns.languages import language
from pronmetric.schema import Alignment, Document, Segment
from pronmetric.training.examples.prepared import Prepared


def straight(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[Alignment]:
    """Links word i to word i."""
    for ref, hyp in pairs:
        yield Alignment(tuple((i, i) for i in range(min(len(ref), len(hyp)))))


@pytest.mark.parametrize(
    ("code", "ref", "hyp", "wrong", "noisy"),
    [
        ("de", "Er leuchtet noch.", "Sie leuchtet noch.", ("er", "sie"), "Sie leuchtet noch."),
        ("fr", "Je crois qu'elles dorment.", "Je crois qu'ils dorment.", ("elles", "ils"), "Je crois qu'ils dorment."),
        ("fr", "C'est loin.", "Il est loin.", None, ""),  # a demonstrative and il share no slot
        ("fr", "Je vais bien.", "J' ai bien.", None, ""),  # the same pronoun in another shape
        ("de", "Er sah mein Haus.", "Er sah meine Haus.", None, ""),
        ("fr", "Tu as bien dormi.", "Je as bien dormi.", ("tu", "je"), "J'as bien dormi."),
        ("es", "Le vi con ella.", "Le vi con él.", ("ella", "él"), "Le vi con él."),
        ("ru", "Я видел её дом.", "Я видел его дом.", ("её", "его"), "Я видел его дом."),
        ("zh", "我看见了她。", "我看见了他。", ("她", "他"), "我看见了他。"),
    ],
)
def test_a_wrong_pronoun_is_found_and_put_into_the_reference(
    code: str, ref: str, hyp: str, wrong: tuple[str, str] | None, noisy: str
) -> None:
    found = language(code)
    document = Document("demo", f"en-{code}", "d", (Segment(1, "x", {"A": ref}, {"S": hyp}),))
    pairs = system_pairs([document], straight, forms=found.forms, context_size=2, counts=Counter(), language=found)
    kinds = [(pair, m) for pair in pairs for m in pair.mismatches if m.kind == "pronoun"]
    assert [(m.ref_form, m.hyp_form) for _, m in kinds] == ([wrong] if wrong else [])
    made = [other.worse for pair, _ in kinds for other in noisy_references(pair, found)]
    assert made == ([noisy] if wrong else [])


def test_passages_and_confusions_have_the_forms_of_the_table() -> None:
    found = language("de")
    (passage,) = passages(["Er sah sie.", "Sie schwieg."], source="s", doc="d", forms=found.forms, language=found)
    assert passage.forms == ("er", "sie", "sie")
    table = ConfusionTable.from_counts({("er", "sie"): 2}, forms=found.forms)
    assert table.count("er", "sie") == 2
    with pytest.raises(InputError, match="er -> sie"):
        ConfusionTable.from_counts({("er", "sie"): 2})
    assert interchangeable("dieser", "jener", found) and not interchangeable("er", "sie", found)


def test_the_inventory_is_that_of_the_table() -> None:
    assert language("fr").inventory("all") == language("fr").forms
    with pytest.raises(InputError, match="inventory=paper: there is only inventory=all for fr"):
        language("fr").inventory("paper")


LINES = [
    (
        "The lamp is old , but it works .",
        "Die Lampe ist alt, aber sie leuchtet.",
        "Die Lampe ist alt, aber es leuchtet.",
    ),
    ("My uncle says he is ill .", "Mein Onkel sagt, dass er krank ist.", "Mein Onkel sagt, dass er krank ist."),
    ("They left the garden early .", "Sie verließen den Garten früh.", "Ihr verließt den Garten früh."),
    ("We gave the dog a bone .", "Wir gaben dem Hund einen Knochen.", "Wir gaben dem Hund einen Knochen."),
    ("Her book lies on the table .", "Ihr Buch liegt auf dem Tisch.", "Sein Buch liegt auf dem Tisch."),
    ("The wind took it away .", "Der Wind trug ihn fort.", "Der Wind trug es fort."),
]


def test_the_command_prepares_pairs_out_of_english(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "wmt"
    folder.mkdir()
    for number, name in enumerate(("src.en", "ref.A.de", "hyp.S.de")):
        texts = [f"{lines[number]} {k}" for k in range(4) for lines in LINES]
        (folder / f"demo2031.en-de.{name}").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    out = tmp_path / "out"
    flags = [f"data.wmt={folder}", f"out={out}", "data.target=de", "splits.block=2", "splits.development_share=0.3"]
    assert command.main(["prepare", *flags]) == 0
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["config"]["target"] == "de"
    confusions = json.loads((out / "confusion.json").read_text(encoding="utf-8"))
    assert confusions["sie"]["es"] >= 1 and confusions["sie"]["ihr"] >= 1
    pairs = list(arrow.read_pairs(out, "train"))
    assert {"en-de"} == {row["lp"] for row in pairs} and any(row["kind"] == "noisy" for row in pairs)
    prepared = Prepared.of(manifest)
    assert prepared.language == language("de") and prepared.forms == language("de").forms
    for broken in ({"target": "de"}, {"target": "de", "language": {"code": "de"}}):
        with pytest.raises(PronmetricError, match="target=de: the manifest's table of pronouns"):
            Prepared.of({"config": broken})
    assert not len(arrow.read_pairs(out, "development_study"))
    assert command.main(["prepare", f"data.wmt={folder}", f"out={tmp_path}/en"]) == 1
    assert "holds no WMT test set into English" in capsys.readouterr().err
