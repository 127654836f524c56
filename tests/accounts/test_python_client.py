"""Accounts by the Python client, with the token of a person."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from arcadia import Client, NotFoundError, UnauthorizedError
from fastapi.testclient import TestClient

from tests.accounts.signing_in import API, create_first, join, read, stranger


def connect(browser: TestClient, *scopes: str, **more: Any) -> Client:
    """Return a Python client with a new token of the person in a browser."""
    body = {"name": "script", "scopes": scopes or ["read", "write"], **more}
    secret = read(browser.post(f"{API}/tokens", json=body), 201)["secret"]
    sender = stranger(browser)

    def forward(request: httpx.Request) -> httpx.Response:
        sent = dict(request.headers)
        answer = sender.request(request.method, str(request.url), headers=sent, content=request.content)
        return httpx.Response(answer.status_code, content=answer.content)

    return Client("http://localhost", secret, transport=httpx.MockTransport(forward))


@pytest.fixture
def ana(client: TestClient) -> Iterator[Client]:
    """Yield the Python client of the first administrator."""
    create_first(client)
    with connect(client) as opened:
        yield opened


def test_people_and_groups_are_listed(ana: Client, client: TestClient) -> None:
    ana.create_project("Maze")
    person = read(join(client, "Bo", project="Maze", role="viewer").get(f"{API}/account"))["person"]["id"]
    with connect(client, "read") as reader:
        bo = reader.person("Bo@example.org ")
        assert (bo.name, bo.roles, bo.has_password, bo.disabled) == ("Bo", {"Maze": "viewer"}, True, False)
        read(client.post(f"{API}/groups", json={"name": "Team", "members": [person]}), 201)
        [group] = reader.groups()
        assert (group.name, group.members, group.from_oidc) == ("Team", {bo.id: "Bo"}, False)
        ana.project("Maze").set_role("administrator", group="Team")
        assert bo.refresh().roles == {"Maze": "administrator"}
        listed = [(each.name, each.is_group) for each in reader.project("Maze").members()]
        assert listed == [("Team", True), ("Bo", False)]
        assert [person.name for person in reader.people()] == ["Ana", "Bo"]
        with pytest.raises(NotFoundError, match=r"Did you mean bo@example\.org"):
            reader.person("bob@example.org")


def test_tokens_of_a_person_are_revoked_at_once(ana: Client, client: TestClient) -> None:
    bo = join(client, "Bo")
    with connect(bo) as first, connect(bo) as second:
        ana.person("bo@example.org").revoke_tokens()
        for each in (first, second):
            with pytest.raises(UnauthorizedError):
                each.tokens()
    ana.person("bo@example.org").sign_out()
    assert bo.get(f"{API}/account").status_code == 401
    ana.revoke_all_tokens()
    with pytest.raises(UnauthorizedError):
        ana.tokens()


def test_roles_of_a_project_are_given_and_taken(ana: Client, client: TestClient) -> None:
    join(client, "Bo")
    project = ana.project("Main")
    [member] = project.set_role("editor", email="bo@example.org")
    assert (member.name, member.role) == ("Bo", "editor")
    project.set_role("viewer")
    assert read(client.get(f"{API}/projects/1/members"))["everyone"] == "viewer"
    project.set_role(None)
    assert read(client.get(f"{API}/projects/1/members"))["everyone"] is None
    project.remove_member(member)
    assert project.members() == []


def test_tokens_and_sessions_are_listed_and_ended(ana: Client, client: TestClient) -> None:
    bo = join(client, "Bo", project="Main")
    with connect(bo, "read") as reader, connect(bo) as writer:
        [newer, older] = reader.tokens()
        assert (older.scopes, newer.scopes, older.person, older.revoked_at) == (["read"], ["read", "write"], "Bo", None)
        assert [session.person for session in reader.sessions()] == ["Bo"]
        writer.tokens()[1].revoke()
        assert writer.tokens()[1].revoked_at is not None
        writer.sessions()[0].end()
        assert bo.get(f"{API}/account").status_code == 401
        with pytest.raises(UnauthorizedError):
            reader.tokens()
        with pytest.raises(UnauthorizedError, match="administrators"):
            writer.tokens(everyone=True)
        with pytest.raises(NotFoundError):
            writer.transport.delete(f"/tokens/{ana.tokens()[0].id}")
    with connect(client, "read") as reader, pytest.raises(UnauthorizedError, match="token"):
        reader.tokens()[0].revoke()
    assert {token.person for token in ana.tokens(everyone=True)} == {"Ana", "Bo"}


def test_a_token_of_one_project_does_not_list_those_of_others(ana: Client, client: TestClient) -> None:
    ana.create_project("Maze")
    connect(client, "read", project="Main")
    with connect(client, "read", project="Maze") as limited:
        assert [token.project for token in limited.tokens()] == ["Maze", None]


def test_the_audit_log_is_filtered_and_read_page_by_page(ana: Client, client: TestClient) -> None:
    bo = join(client, "Bo", project="Main", role="administrator")
    for number in range(3):
        ana.create_project(f"project {number}")
    created = ana.audit(kind="project", action="create")
    assert [(entry.name, entry.object_name) for entry in created] == [("Ana", f"project {n}") for n in (2, 1, 0)]
    assert ana.audit(kind="project", until=created[2].at) == []
    assert len(ana.audit(limit=2)) == 2
    assert len(ana.audit(limit=None)) > 5
    with connect(bo) as limited:
        assert {entry.data["project_id"] for entry in limited.audit()} <= {1}
        with pytest.raises(UnauthorizedError, match="administrator"):
            limited.people()
