"""`pronmetric soft-labels`: what a language model expects in pronoun slots of prepared text, for training."""

from __future__ import annotations

from pathlib import Path

from pronmetric.checkpoint import locate
from pronmetric.cli import output
from pronmetric.cli.parser import Command, Flags, argument, flag, switch, whole
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


class SoftLabelsFlags(Flags):
    """The texts, the language model, and the slots."""

    data: str = argument(metavar="DIR", help="prepared data (written by `pronmetric prepare`)")
    language_model: str = flag(
        required=True,
        metavar="DIR",
        help="a causal language model of Hugging Face, or a folder with one GGUF file (extra lm)",
    )
    output: str = flag("-o", "--output", required=True, metavar="DIR", help="folder to write")
    slots: int = flag(type=whole(1), default=50_000, metavar="N", help="number of slots (default: 50,000)")
    seed: int = flag(
        type=whole(0), default=1, metavar="N", help="seed of the order of texts and slots (default: %(default)s)"
    )
    precision: str | None = flag(
        choices=["32", "bf16", "16"], help="precision of the model (default: bf16, on a CPU without it 32)"
    )
    gpus: int | None = flag(type=whole(0), metavar="N", help="1 for a GPU, 0 for the CPU (default: 1 if available)")
    quiet: bool = switch(help="no progress bar and no notes on stderr")


def run(task: SoftLabelsFlags) -> None:
    """Label the slots."""
    targets.check([], read=[task.data, task.language_model], folders=[task.output])
    locate.refuse_taken(Path(task.output))
    arrow.read_manifest(task.data)

    from pronmetric.lab.seq2seq.model import LanguageModel
    from pronmetric.training import soft_labels
    from pronmetric.training.form_probability import FormReader, default_precision

    precision = task.precision or default_precision(task.gpus)
    model = LanguageModel(task.language_model, precision=precision, gpus=task.gpus).model
    reader = FormReader(model.model, model.tokenizer, positions=model.positions, folder=task.language_model)
    note = output.Notes(quiet=task.quiet)
    note.begin()
    partial = soft_labels.partial_folder(task.output)
    try:
        with output.bar(task.quiet, total=task.slots, label="soft-labels", unit="slots") as bar:
            manifest = soft_labels.label(
                task.data,
                task.output,
                reader,
                precision=precision,
                slots=task.slots,
                seed=task.seed,
                advance=bar.update,
            )
    except (KeyboardInterrupt, Terminated) as stop:
        message = f"finished parts are in {partial}; the same command goes on there"
        raise (
            Terminated(stop.number, message) if isinstance(stop, Terminated) else KeyboardInterrupt(message)
        ) from None
    rows, counts = manifest["splits"][arrow.SOFT_SPLIT]["rows"], manifest["counts"]
    if rows < task.slots:
        note(f"the passages have no more slots: {rows} of {task.slots}")
    if left_out := sum(counts["left out"].values()):
        note(f"left out, longer than the model reads: {left_out} slots")
    likeliest = 100 * counts["written form likeliest"] / rows
    note(f"{rows} slots, in {likeliest:.1f} % of which the written form is the likeliest; data.soft={task.output}")


VERB = Command("soft-labels", SoftLabelsFlags, run, DESCRIPTION, EPILOG)
