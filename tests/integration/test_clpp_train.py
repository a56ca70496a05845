"""Classifiers of pronoun slots: a few lines are learned, saved, read again and predicted; both kinds."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from pronmetric.cli.main import main
from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.nn.encoder import HuggingFaceEncoder
from pronmetric.suites import clpp
from pronmetric.suites.clpp_windows import MARK, windows
from pronmetric.training import clpp as training

ROWS = [
    ("he", "mein Onkel , er singt", "my|PRON uncle|NOUN REPLACE_3 sing|VERB"),
    ("she", "meine Tante , sie singt", "my|PRON aunt|NOUN REPLACE_3 sing|VERB"),
    ("they", "die Kinder , sie singen", "the|DET child|NOUN REPLACE_3 sing|VERB"),
    ("", "Danke", "thank|NOUN"),
    ("it it", "das Haus , es sieht es", "the|DET house|NOUN REPLACE_3 see|VERB REPLACE_5"),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "train.data"
    rows = ("\t".join((label, label, source, target, "0-0")) for label, source, target in ROWS * 3)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_windows_read_towards_the_slot(data: Path) -> None:
    lines = clpp.read(data, clpp.task("de-en"))
    found = list(windows(lines[4:5], size=2))
    assert [window.pronoun for window in found] == ["es", "es"]
    assert found[0].target_left == ("the", "house") and found[0].target_right == (MARK, "see")
    assert found[0].source_right == ("es", "sieht") and found[1].tags_left == (MARK, "VERB")
    assert [window.label for window in found] == ["it", "it"]


def test_gru_learns_and_predicts(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = tmp_path / "model", tmp_path / "out"
    flags = ["--pair", "de-en", str(data), "--dev", str(data), "--epochs", "30", "-o", str(model)]
    assert main(["clpp", "train", *flags, "--batch-size", "4", "--learning-rate", "0.01"]) == 0
    assert "epoch 30: loss" in capsys.readouterr().out
    assert main(["clpp", "predict", str(model), str(data), "-o", str(out)]) == 0
    assert [line.split("\t")[0] for line in out.read_text().splitlines()] == [label for label, *_ in ROWS * 3]
    assert main(["clpp", "score", "--pair", "de-en", str(data), str(out)]) == 0
    assert "Accuracy = 15/15 = 100.00%" in capsys.readouterr().out


def tiny_encoder() -> tuple[HuggingFaceEncoder, Subwords]:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {word for _, source, target in ROWS for text in (source, target) for word in text.lower().split()}
    words |= {part for word in words for part in word.split("|")}
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "/", "_", *sorted(words)]
    tokenizer = Tokenizer(models.WordLevel({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]")
    config = BertConfig(
        vocab_size=len(names),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=24,
    )
    return HuggingFaceEncoder(BertModel(config, add_pooling_layer=False)), Subwords(fast)


def test_an_encoder_is_saved_and_read_again(data: Path, tmp_path: Path) -> None:
    task = clpp.task("de-en")
    lines = clpp.read(data, task)
    options = training.Options(kind=training.ENCODER, epochs=1, rate=1e-3, batch=4)
    made = training.make(task, options, lines, encoder=tiny_encoder())
    seen: list[int] = []
    training.fit(
        made,
        lines,
        lines,
        report=lambda epoch, loss, score: seen.append(score.total),
        keep=lambda: training.save(made, tmp_path / "m"),
    )
    assert seen == [15]
    again = training.load(tmp_path / "m")
    found = list(windows(lines, size=50))
    assert (made.logits(found) - again.logits(found)).abs().max() < 1e-5


def test_a_text_that_is_too_long_is_cut_around_the_slot() -> None:
    _, pieces = tiny_encoder()
    words = " ".join(["singt"] * 40)
    line = clpp.Line(("he",), ("he",), tuple(f"er {words}".split()), ("REPLACE_0",) + ("sing|VERB",) * 40, ())
    (window,) = windows([line], size=50)
    ids, mask, word, places = training.Texts(pieces, max_pieces=24)([window])
    assert ids.shape[1] <= 24 and mask.all() and places[0, 0] < places[0, 1] <= word.max()


def test_what_is_no_classifier(tmp_path: Path, data: Path) -> None:
    with pytest.raises(InputError, match=r"expected clpp\.yaml and model\.safetensors"):
        training.load(tmp_path)
    lines = clpp.read(data, clpp.task("de-en"))
    made = training.make(clpp.task("de-en"), training.Options(kind=training.GRU), lines, encoder=None)
    training.save(made, tmp_path / "m")
    (tmp_path / "m" / "clpp.yaml").write_text("pair: de-en\noptions: {kind: gru}\nmodel: {words: 3}\n")
    with pytest.raises(InputError, match="broken classifier"):
        training.load(tmp_path / "m")
    with pytest.raises(InputError, match="no slot with a label"):
        training.fit(made, lines[3:4], lines, report=lambda *_: None, keep=lambda: None)
