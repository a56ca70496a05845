"""The card of a reader of sources: which sources it reads, how much better scores are with it, how it was made."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pronmetric.checkpoint import locate
from pronmetric.checkpoint.model_config import SourceReader
from pronmetric.scoring.judged import MARKED, MENDED
from pronmetric.scoring.surplus import OTHER_FORMS
from pronmetric.training.after.people_fit import OTHERS, TRAINED, WITH, WITHOUT
from pronmetric.training.after.surplus_fit import AREA, CORRECTED, DELETED, EXPECTED, PRIOR
from pronmetric.training.card import recipe
from pronmetric.training.card.checkpoint import table
from pronmetric.training.fit import EXPORT
from pronmetric.training.source.data import RATE, WITH_SOURCE
from pronmetric.training.source.mixing import REPLACED

PEOPLE = "people/"  # the figures on what people marked
INITIAL = "initial"  # the key of a reader's record of training with that of the reader it began with
_GROUPS = {TRAINED: "the languages that it was trained on", OTHERS: "other languages"}
_KINDS = {REPLACED: "references with a pronoun replaced", "noisy": "R vs R'", "system": "R vs S"}


def card(config: Mapping[str, Any], *, weights: str) -> str:
    """The card as Markdown.

    Args:
        config: the reader's config.yaml.
        weights: first 8 hex digits of the weights' SHA-256.
    """
    source, training = SourceReader.model_validate(config["source"]), config["training"]
    figures = training.get("figures", {})
    sections = [_head(source, weights), _figures(source, figures), _limits(source), _made(training)]
    if any(name.startswith(PEOPLE) for name in figures):
        sections.insert(1, _people(figures, training.get("decision"), training.get("decision_pairs", {}), source))
    if source.surplus is not None:
        sections.insert(-2, _surplus(figures, source.surplus))
    return "\n\n".join(sections) + "\n"


def _head(source: SourceReader, weights: str) -> str:
    return f"""# Reader of sources

Reads the source of a translation into English together with the translation, and changes the probability of each
pronoun by what the source says. Weights `{weights}`, for the checkpoint with the weights `{source.model}`. It is used
wherever a text has a source (`-s`), unless `--no-source` is given."""


def _people(
    figures: Mapping[str, float],
    decision: Mapping[str, Mapping[str, float]] | None,
    pairs: Mapping[str, int],
    source: SourceReader,
) -> str:
    """The figures on what people marked in development texts."""
    sets = sorted(
        {name.split("_", 1)[1] for name in figures if name.startswith((f"{PEOPLE}model_", f"{PEOPLE}missing_"))}
    )
    rows = [
        [what, *_cells(figures, *(f"{kind}{end}" for kind in ("model", "mixed", "missing")), of=PEOPLE)]
        for what, end in [("all", ""), *((name, f"_{name}") for name in sets)]
    ]
    told = f"""## What people marked (development)

Area under the ROC curve in percent, of the pronouns that one rater or more marked or a post-editor changed, and of the
gaps into which a post-editor put a pronoun; 50 is chance. The weights of the source were fitted on these texts.

{_table(["", "the checkpoint alone", "with the source", "missing pronouns"], rows)}"""
    if held := _held_out(figures, source):
        told += f"\n\n{held}"
    if not decision:
        return told
    kinds = dict.fromkeys(name for each in decision.values() for name in each)
    lines = [[name, *(_share(each.get(name)) for each in decision.values())] for name in kinds]
    mended, marked = (pairs.get(kind, 0) for kind in (MENDED, MARKED))
    return f"""{told}

Accuracy in percent with the source, on {mended} pairs of a post-edited text with its pronouns mended and the text, and
on {marked} pairs of two systems' translations, in one of which raters marked fewer pronouns; by whether the better text
has more, as many or fewer pronouns. With a source `{source.decision}` decides.{_preferred(source)}

{table(["", *decision], lines)}"""


def _preferred(source: SourceReader) -> str:
    """How the preference with a source is made; "" where it was not fitted on the pairs."""
    by = source.judged
    if by is None:
        return ""
    return f"""

The preference with a source is {by.own:.3f} x that of the pair head + {by.logit:.3f} x the mean logit of the pronouns
{by.missing:+.3f} x the expected number of missing pronouns; without a pronoun in the text, {by.empty:.3f} in place of
the first two. The weights were fitted on these pairs; each accuracy is of weights fitted on other documents."""


def _surplus(figures: Mapping[str, float], shares: Mapping[str, float]) -> str:
    """What tells surplus pronouns from wrong ones, and how well."""
    named = sorted(filter(None, shares), key=lambda form: shares[form]) or [OTHER_FORMS]
    ends = f"from {100 * shares[named[0]]:.0f} % of *{named[0]}* to {100 * shares[named[-1]]:.0f} % of *{named[-1]}*"
    told = f"""## Surplus pronouns

Of pronouns that are not right, a share counts as surplus: those that post-editors of the training texts
deleted instead of replacing, {100 * shares[OTHER_FORMS]:.0f} % of all and {ends}, by form alone, each drawn to the
share of all as if {PRIOR} more corrections had that one."""
    if CORRECTED not in figures:
        return told
    area = f"; area under the ROC curve {_share(figures[AREA])}" if AREA in figures else ""
    return f"""{told} In development texts {figures[DELETED]:.0f} of {figures[CORRECTED]:.0f}
corrected pronouns were deleted, where {figures[EXPECTED]:.1f} are expected{area}."""


def _held_out(figures: Mapping[str, float], source: SourceReader) -> str:
    """The figures of held-out documents, and where the source counts nothing; "" without such figures."""
    start = f"{PEOPLE}{WITHOUT}_"
    names = sorted(name.removeprefix(start) for name in figures if name.startswith(start))
    if not names:
        return ""
    sets = [name for name in names if name not in _GROUPS]
    shown = {**{name: name for name in sets}, **{name: f"{said}, mean" for name, said in _GROUPS.items()}}
    rows = [[said, *_cells(figures, f"{WITHOUT}_{name}", f"{WITH}_{name}", of=PEOPLE)] for name, said in shown.items()]
    of_others = () if source.others is None else (source.others.in_context, source.others.alone)
    weights = {TRAINED: (source.in_context, source.alone), OTHERS: of_others}
    silent = [said for name, said in _GROUPS.items() if weights[name] and not any(m.reader for m in weights[name])]
    ignored = "".join(
        f" In {said} they are lower with the source, which therefore does not affect scores there." for said in silent
    )
    said = "Average precision in percent on documents for which the weights were fitted on the other documents."
    return f"""{said}{ignored}

{_table(["", "the checkpoint alone", "with the source"], rows)}"""


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _figures(source: SourceReader, figures: Mapping[str, float]) -> str:
    names = {"model": "the checkpoint alone", "mixed": "with the source", WITH_SOURCE: "the reader alone"}
    names |= {f"mixed_{code}": f"with the source, {code}" for code in source.languages}
    names |= {"model_alone": "the checkpoint alone, no context", "mixed_alone": "with the source, no context"}
    rows = [[said, *_cells(figures, name, f"{name}_third")] for name, said in names.items()]
    pairs = [[said, *_cells(figures, *_pair_figures(kind))] for kind, said in _KINDS.items()]
    return f"""## Figures

Area under the ROC curve in percent, on the pronouns of development references, about {100 * RATE:.0f} % of them
replaced; 50 is chance.

{_table(["", "all pronouns", "third person"], rows)}

Accuracy of the preference in percent, on development pairs of a reference with itself, one pronoun replaced at random,
with a noisy reference, whose pronoun is one of a system (R vs R'), and with a system output (R vs S). The share of the
change by the source that the preference takes, {source.preference:.2f}, was fitted on the first. References
are freer than system outputs, so that a source also speaks against some of them.

{_table(["", "the checkpoint alone", "with the source"], pairs)}"""


def _pair_figures(kind: str) -> tuple[str, str]:
    return f"preference_{kind}", f"preference_{kind}_source"


def _cells(figures: Mapping[str, float], *names: str, of: str = "development/") -> list[str]:
    return [_share(figures.get(f"{of}{name}")) for name in names]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table without the rows that have no figure."""
    return table(header, [row for row in rows if set(row[1:]) != {"-"}])


def _limits(source: SourceReader) -> str:
    return f"""## Limits

- Trained on sources in {", ".join(source.languages)}. It also reads sources in other languages, which no figure here
  is of.
- It reads a sentence with at most {source.context} pieces of the English context and {source.before} of the source
  before it."""


def _made(training: Mapping[str, Any]) -> str:
    parts = [training] if recipe.STAGES in training else training.get("average", [training])
    outs = ["OUT"] if len(parts) == 1 else [f"OUT{number}" for number in range(1, len(parts) + 1)]
    lines = [line for part, out in zip(parts, outs, strict=True) for line in _commands(part, out)]
    if len(parts) > 1:
        made = (f"{out}/{EXPORT}" for out in outs)
        lines.append(
            shlex.join(["pronmetric", "checkpoint", "average", *made, "--data", recipe.PREPARED, "-o", "AVERAGE"])
        )
    commands = "\n".join(dict.fromkeys(lines))
    return f"""## How it was made

```
{commands}
```

The weights are under Apache-2.0, as the code. The recipe's encoder, multilingual-e5-small, is under the MIT licence."""


def _commands(training: Mapping[str, Any], out: str) -> Iterator[str]:
    """The command of a run in the folder `out`, after that of the run whose reader it began with, if any."""
    words, first = list(training.get("overrides", ())), INITIAL.upper()
    yield from recipe.stage_lines(training)
    if INITIAL in training:
        yield from _commands(training[INITIAL], first)
        words = [f"init={first}/{EXPORT}/{locate.READER}" if word.startswith("init=") else word for word in words]
    yield shlex.join(["pronmetric", "train", *words, f"data.dir={recipe.PREPARED}", f"out={out}"])
