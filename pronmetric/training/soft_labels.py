"""Soft labels: which form a causal language model expects in a slot of unlabelled text, given both sides.

A second teacher, used in training alone: for pronoun slots of the passages to train on, the log-probability of the
passage with each form that fits the slot and agrees with its verb (`Language.replaces`; a form that would need another
form of the verb is left out). The model reads all of the passage before the slot and `RIGHT_WORDS` words after it.
What is kept is what a metric will read: the slot's sentence and the context before it. `pronmetric.training.soft_pairs`
makes training examples of them.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pronmetric.checkpoint import locate
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.pronouns.corrupt import replace
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import same_slot
from pronmetric.schema import SCHEMA_VERSION, SOFT, Mismatch, Pair, SlotForm
from pronmetric.text import strict_json
from pronmetric.text.sentences import cut_text, starts
from pronmetric.training.form_probability import FormReader
from pronmetric.training.prepared import Prepared
from pronmetric.version import __version__

RIGHT_WORDS = 25
PASSAGES = "passages_train"
PARTIAL = ".partial"
_PART = 64  # passages whose slots are written together
_SETTINGS, _RESULT, _ROWS = "settings.json", "result", "rows"
_LEFT_OUT = "longer than the model reads"
_WEIGHTS = (".safetensors", ".gguf")


class Slot(NamedTuple):
    """A slot of a passage: its forms, the written one first, and for each the text that the language model reads.

    passage: the row. sentence: the half-open span of its sentence in the passage. start, end: of the pronoun there.
    """

    passage: Mapping[str, Any]
    sentence: tuple[int, int]
    start: int
    end: int
    forms: tuple[str, ...]
    texts: tuple[str, ...]


class Plan(NamedTuple):
    """The passages of a prepared folder, and the order in which their slots are labelled.

    A turn takes one more slot of each passage, in an order drawn by the seed, so that few slots come from many texts.
    Sources take turns in proportion to the square root of their number of passages, until they are used up.

    order: rows of `passages`. turns: the greatest number of slots of a passage. seed: of the order and the slots.
    """

    passages: Any
    prepared: Prepared
    order: np.ndarray
    turns: int
    seed: int

    @classmethod
    def of(cls, folder: str | Path, *, seed: int) -> Plan:
        """That of a prepared folder.

        Raises:
            InputError: it is none, or has no passages to train on.
        """
        prepared = Prepared.of(arrow.read_manifest(folder))
        passages = arrow.read_passages(folder, PASSAGES)
        if not len(passages):
            raise InputError("no passages to label: prepare with data.english", file=folder)
        sources: list[str] = []
        turns = 0
        for part in arrow.read_columns(passages, "source", "forms"):
            sources += part["source"]
            turns = max(turns, *map(len, part["forms"]))
        return cls(passages, prepared, _order(sources, np.random.default_rng(seed)), turns, seed)

    @property
    def parts(self) -> int:
        """The number of parts."""
        return -(-len(self.order) * self.turns // _PART)

    def slots(self, part: int) -> Iterator[Slot]:
        """The slots of one part, at most one of each of its passages."""
        last = min((part + 1) * _PART, len(self.order) * self.turns)
        for place in range(part * _PART, last):
            turn, at = divmod(place, len(self.order))
            number = int(self.order[at])
            row = self.passages[number]
            own = _slots(row, self.prepared)
            if turn < len(own):
                yield own[np.random.default_rng([self.seed, number]).permutation(len(own))[turn]]


def label(
    folder: str | Path,
    out: str | Path,
    reader: FormReader,
    *,
    precision: str,
    slots: int,
    seed: int,
    advance: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """Label slots of the passages to train on, and write them to a folder of their own; its manifest.

    Finished parts are in OUT.partial, in which a stopped run goes on; `slots` may then be another number.

    Args:
        folder: the prepared data.
        out: the folder to write, absent or empty.
        reader: the language model, whose name and weights the manifest records.
        precision: in which it computes, for the manifest.
        slots: number of slots; fewer if the passages have no more.
        seed: of the order of the passages and their slots.
        advance: called with the number of slots finished since the last call.

    Raises:
        InputError: `out` exists, or OUT.partial is that of another run; the folder has no passages.
    """
    out, told = Path(out), advance or (lambda _: None)
    locate.refuse_taken(out)
    plan = Plan.of(folder, seed=seed)
    settings = {
        "version": __version__,
        "passages": fingerprint(plan.passages),
        "model": {"name": reader.name, "precision": precision, "sha256": _weights(reader.folder)},
        "right_words": RIGHT_WORDS,
        "seed": seed,
    }
    partial = partial_folder(out)
    _begin(partial, settings)
    paths: list[Path] = []
    left = slots
    for part in range(plan.parts):
        path = partial / f"{part:06}.arrow"
        if path.is_file():
            rows = min(left, sum(1 for _ in arrow.read_rows(path)))
            told(rows)
        else:
            chosen = list(plan.slots(part))
            if len(chosen) > left:  # a part that is cut is no part of a run with more slots
                chosen, path = chosen[:left], path.with_stem(f"{path.stem}-{left}")
            rows = _write_part(path, chosen, reader, plan.prepared, told)
        paths.append(path)
        left -= rows
        if not left:
            break
    if left == slots:
        raise InputError("no passage to train on has a slot that two forms fit", file=folder)
    return _finish(out, partial, settings, paths, slots=slots - left)


def read(folder: str | Path, *, passages: Any) -> Any:
    """The rows of a folder of soft labels, for training on `passages`.

    Raises:
        InputError: it is none, or its texts are those of other passages, which may be development texts here.
    """
    manifest = _manifest(folder)
    if manifest["config"]["passages"] != fingerprint(passages):
        raise InputError(
            f"data.soft: the soft labels are of other passages than {PASSAGES} of data.dir, some of which may be "
            "development texts there: label slots of this folder, by `pronmetric soft-labels`",
            file=folder,
        )
    return arrow.read_pairs(folder, arrow.SOFT_SPLIT)


def about(folder: str | Path) -> dict[str, Any]:
    """What a checkpoint records of its soft labels: the language model, the number of slots, the seed.

    Raises:
        InputError: it is no folder of soft labels.
    """
    manifest = _manifest(folder)
    config, rows = manifest["config"], manifest["splits"][arrow.SOFT_SPLIT]["rows"]
    return {"model": config["model"], "slots": rows, "seed": config["seed"]}


def fingerprint(passages: Any) -> str:
    """A hash of the rows of a saved split."""
    return str(passages._fingerprint)


def _manifest(folder: str | Path) -> dict[str, Any]:
    path = Path(folder) / arrow.MANIFEST
    content = strict_json.read(path, "label slots again") if path.is_file() else None
    if not isinstance(content, dict) or arrow.SOFT_SPLIT not in content.get("splits", {}):
        raise InputError(
            "data.soft: no soft labels: expected a folder written by `pronmetric soft-labels`", file=folder
        )
    return content


def _order(sources: Sequence[str], rng: np.random.Generator) -> np.ndarray:
    """The passages in the order of `Plan` (passages,)."""
    names, source = np.unique(np.array(sources), return_inverse=True)
    keys = np.zeros(len(source))
    for number in range(len(names)):
        own = np.flatnonzero(source == number)
        keys[own] = rng.permutation(len(own)) / np.sqrt(len(own))
    return np.argsort(keys, kind="stable")


def _slots(row: Mapping[str, Any], prepared: Prepared) -> list[Slot]:
    """The slots of a passage that two forms or more fit."""
    text, language = row["text"], prepared.language
    words = language.words(text)
    cuts = [0, *starts(text, language.writing.context_ends), len(text)]
    slots = []
    for occurrence in language.find(text, words):
        forms = _forms(occurrence, words, prepared)
        if len(forms) < 2:
            continue
        after = [word.end for word in words if word.start >= occurrence.end][:RIGHT_WORDS]
        seen = text[: after[-1] if after else occurrence.end]
        shaped = [language.shape(form, text[occurrence.end :].lstrip()) for form in forms[1:]]
        texts = (seen, *(replace(seen, occurrence.start, occurrence.end, form) for form in shaped))
        if len(set(texts)) < len(texts):  # an elided form may be another form's
            continue
        begin = max(cut for cut in cuts if cut <= occurrence.start)
        end = len(text[: min(cut for cut in cuts if cut > occurrence.start)].rstrip())
        slots.append(Slot(row, (begin, end), occurrence.start, occurrence.end, forms, texts))
    return slots


def _forms(occurrence: Occurrence, words: Sequence[Any], prepared: Prepared) -> tuple[str, ...]:
    """The form in the text and the others that can be proposed in its place; none if the form is not scored."""
    language, at = prepared.language, occurrence.word
    if occurrence.form not in prepared.forms:
        return ()
    others = [
        form
        for form in same_slot(language, words, at)
        if form in prepared.forms and not language.same(occurrence.form, form) and language.replaces(words, at, form)
    ]
    return tuple(dict.fromkeys([occurrence.form, *others]))


def partial_folder(out: str | Path) -> Path:
    """Where the finished parts of a run are, until all are."""
    return Path(out).with_name(f"{Path(out).name}{PARTIAL}")


def _begin(partial: Path, settings: Mapping[str, Any]) -> None:
    """Begin a run, or go on with one of the same settings.

    Raises:
        InputError: the run there is another one.
    """
    path, text = partial / _SETTINGS, strict_json.dump(settings, indent=1)
    if path.is_file() and path.read_text(encoding="utf-8") != text:
        raise InputError(
            "an interrupted run with another language model, other data or settings: delete it, or give another folder "
            "to write",
            file=partial,
        )
    partial.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def _weights(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file of weights in a model's folder."""
    hashes = {}
    for path in sorted(path for path in folder.iterdir() if path.suffix in _WEIGHTS):
        with path.open("rb") as file:
            hashes[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashes


def _write_part(
    path: Path, slots: Sequence[Slot], reader: FormReader, prepared: Prepared, advance: Callable[[int], object]
) -> int:
    """Label slots, and write them with the number of those left out; the number of rows."""
    kept = [slot for slot in slots if reader.fits(slot.texts)]
    numbers = reader.read([slot.texts for slot in kept], advance=advance)
    new = path.with_suffix(".new")
    pairs = (_pair(slot, odds, reader.name, prepared) for slot, odds in zip(kept, numbers, strict=True))
    rows = arrow.write_rows(new, pairs, arrow.soft_features())
    path.with_suffix(".json").write_text(strict_json.dump({_LEFT_OUT: len(slots) - rows}), encoding="utf-8")
    new.replace(path)
    return rows


def _pair(slot: Slot, numbers: Sequence[float], name: str, prepared: Prepared) -> Pair:
    """The row of a labelled slot; the numbers are relative to the likeliest form."""
    row, language, (begin, end) = slot.passage, prepared.language, slot.sentence
    before, text = row["text"][:begin], row["text"][begin:end]
    start, stop = slot.start - begin, slot.end - begin
    likeliest = slot.forms[max(range(1, len(numbers)), key=numbers.__getitem__)]
    other = language.shape(likeliest, text[stop:].lstrip())
    sentences = cut_text(before, starts(before, language.writing.context_ends))
    context = tuple(sentences[max(0, len(sentences) - prepared.context_size) :])
    return Pair(
        id=f"{row['id']}@{slot.start}",
        kind=SOFT,
        testset=row["source"],
        lp=f"{language.code}-{language.code}",
        doc=row["doc"],
        seg=0,
        ref="text",
        system=name,
        better=text,
        worse=replace(text, start, stop, other),
        context=context,
        system_context=context,
        mismatches=(Mismatch("pronoun", slot.forms[0], likeliest, start, stop, start, start + len(other)),),
        slot_forms=tuple(
            SlotForm(form, number - max(numbers)) for form, number in zip(slot.forms, numbers, strict=True)
        ),
    )


def _finish(
    out: Path, partial: Path, settings: Mapping[str, Any], paths: Sequence[Path], *, slots: int
) -> dict[str, Any]:
    """Put the rows of the parts together in the folder to write; its manifest."""
    result = partial / _RESULT
    shutil.rmtree(result, ignore_errors=True)
    result.mkdir()
    counts: dict[str, Counter[str]] = {"source": Counter(), "form": Counter()}
    likeliest = 0
    features, rows = arrow.soft_features(), chain.from_iterable(map(arrow.read_rows, paths))
    with arrow.RowFile(partial / _ROWS, features) as file:
        for row in islice(rows, slots):
            pair = arrow.to_pair(row)
            counts["source"][pair.testset] += 1
            counts["form"][pair.slot_forms[0].form] += 1
            likeliest += pair.slot_forms[0].log_probability == 0
            file.add(pair)
    arrow.save_split(result / arrow.SOFT_SPLIT, partial / _ROWS, features)
    arrow.finish(result, [arrow.SOFT_SPLIT])
    left_out = sum(strict_json.read(path.with_suffix(".json"), "delete it")[_LEFT_OUT] for path in paths)
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "config": dict(settings),
        "counts": {
            **{name: dict(sorted(counted.items())) for name, counted in counts.items()},
            "written form likeliest": likeliest,
            "left out": {_LEFT_OUT: left_out},
        },
        "splits": {arrow.SOFT_SPLIT: {"rows": slots}},
    }
    text = strict_json.dump(manifest, indent=1)
    (result / arrow.MANIFEST).write_text(text + "\n", encoding="utf-8")
    result.rename(out)
    shutil.rmtree(partial)
    return manifest
