"""`pronmetric soft-labels` and `train data.soft=FOLDER`: notes, faults, the record, and what is learned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from pronmetric.checkpoint import files
from pronmetric.cli.main import main
from pronmetric.data import arrow
from pronmetric.errors import Terminated
from pronmetric.lab.seq2seq.model import LanguageModel
from pronmetric.nn.head import PairHead
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.training import soft_labels, soft_pairs
from pronmetric.training.datamodule import Labeller
from pronmetric.training.module import Length, ScorerModule
from pronmetric.training.prepared import Prepared
from pronmetric.training.settings import Adamw, Logistic, Train

Arguments = Callable[..., list[str]]


@pytest.fixture
def given(tiny_prepared: Path, tiny_causal: Callable[..., Path]) -> list[str]:
    return [
        "soft-labels",
        str(tiny_prepared),
        "--language-model",
        str(tiny_causal()),
        "--precision",
        "32",
        "--gpus",
        "0",
    ]


def test_the_numbers_are_those_of_whole_passages(
    tiny_prepared: Path, tiny_soft: Path, tiny_causal: Callable[..., Path]
) -> None:
    model = LanguageModel(tiny_causal(), precision="32", gpus=0).model
    passages = {row["id"]: row for row in arrow.read_passages(tiny_prepared, soft_labels.PASSAGES)}
    for row in [*arrow.read_pairs(tiny_soft, arrow.SOFT_SPLIT)][:4]:
        name, _, start = row["id"].rpartition("@")
        slots = soft_labels._slots(passages[name], Prepared.of(arrow.read_manifest(tiny_prepared)))
        (slot,) = [slot for slot in slots if slot.start == int(start)]
        whole = np.array([each.total for each in model.read([("", text) for text in slot.texts])])
        numbers = np.array([each["log_probability"] for each in row["slot_forms"]])
        np.testing.assert_allclose(numbers - numbers[0], whole - whole[0], atol=1e-3)
        assert numbers.max() == 0 > numbers.min()


def test_more_slots_than_there_are(given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "all"
    assert main([*given, "-o", str(out)]) == 0
    said = capsys.readouterr().err
    rows = len(arrow.read_pairs(out, arrow.SOFT_SPLIT))
    assert f"the passages have no more slots: {rows} of 50000" in said and f"data.soft={out}" in said
    assert main([*given, "-o", str(out)]) == 1
    assert "already exists; give another folder" in capsys.readouterr().err


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt(), 130), (Terminated(15), 143)])
def test_a_stopped_run_says_where_it_goes_on(
    given: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    stop: BaseException,
    code: int,
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise stop

    monkeypatch.setattr(soft_labels, "_finish", stopped)
    assert main([*given, "--slots", "9", "-o", str(tmp_path / "out")]) == code
    said = capsys.readouterr().err
    assert f"finished parts are in {tmp_path / 'out.partial'}; the same command goes on there" in said
    monkeypatch.undo()
    assert main([*given, "--slots", "9", "-o", str(tmp_path / "out"), "--quiet"]) == 0
    assert len(arrow.read_pairs(tmp_path / "out", arrow.SOFT_SPLIT)) == 9


def test_training_records_them_and_goes_on_with_the_same(
    arguments: Arguments,
    tiny_soft: Path,
    tiny_causal: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, wanted = tmp_path / "out", [f"data.soft={tiny_soft}", "objective.soft.share=0.5", "trainer.max_steps=3"]
    assert main(arguments(out, *wanted, "data.micro_batch=128")) == 0
    record = yaml.safe_load((out / "checkpoint" / "config.yaml").read_text(encoding="utf-8"))["training"]
    assert record["soft_labels"] == soft_labels.about(tiny_soft) and record["soft_labels"]["slots"] == 30
    card = (out / "checkpoint" / "README.md").read_text(encoding="utf-8")
    assert f"Soft labels of 30 slots by the language model {tiny_causal().name}, weights `" in card
    assert "pronmetric soft-labels PREPARED --language-model" in card and "data.soft=labels" in card
    capsys.readouterr()
    assert main(arguments(out, *wanted[1:], "data.micro_batch=128", f"data.soft={tiny_causal()}")) == 1
    assert "data.soft: no soft labels: expected a folder written by `pronmetric soft-labels`" in capsys.readouterr().err


def test_a_few_slots_are_learned(
    tiny_checkpoint: Callable[..., Path], tiny_soft: Path, train_settings: Callable[..., Train]
) -> None:
    """Trained on some slots, both heads give the language model's probabilities."""
    loaded = files.load(tiny_checkpoint(max_pieces=128))
    rows = [row for row in arrow.read_pairs(tiny_soft, arrow.SOFT_SPLIT)][:6]
    items = [
        item
        for number, row in enumerate(rows)
        for item in soft_pairs.pair(
            row, np.random.default_rng(number), context="none", plain=0.0, temperature=2.0, language=ENGLISH
        )
    ]
    batch = Labeller(loaded.collator).batch(items, pairs=True, name="train")
    assert batch.soft is not None and batch.odds is not None
    torch.manual_seed(0)
    pair_head = PairHead(loaded.model.encoder.width, heads=4, dropout=0.0)
    scorer = PronounScorer(loaded.model.encoder, loaded.model.head, word_state="mean", pair_head=pair_head).eval()
    settings = train_settings()
    assert isinstance(settings.optim, Adamw)
    module = ScorerModule(
        scorer,
        loss=Logistic(kind="logistic"),
        objective=settings.objective,
        optim=settings.optim,
        length=Length(200, 200.0),
        seed=1,
    )
    known = ~batch.soft.isnan()

    @torch.no_grad()
    def errors() -> list[float]:
        """The mean distance of each head from the labels."""
        out = scorer(batch.batch)
        assert out.preferences is not None
        y = pair_head.segment(out.preferences, batch.batch.pronoun_mask)
        given = (y[batch.better] - y[batch.worse]).sigmoid()
        both = (out.scores.sigmoid()[known] - batch.soft[known], given - batch.odds)
        return [each.abs().mean().item() for each in both]

    assert min(errors()) > 0.2
    optimizer = torch.optim.AdamW(module.parameters(), lr=3e-3)
    for _ in range(200):
        parts = module.losses(scorer(batch.batch), batch)
        loss = parts["slot_detection"] + parts["slot_preference"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert max(errors()) < 0.1
