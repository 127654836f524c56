"""Migration 0021, which renames only the fields of stored documents."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, text

from alembic import command
from backend.config import Settings
from backend.database.engine import migration_engine
from backend.database.migrations import alembic_config, migrate
from backend.reports.schemas import read_blocks
from backend.studies.specification import Specification
from workers.contract.config import GorilaConfig, PaacConfig
from workers.contract.protocols.document import EvaluationDocument

TIME = "2026-01-01 10:00:00"
PAAC = {
    "algorithm": "paac",
    "env": "CartPole-v1",
    "total_steps": 100_000,
    "centred_inputs": True,
    "initialisation": "orthogonal",
}
GORILA = {
    "algorithm": "gorila",
    "env": "CartPole-v1",
    "total_steps": 100_000,
    "optimizer": "centred_rmsprop",
    "prioritised_replay": True,
}
STUDY = {
    "name": "centred or not",
    "question": 'Does "centred_inputs" help? Use "at_once": 2.',
    "config": GORILA,
    "changes": {"initialisation": "uniform"},
    "axes": [
        {"field": "centred_inputs", "values": [True, False]},
        {"field": ["optimizer", "rmsprop_decay"], "values": [["centred_rmsprop", 0.9], ["adagrad", 0.5]]},
    ],
    "seeds": [1, 2],
    "at_once": 3,
}
EVALUATION = {
    "protocol": "no-op-5min",
    "env": "ALE/Pong-v5",
    "algorithm": "paac",
    "checkpoint_step": 5,
    "acting": {"name": "sampled"},
    "seed": 1,
    "frames_per_action": 4,
    "scores": [3.0],
    "mean": 3.0,
    "median": 3.0,
    "standard_error": None,
    "interval": None,
    "human_normalised": 79.0,
    "normalised_by": {"source": "Gorila", "table": "table 4", "protocol": "no-op-5min", "random": -20.7, "human": 9.3},
    "not_normalised_because": None,
    "episodes": [],
}
QUOTE = 'The block {"kind": "replay", "video": 7} and the field centred_inputs'
BLOCKS: list[dict[str, Any]] = [
    {"kind": "text", "markdown": QUOTE},
    {"kind": "chart", "address": "/api/v1/figures/curves?runs=1,2&group_by=centred_inputs", "caption": QUOTE},
    {"kind": "table", "of": "runs", "numbers": [1], "columns": ["name", "config.initialisation"], "caption": ""},
    {"kind": "replay", "video": 7, "caption": "video"},
    {"kind": "draft", "content": '{"kind":"replay","video":0,"caption":"zu früh"}'},
    {"kind": "draft", "content": QUOTE},
    {"kind": "draft", "content": json.dumps({"kind": "text", "markdown": QUOTE})},
]
RESPONSE = json.dumps({"id": 3, "blocks": [BLOCKS[0], BLOCKS[3]]}, separators=(",", ":"))
RUN = """
    INSERT INTO runs (id, name, algorithm, env, queue, priority, notes, config, state, desired, attempt, requeues,
        created_at, step, frames, total_steps, episodes)
    VALUES (:id, 'centred_inputs', 'paac', 'CartPole-v1', 'cpu', 0, '', :config, 'stopped', 'stop', 1, 0,
        :time, 5, 5, 10, 0)
"""
JOB = """
    INSERT INTO jobs (id, kind, run_id, checkpoint_id, parameters, state, desired, done, total, attempt, last_seq,
        tries, created_at)
    VALUES (:id, 'evaluation', 1, 1, '{}', 'done', 'run', 0, 1, 1, 0, 0, :time)
"""
CHECKPOINT = """
    INSERT INTO checkpoints (id, run_id, attempt, step, frames, file, sha256, bytes, best, created_at)
    VALUES (1, 1, 1, 5, 5, 'a', '', 1, false, :time)
"""
EVALUATIONS = """
    INSERT INTO evaluations (id, run_id, job_id, checkpoint_id, step, frames, sha256, protocol, acting, seed, origin,
        document)
    VALUES (:id, 1, :id, 1, 5, 5, '', 'no-op-5min', '{}', 1, 'asked', :document)
"""
STUDIES = """
    INSERT INTO studies (id, name, question, specification, state, created_at, started_at)
    VALUES (1, 'centred or not', '', :specification, 'running', :time, :time)
"""
REPORT = """
    INSERT INTO reports (id, title, blocks, version, created_at, updated_at)
    VALUES (1, 'at_once', :blocks, 4, :time, :time)
"""
KEY = """
    INSERT INTO idempotency_keys (key, fingerprint, created_at, response) VALUES ('a', 'b', :time, :response)
"""


@pytest.fixture
def earlier(empty: Settings) -> Settings:
    """Return settings of a database at migration 0020 whose documents have the earlier names."""
    move(empty, command.upgrade, "0020")
    with migration_engine(empty.resolved_database_url).begin() as connection:
        for number, config in ((1, PAAC), (2, GORILA)):
            insert(connection, RUN, id=number, config=json.dumps(config), time=TIME)
        insert(connection, CHECKPOINT, time=TIME)
        for number, document in ((1, json.dumps(EVALUATION)), (2, None)):
            insert(connection, JOB, id=number, time=TIME)
            insert(connection, EVALUATIONS, id=number, document=document)
        insert(connection, STUDIES, specification=json.dumps(STUDY), time=TIME)
        insert(connection, REPORT, blocks=json.dumps(BLOCKS), time=TIME)
        insert(connection, KEY, response=RESPONSE, time=TIME)
    return empty


def insert(connection: Connection, statement: str, **values: object) -> None:
    connection.execute(text(statement), values)


def move(settings: Settings, to: Callable[..., None], revision: str) -> None:
    """Upgrade or downgrade to a revision."""
    with migration_engine(settings.resolved_database_url).begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        to(config, revision)


def stored(settings: Settings, table: str, column: str) -> list[Any]:
    """Return the JSON values of a column in order of the primary key."""
    key = "key" if table == "idempotency_keys" else "id"
    with migration_engine(settings.resolved_database_url).begin() as connection:
        found = connection.execute(text(f"SELECT CAST({column} AS TEXT) FROM {table} ORDER BY {key}"))  # noqa: S608
        return [content and json.loads(content) for content in found.scalars()]


def test_configurations_have_the_current_names(earlier: Settings) -> None:
    migrate(earlier)
    paac, gorila = stored(earlier, "runs", "config")
    expected = {"total_steps": 100_000, "env": "CartPole-v1"}
    assert PaacConfig(**paac) == PaacConfig(**expected, centered_inputs=True, initialization="orthogonal")
    assert GorilaConfig(**gorila) == GorilaConfig(**expected, optimizer="centered_rmsprop", prioritized_replay=True)


@pytest.mark.nightly
def test_a_study_has_the_current_names_in_its_configuration_and_axes(earlier: Settings) -> None:
    migrate(earlier)
    (found,) = stored(earlier, "studies", "specification")
    specification = Specification(**found)
    assert specification.max_concurrent_runs == 3
    assert specification.question == STUDY["question"]
    assert specification.changes == {"initialization": "uniform"}
    assert [axis.field for axis in specification.axes] == ["centered_inputs", ["optimizer", "rmsprop_decay"]]
    assert specification.axes[1].values == [["centered_rmsprop", 0.9], ["adagrad", 0.5]]
    assert GorilaConfig(**specification.config or {}).prioritized_replay


@pytest.mark.nightly
def test_evaluations_have_the_current_names(earlier: Settings) -> None:
    migrate(earlier)
    found, unfinished = stored(earlier, "evaluations", "document")
    document = EvaluationDocument(**found)
    assert document.normalized_by is not None
    assert (document.human_normalized, document.normalized_by.human) == (79.0, 9.3)
    assert unfinished is None


def test_only_the_fields_of_report_blocks_are_renamed(earlier: Settings) -> None:
    migrate(earlier)
    (found,) = stored(earlier, "reports", "blocks")
    assert read_blocks(found)
    assert found == [
        BLOCKS[0],
        {**BLOCKS[1], "address": "/api/v1/figures/curves?runs=1,2&group_by=centered_inputs"},
        {**BLOCKS[2], "columns": ["name", "config.initialization"]},
        {"kind": "replay", "replay": 7, "caption": "video"},
        {"kind": "draft", "content": '{"kind":"replay","replay":0,"caption":"zu früh"}'},
        *BLOCKS[5:],
    ]


@pytest.mark.nightly
def test_a_repeated_request_gets_a_response_with_the_current_names(earlier: Settings) -> None:
    migrate(earlier)
    (found,) = stored(earlier, "idempotency_keys", "response")
    assert found == {"id": 3, "blocks": [BLOCKS[0], {"kind": "replay", "replay": 7, "caption": "video"}]}


@pytest.mark.nightly
def test_the_earlier_names_can_be_restored(earlier: Settings) -> None:
    move(earlier, command.upgrade, "0021")
    move(earlier, command.downgrade, "0020")
    assert stored(earlier, "runs", "config") == [PAAC, GORILA]
    assert stored(earlier, "studies", "specification") == [STUDY]
    assert stored(earlier, "evaluations", "document") == [EVALUATION, None]
    assert stored(earlier, "reports", "blocks") == [BLOCKS]
    assert stored(earlier, "idempotency_keys", "response") == [json.loads(RESPONSE)]
