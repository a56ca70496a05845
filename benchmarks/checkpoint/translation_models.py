"""Do the systems of `pronmetric nmt` use their context? All are trained on a pair of artificial languages, and scored.

    python -m benchmarks.checkpoint.translation_models --work DIR [--systems NAME ...] [--seeds N ...] [--page]

The languages and their contrastive sets are those of tests/tools/artificial_language.py; each seed has a text, sets and
models of its own. Systems whose figures are in DIR are not run again, and a run that was stopped is resumed. A system
that starts from the base trains this first. `--page` writes translation-models.md and its JSON: means over the seeds,
with the lowest and the highest figure.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import pages
from pronmetric.cli.main import main as pronmetric
from pronmetric.errors import PronmetricError
from tests.tools import artificial_language as language
from tests.tools.word_encoder import write_encoder

PAGE = pages.PUBLISHED / "translation-models.md"
MANY = f"nmt.size={max(language.DISTANCES)}"
BASE = "none"
SHARES = (0, 0.25, 0.5, 0.75, 1)
LANGUAGES = {"easy": language.EASY, "hard": language.HARD}
SYSTEMS: Mapping[str, Sequence[str]] = {
    BASE: (),
    "concat21": ("nmt.context=concat21",),
    "concat22": ("nmt.context=concat22",),
    "concatN": ("nmt.context=concatN", MANY),
    "shared_gate": ("nmt.context_encoder=shared_gate",),
    "thumt": ("nmt.context_encoder=thumt",),
    "thumt, second stage": ("nmt.context_encoder=thumt", "init", "frozen=true"),
    **{
        f"{name}{kind}": (f"nmt.context_encoder={name}", *more)
        for name in ("s-hier", "s-t-hier", "s-hier-to-2")
        for kind, more in (("", ("nmt.tied=false",)), (".tied", ("nmt.tied=true",)))
    },
    "s-hier-to-2.tied, GRU": ("nmt.context_encoder=s-hier-to-2", "nmt.tied=true", "nmt.cell=gru"),
    **{
        f"cadec, p = {share:g}": ("nmt.cadec=true", MANY, "init", "frozen=true", f"draft.corrupted={share:g}")
        for share in SHARES
    },
    "bert_fused": ("nmt.bert_fused", "nmt.size=1"),
}
SETS = {
    language.PRONOUNS: ("contrapro", ("--documents", language.DOCUMENTS)),
    language.POLITENESS: ("consistency", ()),
    language.ELLIPSIS: ("consistency", ()),
}
COLUMNS = [
    (name, str(distance)) for name in (language.PRONOUNS, language.POLITENESS) for distance in language.DISTANCES
]
COLUMNS += [(language.ELLIPSIS, "1")]


def measure(work: Path, name: str, overrides: Sequence[str], seed: int) -> dict[str, Any]:
    """Train a system and score it on each set; accuracy by set and distance."""
    folder = work / name.replace(" ", "").replace(",", "-").replace("=", "")  # "=" has a meaning in overrides
    given = {"init": f"init={work / BASE}", "nmt.bert_fused": f"nmt.bert_fused={work / 'encoder'}"}
    if "nmt.bert_fused" in overrides:
        write_encoder(work / "encoder", source_words())
    began = time.process_time()
    text = {"source": language.SOURCE, "target": language.TARGET, "docids": language.DOCIDS}
    _run(
        "nmt",
        "train",
        *(f"data.{key}={work / file}" for key, file in text.items()),
        *(given.get(override, override) for override in overrides),
        f"seed={seed}",
        f"out={folder}",
        "trainer.progress=false",
        "trainer.threads=1",
    )
    seconds = time.process_time() - began
    accuracy = {}
    for file, (suite, more) in SETS.items():
        out = work / "result.json"
        flags = [str(work / word) if word == language.DOCUMENTS else word for word in more]
        given_set = (
            "--set",
            str(work / file),
            "--seq2seq",
            str(folder),
            "--gpus",
            "0",
            "--batch-size",
            "64",
            "--quiet",
        )
        _run("suite", "score", suite, *given_set, *flags, "--to_json", str(out))
        by = json.loads(out.read_text(encoding="utf-8"))["by"]
        accuracy[file] = {
            distance: one["accuracy"]
            for distance, one in next(v for k, v in by.items() if k.endswith("distance")).items()
        }
    return {"accuracy": accuracy, "cpu_seconds": round(seconds)}


def _run(*argv: str) -> None:
    if code := pronmetric(argv):
        raise PronmetricError(f"`pronmetric {' '.join(argv)}` failed with exit code {code}")


def with_base(names: Sequence[str]) -> list[str]:
    """The systems to run, after the base where one of them starts from it."""
    return list(dict.fromkeys([*([BASE] if any("init" in SYSTEMS[name] for name in names) else []), *names]))


def read_figures(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of the systems that were run; none where there is no such file.

    Raises:
        PronmetricError: they are of other settings.
    """
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    for key, value in settings.items():
        if content.get(key) != value:
            raise PronmetricError(
                f"{path}: its figures are of {key} {content.get(key)}, not {value}: give another --work"
            )
    return content["systems"]


def source_words() -> list[str]:
    """All words of the source language."""
    found = {"the", "it", "you", "does", "too", ".", *language.NAMES}
    return sorted(found | {source for group in language.WORDS for source, _ in group})


def page(content: Mapping[str, Any]) -> str:
    """The page of these figures."""
    by_seed = content["seeds"]
    rows = [["system", *(f"{Path(file).stem}, {distance}" for file, distance in COLUMNS), "CPU seconds"]]
    there = [name for name in SYSTEMS if all(name in one for one in by_seed.values())]
    for name in there:
        runs = [one[name] for one in by_seed.values()]
        figures = [_range([100 * run["accuracy"][file][distance] for run in runs]) for file, distance in COLUMNS]
        rows.append([name, *figures, str(sum(run["cpu_seconds"] for run in runs))])
    missing = [name for name in SYSTEMS if name not in there]
    note = f"Not run yet: {', '.join(missing)}.\n\n" if missing else ""
    changed = f" ({' '.join(content['overrides'])})" if content["overrides"] else ""
    return pages.fill(
        "translation-models",
        command=content["command"],
        date=content["date"],
        language=content["language"],
        documents=content["documents"],
        seeds=" ".join(by_seed),
        changed=changed,
        table=note + pages.markdown(rows),
    )


def _range(figures: Sequence[float]) -> str:
    mean = f"{sum(figures) / len(figures):.1f}"
    return mean if len(set(figures)) == 1 else f"{mean} ({min(figures):.1f} to {max(figures):.1f})"


def main() -> None:
    """Run the systems; print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="folder of texts, models and figures")
    parser.add_argument("--language", choices=LANGUAGES, default="hard", help="default: %(default)s")
    parser.add_argument("--documents", type=int, default=5000, metavar="N", help="default: %(default)s")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, metavar="NAME", help="default: all")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="N", help="default: 1 2 3")
    parser.add_argument("--overrides", nargs="+", default=[], metavar="KEY=VALUE", help="of each `nmt train`")
    parser.add_argument("--page", action="store_true", help="write the page and its JSON")
    args = parser.parse_args()
    settings = {"language": args.language, "documents": args.documents, "overrides": args.overrides}
    seeds = {str(seed): run(args.work / f"seed{seed}", seed, args.systems, settings) for seed in args.seeds}
    content = {**pages.origin("checkpoint.translation_models"), **settings, "seeds": seeds}
    if args.page:
        pages.write_page(PAGE, page(content), content)
    else:
        print(page(content), end="")


def run(work: Path, seed: int, names: Sequence[str] | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of systems on the text of a seed, by system."""
    if not (work / language.SOURCE).is_file():
        language.write(work, of=LANGUAGES[settings["language"]], documents=settings["documents"], seed=seed)
    figures = work / "figures.json"
    found = read_figures(figures, settings)
    for name in with_base(names or list(SYSTEMS)):
        if name not in found:
            found[name] = measure(work, name, [*SYSTEMS[name], *settings["overrides"]], seed)
            text = json.dumps({**settings, "systems": found}, indent=1)
            figures.write_text(f"{text}\n", encoding="utf-8")
    return {name: found[name] for name in SYSTEMS if name in found}


if __name__ == "__main__":
    pages.run(main)
