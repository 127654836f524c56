"""Error responses, even for malformed requests."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from arcadia_backend.worker_api import registry
from tests.factories import CARTPOLE, Api, Response

API = "/api/v1"
HEADERS = ("X-Content-Type-Options", "Content-Security-Policy", "Cache-Control")


def post(api: Api, path: str, body: Any, method: str = "POST") -> Response:
    """Send a body that may contain half of a surrogate pair."""
    content = json.dumps(body).encode()
    return api.user.request(method, API + path, content=content, headers={"Content-Type": "application/json"})


def test_an_internal_error_has_the_headers_of_every_response(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_session: object) -> None:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(registry, "list_workers", broken)
    quiet = TestClient(client.app, base_url="http://localhost", raise_server_exceptions=False)
    answer = quiet.get(f"{API}/workers")
    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/internal")
    assert all(name in answer.headers for name in HEADERS)


def test_an_unavailable_disk_or_database_is_not_an_error_of_the_request(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_session: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(registry, "list_workers", full)
    answer = api.user.get(f"{API}/workers")
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/unavailable")


@pytest.mark.parametrize("origin", ["http://[", "http://]", "null", "http://evil.example"])
def test_a_foreign_or_malformed_origin_is_refused(api: Api, origin: str) -> None:
    assert api.user.post(f"{API}/runs", json={}, headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        {"config": CARTPOLE, "overrides": {"\ud800": 1}},
        {"config": CARTPOLE, "overrides": {"algorithm": "\ud800"}},
        {"config": {**CARTPOLE, "env": "\ud800"}},
        {"config": {**CARTPOLE, "env": "\0"}},
        {"\ud800": 1},
    ],
)
def test_half_a_surrogate_pair_is_an_ordinary_error(api: Api, body: Any) -> None:
    answer = post(api, "/runs", body)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 100_000, "the JSON is nested too deeply"),
        (b'{"config":' * 100_000, "the JSON is nested too deeply"),
        (b'{"preset": "\xff"}', "the JSON is not encoded in UTF-8"),
        (b"{", "JSON decode error"),
    ],
)
def test_a_body_that_cannot_be_parsed_is_an_error_in_the_body(api: Api, content: bytes, message: str) -> None:
    json_type = {"Content-Type": "application/json"}
    for client, path in ((api.user, "runs"), (api.user, "session"), (api.worker, "worker/claim")):
        answer = client.post(f"{API}/{path}", content=content, headers=json_type)
        assert answer.status_code == 422, path
        assert answer.json()["errors"][0]["message"] == message


@pytest.mark.parametrize(
    ("path", "status", "known"),
    [
        ("runs?page=2", 422, "algorithm, archived, compute, cursor, "),
        ("runs/{id}/metrics?bucket=100", 422, "after, buckets, from, names, to, x"),
        ("figures/curves?runs={id}&metrics=a", 422, "after, ancestry, band, "),
        ("health?verbose=1", 422, "this path has none"),
        ("runs/{id}/metrics?from=2&names=a", 200, ""),
        ("nothing?page=2", 404, ""),
    ],
)
def test_an_unknown_query_parameter_is_refused(api: Api, path: str, status: int, known: str) -> None:
    run_id = api.launch()["id"]
    answer = api.user.get(f"{API}/{path.format(id=run_id)}")
    assert answer.status_code == status
    if status == 422:
        (error,) = answer.json()["errors"]
        assert error["field"] in path
        assert error["message"].startswith("no such parameter; ")
        assert known in error["message"]


def test_an_unknown_parameter_of_a_worker_is_refused(api: Api) -> None:
    run_id, attempt = api.running()
    query: dict[str, str | int] = {"attempt": attempt, "kind": "video", "path": "a", "sha256": "0" * 64, "size": 1}
    answer = api.worker.put(f"{API}/worker/runs/{run_id}/files", params=query, content=b"")
    assert answer.json()["errors"] == [
        {"field": "size", "message": "no such parameter; the parameters are attempt, kind, path, sha256"}
    ]


def test_unstorable_characters_in_texts_are_replaced(api: Api) -> None:
    odd = {"name": "a\0b", "notes": "\ud800", "tags": ["\0", "\ufffd"]}
    made = post(api, "/runs", {"config": CARTPOLE, **odd}).json()
    assert (made["name"], made["notes"], made["tags"]) == ("a\ufffdb", "\ufffd", ["\ufffd"])
    assert post(api, f"/runs/{made['id']}", {"name": "\0"}, "PATCH").json()["name"] == "\ufffd"
    assert api.user.get(f"{API}/runs?tag=%00").json()["total"] == 1
    assert api.user.get(f"{API}/runs/{made['id']}/log?search=%00").json()["items"] == []


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/runs", {"config": {**CARTPOLE, "num_envs": True}}, "config.num_envs"),
        ("/runs", {"config": {**CARTPOLE, "learning_rate": False}}, "config.learning_rate"),
        ("/runs", {"config": CARTPOLE, "priority": True}, "priority"),
        ("/bulk-actions", {"action": "stop", "ids": [True]}, "ids.0"),
        ("/runs/1/fork", {"checkpoint_id": True}, "checkpoint_id"),
    ],
)
def test_a_boolean_is_not_a_number(api: Api, path: str, body: Any, field: str) -> None:
    api.launch()
    answer = api.user.post(API + path, json=body)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]


@pytest.mark.parametrize("value", [0, 1, "yes", None])
def test_a_number_is_not_a_boolean(api: Api, value: Any) -> None:
    run_id, attempt = api.running()
    checkpoint_id = api.save(run_id, attempt, 2, 100)
    answer = api.user.patch(f"{API}/runs/{run_id}/checkpoints/{checkpoint_id}", json={"pinned": value})
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == ["pinned"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/runs", "GET, POST"),
        ("OPTIONS", "/runs", "GET, POST"),
        ("BREW", "/runs", "GET, POST"),
        ("DELETE", "/health", "GET"),
        ("POST", "/runs/1", "DELETE, GET, PATCH"),
        ("GET", "/runs/1/stop", "POST"),
        ("POST", "/files/1", "GET, HEAD"),
        ("GET", "/runs/preview", "POST"),
        ("DELETE", "/runs/preview", "POST"),
        ("OPTIONS", "/runs/preview", "POST"),
    ],
)
def test_a_method_that_is_not_allowed_gets_the_allowed_ones(api: Api, method: str, path: str, allowed: str) -> None:
    answer = api.user.request(method, API + path)
    assert (answer.status_code, answer.json()["type"]) == (405, "/problems/method-not-allowed")
    assert answer.headers["Allow"] == allowed
    assert all(name in answer.headers for name in HEADERS)


def test_an_unknown_path_is_not_found(api: Api) -> None:
    for method in ("GET", "POST", "DELETE"):
        answer = api.user.request(method, f"{API}/nothing")
        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-such-path")


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("GET", "/runs?state=fnished", None, "state.0: 'fnished' is not one of 'queued', 'starting'"),
        ("POST", "/runs", {"config": CARTPOLE, "tags": [""]}, "tags.0: must not be empty"),
    ],
)
def test_wrong_values_are_described_in_words(api: Api, method: str, path: str, body: Any, message: str) -> None:
    answer = api.user.request(method, API + path, json=body)
    assert (answer.status_code, answer.json()["detail"].startswith(message)) == (422, True), answer.text
