"""Features of slots, and the classifiers that read them: as scikit-learn's, and the same when they are read again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.lab.clpp import classifier as classifiers
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp.data import Line
from pronmetric.lab.clpp.feature_classifier import FeatureOptions, Forest, Linear, TwoStep, train
from pronmetric.lab.clpp.features import EDGE, KINDS, describe, model_scores
from pronmetric.lab.clpp.language_models import Ngrams
from pronmetric.lab.clpp.score import tally

TASK = clpp.task("de-en")
ROWS = [
    ("he", "mein Onkel , er singt", "my|PRON uncle|NOUN ,|PUNCT REPLACE_3 sing|VERB"),
    ("she", "meine Tante , sie singt", "my|PRON aunt|NOUN ,|PUNCT REPLACE_3 sing|VERB"),
    ("they", "die Kinder , sie singen", "the|DET child|NOUN ,|PUNCT REPLACE_3 sing|VERB"),
    ("", "Danke", "thank|NOUN"),
    ("it it", "das Haus , es sieht es", "the|DET house|NOUN ,|PUNCT REPLACE_3 see|VERB REPLACE_5"),
    ("OTHER", "man sagt , es regnet", "people|NOUN say|VERB ,|PUNCT REPLACE_3 rain|VERB"),
]


def line(source: str, target: str, labels: str = "", links: str = "") -> Line:
    pairs = tuple((int(s), int(t)) for s, t in (link.split("-") for link in links.split()))
    return Line(tuple(labels.split()), (), tuple(source.split()), tuple(target.split()), pairs)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "train.data"
    rows = ("\t".join((label, label, source, target, "0-0 1-1 2-2 3-3")) for label, source, target in ROWS * 4)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_the_features_of_a_slot() -> None:
    before = line("Die Lampe brennt", "the|DET lamp|NOUN burn|VERB", links="0-0 1-1 2-2")
    here = line("heute ist sie alt", "Today|NUM REPLACE_2 be|AUX old|ADJ", links="2-1")
    (found,) = describe([before, here], size=2)
    assert found.window.pronoun == "sie"
    assert set(found.names) == {
        "pronoun sie",
        *("word-1 today", "word- today", "pronoun sie word-1 today"),
        *("word+1 be", "word+2 old", "word+ be", "word+ old", "pronoun sie word+1 be"),
        *("tag-1 NUM", "tag- NUM", "pronoun sie tag-1 NUM"),
        *("tag+1 AUX", "tag+2 ADJ", "tag+ AUX", "tag+ ADJ", "pronoun sie tag+1 AUX"),
        *("source-1 ist", "source-2 heute", "source- ist", "source- heute", "pronoun sie source-1 ist"),
        *("source+1 alt", "source+ alt", "pronoun sie source+1 alt"),
        *("noun1 lamp", "noun1 source lampe", "noun1 source-1 die"),
    }
    nouns = line("a b c d", "one|NN two|NE three|NOM four|PROPN REPLACE_0 five|NOUN")
    (found,) = describe([nouns], size=1)
    assert [name for name in found.names if name.startswith("noun")] == ["noun1 four", "noun2 three", "noun3 two"]
    assert "source-1 " + EDGE in found.names


def test_the_language_model_compares_the_classes_of_a_slot() -> None:
    model = Ngrams.count([["she", "go"]] * 3 + [["he", "sit"]] * 3, order=2)
    found = list(describe([line("sie geht", "REPLACE_0 go|VERB")], size=2))
    (scores,) = model_scores(found, TASK, model)
    best = TASK.classes.index("she")
    assert scores.argmax() == best and scores[best] == 0 and scores[TASK.classes.index("he")] < 0


def made_up(seed: int = 1) -> tuple[csr_array, np.ndarray[Any, Any]]:
    """Four classes that three of eight columns decide."""
    drawn = np.random.default_rng(seed)
    x = (drawn.random((120, 8)) < 0.5).astype(float)
    return csr_array(x), np.array([3, 5, 8, 9])[(2 * x[:, 0] + x[:, 3]).astype(int)]


def test_the_arrays_classify_as_scikit_learn_does() -> None:
    x, labels = made_up()
    weights = np.ones(len(labels))

    def forest() -> Any:
        return RandomForestClassifier(7, min_samples_leaf=2, random_state=1)

    def linear() -> Any:
        return LogisticRegression(max_iter=500)

    kinds: list[tuple[Any, Callable[[], Any]]] = [(Forest, forest), (Linear, linear)]
    for kind, make in kinds:
        for chosen in (labels >= 3, labels <= 5):  # four classes, and two
            fitted = kind.fit(make, x[chosen], labels[chosen], weights[chosen])
            expected = make().fit(x[chosen], labels[chosen], sample_weight=weights[chosen]).predict(x)
            assert fitted(x).tolist() == expected.tolist()
    steps = TwoStep.fit(linear, x, labels, weights, other=9)
    assert steps(x).tolist() == labels.tolist()
    assert Linear.fit(linear, x, np.full(120, 4), weights)(x).tolist() == [4] * 120
    for only in (9, 3):
        alone = TwoStep.fit(linear, x[labels == only], labels[labels == only], weights[labels == only], other=9)
        assert set(alone(x).tolist()) == {only}


@pytest.mark.parametrize("kind", KINDS)
def test_a_classifier_learns_and_is_read_again(
    kind: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = tmp_path / "model", tmp_path / "out"
    flags = ["--pair", "de-en", str(data), "--dev", str(data), "-o", str(model), "--classifier", kind]
    assert main(["clpp", "train", *flags]) == 0
    assert "macro R of gold classes" in capsys.readouterr().out
    assert sorted(path.name for path in model.iterdir()) == ["clpp.yaml", "features.json", "model.safetensors"]
    assert main(["clpp", "predict", str(model), str(data), "-o", str(out)]) == 0
    assert [line.split("\t")[0] for line in out.read_text().splitlines()] == [label for label, *_ in ROWS * 4]
    unknown = tmp_path / "unknown.data"
    unknown.write_text(data.read_text().replace("OTHER\t", "?\t"))  # labels are not read
    assert main(["clpp", "predict", str(model), str(unknown), "-o", str(tmp_path / "same")]) == 0
    assert (tmp_path / "same").read_bytes() == out.read_bytes()
    assert main(["clpp", "score", "--pair", "de-en", str(data), str(out)]) == 0
    assert "Accuracy = 24/24 = 100.00%" in capsys.readouterr().out
    assert main(["clpp", "train", *flags]) == 1
    assert "would be overwritten" in capsys.readouterr().err


def test_a_classifier_without_a_language_model(data: Path, tmp_path: Path) -> None:
    lines = clpp.read(data, TASK)
    options = FeatureOptions("svm", window=1, order=0, balanced=False)
    made = train(TASK, options, lines, lines, tmp_path / "m")
    again = classifiers.load(tmp_path / "m")
    right = tally([line.labels for line in lines], again.predict(lines), TASK)
    assert again.options == options and right == made.scores[made.chosen]
    assert set(load_file(tmp_path / "m" / "model.safetensors")) == {"model.weights", "model.bias", "model.numbers"}


def test_what_does_not_fit_is_refused(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["clpp", "train", "--pair", "de-en", str(data), "--dev", str(data), "-o", str(tmp_path / "m")]
    for more, said in (
        (["--classifier", "svm", "--epochs", "3"], "--epochs is not read by svm: leave it out"),
        (["--classifier", "attention", "--order", "3"], "--order is not read by attention: leave it out"),
        (["--encoder", "x", "--classifier", "svm"], "not allowed with argument"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main([*flags, *more])
        assert said in capsys.readouterr().err
    assert main([*flags, "--classifier", "svm", "--window", "1"]) == 1
    assert "--window 1: expected at least 2" in capsys.readouterr().err
    lines = clpp.read(data, TASK)
    for parts, name in (((lines[3:4], lines), "to train on"), ((lines, lines[3:4]), "in the development data")):
        with pytest.raises(InputError, match=f"no slot with a label {name}"):
            train(TASK, FeatureOptions("svm"), *parts, tmp_path / "n")


def test_a_broken_classifier_is_refused(data: Path, tmp_path: Path) -> None:
    lines = clpp.read(data, TASK)
    folder = tmp_path / "m"
    train(TASK, FeatureOptions("forest"), lines, lines, folder)
    arrays = load_file(folder / "model.safetensors")
    cyclic = {**arrays, "model.left": np.where(arrays["model.left"] < 0, -1, 0)}
    save_file(cyclic, folder / "model.safetensors")
    with pytest.raises(InputError, match=r"broken classifier \(a tree that does not end\); train it again"):
        classifiers.load(folder)
    save_file({**arrays, "model.numbers": arrays["model.numbers"] + 9}, folder / "model.safetensors")
    with pytest.raises(InputError, match=r"broken classifier \(more classes than de-en has\)"):
        classifiers.load(folder)
    save_file(arrays, folder / "model.safetensors")
    names = json.loads((folder / "features.json").read_text())
    (folder / "features.json").write_text(json.dumps({**names, "features": names["features"][:3]}))
    with pytest.raises(InputError, match=r"broken classifier \(trees of more than 12 features\)"):
        classifiers.load(folder)
    (folder / "features.json").write_text(json.dumps({**names, "words": names["words"][:3]}))
    with pytest.raises(InputError, match="broken classifier"):
        classifiers.load(folder)
