"""Numbers of files: only plain digits, wherever a file or a flag holds a number."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from data_prep.filters import agreement_filter
from pronmetric.cli.parser import number
from pronmetric.errors import InputError
from pronmetric.lab.human import esa, human_scores, wmt_scores
from pronmetric.text import candidates, numbers

OTHER = ("1_000", "1_0", "\u0661", "\uff11", "\u00b2")
READERS = {
    "m.sys.score": ("A\t{}\nB\t2\n", wmt_scores.read_human),
    "m.seg.score": ("A\t{}\nA\t2\n", human_scores.read),
    "da.csv": ("SYS SID RAW.SCR Z.SCR N \nA.1 1 70 {} 2 \n", human_scores.read),
    "m.domain.score": ("news\tA\t{}\n", human_scores.read),
    "e.csv": ("ann,A,0,TGT,deu,eng,{},d,x,[],1.0,2.0\n", esa.read),
    "i.csv": ("ann,A,{},TGT,deu,eng,50,d,x,[],1.0,2.0\n", esa.read),
    "e.jsonl": ('{{"langs": "de-en", "line_id": 0, "system": "A", "esa_score": "{}"}}\n', esa.read),
    "n.scores": ("{}\n2\n", lambda path: candidates.read_scores([str(path)], [("a", "b")])),
}


@pytest.mark.parametrize("text", [*OTHER, "", "x", "0x1"])
def test_other_ways_of_writing_are_no_numbers(text: str) -> None:
    for read in (numbers.real, numbers.whole):
        with pytest.raises(ValueError):
            read(text)
    assert not numbers.is_whole(text)
    with pytest.raises(argparse.ArgumentTypeError):
        number()(text)


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), ("-1.5e3", -1500.0), (" .5 ", 0.5), ("+2", 2.0)])
def test_plain_numbers(text: str, value: float) -> None:
    assert numbers.real(text) == value


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("text", OTHER)
def test_files(tmp_path: Path, name: str, text: str) -> None:
    content, read = READERS[name]
    path = tmp_path / name
    path.write_text(content.format("1"), encoding="utf-8")
    read(path)
    path.write_text(content.format(text), encoding="utf-8")
    with pytest.raises(InputError):
        read(path)


def test_a_table_of_agreement(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    for text, fine in (("1", True), ("1_0", False), ("\u0661", False)):
        path.write_text(f"ref_pronoun\tnoisy_pronoun\tentry\tac1\tref\ttie\tsys\nhe\tit\tsum\t0.9\t{text}\t0\t0\n")
        if fine:
            agreement_filter(str(path), min_agreement=0.8)
        else:
            with pytest.raises(InputError):
                agreement_filter(str(path), min_agreement=0.8)
