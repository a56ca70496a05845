"""BLEU of a system's translations of a suite against its right candidates, beside the suite's accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pronmetric.errors import InputError, MissingExtra
from pronmetric.lab.suites.contrastive import About, Item
from pronmetric.text import running_text
from pronmetric.text.files.columns import Role


def language_of(items: Sequence[Item], about: About) -> str | None:
    """The language of the candidates, else the suite's first one; None where there are several or it is unknown."""
    languages = {item.language for item in items if item.language} or set(about.targets[:1])
    return languages.pop() if len(languages) == 1 else None


def bleu(items: Sequence[Item], translations: str | Path, *, language: str | None) -> dict[str, object]:
    """Corpus BLEU in [0, 100], higher is better, and its signature; one line of translation for each item.

    language: of the translations, for sacreBLEU's tokenizer (None: its default).

    Raises:
        InputError: with the line, where there are too few or too many.
        MissingExtra: sacreBLEU is not installed.
    """
    try:
        from sacrebleu.metrics import BLEU
    except ModuleNotFoundError:
        raise MissingExtra("sacrebleu", "peers", "BLEU of translations") from None
    lines = running_text.read(translations, Role.TRANSLATION)
    if len(lines) != len(items):
        message = f"expected {len(items)} lines, one for each item, got {len(lines)}; "
        message += "translate source.txt of `pronmetric suite export --right-only`"
        raise InputError(message, file=translations, line=min(len(lines), len(items)) + 1)
    metric = BLEU(trg_lang=language or "")
    score = metric.corpus_score(lines, [[item.candidates[item.right].target for item in items]])
    return {"BLEU": float(score.score), "BLEU signature": str(metric.get_signature())}
