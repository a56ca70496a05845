"""`pronmetric correlate`: correlation of metric scores with human scores, of systems or segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pronmetric.cli import output
from pronmetric.cli.parser import Command, Flags, argument, flag, switch, whole
from pronmetric.errors import InputError
from pronmetric.eval.decision import DECISIONS, SCORE
from pronmetric.eval.resampling import SEED
from pronmetric.eval.segment_correlation import ACC_EQ, AVERAGES, ITEM
from pronmetric.lab.human import (
    correlation_tables,
    esa,
    human_scores,
    metric_scores,
    segment_level,
    system_level,
    wmt_scores,
)
from pronmetric.lab.human.human_scores import DOCUMENTS, DOMAINS, SEGMENTS, SYSTEMS
from pronmetric.lab.human.system_level import STATISTICS
from pronmetric.output import targets

AVERAGE = ITEM
DESCRIPTION = """Correlation of metric scores with human scores, of systems, segments, documents or domains, depending
on HUMAN. Higher is better on both sides.

SCORES is a file of mt-metrics-eval, .sys.score, .seg.score, .doc.score or .domain.score (SYSTEM, a tab, a score or
None; one line for each system, or for each segment of each system in order), or the --to_json output of `score` or
`compare`. HUMAN is such a file, or one of these:
  .seg.rating                        MQM ratings of mt-metrics-eval: minus the sum of the errors' scores
  ad-sys-ranking-SL-TL-z-names.csv   WMT direct assessment of systems; this file names the outputs
  ad-seg-scores-SL-TL.csv            WMT direct assessment of segments
  esa_generalMT2024_wave0.csv, wmt24_esa.jsonl, wmt25-genmt-humeval.jsonl
                                     error span annotation (ESA) of WMT24 and WMT25: the mean over annotators
Several SCORES are also compared with each other."""
EPILOG = """Systems that are missing on one side or have no score are counted and listed. Human translations (HUMAN,
HUMAN-B, ref, refA ...) are left out and listed; --keep-references includes them. Systems in JSON that are named after
files are matched with the names in HUMAN: out/Alder.txt and newstest2021.de-en.hyp.Alder.en are both Alder. Scores of
`score --also` are added to the table. In ESA's CSV, items of tutorials, quality control, and repeated or incomplete
documents are left out and counted. Scores of documents and domains in JSON are means over their pronouns; the documents
and domains are those of documents/LP.docs beside the folder of HUMAN.

Systems: Pearson's r, Spearman's rho, Kendall's tau-b and pairwise accuracy (Kocmi et al. 2021): the share
of the system pairs ordered by humans that the metric orders alike; equal metric scores are wrong. 95 % intervals are
bootstrap intervals over systems or, with --resample segments, over documents (segments if documents are unknown); they
need at least five of these. With few systems the intervals are wide. Human rankings rate whole translations; a pronoun
score need not correlate with them.

Segments: Pearson's r, Spearman's rho, Kendall's tau-b, tau-c, tau-10 (human ties are left out, metric ties are wrong),
tau-eq (ties on both sides are right, on one side wrong) and acc-eq, pairwise accuracy with metric ties up to a
threshold, which is chosen to maximise acc-eq (Deutsch et al. 2023). --average: item, the systems' scores of each
segment, then the mean over segments; sys, the segments of each system, then the mean over systems; none, all scores in
one list. Only outputs scored by humans and by all SCORES count.

Systems by their segments: soft pairwise accuracy (Thompson et al. 2024, WMT's measure since 2024): the mean over pairs
of systems of 1 - |p of people - p of the metric|, where p is that of a paired permutation test of "the first is better"
on the segments that all systems have. --test spa compares metrics by it.

With several SCORES, a table gives one-sided p values that the metric of the row correlates better than the metric of
the column, for the statistic of --test. The test is PERM-BOTH (Deutsch et al. 2021): it swaps the two metrics' scores
of an output (of a system at the system level); for acc-eq and tau-eq it swaps the decisions on a pair of outputs.

examples:
  pronmetric correlate COMET.sys.score human.sys.score
  pronmetric score -d wmt22:cs-en --wmt-dir DIR --only_system --to_json result.json
  pronmetric correlate result.json ad-sys-ranking-cs-en-z-names.csv --resample segments --to_sys_score mine.sys.score
  pronmetric correlate result.json COMET.seg.score ad-seg-scores-cs-en.csv --average item
  pronmetric correlate result.json wmt22/human-scores/zh-en.mqm.seg.score
  pronmetric correlate result.json wmt25-genmt-humeval.jsonl --pair cs-en --level systems"""


class CorrelateFlags(Flags):
    """The scores of metrics and people, how they are correlated, and what is written."""

    scores: Sequence[str] = argument(
        metavar="SCORES", nargs="+", help="metric scores: .sys.score, .seg.score, or the JSON of score or compare"
    )
    human: str = argument(metavar="HUMAN", help="human scores, in one of the formats above")
    pair: str | None = flag(metavar="LP", help="language pair of ESA with several, such as cs-en")
    level: str | None = flag(
        choices=(SYSTEMS, SEGMENTS, DOCUMENTS, DOMAINS),
        help="level of the correlation: that of HUMAN (default), or systems, the means over HUMAN's scores of each",
    )
    human_score: Literal["z", "raw"] = flag(
        choices=("z", "raw"), default="z", help="which score of WMT direct assessment (default: %(default)s)"
    )
    by: str = flag(
        choices=DECISIONS,
        default=SCORE,
        help="which number of a JSON result: the score; the errors, expected pronoun errors, negative, of a system in "
        "1,000 words; or the preference of a checkpoint with a pair head (default: %(default)s)",
    )
    average: str | None = flag(choices=AVERAGES, help=f"how segment scores are grouped (default: {AVERAGE})")
    test: str | None = flag(
        metavar="FIGURE",
        choices=tuple(dict.fromkeys((*STATISTICS, *correlation_tables.TEST_LABELS))),
        help="statistic of the p values; systems: pearson, spearman, kendall, pairwise (default); "
        f"segments: {', '.join(correlation_tables.TEST_LABELS)} (default: {ACC_EQ})",
    )
    resample: str = flag(
        choices=("systems", "segments"),
        default="systems",
        help="unit of the bootstrap intervals; segments needs JSON (default: %(default)s)",
    )
    keep_references: bool = switch(help="include human translations as systems")
    to_json: str | None = flag(metavar="FILE", help="write all figures and the systems' scores as JSON")
    to_sys_score: str | None = flag(metavar="FILE", help="write SCORES as a .sys.score file")
    to_seg_score: str | None = flag(metavar="FILE", help="write the segment scores as a .seg.score file; needs JSON")
    seed: int = flag(type=whole(0), default=SEED, metavar="N", help="seed of the resampling (default: %(default)s)")

    @property
    def of_one_metric(self) -> tuple[tuple[str, bool], ...]:
        """The flags that write one metric's scores, and whether they were used."""
        return ("--to_sys_score", self.to_sys_score is not None), ("--to_seg_score", self.to_seg_score is not None)


def run(task: CorrelateFlags) -> None:
    """Correlate the scores, print and write the figures."""
    targets.check([task.to_json, task.to_sys_score, task.to_seg_score], read=[*task.scores, task.human])
    unit = human_scores.unit_of(task.human)
    if task.pair is not None and (unit != SEGMENTS or not esa.holds(task.human)):
        raise InputError("has scores of one language pair: leave out --pair, which is of ESA", file=task.human)
    if unit == SYSTEMS:
        if task.level not in (None, SYSTEMS):
            raise InputError(f"has scores of systems, but --level is {task.level}: leave it out", file=task.human)
        people = wmt_scores.read_human(task.human, score=task.human_score)
        return _systems(task, people, {})
    human = human_scores.read(task.human, score=task.human_score, pair=task.pair)
    for kind, number in human.left_out.items():
        print(f"{task.human}: {number} {kind}, left out")
    if task.level != SYSTEMS:
        return _segments(task, human)
    systems = [name for path in task.scores for name in metric_scores.read(path, human.names, by=task.by).systems]
    return _systems(task, human.means(systems), human.left_out)


def _systems(task: CorrelateFlags, people: system_level.HumanScores, left_out: Mapping[str, int]) -> None:
    """Scores of systems; left_out: rows of HUMAN that are no score, by kind."""
    if task.average is not None:
        raise InputError("has scores of systems, but --average is of segments: leave it out", file=task.human)
    return (_one if len(task.scores) == 1 else _several)(task, people, left_out)


def _content(content: dict[str, Any], left_out: Mapping[str, int]) -> dict[str, Any]:
    """The figures for JSON, with the rows of HUMAN that are no score, if there are any."""
    return {**content, "human_rows_left_out": dict(left_out)} if left_out else content


def _one(task: CorrelateFlags, people: system_level.HumanScores, left_out: Mapping[str, int]) -> None:
    """One metric's systems."""
    (path,) = task.scores
    if task.test is not None:
        raise InputError("is the only metric, but --test compares two or more: give several SCORES", file=path)
    metric = metric_scores.read(path, people, by=task.by)
    segments = task.resample == "segments"
    if metric.result is None and (segments or task.to_seg_score):
        flag = "--to_seg_score" if task.to_seg_score else "--resample segments"
        raise InputError(f"has no segments, which {flag} needs: give the output of score --to_json", file=path)
    if segments and task.by != SCORE:
        raise InputError(f"--resample segments is of scores: leave out --by {task.by}", file=path)
    correlated = system_level.correlate_one(
        metric,
        people,
        files=(path, task.human),
        keep_references=task.keep_references,
        segments=segments,
        seed=task.seed,
    )
    _write_scores(task, metric)
    output.write_json(task.to_json, _content(correlated.content(task.human, seed=task.seed), left_out))
    print(correlation_tables.format_one(correlated, task.human))


def _several(task: CorrelateFlags, people: system_level.HumanScores, left_out: Mapping[str, int]) -> None:
    """Several metrics, on the systems with scores of all of them and human scores."""
    _refuse_several(task, (("--resample segments", task.resample == "segments"), *task.of_one_metric))
    correlated = system_level.correlate_several(
        task.scores,
        people,
        human=task.human,
        figure=_choose_statistic(task, tuple(STATISTICS), default="pairwise"),
        keep_references=task.keep_references,
        by=task.by,
        seed=task.seed,
    )
    output.write_json(task.to_json, _content(correlated.content(task.human, seed=task.seed), left_out))
    print(correlation_tables.format_several(correlated))


def _segments(task: CorrelateFlags, human: human_scores.HumanScores) -> None:
    """Metrics of segments, documents or domains."""
    if task.level is not None and task.level != human.unit:
        raise InputError(f"has scores of {human.unit}, but --level is {task.level}: leave it out", file=task.human)
    left_out = human.left_out
    if task.resample == "segments":
        raise InputError(
            f"has scores of {human.unit}, but --resample is of figures of systems: leave it out", file=task.human
        )
    _refuse_several(task, task.of_one_metric)
    figure = _choose_statistic(task, tuple(correlation_tables.TEST_LABELS), default=ACC_EQ)
    files = segment_level.read_metrics(task.scores, human, by=task.by)
    for file in files:
        for name, given in task.of_one_metric:
            if given and file.result is None:
                raise InputError(
                    f"is not a result, which {name} needs: give the output of score --to_json", file=file.path
                )
    correlated = segment_level.correlate(
        files,
        human=human,
        average=task.average or AVERAGE,
        figure=figure,
        keep_references=task.keep_references,
        seed=task.seed,
    )
    for file in files:
        if file.result is not None:
            _write_scores(task, file.result)
    output.write_json(task.to_json, _content(correlated.content(task.human, seed=task.seed), left_out))
    print(correlation_tables.format_segments(correlated))


def _refuse_several(task: CorrelateFlags, given_flags: Iterable[tuple[str, bool]]) -> None:
    """Refuse flags that take one metric with several."""
    for name, given in given_flags:
        if given and len(task.scores) > 1:
            raise InputError(f"is one of {len(task.scores)} SCORES, but {name} takes one", file=task.scores[0])


def _choose_statistic(task: CorrelateFlags, figures: Sequence[str], *, default: str) -> str:
    """The statistic for the p values, one of `figures`."""
    if task.test is None:
        return default
    if len(task.scores) < 2:
        raise InputError(
            "is the only metric, but --test compares two or more: give several SCORES", file=task.scores[0]
        )
    if task.test not in figures:
        raise InputError(f"with these scores --test takes {', '.join(figures)}, got {task.test}", file=task.human)
    return task.test


def _write_scores(task: CorrelateFlags, metric: metric_scores.Metric) -> None:
    """Write the metric's scores as files of mt-metrics-eval, if requested."""
    if task.to_sys_score is not None:
        _write_lines(task.to_sys_score, wmt_scores.system_score_lines(metric.systems))
    if task.to_seg_score is not None and metric.result is not None:
        _write_lines(task.to_seg_score, wmt_scores.segment_score_lines(metric.segments()))


def _write_lines(path: str, lines: Iterable[str]) -> None:
    with targets.AtomicFile(path) as file:
        file.writelines(lines)


VERB = Command("correlate", CorrelateFlags, run, DESCRIPTION, EPILOG)
