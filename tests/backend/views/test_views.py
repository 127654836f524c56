"""Saved views of the runs page."""

from typing import Any

import pytest

from tests.factories import Api, Response

VIEWS = "/api/v1/views"


def save(api: Api, name: str, query: str = "", **more: Any) -> Response:
    return api.user.post(VIEWS, json={"name": name, "query": query, **more})


def named(api: Api, *projects: str) -> list[tuple[str, str]]:
    """Return the projects and the names of the listed views."""
    listed = api.user.get(VIEWS, params={"project": list(projects)}).raise_for_status().json()
    return [(view["project"], view["name"]) for view in listed]


def create_project(api: Api, name: str) -> int:
    number: int = api.user.post("/api/v1/projects", json={"name": name}).raise_for_status().json()["id"]
    return number


def test_a_view_is_saved_read_changed_and_deleted(api: Api) -> None:
    query = "env=ALE%2FPong-v5&filter=return > 15&columns=name,best_return&baseline=3"
    answer = save(api, "  Best of Pong ", query)
    assert answer.status_code == 201
    view = answer.json()
    assert (view["name"], view["project"], view["query"]) == ("Best of Pong", "Main", query)
    path = f"{VIEWS}/{view['id']}"
    assert api.user.get(path).json() == view
    renamed = api.user.patch(path, json={"name": "Pong"}).json()
    assert (renamed["name"], renamed["query"]) == ("Pong", query)
    updated = api.user.patch(path, json={"query": "sort=name"}).json()
    assert (updated["name"], updated["query"]) == ("Pong", "sort=name")
    assert updated["updated_at"] > view["updated_at"]
    assert api.user.delete(path).status_code == 204
    assert api.user.get(path).status_code == 404
    assert api.user.delete(path).status_code == 404


def test_names_are_unique_in_a_project(api: Api) -> None:
    create_project(api, "Maze")
    first, second = save(api, "Best").json(), save(api, "Worst").json()
    refused = save(api, "BEST")
    assert refused.status_code == 409
    assert refused.json()["detail"] == "The project already has a view 'BEST'. Names differ in more than case."
    assert api.user.patch(f"{VIEWS}/{second['id']}", json={"name": "best"}).status_code == 409
    assert api.user.patch(f"{VIEWS}/{first['id']}", json={"name": "best"}).json()["name"] == "best"
    assert save(api, "Best", project="maze").json()["project"] == "Maze"
    assert named(api) == [("Main", "best"), ("Maze", "Best"), ("Main", "Worst")]
    assert named(api, "Maze") == [("Maze", "Best")]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "a" * 101}, "name"),
        ({"name": "a", "query": "a" * 10_001}, "query"),
        ({"name": "a", "project": "none"}, "project"),
        ({"name": "a", "size": 3}, "size"),
    ],
)
def test_an_invalid_view_is_refused(api: Api, body: dict[str, Any], field: str) -> None:
    answer = api.user.post(VIEWS, json=body)
    assert answer.status_code == 422
    assert field in answer.json()["errors"][0]["field"]


def test_a_merge_moves_the_views(api: Api) -> None:
    source = create_project(api, "Maze")
    for project in ("Main", "Maze"):
        assert save(api, "Best", project=project).status_code == 201
    save(api, "Slow", project="Maze")
    api.user.post(f"/api/v1/projects/{source}/merge", json={"into": "Main"}).raise_for_status()
    assert named(api) == [("Main", "Best"), ("Main", "Best 2"), ("Main", "Slow")]


def test_a_deleted_project_deletes_its_views(api: Api) -> None:
    project = create_project(api, "Maze")
    view = save(api, "Best", project="Maze").json()
    assert api.user.delete(f"/api/v1/projects/{project}").status_code == 204
    assert api.user.get(f"{VIEWS}/{view['id']}").status_code == 404
