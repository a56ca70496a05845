"""CoNLL-U: words, surfaces, mentions, refusals; factored lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.text import conllu

TEXT = """# newdoc id = lamp
# global.Entity = eid-etype-head-other
# text = Elle parle du chat.
1\tElle\tlui\tPRON\t_\tGender=Fem|Number=Sing\t2\tnsubj\t_\tEntity=(e1-person-1-)
2\tparle\tparler\tVERB\t_\t_\t0\troot\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\tEntity=(e2-animal-2-
4.1\tx\tx\tX\t_\t_\t_\t_\t_\t_
5\tchat\tchat\tNOUN\t_\t_\t2\tobl\t_\tEntity=e2)|SpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_
"""


def test_words_surfaces_and_mentions(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_text(TEXT, encoding="utf-8")
    (found,) = conllu.read(path)
    assert found.doc == "lamp" and [token.form for token in found.tokens][:3] == ["Elle", "parle", "de"]
    assert (found.tokens[0].feats["Gender"], found.tokens[0].head, found.tokens[1].head) == ("Fem", 1, -1)
    assert found.text() == "Elle parle du chat."
    assert found.text({0: "Il"}) == "Il parle du chat."
    assert found.text({3: "la", 4: "chatte"}) == "Elle parle de la chatte."
    assert conllu.mentions(found, file=path) == [conllu.Mention(0, 1, "e1", 0), conllu.Mention(3, 5, "e2", 4)]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("2\tparle", "3\tparle", "x.conllu:5: expected the ID 2, got 3"),
        ("\tchat\tNOUN\t_\t_\t2\t", "\tchat\tNOUN\t_\t_\t9\t", "x.conllu:10: expected a head from 0 to 6, got '9'"),
        ("2\tparle", f"{'9' * 5000}\tparle", "x.conllu:5: expected a number as ID, got '999"),
        ("\tchat\tNOUN\t_\t_\t2\t", f"\tchat\tNOUN\t_\t_\t{'9' * 5000}\t", "x.conllu:10: expected a head from 0 to"),
        ("\t2\tpunct\t_\t_", "\t2\tpunct\t_", "x.conllu:11: expected 10 tab-separated columns, got 9"),
    ],
)
def test_refusals(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = tmp_path / "x.conllu"
    path.write_text(TEXT.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as error:
        list(conllu.read(path))
    assert told in str(error.value)


def test_brackets_without_partner(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    for old, new, told in (("e2)", "e3)", "entity e3 is closed"), ("e2)|", "", "entity e2 is not closed")):
        path.write_text(TEXT.replace(f"Entity={old}", f"Entity={new}" if new else ""), encoding="utf-8")
        (found,) = conllu.read(path)
        with pytest.raises(InputError, match=told):
            conllu.mentions(found, file=path)


def test_factored_lines() -> None:
    first, second = conllu.read_factored(["Sie|sie|PRON|nsubj geht|gehen|VERB", "| x"], file="f")
    assert [token.deprel for token in first.tokens] == ["nsubj", "_"]
    assert [token.form for token in second.tokens] == ["|", "x"]
    with pytest.raises(InputError, match="f:1: expected form, form"):
        list(conllu.read_factored(["a|b"], file="f"))
