"""Dialogues of DiaBLa as a test set: both directions, names, what is left out, and the pairs that `prepare` makes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.checkpoint import dialogues
from data_prep.wmt import discovery
from pronmetric.errors import InputError

SAID = {
    "0": ("english", "Did  you call me?", "Tu m'as appelé ?", "M'avez-vous appelé ?"),
    "1": ("french", "Oui, je t'ai appelée.", "Yes, I called you.", "Yes, I called her."),
    "2": ("french", "Bon.", "", "Good."),
}


def dialogue(folder: Path, name: str = "one.json") -> None:
    utterances: Mapping[str, object] = {
        key: {
            "language": language,
            "original_text": own,
            "normalised_version": None,
            "reference_translation": reference,
            "postprocessed_text": output,
        }
        for key, (language, own, reference, output) in SAID.items()
    }
    (folder / name).write_text(json.dumps({"utterances": utterances}), encoding="utf-8")


def test_english_is_the_reference_and_both_have_a_name(tmp_path: Path) -> None:
    dialogue(tmp_path)
    first, second = dialogues.read(tmp_path)
    assert (first.english, first.output, first.french) == ("Did you call me?",) * 2 + ("Tu m'as appelé ?",)
    assert (second.english, second.output, second.french) == (
        "Yes, I called you.",
        "Yes, I called her.",
        "Oui, je t'ai appelée.",
    )
    assert {first.speaker, second.speaker} <= set(dialogues.NAMES)
    assert first.speaker != second.speaker


def test_the_command_writes_a_test_set_in_the_plain_layout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dialogue(tmp_path)
    out = tmp_path / "talk.fr-en"
    monkeypatch.setattr("sys.argv", ["dialogues", "--diabla", str(tmp_path), "--out", str(out)])
    dialogues.main()
    assert capsys.readouterr().out == f"2 lines of 1 dialogues: {out}\n"
    (testset,) = discovery.find([str(out)])
    (document,) = discovery.read(testset)
    assert [text for segment in document.segments for text in segment.refs.values()] == [
        "Did you call me?",
        "Yes, I called you.",
    ]
    assert all(segment.speaker in dialogues.NAMES for segment in document.segments)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no JSON file"):
        list(dialogues.read(tmp_path))
    (tmp_path / "two.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="utterances"):
        list(dialogues.read(tmp_path))
