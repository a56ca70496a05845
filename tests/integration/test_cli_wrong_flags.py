"""Wrong flags, one call a line: exit code 2, an error with the verb's name, nothing printed and no file read."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from pronmetric.cli.main import main

SCORING = """
-t
-t a --jsonl -
-t a -d wmt22:de-en
-r ref
--jsonl - -r ref
--jsonl - --context common
-t a --context both
-t a --wmt-dir folder
--jsonl - --systems x
-d wmt22:de-en --wmt-dir folder --format csv
--jsonl - --text-key mt
-t a --format docx
-d wmt22:de-en
-d wmt22 --wmt-dir folder
-t a --batch_size 0
-t a --batch_size two
-t a --gpus -1
-t a --precision 8
-t a --seed -1
-t a --only_sys
-t a --unknown
"""
CALLS = """
score
compare
agree
agree p --ratings t
agree p --categories x
agree --ratings t --scores s
agree p --tie 1
agree p --scores s --tie nan
agree p --variant x
agree p --seed -1
align
align a
align a b --symmetrize best
align a b --backend fast_align
align a b --table t --train-on a b
align a b --table t --save-table t
align a b --backend embedding --table t
align a b --backend embedding --symmetrize union
align a b --backend precomputed
align a b --links links
align a b --sym union
correlate metric
correlate a b --average x
correlate a b --test x
correlate a b --seed -1
correlate a b --resample x
evaluate
evaluate p -d wmt23:de-en --wmt-dir x
evaluate -d wmt23:de-en
evaluate -d wmt23 --wmt-dir x
evaluate p --wmt-dir x
evaluate p --systems x
evaluate -d wmt23:de-en --wmt-dir x --split test
evaluate p --scores s --model m
evaluate p --scores s --context none
evaluate p --scores s --save-scores t
evaluate p --scores s --tie auto
evaluate p --tie -1
evaluate p --tie some
evaluate p --tie nan
evaluate p --context crossed
evaluate p --split passages
evaluate p --threshold inf
mqm m
mqm m --tokens t --all
mqm m --pairs p --longest 0
mqm m --pairs p --other-words -1
rerank
rerank --candidates a b --nbest n
rerank --candidates a b --size 2
rerank --nbest n --size 0
rerank --candidates a b --weight 0.5
rerank --candidates a b --scores s t
rerank --candidates a b --scores s --weight 0.5
rerank --nbest n --scores s t --weight 0.5
rerank --candidates a b --scores s t --weight 1.5
rerank --candidates a b --margin -1
rerank --candidates a b --margin inf
rerank --candidates a b --context common
rerank --candidates a b --mbr --context none
rerank --candidates a b --mbr -r ref
rerank --candidates a b --mbr --docids ref
rerank --candidates a b --mbr --speakers who
rerank --candidates a b --speakers who --context none
rerank --candidates a b --mbr --model default
rerank --candidates a b --cand x
suggest
suggest --jsonl a -t b
suggest -t a b
suggest --jsonl a -r ref
suggest --jsonl a --docids ref
suggest --jsonl a --speakers who
suggest --jsonl a --context respective
suggest --jsonl a --context common
suggest -t a --format docx
suggest --jsonl a --all --threshold 0.5
suggest --jsonl a --threshold 1.5
suggest --jsonl a --threshold nan
suggest --jsonl a --top 0
suggest --jsonl a --top x
suggest --jsonl a --thresh 0.5
"""


@pytest.mark.parametrize(
    "line",
    [
        *CALLS.strip().splitlines(),
        *(f"{verb} {flags}" for verb in ("score", "compare") for flags in SCORING.strip().splitlines()),
    ],
)
def test_wrong_flags_exit_2(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(shlex.split(line))
    assert end.value.code == 2
    out, err = capsys.readouterr()
    assert out == "" and f"pronmetric {line.split()[0]}: error: " in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("score -t a --context common", "--context common needs a reference: give -r"),
        ("compare -t a a --context common", "--context common needs a reference: give -r"),
        ("suggest -t a --context common", "--context common needs a reference: give -r"),
        ("score -t a --source-lang de", "--source-lang needs the source: give -s"),
        ("score -t a --also apt", "--also needs a reference: give -r"),
    ],
)
def test_flags_for_what_the_texts_do_not_have_exit_2(
    line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file may have sources and references itself, which only reading it tells."""
    monkeypatch.chdir(tmp_path)
    Path("a").write_text("She left.\n", encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        main(shlex.split(line))
    out, err = capsys.readouterr()
    assert end.value.code == 2 and out == "" and said in err
