"""Where sentences start."""

from __future__ import annotations

import pytest

from pronmetric.text.sentences import sentence_at, starts


@pytest.mark.parametrize(
    "sentences",
    [
        ["Ann met Mr. Hill.", "He left at 5 p.m. on a Monday.", "It rained."],
        ["The U.S. Senate met J. R. Moss.", "He spoke.", "They heard him."],
        ["He moved to the U.S.", "She stayed."],
        ["He saw Ben Jr.", "She did not."],
        ["She asked: ``Why?''", "``Who knows,'' he said.", "Nobody did!"],
        ["Was it her?", "Yes ... it was.", "So be it..."],
        ["She saw \u201cVertigo.\u201d", "He did not (it was dull)."],
        ["No. 5 won.", "He (cf. Fig. 2) lost."],
        ["She liked vitamin C.", "He did not."],
        ["*va left him.", "*sa stayed."],
        ["She loved ``Is That You?'' very much.", "He sang."],
    ],
)
def test_sentences(sentences: list[str]) -> None:
    text = " ".join(sentences)
    found = [text[a:b].rstrip() for a, b in zip([0, *starts(text)], [*starts(text), len(text)], strict=True)]
    assert found == sentences


def test_no_cut_inside_brackets() -> None:
    text = "Ann (he knew her. It was long ago.) left. She wept (so he said. Alas."
    assert [text[i : i + 3] for i in starts(text)] == ["She", "Ala"]  # an unclosed bracket does not count


def test_sentence_at_its_edges() -> None:
    text = "He left.  She stayed. "
    assert text[slice(*sentence_at(text, 0))] == "He left."
    assert text[slice(*sentence_at(text, text.index("She")))] == "She stayed."
