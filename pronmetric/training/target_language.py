"""Settings of training that the target language of the data must have."""

from __future__ import annotations

from pronmetric.errors import InputError
from pronmetric.pronouns.languages import Language
from pronmetric.training.settings import Detection, Pairs, Train

PRESET = "experiment=multilingual"


def check(settings: Train, language: Language) -> None:
    """Refuse settings for forms that are no pronouns of the language, and what is written for English alone.

    Raises:
        InputError: with the key, what is expected, and for a language other than English the preset without them.
    """
    cure = "" if language.ruled else f"; {PRESET} leaves out what is written for English"
    if not language.ruled and settings.encoder.kind != "huggingface":
        raise InputError(
            f"encoder={settings.encoder.kind} reads English words, and the data is in {language.code}: expected "
            f"encoder=huggingface with encoder.name=FOLDER of a multilingual encoder"
        )
    _check_forms(settings.objective, language, cure)
    for key in ("gender_swap", "name_swap"):
        if not language.ruled and (share := getattr(settings.objective.corruption, key)):
            raise InputError(
                f"objective.corruption.{key}={share:g} needs English nouns and names, and the data is in "
                f"{language.code}: expected 0{cure}"
            )


def _check_forms(objective: Detection | Pairs, language: Language, cure: str) -> None:
    named = {"form_weight": objective.form_weight, "corruption.emphasis": objective.corruption.emphasis}
    for key, forms in named.items():
        for form in sorted((forms or {}).keys() - set(language.forms)):
            known = ", ".join(sorted(language.forms))
            raise InputError(f"objective.{key}.{form}: expected a pronoun, one of {known}{cure}")
