"""The worker API is defined once: the backend and the worker do not repeat its schemas and literals."""

import ast
import functools
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from fastapi import FastAPI
from pydantic import BaseModel, ValidationError

from arcadia_backend.app import describe_api
from arcadia_workers.contract import events, worker_api

ROOT = Path(__file__).parents[2]
SIDES = ("backend", "workers/arcadia_workers/worker", "workers/arcadia_workers/trainer")
# Models that only the worker uses: its own records.
OWN_MODELS = {"_Mark"}

SCHEMAS = {
    name: thing
    for name, thing in vars(worker_api).items()
    if inspect.isclass(thing) and issubclass(thing, BaseModel) and thing.__module__ == worker_api.__name__
    if not name.startswith("_")
}
REQUESTS = {name: schema for name, schema in SCHEMAS.items() if schema.model_config.get("extra") == "forbid"}
ANSWERS = {name: schema for name, schema in SCHEMAS.items() if name not in REQUESTS}


@functools.cache
def trees(folder: str) -> list[tuple[Path, ast.Module]]:
    """Parse every module below a folder once."""
    return [(path.relative_to(ROOT), ast.parse(path.read_text())) for path in (ROOT / folder).rglob("*.py")]


def nodes(*folders: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield every node of the source below some folders, with its file and line."""
    for folder in folders:
        for path, tree in trees(folder):
            for node in ast.walk(tree):
                yield f"{path}:{getattr(node, 'lineno', 0)}", node


def literals(module: object) -> dict[frozenset[Any], str]:
    """Return the names of a module's Literals by their values."""
    found = {name: thing for name, thing in vars(module).items() if str(get_origin(thing)) == "typing.Literal"}
    return {frozenset(get_args(thing)): name for name, thing in found.items()}


def test_worker_routes_use_the_schemas_of_the_contract(built_app: FastAPI) -> None:
    document = describe_api(built_app)
    spoken = set()
    for path, methods in document["paths"].items():
        if path.startswith("/api/v1/worker/"):
            for call in methods.values():
                bodies = [call.get("requestBody", {}), call["responses"].get("200", {})]
                contents = [body.get("content", {}).get("application/json", {}) for body in bodies]
                spoken |= {found["schema"]["$ref"].rpartition("/")[2] for found in contents if "schema" in found}
    assert {"Heartbeat", "Claim", "EventBatch", "UploadedFile"} <= spoken
    assert spoken <= set(SCHEMAS)


def test_no_other_part_redefines_a_schema_of_the_contract() -> None:
    again = [
        where
        for where, node in nodes(*SIDES)
        if isinstance(node, ast.ClassDef)
        and node.name in REQUESTS | ANSWERS
        and any(isinstance(line, ast.AnnAssign) for line in node.body)
    ]
    assert again == []


def test_the_worker_defines_no_models_for_requests_or_responses() -> None:
    models = {
        node.name
        for _where, node in nodes("workers/arcadia_workers/worker")
        if isinstance(node, ast.ClassDef)
        and any(
            isinstance(parent, ast.Name) and parent.id in ("BaseModel", "SettingsWithSecretFiles")
            for parent in node.bases
        )
    }
    assert models == OWN_MODELS


def test_no_other_part_repeats_a_literal_of_the_contract() -> None:
    known = literals(worker_api) | literals(events)
    assert frozenset(get_args(worker_api.Outcome)) in known
    again = []
    for where, node in nodes(*SIDES):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Literal":
            words = frozenset(part.value for part in ast.walk(node.slice) if isinstance(part, ast.Constant))
            again += [f"{where}: {known[words]}"] if words in known else []
    assert again == []


def test_requests_and_responses_are_distinguished() -> None:
    assert {"Heartbeat", "ClaimRequest", "EventBatch", "Release", "Goodbye"} <= set(REQUESTS)
    assert {"HeartbeatAnswer", "Claim", "OfferedCheckpoint", "Acknowledged", "Released"} <= set(ANSWERS)


def test_a_request_with_an_unknown_field_is_rejected() -> None:
    asked = {"name": "w1", "queue": "cpu"}
    assert worker_api.ClaimRequest.model_validate(asked).queue == "cpu"
    with pytest.raises(ValidationError, match="color"):
        worker_api.ClaimRequest.model_validate({**asked, "color": "red"})


def test_a_response_with_unknown_fields_is_accepted() -> None:
    offered = {
        "id": 3,
        "file": "checkpoints/a",
        "sha256": "0" * 64,
        "bytes": 1,
        "step": 2,
        "frames": 8,
        "color": "red",
    }
    reported = {"run_id": 1, "attempt": 2, "config": {}, "lease_seconds": 30, "checkpoints": [offered], "mood": "good"}
    claim = worker_api.Claim.model_validate(reported)
    assert [checkpoint.step for checkpoint in claim.checkpoints] == [2]
    assert worker_api.HeartbeatAnswer.model_validate({"desired": None, "lease_seconds": 1, "mood": "good"})
