"""Classifiers of pronoun slots: a few lines are learned, saved, read again and predicted; both kinds."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from pronmetric.cli.main import main
from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.lab.clpp import classifier as training
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp import training as clpp_run
from pronmetric.lab.clpp.windows import MARK, windows
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder

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


@pytest.mark.parametrize("kind", ["gru", "attention"])
def test_grus_learn_and_predict(kind: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = tmp_path / "model", tmp_path / "out"
    flags = ["--pair", "de-en", str(data), "--dev", str(data), "--epochs", "30", "-o", str(model)]
    flags += ["--classifier", kind]
    assert main(["clpp", "train", *flags, "--batch-size", "4", "--learning-rate", "0.01"]) == 0
    assert "of 120 is best: macro R" in capsys.readouterr().out
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
    flags = {"encoder": tiny_encoder(), "inputs": {}, "progress": False}
    best = clpp_run.train(task, options, lines, lines, tmp_path / "m", **flags)
    again = training.load(tmp_path / "m").score(lines)
    assert (best.steps, again.total) == (4, 15)
    assert again.macro.recall == pytest.approx(best.figures[clpp_run.RECALL])
    assert again.accuracy == pytest.approx(best.figures[clpp_run.ACCURACY])


def test_a_killed_run_is_resumed_to_the_same_files(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(clpp_run, "SAVE_EVERY", 3)  # four steps are an epoch

    def run(out: Path, *flags: str) -> int:
        common = ["--pair", "de-en", str(data), "--dev", str(data), "--epochs", "3", "--batch-size", "4"]
        return main(["clpp", "train", *common, "-o", str(out), *flags])

    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert run(whole, "--quiet") == 0
    step = clpp_run.SlotModule.training_step

    def killed(module: clpp_run.SlotModule, item: clpp_run.Slots, index: int) -> object:
        if module.global_step == 7:
            raise RuntimeError("killed")
        return step(module, item, index)

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="killed"):
        patch.setattr(clpp_run.SlotModule, "training_step", killed)
        run(stopped)
    assert "of 12 is best" in capsys.readouterr().out  # of the whole run
    assert not (stopped / "model.safetensors").exists()
    assert run(stopped) == 0
    assert "train: 12/12 steps" in capsys.readouterr().err
    for name in ("model.safetensors", "clpp.yaml", "words.json"):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes()
    assert run(stopped, "--seed", "2") == 1
    assert "the run there has seed=1, not seed=2" in capsys.readouterr().err


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
    for parts, name in (((lines[3:4], lines), "to train on"), ((lines, lines[3:4]), "in the development data")):
        with pytest.raises(InputError, match=f"no slot with a label {name}"):
            clpp_run.train(made.task, made.options, *parts, tmp_path / "n", encoder=None, inputs={}, progress=False)
