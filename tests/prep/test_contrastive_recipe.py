"""ContraPro's recipe on a hand-made corpus of 30 sentence pairs, ten documents of three."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data_prep.suites import contrastive, corpus
from pronmetric.alignment import parsed
from pronmetric.cli import suite_build
from pronmetric.errors import InputError

# noun, its German article and noun, gender, pronoun
NOUNS = [
    ("lamp", "Die Lampe", "Fem", "sie"),
    ("table", "Der Tisch", "Masc", "er"),
    ("house", "Das Haus", "Neut", "es"),
    ("clock", "Die Uhr", "Fem", "sie"),
    ("stove", "Der Ofen", "Masc", "er"),
    ("boat", "Das Boot", "Neut", "es"),
    ("bell", "Die Glocke", "Fem", "sie"),
    ("chair", "Der Stuhl", "Masc", "er"),
    ("book", "Das Buch", "Neut", "es"),
    ("door", "Die Tür", "Fem", "sie"),
]
POSSESSIVE = {"sie": "ihre", "er": "seine", "es": "seine"}


def sentence(words: list[str]) -> str:
    """CoNLL-U of words `form/POS[/feats[/relation[/entity]]]`."""
    rows = []
    verb = 3 if "/det" in words[0] else 2
    for number, word in enumerate(words, start=1):
        form, pos, feats, relation, entity = (*word.split("/"), *("_" for _ in range(4 - word.count("/"))))
        misc = "_" if entity == "_" else f"Entity={entity}"
        misc = "SpaceAfter=No" if number == len(words) - 1 else misc
        head = "0" if number == verb else "2" if relation == "det" else str(verb)
        rows.append("\t".join((str(number), form, form.lower(), pos, "_", feats, head, relation, "_", misc)))
    return "\n".join(rows) + "\n\n"


def write(folder: Path, change: dict[str, str] | None = None) -> list[str]:
    """The flags that name the three files of the corpus."""
    source, target, links = "", "", []
    for number, (noun, german, gender, pronoun) in enumerate(NOUNS):
        article, head = german.split()
        near = number % 2  # distance 1 or 2
        filler_en = sentence(["Rain/NOUN", "fell/VERB", "again/ADV", "./PUNCT"])
        filler_de = sentence(["Regen/NOUN", "fiel/VERB", "wieder/ADV", "./PUNCT"])
        first_en = sentence(["The/DET/_/det/(e1-", f"{noun}/NOUN/_/_/e1)", "was/VERB", "old/ADJ", "./PUNCT"])
        first_de = sentence(
            [f"{article}/DET/_/det/(x1-", f"{head}/NOUN/Gender={gender}/_/x1)", "war/VERB", "alt/ADJ", "./PUNCT"]
        )
        last_en = sentence(["It/PRON/_/nsubj/(e1)", "lost/VERB", "its/PRON/_/_/(e1)", "shine/NOUN", "./PUNCT"])
        last_de = sentence(
            [
                f"{pronoun.capitalize()}/PRON/_/nsubj/(x1)",
                "verlor/VERB",
                f"{POSSESSIVE[pronoun]}/DET/_/_/(x1)",
                "Farbe/NOUN",
                "./PUNCT",
            ]
        )
        straight, filled = "0-0 1-1 2-2 3-3 4-4", "0-0 1-1 2-2 3-3"
        order = (filler_en, first_en) if near else (first_en, filler_en)
        source += f"# newdoc id = {number}.en\n" + "".join(order) + last_en
        order = (filler_de, first_de) if near else (first_de, filler_de)
        target += f"# newdoc id = {number}.de\n" + "".join(order) + last_de
        links += [filled, straight, straight] if near else [straight, filled, straight]
    for old, new in (change or {}).items():
        assert old in source + target
        source, target = source.replace(old, new, 1), target.replace(old, new, 1)
    flags = []
    for name, text in (("source", source), ("target", target), ("alignment", "\n".join(links) + "\n")):
        path = folder / (f"{name}.conllu" if name != "alignment" else "links")
        path.write_text(text, encoding="utf-8")
        flags += [f"--{name}", str(path)]
    return flags


def build(flags: list[str], counts: Counter[str]) -> list[dict[str, Any]]:
    source, target, alignment = flags[1::2]
    pairs = parsed.read(source, target, alignment)
    documents = list(corpus.from_parsed(pairs, source=source, target=target))
    assert [len(document.pairs) for document in documents] == [3] * 10
    of, writing = contrastive.rules("de"), contrastive.Writing("demo", context=2)
    return [item for d in documents for item in contrastive.items(d, of, writing=writing, counts=counts)]


def test_items_of_the_hand_made_corpus(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    found = build(write(tmp_path), counts)
    assert counts == {"pronoun pairs": 10, "items": 10}
    first = found[0]
    assert first["src segment"] == "It lost its shine." and first["ref segment"] == "Sie verlor ihre Farbe."
    assert [(e["contrastive"], e["replacement"], e["replacement gender"]) for e in first["errors"]] == [
        ("Er verlor seine Farbe.", "er", "Masc"),
        ("Es verlor seine Farbe.", "es", "Neut"),
    ]
    assert [item["ante distance"] for item in found] == [2, 1] * 5
    assert (first["document id"], first["segment id"], first["intrasegmental"]) == ("0.de", 3, False)
    assert (first["ref ante head"], first["ref ante head gender"], first["ref ante phrase"]) == (
        "Lampe",
        "Fem",
        "Die Lampe",
    )
    assert (first["src ante head lemma"], first["src ante head id"], first["corpus"]) == ("lamp", 2, "demo")
    assert found[1]["ref context"] == ["Regen fiel wieder.", "Der Tisch war alt."]
    assert found[1]["src context"] == ["Rain fell again.", "The table was old."]
    (masculine,) = (e for e in found[1]["errors"] if e["replacement"] == "es")
    assert masculine["contrastive"] == "Es verlor seine Farbe."  # the possessive of es is that of er


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"Sie\tsie\tPRON\t_\t_\t2\tnsubj": "Sie\tsie\tPRON\t_\t_\t2\tobj"}, "target pronoun is no subject"),
        ({"_\t2\tnsubj\t_\tEntity=(e1)": "_\t2\tnsubj\t_\t_"}, "not in a coreference chain"),
        ({"lamp\tlamp\tNOUN": "lamp\tlamp\tADJ"}, "no nominal antecedent"),
    ],
)
def test_constraints(tmp_path: Path, change: dict[str, str], reason: str) -> None:
    counts: Counter[str] = Counter()
    assert len(build(write(tmp_path, change), counts)) == 9
    assert counts[f"dropped: {reason}"] == 1


def test_antecedents_must_be_aligned(tmp_path: Path) -> None:
    flags = write(tmp_path)
    path = Path(flags[-1])
    path.write_text(path.read_text(encoding="utf-8").replace("1-1 ", "", 1), encoding="utf-8")
    counts: Counter[str] = Counter()
    assert len(build(flags, counts)) == 9 and counts["dropped: antecedents are not aligned"] == 1


def test_balanced_samples_keep_the_order_of_documents(tmp_path: Path) -> None:
    found = build(write(tmp_path), Counter())
    chosen = contrastive.balance(found, each=None, seed=1)
    assert Counter(item["ref pronoun"] for item in chosen) == {"Sie": 3, "Er": 3, "Es": 3}
    names = [item["document id"] for item in chosen]
    assert names == sorted(names)
    assert contrastive.balance(found, each=2, seed=1) == contrastive.balance(found, each=2, seed=1)
    with pytest.raises(InputError, match=r"expected 4 items of each pronoun, got fewer of er \(3\), es \(3\)"):
        contrastive.balance(found, each=4, seed=1)


def test_french_rules_contrast_within_a_number() -> None:
    found = contrastive.rules("fr")
    assert {(rule.pronoun, rule.source) for rule in found} == {
        ("il", "it"),
        ("elle", "it"),
        ("ils", "they"),
        ("elles", "they"),
    }
    assert len([rule for rule in found if rule.number == "Plur"]) == 2


def test_the_command_writes_the_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "suite.json"
    flags = ["--target-language", "de", *write(tmp_path), "--each", "1", "-o", str(out), "--blind-model", "none"]
    assert suite_build.GROUP.main(["contrastive", *flags]) == 0
    assert len(json.loads(out.read_text(encoding="utf-8"))) == 3
    told = capsys.readouterr()
    assert "3 of 10 items are written" in told.err and "pronoun pairs" in told.out
