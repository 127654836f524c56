"""Projects in the command line and in the Python client, with a real server."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from arcadia import Client, ConflictError, InvalidRequestError, NotFoundError

from tests.client.cli.conftest import TOKEN, Arcadia
from tests.factories import Api


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    """Connect to the server."""
    with Client(url, TOKEN) as client:
        yield client


def listed(arcadia: Arcadia, *arguments: str) -> list[int]:
    """Return the numbers that `arcadia runs` prints."""
    return [int(line) for line in arcadia("runs", "--quiet", "--limit", "100", *arguments).out.split()]


def test_a_project_is_created_renamed_shown_and_deleted(arcadia: Arcadia) -> None:
    assert arcadia("projects", "create", "Pond", "--text", "About ponds.").out == "Created project Pond.\n"
    assert "already a project" in arcadia("projects", "create", "pond").err
    assert arcadia("projects", "rename", "pond", "Lake").out == "Renamed project Pond to Lake.\n"
    assert "Lake" in arcadia("projects", "list").out
    assert "About ponds." in arcadia("projects", "show", "LAKE").out
    assert json.loads(arcadia("projects", "show", "Lake", "--json").out)["text"] == "About ponds."
    assert arcadia("projects", "delete", "Lake").status == 2, "it must be confirmed"
    assert arcadia("projects", "delete", "Lake", "--yes").status == 0
    missing = arcadia("projects", "show", "Lake")
    assert (missing.status, "There is no project named 'Lake'. Known: Main" in missing.err) == (1, True)


@pytest.mark.nightly
def test_runs_are_launched_moved_and_merged(arcadia: Arcadia, api: Api) -> None:
    refused = arcadia("launch", "paac-cartpole", "--project", "Sea")
    assert (refused.status, "there is no project 'Sea'" in refused.err) == (1, True)
    for name in ("Sea", "Bay"):
        arcadia("projects", "create", name)
    first, second = (int(arcadia("launch", "paac-cartpole", "-q", "--project", "sea").out) for _ in range(2))
    other = int(arcadia("launch", "paac-cartpole", "-q").out)
    assert [api.run(each)["project"] for each in (first, other)] == ["Sea", "Main"]
    assert listed(arcadia, "--project", "Sea") == [second, first]
    moved = arcadia("move", str(first), str(other), "Bay")
    assert (moved.status, moved.out) == (0, "Moved 2 runs to Bay.\n"), moved.err
    assert listed(arcadia, "--project", "Bay") == [other, first]
    assert "has 2 runs" in arcadia("projects", "delete", "Bay", "--yes").err
    merged = arcadia("projects", "merge", "Bay", "Sea", "--yes")
    assert (merged.status, merged.out) == (0, "Merged project Bay into Sea.\n"), merged.err
    assert listed(arcadia, "--project", "Sea") == [other, second, first]
    assert "Name runs" in arcadia("move", "Sea").err


def test_moved_runs_are_printed_as_json(arcadia: Arcadia, api: Api) -> None:
    arcadia("projects", "create", "Creek")
    run = api.launch()["id"]
    moved = arcadia("move", str(run), "Creek", "--json")
    assert json.loads(moved.out)["runs"] == [run], moved.err
    assert api.run(run)["project"] == "Creek"


def test_the_environment_names_the_project(
    arcadia: Arcadia, api: Api, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.create_project("Cove")
    monkeypatch.setenv("ARCADIA_PROJECT", "Cove")
    run = int(arcadia("launch", "paac-cartpole", "-q").out)
    assert listed(arcadia) == [run]
    assert run in listed(arcadia, "--project", "")
    launched = client.launch("paac-cartpole")
    assert (api.run(run)["project"], launched.project) == ("Cove", "Cove")
    assert client.launch("paac-cartpole", project="main").project == "Main"
    assert client.create_report("Notes").project == "Cove"


def test_an_archive_is_imported_into_a_project(arcadia: Arcadia, api: Api, trained: int, tmp_path: Path) -> None:
    arcadia("export", trained, "-o", tmp_path)
    api.user.delete(f"/api/v1/runs/{trained}").raise_for_status()
    imported = arcadia("import", tmp_path / f"run-{trained}.arcadia", "--project", "Reef", "--json").out
    ((run,),) = (result["runs"] for result in json.loads(imported).values())
    assert api.run(run)["project"] == "Reef"


def test_the_python_client_manages_projects(client: Client) -> None:
    river = client.create_project("River", text="About rivers.")
    run = client.launch("paac-cartpole", project="River")
    report = client.create_report("Notes", project="river")
    assert [each.id for each in river.runs()] == [run.id]
    assert [each.id for each in river.reports()] == [report.id]
    assert river.studies() == []
    assert river.pin_report(report.id).data["pinned_report"] == {"id": report.id, "title": "Notes"}
    river.edit(name="Stream")
    found = client.project("STREAM")
    assert (found.id, found.text, found.run_count, found.report_count) == (river.id, "About rivers.", 1, 1)
    assert repr(found) == f"<Project {river.id} 'Stream': 1 runs>"
    assert "Stream" in [each.name for each in client.projects()]
    delta = client.create_project("Delta")
    moved = delta.move(run.id, reports=[report.id])
    assert (moved.run_ids, moved.study_ids, moved.report_ids) == ([run.id], [], [report.id])
    assert run.edit(project="Main").project == "Main"
    assert report.edit(project="Stream").project == "Stream"
    with pytest.raises(ConflictError, match="1 report"):
        found.delete()
    merged = found.merge("Delta")
    assert (merged.name, merged.text) == ("Delta", "About rivers.")
    with pytest.raises(NotFoundError, match="There is no project named 'Stream'"):
        client.project("Stream")
    with pytest.raises(InvalidRequestError, match="there is no project"):
        client.launch("paac-cartpole", project="Stream")
