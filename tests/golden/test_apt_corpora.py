"""APT on random corpora, through the files, against a second computation written straight from the definition."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from pronmetric.cli.main import main

SOURCE = ["it", "It", "they", "sees", "do-it", "THEY", "now"]
TARGET = ["il", "Il", "elle", "ils", "dort-il", "Va-t-elle", "on", "voit", "Ça", "cela", "OTHER"]
SOURCE_LIST, TARGET_LIST = ["it", "they"], ["il", "elle", "ils", "ça", "cela"]
SOURCE_PRONOUNS, TARGET_PRONOUNS = ["it", "they"], ["il", "elle", "ils", "on"]
EQUAL = [["cela", "ça"], ["on", "ça"], ["ils", "lui"]]
SIMILAR = [["il", "elle"], ["ils", "elle", "cela"], ["on", "voit"]]


def second(source, texts, links, *, listed: bool, repaired: bool, other_equal: bool, compat: bool) -> list[int]:
    """The cases of all instances."""
    instances = []
    for number, line in enumerate(source):
        for at, token in enumerate(line.lower().split(" ")):
            instances += [(number, at)] * sum(piece in SOURCE_LIST for piece in token.split("-"))
    found = []
    for number, at in instances:
        sides = []
        for text, lines in zip(texts, links, strict=True):
            tokens, pairs = text[number].split(" "), lines[number]
            places = [t for t in range(len(tokens)) if (at, t) in pairs]
            words = [tokens[t].lower() for t in places]
            if listed and places:
                inside = [[piece for piece in word.split("-") if piece in TARGET_LIST] for word in words]
                words = [piece[0] for piece in inside if piece] or ["OTHER"]
            if repaired and places and not any(word in TARGET_PRONOUNS for word in words):
                low, high = max(places[0] - 2, 0), min(places[-1] + 2, len(tokens) - 1)
                length = high - low + 1
                best = None
                for t in range(low, high + 1):
                    here, half = t - low, length // 2
                    rank = (
                        half - here if here < half else 1 if length % 2 and here == half else here - (length - half) + 1
                    )
                    token = tokens[t] if compat else tokens[t].lower()
                    pronoun = token.split("-")[-1]
                    linked = [source[number].split(" ")[s] for s, there in pairs if there == t]
                    if not compat:
                        linked = [piece for word in linked for piece in [word.lower(), *word.lower().split("-")]]
                    if pronoun not in TARGET_PRONOUNS or any(word in SOURCE_PRONOUNS for word in linked):
                        continue
                    if best is None or rank < best[0]:
                        best = rank, token if compat else pronoun
                if best is not None:
                    words = ([] if words == ["OTHER"] else words) + [best[1]]
            sides.append(words)
        found.append(sides)
    seen = [*TARGET_LIST, "OTHER", "NONE"] if listed else [w for sides in found for words in sides for w in words]

    def groups(given):
        return [kept for group in given if len(kept := [word for word in group if word in seen]) >= 2]

    def one(word):
        if word not in seen:
            return None
        return next((group[0] for group in groups(EQUAL) if word in group), word)

    def case(reference, candidate) -> int:
        if not reference or not candidate:
            return {(True, False): 4, (False, True): 5, (False, False): 6}[bool(reference), bool(candidate)]
        a, b = [one(word) for word in reference], [one(word) for word in candidate]
        if any(word in b and (word != "OTHER" or not listed or other_equal) for word in a):
            return 1
        alike = [[one(word) for word in group] for group in groups(SIMILAR)]
        return 2 if any(any(w in g for w in a) and any(w in g for w in b) for g in alike) else 3

    return [case(*sides) for sides in found]


def write(folder: Path, rng: random.Random) -> tuple[list[str], list[list[str]], list[list[set[tuple[int, int]]]]]:
    source = [" ".join(rng.choices(SOURCE, k=rng.randint(1, 7))) for _ in range(40)]
    texts, links = [], []
    for name in ("ref", "tgt"):
        lines = [" ".join(rng.choices(TARGET, k=rng.randint(1, 8))) for _ in source]
        pairs = []
        for line, other in zip(source, lines, strict=True):
            m, n = len(line.split(" ")), len(other.split(" "))
            pairs.append({(rng.randrange(m), rng.randrange(n)) for _ in range(rng.randint(0, m + 1))})
        texts.append(lines)
        links.append(pairs)
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        (folder / f"src-{name}").write_text("".join(" ".join(f"{i}-{j}" for i, j in p) + "\n" for p in pairs))
    (folder / "src").write_text("".join(f"{line}\n" for line in source))
    lists = {"s": SOURCE_LIST, "t": TARGET_LIST, "sp": SOURCE_PRONOUNS, "tp": TARGET_PRONOUNS}
    lists |= {"eq": map(",".join, EQUAL), "sim": map(",".join, SIMILAR)}
    for name, words in lists.items():
        (folder / name).write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    return source, texts, links


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("repaired", [False, True])
def test_both_computations_agree(
    listed: bool, repaired: bool, compat: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(f"{listed} {repaired}")
    seen = set()
    for _ in range(8):
        source, texts, links = write(tmp_path, rng)
        other_equal = rng.random() < 0.5
        weights = {case: round(rng.random(), 2) for case in rng.sample(range(1, 7), rng.randint(1, 6))}
        Path("apt.ini").write_text(
            "[lang]\nsource_word_separator: -\n"
            f"target_word_separator: {'-' if listed else ''}\n[files]\nsource=src\nreference=ref\ntarget=tgt\n"
            "alignment_source_reference=src-ref\nalignment_source_target=src-tgt\nlist_source_pronouns=s\n"
            f"input_type=word\nlist_target_pronouns={'t' if listed else ''}\n[dictionary]\nequal=eq\nsimilar=sim\n"
            f"source_pronouns=sp\ntarget_pronouns={'tp' if repaired else ''}\n[cases]\n"
            f"cases_to_use={','.join(map(str, weights))}\nweigths_per_case={','.join(map(str, weights.values()))}\n"
            f"count_OTHER_as_equal={other_equal}\n[output]\noutput_file=out\n",
        )
        flags = ["--quiet", *(["--compat"] if compat else [])]
        assert main(["baseline", "apt", "apt.ini", "--to_json", "out.json", *flags]) == 0
        found = json.loads(Path("out.json").read_text(encoding="utf-8"))
        detail = Path("out.detail").read_text(encoding="utf-8").splitlines()[1:]
        how = {"listed": listed, "repaired": repaired, "other_equal": other_equal, "compat": compat}
        cases = second(source, texts, links, **how)
        seen.update(cases)
        assert [int(line.split("\t")[-1]) for line in detail] == cases
        counts = [cases.count(case) for case in weights]
        assert (found["cases"], found["instances"]) == (counts, len(cases))
        expected = sum(weights[case] * cases.count(case) for case in weights) / sum(counts) if sum(counts) else None
        assert found["score"] == (None if expected is None else pytest.approx(expected, abs=1e-12))
    assert seen == {1, 2, 3, 4, 5, 6}
