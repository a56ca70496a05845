"""`study serve` against connections that send nothing, databases that change under it, and requests that break off.

Few sockets, and nothing that must happen within a time: a test waits until the server acts.
"""

from __future__ import annotations

import http.client
import json
import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from pronmetric.lab.study import database, folder, page, server
from pronmetric.lab.study.database import Database, connect
from pronmetric.lab.study.folder import Design
from pronmetric.lab.study.sample import sample
from pronmetric.serve import connections
from pronmetric.serve.connections import Seconds
from tests.tools import postgresql
from tests.tools.browser import until
from tests.tools.made_up_study import made_up

_DESIGN = Design(items=8, annotators=3, repeated=0.25, strict=False)
STUDY = sample([item for item in made_up(4) if item.language == "de"], _DESIGN)
FREE = server.Limits(token=(1e9, 10**9), stranger=(1e9, 10**9), overview=0.0)
PATIENCE = 300  # seconds until a reply is taken to hang, on a busy machine too
SLOW = Seconds(PATIENCE, PATIENCE, PATIENCE)
_NUMBERS = count()
Serve = Callable[..., tuple[Database, int]]


@pytest.fixture(autouse=True)
def every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log leaves nothing out that another test has logged."""
    monkeypatch.setattr(connections._seldom, "_last", {})


@contextmanager
def running(data: Database, seconds: Seconds) -> Iterator[int]:
    """The server in this process; its port."""
    opened = connections.listen("127.0.0.1", 0)
    made = connections.server(server.make_app(data, limits=FREE), seconds=seconds)
    thread = threading.Thread(target=made.run, kwargs={"sockets": [opened]})
    thread.start()
    try:
        yield opened.getsockname()[1]
    finally:
        made.should_exit = True
        thread.join()
        opened.close()
        data.close()


@pytest.fixture
def serve(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Serve]:
    """Starts a server; gives its database and port. `caplog` has its log."""
    log = logging.getLogger("uvicorn.error")
    with ExitStack() as stack:

        def start(address: str | None = None, seconds: Seconds = SLOW) -> tuple[Database, int]:
            data = connect(address or f"sqlite:///{tmp_path / 'answers.db'}", STUDY)
            port = stack.enter_context(running(data, seconds))
            log.addHandler(caplog.handler)  # uvicorn passes nothing on to the root
            return data, port

        yield start
    log.removeHandler(caplog.handler)


def ask(port: int, method: str, path: str, body: object = None) -> tuple[int, str]:
    """Status and content of the reply to one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        connection.request(method, path, text, {"Content-Type": "application/json"})
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def open_one(port: int, sent: bytes) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    made.sendall(sent)
    return made


def test_connections_that_send_nothing_lock_nobody_out(tmp_path: Path) -> None:
    place = tmp_path / "study"
    folder.write(STUDY, place, data="x")
    command = [sys.executable, "-m", "pronmetric", "study", "serve", str(place), "--port", "0", "--quiet"]
    shell = ["sh", "-c", 'ulimit -n 340 && exec "$@"', "sh", *command]  # room for 20 connections
    with (tmp_path / "log").open("w+") as log:
        process = subprocess.Popen(shell, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert process.stdout is not None
            links = dict(process.stdout.readline().strip().split("\t") for _ in range(4))
            port, path = links["annotator 1"].removeprefix("http://127.0.0.1:").split("/", 1)
            with ExitStack() as idle:
                for number in range(60):
                    sent = b"GET /" if number % 2 else b""
                    idle.enter_context(open_one(int(port), sent))
                assert ask(int(port), "GET", f"/{path}/position")[0] == 200
                assert ask(int(port), "POST", f"/{path}/answers", {"task": 0, "answer": "first"})[0] == 200
        finally:
            process.kill()
            process.communicate()
        log.seek(0)
        assert log.read() == ""


@pytest.mark.parametrize("sent", [b"", b"GET /", b"GET / HTTP/1.1\r\nHost: x\r\n", b"begun"])
def test_a_request_must_arrive_in_time(serve: Serve, sent: bytes) -> None:
    data, port = serve(seconds=replace(SLOW, request=0.2))
    if sent == b"begun":  # a body that is announced and never sent
        head = f"POST /a/{data.tokens()['1']}/answers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        sent = f"{head}Content-Length: 40\r\n\r\n{{".encode()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as one, suppress(ConnectionError):
        one.sendall(sent)
        assert one.recv(1) == b""  # closed by the server
    assert data.answers() == {}


def test_a_connection_serves_requests_one_after_the_other_and_is_closed_when_idle(serve: Serve) -> None:
    data, port = serve(seconds=replace(SLOW, idle=0.2))
    request = f"GET /a/{data.tokens()['1']}/position HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    with open_one(port, request * 3) as one:
        received = b""
        while part := one.recv(4096):
            received += part
    assert received.count(b"HTTP/1.1 200") == 3


def test_a_request_that_breaks_off_is_one_line_of_the_log(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    data, port = serve()
    head = f"POST /a/{data.tokens()['1']}/answers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    open_one(port, f"{head}Content-Length: 40\r\n\r\n{{".encode()).close()
    until(lambda: caplog.records)
    assert ask(port, "GET", f"/a/{data.tokens()['1']}/position")[0] == 200
    (line,) = caplog.records
    assert "a request was cut off; nothing of it is stored" in line.getMessage() and line.exc_info is None


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_removed_or_replaced_acknowledges_nothing(
    serve: Serve, tmp_path: Path, replaced: bool, caplog: pytest.LogCaptureFixture
) -> None:
    data, port = serve()
    mine = f"/a/{data.tokens()['1']}"
    assert ask(port, "GET", f"{mine}/position")[0] == 200
    assert ask(port, "POST", f"{mine}/answers", {"task": 0, "answer": "first"})[0] == 200
    content = (tmp_path / "answers.db").read_bytes()
    kept = tmp_path / "kept"
    kept.mkdir()
    for path in list(tmp_path.glob("answers.db*")):
        path.rename(kept / path.name)
    if replaced:
        (tmp_path / "answers.db").write_bytes(content)
    status, text = ask(port, "POST", f"{mine}/answers", {"task": 1, "answer": "first"})
    assert status == 503 and "the database does not answer" in text
    assert ask(port, "GET", f"{mine}/position")[0] == 503
    (line,) = caplog.records  # the second one is equal
    assert "was removed or replaced" in line.getMessage() and line.exc_info is None
    (tmp_path / "answers.db").unlink(missing_ok=True)
    for path in list(kept.iterdir()):
        path.rename(tmp_path / path.name)  # put back
    assert ask(port, "POST", f"{mine}/answers", {"task": 1, "answer": "first"})[0] == 200


@pytest.fixture
def postgres_address(postgres: str) -> str:
    return postgresql.new_database(postgres, f"connections{next(_NUMBERS)}")


def test_postgresql_that_is_read_only_or_lacks_a_table_is_unavailable(serve: Serve, postgres_address: str) -> None:
    import psycopg

    data, port = serve(postgres_address)
    mine = f"/a/{data.tokens()['1']}"
    assert ask(port, "GET", f"{mine}/position")[0] == 200
    with psycopg.connect(postgres_address, autocommit=True) as own:
        name = own.info.dbname
        own.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())
        data.engine.dispose()  # new connections have the setting
        assert ask(port, "POST", f"{mine}/answers", {"task": 0, "answer": "first"})[0] == 503
        own.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only'.encode())
        data.engine.dispose()
        assert ask(port, "POST", f"{mine}/answers", {"task": 0, "answer": "first"})[0] == 200
        own.execute(b"ALTER TABLE study_task RENAME TO other")
        assert ask(port, "POST", f"{mine}/answers", {"task": 1, "answer": "first"})[0] == 503
        own.execute(b"ALTER TABLE other RENAME TO study_task")
        assert ask(port, "POST", f"{mine}/answers", {"task": 1, "answer": "first"})[0] == 200


def test_a_lock_of_another_session_is_waited_for_with_a_limit(
    serve: Serve, postgres_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.setattr(database, "_LOCK", 1)
    data, port = serve(postgres_address)
    mine = f"/a/{data.tokens()['1']}"
    with psycopg.connect(postgres_address) as own:
        own.execute(b"LOCK TABLE study_annotator")
        assert ask(port, "GET", f"{mine}/position")[0] == 503
    assert ask(port, "GET", f"{mine}/position")[0] == 200


def test_the_overview_holds_up_no_answer(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, made = threading.Event(), threading.Event(), page.progress

    def slow(*arguments: object, **settings: object) -> object:
        begun.set()
        assert go_on.wait(PATIENCE)
        return made(*arguments, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(page, "progress", slow)
    data, port = serve()
    token = data.overview_token()
    found: list[int] = []
    organizer = threading.Thread(target=lambda: found.append(ask(port, "GET", f"/o/{token}")[0]))
    organizer.start()
    try:
        assert begun.wait(PATIENCE)
        mine = f"/a/{data.tokens()['1']}"
        assert ask(port, "GET", f"{mine}/position")[0] == 200
        assert ask(port, "POST", f"{mine}/answers", {"task": 0, "answer": "first"})[0] == 200
        assert found == []
    finally:
        go_on.set()
        organizer.join()
    assert found == [200]
