from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pronmetric.errors import InputError, MissingExtra
from pronmetric.lab.suites import contrapro, export
from pronmetric.lab.suites import figures as suite_figures
from pronmetric.lab.suites.contrastive import Judging, Reading


def entry(reference: str, errors: int, **given: Any) -> dict[str, Any]:
    value = {
        "src segment": "It fell.",
        "ref segment": f"{reference} fiel.",
        "src pronoun": "It",
        "ref pronoun": reference,
        "document id": "1999_1_2.de",
        "segment id": 2,
        "ante distance": 1,
        "intrasegmental": False,
        "errors": [{"contrastive": f"Falsch {n} fiel.", "replacement": "x"} for n in range(errors)],
    }
    return value | given


ENTRIES = [
    entry("Er", 2),
    entry("Sie", 1, **{"ante distance": 0, "intrasegmental": True, "document id": "1999_1_3.de"}),
    entry("Es", 2, **{"ante distance": 3, "src pronoun": "it", "intrasegmental": None}),
    entry("Er", 0, **{"ante distance": 17}),
]
# item 1 wins, item 2 ties (wrong), item 3 loses against its second copy, item 4 has no copy
COSTS = [1.0, 2.0, 3.0, 5.0, 5.0, 2.0, 3.0, 1.0, 9.0]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "set.json"
    path.write_text(json.dumps(ENTRIES))
    return path


def scored(path: Path, costs: list[float], **judging: Any) -> list[bool]:
    items = contrapro.read(path, Reading())
    scores = export.cut([-cost for cost in costs], items, "x")
    return [verdict.right for verdict in contrapro.judge(items, scores, Judging(**judging)).verdicts]


def test_the_reference_must_be_strictly_better_than_every_copy(made: Path) -> None:
    assert scored(made, COSTS) == [True, False, False, True]
    assert scored(made, [-cost for cost in COSTS]) == [False, False, False, True]


def test_break_downs_by_pair_location_and_distance(made: Path) -> None:
    items = contrapro.read(made, Reading())
    judged = contrapro.judge(items, export.cut([-c for c in COSTS], items, "x"), Judging())
    figures = suite_figures.figures(judged.verdicts)
    counts = {name: {g: (s.correct, s.total) for g, s in groups.items()} for name, groups in figures.by.items()}
    assert (figures.overall.correct, figures.overall.total, figures.overall.accuracy) == (2, 4, 0.5)
    assert counts == {
        "pronoun pair": {"it:er": (2, 2), "it:es": (0, 1), "it:sie": (0, 1)},
        "antecedent location": {"earlier segment": (2, 2), "same segment": (0, 1), "unknown": (0, 1)},
        "distance": {"0": (0, 1), "1": (1, 1), "3": (0, 1), ">3": (1, 1)},
    }
    assert judged.further["pairs by distance"] == {
        "0": {"it:sie": 1},
        "1": {"it:er": 1},
        "3": {"it:es": 1},
        ">3": {"it:er": 1},
    }


def test_a_filter_is_applied_after_scoring(made: Path) -> None:
    assert scored(made, COSTS, pronouns=("es", "er")) == [True, False, True]


def test_compat_reads_one_score_of_a_filtered_item_as_the_fork_does(made: Path) -> None:
    # er: 1 | 2 3; sie, filtered: 5 alone; es: 5 | 2 3, wrong; er: 1
    assert scored(made, COSTS, pronouns=("es", "er"), compat=True) == [True, False, True]
    # es: 2 3 of the next item, right, where the scores are read in order
    costs = [1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 9.0, 0.0]
    assert scored(made, costs, pronouns=("es",)) == [True]
    assert scored(made, costs, pronouns=("es",), compat=True) == [False]  # er: 1 alone; sie: 2; es: 3 | 0 1


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("intrasegmental", "yes", '"intrasegmental" must be one of true, false, null, got "yes"'),
        ("ante distance", -1, '"ante distance" must be a whole number from 0, got -1'),
        ("ante distance", True, '"ante distance" must be a whole number from 0, got true'),
        ("errors", {}, '"errors" must be a list, got an object'),
        ("ref pronoun", 3, '"ref pronoun" must be a string, got a number'),
    ],
)
def test_a_wrong_value_is_refused_with_its_item(made: Path, key: str, value: Any, said: str) -> None:
    made.write_text(json.dumps([ENTRIES[0], ENTRIES[1] | {key: value}]))
    with pytest.raises(InputError) as error:
        contrapro.read(made, Reading())
    assert str(error.value) == f"{made}: item 2: {said}"


def test_scores_are_judged_without_the_keys_that_the_program_does_not_read(made: Path) -> None:
    read = {"src pronoun", "ref pronoun", "ante distance", "intrasegmental", "errors"}
    short = [{key: value for key, value in one.items() if key in read} for one in ENTRIES]
    made.write_text(json.dumps([one | {"errors": [{} for _ in one["errors"]]} for one in short]))
    items = contrapro.read(made, Reading(texts=False))
    verdicts = contrapro.judge(items, export.cut([-cost for cost in COSTS], items, "x"), Judging()).verdicts
    assert [one.right for one in verdicts] == [True, False, False, True]
    assert len({one.document for one in verdicts}) == 4
    with pytest.raises(InputError, match='item 1: the key "src segment" is missing'):
        contrapro.read(made, Reading())


def test_context_is_read_from_documents(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "documents" / "1999"
    folder.mkdir(parents=True)
    for number in (2, 3):
        (folder / f"1999_1_{number}.en").write_text("A vase .\nIt fell.\nOh.\n")
        (folder / f"1999_1_{number}.de").write_text("Eine Vase.\nEr fiel.\nOh.\n")
    items = contrapro.read(made, Reading(str(tmp_path / "documents"), 2))
    assert items[0].candidates[1].source_context == ("", "A vase .")
    assert items[0].candidates[1].target_context == ("", "Eine Vase.")
    (folder / "1999_1_3.en").write_text("A vase .\nShe fell.\nOh.\n")
    with pytest.raises(InputError, match=r"item 2: .*expected the document 1999_1_3.de as two files.* in line 2"):
        contrapro.read(made, Reading(str(tmp_path / "documents"), 2))


def test_an_id_without_suffix_counts_segments_from_0(made: Path, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "7.en").write_text("A vase.\nIt fell.\n")
    (tmp_path / "d" / "7.fr").write_text("Un vase.\nIl est tombé.\n")
    made.write_text(json.dumps([entry("Il", 1, **{"document id": "7", "segment id": 1})]))
    (item,) = contrapro.read(made, Reading(str(tmp_path / "d"), 1))
    assert (item.candidates[0].source_context, item.candidates[0].target_context) == (("A vase.",), ("Un vase.",))


def test_context_without_documents_is_refused(made: Path) -> None:
    with pytest.raises(InputError, match="holds no context sentences: give `documents=DIR`"):
        contrapro.read(made, Reading(context=1))


class Tokenizer:
    """Splits off a final full stop, as sacremoses does."""

    def __init__(self, lang: str) -> None:
        self.lang = lang

    def tokenize(self, text: str, *, return_str: bool) -> str:
        return text.replace(".", " .")


@pytest.fixture
def moses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", SimpleNamespace(MosesTokenizer=Tokenizer))


ROWS = [
    "1\tcorrect\tEr\tA vase.<eos> It fell.\tEr fiel.\tEine Vase.<eos> Er fiel.",
    "1\tcontrastive\tEr\tA vase.<eos> It fell.\tSie fiel.\tSie fiel.",
    "0\tcorrect\tsie\tIt fell.\tSie fiel.\tEr, sie.",
    "5\tcorrect\tes\tA dog.<eos> It ran.\tEs lief.\tEs lief.<eos> Er lief.",
]


def generated(tmp_path: Path, rows: list[str], **judging: Any) -> list[bool]:
    path = tmp_path / "out.tsv"
    path.write_text("".join(f"{row}\n" for row in rows))
    return [v.right for v in contrapro.judge_translations(None, path, Judging(**judging)).verdicts]


@pytest.mark.usefixtures("moses")
def test_the_generation_variant_looks_in_the_last_sentence(tmp_path: Path) -> None:
    assert generated(tmp_path, ROWS) == [True, True, False]
    assert generated(tmp_path, ROWS, pronouns=("er", "es")) == [True, False]
    assert generated(tmp_path, ROWS, distance=(0, 1)) == [True, True]
    # the source's last sentence is 2 of 4 tokens: the last int(4 x 0.5 x 2) = 4 tokens of the output
    assert generated(tmp_path, ROWS[3:], proportional=2.0) == [True]
    assert generated(tmp_path, ROWS[3:], proportional=1.0) == [False]


@pytest.mark.usefixtures("moses")
def test_a_first_column_names_the_sentence(tmp_path: Path) -> None:
    rows = [f"{place}\t{ROWS[3]}" for place in (0, 1, 2)]
    assert generated(tmp_path, rows) == [True, False, False]  # 2 is out of range
    with pytest.raises(InputError, match=r"out.tsv:2: expected 6 or 7 columns .*, got 3"):
        generated(tmp_path, [ROWS[0], "a\tb\tc"])
    with pytest.raises(InputError, match=r"out.tsv:1: expected a whole number as distance, got 'near'"):
        generated(tmp_path, ["near" + ROWS[0][1:]])


def test_the_generation_variant_needs_sacremoses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[suites\]"):
        generated(tmp_path, ROWS)
