"""What is too large is refused with file, line and cure, before it is in memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from data_prep import documents
from data_prep.coreference import conll
from data_prep.wmt import discovery, plain, sgm, xml
from pronmetric.checkpoint import glove
from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.baselines import apt_config
from pronmetric.lab.human import gap, judged_pairs, rating_table, wmt_scores
from pronmetric.metric import PronounMetric
from pronmetric.text import corpus, entry, records, strict_json
from pronmetric.text.lines import MAX_FILE, MAX_LINE, MAX_SEGMENT, decode_lines, iter_lines, limit, read_lines

READERS: dict[str, Callable[[str], object]] = {
    "lines": read_lines,
    "texts": lambda path: list(corpus.TextFile(path)),
    "jsonl": lambda path: list(entry.read(path)),
    "json": lambda path: strict_json.read(path, "expected a number"),
    "scores": wmt_scores.read_system_scores,
    "csv": rating_table.read,
    "gap": gap.read,
    "conll": lambda path: conll.read(Path(path), conll.GUM),
    "ini": apt_config.Config,
    "sgm": lambda path: sgm.parse(Path(path)),
    "xml": lambda path: xml.parse(Path(path)),
    "documents": lambda path: list(documents.read_file(Path(path), source="")),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_every_reader_has_the_limit_of_files(
    name: str, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MAX_FILE, "1000")
    path = tmp_path / "large"
    content = b"\n" * 2000
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(InputError, match=rf"large(:\d+)?: .*1,000.*raise the limit with {MAX_FILE}=BYTES"):
        READERS[name](str(path))


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"json", "xml"}))  # which know no lines
def test_every_reader_of_lines_has_the_limit_of_lines(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MAX_LINE, "1000")
    path = tmp_path / "long"
    path.write_bytes(b" " * 2000)
    with pytest.raises(InputError, match=rf"long:1: a line of more than 1,000 bytes.*{MAX_LINE}=BYTES"):
        READERS[name](str(path))


def test_vectors_are_read_at_any_size_but_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MAX_FILE, "10")
    path = tmp_path / "vectors"
    path.write_text("she 1 2\nhe 3 4\n")
    assert np.array_equal(glove.read(path, ["he"], width=2).vectors["he"], [3, 4])
    monkeypatch.setenv(MAX_LINE, "7")
    with pytest.raises(InputError, match="vectors:1: a line of more than 7 bytes"):
        glove.read(path, ["he"], width=2)


def test_a_line_at_its_limit_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MAX_LINE, "4")
    (tmp_path / "a").write_text("abc\nabcd")
    assert read_lines(tmp_path / "a") == ["abc", "abcd"]


def test_a_device_without_end_is_refused() -> None:
    with pytest.raises(InputError, match=r"/dev/zero:1: a line of more than 10,000,000 bytes"):
        list(iter_lines("/dev/zero"))
    with pytest.raises(InputError, match=r"/dev/zero:1: a line of more than 10,000,000 bytes"):
        corpus.TextFile("/dev/zero")


def test_a_stream_that_is_not_kept_has_no_end_to_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MAX_FILE, "3")
    assert list(decode_lines(io.BytesIO(b"a\nb\nc\n"), file="-", kept=False)) == ["a", "b", "c"]
    with pytest.raises(InputError, match=r"<stdin>:2: more than 3 bytes"):
        list(decode_lines(io.BytesIO(b"a\nb\nc\n"), file="-"))


def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"one\ntwo",))
    writer.start()
    assert read_lines(pipe) == ["one", "two"]
    writer.join()


@pytest.mark.parametrize("value", ["0", "-1", "x", "1e9", "\u0663"])
def test_a_limit_is_a_number_above_0(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MAX_LINE, value)
    with pytest.raises(PronmetricError, match=f"{MAX_LINE}={value}: expected a number of bytes above 0"):
        limit(MAX_LINE)


LENGTH = 4_000_000  # characters: moments in linear time, hours in quadratic time, whatever the machine and its load
PATIENCE = 900  # seconds until a reader is taken to hang
SLOW = {
    "a tag of blanks": "<" + " " * LENGTH,
    "an end of blanks": "<tstset><doc docid='1'><seg id='1'>x</" + " " * LENGTH,
    "a name without end": "<doc " + "a" * LENGTH + ">",
    "a name and blanks": "<doc a" + " " * LENGTH + ">",
    "open quotes": "<doc " + "a='" * (LENGTH // 3) + ">",
    "open tags": "<doc" * (LENGTH // 4),
}
READ = """
import sys
from pathlib import Path
from data_prep.wmt import sgm
from pronmetric.errors import InputError
for name in sys.argv[1:]:
    try:
        sgm.head_of(Path(name))
        sgm.parse(Path(name))
    except InputError:
        pass
print("done")
"""


@pytest.mark.parametrize("name", SLOW)
def test_sgm_is_read_in_linear_time(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.sgm").write_text(SLOW[name])
    line = [sys.executable, "-c", READ, str(tmp_path / "a.sgm")]
    done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("done\n", "")


@pytest.mark.parametrize("kind", ["lines", "records"])
def test_a_segment_has_a_limit_of_characters(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, text = tmp_path / "long", "é " * 60_000
    path.write_text(
        f"ok\n{text}\n" if kind == "lines" else f'{{"id": 0, "text": "ok"}}\n{{"id": 1, "text": "{text}"}}\n'
    )

    def read() -> int:
        return len(list(corpus.TextFile(str(path)) if kind == "lines" else records.read(str(path))[0]))

    message = f"long:2: a segment of 120,000 characters, more than 100,000: .* raise the limit with {MAX_SEGMENT}="
    with pytest.raises(InputError, match=message):
        read()
    monkeypatch.setenv(MAX_SEGMENT, "120000")
    assert read() == 2
    monkeypatch.setenv(MAX_SEGMENT, "0")
    with pytest.raises(PronmetricError, match="expected a number of characters above 0"):
        read()


LONG = "\u00e9 " * 60_000
TOO_LONG = f"a segment of 120,000 characters, more than 100,000: .* raise the limit with {MAX_SEGMENT}="


@pytest.mark.parametrize(
    "second",
    [
        {"id": "2", "text_a": "ok", "text_b": LONG},
        {"id": "2", "text_a": "ok", "text_b": "ok.", "context": [LONG]},
        {"id": "2", "reference": ["it", *LONG.split()], "noisy": ["ok"], "context": [], "position": 0},
    ],
    ids=["text", "context", "study"],
)
def test_pairs_have_that_limit(second: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "pairs"
    path.write_text("".join(json.dumps(o) + "\n" for o in ({"id": "1", "text_a": "It.", "text_b": "He."}, second)))
    with pytest.raises(InputError, match=r"a segment of 120,\d{3} characters, more than 100,000") as raised:
        judged_pairs.read(path)
    assert (raised.value.file, raised.value.line) == (path, 2)


def test_test_sets_have_that_limit(tmp_path: Path) -> None:
    for name, text in (("ref.txt", "ok\nok\n"), ("North.txt", f"ok\n{LONG}\n")):
        (tmp_path / name).write_text(text)
    (testset,) = plain.find(sorted(tmp_path.iterdir()))
    with pytest.raises(InputError, match=TOO_LONG) as raised:
        list(discovery.read(testset))
    assert (str(raised.value.file), raised.value.line) == (str(tmp_path / "North.txt"), 2)


def test_marked_up_test_sets_have_that_limit(tmp_path: Path, root: Path) -> None:
    given = sorted((root / "tests" / "fixtures" / "wmt").rglob("*.xml"))[0]
    text = given.read_text(encoding="utf-8")
    (tmp_path / given.name).write_text(re.sub(r"(<seg id=\"1\"[^>]*>)", lambda m: m[1] + LONG, text, count=1))
    (testset, *_) = xml.find(sorted(tmp_path.iterdir()))
    with pytest.raises(InputError, match=r"\.xml \(.*, segment 1\): a segment of 12\d,\d{3} characters"):
        list(discovery.read(testset))


def test_records_of_a_program_have_that_limit(tiny_checkpoint: Callable[..., Path]) -> None:
    metric = PronounMetric.from_pretrained(tiny_checkpoint())
    with pytest.raises(InputError, match=f"record:2: {TOO_LONG}"):
        metric.predict([{"text": "ok"}, {"text": LONG}])
