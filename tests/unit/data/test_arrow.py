"""Arrow: what goes in comes out, the bytes are the same each time, another schema version is refused."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pytest

from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.schema import Mismatch, Pair, Passage

PAIR = Pair(
    id="set.de-en/A/North/3",
    kind="system",
    testset="set",
    lp="de-en",
    doc="d1",
    seg=3,
    ref="A",
    system="North",
    better="She left \u2018her\u2019 boat.",
    worse="It left.",
    context=("One.", "Two."),
    system_context=(),
    mismatches=(Mismatch("pronoun", "she", "it", 0, 3, 0, 2), Mismatch("nothing", "her", "", 10, 13, -1, -1)),
    agrees=False,
)
WORD = Pair(
    "w",
    "system",
    "set",
    "de-en",
    "d1",
    4,
    "A",
    "N",
    "He.",
    "Tom.",
    (),
    (),
    (Mismatch("word", "he", "tom", 0, 2, 0, 3),),
)
PASSAGE = Passage(
    id="gum/news.1#1", source="gum", doc="news.1", text="She sold it.", spans=((0, 3), (9, 11)), forms=("she", "it")
)


def write(folder: Path) -> Path:
    pairs = {"train": [PAIR, WORD] * 1200, "development": [], "test": [WORD], "development_study": []}
    rows = arrow.write(folder, pairs=pairs, passages={"passages_train": [PASSAGE], "passages_development": []})
    assert rows == {
        "train": 2400,
        "development": 0,
        "test": 1,
        "development_study": 0,
        "passages_train": 1,
        "passages_development": 0,
    }
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("arrow") / "out")


def test_records_come_back(folder: Path) -> None:
    train = arrow.read_pairs(folder, "train")
    assert [arrow.to_pair(row) for row in train] == [PAIR, WORD] * 1200
    (row,) = arrow.read_passages(folder, "passages_train")
    assert (row["id"], row["source"], row["doc"], row["text"]) == ("gum/news.1#1", "gum", "news.1", "She sold it.")
    assert (row["spans"], row["forms"]) == ([[0, 3], [9, 11]], ["she", "it"])
    assert len(arrow.read_pairs(folder, "development")) == 0


def test_kinds_of_mismatch_choose_rows(folder: Path) -> None:
    assert set(arrow.read_pairs(folder, "train", kinds=("pronoun",))["id"]) == {PAIR.id}
    assert set(arrow.read_pairs(folder, "train", kinds=("word", "nothing"))["id"]) == {PAIR.id, "w"}
    assert len(arrow.read_pairs(folder, "test", kinds=("pronoun",))) == 0
    with pytest.raises(InputError, match=r"nothing.+, got noisy"):
        arrow.read_pairs(folder, "train", kinds=("noisy",))


def test_datasets_reads_the_folder(folder: Path) -> None:
    found = datasets.load_from_disk(str(folder))
    assert list(found) == [*arrow.PAIR_SPLITS, *arrow.PASSAGE_SPLITS]
    assert found["train"].features == arrow.pair_features()
    assert found["passages_train"].features == arrow.passage_features()


def test_the_same_records_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = write(tmp_path / "again")
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert len(files) == 1 + 3 * 6
    assert all((folder / name).read_bytes() == (again / name).read_bytes() for name in files)


def test_one_stream_file_is_read_batch_by_batch(tmp_path: Path) -> None:
    assert arrow.write_rows(tmp_path / "rows", [PAIR] * 2500, arrow.pair_features()) == 2500
    assert [arrow.to_pair(row) for row in arrow.read_rows(tmp_path / "rows")] == [PAIR] * 2500


def test_another_schema_version_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "out")
    info = folder / "train" / "dataset_info.json"
    content = json.loads(info.read_text())
    content["version"] = {"version_str": "0.9.0", "major": 0, "minor": 9, "patch": 0}
    info.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"expected schema version 1\.0\.0, found 0\.9\.0: run `pronmetric prepare`"):
        arrow.read_pairs(folder, "train")


@pytest.mark.parametrize("content", ["{", "[]", '{"config": NaN}', '{"config": {}, "config": {}}'])
def test_a_broken_manifest_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(InputError, match=r"manifest\.json: .* run `pronmetric prepare` again"):
        arrow.read_manifest(tmp_path)
    with pytest.raises(InputError, match="no prepared data"):
        arrow.read_manifest(tmp_path / "nowhere")


def test_faults_name_the_folder_and_the_split(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        arrow.read_pairs(tmp_path / "nowhere", "train")
    with pytest.raises(InputError, match="'passages_train' is none of train, development, test"):
        arrow.read_pairs(folder, "passages_train")
    with pytest.raises(InputError, match="no split 'passages_train' here"):
        arrow.read_passages(tmp_path, "passages_train")


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="mapped pages are read from Linux's /proc")
def test_pages_that_were_read_are_given_back(tmp_path: Path) -> None:
    def resident(folder: Path) -> int:  # kB of the folder's files in this process's memory
        found, inside = 0, False
        for line in Path("/proc/self/smaps").read_text().splitlines():
            if "-" in line.split()[0] and not line.split()[0].endswith(":"):
                inside = str(folder) in line
            elif inside and line.startswith("Rss:"):
                found += int(line.split()[1])
        return found

    texts = [Passage(f"p{n}", "tiny", "d", f"{n} " + "she left. " * 100, (), ()) for n in range(2000)]
    arrow.write(tmp_path / "out", pairs={}, passages={"passages_train": texts})
    rows = arrow.read_passages(tmp_path / "out", "passages_train")
    found = [text for part in arrow.read_columns(rows, "text") for text in part["text"]]
    before = resident(tmp_path)
    arrow.release(rows)
    assert before > 1000 and resident(tmp_path) < before / 10
    assert found == [each.text for each in texts] == rows["text"][:]  # they are read again
    arrow.release(rows.select([3]), type(rows).from_dict({"text": ["in memory"]}))
