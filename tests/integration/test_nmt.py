"""`pronmetric nmt`: each system learns a few sentences by heart, translates them, and is scored on a suite."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from pronmetric.cli.main import main
from pronmetric.lab.nmt import training
from pronmetric.lab.nmt.translator import Translator
from tests.tools.word_encoder import write_encoder

SOURCE = ["the lamp is old .", "it shines .", "the table is old .", "it shines ."]
TARGET = ["die Lampe ist alt .", "sie leuchtet .", "der Tisch ist alt .", "er leuchtet ."]
DOCIDS = ["a", "a", "b", "b"]
REPEATS = 12
SMALL = (
    "nmt.vocabulary=300",
    "nmt.width=32",
    "nmt.feedforward=64",
    "nmt.layers=1",
    "nmt.dropout=0",
    "smoothing=0",
    "data.pieces=600",
    "data.development_share=0.1",
    "optim.lr=1e-2",
    "trainer.validate_every=10",
    "trainer.progress=false",
    "average=2",
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The documents, many times, and a contrastive set on the pronoun of their second sentences."""
    monkeypatch.chdir(tmp_path)
    for name, lines in (("source", SOURCE), ("target", TARGET), ("docids", DOCIDS)):
        ids = (f"{line}{k}" if name == "docids" else line for k in range(REPEATS) for line in lines)
        Path(name).write_text("".join(f"{line}\n" for line in ids))
        Path(f"{name}.new").write_text("".join(f"{line}\n" for line in lines))
    Path("documents").mkdir()
    items = []
    for name, first, right, wrong in (("a", 0, "sie", "er"), ("b", 2, "er", "sie")):
        for side, lines in (("en", SOURCE), ("de", TARGET)):
            Path(f"documents/{name}.{side}").write_text("".join(f"{line}\n" for line in lines[first : first + 2]))
        item = {"src segment": "it shines .", "ref segment": f"{right} leuchtet .", "src pronoun": "it"}
        item |= {"ref pronoun": right, "ante distance": 1, "intrasegmental": False, "document id": name}
        items.append(item | {"segment id": 1, "errors": [{"contrastive": f"{wrong} leuchtet ."}]})
    Path("set.json").write_text(json.dumps(items))
    return tmp_path


def train(out: str, *overrides: str, steps: int = 60, sizes: Sequence[str] = SMALL) -> int:
    text = ["data.source=source", "data.target=target", "data.docids=docids", f"out={out}"]
    length = ["trainer.max_epochs=200", f"trainer.max_steps={steps}"]
    given = {override.partition("=")[0] for override in overrides}
    return main(["nmt", "train", *text, *length, *(s for s in sizes if s.partition("=")[0] not in given), *overrides])


def accuracy(model: str, *flags: str) -> float:
    line = [
        "suite",
        "score",
        "contrapro",
        "--set",
        "set.json",
        "--documents",
        "documents",
        "--seq2seq",
        model,
        "--quiet",
    ]
    assert main([*line, "--gpus", "0", "--to_json", "result.json", *flags]) == 0
    return json.loads(Path("result.json").read_text())["accuracy"]


def translations(model: str) -> list[str]:
    flags = ["--docids", "docids.new", "-o", "made", "--quiet", "--gpus", "0"]
    assert main(["nmt", "translate", model, "source.new", *flags]) == 0
    return Path("made").read_text().splitlines()


@pytest.mark.parametrize(
    "overrides",
    [
        ("nmt.context=concat21",),
        ("nmt.context=concat22",),
        ("nmt.context_encoder=shared_gate",),
        ("nmt.context_encoder=thumt",),
        ("nmt.context_encoder=s-t-hier", "nmt.cell=gru", "nmt.tied=false"),
        ("nmt.context_encoder=s-hier-to-2",),
    ],
)
def test_a_system_with_context_learns_what_the_context_decides(data: Path, overrides: tuple[str, ...]) -> None:
    assert train("model", *overrides) == 0
    assert translations("model") == TARGET
    assert accuracy("model") == 1.0


def test_the_base_model_cannot_tell_and_cadec_corrects_it(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train("base") == 0
    assert accuracy("base") == 0.5  # the same answer to both
    assert translations("base")[0] == TARGET[0] and translations("base")[1] == translations("base")[3]
    sizes = [word for word in SMALL if not word.startswith(("nmt.w", "nmt.v", "nmt.f", "nmt.l"))]
    frozen = ("init=base", "frozen=true")
    assert train("cadec", "nmt.cadec=true", *frozen, steps=80, sizes=sizes) == 0
    assert accuracy("cadec") == 1.0
    assert translations("cadec") == TARGET
    before, after = (Translator.load(name).network.state_dict() for name in ("base", "cadec"))
    assert all(after[name].equal(value) for name, value in before.items())
    assert train("thumt", "nmt.context_encoder=thumt", *frozen, sizes=sizes) == 0
    assert accuracy("thumt") == 1.0
    after = Translator.load("thumt").network.state_dict()
    assert all(after[name].equal(value) for name, value in before.items())
    assert train("twice", "nmt.context_encoder=thumt", "init=thumt", sizes=sizes) == 1
    assert "init: expected a model without context, got thumt" in capsys.readouterr().err


def test_a_frozen_encoder_is_read_and_saved_with_the_model(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = sorted({word for line in SOURCE for word in line.split()})
    write_encoder(Path("encoder"), words)
    assert train("model", "nmt.bert_fused=encoder", steps=80) == 0
    assert accuracy("model") == 1.0
    shutil.rmtree("encoder")
    assert translations("model") == TARGET
    Path("source.new").write_text("\n".join([SOURCE[0], "it shines . " * 200, *SOURCE[2:], ""]))
    assert main(["nmt", "translate", "model", "source.new", "-o", "made", "--quiet", "--gpus", "0"]) == 1
    assert "source.new:2: 'it shines . it shines" in capsys.readouterr().err
    items = json.loads(Path("set.json").read_text())
    items[1]["src segment"] = "it shines . " * 200
    Path("set.json").write_text(json.dumps(items))
    Path("documents/b.en").write_text(f"{SOURCE[2]}\n{items[1]['src segment']}\n")
    line = ["suite", "score", "contrapro", "--set", "set.json", "--documents", "documents", "--seq2seq", "model"]
    assert main([*line, "--gpus", "0"]) == 1
    assert "has 602 pieces, more than the 512 of the frozen encoder" in capsys.readouterr().err


def test_a_killed_run_is_resumed_to_the_same_model(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("nmt.context=concat21", "trainer.save_every=4", "nmt.dropout=0.1")
    assert train("whole", *flags, steps=24) == 0
    step = training.NmtModule.training_step

    class Killed(BaseException):
        pass

    def killed(module: training.NmtModule, items: Sequence[object], index: int) -> object:
        if module.global_step == 13:
            raise Killed
        return step(module, items, index)  # type: ignore[arg-type]

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(training.NmtModule, "training_step", killed)
        train("stopped", *flags, steps=24)
    assert not Path("stopped/model.safetensors").exists()
    assert train("stopped", *flags, steps=24) == 0
    for name in ("model.safetensors", "tokenizer.json"):
        assert Path("whole", name).read_bytes() == Path("stopped", name).read_bytes()
    whole, stopped = (yaml.safe_load(Path(name, "nmt.yaml").read_text()) for name in ("whole", "stopped"))
    assert whole["training"]["figures"] == stopped["training"]["figures"]
    capsys.readouterr()
    assert train("stopped", *flags, "seed=2", steps=24) == 1
    assert "the run there has seed=1, not seed=2" in capsys.readouterr().err


def test_the_accuracy_on_a_set_chooses_the_weights(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("data.suite=contrapro", "data.set=set.json", "data.documents=documents")
    assert train("model", "nmt.context=concat21", *given) == 0
    said = capsys.readouterr()
    assert "development/accuracy\t1.0000" in said.out
    assert "pronmetric: 24 documents; to train on: " in said.err and "pronmetric: model: concat21, " in said.err
    assert train("other", "data.suite=contrapo", *given[1:]) == 1
    assert "data.suite=contrapo: expected one of contrapro," in capsys.readouterr().err


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["nmt.context=concat21", "nmt.cadec=true"], "nmt: expected one kind of context, got nmt.context=concat21 and"),
        (["nmt.cadec=true"], "nmt.cadec=true refines the drafts of a finished model: add init=FOLDER frozen=true"),
        (["frozen=true"], "frozen=true keeps the weights of init=FOLDER as they are"),
        (["init=m", "frozen=true"], "frozen=true leaves nothing to train with nmt.context=none"),
        (["data.suite=contrapro"], "data.suite= and data.set= go together"),
        (["nmt.size=3"], "nmt.size is not read with none, whose number of sentences is fixed"),
        (["draft.noise=0.1"], "draft.noise is not read without nmt.cadec=true"),
        (["nmt.heads=3"], "nmt.width=32: expected an even multiple of nmt.heads=3"),
        (["context=none"], "context: a key of the model here: nmt.context=none"),
        (["nmt.contxt=none"], "did you mean 'nmt.context'? (pronmetric nmt train --cfg job prints all of them)"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    data: Path, overrides: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train("model", *overrides) == 1
    assert said in capsys.readouterr().err and not Path("model").exists()


def test_a_model_brings_its_own_context(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train("model", "nmt.context=concat21", steps=2) == 0
    accuracy("model", "--per-piece")
    judged = json.loads(Path("result.json").read_text())["judged"]
    assert judged == "log-probability by piece by model, context concat21"
    capsys.readouterr()
    line = ["suite", "score", "contrapro", "--set", "set.json", "--documents", "documents", "--seq2seq", "model"]
    assert main([*line, "--context-mode", "concat22", "--separator", "x"]) == 1
    said = "model: the model has a context of its own; leave --context-mode and --separator out"
    assert said in capsys.readouterr().err
