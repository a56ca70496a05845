"""The JSON interface and the pages of the server: what they answer, what they refuse, their headers and limits."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pronmetric.metric import PronounMetric
from pronmetric.scoring.score import SegmentScore
from pronmetric.serve import app, connections, interface, service
from pronmetric.serve.app import make_app
from pronmetric.serve.batches import Busy
from pronmetric.serve.requests import names_of_host
from pronmetric.serve.service import Service
from pronmetric.text.context import GIVEN, NONE, UNREAD_SOURCES
from tests.tools.served import connect

RECORD = {"id": 1, "text": "She locked its doors.", "context": ["Maria ran the library."]}
PAIR = {"a": [RECORD], "b": [{**RECORD, "text": "He locked its doors."}]}
BODIES = {
    "/score": {"records": [RECORD]},
    "/suggest": {"records": [RECORD], "threshold": None, "top": 2},
    "/attention": {"records": [RECORD]},
    "/compare": PAIR,
    "/texts": {"name": "a.txt", "text": "She left.\n"},
}


def make_metric(checkpoint: Path, **settings: Any) -> PronounMetric:
    return PronounMetric.from_pretrained(checkpoint, precision="32", gpus=0, **settings)


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Callable[..., Path]) -> PronounMetric:
    return make_metric(tiny_checkpoint(pair_head=True))


@pytest.fixture(scope="module")
def client(metric: PronounMetric) -> TestClient:
    return TestClient(make_app(Service(metric, context=GIVEN)))


def test_an_id_is_optional(client: TestClient) -> None:
    bare = [{"text": "He left."}, {"id": "x", "text": "She left."}, {"text": "It left."}]
    assert [one["id"] for one in client.post("/score", json={"records": bare}).json()["records"]] == [0, "x", 2]
    found = client.post("/compare", json={"a": bare, "b": bare})
    assert found.status_code == 200 and len(found.json()["segments"]) == 3


def test_records_that_are_no_translation_are_noted(client: TestClient) -> None:
    records = [{"text": "She left."}, {"id": "x", "text": "I'm sorry, but I cannot help with that request."}]
    told = ["record x looks like no translation (refusal)"]
    for path in ("/score", "/suggest"):
        found = client.post(path, json={"records": records}).json()
        assert found["notes"] == told, path
        assert [one.get("no_translation") for one in found["records"]] == [None, "refusal"]
    found = client.post("/compare", json={"a": records, "b": records}).json()
    assert found["notes"] == told
    assert client.post("/score", json={"records": records[:1]}).json()["notes"] == []


@pytest.mark.parametrize(
    ("host", "more", "right", "wrong"),
    [
        ("127.0.0.1", [], ["127.0.0.1:8000", "LOCALHOST", "[::1]:8000"], ["evil.example", "", "[", "10.0.0.7"]),
        ("box.lan", ["my.example.org"], ["box.lan:80", "my.example.org", "localhost"], ["box", "10.0.0.7"]),
        ("0.0.0.0", ["my.example.org"], ["10.0.0.7:8000", "[fe80::1]", "my.example.org."], ["evil.example", "a:b:c"]),
    ],
)
def test_only_its_own_hosts_are_answered(
    metric: PronounMetric, host: str, more: list[str], right: list[str], wrong: list[str]
) -> None:
    client = TestClient(make_app(Service(metric, context=GIVEN), allows=names_of_host(host, more)))
    for name in right:
        assert client.get("/health", headers={"Host": name}).status_code == 200, name
    for name in wrong:
        reply = client.get("/health", headers={"Host": name})
        assert reply.status_code == 421 and "--allow-host NAME" in reply.json()["detail"], name
        assert reply.headers["x-content-type-options"] == "nosniff"


def test_two_lengths_of_a_body_close_the_connection(client: TestClient) -> None:
    both = {"Content-Length": "2", "Transfer-Encoding": "chunked"}
    reply = client.get("/health", headers=both)
    assert (reply.status_code, reply.headers["connection"]) == (400, "close")
    head = b"POST /score HTTP/1.1\r\nHost: localhost\r\n"
    sent = head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + head + b"\r\n"
    with connections.listen("127.0.0.1", 0) as opened:
        server = connections.server(client.app)
        running = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        running.start()
        with socket.create_connection(opened.getsockname()) as stream:
            stream.sendall(sent)
            received = b"".join(iter(lambda: stream.recv(4096), b""))  # until the server closes
        server.should_exit = True
        running.join(60)
    assert received.startswith(b"HTTP/1.1 400 ") and received.count(b"HTTP/1.1 ") == 1


def test_suggestions_that_are_too_many_are_refused_before_the_model_runs(
    metric: PronounMetric, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Service(metric, context=GIVEN)
    monkeypatch.setattr(made, "batches", None)
    records = [{"text": "He saw her and she saw him. " * 30} for _ in range(40)]
    reply = TestClient(make_app(made)).post("/suggest", json={"records": records, "threshold": None})
    assert reply.status_code == 413 and "the other forms of 4800 pronouns" in reply.json()["detail"]


def post(address: str, path: str) -> tuple[int, Any]:
    connection = connect(address)
    connection.request("POST", path, json.dumps(BODIES[path]), {"Content-Type": "application/json"})
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read())


def test_a_server_that_stops_says_so(
    metric: PronounMetric, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, begun, free = Service(metric, context=GIVEN), threading.Event(), threading.Event()

    def slow(texts: Any) -> Any:
        begun.set()
        free.wait(60)
        return [SegmentScore(None, ()) for _ in texts]

    monkeypatch.setattr(made, "_score", slow)
    with connections.listen("127.0.0.1", 0) as opened:
        server = connections.server(make_app(made))
        server.config.timeout_graceful_shutdown = 1
        running = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        running.start()
        with ThreadPoolExecutor(3) as pool:
            waiting = [pool.submit(post, connections.address(opened), "/score") for _ in range(3)]
            assert begun.wait(60)
            server.should_exit = True
            replies = [each.result() for each in waiting]
        free.set()
        running.join(60)
    assert replies == [(503, {"detail": "the server stops"})] * 3
    assert not any(record.exc_info for record in caplog.records)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/score", interface.ScoredRecords),
        ("/suggest", interface.SuggestedRecords),
        ("/attention", interface.AttendedRecords),
        ("/compare", interface.Comparison),
    ],
)
def test_answers_are_as_they_are_described(client: TestClient, path: str, kind: type[Any]) -> None:
    reply = client.post(path, json=BODIES[path])
    assert reply.status_code == 200
    found = reply.json()
    kind.model_validate(found)
    assert "|context:crossed|" in found["signature"] if path == "/compare" else "|context:given|" in found["signature"]
    example = client.get("/openapi.json").json()["paths"][path]["post"]["requestBody"]["content"]["application/json"]
    assert client.post(path, json=example["schema"]["example"]).status_code == 200


def test_the_attention_has_a_weight_for_each_word(client: TestClient) -> None:
    (found,) = client.post("/attention", json=BODIES["/attention"]).json()["records"]
    assert found["context"] == "Maria ran the library."
    assert [found["context"][start:end] for start, end in found["context_words"]] == "Maria ran the library .".split()
    assert [RECORD["text"][start:end] for start, end in found["text_words"]] == "She locked its doors .".split()
    assert [pronoun["text"] for pronoun in found["pronouns"]] == ["She", "its"]
    for pronoun in found["pronouns"]:
        assert len(pronoun["weights"]) == 10 and sum(pronoun["weights"]) == pytest.approx(1, abs=1e-2)


def test_the_threshold_and_the_number_of_forms_hold(client: TestClient) -> None:
    def ask(**more: Any) -> list[dict[str, Any]]:
        reply = client.post("/suggest", json={"records": [RECORD], **more}).json()
        found: list[dict[str, Any]] = reply["records"][0]["pronouns"]
        return found

    assert [p["text"] for p in ask(threshold=None)] == ["She", "its"] and ask(threshold=0.0) == []
    low, high = sorted(p["probability"] for p in ask(threshold=None))
    if low < high:
        assert [p["probability"] for p in ask(threshold=high)] == [low]
    assert all(len(p["better"]) <= 1 for p in ask(threshold=None, top=1))


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/score", {"records": []}, 422, "records: List should have at least 1 item"),
        ("/score", {}, 422, "records: Field required"),
        ("/score", {"records": [RECORD], "more": 1}, 422, "more: Extra inputs are not permitted"),
        ("/score", {"records": [RECORD, {"id": 2}]}, 422, 'records:2: the key "text" is missing'),
        ("/score", {"records": ["He."]}, 422, "records:1: expected an object"),
        ("/score", {"records": [{**RECORD, "context": "A."}]}, 422, '"context" must be a list of strings'),
        ("/score", {"records": [RECORD] * (interface.RECORDS + 1)}, 422, "at most 256 items"),
        ("/score", {"records": [{**RECORD, "text": "He " * 4000}]}, 413, "records:1: 12,022 characters"),
        ("/score", [RECORD], 422, "the body: Input should be"),
        ("/suggest", {"records": [RECORD], "threshold": 1.5}, 422, "threshold: Input should be less"),
        ("/suggest", {"records": [RECORD], "top": 0}, 422, "top: Input should be greater"),
        ("/compare", {**PAIR, "by": "taste"}, 422, "expected a decision by score, errors, preference"),
        ("/compare", {**PAIR, "tie": -1}, 422, "tie: Input should be greater"),
        ("/compare", {**PAIR, "b": [RECORD, RECORD]}, 422, "expected as many records in b as in a, got 2 and 1"),
        ("/compare", {**PAIR, "b": [{**RECORD, "id": 2}]}, 422, "record 1 has the ids 1 and 2 in a and b"),
    ],
)
def test_what_is_wrong_is_named(client: TestClient, path: str, body: Any, status: int, said: str) -> None:
    reply = client.post(path, json=body)
    assert reply.status_code == status and said in reply.json()["detail"], reply.json()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"records": [{"id": NaN, "text": "He."}]}', 422),
        (b'{"records": [], "records": []}', 422),
        (b'{"records": [{"id": 1, "text": "\\ud800"}]}', 422),
        (b"[" * 1000, 422),
        (b"\xff", 422),
        (b"", 422),
        (b" " * (interface.BODY + 1), 413),
    ],
)
def test_bodies_that_are_not_json_or_too_large_are_refused(client: TestClient, body: bytes, status: int) -> None:
    assert client.post("/score", content=body, headers={"Content-Type": "application/json"}).status_code == status
    assert client.post("/score", content=b'{"records": []}').status_code == 415


def test_a_request_has_a_limit_of_characters(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "REQUEST", 60)
    reply = client.post("/score", json={"records": [RECORD, {**RECORD, "text": "He locked its doors."}]})
    assert reply.status_code == 413 and "85 characters to read, more than 60" in reply.json()["detail"]
    assert client.post("/score", json={"records": [RECORD] * 9}).status_code == 200  # read once
    monkeypatch.setattr(service, "WEIGHTS", 19)
    reply = client.post("/attention", json={"records": [RECORD]})
    assert reply.status_code == 413 and "20 weights of attention, more than 19" in reply.json()["detail"]
    monkeypatch.setattr(service, "FORMS", 60)
    reply = client.post("/suggest", json={"records": [RECORD], "threshold": None})
    assert reply.status_code == 413 and "the other forms of 2 pronouns" in reply.json()["detail"]


def test_requests_of_an_address_are_limited(metric: PronounMetric, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "BURST", 3e9)
    client = TestClient(make_app(Service(metric, context=GIVEN), rate=1e-9))  # the next one in 30 years
    statuses = [client.post("/score", json=BODIES["/score"]).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]


def test_a_busy_server_says_when_to_come_again(
    client: TestClient, metric: PronounMetric, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Service(metric, context=GIVEN)

    async def busy(*_: Any, **__: Any) -> list[Any]:
        raise Busy

    monkeypatch.setattr(made.batches, "run", busy)
    reply = TestClient(make_app(made)).post("/score", json=BODIES["/score"])
    assert reply.status_code == 503 and reply.headers["retry-after"] == "5"


def test_every_response_is_locked_down_and_loads_nothing_from_elsewhere(client: TestClient) -> None:
    pages = client.get("/"), client.get("/docs")
    for reply in (*pages, client.get("/health"), client.get("/nothing"), client.post("/score", json={})):
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; base-uri 'none'; form-action 'none'")
        assert policy.endswith("frame-ancestors 'none'") and "unsafe" not in policy
        assert reply.headers["x-frame-options"] == "DENY" and reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in reply.headers
    for reply in pages:
        assert reply.status_code == 200
        assert not re.search(r"(src|href)=\"(https?:)?//|@import|url\(", reply.text)
    for path in BODIES:
        assert f"<code>POST {path}</code>" in pages[1].text and f"curl -s http://testserver{path} " in pages[1].text


def test_a_failure_is_json_with_the_headers_of_other_responses(
    client: TestClient, metric: PronounMetric, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Service(metric, context=GIVEN)

    async def broken(*_: Any, **__: Any) -> list[Any]:
        raise RuntimeError("secret")

    monkeypatch.setattr(made.batches, "run", broken)
    reply = TestClient(make_app(made), raise_server_exceptions=False).post("/score", json=BODIES["/score"])
    assert reply.status_code == 500 and reply.json() == {"detail": "the server failed; its log says why"}
    expected = client.get("/health").headers
    assert all(reply.headers[key] == expected[key] for key in expected if key not in ("content-length", "date"))


def test_a_named_site_may_show_the_page_in_a_frame(metric: PronounMetric) -> None:
    reply = TestClient(make_app(Service(metric, context=GIVEN), frame="https://example.org")).get("/")
    assert reply.headers["content-security-policy"].endswith("frame-ancestors https://example.org")
    assert "x-frame-options" not in reply.headers


def test_the_health_names_the_model(client: TestClient, metric: PronounMetric) -> None:
    found = client.get("/health").json()
    assert found["status"] == "ok" and found["model"] == metric.name and found["waiting"] == 0
    assert found["signature"] == str(metric.signature(context=GIVEN))


def facts(client: TestClient) -> dict[str, Any]:
    """The data of the page's script."""
    held = re.search(r'<script type="application/json" id="data">(.*?)</script>', client.get("/").text)
    assert held is not None
    found: dict[str, Any] = json.loads(held[1])
    return found


def test_sources_count_in_all_records_or_in_none(with_reader: Path) -> None:
    made = Service(make_metric(with_reader, source_lang="de"), context=GIVEN)
    client = TestClient(make_app(made))
    sourced = {**RECORD, "source": "Sie schloss die Türen.", "source_context": ["Maria leitete die Bibliothek."]}
    with_source = client.post("/score", json={"records": [sourced]}).json()
    without = client.post("/score", json={"records": [RECORD]}).json()
    interface.ScoredRecords.model_validate(with_source)
    assert "|source:reader-" in with_source["signature"] and "|source:" not in without["signature"]
    assert {"log_odds", "word", "start", "end"} == with_source["records"][0]["pronouns"][0]["source"].keys()
    assert "missing" in with_source["records"][0] and "missing" not in without["records"][0]
    mixed = client.post("/score", json={"records": [sourced, RECORD]})
    assert mixed.status_code == 422 and 'records:2: the key "source" is missing' in mixed.json()["detail"]
    compared = client.post("/compare", json={"a": [sourced], "b": [sourced]}).json()
    assert compared["segments"][0]["source"] == sourced["source"] and "|source:reader-" in compared["signature"]
    assert facts(client)["sources"] and facts(client)["sourcesAffectScores"] and facts(client)["sourceLang"] == "de"


def test_a_source_language_alone_counts_missing_pronouns(tiny_checkpoint: Callable[..., Path]) -> None:
    plain, counting = (
        TestClient(make_app(Service(make_metric(tiny_checkpoint(), source_lang=code), context=GIVEN)))
        for code in (None, "de")
    )
    body = {"records": [{**RECORD, "source": "Er schloss ihre Türen."}]}
    before, after = (client.post("/score", json=body).json() for client in (plain, counting))
    (record,) = after["records"]
    assert before.pop("notes") == [UNREAD_SOURCES] and after.pop("notes") == []
    assert (record.pop("missing"), record.pop("surplus")) == ([], []) and before == after
    assert facts(counting)["sources"] and not facts(counting)["sourcesAffectScores"]
    assert not facts(plain)["sources"]


def test_a_checkpoint_without_context_reads_none(metric: PronounMetric) -> None:
    client = TestClient(make_app(Service(metric, context=NONE)))
    bare = {key: value for key, value in RECORD.items() if key != "context"}
    found, alone = (client.post("/score", json={"records": [one]}).json() for one in (RECORD, bare))
    assert found == alone and "|context:none|" in found["signature"]
    assert "|context:none|" in client.post("/compare", json=PAIR).json()["signature"]
    assert facts(client)["context"] == 0


def test_an_unbounded_head_scores_and_says_why_it_suggests_nothing(tiny_checkpoint: Callable[..., Path]) -> None:
    client = TestClient(make_app(Service(make_metric(tiny_checkpoint(head="paper")), context=GIVEN)))
    (found,) = client.post("/score", json=BODIES["/score"]).json()["records"]
    assert "score" in found["pronouns"][0] and "probability" not in found["pronouns"][0]
    reply = client.post("/suggest", json=BODIES["/suggest"])
    assert reply.status_code == 422 and "alternatives need probabilities" in reply.json()["detail"]
    assert facts(client)["doubtful"] is None


def test_a_file_is_read_as_on_the_command_line(client: TestClient, tmp_path: Path) -> None:
    def read(name: str, text: str) -> dict[str, Any]:
        reply = client.post("/texts", json={"name": name, "text": text})
        assert reply.status_code == 200
        interface.ReadFile.model_validate(reply.json())
        found: dict[str, Any] = reply.json()
        return found

    plain = read("a.txt", "She left.\r\n\r\nIt is late.")
    assert plain == {
        "format": "lines",
        "texts": ["She left.", "", "It is late."],
        "sources": None,
        "places": [],
        "notes": [],
    }
    strings = 'msgid "Sie ging."\nmsgstr "She left."\n\nmsgid "Er kam."\nmsgstr ""\n'
    found = read("../../etc/a.po", strings)
    assert (found["texts"], found["sources"], found["places"]) == (
        ["She left."],
        ["Sie ging."],
        [{"line": 2, "place": "line 2"}],
    )
    assert "a.po: left out: 1 untranslated" in found["notes"] and "no running text" in found["notes"][-1]
    reply = client.post("/texts", json={"name": "a.html", "text": "<html>"})
    assert reply.status_code == 422 and reply.json()["detail"].startswith("a.html: is an HTML page, which is not read")
    assert client.post("/texts", json={"name": "a", "text": ""}).status_code == 422
    assert client.post("/texts", json={"name": "a", "text": "x" * interface.FILE}).status_code == 413
