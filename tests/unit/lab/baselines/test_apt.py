"""APT's rules one by one; every expected value is worked by hand."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pronmetric.lab.baselines import apt
from pronmetric.lab.baselines.apt import Dictionary, Instance, Rendering, Rules, Side

EN_FR = Dictionary(source=frozenset({"it", "they"}), target=frozenset({"il", "elle", "ils", "elles"}))
LISTED = frozenset({"il", "elle", "ils", "elles", "ce", "cela"})


def rendering(reference: str, candidate: str) -> Rendering:
    """An instance whose sides have these words; "" is an empty side."""
    sides = (Side(tuple(range(len(text.split()))), tuple(text.split())) for text in (reference, candidate))
    return Rendering(Instance(0, 0, "it"), *sides)


def case(reference: str, candidate: str, rules: Rules) -> int:
    [found] = apt.judge([rendering(reference, candidate)], rules=rules)
    return found


def repaired(words: str, tokens: str, links: list[tuple[int, int]], *, source: str = "it works", **how) -> Side:
    """The repaired side of the source's first token."""
    positions = tuple(sorted(there for here, there in links if here == 0))
    how = {"dictionary": EN_FR, **how}
    side = Side(positions, tuple(words.split()))
    return apt.repair(side, source=source.split(" "), tokens=tokens.split(" "), links=links, **how)


def test_instances_are_every_listed_piece_in_the_order_of_the_text() -> None:
    sentences = [["est-IL", "là"], [""], ["Il", "", "il-il", "ils"]]
    found = list(apt.find(sentences, {"il"}, separator="-"))
    assert found == [Instance(0, 0, "il"), Instance(2, 0, "il"), Instance(2, 2, "il"), Instance(2, 2, "il")]
    assert list(apt.find(sentences, {"il"})) == [Instance(2, 0, "il")]


@pytest.mark.parametrize(
    ("links", "listed", "separator", "expected"),
    [
        ([(1, 0)], None, "", Side()),  # the instance is at 0: no link
        ([(1, 0)], LISTED, "-", Side()),
        ([(0, 2), (0, 1), (1, 0), (0, 1)], None, "-", Side((1, 2), ("dort-elle", "il"))),
        ([(0, 2), (0, 1)], LISTED, "-", Side((1, 2), ("elle", "il"))),
        ([(0, 2), (0, 1)], LISTED, "", Side((1, 2), ("il",))),  # "dort-elle" is not split, and not listed
        ([(0, 3)], LISTED, "-", Side((3,), ("ils",))),  # the first of its pieces in the list, not the first in use
        ([(0, 0), (0, 4)], LISTED, "-", Side((0, 4), ("OTHER",))),
        ([(0, 5)], LISTED, "-", Side((5,), ("OTHER",))),  # an empty token between two blanks
    ],
)
def test_a_side_is_the_words_at_the_sorted_link_ends(links, listed, separator: str, expected: Side) -> None:
    tokens = ["Pierre", "Dort-Elle", "IL", "eux-ils-elles", "dort", ""]
    assert apt.side(0, tokens, links, listed=listed, separator=separator) == expected


@pytest.mark.parametrize(
    ("length", "expected"),
    [(0, []), (1, [1]), (2, [1, 1]), (3, [1, 1, 1]), (4, [2, 1, 1, 2]), (5, [2, 1, 1, 1, 2]), (6, [3, 2, 1, 1, 2, 3])],
)
def test_ranks(length: int, expected: list[int]) -> None:
    assert apt.ranks(length) == expected


def test_repair_adds_a_pronoun_that_nothing_is_linked_to() -> None:
    assert repaired("OTHER", "il dort", [(0, 1)]) == Side((1, 0), ("il",))  # OTHER goes
    assert repaired("dort", "il dort", [(0, 1)]) == Side((1, 0), ("dort", "il"))  # a word stays
    assert repaired("dort bien", "il dort bien", [(0, 1), (0, 2)]) == Side((1, 2, 0), ("dort", "bien", "il"))


def test_repair_leaves_what_has_a_pronoun_and_what_has_no_link() -> None:
    assert repaired("elle", "elle il", [(0, 0)]) == Side((0,), ("elle",))
    assert repaired("dort elle", "il dort elle", [(0, 1), (0, 2)]) == Side((1, 2), ("dort", "elle"))
    assert repaired("", "il dort", [(1, 1)]) == Side()
    assert repaired("OTHER", "x y z", [(0, 1)]) == Side((1,), ("OTHER",))


@pytest.mark.parametrize(
    ("tokens", "at", "expected"),
    [
        ("il a b c d e", 3, None),  # three to the left
        ("a il b c d e", 3, (1, "il")),
        ("a b c x d elle f", 3, (5, "elle")),
        ("a b c x d e elle", 3, None),  # three to the right
        ("il b x elle e", 2, (3, "elle")),  # ranks 2 1 1 1 2: nearer wins
        ("il b x d elle", 2, (0, "il")),  # both 2: the leftmost
        ("a il x elle e", 2, (1, "il")),  # both 1
        ("il x elle d", 1, (2, "elle")),  # positions 0 to 3 have ranks 2 1 1 2, though both are one away
        ("x il elle", 0, (1, "il")),  # ranks 1 1 1
        ("x a elle il", 1, (2, "elle")),  # ranks 2 1 1 2
    ],
)
def test_the_position_next_to_the_middle_of_what_is_looked_at_wins(tokens: str, at: int, expected) -> None:
    found = repaired("OTHER", tokens, [(0, at)])
    assert found == (Side((at,), ("OTHER",)) if expected is None else Side((at, expected[0]), (expected[1],)))


def test_repair_looks_around_the_first_and_the_last_position() -> None:
    # first 2, last 5: positions 0 to 7, ranks 4 3 2 1 1 2 3 4
    links = [(0, 2), (0, 5)]
    assert repaired("OTHER", "il b x d e x g elle", links) == Side((2, 5, 0), ("il",))
    assert repaired("OTHER", "il b x d e x elle h", links) == Side((2, 5, 6), ("elle",))
    assert repaired("OTHER", "il b x d elles x elle h", links) == Side((2, 5, 4), ("elles",))


def test_a_pronoun_of_another_source_pronoun_is_taken() -> None:
    assert repaired("OTHER", "ils dort", [(0, 1), (1, 0)], source="it they") == Side((1,), ("OTHER",))
    assert repaired("OTHER", "ils dort", [(0, 1), (1, 0)], source="it works") == Side((1, 0), ("ils",))
    assert repaired("OTHER", "ils dort il", [(0, 1), (1, 0)], source="it they") == Side((1, 2), ("il",))


def test_case_and_hyphens_of_the_source_make_no_difference_but_to_the_published_program() -> None:
    for source, separator in (("it They", ""), ("it do-they", "-")):
        how = {"source": source, "separator": separator}
        assert repaired("OTHER", "ils dort", [(0, 1), (1, 0)], **how) == Side((1,), ("OTHER",))
        assert repaired("OTHER", "ils dort", [(0, 1), (1, 0)], compat=True, **how) == Side((1, 0), ("ils",))


def test_the_pronoun_is_added_and_by_the_published_program_the_token() -> None:
    assert repaired("OTHER", "ont-ils vu", [(0, 1)]) == Side((1, 0), ("ils",))
    assert repaired("OTHER", "ont-ils vu", [(0, 1)], compat=True) == Side((1, 0), ("ont-ils",))
    assert repaired("OTHER", "A-T-IL vu", [(0, 1)]) == Side((1, 0), ("il",))
    assert repaired("OTHER", "A-T-IL vu", [(0, 1)], compat=True) == Side((1,), ("OTHER",))
    assert repaired("OTHER", "A-t-il vu", [(0, 1)], compat=True) == Side((1, 0), ("A-t-il",))
    assert repaired("OTHER", "ils-mêmes vu", [(0, 1)]) == Side((1,), ("OTHER",))  # only the last piece counts


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        ("il", "il", 1),
        ("il elle", "ce elle", 1),  # one word in common is enough
        ("il", "ce", 3),
        ("OTHER", "OTHER", 3),
        ("OTHER", "il", 3),
        ("il", "", 4),
        ("OTHER", "", 4),
        ("", "il", 5),
        ("", "", 6),
    ],
)
def test_cases_without_groups(reference: str, candidate: str, expected: int) -> None:
    assert case(reference, candidate, Rules(listed=LISTED)) == expected


def test_two_others_are_equal_only_where_the_rules_say_so() -> None:
    assert case("OTHER", "OTHER", Rules(listed=LISTED, other_is_equal=True)) == 1
    assert case("OTHER", "il", Rules(listed=LISTED, other_is_equal=True)) == 3


def test_without_a_list_all_words_are_themselves() -> None:
    rules = Rules(similar=(("dort", "repose"),))
    assert (case("pomme", "pomme", rules), case("pomme", "poire", rules), case("dort", "repose", rules)) == (1, 3, 2)


def test_equal_words_are_one_word() -> None:
    rules = Rules(listed=LISTED, equal=(("ce", "cela"), ("il", "elle")))
    assert (case("ce", "cela", rules), case("cela", "ce", rules), case("ce", "il", rules)) == (1, 1, 3)
    assert case("cela", "OTHER", rules) == 3


def test_the_first_equal_group_of_a_word_wins() -> None:
    rules = Rules(listed=LISTED, equal=(("il", "elle"), ("elle", "ce", "cela")))
    assert (case("il", "elle", rules), case("elle", "ce", rules), case("ce", "cela", rules)) == (1, 3, 1)
    # the second group's words are its first word, elle, which is itself in the first group too
    rules = Rules(listed=LISTED, equal=(("elle", "il"), ("elle", "ce")))
    assert (case("elle", "ce", rules), case("il", "ce", rules)) == (1, 1)


def test_a_group_holds_known_words_only_and_is_none_with_one() -> None:
    rules = Rules(listed=LISTED, equal=(("on", "elle"), ("elle", "ce")))
    assert case("elle", "ce", rules) == 1  # the first group has only elle left, and does not count
    assert case("elle", "ce", replace(rules, listed=LISTED | {"on"})) == 3


def test_similar_is_asked_after_equal() -> None:
    rules = Rules(listed=LISTED, equal=(("ce", "cela"),), similar=(("il", "elle"), ("cela", "il")))
    assert (case("il", "elle", rules), case("elle", "il", rules)) == (2, 2)
    assert case("ce", "il", rules) == 2  # as cela; any group counts, not only the first that has il
    assert case("elle", "ce", rules) == 3  # similar is not handed on
    assert case("ce", "cela", rules) == 1
    assert case("il ils", "elle ce", rules) == 2
    assert case("il", "elle", Rules(listed=LISTED, similar=(("il", "on"), ("elle", "on")))) == 3


def test_words_outside_the_list_are_one_word() -> None:
    """Only repair brings such words to a side."""
    rules = Rules(listed=LISTED, similar=(("on", "il"),))
    assert (case("on", "ont-ils", rules), case("on", "il", rules), case("on", "OTHER", rules)) == (1, 3, 3)


def test_the_score_is_the_weighted_share_of_the_selected_cases() -> None:
    cases = [1, 1, 1, 2, 3, 4, 4, 6]
    full = apt.score(cases, weights={1: 1.0, 2: 0.5, 3: 0.0, 4: 0.0, 5: 0.0, 6: 0.0})
    assert full.score == (3 * 1.0 + 1 * 0.5) / 8
    assert (full.cases, full.findings, full.instances) == ((1, 2, 3, 4, 5, 6), (3, 1, 1, 2, 0, 1), 8)
    some = apt.score(cases, weights={4: 0.25, 1: 1.0})
    assert some.score == (2 * 0.25 + 3 * 1.0) / 5
    assert (some.cases, some.weights, some.findings, some.instances) == ((4, 1), (0.25, 1.0), (2, 3), 8)


def test_no_finding_no_score() -> None:
    assert apt.score([], weights={1: 1.0}) == apt.Score(None, (1,), (1.0,), (0,), 0)
    assert apt.score([3, 3], weights={1: 1.0, 2: 1.0}) == apt.Score(None, (1, 2), (1.0, 1.0), (0, 0), 2)


def test_the_matrix_counts_reference_words_by_candidate_words() -> None:
    sides = [("il", "il"), ("ce", "ce"), ("ce", "ce"), ("il", "elle"), ("elle", ""), ("", "elle"), ("OTHER", "il")]
    found = apt.matrix([rendering(*pair) for pair in sides])
    # diagonals ce 2, il 1, then by all counts: elle 3 (il-elle, elle-NONE, NONE-elle), NONE 2, OTHER 1
    assert found.labels == ("ce", "il", "elle", "NONE", "OTHER")
    assert found.counts == ((2, 0, 0, 0, 0), (0, 1, 1, 0, 0), (0, 0, 0, 1, 0), (0, 0, 1, 0, 0), (0, 1, 0, 0, 0))
    assert found.left_out == 0


def test_the_matrix_beyond_its_length_is_one_label() -> None:
    sides = [("ce", "ce"), ("ce", "ce"), ("il", "il"), ("ils", "elles"), ("elle", "il"), ("elle", "elle")]
    renderings = [rendering(*pair) for pair in sides]
    found = apt.matrix(renderings, limit=2)
    # ce 2; il and elle have 1 on the diagonal and 3 in all, so elle by the alphabet
    assert found.labels == ("ce", "elle", "...")
    assert found.counts == ((2, 0, 0), (0, 1, 1), (0, 0, 2))
    assert apt.matrix(renderings, limit=5).labels == ("ce", "elle", "il", "elles", "ils")


def test_several_words_are_left_out_of_the_matrix_or_one_label() -> None:
    sides = [("il", "il"), ("il dort", "dort il"), ("il", "il ce"), ("il il", "il")]
    renderings = [rendering(*pair) for pair in sides]
    alone = apt.matrix(renderings)
    assert (alone.labels, alone.counts, alone.left_out) == (("il",), ((2,),), 2)  # twice the same word is one word
    several = apt.matrix(renderings, multiword=True)
    assert several.labels == ("il", "dort il", "ce il")
    assert (several.counts, several.left_out) == (((2, 0, 1), (0, 1, 0), (0, 0, 0)), 0)


def test_an_empty_matrix() -> None:
    assert apt.matrix([], limit=3) == apt.Matrix((), (), 0)


def test_an_english_reference_in_place_of_the_source() -> None:
    listed = frozenset({"he", "she", "it", "they", "him", "her"})
    reference, candidate = ["She", "said", "it", "hurt", "her"], ["He", "said", "it", "had"]
    links = [(0, 0), (1, 1), (2, 2), (3, 3)]
    found = list(
        apt.from_reference(7, reference, candidate, positions=[0, 2, 4], links=links, listed=listed),
    )
    assert found[0] == Rendering(Instance(7, 0, "she"), Side((0,), ("she",)), Side((0,), ("he",)))
    assert found[2] == Rendering(Instance(7, 4, "her"), Side((4,), ("her",)), Side())
    cases = apt.judge(found, rules=Rules(listed=listed))
    assert cases == (3, 1, 4)
    assert apt.score(cases, weights={1: 1, 3: 0, 4: 0}).score == 1 / 3


def test_the_two_sides_are_treated_alike() -> None:
    """Exchanged, cases 4 and 5 change places, the others stay, and the matrix is turned over."""
    rng = random.Random(0)
    pool = [*sorted(LISTED), "OTHER", "on", ""]
    rules = Rules(LISTED, equal=(("ce", "cela"),), similar=(("il", "elle"), ("ils", "elles", "ce")))
    pairs = [(f"{rng.choice(pool)} {rng.choice(pool)}", rng.choice(pool)) for _ in range(500)]
    there = [rendering(*pair) for pair in pairs]
    back = [rendering(candidate, reference) for reference, candidate in pairs]
    turned = {4: 5, 5: 4}
    cases = apt.judge(there, rules=rules)
    assert set(cases) == {1, 2, 3, 4, 5, 6}
    assert [turned.get(one, one) for one in cases] == list(apt.judge(back, rules=rules))
    one, other = apt.matrix(there, multiword=True), apt.matrix(back, multiword=True)
    assert one.labels == other.labels
    assert one.counts == tuple(zip(*other.counts, strict=True))
