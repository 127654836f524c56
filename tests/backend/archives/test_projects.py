"""Projects of exported and imported runs, studies and reports."""

from collections.abc import Callable

from tests.backend.archives.conftest import Archives
from tests.backend.projects.conftest import Projects
from tests.backend.projects.test_items import runs_of, start_study
from tests.factories import Api


def test_an_archive_keeps_the_projects_of_its_items(api: Api, archives: Archives, purge: Callable[[int], None]) -> None:
    projects = Projects(api.user)
    maze = projects.create("Maze")["id"]
    study = start_study(api, project="Maze")
    other = api.launch(name="in main")["id"]
    archive = archives.export_items(studies=study["id"], runs=other)
    api.user.post(f"/api/v1/studies/{study['id']}/stop")
    api.act(other, "stop")
    archive_of_stopped = archives.export_items(studies=study["id"], runs=other)
    projects.post("/1/items", studies=[study["id"]])
    assert archives.load(archive_of_stopped)["already"] == [other, *runs_of(study)], "a move is not a change"
    for run_id in (other, *runs_of(study)):
        purge(run_id)
    api.user.delete(f"/api/v1/studies/{study['id']}")
    api.user.delete(f"/api/v1/projects/{maze}")
    result = archives.load(archive)
    assert [api.run(each)["project"] for each in result["runs"]] == ["Main", "Maze", "Maze"]
    assert projects.counts() == {"Main": (1, 0, 0), "Maze": (2, 1, 0)}


def test_an_archive_is_imported_into_a_chosen_project(
    api: Api, archives: Archives, purge: Callable[[int], None]
) -> None:
    projects = Projects(api.user)
    projects.create("Maze")
    run = api.launch(project="Maze")["id"]
    api.act(run, "stop")
    archive = archives.export(run)
    purge(run)
    (imported,) = archives.load(archive, project="Chosen")["runs"]
    assert api.run(imported)["project"] == "Chosen"
