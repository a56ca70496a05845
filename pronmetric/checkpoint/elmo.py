"""ELMo in AllenNLP's published files, options.json and weights.hdf5 (Peters et al. 2018): read and written.

Arrays are named after the TensorFlow variables from which they were saved.
"""

from __future__ import annotations

import json
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pronmetric.data.characters import PAD, WIDTH
from pronmetric.errors import InputError, MissingExtra
from pronmetric.nn.encoders.elmo.encoder import ACTIVATIONS, BiLM, Elmo, Shape
from pronmetric.text.lines import check_size

OPTIONS, WEIGHTS = "options.json", "weights.hdf5"
_TABLE = "char_embed"
_ADDED = (0.0, 1.0, 0.0, 0.0)  # TensorFlow's constant addend to the bias of each gate, in our order
_SECONDS = 30  # download timeout


def read(
    options: str, weights: str, *, dropout: float = 0.0, stateful: bool = False, do_layer_norm: bool = False
) -> Elmo:
    """Read an ELMo; its mixture of layers is untrained (the mean of the layers).

    Args:
        options: options.json, a local file or an http(s) address.
        weights: weights.hdf5, likewise. Downloads are not kept.
        dropout: see `Elmo`.
        stateful: see `Elmo`.
        do_layer_norm: see `Elmo`.

    Raises:
        InputError: a file is missing or broken, the two do not belong together, or `do_layer_norm` is True.
        MissingExtra: h5py is not installed.
    """
    with _local(options) as path:
        names = _options(path, options)
    with _local(weights) as path:
        arrays = _arrays(path, weights)
    table = arrays.get(_TABLE)
    if table is None:
        raise InputError(f"expected an array {_TABLE}: give the weights of an ELMo in AllenNLP's layout", file=weights)
    sizes = shape(names, characters=1 + len(table), file=options)
    elmo = Elmo(sizes, dropout=dropout, stateful=stateful, do_layer_norm=do_layer_norm)
    elmo.bilm.load_state_dict(parameters(arrays, sizes, file=weights))
    return elmo


def shape(options: Mapping[str, Any], *, characters: int, file: str | Path | None = None) -> Shape:
    """The architecture that options.json describes.

    Args:
        options: the content of the file.
        characters: rows of the character embedding; the published options and weights disagree on it.
        file: named in messages.

    Raises:
        InputError: an option is missing or not supported.
    """

    def option(name: str) -> Any:
        value: Any = options
        for key in name.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def wrong(name: str, expected: str) -> InputError:
        return InputError(
            f"expected {name}: {expected}, as in ELMo's published options, got {option(name)!r}", file=file
        )

    def count(name: str, least: int = 1) -> int:
        value = option(name)
        if not _whole(value) or value < least:
            raise wrong(name, f"a whole number from {least}")
        return value

    def clip(name: str) -> float | None:
        value = option(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or value < 0):
            raise wrong(name, "a positive number or null")
        return float(value) if value else None

    filters = option("char_cnn.filters")
    if not (isinstance(filters, list) and filters and all(_filter(item) for item in filters)):
        raise wrong("char_cnn.filters", f"pairs of a span, at most {WIDTH}, and a number of channels")
    if option("char_cnn.activation") not in ACTIVATIONS:
        raise wrong("char_cnn.activation", " or ".join(ACTIVATIONS))
    if option("char_cnn.max_characters_per_token") != WIDTH:
        raise wrong("char_cnn.max_characters_per_token", f"{WIDTH}, the width in which words are read")
    if characters <= PAD:
        raise InputError(
            f"expected weights of at least {PAD} characters for these options, got {characters - 1}", file=file
        )
    return Shape(
        characters=characters,
        character_width=count("char_cnn.embedding.dim"),
        filters=tuple((span, channels) for span, channels in filters),
        highway=count("char_cnn.n_highway", least=0),
        activation=option("char_cnn.activation"),
        layers=count("lstm.n_layers"),
        cell=count("lstm.dim"),
        projection=count("lstm.projection_dim"),
        cell_clip=clip("lstm.cell_clip"),
        projection_clip=clip("lstm.proj_clip"),
        residual=bool(option("lstm.use_skip_connections")),
    )


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _filter(item: object) -> bool:
    if not (isinstance(item, list) and len(item) == 2 and all(map(_whole, item))):
        return False
    span, channels = item
    return 1 <= span <= WIDTH and channels >= 1


def parameters(arrays: Mapping[str, np.ndarray], shape: Shape, *, file: str | Path | None = None) -> dict[str, Tensor]:
    """The parameters of `BiLM` from the arrays of weights.hdf5.

    Raises:
        InputError: an array is missing, or its shape does not match the options.
    """

    def array(name: str, *size: int) -> np.ndarray:
        if name not in arrays:
            raise InputError(f"expected an array {name}: give options and weights of one ELMo", file=file)
        stored = arrays[name]
        if stored.shape != size:
            raise InputError(
                f"expected {name} of shape {size}, got {stored.shape}: give options and weights of one ELMo", file=file
            )
        return stored

    channels = sum(number for _, number in shape.filters)
    table = array(_TABLE, shape.characters - 1, shape.character_width)
    tensors = {"words.embedding.weight": np.pad(table, ((1, 0), (0, 0)))}  # id 0 has no row in the file
    for number, (span, count) in enumerate(shape.filters):
        weight = array(f"CNN/W_cnn_{number}", 1, span, shape.character_width, count)
        tensors[f"words.convolutions.{number}.weight"] = weight[0].transpose(2, 1, 0)
        tensors[f"words.convolutions.{number}.bias"] = array(f"CNN/b_cnn_{number}", count)
    for number in range(shape.highway):
        for part in ("carry", "transform"):
            weight = array(f"CNN_high_{number}/W_{part}", channels, channels)
            tensors[f"words.highway.{number}.{part}.weight"] = weight.T
            tensors[f"words.highway.{number}.{part}.bias"] = array(f"CNN_high_{number}/b_{part}", channels)
    tensors["words.projection.weight"] = array("CNN_proj/W_proj", channels, shape.projection).T
    tensors["words.projection.bias"] = array("CNN_proj/b_proj", shape.projection)
    for direction in range(2):
        for layer in range(shape.layers):
            place = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            name = f"directions.{direction}.layers.{layer}"
            maps = _gates(array(f"{place}/W_0", 2 * shape.projection, 4 * shape.cell))
            bias = _gates(array(f"{place}/B", 4 * shape.cell))
            tensors[f"{name}.input.weight"] = maps[: shape.projection].T
            tensors[f"{name}.recurrent"] = maps[shape.projection :]
            tensors[f"{name}.input.bias"] = bias + np.repeat(_ADDED, shape.cell)
            tensors[f"{name}.projection.weight"] = array(f"{place}/W_P_0", shape.cell, shape.projection).T
    return {name: torch.tensor(values, dtype=torch.float32) for name, values in tensors.items()}


def arrays_of(bilm: BiLM) -> dict[str, np.ndarray]:
    """The arrays of weights.hdf5 for these parameters, the inverse of `parameters`."""
    shape = bilm.shape
    tensors = {name: tensor.float().cpu().numpy() for name, tensor in bilm.state_dict().items()}
    arrays = {_TABLE: tensors["words.embedding.weight"][1:]}
    for number in range(len(shape.filters)):
        arrays[f"CNN/W_cnn_{number}"] = tensors[f"words.convolutions.{number}.weight"].transpose(2, 1, 0)[None]
        arrays[f"CNN/b_cnn_{number}"] = tensors[f"words.convolutions.{number}.bias"]
    for number in range(shape.highway):
        for part in ("carry", "transform"):
            arrays[f"CNN_high_{number}/W_{part}"] = tensors[f"words.highway.{number}.{part}.weight"].T
            arrays[f"CNN_high_{number}/b_{part}"] = tensors[f"words.highway.{number}.{part}.bias"]
    arrays["CNN_proj/W_proj"] = tensors["words.projection.weight"].T
    arrays["CNN_proj/b_proj"] = tensors["words.projection.bias"]
    for direction in range(2):
        for layer in range(shape.layers):
            place = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            name = f"directions.{direction}.layers.{layer}"
            maps = np.concatenate([tensors[f"{name}.input.weight"].T, tensors[f"{name}.recurrent"]])
            arrays[f"{place}/W_0"] = _columns(maps)
            arrays[f"{place}/B"] = _columns(tensors[f"{name}.input.bias"] - np.repeat(_ADDED, shape.cell))
            arrays[f"{place}/W_P_0"] = tensors[f"{name}.projection.weight"].T
    return {name: values.astype(np.float32) for name, values in arrays.items()}


def write(folder: Path, bilm: BiLM, options: Mapping[str, Any]) -> tuple[Path, Path]:
    """Write options.json and weights.hdf5 into `folder`, each completely or not at all; `read` reads them.

    Args:
        folder: an existing folder.
        bilm: the trained language model.
        options: the options of which `shape` made the architecture of `bilm`.

    Raises:
        MissingExtra: h5py is not installed.
    """
    h5py = hdf5("to write an ELMo")
    names = folder / OPTIONS, folder / WEIGHTS
    parts = [name.with_name(f"{name.name}.part") for name in names]
    try:
        parts[0].write_text(json.dumps(options, indent=1) + "\n", encoding="utf-8")
        with h5py.File(parts[1], "w") as file:
            for name, values in arrays_of(bilm).items():
                file[name] = values
        for part, path in zip(parts, names, strict=True):
            part.replace(path)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
    return names


def hdf5(why: str) -> Any:
    """The module h5py.

    Raises:
        MissingExtra: it is not installed; `why` names what needs it.
    """
    try:
        import h5py
    except ModuleNotFoundError as error:
        raise MissingExtra("h5py", "elmo", why) from error
    return h5py


def _gates(columns: np.ndarray) -> np.ndarray:
    """The file's order of gates (input, candidate, forget, output) in ours, with TensorFlow's forget bias added."""
    let_in, candidate, keep, let_out = np.split(columns, 4, axis=-1)
    return np.concatenate([let_in, keep, let_out, candidate], axis=-1)


def _columns(gates: np.ndarray) -> np.ndarray:
    """Our order of gates in the file's; the forget bias is not changed."""
    let_in, keep, let_out, candidate = np.split(gates, 4, axis=-1)
    return np.concatenate([let_in, candidate, keep, let_out], axis=-1)


def _options(path: Path, name: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"expected ELMo's options in JSON ({error})", file=name) from error
    if not isinstance(found, dict):
        raise InputError(f"expected ELMo's options as a JSON object, got {type(found).__name__}", file=name)
    return found


def _arrays(path: Path, name: str) -> dict[str, np.ndarray]:
    h5py = hdf5("an ELMo encoder")
    found: dict[str, np.ndarray] = {}

    def take(key: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            check_size(item.nbytes + sum(array.nbytes for array in found.values()), file=name)
            found[key] = np.asarray(item[()])

    try:
        with h5py.File(path, "r") as file:
            file.visititems(take)
    except OSError as error:
        raise InputError(f"expected ELMo's weights in HDF5 ({str(error).splitlines()[0]})", file=name) from error
    return found


@contextmanager
def _local(name: str) -> Iterator[Path]:
    """A local file, or a download that is deleted afterwards."""
    if not name.startswith(("http://", "https://")):
        path = Path(name)
        if not path.is_file():
            raise InputError("no such file: give a local file or an http(s) address", file=name)
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fetched"
        try:
            with urllib.request.urlopen(name, timeout=_SECONDS) as answer, path.open("wb") as file:
                copyfileobj(answer, file)
        except OSError as error:
            raise InputError(
                f"cannot be downloaded ({error}); download it by hand and give the local file", file=name
            ) from error
        yield path
