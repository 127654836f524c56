"""The API is what its document says, and the document that the pages' types come from is this one."""

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
    """The API's description of itself."""
    return describe_api(built_app)


def test_the_stored_document_is_this_api(document: dict[str, Any]) -> None:
    assert json.loads(SNAPSHOT.read_text()) == json.loads(json.dumps(document)), "run make openapi"


def test_every_call_names_itself_and_says_what_it_does(document: dict[str, Any]) -> None:
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


def test_every_call_says_which_token_it_needs(document: dict[str, Any]) -> None:
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


def test_an_event_is_described_with_its_kind(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    kinds = schemas["EventBatch"]["properties"]["events"]["items"]["discriminator"]["mapping"]
    assert len(kinds) == len(get_args(get_args(Event)[0]))
    assert all("kind" in schemas[place.rsplit("/", 1)[-1]]["required"] for place in kinds.values())
