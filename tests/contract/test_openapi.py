"""The API's description: complete, and with the listed routes and fields."""

from typing import Any, get_args

import pytest
from fastapi import FastAPI

from arcadia_backend.app import describe_api
from arcadia_workers.contract.events import Event
from tests.contract.api import HEADING, LISTING, changes, describe, from_text, to_text


@pytest.fixture
def document(built_app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description of the API."""
    return describe_api(built_app)


def test_the_listing_is_current(document: dict[str, Any]) -> None:
    api = describe(document)
    added, incompatible = changes(from_text(LISTING.read_text()), api)
    rewrite = "After a wanted change, run .venv/bin/python -m tests.contract.api"
    assert not incompatible, f"These changes of the API break its clients. {rewrite}."
    assert not added, f"The API has additions. {rewrite}."
    assert LISTING.read_text() == to_text(api), rewrite


BEFORE = """
GET /runs limit?:int sort?:"id"|"name" ->200:[Run]
POST /runs body:CreateRun ->201:Run
CreateRun name:str seed?:int
Run id:int state:"queued"|"running"
"""


@pytest.mark.parametrize(
    ("old", "new", "added", "incompatible"),
    [
        ("limit?:int", "limit?:int tag?:str", ["GET /runs: tag?:str is new"], []),
        ("limit?:int", "limit?:int tag:str", [], ["GET /runs: tag:str is new"]),
        ("limit?:int ", "", [], ["GET /runs: limit?:int is missing"]),
        ('"id"|"name"', '"id"', [], ['GET /runs: sort?:"id"|"name" is now sort?:"id"']),
        ('"id"|"name"', '"id"|"name"|"seed"', ['GET /runs: sort?:"id"|"name" is now sort?:"id"|"name"|"seed"'], []),
        ("[Run]", "RunPage", [], ["GET /runs: ->200:[Run] is now ->200:RunPage"]),
        ("seed?:int", "seed:int", [], ["CreateRun: seed?:int is now seed:int"]),
        ("name:str", "name?:str|null", ["CreateRun: name:str is now name?:str|null"], []),
        ("id:int", "id:int name:str", ["Run: name:str is new"], []),
        ("id:int", "id:int|null", [], ["Run: id:int is now id:int|null"]),
        ("id:int", "id?:int", [], ["Run: id:int is now id?:int"]),
        ("Run id:int", "Run", [], ["Run: id:int is missing"]),
        ("POST /runs", "PUT /runs", ["PUT /runs is new"], ["POST /runs is missing"]),
    ],
)
def test_a_change_that_breaks_clients_is_no_addition(
    old: str, new: str, added: list[str], incompatible: list[str]
) -> None:
    assert old in BEFORE
    assert changes(from_text(BEFORE), from_text(BEFORE.replace(old, new))) == (added, incompatible)


def test_a_listing_is_read_as_it_is_written(document: dict[str, Any]) -> None:
    api = describe(document)
    assert to_text(api).startswith(HEADING)
    assert from_text(to_text(api)) == api


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
