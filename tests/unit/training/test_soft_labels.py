"""Labelled slots: their forms, texts and rows; a stopped run goes on; the examples that training makes of them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.schema import Pair
from pronmetric.training import soft_labels, soft_pairs
from pronmetric.training.form_probability import FormReader
from pronmetric.training.prepared import Prepared

PASSAGES = [
    "Ada sold the boat. She had rowed it for years. Then her brother came, and he wept.",
    "The tide is late. It was said that they had seen him there. We waited.",
    "No word stands for a person here.",
]
FORMS = Prepared.of({"config": {}})


class Reader(FormReader):
    """In the place of a language model: a form of another length is less likely; texts with "sank" do not fit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.slots: list[Sequence[str]] = []

    def fits(self, texts: Sequence[str]) -> bool:
        return not any("sank" in text for text in texts)

    def read(
        self, slots: Sequence[Sequence[str]], *, advance: Callable[[int], object] | None = None
    ) -> list[list[float]]:
        self.slots += slots
        if advance is not None:
            advance(len(slots))
        return [[-5.0 - abs(len(text) - len(texts[0])) for text in texts] for texts in slots]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "lm"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "config.json").write_text("{}", encoding="utf-8")
    return folder


@pytest.fixture
def prepared(make_prepared: Callable[..., Path], sample_pairs: list[Pair]) -> Path:
    return make_prepared(train=sample_pairs[:2], development=sample_pairs[2:4], passages=PASSAGES * 40)


def run(prepared: Path, out: Path, reader: Reader, *, slots: int = 1000, **changes: Any) -> dict[str, Any]:
    return soft_labels.label(prepared, out, reader, **{"precision": "32", "slots": slots, "seed": 1, **changes})


def rows(out: Path) -> list[Pair]:
    return [arrow.to_pair(row) for row in arrow.read_pairs(out, arrow.SOFT_SPLIT)]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_slot_has_the_forms_that_fit_it_and_agree_with_the_verb() -> None:
    found = {(slot.forms[0], slot.start): slot for slot in soft_labels._slots({"text": PASSAGES[0]}, FORMS)}
    she = found["she", 19]
    assert she.forms[0] == "she" and {"he", "it", "they"} <= set(she.forms)
    assert she.texts[0] == PASSAGES[0]
    assert she.texts[she.forms.index("they")] == PASSAGES[0].replace("She", "They")
    assert PASSAGES[0][slice(*she.sentence)] == "She had rowed it for years."
    her = found["her", PASSAGES[0].index("her ")]
    assert {"his", "its", "their"} <= set(her.forms) and "him" not in her.forms
    (it, *_) = soft_labels._slots({"text": "It is late."}, FORMS)
    assert {"he", "she"} <= set(it.forms) and not {"they", "we", "you", "i"} & set(it.forms)


def test_the_model_reads_all_on_the_left_and_some_words_on_the_right() -> None:
    left, right = "The boat was old. " * 30, " the boat" * 60
    (slot,) = soft_labels._slots({"text": f"{left}Ada saw him and{right}."}, FORMS)
    assert all(text.startswith(left) for text in slot.texts)
    assert slot.texts[0].endswith(f"him and{' the boat' * 12}")  # 25 words


def test_only_forms_that_are_scored_are_labelled() -> None:
    few = FORMS._replace(forms=("he", "she", "him"))
    assert [slot.forms for slot in soft_labels._slots({"text": "She saw him, and they left."}, few)] == [("she", "he")]


def test_a_row_has_the_sentence_its_context_and_the_numbers(prepared: Path, tmp_path: Path, model: Path) -> None:
    reader = Reader(model)
    manifest = run(prepared, tmp_path / "soft", reader)
    found = rows(tmp_path / "soft")
    assert len({row.id for row in found}) == len(found) == manifest["splits"]["soft_train"]["rows"] == len(reader.slots)
    he = next(row for row in found if row.better.startswith("Then her") and row.slot_forms[0].form == "he")
    assert he.better == "Then her brother came, and he wept." and he.kind == "soft"
    assert he.context == he.system_context == ("Ada sold the boat.", "She had rowed it for years.")
    assert he.slot_forms[0] == max(he.slot_forms, key=lambda each: each.log_probability)
    numbers = {each.form: each.log_probability for each in he.slot_forms}
    assert numbers["he"] == numbers["it"] == numbers["we"] == 0 and numbers["she"] == -1 and numbers["they"] == -2
    (slot,) = he.mismatches
    assert he.better[slot.ref_start : slot.ref_end] == "he" and he.worse[slot.hyp_start : slot.hyp_end] == slot.hyp_form
    assert numbers[slot.hyp_form] == 0 and he.worse == f"Then her brother came, and {slot.hyp_form} wept."
    assert (he.testset, he.system, he.lp) == ("tiny", "lm", "en-en")
    assert manifest == json.loads((tmp_path / "soft" / "manifest.json").read_text(encoding="utf-8"))
    weights = {"model.safetensors": hashlib.sha256(b"weights").hexdigest()}
    assert manifest["config"]["model"] == {"name": "lm", "precision": "32", "sha256": weights}
    assert manifest["counts"]["source"] == {"tiny": len(found)}
    assert manifest["counts"]["form"]["he"] == 40 == sum(row.slot_forms[0].form == "he" for row in found)
    assert soft_labels.about(tmp_path / "soft")["slots"] == len(found)


def test_few_slots_are_of_many_passages(prepared: Path, tmp_path: Path, model: Path) -> None:
    told: list[int] = []
    run(prepared, tmp_path / "soft", Reader(model), slots=70, advance=told.append)
    found = Counter(row.doc for row in rows(tmp_path / "soft"))
    assert found.total() == 70 == sum(told) and max(found.values()) == 1
    other = run(prepared, tmp_path / "other", Reader(model), slots=70, seed=2)
    assert other["config"]["seed"] == 2 and tree(tmp_path / "other") != tree(tmp_path / "soft")


def test_sources_take_turns_by_the_root_of_their_size() -> None:
    order = soft_labels._order(["a"] * 400 + ["b"] * 100, np.random.default_rng(0))
    assert sorted(order) == list(range(500))
    assert 90 <= (order[:150] >= 400).sum() * 3 <= 165 and (order[300:] < 400).all()


def test_a_stopped_run_goes_on_and_ends_with_the_same_bytes(
    prepared: Path, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(prepared, tmp_path / "one", Reader(model), slots=150)
    real = Reader.read

    def stopped(self: Reader, *args: Any, **given: Any) -> Any:
        if self.slots:
            raise KeyboardInterrupt
        return real(self, *args, **given)

    with monkeypatch.context() as patch:
        patch.setattr(Reader, "read", stopped)
        with pytest.raises(KeyboardInterrupt):
            run(prepared, tmp_path / "two", Reader(model), slots=150)
    partial = tmp_path / "two.partial"
    assert not (tmp_path / "two").exists() and (partial / "000000.arrow").is_file()
    with pytest.raises(InputError, match=r"two\.partial: an interrupted run with another language model, other data"):
        run(prepared, tmp_path / "two", Reader(model), slots=150, seed=2)
    told: list[int] = []
    again = Reader(model)
    run(prepared, tmp_path / "two", again, slots=150, advance=told.append)
    assert tree(tmp_path / "one") == tree(tmp_path / "two") and not partial.exists()
    assert sum(told) == 150 and 0 < len(again.slots) < 150


def test_a_stopped_run_may_end_with_fewer_slots(
    prepared: Path, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(soft_labels, "_finish", stopped)
        with pytest.raises(KeyboardInterrupt):
            run(prepared, tmp_path / "out", Reader(model), slots=60)
    again = Reader(model)
    assert run(prepared, tmp_path / "out", again, slots=20)["splits"]["soft_train"]["rows"] == 20
    assert again.slots == [] and len(rows(tmp_path / "out")) == 20
    with pytest.raises(InputError, match="out: already exists; give another folder"):
        run(prepared, tmp_path / "out", Reader(model))


def test_slots_that_the_model_cannot_read_are_counted(
    make_prepared: Callable[..., Path], sample_pairs: list[Pair], tmp_path: Path, model: Path
) -> None:
    folder = make_prepared(
        train=sample_pairs[:2], development=sample_pairs[2:4], passages=["The boat sank and he wept.", "She left."]
    )
    manifest = run(folder, tmp_path / "soft", Reader(model))
    assert manifest["counts"]["left out"] == {"longer than the model reads": 1}
    assert [row.better for row in rows(tmp_path / "soft")] == ["She left."]


def test_folders_without_slots_are_refused(
    make_prepared: Callable[..., Path], sample_pairs: list[Pair], tmp_path: Path, model: Path
) -> None:
    for passages, said in (([], "no passages to label"), (["No word."], "no passage to train on has a slot")):
        folder = make_prepared(train=sample_pairs[:2], development=sample_pairs[2:4], passages=passages)
        with pytest.raises(InputError, match=said):
            run(folder, tmp_path / "soft", Reader(model))


def test_labels_of_other_passages_are_refused(prepared: Path, tiny_prepared: Path, tmp_path: Path, model: Path) -> None:
    run(prepared, tmp_path / "soft", Reader(model), slots=10)
    own = arrow.read_passages(prepared, "passages_train")
    assert len(soft_labels.read(tmp_path / "soft", passages=own)) == 10
    with pytest.raises(
        InputError, match=r"soft: data\.soft: the soft labels are of other passages than passages_train"
    ):
        soft_labels.read(tmp_path / "soft", passages=arrow.read_passages(tiny_prepared, "passages_train"))
    for folder in (prepared, tmp_path):
        with pytest.raises(InputError, match=r"data\.soft: no soft labels: expected a folder written by"):
            soft_labels.read(folder, passages=own)


# Examples


ROW = {
    "better": "Ada said she saw her.",
    "context": ["It was late.", "Ada came."],
    "mismatches": [{"ref_start": 9, "ref_end": 12}],
    "slot_forms": [
        {"form": "she", "log_probability": float(np.log(0.6))},
        {"form": "they", "log_probability": float(np.log(0.3))},
        {"form": "i", "log_probability": float(np.log(0.1))},
    ],
}
CHANCES = {"she": 0.6, "they": 0.3, "I": 0.1}


def drawn(number: int = 300, **changes: Any) -> Iterator[tuple[Any, Any]]:
    given: dict[str, Any] = {"context": "common", "plain": 0.0, "temperature": 1.0, **changes}
    for seed in range(number):
        yield soft_pairs.pair(ROW, np.random.default_rng(seed), **given, language=ENGLISH)


def written(item: Any) -> str:
    start, end = item.example.spans[0]
    return str(item.example.text[start:end])


def test_two_texts_differ_in_the_form_of_the_slot_and_have_the_labels_of_the_model() -> None:
    for first, second in drawn(40):
        one, two = written(first), written(second)
        assert one != two
        assert first.odds == second.odds == pytest.approx(CHANCES[one] / (CHANCES[one] + CHANCES[two]))
        for item, form in ((first, one), (second, two)):
            assert item.example.text == f"Ada said {form} saw her." and item.example.context == "It was late. Ada came."
            start, end = item.example.spans[1]
            assert item.example.text[start:end] == "her" and np.isnan(item.soft[1])
            p = CHANCES[form]
            assert item.soft[0] == pytest.approx(p / (p + (1 - p) / 2)) and not item.labelled and item.kind == "soft"


def test_labels_are_the_means_of_hard_ones() -> None:
    """How often a form was the one written, of all texts with it; the forms are drawn as the labels say."""
    texts, right = Counter[str](), Counter[str]()
    for first, second in drawn(2000):
        texts.update(map(written, (first, second)))
        right[written(first)] += 1
    for form, p in CHANCES.items():
        assert right[form] / 2000 == pytest.approx(p, abs=0.035)
        assert right[form] / texts[form] == pytest.approx(soft_pairs.label(p, 3), abs=0.04)


def test_the_study_form_no_context_and_a_temperature() -> None:
    ((first, _),) = drawn(1, plain=1.0, context="none")
    assert first.example.context == "" and first.example.text == ENGLISH.writing.flatten(first.example.text)
    flat = [first.odds for first, _ in drawn(20, temperature=1e6)]
    assert flat == pytest.approx([0.5] * 20, abs=1e-3)
    assert soft_pairs.posterior(np.array([-1.0, -1.0, -1.0]), temperature=2.0) == pytest.approx([1 / 3] * 3)
