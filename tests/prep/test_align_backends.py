"""The other back ends; the program eflomal-align is played by a script of ours."""

from __future__ import annotations

import stat
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pronmetric.alignment import eflomal
from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.eflomal import EflomalAligner
from pronmetric.alignment.embedding import EmbeddingAligner
from pronmetric.alignment.links import PrecomputedAligner
from pronmetric.errors import InputError, MissingExtra, PronmetricError

PAIRS: list[TokenPair] = [(["She", "saw", "it"], ["she", "saw", "that\u2028thing"]), ([], ["x"]), (["a"], ["b"])]

# Links word k with word k forward, and equal words backward: their intersection is the equal words in the same place.
PLAYED = """#!{python}
import argparse
from pathlib import Path

parser = argparse.ArgumentParser()
for flag in "stfr":
    parser.add_argument("-" + flag, type=Path)
args = parser.parse_args()
a, b = ([line.split() for line in path.read_text().split("\\n")[:-1]] for path in (args.s, args.t))
assert all(word.isascii() and word.isdigit() for side in (a, b) for line in side for word in line)
forward = [[(k, k) for k in range(min(len(x), len(y)))] for x, y in zip(a, b, strict=True)]
backward = [[(i, j) for i in range(len(x)) for j in range(len(y)) if x[i] == y[j]] for x, y in zip(a, b, strict=True)]
for path, found in ((args.f, forward), (args.r, backward)):
    path.write_text("".join(" ".join(f"{{i}}-{{j}}" for i, j in links) + "\\n" for links in found{cut}))
{end}
"""


def play(folder: Path, monkeypatch: pytest.MonkeyPatch, *, end: str = "", cut: str = "") -> None:
    program = folder / "eflomal-align"
    program.write_text(PLAYED.format(python=sys.executable, end=end, cut=cut))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))


def test_eflomal_sees_lowered_words_as_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(tmp_path, monkeypatch)
    found = EflomalAligner(train_on=[(["more"], ["text"])]).align_all(iter(PAIRS))
    assert [links.links for links in found] == [((0, 0), (1, 1)), (), ()]
    union = EflomalAligner(symmetrize="union").align_all(PAIRS)
    assert [links.links for links in union] == [((0, 0), (1, 1), (2, 2)), (), ((0, 0),)]


def test_eflomal_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(eflomal, "PROGRAM", "eflomal-align-of-nobody")
    with pytest.raises(MissingExtra, match=r'pip install "pronmetric\[eflomal\]"'):
        EflomalAligner()


@pytest.mark.parametrize(
    ("end", "cut", "message"),
    [
        ("raise SystemExit('no room')", "", "failed with code 1: no room"),
        ("args.r.unlink()", "", "failed with code 0"),
        ("", "[:1]", "wrote 1 and 1 lines for 3 pairs"),
    ],
)
def test_eflomal_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, cut: str, message: str) -> None:
    play(tmp_path, monkeypatch, end=end, cut=cut)
    with pytest.raises(PronmetricError, match=message):
        list(EflomalAligner().align_all(PAIRS))


def test_eflomal_leaves_no_long_line_in_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(tmp_path, monkeypatch, cut=" if links is None")
    played = tmp_path / "eflomal-align"
    played.write_text(played.read_text().replace("for links in found if links is None", "for links in [[]] * len(a)"))
    assert [links.links for links in EflomalAligner().align_all([(["x"] * 1024, ["x"])])] == [()]
    with pytest.raises(PronmetricError, match="more than 1024 words"):
        list(EflomalAligner().align_all([(["x"] * 1025, ["x"])]))


VECTORS = {"she": (1, 0, 0), "he": (0.9, 0.2, 0), "saw": (0, 1, 0), "met": (0, 0.9, 0.3), "it": (0, 0, 1)}


def vectors(sides: Sequence[Sequence[str]]) -> list[np.ndarray]:
    return [np.array([VECTORS.get(word, (0, 0, 0)) for word in side], float).reshape(-1, 3) for side in sides]


def test_embedding_takes_the_mutual_best_of_lowered_words() -> None:
    aligner = EmbeddingAligner(vectors)
    pairs = [(["She", "saw", "it"], ["it", "he", "MET"]), ([], ["it"]), (["it", "zzz"], ["it", "yyy"])]
    assert [links.links for links in aligner.align_all(pairs)] == [((0, 1), (1, 2), (2, 0)), (), ((0, 0),)]


def test_embedding_prefers_the_place_between_shared_words() -> None:
    far = ["he", *["x"] * 8, "saw"], ["saw", *["x"] * 8, "she"]  # eight words between, in both
    assert (0, 9) in next(EmbeddingAligner(vectors, decay=0.0).align_all([far])).links
    assert (0, 9) not in next(EmbeddingAligner(vectors, decay=0.1).align_all([far])).links


def test_embedding_needs_a_likeness() -> None:
    assert next(EmbeddingAligner(vectors, threshold=0.95).align_all([(["saw"], ["met"])])).links == ()
    assert next(EmbeddingAligner(vectors, threshold=0.9).align_all([(["saw"], ["met"])])).links == ((0, 0),)


def test_embedding_in_batches() -> None:
    pairs = [(["she", "saw"], ["saw", "he"])] * 5
    one, all_at_once = EmbeddingAligner(vectors, batch_size=2), EmbeddingAligner(vectors)
    assert list(one.align_all(iter(pairs))) == list(all_at_once.align_all(pairs))


@pytest.fixture
def links(tmp_path: Path) -> Path:
    path = tmp_path / "links.txt"
    path.write_text("0-0 1-1\n\n0-0\n")
    return path


def test_precomputed(links: Path) -> None:
    assert [found.links for found in PrecomputedAligner(links).align_all(PAIRS)] == [((0, 0), (1, 1)), (), ((0, 0),)]


def test_precomputed_checks_the_words(links: Path) -> None:
    pairs = [PAIRS[0], PAIRS[1], ([], ["b"])]
    with pytest.raises(InputError, match=r"links\.txt:3: link 0-0, but the pair has 0 and 1 words"):
        list(PrecomputedAligner(links).align_all(pairs))


@pytest.mark.parametrize(
    ("pairs", "message"),
    [(PAIRS[:2], "3 lines of links, but 2 pairs"), ([*PAIRS, ([], [])], "3 lines of links, but more pairs")],
)
def test_precomputed_checks_the_number(links: Path, pairs: list[TokenPair], message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(PrecomputedAligner(links).align_all(pairs))
