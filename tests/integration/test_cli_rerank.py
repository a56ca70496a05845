"""`pronmetric rerank` from flags to output."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric
from pronmetric.scoring.rerank import consensus
from pronmetric.signature import Signature
from pronmetric.text.context import join, previous

Checkpoints = Callable[..., Path]
Run = Callable[..., tuple[list[str], str]]


@pytest.fixture
def run(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `rerank` with the tiny checkpoint in fp32; gives the lines of stdout, and stderr."""

    def call(*argv: str | Path) -> tuple[list[str], str]:
        flags = [] if "--mbr" in argv else ["--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"]
        assert main(["rerank", *map(str, argv), *flags]) == 0
        out, err = capsys.readouterr()
        return out.split("\n")[:-1], err

    return call


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def write(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def systems(sample: Path) -> list[Path]:
    return [sample / f"system-{x}.txt" for x in "cab"]


@pytest.fixture(scope="module")
def candidates(systems: list[Path]) -> list[tuple[str, ...]]:
    return list(zip(*map(read, systems), strict=True))


def best(metric: PronounMetric, texts: tuple[str, ...], context: str) -> str:
    """The candidate that the rule takes, worked out the long way."""
    scores = metric.predict([{"text": text, "context": [context]} for text in texts]).scores
    chosen = 0
    for i, score in enumerate(scores):
        now = scores[chosen]
        if scores[0] is not None and score is not None and now is not None and score > now:
            chosen = i
    return texts[chosen]


def test_each_line_behind_the_lines_that_were_chosen(
    run: Run, systems: list[Path], candidates: list[tuple[str, ...]], sample: Path, metric: PronounMetric
) -> None:
    docs = read(sample / "docids.txt")
    wanted: list[str] = []
    for i, texts in enumerate(candidates):
        wanted.append(best(metric, texts, join(wanted[j] for j in (i - 2, i - 1) if j >= 0 and docs[j] == docs[i])))
    out, err = run("--candidates", *systems, "--docids", sample / "docids.txt", "--verbose")
    assert out == wanted
    changed = sum(line != texts[0] for line, texts in zip(wanted, candidates, strict=True))
    assert 0 < changed < len(wanted)
    assert f"another candidate than the first was chosen for {changed} of 37 lines" in err
    assert "context: the 2 previous lines as chosen, of the same document" in err
    assert Signature.parse(err.split("signature: ")[1].strip()) == metric.signature(
        context="respective", context_size=2
    )


def test_in_the_context_of_a_reference_and_in_none(
    run: Run, systems: list[Path], candidates: list[tuple[str, ...]], sample: Path, metric: PronounMetric
) -> None:
    contexts = list(previous(read(sample / "ref.txt")))
    out, err = run("--candidates", *systems, "-r", sample / "ref.txt", "--verbose")
    assert out == [best(metric, texts, context) for texts, context in zip(candidates, contexts, strict=True)]
    assert "lines of the reference, of the file\n" in err
    assert "no document ids: all lines are one document, so that contexts cross documents; give --docids" in err
    out, err = run("--candidates", *systems, "--context", "none", "--verbose")
    assert out == [best(metric, texts, "") for texts in candidates]
    assert "context: none\n" in err and "document ids" not in err


def test_lists_of_candidates(
    run: Run, systems: list[Path], candidates: list[tuple[str, ...]], sample: Path, tmp_path: Path
) -> None:
    wanted, _ = run("--candidates", *systems, "-r", sample / "ref.txt")
    plain = write(tmp_path / "plain", [text for texts in candidates for text in texts])
    assert run("--nbest", plain, "--size", "3", "-r", sample / "ref.txt")[0] == wanted
    for first in (0, 1):
        rows = [f"{i} ||| {text} ||| LM0= -1.5 ||| -2" for i, texts in enumerate(candidates, first) for text in texts]
        moses = write(tmp_path / "moses", rows)
        assert run("--nbest", moses, "-r", sample / "ref.txt")[0] == wanted


def test_lists_of_different_lengths(run: Run, tmp_path: Path) -> None:
    moses = write(tmp_path / "moses", ["0 ||| She left.", "1 |||  ||| -1", "1 ||| It fell. ||| -2", "2 ||| Gone.|||x"])
    out, err = run("--nbest", moses, "--verbose")
    assert out == ["She left.", "It fell.", "Gone."]
    assert "the first candidate of 2 lines has no pronoun" in err


def test_lists_of_candidates_in_the_formats_of_others(
    run: Run, candidates: list[tuple[str, ...]], sample: Path, tmp_path: Path
) -> None:
    """Lists in JSON Lines, and ids that candidates share, give what n-best lists of plain lines give."""
    source, docs = read(sample / "src.de.txt"), read(sample / "docids.txt")
    plain = write(tmp_path / "plain.txt", [text for texts in candidates for text in texts])
    given = ("-s", sample / "src.de.txt", "--docids", sample / "docids.txt", "--to_json", tmp_path / "o.json")
    wanted, err = run("--nbest", plain, "--size", 3, *given, "--to_pairs", tmp_path / "a.jsonl")
    rows = list(zip(source, docs, candidates, strict=True))
    objects = [json.dumps({"src": src, "doc": doc, "candidates": texts}) for src, doc, texts in rows]
    flat = [[src, doc, str(at), text] for at, (src, doc, texts) in enumerate(rows) for text in texts]
    table = ["src\tdoc\tseg_id\tid\tmt", *("\t".join([*row[:3], str(n), row[3]]) for n, row in enumerate(flat))]
    by_id = [json.dumps(dict(zip(("source", "doc_id", "segment_id", "hypothesis"), row, strict=True))) for row in flat]
    signed = err.splitlines()[-1]
    for name, lines in (("n.jsonl", objects), ("n.tsv", table), ("m.jsonl", by_id)):
        file = write(tmp_path / name, lines)
        found, err = run("--nbest", file, "--to_json", tmp_path / "o.json", "--to_pairs", tmp_path / "b.jsonl")
        assert found == wanted and err.splitlines()[-1] == signed, name
        assert read(tmp_path / "b.jsonl") == read(tmp_path / "a.jsonl") and "prompt" in read(tmp_path / "b.jsonl")[0]
        content = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
        places = [one["place"] for one in content["segments"][1]["candidates"]]
        expected = [f"row {n}" for n in (4, 5, 6)] if name == "n.tsv" else [f"object {n}" for n in (4, 5, 6)]
        assert places == ([f"object 2, candidate {n}" for n in (1, 2, 3)] if name == "n.jsonl" else expected)
    file = write(tmp_path / "sized.jsonl", [json.dumps({"mt": text}) for text in read(plain)])
    assert run("--nbest", file, "--size", 3, *given)[0] == wanted


def test_a_candidate_that_is_a_refusal_is_not_chosen_and_told(run: Run, tmp_path: Path) -> None:
    refusal = "I'm sorry, but I cannot help with that request."
    a = write(tmp_path / "a.txt", ["She left.", refusal, "He slept.", refusal])
    b = write(tmp_path / "b.txt", [refusal, "They stayed.", "He slept.", refusal])
    found, err = run("--candidates", a, b, "--to_json", tmp_path / "o.json", "--to_pairs", tmp_path / "p.jsonl")
    assert found == ["She left.", "They stayed.", "He slept.", refusal]
    assert "4 candidates look like what a language model says instead of a translation, and are not chosen" in err
    assert "(the first is of line 1)" in err
    assert "of 1 lines no candidate looks like a translation (the first is line 4)" in err
    segments = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["segments"]
    said = [[one.get("no_translation", "") for one in each["candidates"]] for each in segments]
    assert said == [[None, "refusal"], ["refusal", None], ["", ""], ["refusal", "refusal"]]
    assert [each["chosen"] for each in segments] == [0, 1, 0, 0]
    assert read(tmp_path / "p.jsonl") == []
    found, err = run("--candidates", a, b, "--mbr")
    assert found[:2] == ["She left.", "They stayed."] and "4 candidates look like" in err


def test_agreement_is_of_the_pronouns_of_the_language(run: Run, tmp_path: Path) -> None:
    files = [write(tmp_path / name, [line]) for name, line in (("a", "Er kam."), ("b", "Sie kam."), ("c", "Sie ging."))]
    found, _ = run("--candidates", *files, "--mbr", "--lang", "de")
    assert found == ["Sie kam."]
    found, _ = run("--candidates", *files, "--mbr")
    assert found == ["Er kam."]  # no English pronoun


def test_an_empty_candidate_is_not_chosen_where_another_has_text(run: Run, tmp_path: Path) -> None:
    a = write(tmp_path / "a.txt", ["", "They stayed.", "", " "])
    b = write(tmp_path / "b.txt", ["Gone.", "", "", "He slept."])
    out, pairs = tmp_path / "o.json", tmp_path / "p.jsonl"
    for flags in ((), ("--mbr",)):
        found, err = run("--candidates", a, b, "--to_json", out, "--to_pairs", pairs, *flags)
        assert found == ["Gone.", "They stayed.", "", "He slept."]
        assert "3 candidates have no text, and are not chosen where another has text (the first is of line 1)" in err
        assert "look" not in err
        segments = json.loads(out.read_text(encoding="utf-8"))["segments"]
        said = [[one.get("no_translation", "") for one in each["candidates"]] for each in segments]
        assert said == [["no text", None], [None, "no text"], ["", ""], ["no text", None]]
        assert read(pairs) == []


def test_a_given_score_is_weighed(
    run: Run, systems: list[Path], candidates: list[tuple[str, ...]], sample: Path, tmp_path: Path
) -> None:
    given = [(-0.5 * (i % 2), -0.25, -0.1 * (i % 5)) for i in range(len(candidates))]
    columns = [write(tmp_path / f"{k}", [row[k] for row in given]) for k in range(3)]
    files = ["--candidates", *systems, "-r", sample / "ref.txt", "--scores", *columns]
    out, _ = run(*files, "--weight", "0")
    assert out == [t[max(range(3), key=g.__getitem__)] for t, g in zip(candidates, given, strict=True)]
    out, _ = run(*files, "--weight", "0.6", "--to_json", tmp_path / "o.json")
    content = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert [s["candidates"][s["chosen"]]["text"] for s in content["segments"]] == out
    for segment, row in zip(content["segments"], given, strict=True):
        assert [c["given"] for c in segment["candidates"]] == list(row)
        scores = [c["score"] for c in segment["candidates"]]
        known = [0 if s is None or scores[0] is None else s - scores[0] for s in scores]
        gains = [0.6 * k + 0.4 * (g - row[0]) for k, g in zip(known, row, strict=True)]
        assert [c["gain"] for c in segment["candidates"]] == pytest.approx(gains, abs=2e-5)
        assert segment["chosen"] == max(range(3), key=[c["gain"] for c in segment["candidates"]].__getitem__)
    assert (content["weight"], content["margin"], content["pronouns_by"]) == (0.6, 0.0, "model")
    plain = write(tmp_path / "plain", [text for texts in candidates for text in texts])
    scores_file = write(tmp_path / "scores", [value for row in given for value in row])
    lists = ["--nbest", plain, "--size", "3", "-r", sample / "ref.txt", "--scores", scores_file, "--weight", "0.6"]
    assert run(*lists)[0] == out


def test_a_margin_keeps_the_first(run: Run, systems: list[Path]) -> None:
    out, err = run("--candidates", *systems, "--margin", "1", "--context", "none", "--verbose")
    assert out == read(systems[0]) and "for 0 of 37 lines" in err


def test_into_a_file(run: Run, systems: list[Path], tmp_path: Path) -> None:
    wanted, _ = run("--candidates", *systems, "--context", "none")
    out, err = run("--candidates", *systems, "--context", "none", "-o", tmp_path / "best.txt", "--quiet")
    assert (out, err) == ([], "") and read(tmp_path / "best.txt") == wanted
    assert [path.name for path in tmp_path.iterdir()] == ["best.txt"]


def test_by_agreement(run: Run, systems: list[Path], candidates: list[tuple[str, ...]], tmp_path: Path) -> None:
    out, err = run("--candidates", *systems, "--mbr", "--to_json", tmp_path / "o.json")
    agreed = [consensus(texts) for texts in candidates]
    assert out == [t[a.index(max(a))] for t, a in zip(candidates, agreed, strict=True)]
    assert out != read(systems[0]) and "signature" not in err and "context" not in err
    content = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    found = [[c["score"] for c in segment["candidates"]] for segment in content["segments"]]
    assert found == [pytest.approx(a, abs=1e-5) for a in agreed] and content["signature"] is None


def test_unbounded_heads_choose_too(
    systems: list[Path], tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--context", "none", "--model", str(tiny_checkpoint(head="paper")), "--precision", "32", "--gpus", "0"]
    assert main(["rerank", "--candidates", *map(str, systems), *flags]) == 0
    assert "head:paper-unbounded" in capsys.readouterr().err


def test_the_help_names_the_limits(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["rerank", "--help"])
    assert "The model scores only pronouns, and reads the source (-s) only if" in capsys.readouterr().out


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """A folder of bad files; tests run in it."""
    folder = tmp_path_factory.mktemp("bad")
    for name in ("ref.txt", "system-a.txt", "system-b.txt"):
        shutil.copy(sample / name, folder)
    write(folder / "short", ["One line."])
    write(folder / "n37", list(range(37)))
    write(folder / "moses", ["0 ||| A.", "0 ||| B."])
    write(folder / "several.jsonl", ['{"src": "A.", "candidates": []}'])
    write(folder / "apart.csv", ["id,mt", "1,A.", "2,B.", "1,C."])
    write(folder / "other.csv", ["id,src,mt", "1,X.,A.", "1,Y.,B."])
    write(folder / "single.csv", ["id,mt", "1,A.", "2,B."])
    write(folder / "none.csv", ["src,mt", "X.,A.", "X.,B."])
    (folder / "empty").write_bytes(b"")
    (folder / "folder").mkdir()
    return folder


TWO = ["--candidates", "system-a.txt", "system-b.txt"]
BAD = [
    (["--candidates", "system-a.txt"], "expected two or more files of candidates, got only system-a.txt"),
    (["--candidates", "system-a.txt", "nix"], "nix: no such file"),
    (["--candidates", "system-a.txt", "short"], "system-a.txt has 37, short has 1"),
    (["--candidates", "empty", "empty"], "empty: is empty"),
    (["--nbest", "system-a.txt"], 'system-a.txt:1: expected "number ||| text", or --size N for N lines each, got'),
    ([*TWO, "-r", "short"], "short has 1; where sentences were merged or split, --resegment aligns them"),
    ([*TWO, "--docids", "short"], "system-b.txt has 37, short has 1"),
    (
        ["--nbest", "n37", "--size", "37", "-r", "moses"],
        "moses: expected 1 lines, one for each line or candidate, got 2",
    ),
    (["--nbest", "several.jsonl"], 'several.jsonl:1: "candidates" is empty'),
    (["--nbest", "apart.csv"], "apart.csv:4: the candidates of '1' do not stand together: sort them by their line"),
    (["--nbest", "other.csv"], "other.csv:3: row 2 has another source than row 1"),
    (["--nbest", "single.csv"], "single.csv: has only one candidate of each line, by its ids: give --size N"),
    (["--nbest", "none.csv"], "none.csv:2: nothing tells of which line a candidate is: give a list `candidates`"),
    (["--nbest", "none.csv", "--size", "3"], "none.csv: expected 3 candidates for each line, got 2 lines in all"),
    ([*TWO, "--scores", "n37", "short", "--weight", "0.5"], "short: expected 37 lines"),
    (["--nbest", "moses", "--scores", "n37", "--weight", "0.5"], "n37: expected 2 lines"),
    ([*TWO, "-o", "system-a.txt"], "system-a.txt: would be overwritten"),
    ([*TWO, "--scores", "n37", "n37", "--weight", "0.5", "-o", "n37"], "n37: would be overwritten"),
    ([*TWO, "-o", "x", "--to_json", "x"], "x: would be overwritten"),
    ([*TWO, "-o", "nix/x"], "the folder nix does not exist"),
    ([*TWO, "--model", "folder"], "folder: not a checkpoint"),
]


def test_bad_input_is_one_clear_line_before_torch_is_loaded(place: Path) -> None:
    code = (
        "import json, sys; from pronmetric.cli.main import main\n"
        "for argv in json.loads(sys.argv[1]): assert main(['rerank', *argv]) == 1, argv\n"
        "assert 'torch' not in sys.modules\n"
    )
    before = sorted(place.rglob("*"))
    cases = json.dumps([argv for argv, _ in BAD])
    result = subprocess.run([sys.executable, "-c", code, cases], capture_output=True, text=True, cwd=place)
    assert result.returncode == 0 and result.stdout == "", result.stderr
    for line, (argv, message) in zip(result.stderr.splitlines(), BAD, strict=True):
        assert line.startswith("pronmetric: error: ") and message in line, (argv, line)
    assert sorted(place.rglob("*")) == before


def test_agreement_needs_no_torch(place: Path) -> None:
    code = (
        "import sys; from pronmetric.cli.main import main\n"
        "assert main(sys.argv[1:]) == 0 and 'torch' not in sys.modules\n"
    )
    command = [sys.executable, "-c", code, "rerank", *TWO, "--mbr", "--quiet"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=place)
    assert (result.returncode, result.stderr, len(result.stdout.splitlines())) == (0, "", 37)


def test_stdout_has_the_chosen_lines_or_the_json(run: Run, systems: list[Path], tmp_path: Path) -> None:
    chosen, _ = run("--mbr", "--candidates", *systems)
    assert run("--mbr", "--candidates", *systems, "-o", "-")[0] == chosen
    run("--mbr", "--candidates", *systems, "--to_json", tmp_path / "all.json", "-o", tmp_path / "chosen.txt")
    out, _ = run("--mbr", "--candidates", *systems, "--to_json", "-")
    assert out == read(tmp_path / "all.json")


def test_preference_pairs_are_read_by_evaluate(
    run: Run, tmp_path: Path, tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]
) -> None:
    candidates = write(
        tmp_path / "c", ["She left her key.", "It left its key.", "She left her key.", "Gone.", "Gone."] * 2
    )
    source, pairs = write(tmp_path / "s", ["eins", "zwei"]), tmp_path / "pairs.jsonl"
    run(
        "--nbest",
        candidates,
        "--size",
        "5",
        "-s",
        source,
        "--no_source",
        "--to_pairs",
        pairs,
        "--to_json",
        tmp_path / "j",
    )
    listed = [json.loads(line) for line in read(pairs)]
    assert [(pair["id"], pair["prompt"]) for pair in listed] == [("0-0", "eins"), ("1-0", "zwei")]
    scores = {
        each["text"]: each["score"] for each in json.loads((tmp_path / "j").read_text())["segments"][0]["candidates"]
    }
    assert scores.pop("Gone.") is None
    better = max(scores, key=scores.__getitem__)
    assert (listed[0]["chosen"], {listed[0]["rejected"]}) == (better, scores.keys() - {better})
    assert listed[0]["difference"] == pytest.approx(abs(-scores[better] + scores[listed[0]["rejected"]]), abs=2e-5)
    fixed = ["--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"]
    assert main(["evaluate", str(pairs), *fixed, "--to_json", str(tmp_path / "e"), "--context", "none"]) == 0
    capsys.readouterr()
    out, _ = run("--nbest", candidates, "--size", "5", "--mbr", "--to_pairs", "-", "--margin", "5")
    assert out == []


def test_blank_lines_end_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str], tiny_checkpoint) -> None:
    paths = {name: tmp_path / name for name in ("a", "b", "ids")}
    paths["a"].write_text("Ann left.\nShe wept.\n\nHe slept.\n", encoding="utf-8")
    paths["b"].write_text("Ann left.\nHe wept.\n\nShe slept.\n", encoding="utf-8")
    paths["ids"].write_text("1\n1\n1\n2\n", encoding="utf-8")
    found = []
    for docids in (str(paths["ids"]), "blank"):
        to = tmp_path / "o.json"
        files = ["--candidates", str(paths["a"]), str(paths["b"]), "--docids", docids, "--to_json", str(to)]
        assert main(["rerank", *files, "--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"]) == 0
        found.append(to.read_text(encoding="utf-8"))
    assert found[0] == found[1]
    assert "cross documents" not in capsys.readouterr().err
