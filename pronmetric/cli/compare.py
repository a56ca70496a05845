"""`pronmetric compare`: which of two or more system outputs has the better pronouns, with significance tests."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import flags
from pronmetric.cli.corpus_run import CorpusRun
from pronmetric.cli.defaults import ConfiguredCommand
from pronmetric.cli.flags import ScoringFlags
from pronmetric.cli.parser import flag, whole
from pronmetric.errors import PronmetricError
from pronmetric.eval.significance import FEWEST, RESAMPLES
from pronmetric.report import score_text
from pronmetric.results import FEW, write
from pronmetric.results.write import FORMAT, Writer, counts_entry
from pronmetric.scoring.comparison import TIE_THRESHOLD, AllPairs, score_pairs
from pronmetric.text.context import CROSSED

DESCRIPTION = """Compare the pronouns of two or more translations of the same text, by segment and by system.

For each segment, the better output, the difference of what decides (--by), and the pronouns that explain it are
printed. For each pair of systems: the difference, positive if the first system is better, its 95 % interval and p
value, wins, ties and losses. The difference is that of the scores (100 x the mean pronoun probability), of the
expected errors in 100 segments, or of the mean preferences; the unit is printed with it, and the difference of the
scores beside it. Where the reader of the source finds missing pronouns, the errors of both systems are printed
together and apart: wrong or surplus, and missing.

Documents are what varies. The p value is that of approximate randomisation: each document's two outputs are swapped at
random; with fewer than 6 documents it cannot be below 0.05. The interval is that of Student's t; the p value of the t
test, which may differ, is below 0.05 exactly if the interval excludes 0. All need at least 4 documents. With more than
two systems, p values are also given after Holm's correction; intervals are not corrected."""
EPILOG = f"""context:
  common      the previous sentences of the reference; the default with -r and -d. With several references, each
              text is scored once per reference; the mean and each reference's result are given
  crossed     for each pair of systems, the previous sentences of each of the two outputs: both texts are scored in
              both contexts, and the two scores are averaged; the default without a reference
  respective  the previous sentences of the output itself
  none        no context
{flags.CONTEXT_SIZE_HELP}
Without --docids, all lines of a file belong to one document, and segments take the place of documents.
Segments are numbered from 0, as in COMET. Error messages number lines from 1: segment 0 is line 1.

examples:
  pronmetric compare -t sysA.txt sysB.txt -r ref.txt --docids ids.txt
  pronmetric compare -t sysA.txt sysB.txt sysC.txt --only_system"""


REFUSED = {
    "--sample_ratio": "nothing is drawn from the documents: the interval is that of Student's t, the randomisation "
    "swaps the outputs of all of them",
    "--t_test_alternative": "the tests are two-sided",
}


def _splits(text: str) -> int:
    """The value of --num_splits."""
    if whole(1)(text) < FEWEST:
        raise argparse.ArgumentTypeError(f"expected a whole number from {FEWEST}, got {text!r}")
    return int(text)


class CompareFlags(ScoringFlags):
    """What is compared, what decides between two texts, and how the difference is tested."""

    seed: int = flags.seed_flag()
    by: str | None = flags.by_flag()
    tie: float | str = flag(
        type=flags.parse_tie,
        default=TIE_THRESHOLD,
        metavar="auto|X",
        help="tie threshold: segments whose scores differ by at most X are ties. auto: the threshold in the "
        "checkpoint's config, at which as many of its development pairs are ties as in the human judgements published "
        "with the paper (1.7 %%); people may tie far more often on your texts (default: %(default)s)",
    )
    num_splits: int | None = flag(
        "--num_splits", type=_splits, metavar="N", help=f"number of swaps of the randomisation (default: {RESAMPLES})"
    )


def _need_two(systems: Sequence[str], cure: str) -> None:
    if len(systems) < 2:
        raise PronmetricError(f"expected two or more systems to compare, got only {systems[0]}; {cure}")


def run(task: CompareFlags) -> None:
    """Compare the systems, print and write the comparison."""
    flags.check_targets(task.texts, task.model, task.out)
    with CorpusRun(task.texts, task.model, task.out, alone=CROSSED) as run:
        _need_two(run.corpus.systems, "name them after -t" if task.texts.translations else "give more --systems")
        _compare(task, run)


def _compare(task: CompareFlags, run: CorpusRun) -> None:
    out, by = task.out, run.checkpoint.decision(task.by, sourced=run.corpus.has_source)
    threshold = run.checkpoint.tie_threshold(by=by) if isinstance(task.tie, str) else task.tie
    pairs = AllPairs(run.corpus.systems, run.references, tie=threshold, by=by)
    columns = write.comparison_columns(run.references, apart=run.apart, placed=run.corpus.placed)
    with Writer(json_path=out.to_json, tsv_path=out.to_tsv, columns=columns) as writer:
        for number, (row, scores) in enumerate(run.rows(score_pairs)):
            decided = list(pairs.add(scores, row.doc))
            write.add_compared(writer, number, row, decided, by=by, apart=run.apart)
            if out.prints_segments:
                for pair in decided:
                    run.lines(score_text.segment_line(number, pair, by=by))
        results = pairs.results(seed=task.seed, resamples=task.num_splits or RESAMPLES)
        writer.finish(
            format=FORMAT,
            pairs=[write.pair_entry(result, by=by) for result in results],
            **write.decision_entry(by, threshold),
            counts=counts_entry(run.counts),
            signature=run.sign_texts(seed=task.seed, by=by, tie=f"{threshold:g}", resamples=task.num_splits),
            source_language=run.source_language,
            **write.people_entry(run.people()),
        )
    both = (pair for one in results for pair in zip(one.names, (one.outcome.a, one.outcome.b), strict=True))
    run.note_no_translations(dict(both))
    for result in results:
        run.lines(score_text.summary(result, tie=threshold, by=by))
    few = min((result.outcome.units for result in results if result.outcome.interval is not None), default=FEW + 1)
    if few <= FEW:
        run.note(f"intervals and tests are based on only {few} {results[0].outcome.resampled}")


VERB = ConfiguredCommand(
    "compare",
    CompareFlags,
    run,
    DESCRIPTION,
    EPILOG,
    stray=flags.stray_output,
    refused=flags.REFUSED | REFUSED,
)
