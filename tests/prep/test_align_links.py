from __future__ import annotations

import pytest

from pronmetric.alignment.links import from_pharaoh, symmetrize_links, to_alignment, to_pharaoh
from pronmetric.errors import InputError
from pronmetric.schema import Alignment

# the intersection is 1-1; 1-2 is a neighbour of it, 2-3 of 1-2, 5-5 of none
FORWARD = {(1, 1), (1, 2), (2, 3), (5, 5)}
BACKWARD = {(1, 1), (0, 5)}


@pytest.mark.parametrize(
    ("how", "links"),
    [
        ("mutual", ((1, 1),)),
        ("intersection", ((1, 1),)),
        # 1-2 and 2-3 grow; 5-5 is the first of two whose words are both free, 0-5 then finds b's word 5 taken
        ("grow-diag-final-and", ((1, 1), (1, 2), (2, 3), (5, 5))),
        ("union", ((0, 5), (1, 1), (1, 2), (2, 3), (5, 5))),
    ],
)
def test_symmetrization(how, links) -> None:  # type: ignore[no-untyped-def]
    assert symmetrize_links(FORWARD, BACKWARD, how).links == links


def test_growing_needs_a_new_word() -> None:
    square = {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert symmetrize_links(square, {(0, 0), (1, 1)}, "grow-diag-final-and").links == ((0, 0), (1, 1))


def test_pharaoh_round_trip() -> None:
    links = to_alignment([(10, 2), (0, 0), (0, 0)])
    assert links == Alignment(((0, 0), (10, 2)))
    assert to_pharaoh(links) == "0-0 10-2"
    assert from_pharaoh("10-2  0-0 ") == links
    assert to_pharaoh(from_pharaoh("")) == ""


@pytest.mark.parametrize("line", ["0-0 1", "0--1", "a-b", "0?1", "-1-0", "0-0,1-1", "1.0-1"])
def test_other_text_is_refused(line: str) -> None:
    with pytest.raises(InputError, match=r"links\.txt:7: expected links i-j"):
        from_pharaoh(line, file="links.txt", number=7)
