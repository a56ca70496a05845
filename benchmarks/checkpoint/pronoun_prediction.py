"""Cross-lingual pronoun prediction on WMT news, German to English: the baseline and the classifiers of `clpp train`.

    python -m benchmarks.checkpoint.pronoun_prediction --wmt DIR --work DIR [--models NAME ...] [--page]

The data are made with `clpp prepare` from the German sources and English references and, for training only, some
systems' outputs: WMT21 and WMT23 train, without every fifth segment, whose references are development data; the first
reference of WMT22 is the test. Words are aligned by the project's agreement EM, trained on all these pairs. The target
is lower-cased, not lemmatised; its tags are PRON (forms of the table of English pronouns), NOUN (aligned to a
capitalised German word within the sentence), NUM, PUNCT and X. German has no dependency labels here, so that each er,
sie and es has a slot. A model whose figures are in the folder of --work is not run again. `--page` writes
clpp-comparison.md and its JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import pages
from data_prep.wmt import discovery
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.links import Alignment, to_pharaoh
from pronmetric.cli.main import main as pronmetric
from pronmetric.errors import PronmetricError
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp import score as clpp_score
from pronmetric.lab.clpp.features import KINDS
from pronmetric.pronouns.finder import FORMS
from pronmetric.text.words import words

PAGE = pages.PUBLISHED / "clpp-comparison.md"
PAIR = "de-en"
TEST, HELD_OUT = "2022", 5  # every fifth segment of the other years is development data
PARTS = TRAIN, DEVELOPMENT, TESTED = ("train", "development", "test")
MAJORITY, BASELINE, ENCODER = "majority", "baseline", "encoder"
MODELS = (MAJORITY, BASELINE, *KINDS, "gru", "attention", ENCODER)
FLAGS: Mapping[str, Sequence[str]] = {  # of `clpp train`
    **{kind: ("--classifier", kind) for kind in KINDS},
    **{kind: ("--classifier", kind, "--epochs", "8") for kind in ("gru", "attention")},
    ENCODER: ("--epochs", "2", "--window", "12", "--batch-size", "32"),
}
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
                    part, texts = TESTED, texts[:1]
                elif part == TRAIN:
                    texts += [segment.hyps[name] for name in sorted(segment.hyps)[:systems]]
                for text in dict.fromkeys(texts):
                    if segment.src and text.strip():
                        yield Sentences(part, split(segment.src), split(_CLITIC.sub(" ", text)))


def split(text: str) -> list[str]:
    """The words of a text, as a data file has them."""
    return ["_".join(word.text.replace("|", "/").split()) for word in words(text)]


def factored(word: str, linked: Collection[str]) -> str:
    """A target word with its lower-cased form and tag.

    linked: the source words that it is aligned to, without the first one of the sentence.

    >>> factored("They", []), factored("lamp", ["Lampe"]), factored("12", []), factored("--", [])
    ('They|they|PRON', 'lamp|lamp|NOUN', '12|12|NUM', '--|--|PUNCT')
    """
    form = word.lower()
    if form in FORMS:
        tag = "PRON"
    elif any(map(str.isalpha, form)):
        tag = "NOUN" if form.isalpha() and any(one[:1].isupper() for one in linked) else "X"
    else:
        tag = "NUM" if any(map(str.isdigit, form)) else "PUNCT"
    return f"{word}|{form}|{tag}"


def make_data(work: Path, wmt: str, systems: int) -> dict[str, Any]:
    """Write the task data of each part; the segments and the slots of each class."""
    found = list(sentences(wmt, systems))
    lower = [([word.lower() for word in one.source], [word.lower() for word in one.target]) for one in found]
    aligner = AgreementAligner(symmetrize="grow-diag-final-and")
    aligner.train(lower)
    linked = list(zip(found, aligner.align_all(lower), strict=True))
    counts = {}
    for part in PARTS:
        rows = [(one, links) for one, links in linked if one.part == part]
        files = {end: work / f"{part}.{end}" for end in ("source", "target", "alignment")}
        texts = [(" ".join(one.source), " ".join(_target(one, links)), to_pharaoh(links)) for one, links in rows]
        for file, column in zip(files.values(), zip(*texts, strict=True), strict=True):
            file.write_text("".join(f"{text}\n" for text in column), encoding="utf-8")
        sides = [word for end, file in files.items() for word in (f"--{end}", str(file))]
        _run("prepare", "--pair", PAIR, *sides, "-o", str(work / part), "--quiet")
        counts[part] = {"segments": len(rows), **labels(work / f"{part}.data.filtered")}
    return {"systems": systems, "parts": counts}


def _target(one: Sentences, found: Alignment) -> Iterator[str]:
    within: dict[int, list[str]] = {}
    for s, t in found.links:
        if s:
            within.setdefault(t, []).append(one.source[s])
    return (factored(word, within.get(t, [])) for t, word in enumerate(one.target))


def labels(path: Path) -> dict[str, int]:
    """The slots of each class in a data file."""
    task = clpp.task(PAIR)
    found = Counter(label for line in clpp.read(path, task) for label in line.labels)
    return {label: found[label] for label in task.classes}


def measure(work: Path, name: str, encoder: str | None) -> dict[str, Any]:
    """Train a model and score its predictions of the test data."""
    train, development, test = (str(work / f"{part}.data.filtered") for part in PARTS)
    out, model = str(work / f"{name}.predictions"), str(work / name)
    began = time.process_time()
    if name == MAJORITY:
        _predict_majority(Path(train), Path(test), Path(out))
    elif name == BASELINE:
        _run("baseline", "--pair", PAIR, "--train-lm", train, "--tune", development, test, "-o", out, "--quiet")
    else:
        flags = [*FLAGS[name], *(["--encoder", str(encoder)] if name == ENCODER else [])]
        if name in KINDS:  # they read the sentences before a slot's
            train, development, test = (str(work / f"{part}.data") for part in PARTS)
        _run("train", "--pair", PAIR, train, "--dev", development, *flags, "-o", model, "--quiet")
    seconds = time.process_time() - began
    if name not in (MAJORITY, BASELINE):
        _run("predict", model, test, "-o", out)
    found = clpp_score.result_json(clpp_score.score(test, out, clpp.task(PAIR)))
    return {"cpu_seconds": round(seconds), **found}


def _predict_majority(train: Path, test: Path, out: Path) -> None:
    """Predict the most frequent class of the training data everywhere."""
    counts = labels(train)
    best = max(counts, key=lambda label: counts[label])
    lines = (" ".join([best] * len(line.slots)) for line in clpp.read(test, clpp.task(PAIR)))
    out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _run(*argv: str) -> None:
    if code := pronmetric(["clpp", *argv]):
        raise PronmetricError(f"`pronmetric clpp {' '.join(argv)}` failed with exit code {code}")


def page(content: Mapping[str, Any]) -> str:
    """The page of these figures."""
    parts, models = content["data"]["parts"], content["models"]
    classes = clpp.task(PAIR).classes
    slots = [["part", "segments", *classes]]
    slots += [
        [part, f"{found['segments']:,}", *(f"{found[name]:,}" for name in classes)] for part, found in parts.items()
    ]
    there = [label for label in classes if parts[TESTED][label]]
    rows = [["model", "macro R", f"macro R of {len(there)} classes", "macro F1", "accuracy"]]
    rows[0] += [*(f"R {label}" for label in there), "CPU seconds"]
    for name, found in models.items():
        recalls = [found["classes"][label]["recall"] for label in there]
        figures = [found["macro_recall"], sum(recalls) / len(there), found["macro_f1"], found["accuracy"]]
        shown = [*(f"{figure:.2f}" for figure in figures), *(f"{figure:.1f}" for figure in recalls)]
        rows.append([name, *shown, str(found["cpu_seconds"])])
    missing = [name for name in MODELS if name not in models]
    return pages.fill(
        "clpp-comparison",
        command=content["command"],
        date=content["date"],
        systems=content["data"]["systems"],
        slots=pages.markdown(slots),
        most=f"{100 * len(there) / len(classes):.1f}",
        number=len(there),
        table=pages.markdown(rows) + (f"\n\nNot run: {', '.join(missing)}." if missing else ""),
        encoder=f" encoder: {content['encoder']}, 2 epochs and 12 words on each side."
        if content.get("encoder")
        else "",
    )


def main() -> None:
    """Make the data and run the models that have no figures; print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wmt", metavar="DIR", required=True, help="WMT21 to WMT23")
    parser.add_argument("--work", type=Path, metavar="DIR", required=True, help="folder of data, models and figures")
    parser.add_argument("--models", nargs="+", choices=MODELS, metavar="NAME", help="default: all that can be run")
    parser.add_argument("--encoder", metavar="FOLDER", help=f"a Hugging Face encoder, for {ENCODER}")
    parser.add_argument("--systems", type=int, default=6, metavar="N", help="systems whose outputs are training data")
    parser.add_argument("--page", action="store_true", help="write the page and its JSON")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    file = args.work / "figures.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"models": {}}
    for name in ("data", *(args.models or [name for name in MODELS if name != ENCODER or args.encoder])):
        if name == "data" and name not in found:
            found[name] = make_data(args.work, args.wmt, args.systems)
        elif name != "data" and name not in found["models"]:
            found["models"][name] = measure(args.work, name, args.encoder)
            found |= {"encoder": Path(args.encoder).name} if name == ENCODER else {}
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    models = {name: found["models"][name] for name in MODELS if name in found["models"]}
    content = {**pages.origin("checkpoint.pronoun_prediction"), **found, "models": models}
    if args.page:
        pages.write_page(PAGE, page(content), content)
    else:
        print(page(content), end="")


if __name__ == "__main__":
    pages.run(main)
