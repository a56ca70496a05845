"""The flags of `pronmetric correlate`."""

from __future__ import annotations

import argparse

from pronmetric.cli import flags
from pronmetric.cli.parser import verb_parser, whole_from_zero
from pronmetric.eval.decision import DECISIONS, SCORE
from pronmetric.eval.resampling import SEED
from pronmetric.eval.segment_correlation import AVERAGES, ITEM
from pronmetric.lab.human import correlation_tables
from pronmetric.lab.human.human_scores import DOCUMENTS, DOMAINS, SEGMENTS, SYSTEMS
from pronmetric.lab.human.system_level import STATISTICS

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


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = verb_parser("correlate", DESCRIPTION, EPILOG)
    parser.add_argument(
        "scores",
        metavar="SCORES",
        nargs="+",
        help="metric scores: .sys.score, .seg.score, or the JSON of score or compare",
    )
    parser.add_argument("human", metavar="HUMAN", help="human scores, in one of the formats above")
    parser.add_argument("--pair", metavar="LP", help="language pair of ESA with several, such as cs-en")
    parser.add_argument(
        "--level",
        choices=(SYSTEMS, SEGMENTS, DOCUMENTS, DOMAINS),
        help="level of the correlation: that of HUMAN (default), or systems, the means over HUMAN's scores of each",
    )
    flags.both(
        parser,
        "human-score",
        choices=("z", "raw"),
        default="z",
        help="which score of WMT direct assessment (default: %(default)s)",
    )
    parser.add_argument(
        "--by",
        choices=DECISIONS,
        default=SCORE,
        help="which number of a JSON result: the score; the errors, expected wrong pronouns, negative, of a system in "
        "1,000 words; or the preference of a checkpoint with a pair head (default: %(default)s)",
    )
    parser.add_argument(
        "--average",
        choices=AVERAGES,
        help=f"how segment scores are grouped (default: {AVERAGE})",
    )
    parser.add_argument(
        "--test",
        metavar="FIGURE",
        choices=tuple(dict.fromkeys((*STATISTICS, *correlation_tables.SEGMENT_LABELS))),
        help="statistic of the p values; systems: pearson, spearman, kendall, pairwise (default); "
        f"segments: {', '.join(correlation_tables.SEGMENT_LABELS)} (default)",
    )
    parser.add_argument(
        "--resample",
        choices=("systems", "segments"),
        default="systems",
        help="unit of the bootstrap intervals; segments needs JSON (default: %(default)s)",
    )
    flags.both(parser, "keep-references", action="store_true", help="include human translations as systems")
    flags.both(parser, "to-json", metavar="FILE", help="write all figures and the systems' scores as JSON")
    flags.both(parser, "to-sys-score", metavar="FILE", help="write SCORES as a .sys.score file")
    flags.both(parser, "to-seg-score", metavar="FILE", help="write the segment scores as a .seg.score file; needs JSON")
    parser.add_argument(
        "--seed", type=whole_from_zero, default=SEED, metavar="N", help="seed of the resampling (default: %(default)s)"
    )
    return parser
