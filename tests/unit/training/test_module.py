from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from datasets import Dataset
from torch import tensor
from transformers import get_linear_schedule_with_warmup

from pronmetric.checkpoint import files
from pronmetric.data.collate import Collator, Example
from pronmetric.nn.head import HeadOutput, PairHead
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.examples.batches import Labelled, Labeller
from pronmetric.training.examples.labelled import LabelledExample
from pronmetric.training.groups import Adamw, Logistic, Margin, Sgd
from pronmetric.training.module import Length, ScorerModule, accuracies
from pronmetric.training.settings import Train
from pronmetric.training.teacher import Lesson, TeacherOutput

OPTIM: dict[str, Any] = {
    "halve_from": None,
    "kind": "adamw",
    "lr": 0.1,
    "head_lr": 0.4,
    "layer_decay": 0.5,
    "weight_decay": 0.01,
    "decay_steps": None,
    "warmup": 0.1,
    "frozen": False,
    "frozen_layers": 0,
    "frozen_head": False,
}
Make = Callable[..., ScorerModule]
Text = tuple[str, tuple[float, ...], bool]  # with labels, and whether they are learned from


@pytest.fixture
def make(tiny_checkpoint: Callable[..., Path], train_settings: Callable[..., Train]) -> Make:
    def module(head: str = "logit", **changes: Any) -> ScorerModule:
        given: dict[str, Any] = {
            "loss": Logistic(kind="logistic"),
            "objective": train_settings().objective,
            "length": Length(changes.pop("steps", 100), changes.pop("epoch", 50.0)),
            "seed": 1,
        }
        optim = OPTIM | changes.pop("optim", {})
        given["optim"] = Adamw(**optim) if optim["kind"] == "adamw" else Sgd(**optim)
        return ScorerModule(files.load(tiny_checkpoint(head=head)).model, **{**given, **changes})

    return module


@pytest.fixture(scope="module")
def item(tiny_checkpoint: Callable[..., Path]) -> Labelled:
    """Two pairs; of the second, the worse text has no pronoun."""
    collator = files.load(tiny_checkpoint()).collator
    return labelled(
        collator,
        [
            ("She left her there.", (1.0, 1.0), True),
            ("It left her there.", (0.0, 1.0), True),
            ("They left.", (1.0,), True),
            ("All left.", (), False),
        ],
        pairs=True,
    )


def labelled(collator: Collator, texts: list[Text], *, pairs: bool) -> Labelled:
    items = []
    for text, right, labels in texts:
        starts = [0, text.find(" her ") + 1][: len(right)]
        spans = tuple((s, s + len(text[s:].split()[0])) for s in starts)
        items.append(LabelledExample(Example("", text, spans), right, labels))
    return Labeller(collator).batch(items, pairs=pairs, name="train")


def without_first(item: Labelled) -> dict[str, Any]:
    """The fields of the pairs, without the first pair."""
    return {name: getattr(item, name)[1:] for name in ("better", "worse", "pair", "tie", "system")}


def output(scores: list[list[float]], segment: list[float]) -> HeadOutput:
    return HeadOutput(tensor(scores), tensor(segment), None)


NAN = float("nan")
SCORES, SEGMENTS = [[1.0, 2.0], [3.0, -1.0], [0.5, 0.0], [0.0, 0.0]], [0.8, 0.6, 0.7, NAN]


def test_the_losses_of_a_batch(make: Make, item: Labelled) -> None:
    found = make().losses(output(SCORES, SEGMENTS), item)
    assert set(found) == {"detection", "pair"}
    # labelled: 1 and 2 right, 3 wrong, -1 right, 0.5 right
    expected = sum(math.log1p(math.exp(-z)) for z in (1.0, 2.0, -3.0, -1.0, 0.5)) / 5
    assert found["detection"].item() == pytest.approx(expected)
    # one pair has two scores; its gap on the logit scale
    gap = math.log(0.8 / 0.2) - math.log(0.6 / 0.4)
    assert found["pair"].item() == pytest.approx(math.log1p(math.exp(-gap)))


def test_the_margin_is_taken_on_the_scores_as_they_are(make: Make, item: Labelled) -> None:
    found = make(loss=Margin(kind="margin")).losses(output(SCORES, [0.65, 0.6, 0.7, NAN]), item)
    assert found["pair"].item() == pytest.approx(0.1 - 0.65 + 0.6)


def test_an_unbounded_score_is_its_own_logit_and_has_no_detection(make: Make, item: Labelled) -> None:
    found = make(head="paper").losses(output(SCORES, [5.0, 2.0, 0.0, NAN]), item)
    assert found["pair"].item() == pytest.approx(math.log1p(math.exp(-3.0)))
    assert found["detection"].item() == 0


def test_the_gradient_of_micro_batches_is_that_of_the_batch(make: Make, tiny_checkpoint: Callable[..., Path]) -> None:
    collator = files.load(tiny_checkpoint()).collator
    texts: list[Text] = [
        ("She left her there.", (1.0, 1.0), True),
        ("It left her there and did not come back for years.", (0.0, 1.0), True),
        ("They left.", (1.0,), True),
        ("All left.", (), False),
        ("He saw.", (1.0,), True),
        ("It saw.", (0.0,), False),
    ]
    whole = labelled(collator, texts, pairs=True)
    parts = [labelled(collator, texts[at : at + 2], pairs=True) for at in (0, 2, 4)]
    found = []
    for items in ([whole], parts):
        module = with_pair_head(make())
        module.log = module.log_dict = lambda *_, **__: None  # type: ignore[method-assign,assignment]
        loss = module.training_step([items], 0)
        loss.backward()
        found.append((loss.item(), {name: p.grad for name, p in module.named_parameters() if p.grad is not None}))
    (one, expected), (other, gradients) = found
    assert other == pytest.approx(one, rel=1e-5) and gradients.keys() == expected.keys()
    torch.testing.assert_close(gradients, expected, rtol=1e-4, atol=1e-6)
    assert any(gradient.abs().max() > 1e-3 for gradient in expected.values())


def test_a_step_of_several_batches_has_their_mean_loss_and_gradient(make: Make, item: Labelled) -> None:
    other = replace(item, right=1 - item.right)

    def losses(*steps: list[list[Labelled]]) -> tuple[float, dict[str, torch.Tensor]]:
        module = make()
        module.log = module.log_dict = lambda *_, **__: None  # type: ignore[method-assign,assignment]
        found = [module.training_step(step, 0) for step in steps]
        total = torch.stack(found).mean()
        total.backward()
        return total.item(), {name: p.grad for name, p in module.named_parameters() if p.grad is not None}

    mean, expected = losses([[item]], [[other]], [[other]])
    together, gradients = losses([[item], [other], [other]])
    assert together == pytest.approx(mean, rel=1e-5)
    torch.testing.assert_close(gradients, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("head", ["logit", "paper", "average"])
def test_a_batch_without_labels_and_whole_pairs_can_go_back(make: Make, item: Labelled, head: str) -> None:
    module = make(head=head)
    nothing = replace(item, labelled=torch.zeros_like(item.labelled), **without_first(item))
    parts = module.losses(module.scorer(nothing.batch), nothing)
    total = sum(parts.values(), start=torch.zeros(()))
    total.backward()
    grads = [p.grad for p in module.parameters() if p.grad is not None]
    assert total.item() == 0 and grads and all((g == 0).all() for g in grads)


def test_a_pair_without_a_score_sends_back_no_nan(make: Make, item: Labelled) -> None:
    module = make()
    sum(module.losses(module.scorer(item.batch), item).values(), start=torch.zeros(())).backward()
    grads = [p.grad for p in module.parameters() if p.grad is not None]
    assert grads and all(g.isfinite().all() for g in grads) and any((g != 0).any() for g in grads)


def with_pair_head(module: ScorerModule) -> ScorerModule:
    torch.manual_seed(11)
    module.scorer.pair_head = PairHead(32, heads=4, dropout=0.0)
    torch.nn.init.normal_(module.scorer.pair_head.z.weight)  # a new one is 0, and sends nothing back
    return module


def test_system_outputs_and_ties_by_two_heads(make: Make, item: Labelled) -> None:
    """The pair head learns from all pairs, the probabilities from those of a kind that is no system output."""
    module, found = with_pair_head(make()), output(SCORES, SEGMENTS)
    found = found._replace(preferences=tensor([[1.0, 3.0], [0.0, 1.0], [2.0, 0.0], [0.0, 0.0]]))
    gap = 2.0 - 0.5  # of means; the second pair has a text without a pronoun
    system = replace(item, system=tensor([True, False]))
    parts = module.losses(found, system)
    assert parts["preference"].item() == pytest.approx(math.log1p(math.exp(-gap)))
    assert parts["pair"].item() == 0
    parts = module.losses(found, replace(item, tie=tensor([True, False])))
    expected = (math.log1p(math.exp(-gap)) + math.log1p(math.exp(gap))) / 2
    assert parts["preference"].item() == pytest.approx(expected) and parts["pair"].item() > math.log(2)


def test_a_teacher_gives_soft_labels_to_all_pronouns_and_pairs(make: Make, item: Labelled) -> None:
    """The labels of the batch do not matter."""
    module = with_pair_head(make())
    logits, theirs = [[2.0, -4.0], [0.0, 6.0], [1.0, 0.0], [0.0, 0.0]], [[5.0, 1.0], [0.0, 2.0], [1.0, 0.0], [9.0, 9.0]]
    module.teacher = SimpleNamespace(answer=lambda _: TeacherOutput(tensor(logits), tensor(theirs)))  # type: ignore[assignment]
    own = [[1.0, 3.0], [0.0, 1.0], [2.0, 0.0], [0.0, 0.0]]
    found = output(SCORES, SEGMENTS)._replace(preferences=tensor(own))
    nothing = torch.zeros_like(item.labelled)
    parts = module.losses(found, replace(item, lesson=Lesson(item.batch, nothing.long()), labelled=nothing))

    def cost(logit: float, teacher: float) -> float:
        right = 1 / (1 + math.exp(-teacher))
        return right * math.log1p(math.exp(-logit)) + (1 - right) * math.log1p(math.exp(logit))

    expected = [cost(*each) for each in ((1.0, 2.0), (2.0, -4.0), (3.0, 0.0), (-1.0, 6.0), (0.5, 1.0))]
    assert parts["soft_detection"].item() == pytest.approx(sum(expected) / 5) and parts["detection"].item() == 0
    # means of 2 and 0.5, the teacher's of 3 and 1; of the second pair the worse text has no pronoun
    assert parts["soft_preference"].item() == pytest.approx(cost(2.0 - 0.5, 3.0 - 1.0))
    whole = module.counts(item)
    assert (whole["soft_detection"], whole["soft_preference"]) == (5, 1)


@pytest.mark.parametrize("name", ["detection", "preference"])
def test_the_gradients_of_both_losses_reach_the_encoder(make: Make, item: Labelled, name: str) -> None:
    module = with_pair_head(make())
    module.losses(module.scorer(item.batch), item)[name].backward()
    encoder: Any = module.scorer.encoder
    assert all(p.grad is not None and (p.grad != 0).any() for p in encoder.model.encoder.layer[0].parameters())
    own, other = (module.scorer.pair_head, module.scorer.head)
    assert own is not None
    trained, still = (own, other) if name == "preference" else (other, own)
    assert any(p.grad is not None and (p.grad != 0).any() for p in trained.parameters())
    assert all(p.grad is None or (p.grad == 0).all() for p in still.parameters())


def rates(module: ScorerModule) -> dict[str, set[tuple[float, float]]]:
    """Rate and weight decay of the parameters of each part of the model."""
    names = {id(p): name for name, p in module.named_parameters()}
    found: dict[str, set[tuple[float, float]]] = {}
    for group in module._groups():
        for p in group["params"]:
            name = names[id(p)]
            part = "head" if ".head." in name else name.split("layer.")[1][0] if "layer." in name else "embeddings"
            kind = "matrix" if p.ndim > 1 else "vector"
            found.setdefault(f"{part} {kind}", set()).add((group["lr"], group["weight_decay"]))
    return found


def test_rates_fall_from_the_head_down_and_vectors_are_not_decayed(make: Make) -> None:
    assert rates(make()) == {
        "head matrix": {(0.4, 0.01)},
        "head vector": {(0.4, 0.0)},
        "1 matrix": {(0.1, 0.01)},
        "1 vector": {(0.1, 0.0)},
        "0 matrix": {(0.05, 0.01)},
        "0 vector": {(0.05, 0.0)},
        "embeddings matrix": {(0.025, 0.01)},
        "embeddings vector": {(0.025, 0.0)},
    }


def test_every_parameter_is_in_one_group(make: Make) -> None:
    module = make()
    ids = [id(p) for group in module._groups() for p in group["params"]]
    assert sorted(ids) == sorted(id(p) for p in module.parameters())


def test_a_frozen_encoder_learns_nothing(make: Make, item: Labelled) -> None:
    module = make(optim={"frozen": True})
    assert set(rates(module)) == {"head matrix", "head vector"}
    sum(module.losses(module.scorer(item.batch), item).values(), start=torch.zeros(())).backward()
    assert all(p.grad is None for p in module.scorer.encoder.parameters())  # type: ignore[attr-defined]
    assert any(p.grad is not None for p in module.scorer.head.parameters())


def test_frozen_layers_are_the_lowest_ones(make: Make) -> None:
    module = make(optim={"frozen_layers": 1})
    trained = [{p.requires_grad for p in layer} for layer in module.scorer.encoder.layers()]
    assert trained[0] == {False} and trained[1:] == [{True}] * (len(trained) - 1) and len(trained) > 1
    assert not {id(p) for p in module.scorer.encoder.layers()[0]} & {
        id(p) for g in module._groups() for p in g["params"]
    }


def test_a_frozen_head_leaves_the_pair_head_alone_to_learn(make: Make, item: Labelled) -> None:
    module = make()
    module.scorer.pair_head = PairHead(32, heads=4, dropout=0.0)
    module = ScorerModule(
        module.scorer,
        loss=module.loss,
        objective=module.objective,
        optim=Adamw(**OPTIM | {"frozen": True, "frozen_head": True}),
        length=module.length,
        seed=1,
    )
    trained = {id(p) for group in module._groups() for p in group["params"]}
    assert trained == {id(p) for p in module.scorer.pair_head.parameters()}
    assert not any(p.requires_grad for p in module.scorer.head.parameters())


def schedule(module: ScorerModule) -> list[float]:
    """The head's rate at each step of the run and one beyond."""
    made: Any = module.configure_optimizers()
    assert made["lr_scheduler"]["interval"] == "step"
    found = []
    for _ in range(module.length.steps + 1):
        found.append(made["optimizer"].param_groups[0]["lr"])
        made["optimizer"].step()
        made["lr_scheduler"]["scheduler"].step()
    return found


def test_the_rate_warms_up_and_falls_to_nothing(make: Make) -> None:
    found = schedule(make(steps=100))  # a tenth of them warm up
    assert found[:3] == pytest.approx([0.04, 0.08, 0.12])
    assert found[9] == found[10] == pytest.approx(0.4)
    assert found[55] == pytest.approx(0.2) and found[99] == pytest.approx(0.4 / 90) and found[100] == 0
    assert schedule(make(steps=4, optim={"warmup": 0.0}))[:2] == pytest.approx([0.4, 0.4])


def test_a_run_that_ends_before_its_rate_is_0(make: Make) -> None:
    whole, part = schedule(make(steps=100)), schedule(make(steps=40, optim={"decay_steps": 100}))
    assert part == whole[: len(part)] and part[-1] > 0 and len(part) < len(whole)


def test_the_rates_are_those_of_transformers_with_the_warm_up_one_step_earlier(make: Make) -> None:
    found = schedule(make(steps=100))
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.4)
    theirs = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=10, num_training_steps=100)
    wanted = []
    for _ in range(101):
        wanted.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        theirs.step()
    assert found[:10] == pytest.approx(wanted[1:11], abs=1e-9)
    assert found[10:] == pytest.approx(wanted[10:], abs=1e-9)


def test_optimizers_by_name(make: Make) -> None:
    made: Any = make().configure_optimizers()
    assert type(made["optimizer"]) is torch.optim.AdamW and made["optimizer"].defaults["betas"] == (0.9, 0.98)
    made = make(optim={"kind": "sgd"}).configure_optimizers()
    assert type(made["optimizer"]) is torch.optim.SGD


def test_accuracies_by_the_number_of_pronouns() -> None:
    better = [0.9, 0.9, 0.5, 0.9, 0.2, 0.3, NAN]
    worse = [0.1, 0.1, 0.5, 0.1, 0.8, 0.8, 0.5]
    more = [1, 2, 2, 3, 1, 2, 2]
    less = [1, 2, 2, 1, 2, 1, 1]
    # equal: two of three won; unequal: (3, 1) won by the better, which has more; (1, 2) lost to it; (2, 1) lost to
    # fewer; the last has no score
    found = accuracies(np.array([better, worse, more, less], dtype=float))
    assert found == pytest.approx({"": 3 / 7, "_equal": 2 / 3, "_unequal": 1 / 4, "_fewer_won": 1 / 4})


def test_pairs_of_equal_numbers_have_one_figure() -> None:
    assert accuracies(np.array([[0.9, 0.1], [0.1, 0.9], [1, 1], [1, 1]])) == {"": 0.5}


def test_validation_judges_every_set_and_chooses_by_their_mean(make: Make, item: Labelled) -> None:
    module, logged = make(), {}
    module.eval()
    module.log = lambda name, value, **_: logged.update({name: value})  # type: ignore[method-assign, assignment]
    module.log_dict = lambda values, **_: logged.update(values)  # type: ignore[method-assign, assignment]
    module.scorer.forward = lambda batch: output(SCORES, SEGMENTS)  # type: ignore[method-assign]
    swapped = replace(item, better=item.worse, worse=item.better)
    for name, batches in {"noisy": [item], "system": [item, swapped], "noisy_none": [swapped]}.items():
        for batch in batches:
            module.validation_step(replace(batch, name=name), 0)
    module.on_validation_epoch_end()
    # of item the first pair is won, the second has no score; swapped, the first is lost
    assert module.figures["development/noisy"] == 1 / 2 and module.figures["development/noisy_none"] == 0
    assert module.figures["development/system"] == 1 / 4
    assert module.figures["development/accuracy"] == (1 / 2 + 1 / 4) / 2
    assert {**module.figures, "epoch": 0} == logged and not module._columns
    kept: dict[str, Any] = {}
    module.on_save_checkpoint(kept)
    assert kept == {"figures": module.figures}


def test_the_papers_rate_is_halved_in_each_epoch_from_the_fourth_on(make: Make) -> None:
    found = schedule(make(steps=6 * 5, epoch=5.0, optim={"kind": "sgd", "halve_from": 4, "warmup": 0.0}))
    assert found[:30] == pytest.approx([0.4] * 15 + [0.2] * 5 + [0.1] * 5 + [0.05] * 5)


def test_pairs_are_scored_in_the_order_of_their_rows(tiny_checkpoint: Callable[..., Path]) -> None:
    loaded = files.load(tiny_checkpoint())
    labeller = Labeller(loaded.collator)

    def row(better: str, worse: str) -> dict[str, Any]:
        at = {"hyp_start": 0, "ref_form": better.split()[0].lower()}
        none: list[str] = []
        texts = {"better": better, "worse": worse, "context": none, "system_context": none}
        return {"kind": "noisy", "mismatches": [at], **texts}

    long = "She " + "left her there and " * 40 + "went home."  # read in windows
    rows = [
        row("She left her with them and went.", "It left her with them and went."),
        row(long, long),
        row("He left.", "She left."),
    ]
    found, numbers = PairScorer(loaded.model, labeller).columns(Dataset.from_list(rows), context="none")
    columns = found["score"]
    assert numbers.tolist() == [0, 2] and columns.shape == (4, 2)
    for column, number in zip(columns.T, numbers, strict=True):
        single = PairScorer(loaded.model, labeller).columns(Dataset.from_list([rows[number]]), context="none")
        alone = single[0]["score"]
        np.testing.assert_allclose(column, alone[:, 0], atol=1e-5)
    assert columns[2].tolist() == [3, 1]
