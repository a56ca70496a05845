"""Programs that start at once: a process that has the libraries loaded forks for each call.

A call of `pronmetric` or `python` in the folder of `running()` has its own process, with the open files, the
folder, the environment, the signals and the exit code of a program that a shell starts; only the imports are saved.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import runpy
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, NoReturn

_SOCKET = "PRONMETRIC_TESTS_READY"
_CLIENT = f"""#!{sys.executable} -IS
import json, os, signal, socket, sys

streams = [int(name) for name in os.listdir("/dev/fd") if os.path.exists(f"/dev/fd/{{name}}")]
job = {{"argv": [os.path.basename(sys.argv[0]), *sys.argv[1:]], "streams": streams}}
job |= {{"folder": os.getcwd(), "environment": dict(os.environ)}}
with socket.socket(socket.AF_UNIX) as server:
    server.connect(os.environ["{_SOCKET}"])
    socket.send_fds(server, [b"x"], streams)
    replies = server.makefile("rw")
    print(json.dumps(job), file=replies, flush=True)
    process = int(replies.readline())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(process, number))
    code = int(replies.readline())
sys.exit(code if code >= 0 else 128 - code)
"""


@contextmanager
def running() -> Iterator[dict[str, str]]:
    """The environment in which `pronmetric` and `python` start at once."""
    with TemporaryDirectory(prefix="ready-") as folder:
        for name in ("pronmetric", "python"):
            program = Path(folder) / name
            program.write_text(_CLIENT, encoding="utf-8")
            program.chmod(0o755)
        address = f"{folder}/socket"
        command = [sys.executable, "-m", "tests.tools.ready", address]
        root = Path(__file__).parents[2]
        with subprocess.Popen(command, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as server:
            assert server.stdout is not None and server.stdout.readline() == b"ready\n"
            path = os.pathsep.join([folder, str(Path(sys.executable).parent), os.environ["PATH"]])
            yield {**os.environ, "PATH": path, _SOCKET: address}
            server.terminate()


def _serve(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while True:
            call, _ = listener.accept()
            with suppress(ChildProcessError):  # there is none
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if os.fork() == 0:
                listener.close()
                _answer(call)
            call.close()


def _answer(call: socket.socket) -> NoReturn:
    """Run one call in a process of its own, and tell its number and its exit code."""
    _, streams, _, _ = socket.recv_fds(call, 1, 64)
    replies = call.makefile("rw")
    job = json.loads(replies.readline())
    process = os.fork()
    if process == 0:
        replies.close()
        call.close()
        _run(job, streams)
    for stream in streams:
        os.close(stream)
    print(process, file=replies, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), file=replies, flush=True)
    os._exit(0)


def _run(job: dict[str, Any], streams: list[int]) -> NoReturn:
    apart = [fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, 100) for stream in streams]
    for stream in streams:
        os.close(stream)
    for number, stream in zip(job["streams"], apart, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    code = 0
    try:
        _program(*job["argv"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)  # the interpreter takes a second to take the libraries down


def _program(name: str, *argv: str) -> None:
    if name == "pronmetric":
        from pronmetric.cli.main import main

        sys.argv = [name, *argv]
        del sys.path[0]
        sys.exit(main())
    option, what, *rest = argv
    sys.argv = [option, *rest]
    sys.path[0] = ""
    if option == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    elif option == "-c":
        sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(what, "<string>", "exec"), vars(sys.modules["__main__"]))
    else:
        raise ValueError(f"expected -c CODE or -m MODULE, got {argv}")


def _load() -> None:
    """What the calls would import."""
    import pytorch_lightning  # noqa: F401
    import sklearn.linear_model  # noqa: F401
    import torch  # noqa: F401
    import transformers  # noqa: F401

    import pronmetric.metric
    import pronmetric.scoring.inference
    import pronmetric.training.run  # noqa: F401
    from pronmetric.cli.main import VERBS, load

    for verb in VERBS:
        load(verb)


if __name__ == "__main__":
    _load()
    gc.freeze()  # so that no process copies the pages of what is loaded
    _serve(sys.argv[1])
