"""`study serve` as a process: killed in the middle and started again, and its page in a real browser."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from pronmetric.cli.main import main
from pronmetric.lab.study import answers, folder, server
from pronmetric.lab.study.answers import TaskAnswer
from pronmetric.lab.study.database import Database, connect
from pronmetric.lab.study.folder import Design, Study
from pronmetric.lab.study.page import PageOptions
from pronmetric.lab.study.sample import sample
from pronmetric.serve import connections
from pronmetric.serve.connections import Seconds
from tests.tools.browser import Browser, until
from tests.tools.made_up_study import made_up

_DESIGN = Design(items=40, annotators=4, repeated=0.1, both=True, strict=False)
STUDY = sample([item for item in made_up(8) if item.language == "de"], _DESIGN)
_SECONDS = 300  # on a busy machine too
_TRIES = 600  # ten a second, to reach a server that was killed a moment ago, or is busy


class Served(NamedTuple):
    """A server's process and its links by what they are for."""

    process: subprocess.Popen[str]
    links: Mapping[str, str]


@contextmanager
def served(study: Path, address: str) -> Iterator[Served]:
    """`study serve` in a process of its own, on a free port; it is killed at the end."""
    command = [sys.executable, "-m", "pronmetric", "study", "serve", str(study), "--db", address, "--port", "0"]
    process = subprocess.Popen([*command, "--quiet"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline().split("\t") for _ in range(len(STUDY.assignments) + 1)]
        yield Served(process, {name.removeprefix("annotator "): link.strip() for name, link in lines})
    finally:
        process.kill()
        process.communicate()


def ask(link: str, name: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """One request; an error of the connection or the server is an OSError."""
    at = urlsplit(link)
    connection = http.client.HTTPConnection(str(at.hostname), at.port, timeout=_SECONDS)
    try:
        text = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json"}
        connection.request("GET" if body is None else "POST", f"{at.path}/{name}", text, headers)
        reply = connection.getresponse()
        found = json.loads(reply.read())
    except http.client.HTTPException as error:
        raise OSError(str(error)) from None
    finally:
        connection.close()
    if reply.status != 200:
        raise OSError(f"status {reply.status}")
    return found


def annotate(link: str, acknowledged: list[tuple[int, str]], process: subprocess.Popen[str]) -> None:
    """Answer one task after the other until the server is gone; each answer that it confirmed is noted.

    A request that the server gives up, as it may on a busy machine, is made again.
    """
    for _ in range(_TRIES):
        try:
            task = ask(link, "position")["task"]
            while task is not None:
                chosen = ("first", "second", "both")[task % 3]
                after = ask(link, "answers", {"task": task, "answer": chosen, "seconds": 0.5})["task"]
                acknowledged.append((task, chosen))
                task = after
            return
        except OSError:
            if process.poll() is not None:
                return
            time.sleep(0.1)
    raise AssertionError(f"the server runs and failed {_TRIES} times")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("study") / "study"
    folder.write(STUDY, made, data="x")
    return made


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_no_acknowledged_answer_is_lost_when_the_server_is_killed(
    place: Path, tmp_path: Path, kind: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"sqlite:///{tmp_path / 'answers.db'}"
    if kind == "postgresql":
        address = request.getfixturevalue("postgres")
    noted: dict[str, list[tuple[int, str]]] = {name: [] for name in STUDY.assignments}
    known: Mapping[str, str] = {}
    kills = sorted(random.Random(55).sample(range(1, 150), 10)) if kind == "sqlite" else (30, 80)
    for goal in (*kills, None):  # killed after so many answers, then finished
        with served(place, address) as at:
            tokens = {name: link.rpartition("/")[2] for name, link in at.links.items()}
            assert not known or tokens == known
            known = tokens
            threads = [
                threading.Thread(target=annotate, args=(at.links[name], noted[name], at.process)) for name in noted
            ]
            for thread in threads:
                thread.start()
            end = time.monotonic() + _SECONDS
            while goal is not None and sum(map(len, noted.values())) < goal and time.monotonic() < end:
                time.sleep(0.001)
            if goal is not None:
                os.kill(at.process.pid, signal.SIGKILL)
            for thread in threads:
                thread.join()
    assert main(["study", "import", str(place), address, "--from", "serve", "-o", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    found = answers.read(STUDY, sorted((tmp_path / "out").iterdir()))
    for name, own in noted.items():
        assert {(one.task, one.answer) for one in found[name]} >= set(own)
        assert [one.task for one in found[name]] == list(range(len(STUDY.assignments[name])))


def test_the_server_stops_when_it_is_told_to(place: Path, tmp_path: Path) -> None:
    with served(place, f"sqlite:///{tmp_path / 'a.db'}") as at:
        ask(at.links["1"], "position")
        at.process.send_signal(signal.SIGTERM)
        assert at.process.wait(timeout=_SECONDS) == 143


COUNT = "document.getElementById('count').textContent"
WARNING = "document.getElementById('warning').textContent"
HIDDEN = "[...document.querySelectorAll('main > section')].filter((e) => !e.hidden).map((e) => e.id)"


@contextmanager
def in_thread(study: Study, address: str, *, overlap: int | None = None) -> Iterator[tuple[Database, str]]:
    """The server in this process: its database and its address."""
    data = connect(address, study, overlap=overlap)
    opened = connections.listen("127.0.0.1", 0)
    running = connections.server(
        server.make_app(data, PageOptions("A study")), seconds=Seconds(_SECONDS, _SECONDS, _SECONDS)
    )
    thread = threading.Thread(target=running.run, kwargs={"sockets": [opened]})
    thread.start()
    try:
        yield data, connections.address(opened)
    finally:
        running.should_exit = True
        thread.join()
        opened.close()
        data.close()


@pytest.mark.browser
def test_an_annotator_answers_in_the_browser(tmp_path: Path, browser: Browser) -> None:
    total = len(STUDY.assignments["3"])
    with in_thread(STUDY, f"sqlite:///{tmp_path / 'a.db'}") as (data, base):
        link = f"{base}/a/{data.tokens()['3']}"

        def shows(text: str) -> None:
            until(lambda: browser.run(COUNT) == text)

        def answer(key: str, done: int) -> None:
            browser.press(key)
            shows(f"{done + 1} of {total}")

        browser.open(link)
        shows(f"1 of {total}")
        browser.run("document.getElementById('comment').value = 'Which?'")
        assert browser.run(HIDDEN) == ["task"] and browser.run("document.getElementById('save').hidden")
        for done, key in enumerate(["1", "2", "0"], start=1):
            answer(key, done)
        browser.press("u")
        shows(f"3 of {total}")
        browser.open(link)  # a reload in the middle
        shows(f"3 of {total}")
        for done, key in enumerate(["2", "1"], start=3):
            answer(key, done)
        given = data.answers()["3"]
        assert [one.answer for one in given] == ["first", "second", "second", "first"]
        assert [one.comment for one in given] == ["Which?", "", "", ""]
        data.answer("3", 4, "both", 1.0)  # in another window
        browser.press("1")
        until(lambda: "already answered in another window" in browser.run(WARNING))
        shows(f"6 of {total}")
        for task in range(5, total):
            data.answer("3", task, "first", None)
        browser.open(link)
        until(lambda: browser.run(HIDDEN) == ["done"])
        assert "Your answers are stored" in browser.run("document.getElementById('done-text').textContent")
        faults = [fault for fault in browser.faults() if "409" not in fault]
        assert faults == [] and all(url.startswith((base, "about:")) for url in browser.requests())
        assert data.answers()["3"][4] == TaskAnswer(4, "both", 1.0)
        browser.open(f"{base}/o/{data.overview_token()}")
        assert browser.run("document.querySelectorAll('#annotators tbody tr').length") == 4 and browser.faults() == []


@pytest.mark.browser
def test_the_page_says_when_an_answer_is_not_stored(tmp_path: Path, browser: Browser) -> None:
    with in_thread(STUDY, f"sqlite:///{tmp_path / 'a.db'}", overlap=2) as (data, base):
        browser.open(f"{base}/a/{data.tokens()['1']}")
        until(lambda: browser.run(COUNT) == "0 answered")
        browser.press("1")
        until(lambda: browser.run(COUNT) == "1 answered")
    browser.press("1")
    until(lambda: "nothing was stored" in browser.run(WARNING))
    assert browser.run(COUNT) == "1 answered"
