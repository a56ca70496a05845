"""`pronmetric score` from flags to output."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric
from pronmetric.output import tsv
from pronmetric.signature import Signature
from pronmetric.text.context import in_context
from tests.tools.row_files import jsonl

Checkpoints = Callable[..., Path]
Run = Callable[..., tuple[str, str]]


@pytest.fixture
def run(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `score` with the tiny checkpoint in fp32; gives stdout and stderr."""

    def call(*argv: str | Path) -> tuple[str, str]:
        model = [] if "--model" in argv else ["--model", tiny_checkpoint()]
        assert main(["score", *map(str, argv), *map(str, model), "--precision", "32", "--gpus", "0"]) == 0
        return capsys.readouterr()

    return call


@pytest.fixture
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_output_is_as_comet_prints_it(run: Run, sample: Path, metric: PronounMetric) -> None:
    a, b = sample / "system-a.txt", sample / "system-c.txt"
    out, err = run("-t", a, b, "-r", sample / "ref.txt", "--docids", sample / "docids.txt", "--verbose")
    docs, ref = read(sample / "docids.txt"), read(sample / "ref.txt")
    found = [metric.predict(in_context(read(path), reference=ref, docs=docs), docs=docs) for path in (a, b)]
    expected = []
    for i in range(len(ref)):
        for path, prediction in zip((a, b), found, strict=True):
            score = prediction.scores[i]
            expected.append(f"{path}\tSegment {i}\tscore: {'null' if score is None else f'{score:.4f}'}")
    expected += [
        f"{path}\tscore: {prediction.system_score:.4f}" for path, prediction in zip((a, b), found, strict=True)
    ]
    assert near(out.splitlines(), expected)
    assert any(line.endswith("score: null") for line in expected)
    assert "95 %" in err and "5 documents" in err and "of the same document" in err
    signature = Signature.parse(re.findall(r"signature: (.*)", err)[0])
    assert signature == metric.signature(context="common", context_size=2)


def near(lines: list[str], expected: list[str]) -> bool:
    """Equal but for the last decimal of a score, which the batch may turn."""
    number = re.compile(r"score: (\d+\.\d+)$")
    if len(lines) != len(expected) or [number.sub("", x) for x in lines] != [number.sub("", x) for x in expected]:
        return False
    pairs = [(number.findall(x), number.findall(y)) for x, y in zip(lines, expected, strict=True)]
    return all(abs(float(x[0]) - float(y[0])) < 2e-4 for x, y in pairs if x)


def test_systems_are_scored_as_if_alone(run: Run, sample: Path) -> None:
    paths = [sample / f"system-{x}.txt" for x in "abc"]
    together, _ = run("-t", *paths, "-r", sample / "ref.txt")
    alone = [line for path in paths for line in run("-t", path, "-r", sample / "ref.txt")[0].splitlines()]
    assert near(sorted(together.splitlines()), sorted(alone))


def test_contexts(run: Run, sample: Path, metric: PronounMetric) -> None:
    a, ref = sample / "system-a.txt", sample / "ref.txt"
    own, none = in_context(read(a)), [{"text": text} for text in read(a)]
    common = in_context(read(a), reference=read(ref))
    for flags, records, said in (
        ([], own, "each output itself"),
        (["--context", "none"], none, "context: none"),
        (["-r", ref], common, "lines of the reference, of the file"),
        (["-r", ref, "--context", "respective"], own, "each output itself"),
    ):
        out, err = run("-t", a, "--only_system", "--verbose", *flags)
        assert near(out.splitlines(), [f"{a}\tscore: {metric.predict(records).system_score:.4f}"])
        assert said in err
        assert "take segments as units; give --docids" in err


def test_only_system_and_quiet(run: Run, sample: Path) -> None:
    out, err = run("-t", sample / "system-a.txt", "--only_system", "--quiet")
    assert re.fullmatch(rf"{re.escape(str(sample / 'system-a.txt'))}\tscore: \d\d\.\d{{4}}\n", out)
    assert err == ""
    whole, err = run("-t", sample / "system-a.txt", "--quiet")
    assert len(whole.splitlines()) == 38 and err == ""


def test_one_line_of_notes_and_warnings(run: Run, sample: Path, tiny_checkpoint: Checkpoints) -> None:
    files = ["-t", sample / "system-a.txt", "-r", sample / "ref.txt", "-s", sample / "src.de.txt"]

    def notes(*flags: str | Path) -> list[str]:
        """The notes, without the progress of a slow machine and that on contexts, which the tiny encoder cuts."""
        told = [line for line in run(*files, *flags)[1].splitlines() if line.startswith("pronmetric: ")]
        return [line for line in told if "context cut" not in line]

    unread, untrained, said, signature = notes("--docids", sample / "docids.txt")
    assert signature.startswith("pronmetric: signature: ")
    assert unread.startswith("pronmetric: reports show the source; it does not affect scores")
    caveat = "its config.yaml records no training: the scores may be those of random weights"
    assert untrained == f"pronmetric: checkpoint {tiny_checkpoint().name}: {caveat}"
    assert (
        f"{sample / 'system-a.txt'}: " in said and " pronoun errors per 100 pronouns (" in said and "; score " in said
    )
    assert re.search(r"\(95 % [0-9.]+ to [0-9.]+\) over \d+ pronouns\.$", said)  # the interval and the number
    assert [line.split(":")[1] for line in notes()] == [
        " no document ids",
        " reports show the source; it does not affect scores",
        untrained.split(":")[1],
        f" {sample / 'system-a.txt'}",
        " signature",
    ]


def test_empty_lines_score_null_and_gzip_is_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"She left.\n\nYes.\nIt stayed.\n"))
    out, _ = run("-t", tmp_path / "a.gz")
    assert [line.split("score: ")[1] == "null" for line in out.splitlines()] == [False, True, True, False, False]


def test_no_pronoun_at_all(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Yes.\nNo.\n")
    out, err = run("-t", tmp_path / "a", "--verbose")
    assert out.splitlines()[-1] == f"{tmp_path / 'a'}\tscore: null"
    assert "no pronouns, so there is nothing to score" in err and "pronouns in 0 of 2 segments" in err


def test_json_holds_everything(run: Run, sample: Path, tmp_path: Path, metric: PronounMetric) -> None:
    a, c = sample / "system-a.txt", sample / "system-c.txt"
    files = ["-r", sample / "ref.txt", "-s", sample / "src.de.txt", "--docids", sample / "docids.txt"]
    _, err = run("-t", a, c, *files, "--to_json", tmp_path / "out.json", "--to_tsv", tmp_path / "out.tsv", "--verbose")
    content = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert "reports show the source; it does not affect scores: the model reads no sources" in err
    assert Signature.parse(content["signature"]) == metric.signature(context="common", context_size=2)
    assert [s["system"] for s in content["systems"]] == [str(a), str(c)]
    docs, ref = read(sample / "docids.txt"), read(sample / "ref.txt")
    predicted = metric.predict(in_context(read(c), reference=ref, docs=docs), docs=docs)
    system = content["systems"][1]
    assert system["score"] == pytest.approx(predicted.system_score, abs=1e-3)
    assert system["interval"] == pytest.approx(predicted.system.interval, abs=1e-2)
    assert (system["resampled"], system["units"], system["segments"]) == ("documents", 5, 37)
    assert content["counts"]["context_cut"] >= 0 and content["counts"]["windowed"] == 0
    segment = next(s for s in content["segments"] if s["system"] == str(c) and s["segment"] == 1)
    assert (segment["doc"], segment["text"], segment["reference"]) == (docs[1], read(c)[1], ref[1])
    assert segment["context"] == ref[0] and segment["source"] == read(sample / "src.de.txt")[1]
    assert [segment["text"][p["start"] : p["end"]] for p in segment["pronouns"]] == [
        p["text"] for p in segment["pronouns"]
    ]
    rows = [line.split("\t") for line in read(tmp_path / "out.tsv")]
    numbers = ["segment_score", "segment_errors", "segment_preference"]
    assert rows[0] == ["system", "segment", "doc", *numbers, "pronoun", "start", "end", "score"]
    assert {len(row) for row in rows} == {10}
    scored = [row for row in rows[1:] if row[6]]
    assert len(scored) == sum(s["pronouns"] for s in content["systems"])
    assert [float(row[9]) for row in scored] == [p["probability"] for s in content["segments"] for p in s["pronouns"]]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "out.tsv"]  # no partial file is left


def test_unbounded_heads_are_reported(run: Run, sample: Path, tmp_path: Path, tiny_checkpoint: Checkpoints) -> None:
    model = ["--model", tiny_checkpoint(head="paper")]
    _, err = run("-t", sample / "system-a.txt", "--to_json", tmp_path / "o.json", *model)
    assert "head:paper-unbounded" in err
    pronouns = [p for s in json.loads((tmp_path / "o.json").read_text())["segments"] for p in s["pronouns"]]
    assert pronouns and all(set(p) == {"text", "start", "end", "score"} for p in pronouns)


def test_long_texts_are_reported(run: Run, tmp_path: Path, tiny_checkpoint: Checkpoints) -> None:
    lines = ["She saw the library. " * 30, "It was hers.", "They left."]
    (tmp_path / "a").write_text("\n".join(lines) + "\n")
    _, err = run("-t", tmp_path / "a")
    assert "context cut on the left to fit the encoder: 2 of 3 distinct texts" in err
    assert "split into windows, every pronoun scored: 1 of 3 distinct texts" in err


def test_wmt_test_sets(run: Run, wmt_sample: Path, tmp_path: Path) -> None:
    out, err = run("-d", "wmt23:de-en", "--wmt-dir", wmt_sample, "--to_json", tmp_path / "o.json", "--verbose")
    content = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    names = [system["system"] for system in content["systems"]]
    assert len(names) >= 2
    assert {line.split("\t")[0] for line in out.splitlines()} == set(names)
    assert content["systems"][0]["resampled"] == "documents"
    assert "context: the 2 previous lines of the reference, of the same document" in err
    assert "the reference is" in err
    one, _ = run("-d", "wmt23:de-en", "--wmt_dir", wmt_sample, "--systems", names[1], "--only_system")
    assert near(one.splitlines(), [line for line in out.splitlines() if re.match(rf"{names[1]}\tscore", line)])


def test_records_come_back_in_order_with_their_ids(run: Run, tmp_path: Path, metric: PronounMetric) -> None:
    ids = ["7", 7, 7.5, True, None, ["a", {"b": 1}], {"x": [1]}, "ü\u2028😀", 10**30]
    texts = [
        "She left.",
        "Yes.",
        "",
        "\u201cIt\u2019s his.\u201d",
        "They 😀 miss us.",
        "No.",
        "Who?",
        "He.",
        "Her book.",
    ]
    records = [{"id": i, "text": t, "context": ["Anna came."]} for i, t in zip(ids, texts, strict=True)]
    out, _ = run("--jsonl", jsonl(tmp_path / "in.jsonl", records))
    found = [json.loads(line) for line in out.split("\n")[:-1]]
    assert [(type(r["id"]), r["id"]) for r in found] == [(type(i), i) for i in ids]
    assert [list(r) for r in found] == [["id", "score", "errors", "pronouns"]] * len(ids)
    predicted = metric.predict(records)
    for result, text, score, pronouns in zip(found, texts, predicted.scores, predicted.pronouns, strict=True):
        assert (result["score"] is None) == (score is None) == (not result["pronouns"])
        if score is not None:
            assert result["score"] == pytest.approx(score, abs=1e-5)
        assert [p["probability"] for p in result["pronouns"]] == pytest.approx([p.score for p in pronouns], abs=1e-5)
        for p in result["pronouns"]:
            assert list(p) == ["text", "start", "end", "probability"]
            assert text[p["start"] : p["end"]] == p["text"]
    assert found[1] == {"id": 7, "score": None, "errors": 0, "pronouns": []}


def test_contexts_of_records(run: Run, tmp_path: Path) -> None:
    text = "They miss her."
    records = [
        {"id": 0, "text": text, "context": ["Anna left. She took it."]},
        {"id": 1, "text": text, "context": ["Anna left.", "She took it."]},
        {"id": 2, "text": text, "context": ["Anna left.", "She took it."], "reference": "We miss him."},
        {"id": 3, "text": text, "context": []},
        {"id": 4, "text": text},
    ]
    path = jsonl(tmp_path / "in.jsonl", records)
    scores = [json.loads(line)["score"] for line in run("--jsonl", path)[0].splitlines()]
    assert scores[0] == scores[1] == scores[2] and scores[3] == scores[4] != scores[0]
    bare = [json.loads(line)["score"] for line in run("--jsonl", path, "--context", "none")[0].splitlines()]
    assert bare == pytest.approx([scores[3]] * 5, abs=1.1e-5)  # the last of five decimals


def test_all_output_flags_hold_for_records(run: Run, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "in.jsonl", [{"id": 1, "text": "She left."}, {"id": "a\tb", "text": "Yes."}])
    out, err = run(
        *["--jsonl", path, "--only_system", "--quiet", "--batch_size", "1", "--seed", "0"],
        *["--to_json", tmp_path / "o.json", "--to_tsv", tmp_path / "o.tsv"],
    )
    assert re.fullmatch(rf"{re.escape(str(path))}\tscore: \d+\.\d{{4}}\n", out) and err == ""
    content = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert [s["id"] for s in content["segments"]] == [1, "a\tb"]
    assert "|seed:" not in content["signature"] and "|context:given|" in content["signature"]
    assert content["systems"][0]["pronouns"] == 1
    rows = read(tmp_path / "o.tsv")
    numbers = ["segment_score", "segment_errors", "segment_preference"]
    assert rows[0].split("\t") == ["id", *numbers, "pronoun", "start", "end", "score"]
    assert rows[2].split("\t") == ["a\\tb", "", "0.00000", "", "", "", "", ""]


def test_records_from_stdin(run: Run, sample: Path, metric: PronounMetric, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [{"id": i, "text": text} for i, text in enumerate(read(sample / "ref.txt"))]
    lines = io.BytesIO("".join(json.dumps(record) + "\n" for record in records).encode())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(lines))
    same_scores(run("--jsonl", "-", "--quiet")[0], metric.predict(records).scores)


def test_records_through_a_pipe(
    tiny_checkpoint: Checkpoints, tmp_path: Path, sample: Path, metric: PronounMetric, programs: dict[str, str]
) -> None:
    records = [{"id": i, "text": text} for i, text in enumerate(read(sample / "ref.txt"))]
    jsonl(tmp_path / "in.jsonl", records)
    verb = f"pronmetric score --quiet --model {tiny_checkpoint()} --precision 32 --gpus 0"
    command = ["bash", "-c", f"{verb} --jsonl <(cat in.jsonl)"]
    result = subprocess.run(command, capture_output=True, cwd=tmp_path, env=programs, text=True, check=True)
    same_scores(result.stdout, metric.predict(records).scores)
    assert result.stderr == ""


def same_scores(out: str, scores: list[float | None]) -> None:
    found = [json.loads(line) for line in out.splitlines()]
    assert [r["id"] for r in found] == list(range(len(scores)))
    assert [r["score"] for r in found] == [None if s is None else pytest.approx(s, abs=1e-5) for s in scores]


def test_a_reader_that_goes_away_is_no_fault(
    tiny_checkpoint: Checkpoints, sample: Path, programs: dict[str, str]
) -> None:
    command = ["bash", "-c", f"pronmetric score -t system-a.txt --model {tiny_checkpoint()} --quiet | head -1"]
    result = subprocess.run(command, capture_output=True, cwd=sample, env=programs, text=True, check=True)
    assert result.stdout.startswith("system-a.txt\tSegment 0") and result.stderr == ""


def test_control_characters_in_file_names_do_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "=x"
    folder.mkdir()
    evil = folder / "a\tb\n\x1b[31m.txt"
    evil.write_text("She left.\nYes.\n")
    out, err = run("-t", evil, "--verbose", "--to_json", tmp_path / "o.json", "--to_tsv", tmp_path / "o.tsv")
    said = f"{folder}/a\\tb\\n\\x1b[31m.txt"
    assert [line.split("\t")[0] for line in out.splitlines()] == [said] * 3
    assert said in err and "\x1b" not in out + err
    assert json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["systems"][0]["system"] == str(evil)
    assert [row["system"] for row in tsv.read(tmp_path / "o.tsv")] == [str(evil)] * 2


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
@pytest.mark.parametrize("flag", ["--to_json", "--to_tsv", "--to_mqm"])
def test_stdout_has_the_file_alone(run: Run, sample: Path, tmp_path: Path, flag: str, name: str) -> None:
    texts = ("-t", sample / "system-a.txt", "-r", sample / "ref.txt")
    printed, _ = run(*texts, flag, tmp_path / "file")
    out, err = run(*texts, flag, name)
    assert out == (tmp_path / "file").read_text(encoding="utf-8")
    assert printed.splitlines()[-1] in err and "Segment 0" not in err


def test_records_leave_stdout_to_a_file(run: Run, tmp_path: Path) -> None:
    jsonl(tmp_path / "records.jsonl", [{"id": 1, "text": "She left."}])
    out, err = run("--jsonl", tmp_path / "records.jsonl", "--to_json", "-")
    assert len(json.loads(out)["segments"]) == 1
    assert "records.jsonl\tscore: " in err


def test_stdin_to_stdout(tiny_checkpoint: Checkpoints, programs: dict[str, str]) -> None:
    line = f"pronmetric score -t - --to_json - --gpus 0 --quiet --model {tiny_checkpoint()}"
    done = subprocess.run(["bash", "-c", line], input=b"She left.\n", env=programs, capture_output=True, check=True)
    assert json.loads(done.stdout)["segments"][0]["text"] == "She left."
