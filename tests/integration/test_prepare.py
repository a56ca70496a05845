"""`pronmetric prepare` from files to folder: the same bytes each time, resumed where it stood, faults in one line."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import datasets
import pytest

from data_prep.products import passages
from data_prep.splits import Copies
from data_prep.stages import Stages
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.cli import main as command
from pronmetric.cli import prepare as verb
from pronmetric.data import arrow
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.schema import Alignment

ENGLISH = """Ada had a dog. It barked at her brother.
He did not like it.

They met on the quay, and she gave him the letter that he had lost.
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, root: Path, wmt_sample: Path) -> Path:
    """Three test sets of our own making: the sample as WMT23, two small ones that go to train."""
    folder = tmp_path_factory.mktemp("corpus")
    shutil.copytree(wmt_sample, folder / "wmt", dirs_exist_ok=True)
    shutil.copytree(root / "tests" / "fixtures" / "wmt" / "wmt31-news-systems", folder / "wmt" / "wmt31-news-systems")
    (folder / "english" / "home").mkdir(parents=True)
    (folder / "english" / "home" / "letters.txt").write_text(ENGLISH * 4, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def prepare(corpus: Path) -> Callable[..., int]:
    def run(out: Path, *overrides: str, wmt: Path | None = None) -> int:
        return command.main(
            [
                "prepare",
                f"data.wmt={wmt or corpus / 'wmt'}",
                f"data.english={corpus / 'english'}",
                f"out={out}",
                "fidelity.passages=30",
                *overrides,
            ]
        )

    return run


@pytest.fixture(scope="module")
def prepared(prepare: Callable[..., int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("prepared") / "out"
    assert prepare(out) == 0
    return out


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_it_is_read_by_datasets_and_split_by_test_set(prepared: Path) -> None:
    found = datasets.load_from_disk(str(prepared))
    assert set(found) == {*arrow.PAIR_SPLITS, *arrow.PASSAGE_SPLITS, *arrow.FIDELITY_SPLITS}
    assert set(found["train"]["testset"]) == {"generaltest2031"}
    assert set(found["development"]["testset"]) == set(found["development_study"]["testset"]) == {"generaltest2023"}
    assert len(found["test"]) == 0
    assert {*found["passages_train"]["source"], *found["passages_development"]["source"]} == {
        "home",
        "wmt",
    }


def test_pairs_in_which_only_the_context_decides_are_counted(prepared: Path) -> None:
    found = json.loads((prepared / "manifest.json").read_text(encoding="utf-8"))
    counts = found["counts"]["fidelity"]
    assert found["config"]["fidelity"] == {"passages": 30, "ties": 0.4}
    for split, number in (("train", 30), ("development", 3)):
        rows = arrow.read_pairs(prepared, f"fidelity_{split}")
        kinds = counts[split]["kept"]["frames"]
        assert sum(kinds.values()) == len(rows) == found["splits"][f"fidelity_{split}"]["rows"] == number
        assert {kind: list(rows["kind"]).count(kind) for kind in kinds} == kinds


def test_pairs_are_what_they_say(prepared: Path) -> None:
    pairs = [arrow.to_pair(row) for split in ("train", "development") for row in arrow.read_pairs(prepared, split)]
    assert len({(p.kind, p.better, p.worse) for p in pairs}) == len({p.id for p in pairs}) == len(pairs)
    assert {pair.kind for pair in pairs} == {"system", "noisy"}
    for pair in pairs:
        for found in pair.mismatches:
            assert pair.better[found.ref_start : found.ref_end].lower() == found.ref_form
            assert found.kind == "nothing" or pair.worse[found.hyp_start : found.hyp_end].lower() == found.hyp_form
        if pair.kind == "noisy":
            (found,) = pair.mismatches
            assert pair.better[: found.ref_start] == pair.worse[: found.hyp_start]
            assert pair.better[found.ref_end :] == pair.worse[found.hyp_end :]
        assert len(pair.context) <= 2


def test_study_pairs_differ_in_one_bare_word(prepared: Path) -> None:
    for row in arrow.read_pairs(prepared, "development_study"):
        better, worse = row["better"].split(), row["worse"].split()
        assert sum(a != b for a, b in zip(better, worse, strict=True)) == 1
        assert row["better"] == row["better"].lower() and "'" not in row["better"] + "".join(row["context"])


def test_the_confusion_table_counts_the_mismatches_of_train(prepared: Path) -> None:
    table = ConfusionTable.load(prepared / "confusion.json")
    found: dict[str, dict[str, int]] = {}
    for row in arrow.read_pairs(prepared, "train"):
        for mismatch in row["mismatches"]:
            if row["kind"] == "system" and mismatch["kind"] == "pronoun":
                wrong = found.setdefault(mismatch["ref_form"], {})
                wrong[mismatch["hyp_form"]] = wrong.get(mismatch["hyp_form"], 0) + 1
    assert table.to_dict() == found and found


def test_the_manifest_counts_everything(prepared: Path) -> None:
    found = json.loads((prepared / "manifest.json").read_text(encoding="utf-8"))
    assert set(found["inputs"]) == {"wmt", "wmt_english", "english"}
    passages = found["counts"]["passages"]["train"]
    assert passages["kept"].keys() == passages["pieces"].keys() >= {"wmt"}
    assert found["inputs"]["english"].keys() == {"home/letters.txt"}
    assert "out" not in found["config"] and found["config"]["context_size"] == 2
    assert found["config"]["context_unit"] == "sentences"
    for counts in found["counts"]["testsets"].values():
        compared = counts["compared"]
        assert compared["outputs"] == sum(compared.get(n, 0) for n in ("identical", "no pronoun", "aligned"))
        for kind in ("system", "noisy"):
            lost = sum(counts.get("dropped", {}).get(kind, {}).values())
            assert counts["found"][kind] == counts["kept"][kind] + lost
    kept = {split: len(arrow.read_pairs(prepared, split)) for split in arrow.PAIR_SPLITS}
    assert {split: found["splits"][split]["rows"] for split in kept} == kept
    assert sum(c["kept"]["system"] + c["kept"]["noisy"] for c in found["counts"]["testsets"].values()) == (
        kept["train"] + kept["development"] + kept["test"]
    )


def test_the_same_inputs_and_seed_give_the_same_bytes(
    prepare: Callable[..., int], prepared: Path, tmp_path: Path
) -> None:
    assert prepare(tmp_path / "again") == 0
    assert content(tmp_path / "again") == content(prepared)
    assert prepare(tmp_path / "again") == 0, "over itself, from its stages"
    assert content(tmp_path / "again") == content(prepared)
    assert {path.name for path in tmp_path.iterdir()} == {"again"}
    assert prepare(tmp_path / "other", "seed=2") == 0
    assert content(tmp_path / "other")["manifest.json"] != content(prepared)["manifest.json"]


def test_a_stopped_run_goes_on_where_it_stood(
    prepare: Callable[..., int], prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop_after_two(items: Iterable[Any], label: str, length: int | None, unit: str) -> Iterator[Any]:
        for number, item in enumerate(items):
            if label == "align and compare" and number == 2:
                raise KeyboardInterrupt
            yield item

    out = tmp_path / "out"
    monkeypatch.setattr(verb, "_progress", stop_after_two)
    assert prepare(out) == 130
    assert [path.name for path in out.iterdir()] == [".stages"] and len(list(tmp_path.iterdir())) == 1
    assert len(list((out / ".stages").glob("*.json"))) == 2
    (out / ".stages" / "new-half.arrow").write_bytes(b"half")  # as a killed run leaves it
    monkeypatch.undo()

    done: list[str] = []
    pairs_of = Stages._pairs
    monkeypatch.setattr(
        Stages,
        "_pairs",
        lambda self, testset, counts: done.append(testset.id) or pairs_of(self, testset, counts),
    )
    assert prepare(out) == 0
    assert done == ["generaltest2031.de-en"]
    assert content(out) == content(prepared)


def test_a_stop_at_the_end_leaves_the_old_folder_whole(
    prepare: Callable[..., int], prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    shutil.copytree(prepared, out)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(passages, "write", stop)
    assert prepare(out, "context.size=1") == 130
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    without = {name: found for name, found in content(out).items() if not name.startswith(".stages")}
    assert without == {name: found for name, found in content(prepared).items() if not name.startswith(".stages")}


def test_one_pair_of_a_new_year_alone_and_no_english(
    wmt_sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    given = [f"data.wmt={wmt_sample}", "data.pairs=[de-en]", "data.exclude=[]", f"out={out}"]
    assert command.main(["prepare", *given, "fidelity.passages=20"]) == 0
    told = capsys.readouterr()
    assert "documents are divided, splits.development_share=0.1" in told.err
    docs = {split: set(arrow.read_pairs(out, split)["doc"]) for split in ("train", "development")}
    assert docs["train"] and docs["development"] and not docs["train"] & docs["development"]
    assert len(arrow.read_pairs(out, "development_study")) and len(arrow.read_passages(out, "passages_development"))
    first, second = told.out.splitlines()[:2]
    assert first.split("  ")[0] == "test set" and second.startswith("generaltest2023.de-en  train+development")
    assert "reference  system  pairs (train)" in told.out


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["data.wmt=nowhere"], "nowhere: no such folder"),
        (["data.english=nowhere"], "nowhere: no such folder"),
        (["data.years=[19]"], r"data.years=[19] leaves no test set"),
        (["data.pairs=[fr-en]"], r"data.pairs=['fr-en'] leaves no test set"),
        (["data.exclude=[wmt23,wmt31]"], "no test set is left"),
        (["filter.agreement=grammer"], "filter.agreement=grammer: expected grammar, none or the file of a table"),
        (["inventory=small"], "inventory=small: expected all or paper"),
    ],
)
def test_a_fault_is_one_line_and_nothing_is_written(
    prepare: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str], overrides: list[str], message: str
) -> None:
    assert prepare(tmp_path / "out", *overrides) == 1
    *notes, last = capsys.readouterr().err.splitlines()
    assert last.startswith("pronmetric: error: ") and message in last
    assert not any("Traceback" in note for note in notes)
    assert not list(tmp_path.iterdir())


def test_the_aligner_learns_from_as_many_lines_as_asked_for(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(AgreementAligner, "train", lambda self, sample: seen.append(len(list(sample))))
    monkeypatch.setattr(AgreementAligner, "save", lambda self, path: None)
    monkeypatch.setattr(AgreementAligner, "align_all", lambda self, pairs: (Alignment(()) for _ in pairs))
    overrides = [f"data.wmt={corpus / 'wmt'}", f"out={tmp_path / 'out'}", "align.lines=7"]
    assert command.main(["prepare", *overrides]) == 1, "without links no pronoun has a counterpart"
    assert seen == [7]


def test_a_filter_that_leaves_nothing_is_named(
    prepare: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "agreement.tsv"
    table.write_text("ref_pronoun\tnoisy_pronoun\tentry\tac1\tref\ttie\tsys\nours\tmine\tsum\t1.0\t9\t0\t0\n")
    # Only whole words differ in this corpus but in two pronouns, which the table does not have.
    folder = tmp_path / "wmt" / "lighthouse.de-en"
    folder.mkdir(parents=True)
    for name, text in (("ref", "She sold it .\nRain fell .\n"), ("North", "He sold it .\nRain fell .\n")):
        (folder / f"{name}.txt").write_text(text)
    out = tmp_path / "out"
    assert prepare(out, f"filter.agreement={table}", wmt=tmp_path / "wmt") == 1
    assert (
        "filter.agreement=" in (line := capsys.readouterr().err.splitlines()[-1])
        and "leaves none of 1 pronoun mismatches" in line
    )
    assert [path.name for path in out.iterdir()] == [".stages"]
    assert prepare(out, "filter.agreement=none", wmt=tmp_path / "wmt") == 0


def test_a_byte_that_is_not_utf8_is_named_with_its_line(
    corpus: Path, prepare: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(corpus / "wmt" / "wmt31-news-systems", tmp_path / "wmt31")
    path = next((tmp_path / "wmt31").rglob("generaltest2031.cs-en.hyp.North.en"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"\xff" + lines[1])
    assert prepare(tmp_path / "out", wmt=tmp_path / "wmt31") == 1
    assert f"{path}:2: byte 0xff" in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_another_folder_is_not_overwritten(
    prepare: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    assert prepare(tmp_path) == 1
    assert "contains other files than prepared data" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_gzip_inputs_give_the_same_pairs(
    corpus: Path, prepare: Callable[..., int], prepared: Path, tmp_path: Path
) -> None:
    shutil.copytree(corpus / "wmt", tmp_path / "wmt")
    for path in list((tmp_path / "wmt").rglob("*.hyp.*.en")):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert prepare(tmp_path / "out", wmt=tmp_path / "wmt") == 0
    for split in ("train", "development"):
        name = f"{split}/data-00000-of-00001.arrow"
        assert content(tmp_path / "out")[name] == content(prepared)[name]


def test_a_log_file_gets_plain_lines_that_count_test_sets(
    prepare: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare(tmp_path / "out") == 0
    notes = capsys.readouterr().err
    lines = [line.split(", ")[0] for line in notes.splitlines() if "%" in line]
    assert "\r" not in notes
    for label in ("read", "align and compare", "unique pairs"):
        assert any(re.fullmatch(rf"{label}: (\d+)/\1 test sets \(100 %\)", line) for line in lines), notes


# Test sets stay out of training

NEWS = [
    "The mayor of the old town said that she would open the bridge again in spring.",
    "He promised the fishermen that they could land their boats beside it in the meantime.",
    "Nobody believed him when he spoke to them about the winter on the northern shore.",
    "My sister lost her ticket on the way to the station, but she found it in her coat.",
]
HELD_OUT = [
    "Two farmers who had sold their horses at the market walked home because they had no money left.",
    "Their daughter told the judge that she had never seen him before that rainy evening in March.",
    "The doctor gave the sailor his letter and asked him whether he could read it aloud to her.",
]

EVENING = [
    "When the ferry had left, he wrote to his uncle that they would wait for it at the pier.",
    "She kept the lamp in her window, and the pilots thanked her for it every year.",
    "They asked the old keeper about his nets, but he had given them to his neighbours.",
]
NOVEL = [
    "Old Martin shut the gate behind him, and the goose that he had bought followed him to the barn.",
    "There was no bread in the house, so she sent her boys to the mill before they had woken up.",
    "Because the road was flooded, we slept in our cart and counted the stars above us.",
]


def swapped(line: str) -> str:
    words = {"she": "he", "he": "she", "him": "it", "her": "his", "they": "it", "their": "his", "it": "they"}
    return " ".join(words.get(word, word) for word in line.split(" "))


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plain test sets with the names of the real ones; training has copies and near copies of the held-out lines."""
    folder = tmp_path_factory.mktemp("older")

    def write(name: str, lines: list[str], system: str = "North") -> None:
        place = folder / name
        place.mkdir(parents=True)
        (place / "docids.txt").write_text("".join(f"d{number // 4}\n" for number in range(len(lines))))
        for file, texts in (("ref", lines), (system, [swapped(line) for line in lines])):
            (place / f"{file}.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")

    near = HELD_OUT[0].replace("walked home", "went home").replace(".", " !")
    training = [f"{line[:-1]} of {year}." for year in ("1950", "1960", "1970") for line in NEWS]
    write("wmt/newstest2013.de-en", [*training, near, "Yes , she said ."])
    write("wmt/newstest2013.fr-en", [*training, near, "Yes , she said ."])
    write("more/newstest2014.de-en", HELD_OUT)
    write("more/newstest2023.de-en", EVENING)
    for name in ("newstest2017.de-en", "newsdiscusstest2015.fr-en", "newstest2023.zh-en", "newstest2023.he-en"):
        write(f"more/{name}", [f"{HELD_OUT[1][:-1]} of {name[-8:]}."])
    for name, text in (("litbank/one", f"{HELD_OUT[2]}\n\n{NOVEL[0]}"), ("litbank/two", f"{NOVEL[1]}\n\n{NOVEL[2]}")):
        (folder / "english" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "english" / f"{name}.txt").write_text(text + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def without_tests(older: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("without") / "out"
    given = [f"data.wmt=[{older / 'wmt'},{older / 'more'}]", f"data.english={older / 'english'}", f"out={out}"]
    assert command.main(["prepare", *given, "splits.english_share=0.5", "fidelity.passages=20"]) == 0
    return out


def test_no_test_set_is_in_training_or_development_by_its_name(without_tests: Path) -> None:
    found = json.loads((without_tests / "manifest.json").read_text(encoding="utf-8"))
    testsets = {split: found["splits"][split]["testsets"] for split in ("train", "development", "test")}
    assert testsets == {
        "train": ["newstest2013.de-en"],  # the pairs of fr-en are the same
        "development": ["newstest2023.de-en"],
        "test": ["newstest2014.de-en"],
    }
    assert set(found["counts"]["testsets"]) == {*chain.from_iterable(testsets.values()), "newstest2013.fr-en"}
    assert not any("2017" in name or "2015" in name for name in found["inputs"]["wmt"])


def test_no_text_of_a_test_set_is_in_training_or_development(without_tests: Path) -> None:
    held_out = Copies()
    for text in HELD_OUT:
        held_out.add(text)
    rows = [row for split in ("train", "development") for row in arrow.read_pairs(without_tests, split)]
    texts = [text for row in rows for text in (row["better"], *row["context"])]
    there = json.loads((without_tests / "manifest.json").read_text(encoding="utf-8"))["splits"]
    for split in (*arrow.PASSAGE_SPLITS, *arrow.COREFERENCE_SPLITS):
        texts += arrow.read_passages(without_tests, split)["text"] if split in there else []
    assert len(texts) > 10 and not any(map(held_out.near, texts))
    assert all(map(held_out.near, HELD_OUT))  # the check finds what is there
    assert len(arrow.read_pairs(without_tests, "test"))


def test_a_pair_of_texts_is_there_once(without_tests: Path) -> None:
    rows = [row for split in ("train", "development", "test") for row in arrow.read_pairs(without_tests, split)]
    assert len({(row["kind"], row["better"], row["worse"]) for row in rows}) == len(rows) > 10
    counts = json.loads((without_tests / "manifest.json").read_text())["counts"]["testsets"]["newstest2013.fr-en"]
    assert counts["kept"]["system"] == 0 < counts["dropped"]["system"]["repeated"]


def test_a_book_is_held_out_as_a_whole(without_tests: Path) -> None:
    def books(split: str) -> set[str]:
        rows = arrow.read_passages(without_tests, split)
        return {row["doc"].split(".")[0] for row in rows if row["source"] == "litbank"}

    held_out, learned = books("passages_development"), books("passages_train")
    assert len(held_out) == len(learned) == 1 and held_out | learned == {"one", "two"}


def test_annotated_documents_are_held_out_with_their_text(
    corpus: Path, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    english = tmp_path / "english" / "home"
    english.mkdir(parents=True)
    text = "The cat of Ann slept. It rained. She fed it, and they left. Vets came, who had no food with them."
    for number in range(10):
        (english / f"{number}.txt").write_text(f"Story {number}: he saw her.\n", encoding="utf-8")
    (english / "cat.txt").write_text(text + "\n", encoding="utf-8")
    folder = root / "tests" / "fixtures" / "coreference"
    given = [f"data.wmt={corpus / 'wmt'}", f"data.english={tmp_path / 'english'}", f"data.coreference={folder}"]
    names: dict[str, dict[str, list[str]]] = {}
    for share in ("0.0", "1.0"):
        out = tmp_path / share
        overrides = [f"splits.english_share={share}", "fidelity.passages=20", f"out={out}"]
        assert command.main(["prepare", *given, *overrides]) == 0
        names[share] = {s: arrow.read_passages(out, s)["doc"][:] for s in arrow.COREFERENCE_SPLITS}
    assert names["0.0"] == {"coreference_train": ["OWN_cat"], "coreference_development": ["OWN_bridge"]}  # not in it
    assert names["1.0"] == {"coreference_train": [], "coreference_development": ["OWN_cat", "OWN_bridge"]}
    found = json.loads((tmp_path / "0.0" / "manifest.json").read_text(encoding="utf-8"))
    assert found["counts"]["coreference"]["train"] == {
        "antecedents": 3,
        "documents": {"coreference": 1},
        "kept": {"coreference": 1},
    }
    assert list(found["inputs"]["coreference"]) == ["own.conll"]
    (row,) = arrow.read_passages(tmp_path / "0.0", "coreference_train")
    assert row["antecedents"][0] == {"word": 9, "antecedent": [3]}
    assert command.main(["prepare", *given, f"data.coreference={tmp_path}", f"out={tmp_path / 'none'}"]) == 1
    assert "expected .conll files with annotated coreference" in capsys.readouterr().err.splitlines()[-1]
