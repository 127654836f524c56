"""The API's description: complete, and the same as the stored one from which the pages' types are generated."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from fastapi import FastAPI

from backend.app import describe_api
from workers.contract.events import Event

SNAPSHOT = Path(__file__).parents[2] / "frontend" / "openapi.json"


@pytest.fixture
def document(built_app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description of the API."""
    return describe_api(built_app)


def test_the_stored_description_is_current(document: dict[str, Any]) -> None:
    assert json.loads(SNAPSHOT.read_text()) == json.loads(json.dumps(document)), "run make openapi"


def test_every_call_has_a_description_and_a_unique_name(document: dict[str, Any]) -> None:
    names = []
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            assert call.get("description"), (method, path)
            names.append(call["operationId"])
    assert len(names) == len(set(names)), "the pages' types are named after them"


def test_every_call_may_answer_with_a_problem(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            assert "application/problem+json" in call["responses"]["default"]["content"], (method, path)
            assert "422" not in call["responses"], (method, path)


def test_every_call_lists_the_token_that_it_needs(document: dict[str, Any]) -> None:
    needed = {
        path: {tuple(way) for way in call["security"]}
        for path, methods in document["paths"].items()
        for call in methods.values()
    }
    assert needed["/api/v1/worker/claim"] == {("worker",)}
    assert needed["/api/v1/runs"] == {("user",), ("session",), ()}
    assert needed["/api/v1/health"] == set()
    named = {name for ways in needed.values() for way in ways for name in way}
    assert named == set(document["components"]["securitySchemes"])


def test_every_kind_of_event_is_described(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    kinds = schemas["EventBatch"]["properties"]["events"]["items"]["discriminator"]["mapping"]
    assert len(kinds) == len(get_args(get_args(Event)[0]))
    assert all("kind" in schemas[place.rsplit("/", 1)[-1]]["required"] for place in kinds.values())
