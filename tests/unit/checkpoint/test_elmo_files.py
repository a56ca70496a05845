from __future__ import annotations

import copy
import functools
import http.server
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from pronmetric.checkpoint import elmo as elmo_files
from pronmetric.data import characters
from pronmetric.errors import InputError, MissingExtra

Files = tuple[dict[str, Any], dict[str, np.ndarray]]


def write(folder: Path, options: Any, arrays: dict[str, np.ndarray]) -> tuple[str, str]:
    (folder / "options.json").write_text(json.dumps(options), encoding="utf-8")
    with h5py.File(folder / "weights.hdf5", "w") as file:
        for name, values in arrays.items():
            file[name] = values
    return str(folder / "options.json"), str(folder / "weights.hdf5")


@pytest.fixture
def paths(tmp_path: Path, tiny_elmo: Files) -> tuple[str, str]:
    return write(tmp_path, *tiny_elmo)


def test_the_weights_of_the_file(paths: tuple[str, str], tiny_elmo: Files) -> None:
    elmo = elmo_files.read(*paths, dropout=0.25, stateful=True)
    assert (elmo.width, elmo.bilm.stateful, elmo.dropout.p) == (6, True, 0.25)
    own, arrays = dict(elmo.bilm.named_parameters()), tiny_elmo[1]
    table = own["words.embedding.weight"].detach().numpy()
    assert (table[0] == 0).all() and (table[1:] == arrays["char_embed"]).all()
    second = arrays["RNN_1/RNN/MultiRNNCell/Cell0/LSTMCell/W_0"]
    assert own["directions.1.layers.0.recurrent"][2, 5].item() == second[3 + 2, 10]  # forget: ours 2nd, theirs 3rd
    bias = arrays["RNN_0/RNN/MultiRNNCell/Cell1/LSTMCell/B"]
    assert own["directions.0.layers.1.input.bias"][[0, 5, 10, 15]].tolist() == pytest.approx(
        [bias[0], bias[10] + 1, bias[15], bias[5]]
    )


def test_what_is_written_is_read_again(tmp_path: Path, paths: tuple[str, str], tiny_elmo: Files) -> None:
    elmo = elmo_files.read(*paths)
    options, weights = elmo_files.write(tmp_path, elmo.bilm, tiny_elmo[0])
    assert {path.name for path in tmp_path.iterdir()} == {"options.json", "weights.hdf5"}  # no part is left
    assert json.loads(options.read_text(encoding="utf-8")) == tiny_elmo[0]
    with h5py.File(weights, "r") as file:
        for name, values in tiny_elmo[1].items():
            assert file[name].dtype == np.float32
            np.testing.assert_allclose(file[name][()], values, atol=1e-6)
    again = elmo_files.read(str(options), str(weights)).state_dict()
    assert all(torch.allclose(again[name], tensor, atol=1e-6) for name, tensor in elmo.state_dict().items())


def test_weights_in_half_or_double_precision(tmp_path: Path, tiny_elmo: Files) -> None:
    options, arrays = tiny_elmo
    elmo = elmo_files.read(*write(tmp_path, options, {n: values.astype(np.float64) for n, values in arrays.items()}))
    assert {parameter.dtype for parameter in elmo.parameters()} == {torch.float32}


@pytest.mark.parametrize("rows", [261, 300])
def test_the_size_of_the_table_of_characters_is_that_of_the_weights(
    tmp_path: Path, tiny_elmo: Files, rows: int
) -> None:
    options, arrays = tiny_elmo
    table = np.concatenate([arrays["char_embed"], np.ones((39, 4), np.float32)])[:rows]
    elmo = elmo_files.read(*write(tmp_path, options, arrays | {"char_embed": table})).eval()
    assert elmo.bilm.shape.characters == len(elmo.bilm.words.embedding.weight) == rows + 1
    ids, mask = torch.from_numpy(characters.ids(["her"]))[None], torch.ones(1, 1, dtype=torch.bool)
    expected = elmo_files.read(*write(tmp_path, options, arrays)).eval()
    with torch.inference_mode():
        assert (elmo(ids, mask) == expected(ids, mask)).all()


@pytest.mark.parametrize(
    ("group", "name", "value", "message"),
    [
        ("char_cnn", "activation", "gelu", r"char_cnn\.activation: relu or tanh, .* got 'gelu'"),
        ("char_cnn", "max_characters_per_token", 40, r"char_cnn\.max_characters_per_token: 50, .* got 40"),
        ("char_cnn", "filters", [], r"char_cnn\.filters: pairs"),
        ("char_cnn", "filters", [[51, 3]], r"char_cnn\.filters: pairs of a span, at most 50, .* got \[\[51, 3\]\]"),
        ("char_cnn", "filters", [[1, 2], [3]], r"char_cnn\.filters: pairs"),
        ("char_cnn", "n_highway", None, r"char_cnn\.n_highway: a whole number from 0, .* got None"),
        ("char_cnn", "embedding", {}, r"char_cnn\.embedding\.dim: a whole number from 1"),
        ("lstm", "dim", "5", r"lstm\.dim: a whole number from 1, .* got '5'"),
        ("lstm", "n_layers", 0, r"lstm\.n_layers: a whole number from 1, .* got 0"),
        ("lstm", "cell_clip", -1, r"lstm\.cell_clip: a positive number or null, .* got -1"),
        ("lstm", "proj_clip", "3", r"lstm\.proj_clip: a positive number or null"),
        ("lstm", "projection_dim", 4, r"weights\.hdf5: expected CNN_proj/W_proj of shape \(8, 4\), got \(8, 3\)"),
        ("lstm", "n_layers", 3, r"weights\.hdf5: expected an array RNN_0/RNN/MultiRNNCell/Cell2/LSTMCell/W_0"),
    ],
)
def test_options_that_we_do_not_have(
    tmp_path: Path, tiny_elmo: Files, group: str, name: str, value: object, message: str
) -> None:
    options = copy.deepcopy(tiny_elmo[0])
    options[group][name] = value
    with pytest.raises(InputError, match=message) as caught:
        elmo_files.read(*write(tmp_path, options, tiny_elmo[1]))
    assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)


def test_clips_may_be_absent(tiny_elmo: Files) -> None:
    options = copy.deepcopy(tiny_elmo[0])
    options["lstm"] |= {"cell_clip": None, "proj_clip": 0}
    shape = elmo_files.shape(options, characters=262)
    assert (shape.cell_clip, shape.projection_clip) == (None, None)


def test_files_that_are_none(tmp_path: Path, paths: tuple[str, str], tiny_elmo: Files) -> None:
    options, weights = paths
    with pytest.raises(InputError, match=r"absent\.json: no such file: give a local file or an http"):
        elmo_files.read(str(tmp_path / "absent.json"), weights)
    with pytest.raises(InputError, match=r"absent\.hdf5: no such file"):
        elmo_files.read(options, str(tmp_path / "absent.hdf5"))
    with pytest.raises(InputError, match=r"weights\.hdf5: expected ELMo's options in JSON"):
        elmo_files.read(weights, weights)
    with pytest.raises(InputError, match=r"options\.json: expected ELMo's weights in HDF5"):
        elmo_files.read(options, options)
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match=r"list\.json: expected ELMo's options as a JSON object, got list"):
        elmo_files.read(str(tmp_path / "list.json"), weights)
    arrays = {name: values for name, values in tiny_elmo[1].items() if name != "char_embed"}
    with pytest.raises(InputError, match=r"weights\.hdf5: expected an array char_embed: give the weights of an ELMo"):
        elmo_files.read(*write(tmp_path, tiny_elmo[0], arrays))
    short = tiny_elmo[1] | {"char_embed": tiny_elmo[1]["char_embed"][:200]}
    with pytest.raises(InputError, match="weights of at least 261 characters for these options, got 200"):
        elmo_files.read(*write(tmp_path, tiny_elmo[0], short))


def test_without_h5py(paths: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtra, match=r"an ELMo encoder needs h5py, .*: pip install .*\[elmo\]"):
        elmo_files.read(*paths)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Where `tmp_path` is served."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_files_behind_an_address(
    paths: tuple[str, str], address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    local = elmo_files.read(*paths).state_dict()
    fetched = elmo_files.read(f"{address}/options.json", f"{address}/weights.hdf5").state_dict()
    assert local.keys() == fetched.keys()
    assert all((local[name] == fetched[name]).all() for name in local)
    with pytest.raises(InputError, match=r"/none\.json: cannot be downloaded \(.*404.*\); download it by hand"):
        elmo_files.read(f"{address}/none.json", paths[1])
