"""A lab of two projects with a row in every table, and its people and tokens."""

import itertools
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import JSON, DateTime, LargeBinary, String, Text, create_engine, inspect, text
from sqlalchemy.orm import Mapper, Session

from arcadia_backend.accounts import people, sign_in, tokens
from arcadia_backend.app import create_app
from arcadia_backend.config import API, COOKIE, Settings
from arcadia_backend.database import tables
from arcadia_backend.database.columns import Json, Numbers, utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.ownership import LIMITED
from arcadia_backend.database.rights import name_of
from arcadia_backend.database.scope import BACKEND, Role, acting_as
from arcadia_backend.live_games import stage
from arcadia_workers.contract.futures import CalibrationOptions, FuturesOptions
from arcadia_workers.contract.practice import PracticeOptions
from arcadia_workers.contract.review import ReviewOptions
from tests.factories import CARTPOLE, PONG

PASSWORD = "a long password of the lab"
SECRETS = {"own": "ownsecret", "other": "othersecret"}

# Values of columns that are no free text. A text of another column is a secret.
_VALUES: dict[str, Any] = {
    "runs.origin": "trained",
    "runs.algorithm": "paac",
    "runs.env": "CartPole-v1",
    "runs.queue": "cpu",
    "runs.state": "finished",
    "runs.desired": "run",
    "runs.config": CARTPOLE,
    "runs.executor": "workers",
    "runs.needed_plugins": "",
    "runs.attempt": 1,
    "studies.state": "finished",
    "studies.specification": {"name": "x", "config": CARTPOLE, "seeds": [1]},
    "reports.blocks": [],
    "boards.panels": [],
    "views.query": "",
    "jobs.state": "queued",
    "jobs.desired": "run",
    "jobs.outcome": None,
    "jobs.needed_plugins": "",
    "jobs.parameters": {"protocol": "episodes", "seed": 1, "episode": 0},
    "attempts.attempt": 1,
    "attempts.outcome": "finished",
    "attempts.packages_sha256": None,
    "attempts.diff_sha256": None,
    "log_lines.level": "info",
    "evaluations.origin": "asked",
    "evaluations.protocol": "episodes",
    "evaluations.acting": {"name": "sampled"},
    "evaluations.document": None,
    "evaluations.starts": None,
    "evaluation_episodes.ended": "over",
    "calibrations.protocol": "episodes",
    "calibrations.origin": "asked",
    "calibrations.document": None,
    "calibrations.options": CalibrationOptions().model_dump(mode="json"),
    "futures.options": FuturesOptions(decision=1).model_dump(mode="json"),
    "futures.document": None,
    "reviews.options": ReviewOptions().model_dump(mode="json"),
    "reviews.document": None,
    "practices.options": PracticeOptions().model_dump(mode="json"),
    "practices.arms": [],
    "practices.document": None,
    "kept_games.env": PONG["env"],
    "start_sets.env": PONG["env"],
    "start_sets.player": "human",
    "kept_games.ended": "over",
    "media.kind": "table",
    "artifact_links.role": "made",
    "files.kind": "checkpoint",
    "bulk_actions.action": "archive",
    "bulk_actions.state": "done",
    "alerts.kind": "script",
    "alerts.level": "info",
    "alert_deliveries.state": "failed",
    "run_settings.type": "text",
    "runs.needs": "",
    "submissions.executor": "slurm",
    "submissions.state": "waiting",
    "paper_studies.paper": "paac",
}
# Rows for which the application stores its own, rows that this module adds in another order, and measurements, whose
# runs the application archives after some seconds.
_FIRST = ("runs", "studies", "reports", "files", "checkpoints", "jobs", "replays")
_SKIPPED = {
    "run_settings",
    "projects",
    "project_roles",
    "alert_deliveries",
    "event_digests",
    "provenance_documents",
    "measurements",
}
_KIND_OF_JOB = {
    "evaluations.job_id": "evaluation",
    "calibrations.job_id": "calibration",
    "futures.job_id": "futures",
    "reviews.job_id": "review",
    "practices.job_id": "practice",
    "kept_games.job_id": "film",
    "replays.saliency_job_id": "saliency",
}
_numbers = itertools.count(1)


@dataclass
class Side:
    """A project of the lab, with the ids of a row in each table."""

    secret: str
    project_id: int
    ids: dict[str, Any] = field(default_factory=dict)


class SqliteCopy:
    """A copy of the lab's SQLite database, to undo changes."""

    def __init__(self, database: Database) -> None:
        self._path = str(database.url.database)
        self._copy = sqlite3.connect(":memory:", check_same_thread=False)
        with closing(sqlite3.connect(self._path)) as stored:
            stored.backup(self._copy)

    def restore(self) -> None:
        """Store the copy again."""
        with closing(sqlite3.connect(self._path)) as stored:
            self._copy.backup(stored)


class PostgresqlCopy:
    """A copy of all tables of the lab's PostgreSQL database in another schema, to undo changes."""

    def __init__(self, database: Database) -> None:
        self._engine = create_engine(database.url)
        names = [table.name for table in tables.Base.metadata.sorted_tables]
        with self._engine.begin() as connection:
            connection.execute(text("CREATE SCHEMA copied"))
            for name in names:
                connection.execute(text(f"CREATE TABLE copied.{name} AS TABLE public.{name}"))
        # Without checks of foreign keys, the order of the tables does not matter.
        self._restored = f"""DO $$
            DECLARE restored text;
            BEGIN
                SET LOCAL session_replication_role = replica;
                FOREACH restored IN ARRAY ARRAY{names} LOOP
                    EXECUTE format('DELETE FROM public.%I', restored);
                    EXECUTE format('INSERT INTO public.%I SELECT * FROM copied.%I', restored, restored);
                END LOOP;
            END $$"""  # noqa: S608 - names of our tables

    def restore(self) -> None:
        """Store the copy again."""
        with self._engine.begin() as connection:
            connection.execute(text(self._restored))

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


@dataclass(eq=False)
class Lab:
    """The application with its two projects, and credentials of its people."""

    app: FastAPI
    own: Side
    other: Side
    cookies: dict[str, str] = field(default_factory=dict)
    bearers: dict[str, str] = field(default_factory=dict)
    portal: Any = None
    copy: Any = None

    @property
    def database(self) -> Database:
        """The database of the application."""
        opened: Database = self.app.state.database
        return opened

    @property
    def callers(self) -> list[str]:
        """The names of all callers."""
        return ["nobody", *self.cookies, *self.bearers]

    def client(self, caller: str) -> TestClient:
        """Return the client of a caller."""
        headers = {"Authorization": f"Bearer {self.bearers[caller]}"} if caller in self.bearers else {}
        cookies = {COOKIE: self.cookies[caller]} if caller in self.cookies else {}
        client = TestClient(
            self.app, base_url="http://localhost", headers=headers, cookies=cookies, raise_server_exceptions=False
        )
        client.portal = self.portal
        return client


@contextmanager
def open_lab(folder: Path, database_url: str = "") -> Iterator[Lab]:
    """Start an application whose background work changes no row. Fill its two projects, and create the accounts."""
    settings = {"data_dir": folder, "worker_token": "worker-secret", "token": "installation", "sweep_seconds": 60}
    settings |= {"database_url": database_url} if database_url else {}
    app = create_app(Settings.model_validate(settings))
    headers = {"Authorization": f"Bearer {settings['token']}"}
    with (
        acting_as(BACKEND),
        patch.object(stage, "ALONE_SECONDS", math.inf),
        TestClient(app, base_url="http://localhost", headers=headers) as client,
    ):
        sides = []
        for secret in SECRETS.values():
            answer = client.post(f"{API}/projects", json={"name": f"{secret} project", "text": f"{secret} text"})
            assert answer.status_code == 201, answer.text
            sides.append(Side(secret, answer.json()["id"]))
        lab = Lab(app, sides[0], sides[1], portal=client.portal)
        for side in sides:
            with lab.database.write() as session:
                _fill(session, side)
        _add_people(lab)
        if database_url:
            lab.copy = copy = PostgresqlCopy(lab.database)
            yield lab
            copy.close()
        else:
            lab.copy = SqliteCopy(lab.database)
            yield lab


def _fill(session: Session, side: Side) -> None:
    """Add a row to each table that belongs to projects."""
    side.ids["projects"] = side.project_id
    models = {name_of(mapper): mapper for mapper in tables.Base.registry.mappers}
    names = [*_FIRST, *(table.name for table in tables.Base.metadata.sorted_tables)]
    for name in dict.fromkeys(names):
        if name in LIMITED and name not in _SKIPPED and name not in side.ids:
            _add(session, side, models[name])
    document = models["provenance_documents"].class_
    content = f"{side.secret} diff"
    session.add(document(sha256=_hash(side, "diff"), content=content))
    session.flush()
    attempt = session.get_one(tables.Attempt, (side.ids["runs"], 1))
    attempt.diff_sha256 = _hash(side, "diff")
    session.flush()
    side.ids["recordings"] = _add_job(session, side, "recording")
    side.ids["live"] = _add_job(session, side, "live")
    entry = session.get_one(tables.File, side.ids["files"])
    assert entry.run_id == side.ids["runs"]


def _hash(side: Side, name: str) -> str:
    return (f"{side.project_id}{name}".encode().hex() + "0" * 64)[:64]


def _add_job(session: Session, side: Side, kind: str) -> int:
    values = {"live": {"follows": True}}.get(kind, _VALUES["jobs.parameters"])
    job = tables.Job(
        kind=kind,
        run_id=None if kind == "film" else side.ids["runs"],
        project_id=side.project_id if kind == "film" else None,
        checkpoint_id=side.ids.get("checkpoints"),
        parameters=values,
        total=1,
        message=f"{side.secret} message",
    )
    session.add(job)
    session.flush()
    return job.id


def _add_artifact_file(session: Session, side: Side) -> int:
    sha256 = _hash(side, "artifact")
    file = tables.File(
        run_id=None, attempt=0, kind="artifact", path=sha256, stored_path=f"artifacts/{side.secret}", sha256=sha256,
        bytes=1,
    )  # fmt: skip
    session.add(file)
    session.flush()
    side.ids["artifact_files"] = file.id
    return file.id


def _add(session: Session, side: Side, mapper: Mapper[Any]) -> None:
    table, name_of_table = mapper.local_table, name_of(mapper)
    values: dict[str, Any] = {}
    for column in table.columns:
        name = mapper.get_property_by_column(column).key
        if column.primary_key and column.autoincrement is True and not column.foreign_keys:
            continue
        value = _value(session, side, name_of_table, column)
        if value is not _OMITTED:
            values[name] = value
    if name_of_table == "jobs":
        values["kind"] = "recording"
    row = mapper.class_(**values)
    session.add(row)
    session.flush()
    keys = inspect(row).identity
    side.ids[name_of_table] = keys[0] if len(keys) == 1 else keys


_OMITTED = object()


def _value(session: Session, side: Side, table: str, column: Any) -> Any:
    """Return the value of a column: a given one, the id of another row, or a secret text."""
    full = f"{table}.{column.name}"
    if full in _VALUES:
        return _VALUES[full]
    if kind := _KIND_OF_JOB.get(full):
        return _add_job(session, side, kind)
    if column.name == "job_id" and table in ("files", "replays"):
        return None
    if full == "artifact_entries.file_id":
        return _add_artifact_file(session, side)
    for key in column.foreign_keys:
        target = key.column.table.name
        return side.ids.get(target) if target in LIMITED else None
    if column.name in ("run_id", "checkpoint_id"):
        return side.ids.get({"run_id": "runs", "checkpoint_id": "checkpoints"}[column.name])
    if column.primary_key and isinstance(column.type, String):
        return f"{side.secret} {column.name}"[: column.type.length or 50]
    if column.primary_key:
        is_generated = list(column.table.primary_key) == [column] and column.autoincrement is not False
        return _OMITTED if is_generated else 1
    return _plain(side, full, column)


def _plain(side: Side, full: str, column: Any) -> Any:
    if full == "files.path":
        return f"{side.secret}.png"
    if isinstance(column.type, String | Text):
        secret = f"{side.secret} {full} {next(_numbers)}"
        return secret[: column.type.length] if isinstance(column.type, String) and column.type.length else secret
    if column.default is not None or column.nullable:
        return _OMITTED
    if isinstance(column.type, LargeBinary):
        return b""
    if isinstance(column.type, Numbers):
        return []
    if column.type is Json or isinstance(column.type, JSON):
        return [] if column.name in ("tags", "actions", "screens", "job_options") else {"text": side.secret}
    if isinstance(column.type, DateTime) or column.name.endswith("_at") or column.name == "time":
        return utc_now()
    return 1


def _add_people(lab: Lab) -> None:
    """Create the accounts, roles, sessions and tokens of the callers."""
    with lab.database.write() as session:
        owner = people.add_first(session, "Root", "root@example.org", PASSWORD)
        roles = {
            "stranger": None,
            "viewer": (lab.own, Role.VIEWER),
            "editor": (lab.own, Role.EDITOR),
            "administrator": (lab.own, Role.ADMINISTRATOR),
            "administrator of another project": (lab.other, Role.ADMINISTRATOR),
        }
        for name, held in roles.items():
            person = people.add(session, name, f"{name.replace(' ', '.')}@example.org")
            if held is not None:
                side, role = held
                session.add(tables.ProjectRole(project_id=side.project_id, person_id=person.id, role=int(role)))
            lab.cookies[name] = sign_in.start_session(session, person, "", "").secret
            if name == "administrator of another project":
                other = tokens.create(session, "other", ["read", "write"], person_id=person.id)
                other.token.project_id = lab.other.project_id
                lab.bearers["token of another project"] = other.secret
            if name == "editor":
                _add_tokens(session, lab, person)
        lab.cookies["installation administrator"] = sign_in.start_session(session, owner, "", "").secret
        old = sign_in.start_session(session, owner, "", "")
        old.session.proved_at = utc_now() - sign_in.FRESH_TIME
        lab.cookies["administrator with an old session"] = old.secret
        for scope in ("read", "write"):
            owned = tokens.create(session, scope, [scope], person_id=owner.id)
            lab.bearers[f"administrator's token {scope}"] = owned.secret
        worker = tokens.create(session, "worker", ["worker"], person_id=owner.id)
        lab.bearers["token worker"] = worker.secret


def _add_tokens(session: Session, lab: Lab, person: tables.Person) -> None:
    for scope in ("read", "write", "log"):
        lab.bearers[f"token {scope}"] = tokens.create(session, scope, [scope], person_id=person.id).secret
    expired = tokens.create(session, "expired", ["read", "write"], person_id=person.id, expires_at=utc_now())
    lab.bearers["expired token"] = expired.secret
    revoked = tokens.create(session, "revoked", ["read", "write"], person_id=person.id)
    tokens.revoke(session, revoked.token)
    lab.bearers["revoked token"] = revoked.secret
    attempt = tokens.create_for_attempt(session, 1, run_id=lab.own.ids["runs"], lifetime=timedelta(hours=1))
    lab.bearers["token of an attempt"] = attempt.secret
    signed_out = sign_in.start_session(session, person, "", "")
    sign_in.revoke(session, signed_out.session)
    lab.cookies["revoked session"] = signed_out.secret
