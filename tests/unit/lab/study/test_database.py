"""The database of a served study: tasks are given once, answers are kept, on SQLite and on PostgreSQL."""

from __future__ import annotations

import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib import resources
from itertools import count
from pathlib import Path

import pytest

from pronmetric.errors import InputError, MissingExtra
from pronmetric.lab.study import answers, database
from pronmetric.lab.study.answers import TaskAnswer
from pronmetric.lab.study.database import _LOCK as LOCK  # fixtures change it
from pronmetric.lab.study.database import LEASE, Conflict, Database, DatabaseLost, Position, connect
from pronmetric.lab.study.folder import Design, Study
from pronmetric.lab.study.sample import sample
from pronmetric.lab.study.server import TURN
from tests.tools import postgresql
from tests.tools.made_up_study import made_up

_NUMBERS = count()


def study(*, annotators: int = 3, items: int = 8, repeated: float = 0.25, seed: int = 1) -> Study:
    design = Design(items=items, annotators=annotators, repeated=repeated, strict=False, seed=seed)
    return sample([item for item in made_up(items) if item.language == "de"], design)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'answers.db'}"
    return postgresql.new_database(request.getfixturevalue("postgres"), f"study{next(_NUMBERS)}")


@pytest.fixture
def opened() -> Iterator[Callable[..., Database]]:
    """`connect`, with the connections closed at the end."""
    made = []

    def open_one(*arguments: object, **settings: object) -> Database:
        made.append(connect(*arguments, **settings))  # type: ignore[arg-type]
        return made[-1]

    yield open_one
    for one in made:
        one.close()


Open = Callable[..., Database]


def test_tasks_come_in_order_and_the_last_answer_can_be_taken_back(address: str, opened: Open) -> None:
    data = opened(address, study())
    total = len(data.study.assignments["2"])
    assert data.position("2") == Position(0, total, 0, None)
    assert data.answer("2", 0, "first", 1.5) == Position(1, total, 1, 0)
    assert data.answer("2", 0, "first", 9.0) == Position(1, total, 1, 0)  # sent again
    with pytest.raises(Conflict) as error:
        data.answer("2", 0, "second", 1.0)
    assert error.value.position == Position(1, total, 1, 0)
    with pytest.raises(Conflict):
        data.answer("2", 5, "first", 1.0)  # not given yet
    assert data.answer("2", 1, "both", None) == Position(2, total, 2, 1)
    assert data.undo("2", 0) == Position(2, total, 2, 1)  # not the last one
    assert data.undo("2", 1) == Position(1, total, 1, 0)
    assert data.answer("2", 1, "second", 2.0) == Position(2, total, 2, 1)
    assert data.answers() == {"2": (TaskAnswer(0, "first", 1.5), TaskAnswer(1, "second", 2.0))}
    assert data.answer("2", 2, "first", 1.0, "Who?").done == 3
    assert data.answers()["2"][2] == TaskAnswer(2, "first", 1.0, "Who?")
    assert data.undo("2", 2) == Position(2, total, 2, 1)
    for task in range(2, total):
        last = data.answer("2", task, "first", None)
    assert data.answers()["2"][2] == TaskAnswer(2, "first")  # the comment went with its answer
    assert last == Position(total, total, None, total - 1)
    assert data.position("1").task == 0  # not affected


def test_answers_and_tokens_survive_and_are_read_as_files(address: str, opened: Open, tmp_path: Path) -> None:
    first = opened(address, study())
    tokens = first.tokens()
    assert list(tokens) == ["1", "2", "3"] and len({*tokens.values(), first.overview_token()}) == 4
    assert min(map(len, tokens.values())) >= 32
    first.position("3")
    first.answer("3", 0, "second", 0.5)
    again = opened(address, study())
    assert again.tokens() == tokens and again.position("3").task == 1
    assert list(again.last_stored()) == ["3"]
    path = tmp_path / "answers-3.json"
    path.write_text(answers.dump(again.study, "3", again.answers()["3"]), encoding="utf-8")
    assert answers.read(again.study, [path]) == again.answers()
    assert opened(address, study(), create=False).answers() == again.answers()


def test_another_study_schema_or_overlap_is_refused(address: str, opened: Open) -> None:
    data = opened(address, study(), overlap=2)
    assert opened(address, study()).overlap == 2
    with pytest.raises(InputError, match=r"has the study [0-9a-f]{16}, not [0-9a-f]{16}; give a new database"):
        connect(address, study(seed=2))
    with pytest.raises(InputError, match="was made with `overlap=2`, not 3"):
        connect(address, study(), overlap=3)
    with data.engine.begin() as db:
        db.exec_driver_sql("UPDATE study_head SET value = '99' WHERE key = 'schema'")
    with pytest.raises(InputError, match="its schema has version 99, this pronmetric reads 1"):
        connect(address, study())


def test_many_annotators_at_once_get_each_item_as_often_as_asked_for(
    address: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_LOCK", 3600)  # on a busy machine too
    data = opened(address, study(annotators=8, items=20, repeated=0.2), overlap=3)

    def annotate(name: str) -> None:
        rng = random.Random(name)
        found = data.position(name)
        while found.task is not None:
            found = data.answer(name, found.task, "first", 1.0)
            if found.last is not None and rng.random() < 0.1:
                found = data.undo(name, found.last)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(annotate, data.study.assignments))
    given = data.answers()
    answered: Counter[str] = Counter()
    for name, own in given.items():
        tasks = [data.study.assignments[name][answer.task] for answer in own]
        first = [task.item for task in tasks if not task.repeated]
        assert len(set(first)) == len(first)
        assert {task.item for task in tasks if task.repeated} <= set(first)
        answered.update(first)
    assert answered == dict.fromkeys(data.study.items, 3)


def test_a_task_that_is_left_open_goes_to_another_annotator(address: str, opened: Open) -> None:
    clock = [1000.0]
    data = opened(address, study(annotators=2, items=2, repeated=0), overlap=1, now=lambda: clock[0])
    left = data.position("1").task
    assert left is not None
    task = data.position("2").task
    assert task is not None and data.answer("2", task, "first", 1.0).task is None
    clock[0] += LEASE - 1
    assert data.position("2").task is None
    clock[0] += 2
    taken = data.position("2").task
    assert taken is not None
    items = [data.study.assignments[name][number].item for name, number in (("1", left), ("2", taken))]
    assert items[0] == items[1]
    with pytest.raises(Conflict) as error:
        data.answer("1", left, "first", 1.0)
    assert error.value.position.task is None
    assert data.answer("2", taken, "first", 1.0).done == 2 and list(data.answers()) == ["2"]


def test_sqlite_writes_to_the_disk_at_each_commit(tmp_path: Path, opened: Open) -> None:
    path = tmp_path / "answers.db"
    data = opened(f"sqlite:///{path}", study())
    with data.engine.begin() as db:
        assert db.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
        assert db.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    assert path.stat().st_mode & 0o077 == 0  # the tokens are secret


def test_the_server_answers_before_the_page_gives_up(tmp_path: Path, opened: Open) -> None:
    with opened(f"sqlite:///{tmp_path / 'answers.db'}", study()).engine.begin() as db:
        assert db.exec_driver_sql("PRAGMA busy_timeout").scalar_one() == 1000 * database._LOCK  # milliseconds
    script = resources.files("pronmetric.lab.study").joinpath("remote.js").read_text(encoding="utf-8")
    (page,) = re.findall(r"AbortSignal\.timeout\((\d+)\)", script)
    assert 1000 * (LOCK + TURN) < int(page)


def test_reading_waits_for_no_writer(address: str, opened: Open) -> None:
    data = opened(address, study())
    data.position("1")
    data.answer("1", 0, "first", None)
    with data.engine.begin() as db:  # on SQLite it has the lock
        db.exec_driver_sql("UPDATE study_task SET answer = 'second'")
        assert data.answers() == {"1": (TaskAnswer(0, "first", None),)} and list(data.last_stored()) == ["1"]


@pytest.mark.parametrize("name", ["answers.db", "answers.db-wal"])
def test_no_answer_goes_to_a_file_that_was_removed(tmp_path: Path, opened: Open, name: str) -> None:
    data = opened(f"sqlite:///{tmp_path / 'answers.db'}", study())
    data.position("1")
    (tmp_path / name).unlink()
    with pytest.raises(DatabaseLost, match="was removed or replaced; put it back, or start the server again"):
        data.answer("1", 0, "first", None)
    data.engine.dispose()  # another connection makes no new file
    if name == "answers.db":
        with pytest.raises(DatabaseLost):
            data.position("1")
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("study.db", "`db=`: not the address of a database; expected sqlite:///FILE or postgresql://"),
        ("mysql://localhost/x", "`db=`: cannot use mysql; expected"),
        ("sqlite://", "a database in memory would lose the answers"),
        ("sqlite:///{}/broken", "file is not a database"),
        ("sqlite:///{}/no/folder.db", "No such file or directory"),
        ("postgresql://me:secret@127.0.0.1:1/x", r"me:\*\*\*@127.0.0.1:1/x`: connection failed"),
    ],
)
def test_bad_addresses_are_refused_without_the_password(tmp_path: Path, address: str, said: str) -> None:
    (tmp_path / "broken").write_bytes(b"no database" * 1000)
    with pytest.raises((InputError, OSError), match=said) as error:
        connect(address.format(tmp_path), study())
    assert "secret" not in str(error.value)


def test_a_file_to_import_from_must_exist_and_hold_a_study(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        connect(f"sqlite:///{tmp_path}/none.db", study(), create=False)
    sqlite3.connect(tmp_path / "other.db").close()
    with pytest.raises(InputError, match="no such table: study_head"):
        connect(f"sqlite:///{tmp_path}/other.db", study(), create=False)


def test_an_overlap_above_the_annotators_of_a_group_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`overlap=4`: a group of the study has 3 annotators"):
        connect(f"sqlite:///{tmp_path}/a.db", study(), overlap=4)


def test_postgresql_without_its_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"needs psycopg, .*pip install .*\[study\]"):
        connect("postgresql://localhost/x", study())


def test_a_database_from_before_comments_is_read_and_served(opened: Open, tmp_path: Path) -> None:
    place = tmp_path / "answers.db"
    first = opened(f"sqlite:///{place}", study())
    first.position("1")
    first.answer("1", 0, "first", 1.0)
    first.close()
    with closing(sqlite3.connect(place)) as db:
        db.execute("DROP TABLE study_comment")
    read = opened(f"sqlite:///{place}", study(), create=False)
    assert read.answers() == {"1": (TaskAnswer(0, "first", 1.0),)}
    read.close()
    served = opened(f"sqlite:///{place}", study())
    served.answer("1", 1, "both", 2.0, "He or it?")
    assert served.answers() == {"1": (TaskAnswer(0, "first", 1.0), TaskAnswer(1, "both", 2.0, "He or it?"))}


def test_a_full_disk_is_told_with_its_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        orig = sqlite3.OperationalError("database or disk is full")
        orig.sqlite_errorname = "SQLITE_FULL"
        raise database.DBAPIError("INSERT", {}, orig)

    planned, address = study(), f"sqlite:///{tmp_path / 'answers.db'}"
    with monkeypatch.context() as patch, pytest.raises(InputError) as raised:
        patch.setattr(database, "_fill", full)
        connect(address, planned)
    assert str(raised.value).endswith("database or disk is full: no space left; make some, and give the command again")
    with closing(connect(address, planned)) as served:
        assert served.tokens()
