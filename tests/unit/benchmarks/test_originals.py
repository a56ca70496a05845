"""The originals of test sets as training texts: read again as the sets of `data.parallel`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.checkpoint import originals
from data_prep import translations
from data_prep.wmt import parallel
from data_prep.wmt.testset import documents
from pronmetric.errors import InputError

FILES = {
    "newstest2031.de-en.src.de": ["Wo ist er?", "Die Lampe ist neu.  Sie leuchtet."],
    "newstest2031.de-en.ref.A.en": ["Where is he?", "The lamp is new. It shines."],
    "newstest2031.de-en.ref.B.en": ["Where's he?", "This lamp is new and it shines."],
    "newstest2031.de-en.hyp.one.en": ["Where is it?", "The lamp is new. She shines."],
}


def run(monkeypatch: pytest.MonkeyPatch, *given: str) -> None:
    monkeypatch.setattr("sys.argv", ["originals", *given])
    originals.main()


@pytest.fixture
def wmt(tmp_path: Path) -> Path:
    folder = tmp_path / "wmt31-news-systems" / "txt"
    folder.mkdir(parents=True)
    for name, lines in FILES.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path / "wmt31-news-systems"


def test_the_original_is_the_text_and_the_reference_its_source(
    wmt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    run(monkeypatch, "--wmt", str(wmt), "--testset", "wmt31:de-en", "--out", str(out))
    assert capsys.readouterr().out == "newstest2031.de-en: 2 segments\n"
    (testset,) = translations.parallel_sets([str(out)], target="de")
    assert (testset.name, testset.lp, testset.year) == ("newstest2031-originals", "en-de", 2031)
    (document,) = documents(testset, parallel.read(testset))
    assert not document.exact
    assert [(segment.src, segment.refs["ref"]) for segment in document.segments] == [
        ("Where is he?", "Wo ist er?"),
        ("The lamp is new. It shines.", "Die Lampe ist neu. Sie leuchtet."),
    ]


def test_documents_are_kept_where_the_files_tell_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "talk.fr-en"
    folder.mkdir()
    columns = {"src.fr": ["Oui.", "Il dort."], "ref.en": ["Yes.", "He sleeps."], "hyp.mt": ["Yes.", "It sleeps."]}
    for name, lines in {**columns, "docids": ["one", "two"]}.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    out = tmp_path / "out"
    run(monkeypatch, "--wmt", str(tmp_path), "--testset", "talk:fr-en", "--out", str(out))
    assert capsys.readouterr().out == "talk.fr-en: 2 segments\n"
    assert (out / "talk-originals.fr-en" / "docids.txt").read_text(encoding="utf-8") == "one\ntwo\n"


def test_an_unknown_test_set_is_named(wmt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no test set wmt30:de-en"):
        run(monkeypatch, "--wmt", str(wmt), "--testset", "wmt30:de-en", "--out", str(tmp_path / "out"))
