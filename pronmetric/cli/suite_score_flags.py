"""The flags of `pronmetric suite score`."""

from __future__ import annotations

import argparse

from pronmetric.cli import numbers, options, target_language
from pronmetric.cli.suite_export import add_set
from pronmetric.cli.verb_parser import add_command
from pronmetric.lab.suites.concatenation import MANY, MODES, NONE
from pronmetric.lab.suites.contrapro import PRONOUNS

DESCRIPTION = """Judge scores, translations or a model on a suite, and report accuracy with 95 % intervals, overall and
by the suite's break-downs. `pronmetric suite show NAME` describes the suite's files and rules."""
EPILOG = """what is judged, one of:
  --scores FILE        one number on each line of `suite export`; lower is better unless --maximize
  --translations FILE  a system's translations, where the suite judges them
  --humans FILE        human judgments (cai-xiong); with --translations, both are compared
  --model NAME|FOLDER  pronmetric itself, for targets in its language; `default` is `base`. Its score of
                       a candidate is the mean probability of its pronouns, in the --context previous target sentences
  --seq2seq FOLDER     a Hugging Face encoder-decoder or causal language model (safetensors, or one GGUF file with
                       pip install "pronmetric[lm]"), by the log-probability of each candidate given its source

context of --seq2seq (--context-mode):
  none      the sentence alone (default)
  concat21  one previous source sentence before the source
  concat22  one previous sentence before the source and before the target
  concatN   --context previous sentences before each
The sentences are joined by --separator. The log-probability is that of the whole target text.

With --save_scores FILE a run of --seq2seq that was stopped is continued by the same command; the scores so far are in
FILE.partial. The scores of --model and --seq2seq are higher for better: read them again with --scores FILE
--maximize."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    made = add_command(
        commands, "score", help="judge scores, translations or a model", description=DESCRIPTION, epilog=EPILOG
    )
    add_set(made)
    judged = made.add_argument_group("what is judged (see below)")
    judged.add_argument("--scores", metavar="FILE", help="scores of the candidates")
    judged.add_argument("--translations", metavar="FILE", help="translations of a system")
    judged.add_argument("--humans", metavar="FILE", help="human judgments of a system's translations")
    judged.add_argument("--seq2seq", metavar="FOLDER", help="a translation or language model")
    judging = made.add_argument_group("judging")
    judging.add_argument("--maximize", action="store_true", help="higher numbers in --scores are better")
    judging.add_argument("--compat", action="store_true", help="as the original program where it is odd")
    judging.add_argument(
        "--pronouns", nargs="*", metavar="FORM", help=f"contrapro: these reference pronouns ({' '.join(PRONOUNS)})"
    )
    judging.add_argument(
        "--distance", nargs=2, type=numbers.count, metavar=("MIN", "MAX"), help="contrapro --translations: distances"
    )
    judging.add_argument(
        "--proportional",
        type=numbers.above_zero,
        metavar="X",
        help="contrapro --translations: search X times the source sentence's share of the tokens, from the end",
    )
    judging.add_argument("--language", metavar="CODE", help="of the translations, for the tokenizer or splitter")
    judging.add_argument("--alignment", metavar="FILE", help="cai-xiong --translations: word alignments")
    judging.add_argument(
        "--separator", metavar="TEXT", help="between sentences (default: <eos> in translations, a blank in --seq2seq)"
    )
    model = made.add_argument_group("--seq2seq")
    model.add_argument("--context-mode", choices=MODES, default=NONE, help="see below (default: %(default)s)")
    model.add_argument("--per-piece", action="store_true", help="divide log-probabilities by the number of pieces")
    model.add_argument("--prompt", metavar="TEXT", help="text with {source}: what a model reads before the target")
    model.add_argument("--source-language", metavar="CODE", help="of the model's tokenizer")
    model.add_argument("--target-language", metavar="CODE", help="of the model's tokenizer")
    options.add_model(made)
    files = made.add_argument_group("output")
    options.both(files, "to-json", metavar="FILE", help="write all figures and the verdict on each item")
    options.both(files, "save-scores", metavar="FILE", help="write the model's scores, one on each line")
    files.add_argument("--plot", metavar="FILE", help="plot accuracy by distance (.png or .svg)")
    files.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    target_language.add_strict(files)
    made.set_defaults(run=run, made=made)


def run(args: argparse.Namespace) -> int:
    """Check the flags and judge."""
    _check(args.made, args)
    from pronmetric.cli import suite_score

    return suite_score.run(args)


def _check(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Flags that do not go together: a usage error, exit code 2."""
    judged = {
        "--scores": args.scores,
        "--translations": args.translations,
        "--humans": args.humans,
        "--model": args.model,
        "--seq2seq": args.seq2seq,
    }
    chosen = [flag for flag, value in judged.items() if value is not None]
    if len(chosen) != 1 and chosen != ["--translations", "--humans"]:
        made.error(f"give one of {', '.join(judged)}" + (f"; got {' and '.join(chosen)}" if chosen else ""))
    if args.maximize and args.scores is None:
        made.error("--maximize goes with --scores")
    if args.save_scores is not None and args.model is None and args.seq2seq is None:
        made.error("--save_scores goes with --model or --seq2seq")
    of_model = {"--context-mode": args.context_mode != NONE, "--per-piece": args.per_piece, "--prompt": args.prompt}
    of_model |= {"--source-language": args.source_language, "--target-language": args.target_language}
    if args.seq2seq is None and (extra := [flag for flag, value in of_model.items() if value]):
        made.error(f"{' and '.join(extra)} goes with --seq2seq")
    if args.seq2seq is not None and args.precision == "int8":
        made.error("--precision int8 goes with --model")
    if args.context_mode == MANY and not args.context:
        made.error("--context-mode concatN needs --context N")
    if args.seq2seq is not None and args.context and args.context_mode != MANY:
        made.error("--context goes with --context-mode concatN")
    if args.prompt is not None and "{source}" not in args.prompt and args.prompt:
        made.error("--prompt: expected {source} in it; an empty prompt scores the target alone")
    if args.distance is not None and args.distance[0] > args.distance[1]:
        made.error(f"--distance: expected MIN <= MAX, got {args.distance[0]} and {args.distance[1]}")
