"""int8 on the CPU: PyTorch, ONNX Runtime and OpenVINO side by side, in one run with one thread.

    python -m benchmarks.cost.int8 --page

Each engine computes the states of the encoder; everything else is pronmetric's own. Speed is from file to file with
`pronmetric score`, in CPU seconds of this process without start-up. Differences are those of segment scores from fp32.
Accuracy is that on items of the study set and GAP in common context. Both are test data: they are measured, and nothing
is chosen by them. Engines whose packages are missing are left out and named. "OpenVINO, int8" is `--precision int8`.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import importlib.metadata
import importlib.util
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks import corpora, pages
from benchmarks.checkpoint import gap, scoring, study
from benchmarks.checkpoint.scoring import COMMON, Contrast, Record, Result
from benchmarks.cost import performance_page, scoring_speed
from pronmetric.checkpoint import files, locate
from pronmetric.data.collate import Example
from pronmetric.eval import accuracy as evaluation
from pronmetric.lab.human.gap import read as read_gap
from pronmetric.metric import PronounMetric
from pronmetric.nn import packed, quantized
from pronmetric.pronouns import finder
from pronmetric.scoring import inference

SPEED, DIFFERENCE, ACCURACY = 1.5, 0.01, 0.003  # the bar: times bf16, mean difference, accuracy in [0, 1]
_OPSET = 20
_QUANTIZED: dict[Path, tuple[nn.Module, float]] = {}  # the encoder and the CPU seconds of making it, by folder


class Engine(NamedTuple):
    """A way to compute the encoder: its name, the precision and, if it is not pronmetric's own, how it is made.

    make: from the folder with `encoder.onnx` and the fp32 encoder.
    """

    name: str
    precision: str
    make: Callable[[Path, Any], Callable[[Tensor, Tensor], Tensor]] | None = None
    needs: tuple[str, ...] = ()


class Foreign(nn.Module):
    """An encoder that another runtime computes."""

    def __init__(self, encoder: Any, run: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.width, self.max_pieces = encoder.width, encoder.max_pieces
        self.run = run

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Piece states."""
        return self.run(ids, mask)


class QuantizedLinear:
    """A linear map by the quantised operators of oneDNN, in the place of `packed.PackedLinear`.

    Each row of the weights has a scale. The inputs of a call have one scale and offset, from their least and greatest
    value. They are unsigned: with signed ones oneDNN falls back to a path that is far slower.
    """

    def __init__(self, weight: Tensor, bias: Tensor, *, dtype: torch.dtype, gelu: bool = False) -> None:
        scale = weight.abs().amax(1).clamp(min=1e-12) / 127
        rounded = (weight / scale[:, None]).round().to(torch.int8)
        offset = torch.zeros(len(weight), dtype=torch.int64)
        self._weight = torch.ops.onednn.qlinear_prepack(rounded, None), scale, offset, bias.float()
        self._after: tuple[str, list[float], str] = ("gelu", [], "none") if gelu else ("none", [], "")
        self._dtype = dtype

    def __call__(self, x: Tensor) -> Tensor:
        """The map of `x`, in `dtype`."""
        low, high = (bound.item() for bound in torch.aminmax(x))
        step = (high - low) / 254.9 or 1.0  # below 255, so that no value is rounded beyond it
        offset = max(0, round(-low / step))
        rounded = torch.add(torch.tensor(offset + 0.5), x, alpha=1 / step).to(torch.uint8)
        return torch.ops.onednn.qlinear_pointwise(
            rounded, step, offset, *self._weight, 1.0, 0, self._dtype, *self._after
        )


def onednn(folder: Path, encoder: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """The packed encoder with quantised linear maps, the attention in bf16."""
    with patch.object(packed, "PackedLinear", QuantizedLinear):
        return packed.PackedEncoder(encoder.model, max_pieces=encoder.max_pieces, dtype=torch.bfloat16)


def quantize_dynamic(folder: Path, encoder: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """PyTorch's eager dynamic quantisation of linear maps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.ao.quantization.quantize_dynamic(copy.deepcopy(encoder), {nn.Linear}, dtype=torch.qint8)


def export(folder: Path, encoder: Any) -> Path:
    """Write the encoder as ONNX, once."""
    path = folder / "encoder.onnx"
    if not path.exists():
        axes = {0: "batch", 1: "pieces"}
        example = torch.ones(2, 9, dtype=torch.int64), torch.ones(2, 9, dtype=torch.bool)
        torch.onnx.export(
            encoder,
            example,
            str(path),
            input_names=["ids", "mask"],
            output_names=["states"],
            dynamic_shapes=(axes, axes),
            opset_version=_OPSET,
            external_data=False,
            verbose=False,
        )
    return path


def onnx_runtime(folder: Path, encoder: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """ONNX Runtime in fp32."""
    return _session(export(folder, encoder))


def onnx_runtime_int8(folder: Path, encoder: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """ONNX Runtime, dynamic quantisation with a scale for each output."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    path = folder / "encoder.int8.onnx"
    if not path.exists():
        quantize_dynamic(export(folder, encoder), path, per_channel=True, weight_type=QuantType.QInt8)
    return _session(path)


def _session(path: Path) -> Callable[[Tensor, Tensor], Tensor]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda ids, mask: torch.from_numpy(session.run(None, {"ids": ids.numpy(), "mask": mask.numpy()})[0])


def openvino(precision: str) -> Callable[[Path, Any], Callable[[Tensor, Tensor], Tensor]]:
    """OpenVINO in "f32" or "bf16"."""
    return lambda folder, encoder: _compiled(export(folder, encoder), precision)


def openvino_int8(folder: Path, encoder: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """OpenVINO with static quantisation by NNCF: the encoder of `--precision int8`, quantised once in a folder."""
    if folder not in _QUANTIZED:
        collator = files.load(locate.locate().folder, trainable=False).collator
        rows = inference.calibration_rows(collator)
        begun = time.process_time()
        _QUANTIZED[folder] = quantized.quantize(encoder, rows), time.process_time() - begun
    return _QUANTIZED[folder][0]


def openvino_dynamic(folder: Path, encoder: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """OpenVINO with int8 weights by NNCF, without calibration: inputs of linear maps are quantised as they come."""
    path = folder / "encoder.weights8.xml"
    if not path.exists():
        import nncf
        import openvino as ov

        exact = ov.Core().read_model(export(folder, encoder))
        model = nncf.compress_weights(exact, mode=nncf.CompressWeightsMode.INT8_SYM)
        ov.save_model(model, path, compress_to_fp16=False)
    return _compiled(path, "bf16", DYNAMIC_QUANTIZATION_GROUP_SIZE="384")


def _compiled(path: Path, precision: str, **more: str) -> Callable[[Tensor, Tensor], Tensor]:
    import openvino as ov

    settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": precision, **more}
    model = ov.Core().compile_model(path, "CPU", settings)
    return lambda ids, mask: torch.from_numpy(model([ids.numpy(), mask.numpy()])[0].astype(np.float32))


ENGINES = (
    Engine("pronmetric", "32"),
    Engine("pronmetric", "bf16"),
    Engine("PyTorch, quantize_dynamic", "int8", quantize_dynamic),
    Engine("PyTorch, oneDNN operators", "int8", onednn),
    Engine("ONNX Runtime", "32", onnx_runtime, ("onnx", "onnxruntime", "onnxscript")),
    Engine("ONNX Runtime", "int8", onnx_runtime_int8, ("onnx", "onnxruntime", "onnxscript")),
    Engine("OpenVINO", "bf16", openvino("bf16"), ("openvino", "onnx", "onnxscript")),
    Engine("OpenVINO, dynamic", "int8", openvino_dynamic, ("openvino", "nncf", "onnx", "onnxscript")),
    Engine("OpenVINO", "int8", openvino_int8, ("openvino", "nncf", "onnx", "onnxscript")),
)


@contextlib.contextmanager
def using(engine: Engine, folder: Path) -> Iterator[None]:
    """`PronounMetric` computes its encoder with `engine`."""
    if engine.make is None:
        yield
        return
    make = engine.make
    with patch.object(packed, "pack", lambda encoder, dtype: Foreign(encoder, make(folder, encoder))):
        yield


def load(engine: Engine) -> PronounMetric:
    """The shipped metric; the encoder of another runtime replaces one in fp32."""
    return PronounMetric.from_pretrained(precision=engine.precision if engine.make is None else "32", gpus=0)


class Pairs(NamedTuple):
    """Contrasts with their contexts and the clusters of resampling."""

    contrasts: list[Contrast]
    contexts: list[Sequence[str]]
    clusters: list[Hashable]


def test_sets(shared: Path, items: int) -> dict[str, Pairs]:
    """`items` of the study set and of GAP, spread over the files; none without the shared folder."""
    if not shared.is_dir():
        return {}
    samples = _spread(study.read(shared / "data" / "study"), items)
    cases = _spread(read_gap(shared / "data" / "gap" / "gap-development.tsv"), items)
    return {
        "study": Pairs(
            [Contrast(" ".join(s.reference), " ".join(s.noisy)) for s in samples],
            [s.context for s in samples],
            [s.reference for s in samples],
        ),
        "gap": Pairs(
            [gap.contrast(case) for case in cases],
            [(case.before,) if case.before else () for case in cases],
            [case.article for case in cases],
        ),
    }


def _spread(found: Sequence[Any], items: int) -> list[Any]:
    return [found[k * len(found) // items] for k in range(min(items, len(found)))] if items < len(found) else [*found]


def accuracies(metric: PronounMetric, sets: Mapping[str, Pairs]) -> dict[str, Any]:
    """Accuracy on each set, in common context."""

    def score(records: Sequence[Record]) -> list[Result]:
        return [Result(score=each.score, pronouns=[]) for each in metric.predict(records).segments]

    return {
        name: evaluation.accuracy(
            scoring.judge(score, pairs.contrasts, {COMMON: scoring.same(pairs.contexts)})[COMMON].decisions,
            pairs.clusters,
        )
        for name, pairs in sets.items()
    }


def run(engine: Engine, outputs: corpora.Outputs, folder: Path, sets: Mapping[str, Pairs]) -> dict[str, Any]:
    """The figures of one engine; `scores` are those of the segments."""
    files_folder = folder / "files"
    line = folder / "line"
    for place in (files_folder, line):
        place.mkdir(exist_ok=True)
    paths = outputs.write(files_folder)
    (first,) = corpora.take(outputs, list(outputs.systems)[:1], 1).write(line)
    own = engine.precision if engine.make is None else "32"
    with using(engine, folder):
        metric = load(engine)  # makes the files of the engine
        records = [record for name in outputs.systems for record in outputs.records(name)]
        prediction = metric.predict(records)
        start_up = min(scoring_speed.score([first], line, None, own) for _ in range(2))
        seconds = min(scoring_speed.score(paths, files_folder, None, own) for _ in range(2)) - start_up
        rows = metric.inference.collator.encode(_examples(outputs))
        found = accuracies(metric, sets)
    return {
        "engine": engine.name,
        "precision": engine.precision,
        "cpu_seconds": seconds,
        "start_up_cpu_seconds": start_up,
        "texts_per_cpu_second": len({row.example for row in rows}) / seconds,
        "pieces_per_cpu_second": sum(len(row.ids) for row in rows) / seconds,
        "accuracy": found,
        "scores": [segment.score for segment in prediction.segments],
    }


def _examples(outputs: corpora.Outputs) -> list[Example]:
    """The distinct (context, text) with a pronoun."""
    distinct = {(str(r["context"][0]), str(r["text"])) for name in outputs.systems for r in outputs.records(name)}
    examples = [Example(c, t, [(p.start, p.end) for p in finder.find(t)]) for c, t in sorted(distinct)]
    return [example for example in examples if example.spans]


def compare(figures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each engine with its speed in times bf16, its differences from fp32, and whether it meets the bar."""
    exact, bf16 = figures[0], figures[1]
    made = []
    for each in figures:
        pairs = zip(each["scores"], exact["scores"], strict=True)
        gaps = np.array([abs(a - b) for a, b in pairs if a is not None and b is not None])
        losses = [exact["accuracy"][k].accuracy - each["accuracy"][k].accuracy for k in exact["accuracy"]]
        figure = {
            **{key: value for key, value in each.items() if key != "scores"},
            "times_bf16": bf16["cpu_seconds"] / each["cpu_seconds"],
            "mean_difference": float(gaps.mean()),
            "largest_difference": float(gaps.max()),
            "segments": len(gaps),
        }
        figure["meets_the_bar"] = bool(
            figure["times_bf16"] >= SPEED
            and figure["mean_difference"] < DIFFERENCE
            and all(loss <= ACCURACY for loss in losses)
        )
        made.append(figure)
    return made


def measure(outputs: corpora.Outputs, sets: Mapping[str, Pairs]) -> dict[str, Any]:
    """All figures."""
    torch.set_num_threads(1)
    there = [engine for engine in ENGINES if all(importlib.util.find_spec(name) for name in engine.needs)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = []
        for engine in there:
            begun = time.process_time()
            found.append(run(engine, outputs, folder, sets))
            print(engine.name, engine.precision, f"{time.process_time() - begun:.0f} CPU s", file=sys.stderr)
    versions = {}
    for package in ("torch", "onnxruntime", "openvino", "nncf"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {
        "benchmark": "int8",
        **pages.origin("cost.int8"),
        "weights": pages.weights_hash(locate.locate().folder),
        "outputs": outputs.name,
        "lines": len(outputs.reference) * len(outputs.systems),
        "bar": {"times_bf16": SPEED, "mean_difference": DIFFERENCE, "accuracy": ACCURACY},
        "items": {name: len(pairs.contrasts) for name, pairs in sets.items()},
        "left_out": [f"{engine.name} {engine.precision}" for engine in ENGINES if engine not in there],
        "cpu": [name for name in ("avx512", "avx512_bf16", "vnni", "amx_tile") if _has(name)],
        "load_average": os.getloadavg()[0],
        "versions": versions,
        "quantisation_cpu_seconds": next((seconds for _, seconds in _QUANTIZED.values()), None),
        "engines": compare(found),
    }


def _has(name: str) -> bool:
    return bool(getattr(torch.cpu, f"_is_{name}_supported")())


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    corpora.add_flags(parser)
    parser.set_defaults(dataset="wmt22:cs-en")
    pages.add_shared(parser)
    parser.add_argument("--lines", type=int, default=600, help="of one system (default: %(default)s)")
    parser.add_argument(
        "--items", type=int, default=600, help="of the study set and of GAP (default: %(default)s each)"
    )
    parser.add_argument("--page", action="store_true", help="write int8.json and the section of docs/performance.md")
    options = parser.parse_args()
    outputs = corpora.read(options)
    outputs = corpora.take(outputs, list(outputs.systems)[:1], options.lines)
    content = pages.plain(measure(outputs, test_sets(options.shared, options.items)))
    print(performance_page.int8_section(content))
    if options.out is not None:
        options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if options.page:
        performance_page.INT8.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        performance_page.write()


if __name__ == "__main__":
    pages.run(main)
