"""What `inventory=` and `context.size` of a preparation change in training, and in a checkpoint's config."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from data_prep.passages import passages
from pronmetric.checkpoint import files
from pronmetric.data.collate import Example
from pronmetric.errors import PronmetricError
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.pronouns.finder import FORMS, INVENTORIES
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.training.after.calibrate import add_noise
from pronmetric.training.examples.batches import Labeller
from pronmetric.training.examples.labelled import LabelledExample, of_forms
from pronmetric.training.examples.prepared import Prepared

PAPER = INVENTORIES["paper"]
ITEM = LabelledExample(
    Example("Before.", "She saw theirs and his.", ((0, 3), (8, 14), (19, 22))),
    (1.0, 0.0, 1.0),
    True,
    ((-1,), (-2,), ()),
)


def test_a_manifest_has_inventory_and_context_size() -> None:
    found = Prepared.of({"config": {"inventory": "paper", "context_size": 4}})
    assert found[:2] == (PAPER, 4) and set(FORMS) - set(PAPER) == {"theirs"} and len(PAPER) == 42
    assert Prepared.of({}) == (FORMS, 2, ENGLISH)
    with pytest.raises(PronmetricError, match="inventory: expected all or paper, got 'small'"):
        Prepared.of({"config": {"inventory": "small"}})


def test_a_pronoun_outside_the_inventory_is_neither_judged_nor_learned_from() -> None:
    kept = of_forms(ITEM, PAPER)
    assert kept.example == Example("Before.", "She saw theirs and his.", ((0, 3), (19, 22)))
    assert (kept.right, kept.antecedents) == ((1.0, 1.0), ((-1,), ()))
    assert of_forms(ITEM, FORMS) is ITEM
    short = LabelledExample(Example("", "'Tis hers.", ((0, 2), (5, 9))), (1.0, 1.0), True)
    assert of_forms(short, PAPER) is short  # the 't of 'tis is a form of "it"


def test_batches_have_the_pronouns_of_the_inventory(tiny_checkpoint: Callable[..., Path]) -> None:
    collator = files.load(tiny_checkpoint()).collator
    batch = Labeller(collator, forms=PAPER).batch([ITEM], pairs=False, name="train")
    assert batch.batch.pronoun_mask.sum() == 2 and batch.right[0, :2].tolist() == [1.0, 1.0]
    assert Labeller(collator).batch([ITEM], pairs=False, name="train").batch.pronoun_mask.sum() == 3


def test_calibration_has_them_too() -> None:
    table = ConfusionTable.from_counts({("she", "he"): 1})
    rows = [{"context": [], "better": "She saw theirs and his."}]
    for forms, spans in ((PAPER, [(0, 3), (19, 22)]), (FORMS, [(0, 3), (8, 14), (19, 22)])):
        (item,) = add_noise(rows, context="none", table=table, rate=0.0, seed=0, forms=forms)
        assert list(item.example.spans) == spans


def test_passages_have_them_too() -> None:
    (found,) = passages(["She saw theirs."], source="wmt", doc="d", forms=PAPER)
    assert found.forms == ("she",)
    assert passages(["She saw theirs."], source="wmt", doc="d").__next__().forms == ("she", "theirs")


def test_scores_have_those_of_the_checkpoint(tiny_checkpoint: Callable[..., Path], tmp_path: Path) -> None:
    loaded = files.load(tiny_checkpoint())
    files.save(tmp_path, loaded.model, loaded.pieces, {**loaded.config, "pronouns": list(PAPER)}, half=False)
    few, all_ = (PronounMetric.from_pretrained(f, precision="32", gpus=0) for f in (tmp_path, tiny_checkpoint()))
    records = [{"text": "She saw theirs."}]
    assert [p.text for p in few.predict(records).pronouns[0]] == ["She"]
    assert [p.text for p in all_.predict(records).pronouns[0]] == ["She", "theirs"]
    mine, theirs = few.signature(), all_.signature()
    assert (mine["pronouns"], theirs["pronouns"]) == ("42", "43") and mine["settings"] != theirs["settings"]
    assert np.isfinite(few.predict(records).scores[0])
