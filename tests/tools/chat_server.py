"""A chat server of this machine that answers as a test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Reply = Callable[[str], tuple[int, Any]]


@contextmanager
def serving(reply: Reply, seen: list[dict[str, Any]]) -> Iterator[str]:
    """A server whose answer to a prompt is a status and what the body holds; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({"path": self.path, "key": self.headers["Authorization"], **body})
            status, content = reply(body["messages"][0]["content"])
            said = json.dumps(content).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def do_GET(self) -> None:
            seen.append({"path": self.path, "key": self.headers["Authorization"]})
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def says(text: str) -> tuple[int, Any]:
    return 200, {"choices": [{"message": {"content": text}}]}


VLLM = {
    "id": "chatcmpl-5f0c",
    "object": "chat.completion",
    "created": 1790000000,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "reasoning_content": None, "content": "", "tool_calls": []},
            "logprobs": None,
            "finish_reason": "stop",
            "stop_reason": None,
        }
    ],
    "usage": {"prompt_tokens": 120, "total_tokens": 123, "completion_tokens": 3, "prompt_tokens_details": None},
    "prompt_logprobs": None,
}
"""An answer of vLLM's server, written by hand and not recorded."""
LLAMA_CPP = {
    "choices": [{"finish_reason": "stop", "index": 0, "message": {"role": "assistant", "content": ""}}],
    "created": 1790000000,
    "model": "m.gguf",
    "system_fingerprint": "b6000-abcdef0",
    "object": "chat.completion",
    "usage": {"completion_tokens": 3, "prompt_tokens": 120, "total_tokens": 123},
    "id": "chatcmpl-Zq1",
    "timings": {"prompt_n": 120, "prompt_ms": 80.1, "predicted_n": 3, "predicted_ms": 40.2},
}
"""An answer of llama.cpp's server, written by hand and not recorded."""


def filled(answer: dict[str, Any], text: str) -> tuple[int, Any]:
    """The answer of a server with this text."""
    copied = json.loads(json.dumps(answer))
    copied["choices"][0]["message"]["content"] = text
    return 200, copied
