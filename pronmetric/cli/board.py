"""`pronmetric board`: a static site of systems and their pronouns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from data_prep.wmt import corpus as wmt
from data_prep.wmt import discovery
from pronmetric.alignment.checks import corpus_sources
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.cli import flags, output
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.parser import Command, Flags, Group, flag, part, switch, whole
from pronmetric.cli.run import ScoringRun
from pronmetric.errors import PronmetricError
from pronmetric.lab.board import human, limits
from pronmetric.lab.board.pages import TITLE
from pronmetric.lab.board.scored import BoardSet, Store, reference_of
from pronmetric.lab.board.site import INDEX, Settings, Site
from pronmetric.output import targets
from pronmetric.scoring.score import Counts
from pronmetric.text.context import COMMON, NONE, RESPECTIVE

DESCRIPTION = "Build a static site that shows the pronoun scores of all systems of test sets."
EPILOG = """example:
  pronmetric board build --wmt wmt -o site"""


WORST = 30
"""Pronouns of a system that its page lists; more: larger pages."""
BUILD = """Score the pronouns of all systems of test sets into English, or the language of --model, and write a
static site: scores and errors with intervals, significance clusters, by language pair, year and class of pronoun; each
system's worst pronouns; comparisons of any two systems of a test set; all figures as TSV and JSON. It opens from disk.

The scores of a finished test set are kept in a folder. A stopped run goes on with the test set in which it was
stopped; nothing is scored again while the texts, the checkpoint and the context stay the same."""
BUILD_EPILOG = f"""\
DIR holds wmtNN-news-systems checkouts, mt-metrics-eval's folders, or any layout of `prepare`, such as a
folder NAME.SL-TL with ref.txt, one file a system, and maybe src.txt, docids.txt and speakers.txt.

Human scores of systems, for the correlation below the table: TESTSET.SL-TL.sys.score for any test set,
mt-metrics-eval's TESTSET/human-scores/SL-TL.NAME.sys.score, wmtNN-da/ad-sys-ranking-SL-TL-z-names.csv (WMT's direct
assessment), or the files of ESA (WMT24 and WMT25; "esa" or "humeval" in the name).

context:
  common      the previous sentences of the first reference (default); a test set without a reference: respective
  respective  the previous sentences of the output itself
  none        no context
{flags.CONTEXT_SIZE_HELP}

The site holds texts of the test sets. Whether it may be published depends on their licence.

examples:
  pronmetric board build --wmt wmt -o site
  pronmetric board build --wmt wmt mine --human da --pairs de-en zh-en -o site"""


class BuildFlags(Flags):
    """The test sets, how they are scored, and the site."""

    wmt: Sequence[str] = flag(required=True, nargs="+", metavar="DIR", help="folders with test sets")
    output: str = flag("-o", "--output", required=True, metavar="SITE", help="the folder of the site")
    scores: str | None = flag(metavar="FOLDER", help="folder of finished test sets (default: SITE.scores)")
    human: Sequence[str] | None = flag(
        nargs="+", metavar="DIR", help="folders with human scores (default: those of --wmt)"
    )
    years: Sequence[int] | None = flag(nargs="+", type=whole(0), metavar="YEAR", help="only these years (default: all)")
    pairs: Sequence[str] | None = flag(nargs="+", metavar="LP", help="only these language pairs (default: all)")
    testsets: Sequence[str] | None = flag(
        nargs="+", metavar="ID", help="only these, e.g. newstest2021.de-en (default: all)"
    )
    context: str | None = flag(choices=[COMMON, RESPECTIVE, NONE], help="see below")
    worst: int = flag(
        type=whole(0), default=WORST, metavar="N", help="worst pronouns of a system (default: %(default)s)"
    )
    title: str = flag(default=TITLE, metavar="TEXT", help='title of the site (default: "%(default)s")')
    model: ModelFlags = part(ModelFlags, flags.MODEL)
    seed: int = flags.seed_flag()
    quiet: bool = switch(help="no progress and notes on stderr")
    out: OutputFlags = part(OutputFlags, only=())


def run_build(task: BuildFlags) -> None:
    """Score what is not yet scored, and write the site."""
    scores = task.scores or f"{task.output.rstrip('/')}.scores"
    targets.check([], read=[*task.wmt, *(task.human or ()), task.model.model], folders=[task.output, scores])
    run = ScoringRun(task.model, task.out)
    note, target = run.note, run.language.code
    discovered = discovery.discover(task.wmt, years=task.years, pairs=task.pairs, exclude=(), target=target)
    testsets = discovery.choose(discovered.noted(note), task.testsets)
    people, told = human.find([Path(folder) for folder in task.human or task.wmt], testsets, target=target)
    for line in told:
        note(line)
    context = run.choose_context(task.context, COMMON)
    if not checkpoint_config.has_probabilities(run.checkpoint.config):
        raise PronmetricError(
            f"the head of {task.model.model} gives no probabilities, which a board needs: give another model"
        )
    metric = run.metric
    store = Store(
        folder=Path(scores),
        stream=partial(run.stream, attended=True),
        size=metric.context_size,
        language=metric.language,
        signature=lambda kind: metric.signature(
            context=kind, context_size=metric.context_size, counts=Counts(with_source=1)
        ),
        progress=lambda name, total: run.progress(total, label=name),
    )
    uses = limits.uses(run.checkpoint.config)
    settings = Settings(
        title=task.title,
        worst=task.worst,
        context_size=metric.context_size,
        uses=uses,
        seed=task.seed,
        language=metric.language,
        decision=run.checkpoint.decision(None, sourced=True),
    )
    site = Site(Path(task.output), settings)
    for testset in testsets:
        corpus = wmt.read_testset(testset, None, note)
        kind = context if corpus.references else RESPECTIVE if context == COMMON else context
        run.check_sources(testset.id, corpus_sources(corpus))
        named = BoardSet(testset.id, testset.name, testset.year, testset.lp, kind, reference_of(corpus, kind))
        stored = store.get(named, corpus)
        if stored.reused:
            note(f"{testset.id}: scores are those of {scores}")
        with output.bar(task.quiet, total=None, label=f"{testset.id}: compare", unit="pairs", short=True) as bar:
            site.add(stored.scored, corpus, advance=bar.update)
    held_out = [board.testset.id for board in site.boards if board.testset.id not in uses]
    size = site.finish(people, human.agree(site.boards, people, held_out=held_out, seed=task.seed))
    systems = sum(len(board.systems) for board in site.boards)
    sets = f"{len(site.boards)} test set{'s' if len(site.boards) > 1 else ''}"
    print(f"{systems} systems of {sets}, {size.files} files, {size.bytes / 1e6:.1f} MB")
    print(Path(task.output) / INDEX)


VERB = Group(
    "board",
    DESCRIPTION,
    EPILOG,
    [Command("build", BuildFlags, run_build, BUILD, BUILD_EPILOG, help="score all systems and write the site")],
)
