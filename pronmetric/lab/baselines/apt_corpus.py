"""The texts, links and word lists that APT reads, and the files that it writes, in the published program's formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pronmetric.alignment.links import from_pharaoh
from pronmetric.errors import InputError
from pronmetric.lab.baselines import apt
from pronmetric.lab.baselines.apt_config import Settings
from pronmetric.signature import Signature
from pronmetric.text.lines import read_lines
from pronmetric.text.running_text import require_lines
from pronmetric.version import __version__

_DETAIL = ("SENT.", "POS. SOURCE", "SOURCE", "POS. REF.", "REF.", "POS. TARGET", "TARGET", "CASE")
_SUM = "-sum-"
_ESCAPES = str.maketrans({"\t": "\\t", "\r": "\\r"})  # tokens end at blanks only


@dataclass(frozen=True, slots=True)
class Corpus:
    """The renderings of all instances (repaired if the settings ask for it) and the rules.

    unlinked: number of sentences without any link to one of the texts, on which the published program's repair fails.
    """

    renderings: tuple[apt.Rendering, ...]
    rules: apt.Rules
    unlinked: int


def read_corpus(
    settings: Settings, *, compat: bool, track: Callable[[Iterable[apt.Instance]], Iterable[apt.Instance]] = iter
) -> Corpus:
    """Read texts, links and lists, and find the renderings; `track` may show the progress over the pronouns.

    Raises:
        InputError: texts of different lengths, a link or position outside its sentence, an unreadable file.
    """
    source = _sentences(settings.source)
    texts = [_Linked(name, links, source, settings.source) for name, links in _translations(settings)]
    listed = frozenset(_words(settings.target_list)) if settings.target_list else None
    rules = apt.Rules(listed, _groups(settings.equal), _groups(settings.similar), settings.other_is_equal)
    dictionary = None
    if settings.repairs:
        dictionary = apt.Dictionary(
            frozenset(_words(settings.source_pronouns)), frozenset(_words(settings.target_pronouns))
        )

    def side(instance: apt.Instance, text: _Linked) -> apt.Side:
        tokens, links = text.sentences[instance.sentence], text.links[instance.sentence]
        tokens_side = apt.side(instance.position, tokens, links, listed=listed, separator=settings.target_separator)
        if dictionary is None:
            return tokens_side
        return apt.repair(
            tokens_side,
            source=source[instance.sentence],
            tokens=tokens,
            links=links,
            dictionary=dictionary,
            separator=settings.source_separator,
            compat=compat,
        )

    if settings.source_list_is_positions:
        instances = _positions(settings.source_list, source, settings.source)
    else:
        instances = apt.find(source, frozenset(_words(settings.source_list)), separator=settings.source_separator)
    renderings = tuple(apt.Rendering(one, *(side(one, text) for text in texts)) for one in track(instances))
    return Corpus(renderings, rules, sum(not all(links) for links in zip(*(t.links for t in texts), strict=True)))


def _translations(settings: Settings) -> list[tuple[str, str]]:
    return [(settings.reference, settings.links_to_reference), (settings.candidate, settings.links_to_candidate)]


class _Linked:
    """A text with its links from the source, checked against it."""

    def __init__(self, name: str, links: str, source: list[list[str]], source_name: str) -> None:
        self.sentences = _sentences(name)
        lines = read_lines(links)
        for file, count in ((name, len(self.sentences)), (links, len(lines))):
            if count != len(source):
                message = f"{count} lines, but {source_name} has {len(source)}: expected as many in both"
                raise InputError(message, file=file)
        self.links = []
        for number, line in enumerate(lines, start=1):
            found = from_pharaoh(line, file=links, number=number).links
            here, there = len(source[number - 1]), len(self.sentences[number - 1])
            for i, j in found:
                if i >= here or j >= there:
                    message = f"link {i}-{j}, but the line has {here} tokens in {source_name} and {there} in {name}"
                    raise InputError(f"{message}, counted from 0; align these very files", file=links, line=number)
            self.links.append(found)


def _sentences(name: str) -> list[list[str]]:
    """The tokens of each line: stripped and split at single blanks."""
    require_lines(name)
    return [line.strip().split(" ") for line in read_lines(name)]


def _words(name: str) -> list[str]:
    return [word for line in read_lines(name) if (word := line.strip().lower())]


def _groups(name: str) -> tuple[tuple[str, ...], ...]:
    """Groups of words, separated by commas, one group a line; no groups where no file is given."""
    lines = _words(name) if name else []
    return tuple(tuple(word for word in re.sub(r"\s", "", line).split(",") if word) for line in lines)


def _positions(name: str, source: list[list[str]], source_name: str) -> Iterator[apt.Instance]:
    for number, line in enumerate(read_lines(name), start=1):
        if not line.strip():
            continue
        if not re.fullmatch(r"\s*[0-9]{1,9}\s+[0-9]{1,9}\s*", line, re.ASCII):
            message = f"expected `sentence position`, two whole numbers from 0, got {line[:40]!r}"
            raise InputError(f"{message}; for a list of words set input_type = word", file=name, line=number)
        sentence, position = map(int, line.split())
        if sentence >= len(source):
            message = f"sentence {sentence}, but {source_name} has {len(source)}, counted from 0"
            raise InputError(message, file=name, line=number)
        if position >= len(source[sentence]):
            length = f"sentence {sentence} of {source_name} has {len(source[sentence])} tokens"
            raise InputError(f"position {position}, but {length}, counted from 0", file=name, line=number)
        yield apt.Instance(sentence, position, source[sentence][position].lower())


def make_signature(settings: Settings, *, compat: bool) -> Signature:
    """The settings that the score depends on."""
    return Signature.of(
        metric="apt",
        cases=",".join(map(str, settings.weights)),
        weights=",".join(f"{weight:g}" for weight in settings.weights.values()),
        list=_yes(settings.target_list),
        equal=_yes(settings.equal),
        similar=_yes(settings.similar),
        repair=_yes(settings.repairs),
        other_is_equal=_yes(settings.other_is_equal),
        compat=_yes(compat),
        version=__version__,
    )


def _yes(value: object) -> str:
    return "yes" if value else "no"


def result_json(score: apt.Score, matrix: apt.Matrix, signature: Signature) -> dict[str, object]:
    """The result in JSON."""
    return {
        "score": score.score,
        "cases": list(score.findings),
        "instances": score.instances,
        "cases_used": list(score.cases),
        "weights": list(score.weights),
        "findings": sum(score.findings),
        "matrix": {
            "labels": list(matrix.labels),
            "counts": [list(row) for row in matrix.counts],
            "left_out": matrix.left_out,
        },
        "signature": str(signature),
    }


def summary_lines(score: apt.Score) -> list[str]:
    """The score and the number of findings for each case."""
    return [
        f"Score: {'null' if score.score is None else f'{score.score:.4f}'}",
        f"Cases: {' '.join(map(str, score.cases))}",
        f"Weights: {' '.join(f'{weight:g}' for weight in score.weights)}",
        f"Findings per case: {' '.join(map(str, score.findings))}",
        f"Total findings: {sum(score.findings)}",
    ]


def matrix_lines(matrix: apt.Matrix) -> list[str]:
    """The matrix as TSV: a row for each reference word, a column for each candidate word, with sums."""
    rows = [[*row, sum(row)] for row in matrix.counts]
    sums = [sum(column) for column in zip(*rows, strict=True)] if rows else [0]
    labels = [label.translate(_ESCAPES) for label in matrix.labels]
    return [
        "\t".join(["REF. \\ TARGET", *labels, _SUM]),
        *("\t".join([label, *map(str, row)]) for label, row in zip(labels, rows, strict=True)),
        "\t".join([_SUM, *map(str, sums)]),
    ]


def detail_lines(renderings: Sequence[apt.Rendering], cases: Sequence[int]) -> list[str]:
    """One TSV line for each instance of any case; sentences and positions count from 0."""
    lines = ["\t".join(_DETAIL)]
    for one, case in zip(renderings, cases, strict=True):
        where = [one.instance.sentence, one.instance.position, _cell([one.instance.word])]
        sides = [_cell(part) for side in (one.reference, one.candidate) for part in (side.positions, side.words)]
        lines.append("\t".join(map(str, [*where, *sides, case])))
    return lines


def _cell(values: Sequence[object]) -> str:
    return " ".join(map(str, values)).translate(_ESCAPES) if values else "-"


def notes(settings: Settings, corpus: Corpus, score: apt.Score, matrix: apt.Matrix, *, compat: bool) -> Iterator[str]:
    """What was left out, and why, a line each."""
    if bool(settings.source_pronouns) != bool(settings.target_pronouns):
        yield "no repair: it needs both source_pronouns and target_pronouns of [dictionary]"
    known = apt.known_words(corpus.renderings, corpus.rules)
    for name, groups in (("equal", corpus.rules.equal), ("similar", corpus.rules.similar)):
        unknown = sorted({word for group in groups for word in group if word not in known})
        if unknown:
            where = "the list of target pronouns" if settings.target_list else "any rendering"
            yield f"[dictionary] {name}: words not in {where} are ignored: {' '.join(unknown)}"
    if compat and settings.repairs and corpus.unlinked:
        yield f"sentences without links, on which the published program fails: {corpus.unlinked}"
    if score.score is None:
        why = (
            "no pronoun of the list is in the source" if not score.instances else "no pronoun is in the selected cases"
        )
        yield f"no score: {why}"
    elif score.instances > sum(score.findings):
        yield (
            f"{score.instances - sum(score.findings)} of {score.instances} pronouns are in cases that are not selected"
        )
    if settings.stem and matrix.left_out:
        yield (
            f"instances with several words on a side, not in the matrix: {matrix.left_out} "
            "(counting_multiword_in_matrix includes them)"
        )
