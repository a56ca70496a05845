"""The encoder in int8 against the one it is made of."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pronmetric.errors import MissingExtra, PronmetricError
from pronmetric.metric import PronounMetric
from pronmetric.nn import quantized
from pronmetric.nn.bert import Bert
from pronmetric.nn.mpnet import Mpnet
from pronmetric.scoring import inference

RECORDS: list[dict[str, Any]] = [
    {"context": ["The keys were on the table."], "text": "She found them there."},
    {"context": ["Anna rang the doctor."], "text": "He did not answer her call."},
    {"text": "It was late, and they wanted to go home."},
    {"text": "Nobody spoke."},
]


@pytest.fixture
def packages() -> None:
    """Skip where OpenVINO or NNCF is not installed."""
    for name in ("openvino", "nncf"):
        pytest.importorskip(name)


@pytest.fixture(params=[Bert, Mpnet])
def encoder(request: pytest.FixtureRequest) -> Bert:
    name = request.param.FIXED["model_type"]
    made: Bert = request.param(request.getfixturevalue(f"{name}_config"))
    made.load_state_dict(request.getfixturevalue(f"small_{name}").state_dict())
    return made.eval().requires_grad_(False)


def test_calibration_texts_have_the_sentences_before_them() -> None:
    texts = inference.calibration_texts()
    assert len(texts) > 50
    assert all(text.strip() == text and text for _, text in texts)
    assert any(not context for context, _ in texts)
    for (_, first), (context, _) in pairwise(texts):
        assert not context or context.endswith(first)


@pytest.mark.usefixtures("packages")
def test_states_are_near_those_in_fp32(encoder: Bert) -> None:
    draw = torch.Generator().manual_seed(1)
    rows = [torch.randint(1, 100, (length,), generator=draw).numpy() for length in (5, 9, 17, 30) * 5]
    made = quantized.quantize(encoder, rows)
    mask = torch.arange(30) < torch.tensor([5, 30, 1, 17])[:, None]
    ids = torch.randint(1, 100, mask.shape, generator=draw).masked_fill(~mask, 0)
    with torch.inference_mode():
        exact, found = encoder(ids, mask)[mask], made(ids, mask)[mask]
    assert (made.width, made.max_pieces) == (encoder.width, encoder.max_pieces)
    assert found.dtype == torch.float32
    assert 0 < (found - exact).abs().mean() < 0.2 * exact.std()


@pytest.mark.usefixtures("packages")
def test_scores_are_near_those_in_fp32_and_the_signature_tells() -> None:
    exact = PronounMetric.from_pretrained("small", gpus=0).predict(RECORDS)
    found = PronounMetric.from_pretrained("small", precision="int8").predict(RECORDS)
    assert found.signature.differences(exact.signature) == {"precision": ("int8", "32")}
    assert found.scores[3] is None
    for near, score in zip(found.scores[:3], exact.scores[:3], strict=True):
        assert near == pytest.approx(score, abs=0.1)


@pytest.mark.usefixtures("packages")
def test_no_telemetry_and_nothing_on_stdout(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("She left.\n", encoding="utf-8")
    program = (
        "import sys; from pronmetric.cli.main import main; "
        "code = main(['score', '-t', sys.argv[1], '--model', 'small', '--precision', 'int8', '--quiet']); "
        "assert 'openvino' in sys.modules and 'openvino_telemetry' not in sys.modules; sys.exit(code)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "in.txt")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 2 and "score" in done.stdout


def test_missing_packages_are_named(encoder: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nncf", None)
    with pytest.raises(MissingExtra, match=r'precision int8 needs nncf.*"pronmetric\[int8\]"'):
        quantized.quantize(encoder, [np.array([1, 2])])


def test_other_encoders_and_gpus_are_refused() -> None:
    with pytest.raises(
        PronmetricError, match="int8 is for encoders of architecture BERT or MPNet: give `precision=bf16`"
    ):
        quantized.quantize(torch.nn.Linear(2, 2), [np.array([1, 2])])
    with pytest.raises(PronmetricError, match="int8 is for the CPU: give `gpus=0`"):
        PronounMetric.from_pretrained("small", precision="int8", gpus=1)
