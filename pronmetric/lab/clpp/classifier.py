"""Neural classifiers of pronoun slots: their input, and how they are made, saved and used.

There are three kinds: "gru", after the winner of WMT 2016 (Luotolahti et al. 2016); "attention", the same with
attention to the states of its GRUs (after Dabre et al. 2016); "encoder", a Hugging Face encoder that reads the source
and the target with the slot. All minimise a cross entropy in which all classes have the same weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
import yaml
from jaxtyping import Float
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoTokenizer

from pronmetric.data.collate import Collator, Encoded, Example
from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp.data import Line, Task
from pronmetric.lab.clpp.feature_classifier import CONFIG, WEIGHTS, FeatureClassifier, FeatureOptions
from pronmetric.lab.clpp.feature_classifier import read as read_features
from pronmetric.lab.clpp.features import KINDS
from pronmetric.lab.clpp.score import Score, tally
from pronmetric.lab.clpp.slots import STREAMS, SlotEncoder, SlotGru, config_of
from pronmetric.lab.clpp.windows import Window, windows
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.output.targets import AtomicFile
from pronmetric.text import strict_json

WORDS = "words.json"
GRU, ATTENTION, ENCODER = NETWORKS = ("gru", "attention", "encoder")
_PAD, _UNKNOWN, _FIRST = 0, 1, 2  # ids: of no word, of a word outside the vocabulary, of its first word


class Reader(Protocol):
    """Turns windows into the arguments of a network."""

    def __call__(self, found: Sequence[Window]) -> tuple[Tensor, ...]:
        """The padded tensors of a batch."""
        ...

    def save(self, folder: Path) -> None:
        """Write what the reader is loaded from."""
        ...


class Streams:
    """Windows to ids, for classifiers with GRUs: vocabularies of target words, tags and source words."""

    def __init__(self, vocabularies: Sequence[Sequence[str]]) -> None:
        self.vocabularies = [list(words) for words in vocabularies]
        self._ids = [{word: id for id, word in enumerate(words, start=_FIRST)} for words in vocabularies]

    @classmethod
    def count(cls, found: Iterable[Window], *, least: int) -> Streams:
        """The vocabularies of windows: words that occur at least `least` times."""
        counts: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
        for window in found:
            for number, words in enumerate(_streams(window)):
                counts[number // 2].update(words)
            counts[2][window.pronoun] += least
        return cls([sorted(word for word, n in counter.items() if n >= least) for counter in counts])

    @property
    def sizes(self) -> dict[str, int]:
        """The number of ids of each vocabulary, padding and the unknown word included."""
        names = ("words", "tags", "sources")
        return {name: len(words) + _FIRST for name, words in zip(names, self.vocabularies, strict=True)}

    def __call__(self, found: Sequence[Window]) -> tuple[Tensor, ...]:
        """Streams (batch, 6, words), their mask, and the source pronouns (batch,)."""
        rows = [[self._look(n // 2, words) for n, words in enumerate(_streams(window))] for window in found]
        longest = max(1, max((len(ids) for row in rows for ids in row), default=1))
        ids = np.full((len(rows), STREAMS, longest), _PAD, dtype=np.int64)
        mask = np.zeros(ids.shape, dtype=bool)
        for i, row in enumerate(rows):
            for k, words in enumerate(row):
                ids[i, k, : len(words)] = words
                mask[i, k, : len(words)] = True
        pronouns = [self._ids[2].get(window.pronoun, _UNKNOWN) for window in found]
        return torch.from_numpy(ids), torch.from_numpy(mask), torch.tensor(pronouns)

    def _look(self, vocabulary: int, words: Sequence[str]) -> list[int]:
        return [self._ids[vocabulary].get(word, _UNKNOWN) for word in words]

    def save(self, folder: Path) -> None:
        """Write the vocabularies."""
        with AtomicFile(folder / WORDS) as file:
            file.write(strict_json.dump(self.vocabularies) + "\n")

    @classmethod
    def load(cls, folder: Path) -> Streams:
        """The vocabularies that `save` wrote."""
        return cls(strict_json.read(folder / WORDS, "expected the words of a classifier; train it again"))


def _streams(window: Window) -> tuple[tuple[str, ...], ...]:
    return window[4:]


class Texts:
    """Windows to pieces, for an encoder: the source, then the target with the slot, as one text.

    If a text is too long for the encoder, its windows are halved until it fits.
    """

    def __init__(self, pieces: Subwords, *, max_pieces: int) -> None:
        self.pieces = pieces
        self._collator = Collator(pieces, max_pieces=max_pieces, separator=False)

    def __call__(self, found: Sequence[Window]) -> tuple[Tensor, ...]:
        """Piece ids, their mask, the word of each piece, and the words of source pronoun and slot (batch, 2)."""
        batch = self._collator.pad([self._row(window) for window in found])
        return batch.ids, batch.piece_mask, batch.word, batch.pronoun_word

    def _row(self, window: Window) -> Encoded:
        size = max(map(len, _streams(window)))
        while True:
            rows = self._collator.encode([_example(window, size)])
            if len(rows) == 1 or not size:
                return rows[0]
            size //= 2

    def save(self, folder: Path) -> None:
        """Write the tokenizer."""
        self.pieces.save(folder)


def _example(window: Window, size: int) -> Example:
    """The text of a window with at most `size` words on each side, with the spans of source pronoun and slot."""
    text, spans = "", []
    for left, word, right in (
        (window.source_left, window.pronoun, window.source_right),
        (window.target_left, "___", window.target_right),
    ):
        text += " ".join(left[len(left) - min(size, len(left)) :]) + " "
        spans.append((len(text), len(text) + len(word)))
        text += " ".join([word, *reversed(right[len(right) - min(size, len(right)) :])]) + " / "
    return Example("", text, spans)


@dataclass(frozen=True, slots=True)
class Options:
    """How a classifier is made and trained.

    kind: one of NETWORKS. window: words on each side. least: how often a word must occur to have an id (gru,
    attention). width, layers: of the GRUs. rate: the learning rate. balanced: whether all classes have the same weight;
    otherwise all slots do.
    """

    kind: str
    window: int = 50
    least: int = 2
    width: int = 90
    layers: int = 2
    dropout: float = 0.3
    rate: float = 2e-3
    batch: int = 64
    epochs: int = 10
    balanced: bool = True
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Classifier:
    """A trained network with its reader."""

    task: Task
    options: Options
    model: nn.Module
    reader: Reader

    def logits(self, found: Sequence[Window]) -> Float[Tensor, "slots classes"]:
        """The logits of windows, in the order given; batches are of windows of similar length."""
        self.model.eval()
        order = sorted(range(len(found)), key=lambda i: found[i].length)
        made = torch.zeros(len(found), len(self.task.classes))
        with torch.inference_mode():
            for start in range(0, len(order), self.options.batch):
                chosen = order[start : start + self.options.batch]
                made[chosen] = self.model(*self.reader([found[i] for i in chosen])).float()
        return made

    def predict(self, lines: Sequence[Line]) -> list[tuple[str, ...]]:
        """The classes of each line's slots."""
        found = list(windows(lines, size=self.options.window))
        labels: list[list[str]] = [[] for _ in lines]
        for window, best in zip(found, self.logits(found).argmax(1).tolist(), strict=True):
            labels[window.line].append(self.task.classes[best])
        return [tuple(each) for each in labels]

    def score(self, lines: Sequence[Line]) -> Score:
        """The score on lines with labels."""
        chosen = [line for line in lines if line.labels]
        return tally([line.labels for line in chosen], self.predict(chosen), self.task)


def make(
    task: Task, options: Options, lines: Sequence[Line], *, encoder: tuple[HuggingFaceEncoder, Subwords] | None
) -> Classifier:
    """A classifier with a new head (encoder) or with random weights (gru, attention), with the words of `lines`."""
    torch.manual_seed(options.seed)
    if encoder is None:
        streams = Streams.count(windows(lines, size=options.window), least=options.least)
        sizes = {"width": options.width, "layers": options.layers, "dropout": options.dropout}
        attention = options.kind == ATTENTION
        model = SlotGru(**streams.sizes, classes=len(task.classes), attention=attention, **sizes)  # type: ignore[arg-type]
        return Classifier(task, options, model, streams)
    body, pieces = encoder
    texts = Texts(pieces, max_pieces=min(body.max_pieces, 512))
    return Classifier(task, options, SlotEncoder(body, classes=len(task.classes), dropout=options.dropout), texts)


def save(classifier: Classifier, folder: Path) -> None:
    """Write a classifier: clpp.yaml, model.safetensors, and its words or its tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    model = classifier.model
    shape = config_of(model) if isinstance(model, SlotGru) else model.encoder.config  # type: ignore[union-attr]
    options = {name: getattr(classifier.options, name) for name in Options.__slots__}
    config = {"pair": classifier.task.pair, "options": options, "model": shape}
    classifier.reader.save(folder)
    new = folder / f".{WEIGHTS}"
    save_file({name: value.detach().contiguous() for name, value in model.state_dict().items()}, new)
    new.replace(folder / WEIGHTS)
    with AtomicFile(folder / CONFIG) as file:
        yaml.safe_dump(config, file, sort_keys=False, allow_unicode=True)


def load(folder: Path) -> Classifier | FeatureClassifier:
    """Read a classifier of any kind.

    Raises:
        InputError: the folder holds no classifier, or its files do not fit together.
    """
    if not (folder / CONFIG).is_file() or not (folder / WEIGHTS).is_file():
        raise InputError(f"expected {CONFIG} and {WEIGHTS}; give a folder of `pronmetric clpp train`", file=folder)
    try:
        config: dict[str, Any] = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
        task = clpp.task(config["pair"])
        if config["options"]["kind"] in KINDS:
            return read_features(task, FeatureOptions(**config["options"]), folder)
        options = Options(**config["options"])
        if options.kind != ENCODER:
            model: nn.Module = SlotGru(**config["model"])
            reader: Reader = Streams.load(folder)
        else:
            encoder = HuggingFaceEncoder.from_config(config["model"])
            model = SlotEncoder(encoder, classes=len(task.classes), dropout=options.dropout)
            pieces = Subwords(AutoTokenizer.from_pretrained(str(folder), local_files_only=True))
            reader = Texts(pieces, max_pieces=min(encoder.max_pieces, 512))
        model.load_state_dict(load_file(folder / WEIGHTS))
    except InputError:
        raise
    except Exception as error:  # yaml, safetensors, numpy, torch and tokenizers have many ways to fail
        why = str(error).split("\n")[0]
        raise InputError(f"broken classifier ({why}); train it again", file=folder) from error
    return Classifier(task, options, model, reader)
