"""Sentence log-probabilities: of a target given a source by an encoder-decoder, given a prompt by a causal model.

The log-probability of a target is the sum over its pieces as the model's tokenizer writes them, with the end of
sentence and, where a model has them, language codes: minus the model's own training loss times the number of pieces.
"""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stderr
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch

from pronmetric.errors import InputError, MissingExtra, PronmetricError
from pronmetric.text.context import Text

PRECISIONS = {"32": torch.float32, "bf16": torch.bfloat16, "16": torch.float16}
BATCH_SIZE = 16
"""Texts that the model reads at a time; more: more memory."""
WINDOW = 512
"""Lines that are sorted by length together, and written together."""
_IGNORED = -100  # label of a piece that is not scored; PyTorch's default `ignore_index`

Pair = tuple[str, str]
TEXTS_AT_ONCE = 8
"""As `BATCH_SIZE`, of texts with their context, which are longer."""
Row = TypeVar("Row")
Made = TypeVar("Made")


class ModelSettings(NamedTuple):
    """How a model is loaded and what it reads.

    precision: "32", "bf16" or "16". gpus: 0 for the CPU, 1 for a GPU, None for a GPU if there is one. prompt: the text
    before a causal model's target, or what an encoder reads, with {source}; None is "{source}", for a causal model with
    a line end after it. per_piece: divide by the number of pieces. source_language, target_language: codes of the
    model's tokenizer.
    """

    precision: str = "32"
    gpus: int | None = None
    prompt: str | None = None
    per_piece: bool = False
    source_language: str | None = None
    target_language: str | None = None


class LogProbability(NamedTuple):
    """The natural logarithm of a target's probability: the sum over its pieces, and their number."""

    total: float
    pieces: int

    @property
    def per_piece(self) -> float:
        """The mean over the pieces."""
        return self.total / self.pieces


class _Encoded(NamedTuple):
    """What a model reads of a pair: `inputs` and `labels` of an encoder-decoder; of a causal model both as one run."""

    inputs: list[int]
    labels: list[int]


class TranslationModel:
    """A model of a local Hugging Face folder, or of a folder with one GGUF file, that scores targets.

    Raises:
        InputError: the folder holds neither a model with safetensors weights and a tokenizer nor a single GGUF file.
        MissingExtra: a GGUF file, without the packages that read it.
        PronmetricError: too few GPUs; languages that the tokenizer needs or does not know.
    """

    def __init__(self, folder: str | Path, settings: ModelSettings) -> None:
        from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer
        from transformers.utils import logging

        given: dict[str, Any] = {"local_files_only": True}
        packed = _gguf_file(Path(folder))
        if packed is not None:
            given["gguf_file"] = packed
        shown = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()  # that of reading the weights
        try:
            # transformers shows a progress bar of its own for a GGUF file
            quiet: AbstractContextManager[Any] = nullcontext() if packed is None else redirect_stderr(io.StringIO())
            with quiet:
                config = AutoConfig.from_pretrained(folder, **given)
                self.is_causal = not config.is_encoder_decoder
                kind: Any = AutoModelForCausalLM if self.is_causal else AutoModelForSeq2SeqLM
                weights: dict[str, Any] = {"use_safetensors": True} if packed is None else _dequantized()
                model = kind.from_pretrained(folder, **weights, **given)
                self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, **given)
        except Exception as error:  # transformers, safetensors and tokenizers raise many kinds of errors
            raise InputError(f"cannot be loaded: {' '.join(str(error).split())[:300]}", file=folder) from None
        finally:
            if shown:
                logging.enable_progress_bar()
        self.device = choose_device(settings.gpus)
        self.model: Any = model.eval().requires_grad_(False).to(self.device, PRECISIONS[settings.precision])
        self.settings = settings
        default = "{source}\n" if self.is_causal else "{source}"
        self.prompt = default if settings.prompt is None else settings.prompt
        self.positions = _positions(config)
        self._set_languages()

    def _set_languages(self) -> None:
        for name, code in (("src_lang", self.settings.source_language), ("tgt_lang", self.settings.target_language)):
            argument = "source_language" if name == "src_lang" else "target_language"
            if code is not None and not hasattr(self.tokenizer, name):
                raise PronmetricError(f"`{argument}=`: the model's tokenizer has no languages; leave it out")
            if code is not None:
                try:
                    setattr(self.tokenizer, name, code)
                except Exception as error:  # of many kinds, by tokenizer
                    raise PronmetricError(f"`{argument}={code}`: the tokenizer does not know it ({error})") from None
            elif hasattr(self.tokenizer, name) and getattr(self.tokenizer, name) is None:
                raise PronmetricError(f"the model's tokenizer needs a language code: give `{argument}=`")

    def score(
        self, pairs: Sequence[Pair], *, batch_size: int = BATCH_SIZE, advance: Callable[[int], object] | None = None
    ) -> list[float]:
        """The log-probability of each target given its source, by `per_piece` of the settings; see `read`."""
        found = self.read(pairs, batch_size=batch_size, advance=advance)
        return [each.per_piece if self.settings.per_piece else each.total for each in found]

    def read(
        self, pairs: Sequence[Pair], *, batch_size: int = BATCH_SIZE, advance: Callable[[int], object] | None = None
    ) -> list[LogProbability]:
        """The log-probability of each target given its source: at most 0, higher is better.

        Pairs of like length share a batch; `advance` is called after each with the number of its pairs.

        The texts must fit: see `check`.
        """
        rows = [self._encode(source, target) for source, target in pairs]
        lengths = [len(row.inputs) + len(row.labels) for row in rows]
        return in_batches(rows, lengths, self._forward, batch_size=batch_size, advance=advance)

    def check(self, pairs: Sequence[Pair], *, file: str | Path) -> None:
        """Refuse texts that are too long for the model, before any is scored; `file` is the set that they are from.

        Raises:
            InputError: with the line in `suite export`, where a text has more pieces than the model has positions.
        """
        if (found := self.find_too_long(pairs)) is not None:
            number, pieces = found
            where = f"line {number + 1} of `suite export` ({pairs[number][1][:40]!r})"
            message = f"{where} has {pieces} pieces with its context, more than the model's {self.positions}"
            cure = "give less context (`context=`, `context_mode=`), or shorten the text or leave its item out"
            raise InputError(f"{message} positions: {cure}", file=file)

    def find_too_long(self, pairs: Sequence[Pair]) -> tuple[int, int] | None:
        """The first pair with more pieces than the model has positions, and its pieces; None where all fit."""
        if self.positions is None:
            return None
        for number, (source, target) in enumerate(pairs):
            pieces = max(map(len, self._encode(source, target)))
            if pieces > self.positions:
                return number, pieces
        return None

    def _encode(self, source: str, target: str) -> _Encoded:
        text = self.prompt.replace("{source}", source)
        if self.is_causal:
            encoded = self._continuation(text, target)
        else:
            encoded = _Encoded(self.tokenizer(text)["input_ids"], self.tokenizer(text_target=target)["input_ids"])
        return encoded

    def _continuation(self, prompt: str, target: str) -> _Encoded:
        """The prompt and the target as one run; only the target and the end of sentence are scored."""
        before = self.before(prompt)
        end = [] if self.tokenizer.eos_token_id is None else [self.tokenizer.eos_token_id]
        after = [*self.pieces(target), *end]
        return _Encoded([*before, *after], [*[_IGNORED] * len(before), *after])

    def pieces(self, text: str) -> list[int]:
        """The pieces of a text without special ones."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def before(self, prompt: str) -> list[int]:
        """What a causal model reads before a target: the first special piece, and those of the prompt.

        Raises:
            PronmetricError: that is nothing.
        """
        ids = self.pieces(prompt)
        first = self.tokenizer.bos_token_id
        if first is None and not ids:
            first = self.tokenizer.eos_token_id
        before = ids if first is None else [first, *ids]
        if not before:
            raise PronmetricError("the tokenizer has no first token: give a `prompt=` that is not empty")
        return before

    @torch.inference_mode()
    def _forward(self, rows: Sequence[_Encoded]) -> Iterator[LogProbability]:
        filler = self.tokenizer.pad_token_id or 0
        inputs = padded([row.inputs for row in rows], filler).to(self.device)
        mask = padded([[1] * len(row.inputs) for row in rows], 0).to(self.device)
        labels = padded([row.labels for row in rows], _IGNORED).to(self.device)
        if self.is_causal:
            logits = self.model(input_ids=inputs, attention_mask=mask, use_cache=False).logits[:, :-1]
            labels = labels[:, 1:]
        else:
            logits = self.model(input_ids=inputs, attention_mask=mask, labels=labels, use_cache=False).logits
        costs = torch.nn.functional.cross_entropy(
            logits.float().transpose(1, 2), labels, ignore_index=_IGNORED, reduction="none"
        )
        counts = (labels != _IGNORED).sum(dim=1)
        totals = -costs.double().sum(dim=1)
        yield from map(LogProbability, totals.tolist(), counts.tolist())


def in_batches(
    rows: Sequence[Row],
    lengths: Sequence[int],
    run: Callable[[Sequence[Row]], Iterable[Made]],
    *,
    batch_size: int,
    advance: Callable[[int], object] | None,
) -> list[Made]:
    """What `run` makes of each row, in their order; rows of like length share a batch.

    advance: called after each batch with the number of its rows.
    """
    order = sorted(range(len(rows)), key=lambda k: (lengths[k], k))
    made: dict[int, Made] = {}
    for start in range(0, len(order), batch_size):
        places = order[start : start + batch_size]
        made |= zip(places, run([rows[place] for place in places]), strict=True)
        if advance is not None:
            advance(len(places))
    return [made[place] for place in range(len(rows))]


def _gguf_file(folder: Path) -> str | None:
    """The name of the single GGUF file of a folder without config.json; None for a Hugging Face folder.

    Raises:
        InputError: the folder is neither.
        MissingExtra: the packages that read the file are not installed.
    """
    if (folder / "config.json").is_file():
        return None
    files = sorted(path.name for path in folder.glob("*.gguf"))
    if len(files) != 1:
        raise InputError(
            f"expected the folder of a Hugging Face model, with config.json, or of one GGUF file, got {len(files)} of "
            "them",
            file=folder,
        )
    for package in ("gguf", "accelerate"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, "lm", f"{folder / files[0]}: a GGUF file")
    return files[0]


def _dequantized() -> dict[str, Any]:
    """The arguments that make a plain model of a GGUF file; versions of transformers without `GgufConfig` always do."""
    import transformers

    kind = getattr(transformers, "GgufConfig", None)
    return {} if kind is None else {"quantization_config": kind(dequantize=True)}


def padded(rows: Sequence[Sequence[int]], filler: int) -> torch.Tensor:
    """(rows, longest): the rows with `filler` after their ends."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[filler] * (width - len(row))] for row in rows])


def choose_device(gpus: int | None) -> str:
    """The device for `gpus`: 0 is the CPU, 1 a GPU, None a GPU if there is one."""
    there = torch.cuda.device_count()
    wanted = min(1, there) if gpus is None else gpus
    if wanted > 1:
        raise PronmetricError("`seq2seq=` runs on one GPU: give `gpus=1` or 0")
    if wanted > there:
        raise PronmetricError("a GPU was asked for, and there is none; give `gpus=0`")
    return "cuda:0" if wanted else "cpu"


def _positions(config: Any) -> int | None:
    """How many pieces a text may have; None where positions are relative."""
    if getattr(config, "relative_attention_num_buckets", None) is not None:
        return None
    positions = getattr(config, "max_position_embeddings", None)
    return None if positions is None else int(positions)


class LanguageModel:
    """A causal model of a folder (`pronmetric.lab.seq2seq.model`).

    precision: "32", "bf16" or "16". gpus: 0 for the CPU, 1 for a GPU, None for a GPU if there is one.

    Raises:
        InputError: the folder holds no causal language model.
    """

    def __init__(self, folder: str | Path, *, precision: str = "32", gpus: int | None = None) -> None:
        self.model = TranslationModel(folder, ModelSettings(precision=precision, gpus=gpus, prompt="{source}"))
        self._folder = folder
        if not self.model.is_causal:
            raise InputError("expected a causal language model, got an encoder-decoder", file=folder)

    def read(self, texts: Sequence[Text], *, advance: Callable[[int], object] | None = None) -> list[LogProbability]:
        """The log-probability of each text after its context and a blank, with the end of sentence.

        Equal texts in equal contexts are read once. advance: called with the number of texts finished since the last
        call.

        Raises:
            InputError: a text with its context is longer than the model reads.
        """
        pairs = [(one.context, f" {one.text}" if one.context else one.text) for one in texts]
        distinct = list(dict.fromkeys(pairs))
        if (found := self.model.find_too_long(distinct)) is not None:
            number, pieces = found
            raise InputError(
                f"{distinct[number][1].strip()[:40]!r} has {pieces} pieces with its context, more than the model's "
                f"{self.model.positions} positions: give `context=none`, or leave the text out",
                file=self._folder,
            )
        if advance is not None:
            advance(len(pairs) - len(distinct))
        read = self.model.read(distinct, batch_size=TEXTS_AT_ONCE, advance=advance)
        known = dict(zip(distinct, read, strict=True))
        return [known[pair] for pair in pairs]
