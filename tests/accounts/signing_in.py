"""People who sign in, for tests of accounts."""

from typing import Any

from fastapi.testclient import TestClient

from tests.factories import Response

API = "/api/v1"
PASSWORD = "correct horse battery"


def stranger(client: TestClient) -> TestClient:
    """Return a browser of the same application that has not signed in."""
    other = TestClient(client.app, base_url="http://localhost")
    other.portal = client.portal
    return other


def create_first(client: TestClient, name: str = "Ana") -> dict[str, Any]:
    """Create the first account, with which the client signs in."""
    # Tests share the application, and send tokens that have ended.
    client.app.state.credentials.limit._times.clear()  # type: ignore[attr-defined]
    body = {"name": name, "email": address(name), "password": PASSWORD}
    person: dict[str, Any] = read(client.post(f"{API}/people/first", json=body), 201)
    return person


def invite(client: TestClient, name: str, **more: Any) -> dict[str, Any]:
    """Invite a person."""
    body = {"people": [{"name": name, "email": address(name)}], **more}
    [invitation] = read(client.post(f"{API}/people", json=body), 201)
    return dict(invitation)


def join(client: TestClient, name: str, **more: Any) -> TestClient:
    """Invite a person, and return the browser in which they have chosen a password."""
    browser = stranger(client)
    secret = invite(client, name, **more)["path"].partition("#")[2]
    read(browser.post(f"{API}/session/password", json={"secret": secret, "password": PASSWORD}))
    return browser


def sign_in(browser: TestClient, name: str, password: str = PASSWORD) -> Response:
    """Sign in with a password."""
    return browser.post(f"{API}/session", json={"email": address(name), "password": password})


def address(name: str) -> str:
    """Return the e-mail address of a person."""
    return f"{name.lower()}@example.org"


def read(response: Response, status: int = 200) -> Any:
    """Return the content of a response with this status."""
    assert response.status_code == status, response.text
    return response.json()
