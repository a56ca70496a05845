"""`pronmetric soft-labels`: what a language model expects in pronoun slots of prepared text, for training."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pronmetric.checkpoint import locate
from pronmetric.cli import flags, output
from pronmetric.cli.parser import verb_parser, whole_from_one, whole_from_zero
from pronmetric.data import arrow
from pronmetric.errors import Terminated
from pronmetric.output import targets

DESCRIPTION = """Label pronoun slots of prepared text with the forms that a causal language model expects there.

For slots of the passages to train on, the model reads the text with each form that fits the slot and agrees with its
verb. The folder holds the log-probability of each form. `train data.soft=FOLDER` learns from it, beside the other data.

A stopped run keeps its finished parts in OUT.partial; the same command goes on there, also with another --slots."""
EPILOG = """example:
  pronmetric soft-labels runs/wmt --language-model SmolLM2-135M --slots 20000 -o runs/soft
  pronmetric train experiment=soft data.soft=runs/soft data.dir=runs/wmt out=runs/model"""


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = verb_parser("soft-labels", DESCRIPTION, EPILOG)
    made.add_argument("data", metavar="DIR", help="prepared data (written by `pronmetric prepare`)")
    flags.both(
        made,
        "language-model",
        required=True,
        metavar="DIR",
        help="a causal language model of Hugging Face, or a folder with one GGUF file (extra lm)",
    )
    made.add_argument("-o", "--output", required=True, metavar="DIR", help="folder to write")
    made.add_argument(
        "--slots", type=whole_from_one, default=50_000, metavar="N", help="number of slots (default: 50,000)"
    )
    made.add_argument(
        "--seed",
        type=whole_from_zero,
        default=1,
        metavar="N",
        help="seed of the order of texts and slots (default: %(default)s)",
    )
    made.add_argument(
        "--precision",
        choices=["32", "bf16", "16"],
        help="precision of the model (default: bf16, on a CPU without it 32)",
    )
    made.add_argument(
        "--gpus", type=whole_from_zero, metavar="N", help="1 for a GPU, 0 for the CPU (default: 1 if available)"
    )
    made.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")
    return made


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = parser().parse_args(argv)
    targets.check([], read=[args.data, args.language_model], folders=[args.output])
    locate.refuse_taken(Path(args.output))
    arrow.read_manifest(args.data)

    from pronmetric.lab.seq2seq.model import LanguageModel
    from pronmetric.training import soft_labels
    from pronmetric.training.form_probability import FormReader, default_precision

    precision = args.precision or default_precision(args.gpus)
    model = LanguageModel(args.language_model, precision=precision, gpus=args.gpus).model
    reader = FormReader(model.model, model.tokenizer, positions=model.positions, folder=args.language_model)
    note = output.Notes(quiet=args.quiet)
    note.begin()
    partial = soft_labels.partial_folder(args.output)
    try:
        with output.bar(args.quiet, total=args.slots, label="soft-labels", unit="slots") as bar:
            manifest = soft_labels.label(
                args.data,
                args.output,
                reader,
                precision=precision,
                slots=args.slots,
                seed=args.seed,
                advance=bar.update,
            )
    except (KeyboardInterrupt, Terminated) as stop:
        message = f"finished parts are in {partial}; the same command goes on there"
        raise (
            Terminated(stop.number, message) if isinstance(stop, Terminated) else KeyboardInterrupt(message)
        ) from None
    rows, counts = manifest["splits"][arrow.SOFT_SPLIT]["rows"], manifest["counts"]
    if rows < args.slots:
        note(f"the passages have no more slots: {rows} of {args.slots}")
    if left_out := sum(counts["left out"].values()):
        note(f"left out, longer than the model reads: {left_out} slots")
    likeliest = 100 * counts["written form likeliest"] / rows
    note(f"{rows} slots, in {likeliest:.1f} % of which the written form is the likeliest; data.soft={args.output}")
    return 0
