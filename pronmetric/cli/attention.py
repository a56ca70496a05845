"""`pronmetric attention`: which words each pronoun of one text looks at."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pronmetric.cli import numbers, scoring
from pronmetric.records import Text, text_of
from pronmetric.words import words as split

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text as Line

    from pronmetric.metric import Look, PronounMetric
    from pronmetric.score import PronounScore

DESCRIPTION = """Show what each pronoun of a text attends to, over the words of its context and its own.

For each pronoun: how probable it is that it is right here, the words with the most attention, and, where the terminal
has colours, the text with each word shaded by it (Jwalapuram et al. 2019, Figures 5 and 6). What a pronoun attends to
is where the scorer's last step looks; it is no proof of what it refers to."""
EPILOG = """example:
  pronmetric attention "She locked its doors." --context "Maria ran the library." """


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    parser = argparse.ArgumentParser(
        prog="pronmetric attention",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("text", help="a sentence whose pronouns are looked at")
    parser.add_argument("--context", nargs="+", default=[], metavar="SENTENCE", help="what stands before it")
    parser.add_argument(
        "--top", type=numbers.positive, default=5, metavar="N", help="words shown (default: %(default)s)"
    )
    parser.add_argument("--quiet", action="store_true", help="no notes on stderr")
    scoring.add_model(parser, seed=False)
    args = parser.parse_args(argv)
    text = text_of({"text": args.text, "context": args.context}, file="attention")
    note = scoring.Notes(quiet=args.quiet)
    scoring.open_stdout()
    _show(text, scoring.load(args, note), top=args.top)
    return 0


def _show(text: Text, metric: PronounMetric, *, top: int) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    (looks,) = metric.attention([text])
    (segment,) = metric.stream([text])
    if not segment.pronouns:
        console.print("no pronoun to score")
    for number, (look, pronoun) in enumerate(zip(looks, segment.pronouns, strict=True)):
        if number:
            console.print()
        _show_pronoun(console, text, look, pronoun, top=top, told="" if metric.probability else "score ")


def _show_pronoun(console: Console, text: Text, look: Look, pronoun: PronounScore, *, top: int, told: str) -> None:
    from rich.text import Text as Line

    head = Line.assemble((pronoun.text, "bold"), f"  {told}{pronoun.score:.3f}")
    if look.weights is None:
        head.append("  (this head has no attention)")
        console.print(head)
        return
    weights = look.weights.tolist()
    words = [word.text for part in text for word in split(part)]
    ranked = sorted((k for k, word in enumerate(words) if word[-1].isalnum()), key=lambda k: -weights[k])[:top]
    head.append("  looks at ")
    head.append(", ".join(f"{words[k]} {weights[k]:.2f}" for k in ranked))
    console.print(head)
    if console.color_system is not None:
        console.print(_shaded(text, weights, look))


def _shaded(text: Text, weights: Sequence[float], look: Look) -> Line:
    """Context and text, each word on a ground that is the redder the more attention it gets."""
    from rich.text import Text as Line

    line = Line("  ")
    most = max(weights, default=0.0) or 1.0
    at = 0
    for part, written in enumerate(text):
        base = len(line) + (1 if part and written and text.context else 0)
        line.append((" " if base > len(line) else "") + written, style="dim" if part == 0 else "")
        for word in split(written):
            share = weights[at] / most
            at += 1
            if share > 0.05:
                ground = f"rgb(255,{round(235 - 150 * share)},{round(225 - 190 * share)})"
                line.stylize(f"not dim black on {ground}", base + word.start, base + word.end)
            if part == 1 and word.start == look.start:
                line.stylize("bold underline", base + word.start, base + word.end)
    return line
