"""Literals: the parts of a text that are no running text, in which no word is a pronoun.

They are placeholders of localised texts ({it}, %it, $it, <it>), addresses and file names (it.com, who.txt, /etc/it),
and code (self.it, it.next(), lang=it, do_it). Web and mail addresses and handles are words by themselves
(`pronmetric.text.words`). In doubt a part is running text: "he/she", "left.He" and "the company(it was sold)" are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Literal(NamedTuple):
    """The half-open span of a literal in a readable text, and its kind: a placeholder, an address, or code."""

    start: int
    end: int
    kind: str


_DOMAINS = (
    "com|org|net|edu|gov|mil|info|biz|co|io|de|fr|ru|ua|cz|pl|nl|cn|jp|kr|uk|eu|ch|au|ca|br"  # no English words
    "|html?|xhtml|php|aspx?|jsp|xml|json|ya?ml|toml|ini|cfg|pdf|jpe?g|png|gif|svg|webp|mp[34]|wav|txt|md|csv|tsv|docx?|xlsx?"
    "|pptx?|zip|gz|tar|exe|dll|apk|css|jsx?|tsx?|py|java|cpp|sh|sql"
)
_NAME = r"[A-Za-z_]\w*"
_LITERAL = re.compile(
    rf"""
    (?P<placeholder>
        [$\#%@]?\{{\{{?\s?[$%\#]?[\w.:|-]{{1,60}}\s?\}}\}}?      # {{it}}, {{{{ it }}}}, ${{it}}, \#{{it}}
      | %\({_NAME}\)[a-z]?                                  # %(it)s
      | \$\({_NAME}\)                                       # $(it)
      | (?<![\w%$])[%$]{_NAME}%?                            # %it, $it, %it%
      | <[a-z][\w-]{{0,30}}>                                 # <url>
      | \\it\b                                              # the italics of LaTeX
    )
  | (?P<address>
        (?<![\w.@/\\-])(?:[\w.-]{{1,60}}[/\\]){{0,9}}  # docs/it.md
        [\w-]+(?:\.[\w-]+)*\.(?:{_DOMAINS})(?![\w@]|\.\w)(?:[/?\#][\w./?=&%\#+-]*[\w/])?  # it.com
      | (?<![^\s"'(])(?:[A-Za-z]:|~|\.{{1,2}})?(?:[/\\][\w.-]+){{2,}}                      # /etc/it, C:\\it\\x
    )
  | (?P<code>
        (?<![\w`])`(?:[^\s`]{{1,80}}|[^`\n]{{0,80}}[(){{}}=;<>_][^`\n]{{0,80}})`(?![\w`])        # `it`
      | (?<![\w.])[a-z_]\w*(?:\.[a-z_]\w*)+\(\s?(?:[\w.]+(?:,\s?[\w.]+)*)?\s?\)             # she.said(it)
      | (?<![\w.]){_NAME}\((?:{_NAME}(?:\.{_NAME})+)?\)     # print(self.it)
      | (?<![\w.])self\.{_NAME}
      | (?<![\w.]){_NAME}\s?(?:[!=]=|&&|\|\||\+=|::)\s?\w+  # it == x
      | (?<![\w=.]){_NAME}=(?:"[^"\s]*"|'[^'\s]*'|[\w./-]+) # lang=it
      | (?<!\w)[A-Za-z]\w*_\w*[A-Za-z\d](?!\w)              # do_it
    )
    """,
    re.VERBOSE,
)
_TRIGGER = re.compile(r"""[{$%\\`_<]|/(?<!\w.)|[=&|+:](?=[\w=&|:"'])|[.(](?<=\w.)(?=[)\w])""")


def literals(text: str) -> tuple[Literal, ...]:
    """The literals of a readable text, left to right.

    >>> literals("Click {it}, or open it.html.")
    (Literal(start=6, end=10, kind='placeholder'), Literal(start=20, end=27, kind='address'))
    """
    if not _TRIGGER.search(text):
        return ()
    return tuple(Literal(*match.span(), match.lastgroup or "") for match in _LITERAL.finditer(text))


def part_at(found: Sequence[Literal], at: int) -> str | None:
    """The kind of the literal at offset `at`, None if there is none."""
    return next((kind for start, end, kind in found if start <= at < end), None)
