"""The page: nothing in it comes from the data unescaped, nothing is fetched, and it stays small."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from pronmetric.checkpoint.people import People
from pronmetric.eval.decision import SCORE
from pronmetric.output.display import visible
from pronmetric.pronouns.gender import genders_of
from pronmetric.pronouns.languages import language
from pronmetric.report import notebook, tables
from pronmetric.report.chart import axis, chart
from pronmetric.report.content import PRONOUN, SAME, Content, Link, ModelView
from pronmetric.report.embed import dump_json
from pronmetric.report.page import LEVELS, pack_weights, page, pieces
from pronmetric.results import Output, Pair, Pronoun, Result, Segment, System, judge
from pronmetric.results.records import ERROR_RATES
from pronmetric.scoring.score import Gap, PronounScore, SegmentScore, tally_segments
from pronmetric.text.context import Text
from tests.tools.made_up_report import made_up

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \u2028 \"'{{data}}"


class Elements(HTMLParser):
    """The start tags of a page with their attributes, and the content of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag

    def handle_data(self, data: str) -> None:
        if self._open in self.inside:
            self.inside[self._open].append(data)

    def handle_endtag(self, tag: str) -> None:
        self._open = ""


def small(text: str = "She left.", name: str = "a") -> Content:
    """Two systems, one segment: the second has another pronoun; both with attention and alternatives."""
    outputs = (
        Output(text, "Anna came.", 0.9, (Pronoun(text[:3], 0, 3, 0.9),)),
        Output("He left.", "Anna came.", 0.2, (Pronoun("He", 0, 2, 0.2),)),
    )
    segment = Segment(0, name, text, text, outputs, judge(outputs, by=SCORE, tie=0.01))
    systems = (System(name, 90.0, (85.0, 95.0), 1, 1, 1), System("b", 20.0, None, 1, 1, 1))
    pairs = (Pair(0, 1, 70.0, (60.0, 80.0), 0.01, None, 1, 0, 0),)
    result = Result(
        systems=systems, pairs=pairs, segments=(segment,), signature=f"m:{name}", tie=0.01, probability=True
    )
    links = [[(Link(SAME, 0, "she", 0, "she"),), (Link(PRONOUN, 0, "she", 0, "he"),)]]
    words = len(pieces("Anna came.")) + len(pieces(text)) - 2
    said = (
        ModelView(((0.5,) * words,), ((("he", 0.1),),)),
        ModelView(((0.6, 0.0, 0.0, 0.4, 0.0, 0.0),), ((("she", 0.93), ("it", 0.5), ("they", 0.2), ("this", 0.1)),)),
    )
    return Content(result=result, links=links, listed=[0], differing=1, views={0: said}, notes=[name])


def data_of(text: str) -> dict[str, Any]:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def test_the_data_of_a_page_are_compact() -> None:
    data = data_of(page(small(), title="Two"))
    assert data["systems"] == [["a", "a"], ["b", "b"]] and data["docs"] == ["a"]
    assert data["strings"] == [["Anna", " came", ".", ""], ["She", " left", ".", ""], ["He", " left", ".", ""]]
    ((number, doc, source, reference, outputs, best, gap),) = data["segments"]
    assert (number, doc, source, reference) == (0, 0, 1, 1)
    assert (data["by"], data["unit"], best, gap) == ("score", "score", [0], 0.7)
    other = [0, 0.2, [0.6, "Z00F"], [["she", 0.93], ["it", 0.5], ["they", 0.2]]]
    assert outputs[1] == [0, 2, 0.2, [other], [[1, 0, "she", 0, "he"]]]
    assert data["confusion"] == [{"she": {"she": 1}}, {"she": {"he": 1}}]


def test_the_genders_of_a_pronoun_and_of_the_words_that_are_listed_with_it_are_in_the_data() -> None:
    content, german = small(), language("de")
    (segment,) = content.result.segments
    text = "Sie gab den Leuten die Uhr und eine Uhr."
    weights = (0.1, 0.3, 0.0, 0.0, 0.1, 0.0, 0.1, 0.0, 0.2, 0.1, 0.0, 0.1, 0.0)  # the words of the context, then these
    outputs = tuple(
        o._replace(context="Der Tisch.", text=text, pronouns=(Pronoun("Sie", 0, 3, 0.9),)) for o in segment.outputs
    )
    result = replace(content.result, segments=(segment._replace(outputs=outputs),))
    views = {0: (ModelView((weights,), (None,)), ModelView(None, (None,)))}
    shown = replace(content, result=result, views=views, links=None, language=german, genders=genders_of(german))
    data = data_of(page(shown, title="Two"))
    ((*_, outputs_shown, _, _),) = data["segments"]
    assert data["genders"] == ["masculine", "feminine", "masculine or plural", "feminine or plural"]
    assert outputs_shown[0][3][0][4:] == [None, None, [3, 1, 0, 8, 1, 6, 2]]  # Tisch, the first Uhr, Leuten
    assert len(outputs_shown[1][3][0]) == 4
    plain = data_of(page(replace(shown, genders=None), title="Two"))
    assert plain["genders"] == [] and len(plain["segments"][0][4][0][3][0]) == 4


def test_the_place_of_a_text_in_its_file_is_in_the_data() -> None:
    content = small()
    (segment,) = content.result.segments
    placed = segment._replace(outputs=(segment.outputs[0]._replace(place=f"cue 3, line 12 {EVIL}"), segment.outputs[1]))
    text = page(replace(content, result=replace(content.result, segments=(placed,))), title="Two")
    ((*_, places),) = data_of(text)["segments"]
    assert places == [visible(f"cue 3, line 12 {EVIL}"), None]
    assert [tag for tag, _ in Elements(text).tags] == [tag for tag, _ in Elements(page(content, title="Two")).tags]


def test_text_of_the_data_is_never_markup() -> None:
    text = page(small(text=f"She {EVIL}", name=EVIL), title=EVIL)
    plain = page(small(name="runs/a"), title="plain")
    assert [tag for tag, _ in Elements(text).tags] == [tag for tag, _ in Elements(plain).tags]
    assert [sorted(a) for _, a in Elements(text).tags] == [sorted(a) for _, a in Elements(plain).tags]
    assert "<script>alert" not in text and "onerror=alert(2)>" not in text.replace("&gt;", "")
    assert data_of(text)["systems"][0][1] == visible(EVIL) and "\u2028" not in dump_json(EVIL)
    assert "".join(data_of(text)["strings"][1]) == f"She {EVIL}"


def test_nothing_is_fetched() -> None:
    elements = Elements(page(small(), title="Two"))
    assert not [a for _, a in elements.tags if {"src", "srcset", "data", "background"} & set(a)]
    links = [a["href"] for _, a in elements.tags if "href" in a]
    assert links and all(str(link).startswith("#") for link in links)
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & {tag for tag, _ in elements.tags}
    css = "".join(elements.inside["style"])
    assert "url(" not in css and "@import" not in css
    script = "".join(elements.inside["script"])
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|fetch\(|XMLHttp|eval\(|import ", script)


def test_the_policy_allows_this_script_and_style_alone() -> None:
    elements = Elements(page(small(), title="Two"))
    (policy,) = (a["content"] or "" for _, a in elements.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    js, css = elements.inside["script"][-1], "".join(elements.inside["style"])
    for kind, content in (("script", js), ("style", css)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not [a for _, a in elements.tags if "style" in a or any(name.startswith("on") for name in a)]


def test_the_page_can_be_used_by_all() -> None:
    elements = Elements(page(small(), title="Two"))
    names = [tag for tag, _ in elements.tags]
    assert dict(elements.tags)["html"] == {"lang": "en"}
    assert any(a.get("name") == "viewport" and "width=device-width" in str(a["content"]) for _, a in elements.tags)
    assert names.count("main") == 1 and names.count("h1") == 1 and "noscript" in names
    ids = [a["id"] for _, a in elements.tags if "id" in a]
    assert len(ids) == len(set(ids)) and {"systems", "confusion", "segments", "search", "sort"} <= set(ids)
    chart = next(a for _, a in elements.tags if a.get("role") == "img")
    assert chart["aria-label"] == "a: 90.00 (85.00 to 95.00); b: 20.00"


def test_pieces_give_the_text_back() -> None:
    for text in ("", " ", "She didn't say it's his.", "  a\tb\n ", "\ufeffIt\u2019s 😀 \u0085x\x1c", "'Tis"):
        assert "".join(pieces(text)) == text
    assert pieces("") == [""] and pieces("It's his.") == ["It", "'s", " his", ".", ""]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([], [0, ""]), ([0.0, 0.0], [0, ""]), ([0.25, 0.5], [0.5, "uZ"]), ([0.3, 0.0, 0.0], [0.3, "Z"])],
)
def test_packed_weights(weights: list[float], expected: list[Any]) -> None:
    assert pack_weights(weights) == expected
    assert len(LEVELS) == len(set(LEVELS)) == 62


def test_the_axis_holds_its_values_in_round_numbers() -> None:
    for values in ([81.2, 93.9], [50.0], [0.001, 0.002], [-3.0, 7.5], [63.74, 97.17], [99.99, 100.0]):
        low, high, step = axis(values)
        assert low <= min(values) and high >= max(values)
        assert 2 <= (high - low) / step <= 12 and abs((high - low) / step - round((high - low) / step)) < 1e-6


def test_the_chart_has_a_dot_and_a_bar_where_they_belong() -> None:
    svg = chart([System("a<b", 90.0, (80.0, 100.0), 1, 1, 1), System("none", None, None, 0, 1, 0)])
    low, high, _ = axis([80.0, 90.0, 100.0])
    assert (low, high) == (80.0, 100.0)
    (dot,) = re.findall(r'cx="([\d.]+)%"', svg)
    bar = re.findall(r'class="interval" x1="([\d.]+)%" x2="([\d.]+)%"', svg)[0]
    assert float(dot) == pytest.approx((float(bar[0]) + float(bar[1])) / 2)
    assert "a&lt;b" in svg and "a<b" not in svg and "none: no pronouns" in svg


def test_the_chart_shows_its_values() -> None:
    html = chart([System("a", 90.0, (80.0, 100.0), 1, 1, 1), System("b", 85.5, None, 1, 1, 1)])
    rows = re.findall(r"<p><bdi title=\"(.)\">(.)</bdi> <span>(.*?)</span></p>", html)
    assert rows == [("a", "a", "90.00 (80.00 to 100.00)"), ("b", "b", "85.50")]


def test_paths_are_shown_by_their_distinct_part() -> None:
    paths = ["/home/me/runs/first/out.txt", "/home/me/runs/second/out.txt"]
    content = small()
    systems = tuple(s._replace(name=n) for s, n in zip(content.result.systems, paths, strict=True))
    text = page(replace(content, result=replace(content.result, systems=systems)), title="x")
    assert data_of(text)["systems"] == [["first", paths[0]], ["second", paths[1]]]
    assert text.count(f'<bdi title="{paths[0]}">first</bdi>') == 7  # chart, systems, pairs, four tables of buckets
    assert f"<li>first is {paths[0]}" in text
    assert re.findall(r">[^<]*/home/me[^<]*<", text.split('<script type="application/json"')[0]) == [
        f">{label} is {path}<" for label, path in zip(("first", "second"), paths, strict=True)
    ]


def test_control_and_bidi_characters_are_made_visible() -> None:
    name = "a\x1b[31m\t\u202eb"
    text = page(small(text="She\x1b \u202eleft\u2069.", name=name), title=name)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)
    assert r"a\x1b[31m\t\u202eb</title>" in text and data_of(text)["docs"] == [r"a\x1b[31m\t\u202eb"]
    assert "".join(data_of(text)["strings"][1]) == r"She\x1b \u202eleft\u2069."


def test_two_systems_of_two_thousand_segments_stay_below_ten_megabytes() -> None:
    size = len(page(made_up(2000), title="large").encode())
    assert 4_000_000 < size < 10_000_000


def with_gaps() -> Content:
    """`small`, whose second system lacks a pronoun."""
    content = small()
    segment = content.result.segments[0]
    outputs = (
        segment.outputs[0]._replace(errors=0.125, missing=0.0),
        segment.outputs[1]._replace(errors=1.5, missing=0.625, gaps=(Gap(3, "it", 0.5),)),
    )
    rates = dict(zip(ERROR_RATES, ((150.0, (140.0, 160.0)), (87.5, None), (62.5, None)), strict=False))
    systems = (content.result.systems[0], content.result.systems[1]._replace(rates=rates))
    result = replace(content.result, systems=systems, segments=(segment._replace(outputs=outputs),))
    return replace(content, result=result)


def test_gaps_and_errors_apart_are_in_the_data_of_a_page() -> None:
    made = page(with_gaps(), title="Two")
    first, second = data_of(made)["segments"][0][4]
    assert first[5:] == [None, [0.125, 0.0, None], []]
    assert second[5:] == [None, [0.875, 0.625, None], [[1, "it", 0.5]]]  # before "left"
    said = "b: 150.0 pronoun errors per 100 pronouns (87.5 wrong or surplus, 62.5 missing; 95 % 140.0 to 160.0); score"
    assert f"<li>{said} " in made
    assert "pronoun errors" not in page(small(), title="Two")


def test_surplus_pronouns_are_in_the_data_of_a_page() -> None:
    content = with_gaps()
    segment, systems = content.result.segments[0], content.result.systems
    he = segment.outputs[1].pronouns[0]._replace(surplus=0.25)
    told = segment.outputs[1]._replace(surplus=0.25, pronouns=(he, *segment.outputs[1].pronouns[1:]))
    rates = {**systems[1].rates, ERROR_RATES[1]: (62.5, None), ERROR_RATES[3]: (25.0, None)}
    result = replace(
        content.result,
        systems=(systems[0], systems[1]._replace(rates=rates)),
        segments=(segment._replace(outputs=(segment.outputs[0], told)),),
    )
    made = page(replace(content, result=result), title="Two")
    output = data_of(made)["segments"][0][4][1]
    assert output[6] == [0.625, 0.625, 0.25] and output[3][0][5] == 0.25
    assert "150.0 pronoun errors per 100 pronouns (62.5 wrong, 62.5 missing, 25.0 surplus; 95 % 140.0 to" in made
    table = tables.systems(result)
    assert dict(zip(table.names, table.rows[1], strict=True))["expected_surplus_per_100_pronouns"] == "25.00"


def test_gaps_are_a_table() -> None:
    made = tables.make("gaps", with_gaps())
    assert made.rows == (("0", "a", "b", "it", "3", "0.5000", "He left."),)
    table = tables.systems(with_gaps().result)
    assert dict(zip(table.names, table.rows[1], strict=True))["expected_missing_per_100_pronouns"] == "62.50"


def test_a_notebook_shows_the_worst_lines_first() -> None:
    """Twenty of thirty, wherever they stand, numbered from 1; a text without a pronoun comes last."""

    def segment(value: float | None) -> SegmentScore:
        found = () if value is None else (PronounScore("It", 0, 2, value, value),)
        return SegmentScore(value, found, words=2)

    segments = [segment(None), *(segment(1 - k / 100) for k in range(30))]
    texts = [Text("", f"It is {k}.") for k in range(31)]
    shown = notebook.scores("runs/a.txt", tally_segments(segments).score(), texts, segments, signature="s")
    rows = re.findall("<tr><td>([0-9]+)</td><td>([0-9.]+)</td>", shown)
    assert rows == [(str(k + 1), f"{1 - (k - 1) / 100:.2f}") for k in range(30, 10, -1)]
    assert "11 other lines are not shown" in shown and "14.5 pronoun errors per 100 pronouns" in shown


def test_a_notebook_shows_gaps_between_the_words() -> None:
    segment = SegmentScore(0.9, (PronounScore("She", 0, 3, 0.9, 0.9),), missing=0.5, gaps=(Gap(0, "he", 0.2),))
    shown = notebook.coloured("She left.", segment)
    assert re.sub("<[^>]*>", "", shown) == "&#8248;he0.20 She0.90 left."
    assert shown.count("class='gap'") == 1


def test_the_page_begins_with_a_verdict_and_the_worst_pronouns() -> None:
    """In words before any table, without the script; tables are folded."""
    made = page(small(), title="Two")
    body = made[made.index("<main>") :]
    verdict = re.search('<p class="verdict">(.*?)</p>', body)
    assert verdict is not None
    assert verdict[1] == "a has better pronouns than b: 70.00 points more (95 % 60.00 to 80.00, p = 0.0100)."
    assert body.index('class="verdict"') < body.index('class="worst"') < body.index("<table") < body.index('id="list"')
    assert "<table" not in re.sub("<details.*?</details>", "", body, flags=re.DOTALL)
    assert re.search('<details class="fold"[^>]* open', body) is None


def test_systems_that_are_scored_alone_or_not_compared_have_a_verdict_too() -> None:
    content = small()
    scored = replace(content.result, pairs=())
    assert "a has the highest score, 90.00, then b with 20.00; <code>pronmetric compare</code> tests" in page(
        replace(content, result=scored), title="Two"
    )
    errors = {ERROR_RATES[0]: (10.0, None)}, {ERROR_RATES[0]: (5.0, None)}
    systems = tuple(s._replace(rates=rates) for s, rates in zip(scored.systems, errors, strict=True))
    assert "b has the fewest pronoun errors, 5.0 per 100 pronouns, then a with 10.0;" in page(
        replace(content, result=replace(scored, systems=systems)), title="Two"
    )
    people = replace(scored, systems=systems, people=People("MQM", 0.25, 0.4))
    assert "A professional rater marks 1 in 4 of the pronouns" in page(replace(content, result=people), title="Two")
