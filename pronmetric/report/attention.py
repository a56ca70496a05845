"""The attention weights of a pronoun as lines for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text as Line

from pronmetric.pronouns.gender import Genders
from pronmetric.report.attended import most_attended, shown_genders
from pronmetric.text.context import Text
from pronmetric.text.words import Word

Split = Callable[[str], Sequence[Word]]


def describe(
    text: Text,
    pronoun: str,
    score: str,
    weights: Sequence[float] | None,
    *,
    top: int,
    split: Split,
    genders: Genders | None = None,
) -> Line:
    """The pronoun, its score, and the `top` words of context and text with the highest weights.

    weights: of the words of both, in order; None for a head without attention. genders: of the language, if it has any.
    """
    words = [word.text for part in text[:2] for word in split(part)]
    listed = [] if weights is None else most_attended(words, weights, top=top)
    own, of_words = shown_genders(genders, pronoun, words, listed)
    line = Line.assemble((pronoun, "bold"), _bracketed(own), f"  {score}")
    if weights is None:
        return line.append("  (this head has no attention)")
    seen = (f"{words[place]}{_bracketed(of_words.get(place))} {weights[place]:.2f}" for place in listed)
    return line.append("  attends to " + ", ".join(seen))


def _bracketed(gender: str | None) -> str:
    return "" if gender is None else f" ({gender})"


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
