"""Projects: how they are created, edited, merged and deleted, and their pages."""

from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from sqlalchemy import text

from arcadia_backend.database.engine import Database
from arcadia_backend.projects import merging
from arcadia_backend.projects.service import find_project
from tests.backend.projects.conftest import Projects
from tests.factories import PONG, Api, Response, event, metrics
from tests.workers.waiting import wait_until


def test_main_always_exists_and_cannot_be_changed(api: Api, projects: Projects) -> None:
    (main,) = projects.list()
    assert (main["id"], main["name"], main["runs"]) == (1, "Main", 0)
    assert projects.edit(1, name="Other").status_code == 409
    assert api.user.delete("/api/v1/projects/1").status_code == 409
    projects.create("Other")
    refused = projects.post("/1/merge", into="Other")
    assert (refused.status_code, "Main cannot be merged" in refused.json()["detail"]) == (409, True)
    assert projects.read_body(projects.edit(1, text="What we do."))["text"] == "What we do."


@pytest.mark.parametrize("name", ["maze", "MAZE", " Maze ", "main"])
def test_names_are_unique_regardless_of_case(projects: Projects, name: str) -> None:
    number = projects.create("Maze")["id"]
    assert projects.post("", name=name).status_code == 409
    other = projects.create("Other")["id"]
    assert projects.edit(other, name=name).status_code == 409
    assert projects.read_body(projects.edit(number, name="mAze"))["name"] == "mAze"


def test_names_beyond_ascii_are_unique_regardless_of_case(projects: Projects) -> None:
    projects.create("Straße")
    assert projects.post("", name="STRASSE").status_code == 409


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, None])
def test_bad_names_are_refused(projects: Projects, name: str | None) -> None:
    assert projects.post("", name=name).status_code == 422


def test_only_an_empty_project_can_be_deleted(api: Api, projects: Projects) -> None:
    number = projects.create("Maze")["id"]
    run = api.launch(project="maze")["id"]
    for action in ("stop", "archive"):
        api.act(run, action)
    refused = api.user.delete(f"/api/v1/projects/{number}")
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "Maze has 1 run, archived ones included. Move or merge them first.",
    )
    projects.post("/1/items", runs=[run])
    assert api.user.delete(f"/api/v1/projects/{number}").status_code == 204
    assert api.user.get(f"/api/v1/projects/{number}").status_code == 404
    assert projects.create("Maze")["id"] > number


def test_a_merge_moves_everything_and_deletes_the_project(api: Api, projects: Projects) -> None:
    source = projects.create("Maze", text="Mazes.")["id"]
    target = projects.create("Carts", text="Carts.")["id"]
    active, archived = api.launch(project="Maze")["id"], api.launch(project="Maze")["id"]
    for action in ("stop", "archive"):
        api.act(archived, action)
    report = api.user.post("/api/v1/reports", json={"title": "All", "project": "Maze"}).json()["id"]
    projects.edit(source, pinned_report_id=report)
    assert projects.post(f"/{source}/merge", into="maze").status_code == 422
    assert projects.post(f"/{source}/merge", into="none").status_code == 422
    merged = projects.read_body(projects.post(f"/{source}/merge", into="carts"))
    assert (merged["id"], merged["text"]) == (target, "Carts.\n\nMazes.")
    assert (merged["runs"], merged["archived_runs"], merged["reports"]) == (1, 1, 1)
    assert merged["pinned_report"] == {"id": report, "title": "All"}
    assert [api.run(each)["project"] for each in (active, archived)] == ["Carts", "Carts"]
    assert [each["name"] for each in projects.list()] == ["Main", "Carts"]


def test_a_copy_created_during_a_merge_follows_its_run(api: Api, projects: Projects, database: Database) -> None:
    source, run = projects.create("Maze")["id"], api.launch(project="Maze")["id"]

    def copy() -> Response:
        return api.user.post(f"/api/v1/runs/{run}/clone", json={})

    def is_blocked(request: Future[Response]) -> bool:
        with database.read() as session:
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            return request.done() or session.scalar(text(waiting)) > 0

    with ThreadPoolExecutor(1) as pool:
        with database.write() as session:
            merging.merge(session, find_project(session, source), "Main")
            copying = pool.submit(copy)
            # SQLite allows one writer.
            if not database.is_sqlite:
                wait_until(lambda: is_blocked(copying))
        copied = copying.result()
    assert (copied.status_code, copied.json()["project"]) == (201, "Main")


def test_the_list_has_counts_and_the_last_activity(api: Api, projects: Projects) -> None:
    projects.create("zebra")
    projects.create("Ant")
    run_id, attempt = api.running(project="zebra")
    api.launch(project="zebra")
    assert [each["name"] for each in projects.list()] == ["Main", "Ant", "zebra"]
    zebra = projects.read("zebra")
    assert (zebra["runs"], zebra["active_runs"]) == (2, 1)
    api.release(run_id, attempt, "failed", message="it broke")
    ended = projects.read("zebra")
    assert ended["active_runs"] == 0
    assert ended["last_activity"] == api.run(run_id)["finished_at"]
    assert projects.read("Ant")["last_activity"] == projects.read("Ant")["created_at"]


def test_the_page_has_the_best_run_of_each_environment(api: Api, projects: Projects) -> None:
    projects.create("Maze")
    scores = {}
    for config, score in ((None, 5.0), (None, 7.0), (PONG, "NaN")):
        more = {"config": config} if config else {}
        run_id, attempt = api.running(project="Maze", name=f"score {score}", **more)
        api.send(run_id, attempt, metrics(2, 10, returns=[score]))
        api.save(run_id, attempt, 3, 10)
        api.send(run_id, attempt, event(4, "finished"))
        api.release(run_id, attempt, "finished")
        scores[score] = run_id
    (agent,) = projects.read("Maze")["best_agents"]
    assert (agent["run_id"], agent["best_return"], agent["env_title"]) == (scores[7.0], 7.0, "CartPole")
    assert agent["checkpoint_step"] == 10
    api.act(scores[7.0], "archive")
    assert projects.read("Maze")["best_agents"][0]["run_id"] == scores[5.0]
    assert projects.read("Main")["best_agents"] == []


def test_a_deleted_report_is_no_longer_pinned(api: Api, projects: Projects) -> None:
    report = api.user.post("/api/v1/reports", json={"title": "All"}).json()["id"]
    assert projects.edit(1, pinned_report_id=report + 1).status_code == 422
    assert projects.read_body(projects.edit(1, pinned_report_id=report))["pinned_report"]["title"] == "All"
    assert projects.read_body(projects.edit(1, text="Text"))["pinned_report"] is not None
    api.user.delete(f"/api/v1/reports/{report}")
    assert projects.read("Main")["pinned_report"] is None
