"""`pronmetric pretrain`: plain English documents to an ELMo of our own."""

from __future__ import annotations

import sys
from pathlib import Path

from pronmetric.cli.hydra import HydraCommand
from pronmetric.output import targets
from pronmetric.training.settings import Pretrain

DESCRIPTION = """Pretrain an ELMo-like encoder on English documents (data.english=DIR). It is not the official ELMo.

Writes to out=DIR: options.json and weights.hdf5 in AllenNLP's layout (for `pronmetric train encoder=elmo`),
pretrain.json (its training data and perplexity), logs (CSV, TensorBoard), and best.ckpt and last.ckpt. The same command
resumes a stopped run from last.ckpt."""


def _job(settings: Pretrain) -> None:
    from data_prep import documents, manifest

    folder, out = Path(settings.data.english), Path(settings.out)
    files = documents.files(folder)
    targets.check([], read=[folder, *files], folders=[out])

    from pronmetric.pretrained.elmo import hdf5
    from pronmetric.training.pretrain import pretrain

    hdf5("to write an ELMo")
    train, development = _texts(folder, settings)
    inputs = manifest.hashes(folder, files)
    result = pretrain(settings, train=train, development=development, inputs=inputs)
    if result is None:  # the first process of several prints it
        return
    record = result.record
    for name, value in sorted(record["figures"].items()):
        print(f"{name}\t{value:.2f}")
    if cut := sum(record["cut"].values()):
        _note(f"words cut to 48 bytes: {cut}")
    _note(f"{record['vocabulary']['unknown']:.1%} of the held-out words are unknown, one word to the perplexity")
    _note(f"encoder=elmo encoder.options={result.options} encoder.weights={result.weights}")


def _texts(folder: Path, settings: Pretrain) -> tuple[list[str], list[str]]:
    """The rows of the documents to train on and of those held out."""
    from data_prep import documents, passages, splits
    from pronmetric.text.words import words

    by_name = {(doc.source, doc.doc): doc for doc in documents.read(folder)}
    held_out = splits.draw(list(by_name), settings.data.development_share, settings.seed)
    train: list[str] = []
    development: list[str] = []
    for name, doc in by_name.items():
        rows = passages.windows(doc.lines, pieces=settings.data.row, count=lambda text: len(words(text)))
        (development if name in held_out else train).extend(rows)
    _note(
        f"{len(by_name) - len(held_out)} documents to train on ({len(train)} rows), {len(held_out)} held out "
        f"({len(development)} rows)"
    )
    return train, development


def _note(line: str) -> None:
    print(f"pronmetric pretrain: {line}", file=sys.stderr)


VERB = HydraCommand("pretrain", _job, Pretrain, DESCRIPTION)
