"""`pronmetric rerank`: choose among several candidate translations of each line by their pronouns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from pronmetric.cli import flags, output
from pronmetric.cli.corpus_run import context_scope, note_order, previous_lines
from pronmetric.cli.flags import RESEGMENTED_SPEAKERS, SPEAKERS_WITHOUT_CONTEXT, ModelFlags, OutputFlags
from pronmetric.cli.parser import Command, Flags, UsageError, flag, number, part, require_one, switch, whole
from pronmetric.cli.run import ScoringRun
from pronmetric.output import targets
from pronmetric.pronouns import languages
from pronmetric.pronouns.known_words import CHECKED_LINES, check_texts
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.results import write
from pronmetric.scoring.rerank import NO_TEXT, Choice, Weighting, rerank, rerank_by_agreement
from pronmetric.text import streams, strict_json
from pronmetric.text.candidates import Candidates, beside, read_nbest, read_parallel, read_scores
from pronmetric.text.context import COMMON, NONE, RESPECTIVE, previous, sources_of
from pronmetric.text.corpus import Corpus, Row
from pronmetric.text.files.door import Reading

DESCRIPTION = """Choose among candidate translations of each line by their pronouns, and print the chosen lines.

The first candidate is chosen unless another is better by more than --margin; of equally good ones the earliest is
chosen. The score of a candidate is the mean probability of its pronouns or, with --scores,

  WEIGHT x mean probability of the pronouns + (1 - WEIGHT) x given score

If a candidate or the first one has no pronoun, the pronoun term of their difference is zero.

A candidate that is no translation, such as a refusal, is chosen only where all candidates are none, and one without
text only where none has text; they are noted.

With --resegment the chosen segments are printed, one a line: those of the reference, else of the source, else of the
first candidate.

The model scores only pronouns, and reads the source (-s) only if it has a reader of sources: it does not find the best
translation. Do not evaluate the chosen text with the same score."""
EPILOG = f"""candidates:
  --candidates A B C     line-parallel files; the first file has the first candidates
  --nbest FILE --size N  N consecutive lines for each line to translate
  --nbest FILE           n-best lists in the format of Moses, "0 ||| text ||| ..."; fields after the text are ignored;
                         JSON Lines with a list "candidates" in each object; or JSON Lines or a table whose candidates
                         of one line share an id (seg_id, segment or id). Source and document are read from them
--scores gives one number for each candidate, one on each line, higher is better: one file for each file of
--candidates, or one file for --nbest. The numbers are not normalised.

context of each candidate:
  respective  the previously chosen lines; the default without a reference
  common      the previous sentences of the reference; the default with -r
  none        no context
{flags.CONTEXT_SIZE_HELP}

--mbr uses no model. The pronoun score of a candidate is its mean agreement with the other candidates (minimum Bayes
risk, all equally likely): the F1 of their pronoun forms, 1 if neither has a pronoun. It follows the majority of the
candidates; where most have no pronoun, a candidate without pronouns is chosen.

--to_pairs writes each two candidates of a line of which one is better by more than --margin, one JSON object a line,
{{"id": "LINE-NUMBER", "prompt": the source, "chosen": ..., "rejected": ..., "difference": ...}}, the clearest pair
of a line first. The id counts lines and pairs from 0; there is no "prompt" without a source. Ties write no pair.

examples:
  pronmetric rerank --candidates a.txt b.txt c.txt --docids ids.txt > best.txt
  pronmetric rerank --nbest out.nbest --size 10 --scores out.logprob --weight 0.3 -o best.txt
  pronmetric rerank --nbest samples.txt --size 8 -s source.txt --to_pairs pairs.jsonl -o best.txt
  pronmetric rerank --nbest moses.nbest --mbr"""
_CONTEXTS = {RESPECTIVE: "the {} as chosen", COMMON: "the {} of the reference", NONE: "none"}
TEXTS, SCORE = "candidates (UTF-8, also gzip; see below)", "score"
Given = Sequence[Sequence[float]] | None


class RerankFlags(Flags):
    """The candidates, their context, and how one is chosen."""

    candidates: Sequence[str] | None = flag(
        group=TEXTS, nargs="+", metavar="FILE", help="line-parallel files of candidates"
    )
    nbest: str | None = flag(group=TEXTS, metavar="FILE", help="one file with the candidates of all lines")
    size: int | None = flag(group=TEXTS, type=whole(1), metavar="N", help="candidates of each line in --nbest")
    references: str | None = flag(
        "-r", "--references", group=TEXTS, metavar="FILE", help="reference translation, used as context"
    )
    sources: str | None = flag(
        "-s",
        "--sources",
        group=TEXTS,
        metavar="FILE",
        help="source; counts if the model reads sources or has a reader of them",
    )
    docids: str | None = flag(
        group=TEXTS,
        metavar="FILE",
        help="one document id on each line, or `blank`: blank lines end documents; context never crosses documents",
    )
    speakers: str | None = flag(
        group=TEXTS,
        metavar="FILE",
        help="who says each line, an empty line where that is not known; the model reads the names before the lines",
    )
    resegment: bool = flags.resegment_flag(TEXTS)
    format: str | None = flags.format_flag(TEXTS, of="--candidates, --nbest, -r and -s")
    context: str | None = flag(group=TEXTS, choices=[COMMON, RESPECTIVE, NONE], help="see below")
    mbr: bool = switch(group=SCORE, help="agreement with the other candidates, without a model")
    scores: Sequence[str] | None = flag(group=SCORE, nargs="+", metavar="FILE", help="another score of each candidate")
    weight: float | None = flag(
        group=SCORE, type=number(0, 1), metavar="W", help="weight of the pronoun score, from 0 to 1"
    )
    margin: float = flag(
        group=SCORE,
        type=number(0),
        default=0.0,
        metavar="X",
        help="choose another candidate only if it is better than the first by more than X (default: 0)",
    )
    model: ModelFlags = part(ModelFlags, flags.MODEL)
    output: str | None = flag(
        "-o", "--output", group=flags.OUTPUT, metavar="FILE", help="write the chosen lines to FILE (default: stdout)"
    )
    to_json: str | None = flag(group=flags.OUTPUT, metavar="FILE", help="write all candidates with their scores")
    to_pairs: str | None = flag(
        group=flags.OUTPUT, metavar="FILE", help="write preference pairs for tuning a translator; see below"
    )
    out: OutputFlags = part(OutputFlags, flags.OUTPUT, only=flags.NOTES)
    strict: bool = flags.strict_flag(flags.OUTPUT)

    def check(self) -> None:
        """Refuse flags that do not go together."""
        require_one({"--candidates": self.candidates, "--nbest": self.nbest})
        if self.resegment and self.candidates is None:
            raise UsageError("--resegment goes with --candidates")
        if self.resegment and self.speakers is not None:
            raise UsageError(RESEGMENTED_SPEAKERS)
        if self.resegment and self.scores is not None:
            raise UsageError("--scores has a number for each line, and --resegment makes other segments than lines")
        if self.size is not None and self.nbest is None:
            raise UsageError("--size goes with --nbest")
        if (self.scores is None) != (self.weight is None):
            raise UsageError("--scores and --weight go together")
        files = len(self.candidates or [self.nbest])
        if self.scores is not None and len(self.scores) != files:
            raise UsageError(f"expected {files} files of --scores, got {len(self.scores)}")
        of_model = {
            "-r": self.references,
            "--docids": self.docids,
            "--speakers": self.speakers,
            "--context": self.context,
            "--model": self.model.model,
            "-s": self.sources,
        }
        if self.mbr and (extra := [name for name, value in of_model.items() if value is not None]):
            raise UsageError(f"--mbr uses no model and no context; leave out {' and '.join(extra)}")
        if self.context == NONE and self.speakers is not None:
            raise UsageError(SPEAKERS_WITHOUT_CONTEXT)
        if self.context == COMMON and self.references is None:
            raise UsageError("--context common needs a reference: give -r")

    @property
    def weighting(self) -> Weighting:
        """How the pronoun score and the given one are combined."""
        return Weighting(weight=1.0 if self.weight is None else self.weight, margin=self.margin)


def run(task: RerankFlags) -> None:
    """Choose among the candidates, print or write the chosen lines."""
    files = [*(task.candidates or ()), task.nbest, task.references, task.sources, task.docids, task.speakers]
    targets.check((task.output, task.to_json, task.to_pairs), read=[*files, *(task.scores or ()), task.model.model])
    run = ScoringRun(task.model, task.out, strict=task.strict)
    note = run.note
    corpus, rows = _read(task, run)
    candidates: Candidates = [row.texts for row in rows]
    given = None if task.scores is None else read_scores(task.scores, candidates)
    language = _language(task, run)
    first = [text for texts in islice(candidates, CHECKED_LINES) for text in texts]
    check_texts({"the candidates": first}, language, note, strict=task.strict)
    if task.mbr:
        note.begin()
        choices, signature = _rerank_by_agreement(candidates, given, language, task), None
    else:
        choices, signature = _rerank(rows, corpus, given, task, run)
    _write(rows, given, choices, signature, task)
    if task.to_pairs is not None:
        pairs = _write_pairs(task.to_pairs, rows, given, choices, task)
        left_out = "the other candidates of a line are the same text, tie or are no translation"
        note.detail(f"{task.to_pairs}: {pairs} pairs; {left_out}")
    changed = sum(choice.chosen > 0 for choice in choices)
    without = sum(choice.scores[0] is None for choice in choices)
    (note if signature is None else note.detail)(
        f"another candidate than the first was chosen for {changed} of {len(choices)} lines"
    )
    _note_no_translations(choices, note)
    if without:
        note.detail(f"the first candidate of {without} lines has no pronoun: pronouns do not affect the choice there")
    if signature is not None:
        note(f"signature: {signature}")


def _language(task: RerankFlags, run: ScoringRun) -> Language:
    """The language of the candidates: that of the model, or without one that of --lang."""
    return languages.language(task.model.lang or ENGLISH.code) if task.mbr else run.language


def _read(task: RerankFlags, run: ScoringRun) -> tuple[Corpus | None, list[Row]]:
    """The candidates of each line with what stands beside them; the corpus of parallel files."""
    beside_them: dict[str, Any] = {
        "references": [] if task.references is None else [task.references],
        "source": task.sources,
        "docids": task.docids,
        "speakers": task.speakers,
    }
    note, reading = run.note, Reading(task.format, language=lambda: _language(task, run).code)
    if task.candidates:
        corpus = read_parallel(task.candidates, note, reading, **beside_them, resegment=task.resegment)
        return corpus, list(corpus.rows())
    assert task.nbest is not None  # checked by `RerankFlags.check`
    return None, beside(read_nbest(task.nbest, task.size, note, reading), note, **beside_them, reading=reading)


def _note_no_translations(choices: Sequence[Choice], note: output.Notes) -> None:
    """Note candidates that are no translation or have no text, and lines that have no other."""
    found = [(said, line) for line, choice in enumerate(choices, start=1) for said in choice.no_translation if said]
    if where := [line for said, line in found if said == NO_TEXT]:
        note(
            f"{len(where)} candidates have no text, and are not chosen where another has text "
            f"(the first is of line {where[0]})"
        )
    if where := [line for said, line in found if said != NO_TEXT]:
        note(
            f"{len(where)} candidates look like what a language model says instead of a translation, and are not "
            f"chosen where there is another (the first is of line {where[0]})"
        )
    if bare := [line for line, choice in enumerate(choices, start=1) if all(choice.no_translation)]:
        note(f"of {len(bare)} lines no candidate looks like a translation (the first is line {bare[0]})")


def _rerank_by_agreement(candidates: Candidates, given: Given, language: Language, task: RerankFlags) -> list[Choice]:
    """The choices without a model."""
    choices = []
    with output.bar(task.out.quiet, total=len(candidates), label="rerank", unit="lines") as bar:
        for choice in rerank_by_agreement(candidates, weighting=task.weighting, given=given, language=language):
            choices.append(choice)
            bar.update()
    return choices


def _rerank(
    rows: Sequence[Row], corpus: Corpus | None, given: Given, task: RerankFlags, run: ScoringRun
) -> tuple[list[Choice], str]:
    """The choices by the model, in the order of the lines, and its signature."""
    candidates: Candidates = [row.texts for row in rows]
    note, size = run.note, run.checkpoint.context_size
    referenced = any(row.references for row in rows)
    otherwise, named = COMMON if referenced else RESPECTIVE, task.speakers is not None
    in_order = corpus is None or corpus.in_order
    kind = run.choose_context(task.context, otherwise, needed=named, in_order=in_order)
    if corpus is not None:
        note_order(kind, corpus, note)
    docs = None if any(row.doc is None for row in rows) else [row.doc for row in rows]
    speakers = None
    if kind != NONE and any(row.speaker is not None for row in rows):
        speakers = [row.speaker or "" for row in rows]
    contexts = {NONE: [""] * len(rows)}.get(kind)
    if kind == COMMON:
        contexts = list(previous([row.reference or "" for row in rows], docs, size=size, speakers=speakers))
    sources = None
    if any(row.source is not None for row in rows):
        name = task.sources or task.nbest or (task.candidates or [""])[0]
        pairs = [(row.source or "", row.texts[0]) for row in rows]
        run.check_sources(name, pairs)
        sources = sources_of([source for source, _ in pairs], docs)
        run.note_unread_source(task.sources)
    said = _CONTEXTS[kind].format(previous_lines(size))
    note.detail(f"context: {said}" + ("" if kind == NONE else f", {context_scope(docs is not None)}"))
    if kind != NONE and docs is None:
        note("no document ids: all lines are one document, so that contexts cross documents; give --docids")
    with run.progress(sum(map(len, candidates)), label="rerank"):
        choices = dict(
            rerank(
                candidates,
                run.stream,
                weighting=task.weighting,
                given=given,
                contexts=contexts,
                sources=sources,
                speakers=speakers,
                docs=docs,
                context_size=size,
            )
        )
    note.lengths(run.counts)
    resegmented = "yes" if corpus is not None and corpus.resegmented else None
    return [choices[line] for line in range(len(candidates))], run.sign(kind, size=size, resegmented=resegmented)


def _write(
    rows: Sequence[Row], given: Given, choices: Sequence[Choice], signature: str | None, task: RerankFlags
) -> None:
    """Write the chosen lines, and with --to_json all candidates and their scores, and where they stand."""
    with write.Writer(json_path=task.to_json, tsv_path=None, columns=()) as exports:
        for line, (row, choice) in enumerate(zip(rows, choices, strict=True)):
            each: dict[str, Sequence[Any]] = {
                "text": row.texts,
                "score": [write.round_score(score) for score in choice.scores],
                **({} if given is None else {"given": given[line]}),
                "gain": [write.round_score(gain) for gain in choice.gains],
                **({"no_translation": choice.no_translation} if any(choice.no_translation) else {}),
            }
            where = [write.place_entry(place) for place in row.places] or [{}] * len(row.texts)
            listed = [
                {**its, **dict(zip(each, values, strict=True))}
                for its, values in zip(where, zip(*each.values(), strict=True), strict=True)
            ]
            exports.segment({"segment": line, "chosen": choice.chosen, "candidates": listed}, ())
        by = "agreement with the other candidates" if task.mbr else "model"
        exports.finish(pronouns_by=by, weight=task.weight, margin=task.margin, signature=signature)
    chosen = (row.texts[choice.chosen] for row, choice in zip(rows, choices, strict=True))
    if task.output is None and not any(map(streams.is_stdout, (task.to_json, task.to_pairs))):
        for text in chosen:
            print(text)
    elif task.output is not None:
        with targets.AtomicFile(task.output) as file:
            file.writelines(f"{text}\n" for text in chosen)


def _write_pairs(path: str, rows: Sequence[Row], given: Given, choices: Sequence[Choice], task: RerankFlags) -> int:
    """Write the preferences among the candidates of each line; their number."""
    number = 0
    with targets.AtomicFile(path) as file:
        for line, (row, choice) in enumerate(zip(rows, choices, strict=True)):
            prompt = {} if row.source is None else {"prompt": row.source}
            its_given = None if given is None else given[line]
            pairs = task.weighting.preferences(row.texts, choice.scores, its_given, choice.no_translation)
            for place, pair in enumerate(pairs):
                record = {"id": f"{line}-{place}", **prompt, **pair._asdict()}
                record["difference"] = write.round_score(pair.difference)
                file.write(strict_json.dump(record) + "\n")
                number += 1
    return number


VERB = Command(
    "rerank",
    RerankFlags,
    run,
    DESCRIPTION,
    EPILOG,
    stray="give the candidates with --candidates FILE FILE or --nbest FILE",
)
