"""Access tokens: scopes, projects, expiry, revocation, and their last use."""

from datetime import timedelta

from fastapi.testclient import TestClient
from sqlalchemy import select, update

from arcadia_backend.accounts import tokens
from arcadia_backend.accounts.passwords import digest_of
from arcadia_backend.accounts.roles import forget_credentials
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import AccessToken
from tests.accounts.signing_in import API, create_first, join, read, stranger
from tests.factories import Api, Response


def use(client: TestClient, **changes: object) -> None:
    """Change settings of an application."""
    state = client.app.state  # type: ignore[attr-defined]
    state.settings = state.settings.model_copy(update=changes)


def create(client: TestClient, *scopes: str, **more: object) -> str:
    """Create a token, and return its secret."""
    body = {"name": "script", "scopes": list(scopes), **more}
    secret: str = read(client.post(f"{API}/tokens", json=body), 201)["secret"]
    return secret


def send(client: TestClient, secret: str, method: str, path: str, body: object = None) -> Response:
    """Send a request with a token, and no cookie."""
    headers = {"Authorization": f"Bearer {secret}"}
    return stranger(client).request(method, f"{API}/{path}", json=body, headers=headers)


def test_a_token_does_what_its_scopes_say(api: Api, client: TestClient) -> None:
    run = api.launch()["id"]
    create_first(client)
    reads, writes = create(client, "read"), create(client, "read", "write")
    assert send(client, reads, "GET", "runs").status_code == 200
    refused = send(client, reads, "PATCH", f"runs/{run}", {"name": "x"})
    assert refused.status_code == 403
    assert "scope write" in refused.json()["detail"]
    assert send(client, writes, "PATCH", f"runs/{run}", {"name": "x"}).status_code == 200
    assert send(client, create(client, "log"), "GET", "runs").status_code == 403
    assert send(client, "arcadia_invented", "GET", "runs").status_code == 401


def test_the_database_has_only_digests(client: TestClient, database: Database) -> None:
    create_first(client)
    secret = create(client, "read")
    assert secret.startswith(tokens.PREFIX)
    with database.read() as session:
        assert session.scalars(select(AccessToken.digest)).all() == [digest_of(secret)]
    [listed] = read(client.get(f"{API}/tokens"))
    assert "secret" not in listed
    assert (listed["name"], listed["scopes"], listed["person"]["name"]) == ("script", ["read"], "Ana")


def test_a_token_may_open_one_project(api: Api, client: TestClient) -> None:
    api.launch()
    read(client.post(f"{API}/projects", json={"name": "Maze"}), 201)
    create_first(client)
    secret = create(client, "read", "write", project="Maze")
    assert [each["name"] for each in send(client, secret, "GET", "projects").json()] == ["Maze"]
    assert send(client, secret, "GET", "runs/1").status_code == 404
    assert send(client, secret, "GET", "people").status_code == 403
    assert read(client.get(f"{API}/tokens"))[0]["project"] == "Maze"


def test_a_token_never_has_more_rights_than_its_person(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo")
    assert bo.post(f"{API}/tokens", json={"name": "a", "scopes": ["read"], "project": "Main"}).status_code == 422
    read(client.post(f"{API}/projects/1/members", json={"email": "bo@example.org", "role": "viewer"}))
    secret = create(bo, "read", "write", project="Main")
    assert send(client, secret, "GET", "projects/1").status_code == 200
    assert send(client, secret, "POST", "runs", {"preset": "paac-cartpole"}).status_code == 403
    [role] = read(client.get(f"{API}/projects/1/members"))["items"]
    assert client.delete(f"{API}/projects/1/members/{role['id']}").status_code == 204
    assert send(client, secret, "GET", "projects/1").status_code == 404


def test_only_administrators_create_tokens_of_workers(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo", project="Main", role="administrator")
    assert bo.post(f"{API}/tokens", json={"name": "gpu", "scopes": ["worker"]}).status_code == 403
    secret = create(client, "worker")
    assert send(client, secret, "GET", "runs").status_code == 403


def test_a_token_creates_no_further_tokens(client: TestClient) -> None:
    create_first(client)
    secret = create(client, "read", "write")
    for method, path, body in (
        ("POST", "tokens", {"name": "b", "scopes": ["read"]}),
        ("POST", "account/password", {"new_password": "another long password"}),
        ("DELETE", "sessions", None),
    ):
        assert send(client, secret, method, path, body).status_code == 403, path
    assert read(client.get(f"{API}/account"))["person"]["name"] == "Ana"


def test_expired_and_revoked_tokens_are_refused(client: TestClient, database: Database) -> None:
    create_first(client)
    expired, revoked = create(client, "read", days=1), create(client, "read", name="revoked")
    assert send(client, expired, "GET", "runs").status_code == 200
    with database.write() as session:
        of_first = AccessToken.digest == digest_of(expired)
        session.execute(update(AccessToken).where(of_first).values(expires_at=utc_now() - timedelta(seconds=1)))
        forget_credentials(session)
    assert send(client, expired, "GET", "runs").status_code == 401
    assert send(client, revoked, "GET", "runs").status_code == 200
    [token] = [each for each in read(client.get(f"{API}/tokens")) if each["name"] == "revoked"]
    assert client.delete(f"{API}/tokens/{token['id']}").status_code == 204
    assert send(client, revoked, "GET", "runs").status_code == 401
    ended = read(client.get(f"{API}/tokens"))
    assert [each["revoked_at"] is not None for each in ended] == [True, False]
    with database.write() as session:
        tokens.delete_ended(session, utc_now() + timedelta(days=31))
    assert read(client.get(f"{API}/tokens")) == []


def test_tokens_have_a_longest_lifetime(client: TestClient) -> None:
    create_first(client)
    assert read(client.get(f"{API}/account"))["max_token_days"] == 365
    body = {"name": "a", "scopes": ["read"]}
    for days in (None, 366):
        refused = client.post(f"{API}/tokens", json={**body, "days": days})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "days")
        assert "365" in refused.json()["detail"]
    assert read(client.post(f"{API}/tokens", json={**body, "days": 365}), 201)["expires_at"] is not None
    use(client, max_token_days=0)
    assert read(client.get(f"{API}/account"))["max_token_days"] is None
    assert read(client.post(f"{API}/tokens", json={**body, "days": None}), 201)["expires_at"] is None


def test_all_tokens_of_a_person_are_revoked_at_once(client: TestClient) -> None:
    ana = create_first(client)["id"]
    bo = join(client, "Bo")
    of_ana, of_bo = [create(client, "read", "write") for _ in range(3)], create(bo, "read")
    # A token may do it too: it only takes access away. One without the scope may not.
    assert send(client, create(client, "read"), "DELETE", "tokens").status_code == 403
    assert send(client, of_ana[0], "DELETE", "tokens").status_code == 204
    assert {send(client, each, "GET", "runs").status_code for each in of_ana} == {401}
    assert send(client, of_bo, "GET", "runs").status_code == 200
    assert bo.delete(f"{API}/people/{ana}/tokens").status_code == 403
    person = read(bo.get(f"{API}/account"))["person"]["id"]
    assert client.delete(f"{API}/people/{person}/tokens").status_code == 204
    assert send(client, of_bo, "GET", "runs").status_code == 401
    assert bo.get(f"{API}/account").status_code == 200


def test_tokens_of_a_disabled_person_end(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo")
    secret, person = create(bo, "read"), read(bo.get(f"{API}/account"))["person"]["id"]
    for disabled in (True, False):
        read(client.patch(f"{API}/people/{person}", json={"disabled": disabled}))
        assert send(client, secret, "GET", "runs").status_code == 401
    [token] = read(client.get(f"{API}/tokens", params={"everyone": True}))
    assert token["revoked_at"] is not None


def test_tokens_of_others_are_out_of_reach(client: TestClient) -> None:
    create_first(client)
    bo = join(client, "Bo")
    create(client, "read")
    [token] = read(client.get(f"{API}/tokens"))
    assert read(bo.get(f"{API}/tokens")) == []
    assert bo.get(f"{API}/tokens", params={"everyone": True}).status_code == 403
    assert bo.delete(f"{API}/tokens/{token['id']}").status_code == 404
    create(bo, "read")
    everyone = read(client.get(f"{API}/tokens", params={"everyone": True}))
    assert [each["person"]["name"] for each in everyone] == ["Bo", "Ana"]
    assert client.delete(f"{API}/tokens/{everyone[0]['id']}").status_code == 204


def test_the_last_use_is_shown_with_its_address(client: TestClient) -> None:
    create_first(client)
    secret = create(client, "read")
    assert read(client.get(f"{API}/tokens"))[0]["last_used_at"] is None
    send(client, secret, "GET", "runs").raise_for_status()
    [token] = read(client.get(f"{API}/tokens"))
    assert token["last_used_at"] is not None
    assert token["last_address"] == "testclient"


def test_an_attempt_has_one_token(client: TestClient, database: Database) -> None:
    create_first(client)
    with database.write() as session:
        first = tokens.create_for_attempt(session, 1, run_id=7, lifetime=timedelta(hours=1)).secret
    with database.write() as session:
        second = tokens.create_for_attempt(session, 2, run_id=7, lifetime=timedelta(hours=1))
        assert (second.token.scopes, second.token.run_id, second.token.attempt) == (["worker"], 7, 2)
    with database.read() as session:
        assert tokens.token_of(session, first) is None
        assert tokens.token_of(session, second.secret) is not None
    assert read(client.get(f"{API}/tokens", params={"everyone": True})) == []
