"""Sources that do not affect scores, as the model reads none, are told by every verb and in Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from pronmetric.cli.main import main
from pronmetric.errors import PronmetricError
from pronmetric.metric import PronounMetric
from pronmetric.serve.app import make_app
from pronmetric.serve.service import Service
from tests.tools.row_files import jsonl
from tests.tools.serial_bulk import serial

__all__ = ["serial"]

SAID = "texts have a source, which does not affect scores: the model reads no sources"
TEXT = {"text": "He sleeps.", "context": ["Tom came."]}
PAIR = {"id": "p", "text_a": "He sleeps.", "text_b": "She sleeps.", "better": "A"}
PRONOUN = {"id": "q", "text": "He sleeps.", "start": 0, "end": 2, "label": "right"}
GIVEN = [{"source": "Er schl\u00e4ft."}, {"source_context": ["Tom kam."]}]


@pytest.fixture
def metric(tiny_checkpoint: Callable[..., Path]) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0)


@pytest.fixture
def told(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """What a verb tells on stderr about sources of the records that it reads."""

    def call(*argv: object, of: dict[str, object]) -> list[str]:
        records = [of, {**of, "id": "r", "label": "wrong"}] if "label" in of else [of]
        jsonl(tmp_path / "r.jsonl", records)
        places = {"FILE": str(tmp_path / "r.jsonl"), "OUT": str(tmp_path / f"out{len(list(tmp_path.iterdir()))}")}
        flags = [places.get(str(one), str(one)) for one in argv]
        assert main([*flags, "--model", str(tiny_checkpoint())]) == 0
        return [line for line in capsys.readouterr().err.splitlines() if "source" in line]

    return call


VERBS = {
    "score": ("score", "--jsonl", "FILE"),
    "suggest": ("suggest", "--jsonl", "FILE"),
    "bulk": ("bulk", "score", "FILE", "-o", "OUT"),
}


@pytest.mark.usefixtures("serial")
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("given", GIVEN)
def test_verbs_that_read_records(told: Callable[..., list[str]], verb: str, given: dict[str, object]) -> None:
    (line,) = told(*VERBS[verb], of={**TEXT, **given})
    assert line.endswith(SAID)
    assert told(*VERBS[verb], "--no-source", of={**TEXT, **given}) == []
    assert told(*VERBS[verb], of={**TEXT, "source": None, "source_context": []}) == []


@pytest.mark.parametrize("record", [PAIR, PRONOUN])
def test_evaluate(told: Callable[..., list[str]], record: dict[str, object]) -> None:
    (line,) = told("evaluate", "FILE", of={**record, **GIVEN[0]})
    assert line.endswith(SAID)
    assert told("evaluate", "FILE", of=record) == []


@pytest.mark.parametrize("given", GIVEN)
def test_records_in_python(metric: PronounMetric, given: dict[str, object]) -> None:
    with pytest.warns(UserWarning, match=SAID):
        found = metric.predict([{**TEXT, **given}])
    with pytest.warns(UserWarning, match=SAID):
        metric.compare([{**TEXT, **given}], [TEXT])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metric.predict([TEXT]).segments == found.segments


def test_files_in_python(metric: PronounMetric, tiny_checkpoint: Callable[..., Path], tmp_path: Path) -> None:
    for name, line in (("s", "Er schl\u00e4ft."), ("a", "He sleeps."), ("b", "She sleeps.")):
        (tmp_path / name).write_text(f"{line}\n", encoding="utf-8")
    source, a, b = (tmp_path / name for name in "sab")
    with pytest.warns(UserWarning, match=f"`source={source}`: {SAID}"):
        metric.score_files(a, source=source)
    with pytest.warns(UserWarning, match=f"`source={source}`: {SAID}"):
        metric.compare_files(a, b, source=source)
    ignoring = PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0, no_source=True)
    counting = PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0, source_lang="de")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ignoring.score_files(a, source=source)
        counting.score_files(a, source=source)


def test_a_language_without_a_source_is_refused(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text("He sleeps.\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="2"):
        main(["score", "-t", str(tmp_path / "a"), "--source-lang", "de", "--model", str(tiny_checkpoint())])
    assert "--source-lang needs the source: give -s" in capsys.readouterr().err
    with pytest.raises(PronmetricError, match="needs the source"):
        PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0, source_lang="de").score_files(tmp_path / "a")


def test_the_page_and_its_interface(metric: PronounMetric) -> None:
    with TestClient(make_app(Service(metric, context="given"))) as client:

        def notes(record: dict[str, object]) -> list[str]:
            answered = client.post("/score", json={"records": [record]})
            assert answered.status_code == 200
            return list(answered.json()["notes"])

        assert [notes({**TEXT, **given}) for given in GIVEN] == [[SAID]] * 2
        assert notes(TEXT) == []


def test_an_unknown_file_in_python_is_named(metric: PronounMetric, tmp_path: Path) -> None:
    for call in (metric.score_files, metric.compare_files):
        with pytest.raises(
            TypeError, match=r"unexpected argument 'refrence'; the files of a translation are reference, s"
        ):
            call(tmp_path / "a", refrence=tmp_path / "r")  # type: ignore[call-arg]
