"""The answers of a served study in a database: who was given which task, and the answer. SQLite or PostgreSQL.

Each change is one transaction, committed to the disk before the method returns (SQLite: WAL, synchronous FULL). All
state is in the database, so that a server can be killed and started again. A file of SQLite that is removed or replaced
while it is open raises `DatabaseLost`, so that no answer goes to a file without a name.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError, MissingExtra, PronmetricError
from pronmetric.lab.study.answers import TaskAnswer
from pronmetric.lab.study.folder import Study

try:
    import sqlalchemy as sql
    from sqlalchemy import event
    from sqlalchemy.engine import URL, Connection, Engine, make_url
    from sqlalchemy.exc import ArgumentError, DBAPIError, NoResultFound, NoSuchModuleError
    from sqlalchemy.exc import TimeoutError as NoConnection
except ImportError:
    raise MissingExtra("sqlalchemy", "study", "pronmetric study serve") from None

SCHEMA = "1"
LEASE = 30 * 60.0
"""Seconds for which an unanswered task is kept for its annotator, if another annotator could take it."""
OVERVIEW = "overview"
_EXPECTED = "expected sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME"
_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}
_TOKEN = 24  # random bytes of a token
_FILES = "files"  # of a connection to SQLite: device and inode by path
_READ = "read"  # option of a connection: its transactions only read
_LOCK, _STATEMENT, _CONNECT = 10, 15, 10  # seconds to wait: for a lock; on PostgreSQL for an answer and a connection

_tables = sql.MetaData()
_head = sql.Table(
    "study_head", _tables, sql.Column("key", sql.Text, primary_key=True), sql.Column("value", sql.Text, nullable=False)
)
_annotator = sql.Table(
    "study_annotator",
    _tables,
    sql.Column("name", sql.Text, primary_key=True),
    sql.Column("token", sql.Text, nullable=False, unique=True),
    sql.Column("position", sql.Integer, nullable=False, default=0),  # tasks before it were given or skipped
)
_given = sql.Table(
    "study_task",
    _tables,
    sql.Column("annotator", sql.Text, primary_key=True),
    sql.Column("task", sql.Integer, primary_key=True),
    sql.Column("turn", sql.Integer, nullable=False),  # the annotator's tasks in the order in which they were given
    sql.Column("since", sql.Double, nullable=False),  # seconds since 1970
    sql.Column("answer", sql.Text),
    sql.Column("seconds", sql.Double),
    sql.Column("stored", sql.Double),
)
_comment = sql.Table(  # databases of studies that were served before comments get it when they are opened to serve
    "study_comment",
    _tables,
    sql.Column("annotator", sql.Text, primary_key=True),
    sql.Column("task", sql.Integer, primary_key=True),
    sql.Column("text", sql.Text, nullable=False),
)
_item = sql.Table(  # with an overlap only
    "study_item",
    _tables,
    sql.Column("id", sql.Text, primary_key=True),
    sql.Column("taken", sql.Integer, nullable=False, default=0),  # annotators who answered it or have it open
)


@dataclass(frozen=True, slots=True)
class Position:
    """Where an annotator is.

    done: answered tasks. total: of all tasks, None with an overlap. task: to answer now, None if none is left. last:
    the task answered last, which can be taken back.
    """

    done: int
    total: int | None
    task: int | None
    last: int | None


class Conflict(PronmetricError):
    """A task that is not the annotator's, or has another answer; `position` is where the annotator is."""

    def __init__(self, position: Position) -> None:
        super().__init__("this task has another answer, or was given to somebody else")
        self.position = position


class DatabaseLost(PronmetricError):
    """The file of the database was removed or replaced; what was written to it since is lost."""


class Database:
    """The state of one served study.

    overlap: annotators of each item; None: all annotators of its group. Then each annotator answers all own tasks.
    """

    def __init__(
        self, engine: Engine, study: Study, *, overlap: int | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self.engine, self.study, self.overlap, self._now = engine, study, overlap, now
        self._places = {
            name: {task.item: number for number, task in reversed(list(enumerate(tasks))) if not task.repeated}
            for name, tasks in study.assignments.items()
        }

    @property
    def address(self) -> str:
        """The address without its password."""
        return _shown(self.engine.url)

    @property
    def writers(self) -> int:
        """The number of transactions that make sense at a time."""
        return 1 if self.engine.dialect.name == "sqlite" else 8

    def close(self) -> None:
        """Close its connections."""
        self.engine.dispose()

    def tokens(self) -> dict[str, str]:
        """The annotators' secret tokens by name."""
        with self._reading() as db:
            known = dict(db.execute(sql.select(_annotator.c.name, _annotator.c.token)).all())
        return {name: known[name] for name in self.study.assignments}

    def overview_token(self) -> str:
        """The secret token of the overview."""
        with self._reading() as db:
            return db.execute(sql.select(_head.c.value).where(_head.c.key == OVERVIEW)).scalar_one()

    def position(self, annotator: str) -> Position:
        """Where the annotator is; gives the next task if none is open."""
        with self._locked(annotator) as (db, start):
            return self._position(db, annotator, start)

    def answer(self, annotator: str, task: int, answer: str, seconds: float | None, comment: str = "") -> Position:
        """Store an answer to an open task; the same answer again changes nothing.

        Raises:
            Conflict: nothing is stored.
        """
        own = _own(annotator, task)
        new = {"answer": answer, "seconds": seconds, "stored": self._now()}
        with self._locked(annotator) as (db, start):
            changed = db.execute(sql.update(_given).where(own, _given.c.answer.is_(None)).values(new)).rowcount
            if changed and comment:
                db.execute(sql.insert(_comment).values(annotator=annotator, task=task, text=comment))
            same = changed or db.execute(sql.select(_given.c.answer).where(own)).scalar() == answer
            position = self._position(db, annotator, start)
        if not same:
            raise Conflict(position)
        return position

    def undo(self, annotator: str, task: int) -> Position:
        """Open the task that the annotator answered last, without its comment; any other task changes nothing."""
        last = _last(annotator)
        with self._locked(annotator) as (db, start):
            if task == db.execute(last).scalar():
                opened = {"answer": None, "seconds": None, "stored": None, "since": self._now()}
                db.execute(sql.update(_given).where(_own(annotator, task)).values(opened))
                db.execute(sql.delete(_comment).where(_comment.c.annotator == annotator, _comment.c.task == task))
            return self._position(db, annotator, start)

    def answers(self) -> dict[str, tuple[TaskAnswer, ...]]:
        """All answers, in the order of the tasks; annotators without an answer are left out."""
        columns = _given.c.annotator, _given.c.task, _given.c.answer, _given.c.seconds
        wanted = sql.select(*columns).where(_given.c.answer.is_not(None)).order_by(_given.c.task)
        by_annotator: dict[str, list[TaskAnswer]] = {}
        with self._reading() as db:
            comments = {}
            if sql.inspect(db).has_table(_comment.name):
                comments = {(name, task): text for name, task, text in db.execute(sql.select(_comment))}
            for name, task, answer, seconds in db.execute(wanted):
                given = TaskAnswer(task, answer, seconds, comments.get((name, task), ""))
                by_annotator.setdefault(name, []).append(given)
        return {name: tuple(by_annotator[name]) for name in self.study.assignments if name in by_annotator}

    def last_stored(self) -> dict[str, float]:
        """The time of each annotator's last answer, in seconds since 1970."""
        wanted = sql.select(_given.c.annotator, sql.func.max(_given.c.stored)).group_by(_given.c.annotator)
        with self._reading() as db:
            return {name: stored for name, stored in db.execute(wanted) if stored is not None}

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """A transaction that only reads; no other one waits for it."""
        with self.engine.connect().execution_options(**{_READ: True}) as db, db.begin():
            yield db

    @contextmanager
    def _locked(self, annotator: str) -> Iterator[tuple[Connection, int]]:
        """A transaction that no other one of the same annotator overlaps, and the annotator's place in the list.

        Raises:
            Lost: at its end, if the files of the database are not those that were opened.
        """
        with self.engine.begin() as db:
            files: Mapping[str, tuple[int, int] | None] = db.info.get(_FILES, {})
            wanted = sql.select(_annotator.c.position).where(_annotator.c.name == annotator)
            yield db, db.execute(wanted.with_for_update()).scalar_one()
        if files != _identities(files):
            raise DatabaseLost(f"{self.address} was removed or replaced; put it back, or start the server again")

    def _position(self, db: Connection, annotator: str, start: int) -> Position:
        answered = (_given.c.annotator == annotator) & _given.c.answer.is_not(None)
        done = sql.select(sql.func.count()).select_from(_given).where(answered).scalar_subquery()
        found, last = db.execute(sql.select(done, _last(annotator).scalar_subquery())).one()
        total = len(self.study.assignments[annotator]) if self.overlap is None else None
        return Position(found, total, self._open(db, annotator, start), last)

    def _open(self, db: Connection, annotator: str, start: int) -> int | None:
        """The first task that was given and has no answer, else a new one."""
        wanted = sql.select(_given.c.task).where(_given.c.annotator == annotator, _given.c.answer.is_(None))
        task = db.execute(wanted.order_by(_given.c.turn).limit(1)).scalar()
        if task is None:
            task = self._next(db, annotator, start)
            return self._release(db, annotator) if task is None else task
        if self.overlap is not None:
            db.execute(sql.update(_given).where(_own(annotator, task)).values(since=self._now()))
        return task

    def _next(self, db: Connection, annotator: str, start: int) -> int | None:
        """Give the next task of the annotator's list, from `start` on, whose item has room."""
        tasks = self.study.assignments[annotator]
        if start == len(tasks):
            return None
        room, own = self._rooms(db, annotator)
        given = None
        for number in range(start, len(tasks)):
            task = tasks[number]
            if self.overlap is None or (task.item in own if task.repeated else self._take(db, task.item, room)):
                given = number
                self._give(db, annotator, number)
                break
        position = len(tasks) if given is None else given + 1
        db.execute(sql.update(_annotator).where(_annotator.c.name == annotator).values(position=position))
        return given

    def _rooms(self, db: Connection, annotator: str) -> tuple[set[str], set[str]]:
        """With an overlap: the items with room for one more annotator, and those that this annotator was given."""
        if self.overlap is None:
            return set(), set()
        room = set(db.execute(sql.select(_item.c.id).where(_item.c.taken < self.overlap)).scalars())
        return room, {self.study.assignments[annotator][number].item for number in self._own_tasks(db, annotator)}

    def _own_tasks(self, db: Connection, annotator: str) -> set[int]:
        return set(db.execute(sql.select(_given.c.task).where(_given.c.annotator == annotator)).scalars())

    def _take(self, db: Connection, item: str, room: set[str]) -> bool:
        """Whether the item had room; it then has less."""
        if item not in room:
            return False
        still = (_item.c.id == item) & (_item.c.taken < self.overlap)
        return bool(db.execute(sql.update(_item).where(still).values(taken=_item.c.taken + 1)).rowcount)

    def _release(self, db: Connection, annotator: str) -> int | None:
        """With an overlap: give a task that another annotator has left open for longer than the lease."""
        if self.overlap is None:
            return None
        own, places = self._own_tasks(db, annotator), self._places[annotator]
        left = (_given.c.annotator != annotator) & _given.c.answer.is_(None) & (_given.c.since < self._now() - LEASE)
        wanted = sql.select(_given.c.annotator, _given.c.task, _given.c.since).where(left).order_by(_given.c.since)
        for name, number, since in db.execute(wanted).all():
            task = self.study.assignments[name][number]
            mine = None if task.repeated else places.get(task.item)
            if mine is None or mine in own:
                continue
            unchanged = _own(name, number) & _given.c.answer.is_(None) & (_given.c.since == since)
            if db.execute(sql.delete(_given).where(unchanged)).rowcount:
                self._give(db, annotator, mine)
                return mine
        return None

    def _give(self, db: Connection, annotator: str, task: int) -> None:
        turn = sql.select(sql.func.coalesce(sql.func.max(_given.c.turn), 0) + 1).where(_given.c.annotator == annotator)
        new = {"annotator": annotator, "task": task, "turn": turn.scalar_subquery(), "since": self._now()}
        db.execute(sql.insert(_given).values(new))


def connect(
    address: str, study: Study, *, overlap: int | None = None, create: bool = True, now: Callable[[], float] = time.time
) -> Database:
    """The database at `sqlite:///FILE` or `postgresql://...`; a new one gets the study's tables and secret tokens.

    overlap: of a new database; None: that of the database, for a new one none. create: whether a database without a
    study is accepted.

    Raises:
        InputError: no such address, or the database cannot be opened, has another study, schema or overlap.
    """
    url = _checked(address)
    shown = _shown(url)
    if overlap is not None:
        _check_overlap(study, overlap)
    if not create and url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise InputError("no such file; give the `db=` of `pronmetric study serve`", file=shown)
    if create and url.get_backend_name() == "sqlite":
        Path(url.database or "").touch(mode=0o600)  # it holds the tokens
    engine = _engine(url)
    try:
        with engine.begin() as db:
            if create:
                _tables.create_all(db)
            head = dict(db.execute(sql.select(_head.c.key, _head.c.value)).all())
            if not head and create:
                head = _fill(db, study, overlap)
    except DBAPIError as error:
        engine.dispose()
        full = getattr(error.orig, "sqlite_errorname", None) == "SQLITE_FULL"
        cure = ": no space left; make some, and give the command again" if full else f"; {_EXPECTED}"
        raise InputError(f"`db={shown}`: {reason(error)}{cure}") from None
    try:
        _check_head(head, study, overlap, shown)
    except InputError:
        engine.dispose()
        raise
    return Database(engine, study, overlap=int(head["overlap"]) if head["overlap"] else None, now=now)


def _last(annotator: str) -> sql.Select[int]:
    """The task that the annotator answered last."""
    answered = sql.select(_given.c.task).where(_given.c.annotator == annotator, _given.c.answer.is_not(None))
    return answered.order_by(_given.c.turn.desc()).limit(1)


def _shown(url: URL) -> str:
    return url.set(drivername=url.get_backend_name()).render_as_string(hide_password=True)


def _own(annotator: str, task: int) -> sql.ColumnElement[bool]:
    return (_given.c.annotator == annotator) & (_given.c.task == task)


def _check_overlap(study: Study, overlap: int) -> None:
    groups = [study.design.group_of(number) for number in range(len(study.assignments))]
    least = min(map(groups.count, groups))
    if overlap > least:
        raise InputError(
            f"`overlap={overlap}`: a group of the study has {least} annotators; give fewer, or sample again"
        )


def _fill(db: Connection, study: Study, overlap: int | None) -> dict[str, str]:
    head = {"schema": SCHEMA, "study": study.id, "overlap": "" if overlap is None else str(overlap)}
    head[OVERVIEW] = secrets.token_urlsafe(_TOKEN)
    db.execute(sql.insert(_head), [{"key": key, "value": value} for key, value in head.items()])
    rows = [{"name": name, "token": secrets.token_urlsafe(_TOKEN), "position": 0} for name in study.assignments]
    db.execute(sql.insert(_annotator), rows)
    if overlap is not None:
        db.execute(sql.insert(_item), [{"id": item, "taken": 0} for item in study.items])
    return head


def _check_head(head: dict[str, str], study: Study, overlap: int | None, shown: str) -> None:
    if head.get("schema") != SCHEMA:
        raise InputError(
            f"`db={shown}`: its schema has version {head.get('schema')}, this pronmetric reads {SCHEMA}; "
            "use the version that wrote it, or a new database"
        )
    if head["study"] != study.id:
        raise InputError(f"`db={shown}`: has the study {head['study']}, not {study.id}; give a new database")
    if overlap is not None and head["overlap"] != str(overlap):
        was = head["overlap"] or "none"
        raise InputError(
            f"`db={shown}`: was made with `overlap={was}`, not {overlap}; give the same, or a new database"
        )


def _checked(address: str) -> URL:
    try:
        url = make_url(address)
    except ArgumentError:
        raise InputError(f"`db=`: not the address of a database; {_EXPECTED}") from None
    name = url.get_backend_name()
    if name not in _DRIVERS:
        raise InputError(f"`db=`: cannot use {name}; {_EXPECTED}")
    if name == "sqlite" and url.database in (None, "", ":memory:"):
        raise InputError("`db=`: a database in memory would lose the answers; give sqlite:///FILE")
    return url.set(drivername=_DRIVERS[name])


def _engine(url: URL) -> Engine:
    sqlite = url.get_backend_name() == "sqlite"
    options: dict[str, Any] = {"connect_args": {"timeout": _LOCK}}
    if not sqlite:
        options = {"pool_pre_ping": True, "pool_size": 8, "connect_args": {"connect_timeout": _CONNECT}}
    try:
        engine = sql.create_engine(url, **options)
    except (ModuleNotFoundError, NoSuchModuleError):
        raise MissingExtra("psycopg", "study", "`db=postgresql://`") from None
    event.listen(engine, "connect", _set_up_sqlite if sqlite else _set_up_postgresql)
    if sqlite:
        event.listen(engine, "begin", _begin_sqlite)
        _keep_to_one_file(engine)
    return engine


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where SQLAlchemy says so
    for line in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"):
        connection.execute(line).close()


def _begin_sqlite(db: Connection) -> None:
    db.exec_driver_sql("BEGIN" if db.get_execution_options().get(_READ) else "BEGIN IMMEDIATE")


def _keep_to_one_file(engine: Engine) -> None:
    """Note which files each connection to SQLite has open; after the first one no other database is opened."""
    path = str(engine.url.database)
    first: dict[str, tuple[int, int] | None] = {}

    def before(*_: object) -> None:
        if first != _identities(first):
            raise DatabaseLost(f"{path} was removed or replaced; put it back, or start the server again")

    def after(connection: Any, record: Any) -> None:
        connection.execute("SELECT count(*) FROM sqlite_master").close()  # so that the log exists
        record.info[_FILES] = _identities((path, f"{path}-wal"))
        first.setdefault(path, record.info[_FILES][path])

    event.listen(engine, "do_connect", before)
    event.listen(engine, "connect", after)


def _identities(paths: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """Device and inode of each file, None if it is not there."""
    identities: dict[str, tuple[int, int] | None] = {}
    for path in paths:
        try:
            state = os.stat(path)
        except OSError:
            identities[path] = None
        else:
            identities[path] = state.st_dev, state.st_ino
    return identities


def _set_up_postgresql(connection: Any, _: object) -> None:
    with connection.cursor() as cursor:
        for name, value in (
            ("synchronous_commit", "on"),
            ("lock_timeout", f"{_LOCK}s"),
            ("statement_timeout", f"{_STATEMENT}s"),
        ):
            cursor.execute(f"SET {name} = '{value}'")
    connection.commit()


def reason(error: BaseException) -> str:
    """The first line of a database's error, without the statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    text = str(cause).strip()
    return text.splitlines()[0] if text else type(cause).__name__


UNAVAILABLE = DBAPIError, NoConnection, NoResultFound, DatabaseLost
"""The database does not answer, is not writable, or is not what it was; nothing was stored."""
