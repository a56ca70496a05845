"""Cross-lingual pronoun prediction on WMT news, German to English: n-gram baseline, GRUs, encoder.

    python -m benchmarks.clpp_comparison data --wmt-dir WMT --folder WORK
    python -m benchmarks.clpp_comparison majority|baseline|gru|encoder --folder WORK [--encoder FOLDER]
    python -m benchmarks.clpp_comparison page --folder WORK

`data` makes task data with `clpp prepare` from the German sources and English references and, for training only, some
systems' outputs. Training data are WMT21 and WMT23 without every fifth segment, whose references are the development
data; the first reference of WMT22 is the test data. Words are aligned by the project's agreement EM, trained on all
these pairs. The target is lower-cased instead of lemmatised, and its tags are PRON (forms of the table of English
pronouns), NUM, PUNCT and X. German has no dependency labels here, so that each er, sie and es has a slot.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import prepare, scoring
from data_prep.wmt import discovery
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.links import to_pharaoh
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp import score as clpp_score
from pronmetric.pronouns.finder import FORMS
from pronmetric.text.words import words

PAGE = scoring.BENCHMARKS / "clpp-comparison.md"
PAIR = "de-en"
TEST, HELD_OUT = "2022", 5  # every fifth segment of the other years is development data
TRAIN, DEVELOPMENT = "train", "development"
MODELS = ("majority", "baseline", "gru", "encoder")
TRAINING = {  # flags of `clpp train`
    "gru": ["--epochs", "8"],
    "encoder": ["--epochs", "2", "--window", "12", "--batch-size", "32"],
}
ABOUT = """gru and encoder:
`clpp train`, the first with 8 epochs, the second from all-MiniLM-L6-v2 (English; no multilingual encoder is here) with
2 epochs and 12 words on each side."""
_CLITIC = re.compile(r"(?<=\w)(?=['\u2019](?:s|re|ll|ve|d|m)\b)", re.IGNORECASE)


class Sentences(NamedTuple):
    """A sentence pair as words, and the part of the data that it is in."""

    part: str
    source: list[str]
    target: list[str]


def sentences(folder: str, systems: int) -> Iterator[Sentences]:
    """The sentence pairs of all years; outputs of the first `systems` systems are training data only."""
    for testset in discovery.discover(folder, pairs=[PAIR], exclude=()).testsets:
        for document in discovery.read(testset):
            for segment in document.segments:
                texts = list(segment.refs.values())
                part = DEVELOPMENT if segment.seg % HELD_OUT == 0 else TRAIN
                if TEST in testset.name:
                    part, texts = "test", texts[:1]
                elif part == TRAIN:
                    texts += [segment.hyps[name] for name in sorted(segment.hyps)[:systems]]
                for text in dict.fromkeys(texts):
                    if segment.src and text.strip():
                        yield Sentences(part, split(segment.src), split(_CLITIC.sub(" ", text)))


def split(text: str) -> list[str]:
    """The words of a text, as a data file has them."""
    return ["_".join(word.text.replace("|", "/").split()) for word in words(text)]


def factored(word: str) -> str:
    """A target word with its lower-cased form and tag."""
    form = word.lower()
    if form in FORMS:
        tag = "PRON"
    elif form.isalpha():
        tag = "X"
    else:
        tag = "NUM" if any(map(str.isdigit, form)) else "PUNCT" if not any(map(str.isalpha, form)) else "X"
    return f"{word}|{form}|{tag}"


def make_data(args: argparse.Namespace) -> dict[str, Any]:
    """Write the task data of each part; the counts of `clpp prepare`."""
    found = list(sentences(args.wmt_dir, args.systems))
    lower = [([word.lower() for word in one.source], [word.lower() for word in one.target]) for one in found]
    aligner = AgreementAligner(symmetrize="grow-diag-final-and")
    aligner.train(lower)
    links = list(aligner.align_all(lower))
    counts = {}
    for part in (TRAIN, DEVELOPMENT, "test"):
        rows = [(one, link) for one, link in zip(found, links, strict=True) if one.part == part]
        names = [args.folder / f"{part}.{end}" for end in ("de", "en", "links")]
        lines: tuple[Iterable[str], ...] = (
            (" ".join(one.source) for one, _ in rows),
            (" ".join(map(factored, one.target)) for one, _ in rows),
            (to_pharaoh(link) for _, link in rows),
        )
        for name, texts in zip(names, lines, strict=True):
            name.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        sides = ["--source", str(names[0]), "--target", str(names[1]), "--alignment", str(names[2])]
        run("prepare", "--pair", PAIR, *sides, "-o", str(args.folder / part), "--quiet")
        counts[part] = {"segments": len(rows), **labels(args.folder / f"{part}.data.filtered")}
    return {"systems": args.systems, "parts": counts}


def labels(path: Path) -> dict[str, int]:
    """The slots of each class in a data file."""
    task = clpp.task(PAIR)
    found = Counter(label for line in clpp.read(path, task) for label in line.labels)
    return {label: found[label] for label in task.classes}


def run(*flags: str) -> float:
    """Run a command of `pronmetric clpp`; its CPU seconds."""
    before = time.process_time(), _children()
    subprocess.run([sys.executable, "-m", "pronmetric.cli.main", "clpp", *flags], check=True)
    return _children() - before[1]


def _children() -> float:
    import os

    times = os.times()
    return times.children_user + times.children_system


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """Train a model and score its predictions of the test data."""
    train, development, test = (str(args.folder / f"{part}.data.filtered") for part in (TRAIN, DEVELOPMENT, "test"))
    out = str(args.folder / f"{args.what}.predictions")
    model = str(args.folder / args.what)
    if args.what == "baseline":
        seconds = run("baseline", "--pair", PAIR, "--train-lm", train, "--tune", development, test, "-o", out)
    elif args.what == "majority":
        seconds = majority(train, test, out)
    else:
        own = [*TRAINING[args.what], *(["--encoder", args.encoder] if args.what == "encoder" else [])]
        seconds = run("train", "--pair", PAIR, train, "--dev", development, *own, "-o", model)
        run("predict", model, test, "-o", out)
    found = clpp_score.result_json(clpp_score.score(test, out, clpp.task(PAIR)))
    return {"cpu_seconds": round(seconds), **found}


def majority(train: str, test: str, out: str) -> float:
    """Predict the most frequent class of the training data everywhere."""
    counts = labels(Path(train))
    best = max(counts, key=lambda label: counts[label])
    with open(out, "w", encoding="utf-8") as file:
        for line in clpp.read(test, clpp.task(PAIR)):
            file.write(" ".join([best] * len(line.slots)) + "\n")
    return 0.0


def page(content: Mapping[str, Any]) -> str:
    """The page of the figures."""
    parts, models = content["data"]["parts"], content["models"]
    classes = [name for name in next(iter(parts.values())) if name != "segments"]
    slots = [["part", "segments", *classes]]
    slots += [
        [part, f"{found['segments']:,}", *(f"{found[name]:,}" for name in classes)] for part, found in parts.items()
    ]
    rows = [["model", "macro R", "accuracy", "macro F1", *(f"R {name}" for name in classes), "CPU seconds"]]
    for name, found in models.items():
        recalls = [f"{found['classes'][label]['recall']:.1f}" for label in classes]
        figures = [f"{found[figure]:.2f}" for figure in ("macro_recall", "accuracy", "macro_f1")]
        rows.append([name, *figures, *recalls, str(found["cpu_seconds"])])
    return f"""# Cross-lingual pronoun prediction on WMT news, German to English

Weights: random, or those of the encoder named below; no checkpoint is used. JSON: `clpp-comparison.json`. Written on
{content["date"]} by

    {content["command"]}

The official data of the task is not here, so no figure compares with the official ones. The data are WMT news:
training on WMT21 and WMT23 (references and outputs of {content["data"]["systems"]} systems), every fifth segment
(references only) for development, the first reference of WMT22 for the test. The target is lower-cased, not lemmatised,
its tags are of a table (PRON, NUM, PUNCT, X), the words are aligned by the project's own aligner, and each er, sie and
es has a slot, as there are no dependency labels.

Slots of each class:

{prepare.as_table(slots)}

Recall of each class, macro-averaged recall (the official score) and accuracy on the test data, in percent. The average
is over all nine classes, as in the official program; a class without a slot counts 0, so that the highest possible
macro R here is below 100. CPU seconds of training on one core (of the baseline: of training, tuning and prediction).

{prepare.as_table(rows)}

majority: the most frequent class of training everywhere. baseline: 3-grams of NLTK, trained on the target side, the
penalty of the empty filler tuned on development data. {ABOUT}
"""


def write_page(args: argparse.Namespace) -> None:
    """Write the page of the figures that are in the folder."""
    read = {
        name: json.loads((args.folder / f"{name}.json").read_text())
        for name in ("data", *MODELS)
        if (args.folder / f"{name}.json").exists()
    }
    content = {**scoring.origin("clpp_comparison"), "data": read.pop("data"), "models": read}
    scoring.write_page(PAGE, page(content), content)


def main(argv: Sequence[str] | None = None) -> None:
    """Run one step; its figures are in WORK/STEP.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("data", *MODELS, "page"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--wmt-dir", help="WMT21 to WMT23")
    parser.add_argument("--systems", type=int, default=6, help="systems whose outputs are training data")
    parser.add_argument("--encoder", help="folder of a Hugging Face encoder")
    args = parser.parse_args(argv)
    if args.what == "page":
        write_page(args)
        return
    args.folder.mkdir(parents=True, exist_ok=True)
    found = make_data(args) if args.what == "data" else measure(args)
    (args.folder / f"{args.what}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({name: value for name, value in found.items() if name != "confusion"}, indent=1))


if __name__ == "__main__":
    main()
