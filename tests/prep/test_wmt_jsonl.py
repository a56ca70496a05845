"""JSONL of WMT25: collections, outputs next to them, paragraphs, and the file and line of each error."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from data_prep.wmt import corpus as wmt_corpus
from data_prep.wmt import discovery, jsonl
from pronmetric.errors import InputError
from pronmetric.schema import Segment

RECORD = {
    "doc_id": "cs-en_US_#_news_#_one",
    "src_text": "Odešla.\n\nPršelo.",
    "refs": {"refA": {"ref": "She left.\n\nIt rained."}},
    "tgt_text": {"North": "He left.\n\nIt rained."},
}


@pytest.fixture
def folder(root: Path) -> Path:
    return root / "tests" / "fixtures" / "wmt"


def write(path: Path, *records: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read(folder: Path) -> list[Segment]:
    (testset,) = discovery.discover(folder).testsets
    return [segment for document in discovery.read(testset) for segment in document.segments]


def test_a_collection_and_its_outputs(folder: Path) -> None:
    (testset,) = discovery.discover(folder / "wmt35-general-mt").testsets
    assert (testset.id, testset.year) == ("wmt35-genmt.cs-en", 2035)
    assert [part.name for part in testset.parts] == ["", "North", "South"]
    tally: Counter[str] = Counter()
    ferry, dog = discovery.read(testset, tally=tally)
    assert (ferry.doc, ferry.domain, ferry.exact) == ("cs-en_US_#_news_#_ferry", "news", True)
    assert ferry.segments[1] == Segment(
        seg=2,
        src="Čekali jsme na něj. Pršelo.",
        refs={"refA": "We waited for it. It rained."},
        hyps={"North": "We waited for him.", "South": "We waited for them."},
    )
    assert dog.segments[0].hyps == {"North": "His dog whined."}
    assert tally["documents that a reference or system lacks"] == 1


def test_a_line_a_paragraph(folder: Path) -> None:
    (testset,) = discovery.discover(folder / "paragraphs").testsets
    tea, hat = discovery.read(testset)
    assert [document.doc for document in (tea, hat)] == ["ja-en_US_#_news_#_tea", "ja-en_US_#_news_#_hat"]
    assert [segment.seg for segment in (*tea.segments, *hat.segments)] == [1, 2, 3]
    assert tea.segments[1].refs == {"refA": "She did not drink it."}
    assert tea.segments[1].hyps == {"North": "He did not drink it."}


def test_outputs_elsewhere_do_not_belong_to_a_collection(tmp_path: Path) -> None:
    write(tmp_path / "one" / "wmt35.jsonl", RECORD)
    write(tmp_path / "two" / "South.jsonl", {"doc_id": RECORD["doc_id"], "hypothesis": "x"})
    assert read(tmp_path)[0].hyps == {"North": "He left."}


def test_gzip_and_missing_source(tmp_path: Path) -> None:
    record = {key: value for key, value in RECORD.items() if key != "src_text"}
    (tmp_path / "wmt35.jsonl.gz").write_bytes(gzip.compress(json.dumps(record).encode()))
    assert read(tmp_path)[1] == Segment(seg=2, src=None, refs={"refA": "It rained."}, hyps={"North": "It rained."})


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{broken", ":2: broken JSON"),
        ("[1, 2]", ":2: expected a JSON object, got a list"),
        ({"refs": {}}, ':2: the key "doc_id" is missing'),
        ({"doc_id": "one", "refs": {}}, r":2: no language pair: expected \"src_lang\""),
        (RECORD, ":2: document cs-en_US_#_news_#_one is also in line 1"),
        (RECORD | {"doc_id": "cs-en_US_#_news_#_b", "src_text": 3}, ':2: "src_text" must be a string, got a number'),
        (RECORD | {"doc_id": "cs-en_US_#_news_#_b", "refs": ["x"]}, ':2: "refs": expected an object, got a list'),
        (
            RECORD | {"doc_id": "cs-en_US_#_news_#_b", "refs": {"refA": {}}},
            ':2: "refs", "refA": the key "ref" is missing',
        ),
        (RECORD | {"doc_id": "cs-en_US_#_news_#_b", "src_text": "Jedna."}, ":2: .*has 2 paragraphs, src '' has 1"),
        (RECORD | {"doc_id": "cs-en_US_#_news_#_b", "src_text": None}, "some records have src_text and some have none"),
        ('{"doc_id": "\\ud83d!"}', r':2: broken JSON \("doc_id" has a lone surrogate'),
        ('{"doc_id": "\\\\\\ude00"}', r':2: broken JSON \("doc_id" has a lone surrogate'),
        ('{"doc_id": "\\u0000"}', ":2: a NUL"),
        ("version https://git-lfs.github.com/spec/v1", "a Git LFS pointer, not the data"),
    ],
)
def test_a_fault_is_named_with_file_and_line(tmp_path: Path, record: object, message: str) -> None:
    write(tmp_path / "wmt35.jsonl", RECORD, record)
    with pytest.raises(InputError, match=message):
        read(tmp_path)


def test_outputs_with_other_paragraphs(tmp_path: Path) -> None:
    write(tmp_path / "wmt35.jsonl", RECORD)
    write(tmp_path / "systems" / "South.jsonl", {"doc_id": RECORD["doc_id"], "hypothesis": "She left. It rained."})
    with pytest.raises(InputError, match=r"South\.jsonl:1: .*hyp 'South' has 1 paragraphs, src '' has 2"):
        read(tmp_path)


def test_paragraphs_of_a_document_must_be_consecutive(tmp_path: Path) -> None:
    ids = ["cs-en_US_#_news_#_a_#_0", "cs-en_US_#_news_#_b_#_0", "cs-en_US_#_news_#_a_#_1"]
    write(tmp_path / "wmt35.jsonl", *({"doc_id": each, "tgt_text": {"refA": "x", "North": "y"}} for each in ids))
    with pytest.raises(InputError, match=r":3: document cs-en_US_#_news_#_a comes back"):
        read(tmp_path)


def test_a_humeval_file_repeats_its_collection(folder: Path) -> None:
    data = folder / "wmt35-general-mt" / "data"
    assert jsonl.repeats(data / "wmt35-genmt-humeval.jsonl", data / "wmt35-genmt.jsonl")
    assert not jsonl.repeats(data / "wmt35-genmt.jsonl", data / "wmt35-genmt-humeval.jsonl")


@pytest.mark.parametrize("text", ["\\ud83d\\ude00", "\\\\ud83d", "\\\\u0000", "\\u00e9"])
def test_escapes_that_are_text(tmp_path: Path, text: str) -> None:
    line = json.dumps(RECORD | {"domain": "here"}).replace('"here"', f'"{text}"')
    write(tmp_path / "wmt35.jsonl", line)
    assert len(read(tmp_path)) == 2


def test_a_system_whose_file_is_empty_is_counted_and_reported(tmp_path: Path) -> None:
    write(tmp_path / "wmt35.jsonl", RECORD)
    write(tmp_path / "outputs" / "Empty.jsonl")
    (testset,) = discovery.discover(tmp_path).testsets
    tally: Counter[str] = Counter()
    assert [segment.hyps.keys() for doc in discovery.read(testset, tally=tally) for segment in doc.segments] == [
        {"North"}
    ] * 2
    assert tally[jsonl.EMPTY] == 1
    told: list[str] = []
    wmt_corpus.read("wmt35:cs-en", str(tmp_path), None, told.append)
    assert told[0] == "wmt35:cs-en: 1 systems whose file is empty, left out"


def test_a_folder_of_empty_files_is_no_test_set(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="holds no WMT test set"):
        discovery.discover(tmp_path)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"{", b"7\n"])
def test_a_stray_file_is_named_with_the_cure(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "notes.jsonl").write_bytes(content)
    message = r"notes\.jsonl:1: .*; if the file is no test set, move it out of the folder of test sets$"
    with pytest.raises(InputError, match=message):
        discovery.find(tmp_path)


def test_outputs_without_their_collection_are_named(tmp_path: Path) -> None:
    outputs = {"doc_id": RECORD["doc_id"], "hypothesis": "x"}
    for name in ("North", "South"):
        write(tmp_path / "systems" / f"{name}.jsonl", outputs)
    write(tmp_path / "systems" / "Empty.jsonl")
    message = (
        r"North\.jsonl and 1 more files of outputs: no collection, the \.jsonl file with \"src_text\".*put it there"
    )
    with pytest.raises(InputError, match=message):
        discovery.discover(tmp_path)
    with pytest.raises(InputError, match=message):
        wmt_corpus.find("wmt35:cs-en", str(tmp_path))
    write(tmp_path / "other" / "wmt35.jsonl", RECORD)
    found = discovery.discover(tmp_path)
    assert [skipped.id.endswith("North.jsonl and 1 more files of outputs") for skipped in found.skipped] == [True]
    write(tmp_path / "wmt35.jsonl", RECORD | {"doc_id": "cs-en_US_#_news_#_two"})
    assert discovery.without_collection(tmp_path) is None


def test_a_document_without_a_reference_is_noted(tmp_path: Path) -> None:
    write(tmp_path / "wmt35.jsonl", RECORD, RECORD | {"doc_id": "cs-en_US_#_news_#_two", "refs": {}})
    told: list[str] = []
    wmt_corpus.read("wmt35:cs-en", str(tmp_path), None, told.append)
    expected = "no reference for 2 of 4 segments, in 1 of 2 documents (the first: cs-en_US_#_news_#_two)"
    assert f"wmt35:cs-en: {expected}; contexts go without these" in told
