"""Files made to do harm: what unpacks without end is refused by its size, nothing is expanded or run."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from data_prep.wmt import sgm, xml
from pronmetric.alignment import table
from pronmetric.alignment.counts import files as source_files
from pronmetric.bulk import inputs, storage
from pronmetric.bulk.columns import Columns
from pronmetric.checkpoint import elmo
from pronmetric.errors import InputError
from pronmetric.text.lines import MAX_FILE
from pronmetric.training import fit

LIMIT = 1_000_000
TOO_LARGE = rf"bomb.*: [\d,]+ bytes, more than 1,000,000: .*raise the limit with {MAX_FILE}=BYTES"
LAUGHS = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 12))


@pytest.fixture(autouse=True)
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MAX_FILE, str(LIMIT))


def survey(path: Path) -> list[inputs.InputFile]:
    return inputs.survey(inputs.find([str(path)], output=storage.place("elsewhere"))[0], Columns({}, ()))


@pytest.mark.parametrize("load", [table.load, source_files.load], ids=["alignment", "source"])
def test_a_packed_table_is_refused_by_its_unpacked_size(load: Any, tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, settings=np.zeros(2 * LIMIT, np.uint8))
    assert path.stat().st_size < LIMIT / 100
    with pytest.raises(InputError, match=TOO_LARGE):
        load(path)


def test_packed_weights_of_elmo_are_refused_by_their_unpacked_size(
    tmp_path: Path, tiny_elmo_files: tuple[Path, Path]
) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "bomb.hdf5", "w") as file:
        for name in "ab":
            file.create_dataset(name, (LIMIT // 8,), np.float64, compression="gzip", fillvalue=0)
    with pytest.raises(InputError, match=TOO_LARGE):
        elmo.read(str(tiny_elmo_files[0]), str(tmp_path / "bomb.hdf5"))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_packed_line_without_end_is_refused_before_it_is_in_memory(suffix: str, tmp_path: Path) -> None:
    raw = b"{}\n" + b" " * (4 * LIMIT)
    packed = gzip.compress(raw) if suffix == ".gz" else pa.compress(raw, codec="zstd", asbytes=True)
    path = tmp_path / f"bomb.jsonl{suffix}"
    path.write_bytes(packed)
    assert len(packed) < LIMIT / 100
    with pytest.raises(InputError, match=TOO_LARGE):
        survey(path)


def test_a_row_group_is_refused_by_its_unpacked_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.parquet"
    texts = [chr(97 + k) * LIMIT for k in range(3)]
    pq.write_table(pa.table({"id": ["1", "2", "3"], "text": texts}), path, compression="zstd")
    assert path.stat().st_size < LIMIT / 10
    with pytest.raises(InputError, match=TOO_LARGE):
        survey(path)
    monkeypatch.setenv(MAX_FILE, str(10 * LIMIT))
    assert survey(path)[0].rows == 3


@pytest.mark.parametrize("parse", [xml.parse, sgm.parse], ids=["xml", "sgm"])
@pytest.mark.parametrize(
    "declared", [f'<!ENTITY a0 "lol">{LAUGHS}', '<!ENTITY a11 SYSTEM "file:///etc/hostname">'], ids=["bomb", "file"]
)
def test_no_entity_is_expanded(parse: Any, declared: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.de-en.xml"
    path.write_text(f"<!DOCTYPE dataset [{declared}]>\n<dataset id='t'>&a11;</dataset>\n", encoding="utf-8")
    with pytest.raises(InputError, match="entity decl"):
        parse(path)


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = str(mark)

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.mark,)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    mark, packed = tmp_path / "ran", tmp_path / "table.npz"
    np.savez(packed, settings=np.array([Evil(mark)], dtype=object))
    for load in (table.load, source_files.load):
        with pytest.raises(InputError, match="not a table"):
            load(packed)
    torch.save({"settings": Evil(mark)}, tmp_path / "last.ckpt")
    with pytest.raises(InputError, match="not a run that can be resumed"):
        fit.refuse_other(tmp_path, {}, results=())
    assert not mark.exists()
