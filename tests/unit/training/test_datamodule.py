from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from data_prep.coreference import antecedents, conll
from data_prep.fidelity import passages as fidelity
from pronmetric.data.collate import Collator, Example
from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.pronouns.finder import FORMS
from pronmetric.schema import Pair
from pronmetric.training.examples.batches import Labelled, Labeller
from pronmetric.training.examples.datamodule import PronounData
from pronmetric.training.examples.labelled import LabelledExample
from pronmetric.training.examples.loader import StepSampler
from pronmetric.training.examples.planning import Step
from pronmetric.training.examples.prepared import Prepared
from pronmetric.training.settings import Train

CORRUPTION: dict[str, Any] = {
    "rate": 0.3,
    "power": 0.4,
    "same_slot_share": 0.7,
    "joint": 0.2,
    "must_agree": 0.5,
    "emphasis": {},
    "plain": 0.5,
    "clean": 0.05,
    "name_swap": 0.0,
    "gender_swap": 0.0,
    "context": 0.0,
    "fresh": 0.0,
    "tie": 0.0,
}
Make = Callable[..., PronounData]


PLACE = {  # the group of each setting
    **dict.fromkeys(("pieces", "development", "batch", "kinds", "testsets"), "data."),
    **dict.fromkeys(("pair_share", "system_share", "source_share", "source_turns", "form_weight"), "objective."),
    **dict.fromkeys(("fidelity", "antecedent", "corruption", "people", "people_pairs"), "objective."),
    "seed": "",
    "epochs": "trainer.max_",
    "workers": "trainer.",
    "accumulate": "trainer.",
}


@pytest.fixture
def make(tiny_prepared: Path, tiny_tokenizer: PreTrainedTokenizerFast, train_settings: Callable[..., Train]) -> Make:
    def data(
        folder: Path = tiny_prepared, max_pieces: int = 128, required: Sequence[str] = (), **changes: Any
    ) -> PronounData:
        given: dict[str, Any] = {
            "epochs": 2,
            "pieces": 256,
            "pair_share": 0.4,
            "system_share": None,
            "source_share": None,
            "source_turns": None,
            "form_weight": None,
            "fidelity": {"share": 0.0, "ties": 0.4},
            **({"antecedent": 0.0} if changes.get("pair_share") != 1 else {}),
            "corruption": CORRUPTION,
            "development": 0,
            **changes,
        }
        context = given.pop("context", "common")
        keys = {
            f"{PLACE[name]}{name}": str(value) if isinstance(value, Path) else value for name, value in given.items()
        }
        if given["pair_share"] == 1:
            keys = {key: value for key, value in keys.items() if not key.startswith("objective.")}
            corruption = {"plain": given["corruption"]["plain"], "fresh": given["corruption"]["fresh"], "tie": 0.0}
            keys["objective"] = {"kind": "pairs", "detection": 0.0, "pair": 1.0, "corruption": corruption}
            keys["objective"] |= {
                "preference": 1.0,
                "system_share": given["system_share"],
                "people_pairs": given.get("people_pairs", 0.0),
                "fidelity": given["fidelity"],
            }
        if given["pair_share"] == 0:
            corruption = {key: value for key, value in given["corruption"].items() if key not in ("fresh", "tie")}
            names = ("antecedent", "source_share", "source_turns", "form_weight")
            keys = {key: value for key, value in keys.items() if not key.startswith("objective.")}
            keys["objective"] = {"kind": "passages", "detection": 1.0, "soft_detection": 1.0, "corruption": corruption}
            keys["objective"] |= {name: given[name] for name in names}
        settings = train_settings({**keys, "data.dir": str(folder), "context.name": context})
        collator = Collator(Subwords(tiny_tokenizer), max_pieces=max_pieces, separator=False)
        return PronounData(settings, collator, prepared=Prepared(FORMS, 2), required_sources=required)

    return data


def batches(data: PronounData, *, first: int = 0, rank: int = 0, world: int = 1, most: int = 10_000) -> list[Labelled]:
    """What a trainer would get; all batches are small enough to be one micro-batch."""
    data.first = first
    data.trainer = SimpleNamespace(global_rank=rank, world_size=world, max_steps=most)  # type: ignore[assignment]
    return [item for ((item,),) in data.train_dataloader()]


def same(one: Labelled, other: Labelled) -> bool:
    tensors = ("right", "labelled", "better", "worse", "pair")
    pairs = [(getattr(one, name), getattr(other, name)) for name in tensors]
    pairs += [(getattr(one.batch, name), getattr(other.batch, name)) for name in ("ids", "word", "pronoun_word")]
    return all(torch.equal(a, b) for a, b in pairs)


# One batch


def labelled(text: str, *, right: Sequence[float], labels: bool = True) -> LabelledExample:
    example = Example("", text, ((0, text.index(" ")),))
    return LabelledExample(example, tuple(right), labels)


def test_labels_are_in_the_order_of_their_pronouns(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    labeller = Labeller(Collator(Subwords(tiny_tokenizer), max_pieces=64, separator=False))
    items = [
        labelled("She left.", right=[1.0]),
        labelled("It left.", right=[0.0]),
        labelled("They left.", right=[1.0], labels=False),
        LabelledExample(Example("", "Yes.", ()), (), True),
    ]
    found = labeller.batch(items, pairs=True, name="x")
    assert found.right[:, 0].tolist() == [1.0, 0.0, 1.0, 1.0]
    assert found.labelled[:, 0].tolist() == [True, True, False, False]
    assert (found.better.tolist(), found.worse.tolist(), found.name) == ([0, 2], [1, 3], "x")
    alone = labeller.batch(items, pairs=False, name="x")
    assert len(alone.better) == len(alone.worse) == 0


def test_a_pair_with_a_windowed_text_has_no_pair_loss_but_its_labels(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    labeller = Labeller(Collator(Subwords(tiny_tokenizer), max_pieces=16, separator=False))
    long = "She gave them the books and put the last of the boxes in the back of the van."
    spans = ((0, 3), (9, 13))
    items = [
        LabelledExample(Example("", long, spans), (1.0, 0.0), True),
        labelled("She left.", right=[1.0]),
        labelled("He left.", right=[1.0]),
        labelled("It left.", right=[0.0]),
    ]
    found = labeller.batch(items, pairs=True, name="x")
    rows = len(found.batch.ids)
    assert rows > 4
    assert (found.better.tolist(), found.worse.tolist(), found.pair.tolist()) == ([rows - 2], [rows - 1], [1])
    mine = found.labelled[: rows - 3] & found.batch.pronoun_mask[: rows - 3]
    assert sorted(found.right[: rows - 3][mine].tolist()) == [0.0, 1.0]


def test_micro_batches_hold_the_batch_and_keep_pairs_together(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    labeller = Labeller(Collator(Subwords(tiny_tokenizer), max_pieces=24, separator=False))
    texts = [f"She left{' the' * 4 * n}." for n in (1, 3, 2, 2, 30, 1, 3, 4)]  # the fifth has several windows
    items = [labelled(text, right=[float(n % 2 == 0)]) for n, text in enumerate(texts)]
    whole = labeller.batch(items, pairs=True, name="t")
    parts = labeller.micro_batches(items, pairs=True, name="t", pieces=48)
    assert len(parts) > 2 and all(part.batch.ids.numel() <= 48 for part in parts)
    assert sum(len(part.batch.ids) for part in parts) == len(whole.batch.ids)
    assert sorted(n for part in parts for n in part.pair.tolist()) == whole.pair.tolist() == [0, 1, 3]
    for part in parts:
        for better, worse, pair in zip(part.better, part.worse, part.pair, strict=True):
            for row, text in ((better, texts[2 * pair]), (worse, texts[2 * pair + 1])):
                (encoded,) = labeller.collator.encode([Example("", text, ())])
                assert part.batch.ids[row][part.batch.piece_mask[row]].tolist() == encoded.ids.tolist()
    (single,) = labeller.micro_batches(items, pairs=True, name="t", pieces=10_000)
    assert sorted(map(tuple, single.batch.ids.tolist())) == sorted(map(tuple, whole.batch.ids.tolist()))


def test_a_batch_moves_as_a_whole(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    labeller = Labeller(Collator(Subwords(tiny_tokenizer), max_pieces=64, separator=False))
    moved = labeller.batch([labelled("It left.", right=[0.0])], pairs=False, name="x").to("meta")
    tensors = [moved.right, moved.labelled, moved.better, moved.worse, moved.pair, moved.batch.ids]
    assert {tensor.device.type for tensor in tensors} == {"meta"} and moved.name == "x"


# The steps of a run


def test_a_run_is_its_epochs_one_after_the_other(make: Make) -> None:
    data = make(epochs=3)
    steps = data.steps()
    drawn = [(turn, row) for s in steps if s.kind == "passages" for row, turn in zip(s.rows, s.turns, strict=True)]
    count = len(drawn) // 3
    for epoch in range(3):
        assert sorted(drawn[epoch * count : (epoch + 1) * count]) == [(epoch, row) for row in range(count)] and count
    assert any(step.kind == "pairs" for step in steps)


def test_a_run_goes_on_with_the_batches_that_are_left(make: Make) -> None:
    whole = batches(make())
    left = batches(make(), first=5)
    assert len(left) == len(whole) - 5 > 0
    assert all(same(one, other) for one, other in zip(whole[5:], left, strict=True))
    assert not same(whole[0], whole[1])


def test_the_loader_counts_what_is_done_too(make: Make) -> None:
    data = make()
    steps = len(data.steps())
    data.first = 3
    data.trainer = SimpleNamespace(global_rank=0, world_size=1, max_steps=steps - 1)  # type: ignore[assignment]
    loader = data.train_dataloader()
    assert len(loader) == steps - 1 and len(list(loader)) == steps - 4


@pytest.mark.parametrize(("world", "accumulated"), [(4, 1), (2, 2), (1, 4), (3, 2)])
def test_a_step_has_the_same_batches_whoever_computes_them(make: Make, world: int, accumulated: int) -> None:
    single, data = batches(make(epochs=6)), make(epochs=6, accumulate=accumulated)
    each, data.first = world * accumulated, 1
    steps = len(single) // each
    assert steps > 1
    ranks = []
    for rank in range(world):
        data.trainer = SimpleNamespace(global_rank=rank, world_size=world, max_steps=steps)  # type: ignore[assignment]
        loader = data.train_dataloader()
        assert len(loader) == steps
        ranks.append(list(loader))
    for number, parts in enumerate(zip(*ranks, strict=True), start=1):
        found = [item for part in parts for (item,) in part]
        expected = single[number * each : (number + 1) * each]
        assert len(found) == each
        assert all(any(same(one, other) for other in found) for one in expected)


def test_ranks_share_the_steps_evenly() -> None:
    steps = [Step("pairs", (i,), (0,)) for i in range(11)]
    parts = [list(StepSampler(steps, first=0, rank=rank, world=3)) for rank in range(3)]
    assert [len(part) for part in parts] == [3, 3, 3]
    assert len(StepSampler(steps, first=2, rank=1, world=3)) == 3
    assert sorted(step.rows[0] for part in parts for step in part) == list(range(9))
    assert list(StepSampler(steps, first=2, rank=1, world=3)) == parts[1][2:]


def test_corruption_is_drawn_anew_in_each_epoch_and_the_same_in_each_run(make: Make) -> None:
    data = make(pair_share=0.0, epochs=2, pieces=100_000, corruption={**CORRUPTION, "rate": 0.8, "clean": 0.0})
    first, second = batches(data)
    assert not torch.equal(first.right.sum(), second.right.sum()) or not same(first, second)
    assert all(same(one, other) for one, other in zip([first, second], batches(data), strict=True))
    other = batches(make(pair_share=0.0, epochs=1, pieces=100_000, seed=2))
    assert not same(first, other[0])


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")  # Python 3.12
def test_workers_make_the_same_batches(make: Make) -> None:
    alone = batches(make())
    assert all(same(one, other) for one, other in zip(alone, batches(make(workers=1)), strict=True))


def test_batches_keep_about_to_their_pieces(make: Make) -> None:
    for item in batches(make()):
        assert item.batch.ids.numel() <= 2 * 256  # lengths are estimated from letters; the tiny vocabulary is poor


def test_pairs_of_a_kind_and_of_test_sets_can_be_chosen(
    make: Make, make_prepared: Callable[..., Path], sample_pairs: list[Pair]
) -> None:
    """The sample's pairs are noisy and system in turn; of twelve, the first four are of another test set."""
    mixed = [replace(pair, testset="newstest2013" if i < 4 else "tiny") for i, pair in enumerate(sample_pairs[:12])]
    folder = make_prepared(train=mixed, development=sample_pairs[-4:])
    chosen: list[dict[str, Any]] = [
        {"kinds": ["system"]},
        {"testsets": ["newstest2013"]},
        {"testsets": ["tiny.de-en"], "kinds": ["noisy"]},
    ]
    for changes, number in zip(chosen, (6, 4, 4), strict=True):
        data = make(folder, pair_share=1.0, epochs=1, **changes)
        assert sum(len(step.rows) for step in data.steps()) == number
    with pytest.raises(InputError, match=r"data\.testsets: no pair to train on is of wmt13, expected some of new"):
        make(folder, pair_share=1.0, testsets=["wmt13"]).steps()


def test_system_outputs_make_up_their_share_of_the_pairs(make: Make) -> None:
    for share in (0.1, 0.6):
        data = make(pair_share=1.0, system_share=share, epochs=20)
        drawn = Counter(row for step in data.steps() for row in step.rows)
        pieces: Counter[str] = Counter()
        for row, times in drawn.items():
            pieces[data._pairs[row]["kind"]] += times * data._pair_lengths[row]
        assert pieces["system"] / pieces.total() == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("system_share", [None, 0.5])
def test_pairs_in_which_only_the_context_decides_make_up_their_share(
    make: Make, make_prepared: Callable[..., Path], sample_pairs: list[Pair], system_share: float | None
) -> None:
    found = list(fidelity.pairs(60, split="train", seed=1, ties=0.5))
    folder = make_prepared(train=sample_pairs, development=sample_pairs[:4], fidelity=found)
    wanted = {"share": 0.5, "ties": 0.4}
    data = make(folder, pair_share=1.0, epochs=20, system_share=system_share, fidelity=wanted)
    pieces: Counter[str] = Counter()
    for row, times in Counter(row for step in data.steps() for row in step.rows).items():
        pieces[data._pairs[row]["kind"]] += times * data._pair_lengths[row]
    assert pieces["fidelity"] / pieces.total() == pytest.approx(0.3, abs=0.05)
    assert pieces["tie"] / pieces.total() == pytest.approx(0.2, abs=0.05)
    if system_share is not None:
        assert pieces["system"] / pieces.total() == pytest.approx(0.25, abs=0.05)
    assert "fidelity" in {loader.dataset.name for loader in data.val_dataloader()}  # type: ignore[attr-defined]
    for ties, kind in ((0.0, "fidelity"), (1.0, "tie")):
        data = make(folder, pair_share=1.0, fidelity={"share": 0.9, "ties": ties})
        data.setup()
        assert {row["kind"] for row in data._pairs if row["testset"] == fidelity.SOURCE} == {kind}


def test_pairs_in_which_only_the_context_decides_may_be_absent(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    wanted = {"share": 0.5, "ties": 0.4}
    assert batches(make(fidelity=wanted))
    assert "no pairs in which only the context decides (prepare with fidelity.passages above 0)" in caplog.text
    assert batches(make(fidelity=wanted, context="none"))
    assert "with context=none nothing decides these pairs" in caplog.text
    with pytest.raises(InputError, match=r"no pairs in which only the context decides: prepare with fidelity.passages"):
        make(fidelity=wanted, required=["fidelity"]).setup()


def test_passages_come_by_the_weight_of_their_forms(make: Make) -> None:
    data = make(pair_share=0.0, epochs=20, form_weight={"she": 3.0, "he": 0.5})
    drawn = Counter(row for step in data.steps() for row in step.rows)
    unit = {}
    for row, passage in enumerate(data._passages):
        weight = max({"she": 3.0, "he": 0.5}.get(form, 1.0) for form in passage["forms"])
        unit[row] = drawn[row] / weight
    assert max(unit.values()) - min(unit.values()) <= 2 and max(drawn.values()) >= 2 * min(drawn.values())


def test_the_frequency_of_forms_in_their_slots_is_that_of_the_passages_drawn(
    make: Make, make_prepared: Callable[..., Path], sample_pairs: list[Pair]
) -> None:
    texts = ["She saw her near her house, and he saw it.", "It told him that their hats were theirs."]
    folder = make_prepared(train=sample_pairs[:8], development=sample_pairs[:2], passages=texts)
    data = make(folder, form_weight={"she": 3.0}, corruption={**CORRUPTION})
    data.setup()
    assert data._sets is not None and data._sets.corrupter.frequency == {
        "subject": {"she": 3.0, "he": 3.0, "it": 1.0},
        "object": {"her": 3.0, "it": 3.0, "him": 1.0},
        "possessive determiner": {"her": 3.0, "their": 1.0},
        "possessive independent": {"theirs": 1.0},
    }


# Development


def test_development_sets(make: Make, sample_pairs: list[Pair]) -> None:
    data = make()
    data.setup()
    found = {loader.dataset.name: loader.dataset for loader in data.val_dataloader()}  # type: ignore[attr-defined]
    assert list(found) == ["noisy", "system", "study_form", "noisy_none"]
    pairs = {name: sum(len(rows[i].better) for i in range(len(rows))) for name, rows in found.items()}
    half = sum(pair.seg > 3 * 37 // 5 for pair in sample_pairs) // 2
    assert set(pairs.values()) == {half}
    assert same(found["noisy"][0], found["noisy"][0])
    assert found["noisy_none"][0].batch.ids.shape[1] < found["noisy"][0].batch.ids.shape[1]
    assert all(item.name == name for name, rows in found.items() for item in [rows[0]])


def test_a_sample_of_development_pairs_is_the_same_each_time(make: Make) -> None:
    data, again = make(development=7), make(development=7, seed=2)
    data.setup()
    again.setup()
    for one, other in zip(data.val_dataloader(), again.val_dataloader(), strict=True):
        assert sum(len(item.better) for item in one) == 7
        assert all(same(a, b) for a, b in zip(one, other, strict=True))


def test_annotated_documents_come_as_further_passages(
    make: Make, make_prepared: Callable[..., Path], sample_pairs: list[Pair], root: Path
) -> None:
    (annotated, *_) = conll.read_folder(root / "tests" / "fixtures" / "coreference")
    texts = ["It rained, and she said that they had left.", "She left."]
    given = {"train": sample_pairs[:8], "development": sample_pairs[:2], "passages": texts}
    folder = make_prepared(**given, coreference=list(antecedents.passages(annotated)))
    changes: dict[str, Any] = {"antecedent": 0.5, "source_share": {"coreference": 0.9}, "epochs": 4}
    data = make(folder, **changes)
    found, again = batches(data), batches(make(folder, **changes))
    assert data._passages["doc"] == ["0", "1", "OWN_cat"] and data.annotated == {"documents": 1, "passages": 1}
    drawn = Counter(row for step in data.steps() if step.kind == "passages" for row in step.rows)
    assert drawn[2] > drawn[0] and any(item.antecedent is not None for item in found)
    for one, other in zip(found, again, strict=True):
        assert same(one, other) and (one.antecedent is None) == (other.antecedent is None)
        assert one.antecedent is None or torch.equal(one.antecedent, other.antecedent)  # type: ignore[arg-type]
    assert all(item.antecedent is None for item in batches(make(folder)))
    with pytest.raises(InputError, match="no passages with annotated antecedents: prepare with"):
        make(antecedent=0.5, required=["coreference"]).setup()


def test_antecedents_that_only_a_preset_asks_for_are_left_out_with_a_warning(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    data = make(antecedent=0.5)
    assert batches(data) and not data.annotated
    assert "objective.antecedent: no passages with annotated antecedents (prepare with data.coreference)" in caplog.text


# Faults


def test_a_share_of_a_source_that_no_passage_has_is_refused(make: Make) -> None:
    with pytest.raises(InputError, match=r"source_share.wmmt: no passage .* expected one of \w+; ~objective") as error:
        make(source_share={"wmmt": 0.2}, required=["wmmt"]).setup()
    assert str(error.value).count("\n") == 0


def test_a_share_that_only_a_preset_gives_is_left_out_with_a_warning(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    data = make(source_share={"wmmt": 0.2, "bmt": 0.1})
    assert list(data.steps()) == list(make().steps())
    (warning,) = caplog.records
    assert warning.getMessage() == (
        "objective.source_share: no passage to train on is of the source bmt, wmmt, the preset's share is left out"
    )


def test_nothing_to_train_on_or_to_validate_with_is_refused(
    make: Make, make_prepared: Callable[..., Path], sample_pairs: list[Pair]
) -> None:
    texts = ["She left."]
    some = sample_pairs[:4]
    no_passages = make_prepared(train=some, development=some, passages=["Nothing here."])
    no_pairs = make_prepared(train=[], development=some, passages=texts)
    no_development = make_prepared(train=some, development=[], passages=texts)
    for folder, message in (
        (no_passages, r"no passages to train on: add objective=pairs"),
        (no_pairs, r"no pairs to train on: add objective=passages"),
        (no_development, "no development pairs"),
    ):
        with pytest.raises(InputError, match=message) as error:
            make(folder).setup()
        assert str(error.value).startswith(f"{folder}: ")
    make(no_passages, pair_share=1.0).setup()
    make(no_pairs, pair_share=0.0).setup()


def test_a_folder_of_another_schema_is_refused(
    make: Make, make_prepared: Callable[..., Path], sample_pairs: list[Pair]
) -> None:
    folder = make_prepared(train=sample_pairs[:4], development=sample_pairs[:4])
    info = folder / "train" / "dataset_info.json"
    old = json.loads(info.read_text(encoding="utf-8"))
    old["version"]["version_str"] = "0.0.0"
    info.write_text(json.dumps(old), encoding="utf-8")
    with pytest.raises(InputError, match=r"expected schema version 1.0.0, found 0.0.0"):
        make(folder).setup()
