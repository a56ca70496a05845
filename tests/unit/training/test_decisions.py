"""Errors and preferences: of a segment and a system, and what decides a comparison."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import files
from pronmetric.checkpoint.config import decision_of, tie_threshold
from pronmetric.data import arrow
from pronmetric.data.collate import Example
from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.human import metric_scores
from pronmetric.metric import PronounMetric
from pronmetric.report.tables import systems
from pronmetric.results import Result, System
from pronmetric.scoring.comparison import PairwiseComparison, average, decide
from pronmetric.scoring.score import PronounScore, SegmentScore, Tally, tally_segments
from pronmetric.training.after import decision
from pronmetric.training.after.decision import TieThreshold
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.examples.batches import Labeller


def segment(*probabilities: float | None, preference: float | None = None, words: int = 4) -> SegmentScore:
    """A text with pronouns of these probabilities; None for a pronoun of an unbounded head."""
    pronouns = tuple(PronounScore("it", 3 * i, 3 * i + 2, p or 0.0, p) for i, p in enumerate(probabilities))
    known = [p.score for p in pronouns]
    return SegmentScore(sum(known) / len(known) if known else None, pronouns, preference, words)


def test_errors_are_the_sum_of_what_is_missing_to_one() -> None:
    assert segment(0.9, 0.4).errors == pytest.approx(0.7)
    assert segment().errors == 0
    assert segment(None).errors is None


def test_a_segments_mean_over_contexts_keeps_preference_and_words() -> None:
    found = average(segment(0.8, preference=1.0), segment(0.4, preference=-2.0))
    assert found.preference == -0.5 and found.words == 4 and found.errors == pytest.approx(0.4)


def test_rates_of_a_system() -> None:
    """Three segments of 4, 10 and 6 words: 0.2 + 0.5 + 0 errors in three pronouns and 20 words."""
    segments = [segment(0.9, 0.9), segment(0.5, words=10), segment(words=6)]
    found = tally_segments(segments).score()
    assert found.errors is not None and found.errors_in_words is not None and found.preference is None
    assert found.errors.value == pytest.approx(100 * 0.7 / 3) == pytest.approx(100 - (found.score or 0))
    assert found.errors_in_words.value == pytest.approx(1000 * 0.7 / 20)
    assert found.errors.interval is None is found.errors_in_words.interval  # fewer than 4 units
    more = tally_segments(segments * 3).score()
    assert more.errors is not None and more.errors_in_words is not None
    for rate in (more.errors, more.errors_in_words):
        assert rate.interval is not None and rate.interval[0] <= rate.value <= rate.interval[1]
    assert tally_segments([segment(None), segment()]).score().errors is None


def test_a_systems_preference_is_the_mean_of_its_segments() -> None:
    found = tally_segments([segment(0.9, preference=3.0), segment(0.5, 0.5, preference=-1.0), segment()]).score()
    assert found.preference is not None and found.preference.value == 1.0


def test_what_decides() -> None:
    """One wrong pronoun of four against one of one: a lower mean, and the same number of errors."""
    one, many = segment(0.1, preference=0.5), segment(0.1, 0.9, 0.9, 0.9, preference=0.2)
    assert decide(one, many, tie=0.01).better == "b"
    assert decide(one, many, tie=0.01, by="errors").better == "a"
    found = decide(one, many, tie=0.01, by="preference")
    assert found.better == "a" and found.difference == pytest.approx(0.3)
    assert decide(segment(), many, tie=0.01, by="errors").better is None  # a text wins nothing by having no pronoun
    assert decide(segment(0.5), many, tie=0.01, by="preference").better is None


@pytest.mark.parametrize(
    ("by", "difference"), [("score", 100 * (1.0 / 2 - 2.8 / 5)), ("errors", 100 * 1.2 / 2), ("preference", 0.4 / 2)]
)
def test_the_difference_of_two_systems(by: str, difference: float) -> None:
    """By errors in 100 segments, fewer is better; by preference, the mean over segments."""
    compared = PairwiseComparison(tie=0.0, by=by)
    compared.add(segment(0.1, preference=0.5), segment(0.1, 0.9, 0.9, preference=0.2))
    compared.add(segment(0.9, preference=0.1), segment(0.1, 0.8, preference=0.0))
    assert compared.outcome(seed=1).difference == pytest.approx(difference)


def test_totals_are_antisymmetric_units() -> None:
    tally = Tally()
    for each in (segment(0.5, preference=2.0), segment(), segment(1.0, preference=1.0)):
        tally.add(each)
    assert tally.totals("preference")[1].counts.tolist() == [1, 0, 1]
    assert tally.totals("errors")[1].sums.tolist() == [-50, 0, 0]


LOGIT: dict[str, Any] = {"head": {"kind": "logit"}}
PAIR = LOGIT | {"pair_head": {"heads": 4, "dropout": 0.1}}


def test_the_default_is_what_the_checkpoint_names() -> None:
    assert decision_of(LOGIT, None, name="x") == "score"
    assert decision_of(PAIR | {"decision": "preference"}, None, name="x") == "preference"
    assert decision_of(PAIR | {"decision": "preference"}, "errors", name="x") == "errors"


@pytest.mark.parametrize(
    ("config", "by", "message"),
    [
        (LOGIT, "preference", "checkpoint x has no pair head, and no preference: decide by score or errors"),
        ({"head": {"kind": "paper"}}, "errors", "checkpoint x has an unbounded head"),
        (LOGIT, "votes", "expected a decision by score, errors, preference, got 'votes'"),
    ],
)
def test_what_a_checkpoint_does_not_give_is_refused(config: dict[str, Any], by: str, message: str) -> None:
    with pytest.raises(PronmetricError, match=message):
        decision_of(config, by, name="x")


def test_each_decision_has_its_tie_threshold() -> None:
    config = {"tie": 0.01, "ties": {"preference": 0.3}}
    assert tie_threshold(config, name="x") == 0.01
    assert tie_threshold(config, name="x", by="preference") == 0.3
    with pytest.raises(PronmetricError, match=r"no tie threshold \('ties.errors' in its config.yaml\)"):
        tie_threshold(config, name="x", by="errors")


@pytest.fixture(scope="module")
def two(tiny_checkpoint: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny checkpoint with a pair head of random weights."""
    before = files.load(tiny_checkpoint(max_pieces=128))
    config = {**before.config, "pair_head": {"heads": 4, "dropout": 0.1}, "decision": "preference"}
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = files.build(config)
    model.load_state_dict(before.model.state_dict(), strict=False)
    folder = tmp_path_factory.mktemp("two") / "two"
    files.save(folder, model, before.pieces, config, half=False)
    return folder


def test_the_metric_gives_preferences_and_the_same_scores(two: Path, tiny_checkpoint: Callable[..., Path]) -> None:
    records = [{"text": "She left her there.", "context": ["It rained."]}, {"text": "Gone."}, {"text": "They met him."}]
    metric = PronounMetric.from_pretrained(two, gpus=0)
    found = metric.predict(records)
    plain = PronounMetric.from_pretrained(tiny_checkpoint(max_pieces=128), gpus=0).predict(records)
    assert found.scores == plain.scores and [s.preference for s in plain.segments] == [None] * 3
    loaded = files.load(two)
    for record, scored in zip(records, found.segments, strict=True):
        if scored.score is None:
            assert scored.preference is None
            continue
        spans = [(p.start, p.end) for p in scored.pronouns]
        example = loaded.collator.encode([_example(record, spans)])
        with torch.inference_mode():
            u = loaded.model(loaded.collator.pad(example)).preferences
        assert scored.preference == pytest.approx(u[0, : len(spans)].mean().item(), abs=1e-5)
    assert [s.words for s in found.segments] == [4, 1, 3]
    assert found.signature["pair_head"] == "4" and "pair_head" not in str(plain.signature)


def _example(record: dict[str, Any], spans: list[tuple[int, int]]) -> Example:
    return Example(" ".join(record.get("context", ())), record["text"], spans)


def test_compare_by_the_checkpoints_decision(two: Path, tiny_checkpoint: Callable[..., Path]) -> None:
    a, b = [{"text": "She left her there."}, {"text": "It rained."}], [{"text": "He left."}, {"text": "This rained."}]
    found = PronounMetric.from_pretrained(two, gpus=0).compare(a, b, tie=0.0)
    assert found.signature["by"] == "preference"
    for each in found.decisions:
        assert each.a.preference is not None and each.b.preference is not None
        assert each.difference == pytest.approx(each.a.preference - each.b.preference)
    plain = PronounMetric.from_pretrained(tiny_checkpoint(max_pieces=128), gpus=0)
    assert plain.compare(a, b).signature["by"] == "score"
    with pytest.raises(PronmetricError, match="has no pair head"):
        plain.compare(a, b, by="preference")


def test_a_choice_on_development_pairs(two: Path, tiny_prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The highest mean of the accuracies of both kinds; the accuracies are given by the columns."""
    loaded = files.load(two)
    real = PairScorer.columns

    def scored(self: PairScorer, rows: Any, **how: Any) -> Any:
        columns, numbers = real(self, rows, **how)
        kinds = np.array(rows["kind"])[numbers]
        columns["errors"][0] = np.where(kinds == "system", columns["errors"][1] + 1, columns["errors"][1] - 1)
        columns["preference"][0] = columns["preference"][1] + 1
        columns["score"][0] = columns["score"][1] - 1
        return columns, numbers

    monkeypatch.setattr(PairScorer, "columns", scored)
    pairs = PairScorer(loaded.model, Labeller(loaded.collator))
    found = decision.choose(pairs, tiny_prepared, context="common", most=0)
    assert found is not None and found.by == "preference"
    assert found.accuracy["errors"] == {"noisy": 0.0, "system": 1.0}
    assert found.ties.keys() == {"score", "errors", "preference"}
    kinds = arrow.read_pairs(tiny_prepared, "development", kinds=("pronoun",))["kind"]
    assert found.pairs == Counter(kinds)
    few = decision.choose(pairs, tiny_prepared, context="common", most=5)
    assert few is not None and few.pairs == {"noisy": 5, "system": 5} and few.ties["score"].pairs == 5


def test_each_text_is_encoded_once(two: Path, tiny_prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over calls too: a choice after figures on the noisy pairs encodes the system outputs alone."""
    loaded = files.load(two)
    pairs, encoded = PairScorer(loaded.model, Labeller(loaded.collator)), list[Example]()
    real = loaded.collator.__class__.encode
    monkeypatch.setattr(
        loaded.collator.__class__, "encode", lambda self, texts: encoded.extend(texts) or real(self, texts)
    )
    rows = arrow.read_pairs(tiny_prepared, "development", kinds=("pronoun",))
    noisy = rows.select([i for i, kind in enumerate(rows["kind"]) if kind == "noisy"])
    before, _ = pairs.columns(noisy, context="common")
    assert decision.choose(pairs, tiny_prepared, context="common", most=0) is not None
    after, _ = pairs.columns(noisy, context="common")
    texts = {(tuple(row["context"]), row[side]) for row in rows for side in ("better", "worse")}
    assert len(encoded) == len(set(encoded)) == len(texts) < 2 * len(rows)
    for by, columns in before.items():
        np.testing.assert_array_equal(columns, after[by])


def test_the_config_of_a_choice(two: Path, tmp_path: Path) -> None:
    tie = TieThreshold(0.25, 10, 1, 0.1)
    choice = decision.Choice("errors", {"errors": {"noisy": 0.5}}, {"score": tie, "errors": tie}, {"noisy": 10})
    config = decision.add_to_config({"training": {}, "decision": "score", "ties": {"preference": 1.0}}, choice)
    training = {"decision": choice.accuracy, "decision_pairs": {"noisy": 10}}
    assert config == {"training": training, "decision": "errors", "ties": {"errors": 0.25}}
    assert decision.add_to_config({"training": {}, "decision": "score"}, None) == {"training": {}}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("decision", "votes", "decision=votes: expected score, errors or preference"),
        ("ties", {"votes": 1.0}, "unknown key 'ties.votes': expected score, errors or preference"),
        ("pair_head", {"heads": 0, "dropout": 0.1}, "pair_head.heads=0: expected a whole number from 1"),
        ("pair_head", {"heads": 4}, "pair_head.dropout is missing: expected a number from 0 to below 1"),
    ],
)
def test_a_wrong_key_of_the_config_is_refused(two: Path, tmp_path: Path, key: str, value: Any, message: str) -> None:
    config = checkpoint_config.read(two / "config.yaml")
    files.write_config(tmp_path, {**config, key: value})
    with pytest.raises(InputError, match=message):
        checkpoint_config.read(tmp_path / "config.yaml")


def test_a_report_shows_rates_where_there_are_some() -> None:
    rates = {"errors_per_100_pronouns": (12.5, (10.0, 15.0)), "preference": None}
    result = Result(
        systems=(System("a", 87.5, None, 8, 4, 4, rates=rates), System("b", None, None, 0, 4, 0)),
        pairs=(),
        segments=(),
        signature="",
        tie=0.0,
        probability=True,
    )
    table = systems(result)
    assert table.header[6:] == ("errors per 100 pronouns", "95 % interval")
    assert [row[6:] for row in table.rows] == [("12.50", "10.00 to 15.00"), ("-", "-")]


SIGNATURE = "model:x|context:common|version:1"


def scored_file(folder: Path, *, rates: bool = True) -> str:
    """A result of one system: a text with half a wrong pronoun, and one without a pronoun."""
    pronoun = {"text": "It", "start": 0, "end": 2, "probability": 0.5}
    more = {"errors": 0.5, "preference": 2.0} if rates else {}
    entries = [
        {"system": "A", "segment": 0, "text": "It rained.", "context": "", "score": 0.5, **more, "pronouns": [pronoun]},
        {"system": "A", "segment": 1, "text": "Gone.", "context": "", "score": None, "errors": 0.0, "pronouns": []},
    ]
    system: dict[str, Any] = {"system": "A", "score": 50.0, "interval": None, "pronouns": 1, "segments": 2}
    system |= {"segments_with_pronoun": 1}
    if rates:
        system |= {"errors_per_1000_words": {"value": 20.0, "interval": None}, "preference": {"value": 2.0}}
    path = folder / "result.json"
    path.write_text(json.dumps({"segments": entries, "systems": [system], "signature": SIGNATURE}))
    return str(path)


@pytest.mark.parametrize(
    ("by", "system", "segments"),
    [("score", 50.0, [0.5, None]), ("errors", -20.0, [-0.5, None]), ("preference", 2.0, [2.0, None])],
)
def test_correlate_reads_each_number(tmp_path: Path, by: str, system: float, segments: list[float | None]) -> None:
    found = metric_scores.read(scored_file(tmp_path), ["A"], by=by)
    assert found.systems == {"A": system} and found.segments() == {"A": segments}


def test_a_result_of_an_earlier_version_has_scores_alone(tmp_path: Path) -> None:
    path = scored_file(tmp_path, rates=False)
    assert metric_scores.read(path, ["A"]).systems == {"A": 50.0}
    with pytest.raises(InputError, match="A has no preference, which `by=preference` needs"):
        metric_scores.read(path, ["A"], by="preference")
    scores = tmp_path / "a.sys.score"
    scores.write_text("A\t0.5\n")
    with pytest.raises(
        InputError, match="holds scores alone: `by=errors` needs what `pronmetric score --to_json` wrote"
    ):
        metric_scores.read(str(scores), ["A"], by="errors")
