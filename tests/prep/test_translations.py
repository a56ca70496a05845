"""Texts with their sources: of test sets and of translations out of English, with the lines before them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from data_prep import translations
from data_prep.noise import confuse_slots
from data_prep.splits import DEVELOPMENT, TRAIN, SplitRule
from data_prep.survey import Survey, survey
from data_prep.wmt import discovery
from pronmetric.cli.main import main
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.pronouns.languages import ENGLISH, language

ORIGINAL = ["Ada left early.", "She took the boat.", "It was cold.", "", "They met him on the long quay at noon."]
TRANSLATION = ["Ada ging früh.", "Sie nahm das Boot.", "Es war kalt.", "Nichts.", "Sie trafen ihn am langen Kai."]


def _write(folder: Path, **lines: list[str]) -> None:
    folder.mkdir(parents=True)
    for name, content in lines.items():
        (folder / name.replace("_", ".")).write_text("".join(f"{line}\n" for line in content), encoding="utf-8")


@pytest.fixture
def parallel(tmp_path: Path) -> Path:
    ids = ["a", "a", "a", "a", "b"]
    _write(tmp_path / "parallel" / "wmt31.de-en", ref_en=ORIGINAL, src_de=TRANSLATION, docids_txt=ids)
    return tmp_path / "parallel"


def test_the_original_of_a_translation_has_the_translation_as_its_source(parallel: Path) -> None:
    counts: Counter[tuple[str, ...]] = Counter()
    (testset,) = translations.parallel_sets([str(parallel)], target="en")
    found = list(translations.of_reversed([testset], Survey(), context_size=2, language=ENGLISH, counts=counts))
    assert [(each.text, each.source) for each in found] == [
        (ORIGINAL[number], TRANSLATION[number]) for number in (1, 2, 4)
    ]
    assert [each.context for each in found] == [(ORIGINAL[0],), (ORIGINAL[0], ORIGINAL[1]), ()]  # b is another document
    assert found[1].source_context == (TRANSLATION[0], TRANSLATION[1])
    assert {(each.kind, each.language, each.testset) for each in found} == {("reversed", "de", "wmt31")}
    assert counts == {("dropped", "no pronoun"): 1, ("dropped", "empty"): 1}


def test_contexts_have_the_names_of_speakers(parallel: Path) -> None:
    (parallel / "wmt31.de-en" / "speakers.txt").write_text("Ben\n\nBen\n\nAda\n", encoding="utf-8")
    (testset,) = translations.parallel_sets([str(parallel)], target="en")
    found = translations.of_reversed([testset], Survey(), context_size=2, language=ENGLISH, counts=Counter())
    contexts = [(each.context, len(each.source_context)) for each in found]
    first, second = f"Ben: {ORIGINAL[0]}", f"{ORIGINAL[1]} Ben:"
    assert contexts == [((first,), 1), ((first, second), 2), (("Ada:",), 0)]


def test_lines_that_are_no_sentences_take_no_place_in_a_context(tmp_path: Path) -> None:
    breaks = ["<range>", "12", "***"]
    _write(
        tmp_path / "parallel" / "wmt31.de-en",
        ref_en=[*ORIGINAL[:2], *breaks, ORIGINAL[2]],
        src_de=[*TRANSLATION[:2], *breaks, TRANSLATION[2]],
    )
    (testset,) = translations.parallel_sets([str(tmp_path / "parallel")], target="en")
    *_, last = translations.of_reversed([testset], Survey(), context_size=2, language=ENGLISH, counts=Counter())
    assert (last.text, last.context, last.source_context) == (ORIGINAL[2], tuple(ORIGINAL[:2]), tuple(TRANSLATION[:2]))


def test_of_another_target_the_translation_is_the_text(parallel: Path, tmp_path: Path) -> None:
    (testset,) = translations.parallel_sets([str(parallel)], target="de")
    assert (testset.id, testset.source, testset.target) == ("wmt31.en-de", "en", "de")
    flags = ["data.wmt=[]", f"data.parallel={parallel}", "data.target=de", f"out={tmp_path / 'out'}"]
    assert main(["prepare", *flags, "splits.development_share=0.5", "fidelity.things=7"]) == 0
    made = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert made["splits"]["train"]["rows"] == 0 and made["inputs"]["wmt"] == {}
    assert set(made["inputs"]["parallel"]) == {f"wmt31.de-en/{name}" for name in ("docids.txt", "ref.en", "src.de")}
    assert any(note.startswith("no system outputs") for note in made["notes"])
    rows = [row for split in arrow.TRANSLATION_SPLITS for row in arrow.read_translations(tmp_path / "out", split)]
    things = [row for row in rows if row["kind"] == "frames"]
    assert [row["id"] for row in things] == [f"frames#{number}" for number in range(1, 8)]
    assert made["config"]["fidelity"] == {"things": 7}
    rows = [row for row in rows if row not in things]
    found = {row["text"]: row["source"] for row in rows}
    assert found == {TRANSLATION[number]: ORIGINAL[number] for number in (1, 2, 4)}
    assert {(row["kind"], row["language"]) for row in rows} == {("reference", "en")}
    assert main(["prepare", "data.wmt=[]", f"data.parallel={parallel}", f"out={tmp_path / 'en'}"]) == 1


def test_without_outputs_the_forms_of_a_slot_are_confused_by_their_frequency() -> None:
    found = confuse_slots(Counter(er=5, es=2, ihn=1), language("de"))
    assert found == {("er", "es"): 2, ("es", "er"): 5, ("es", "ihn"): 1, ("ihn", "es"): 2}


def test_a_text_of_development_is_not_trained_on(parallel: Path) -> None:
    counts, barred = Counter[tuple[str, ...]](), Survey()
    barred.held_out[TRAIN].add(ORIGINAL[4])
    sets = translations.parallel_sets([str(parallel)], target="en")
    found = list(translations.of_reversed(sets, barred, context_size=2, language=ENGLISH, counts=counts))
    assert ORIGINAL[4] not in [each.text for each in found]
    assert counts["dropped", "copy on another side"] == 1


def test_outputs_are_taken_where_their_pronouns_are_those_of_a_reference(tmp_path: Path) -> None:
    folder = tmp_path / "wmt" / "home31.de-en"
    _write(
        folder,
        src_txt=["Sie kam.", "Er sah sie.", "Es regnet."],
        ref_txt=["She came.", "He saw her.", "It rains."],
        north_txt=["She arrived.", "He saw it.", "It is raining."],
    )
    sets = discovery.discover(tmp_path / "wmt").testsets
    rule = SplitRule(development=("wmt30",), test=(), development_share=0.0, block=50, seed=1)
    found = survey(sets, rule=rule, context_size=2, sample_size=0, development_lines=())
    counts: Counter[tuple[str, ...]] = Counter()
    rows = list(
        translations.of_testsets(sets, found, TRAIN, systems=3, context_size=2, language=ENGLISH, seed=1, counts=counts)
    )
    assert [(each.kind, each.text) for each in rows] == [
        ("reference", "She came."),
        ("reference", "He saw her."),
        ("reference", "It rains."),
        ("output", "She arrived."),
        ("output", "It is raining."),
    ]
    assert rows[2].source_context == ("Sie kam.", "Er sah sie.")
    assert rows[4].source_context == rows[4].context == ()  # the line before it was not taken
    assert counts == {("outputs", "taken"): 2, ("outputs", "dropped", "other pronouns"): 1}
    assert not list(
        translations.of_testsets(
            sets, found, DEVELOPMENT, systems=0, context_size=2, language=ENGLISH, seed=1, counts=counts
        )
    )


def test_a_set_without_one_of_its_files_is_named(parallel: Path, tmp_path: Path) -> None:
    (parallel / "wmt31.de-en" / "src.de").unlink()
    with pytest.raises(InputError, match=r"src\.de: no such file: a set of data\.parallel has"):
        translations.parallel_sets([str(parallel)], target="en")
    with pytest.raises(InputError, match="holds no folder NAME"):
        translations.parallel_sets([str(tmp_path)], target="en")
    with pytest.raises(InputError, match="no such folder"):
        translations.parallel_sets([str(tmp_path / "none")], target="en")
