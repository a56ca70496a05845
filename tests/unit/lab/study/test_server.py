"""The server of a study: pages and answers behind secret links, limits, headers, the overview and the export."""

from __future__ import annotations

import importlib
import io
import re
import socket
import sys
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.exc import DBAPIError

from pronmetric.cli.main import main
from pronmetric.installation import pip_install
from pronmetric.lab.study import answers, folder, server
from pronmetric.lab.study.database import Database, Position, connect
from pronmetric.lab.study.findings import measure
from pronmetric.lab.study.folder import Design, Study
from pronmetric.lab.study.page import PageOptions, progress, running_ac1
from pronmetric.lab.study.sample import sample
from pronmetric.lab.study.simulation import simulate
from pronmetric.serve.requests import RateLimit
from tests.tools.made_up_study import made_up

_DESIGN = Design(items=8, annotators=3, repeated=0.25, strict=False)
STUDY = sample([item for item in made_up(4) if item.language == "de"], _DESIGN)
FREE = server.Limits(token=(1e9, 10**9), stranger=(1e9, 10**9), overview=0.0)


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Database]:
    made = connect(f"sqlite:///{tmp_path / 'answers.db'}", STUDY)
    yield made
    made.close()


@pytest.fixture
def client(data: Database) -> Iterator[TestClient]:
    with TestClient(server.make_app(data, limits=FREE), raise_server_exceptions=False) as made:
        yield made


def test_an_annotator_answers_and_undoes(client: TestClient, data: Database) -> None:
    link = f"/a/{data.tokens()['2']}"
    total = len(STUDY.assignments["2"])
    page = client.get(link)
    assert page.status_code == 200 and '"annotators":{"2":' in page.text and '"3":' not in page.text
    assert client.get(f"{link}/position").json() == {"done": 0, "total": total, "task": 0, "last": None}
    given = {"task": 0, "answer": "first", "seconds": 2.5}
    for _ in range(2):  # the second is a repeated request
        reply = client.post(f"{link}/answers", json=given)
        assert reply.status_code == 200 and reply.json() == {"done": 1, "total": total, "task": 1, "last": 0}
    reply = client.post(f"{link}/answers", json={**given, "answer": "second"})
    assert reply.status_code == 409 and reply.json()["task"] == 1
    assert client.post(f"{link}/undo", json={"task": 0}).json()["task"] == 0
    commented = {"task": 0, "answer": "both", "comment": " Which? \n"}
    assert client.post(f"{link}/answers", json=commented).json()["done"] == 1
    assert data.answers() == {"2": (answers.TaskAnswer(0, "both", None, "Which?"),)}


@pytest.mark.parametrize(
    "path", ["/", "/a/", "/a/x", "/a/x/position", "/o/x", "/o/x/answers.zip", "/docs", "/openapi.json"]
)
def test_without_a_token_there_is_nothing(client: TestClient, data: Database, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 404 and reply.json() == {"detail": "not found"}
    assert client.post("/a/x/answers", json={"task": 0, "answer": "first"}).status_code == 404
    for method in ("HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PROPFIND"):
        assert client.request(method, path).status_code == 404
    # the token of one side is none of the other
    assert client.get(f"/o/{data.tokens()['1']}").status_code == 404
    assert client.get(f"/a/{data.overview_token()}").status_code == 404
    assert data.answers() == {}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"task": 0, "answer": "first", "seconds": -1}', 422),
        (b'{"task": 99, "answer": "first"}', 422),
        (b'{"task": -1, "answer": "first"}', 422),
        (b'{"task": true, "answer": "first"}', 422),
        (b'{"task": 0, "answer": "neither"}', 422),  # not offered
        (b'{"task": 0, "answer": "A"}', 422),
        (b'{"task": 0, "answer": "first", "comment": "%s"}' % (b"x" * (server.COMMENT + 1)), 422),
        (b'{"task": 0, "answer": "first", "comment": "\\u0000"}', 422),
        (b'{"task": 0, "answer": "first", "comment": null}', 422),
        (b'{"task": 0, "answer": "first", "more": 1}', 422),
        (b'{"task": 0, "answer": "first", "seconds": NaN}', 422),
        (b'{"task": 0, "answer": "second", "answer": "first"}', 422),
        (b"[" * 1000, 422),
        (b"\xff", 422),
        (b"", 422),
        (b" " * (server.BODY + 1), 413),
    ],
)
def test_broken_and_large_bodies_are_refused(client: TestClient, data: Database, body: bytes, status: int) -> None:
    link = f"/a/{data.tokens()['1']}"
    client.get(f"{link}/position")
    headers = {"Content-Type": "application/json"}
    assert client.post(f"{link}/answers", content=body, headers=headers).status_code == status
    assert client.post(f"{link}/answers", content=b'{"task": 0, "answer": "first"}').status_code == 415
    assert data.answers() == {}


def test_every_response_is_locked_down(client: TestClient, data: Database) -> None:
    page, overview = client.get(f"/a/{data.tokens()['1']}"), client.get(f"/o/{data.overview_token()}")
    for reply in (page, overview, client.get("/a/x"), client.get(f"/a/{data.tokens()['1']}/position")):
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; base-uri 'none'; form-action 'none'")
        assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert reply.headers["referrer-policy"] == "no-referrer" and reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-content-type-options"] == "nosniff" and reply.headers["x-frame-options"] == "DENY"
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    assert "script-src" not in overview.headers["content-security-policy"] and "<script" not in overview.text
    for html in (page.text, overview.text):  # nothing from elsewhere
        assert not re.search(r"https?://|//[a-z]", html.replace("// ", ""))


def test_a_failure_has_the_headers_of_other_responses(data: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    app, position = server.make_app(data), f"/a/{data.tokens()['1']}/position"

    def broken(name: str) -> Position:
        raise RuntimeError("secret")

    with TestClient(app, raise_server_exceptions=False) as client:
        expected = client.get(position).headers
        monkeypatch.setattr(type(data), "position", lambda self, name: broken(name))
        reply = client.get(position)
    assert reply.status_code == 500 and "secret" not in reply.text
    assert all(reply.headers[key] == expected[key] for key in expected if key != "content-length")


def test_requests_are_limited(data: Database) -> None:
    limits = server.Limits(token=(0.001, 3), stranger=(0.001, 2))
    with TestClient(server.make_app(data, limits=limits)) as client:
        mine, other = (f"/a/{data.tokens()[name]}/position" for name in "12")
        assert [client.get(mine).status_code for _ in range(4)] == [200, 200, 200, 429]
        assert client.get(other).status_code == 200
        assert [client.get("/a/guess").status_code for _ in range(3)] == [404, 404, 429]
        assert client.get(other).status_code == 200  # strangers do not slow annotators down
        assert client.get("/elsewhere").status_code in (404, 429)


def test_every_method_of_a_stranger_counts(data: Database) -> None:
    limits = server.Limits(stranger=(0.001, 2))
    with TestClient(server.make_app(data, limits=limits)) as client:
        replies = [client.request(method, "/a/guess") for method in ("HEAD", "OPTIONS", "TRACE")]
        assert [reply.status_code for reply in replies] == [404, 404, 429]
        assert {reply.headers["connection"] for reply in replies} == {"close"}


def test_the_overview_is_computed_once_a_second_at_most(data: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, calls = [0.0], []
    monkeypatch.setattr(server.time, "monotonic", lambda: clock[0])
    kept = server._Kept(lambda: calls.append(1) or len(calls), 1.0)  # type: ignore[func-returns-value]
    assert [kept.get(), kept.get()] == [1, 1]
    clock[0] = 1.0
    assert kept.get() == 2


def test_the_limit_of_a_sender() -> None:
    clock = [0.0]
    limit = RateLimit(2.0, 2, now=lambda: clock[0])
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]
    clock[0] = 0.5  # one more
    assert [limit.allows("a") for _ in range(2)] == [True, False] and limit.allows("b")
    for number in range(10_001):
        limit.allows(str(number))
    assert limit.allows("a")  # forgotten, so that memory is limited


def test_a_database_that_does_not_answer_stores_nothing_and_says_so(
    client: TestClient, data: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Any:
        raise DBAPIError("UPDATE", {}, Exception("gone"))

    monkeypatch.setattr(data, "answer", fail)
    with TestClient(server.make_app(data, limits=FREE), raise_server_exceptions=False) as client:
        reply = client.post(f"/a/{data.tokens()['1']}/answers", json={"task": 0, "answer": "first"})
    assert reply.status_code == 503 and reply.json() == {"detail": "the database does not answer"}


def test_a_transaction_that_waits_too_long_for_its_turn_is_given_up(
    data: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, done = threading.Event(), threading.Event()

    def wait(*_: object) -> Position:
        begun.set()
        assert done.wait(300)
        return Position(1, None, None, None)

    monkeypatch.setattr(data, "answer", wait)
    monkeypatch.setattr(server, "TURN", 0.05)
    first, second = (f"/a/{data.tokens()[name]}/answers" for name in "12")
    given = {"task": 0, "answer": "first"}
    with TestClient(server.make_app(data, limits=FREE)) as client, ThreadPoolExecutor(1) as pool:
        running = pool.submit(client.post, first, json=given)
        assert begun.wait(300)
        reply = client.post(second, json=given)
        assert reply.status_code == 503 and reply.headers["retry-after"] == "5"
        done.set()
        assert running.result().status_code == 200  # a transaction that has begun ends


def fill(data: Database) -> dict[str, tuple[answers.TaskAnswer, ...]]:
    """All answers of simulated annotators, through the database."""
    found = simulate(data.study, [0.1, 0.1, 0.1])
    for name, given in found.items():
        data.position(name)
        for one in given:
            data.answer(name, one.task, one.answer, one.seconds)
    return found


def test_the_overview_has_the_figures_of_the_report(client: TestClient, data: Database) -> None:
    assert "no item has two answers" in client.get(f"/o/{data.overview_token()}").text
    given = fill(data)
    total = sum(map(len, STUDY.assignments.values()))
    expected = measure(STUDY, given, draws=2).overall.ac1
    assert expected is not None and running_ac1(STUDY, given) == expected
    shown = progress(STUDY, given, overlap=None)
    assert shown["answers"] == str(total) and shown["items with all answers"] == "8 of 8"
    assert shown["Gwet's AC1 so far"].startswith(f"{expected.ac1:.3f} [")
    html = client.get(f"/o/{data.overview_token()}").text
    assert f"<td>{expected.ac1:.3f} [" in html
    assert re.search(r'<tr><th scope="row">3</th><td>10</td><td>10</td><td>20\d\d-', html)


def test_the_archive_is_read_by_the_report(client: TestClient, data: Database, tmp_path: Path) -> None:
    given = fill(data)
    link = re.search(r'href="([^"]+/answers.zip)"', client.get(f"/o/{data.overview_token()}").text)
    assert link is not None
    with zipfile.ZipFile(io.BytesIO(client.get(f"/o/{link[1]}").content)) as archive:
        archive.extractall(tmp_path / "answers")
    assert answers.read(STUDY, sorted((tmp_path / "answers").iterdir())) == given


def test_answers_are_imported_from_the_database(
    data: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.write(STUDY, tmp_path / "study", data="x")
    command = ["study", "import", str(tmp_path / "study"), data.address, "--from", "serve", "-o", str(tmp_path / "out")]
    assert main(command) == 1 and "no task is answered" in capsys.readouterr().err
    given = fill(data)
    assert main(command) == 0 and "30 answers of 3 annotators" in capsys.readouterr().out
    assert answers.read(STUDY, sorted((tmp_path / "out").iterdir())) == given
    assert main([*command[:4], data.address, *command[4:-1], str(tmp_path / "other")]) == 1
    assert "expected the address of one database, got 2" in capsys.readouterr().err


@pytest.fixture
def place(tmp_path: Path) -> str:
    folder.write(STUDY, tmp_path / "study", data="x")
    return str(tmp_path / "study")


def test_a_port_in_use_is_named_in_one_line(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["study", "serve", place, "--port", port]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"cannot listen on 127.0.0.1, port {port}: Address already in use; give another --port or --host" in error


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--db", "mysql://x/y"], "--db: cannot use mysql"),
        (["--host", "256.0.0.1"], "cannot listen on 256.0.0.1, port 8000"),
        (["--url", "study.example.org"], "--url study.example.org: expected an address"),
        (["--overlap", "4"], "--overlap 4: a group of the study has 3 annotators"),
    ],
)
def test_wrong_settings_give_one_line(
    place: str, flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "serve", place, *flags]) == 1
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_a_port_is_a_port(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["study", "serve", place, "--port", "65536"])
    assert "expected a port from 0 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("library", "room", "module", "who", "extra"),
    [
        ("fastapi", "lab.study", "server", "pronmetric study serve", "study"),
        ("sqlalchemy", "lab.study", "database", "pronmetric study serve", "study"),
        ("uvicorn", "serve", "connections", "a server", "serve"),
    ],
)
def test_a_missing_library_names_the_extra(
    place: str,
    library: str,
    room: str,
    module: str,
    who: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"pronmetric.{room}.{module}", raising=False)
    monkeypatch.delattr(importlib.import_module(f"pronmetric.{room}"), module, raising=False)
    assert main(["study", "serve", place]) == 1
    said = f"{who} needs {library}, which is not installed: {pip_install(extra, library)}"
    assert said in capsys.readouterr().err


def test_titles_are_text(data: Database) -> None:
    with TestClient(server.make_app(data, PageOptions("<b>x</b>", "</title>"), limits=FREE)) as client:
        for path in (f"/a/{data.tokens()['1']}", f"/o/{data.overview_token()}"):
            html = client.get(path).text
            assert "<b>" not in html and "&lt;b&gt;x&lt;/b&gt;" in html


def test_a_study_of_groups_is_complete_when_its_groups_are() -> None:
    design = replace(_DESIGN, annotators=3, groups=2, repeated=0.0)
    study: Study = sample([item for item in made_up(4) if item.language == "de"], design)
    given = simulate(study, [0.0, 0.0, 0.0])
    del given["2"]  # alone in the second group
    assert progress(study, given, overlap=None)["items with all answers"] == "4 of 8"
    assert progress(study, given, overlap=1)["items with all answers"] == "4 of 8"
