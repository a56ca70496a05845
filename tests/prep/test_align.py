from __future__ import annotations

import json
import pickle
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pronmetric.alignment import cells
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.cells import common_subsequence
from pronmetric.alignment.links import METHODS, Link, Symmetrize
from pronmetric.errors import InputError
from tests.tools.gold_links import measure, read_gold, wmt21_lines

LINES = """
she closed the old door quietly . | he shut the old door quietly .
the mayor opened the new bridge . | the mayor inaugurated the new bridge .
she closed the shop . | he shut the shop .
it was cold in the house . | that was cold in the house .
the doctor called them yesterday . | yesterday the doctor called him .
we think it is true . | we believe this is true .
my brother sold his car . | my brother sold its car .
the workers wanted their money back . | the workers wanted his money back .
nobody knows where she lives . | nobody knows where he lives .
the report was published in March . | in March the report was published .
""".strip().splitlines()


def pair(line: str) -> TokenPair:
    a, b = line.split("|")
    return a.split(), b.split()


PAIRS = [pair(line) for line in LINES]


@pytest.fixture(scope="module")
def trained() -> AgreementAligner:
    aligner = AgreementAligner()
    aligner.train(PAIRS)
    return aligner


def drawn(number: int, seed: int) -> list[TokenPair]:
    """Pairs of which the second is the first with words replaced, dropped and moved."""
    rng = random.Random(seed)
    vocabulary = [f"{stem}{end}" for stem in ("walk", "sing", "he", "she", "it", "the", "a") for end in ("", "s", "ed")]
    pairs: list[TokenPair] = []
    for _ in range(number):
        a = rng.choices(vocabulary, k=rng.randrange(13))
        b = [rng.choice(vocabulary) if rng.random() < 0.2 else word for word in a if rng.random() < 0.9]
        at = rng.randrange(len(b) + 1)
        pairs.append((a, b[at:] + b[:at] if rng.random() < 0.2 else b))
    return pairs


def table_of_lcs(a: Sequence[int], b: Sequence[int]) -> int:
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            best[i + 1][j + 1] = best[i][j] + 1 if left == right else max(best[i][j + 1], best[i + 1][j])
    return best[-1][-1]


@pytest.mark.parametrize(
    ("a", "b", "links"),
    [
        ([], [1, 2], []),
        ([1, 2, 3], [1, 2, 3], [(0, 0), (1, 1), (2, 2)]),
        ([7, 8, 9], [8, 5, 9], [(1, 0), (2, 2)]),
        ([1, 2, 3, 4], [9, 2, 4], [(1, 1), (3, 2)]),
    ],
)
def test_common_subsequence(a: list[int], b: list[int], links: list[Link]) -> None:
    assert common_subsequence(a, b) == links


def test_common_subsequence_is_a_longest_one_and_knows_no_side() -> None:
    rng = random.Random(3)
    for _ in range(300):
        a, b = ([rng.randrange(6) for _ in range(rng.randrange(20))] for _ in range(2))
        links = common_subsequence(a, b)
        assert len(links) == table_of_lcs(a, b)
        assert all(a[i] == b[j] for i, j in links)
        assert all(i < k and j < m for (i, j), (k, m) in pairwise(links))
        assert common_subsequence(b, a) == [(j, i) for i, j in links]


@pytest.mark.parametrize(
    ("line", "links"),
    [
        # pronouns in the same place
        ("she closed the old door quietly . | he shut the old door quietly .", [(k, k) for k in range(7)]),
        ("it was cold in the house . | that was cold in the house .", [(k, k) for k in range(7)]),
        # a word without a counterpart stays alone: "very"
        ("it was very cold . | that was cold .", [(0, 0), (1, 1), (3, 2), (4, 3)]),
        # a phrase that moved: "in March" links across
        (
            "the report was published in March . | in March the report was published .",
            [(0, 2), (1, 3), (2, 4), (3, 5), (4, 0), (5, 1), (6, 6)],
        ),
        # unknown words: identical ones, and ones that share four letters
        ("zyxwvu reports | zyxwvu reported", [(0, 0), (1, 1)]),
    ],
)
def test_links(trained: AgreementAligner, line: str, links: list[Link]) -> None:
    assert list(trained.align(*pair(line)).links) == sorted(links)


def test_what_was_learned_links_words_that_look_different(trained: AgreementAligner) -> None:
    a, b = pair("she closed . | quickly he shut .")
    assert (1, 2) in trained.align(a, b).links
    assert (1, 2) not in AgreementAligner().align(a, b).links


def test_case_is_ignored(trained: AgreementAligner) -> None:
    upper = [([word.upper() for word in a], b) for a, b in PAIRS]
    assert list(trained.align_all(upper)) == list(trained.align_all(PAIRS))
    aligner = AgreementAligner()
    aligner.train(upper)
    assert list(aligner.align_all(PAIRS)) == list(trained.align_all(PAIRS))


@pytest.mark.parametrize("how", METHODS)
def test_one_alignment_a_pair_within_its_words(how: Symmetrize) -> None:
    pairs = drawn(150, seed=5)
    aligner = AgreementAligner(symmetrize=how)
    aligner.train(pairs)
    found = list(aligner.align_all(pairs))
    assert len(found) == len(pairs)
    for (a, b), alignment in zip(pairs, found, strict=True):
        assert list(alignment.links) == sorted(set(alignment.links))
        assert all(0 <= i < len(a) and 0 <= j < len(b) for i, j in alignment.links)
        if how in ("mutual", "intersection"):
            assert len({i for i, _ in alignment.links}) == len({j for _, j in alignment.links}) == len(alignment.links)


def test_methods_grow() -> None:
    pairs = drawn(150, seed=6)
    aligner = AgreementAligner()
    aligner.train(pairs)
    links = {}
    for how in METHODS[1:]:
        aligner.symmetrize = how  # type: ignore[assignment]
        links[how] = [set(found.links) for found in aligner.align_all(pairs)]
    for least, between, most in zip(*(links[how] for how in METHODS[1:]), strict=True):
        assert least <= between <= most
    assert links["intersection"] != links["grow-diag-final-and"] != links["union"]


def test_swapping_the_sides_swaps_the_links() -> None:
    pairs = drawn(300, seed=7)
    swapped = [(b, a) for a, b in pairs]
    one, other = AgreementAligner(), AgreementAligner()
    one.train(pairs)
    other.train(swapped)
    for links, of_swapped in zip(one.align_all(pairs), other.align_all(swapped), strict=True):
        assert sorted((j, i) for i, j in of_swapped.links) == list(links.links)


def test_same_input_same_output() -> None:
    pairs = drawn(100, seed=8)
    one, other = AgreementAligner(), AgreementAligner()
    one.train(pairs)
    other.train(drawn(20, seed=1))  # forgotten
    other.train(pairs)
    found = list(one.align_all(pairs))
    assert found == list(one.align_all(pairs)) == list(other.align_all(pairs))
    assert found == [one.align(a, b) for a, b in pairs]


def test_the_size_of_a_batch_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = drawn(100, seed=9)
    found = []
    for size in (1, 500, 10**6):
        monkeypatch.setattr(cells, "BATCH_CELLS", size)
        aligner = AgreementAligner()
        aligner.train(pairs)
        found.append(list(aligner.align_all(iter(pairs))))
    assert found[0] == found[1] == found[2]


def test_equal_lines_get_the_diagonal(trained: AgreementAligner) -> None:
    a = ["Ha"] * 12 + ["!"]
    assert trained.align(a, [word.lower() for word in a]).links == tuple((k, k) for k in range(13))


def test_empty_lines_and_single_words(trained: AgreementAligner) -> None:
    pairs: list[TokenPair] = [([], []), (["she"], []), ([], ["she"]), (["she"], ["SHE"]), (["she"], ["zebra"])]
    assert [found.links for found in trained.align_all(pairs)] == [(), (), (), ((0, 0),), ()]
    alone = AgreementAligner()
    alone.train(pairs[:3])
    assert [found.links for found in alone.align_all(pairs[:3])] == [(), (), ()]
    alone.train([])
    assert list(alone.align_all([])) == []


def test_untrained_it_links_what_looks_alike() -> None:
    assert AgreementAligner().align(["a", "dog", "ran"], ["the", "dog", "sat"]).links == ((1, 1),)


def test_long_lines(trained: AgreementAligner, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(4)
    a = [f"w{rng.randrange(500)}" for _ in range(3000)]
    b = [word for k, word in enumerate(a) if k % 50]
    links = trained.align(a, b).links
    assert len(links) > 2900 and all(a[i] == b[j] for i, j in links)
    monkeypatch.setattr(cells, "LONGEST_LCS", 1000)  # beyond it the sentence diagonal leads
    diagonal = trained.align(a, b).links
    assert len(diagonal) > 1000 and all(a[i] == b[j] for i, j in diagonal)


def test_progress_adds_up() -> None:
    told: list[int] = []
    AgreementAligner(iterations=3).train(PAIRS, advance=told.append)
    assert sum(told) == 3 * len(PAIRS)


def test_unknown_method_is_refused() -> None:
    with pytest.raises(InputError, match="expected one of mutual, intersection, grow-diag-final-and, union"):
        AgreementAligner(symmetrize="best")  # type: ignore[arg-type]


def test_save_and_load(tmp_path: Path) -> None:
    pairs = drawn(100, seed=10)
    aligner = AgreementAligner(window=4, symmetrize="union")
    aligner.train([*pairs, (["Ünïcode", "日本", "a\nb", "\u2028"], ["日本"])])
    aligner.save(tmp_path / "one")
    loaded = AgreementAligner.load(tmp_path / "one")
    assert (loaded.window, loaded.symmetrize) == (4, "union")
    new = drawn(30, seed=11)
    assert list(loaded.align_all(pairs + new)) == list(aligner.align_all(pairs + new))
    loaded.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]
    assert AgreementAligner.load(tmp_path / "one", symmetrize="mutual").symmetrize == "mutual"


def write_with(path: Path, **settings: object) -> None:
    AgreementAligner().save(path)
    with np.load(path, allow_pickle=False) as stored:
        content = dict(stored)
    settings = json.loads(content["settings"].tobytes()) | settings
    content["settings"] = np.frombuffer(json.dumps(settings).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, **content)


def write_cut(path: Path) -> None:
    AgreementAligner().save(path)
    path.write_bytes(path.read_bytes()[:-40])


def write_foreign(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, keys=np.zeros(3))


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_with(path, format=2),
        lambda path: write_with(path, decay=float("nan")),
        lambda path: write_with(path, colour=1),
        write_cut,
        write_foreign,
        lambda path: path.write_text("she 0.5\n"),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(pickle.dumps({"she": 1})),
    ],
    ids=["version", "nan", "setting", "cut", "foreign", "text", "empty", "pickle"],
)
def test_a_file_that_is_not_a_table(tmp_path: Path, write) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "table"
    write(path)
    with pytest.raises(InputError, match="table: not a table written by"):
        AgreementAligner.load(path)


def test_a_missing_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        AgreementAligner.load(tmp_path / "table")


@pytest.mark.shared
def test_the_bar_on_few_lines(shared: Path) -> None:
    gold = read_gold(shared / "data" / "mtref-dev.jsonl")
    pairs: list[TokenPair] = [(item.a, item.b) for item in gold]
    aligner = AgreementAligner()
    aligner.train(pairs)
    assert measure(gold, list(aligner.align_all(pairs)))["pron"].f1 >= 74


@pytest.mark.shared
def test_the_bar_on_many_lines(shared: Path) -> None:
    gold = read_gold(shared / "data" / "mtref-dev.jsonl")
    pairs: list[TokenPair] = [(item.a, item.b) for item in gold]
    aligner = AgreementAligner()
    aligner.train(wmt21_lines(shared / "data" / "wmt", 20_000, seed=2) + pairs)
    assert measure(gold, list(aligner.align_all(pairs)))["pron"].f1 >= 78
