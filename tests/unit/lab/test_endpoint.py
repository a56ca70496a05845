"""A chat model as a baseline, against a server of this machine that answers as the test says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pronmetric.cli.main import main
from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.baselines.endpoint import KEY, TRIES, Endpoint
from pronmetric.text.context import Text
from tests.tools.chat_server import LLAMA_CPP, VLLM, filled, says, serving

SHE, HE = Text("Anna came.", "She left."), Text("Anna came.", "He left.")


def for_she(prompt: str) -> tuple[int, Any]:
    return says("A" if "\nA: She" in prompt else "B.")


def test_both_orders_are_asked_and_a_text_gets_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "secret")
    seen: list[dict[str, Any]] = []
    with serving(for_she, seen) as url:
        found = Endpoint(url, "small-chat").ask([(SHE, HE), (HE, SHE)])
    assert found.points == [(1.0, 0.0), (0.0, 1.0)] and (found.unclear, found.unsteady) == (0, 0)
    first, second, *_ = seen
    assert (first["path"], first["model"], first["key"]) == ("/v1/chat/completions", "small-chat", "Bearer secret")
    assert (first["temperature"], len(seen)) == (0, 2)  # the second pair asks the same
    assert "Text before: Anna came." in first["messages"][0]["content"]
    assert "A: She left.\nB: He left." in first["messages"][0]["content"]
    assert "A: He left.\nB: She left." in second["messages"][0]["content"]


@pytest.mark.parametrize(
    ("reply", "points", "unclear"),
    [
        ("A", (0.5, 0.5), 0),
        ("tie", (0.5, 0.5), 0),
        ("**Tie**", (0.5, 0.5), 0),
        ("It's a tie.", (0.5, 0.5), 0),
        ("I can not say", (0.5, 0.5), 2),
        ("A and B fit.", (0.5, 0.5), 2),
    ],
)
def test_a_preference_for_a_place_and_unclear_answers_are_ties(
    reply: str, points: tuple[float, float], unclear: int
) -> None:
    with serving(lambda _: says(reply), []) as url:
        assert Endpoint(url, "m").ask([(SHE, HE)]) == ([points], [[points]], unclear)


def test_points_are_means_over_the_passes_of_which_the_first_is_not_drawn() -> None:
    seen: list[dict[str, Any]] = []
    replies = iter(["A", "B", "B", "A", "A", "tie", "?", "B", "tie", "tie", "tie", "tie"])  # pass, pair, order
    with serving(lambda _: says(next(replies)), seen) as url:
        found = Endpoint(url, "m").ask([(SHE, HE), (SHE, HE._replace(text="It left."))], passes=3)
    assert found.by_pass == [
        [(1.0, 0.0), (0.0, 1.0)],
        [(0.75, 0.25), (0.75, 0.25)],
        [(0.5, 0.5), (0.5, 0.5)],
    ]
    assert found.points == [(0.75, 0.25), pytest.approx((1.25 / 3, 1.75 / 3))]
    assert (found.unsteady, found.unclear) == (2, 1)
    assert [body["temperature"] for body in seen] == [0] * 4 + [1] * 8
    assert [body.get("seed") for body in seen] == [None] * 4 + [1] * 4 + [2] * 4


def test_a_sentence_that_names_one_text_is_an_answer() -> None:
    def reply(prompt: str) -> tuple[int, Any]:
        return says(f"I think a better fit is {'A' if chr(10) + 'A: She' in prompt else 'B'}.")

    with serving(reply, []) as url:
        assert Endpoint(url, "m").ask([(SHE, HE)]).points == [(1.0, 0.0)]


def test_a_redirection_is_not_followed() -> None:
    seen: list[dict[str, Any]] = []
    with serving(lambda _: (302, {}), seen) as url, pytest.raises(PronmetricError, match="HTTP 302"):
        Endpoint(url, "m").ask([(SHE, HE)])
    assert len(seen) == 1


def test_a_busy_endpoint_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY, raising=False)
    waits: list[float] = []
    replies = iter([(503, {}), (429, {}), says("A"), says("B")])
    seen: list[dict[str, Any]] = []
    with serving(lambda _: next(replies), seen) as url:
        assert Endpoint(url, "m", wait=waits.append).ask([(SHE, HE)]).points == [(1.0, 0.0)]
    assert waits == [1.0, 2.0] and seen[0]["key"] is None


@pytest.mark.parametrize(
    ("reply", "said", "asked"),
    [
        ((401, {}), "HTTP 401 Unauthorized; check the address, the model and PRONMETRIC_ENDPOINT_KEY", 1),
        ((503, {}), "HTTP 503", TRIES),
        ((200, {"choices": []}), "expected a chat completion", 1),
        ((200, [1]), "expected a chat completion", 1),
    ],
)
def test_an_endpoint_that_fails_is_one_error(reply: tuple[int, Any], said: str, asked: int) -> None:
    seen: list[dict[str, Any]] = []
    with serving(lambda _: reply, seen) as url, pytest.raises(PronmetricError, match=said):
        Endpoint(url, "m", wait=lambda _: None).ask([(SHE, HE)])
    assert len(seen) == asked


def test_wrong_addresses_and_contexts_are_refused() -> None:
    for url in ("127.0.0.1:80", "file:///etc/passwd", "https://"):
        with pytest.raises(PronmetricError, match="expected an address such as"):
            Endpoint(url, "m")
    with pytest.raises(PronmetricError, match="leave out `context=respective`"):
        Endpoint("http://127.0.0.1:9/v1", "m").ask([(SHE, HE._replace(context="Tom came."))])


def test_evaluate_has_it_beside_the_metric(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs, scores, out = (tmp_path / name for name in ("pairs.jsonl", "scores.jsonl", "out.json"))
    pair = {"context": ["Anna came."], "text_a": "She left.", "text_b": "He left.", "better": "A"}
    pairs.write_text("".join(json.dumps({"id": n, **pair}) + "\n" for n in range(4)))
    scores.write_text("".join(json.dumps({"id": n, "score_a": 0.2, "score_b": 0.8}) + "\n" for n in range(4)))
    with serving(for_she, []) as url:
        flags = ["--scores", str(scores), "--to_json", str(out), "--endpoint", url, "--endpoint-model", "small-chat"]
        assert main(["evaluate", str(pairs), *flags]) == 0
    told = capsys.readouterr()
    assert f"the texts are sent to {url.rstrip('/')} (--endpoint)" in told.err
    assert "small-chat, asked" in told.out
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", str(pairs), "--endpoint", "http://127.0.0.1:9"])
    assert "give --endpoint URL and --endpoint-model NAME together" in capsys.readouterr().err


def test_evaluate_asks_about_pairs_in_passes_and_tells_their_spread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs, scores, out, kept = (tmp_path / name for name in ("p.jsonl", "s.jsonl", "out.json", "kept.jsonl"))
    pair = {"context": ["Anna came."], "text_a": "She left.", "better": "A"}
    pairs.write_text("".join(json.dumps({"id": n, "text_b": f"He left {n}.", **pair}) + "\n" for n in range(4)))
    scores.write_text("".join(json.dumps({"id": n, "score_a": 0.2, "score_b": 0.8}) + "\n" for n in range(4)))
    seen: list[dict[str, Any]] = []

    def reply(prompt: str) -> tuple[int, Any]:
        drawn = "seed" in seen[-1] and "He left 3." in prompt  # in the second pass the last pair is decided for B
        return says("A" if ("\nA: She" in prompt) != drawn else "B")

    with serving(reply, seen) as url:
        flags = ["--scores", str(scores), "--endpoint", url, "--endpoint-model", "chat", "--endpoint-passes", "2"]
        argv = ["evaluate", str(pairs), *flags, "--endpoint-answers", str(kept)]
        assert main([*argv, "--to_json", str(out)]) == 0
        assert main(argv) == 0
    told = capsys.readouterr()
    assert len(seen) == 16  # four pairs in two orders and two passes; nothing in the second run
    spread = (
        "chat prefers the better text of 75.0 to 100.0 % of the pairs in 2 passes; 1 of 4 pairs get different answers"
    )
    assert told.err.count(spread) == 2
    found = json.loads(out.read_text())
    assert found["endpoint"] == {"model": "chat", "by_pass": [1.0, 0.75], "unsteady": 1, "unclear": 0}
    assert found["pairs"][3]["language_model"] == {"chat, asked": [0.5, 0.5]}


@pytest.mark.parametrize("answer", [VLLM, LLAMA_CPP])
def test_evaluate_asks_about_labelled_pronouns(
    answer: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labelled, scores, out = (tmp_path / name for name in ("l.jsonl", "s.jsonl", "out.json"))
    rows = []
    for number in range(6):  # two pronouns of each text, of which the first is wrong
        text = {"text": "He lost her keys.", "context": [f"Anna came {number}."], "doc": f"d{number}"}
        rows += [{**text, "start": 8, "end": 11, "label": "right"}, {**text, "start": 0, "end": 2, "label": "wrong"}]
    labelled.write_text("".join(json.dumps({"id": n, **row}) + "\n" for n, row in enumerate(rows)))
    scores.write_text("".join(json.dumps({"id": n, "score": 0.9}) + "\n" for n in range(12)))
    seen: list[dict[str, Any]] = []

    def reply(prompt: str) -> tuple[int, Any]:
        drawn = "seed" in seen[-1]
        return filled(answer, "I cannot say" if "Anna came 5" in prompt else "1, 2" if drawn else "1")

    with serving(reply, seen) as url:
        flags = ["--scores", str(scores), "--endpoint", url, "--endpoint-model", "chat", "--endpoint-passes", "2"]
        assert main(["evaluate", str(labelled), *flags, "--to_json", str(out)]) == 0
    told = capsys.readouterr()
    assert len(seen) == 12 and "He [1] lost her [2] keys." in seen[0]["messages"][0]["content"]
    assert "chat marks 50.0 to 100.0 % of the pronouns in 2 passes; 5 of 12 pronouns get different answers" in told.err
    assert "2 of 12 answers of chat are unclear, and are left out" in told.err
    assert "\nchat, asked; flagged where more than half of its answers mark the pronoun\n" in told.out
    found = json.loads(out.read_text())
    assert found["endpoint"] == {"model": "chat", "by_pass": [0.5, 1.0], "unsteady": 5, "unclear": 2}
    asked = found["baselines"]["chat, asked"]["detection"]
    assert (asked["pronouns"], asked["flagged"], asked["unscored"]) == (12, 5, 2)
    assert asked["precision"]["value"] == 1.0 and found["detection"]["flagged"] == 0


@pytest.mark.parametrize("answer", [VLLM, LLAMA_CPP])
def test_answers_of_servers_are_read(answer: dict[str, Any]) -> None:
    for thoughts in ("", "<think>\nB, or A?\n</think>\n"):

        def reply(prompt: str, thoughts: str = thoughts) -> tuple[int, Any]:
            return filled(answer, thoughts + ("A" if "\nA: She" in prompt else "B"))

        with serving(reply, []) as url:
            found = Endpoint(url, "m").ask([(SHE, HE)])
            assert (found.points, found.unclear) == ([(1.0, 0.0)], 0)


def test_kept_answers_are_not_asked_for_again(tmp_path: Path) -> None:
    kept, seen = tmp_path / "answers.jsonl", list[dict[str, Any]]()
    with serving(for_she, seen) as url:
        first = Endpoint(url, "m", kept=kept).ask([(SHE, HE)])
        with kept.open("a", encoding="utf-8") as file:
            file.write('{"request": "a1", "ans')  # by a run that was killed
        assert Endpoint(url, "m", kept=kept).ask([(SHE, HE), (HE, HE)]).points[0] == first.points[0]
        assert len(seen) == 3  # both orders of the last pair are one question
        Endpoint(url, "other", kept=kept).ask([(SHE, HE)])
        assert len(seen) == 5  # another model
    assert all(json.loads(line).keys() == {"request", "answer"} for line in kept.read_text().splitlines())
    kept.write_text("[]\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"answers.jsonl:1: expected an answer of an endpoint"):
        Endpoint("http://127.0.0.1:9/v1", "m", kept=kept)
