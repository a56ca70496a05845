"""Contrastive suites of pronouns out of English, with the source and without it, beside baselines.

    python -m benchmarks.checkpoint.target_suites [--model NAME] [--shared DIR] [--german FILE [--corpora NAME ...]]
      [--contrapro FILE --documents DIR] [--language_model FOLDER] [--limit N] [--out FILE.json] [--page [FILE.md]]

- `--shared` has the deixis set of Voita et al. (ru), ctxpro's gender set (es) and DiscEvalMT's anaphora set (fr).
- `--german`: items of er, sie and es, all that there are, from `pronmetric suite build contrastive --target-language de
  --context 3`; those of `--corpora` are taken, which no training text is of.
- Texts about a thing that are written for pronmetric (de; `data_prep.fidelity.things`), with nouns of no training text.
- `--contrapro`: contrapro.json of ZurichNLP/ContraPro (de), and its documents.

A suite of a language that the checkpoint does not score is left out, with a note.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import pages
from benchmarks.checkpoint.prepared import BLOCK
from data_prep.fidelity import things
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.errors import PronmetricError
from pronmetric.eval.estimates import Estimate, bootstrap, cluster_share
from pronmetric.lab.seq2seq.model import LanguageModel
from pronmetric.lab.suites import consistency, contrapro, ctxpro, discevalmt
from pronmetric.lab.suites.contrastive import Candidate, Item, Judging, Reading, Scores, read_list, texts_of
from pronmetric.metric import PronounMetric
from pronmetric.text.context import Text

PAGE = pages.PUBLISHED / "target-suites.md"
CONTEXT = 3  # previous sentences: all that an item of the deixis set has
WAYS = {
    "source and context": (True, True),
    "source, no context": (True, False),
    "context, no source": (False, True),
    "text alone": (False, False),
}
FIRST = next(iter(WAYS))
LANGUAGE_MODEL, MAJORITY = "language model", "most frequent form"
BASELINES = (LANGUAGE_MODEL, MAJORITY)
ALL, MEAN = "all", "mean over forms"
DISTANCES = ("0", "1", "2", "3", ">3", ALL)
SUITES = Path("data") / "suites"
DEIXIS = SUITES / "voita" / "deixis_dev.json"
SPANISH = SUITES / "ctxpro" / "gender.opensubtitles.en-es.dev.json"
FRENCH = SUITES / "bawden" / "anaphora.json"
CORPORA = ("wmt24.en-de", "generaltest2022.de-en")
WRITTEN, SEED, DRAWS = 300, 1, 1000
GERMAN = {"masculine": "er", "feminine": "sie", "neuter": "es"}


class Choice(NamedTuple):
    """An item and its parts of the tables; rivals: the items that ask for another form of the same set of forms."""

    item: Item
    distance: str
    form: str = ""
    rivals: str = ""

    @property
    def unit(self) -> Hashable:
        """The unit of intervals."""
        return self.item.document


@dataclass(frozen=True)
class SuiteSet:
    """The choices of a set, in which a tie is wrong unless `ties`; left_out: how many items by reason."""

    name: str
    language: str
    choices: Sequence[Choice]
    left_out: Mapping[str, int] = field(default_factory=dict)
    ties: bool = False
    published: str = "-"


def deixis(file: Path) -> SuiteSet:
    """The deixis set, judged as published: the right candidate is the first, and wins ties."""
    items = consistency.read(file, Reading(context=CONTEXT))
    chosen = [Choice(item, item.groups[consistency.DISTANCE]) for item in items]
    return SuiteSet("consistency, deixis", "ru", chosen, ties=True)


def of_corpora(file: Path, corpora: Sequence[str]) -> SuiteSet:
    """The items of a contrastive suite that come from these corpora; blocks are units where documents are unknown."""
    chosen = []
    entries = read_list(file, "expected a set of `suite build contrastive`")
    for item, entry in zip(contrapro.read(file, Reading(context=CONTEXT)), entries, strict=True):
        corpus = entry.string("corpus")
        if corpus in corpora:
            segment = entry.whole("segment id", least=1)
            known = item.document != f"{corpus}/{corpus}"
            unit = item.document if known else f"{corpus} {(segment - 1) // BLOCK}"
            chosen.append(_gender(replace(item, document=unit)))
    others = len(entries) - len(chosen)
    return SuiteSet("own, natural", "de", chosen, {"of texts that training may have read": others} if others else {})


def _gender(item: Item) -> Choice:
    return Choice(item, item.groups[contrapro.DISTANCE], item.groups[contrapro.PAIR].split(":")[1])


def written(number: int) -> SuiteSet:
    """German texts about a thing, against their copies with pronouns of the other genders; each text is a unit."""
    known = things.tables("de")
    assert known is not None
    made = partial(things.translations, known, number, use="development", context_size=CONTEXT, seed=SEED)
    chosen = []
    for place, (right, *wrong) in enumerate(zip(*(made(turn=turn) for turn in range(len(GERMAN))), strict=True)):
        texts = dict.fromkeys([right.text, *(each.text for each in wrong)])  # sein is of two genders
        candidates = tuple(Candidate(right.source, text, right.source_context, right.context) for text in texts)
        level, gender = place % things.LEVELS, things.GENDERS[place // things.LEVELS % len(things.GENDERS)]
        chosen.append(Choice(Item(right.id, candidates, document=right.id), str(level), GERMAN[gender]))
    return SuiteSet("own, written", "de", chosen)


def gender(file: Path) -> SuiteSet:
    """The gender set of ctxpro: source sentences from its context inputs, the antecedent's sentence of the target."""
    near = ctxpro.read(file, Reading(context=CONTEXT))
    inputs = file.with_suffix("")
    sources = ctxpro.read(file, Reading(str(inputs), CONTEXT)) if inputs.is_file() else near
    chosen, left_out = [], Counter[str]()
    for item, source in zip(near, sources, strict=True):
        if ctxpro.LEFT_OUT in item.groups:
            left_out[f"{item.groups[ctxpro.LEFT_OUT]} ({item.groups[ctxpro.RULE]})"] += 1
            continue
        before = source.candidates[0].source_context
        both = tuple(replace(one, source_context=before) for one in item.candidates)
        rule = item.groups[ctxpro.RULE]
        rivals = ".".join(name for name in rule.split(".") if name not in ("MASC", "FEM", "NEUT"))
        chosen.append(Choice(replace(item, candidates=both), item.groups[ctxpro.DISTANCE], rule, rivals))
    return SuiteSet("ctxpro, gender", near[0].language, chosen, left_out)


def anaphora(file: Path) -> SuiteSet:
    """DiscEvalMT's anaphora set; the antecedent is in the previous sentence."""
    items = discevalmt.read(file, Reading(context=CONTEXT))
    chosen = [Choice(i, "1", kind := i.groups[discevalmt.TYPE], kind.rpartition(".")[2]) for i in items]
    return SuiteSet("DiscEvalMT, anaphora", "fr", chosen, published="about 90 (best language models)")


def contra_pro(file: Path, documents: Path | None) -> SuiteSet:
    """ContraPro of a user; without its documents no item has context."""
    reading = Reading(None, 0) if documents is None else Reading(str(documents), CONTEXT)
    return SuiteSet("ContraPro", "de", [_gender(item) for item in contrapro.read(file, reading)])


def sets(options: argparse.Namespace, absent: list[str]) -> list[SuiteSet]:
    """The sets whose files are there; the others are named in `absent`."""
    given: list[tuple[Path | None, str, Callable[[Path], SuiteSet]]] = [
        (options.shared / DEIXIS, "consistency, deixis (ru)", deixis),
        (options.german, "own, natural (de)", partial(of_corpora, corpora=options.corpora)),
        (options.shared / SPANISH, "ctxpro, gender (es)", gender),
        (options.shared / FRENCH, "DiscEvalMT, anaphora (fr)", anaphora),
        (options.contrapro, "ContraPro (de)", partial(contra_pro, documents=options.documents)),
    ]
    found = [written(WRITTEN)]
    for file, name, make in given:
        if file is None or (file.is_relative_to(options.shared) and not file.is_file()):
            absent.append(f"{name}: no file of it is given")
        else:
            found.append(make(file))
    return sorted(found, key=lambda one: (one.language, one.name))


def draw(one: SuiteSet, most: int | None) -> SuiteSet:
    """The set with at most so many choices, drawn by seed 0, in order."""
    chosen = np.sort(np.random.default_rng(0).permutation(len(one.choices))[:most]).tolist()
    return replace(one, choices=[one.choices[k] for k in chosen])


def texts(choices: Sequence[Choice], *, source: bool, context: bool) -> list[Text]:
    """The candidates as they are read."""

    def as_read(one: Candidate) -> Candidate:
        before = (one.source_context, one.target_context) if context else ((), ())
        return Candidate(one.source if source else "", one.target, *before)

    items = (choice.item for choice in choices)
    return texts_of([replace(item, candidates=tuple(map(as_read, item.candidates))) for item in items])


def cut(values: Sequence[float], choices: Sequence[Choice]) -> list[Scores]:
    """The scores of each item."""
    stream = iter(values)
    return [[next(stream) for _ in choice.item.candidates] for choice in choices]


def rights(one: SuiteSet, scores: Sequence[Scores], *, ties: bool) -> list[bool]:
    """Whether each choice is right."""
    items = [choice.item for choice in one.choices]
    if ties:
        return [each.right for each in consistency.judge(items, scores, Judging()).verdicts]
    return [item.better_than_all(values) for item, values in zip(items, scores, strict=True)]


def most_frequent(choices: Sequence[Choice]) -> list[bool] | None:
    """Whether each choice is right where the most frequent form is always chosen; None where a set has no forms."""
    if not any(choice.form for choice in choices):
        return None
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for choice in choices:
        counts[choice.rivals][choice.form] += 1
    return [choice.form == counts[choice.rivals].most_common(1)[0][0] for choice in choices]


def figures(one: SuiteSet, judged: Mapping[str, Sequence[bool] | None]) -> dict[str, Any]:
    """The shares of right choices by distance and by form; judged: whether each is right, by way or baseline."""

    def group(places: Sequence[int]) -> dict[str, Any]:
        units = [one.choices[k].unit for k in places]
        shares = {
            name: None if right is None else cluster_share([right[k] for k in places], units)
            for name, right in judged.items()
        }
        return {"items": len(places), **shares}

    by: dict[str, dict[str, Any]] = {"distance": {}, "form": {}}
    for distance in DISTANCES:
        if places := [k for k, choice in enumerate(one.choices) if distance in (choice.distance, ALL)]:
            by["distance"][distance] = group(places)
    forms = [choice.form for choice in one.choices]
    for form in sorted(set(filter(None, forms))):
        by["form"][form] = group([k for k, own in enumerate(forms) if own == form])
    if by["form"]:
        units = [choice.unit for choice in one.choices]
        means = {
            name: None if right is None else bootstrap(partial(_mean, right, forms), units, draws=DRAWS, seed=SEED)
            for name, right in judged.items()
        }
        by["form"][MEAN] = {"items": len(forms), **means}
    return by


def _mean(right: Sequence[bool], forms: Sequence[str], weights: np.ndarray) -> float | None:
    """The mean over forms of the shares of right choices; None where a form has none."""
    shares = []
    for form in set(forms):
        own = weights * np.array([each == form for each in forms])
        if not own.sum():
            return None
        shares.append(float((own * np.array(right)).sum() / own.sum()))
    return sum(shares) / len(shares)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """The figures of each set whose language the checkpoint scores, and why others are left out."""
    place = locate.locate(options.model)
    trained = [
        each.code for each in checkpoint_config.languages_of(checkpoint_config.read(place.folder / locate.CONFIG))
    ]
    reader = None
    if options.language_model is not None:
        reader = LanguageModel(options.language_model, precision=options.precision)
    notes: list[str] = []
    given = [draw(one, options.limit) for one in sets(options, notes)]
    metrics: dict[str, PronounMetric] = {}
    found = []
    for one in given:
        name = f"{one.name} ({one.language})"
        try:
            metric = metrics.get(one.language) or PronounMetric.from_pretrained(
                options.model, lang=one.language, precision=options.precision
            )
        except PronmetricError:
            if one.language in trained:
                raise
            notes.append(f"{name}: {place.name} does not score {one.language}, {len(one.choices):,} items")
            continue
        metrics[one.language] = metric
        scores = {way: _scores(metric, one, source=source, context=context) for way, (source, context) in WAYS.items()}
        tied = sum(len(set(values)) == 1 for values in scores[FIRST])
        if reader is not None:
            read = reader.read(texts(one.choices, source=False, context=True))
            scores[LANGUAGE_MODEL] = cut([each.total for each in read], one.choices)
        for ties in (True, False) if one.ties else (False,):
            judged: dict[str, Sequence[bool] | None] = {
                by: rights(one, values, ties=ties) for by, values in scores.items()
            }
            judged[MAJORITY] = most_frequent(one.choices)
            shown = f"{one.name}, a tie is {'right' if ties else 'wrong'}" if one.ties else one.name
            found.append(
                {
                    "suite": shown,
                    "language": one.language,
                    "trained": one.language in trained,
                    "published": one.published,
                    **figures(one, judged),
                }
            )
        notes.append(f"{name}: in {tied:,} of {len(one.choices):,} items {FIRST} gives all candidates the same score")
        notes += [f"{name}: {count:,} items left out, {reason}" for reason, count in sorted(one.left_out.items())]
    return {
        "weights": pages.weights_hash(place.folder),
        "model": place.name,
        "precision": options.precision,
        "language_model": None if reader is None else options.language_model.name,
        "limit": options.limit,
        "sets": found,
        "notes": notes,
    }


def _scores(metric: PronounMetric, one: SuiteSet, *, source: bool, context: bool) -> list[Scores]:
    """The scores of each item's candidates; a candidate without a pronoun loses, as in `suite score`."""
    scored = (each.score for each in metric.stream(texts(one.choices, source=source, context=context)))
    return cut([-math.inf if score is None else score for score in scored], one.choices)


def page(content: Mapping[str, Any]) -> str:
    """The page of these figures."""
    parts = pages.template("target-suites")
    limit, told = content["limit"], content["language_model"]
    shown = parts["page"].format(
        weights=content["weights"],
        model=content["model"],
        precision=content["precision"],
        date=content["date"],
        command=content["command"],
        limit="" if limit is None else f" A sample: at most {limit} items of each suite.",
        language_model=parts["no language model"] if told is None else parts["language model"].format(name=told),
        distances=_table(content["sets"], "distance"),
        forms=_table(content["sets"], "form"),
        notes="\n".join(f"- {note}." for note in content["notes"]),
    )
    return shown + "\n"


def _table(found: Sequence[Mapping[str, Any]], by: str) -> str:
    rows = [["suite", "language", by, "items", *WAYS, *BASELINES, "published"]]
    for one in found:
        language = one["language"] if one["trained"] else f"{one['language']}, not trained"
        for group, own in one[by].items():
            shares = (own.get(name) for name in (*WAYS, *BASELINES))
            cells = (pages.percent(None if share is None else Estimate(**share)) for share in shares)
            known = one["published"] if group == ALL else "-"
            rows.append([one["suite"], language, group, f"{own['items']:,}", *cells, known])
    return pages.markdown([row[:-1] for row in rows] if by == "form" else rows)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pages.add_shared(parser)
    parser.add_argument("--model", default="multilingual", metavar="NAME|FOLDER", help="default: %(default)s")
    parser.add_argument("--german", type=Path, metavar="FILE", help="of suite build contrastive, --context 3 or more")
    parser.add_argument("--corpora", nargs="+", default=CORPORA, metavar="NAME", help="of --german; not in training")
    parser.add_argument("--contrapro", type=Path, metavar="FILE", help="contrapro.json of ZurichNLP/ContraPro")
    parser.add_argument("--documents", type=Path, metavar="DIR", help="its documents, for context")
    parser.add_argument("--language_model", type=Path, metavar="FOLDER", help="a causal model, safetensors or GGUF")
    parser.add_argument("--precision", default="32", choices=("32", "bf16", "16"))
    parser.add_argument("--limit", type=int, metavar="N", help="items of each suite, drawn by seed 0")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help=f"default {PAGE.name}")
    options = parser.parse_args()
    content = pages.plain({**pages.origin("checkpoint.target_suites"), **measure(options)})
    pages.publish(content, page(content), out=options.out, at=options.page)


if __name__ == "__main__":
    pages.run(main)
