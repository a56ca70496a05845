"""Line-parallel files as a corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.text.corpus import read


@pytest.mark.parametrize(
    ("content", "segments", "noted"),
    [(b"She left.\rIt rained.\r", 1, True), (b"She left.\r\n", 1, False), (b"She\rleft.\nIt rained.\n", 2, False)],
)
def test_carriage_returns_alone_end_no_line(tmp_path: Path, content: bytes, segments: int, noted: bool) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    notes: list[str] = []
    assert read([str(path)], notes.append).segments == segments
    said = "a.txt: one segment, as lines end at \\n alone; its carriage returns (\\r) end none"
    assert [note.endswith(said) for note in notes] == [True] * noted
