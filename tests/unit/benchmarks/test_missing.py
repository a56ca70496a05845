"""Areas of gaps and of texts in which post-editors put a pronoun."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.checkpoint import missing
from pronmetric.eval.calibration import Platt
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.schema import JudgedGap, JudgedText

TEXT = JudgedText(
    id="1",
    kind="edits",
    testset="t",
    lp="et-en",
    doc="d",
    system="s",
    raters=("editor",),
    text="Came home late.",
    context=(),
    source="Ta tuli.",
    source_context=(),
    pronouns=(),
    gaps=(JudgedGap(0, "she", ("editor",)),),
    unjudged=((10, 14),),
    mended="",
)
FORMS = ("he", "she")


def outputs(*logits: float, she: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """The gap head's outputs before each word; `she` is likelier than he by as much."""
    return np.arange(len(logits)), np.array([[logit, 0.0, she] for logit in logits])


def test_gaps_have_labels_but_in_rewritten_phrases() -> None:
    (found,) = missing.label([TEXT], [outputs(2.0, -1.0, 5.0, -2.0)], FORMS, ENGLISH)
    # before "late", which was rewritten, nothing is known
    assert found.forms == ("she", "", "") and found.logits.tolist() == [2.0, -1.0, -2.0]
    assert found.likeliest == ("she", "she", "she")


def test_figures_are_of_gaps_and_of_texts() -> None:
    whole = replace(TEXT, id="2", gaps=(), lp="ru-en")
    texts = [TEXT, TEXT, whole]
    given = [outputs(2.0, -1.0, 5.0, -2.0), outputs(-3.0, -1.0, 0.0, -2.0, she=-1.0), outputs(-4.0, -4.0, 0.0, -4.0)]
    found = missing.measure(list(missing.label(texts, given, FORMS, ENGLISH)), Platt(1.0, 0.0))
    assert list(found) == ["all", "t:et-en", "t:ru-en"]
    assert found["all"]["insertions"] == 2 and found["all"]["gaps"] == 9 and found["all"]["texts_with_insertion"] == 2
    # -3 is below four of the seven gaps without a pronoun, 2 above all
    assert found["all"]["area_of_gaps"].value == pytest.approx((7 + 3) / 14)
    assert found["all"]["area_of_texts"].value == 1.0  # expected: most in the first, least in the whole text
    assert found["all"]["form_is_likeliest"] == 0.5
    assert found["t:ru-en"]["area_of_gaps"] is None and found["t:ru-en"]["form_is_likeliest"] is None
    assert "t:ru-en" in missing.show(found)
