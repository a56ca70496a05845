"""mt-metrics-eval's folders: documents, sources, references, and references among the system outputs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from data_prep.wmt import corpus, discovery, evalset
from data_prep.wmt.testset import TestSet
from pronmetric.errors import InputError
from pronmetric.schema import Document

FILES = {
    "documents/de-en.docs": "news\tbakery\nnews\tbakery\nmail boat\n",
    "sources/de-en.txt": "Anna kam.\nSie war spät.\nDas Boot? Es sank.\n",
    "references/de-en.refA.txt": "Anna came.\nShe was late.\nThe boat? It sank.\n",
    "references/de-en.refB.txt": "Anna arrived.\nShe was late.\n[No translation supplied]\n",
    "system-outputs/de-en/refA.txt": "Anna came.\nShe was late.\nThe boat? It sank!\n",
    "system-outputs/de-en/synthetic_ref.txt": "Anna was here.\nShe was late.\nThe boat sank.\n",
    "system-outputs/de-en/Oak.eu.txt": "Anna came.\nHe was late.\nThe boat? She sank.\n",
    "system-outputs/de-en/Elm.txt": "Anna came.\n[No translation supplied]\nThe boat? It sank.\n",
    "human-scores/de-en.mqm.seg.score": "Oak.eu -5\nOak.eu 0\nOak.eu -1\n",
    "metadata/de-en/Oak.eu.jsonl": "{}\n",
}


def write(root: Path, **changed: str) -> Path:
    for name, content in {**FILES, **changed}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return root


def only(folder: Path) -> TestSet:
    (found,) = discovery.find(folder)
    return found


def read(folder: Path, tally: Counter[str] | None = None) -> list[Document]:
    return list(discovery.read(only(folder), tally=tally))


def test_the_layout(tmp_path: Path) -> None:
    tally: Counter[str] = Counter()
    bakery, boat = read(write(tmp_path / "wmt32"), tally)
    assert (bakery.testset, bakery.lp, only(tmp_path).year) == ("wmt32", "de-en", 2032)
    assert [(one.doc, one.domain, one.exact, len(one.segments)) for one in (bakery, boat)] == [
        ("bakery", "news", True, 2),
        ("boat", "mail", True, 1),
    ]
    assert bakery.segments[1].src == "Sie war spät."
    assert bakery.segments[1].hyps == {"Oak.eu": "He was late."}  # Elm's text is missing
    assert boat.segments[0].refs == {"refA": "The boat? It sank.", "synthetic_ref": "The boat sank."}
    assert (tally[evalset.NO_TEXT], tally[evalset.COPIES]) == (2, 1)


def test_a_corpus_to_score(tmp_path: Path) -> None:
    told: list[str] = []
    found = corpus.read("wmt32:de-en", str(write(tmp_path / "wmt32")), None, told.append)
    assert (found.systems, found.references, found.documents) == (("Elm", "Oak.eu"), ("refA",), True)
    assert [row.doc for row in found.rows()] == ["bakery", "bakery", "boat"]
    contexts = [contexts[1][0] for _, contexts in found.in_context("common", size=2)]
    assert contexts == ["", "Anna came.", ""]
    assert told == [
        "wmt32:de-en: 2 missing translations",
        "wmt32:de-en: 1 segments of references that differ from their copies among the system outputs",
        "wmt32:de-en: refA, synthetic_ref among the system outputs: references, no systems; name them to score them",
        "wmt32:de-en: Elm has no output for 1 of 3 segments; they have no score",
        "wmt32:de-en: the reference is refA (refB, synthetic_ref unused)",
    ]


def test_a_reference_can_be_scored_as_a_system(tmp_path: Path) -> None:
    found = corpus.read("wmt32:de-en", str(write(tmp_path / "wmt32")), ["refB", "Oak.eu"], lambda line: None)
    assert [row.texts for row in found.rows()][1:] == [
        ("She was late.", "He was late."),
        ("", "The boat? She sank."),
    ]


def test_segments_without_a_reference_are_noted(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "wmt32", **{"references/de-en.refA.txt": "Anna came.\nShe was late.\n[No translation supplied]\n"}
    )
    (folder / "system-outputs/de-en/synthetic_ref.txt").unlink()
    told: list[str] = []
    corpus.read("wmt32:de-en", str(folder), None, told.append)
    expected = "no reference for 1 of 3 segments, in 1 of 2 documents (the first: boat); contexts go without these"
    assert f"wmt32:de-en: {expected}" in told


def test_jsonl_and_variants_of_a_language(tmp_path: Path) -> None:
    root = tmp_path / "wmt35"
    for variant in ("sr_Cyrl_RS", "sr_Latn_RS"):
        for name, key in (("sources/en-{}.jsonl", "source"), ("system-outputs/en-{}/Oak.jsonl", "hypothesis")):
            path = root / name.format(variant)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({key: f"{variant}\n{key}"}) + "\n")
    found = discovery.find(tmp_path)
    assert [one.id for one in found] == ["wmt35.en-sr_Cyrl_RS.en-sr", "wmt35.en-sr_Latn_RS.en-sr"]
    ((document,),) = [list(discovery.read(found[0]))]
    assert (document.exact, document.segments[0].src) == (False, "sr_Cyrl_RS source")
    assert document.segments[0].hyps == {"Oak": "sr_Cyrl_RS hypothesis"}


def test_the_folder_txt_has_the_name_of_its_repository(tmp_path: Path) -> None:
    write(tmp_path / "wmt32-news-systems" / "txt")
    assert (only(tmp_path).name, only(tmp_path).year) == ("wmt32-news-systems", 2032)
    corpus.read("wmt32:de-en", str(tmp_path), None, lambda line: None)


def test_an_exact_name_is_preferred_to_the_year(tmp_path: Path) -> None:
    write(tmp_path / "wmt32")
    write(tmp_path / "wmt32.sent")
    assert corpus.find("wmt32:de-en", str(tmp_path)).name == "wmt32"
    assert corpus.find("wmt32.sent:de-en", str(tmp_path)).name == "wmt32.sent"


def test_english_sources(tmp_path: Path) -> None:
    files = {
        "documents/en-de.docs": "a x\na y\n",
        "sources/en-de.txt": "She came to the big house.\nIt was empty, of course.\n",
    }
    documents = list(discovery.english_sources(write(tmp_path / "wmt32", **files)))
    assert [(document.source, document.exact) for document in documents] == [
        ("wmt32", True),
        ("wmt32", True),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "documents/de-en.docs",
            "news a\nnews\nmail b\n",
            r"de-en\.docs:2: expected DOMAIN and DOCUMENT, got 1 fields",
        ),
        ("documents/de-en.docs", "news a\nnews b\nnews a\n", r"de-en\.docs:3: document 'a' comes back"),
        (
            "documents/de-en.docs",
            "news a\nmail a\nnews b\n",
            r"de-en\.docs:1: document 'a' is in several domains: mail, news",
        ),
        ("documents/de-en.docs", "news a\n", r":2: .*lines, but .* has "),
        ("sources/de-en.txt", "x\n[No translation supplied]\ny\n", r"de-en\.txt:2: .* expected a source"),
        ("system-outputs/de-en/Oak.eu.txt", "x\n", r":2: .*lines, but .* has "),
        ("system-outputs/de-en/Elm.jsonl", '{"hypothesis": "x"}\n' * 3, r"Elm.* for the second time"),
        ("system-outputs/de-en/Ash.jsonl", "{\n" * 3, r"Ash\.jsonl:1: broken JSON"),
        ("system-outputs/de-en/Ash.jsonl", '{"text": "x"}\n' * 3, r'Ash\.jsonl:1: the key "hypothesis" is missing'),
    ],
)
def test_a_fault_is_named_with_file_and_line(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(write(tmp_path / "wmt32", **{name: content}))


def test_further_fields_of_docs_are_ignored(tmp_path: Path) -> None:
    documents = read(write(tmp_path / "wmt32", **{"documents/de-en.docs": "news a 1\nnews a 2\nmail b 3\n"}))
    assert [document.doc for document in documents] == ["a", "b"]


def test_one_folder_alone_is_no_test_set(tmp_path: Path) -> None:
    write(tmp_path)
    for folder in ("documents", "sources", "references"):
        for path in (tmp_path / folder).iterdir():
            path.unlink()
    assert not evalset.find(path for path in tmp_path.rglob("*") if path.is_file())
