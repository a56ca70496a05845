"""Documents on a line, and merged and split sentences, from flags to output."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric

Checkpoints = Callable[..., Path]
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(plainly: Callable[..., tuple[int, str, str]]) -> Run:
    """Runs a verb with the tiny checkpoint in fp32; gives its JSON."""

    def call(*argv: str | Path) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(plainly(*argv, "--to_json", "-")[1])
        return content

    return call


@pytest.fixture
def plainly(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a verb with the tiny checkpoint in fp32; gives the exit code, stdout and stderr."""

    def call(*argv: str | Path) -> tuple[int, str, str]:
        fixed = ["--model", tiny_checkpoint(), "--precision", "32", "--gpus", "0"]
        return main([*map(str, argv), *map(str, fixed)]), *capsys.readouterr()

    return call


@pytest.fixture
def documents(sample: Path, tmp_path: Path) -> dict[str, Path]:
    """The systems of the sample with a document on a line."""
    docs = (sample / "docids.txt").read_text(encoding="utf-8").split()
    made = {}
    for name in ("system-a", "system-b"):
        lines = zip(docs, (sample / f"{name}.txt").read_text(encoding="utf-8").splitlines(), strict=True)
        texts = [" ".join(line for _, line in document) for _, document in groupby(lines, key=lambda line: line[0])]
        made[name] = tmp_path / f"{name}.txt"
        made[name].write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return made


def segments(content: dict[str, Any]) -> list[Any]:
    left_out = ("system", "line", "place")
    return [{key: value for key, value in each.items() if key not in left_out} for each in content["segments"]]


def test_documents_have_the_scores_of_their_lines(run: Run, sample: Path, documents: dict[str, Path]) -> None:
    texts = ("-r", sample / "ref.txt", "-s", sample / "src.de.txt", "--docids", sample / "docids.txt")
    by_line = run("score", "-t", sample / "system-b.txt", *texts)
    whole = run("score", "-t", documents["system-b"], *texts, "--resegment")
    assert segments(whole) == segments(by_line)
    assert [each["line"] for each in whole["segments"]][:2] == [1, 1]
    assert whole["segments"][1]["place"] == "line 1, sentence 2"
    assert whole["systems"][0]["score"] == by_line["systems"][0]["score"]
    assert whole["signature"] == f"{by_line['signature']}|resegmented:yes"


def test_two_systems_are_compared_in_the_sentences_of_the_reference(
    run: Run, sample: Path, documents: dict[str, Path]
) -> None:
    texts = ("-r", sample / "ref.txt", "--docids", sample / "docids.txt")
    by_line = run("compare", "-t", sample / "system-a.txt", sample / "system-b.txt", *texts)
    whole = run("compare", "-t", documents["system-a"], sample / "system-b.txt", *texts, "--resegment")
    assert [each["pairs"] for each in whole["segments"]] == [each["pairs"] for each in by_line["segments"]]
    assert "|resegmented:yes|by:" in whole["signature"]


def test_a_document_alone_is_scored_by_sentences(run: Run, sample: Path, documents: dict[str, Path]) -> None:
    whole = run("score", "-t", documents["system-b"], "--resegment")
    assert segments(whole) == segments(run("score", "-t", sample / "system-b.txt"))


def test_check_tells_the_line_of_a_sentence(
    plainly: Callable[..., tuple[int, str, str]], sample: Path, documents: dict[str, Path]
) -> None:
    texts = ("-r", sample / "ref.txt", "--docids", sample / "docids.txt", "--min-score", "100", "--worst", "1")
    code, by_line, _ = plainly("check", "-t", sample / "system-b.txt", *texts)
    assert code == 3
    code, whole, err = plainly("check", "-t", documents["system-b"], *texts, "--resegment", "--github")
    assert code == 3 and "|resegmented:yes" in err and "aligned with" in err
    verdicts = [out.splitlines()[1].partition(".txt: ")[2] for out in (by_line, whole)]
    assert verdicts[0] and verdicts[0] == verdicts[1], "the same score"
    worst = by_line.splitlines()[-1]
    assert worst in whole and worst.startswith("  now:")
    lines = documents["system-b"].read_text(encoding="utf-8").splitlines()
    (line, sentence) = re.findall(r"::error file=.*,line=(\d+),.*::line \1, sentence (\d+): ", whole)[0]
    assert worst.removeprefix("  now:").strip() in lines[int(line) - 1] and int(sentence) > 0
    baseline = ("--baseline", documents["system-a"], "--margin", "99", "--docids", sample / "docids.txt")
    code, whole, _ = plainly("check", "-t", sample / "system-b.txt", "-r", sample / "ref.txt", *baseline, "--resegment")
    assert code == 0 and "no worse than" in whole


def test_suggest_lists_the_pronouns_of_the_sentences(
    plainly: Callable[..., tuple[int, str, str]], sample: Path, documents: dict[str, Path]
) -> None:
    def listed(*argv: str | Path) -> list[dict[str, Any]]:
        _, out, _ = plainly("suggest", *argv, "-r", sample / "ref.txt", "--docids", sample / "docids.txt")
        return [json.loads(line) for line in out.splitlines()]

    by_line = listed("-t", sample / "system-b.txt")
    whole = listed("-t", documents["system-b"], "--resegment")
    assert [(each["text"], each["pronouns"]) for each in whole] == [(e["text"], e["pronouns"]) for e in by_line]
    assert whole[1]["place"] == "line 1, sentence 2"


def test_rerank_chooses_among_aligned_sentences(
    plainly: Callable[..., tuple[int, str, str]], sample: Path, documents: dict[str, Path]
) -> None:
    texts = ("-r", sample / "ref.txt", "--docids", sample / "docids.txt")
    _, by_line, _ = plainly("rerank", "--candidates", sample / "system-a.txt", sample / "system-b.txt", *texts)
    code, whole, err = plainly(
        "rerank", "--candidates", documents["system-a"], sample / "system-b.txt", *texts, "--resegment"
    )
    assert code == 0 and whole == by_line and "|resegmented:yes" in err


def test_rerank_chooses_a_sentence_that_the_first_candidate_lacks(
    plainly: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    said = ["The lamp on the table was old.", "Nobody came to the party.", "He slept for nine hours in the garden."]
    for name, lines in (("ref", said), ("a", [said[0], said[2]]), ("b", said)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    texts = ("--candidates", tmp_path / "a", tmp_path / "b", "-r", tmp_path / "ref", "--resegment")
    code, out, err = plainly("rerank", *texts)
    assert code == 0 and out.splitlines() == said
    assert "1 candidates have no text, and are not chosen where another has text (the first is of line 2)" in err


def test_python_does_the_same(run: Run, sample: Path, documents: dict[str, Path], tiny_checkpoint: Checkpoints) -> None:
    metric = PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)
    given: dict[str, Any] = {"reference": sample / "ref.txt", "docids": sample / "docids.txt", "resegment": True}
    flags = ("-r", sample / "ref.txt", "--docids", sample / "docids.txt", "--resegment")
    with pytest.warns(UserWarning, match="37 sentences on 5 lines, aligned with 37 of"):
        scored = metric.score_files(documents["system-b"], **given)
    content = run("score", "-t", documents["system-b"], *flags)
    assert str(scored.signature) == content["signature"] and len(scored.segments) == len(content["segments"])
    with pytest.warns(UserWarning, match="37 sentences on 5 lines, aligned with 37 of"):
        compared = metric.compare_files(documents["system-a"], documents["system-b"], **given)
    content = run("compare", "-t", documents["system-a"], documents["system-b"], *flags)
    assert str(compared.signature) == content["signature"]


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        ("suggest --jsonl {a} --resegment", 2, "--resegment goes with -t, not with --jsonl"),
        ("check -t {a} --speakers {ref} --min-score 1 --resegment", 2, "makes other segments than lines"),
        ("rerank --nbest {a} --resegment", 2, "--resegment goes with --candidates"),
        ("rerank --candidates {a} {a} --speakers {ref} --resegment", 2, "makes other segments than lines"),
        ("rerank --candidates {a} {a} --scores {ref} {ref} --weight 1 --resegment", 2, "--scores has a number for"),
        ("score -t {a} -r {ref}", 1, "merged or split, --resegment aligns them"),
        ("score -d wmt22:de-en --wmt-dir . --resegment", 2, "--resegment goes with -t, not with -d"),
        ("score -t {a} --speakers {ref} --resegment", 2, "--resegment makes other segments than lines"),
    ],
)
def test_errors(
    flags: str, code: int, said: str, sample: Path, documents: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = flags.format(a=documents["system-a"], ref=sample / "ref.txt").split()
    try:
        assert main(argv) == code
    except SystemExit as stop:
        assert stop.code == code
    assert said in capsys.readouterr().err
