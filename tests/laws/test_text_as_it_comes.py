"""Entities, odd apostrophes and letters, and mark-up change no pronoun and no score."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.metric import PronounMetric

Checkpoints = Callable[..., Path]

PLAIN = "It's late, \"she\" said that he'll wait & see."
WRITTEN = {
    "entities": PLAIN.replace("&", "&amp;").replace("'", "&#39;").replace('"', "&quot;"),
    "apostrophes": PLAIN.replace("'", "\u02bc"),
    "letters": PLAIN.replace("It", "\uff29\uff54").replace("he'll", "h\u0435'll"),
    "markup": PLAIN.replace("she", "s<b>he</b>").replace("It", "**It**"),
}


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0)


@pytest.mark.parametrize("kind", WRITTEN)
def test_scores_are_those_of_plain_text_and_the_change_is_counted(metric: PronounMetric, kind: str) -> None:
    text, context = WRITTEN[kind], ["Anna left."]
    wanted = metric.predict([{"text": PLAIN, "context": context}])
    found = metric.predict([{"text": text, "context": context}])
    assert [p.score for p in found.pronouns[0]] == pytest.approx([p.score for p in wanted.pronouns[0]], abs=1e-6)
    assert len(found.pronouns[0]) == 3
    assert all(text[p.start : p.end] == p.text for p in found.pronouns[0])
    assert getattr(found.counts, kind) == 1 and getattr(wanted.counts, kind) == 0


def test_a_text_without_a_pronoun_and_a_context_are_counted_too(metric: PronounMetric) -> None:
    titanic = {"text": "The <i>Titanic</i> sank."}
    found = metric.predict([titanic, {"text": "She left.", "context": ["A &amp; B"]}, {"text": "She left."}])
    assert found.scores[0] is None
    assert (found.counts.markup, found.counts.entities, found.counts.letters) == (1, 1, 0)
