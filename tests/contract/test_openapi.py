"""The API is what its document says, and the document that the pages' types come from is this one."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from backend.app import description

SNAPSHOT = Path(__file__).parents[2] / "frontend" / "openapi.json"


@pytest.fixture
def document(built_app: FastAPI) -> dict[str, Any]:
    """The API's description of itself."""
    return description(built_app)


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
