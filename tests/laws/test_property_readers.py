"""By Hypothesis: a reader of any bytes gives a result or an error of one line; what is written is read again."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_prep import documents
from data_prep.coreference import conll
from data_prep.wmt import evalset, sgm, xml
from data_prep.wmt.testset import Part, TestSet
from pronmetric.alignment import table
from pronmetric.alignment.counts import files as source_files
from pronmetric.bulk import inputs
from pronmetric.bulk.inputs import Source
from pronmetric.bulk.plan import cut
from pronmetric.bulk.rows import Reader, to_score
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import glove
from pronmetric.errors import PronmetricError
from pronmetric.lab.baselines import apt_config
from pronmetric.lab.human import esa, gap, human_scores, judged_pairs, labelled_pronouns, mqm, rating_table, wmt_scores
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.suites import aces, dip, overview, pair_table, protest, winobias, winomt
from pronmetric.lab.suites import figures as suite_result
from pronmetric.lab.suites.contrastive import Reading
from pronmetric.output import tsv
from pronmetric.pronouns import table_language
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.results.read import read as read_result
from pronmetric.text import candidates, conllu, corpus, records, strict_json
from pronmetric.text.lines import read_lines, read_text
from tests.tools import fuzz

FEW = settings(max_examples=15)


def read_bulk(path: Path) -> None:
    source = Source(str(path), str(path), inputs.JSONL, None)
    reader = Reader([source], to_score(with_source=False))
    for shard in cut(inputs.survey([source], to_score(with_source=False).columns), rows=3):
        list(reader.read(shard))
    reader.close()


def read_human(path: Path) -> None:
    if human_scores.unit_of(path) != human_scores.SYSTEMS:
        human_scores.read(path)


def read_evalset(path: Path) -> None:
    roles = ("evalset-docs", "evalset-src", "evalset-hyp")
    for folder, role in zip(("documents", "sources", "system-outputs"), roles, strict=True):
        (path.parent / folder).mkdir(exist_ok=True)
        whole = Part(role, "", path.parent / folder / "any.jsonl")
        whole.path.write_bytes(path.read_bytes())
        evalset.read(TestSet("any", None, "de-en", (whole, Part("evalset-hyp", "A", path))))


def read_dip(path: Path) -> None:
    dip.read(path, Reading(context=1))


ACES = "source\tgood-translation\tincorrect-translation\treference\tphenomena\tlangpair\na\tb\tc\td\te\tde-en\n"
READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "lines": ("", read_lines),
    "text": ("", read_text),
    "texts": ("", lambda path: list(corpus.TextFile(str(path)))),
    "records": (fuzz.JSONL, lambda path: list(records.read(str(path))[0])),
    "records in bulk": (fuzz.JSONL, read_bulk),
    "JSON": ('{"a": [1.5, "b", null]}', lambda path: strict_json.read(path, "expected JSON")),
    "TSV": (fuzz.TSV, lambda path: list(tsv.read(path))),
    "judged pairs": ('{"id": "p", "text_a": "It.", "text_b": "He.", "better": "A"}\n', judged_pairs.read),
    "labelled pronouns": ('{"id": "a", "text": "I", "start": 0, "end": 1, "label": "wrong"}\n', labelled_pronouns.read),
    "ratings": ("item,r1,r2\n1,yes,no\n", rating_table.read),
    "system scores": ("A\t0.5\n", wmt_scores.read_system_scores),
    "segment scores": ("A\t0.5\nA\tNone\n", wmt_scores.read_segment_scores),
    "rankings": ("70.1 0.3 10 5 A.1 A\n", wmt_scores.read_ranking),
    "GAP": ("ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n", gap.read),
    "MQM": ("system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity\nA\td\t1\tr\tx\ty\tz\tMajor\n", mqm.read),
    "human scores": ("A\t0.5\nA\tNone\n", read_human),
    "ESA, CSV": ("u,A,3,TGT,ces,eng,90,d,False,[],1,2\nu,A,4,BAD,ces,eng,90,d,False,[],1,2\n", read_human),
    "ESA of WMT24": ('{"langs": "cs-en", "line_id": 2, "doc_id": "d", "esa_score": "7", "system": "A"}\n', esa.read),
    "ESA of WMT25": ('{"doc_id": "cs-en_#_news_#_d_#_0", "scores": {"A": {"human1": 90}}}\n', esa.read),
    "segment ratings": ('A\t{"errors": [{"severity": "Major", "category": "x"}]}\tr\n', human_scores.read_ratings),
    "domain scores": ("news A 0.5\nmail A None\n", human_scores.read_domain_scores),
    "mt-metrics-eval": ("news d\nmail e\n", read_evalset),
    "GUM": (fuzz.CONLL, partial(conll.read, form=conll.GUM)),
    "LitBank": ("#begin document (a);\na\t0\t0\t0\tShe\t(1)\n#end document\n", partial(conll.read, form=conll.LITBANK)),
    "CoNLL-U": (fuzz.CONLLU, lambda path: list(conllu.read(path))),
    "SGM": (fuzz.SGM, sgm.parse),
    "XML": (fuzz.XML, xml.parse),
    "documents": ("She left.\n\nIt ran.\n", lambda path: list(documents.read_file(path, source=""))),
    "n-best": ("0 ||| She left.\n0 ||| He left.\n", lambda path: candidates.read_nbest(str(path), None, print)),
    "APT": ("[lang]\nsource = en\n", apt_config.Config),
    "confusions": ('{"he": {"she": 2}}', ConfusionTable.load),
    "pronouns": ("# x\nform\tperson\tcase\n", table_language.read),
    "alignments": ("", table.load),
    "table of counts": ("", source_files.load),
    "vectors": ("she 1 2\nhe 3 4\n", lambda path: glove.read(path, ["she"], width=2)),
    "result": ('{"signature": "a:b", "systems": [], "segments": []}', lambda path: read_result(str(path))),
    "suite result": ('{"suite": "contrapro"}', suite_result.read_result),
    "ACES": (ACES, partial(aces.read, reading=Reading())),
    "WinoMT": ("male\t1\tThe cook sang because he won.\tcook\n", partial(winomt.read, reading=Reading())),
    "WinoBias": ("[The cook] sang because [he] won.\n", partial(winobias.read, reading=Reading())),
    "DiP": ('{"id": 1, "lp": "de-en", "source": "s", "reference": "It.", "noisy_reference": "He."}\n', read_dip),
    "PROTEST": ("SQLite format 3\0", partial(protest.read, reading=Reading())),
    "pairs": ("context\tbetter\tworse\tgroup\n\tIt.\tHe.\tx\n", partial(pair_table.read, reading=Reading())),
    "sets": ("suite\tset\ndip\ta\n", partial(overview.read_sets, suites={"dip": dip})),
    "config": ("format: 1\nencoder: {kind: glove}\nhead: {kind: logit}\n", checkpoint_config.read),
}  # fmt: skip
PIECES = st.sampled_from([*fuzz.PIECES, *(piece.encode() for piece in fuzz.MARKUP)]) | st.binary(max_size=8)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all examples write to."""
    return tmp_path_factory.mktemp("any")


@st.composite
def any_bytes(draw: st.DrawFn, good: bytes) -> bytes:
    """Any bytes, or those of a good file with pieces in the place of some of them."""
    if draw(st.booleans()):
        return b"".join(draw(st.lists(PIECES, max_size=8)))
    start = draw(st.integers(0, len(good)))
    end = draw(st.integers(start, min(len(good), start + 12)))
    return good[:start] + draw(PIECES) + good[end:]


@pytest.mark.parametrize("name", READERS)
def test_any_bytes_are_a_result_or_an_error_of_one_line(name: str, place: Path) -> None:
    good, read = READERS[name]

    @FEW
    @given(any_bytes(good.encode()))
    def check(content: bytes) -> None:
        (place / "any").write_bytes(content)
        try:
            read(place / "any")
        except PronmetricError as error:
            assert str(error) and "\n" not in str(error)

    check()


LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\n")
LINES = st.lists(st.text(LETTERS, max_size=12), max_size=5)
PLAIN = st.text(LETTERS, min_size=1, max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9999, 9999) | st.floats(allow_nan=False, allow_infinity=False) | PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@FEW
@given(LINES, st.booleans())
def test_lines_are_read_as_written(place: Path, lines: list[str], packed: bool) -> None:
    raw = "".join(line + "\n" for line in lines).encode()
    (place / "lines").write_bytes(gzip.compress(raw) if packed else raw)
    lines = [line.removesuffix("\r") for line in lines]
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    assert read_lines(place / "lines") == lines


@FEW
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_cell_is_read_as_written_and_is_no_formula(text: str) -> None:
    cell = tsv.cell(text)
    assert tsv.text(cell) == text
    assert not set(cell) & set("\t\n\r")
    assert cell[:1] not in ("=", "@")


@FEW
@given(VALUES)
def test_json_is_read_as_written(value: object) -> None:
    assert strict_json.parse(strict_json.dump(value)) == value


@FEW
@given(st.lists(st.tuples(PLAIN, PLAIN, st.lists(PLAIN, max_size=2), st.sampled_from(["A", "B", "tie"])), max_size=3))
def test_judged_pairs_are_read_as_written(place: Path, rows: list[tuple[str, str, list[str], str]]) -> None:
    pairs = [
        JudgedPair(str(number), tuple(context), a, f"{a} {b}", better=better)
        for number, (a, b, context, better) in enumerate(rows)
    ]
    (place / "pairs").write_text("".join(judged_pairs.to_line(p) + "\n" for p in pairs), encoding="utf-8", newline="")
    try:
        found = judged_pairs.read(place / "pairs")
    except PronmetricError:  # an empty file; a text that has nothing to print
        assert not pairs or any(
            not text.isprintable() or text.isspace() for p in pairs for text in (p.text_a, *p.context)
        )
    else:
        assert found == pairs
