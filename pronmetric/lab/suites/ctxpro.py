"""ctxpro (Wicks and Post, WMT 2023): gender, animacy, formality, auxiliary and inflection, judged on translations.

A JSON list of items with the word form that the translation must have. Items of animacy into English and of gender out
of English are also contrastive: the reference against its copies in which the pronoun has another animacy or gender.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np

from pronmetric.errors import InputError, MissingExtra, PronmetricError
from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Judging,
    Reading,
    Scores,
    SuiteVerdicts,
    Verdict,
    judge_copies,
    read_list,
)
from pronmetric.lab.suites.other_gender import as_class, class_name
from pronmetric.pronouns.corrupt import replace
from pronmetric.pronouns.finder import find
from pronmetric.pronouns.languages import ENGLISH, Language, language
from pronmetric.pronouns.tables import codes
from pronmetric.report.text import table
from pronmetric.text import running_text
from pronmetric.text.entry import Entry
from pronmetric.text.files.columns import Role
from pronmetric.text.lines import iter_lines, read_lines

RULE, DISTANCE, LEFT_OUT = "rule", "distance", "left out"
EOS = "<eos>"
_EXPECTED = "expected a set of ctxpro (JSON list of items)"
_NAME = re.compile(r"\.(?P<source>[a-z]{2,3})-(?P<target>[a-z]{2,3})\.[^.]+\.json$")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_INANIMATE = "it"
_ANIMATE: Mapping[str, str] = {"MASC": "he", "FEM": "she"}
_GENDERS: Mapping[str, str] = {"MASC": "masculine", "FEM": "feminine", "NEUT": "neuter"}
_NUMBERS: Mapping[str, str] = {"SING": "singular", "PLUR": "plural"}
_CASES: Mapping[str, tuple[str, ...]] = {
    "NOM": ("subject",),
    "ACC": ("accusative", "object"),
    "DAT": ("dative", "object"),
    "GEN": ("genitive",),
    "INS": ("instrumental",),
}
_NEUTER_NOUNS = ("de", "pl", "ru")
"""Languages of the suite whose nouns can be neuter: Spanish has a neuter pronoun, but no noun asks for it."""

ABOUT = About(
    name="ctxpro",
    title="ctxpro (Wicks and Post, WMT 2023)",
    languages="en-de, en-es, en-fr, en-it, en-pl, en-pt, en-ru; animacy into en",
    targets=("en",),
    phenomena="gender, animacy, formality, auxiliaries, inflection",
    judged=("translations", "scores (animacy, gender)"),
    by=RULE,
    text="""Set: CATEGORY.opensubtitles.SRC-TGT.SPLIT.json of github.com/rewicks/ctxpro.
--translations: one line for each item. The last sentence of each line is judged (needs sentence-splitter): it is right
if it has the expected form as a word, lower-cased and without ASCII punctuation. Accuracy by rule.
--scores, --model, --seq2seq: animacy into English, and gender into languages with a table of pronouns (by the file's
name); the reference is scored against its copy with the pronoun of the other animacy, or its copies with those of the
other genders. An item whose reference does not have exactly one such pronoun has no copy and is left out (counted).
Context: --documents FILE, a TSV file of document, source, target, or a file of context inputs (one line for each item,
sentences joined by <eos>, source only). Without it, the antecedent's sentence, if it is at most --context sentences
before; the sentences between are not in the set.
--compat: punctuation in the expected form is kept, so that forms such as t' never match; of unequal files the
shorter one decides; blank lines are wrong.""",
)


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The items of a set: the reference, and its copies with the pronoun of another animacy or gender.

    An item out of English without a copy has the reason as its group `LEFT_OUT`.

    Raises:
        InputError: with the item, where a key is missing or a value is of another kind.
    """
    entries = read_list(path, _EXPECTED)
    contexts = _contexts(entries, reading)
    named = _NAME.search(Path(path).name)
    code = named["target"] if named else ENGLISH.code
    return tuple(
        _item(number, entry, context, code)
        for number, (entry, context) in enumerate(zip(entries, contexts, strict=True))
    )


def _item(number: int, entry: Entry, context: tuple[tuple[str, ...], tuple[str, ...]], code: str) -> Item:
    source, reference, rule = entry.string("src segment"), entry.string("ref segment"), entry.string("rule")
    expected = entry.string("expected").lower()
    if code == ENGLISH.code:
        other = _other_animacy(reference, expected, rule)
        copies, why = [] if other is None else [other], ""
    else:
        copies, why = _other_genders(reference, expected, rule, code)
    return Item(
        id=str(number),
        candidates=tuple(Candidate(source, text, *context) for text in (reference, *copies)),
        groups={RULE: rule, **_distance(entry), **({LEFT_OUT: why} if why else {})},
        document=entry.string("document id"),
        language="" if code == ENGLISH.code else code,
    )


def _distance(entry: Entry) -> dict[str, str]:
    if entry.get("ante distance") is None:
        return {}
    distance = entry.whole("ante distance", least=0)
    return {DISTANCE: str(distance) if distance <= 3 else ">3"}


def _other_animacy(text: str, expected: str, rule: str) -> str | None:
    """The text with its one pronoun of the expected form in the other animacy; None where there is not exactly one."""
    occurrences = [o for o in find(text) if o.form == expected]
    if len(occurrences) != 1:
        return None
    gender = next((name for name in _ANIMATE if name in rule.split(".")), "")
    other = _ANIMATE.get(gender) if class_name(occurrences[0]) == _INANIMATE else _INANIMATE
    return None if other is None else as_class(text, occurrences[0], other)


def _other_genders(text: str, expected: str, rule: str, code: str) -> tuple[list[str], str]:
    """The copies of a text with its one pronoun of the expected form in the other genders, or why there are none."""
    if code not in codes():
        return [], f"no table of pronouns for {code}"
    own = language(code)
    if not any(name in _GENDERS for name in rule.split(".")):
        return [], "the rule names no gender"
    if expected not in own.forms:
        return [], "the form is no pronoun of the table"
    occurrences = [o for o in own.find(text) if o.form == expected]
    if len(occurrences) != 1:
        return [], f"the form is {'several times' if occurrences else 'not'} in the reference as a pronoun"
    at = occurrences[0]
    copies = [replace(text, at.start, at.end, form) for form in other_genders(own, expected, rule)]
    return copies, "" if copies else "the table has no form of another gender"


def other_genders(own: Language, form: str, rule: str) -> list[str]:
    """The forms that a pronoun has in the other genders of nouns, by a rule such as "NOM.MASC.SING".

    >>> other_genders(language("es"), "ellas", "NOM.FEM.PLUR"), other_genders(language("de"), "sie", "ACC.FEM.SING")
    (['ellos'], ['ihn', 'es'])
    """
    names = rule.split(".")
    gender, number = (next((of[n] for n in names if n in of), "") for of in (_GENDERS, _NUMBERS))
    cases = next((_CASES[n] for n in names if n in _CASES), ())
    uses = [e for e in own.entries if (e.form, e.gender) == (form, gender) and number in (e.number, "")]
    uses = [e for e in uses if e.case in cases] or uses
    places = {(e.type, e.person, e.number, e.case) for e in uses}
    found: dict[str, list[str]] = {}
    for entry in own.entries:
        noun = entry.gender in _GENDERS.values() and (entry.gender != "neuter" or own.code in _NEUTER_NOUNS)
        if noun and entry.gender != gender and (entry.type, entry.person, entry.number, entry.case) in places:
            found.setdefault(entry.gender, []).append(entry.form)
    # of several shapes the one that begins alike: Russian forms begin with another letter after a preposition
    chosen = [min(forms, key=lambda other: other[0] != form[0]) for forms in found.values()]
    return [other for other in dict.fromkeys(chosen) if other != form]


def _contexts(entries: Sequence[Entry], reading: Reading) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The previous source and target sentences of each item, oldest first."""
    if reading.documents is None:
        return (_antecedent(entry, reading.context) for entry in entries)
    first = next(iter_lines(reading.documents, kept=False), "")
    return (_from_documents if "\t" in first else _from_inputs)(entries, reading.documents, reading.context)


def _antecedent(entry: Entry, size: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The antecedent's sentence, if it is one of the `size` sentences before."""
    distance = entry.get("ante distance")
    if not isinstance(distance, int) or not 0 < distance <= size:
        return (), ()
    texts = (entry.get(f"{side} ante segment") for side in ("src", "ref"))
    source, target = ((text,) if isinstance(text, str) and text else () for text in texts)
    return source, target


def _from_documents(
    entries: Sequence[Entry], path: str, size: int
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    wanted = {entry.string("document id") for entry in entries}
    documents: dict[str, list[tuple[str, str]]] = {}
    for number, line in enumerate(iter_lines(path, kept=False), start=1):
        cells = line.split("\t")
        if len(cells) != 3:
            raise InputError(f"expected document, source, target, got {len(cells)} columns", file=path, line=number)
        if cells[0] in wanted:
            documents.setdefault(cells[0], []).append((cells[1], cells[2]))
    for entry in entries:
        lines, end = documents.get(entry.string("document id"), []), entry.whole("segment id", least=1)
        if len(lines) < end:
            entry.fail(f"segment {end} of the document is not in {path}, which has {len(lines)} lines of it")
        before = lines[max(0, end - 1 - size) : end - 1]
        yield tuple(source for source, _ in before), tuple(target for _, target in before)


def _from_inputs(entries: Sequence[Entry], path: str, size: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    lines = read_lines(path)
    if len(lines) != len(entries):
        message = f"expected {len(entries)} lines, one for each item, got {len(lines)}"
        raise InputError(message, file=path, line=min(len(lines), len(entries)) + 1)
    for line in lines:
        sentences = [sentence.strip() for sentence in line.split(EOS)]
        yield tuple(sentences[max(0, len(sentences) - 1 - size) : -1]), ()


def judge(items: Sequence[Item], scores: Sequence[Scores], judging: Judging) -> SuiteVerdicts:
    """The verdicts on the items that have a contrastive copy; the others are left out and counted, also by reason.

    Raises:
        InputError: no item has one.
    """
    cure = "only animacy into English and gender out of English have them: give `translations=`"
    judged = judge_copies(items, scores, copies="a contrastive copy", cure=cure)
    reasons = Counter(f"{LEFT_OUT}: {item.groups[LEFT_OUT]}" for item in items if LEFT_OUT in item.groups)
    return SuiteVerdicts(judged.verdicts, {**judged.further, **reasons})


def judge_translations(path: str | Path, translations: str | Path, judging: Judging) -> SuiteVerdicts:
    """The verdicts on one line of translation for each item.

    Raises:
        InputError: with the line, where it is blank; unequal lengths; the language is not known.
        MissingExtra: sentence-splitter is not installed.
    """
    entries = read_list(path, _EXPECTED)
    named = _NAME.search(Path(path).name)
    language = judging.language or (named["target"] if named else None)
    if language is None:
        raise InputError("the target language is not in the file's name; give `language=`", file=path)
    last = _last_sentence(language)
    verdicts = []
    for number, (entry, line) in enumerate(
        zip_longest(entries, running_text.read(translations, Role.TRANSLATION)), start=1
    ):
        if entry is None or line is None:
            if judging.compat:
                break
            message = f"expected {len(entries)} lines, one for each item; the lengths differ"
            raise InputError(message, file=translations, line=number)
        if not line.strip() and not judging.compat:
            raise InputError("a blank line; `compat=True` counts it as wrong", file=translations, line=number)
        form = entry.string("expected").lower()
        right = has_form(last(line.strip()), form if judging.compat else form.translate(_PUNCTUATION))
        groups = {RULE: entry.string("rule"), **_distance(entry)}
        verdicts.append(Verdict(str(number - 1), right, groups, entry.string("document id")))
    forms: dict[str, str] = {}
    for entry in entries:
        forms.setdefault(entry.string("rule"), entry.string("expected"))
    return SuiteVerdicts(tuple(verdicts), {"form of each rule": forms})


def has_form(sentence: str, form: str) -> bool:
    """Whether a lower-cased form stands between blanks in a sentence, lower-cased and without ASCII punctuation.

    >>> has_form("It's HERS.", "hers"), has_form("It's hers.", "it")
    (True, False)
    """
    return f" {form} " in f" {sentence.lower().translate(_PUNCTUATION)} "


def _last_sentence(language: str) -> Callable[[str], str]:
    try:
        from sentence_splitter import SentenceSplitter, SentenceSplitterException
    except ModuleNotFoundError:
        raise MissingExtra("sentence-splitter", "suites", "judging the last sentence of a translation") from None
    try:
        splitter = SentenceSplitter(language=language)
    except SentenceSplitterException as error:
        raise InputError(f"`language={language}`: {error}") from None

    def last(line: str) -> str:
        sentences = splitter.split(text=line)
        return str(sentences[-1]) if sentences else line

    return last


def subsampled_wins(
    systems: Mapping[str, Sequence[Verdict]], *, size: int, draws: int = 1000, seed: int
) -> dict[str, float]:
    """For each system but the first, ctxpro's p: 1 - the share of subsamples in which it is strictly better.

    A subsample has `size` items drawn without replacement; ties count against the system. The order of items and of the
    other systems changes nothing.

    Raises:
        PronmetricError: there are fewer items than `size`.
    """
    others = list(systems)[1:]
    right = np.array([[one.right for one in systems[name]] for name in systems], dtype=np.int64)
    if size > right.shape[1]:
        raise PronmetricError(f"expected a subsample of at most {right.shape[1]} items, got {size}")
    found = {}
    for name, own in zip(others, right[1:], strict=True):
        rng, gains = np.random.default_rng(seed), np.sort(own - right[0])
        wins = sum(gains[rng.permutation(len(gains))[:size]].sum() > 0 for _ in range(draws))
        found[name] = float(1 - wins / draws)
    return found


def format_wins(wins: Mapping[str, float], *, size: int, first: str) -> str:
    """The table of `subsampled_wins` over the system `first`."""
    rows = [(name, f"{p:.3f}") for name, p in wins.items()]
    return f"{size} items, 1000 draws: p that a system beats {first}\n{table(('system', 'p'), rows)}"
