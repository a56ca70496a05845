"""A prepared folder, and what training takes from it: the language, the pronouns and the size of the context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.checkpoint import files
from pronmetric.data import arrow
from pronmetric.errors import InputError, PronmetricError
from pronmetric.pronouns import languages
from pronmetric.pronouns.finder import INVENTORIES
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.text.context import UNNAMED_CONTEXT_SIZE
from pronmetric.training.objective import Objective
from pronmetric.training.settings import Train

LANGUAGE = "language"  # the record of a target language other than English


class Prepared(NamedTuple):
    """forms: the forms that are pronouns. context_size: number of context sentences. language: of the texts."""

    forms: tuple[str, ...]
    context_size: int
    language: Language = ENGLISH

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Prepared:
        """Read a manifest; the defaults are English, all forms and two sentences.

        Raises:
            PronmetricError: an inventory that this version does not know, or a target language without its table.
        """
        config = manifest.get("config", {})
        name, target = config.get("inventory", "all"), config.get("target", ENGLISH.code)
        size = int(config.get("context_size", UNNAMED_CONTEXT_SIZE))
        if target != ENGLISH.code:
            return cls.of_table(config, target, size)
        if name not in INVENTORIES:
            raise PronmetricError(f"inventory: expected {' or '.join(INVENTORIES)}, got {name!r}; prepare again")
        return cls(INVENTORIES[name], size)

    @classmethod
    def of_table(cls, config: Mapping[str, Any], target: str, size: int) -> Prepared:
        """Those of a language by its table, which the manifest holds."""
        try:
            language = languages.of_record(config[LANGUAGE])
        except (KeyError, ValueError) as error:
            why = "it is missing" if isinstance(error, KeyError) else f"expected {error}"
            raise PronmetricError(f"target={target}: the manifest's table of pronouns: {why}; prepare again") from None
        return cls(language.forms, size, language)


class Folder(NamedTuple):
    """A prepared folder: its place, its manifest with its hash, and what the manifest says of the texts."""

    path: Path
    manifest: Mapping[str, Any]
    hash: str
    prepared: Prepared

    @classmethod
    def of(cls, path: Path) -> Folder:
        """The folder at `path`.

        Raises:
            PronmetricError: it is not a prepared folder, or `Prepared.of` cannot read its manifest.
        """
        manifest = arrow.read_manifest(path)
        return cls(path, manifest, files.hash_file(path / arrow.MANIFEST), Prepared.of(manifest))

    @classmethod
    def of_languages(cls, paths: Iterable[Path]) -> list[Folder]:
        """Folders of different target languages, in the order given.

        Raises:
            InputError: two have the same language, or their contexts differ in size.
        """
        folders: list[Folder] = []
        for path in paths:
            each = cls.of(path)
            if each.code in {other.code for other in folders}:
                raise InputError(f"expected folders of different languages, got two of {each.code}", file=path)
            if folders and each.prepared.context_size != folders[0].prepared.context_size:
                raise InputError(
                    f"expected {folders[0].prepared.context_size} sentences of context, as in {folders[0].path}, got "
                    f"{each.prepared.context_size}: prepare with the same context.size",
                    file=path,
                )
            folders.append(each)
        return folders

    @property
    def code(self) -> str:
        """The code of the target language."""
        return self.prepared.language.code

    @property
    def record(self) -> dict[str, Any]:
        """The data as the config of a checkpoint records it: the hash of the manifest, and the splits."""
        return {"manifest": self.hash, "splits": self.manifest["splits"]}

    def refuse_other(self, language: Language, whose: str) -> None:
        """Refuse data in another language than `language`; `whose` is "the checkpoint" or "the checkpoints"."""
        if self.prepared.language != language:
            raise InputError(
                f"expected data of {language.code}, the language of {whose}, got {self.code}", file=self.path
            )


def check_language(settings: Train, language: Language) -> None:
    """Refuse settings for forms that are no pronouns of the language, and what is written for English alone.

    Raises:
        InputError: with the key, what is expected, and for a language other than English the preset without them.
    """
    cure = "" if language.ruled else "; experiment=targets leaves out what is written for English"
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


def _check_forms(objective: Objective, language: Language, cure: str) -> None:
    named = {"form_weight": objective.form_weight, "corruption.emphasis": objective.corruption.emphasis}
    for key, forms in named.items():
        for form in sorted((forms or {}).keys() - set(language.forms)):
            known = ", ".join(sorted(language.forms))
            raise InputError(f"objective.{key}.{form}: expected a pronoun, one of {known}{cure}")
