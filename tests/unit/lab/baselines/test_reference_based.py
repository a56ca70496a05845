"""Reference-based baselines as counts that add up: pronouns counted by hand, BLEU and chrF against sacreBLEU itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pronmetric.errors import MissingExtra
from pronmetric.lab.baselines.reference_based import (
    Counts,
    ReferenceBaseline,
    SegmentWords,
    add_counts,
    get_baseline,
    split_segment,
)

# She(0) gave(1) him(2) her(3) book(4) .(5) against She(0) gave(1) it(2) the(3) book(4) .(5): "her" is linked to nothing
LINKS = [(0, 0), (1, 1), (2, 2), (4, 4), (5, 5)]


def aligned(reference: str, text: str, links: list[tuple[int, int]]) -> SegmentWords:
    return split_segment(reference, text)._replace(links=links)


@pytest.mark.parametrize(
    ("name", "counts", "instances", "score"),
    [
        ("apt", (1, 0, 1, 1), 3, 100 / 3),  # the same, similar, another word, nothing
        ("autoprf", (3, 1, 3, 2), 3, 100 * 2 * 1 / (3 + 2)),  # instances, matches, reference, candidate
        ("exact", (1, 2, 3), 2, 50.0),  # kept, aligned, pronouns
    ],
)
def test_pronouns_counted_by_hand(name: str, counts: Counts, instances: int, score: float) -> None:
    baseline = get_baseline(name)
    found = baseline.count(aligned("She gave him her book.", "She gave it the book.", LINKS))
    assert found == counts and len(baseline.fields) == len(counts)
    assert baseline.instances(found) == instances
    assert baseline.system(found) == baseline.segment(found) == pytest.approx(score)


def test_with_links_one_to_one_they_are_precision_recall_and_f1() -> None:
    one = aligned("She gave him her book.", "She gave it the book.", LINKS)
    recall, f1, precision = (p.system(p.count(one)) for p in map(get_baseline, ("apt", "autoprf", "exact")))
    assert recall is not None and precision is not None
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))


@pytest.mark.parametrize("name", ["apt", "autoprf", "exact"])
def test_what_is_no_instance_has_no_score_and_what_is_wrong_has_0(name: str) -> None:
    baseline = get_baseline(name)
    assert baseline.segment(baseline.count(aligned("Yes.", "It is.", [(0, 0)]))) is None
    assert baseline.segment(baseline.count(aligned("She left.", "He left.", [(0, 0), (1, 1)]))) == 0.0


@pytest.mark.parametrize("name", ["apt", "autoprf", "exact"])
def test_case_and_the_t_of_tis_make_no_difference(name: str) -> None:
    baseline = get_baseline(name)
    assert baseline.segment(baseline.count(aligned("It is late.", "'Tis late.", [(0, 0), (1, 1)]))) == 100.0
    assert baseline.segment(baseline.count(aligned("'Tis late.", "Then it is late.", [(0, 1), (1, 2)]))) == 100.0


def test_what_is_linked_to_nothing_is_wrong_for_apt_and_not_there_for_exact() -> None:
    one = aligned("She left.", "Left.", [(1, 0)])
    scores = {name: (p := get_baseline(name)).segment(p.count(one)) for name in ("apt", "autoprf", "exact")}
    assert scores == {"apt": 0.0, "autoprf": 0.0, "exact": None}


def summed(baseline: ReferenceBaseline, references: list[str], texts: list[str]) -> Counts:
    total: Counts | None = None
    for reference, text in zip(references, texts, strict=True):
        total = add_counts(total, baseline.count(split_segment(reference, text)))
    assert total is not None
    return total


def test_bleu_and_chrf_are_those_of_sacrebleu(sample: Path) -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacreBLEU is not installed (extra peers)")
    references = [*(sample / "ref.txt").read_text(encoding="utf-8").splitlines(), "Yes.", "Then no."]
    texts = [*(sample / "system-c.txt").read_text(encoding="utf-8").splitlines(), "", "no"]
    bleu, chrf = get_baseline("bleu"), get_baseline("chrf")
    for baseline, corpus in ((bleu, sacrebleu.corpus_bleu), (chrf, sacrebleu.corpus_chrf)):
        total = summed(baseline, references, texts)
        assert baseline.instances(total) == len(texts)
        assert baseline.system(total) == pytest.approx(corpus(texts, [references]).score, abs=1e-9)
    for reference, text in zip(references, texts, strict=True):
        one = split_segment(reference, text)
        assert bleu.segment(bleu.count(one)) == pytest.approx(sacrebleu.sentence_bleu(text, [reference]).score)
        assert chrf.segment(chrf.count(one)) == pytest.approx(sacrebleu.sentence_chrf(text, [reference]).score)


def test_signatures_are_those_of_sacrebleu() -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacreBLEU is not installed (extra peers)")
    bleu, chrf = get_baseline("bleu"), get_baseline("chrf")
    end = f"|version:{sacrebleu.__version__}"
    assert bleu.signature == f"BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp{end}"
    assert bleu.segment_signature == f"BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp{end}"
    assert chrf.signature == chrf.segment_signature == f"chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no{end}"
    assert not bleu.needs_links and get_baseline("apt").needs_links


def test_without_sacrebleu_the_error_has_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(MissingExtra, match=r"`also=chrf` needs sacrebleu.*pip install .*\[peers\]"):
        get_baseline("chrf")
    assert get_baseline("exact").name == "exact"
