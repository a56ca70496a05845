"""AutoPRF on examples worked by hand, and against a second, flat computation written from the same description."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.baselines import autoprf
from pronmetric.lab.baselines.autoprf import (
    Counts,
    Documents,
    Instance,
    format_as_published,
    same_language,
    split,
    tally,
)

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the files of a stem, given by their ends, and returns the stem."""

    def to(stem: str, **ends: str) -> str:
        for end, content in ends.items():
            name = {"alig": "en-fr.alig", "retained": "en-fr.lines-retained"}.get(end, end)
            (tmp_path / f"{stem}.{name}").write_text(content, encoding="utf-8")
        return str(tmp_path / stem)

    return to


def read(stem: str, *, compat: bool = False) -> autoprf.Corpus:
    return autoprf.read_corpus(stem, src="en", tgt="fr", compat=compat)


def test_words_match_as_often_as_they_occur_on_both_sides() -> None:
    result = tally(
        [
            Instance("it", ["il", "il", "a"], ["il", "il", "il", "l'"]),  # 2 of 3, of 4
            Instance("it", ["Elle"], ["elle"]),  # case counts
            Instance("they", ["ils"], []),
        ]
    )
    assert result.pronouns == {"it": Counts(2, 2, 4, 5), "they": Counts(1, 0, 1, 0)}
    assert result.total == Counts(3, 2, 5, 5)
    assert (result.total.precision, result.total.recall, result.total.f1) == (0.4, 0.4, 0.4)
    they = result.pronouns["they"]
    assert (they.precision, they.recall, they.f1) == (None, 0.0, None)


def test_f1_is_the_harmonic_mean() -> None:
    counts = Counts(5, 3, 8, 4)
    p, r = 3 / 4, 3 / 8
    assert counts.f1 == pytest.approx(2 * p * r / (p + r))
    assert Counts(1, 0, 1, 1).f1 is None  # both are 0, so 0/0


def test_compat_drops_a_pronoun_that_the_candidate_links_to_nothing() -> None:
    instances = [
        Instance("it", ["il"], ["il"], 0),
        Instance("they", ["ils"], [], 0),
        Instance("they", ["elles"], [], 1),
    ]
    plain, original = (tally(instances, documents=2, compat=compat) for compat in (False, True))
    assert (plain.total.recall, original.total.recall) == (1 / 3, 1.0)
    assert (list(plain.pronouns), list(original.pronouns)) == (["it", "they"], ["it"])
    assert plain.documents == original.documents == (Counts(2, 1, 2, 1), Counts(1, 0, 1, 0))


def test_nothing_gives_no_figure() -> None:
    total = tally([]).total
    assert (total.precision, total.recall, total.f1) == (None, None, None)
    assert format_as_published(total) == ("NaN", "NaN", "NaN")


def test_printed_from_single_precision_half_up() -> None:
    assert format_as_published(Counts(1, 1, 32, 32)) == (
        "0.0313",
        "0.0313",
        "0.0313",
    )  # 0.03125 is exact in both precisions
    assert (
        format_as_published(Counts(1, 3, 20000, 32))[1] == "0.0002"
    )  # 0.00015: in single precision just above, in double below
    assert format_as_published(Counts(1, 0, 2, 3)) == ("0.0000", "0.0000", "NaN")


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("", [""]),
        ("it is", ["it", "is"]),
        ("it is  ", ["it", "is"]),
        ("  it  is", ["", "", "it", "", "is"]),
        (" ", []),
        ("it\u00a0is\tso", ["it\u00a0is\tso"]),
    ],
)
def test_tokens_are_separated_by_single_blanks(line: str, tokens: list[str]) -> None:
    assert split(line) == tokens


def test_triggers_are_exactly_these_forms(write: Write) -> None:
    words = "it It IT they They THEY its them"
    stem = write("a", en=words, fr=words, alig=" ".join(f"{i}-{i}" for i in range(8)))
    corpus = read(stem)
    found = list(autoprf.instances(corpus, corpus, Documents((0,), ("",))))
    assert [(i.pronoun, i.reference) for i in found] == [
        ("it", ["it"]),
        ("it", ["It"]),
        ("they", ["they"]),
        ("they", ["They"]),
    ]


def test_linked_words_keep_the_order_and_the_repeats_of_the_links(write: Write) -> None:
    corpus = read(write("a", en="it is\n\n", fr="c' est\n\n", alig="0-1 1-1 0-0 0-1\n\n"))
    assert corpus.linked == [{0: ["est", "c'", "est"], 1: ["est"]}, {}]
    assert corpus.source == [["it", "is"], [""]]


def test_lines_retained_give_the_lines_of_the_links(write: Write) -> None:
    stem = write("a", en="it\nit\nit\n", fr="un\ndeux\ntrois\n", alig="0-0\n0-0\n", retained="1\n3\n")
    assert read(stem).linked == [{0: ["un"]}, {}, {0: ["trois"]}]


def test_links_past_the_end_and_surplus_lines_are_counted(write: Write) -> None:
    stem = write("a", en="it is\nit\n", fr="c' est\nil\n", alig="0-2 2-0 1-1\n1-0 0-0\n0-0\nno links\n")
    corpus = read(stem)
    assert corpus.linked == [{1: ["est"]}, {0: ["il"]}]
    assert [corpus.ignored[what] for what in autoprf.IGNORED] == [2, 1, 2]


def test_compat_reads_on_in_the_next_line(write: Write) -> None:
    stem = write("a", en="it is\nit\n", fr="c' est\nil\n", alig="0-2 1-1\n1-0\n")
    corpus = read(stem, compat=True)
    assert corpus.linked == [{0: ["il"], 1: ["est"]}, {}]
    assert corpus.ignored[autoprf.PAST_SOURCE] == 1 and corpus.ignored[autoprf.PAST_TARGET] == 0


def test_compat_refuses_an_index_above_each_length_before(write: Write) -> None:
    stem = write("a", en="it is so\nit\nit\n", fr="a\nb\nc\n", alig="0-0\n3-0\n4-0\n")
    said = r"en-fr.alig:3: source index 4 is above .* without `compat=True` it is ignored"
    with pytest.raises(InputError, match=said):
        read(stem, compat=True)
    assert read(stem).ignored[autoprf.PAST_SOURCE] == 2


def test_compat_refuses_a_target_past_the_whole_text(write: Write) -> None:
    stem = write("a", en="it\nit\n", fr="a\nb\n", alig="0-1\n0-1\n")
    with pytest.raises(InputError, match=r"en-fr.alig:2: target index 1 lies past the end of the whole text"):
        read(stem, compat=True)


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ({"fr": "a\n"}, r"a\.en: 2 lines, but .*a\.fr has 1"),
        ({"alig": "0-0\n"}, r"a\.en-fr\.alig: 1 lines for 2 sentences"),
        ({"alig": "0-0\n0-0 1\n"}, r"a\.en-fr\.alig:2: expected links such as 0-0 1-2, got '1'"),
        ({"alig": "0-0\n0--1\n"}, r"alig:2: expected links"),
        ({"alig": "0-0\n0-0\t1-1\n"}, r"alig:2: expected links"),
        ({"alig": f"0-0\n0-{'9' * 5000}\n"}, r"alig:2: expected links"),
        ({"retained": "1\n"}, ""),
        ({"retained": "2\n1\n"}, r"lines-retained:2: expected a line number from 3 to 2, got '1'"),
        ({"retained": "0\n"}, r"lines-retained:1: expected a line number from 1 to 2, got '0'"),
        ({"retained": "1\n3\n"}, r"lines-retained:2: expected a line number from 2 to 2, got '3'"),
        ({"retained": "one\n"}, r"lines-retained:1: .* got 'one'"),
    ],
)
def test_faults_of_a_corpus(write: Write, ends: dict[str, str], message: str) -> None:
    stem = write("a", **({"en": "it\nit\n", "fr": "a\nb\n", "alig": "0-0\n0-0\n"} | ends))
    if not message:
        assert read(stem).linked == [{0: ["a"]}, {}]
        return
    with pytest.raises(InputError, match=message):
        read(stem)


def test_the_error_of_a_missing_file_explains_the_stem(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("it\n")
    with pytest.raises(InputError, match=r"a\.en\.en: no such file; the stem '.*a\.en' stands for .*a\.en\.en, .*alig"):
        read(str(tmp_path / "a.en"))


def test_sources_must_have_equally_many_tokens(write: Write) -> None:
    a = read(write("a", en="it is\nso\n", fr="a\nb\n", alig="\n\n"))
    assert autoprf.check_sources(a, read(write("b", en="It is\nSo\n", fr="a\nb\n", alig="\n\n"))) == 2
    with pytest.raises(InputError, match=r"c\.en:2: 2 tokens, but 1 in that line of .*a\.en"):
        autoprf.check_sources(a, read(write("c", en="it is\nso so\n", fr="a\nb\n", alig="\n\n")))
    with pytest.raises(InputError, match=r"d\.en: 1 lines, but .*a\.en has 2"):
        autoprf.check_sources(a, read(write("d", en="it is\n", fr="a\n", alig="\n")))


def test_documents(tmp_path: Path) -> None:
    path = tmp_path / "docs"
    path.write_text("2 the first\n4\n5 \n")
    documents = autoprf.read_documents(str(path), sentences=7)
    assert documents == Documents((2, 4, 5), ("the first", "Document 2", "Document 3"))
    assert [documents.of(i) for i in range(7)] == [0, 0, 0, 0, 1, 2, 2]


def test_any_white_space_separates_number_and_name_of_a_document(tmp_path: Path) -> None:
    path = tmp_path / "docs"
    path.write_text("0\tby a tab\n1   by blanks\n2 \t by both \n3\u00a0by a no-break space\n4\t\n", encoding="utf-8")
    names = ("by a tab", "by blanks", "by both", "by a no-break space", "Document 5")
    assert autoprf.read_documents(str(path), sentences=5) == Documents((0, 1, 2, 3, 4), names)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"docs: expected a line for each document"),
        ("first\n", r"docs:1: expected a number, and a name after white space, got 'first'"),
        ("0\n\n", r"docs:2: expected a number"),
        ("-1\n", r"docs:1: expected a number"),
        ("0\n3\n3\n", r"docs:3: expected a number above 3, got 3"),
        ("0\n9\n", r"docs:2: no sentence 9: there are 9, counted from 0"),
    ],
)
def test_faults_of_documents(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "docs").write_text(content)
    with pytest.raises(InputError, match=message):
        autoprf.read_documents(str(tmp_path / "docs"), sentences=9)


def test_in_one_language_the_reference_is_its_own_source() -> None:
    reference, candidate = ["They", "saw", "her", "."], ["now", "they", "saw", "him", "there", "."]
    found = list(same_language(reference, candidate, [(0, 1), (2, 3), (2, 4)], positions=[0, 2]))
    assert found == [Instance("they", ["they"], ["they"]), Instance("her", ["her"], ["him", "there"])]
    assert tally(found).total == Counts(2, 1, 2, 3)


def flat(texts: dict[str, list[str]], links: dict[str, list[str]], starts: list[int], *, run_on: bool) -> list[object]:
    """Counts of pronouns and documents: every token has one number in its whole text, and a link joins two numbers."""
    sides = {}
    for side in ("r", "c"):
        source = [token for line in texts["en"] for token in line.split(" ")]
        target = [token for line in texts[side] for token in line.split(" ")]
        linked: dict[int, list[str]] = {}
        s = t = 0
        for line, other, row in zip(texts["en"], texts[side], links[side], strict=True):
            for i, j in ([int(end) for end in link.split("-")] for link in row.split()):
                if i < len(line.split(" ")) and (run_on or j < len(other.split(" "))):
                    linked[s + i] = [*linked.get(s + i, []), target[t + j]]
            s, t = s + len(line.split(" ")), t + len(other.split(" "))
        sides[side] = source, linked
    pronouns: dict[str, Counter[str]] = {}
    documents = [Counter[str]() for _ in starts]
    token = 0
    for number, line in enumerate(texts["en"]):
        for word in line.split(" "):
            if word in ("it", "It", "they", "They"):
                r, c = (sides[side][1].get(token, []) for side in ("r", "c"))
                document = max([d for d, start in enumerate(starts) if start <= number], default=0)
                for counts in (pronouns.setdefault(word.lower(), Counter()), documents[document]):
                    counts["r"] += len(r)
                    counts["c"] += len(c)
                    counts["m"] += sum(min(r.count(x), c.count(x)) for x in set(r))
            token += 1
    return [{p: (n["m"], n["r"], n["c"]) for p, n in pronouns.items()}, [(n["m"], n["r"], n["c"]) for n in documents]]


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_the_flat_computation(tmp_path: Path, write: Write, seed: int, compat: bool) -> None:
    rng = random.Random(seed)
    lengths = [6, *(rng.randint(1, 6) for _ in range(30))]  # no source index can be above the first length
    texts = {
        side: [" ".join(rng.choice(words) for _ in range(n)) for n in (*lengths, 9)]
        for side, words in (("en", ["it", "It", "they", "IT", "so"]), ("r", ["il", "ils", "a"]), ("c", ["il", "a"]))
    }
    links = {
        side: [" ".join(f"{rng.randint(0, 6)}-{rng.randint(0, 7)}" for _ in range(rng.randint(0, 9))) for _ in lengths]
        for side in ("r", "c")
    }
    for rows in links.values():
        rows[0] = "0-0"
        rows.append("")
    starts = [3, 9, 20]
    (tmp_path / "docs").write_text("".join(f"{start}\n" for start in starts))
    reference, candidate = (
        read(
            write(side, en="\n".join(texts["en"]), fr="\n".join(texts[side]), alig="\n".join(links[side]) + "\n"),
            compat=compat,
        )
        for side in ("r", "c")
    )
    documents = autoprf.read_documents(str(tmp_path / "docs"), sentences=len(texts["en"]))
    result = tally(autoprf.instances(reference, candidate, documents), documents=3, compat=compat)
    pronouns, by_document = flat(texts, links, starts, run_on=compat)
    assert {p: (c.matches, c.reference, c.candidate) for p, c in result.pronouns.items()} == pronouns
    assert [(c.matches, c.reference, c.candidate) for c in result.documents] == by_document
