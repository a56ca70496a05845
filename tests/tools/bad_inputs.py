"""Bad inputs to all verbs: each input file of a call in turn is made bad, and each verb gets wrong flags.

A bad input is refused with exit code 1, wrong flags with 2: one line of error, no traceback, no file left.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import random
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.cli.main import VERBS
from pronmetric.cli.main import main as pronmetric

TEXT = b"She left.\nIt ran.\n"
_CUT = gzip.compress(TEXT * 20, mtime=0)[:-9]
_MODEL = "--model model"
APT = """[lang]
source = en
target = fr
[files]
source = a
reference = b
target = c
alignment_source_reference = d
alignment_source_target = e
list_source_pronouns = f
input_type = word
[cases]
cases_to_use = 1,2
weigths_per_case = 1,1
[output]
"""


class Call(NamedTuple):
    """A call, and the files that it reads."""

    line: str
    reads: str


CALLS: Mapping[str, Sequence[Call]] = {
    "score": [
        Call("-t a -r b --docids c --to_json new", "a b c"),
        Call("--jsonl a --to_tsv new", "a"),
        Call(f"-t a {_MODEL} --to_json new", "model/config.yaml model/model.safetensors"),
    ],
    "compare": [Call("-t a b -s c --to_tsv new", "a b c")],
    "check": [Call("-t a -r b --docids c --min-score 1 --junit new", "a b c")],
    "suggest": [Call("-t a", "a"), Call("--jsonl a", "a")],
    "serve": [Call("--port 0 --model model", "model/config.yaml")],
    "report": [Call("a --format html -o new", "a")],
    "attention": [Call(f"She. {_MODEL}", "model/config.yaml")],
    "rerank": [
        Call("--candidates a b --scores c d --weight 1 -o new", "a b c d"),
        Call("--nbest a --mbr -o new", "a"),
    ],
    "prepare": [
        Call("data.wmt=wmt out=new", "wmt/t.de-en.xml"),
        Call("data.wmt=sgm out=new", "sgm/t-deen-ref.en.sgm"),
        Call("data.wmt=json out=new", "json/t.de-en.jsonl"),
    ],
    "train": [
        Call("data.dir=data out=new", "data/manifest.json"),
        Call("data.dir=data init=model out=new", "model/config.yaml"),
    ],
    "pretrain": [Call("data.english=english out=new", "english/a.txt")],
    "checkpoint": [
        Call("average model model --data data -o new", "model/config.yaml"),
        Call("export --onnx model -o new", "model/config.yaml model/model.safetensors"),
    ],
    "align": [
        Call("a b --backend precomputed --links c", "a b c"),
        Call("a b --table c", "c"),
    ],
    "evaluate": [Call("a --scores b --to_json new", "a b"), Call("a --against b --to_json new", "a b")],
    "agree": [Call("a --scores b --to_json new", "a b"), Call("--ratings a --to_json new", "a")],
    "correlate": [Call("a b --to_json new", "a b")],
    "mqm": [Call("a --pairs new", "a")],
    "baseline": [
        Call("apt apt.ini --to_json new", "apt.ini a b c d e f"),
        Call(
            "autoprf --reference ref --candidate sys --documents docs --to_json new",
            "ref.en sys.fr ref.en-fr.alig docs",
        ),
        Call("counts --source-lang xx --parallel a b -o new", "a b"),
    ],
    "clpp": [Call("score --pair en-de a b --to_json new", "a b"), Call("predict model a -o new", "model/config.yaml")],
    "nmt": [Call("translate model a -o new", "a model/config.yaml")],
    "suite": [
        Call("score contrapro --set a --scores b --to_json new", "a b"),
        Call("score discevalmt --set a --scores b --to_json new", "a"),
        Call("score ALL --set a --to_json new", "a"),
        Call("score aces --set a --scores b --to_json new", "a b"),
        Call("score winomt --set a --scores b --to_json new", "a"),
        Call("score protest --set a --scores b --to_json new", "a"),
        Call("score dip --set a --scores b --to_json new", "a"),
        Call("score winobias --set a --scores b --to_json new", "a"),
        Call("score tsv --set a --scores b --to_json new", "a"),
        Call("compare a b --to_json new", "a b"),
    ],
    "study": [
        Call("page data -o new", "data/study.json"),
        Call("report data a --to_json new", "data/study.json"),
    ],
    "board": [Call("build --wmt wmt -o new", "wmt/t.de-en.xml")],
    "bulk": [
        Call("score in.jsonl -o new", "in.jsonl"),
        Call("score in.parquet -o new", "in.parquet"),
    ],
}
KINDS: Mapping[str, bytes | None] = {
    "missing": None,
    "a folder": None,
    "a link to itself": None,
    "empty": b"",
    "not UTF-8": TEXT + b"\xff\xfe \xc3\x28\n",
    "a NUL": TEXT + b"She\0left.\n",
    "random bytes": random.Random(18).randbytes(500),
    "cut gzip": _CUT,
}
FLAGS = ("--nonsense", "--to_json", "--seed -1", "--batch_size 0")


class Case(NamedTuple):
    """A verb, its command line, the input that is bad (None: the flags are), and how."""

    verb: str
    line: str
    name: str | None
    kind: str


def cases() -> Iterator[Case]:
    """All cases."""
    for verb, calls in CALLS.items():
        for call in calls:
            for name in call.reads.split():
                for kind in KINDS:
                    yield Case(verb, call.line, name, kind)
        for flags in FLAGS:
            yield Case(verb, flags, None, "flags")
    yield Case("nonsense", "", None, "flags")


def make(folder: Path) -> None:
    """All files that the calls read, with two lines of text; their names end as the verbs expect it."""
    names = {name for calls in CALLS.values() for call in calls for name in call.reads.split()}
    names |= {f"{stem}.{end}" for stem in ("ref", "sys") for end in ("en", "fr", "en-fr.alig")}
    names |= {"model/config.yaml", "model/model.safetensors", "data/manifest.json"}
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(TEXT)
    (folder / "apt.ini").write_text(APT, encoding="utf-8")


def spoil(path: Path, kind: str) -> None:
    """Make a file bad."""
    path.unlink()
    if kind == "a folder":
        path.mkdir()
    elif kind == "a link to itself":
        path.symlink_to(path.name)
    elif (content := KINDS[kind]) is not None:
        path.write_bytes(content)


def tree(folder: Path) -> dict[str, bytes | None]:
    """All files of a folder, and their bytes."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def run(case: Case, folder: Path) -> dict[str, Any]:
    """Run a case in a new folder: exit code, lines of error, written files, an exception if there is one."""
    folder.mkdir()
    make(folder)
    if case.name is not None:
        spoil(folder / case.name, case.kind)
    before, told, raised = tree(folder), io.StringIO(), None
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
        try:
            code: Any = pronmetric([case.verb, *case.line.split()])
        except SystemExit as exit:
            code = exit.code
        except BaseException as error:
            code, raised = None, repr(error)
    lines = told.getvalue().splitlines()
    return {
        **case._asdict(),
        "exit": code,
        "lines": sum("error: " in line for line in lines),
        "said": lines[-1] if lines else "",
        "raised": raised,
        "written": tree(folder) != before,
    }


def is_refused(found: Mapping[str, Any]) -> bool:
    """Whether a case ended as it should."""
    expected = 2 if found["kind"] == "flags" else 1
    return (
        found["exit"] == expected and found["lines"] == 1 and not found["written"] and "Traceback" not in found["said"]
    )


def measure(folder: Path, chosen: Sequence[Case], told: Callable[[Mapping[str, Any]], None]) -> list[dict[str, Any]]:
    """Run cases; `told` is called with each that did not end as it should."""
    rows = []
    for number, case in enumerate(chosen):
        place = folder / str(number)
        rows.append(run(case, place))
        shutil.rmtree(place)
        if not is_refused(rows[-1]):
            told(rows[-1])
    return rows


def summary(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """By verb: cases, those with exit code 1 and 2, those that did not end as they should."""
    found = []
    for verb in dict.fromkeys(row["verb"] for row in rows):
        own = [row for row in rows if row["verb"] == verb]
        found.append(
            {
                "verb": verb,
                "cases": len(own),
                "exit 1": sum(row["exit"] == 1 for row in own),
                "exit 2": sum(row["exit"] == 2 for row in own),
                "other": [row for row in own if not is_refused(row)],
            }
        )
    return found


def every_verb() -> bool:
    """Whether all verbs have cases."""
    return set(CALLS) == set(VERBS)


def quiet() -> None:
    """No network, as a bad name of a model would ask for one."""
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1")
