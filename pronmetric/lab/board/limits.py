"""What the score is not good for: the section below the board's table, with its correlation with human scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from pronmetric.eval.clusters import ALPHA
from pronmetric.eval.correlation import Correlation
from pronmetric.eval.decision import IN_WORDS, SCORE
from pronmetric.lab.board.figures import Figures
from pronmetric.lab.board.human import FIGURES, Agreement
from pronmetric.lab.board.scored import BoardSet
from pronmetric.output.display import visible
from pronmetric.scoring.comparison import TIE_THRESHOLD
from pronmetric.text.context import COMMON, RESPECTIVE

TRAINED, TUNED = "training", "development"
"""What a checkpoint used a test set for."""


def uses(config: Mapping[str, Any]) -> dict[str, str]:
    """What a checkpoint used each test set for, by the test set's id, from its config: `TRAINED`, or else `TUNED`."""
    used: dict[str, str] = {}
    for splits in _splits(config.get("training")):
        for name, split in splits.items():
            use = TRAINED if name.startswith("train") else TUNED if name.startswith("development") else None
            for testset in split.get("testsets", ()) if use is not None else ():
                if used.get(testset) != TRAINED:
                    used[testset] = use or TUNED
    return used


def _splits(training: object) -> Iterator[Mapping[str, Any]]:
    """The splits of the training data, also those of the checkpoints of which one is an average."""
    if isinstance(training, Mapping):
        if isinstance(training.get("splits"), Mapping):
            yield training["splits"]
        for value in training.values():
            yield from _splits(value)
    elif isinstance(training, list):
        for value in training:
            yield from _splits(value)


def decides(decision: str) -> str:
    """By what two systems are compared, in words; decision: one of `DECISIONS`."""
    said = (
        f"Which of two systems is better, in a segment and in all, is decided by {IN_WORDS[decision]}, as in "
        f"`pronmetric compare`; segments whose values differ by at most {TIE_THRESHOLD:g} are ties."
    )
    if decision == SCORE:
        return said
    return f"{said} The figures of one class of pronouns, and the clusters, are by the score, which each class has."


def section(
    boards: Sequence[Figures],
    agreement: Agreement,
    *,
    uses: Mapping[str, str],
    context_size: int,
    decision: str = SCORE,
) -> str:
    """The list of limits as HTML, with a table of correlations by test set."""
    items = [
        "It judges pronouns only. It is not a ranking of translations: a system with good pronouns can be wrong in "
        "everything else.",
        *_human(agreement),
        *_uses(boards, uses),
        decides(decision),
        f"{_contexts(boards, context_size)} The source counts where a test set has one and the checkpoint a reader of "
        "sources; elsewhere a pronoun that fits the context and contradicts the source can have a high score.",
        "Test sets are different texts. Compare systems of one test set; a change from year to year shows the texts "
        "as much as the systems.",
        f"Clusters are those of pairwise tests at p &lt; {ALPHA:g}, not corrected for the number of pairs.",
    ]
    return f"<ul>{''.join(f'<li>{item}' for item in items)}</ul>{_table(agreement)}"


def context(testset: BoardSet) -> str:
    """The context in which the pronouns of a test set were judged, in words."""
    if testset.context == COMMON:
        return f"the previous sentences of the reference {testset.reference}"
    return "the previous sentences of the output itself" if testset.context == RESPECTIVE else "none"


def _human(agreement: Agreement) -> list[str]:
    if not agreement.sets:
        return [
            "No human scores were given, so this board cannot show how well the score agrees with human judgments of "
            "these systems."
        ]
    number = len(agreement.sets)
    where = f"{number} test set{'s' if number > 1 else ''}"
    said = [
        f"<b>System-level correlation with human scores of whole translations (for WMT, direct assessment)</b>, mean "
        f"of {where}: {_listed(agreement.mean)}. In brackets 95 % intervals over systems. Perfect agreement is 1; "
        "chance is 0.5 for pairwise accuracy and 0 for the others."
    ]
    if agreement.held_out and agreement.held_out != agreement.mean:
        said.append(f"On those that the checkpoint was neither trained nor tuned on: {_listed(agreement.held_out)}.")
    return said


def _uses(boards: Sequence[Figures], uses: Mapping[str, str]) -> list[str]:
    said = []
    for use, verb in ((TRAINED, "was trained on"), (TUNED, "was tuned on")):
        names = [visible(board.testset.id) for board in boards if uses.get(board.testset.id) == use]
        if names:
            said.append(
                f"The checkpoint {verb} references and outputs of these test sets: "
                f"{', '.join(map(escape, names))}. Their scores are less independent."
            )
    return said


def _contexts(boards: Sequence[Figures], size: int) -> str:
    kinds = {board.testset.context for board in boards}
    sentences = "sentence" if size == 1 else f"{size} sentences"
    if kinds == {COMMON}:
        return f"Pronouns are judged in the context of the previous {sentences} of the reference, not of the output."
    if kinds == {RESPECTIVE}:
        return f"Pronouns are judged in the context of the previous {sentences} of the output itself."
    if len(kinds) > 1:
        return f"The context of a pronoun, {sentences}, differs between test sets; see “About this board”."
    return "Pronouns are judged without context."


def _listed(correlations: Mapping[str, Correlation]) -> str:
    return ", ".join(f"{label} {_figure(correlations[name])}" for name, (label, _) in FIGURES.items())


def _figure(one: Correlation) -> str:
    if one.value is None:
        return "&ndash;"
    return f"{one.value:.2f}" + ("" if one.low is None or one.high is None else f" [{one.low:.2f}, {one.high:.2f}]")


def _table(agreement: Agreement) -> str:
    if not agreement.sets:
        return ""
    head = "".join(
        f"<th scope=col>{name}" for name in ("test set", "systems", *(label for label, _ in FIGURES.values()))
    )
    rows = "".join(
        f"<tr><th scope=row>{escape(visible(name))}<td class=number>{len(own.systems)}"
        + "".join(f"<td class=number>{_figure(getattr(own, key))}" for key in FIGURES)
        for name, own in agreement.sets.items()
    )
    return (
        "<details><summary>Correlation by test set</summary>"
        '<div class="wide" tabindex="0" role="region" aria-label="Correlation by test set">'
        f"<table><thead><tr>{head}<tbody>{rows}</table></div></details>"
    )
