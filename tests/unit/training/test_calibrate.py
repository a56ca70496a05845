from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pronmetric.checkpoint import files
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.data import arrow
from pronmetric.data.arrow import to_row
from pronmetric.errors import PronmetricError
from pronmetric.eval.calibration import fit_platt
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.schema import Pair
from pronmetric.text.writing import flatten_english
from pronmetric.training.after import calibrate as module
from pronmetric.training.after.calibrate import WITHOUT_OUTPUTS, add_noise, calibrate, natural_rate, to_training
from pronmetric.training.examples.batches import Labeller
from pronmetric.training.examples.labelled import LabelledExample

WRONG = {"she": "he", "he": "she", "it": "they", "they": "it", "her": "his", "his": "her", "them": "it", "i": "we"}
TABLE = ConfusionTable({form: {wrong: 1} for form, wrong in WRONG.items()})


def manifest(*counts: tuple[int, int]) -> dict[str, Any]:
    """Of test sets with these numbers of reference pronouns and of pronoun mismatches."""
    sets = [{"compared": {"ref pronouns": n}, "mismatches": {"pronoun": wrong}} for n, wrong in counts]
    return {"counts": {"testsets": {str(i): found for i, found in enumerate(sets)}}}


def test_without_outputs_the_natural_rate_is_that_of_english_outputs() -> None:
    assert natural_rate({"counts": {"testsets": {"a.en-de": {"compared": {"outputs": 0}}}}}) == WITHOUT_OUTPUTS


def test_the_natural_rate_is_that_of_all_test_sets_together() -> None:
    assert natural_rate(manifest((300, 30), (100, 2))) == 32 / 400
    found = manifest((300, 30))
    found["counts"]["testsets"]["more"] = {"compared": {"ref pronouns": 100}}  # none was wrong, or none is counted
    found["counts"]["testsets"]["unread"] = {"compared": {}}
    assert natural_rate(found) == 30 / 400


@pytest.mark.parametrize("empty", [manifest((0, 0)), manifest(), {}])
def test_a_manifest_without_pronouns_is_refused(empty: dict[str, Any]) -> None:
    with pytest.raises(PronmetricError, match="counts no reference pronoun"):
        natural_rate(empty)


@pytest.fixture(scope="module")
def rows(sample_pairs: list[Pair]) -> list[dict[str, Any]]:
    return [to_row(pair) for pair in sample_pairs]


def items_of(rows: list[dict[str, Any]], **changes: Any) -> list[LabelledExample]:
    given = {"context": "common", "table": TABLE, "rate": 0.6, "seed": 0}
    return list(add_noise(rows, **{**given, **changes}))


def test_each_better_text_is_taken_once_with_its_context(rows: list[dict[str, Any]]) -> None:
    items = items_of(rows)
    texts = {(" ".join(row["context"]), row["better"]) for row in rows}
    assert len(items) == len(texts) < len(rows)
    assert {flatten_english(item.example.context) for item in items} == {
        flatten_english(context) for context, _ in texts
    }
    assert {item.example.context for item in items_of(rows, context="none")} == {""}
    plain = [item for item in items if item.example.text == item.example.text.lower()]
    assert 0.2 < len(plain) / len(items) < 0.8
    wrong = sum(right == 0 for item in items for right in item.right)
    assert items == items_of(rows) != items_of(rows, seed=1)
    assert wrong > 20 > 0 == sum(right == 0 for item in items_of(rows, rate=0.0) for right in item.right)


@pytest.fixture
def loaded(tiny_checkpoint: Callable[..., Path]) -> Checkpoint:
    return files.load(tiny_checkpoint())


def logits(loaded: Checkpoint, items: list[LabelledExample]) -> tuple[np.ndarray, np.ndarray]:
    """Logits and labels of every pronoun, one text at a time."""
    found, labels = [], []
    with torch.no_grad():
        for item in items:
            for row in loaded.collator.encode([item.example]):
                out = loaded.model(loaded.collator.pad([row]))
                found += out.scores[0, : len(row.pronouns)].tolist()
                labels += [item.right[k] for k in row.pronouns]
    return np.array(found), np.array(labels)


def straight(loaded: Checkpoint, items: list[LabelledExample]) -> None:
    """Turn the untrained model around where it has the labels upside down."""
    if fit_platt(*logits(loaded, items)).scale < 0:
        loaded.model.head.logit.weight.data.neg_()  # type: ignore[union-attr]
        loaded.model.head.logit.bias.data.neg_()  # type: ignore[union-attr]


def test_the_fit_is_folded_into_the_head(
    loaded: Checkpoint,
    rows: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(module, "PIECES", 300)  # several batches
    monkeypatch.setattr(module, "FEWEST", 10)
    items = items_of(rows)
    straight(loaded, items)
    before, labels = logits(loaded, items)
    fit = calibrate(loaded.model, loaded.collator, items, rate=0.6, progress=True)
    assert "calibration: " in capsys.readouterr().err
    assert fit is not None and fit.rate == 0.6 and fit.pronouns == len(labels)
    expected = fit_platt(before, labels)
    assert (fit.scale, fit.bias) == pytest.approx((expected.scale, expected.bias), rel=1e-3)
    after, _ = logits(loaded, items)
    np.testing.assert_allclose(after, fit.scale * before + fit.bias, atol=1e-4)
    assert (1 / (1 + np.exp(-after))).mean() == pytest.approx(labels.mean(), abs=1e-3)  # of a fit with a bias
    again = calibrate(loaded.model, loaded.collator, items, rate=0.6)
    assert capsys.readouterr().err == ""
    assert again is not None and (again.scale, again.bias) == pytest.approx((1.0, 0.0), abs=1e-2)


def test_a_calibrated_head_is_fitted_to_the_batches_of_training(
    loaded: Checkpoint, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FEWEST", 10)
    items = items_of(rows)
    straight(loaded, items)
    _, labels = logits(loaded, items)
    calibrate(loaded.model, loaded.collator, items, rate=float((labels == 0).mean()))
    before, _ = logits(loaded, items)
    loaded.model.head.logit.bias.data.add_(3.0)  # type: ignore[union-attr]
    labeller = Labeller(loaded.collator)
    batches = [labeller.batch(items[k : k + 8], pairs=False, name="train") for k in range(0, len(items), 8)]
    fit = to_training(loaded.model, batches)
    assert fit is not None and fit.rate == pytest.approx((labels == 0).mean()) and fit.pronouns == len(labels)
    expected = fit_platt(before + 3.0, labels)
    assert (fit.scale, fit.bias) == pytest.approx((expected.scale, expected.bias), rel=1e-3) and fit.bias < -2
    assert loaded.model.training
    loaded.model.eval()
    after, _ = logits(loaded, items)
    np.testing.assert_allclose(after, fit.scale * (before + 3.0) + fit.bias, atol=1e-4)
    assert (1 / (1 + np.exp(-after))).mean() == pytest.approx(labels.mean(), abs=1e-3)  # of a fit with a bias
    loaded.model.eval()
    np.testing.assert_allclose(logits(loaded, items)[0], before, atol=0.05)
    assert to_training(loaded.model, batches[:0]) is None


def test_a_head_is_fitted_to_shares_of_raters(loaded: Checkpoint) -> None:
    before = np.linspace(-3, 3, 40)
    head: Any = loaded.model.head
    weight, bias = head.logit.weight.detach().clone(), head.logit.bias.detach().clone()
    fit = module._fold(head, before, 1 / (1 + np.exp(0.5 - 2 * before)), rate=0.5)
    assert fit is not None and (fit.scale, fit.bias) == pytest.approx((2.0, -0.5), abs=1e-2)
    torch.testing.assert_close(head.logit.weight, fit.scale * weight)
    torch.testing.assert_close(head.logit.bias, fit.scale * bias + fit.bias)


def test_too_few_errors_or_a_fit_upside_down_leave_the_head_alone(
    loaded: Checkpoint, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    items = items_of(rows)
    straight(loaded, items)
    wrong = sum(right == 0 for item in items for right in item.right)
    monkeypatch.setattr(module, "FEWEST", wrong + 1)
    assert calibrate(loaded.model, loaded.collator, items, rate=0.1) is None
    assert calibrate(loaded.model, loaded.collator, [], rate=0.1) is None
    monkeypatch.setattr(module, "FEWEST", wrong)
    upside = [item._replace(right=tuple(1 - right for right in item.right)) for item in items]
    head = copy.deepcopy(loaded.model.head.state_dict())
    assert calibrate(loaded.model, loaded.collator, upside, rate=0.1) is None
    assert all(torch.equal(value, head[name]) for name, value in loaded.model.head.state_dict().items())


def test_a_head_without_probabilities_is_refused(tiny_checkpoint: Callable[..., Path]) -> None:
    paper = files.load(tiny_checkpoint(head="paper"))
    with pytest.raises(PronmetricError, match="only head=logit has probabilities"):
        calibrate(paper.model, paper.collator, [], rate=0.1)


def test_calibration_reads_as_many_references_as_it_is_told(
    loaded: Checkpoint, tiny_prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawn once each, always the same ones; 0 for all."""
    found: list[Sequence[LabelledExample]] = []

    def kept(*args: Any, **_: Any) -> None:
        found.append(args[2])

    monkeypatch.setattr(module, "calibrate", kept)
    for most in (6, 6, 0):
        how: dict[str, Any] = {"context": "common", "rate": 0.0, "seed": 1, "most": most}
        module.on_references(loaded.model, loaded.collator, tiny_prepared, **how)
    texts = [[flatten_english(f"{item.example.context} {item.example.text}") for item in items] for items in found]
    assert texts[0] == texts[1] and len(texts[0]) == 6 and set(texts[0]) < set(texts[2])
    rows = arrow.read_pairs(tiny_prepared, "development")
    assert len(texts[2]) == len({(tuple(row["context"]), row["better"]) for row in rows}) < len(rows)


def test_calibration_in_bf16_is_near_that_in_fp32(
    loaded: Checkpoint, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the encoder comes back as it was."""
    monkeypatch.setattr(module, "FEWEST", 10)
    items = items_of(rows)
    straight(loaded, items)
    encoder, other = loaded.model.encoder, copy.deepcopy(loaded)
    exact = calibrate(loaded.model, loaded.collator, items, rate=0.6)
    found = calibrate(other.model, other.collator, items, rate=0.6, dtype=torch.bfloat16)
    assert exact is not None and found is not None and loaded.model.encoder is encoder
    assert (found.scale, found.bias) == pytest.approx((exact.scale, exact.bias), rel=0.2, abs=0.05)
    assert found.replaced == sum(right == 0 for item in items for right in item.right)
