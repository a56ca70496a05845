"""The one description of a model: what is read is written again, and what does not fit together is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import files
from pronmetric.checkpoint.model_config import SEGMENT, WITH_PROBABILITIES, Encoder, Head, Model, PairHead
from pronmetric.errors import InputError
from pronmetric.training.settings import Train

CHECKPOINTS = Path(__file__).parents[3] / "checkpoints"
MODEL: dict[str, Any] = {
    "format": 1,
    "encoder": {"hidden_size": 8, "bos_token_id": None, "id2label": {0: "LABEL_0"}},
    "head": {"kind": "logit", "dropout": 0.1, "slots": 0},
    "word_state": "mean",
    "segment": "mean",
    "max_pieces": 64,
    "separator": True,
    "pronouns": ["he", "she"],
    "context": "common",
    "context_size": 2,
    "pair_head": {"heads": 2, "dropout": 0.1},
    "tie": 0.1,
    "training": {"seed": 1},
    "key of a later version": [1],
}
GERMAN = {"code": "de", "uses": ["er personal subject 3 singular masculine"]}
ROWS = {"context": 8, "before": 8, "languages": ["en"]}


def test_what_is_read_is_written_again() -> None:
    model = Model.read(MODEL)
    assert model.to_config() == MODEL and Model.read(model.to_config()) == model
    assert model.encoder.kind == "huggingface" and "kind" not in model.to_config()["encoder"]


@pytest.mark.parametrize("path", sorted(CHECKPOINTS.glob("*/config.yaml")), ids=lambda path: path.parent.name)
def test_the_shipped_checkpoints_are_read_and_written_equal(path: Path) -> None:
    written = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert Model.read(written).to_config() == checkpoint_config.read(path) == written


def test_what_a_run_describes_is_read_back_equal(
    train_settings: Callable[..., Train], tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    loaded = files.load(tiny_checkpoint())
    settings = train_settings({"head.dropout": 0.2, "head.pair": True})
    head, pair = settings.pronoun_head, settings.pair_head
    assert (head, pair) == (Head(kind="logit", dropout=0.2, slots=0), PairHead(heads=4, dropout=0.2))
    assert train_settings({"head.pair": False}).pair_head is None
    described = Model.read(loaded.config).model_copy(update={"head": head, "pair_head": pair})
    files.write_config(tmp_path, described.to_config())
    assert Model.read(checkpoint_config.read(tmp_path / "config.yaml")) == described


def test_scores_depend_on_the_architecture_and_on_what_is_read() -> None:
    shown = Model.read(MODEL | {"encoder": MODEL["encoder"] | {"use_cache": True}}).of_scores()
    assert shown == {
        **{key: MODEL[key] for key in ("encoder", "word_state", "segment", "max_pieces", "separator", "pronouns")},
        "head": {"kind": "logit"},
        "pair_head": 2,
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "format=2: expected 1"),
        ({"head": {"kind": "logit", "dropout": True, "slots": 0}}, "head.dropout=true: expected a number from 0"),
        ({"head": {"kind": "logit", "dropout": 0.1}}, "head.slots is missing: expected a whole number from 0"),
        ({"head": MODEL["head"] | {"correction": True}}, "unknown key 'head.correction'"),
        ({"encoder": {1: 2}}, "encoder=1: expected the keys kind"),
        ({"max_pieces": 64.0}, "max_pieces=64.0: expected a whole number"),
        ({"separator": 1}, "separator=1: expected true or false"),
        ({"pair_head": {"heads": 0, "dropout": 0.1}}, "pair_head.heads=0: expected a whole number from 1"),
        ({"pair_head": {"heads": 1}}, "pair_head.dropout is missing"),
        ({"tie": True}, "tie=true: expected a number of at least 0 or null"),
        ({"ties": {"length": 1}}, "unknown key 'ties.length': expected score, errors or preference"),
        ({"decision": "length"}, "decision=length: expected score, errors or preference"),
        ({"segment": "weighted"}, "segment=weighted: expected mean with head logit"),
        ({"language": {"code": "de"}}, "language: expected a code and a list of uses"),
        ({"languages": [{"code": "en"}]}, "languages=.*: expected a list"),
        ({"languages": [{"code": "en"}, {"code": "en"}]}, "languages: expected each language once, got en"),
        ({"languages": [{"code": "en"}, {"code": "de"}]}, "languages: expected the uses of each form of de, got none"),
        (
            {"languages": [{"code": "en"}, {"code": "de", "uses": ["er"]}]},
            r"languages\[1\]: expected uses of six words",
        ),
        (
            {"languages": [{"code": "en"}, GERMAN], "language": GERMAN},
            "languages: expected no key language, calibration, missing or surplus beside it",
        ),
        ({"surplus": {"": 0.5}}, "surplus: expected no such key without a scorer that reads sources itself"),
        ({"surplus": {"he": 0.5}, "reads_source": ROWS}, 'surplus: expected a key "", the share of all other forms'),
        ({"surplus": {"": 1.0}, "reads_source": ROWS}, "surplus..*=1.0: expected a number from 0 to below 1"),
        (
            {"reads_source": ROWS, "head": {"kind": "average", "dropout": 0.0, "slots": 0}},
            "reads_source: expected no such key with head average, which gives no probabilities",
        ),
        ({"pronouns": ["he", "x"]}, r"pronouns: expected forms of the inventory \(i, .*\), got 'x'"),
        ({"pronouns": ["he", "he"]}, "pronouns: expected each form once, got he"),
    ],
)
def test_what_is_no_model_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"^f: {said}.*; a cure$"):
        Model.read(MODEL | change, file=Path("f"), cure="a cure")


def test_each_head_has_its_segment_score() -> None:
    kinds = {kind: Head.model_validate({"kind": kind, "dropout": 0.0, "slots": 3}) for kind in SEGMENT}
    assert WITH_PROBABILITIES < kinds.keys()
    assert kinds["paper"].form != Head(kind="paper", dropout=0.0, slots=4).form
    assert kinds["logit"].form == Head(kind="logit", dropout=0.5, slots=4).form
    assert Encoder.model_validate({"kind": "elmo", "layers": 2}).model_dump() == {"kind": "elmo", "layers": 2}
