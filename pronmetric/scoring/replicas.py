"""The model of a checkpoint on its devices: one replica each, in the precision of inference."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import nn

from pronmetric.checkpoint.files import Checkpoint
from pronmetric.data.collate import Collator, Encoded
from pronmetric.errors import PronmetricError
from pronmetric.nn.encoders.huggingface import packed
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.nn.scorer import PronounScorer

PRECISIONS = {"32": torch.float32, "bf16": torch.bfloat16, "16": torch.float16}


BATCH_SIZE = {"cpu": 32, "cuda": 1024, "mps": 1024}


BATCH_PIECES = 32  # pieces per text of `batch_size`


Result = TypeVar("Result")


class Replicas:
    """The model of a checkpoint, one replica on each device.

    Args:
        loaded: the checkpoint; its model is moved and converted in place.
        precision: one of `PRECISIONS`; None: that of `default_precision`.
        gpus: as for `devices`.
    """

    def __init__(self, loaded: Checkpoint, *, precision: str | None, gpus: int | None) -> None:
        if precision == "int8":
            raise PronmetricError("precision int8 was dropped in version 1.0.0: give `precision=bf16`")
        if precision not in (None, *PRECISIONS):
            raise PronmetricError(f"expected precision {', '.join(PRECISIONS)}, got {precision!r}")
        names = devices(gpus)
        self.precision = default_precision(names[0]) if precision is None else precision
        self.collator = loaded.collator
        model: Any = loaded.model.eval().requires_grad_(False)
        dtype = PRECISIONS[self.precision]
        ready: nn.Module | None = None
        if names == ["cpu"]:
            ready = packed.pack(model.encoder, dtype)
        elif isinstance(model.encoder, HuggingFaceEncoder):
            model.encoder.fuse_attention()
        # the head stays in fp32: it costs little, and rounding would affect scores
        model.encoder = model.encoder.to(dtype) if ready is None else ready
        copies = [model, *(copy.deepcopy(model) for _ in names[1:])]
        self._models: list[PronounScorer] = [each.to(device) for each, device in zip(copies, names, strict=True)]

    def __len__(self) -> int:
        """The number of devices."""
        return len(self._models)

    def __getitem__(self, number: int) -> PronounScorer:
        """The replica on a device."""
        return self._models[number]

    @property
    def device(self) -> torch.device:
        """The first device."""
        return next(self[0].parameters()).device

    def batch_size(self, given: int | None) -> int:
        """Texts of a batch: as many as given, or by the device."""
        return given or BATCH_SIZE[self.device.type]

    def map(
        self,
        batches: Sequence[Sequence[Encoded]],
        compute: Callable[[PronounScorer, Collator, Sequence[Encoded]], Result],
    ) -> Iterator[Result]:
        """The result for each batch, in order; with several GPUs, each free one takes the next batch."""
        if len(self) == 1:
            yield from (compute(self[0], self.collator, batch) for batch in batches)
            return
        free = deque(self._models)

        def run(batch: Sequence[Encoded]) -> Result:
            replica = free.popleft()  # never empty: there are as many threads as replicas
            try:
                return compute(replica, self.collator, batch)
            finally:
                free.append(replica)

        with ThreadPoolExecutor(len(self)) as pool:
            yield from pool.map(run, batches)


@contextmanager
def inference_mode(device: torch.device) -> Iterator[None]:
    """No gradients, and no autocast of a caller: the precision is that of the signature."""
    with torch.inference_mode(), torch.autocast(device.type, enabled=False):
        yield


def devices(gpus: int | None) -> list[str]:
    """The devices to run on; None: one GPU of CUDA if available, else the CPU. Apple's GPU is used only for 1.

    Raises:
        PronmetricError: more GPUs are wanted than there are.
    """
    there = torch.cuda.device_count()
    if gpus == 1 and not there and torch.backends.mps.is_available():
        return ["mps"]
    wanted = min(1, there) if gpus is None else gpus
    if wanted > there:
        raise PronmetricError(f"{wanted} GPUs were requested, but {there} are available; give `gpus={there}`")
    return [f"cuda:{i}" for i in range(wanted)] or ["cpu"]


def default_precision(device: str) -> str:
    """The precision on a device where none is asked for: bf16 on a GPU of CUDA that computes in it, else fp32."""
    if device.startswith("cuda") and torch.cuda.is_bf16_supported(including_emulation=False):
        return "bf16"
    return "32"
