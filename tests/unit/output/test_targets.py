from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pronmetric.errors import InputError, PronmetricError
from pronmetric.output import targets


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_names_that_differ_in_case_are_one_file_if_the_file_system_ignores_case(here: Path) -> None:
    (here / "place").mkdir()
    targets.check(["place/new", "place/NEW"], read=[])
    (here / "PLACE").symlink_to("place")  # as a file system that folds case answers
    with pytest.raises(InputError, match=r"place/NEW: would be overwritten: it is the output place/new too"):
        targets.check(["place/new", "place/NEW"], read=[])


def test_a_link_to_what_is_not_there_yet_is_that_file(here: Path) -> None:
    (here / "link").symlink_to("new")
    with pytest.raises(InputError, match="it is the output new too"):
        targets.check(["new", "link"], read=[])


def test_a_missing_input_in_the_root_folder_is_another_file_than_the_output() -> None:
    targets.check(["new"], read=["/no-such-input"])


def test_a_device_or_pipe_is_no_file(here: Path) -> None:
    os.mkfifo("pipe")
    targets.check(["/dev/null", "/dev/null", "pipe"], read=["/dev/null", "pipe"])
    with targets.AtomicFile("/dev/null") as file:
        file.write("gone\n")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize(("redirected", "said"), [("0", "the input on stdin"), ("1", "stdout")])
def test_a_redirected_file_is_an_input_or_an_output_too(redirected: str, said: str) -> None:
    Path("a").touch()
    code = "from pronmetric.output import targets; targets.check(['a'], read=['-'])"
    with Path("a").open("r+") as file:
        streams = {"stdin": file} if redirected == "0" else {"stdout": file, "stdin": subprocess.DEVNULL}
        done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, **streams)
    assert f"a: would be overwritten: it is {said} too" in done.stderr


def test_stdout_may_not_be_an_input() -> None:
    code = "from pronmetric.output import targets; targets.check([], read=['a'])"
    with Path("a").open("w") as file:
        done = subprocess.run([sys.executable, "-c", code], stdout=file, stderr=subprocess.PIPE, text=True)
    assert "stdout is redirected into the input a" in done.stderr


def test_a_symbolic_link_stays(here: Path) -> None:
    (here / "link").symlink_to("new")
    with targets.AtomicFile("link") as file:
        file.write("text")
    assert (here / "link").is_symlink() and (here / "new").read_text() == "text"


def test_an_error_leaves_what_stood_there(here: Path) -> None:
    (here / "old").write_text("old")
    with pytest.raises(ZeroDivisionError), targets.AtomicFile("old") as file:
        file.write("new")
        raise ZeroDivisionError
    assert [path.name for path in here.iterdir()] == ["old"] and (here / "old").read_text() == "old"


FULL = """
import resource, sys
from pronmetric.output import targets
from pronmetric.cli import main
def full(argv):
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    with targets.AtomicFiles() as files:
        files.open("small").write("x")
        files.open("big").write("x" * {size})
    return 0
main._run = full
sys.exit(main.main([]))
"""


@pytest.mark.parametrize("size", [2_000, 2_000_000], ids=["at the end", "while it writes"])
def test_a_full_disk_leaves_no_file_and_is_one_line(here: Path, size: int) -> None:
    done = subprocess.run([sys.executable, "-c", FULL.format(size=size)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "pronmetric: error: big: File too large\n"
    assert list(here.iterdir()) == []


STOPPED = """
import sys, time
from pronmetric.output import targets
from pronmetric.cli import main
def slow(argv):
    with targets.AtomicFiles() as files:
        files.open("one").write("x" * 100_000)
        files.open("two").write("x")
        print("ready", flush=True)
        time.sleep(3600)
main._run = slow
sys.exit(main.main([]))
"""


@pytest.mark.parametrize(
    ("signum", "code", "said"),
    [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted"), (signal.SIGHUP, 129, "hung up")],
    ids=["SIGTERM", "SIGINT", "SIGHUP"],
)
def test_a_stopped_run_leaves_no_file_and_one_line(here: Path, signum: int, code: int, said: str) -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", STOPPED], text=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signum)
        _, told = process.communicate()
    assert (process.returncode, told) == (code, f"pronmetric: {said}\n")
    assert list(here.iterdir()) == []


KILLED = """
import sys, time
from pathlib import Path
from pronmetric.output import targets
with targets.AtomicFile("out") as file, targets.scratch(Path(), prefix=".rows-") as folder:
    (folder / "row").touch()
    print("ready", flush=True)
    time.sleep(3600)
"""


def test_what_a_killed_run_left_is_removed_by_the_next_one_and_by_no_other(here: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    (here / ".out.notes").touch()  # a user's
    before = set(here.iterdir())
    assert len(before) == 3

    def write() -> None:
        with targets.AtomicFile("out") as file, targets.scratch(here, prefix=".rows-"):
            file.write("text")

    write()
    assert set(here.iterdir()) == {*before, here / "out"}  # a running process keeps its files
    process.kill()
    process.communicate()
    write()
    assert sorted(path.name for path in here.iterdir()) == [".out.notes", "out"]
    assert (here / "out").read_text() == "text"


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_file_on_stdout_sends_what_is_printed_to_stderr(name: str, here: Path) -> None:
    code = f"""
from pronmetric.output import targets
from pronmetric.text import streams
with streams.run():
    targets.check([{name!r}, None], read=[])
    print("printed")
    with targets.AtomicFile({name!r}) as file:
        file.write("text ")
        file.flush()
        file.buffer.write(b"bytes ")
print("after")
"""
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (piped.stdout, piped.stderr) == ("text bytes after\n", "printed\n")
    with open("redirected", "w") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, stderr=subprocess.DEVNULL, check=True)
    assert [path.read_text() for path in here.iterdir()] == ["text bytes after\n"]


def test_a_file_may_be_named_like_stdout(here: Path) -> None:
    targets.check(["./-"], read=[])
    with targets.AtomicFile("./-") as file:
        file.write("text")
    assert (here / "-").read_text() == "text"


@pytest.mark.parametrize("existing", [False, True])
def test_a_new_folder_is_whole_or_not_there(here: Path, existing: bool) -> None:
    if existing:
        (here / "out").mkdir()
    with targets.new_folder("out") as waiting:
        assert waiting.name == "out" and waiting.parent.name == here.name
        (waiting / "a").write_text("a")
        assert (here / "out").exists() == existing and not (here / "out" / "a").exists()
    assert [path.name for path in here.iterdir()] == ["out"] and (here / "out" / "a").read_text() == "a"
    assert stat.S_IMODE((here / "out").stat().st_mode) == 0o777 & ~os.umask(os.umask(0o22))
    with (
        pytest.raises(InputError, match="out: was written by another process; give another folder"),
        targets.new_folder("out"),
    ):
        pass
    assert (here / "out" / "a").read_text() == "a"


def test_errors_name_the_new_folder_and_leave_nothing(here: Path) -> None:
    full = os.strerror(errno.ENOSPC)
    with pytest.raises(OSError, match="No space left") as nameless, targets.new_folder("out"):
        raise OSError(errno.ENOSPC, full)
    assert nameless.value.filename == "out"
    with pytest.raises(OSError, match="No space left") as named, targets.new_folder("out") as waiting:
        raise OSError(errno.ENOSPC, full, str(waiting / "a"))
    assert named.value.filename == "out/a"
    with pytest.raises(PronmetricError, match=r"^out: no weights$"), targets.new_folder("out") as waiting:
        raise PronmetricError(f"{waiting}: no weights")
    assert not list(here.iterdir())


def test_what_a_killed_run_left_of_a_new_folder_is_removed(here: Path) -> None:
    code = (
        "import os, signal; from pronmetric.output import targets\n"
        "with targets.new_folder('out') as waiting:\n"
        "    (waiting / 'a').write_text('half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    assert not (here / "out").exists() and len(list(here.iterdir())) == 1
    targets.check([], read=[], folders=["other", "out"])
    assert not list(here.iterdir())
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    with targets.new_folder("out") as waiting:
        (waiting / "a").write_text("whole")
    assert [path.name for path in here.iterdir()] == ["out"] and (here / "out" / "a").read_text() == "whole"
