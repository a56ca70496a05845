"""The flags of `evaluate`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import also, flags
from pronmetric.cli.parser import any_number, parse_flags
from pronmetric.lab.human.pair_sets import SHUFFLED
from pronmetric.lab.human.prepared_pairs import SPLITS
from pronmetric.text.context import COMMON, NONE, RESPECTIVE

DESCRIPTION = """Measures how often a metric prefers the better text of a pair, on pairs that differ in pronouns.

Accuracy is the share of pairs whose better text gets the higher score, in percent (higher is better), with a 95 %
interval that resamples documents (groups or single pairs where no documents are given). Equal scores and missing
scores (null: a text without a pronoun) count as wrong; both are reported."""
EPILOG = """pairs, one of:
  FILE.jsonl  one object per line: {"id", "context": [sentences], "text_a", "text_b", "better": "A"|"B"|"tie",
              "votes": {rater: "A"|"B"|"tie"}, "group", "doc", "pronoun_a", "pronoun_b", "reference", "system_a",
              "system_b"}; or a file of the published study ({"reference": tokens, "noisy": tokens, ...}), in which
              the reference is the better text
  FILE.tsv    GAP: each sentence against its copy with the pronoun of the other gender
  FOLDER      of `pronmetric prepare`: reference against system output (R vs S), and reference against its copy with
              one pronoun of the system output (R vs R'), evaluated separately
  -d NAME:LP  a WMT test set; outputs are aligned with the references first
The gold answer of a pair is "better", or without it the majority of the votes. Pairs without either are excluded. Gold
ties are excluded from accuracy; with --tie, A, B and tie are compared as three classes.

context:
  common      the pair's context for both texts (default; none if the checkpoint was trained without context)
  respective  a context for each text: reference sentences for the reference, the system's own for its output (only
              WMT test sets and prepared folders)
  shuffled    the context of another document
  none        no context

labelled pronouns:
FILE.jsonl may also contain pronouns labelled right or wrong, as `pronmetric mqm` writes them. Reported are precision,
recall and F1 of detecting wrong pronouns (scores below --threshold), average precision and ROC AUC.

baselines:
Simple baselines are reported on the pairs that they decide, where the data allow it: the text with fewer pronouns, the
text with the higher chrF against "reference", the text whose system ("system_a", "system_b") does better in the other
documents. A useful metric outperforms them.
--also adds reference-based scores (see `pronmetric score --help`), which compare both texts with the pair's
"reference". Pairs without a reference, and pairs whose reference is one of the two texts, are left out of this table.
In a WMT test set or prepared folder, where text A is a reference, another reference of the segment is used.
--language-model reads a Hugging Face folder (safetensors), or one with a single GGUF file (pip install
"pronmetric[lm]"). Its score is the log-probability of a text after its context, with the end of sentence: the sum over
its pieces, and their mean.

other metrics:
--scores FILE evaluates given scores instead of a model's: one object per line, {"id", "score_a", "score_b"} for pairs,
{"id", "score"} for labelled pronouns, null for no score. --against FILE compares with such scores on the same pairs.

examples:
  pronmetric evaluate pairs.jsonl --save-scores mine.jsonl
  pronmetric evaluate pairs.jsonl --scores theirs.jsonl --against mine.jsonl
  pronmetric evaluate -d wmt22:de-en --wmt-dir wmt22-news-systems --context respective"""


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The flags of a command; combinations without a meaning are usage errors (exit code 2)."""
    made = parser()
    args = parse_flags(
        made, argv, cure="give one file or folder of pairs; scores of another metric follow --scores or --against"
    )
    _check_flags(made, args)
    return args


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = argparse.ArgumentParser(
        prog="pronmetric evaluate",
        usage="pronmetric evaluate [PAIRS | -d NAME:LP --wmt-dir DIR] [--scores FILE] [flags]",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    texts = made.add_argument_group("pairs")
    texts.add_argument("pairs", nargs="?", metavar="PAIRS", help="a JSONL or GAP file, or a prepared folder; see below")
    texts.add_argument("--split", choices=SPLITS, help=f"split of a prepared folder (default: {SPLITS[0]})")
    flags.add_dataset(texts)
    texts.add_argument("--context", choices=[COMMON, RESPECTIVE, NONE, SHUFFLED], help="see below (default: common)")
    judging = made.add_argument_group("evaluation")
    flags.add_by(judging)
    judging.add_argument(
        "--tie",
        type=flags.parse_tie,
        metavar="auto|X",
        help="also compare A, B and tie as three classes: scores that differ by no more than X are a tie; auto is the "
        "tie threshold in the checkpoint's config",
    )
    judging.add_argument(
        "--seen",
        metavar="FILE",
        help="confusion.json of the prepared training data: report pronoun pairs seen and unseen in training",
    )
    judging.add_argument("--scores", metavar="FILE", help="evaluate these scores; no model is loaded")
    judging.add_argument("--against", metavar="FILE", help="compare with these scores on the same pairs")
    also.add(judging)
    flags.both(
        judging,
        "language-model",
        metavar="FOLDER",
        help="also score the texts by a causal language model, as a baseline; see below",
    )
    judging.add_argument(
        "--threshold",
        type=any_number,
        metavar="X",
        help="labelled pronouns: a score below X predicts a wrong pronoun (default: 0.5)",
    )
    flags.add_model(made)
    files = made.add_argument_group("output")
    flags.both(files, "to-json", metavar="FILE", help="write all figures and the scores of each pair")
    flags.both(files, "save-scores", metavar="FILE", help="write the model's scores in the format of --scores")
    flags.add_notes(files)
    flags.add_strict(files)
    return made


def _check_flags(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Flags that do not go together: a usage error, exit code 2."""
    if (args.pairs is None) == (args.dataset is None):
        made.error("give PAIRS or -d" + (", not both" if args.pairs is not None else ""))
    flags.check_dataset(made, args)
    if args.dataset is not None and args.split is not None:
        made.error("--split needs a prepared folder; leave it out with -d")
    if args.scores is None:
        return
    of_model = {
        "--model": args.model,
        "--context": args.context,
        "--by": args.by,
        "--precision": args.precision,
        "--gpus": args.gpus,
        "--batch_size": args.batch_size,
        "--allow_network": args.allow_network or None,
        "--save_scores": args.save_scores,
        "--tie auto": args.tie if args.tie == flags.AUTO else None,
    }
    if args.language_model is not None:  # which reads these too
        of_model |= dict.fromkeys(("--context", "--precision", "--gpus"))
    if extra := [flag for flag, value in of_model.items() if value is not None]:
        made.error(f"--scores loads no model; leave out {' and '.join(extra)}")
