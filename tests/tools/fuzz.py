"""Damaged files for each parser, for some minutes: a parser gives a result or an error of one line, nothing else.

A good file is damaged at random: bytes are cut, put in, replaced by pieces that parsers stumble over, nested deeply,
packed or written in another encoding. The same seed gives the same files in the same order. The report is made from
results whose names and texts are damaged strings; its page must have no element or attribute that comes from them.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import PronmetricError

ROOT = Path(__file__).resolve().parents[2]
PIECES = [
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\r", b"\r\n", b"\n\n", b"\\ud800", b"\\u0000", b"\xc3\x28"),
    *(b"\xe2\x80\xa8", b"[", b"]", b"{", b"}", b'"', b'""', b"<", b">", b"<v>", b"</v>", b"&#0;", b"&#xD800;"),
    *(b"\t", b" ", b"\x1c", b"1e999", b"NaN", b"-Infinity", b"inf", b"9" * 5000, b"-1", b"1.5", b"1_0", b"0x1"),
    *("\u0663".encode(), "\u00b2".encode(), b"null", b"true", b"[]", b"{}", b"None", b"-", b"=", b":", b",", b"%"),
]
NESTED = [b"[", b'{"a":', b"<a>", b"<", b"<seg id=", b"(1"]
MARKUP = ["</script><script>x()</script>", "<img src=x onerror=x()>", "\" onclick='x()'", "{{data}}", "<!--", "&lt;"]
XML = """<?xml version="1.0" encoding="utf-8"?>
<dataset id="t35"><doc id="d" origlang="de"><src lang="de"><p><seg id="1">Sie.</seg></p></src>
<ref lang="en" translator="A"><p><seg id="1">She.</seg></p></ref>
<hyp lang="en" system="S"><p><seg id="1">He.</seg></p></hyp></doc></dataset>
"""
SGM = """<refset setid="t" srclang="any" trglang="en"><doc docid="d" sysid="ref" origlang="de">
<seg id="1">It's & left &lt;b> &#233;.</seg>
<seg id="2">She left.</seg></doc></refset>
"""
JSONL = '{"id": 1, "text": "She left.", "context": ["Ann came."]}\n{"id": "b", "text": "It ran.", "source": "Es."}\n'
CONLL = "# begin document a\n0\tShe\t(1)\n1\tsaw\t_\n2\tAnn\t(2)\n\n3\tIt\t(3\n4\tran\t3)\n\n# end document\n"
CONLLU = (
    "# newdoc id = a\n1\tShe\tshe\tPRON\tPRP\tCase=Nom\t2\tnsubj\t_\t_\n2\tleft\tleave\tVERB\tVBD\t_\t0\troot\t_\t_\n\n"
)
TSV = "system\tdoc\tscore\nA\td1\t0.50000\n'=B\td\\t2\t-1\n"


class Parser(NamedTuple):
    """A good file, and what reads it."""

    content: bytes
    name: str
    read: Callable[[Path], object]


def damaged(draw: random.Random, content: bytes) -> bytes:
    """Random bytes, a cut, deep nesting, another encoding, (broken) gzip, other line ends, or pieces put in."""
    kind = draw.randrange(9)
    if kind == 0:
        return draw.randbytes(draw.randrange(60))
    if kind == 1:
        return content[: draw.randrange(len(content) + 1)]
    if kind == 2:
        return draw.choice(NESTED) * draw.choice([1_000, 100_000])
    if kind == 3:
        return content.decode(errors="replace").encode("utf-16")
    if kind == 4:
        packed = gzip.compress(content, mtime=0)
        return packed[: draw.randrange(20, len(packed) + 1)]
    if kind == 5:
        return content.replace(b"\n", draw.choice([b"\r", b"\r\n", b"\n\n", b"\n\r\n"]))
    places = list(re.finditer(rb'"[^"]*"|[\d.]+|\w+', content))
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(content) + 1)
        end = at + (0 if kind == 6 else draw.randrange(1, 8))
        if kind == 8 and places:
            at, end = draw.choice(places).span()
        content = content[:at] + draw.choice(PIECES) + content[end:]
    return content


def parsers(folder: Path) -> dict[str, Parser]:
    """The parsers by name; `folder` is theirs."""
    from data_prep.coreference import conll
    from data_prep.wmt import sgm, xml
    from pronmetric.checkpoint import files
    from pronmetric.output import tsv
    from pronmetric.text import conllu, records

    model = checkpoint(folder / "model")
    return {
        "XML": Parser(XML.encode(), "t35.de-en.xml", xml.parse),
        "SGM": Parser(SGM.encode(), "t-deen-ref.en.sgm", sgm.parse),
        "JSONL": Parser(JSONL.encode(), "in.jsonl", lambda path: list(records.read(str(path))[0])),
        "CoNLL": Parser(CONLL.encode(), "a.conll", partial(conll.read, form=conll.GUM)),
        "CoNLL-U": Parser(CONLLU.encode(), "a.conllu", lambda path: list(conllu.read(path))),
        "TSV": Parser(TSV.encode(), "a.tsv", lambda path: list(tsv.read(path))),
        "safetensors": Parser(
            (model / "model.safetensors").read_bytes(), "model/model.safetensors", lambda path: files.load(path.parent)
        ),
    }


def checkpoint(folder: Path) -> Path:
    """A checkpoint with few random weights."""
    from pronmetric.checkpoint import files
    from pronmetric.checkpoint.model_config import FORMAT, SEGMENT
    from pronmetric.data.pieces import Vocabulary
    from pronmetric.pronouns.finder import FORMS

    config = {
        "format": FORMAT,
        "encoder": {"kind": "glove", "words": len(FORMS), "vector": 4, "hidden": 2, "layers": 1, "lower": True},
        "head": {"kind": "logit", "dropout": 0.1, "slots": 4},
        "word_state": "mean",
        "segment": SEGMENT["logit"],
        "max_pieces": 64,
        "separator": False,
        "pronouns": list(FORMS),
        "context": "common",
        "context_size": 2,
        "training": {},
    }
    files.save(folder, files.build(config), Vocabulary(FORMS, lower=True), config, half=False)
    return folder


def fuzz(parser: Parser, folder: Path, *, seconds: float, seed: int) -> dict[str, Any]:
    """Read damaged files for so many seconds; the numbers of files, results and errors, and every other exception."""
    draw, path, counts, faults = random.Random(seed), folder / parser.name, Counter[str](), []
    start, until = time.process_time(), time.monotonic() + seconds
    while time.monotonic() < until or not counts:
        content = damaged(draw, parser.content)
        path.write_bytes(content)
        counts["files"] += 1
        try:
            parser.read(path)
            counts["results"] += 1
        except PronmetricError as error:
            counts["errors"] += 1
            if "\n" in str(error):
                faults.append(f"an error of several lines: {error}")
        except Exception as error:
            faults.append(f"{type(error).__name__}: {error} for {content[:200]!r}")
    path.write_bytes(parser.content)
    return {**counts, "faults": faults, "cpu": round(time.process_time() - start, 1)}


class Elements(HTMLParser):
    """The start tags of a page with the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, ...]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a tag."""
        self.found.append((tag, *(name for name, _ in attrs)))


def elements(page: str) -> list[tuple[str, ...]]:
    """The elements of a page."""
    parser = Elements()
    parser.feed(page)
    return parser.found


def hostile(draw: random.Random) -> str:
    """A string of mark-up, control characters and letters."""
    pieces = [*MARKUP, *(piece.decode("utf-8", "ignore") for piece in PIECES), "\u202e", "\u2028", "😀", "she ", "It "]
    return "".join(draw.choice(pieces) for _ in range(draw.randrange(1, 6)))


def with_markup(draw: random.Random, good: Mapping[str, Any]) -> dict[str, Any]:
    """A result whose names, documents and texts are followed by damaged strings; the pronouns stay where they are."""
    value: dict[str, Any] = json.loads(json.dumps(good))
    names = {system["system"]: system["system"] + hostile(draw) for system in value["systems"]}
    for system in value["systems"]:
        system["system"] = names[system["system"]]
    common = {key: hostile(draw) for key in ("doc", "source", "reference", "context")}
    for segment in value["segments"]:
        segment["system"] = names[segment["system"]]
        segment["text"] += common["context"]
        segment |= {key: f"{segment[key]}{end}" for key, end in common.items() if segment[key] is not None}
    return value


def fuzz_report(place: Path, *, seconds: float, seed: int) -> dict[str, Any]:
    """Make reports of results with mark-up in names and texts; none may have an element that the good one has not."""
    from pronmetric.report.content import Content
    from pronmetric.report.page import page
    from pronmetric.results.read import read

    source = ROOT / "tests" / "fixtures" / "report" / "score.json"
    good = json.loads(source.read_text(encoding="utf-8"))

    def render(value: Mapping[str, Any], title: str) -> list[tuple[str, ...]]:
        place.write_text(json.dumps(value), encoding="utf-8")
        result = read(str(place))
        listed = range(len(result.segments))
        return elements(page(Content(result=result, links=None, listed=listed, differing=len(listed)), title=title))

    expected = set(render(good, "t")) | {("bdi", "title"), ("li",)}
    draw, counts, faults = random.Random(seed), Counter[str](), []
    start, until = time.process_time(), time.monotonic() + seconds
    while time.monotonic() < until or not counts:
        value, title = with_markup(draw, good), hostile(draw)
        counts["files"] += 1
        try:
            found = set(render(value, title))
            counts["results"] += 1
            if found - expected:
                faults.append(f"elements {sorted(found - expected)[:3]}")
        except PronmetricError:
            counts["errors"] += 1
        except Exception as error:
            faults.append(f"{type(error).__name__}: {error}")
    return {**counts, "faults": faults, "cpu": round(time.process_time() - start, 1)}


def measure(names: Sequence[str], *, minutes: float, seed: int, told: Callable[[Mapping[str, Any]], None]) -> list[Any]:
    """Fuzz the parsers one after the other."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        known = parsers(folder)
        for name in names:
            if name == "HTML report":
                found = fuzz_report(folder / "result.json", seconds=60 * minutes, seed=seed)
            else:
                found = fuzz(known[name], folder, seconds=60 * minutes, seed=seed)
            rows.append({"parser": name, "minutes": minutes, "seed": seed, **found})
            told(rows[-1])
    return rows


NAMES = ("XML", "SGM", "JSONL", "CoNLL", "CoNLL-U", "TSV", "safetensors", "HTML report")
