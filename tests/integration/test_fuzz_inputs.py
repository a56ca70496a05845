"""Damaged inputs end in a result or in one line of error; the damage is drawn by seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from data_prep.coreference import conll
from data_prep.wmt import discovery
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.checkpoint import glove
from pronmetric.cli.main import main
from pronmetric.errors import PronmetricError
from pronmetric.lab.human import labelled_pronouns
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.text import records
from tests.tools.fuzz import damaged

TIMES = 40
PAIR = (
    '{"id": "p1", "context": ["Maria ran."], "text_a": "She left.", "text_b": "He left.", "better": "A", '
    '"votes": {"r": "A", "s": "tie"}, "doc": "d"}\n{"id": "p2", "text_a": "It ran.", "text_b": "He ran.", "better": '
    '"B", "votes": {"r": "B", "s": "B"}}\n'
)
SCORES = '{"id": "p1", "score_a": 1, "score_b": 0.5}\n{"id": "p2", "score_a": 0, "score_b": null}\n'
TOKENS = "".join(
    f'{{"id": "{label}", "text": "She left.", "context": [], "start": 0, "end": 3, "label": "{label}"}}\n'
    for label in ("wrong", "right")
)
TOKEN_SCORES = '{"id": "wrong", "score": 0.1}\n{"id": "right", "score": 1e-3}\n'
MQM = (
    "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    "A\td\t1\tr\tx\t<v>She</v> left.\tAccuracy/Mistranslation\tMajor\n"
    "B\td\t1\tr\tx\tHe left.\tno-error\tno-error\n"
)
GAP = (
    "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
    "x-1\tAnn met Bea; she left.\tshe\t13\tAnn\t0\tTRUE\tBea\t8\tFALSE\thttp://x\n"
)
APT = """[lang]
source = en
target = fr
[files]
source = a
reference = b
target = b
alignment_source_reference = links
alignment_source_target = links
list_source_pronouns = words
input_type = word
[cases]
cases_to_use = 1,2
weigths_per_case = 1,1
[output]
"""
SGM = """<refset setid="t" srclang="any" trglang="en"><doc docid="d" sysid="ref" origlang="de">
<seg id="1">It's & left &lt;b> &#233;.</seg>
<seg id="2">She left.</seg></doc></refset>
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
<dataset id="t35"><doc id="d" origlang="de"><src lang="de"><p><seg id="1">Sie.</seg></p></src>
<ref lang="en" translator="A"><p><seg id="1">She.</seg></p></ref>
<hyp lang="en" system="S"><p><seg id="1">He.</seg></p></hyp></doc></dataset>
"""
RECORD = (
    '{"doc_id": "cs-en_US_#_news_#_one", "src_text": "A.\\n\\nB.", "refs": {"refA": {"ref": "She.\\n\\nIt."}}, '
    '"tgt_text": {"North": "He.\\n\\nIt."}}\n'
)
CONLL = "# begin document a\n0\tShe\t(1)\n\n# end document\n"
FILES = {
    "a": "it works\nthey left\n",
    "b": "elle marche\r\nils partent\n",
    "words": "it\nthey\n",
    "links": "0-0 1-1\n0-0\n",
    "c.en": "it works\nthey left\n",
    "c.fr": "elle marche\nils partent\n",
    "c.en-fr.alig": "0-0 1-1\n0-0\n",
    "docs": "0 one\n1 two\n",
    "pairs": PAIR,
    "scores": SCORES,
    "tokens": TOKENS,
    "token-scores": TOKEN_SCORES,
    "mqm": MQM,
    "gap": GAP,
    "gap-scores": '{"id": "x-1", "score_a": 1, "score_b": 0.5}\n',
    "apt.ini": APT,
    "sys": "A\t0.1\nB\t0.7\n",
    "seg": "A\t0.1\nA\tNone\nB\t1\nB\t2\n",
    "rank": "70.1 0.3 10 5 A.1 A\n60.1 -0.3 10 5 B.2 B\n",
    "table.csv": 'item,r1,r2\n1,yes,no\n2,"a,b",no\n',
    "nbest": "0 ||| She left.\n0 ||| He left.\n1 ||| It ran.\n",
    "numbers": "0.1\n1\n-3\n",
    "confusion": '{"he": {"she": 2}}',
    "vectors": "she 1 2\nhe 3 4\n",
    "records": '{"id": 1, "text": "She left.", "context": ["a"]}\n',
    "wmt/t-deen-ref.en.sgm": SGM,
    "wmt/t35.de-en.xml": XML,
    "wmt/c.jsonl": RECORD,
    "ann.conll": CONLL,
}


def verb(line: str) -> Callable[[], None]:
    def run() -> None:
        assert main(line.split()) in (0, 1)

    return run


def read_wmt() -> None:
    for testset in discovery.discover("wmt").testsets:
        list(discovery.read(testset))


AUTOPRF = verb("baseline autoprf --reference c --candidate c --documents docs --quiet")
READS: list[tuple[str, str, Callable[[], object]]] = [
    *(("align", name, verb("align a b")) for name in ("a", "b")),
    ("align", "links", verb("align a b --backend precomputed --links links")),
    ("align", "table", verb("align a b --table table")),
    *(("autoprf", name, AUTOPRF) for name in ("c.en", "c.fr", "c.en-fr.alig", "docs")),
    *(("apt", name, verb("baseline apt apt.ini --quiet")) for name in ("apt.ini", "a", "b", "links", "words")),
    ("agree", "pairs", verb("agree pairs")),
    ("agree", "scores", verb("agree pairs --scores scores")),
    ("agree", "table.csv", verb("agree --ratings table.csv")),
    ("correlate", "sys", verb("correlate sys sys")),
    ("correlate", "rank", verb("correlate sys rank")),
    ("correlate", "seg", verb("correlate seg seg")),
    ("evaluate", "pairs", verb("evaluate pairs --scores scores --quiet")),
    ("evaluate", "scores", verb("evaluate pairs --scores scores --quiet")),
    ("evaluate", "gap", verb("evaluate gap --scores gap-scores --quiet")),
    ("evaluate", "tokens", lambda: labelled_pronouns.read("tokens")),
    (
        "evaluate",
        "token-scores",
        lambda: labelled_pronouns.read_scores("token-scores", labelled_pronouns.read("tokens")),
    ),
    ("mqm", "mqm", verb("mqm mqm --reference A --pairs new --tokens newer")),
    ("rerank", "nbest", verb("rerank --nbest nbest --mbr --quiet")),
    ("rerank", "numbers", verb("rerank --nbest nbest --mbr --scores numbers --weight 0.5 --quiet")),
    ("report", "result", verb("report result --format md --quiet")),
    ("prepare", "wmt/t-deen-ref.en.sgm", read_wmt),
    ("prepare", "wmt/t35.de-en.xml", read_wmt),
    ("prepare", "wmt/c.jsonl", read_wmt),
    ("score", "records", lambda: list(records.read("records")[0])),
    ("train", "confusion", lambda: ConfusionTable.load("confusion")),
    ("train", "vectors", lambda: glove.read("vectors", ["she"], width=2)),
    ("train", "ann.conll", lambda: conll.read(Path("ann.conll"), conll.GUM)),
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "wmt").mkdir()
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, newline="")
    fixture = root / "tests" / "fixtures" / "report" / "score.json"
    (tmp_path / "result").write_bytes(fixture.read_bytes())
    aligner = AgreementAligner()
    aligner.train([(["she", "left"], ["he", "left"])])
    aligner.save(tmp_path / "table")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "read"), [pytest.param(name, read, id=f"{who} {name}") for who, name, read in READS])
def test_damaged_files(name: str, read: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> None:
    content = Path(name).read_bytes()
    read()
    assert not capsys.readouterr().err.startswith("pronmetric: error"), "the whole file is good"
    draw = random.Random(name)
    for _ in range(TIMES):
        Path(name).write_bytes(damaged(draw, content))
        try:
            read()
        except PronmetricError as error:
            assert str(error)
        told = capsys.readouterr().err
        assert sum(line.startswith("pronmetric: error: ") for line in told.splitlines()) <= 1
        assert "Traceback" not in told
