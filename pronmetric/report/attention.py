"""The attention weights of a pronoun as lines for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text as Line

from pronmetric.text.context import Text
from pronmetric.text.words import Word

Split = Callable[[str], Sequence[Word]]


def describe(text: Text, pronoun: str, score: str, weights: Sequence[float] | None, *, top: int, split: Split) -> Line:
    """The pronoun, its score, and the `top` words of context and text with the highest weights.

    weights: of the words of both, in order; None for a head without attention.
    """
    line = Line.assemble((pronoun, "bold"), f"  {score}")
    if weights is None:
        return line.append("  (this head has no attention)")
    words = [word.text for part in text[:2] for word in split(part)]
    ranked = sorted((k for k, word in enumerate(words) if word[-1].isalnum()), key=lambda k: -weights[k])[:top]
    return line.append("  attends to " + ", ".join(f"{words[k]} {weights[k]:.2f}" for k in ranked))


def shade(text: Text, weights: Sequence[float], *, start: int, split: Split) -> Line:
    """Context and text; the background of each word is redder the higher its weight.

    weights: of the words of both, in order. start: where the pronoun starts in the text; it is underlined.
    """
    line = Line("  ")
    most = max(weights, default=0.0) or 1.0
    at = 0
    for part, written in enumerate(text[:2]):
        base = len(line) + (1 if part and written and text.context else 0)
        line.append((" " if base > len(line) else "") + written, style="dim" if part == 0 else "")
        for word in split(written):
            share = weights[at] / most
            at += 1
            if share > 0.05:
                ground = f"rgb(255,{round(235 - 150 * share)},{round(225 - 190 * share)})"
                line.stylize(f"not dim black on {ground}", base + word.start, base + word.end)
            if part == 1 and word.start == start:
                line.stylize("bold underline", base + word.start, base + word.end)
    return line
