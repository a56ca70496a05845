"""A trained translation model in its folder: it scores translations, and translates documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import torch
import yaml
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.lab.nmt.data import Passage, Reader, Row
from pronmetric.lab.nmt.layers import Past
from pronmetric.lab.nmt.network import SOURCE, Batch, Memories, Network
from pronmetric.lab.nmt.pieces import BEGIN, END, PAD, Pieces
from pronmetric.lab.nmt.search import search
from pronmetric.lab.nmt.settings import BERT_FUSED, CONFIG, Shape, is_model
from pronmetric.lab.seq2seq.model import BATCH_SIZE, PRECISIONS, LogProbability, Pair, choose_device, in_batches
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.output.targets import AtomicFile

WEIGHTS, ENCODER = "model.safetensors", "encoder"
DRAFT_BEAM = 4
"""Hypotheses of the search for a draft; more: slower, a bit more probable."""
_CURE = "train it again with `pronmetric nmt train`"

Advance = Callable[[int], object]


class Translator:
    """A translation model: a network and the reader of its text.

    `per_piece` says whether `score` divides by the number of pieces.
    """

    def __init__(self, network: Network, reader: Reader) -> None:
        self.network, self.reader, self.shape = network, reader, network.shape
        self.per_piece = False
        self.device = torch.device("cpu")
        self._drafts: dict[str, list[int]] = {}

    @classmethod
    def make(cls, shape: Shape, pieces: Pieces, *, bert: tuple[HuggingFaceEncoder, Subwords] | None = None) -> Self:
        """A model with random weights."""
        read = None if bert is None else (bert[1], bert[0].max_pieces)
        network = Network(shape, pieces=len(pieces), bert=None if bert is None else bert[0])
        return cls(network, Reader(pieces, shape, bert=read))

    @classmethod
    def load(cls, folder: str | Path, *, precision: str = "32", gpus: int | None = 0, per_piece: bool = False) -> Self:
        """Read a model that `save` wrote, to score and to translate.

        precision: "32", "bf16" or "16". gpus: 0 for the CPU, 1 for a GPU, None for a GPU if there is one. per_piece:
        `score` divides by the number of pieces.

        Raises:
            InputError: the folder holds no model, or its files do not fit together.
        """
        folder = Path(folder)
        if not is_model(folder) or not (folder / WEIGHTS).is_file():
            raise InputError(f"expected {CONFIG} and {WEIGHTS}; give a folder of `pronmetric nmt train`", file=folder)
        pieces = Pieces.load(folder)
        try:
            config: dict[str, Any] = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
            shape, bert = Shape.model_validate(config["nmt"]), None
            if shape.system == BERT_FUSED:
                words = Subwords(AutoTokenizer.from_pretrained(str(folder / ENCODER), local_files_only=True))
                bert = HuggingFaceEncoder.from_config(config["encoder"]), words
            made = cls.make(shape, pieces, bert=bert)
            made.network.load_state_dict(load_file(folder / WEIGHTS))
        except Exception as error:  # yaml, pydantic, safetensors and torch have many ways to fail
            why = str(error).split("\n")[0]
            raise InputError(f"broken translation model ({why}); {_CURE}", file=folder) from error
        made.network.requires_grad_(False)
        made.per_piece = per_piece
        return made.to(choose_device(gpus), PRECISIONS[precision])

    def to(self, device: str | torch.device, dtype: torch.dtype = torch.float32) -> Self:
        """Move the model to a device, and set it to evaluation mode; returns it."""
        self.device = torch.device(device)
        self.network.eval().to(self.device, dtype)
        return self

    def save(self, folder: Path, *, about: dict[str, Any]) -> None:
        """Write the model to a folder: nmt.yaml (with `about`, the record of its training), weights and pieces."""
        folder.mkdir(parents=True, exist_ok=True)
        config = {"nmt": self.shape.model_dump()}
        if self.network.bert is not None and self.reader.bert is not None:
            config["encoder"] = self.network.bert.config
            self.reader.bert[0].save(folder / ENCODER)
        self.reader.pieces.save(folder)
        new = folder / f".{WEIGHTS}"
        save_file({name: value.detach().contiguous() for name, value in self.network.state_dict().items()}, new)
        new.replace(folder / WEIGHTS)
        with AtomicFile(folder / CONFIG) as file:
            yaml.safe_dump({**config, "training": about}, file, sort_keys=False, allow_unicode=True)

    def score(
        self, pairs: Sequence[Pair], *, batch_size: int = BATCH_SIZE, advance: Advance | None = None
    ) -> list[float]:
        """The log-probability of each target given its source, by `per_piece`; see `read`."""
        found = self.read(pairs, batch_size=batch_size, advance=advance)
        return [each.per_piece if self.per_piece else each.total for each in found]

    def check(self, pairs: Sequence[Pair], *, file: str | Path) -> None:
        """Refuse pairs whose source the frozen encoder cannot read; other systems read texts of any length.

        Raises:
            InputError: with the line in `suite export`.
        """
        for number, pair in enumerate(pairs if self.reader.bert is not None else (), start=1):
            try:
                self._rows([Passage.of(pair)])
            except InputError as error:
                raise InputError(f"line {number} of `suite export`: {error}", file=file) from None

    def check_sources(self, documents: Sequence[Sequence[str]], *, file: str | Path) -> None:
        """Refuse documents with a sentence that the frozen encoder cannot read.

        Raises:
            InputError: with the line, where `file` has the sentences of all documents.
        """
        sentences = [sentence for document in documents for sentence in document]
        for number, sentence in enumerate(sentences if self.reader.bert is not None else (), start=1):
            try:
                self._rows([Passage((sentence,), ("",))])
            except InputError as error:
                raise InputError(str(error), file=file, line=number) from None

    def _rows(self, found: Sequence[Passage], drafts: Sequence[Sequence[int]] | None = None) -> list[Row]:
        """The rows of passages.

        Raises:
            InputError: the frozen encoder cannot read a sentence.
        """
        rows = self.reader.rows(found, drafts)
        for row, one in zip(rows, found, strict=True):
            if self.reader.bert is not None and not self.reader.fits(row):
                text, most = one.source[-1][:40], self.reader.bert[1]
                raise InputError(f"{text!r} has {len(row.bert)} pieces, more than the {most} of the frozen encoder")
        return rows

    def read(
        self, pairs: Sequence[Pair], *, batch_size: int = BATCH_SIZE, advance: Advance | None = None
    ) -> list[LogProbability]:
        """The log-probability of each target given its source: at most 0, higher is better.

        Both texts are sentences separated by line ends: the last one is scored, the others are its context. Where the
        decoder writes the previous sentences too, the log-probability is that of all. CADec's draft of the sentence is
        the base's own translation, whatever the target is.

        Raises:
            InputError: the frozen encoder cannot read a source.
        """
        found = [Passage.of(pair) for pair in pairs]
        rows = self._rows(found, self._drafts_of(found, batch_size=batch_size))
        lengths = [row.length for row in rows]
        return in_batches(rows, lengths, self._log_probabilities, batch_size=batch_size, advance=advance)

    @torch.inference_mode()
    def _log_probabilities(self, rows: Sequence[Row]) -> Iterator[LogProbability]:
        batch = self.reader.pad(rows).to(self.device)
        costs = costs_of(self.network, batch)  # (rows, pieces)
        counts = (batch.target[:, 1:] != PAD).sum(1)
        return iter(
            [LogProbability(-cost, n) for cost, n in zip(costs.double().sum(1).tolist(), counts.tolist(), strict=True)]
        )

    def _drafts_of(self, found: Sequence[Passage], *, batch_size: int) -> list[list[int]] | None:
        """CADec's draft of the last sentence of each passage; None for other systems."""
        return self.draft([one.source[-1] for one in found], batch_size=batch_size) if self.shape.cadec else None

    def draft(self, sentences: Sequence[str], *, batch_size: int) -> list[list[int]]:
        """CADec's draft of each sentence, in pieces: the base's best translation without context. Drafts are cached."""
        wanted = [one for one in dict.fromkeys(sentences) if one not in self._drafts]
        made = self.draft_pieces(self.reader.pieces.encode(wanted), batch_size=batch_size)
        self._drafts |= zip(wanted, made, strict=True)
        return [self._drafts[one] for one in sentences]

    def draft_pieces(
        self,
        sources: Sequence[list[int]],
        *,
        batch_size: int,
        noise: torch.Generator | None = None,
        advance: Advance | None = None,
    ) -> list[list[int]]:
        """The base's best translation of each source, in pieces without marks; with `noise` a sampled one."""
        rows = [Row([*one, END], [], [], [], [BEGIN]) for one in sources]

        def run(some: Sequence[Row]) -> list[list[int]]:
            with torch.inference_mode():
                memories = {SOURCE: self.network.encode_source(self.reader.pad(some).source.to(self.device))}
                return self._search(some, memories, beam=1 if noise is not None else DRAFT_BEAM, base=True, noise=noise)

        return in_batches(rows, [len(row.source) for row in rows], run, batch_size=batch_size, advance=advance)

    def _search(
        self,
        rows: Sequence[Row],
        memories: Memories,
        *,
        beam: int,
        penalty: float = 1.0,
        prefixes: Sequence[Sequence[int]] | None = None,
        base: bool = False,
        noise: torch.Generator | None = None,
    ) -> list[list[int]]:
        def step(ids: torch.Tensor, read: Memories, past: Past) -> torch.Tensor:
            return self.network.logits(self.network.states(ids, read, base=base, past=past)[:, -1])

        return search(
            step,
            memories,
            [[BEGIN]] * len(rows) if prefixes is None else prefixes,
            most=[2 * len(row.source) + 10 for row in rows],
            beam=beam,
            penalty=penalty,
            noise=noise,
        )

    def translate(
        self,
        documents: Sequence[Sequence[str]],
        *,
        beam: int,
        penalty: float,
        batch_size: int = BATCH_SIZE,
        advance: Advance | None = None,
    ) -> list[list[str]]:
        """Translate each document from the first sentence to the last; an empty sentence stays empty.

        The previous target sentences are the model's own translations, which are not revised.

        Args:
            documents: source sentences.
            beam: the number of hypotheses kept.
            penalty: log-probabilities are divided by length to this power.
            batch_size: the number of sentences, of different documents, that are translated together.
            advance: called with the number of sentences that were translated since the last call.

        Raises:
            InputError: the frozen encoder cannot read a sentence; see `check_sources`.
        """
        translations: list[list[str]] = [[] for _ in documents]
        reads = self.reader.reads
        for place in range(max(map(len, documents), default=0)):
            chosen = [number for number, document in enumerate(documents) if place < len(document)]
            passages = []
            for number in chosen:
                source = documents[number][max(0, place - reads.source) : place + 1]
                past = translations[number][max(0, place - reads.target) : place]
                passages.append(Passage(tuple(source), (*past, "")))
            texts = self._translate(passages, beam=beam, penalty=penalty, batch_size=batch_size, advance=advance)
            for number, text in zip(chosen, texts, strict=True):
                translations[number].append(text)
        return translations

    def _translate(
        self, found: Sequence[Passage], *, beam: int, penalty: float, batch_size: int, advance: Advance | None
    ) -> list[str]:
        there = [one for one in found if one.source[-1].strip()]
        drafts = self._drafts_of(there, batch_size=batch_size)
        rows = list(zip(self._rows(there, drafts), there, strict=True))

        def run(some: Sequence[tuple[Row, Passage]]) -> list[str]:
            with torch.inference_mode():
                memories = self.network.encode(self.reader.pad([row for row, _ in some]).to(self.device))
                prefixes = [self.reader.prefix(one.target[:-1]) for _, one in some]
                ids = self._search([row for row, _ in some], memories, beam=beam, penalty=penalty, prefixes=prefixes)
            return [self.reader.pieces.decode(each) for each in ids]

        lengths = [row.length for row, _ in rows]
        texts = iter(in_batches(rows, lengths, run, batch_size=batch_size, advance=advance))
        if advance is not None:
            advance(len(found) - len(there))
        return [next(texts) if one.source[-1].strip() else "" for one in found]


def costs_of(network: Network, batch: Batch, *, smoothing: float = 0.0) -> torch.Tensor:
    """The cross entropy of each target piece in nats (batch, pieces), 0 for padding; smoothing: of the labels."""
    return torch.nn.functional.cross_entropy(
        network(batch).float().transpose(1, 2),
        batch.target[:, 1:],
        ignore_index=PAD,
        reduction="none",
        label_smoothing=smoothing,
    )
