"""`pronmetric serve` as a process, and what it says of wrong flags and missing libraries."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from pronmetric.cli.main import main
from pronmetric.installation import pip_install
from tests.tools.served import SECONDS, ask, connect, serving
from tests.tools.source_readers import save_scorer


def test_the_process_answers_and_stops_when_it_is_told_to(tiny_checkpoint: Callable[..., Path]) -> None:
    with serving("--model", tiny_checkpoint(), "--gpus", 0) as (process, address):
        connection = connect(address)
        assert ask(connection, "/health")["status"] == "ok"
        (found,) = ask(connection, "/score", {"records": [{"id": "x", "text": "She is late."}]})["records"]
        assert found["id"] == "x" and [p["text"] for p in found["pronouns"]] == ["She"]
        connection.close()
        process.send_signal(signal.SIGTERM)
        _, notes = process.communicate(timeout=SECONDS)
        assert process.returncode == 143 and f"listening on {address}" in notes


def test_without_a_language_the_first_is_served_and_told(unigram: PreTrainedTokenizerFast, tmp_path: Path) -> None:
    folder = save_scorer(tmp_path / "multi", unigram, {"cs": None, "de": None})
    with serving("--model", folder, "--gpus", 0) as (process, address):
        connection = connect(address)
        asked = {"records": [{"text": "On ji vid\u011bl."}]}
        assert "|language:cs|" in ask(connection, "/score", asked)["signature"]
        assert "|language:de|" in ask(connection, "/score", {**asked, "lang": "de"})["signature"]
        connection.close()
        process.send_signal(signal.SIGTERM)
        _, notes = process.communicate(timeout=SECONDS)
    assert "serves cs, de; without a choice texts are scored as cs: --lang changes that" in notes


def test_a_port_in_use_is_named_before_the_model_is_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pronmetric.cli.serve.ScoringRun", None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "--port", port]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and f"cannot listen on 127.0.0.1, port {port}" in error


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--port", "65536"], "expected a port from 0 to 65535"),
        (["--frame", "example.org"], "expected an origin such as https://example.org"),
        (["--frame", "https://example.org; script-src *"], "expected an origin"),
        (["--rate", "-1"], "expected a number from 0"),
        (["a.txt"], "the server takes its texts from requests"),
    ],
)
def test_wrong_flags_are_named(flags: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["serve", *flags])
    assert stop.value.code == 2 and said in capsys.readouterr().err


@pytest.mark.parametrize(("library", "module"), [("fastapi", "serve.app"), ("uvicorn", "serve.connections")])
def test_a_missing_library_names_the_extra(
    library: str, module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"pronmetric.{module}", raising=False)
    room, _, name = module.partition(".")
    monkeypatch.delattr(f"pronmetric.{room}.{name}", raising=False)
    assert main(["serve"]) == 1
    assert f"needs {library}, which is not installed: {pip_install('serve', library)}" in capsys.readouterr().err
