"""The sample of a study: candidates, balance, tasks, the folder."""

from __future__ import annotations

import errno
import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from pronmetric.cli.main import main
from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.study import candidates, folder
from pronmetric.lab.study.folder import PAPER, Design, Item
from pronmetric.lab.study.sample import assign, choose, draw, sample, score_ranges, share_out
from pronmetric.output.targets import AtomicFile


def item(language: str, a: str, b: str, number: int) -> Item:
    return Item(
        f"{language}/{a}-{b}/{number}", language, a, b, (), f"{a} came {number}", f"{b} came {number}", doc=str(number)
    )


def many(**sizes: int) -> list[Item]:
    """So many pairs of each "language_a_b"."""
    return [item(*name.split("_"), number) for name, size in sizes.items() for number in range(size)]  # type: ignore[misc]


def counts(items: list[Item]) -> Counter[tuple[str, str]]:
    return Counter(one.pronouns for one in items)


@pytest.mark.parametrize(
    ("total", "available", "given"),
    [
        (7, {"a": 1, "b": 9, "c": 9}, {"a": 1, "b": 3, "c": 3}),
        (8, {"a": 1, "b": 9, "c": 9}, {"a": 1, "b": 4, "c": 3}),
        (2, {"a": 5, "b": 5, "c": 5}, {"a": 1, "b": 1, "c": 0}),
        (9, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        (0, {"a": 1}, {"a": 0}),
    ],
)
def test_a_total_is_shared_as_equally_as_the_candidates_allow(
    total: int, available: dict[str, int], given: dict[str, int]
) -> None:
    assert share_out(total, available) == given


def test_pronoun_pairs_get_equally_many_items() -> None:
    found = draw(
        many(de_he_it=9, de_she_it=5, de_it_he=4), total=13, ranges={}, strict=True, rng=np.random.default_rng(0)
    )
    assert sorted(counts(found).values()) == [4, 4, 5] and len({one.id for one in found}) == 13


@pytest.mark.parametrize(
    ("sizes", "total", "said"),
    [
        ({"de_he_it": 9, "de_she_it": 2}, 10, "10 items cannot be balanced, 3 are short: she -> it: 2 of 5;"),
        # 3 each, and the remainder needs two pairs with a fourth
        ({"de_he_it": 9, "de_she_it": 3, "de_it_he": 3}, 11, "1 are short: (it -> he|she -> it): 3 of 4"),
        ({"de_he_it": 2, "de_she_it": 2}, 5, "5 items are wanted, but there are 4, 1 short"),
    ],
)  # fmt: skip
def test_what_cannot_be_balanced_is_refused_with_what_is_short(sizes: dict[str, int], total: int, said: str) -> None:
    with pytest.raises(InputError, match=f"de: .*({said})"):
        draw(many(**sizes), total=total, ranges={}, strict=True, rng=np.random.default_rng(0))


def test_level_takes_all_of_rare_pairs() -> None:
    found = draw(many(de_he_it=9, de_she_it=2), total=10, ranges={}, strict=False, rng=np.random.default_rng(0))
    assert counts(found) == {("he", "it"): 8, ("she", "it"): 2}


def test_ranges_of_the_score_difference_get_equally_many_items() -> None:
    pool = many(de_he_it=12)
    differences = {one.id: float(number) for number, one in enumerate(pool)}
    study = sample(pool, Design(items=6, ranges=3), differences=differences)
    assert sorted(int(differences[i]) // 4 for i in study.items) == [0, 0, 1, 1, 2, 2]
    low = {one.id: 0 for one in pool[:1]} | {one.id: 1 for one in pool[1:]}
    with pytest.raises(InputError, match="2 are short: he -> it, score range 1: 1 of 3"):
        draw(pool, total=6, ranges=low, strict=True, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match='1 candidates: each has no score of both versions, first "de/he-it/0"'):
        sample(pool, Design(items=6), differences={**differences, pool[0].id: None})


def test_ranges_are_of_equal_size_up_to_one() -> None:
    assert Counter(score_ranges({str(k): -k for k in range(11)}, 3).values()) == {0: 4, 1: 4, 2: 3}


def test_the_same_seed_gives_the_same_study_in_any_order() -> None:
    pool = many(de_he_it=20, de_she_it=20, fr_he_it=20, fr_it_he=20)
    design = Design(items=10, annotators=3, repeated=0.2)
    one, other = sample(pool, design), sample(pool[::-1], design)
    assert one.id == other.id and Counter(i.language for i in one.items.values()) == {"de": 10, "fr": 10}
    assert sample(pool, replace(design, seed=0)).id != one.id


def test_the_paper_design() -> None:
    study = sample(many(de_he_it=700, de_she_it=100, fr_he_it=300, fr_it_he=300), PAPER)
    assert Counter(i.language for i in study.items.values()) == {"de": 500, "fr": 500}
    assert counts([i for i in study.items.values() if i.language == "de"]) == {("he", "it"): 400, ("she", "it"): 100}
    assert [len(own) for own in study.assignments.values()] == [550] * 5
    answered = [{task.item for task in own} for own in study.assignments.values()]
    assert answered[0] == answered[2] == answered[4] and answered[1] == answered[3]
    assert not answered[0] & answered[1] and answered[0] | answered[1] == set(study.items)
    assert [sum(task.repeated for task in own) for own in study.assignments.values()] == [50] * 5


def test_tasks_are_shuffled_half_swapped_and_repeated_in_the_other_order() -> None:
    pool = many(de_he_it=40)
    found = assign(pool, Design(annotators=2, repeated=0.25))
    assert found["1"] != found["2"]
    for own in found.values():
        first = {task.item: (place, task) for place, task in enumerate(own) if not task.repeated}
        assert sum(task.swapped for _, task in first.values()) == 20
        again = [(place, task) for place, task in enumerate(own) if task.repeated]
        assert len(again) == 10
        for place, task in again:
            before, once = first[task.item]
            assert before < 20 <= place and task.swapped != once.swapped


def test_more_groups_than_annotators_are_refused() -> None:
    with pytest.raises(PronmetricError, match="3 groups of 2 annotators"):
        Design(annotators=2, groups=3)


def test_languages_and_pairs_are_chosen_by_name() -> None:
    pool = many(de_he_it=2, fr_she_it=2)
    assert choose(pool, languages=["fr"], pairs=None) == pool[2:]
    assert choose(pool, languages=None, pairs=[("he", "it")]) == pool[:2]
    with pytest.raises(InputError, match="`pronoun_pairs=he:she`: no candidate has it"):
        choose(pool, languages=None, pairs=[("he", "she")])


def write(path: Path, *records: object) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


ENTRY = {
    **{"id": "a", "testset": "t", "lp": "de-en", "doc": "d", "source": "Er kam.", "source_context": ["Ja."]},
    **{"reference": "He came.", "noisy_reference": "It came.", "right": "he", "wrong": "it"},
    **{"reference_context": ["Yes."], "agrees": True},
}


def test_a_suite_gives_candidates_with_sources(tmp_path: Path) -> None:
    notes: list[str] = []
    path = write(tmp_path / "suite.jsonl", ENTRY, {**ENTRY, "id": "b"})
    (found,) = candidates.read(path, split=None, note=notes.append)
    assert found == Item("a", "de", "he", "it", ("Yes.",), "He came.", "It came.", "Er kam.", ("Ja.",), "t.de-en/d")
    assert notes == ["left out: 1 pairs that occur more than once, kept once"]
    with pytest.raises(InputError, match=r'suite\.jsonl:2: "right" must be a string'):
        candidates.read(write(tmp_path / "suite.jsonl", ENTRY, {**ENTRY, "right": 1}), split=None, note=notes.append)


def test_a_suite_names_the_language_of_its_texts(tmp_path: Path) -> None:
    german = {
        **ENTRY,
        "lp": "en-de",
        "reference": "Er kam.",
        "noisy_reference": "Es kam.",
        "right": "er",
        "wrong": "es",
    }
    path = write(tmp_path / "suite.jsonl", german)
    assert candidates.language_of(path, None) == candidates.language_of(path, "deu") == "de"
    assert candidates.language_of(write(tmp_path / "other.jsonl", ENTRY), None) == "en"
    with pytest.raises(InputError, match="the texts are in de, not in `lang=fr`; leave it out"):
        candidates.language_of(path, "fr")
    pair = {"id": "a", "text_a": "Es kam.", "text_b": "Er kam."}
    assert candidates.language_of(write(tmp_path / "pairs.jsonl", pair), "de") == "de"


def test_a_prepared_folder_names_the_language_of_its_texts(tmp_path: Path) -> None:
    record = {"code": "xx", "uses": ["zo personal 3 singular - subject"]}
    for config, code in (({"target": "en"}, "en"), ({"target": "xx", "language": record}, "xx")):
        (tmp_path / "manifest.json").write_text(json.dumps({"config": config}), encoding="utf-8")
        assert candidates.language_of(str(tmp_path), None) == code


def test_the_language_is_in_the_id_of_a_study_that_is_not_english() -> None:
    english, german = (replace(Design(), target=code) for code in ("en", "de"))
    study = sample(many(de_he_it=10), english)
    assert study.id == "1ba9be94092d5040" != replace(study, design=german).id


def test_judged_pairs_give_candidates_with_the_better_text_first(tmp_path: Path) -> None:
    notes: list[str] = []
    pair = {"id": "a", "text_a": "It came.", "text_b": "He came.", "better": "B", "pronoun_a": "it", "pronoun_b": "he"}
    path = write(tmp_path / "pairs.jsonl", {**pair, "group": "de"}, {**pair, "id": "b"})
    (found,) = candidates.read(path, split=None, note=notes.append)
    assert (found.text_a, found.pronouns, found.language) == ("He came.", ("he", "it"), "de")
    assert notes == ['left out: 1 pairs without "pronoun_a", "pronoun_b" or "group"']
    with pytest.raises(InputError, match="`split=dev`: applies to a prepared folder"):
        candidates.read(path, split="dev", note=notes.append)


def test_a_study_is_read_as_written_and_changes_are_noticed(tmp_path: Path) -> None:
    study = sample(many(de_he_it=10), Design(repeated=0.2, neither=True))
    folder.write(study, tmp_path / "study", data="x")
    assert folder.read(tmp_path / "study") == study
    path = tmp_path / "study" / "items.jsonl"
    path.write_text(path.read_text().replace("came 3", "went 3"), encoding="utf-8")
    with pytest.raises(InputError, match="were changed after `study sample`"):
        folder.read(tmp_path / "study")
    with pytest.raises(InputError, match="expected a folder written by `pronmetric study sample`"):
        folder.read(tmp_path)


def test_a_full_disk_leaves_no_half_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closing, closed = AtomicFile.__exit__, []

    def full(file: AtomicFile, kind: object, *error: object) -> None:
        closing(file, kind, *error)
        closed.append(file)
        if len(closed) == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(file.path))

    study = sample(many(de_he_it=10), Design())
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left") as raised:
        patch.setattr(AtomicFile, "__exit__", full)
        folder.write(study, tmp_path / "study", data="x")
    assert str(raised.value.filename).startswith(f"{tmp_path / 'study'}/") and not list(tmp_path.iterdir())
    folder.write(study, tmp_path / "study", data="x")
    assert folder.read(tmp_path / "study") == study


def test_the_command_draws_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"id": one.id, "text_a": one.text_a, "text_b": one.text_b, "group": one.language}
        | {key: value for key, value in asdict(one).items() if key.startswith("pronoun")}
        for one in many(de_he_it=9, de_she_it=9)
    ]
    data, place = write(tmp_path / "pairs.jsonl", *rows), str(tmp_path / "study")
    assert main(["study", "sample", data, "-o", place, "--items", "20", "--quiet"]) == 1
    assert "20 items are wanted, but there are 18, 2 short" in capsys.readouterr().err
    assert main(["study", "sample", data, "-o", place, "--items", "10", "--preset", "paper", "--answers", "all"]) == 0
    printed = capsys.readouterr().out
    assert "de                  10              2 " in printed and printed.count("  5         0") == 5
    design = folder.read(place).design
    assert design == replace(PAPER, items=10, neither=True)
    assert main(["study", "sample", data, "-o", place]) == 1
    assert "is not empty; give a new folder" in capsys.readouterr().err
    assert main(["study", "sample", data, "-o", f"{place}2", "--pronoun-pairs", "he"]) == 1
    assert "expected the reference's pronoun and the other, such as he:it" in capsys.readouterr().err
