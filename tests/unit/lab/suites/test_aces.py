from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.suites import aces
from pronmetric.lab.suites.contrastive import Judging, Reading, for_pronouns

ROW = {
    "source": "Die Uhr steht.",
    "good-translation": "The clock has stopped; it is old.",
    "incorrect-translation": "The clock has stopped; she is old.",
    "reference": "The clock stands still. It is old.",
    "phenomena": "anaphoric_intra_subject_it:substitution",
    "langpair": "de-en",
}
MARKED = {
    "ID": "7",
    "incorrect-translation-annotated": "The clock has stopped; <v>she</v> is old.",
    "annotation-method": "manual",
}
KINDS = (
    "addition",
    "omission",
    "hallucination-date-time",
    "copy-source",
    "do-not-translate",
    "hyponym-replacement",
    "hypernym-replacement",
    "antonym-replacement",
    "similar-language-low",
    "punctuation:deletion_all",
)


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join("\t".join(cells) + "\n" for cells in (rows[0], *(row.values() for row in rows))))
    return path


def test_a_row_is_a_pair_with_its_phenomenon_and_reference(tmp_path: Path) -> None:
    other = ROW | {"phenomena": "hypernym-replacement", "langpair": "de-fr"}
    first, second = aces.read(write(tmp_path / "aces.tsv", [ROW, other]), Reading(context=2))
    assert [one.target for one in first.candidates] == [ROW["good-translation"], ROW["incorrect-translation"]]
    assert (first.reference, first.language, first.document) == (ROW["reference"], "en", "1")
    assert first.groups == {
        "phenomenon": "anaphoric_intra_subject_it:substitution",
        "category": "mistranslation",
        "language pair": "de-en",
    }
    assert (second.groups["category"], second.language, second.document) == ("undertranslation", "fr", "2")


def test_rows_of_one_source_are_one_document(tmp_path: Path) -> None:
    deleted = ROW | {"phenomena": "anaphoric_intra_subject_it:deletion"}
    items = aces.read(write(tmp_path / "aces.tsv", [ROW, deleted]), Reading())
    assert [item.document for item in items] == ["1", "1"]


def test_pronouns_and_coreference_of_the_language_are_chosen(tmp_path: Path) -> None:
    kinds = [
        ("pleonastic_it:deletion", "de-en"),
        ("coreference-based-on-commonsense", "de-en"),
        ("commonsense-only-ref-ambiguous", "ru-en"),
        ("ambiguous-translation-wrong-gender-male-pro", "fr-en"),
        ("ambiguous-translation-wrong-sense-frequent", "de-en"),
        ("anaphoric_group_it-they:substitution", "en-de"),
    ]
    rows = [ROW | {"phenomena": kind, "langpair": pair} for kind, pair in kinds]
    items = aces.read(write(tmp_path / "aces.tsv", rows), Reading())
    assert [item.id for item in for_pronouns(items, aces.ABOUT, "en")] == ["1", "2", "3", "4"]
    assert [item.id for item in for_pronouns(items, aces.ABOUT, "de")] == ["6"]


def test_marked_words_tell_whether_a_pronoun_is_wrong(tmp_path: Path) -> None:
    clock = "The <v>clock</v> has stopped; she is old."
    rows = [
        ROW | MARKED,
        ROW | MARKED | {"incorrect-translation-annotated": clock},
        ROW | MARKED | {"incorrect-translation-annotated": "No marks."},
        ROW | MARKED | {"langpair": "de-wo"},
    ]
    for path in (write(tmp_path / "span.tsv", rows), tmp_path / "span.jsonl"):
        if path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        marked = [item.groups.get("marked words") for item in aces.read(path, Reading())]
        assert marked == ["a pronoun", "no pronoun", None, None]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"langpair": "german"}, r'tsv:2: "langpair" must be a language pair such as "de-en", got "german"'),
        ({"incorrect-translation-annotated": "<v>she is"}, "tsv:2: .* the last <v> is not closed by </v>"),
        ({"incorrect-translation-annotated": "she</v> is"}, "tsv:2: .* expected <v> and </v> in turn, got </v> after"),
        ({"reference": "a\tb"}, r"tsv:2: expected a TSV file of ACES with 9 tab-separated columns .*, got 10"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        aces.read(write(tmp_path / "aces.tsv", [ROW | MARKED | change]), Reading())


def test_a_wrong_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "aces.tsv"
    path.write_text("source\tgood-translation\n")
    with pytest.raises(InputError, match=r"aces.tsv:1: .* whose first line names incorrect-translation, reference"):
        aces.read(path, Reading())
    path.write_text("")
    with pytest.raises(InputError, match=r"aces.tsv:1: expected a TSV file of ACES"):
        aces.read(path, Reading())
    write(path, [ROW])
    path.write_text(path.read_text().split("\n")[0] + "\n")
    with pytest.raises(InputError, match="no rows: expected a TSV file of ACES, one item on each line"):
        aces.read(path, Reading())
    with pytest.raises(InputError, match="leave `documents=` out"):
        aces.read(path, Reading(documents="folder"))
    with pytest.raises(InputError, match="this suite judges scores of its candidates, not translations"):
        aces.judge_translations(path, path, Judging())


def test_tau_is_averaged_over_the_phenomena_of_a_category(tmp_path: Path) -> None:
    rows = [ROW | {"phenomena": kind} for kind in ("nonsense", "nonsense", "lexical-overlap", "addition")]
    items = aces.read(write(tmp_path / "aces.tsv", rows), Reading())
    judged = aces.judge(items, [(1.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)], Judging())
    assert [one.right for one in judged.verdicts] == [True, False, True, False]
    # nonsense: one right, one tie, tau 0; lexical-overlap: tau 1; their mean is 0.5
    assert judged.further == {"tau by category": {"addition": -1.0, "mistranslation": 0.5}}


def test_the_aces_score_weighs_the_categories(tmp_path: Path) -> None:
    items = aces.read(write(tmp_path / "aces.tsv", [ROW | {"phenomena": kind} for kind in KINDS]), Reading())
    judged = aces.judge(items, [(1.0, 0.0)] * 9 + [(0.0, 1.0)], Judging())
    # 5 for addition, omission, mistranslation, over- and undertranslation, 1 for four others, 0.1 for punctuation
    assert judged.further["ACES score"] == pytest.approx(5 * 5 + 4 - 0.1)
