"""Words of other languages inside an English text that look like English pronouns: "il me l'a dit".

The words around decide: at least two of the six nearest are function words of French, Spanish, Italian, Portuguese,
German, Dutch or Scandinavian, or both neighbours are such or could be, and no neighbour is a plain English word.
"""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.pronouns.lexicon import CLASSES as LEXICON
from pronmetric.pronouns.lexicon import FUNCTION, VERB
from pronmetric.pronouns.word_class import word_at

_FORMS = frozenset("he her him his i me mine my".split())
_WORDS = LEXICON["foreign_word"]
_EITHER = LEXICON["foreign_or_english"]
_ELIDED = frozenset("c d j l m n qu s t".split())
_REACH = 3  # words on each side; more: words of another sentence decide, fewer: short foreign phrases are missed


def is_foreign(lower: Sequence[str], index: int) -> bool:
    """Whether word `index`, a form of the inventory, stands among words of another language.

    >>> is_foreign("il me l ' a dit".split(), 1), is_foreign("told me de vries".split(), 1)
    (True, False)
    """
    if lower[index] not in _FORMS:
        return False
    beside = [word_at(lower, index - 1), word_at(lower, index + 1)]
    if not any(word in _WORDS or word in _EITHER for word in beside):
        return False
    if any((word in FUNCTION or word in VERB) and word not in _EITHER for word in beside):
        return False
    near = [k for k in range(index - _REACH, index + _REACH + 1) if k != index and 0 <= k < len(lower)]
    known = sum(lower[k] in _WORDS or (lower[k] in _ELIDED and word_at(lower, k + 1) == "'") for k in near)
    both = all(word in _WORDS or word in _EITHER for word in beside) and any(word in _WORDS for word in beside)
    return known >= 2 or both
