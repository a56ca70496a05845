"""The flags of `pronmetric suite score`: the set, what is judged on it, and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pronmetric.cli import flags
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.parser import Flags, UsageError, argument, flag, number, part, require_one, switch, unset, whole
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.contrapro import PRONOUNS
from pronmetric.lab.suites.contrastive import Judging, Suite
from pronmetric.lab.suites.export import MANY, MODES, NONE

if TYPE_CHECKING:
    pass


ALL = "ALL"
"""The name of all sets of a file."""


class SetFlags(Flags):
    """Which set is read, and with which context."""

    name: str = argument(choices=list(SUITES), metavar="NAME", help=", ".join(SUITES))
    set: str = flag(required=True, metavar="FILE", help="the set, a file of the suite's authors")
    documents: str | None = flag(metavar="DIR|FILE", help="the documents, where the set does not contain them")
    context: int = flag(type=whole(0), default=0, metavar="N", help="previous sentences of each line (default: 0)")

    @property
    def suite(self) -> Suite:
        """The suite that NAME names."""
        return SUITES[self.name]


class JudgedFlags(Flags):
    """What is judged, besides a model of pronmetric."""

    scores: str | None = flag(metavar="FILE", help="scores of the candidates")
    translations: str | None = flag(metavar="FILE", help="translations of a system")
    humans: str | None = flag(metavar="FILE", help="human judgments of a system's translations")
    seq2seq: str | None = flag(metavar="FOLDER", help="a translation or language model")


class JudgingFlags(Flags):
    """How scores and translations are judged."""

    maximize: bool = switch(help="higher numbers in --scores are better")
    compat: bool = switch(help="as the original program where it is odd")
    pronouns: Sequence[str] | None = flag(
        nargs="*", metavar="FORM", help=f"contrapro: these reference pronouns ({' '.join(PRONOUNS)})"
    )
    distance: Sequence[int] | None = flag(
        nargs=2, type=whole(0), metavar=("MIN", "MAX"), help="contrapro --translations: distances"
    )
    proportional: float | None = flag(
        type=number(above=0),
        metavar="X",
        help="contrapro --translations: search X times the source sentence's share of the tokens, from the end",
    )
    language: str | None = flag(metavar="CODE", help="of the translations, for the tokenizer or splitter")
    alignment: str | None = flag(metavar="FILE", help="cai-xiong --translations: word alignments")
    separator: str | None = flag(
        metavar="TEXT", help="between sentences (default: <eos> in translations, a blank in --seq2seq)"
    )

    def check(self) -> None:
        """Refuse an empty range."""
        if self.distance is not None and self.distance[0] > self.distance[1]:
            raise UsageError(f"--distance: expected MIN <= MAX, got {self.distance[0]} and {self.distance[1]}")

    @property
    def judging(self) -> Judging:
        """The rules for the suite."""
        return Judging(
            compat=self.compat,
            pronouns=None if self.pronouns is None else tuple(form.lower() for form in self.pronouns) or PRONOUNS,
            language=self.language,
            distance=None if self.distance is None else (self.distance[0], self.distance[1]),
            separator="<eos>" if self.separator is None else self.separator,
            proportional=self.proportional,
            alignment=self.alignment,
        )


class Seq2seqFlags(Flags):
    """How a translation or language model reads the items."""

    context_mode: str = flag("--context-mode", choices=MODES, default=NONE, help="see below (default: %(default)s)")
    per_piece: bool = switch("--per-piece", help="divide log-probabilities by the number of pieces")
    prompt: str | None = flag(metavar="TEXT", help="text with {source}: what a model reads before the target")
    source_language: str | None = flag("--source-language", metavar="CODE", help="of the model's tokenizer")
    target_language: str | None = flag("--target-language", metavar="CODE", help="of the model's tokenizer")

    def check(self) -> None:
        """Refuse a prompt without the source."""
        if self.prompt is not None and "{source}" not in self.prompt and self.prompt:
            raise UsageError("--prompt: expected {source} in it; an empty prompt scores the target alone")


class BaselineFlags(Flags):
    """The baselines of ALL besides BLEU and chrF."""

    language_model: str | None = flag(
        "--language-model", metavar="FOLDER", help="a causal language model, as in `pronmetric evaluate`"
    )
    comet: str | None = flag(metavar="FILE", help="a checkpoint of COMET (.ckpt), where unbabel-comet is installed")


class ScoreFlags(SetFlags):
    """The set, what is judged on it, and what is written."""

    name: str = argument(choices=[*SUITES, ALL], metavar="NAME", help=f"{', '.join(SUITES)}; {ALL}: see below")
    judged: JudgedFlags = part(JudgedFlags, "what is judged (see below)")
    judging: JudgingFlags = part(JudgingFlags, "judging")
    by_seq2seq: Seq2seqFlags = part(Seq2seqFlags, "--seq2seq")
    baselines: BaselineFlags = part(BaselineFlags, "baselines of ALL")
    model: ModelFlags = part(ModelFlags, flags.MODEL)
    unused_seed: int = flags.seed_flag()
    bleu: str | None = flag(
        group="judging",
        metavar="FILE",
        help="also BLEU of a system's translations, one line for each item (`suite export --right-only`), against the "
        "right candidates",
    )
    to_json: str | None = flag(
        group=flags.OUTPUT, metavar="FILE", help="write all figures and the verdict on each item"
    )
    save_scores: str | None = flag(
        group=flags.OUTPUT, metavar="FILE", help="write the model's scores, one on each line"
    )
    plot: str | None = flag(group=flags.OUTPUT, metavar="FILE", help="plot accuracy by distance (.png or .svg)")
    quiet: bool = switch(group=flags.OUTPUT, help="no progress and notes on stderr")
    strict: bool = flags.strict_flag(flags.OUTPUT)
    out: OutputFlags = part(OutputFlags, only=())

    def check(self) -> None:
        """Refuse several things to judge or none, and flags of another one."""
        if self.name == ALL:
            self._check_all()
            return
        if self.baselines != unset(BaselineFlags):
            raise UsageError("--language-model and --comet go with ALL; a model of one set follows --seq2seq")
        judged, seq2seq = self.judged, self.by_seq2seq
        given = {
            "--scores": judged.scores,
            "--translations": judged.translations,
            "--humans": judged.humans,
            "--model": self.model.model,
            "--seq2seq": judged.seq2seq,
        }
        if [name for name, value in given.items() if value is not None] != ["--translations", "--humans"]:
            require_one(given)
        if self.judging.maximize and judged.scores is None:
            raise UsageError("--maximize goes with --scores")
        if self.save_scores is not None and self.model.model is None and judged.seq2seq is None:
            raise UsageError("--save_scores goes with --model or --seq2seq")
        of_model = {
            "--context-mode": seq2seq.context_mode != NONE,
            "--per-piece": seq2seq.per_piece,
            "--prompt": seq2seq.prompt,
            "--source-language": seq2seq.source_language,
            "--target-language": seq2seq.target_language,
        }
        if judged.seq2seq is None and (extra := [name for name, value in of_model.items() if value]):
            raise UsageError(f"{' and '.join(extra)} goes with --seq2seq")
        if seq2seq.context_mode == MANY and not self.context:
            raise UsageError("--context-mode concatN needs --context N")
        if judged.seq2seq is not None and self.context and seq2seq.context_mode != MANY:
            raise UsageError("--context goes with --context-mode concatN")

    def _check_all(self) -> None:
        """Refuse flags of a single set."""
        parts: tuple[Flags, ...] = self.judged, self.judging, self.by_seq2seq
        given = {name: value != vars(unset(type(one)))[name] for one in parts for name, value in vars(one).items()}
        given |= {name: vars(self)[name] is not None for name in ("documents", "save_scores", "plot")}
        if extra := [f"--{name.replace('_', '-')}" for name, is_given in given.items() if is_given]:
            raise UsageError(f"ALL scores by --model and baselines; {' and '.join(extra)} goes with a single set")
