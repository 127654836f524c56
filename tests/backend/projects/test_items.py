"""Runs, studies and reports in projects: how they are created, moved and filtered."""

from typing import Any

from tests.backend.projects.conftest import Projects
from tests.backend.reported.conftest import Script
from tests.factories import Api

STUDY: dict[str, Any] = {
    "name": "Which rate?",
    "preset": "paac-cartpole",
    "total_steps": 1_000,
    "axes": [{"field": "learning_rate", "values": [1e-4, 1e-3]}],
    "seeds": "1",
}


def start_study(api: Api, **more: Any) -> dict[str, Any]:
    """Start a study of two runs."""
    response = api.user.post("/api/v1/studies", json={**STUDY, "confirm_steps": 2_000, **more})
    assert response.status_code == 201, response.text
    study: dict[str, Any] = response.json()
    return study


def runs_of(study: dict[str, Any]) -> list[int]:
    """Return the ids of the runs of a study."""
    return [run["run_id"] for point in study["table"] for run in point["runs"] if run["run_id"]]


def listed(api: Api, path: str, **query: Any) -> list[int]:
    """Return the ids of a list."""
    found = api.user.get(f"/api/v1{path}", params=query).raise_for_status().json()
    return [item["id"] for item in (found["items"] if isinstance(found, dict) else found)]


def test_a_run_is_launched_into_an_existing_project(api: Api, projects: Projects) -> None:
    assert api.launch()["project"] == "Main"
    projects.create("Maze")
    assert api.launch(project="mAZE")["project"] == "Maze"
    refused = api.user.post("/api/v1/runs", json={"preset": "paac-cartpole", "project": "maz"})
    assert refused.status_code == 422
    assert refused.json()["errors"] == [
        {
            "field": "project",
            "message": "there is no project 'maz'; there are Main, Maze. Create it on the page Projects",
        }
    ]


def test_copies_are_in_the_project_of_the_copied_run(api: Api, projects: Projects) -> None:
    projects.create("Maze")
    run_id, attempt = api.running(project="Maze")
    api.save(run_id, attempt, 2, 10)
    (checkpoint,) = api.user.get(f"/api/v1/runs/{run_id}/checkpoints").json()
    assert api.act(run_id, "clone")["project"] == "Maze"
    assert api.act(run_id, "clone", project="main")["project"] == "Main"
    assert api.act(run_id, "fork", checkpoint_id=checkpoint["id"])["project"] == "Maze"


def test_a_study_moves_with_its_runs(api: Api, projects: Projects) -> None:
    maze = projects.create("Maze")["id"]
    study = start_study(api, project="maze")
    ids = runs_of(study)
    assert study["project"] == "Maze"
    assert {api.run(each)["project"] for each in ids} == {"Maze"}
    moved = projects.read_body(projects.post("/1/items", studies=[study["id"]]))
    assert moved == {"runs": ids, "studies": [study["id"]], "reports": [], "start_sets": [], "kept_games": []}
    back = api.user.patch(f"/api/v1/studies/{study['id']}", json={"project": "Maze"}).json()
    assert back["project"] == "Maze"
    assert listed(api, "/runs", project="Maze", sort="id") == ids
    assert projects.read("Maze")["id"] == maze


def test_items_move_together_and_missing_ones_are_left_out(api: Api, projects: Projects) -> None:
    maze = projects.create("Maze")["id"]
    first, second = api.launch()["id"], api.launch()["id"]
    report = api.user.post("/api/v1/reports", json={"title": "All"}).json()
    moved = projects.read_body(projects.post(f"/{maze}/items", runs=[second, 99], reports=[report["id"]]))
    assert moved == {"runs": [second], "studies": [], "reports": [report["id"]], "start_sets": [], "kept_games": []}
    assert projects.counts() == {"Main": (1, 0, 0), "Maze": (1, 0, 1)}
    assert api.run(first)["project"] == "Main"


def test_one_item_moves_by_an_edit(api: Api, projects: Projects) -> None:
    projects.create("Maze")
    run = api.launch()["id"]
    assert api.user.patch(f"/api/v1/runs/{run}", json={"project": "maze"}).json()["project"] == "Maze"
    assert api.user.patch(f"/api/v1/runs/{run}", json={"project": "none"}).status_code == 422
    report = api.user.post("/api/v1/reports", json={"title": "All"}).json()
    changes = {"version": report["version"], "project": "Maze"}
    assert api.user.patch(f"/api/v1/reports/{report['id']}", json=changes).json()["project"] == "Maze"


def test_lists_are_filtered_and_sorted_by_project(api: Api, projects: Projects) -> None:
    projects.create("Ant")
    main, ant = api.launch(name="in main")["id"], api.launch(project="Ant", tags=["a"])["id"]
    study = start_study(api, project="Ant")
    reports = [
        api.user.post("/api/v1/reports", json={"title": "One", "project": project}).json()["id"]
        for project in ("Ant", "Main")
    ]
    of_study = runs_of(study)
    assert listed(api, "/runs", project="ant", sort="id") == [ant, *of_study]
    assert listed(api, "/runs", project=["ant", "main"], sort="project")[-1] == main
    assert listed(api, "/runs", text="ant") == listed(api, "/runs", project="Ant")
    assert listed(api, "/runs", project="none") == []
    assert listed(api, "/studies", project="ANT") == [study["id"]]
    assert listed(api, "/studies", project="Main") == []
    assert listed(api, "/reports", project="Ant") == reports[:1]
    facets = api.user.get("/api/v1/run-facets", params={"project": "Main"}).json()
    assert (facets["tag"], facets["project"]) == ([], [{"value": "Main", "runs": 1}])


def test_games_count_the_runs_of_a_project(api: Api, projects: Projects) -> None:
    projects.create("Atari")
    pong = {"algorithm": "paac", "env": "ALE/Pong-v5", "total_steps": 1_000, "num_envs": 4}
    for project in ("Main", "Atari", "Atari"):
        api.launch(config=pong, project=project)

    def counted(**query: str) -> tuple[int, int]:
        games = api.user.get("/api/v1/games", params=query).json()["games"]
        page = api.user.get("/api/v1/games/pong", params=query).json()
        assert page["waiting_total"] == page["runs"]
        return next(game["runs"] for game in games if game["slug"] == "pong"), page["runs"]

    assert (counted(), counted(project="Atari"), counted(project="main")) == ((3, 3), (2, 2), (1, 1))


def test_a_script_creates_its_project(api: Api, projects: Projects) -> None:
    script = Script(api.user)
    script.begin(project="  New one ")
    again = Script(api.user, key="key-2")
    again.begin(project="new ONE")
    assert [api.run(each.run_id)["project"] for each in (script, again)] == ["New one", "New one"]
    assert projects.counts() == {"Main": (0, 0, 0), "New one": (2, 0, 0)}
