"""Arguments too many, and arguments that are missing, are named with the cure."""

from __future__ import annotations

import pytest

from pronmetric.cli.main import main


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["suggest", "own.txt"], "unexpected argument 'own.txt': give one system output with -t FILE"),
        (["suggest", "-t", "a.txt", "b.txt"], "unexpected argument 'b.txt': give one system output"),
        (
            ["rerank", "a.txt", "b.txt"],
            "unexpected argument 'a.txt': give the candidates with --candidates FILE FILE",
        ),
        (["attention", "She left.", "He came."], "unexpected argument 'He came.': give one SENTENCE"),
        (["attention", "--context", "She left."], "give a SENTENCE before --context, which takes all that follows it"),
        (["attention"], "error: give a SENTENCE"),
        (
            ["report", "r.json", "r.html"],
            "unexpected argument 'r.html': give one result file, and the output file with",
        ),
        (["report", "r.json"], "-o FILE is needed with --format html; tables (--format md, latex, tsv) go to stdout"),
        (["evaluate", "a.jsonl", "b.jsonl"], "unexpected argument 'b.jsonl': give one file or folder of pairs"),
        (["agree", "a.jsonl", "b.jsonl"], "unexpected argument 'b.jsonl': give one file of pairs"),
        (["mqm", "a.tsv", "out.jsonl"], "unexpected argument 'out.jsonl': give one annotation file"),
        (["agree", "a.jsonl", "--colour"], "unrecognized arguments: --colour"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_cure_is_named(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(argv)
    out, err = capsys.readouterr()
    assert stop.value.code == 2 and out == "" and said in err.splitlines()[-1]
