"""The encoder in int8 by OpenVINO, for scoring on a CPU; needs the packages of the extra `int8`.

Weights and the inputs of linear maps are 8-bit integers, with scales from calibration texts (static post-training
quantisation: Jacob et al., CVPR 2018; outliers of the inputs move into the weights: Xiao et al., SmoothQuant, ICML
2023). The rest is in bf16 where the CPU has it, else in fp32.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from pronmetric.errors import MissingExtra, PronmetricError
from pronmetric.nn.bert import Bert

_SMOOTHING = 0.8  # SmoothQuant's alpha, chosen on development text (benchmarks/published/experiments.md)
_TELEMETRY = ("openvino_telemetry", "openvino_telemetry.backend")  # OpenVINO and NNCF go on without them


class QuantizedEncoder(nn.Module):
    """An encoder for scoring only: its weights cannot be trained or saved."""

    def __init__(self, compiled: Any, *, width: int, max_pieces: int) -> None:
        super().__init__()
        self.width, self.max_pieces = width, max_pieces
        self._compiled = compiled

    def forward(
        self, ids: Int[Tensor, "batch pieces"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Contextual piece states, in fp32."""
        states = self._compiled([ids.numpy(), mask.long().numpy()])[0]
        return torch.from_numpy(states.astype(np.float32))


class _Traced(nn.Module):
    """The encoder with a mask of integers: OpenVINO has no booleans as inputs."""

    def __init__(self, encoder: Bert) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.encoder(ids, mask.bool())


def quantize(encoder: nn.Module, rows: Sequence[NDArray[np.int64]]) -> QuantizedEncoder:
    """The fp32 `encoder` in int8, with as many threads as PyTorch has here.

    Args:
        encoder: of architecture BERT or MPNet.
        rows: the pieces of the calibration texts, unpadded.

    Raises:
        MissingExtra: OpenVINO or NNCF is not installed.
        PronmetricError: another encoder.
    """
    if not isinstance(encoder, Bert):
        raise PronmetricError(
            "precision int8 is for encoders of architecture BERT or MPNet: give `precision=bf16`, or another checkpoint"
        )
    with _quiet():
        nncf, openvino = _packages()
        example = torch.ones(2, 9, dtype=torch.int64)
        exact = openvino.convert_model(_Traced(encoder).eval(), example_input=(example, example))
        inputs = [(row[None], np.ones((1, len(row)), np.int64)) for row in rows]
        quantized = nncf.quantize(
            exact,
            nncf.Dataset(inputs),
            model_type=nncf.ModelType.TRANSFORMER,
            subset_size=len(inputs),
            advanced_parameters=nncf.AdvancedQuantizationParameters(
                smooth_quant_alphas=nncf.AdvancedSmoothQuantParameters(matmul=_SMOOTHING)
            ),
        )
        settings = {"INFERENCE_NUM_THREADS": torch.get_num_threads(), "NUM_STREAMS": 1}
        compiled = openvino.Core().compile_model(quantized, "CPU", settings)
    return QuantizedEncoder(compiled, width=encoder.width, max_pieces=encoder.max_pieces)


def _packages() -> tuple[Any, Any]:
    """NNCF and OpenVINO without the telemetry that they send when they are imported."""
    before = {name: sys.modules[name] for name in _TELEMETRY if name in sys.modules}
    sys.modules.update(dict.fromkeys(_TELEMETRY))  # type: ignore[arg-type]  # None: importing it raises ImportError
    try:
        import nncf
        import openvino
    except ImportError as error:
        raise MissingExtra(error.name or "openvino", "int8", "precision int8") from None
    finally:
        for name in _TELEMETRY:
            del sys.modules[name]
        sys.modules.update(before)
    return nncf, openvino


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars, warnings and notes of OpenVINO and NNCF."""
    with contextlib.redirect_stdout(None), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = logging.root.manager.disable
        logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(before)
