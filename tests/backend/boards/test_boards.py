"""Boards of projects: how they are read and saved, and how their projects are merged and deleted."""

from typing import Any

import pytest

from tests.factories import Api, Response

CURVES = "/api/v1/figures/curves"


def panel(key: str, **more: Any) -> dict[str, Any]:
    """Return a panel with all of its fields."""
    fields = {"title": "", "address": f"{CURVES}?runs=1", "filter": None, "max_runs": 20, "columns": 6, "height": 320}
    return {"key": key, **fields, **more}


def save(api: Api, project: int, version: int, *panels: dict[str, Any]) -> Response:
    """Save a board."""
    return api.user.put(f"/api/v1/projects/{project}/board", json={"version": version, "panels": panels})


def read(api: Api, project: int) -> dict[str, Any]:
    """Return a board."""
    board: dict[str, Any] = api.user.get(f"/api/v1/projects/{project}/board").raise_for_status().json()
    return board


def create_project(api: Api, name: str) -> int:
    """Create a project and return its id."""
    project: int = api.user.post("/api/v1/projects", json={"name": name}).raise_for_status().json()["id"]
    return project


def test_every_project_has_a_board(api: Api) -> None:
    board = read(api, create_project(api, "Maze"))
    assert (board["project"], board["panels"], board["version"], board["updated_at"]) == ("Maze", [], 0, None)
    assert api.user.get("/api/v1/projects/999/board").status_code == 404
    assert save(api, 999, 0).status_code == 404


def test_a_saved_board_keeps_its_panels_in_order(api: Api) -> None:
    panels = [panel("b", title="Rates", filter="learning_rate < 1e-3"), panel("a", columns=12, height=200)]
    saved = save(api, 1, 0, *panels).raise_for_status().json()
    assert (saved["panels"], saved["version"]) == (panels, 1)
    assert read(api, 1) == saved
    assert save(api, 1, 1, panels[1]).json()["panels"] == panels[1:]


def test_an_outdated_change_is_refused(api: Api) -> None:
    save(api, 1, 0, panel("a")).raise_for_status()
    for version in (0, 2):
        refused = save(api, 1, version, panel("b"))
        assert (refused.status_code, "now at version 1" in refused.json()["detail"]) == (409, True)
    assert [each["key"] for each in read(api, 1)["panels"]] == ["a"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"address": "/api/v1/runs"}, "use the address of a figure"),
        ({"filter": "learning_rate <"}, "at character"),
        ({"columns": 13}, "less than or equal to 12"),
        ({"height": 10}, "greater than or equal to 120"),
        ({"key": "A B"}, "should match pattern"),
        ({"size": 3}, "no such field"),
    ],
)
def test_a_wrong_panel_is_refused(api: Api, wrong: dict[str, Any], message: str) -> None:
    refused = save(api, 1, 0, panel("a") | wrong)
    assert refused.status_code == 422
    assert message in refused.json()["errors"][0]["message"]
    assert read(api, 1)["version"] == 0


def test_panel_keys_are_unique_and_panels_are_limited(api: Api) -> None:
    assert "same key" in save(api, 1, 0, panel("a"), panel("a")).text
    assert save(api, 1, 0, *(panel(f"p{number}") for number in range(51))).status_code == 422


def test_a_filter_may_use_fields_that_no_run_has(api: Api) -> None:
    assert save(api, 1, 0, panel("a", filter="tag:none and last(no/such) > 1")).status_code == 200


def test_a_merge_appends_the_panels(api: Api) -> None:
    source, target = create_project(api, "Maze"), create_project(api, "Carts")
    save(api, source, 0, panel("a", title="Maze"), panel("b")).raise_for_status()
    save(api, target, 0, panel("a", title="Carts")).raise_for_status()
    api.user.post(f"/api/v1/projects/{source}/merge", json={"into": "Carts"}).raise_for_status()
    board = read(api, target)
    assert [each["title"] for each in board["panels"]] == ["Carts", "Maze", ""]
    assert len({each["key"] for each in board["panels"]}) == 3
    assert board["version"] == 2
    assert api.user.get(f"/api/v1/projects/{source}/board").status_code == 404


def test_a_merge_moves_the_only_board(api: Api) -> None:
    source, target = create_project(api, "Maze"), create_project(api, "Carts")
    save(api, source, 0, panel("a")).raise_for_status()
    api.user.post(f"/api/v1/projects/{source}/merge", json={"into": "Carts"}).raise_for_status()
    assert [each["key"] for each in read(api, target)["panels"]] == ["a"]


def test_embeds_find_their_panels_after_merges(api: Api) -> None:
    first, second, third = (create_project(api, name) for name in ("Maze", "Carts", "Balls"))
    save(api, first, 0, panel("a", title="Maze"), panel("b", title="Gone")).raise_for_status()
    save(api, second, 0, panel("a", title="Carts")).raise_for_status()
    save(api, third, 0, panel("a", title="Balls")).raise_for_status()
    api.user.post(f"/api/v1/projects/{first}/merge", json={"into": "Carts"}).raise_for_status()
    board = read(api, second)
    save(api, second, board["version"], *board["panels"][:2]).raise_for_status()
    api.user.post(f"/api/v1/projects/{second}/merge", json={"into": "Balls"}).raise_for_status()

    def embedded(project: int, key: str) -> Response:
        return api.user.get(f"/api/v1/projects/{project}/board/panels/{key}")

    for project, title in ((first, "Maze"), (second, "Carts"), (third, "Balls")):
        found = embedded(project, "a").raise_for_status().json()
        assert (found["project_id"], found["project"], found["panel"]["title"]) == (third, "Balls", title)
    gone = embedded(first, "b")
    assert gone.status_code == 404
    none = embedded(third, "c")
    assert (none.status_code, "has no chart 'c'" in none.json()["detail"]) == (404, True)


def test_boards_with_too_many_panels_are_not_merged(api: Api) -> None:
    source, target = create_project(api, "Maze"), create_project(api, "Carts")
    for project in (source, target):
        save(api, project, 0, *(panel(f"p{number}") for number in range(30))).raise_for_status()
    refused = api.user.post(f"/api/v1/projects/{source}/merge", json={"into": "Carts"})
    assert (refused.status_code, "Remove some first" in refused.json()["detail"]) == (409, True)
    assert len(read(api, source)["panels"]) == 30


def test_a_board_is_deleted_with_its_project(api: Api) -> None:
    project = create_project(api, "Maze")
    save(api, project, 0, panel("a")).raise_for_status()
    assert api.user.delete(f"/api/v1/projects/{project}").status_code == 204
    assert read(api, create_project(api, "Maze"))["panels"] == []
