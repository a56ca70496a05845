"""A long line costs in proportion to its length: no rule of the finder reads the whole text for each pronoun."""

from __future__ import annotations

import pytest

from pronmetric.pronouns import usage
from pronmetric.pronouns.finder import find


def test_the_finder_looks_at_the_whole_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    class Marks(frozenset[str]):
        def isdisjoint(self, text: object) -> bool:
            looked.append(str(text))
            return super().isdisjoint(str(text))

    monkeypatch.setattr(usage, "_INNER", Marks(usage._INNER))
    text = "she knew that he left and that we saw that " * 400
    assert len(find(text)) > 1000
    assert looked == [text]
