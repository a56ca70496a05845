"""`pronmetric attention`, and the weights that it shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric
from pronmetric.text.context import Text
from pronmetric.text.words import words

Checkpoints = Callable[..., Path]
CONTEXT = "Maria ran the library."
TEXT = "She locked its doors, and they stayed shut."


@pytest.fixture
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


@pytest.fixture
def run(tiny_checkpoint: Checkpoints, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def call(*argv: str, head: str = "logit") -> str:
        model = ["--model", str(tiny_checkpoint(head=head)), "--precision", "32", "--gpus", "0"]
        assert main(["attention", *argv, *model]) == 0
        return capsys.readouterr().out

    return call


def test_weights_are_those_of_the_head(metric: PronounMetric) -> None:
    from pronmetric.data.collate import Example

    (looks,) = metric.attention([Text(CONTEXT, TEXT)])
    spans = [(0, 3), (11, 14), (26, 30)]
    assert [(look.start, look.end) for look in looks] == spans
    model, collator = metric.inference.replicas[0], metric.inference.collator
    batch = collator.pad(collator.encode([Example(CONTEXT, TEXT, spans)]))
    expected = model(batch).weights[0].numpy()
    assert expected.shape == (3, len(words(CONTEXT)) + len(words(TEXT)))
    for look, row in zip(looks, expected, strict=True):
        assert look.weights is not None and look.weights.sum() == pytest.approx(1, abs=1e-5)
        np.testing.assert_allclose(look.weights, row, atol=1e-6)


def test_company_and_order_change_nothing(metric: PronounMetric) -> None:
    texts = [Text("", "It rained."), Text(CONTEXT, TEXT), Text("", "No."), Text(CONTEXT, "He left her.")]
    alone = [next(metric.attention([text])) for text in texts]
    together = list(metric.attention(texts, batch_size=1)), list(metric.attention(texts[::-1]))[::-1]
    for found in together:
        assert [len(looks) for looks in found] == [1, 3, 0, 2]
        for looks, expected in zip(found, alone, strict=True):
            for look, other in zip(looks, expected, strict=True):
                assert look.weights is not None and other.weights is not None
                np.testing.assert_allclose(look.weights, other.weights, atol=1e-5)


def test_words_that_do_not_fit_get_none(metric: PronounMetric) -> None:
    context = "The old house stood by the river for years. " * 8
    (looks,) = metric.attention([Text(context.strip(), "She sold it.")])
    assert [len(look.weights) for look in looks if look.weights is not None] == [len(words(context)) + 4] * 2
    first = looks[0].weights
    assert (
        first is not None and (first[:20] == 0).all() and first[-4:].all() and first.sum() == pytest.approx(1, abs=1e-5)
    )
    (looks,) = metric.attention([Text("", "She saw the library. " * 30)])  # read in windows
    assert len(looks) == 30
    for number, look in enumerate(looks):
        assert look.weights is not None and look.weights[5 * number] > 0
        assert look.weights.sum() == pytest.approx(1, abs=1e-5) and (look.weights == 0).any()


def test_the_words_with_the_most_attention_are_shown(run: Callable[..., str], metric: PronounMetric) -> None:
    out = run(TEXT, "--context", "Maria ran", "the library.", "--top", "3")
    (looks,), (segment,) = metric.attention([Text(CONTEXT, TEXT)]), metric.stream([Text(CONTEXT, TEXT)])
    lines = [line for line in out.splitlines() if line]
    assert len(lines) == 3
    spelled = [word.text for part in (CONTEXT, TEXT) for word in words(part)]
    for line, look, pronoun in zip(lines, looks, segment.pronouns, strict=True):
        assert line.startswith(f"{pronoun.text}  {pronoun.score:.3f}  attends to ") and look.weights is not None
        shown = re.findall(r"(\S+) (\d\.\d\d)", line.split("attends to ")[1])
        weights = [(word, w) for word, w in zip(spelled, look.weights.tolist(), strict=True) if word[-1].isalnum()]
        best = sorted(weights, key=lambda item: -item[1])[:3]
        assert [float(value) for _, value in shown] == pytest.approx([w for _, w in best], abs=6e-3)
        assert {word for word, _ in shown} <= set(spelled)


def test_colours_where_the_terminal_has_them(run: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    out = run(TEXT, "--context", CONTEXT)
    plain = re.sub(r"\x1b\[[\d;]*m", "", out)
    assert plain.count(f"  {CONTEXT} {TEXT}\n") == 3 and "\x1b[" in out and "48;2;255;" in out


def test_heads_without_probabilities_or_attention(run: Callable[..., str]) -> None:
    assert "this head has no attention" in run("She left.", head="average")
    assert "She  score " in run("She left.", head="paper")


def test_a_text_without_a_pronoun(run: Callable[..., str]) -> None:
    assert run("Gone.") == run("") == "no pronoun found\n"


def test_faults(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["attention", "She left.\0"]) == 1
    assert "NUL" in capsys.readouterr().err
    assert main(["attention", "She left.", "--model", str(tmp_path)]) == 1
    assert "not a checkpoint" in capsys.readouterr().err
    file = tmp_path / "system.txt"
    file.write_text("She left.\n", encoding="utf-8")
    assert main(["attention", str(file)]) == 1
    assert f"{file}: is a file; expected a sentence" in capsys.readouterr().err
    for flags in ([], ["She left.", "--top", "0"], ["She left.", "--colour"]):
        with pytest.raises(SystemExit) as stop:
            main(["attention", *flags])
        assert stop.value.code == 2
