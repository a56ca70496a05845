"""The public names, and what the metric returns: as the command line scores, as tables, in a notebook, in LaTeX."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pandas
import pyarrow
import pytest
from datasets import Dataset

import pronmetric
from pronmetric import Comparison, InputError, Prediction, PronmetricError, PronounMetric, in_context
from pronmetric.cli.main import main

ROOT = Path(pronmetric.__file__).parents[1]


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Callable[..., Path]) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


@pytest.fixture
def place(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the sample."""
    for path in sample.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Polars:
    """A Series of polars, which is not among the development tools, as far as its interface is used."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def to_list(self) -> list[Any]:
        return list(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __bool__(self) -> bool:
        raise TypeError("the truth value of a Series is ambiguous")


def lines(name: str) -> list[str]:
    return Path(name).read_text(encoding="utf-8").splitlines()


def test_the_public_names_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(set(pronmetric.__all__) - {"__version__"}) and dir(pronmetric) == pronmetric.__all__
    for name in pronmetric.__all__:
        assert getattr(pronmetric, name) is not None
        home = pronmetric._HOMES.get(name)
        assert home is None or getattr(importlib.import_module(f"pronmetric.{home}"), name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'scoring_of'"):
        pronmetric.scoring_of  # noqa: B018


def test_files_have_the_scores_of_the_command_line(
    metric: PronounMetric, place: Path, tiny_checkpoint: Callable[..., Path]
) -> None:
    common = ["-r", "ref.txt", "--docids", "docids.txt", "--to_json", "o.json", "--quiet"]
    fixed = ["--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0", *common]
    assert main(["score", "-t", "system-b.txt", *fixed]) == 0
    content = json.loads(Path("o.json").read_text(encoding="utf-8"))
    found = metric.score_files("system-b.txt", reference="ref.txt", docids=Path("docids.txt"))
    assert isinstance(found, Prediction) and str(found.signature) == content["signature"]
    assert found.scores == [
        segment["score"] and pytest.approx(segment["score"], abs=2e-5) for segment in content["segments"]
    ]
    (system,) = content["systems"]
    assert found.score == found.system_score == pytest.approx(system["score"], abs=1e-4)
    assert (found.system.missing, found.system.units) == (system["missing_pronouns"], 5)
    assert found.name == "system-b.txt"
    in_memory = metric.corpus_score(lines("system-b.txt"), [lines("ref.txt")], docs=lines("docids.txt"))
    assert in_memory.segments == found.segments and str(in_memory.signature) == str(found.signature)
    assert main(["compare", "-t", "system-b.txt", "system-c.txt", *fixed]) == 0
    content = json.loads(Path("o.json").read_text(encoding="utf-8"))
    compared = metric.compare_files("system-b.txt", "system-c.txt", reference="ref.txt", docids="docids.txt")
    assert isinstance(compared, Comparison) and str(compared.signature) == content["signature"]
    assert [decision.better for decision in compared.decisions] == [
        s["pairs"][0]["better"] for s in content["segments"]
    ]
    assert compared.outcome.p_randomisation == pytest.approx(content["pairs"][0]["p_randomisation"], abs=1e-4)


def test_contexts_and_several_references(metric: PronounMetric, place: Path) -> None:
    out = metric.score_files("system-b.txt", docids="docids.txt")
    own = metric.predict(in_context(lines("system-b.txt"), docs=lines("docids.txt")), docs=lines("docids.txt"))
    assert out.scores == pytest.approx(own.scores, nan_ok=True) and "|context:respective|" in str(out.signature)
    assert "|context:none|" in str(metric.score_files("system-b.txt", context="none").signature)
    both = metric.score_files("system-b.txt", reference=["ref.txt", "system-a.txt"])
    assert "references:2" in str(both.signature)
    one, other = (metric.score_files("system-b.txt", reference=name).scores for name in ("ref.txt", "system-a.txt"))
    assert both.scores[3] == pytest.approx((one[3] + other[3]) / 2)


def test_wrong_arguments_are_one_error(metric: PronounMetric, place: Path) -> None:
    with pytest.raises(PronmetricError, match=r"nix\.txt: no such file"):
        metric.score_files("nix.txt")
    with pytest.raises(PronmetricError, match="give one, or another context"):
        metric.score_files("ref.txt", context="common")
    with pytest.raises(PronmetricError, match="expected context 'common', 'crossed' or 'none', got 'given'"):
        metric.compare_files("ref.txt", "ref.txt", context="given")
    with pytest.raises(PronmetricError, match="system has 2, reference 1 has 1"):
        metric.corpus_score(["She left.", "It works."], [["She left."]])
    for given, said in (
        (("She left.", []), "expected hypotheses to be a list of values, got a str"),
        ((["She left."], "She left."), "expected references to be a list of values, got a str"),
        (
            (["She left."], ["She left."]),
            r"expected a list of references, each a list of segments, got one list of texts",
        ),
    ):
        with pytest.raises(PronmetricError, match=said):
            metric.corpus_score(*given)
    with pytest.raises(InputError, match="reference 1:1: expected text, got None"):
        metric.corpus_score(["She left."], [[None]])  # type: ignore[list-item]


def test_tables_for_pandas(metric: PronounMetric, place: Path) -> None:
    out = metric.score_files("system-b.txt", reference="ref.txt", docids="docids.txt")
    segments, pronouns, systems = (out.to_pandas(table) for table in ("segments", "pronouns", "systems"))
    assert len(segments) == 37 and segments["pronouns"].sum() == len(pronouns) == out.system.pronouns
    row = segments.iloc[4]
    assert (row.text, row.doc) == (lines("system-b.txt")[4], lines("docids.txt")[4])
    assert row.context == " ".join(lines("ref.txt")[2:4])
    assert segments["missing"].sum() == out.system.missing
    first = pronouns.iloc[0]
    assert segments.iloc[first.segment].text[first.start : first.end] == first.pronoun
    assert systems.iloc[0].score == out.score and systems.iloc[0].low < out.score < systems.iloc[0].high
    assert systems.iloc[0].errors == out.system.errors.value
    with pytest.raises(PronmetricError, match="expected one of the tables segments, pronouns, systems, got 'words'"):
        out.to_pandas("words")
    compared = metric.compare_files("system-b.txt", "system-c.txt", reference="ref.txt", docids="docids.txt")
    segments, pronouns, systems = (compared.to_pandas(table) for table in ("segments", "pronouns", "systems"))
    assert (segments["better"] == "a").sum() == compared.outcome.wins
    assert segments.iloc[2].b_text == lines("system-c.txt")[2]
    assert list(systems.system) == ["system-b.txt", "system-c.txt"] and set(pronouns.system) == set(systems.system)
    assert pronouns.decided.sum() == segments.a_decided.str.len().sum() + segments.b_decided.str.len().sum()


def test_latex_of_scores_and_comparisons(metric: PronounMetric, place: Path) -> None:
    out = metric.score_files("system-b.txt")
    assert out.to_latex().count("\\begin{table}") == 1 and f"system-b.txt & {out.score:.2f} &" in out.to_latex()
    compared = metric.compare_files("system-b.txt", "system-c.txt")
    text = compared.to_latex()
    assert text.count("\\toprule") == 2 and "A - B (points)" in text.replace("$-$", "-")
    assert text.startswith("% \\usepackage{booktabs}\n\n% signature: model:")


def test_a_notebook_shows_coloured_pronouns_and_no_mark_up_of_texts(metric: PronounMetric) -> None:
    records = [{"text": "<b>She</b> & it's mine.", "context": ["Anna came."]}, {"text": "Rain."}] + [
        {"text": f"It is {n}."} for n in range(30)
    ]
    out = metric.predict(records)
    shown = out._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>She</b>" not in shown
    assert re.search(r"<span class='p( doubtful)?' style=\"--s:[01]\.\d{3}\">She<small>0\.\d\d</small></span>", shown)
    assert "12 other lines are not shown" in shown and str(out.signature) in shown
    assert ".pronmetric .p.doubtful" in shown and "--good:" in shown and ":root" not in shown
    against = metric.compare(records, [{"text": record["text"].replace("It", "She")} for record in records], tie=0)
    shown = against._repr_html_()
    assert "the pronouns of A and B" in shown or " has better pronouns than " in shown
    assert shown.count("<tr>") == 1 + min(20, against.outcome.wins + against.outcome.losses)


def test_unbounded_scores_are_shown_without_colour(tiny_checkpoint: Callable[..., Path]) -> None:
    paper = PronounMetric.from_pretrained(tiny_checkpoint(head="paper"), precision="32", gpus=0)
    shown = paper.predict([{"text": "She left."}])._repr_html_()
    assert "<span class='p'>She<small>" in shown


TEXTS, DOCS = ["She left.", "It works.", "He lost her key."], ["a", "a", "b"]
TABLE = pandas.DataFrame({"mt": TEXTS, "ref": TEXTS[::-1], "doc": [1, 1, 2]})
DATASET = Dataset.from_pandas(TABLE)


@pytest.mark.parametrize(
    "column",
    [
        tuple,
        iter,
        pandas.Series,
        lambda values: pandas.Series(values, index=[7, 7, 3]),
        lambda values: numpy.array(values, dtype=object),
        numpy.array,
        pyarrow.array,
        lambda values: Dataset.from_dict({"column": values})["column"],
        Polars,
    ],
    ids=["tuple", "iterator", "pandas", "index", "objects", "numpy", "arrow", "datasets", "polars"],
)
def test_a_column_is_a_list(metric: PronounMetric, column: Callable[[list[str]], Any]) -> None:
    references = [TEXTS[::-1]]
    expected = metric.corpus_score(TEXTS, references, docs=DOCS, speakers=DOCS)
    given = column(TEXTS), [column(each) for each in references]
    found = metric.corpus_score(*given, docs=column(DOCS), speakers=column(DOCS))
    assert (found.scores, found.docs, found.texts) == (expected.scores, expected.docs, expected.texts)
    records = in_context(TEXTS, reference=TEXTS[::-1], docs=DOCS)
    assert in_context(column(TEXTS), reference=column(TEXTS[::-1]), docs=column(DOCS)) == records
    assert metric.predict(records, docs=column(DOCS)).scores == metric.predict(records, docs=DOCS).scores
    pairs = metric.compare(records, records[::-1], docs=DOCS)
    assert metric.compare(tuple(records), iter(records[::-1]), docs=column(DOCS)).outcome == pairs.outcome


@pytest.mark.parametrize("table", [TABLE, DATASET, pyarrow.table(TABLE)], ids=["pandas", "datasets", "arrow"])
def test_a_table_is_told_by_its_columns(metric: PronounMetric, table: Any) -> None:
    said = r"expected {} to be one column, got a table with the columns 'mt', 'ref', 'doc': give {}$"
    for call, name, cure in (
        (lambda: metric.corpus_score(table), "hypotheses", r"hypotheses=df\['mt'\]"),
        (lambda: metric.corpus_score(TEXTS, table), "references", r"references=\[df\['ref'\]\]"),
        (lambda: metric.corpus_score(TEXTS, [table]), "references", r"references=\[df\['ref'\]\]"),
        (lambda: metric.corpus_score(TEXTS, docs=table), "docs", r"docs=df\['doc'\]"),
        (lambda: metric.corpus_score(TEXTS, speakers=table), "speakers", r"speakers=df\['mt'\]"),
        (lambda: in_context(table), "lines", r"lines=df\['mt'\]"),
        (lambda: in_context(TEXTS, reference=table), "reference", r"reference=df\['ref'\]"),
    ):
        with pytest.raises(PronmetricError, match=said.format(name, cure)):
            call()


def test_a_data_frame_is_no_list_of_records(metric: PronounMetric) -> None:
    with pytest.raises(PronmetricError, match=r"got a table with the columns .*: give in_context\(df\['mt'\]\)"):
        metric.predict(TABLE)
    frame = pandas.DataFrame({"text": TEXTS, "context": [numpy.array(["Ann came."], dtype=object)] * 3})
    with pytest.raises(PronmetricError, match=r"expected records, .*: give df.to_dict\(\"records\"\)"):
        metric.compare(frame, frame)
    with pytest.raises(PronmetricError, match=r"expected records, .*: give table.to_pylist\(\)"):
        metric.predict(pyarrow.table(frame))
    rows = frame.to_dict("records")
    assert metric.predict(rows).texts[0].context == "Ann came."
    assert metric.predict(Dataset.from_pandas(frame)).scores == metric.predict(rows).scores


def test_a_missing_value_of_a_column_is_told_with_its_place(metric: PronounMetric) -> None:
    with pytest.raises(InputError, match="system:2: expected text, got nan"):
        metric.corpus_score(pandas.Series(["She left.", None]))


def test_gpus_as_in_comet(metric: PronounMetric) -> None:
    records = [{"text": "She left."}]
    assert metric.predict(records, gpus=0).scores == metric.predict(records).scores
    with pytest.raises(PronmetricError, match=r"loaded on the CPU; .* PronounMetric\.from_pretrained\(gpus=1\)"):
        metric.predict(records, gpus=1)
