"""A checkpoint as an ONNX file, for ONNX Runtime and other runtimes; needs the packages of the extra `onnx`."""

from __future__ import annotations

import importlib.util
import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch

from pronmetric.checkpoint.files import Checkpoint, encoder_kind
from pronmetric.errors import MissingExtra, PronmetricError
from pronmetric.nn.exported import INPUTS, ExportedScorer, example_batch

_LIMIT = 2**31 - 2**24  # bytes of weights; a Protocol Buffers file holds 2 GB


def require_packages() -> None:
    """Refuse to go on without the packages that write ONNX files.

    Raises:
        MissingExtra: with the command that installs them.
    """
    missing = [name for name in ("onnx", "onnxscript") if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtra(missing[0], "onnx", "an ONNX file")


def to_onnx(checkpoint: Checkpoint, *, properties: Mapping[str, str]) -> bytes:
    """The content of an ONNX file that scores batches (`pronmetric.nn.exported`) in fp32.

    Batch, pieces, words and pronouns may have any size. The file does not contain the tokenizer.

    Args:
        checkpoint: one with a Hugging Face encoder, fresh from `files.load`.
        properties: written into the file's metadata.

    Raises:
        PronmetricError: another encoder; more than 2 GB of weights; missing packages.
    """
    require_packages()
    if (kind := encoder_kind(checkpoint.config)) != "huggingface":
        raise PronmetricError(f"expected a checkpoint with a Hugging Face encoder, got encoder {kind!r}")
    model = ExportedScorer(checkpoint.model).eval().requires_grad_(False)
    if (size := sum(p.numel() * p.element_size() for p in model.parameters())) > _LIMIT:
        raise PronmetricError(f"an ONNX file holds 2 GB, and the weights have {size / 1e9:.1f} GB")
    try:
        program = _export(model)
    except torch.onnx.OnnxExporterError as error:
        kind = checkpoint.config["encoder"].get("model_type")
        why = str(error).strip().splitlines()[0]
        raise PronmetricError(f"an encoder of type {kind!r} cannot be exported by this PyTorch: {why}") from error
    assert program is not None
    program.model.metadata_props.update(properties)
    return program.model_proto.SerializeToString()


def _export(model: ExportedScorer) -> torch.onnx.ONNXProgram | None:
    with _quiet():
        return torch.onnx.export(
            model,
            example_batch(),
            input_names=list(INPUTS),
            output_names=list(model.outputs),
            dynamic_shapes=tuple(dict(enumerate(axes)) for axes in INPUTS.values()),
            dynamo=True,
            verbose=False,
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's messages about its own internals."""
    logs = [logging.getLogger(name) for name in ("torch.onnx", "onnx_ir")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)
