"""The law of order: lines, systems, documents and raters in another order change no figure.

Each verb reads its files twice, the second time in another order within the rules of its format; what it writes must
be the same but for the order of lists, and but for rounding.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pronmetric.eval.agreement import clustered_interval, gwet_ac1
from pronmetric.eval.detection import detect
from pronmetric.eval.estimates import cluster_mean
from pronmetric.eval.resampling import shuffle_contexts
from pronmetric.eval.significance import Totals, difference, no_worse, randomisation
from pronmetric.eval.soft_pairwise import SoftPairwise
from tests.tools.correlated import result, run
from tests.tools.order import assert_same, by_document, figures, judged, marked, plain, shuffled, theirs, written
from tests.tools.row_files import jsonl

Run = Callable[..., tuple[str, str]]
NAMES = ("Oak", "Elm", "Ash", "Yew", "Fir", "Box")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def with_ties(systems: int, segments: int) -> np.ndarray:
    """Scores as people give them: mostly 0, with some errors."""
    rng = np.random.default_rng(3)
    return -rng.binomial(2, np.linspace(0.05, 0.3, systems)[:, None], (systems, segments)).astype(float)


# --- the statistics


def test_soft_pairwise_accuracy_does_not_depend_on_which_system_is_first() -> None:
    human = with_ties(5, 30)
    metric = human + np.random.default_rng(1).normal(size=human.shape)
    same = np.zeros((5, 6))  # people tell nothing apart, which is 0.5 in each pair
    assert SoftPairwise(same, seed=1).accuracy(same) == 1.0
    expected = SoftPairwise(human, seed=1).accuracy(metric)
    for order in ([4, 3, 2, 1, 0], [2, 0, 4, 1, 3]):
        assert SoftPairwise(human[order], seed=1).accuracy(metric[order]) == pytest.approx(expected, abs=1e-12)


def test_randomisation_does_not_depend_on_the_units_order_nor_on_the_first_system() -> None:
    rng = np.random.default_rng(5)
    a, b = (Totals(rng.integers(0, 4, 40).astype(float), np.full(40, 4.0)) for _ in range(2))
    order = rng.permutation(40)
    c, d = (Totals(side.sums[order], side.counts[order]) for side in (a, b))
    p = randomisation(a, b, resamples=99, seed=1)
    assert randomisation(c, d, resamples=99, seed=1) == p and randomisation(d, c, resamples=99, seed=1) == p
    assert no_worse(c, d, margin=0.1, resamples=99, seed=1) == no_worse(a, b, margin=0.1, resamples=99, seed=1)
    assert difference(c, d) == pytest.approx(difference(a, b))


def test_resampled_intervals_do_not_depend_on_the_items_order() -> None:
    rng = np.random.default_rng(6)
    docs = [f"d{k % 7}" for k in range(42)]
    ratings = rng.multinomial(3, [0.6, 0.3, 0.1], size=42)
    wrong, scores = (rng.random(42) < 0.4).tolist(), rng.random(42).round(1).tolist()
    order = rng.permutation(42)
    there = [docs[k] for k in order]
    assert gwet_ac1(ratings[order]).low == pytest.approx(gwet_ac1(ratings).low)
    assert clustered_interval(ratings[order], there, draws=50) == pytest.approx(
        clustered_interval(ratings, docs, draws=50)
    )
    assert cluster_mean([scores[k] for k in order], there).low == pytest.approx(cluster_mean(scores, docs).low)
    found = detect([wrong[k] for k in order], [scores[k] for k in order], there, draws=50)
    assert_same(plain(vars_of(found)), plain(vars_of(detect(wrong, scores, docs, draws=50))))


def vars_of(record: Any) -> Any:
    """A record with slots, and those in it, as dictionaries."""
    slots = getattr(record, "__slots__", None)
    return record if slots is None else {name: vars_of(getattr(record, name)) for name in slots}


def test_shuffled_contexts_do_not_depend_on_the_items_order() -> None:
    items = [f"i{k}" for k in range(12)]
    groups, contexts = [f"d{k % 4}" for k in range(12)], [f"c{k}" for k in range(12)]
    order = random.Random(1).sample(range(12), 12)
    first = dict(zip(items, shuffle_contexts(contexts, items=items, groups=groups, seed=2), strict=True))
    again = shuffle_contexts(
        [contexts[k] for k in order], items=[items[k] for k in order], groups=[groups[k] for k in order], seed=2
    )
    assert dict(zip([items[k] for k in order], again, strict=True)) == first


# --- correlate


def seg_score(name: str, scores: np.ndarray, systems: Sequence[int], segments: Sequence[int]) -> str:
    lines = [f"{NAMES[s]}\t{scores[s, k]}\n" for s in systems for k in segments]
    Path(name).write_text("".join(lines), encoding="utf-8")
    return name


@pytest.mark.parametrize("test", ["spa", "acc_eq", "pearson", "tau_b"])
def test_correlate_segments(folder: Path, test: str) -> None:
    human = with_ties(6, 24)
    rng = np.random.default_rng(7)
    metrics = [human + scale * rng.normal(size=human.shape).round(1) for scale in (0.5, 2.0)]
    orders = [(range(6), range(24)), (random.Random(2).sample(range(6), 6), random.Random(3).sample(range(24), 24))]
    found = []
    for systems, segments in orders:
        files = [seg_score(f"m{k}.seg.score", each, systems, segments) for k, each in enumerate(metrics)]
        found.append(plain(run(*files, seg_score("h.seg.score", human, systems, segments), "--test", test)))
    assert_same(*found)


def test_correlate_systems(folder: Path) -> None:
    rng = np.random.default_rng(8)
    scores = {name: rng.normal(size=(3, len(NAMES))).round(1) for name in ("m", "n", "h")}
    found: list[list[Any]] = []
    for order in (NAMES, NAMES[::-1], ("Ash", "Box", "Elm", "Fir", "Yew", "Oak")):
        for name, own in scores.items():
            values = dict(zip(NAMES, own[0], strict=True))
            Path(f"{name}.sys.score").write_text("".join(f"{s}\t{values[s]}\n" for s in order), encoding="utf-8")
        found.append(
            [plain(run("m.sys.score", "h.sys.score")), plain(run("m.sys.score", "n.sys.score", "h.sys.score"))]
        )
    for other in found[1:]:
        assert_same(found[0], other)


def test_correlate_a_result_over_documents_and_segments(folder: Path) -> None:
    rng = np.random.default_rng(9)
    scores, docs = rng.random((4, 18)).round(2), [f"d{k // 3}" for k in range(18)]
    people = {NAMES[k]: float(k % 3) for k in range(4)}
    for known in (True, False):
        found = []
        order = [k for d in (4, 0, 5, 2, 1, 3) for k in range(3 * d, 3 * d + 3)]
        for systems, segments in (([0, 1, 2, 3], range(18)), ([2, 0, 3, 1], order)):
            own = {NAMES[s]: scores[s, segments].tolist() for s in systems}
            metric = result("r.json", own, [docs[k] for k in segments] if known else None)
            Path("h.sys.score").write_text("".join(f"{NAMES[s]}\t{people[NAMES[s]]}\n" for s in systems))
            found.append(plain(run(metric, "h.sys.score", "--resample", "segments")))
        assert_same(*found)


# --- agree and evaluate


@pytest.mark.parametrize("verb", ["agree", "evaluate"])
def test_judged_pairs(folder: Path, verb: str) -> None:
    pairs = judged()
    ours, others = theirs(pairs, 1), theirs(pairs, 2)
    extra = ["--against", "against.jsonl", "--quiet"] if verb == "evaluate" else []
    found = []
    for seed in (None, 4):
        for name, rows in (("pairs", pairs), ("scores", ours), ("against", others)):
            jsonl(folder / f"{name}.jsonl", rows if seed is None else shuffled(rows, seed))
        found.append(written(verb, "pairs.jsonl", "--scores", "scores.jsonl", "--tie", "0.15", *extra))
    assert_same(*found)


@pytest.mark.parametrize("raters", [2, 3])
def test_a_table_of_ratings(folder: Path, raters: int) -> None:
    rng = np.random.default_rng(11)
    cells = rng.choice(["yes", "no", "unsure", ""], p=[0.5, 0.3, 0.1, 0.1], size=(30, raters))
    found = []
    for items, columns in ((range(30), range(raters)), (rng.permutation(30), range(raters - 1, -1, -1))):
        lines = [["item", *(f"r{c}" for c in columns)], *([f"i{k}", *(cells[k, c] for c in columns)] for k in items)]
        Path("table.csv").write_text("".join(",".join(line) + "\n" for line in lines), encoding="utf-8")
        found.append(written("agree", "--ratings", "table.csv"))
    assert_same(*found)


# --- annotations


def test_annotations(folder: Path) -> None:
    rows, found = marked(), []
    for seed in (None, 5, 6):
        own = rows if seed is None else random.Random(seed).sample(rows, len(rows))
        head = ["system", "doc", "seg_id", "rater", "source", "target", "category", "severity"]
        Path("m.tsv").write_text("".join("\t".join(row) + "\n" for row in [head, *own]), encoding="utf-8")
        counts = written("mqm", "m.tsv", "--pairs", "p.jsonl", "--pronouns", "t.jsonl", "--quiet")
        records = [
            plain(sorted((json.loads(line) for line in Path(name).read_text().splitlines()), key=lambda r: r["id"]))
            for name in ("p.jsonl", "t.jsonl")
        ]
        found.append([counts, *records])
    for other in found[1:]:
        assert_same(found[0], other)


# --- texts


@pytest.mark.parametrize("verb", ["score", "compare"])
def test_documents_and_systems(run_tiny: Run, folder: Path, sample: Path, verb: str) -> None:
    found = []
    for number, (turned, order) in enumerate(((False, (0, 1, 2)), (True, (0, 1, 2)), (True, (2, 0, 1)))):
        files = by_document(sample, folder / str(number), turned=turned)
        texts = ["-t", *(files[k] for k in order), "-r", files[3], "--docids", files[4], "--quiet", "--only_system"]
        run_tiny(verb, *texts, "--to_json", folder / "out.json")
        found.append(json.loads((folder / "out.json").read_text(encoding="utf-8")))
    for other in found[1:] if verb == "score" else []:
        assert_same(figures(other["systems"]), figures(found[0]["systems"]))
    if verb == "compare":
        pairs = [
            {frozenset(Path(one[k]["system"]).name for k in ("a", "b")): one for one in each["pairs"]} for each in found
        ]
        for other in pairs[1:]:
            for pair, one in pairs[0].items():
                same = [k for k in one if k.startswith("p_") or k in ("ties", "units")]
                assert {k: other[pair][k] for k in same} == pytest.approx({k: one[k] for k in same})
                assert abs(other[pair]["difference"]) == pytest.approx(abs(one["difference"]), abs=1e-4)
                assert_same(figures([other[pair]["a"], other[pair]["b"]]), figures([one["a"], one["b"]]))


def test_board(run_tiny: Run, folder: Path, sample: Path) -> None:
    found = []
    for number, turned in enumerate((False, True)):
        wmt = folder / f"wmt{number}" / "kites2022.de-en"
        wmt.parent.mkdir()
        by_document(sample, wmt, turned=turned)
        scores = ["system-a\t2\n", "system-b\t1\n", "system-c\t0\n"]
        (wmt.parent / "kites2022.de-en.sys.score").write_text("".join(scores[::-1] if turned else scores))
        run_tiny("board", "build", "--wmt", wmt.parent, "-o", folder / f"site{number}")
        board = json.loads((folder / f"site{number}" / "board.json").read_text(encoding="utf-8"))
        found.append({key: board[key] for key in ("testsets", "human_correlation")})
        for testset in found[-1]["testsets"]:
            testset.pop("signature", None)
    assert_same(*found)


def test_suite(folder: Path, root: Path) -> None:
    shutil.copytree(root / "examples" / "suites", folder / "suites")
    items = json.loads((folder / "suites" / "contrapro.json").read_text(encoding="utf-8"))
    scores = (folder / "suites" / "context.scores").read_text(encoding="utf-8").splitlines()
    sizes = [1 + len(item["errors"]) for item in items]
    starts = [sum(sizes[:k]) for k in range(len(items))]
    found = []
    for order in (list(range(len(items))), random.Random(7).sample(range(len(items)), len(items))):
        Path("set.json").write_text(json.dumps([items[k] for k in order]), encoding="utf-8")
        lines = [line for k in order for line in scores[starts[k] : starts[k] + sizes[k]]]
        Path("s.scores").write_text("\n".join(lines) + "\n", encoding="utf-8")
        one = written("suite", "score", "contrapro", "--set", "set.json", "--scores", "s.scores", "--quiet")
        one.pop("items")
        found.append(one)
    assert_same(*found)
