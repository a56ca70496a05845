"""A checkpoint scores in the context that it was trained in: its kind, and its number of sentences."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric
from pronmetric.signature import Signature
from pronmetric.text.context import in_context, previous

Checkpoints = Callable[..., Path]
LINES = ["Anna met Ben.", "She gave him a key.", "He lost it.", "They laughed at themselves."]
OTHERS = ["Anna met Ben.", "She gave her a key.", "She lost it.", "We laughed at ourselves."]
SAID = "trained without context and scores without it; --context overrides this"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    paths = (tmp_path / "a.txt", tmp_path / "b.txt")
    for path, lines in zip(paths, (LINES, OTHERS), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(paths[0]), str(paths[1])


@pytest.fixture
def records(tmp_path: Path) -> str:
    path = tmp_path / "records.jsonl"
    rows = [{"id": 1, "text": LINES[1], "context": LINES[:1]}, {"id": 2, "text": LINES[2], "context": LINES[:2]}]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def judged(tmp_path: Path) -> str:
    path = tmp_path / "pairs.jsonl"
    texts = zip(LINES[1:], OTHERS[1:], strict=True)
    rows = [
        {"id": str(i), "context": LINES[: i + 1], "text_a": a, "text_b": b, "better": "A"}
        for i, (a, b) in enumerate(texts)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def labelled(tmp_path: Path) -> str:
    path = tmp_path / "tokens.jsonl"
    rows = [
        {"id": "1", "context": LINES[:1], "text": LINES[1], "start": 0, "end": 3, "label": "right"},
        {"id": "2", "context": LINES[:1], "text": OTHERS[1], "start": 9, "end": 12, "label": "wrong"},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def run(capsys: pytest.CaptureFixture[str], model: Path, *words: str) -> tuple[str, str, Signature | None]:
    """Stdout, stderr and the signature of a verb."""
    assert main([*words, "--model", str(model), "--gpus", "0", "--precision", "32"]) == 0
    out, err = capsys.readouterr()
    line = next((line for line in err.splitlines() if "signature: " in line), None)
    return out, err, None if line is None else Signature.parse(line.partition("signature: ")[2])


def verbs(request: pytest.FixtureRequest, name: str) -> tuple[str, ...]:
    a, b = request.getfixturevalue("files")
    given: dict[str, tuple[str, ...]] = {
        "score": ("score", "-t", b, "-r", a),
        "score alone": ("score", "-t", b),
        "score records": ("score", "--jsonl", request.getfixturevalue("records")),
        "compare": ("compare", "-t", a, b),
        "compare with reference": ("compare", "-t", a, b, "-r", a),
        "rerank": ("rerank", "--candidates", a, b),
        "rerank with reference": ("rerank", "--candidates", a, b, "-r", a),
        "suggest": ("suggest", "--all", "-t", b, "-r", a),
        "suggest records": ("suggest", "--all", "--jsonl", request.getfixturevalue("records")),
        "evaluate": ("evaluate", request.getfixturevalue("judged")),
        "evaluate pronouns": ("evaluate", request.getfixturevalue("labelled")),
    }
    return given[name]


NAMES = (
    "score",
    "score alone",
    "score records",
    "compare",
    "compare with reference",
    "rerank",
    "rerank with reference",
    "suggest",
    "suggest records",
    "evaluate",
    "evaluate pronouns",
)
ASKED = {"score": "common", "suggest": "common", "score records": "given", "suggest records": "given"}
ASKED |= {"compare with reference": "common", "rerank with reference": "common", "evaluate": "common"}


@pytest.mark.parametrize("name", NAMES)
def test_trained_without_context_it_scores_without(
    tiny_checkpoint: Checkpoints,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    model = tiny_checkpoint(context="none")
    words = verbs(request, name)
    out, err, signature = run(capsys, model, *words)
    assert err.count(SAID) == 1
    assert signature is not None and signature["context"] == "none"
    assert "context_size" not in dict(signature.fields)
    asked, told, _ = run(capsys, model, *words, "--context", "none")
    assert asked == out and SAID not in told
    if name in ASKED:
        other, told, signature = run(capsys, model, *words, "--context", ASKED[name])
        assert signature is not None and signature["context"] == ASKED[name] and SAID not in told
        assert other != out or name.startswith(("rerank", "evaluate"))


@pytest.mark.parametrize("name", ["score", "score alone", "compare", "compare with reference", "rerank", "suggest"])
def test_it_scores_with_as_many_sentences_as_it_was_trained_with(
    tiny_checkpoint: Checkpoints, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    words = (*verbs(request, name), "--verbose")
    one, err, signature = run(capsys, tiny_checkpoint(context_size=1), *words)
    assert signature is not None and signature["context_size"] == "1"
    assert "previous line" in err or name == "suggest"
    two, err, signature = run(capsys, tiny_checkpoint(), *words)
    assert signature is not None and signature["context_size"] == "2"
    assert "2 previous lines" in err or name == "suggest"
    assert one != two or name == "rerank"


def test_the_scores_are_those_of_that_many_sentences(
    tiny_checkpoint: Checkpoints, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    model = tiny_checkpoint(context_size=1)
    out, _, _ = run(capsys, model, "score", "-t", files[1], "-r", files[0])
    metric = PronounMetric.from_pretrained(model, precision="32", gpus=0)
    assert metric.context_size == 1
    wanted = metric.predict(in_context(OTHERS, reference=LINES, size=metric.context_size)).scores
    by_hand = [{"text": text, "context": LINES[max(0, i - 1) : i]} for i, text in enumerate(OTHERS)]
    assert wanted == metric.predict(by_hand).scores
    shown = [line.rpartition("score: ")[2] for line in out.splitlines() if "Segment" in line]
    assert shown == ["null" if score is None else f"{score:.4f}" for score in wanted]
    assert list(previous(LINES, size=1)) == ["", *LINES[:-1]]


def test_contexts_that_the_texts_do_not_have_are_refused(
    files: tuple[str, str], records: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in ("score", "suggest"):
        for words, message in (
            (("-t", files[0], "--context", "given"), "--context given needs records (--jsonl)"),
            (("--jsonl", records, "--context", "respective"), "records of --jsonl contain their context"),
        ):
            with pytest.raises(SystemExit) as error:
                main([verb, *words])
            assert error.value.code == 2 and message in capsys.readouterr().err


def test_the_pairs_of_a_wmt_set_have_that_many_sentences(tiny_checkpoint: Checkpoints, wmt_sample: Path) -> None:
    from data_prep import testset_to_pairs

    def notes(_: str) -> None: ...

    def contexts(size: int) -> dict[str, tuple[str, ...]]:
        dataset = "wmt23:de-en"
        pairs = testset_to_pairs.read(dataset, str(wmt_sample), None, context_size=size, seed=0, note=notes)
        return {pair.id: pair.context for pair in pairs}

    two, one = contexts(2), contexts(1)
    assert two.keys() == one.keys() and max(map(len, two.values())) == 2
    assert all(one[key] == context[-1:] for key, context in two.items())


def test_longer_given_contexts_are_cut_and_noted(
    tiny_checkpoint: Checkpoints, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, path = tiny_checkpoint(), tmp_path / "r.jsonl"
    said = {}
    for name, size in (("long", 4), ("short", 2)):
        rows = [{"id": i, "text": text, "context": LINES[-size:]} for i, text in enumerate(OTHERS)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        said[name] = run(capsys, model, "score", "--jsonl", str(path))
    assert said["long"][0] == said["short"][0]
    noted = "more sentences of context than the model was trained on, the last ones are read: "
    assert noted in said["long"][1] and noted not in said["short"][1]
