"""Downloads of the client's wheels with pip, without a token."""

import hashlib
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr

from arcadia_backend import errors
from arcadia_backend.app import create_app
from arcadia_backend.config import Settings
from arcadia_backend.web.api_reference.page import page_of
from arcadia_backend.web.frontend import install_commands, serve_client, serve_frontend

CLIENT, DEPENDENCY = "arcadia_client-0.1.0-py3-none-any.whl", "httpx-0.28.1-py3-none-any.whl"


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """Return a folder with two wheels and another file."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / CLIENT).write_bytes(b"the client")
    (folder / DEPENDENCY).write_bytes(b"httpx")
    (folder / ".built").write_text("")
    return folder


@pytest.fixture
def server(wheels: Path, tmp_path: Path) -> TestClient:
    """Return a client of a server with the wheels and a frontend."""
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "index.html").write_text("<title>the page</title>")
    app = FastAPI(openapi_url=None)
    errors.install(app)
    serve_client(app, wheels)
    serve_frontend(app, tmp_path / "dist")
    return TestClient(app, base_url="http://arcadia.example:8000")


def test_the_list_links_each_wheel_with_its_hash(server: TestClient) -> None:
    answer = server.get("/client/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for name, content in ((CLIENT, b"the client"), (DEPENDENCY, b"httpx")):
        assert f'href="/client/{name}#sha256={hashlib.sha256(content).hexdigest()}"' in answer.text
    assert ".built" not in answer.text
    assert server.get("/client", follow_redirects=False).headers["location"] == "/client/"


def test_a_changed_wheel_gets_its_new_hash(server: TestClient, wheels: Path) -> None:
    server.get("/client/")
    (wheels / CLIENT).write_bytes(b"a newer client")
    assert hashlib.sha256(b"a newer client").hexdigest() in server.get("/client/").text


@pytest.mark.parametrize(("name", "policy"), [(CLIENT, "no-cache"), (DEPENDENCY, "public, max-age=86400")])
def test_a_wheel_has_its_media_type_and_cache_policy(server: TestClient, wheels: Path, name: str, policy: str) -> None:
    answer = server.get(f"/client/{name}")
    assert answer.content == (wheels / name).read_bytes()
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["cache-control"] == policy
    assert server.head(f"/client/{name}").headers["content-length"] == str(len(answer.content))


@pytest.mark.parametrize("name", ["none-1.0-py3-none-any.whl", ".built", "..%2fdist%2findex.html"])
def test_only_wheels_are_served(server: TestClient, name: str) -> None:
    assert server.get(f"/client/{name}").status_code == 404


def test_the_list_shows_both_commands_with_the_servers_address(server: TestClient) -> None:
    page = server.get("/client/").text
    assert f"pip install http://arcadia.example:8000/client/{CLIENT}<" in page
    assert (
        "pip install --no-index --find-links http://arcadia.example:8000/client/ --trusted-host arcadia.example "
        "arcadia-client<" in page
    )


def test_commands_depend_on_the_address_and_the_wheels(wheels: Path, tmp_path: Path) -> None:
    assert "--trusted-host [::1] arcadia" in install_commands("http://[::1]:8000", wheels)[1][1]
    assert "--trusted-host" not in install_commands("https://arcadia.example", wheels)[1][1]
    (wheels / DEPENDENCY).unlink()
    assert [title for title, _ in install_commands("http://localhost:8000", wheels)] == ["Install the client"]
    assert install_commands("http://localhost:8000", tmp_path / "none") == []


def test_the_reference_shows_the_commands_with_copy_buttons(client: TestClient) -> None:
    page = page_of({"info": {"version": "1"}, "paths": {}, "components": {"schemas": {}}}, [("Install", "pip <x>")])
    assert '<button hidden data-copies="command-0" aria-label="Copy: Install">Copy</button>' in page
    assert '<pre id="command-0">pip &lt;x&gt;</pre>' in page
    script = client.get("/api/docs/copy.js")
    assert "data-copies" in script.text
    assert "javascript" in script.headers["content-type"]


def test_no_token_is_needed(settings: Settings) -> None:
    guarded = create_app(settings.model_copy(update={"token": SecretStr("secret")}))
    with TestClient(guarded, base_url="http://localhost") as client:
        assert client.get("/api/docs").status_code == 401
        assert client.get("/client/").status_code == 200
