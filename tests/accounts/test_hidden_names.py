"""Names and keys that exist in a hidden project: they are free, or the refusal does not say that they exist."""

from typing import Any

import pytest

from arcadia_backend.config import API
from arcadia_backend.database import tables
from tests.accounts.lab import Lab
from tests.accounts.signing_in import read
from tests.factories import CARTPOLE


@pytest.fixture(autouse=True)
def restored(lab: Lab) -> Any:
    """Undo the changes of each test."""
    yield
    lab.copy.restore()


def report(lab: Lab, caller: str, status: int = 201, **more: Any) -> dict[str, Any]:
    """Register a run of a script in a project of the caller."""
    body = {"key": "model-7", "writer": "writer-1", "project": f"{lab.own.secret} project", **more}
    answer: dict[str, Any] = read(lab.client(caller).post(f"{API}/reported/runs", json=body), status)
    return answer


@pytest.mark.parametrize("caller", ["editor", "token log"])
def test_a_key_of_a_hidden_run_is_free(lab: Lab, caller: str) -> None:
    other: dict[str, Any] = {"project": f"{lab.other.secret} project"}
    hidden = report(lab, "administrator of another project", **other)["run_id"]
    own = report(lab, caller)["run_id"]
    assert own != hidden
    # Each of them goes on with their own run, also with another writer.
    assert report(lab, caller, 200, writer="writer-2")["run_id"] == own
    assert report(lab, "administrator of another project", 200, **other)["run_id"] == hidden
    # An administrator who sees both gets one of them.
    assert report(lab, "installation administrator", 200, writer="writer-3")["run_id"] == hidden


def test_a_key_of_a_visible_run_of_somebody_else_resumes_it(lab: Lab) -> None:
    run = report(lab, "editor")["run_id"]
    assert report(lab, "administrator", 200, writer="writer-2")["run_id"] == run


def test_a_key_of_an_own_run_that_is_hidden_now_asks_for_another_one(lab: Lab) -> None:
    run = report(lab, "editor")["run_id"]
    with lab.database.write() as session:
        session.get_one(tables.Run, run).project_id = lab.other.project_id
    refused = report(lab, "editor", 409, writer="writer-2")["detail"]
    assert refused == "You have no access any more to your run with the key model-7. Use another key."


def test_a_hidden_project_is_like_one_that_cannot_be_created(lab: Lab) -> None:
    hidden = report(lab, "editor", 403, project=f"{lab.other.secret} project")
    missing = report(lab, "editor", 403, project="nowhere")
    assert hidden == missing


def test_a_project_cannot_get_the_name_of_a_hidden_one_and_does_not_learn_why(lab: Lab) -> None:
    path = f"{API}/projects/{lab.own.project_id}"
    taken = {"name": f"{lab.other.secret} project"}
    refused = read(lab.client("administrator").patch(path, json=taken), 409)["detail"]
    assert refused == f"The name {taken['name']!r} cannot be used. Choose another one."
    seen = read(lab.client("installation administrator").patch(path, json=taken), 409)["detail"]
    assert "There is already a project" in seen
    # Main is visible only to people with a role in it.
    assert "cannot be used" in read(lab.client("administrator").patch(path, json={"name": "main"}), 409)["detail"]


def test_names_of_a_hidden_project_are_free(lab: Lab) -> None:
    client = lab.client("editor")
    project = f"{lab.own.secret} project"
    with lab.database.read() as session:
        names = {
            name: getattr(session.get_one(table, lab.other.ids[table.__tablename__]), column)
            for name, table, column in (
                ("view", tables.SavedView, "name"),
                ("study", tables.Study, "name"),
                ("report", tables.Report, "title"),
                ("run", tables.Run, "name"),
            )
        }
    read(client.post(f"{API}/views", json={"name": names["view"], "project": project}), 201)
    specification = {"name": names["study"], "config": CARTPOLE, "seeds": [1], "confirm_steps": 1_000}
    read(client.post(f"{API}/studies", json={**specification, "project": project}), 201)
    read(client.post(f"{API}/reports", json={"title": names["report"], "project": project}), 201)
    run = {"name": names["run"], "preset": "paac-cartpole", "project": project}
    read(client.post(f"{API}/runs", json=run), 201)
    alias = {"name": "champion"}
    for caller, side in (("administrator of another project", lab.other), ("editor", lab.own)):
        named = {**alias, "checkpoint_id": side.ids["checkpoints"]}
        assert len(read(lab.client(caller).put(f"{API}/aliases", json=named))) == 1, "each has an alias of their own"
