"""Tables in Markdown, tab-separated values and LaTeX; plots."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from pronmetric.errors import InputError, MissingExtra, PronmetricError
from pronmetric.report import plots
from pronmetric.report.content import NOTHING, PRONOUN, SAME, Content, Link, ModelView
from pronmetric.report.tables import Table, choose, latex, make, markdown, tsv
from pronmetric.results import Output, Pair, Pronoun, Result, Segment, System
from pronmetric.scoring.score import Gap


def content() -> Content:
    outputs = (
        Output("She left.", "", 0.9, (Pronoun("She", 0, 3, 0.9),)),
        Output("He left.", "", 0.2, (Pronoun("He", 0, 2, 0.2),)),
    )
    systems = (System("a_1", 90.0, (85.0, 95.0), 1, 2, 1), System("b|c", None, None, 0, 2, 0))
    result = Result(
        systems=systems,
        pairs=(Pair(0, 1, 70.0, (-1.0, 80.5), 0.01, None, 1, 2, 3),),
        segments=(Segment(4, "d", None, "She left.", outputs),),
        signature="s:1",
        tie=0.01,
        probability=True,
    )
    links = [[(Link(SAME, 0, "she", 0, "she"),), (Link(PRONOUN, 0, "she", 0, "he"), Link(NOTHING, 3, "it", -1, ""))]]
    said = {0: (ModelView(None, ((("he", 0.1),),)), ModelView(None, ((("she", 0.93), ("it", 0.5)),)))}
    return Content(result=result, links=links, listed=[0], differing=1, views=said)


def test_the_rows_of_each_table() -> None:
    assert make("systems", content()).rows == (
        ("a_1", "90.00", "85.00 to 95.00", "1", "1", "2"),
        ("b|c", "-", "-", "0", "0", "2"),
    )
    assert make("pairs", content()).rows == (("a_1", "b|c", "+70.00", "-1.00 to +80.50", "0.0100", "-", "1", "2", "3"),)
    assert make("confusion", content()).rows == (("it", "(nothing)", "0", "1"), ("she", "he", "0", "1"))
    assert make("pronouns", content()).rows == (
        ("4", "d", "a_1", "She", "0", "0.9000", "she", "he", "0.1000", "She left."),
        ("4", "d", "b|c", "He", "0", "0.2000", "she", "she", "0.9300", "He left."),
    )
    without = replace(content(), links=None, views={})
    assert make("pronouns", without).rows[1][6:9] == ("", "", "") and make("confusion", without).rows == ()


def test_places_in_files_are_a_column() -> None:
    (segment,) = content().result.segments
    outputs = tuple(
        output._replace(place=f"cue {n}, line {2 * n}", gaps=(Gap(3, "it", 0.75),))
        for n, output in enumerate(segment.outputs, start=1)
    )
    result = replace(content().result, segments=(segment._replace(outputs=outputs),))
    placed = replace(content(), result=result)
    assert make("pronouns", placed).header[:4] == ("segment", "doc", "place", "system")
    assert [row[2] for row in make("pronouns", placed).rows] == ["cue 1, line 2", "cue 2, line 4"]
    assert make("gaps", placed).rows[1] == ("4", "d", "cue 2, line 4", "b|c", "it", "3", "0.7500", "He left.")


def test_older_scores_are_in_the_table() -> None:
    first, second = content().result.systems
    result = replace(content().result, systems=(first._replace(also={"bleu": 31.257, "apt": None}), second))
    table = make("systems", replace(content(), result=result))
    assert table.header[-2:] == ("bleu", "apt") and [row[-2:] for row in table.rows] == [("31.26", "-"), ("-", "-")]


TABLE = Table("Names & <b>", ("system", "n"), (("a|b_c*d<script>", "1"), ("50 % of \\x ~ {y}^2\n$", "2")))


def test_markdown_escapes_what_means_something() -> None:
    assert markdown([TABLE], ["a *note*"]) == (
        "## Names & <b>\n\n| system | n |\n| --- | ---: |\n| a\\|b\\_c\\*d&lt;script&gt; | 1 |\n"
        "| 50 % of \\\\x ~ {y}^2 $ | 2 |\n\n- a \\*note\\*\n"
    )


def test_latex_escapes_what_means_something() -> None:
    text = latex([TABLE._replace(notes=("5 % of it",), best=((1, 1),))], ["one\ntwo"])
    assert text.startswith("% \\usepackage{booktabs}\n\n% one two\n")
    assert (
        "\\caption{Names \\& \\textless{}b\\textgreater{}. 5 \\% of it. The best figure of a column is bold.}\n" in text
    )
    assert "\\begin{tabular}{lr}\n    \\toprule\n    system & n \\\\\n    \\midrule\n" in text
    assert "    a\\textbar{}b\\_c*d\\textless{}script\\textgreater{} & 1 \\\\\n" in text
    written = "    50 \\% of \\textbackslash{}x \\textasciitilde{} \\{y\\}\\textasciicircum{}2 \\$ & \\textbf{2} \\\\\n"
    assert f"{written}    \\bottomrule\n" in text


def test_latex_has_the_columns_that_fit_a_page_and_the_minus_of_mathematics() -> None:
    wide = Table("T", ("system", "d", "e"), (("x-1", "-0.50 to +1.00", "-"),), keys=("s", "d", "e"), narrow=("s", "d"))
    text = latex([wide])
    assert "% columns left out, which can be chosen by name: e\n" in text
    assert "    x-1 & $-$0.50 to +1.00 \\\\\n" in text
    assert "    -- & $-$0.50 to +1.00 & x-1 \\\\\n" in latex([choose(wide, ("e", "d", "s"))._replace(numbers_from=0)])


def test_columns_are_chosen_by_name() -> None:
    table = make("systems", content())
    chosen = choose(table, ("score_interval", "system"))
    assert chosen.header == ("95 % interval", "system") and chosen.rows[0] == ("85.00 to 95.00", "a_1")
    with pytest.raises(PronmetricError, match="has no column nothing; it has: system, score, score_interval, pronouns"):
        choose(table, ("nothing",))


def test_the_best_figure_of_a_column_and_a_note_at_few_documents() -> None:
    first, second = content().result.systems
    rates = {"errors_per_100_pronouns": (4.0, None)}, {"errors_per_100_pronouns": (3.5, (3.0, 4.0))}
    systems = (
        first._replace(rates=rates[0]),
        second._replace(score=80.0, rates=rates[1], units=5, resampled="documents"),
    )
    table = make("systems", replace(content(), result=replace(content().result, systems=systems)))
    assert table.best == ((0, 1), (1, table.names.index("errors_per_100_pronouns")))  # lower is better for errors
    assert table.notes == ("only 5 documents: intervals are rough",)
    assert markdown([table], [*table.notes, "other"]).count("only 5 documents") == 1


def test_the_difference_of_a_pair_has_its_unit_and_the_scores_beside_it() -> None:
    result = content().result
    pairs = (result.pairs[0]._replace(difference=0.17, score_difference=-0.23),)
    table = make("pairs", replace(content(), result=replace(result, by="preference", pairs=pairs)))
    assert table.header[2:5] == ("A - B (mean preference)", "95 % interval", "A - B (score, points)")
    assert table.rows[0][2:5] == ("+0.17", "-1.00 to +80.50", "-0.23")
    assert make("pairs", content()).header[2:4] == ("A - B (points)", "95 % interval")


def test_tab_separated_cells_hold_no_tab_and_no_line_end() -> None:
    table = Table("t", ("a", "b"), (("x\ty", "1\n2\\"),))
    assert tsv(table) == "a\tb\nx\\ty\t1\\n2\\\\\n"


@pytest.mark.parametrize("name", plots.PLOTS)
def test_plots_are_files_of_their_kind_and_the_same_each_time(name: str) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra plots)")
    png, svg = (plots.plot(name, content(), kind=kind) for kind in ("png", "svg"))
    assert png.startswith(b"\x89PNG") and svg.lstrip().startswith(b"<?xml")
    assert plots.plot(name, content(), kind="svg") == svg
    assert (b"a_1" in svg) and (name != "confusion" or b"(nothing)" in svg)


def test_nothing_to_plot_is_reported() -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra plots)")
    bare = replace(content(), links=None, result=replace(content().result, pairs=(), systems=()))
    for name in plots.PLOTS:
        with pytest.raises(InputError, match="nothing to plot"):
            plots.plot(name, bare, kind="png")


def test_the_error_of_a_missing_extra_has_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[plots\]"):
        plots.plot("systems", content(), kind="png")
