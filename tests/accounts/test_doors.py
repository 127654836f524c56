"""One table, every door: who gets through each route, socket, stream, file and mounted part.

`python -m tests.accounts.test_doors` writes the table anew. Read its changes as carefully as code.
"""

import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from fastapi import FastAPI
from starlette.testclient import WebSocketDenialResponse

from arcadia_backend import examples
from arcadia_backend.archives.format import ImportResult
from arcadia_backend.live import routes
from arcadia_backend.web.doors import FRESH, Right, UndeclaredDoorsError, check_doors, find_right, list_doors, routes_of
from tests.accounts.crawl import Door, doors, fill, query
from tests.accounts.lab import Lab, open_lab

TABLE = Path(__file__).with_name("doors.csv")
# Open doors. A route may then still refuse an empty body, or not find an object.
OPEN, NO_SIGN_IN, NO_RIGHT, HIDDEN = "open", "sign in", "no right", "hidden"
LETTERS = {OPEN: "open", NO_SIGN_IN: "401", NO_RIGHT: "403", HIDDEN: "404"}


def knock(lab: Lab, caller: str, door: Door) -> str:
    """Return what a caller finds at a door, with the ids of the lab's own project."""
    client = lab.client(caller)
    path = fill(door.path, lab.own)
    if door.method == "SOCKET":
        return _knock_socket(lab, caller, path)
    method = {"ANY": "POST"}.get(door.method, door.method)
    wrong_body = b"no JSON" if method in ("POST", "PUT", "PATCH") else None
    parameters = query(door.path, lab.own)
    # A stream would stay open.
    with patch.object(routes, "MAX_STREAMS", 0):
        response = client.request(method, path, params=parameters, follow_redirects=False, content=wrong_body)
    assert response.status_code in (*range(500), 503), (door, caller, response.text)
    if method != "GET" and response.is_success:
        lab.copy.restore()
    if response.status_code == 401:
        return NO_SIGN_IN
    if response.status_code == 403:
        return NO_RIGHT
    return HIDDEN if response.status_code == 404 else OPEN


def _knock_socket(lab: Lab, caller: str, path: str) -> str:
    try:
        with lab.client(caller).websocket_connect(f"ws://localhost{path}?attempt=1"):
            # The game may end at once.
            return OPEN
    except WebSocketDenialResponse as denied:
        return {401: NO_SIGN_IN, 403: NO_RIGHT}[denied.status_code]


def table_of(lab: Lab) -> Iterator[list[str]]:
    """Yield the rows of the table: each door with its right and what each caller finds."""
    yield ["method", "path", "right", *lab.callers]
    nothing: dict[str, list[int]] = {name: [] for name in ImportResult.model_fields}
    # The import of the examples takes seconds, for each caller.
    with patch.object(examples, "store_archive", return_value=nothing):
        for door in sorted(doors(lab), key=lambda each: (each.path, each.method)):
            right = find_right(door.method, door.path)
            yield [door.method, door.path, str(right), *(LETTERS[knock(lab, caller, door)] for caller in lab.callers)]


def test_every_door_is_as_in_the_table(lab: Lab) -> None:
    with TABLE.open(newline="") as file:
        expected = [*csv.reader(file)]
    assert [*table_of(lab)] == expected


def test_the_table_is_plausible() -> None:
    with TABLE.open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert len(rows) > 200
    for row in rows:
        refused = [row[name] for name in ("nobody", "expired token", "revoked token", "revoked session")]
        if row["right"] != Right.PUBLIC:
            assert set(refused) == {"401"}, row
        if row["right"] == Right.WRITE:
            assert {row["viewer"], row["stranger"], row["token read"], row["token worker"]} == {"403"}, row
        if row["right"] in (Right.INSTALLATION, Right.INSTALLATION_READ, Right.INSTALLATION_FRESH):
            assert (row["administrator"], row["installation administrator"] == "403") == ("403", False), row
        if row["right"] == Right.INSTALLATION_READ:
            read, write = row["administrator's token read"], row["administrator's token write"]
            assert (read == "403", write) == (False, "403"), row
        if row["right"] in FRESH:
            reached = {name for name in row if row[name] in ("open", "404")}
            assert "installation administrator" in reached, row
            assert not reached & {"administrator with an old session", "token write"}, row
            assert not reached & {"administrator's token read", "administrator's token write"}, row
        if row["right"] == Right.PROJECT_FRESH:
            assert (row["editor"], row["administrator"] == "403") == ("403", False), row
        if row["right"] == Right.PROJECT:
            assert (row["editor"], row["administrator"] == "403") == ("403", False), row
        if row["right"] == Right.WORKER:
            assert (row["installation administrator"], row["token worker"] == "403") == ("403", False), row


def test_a_route_without_a_right_stops_the_start() -> None:
    app = FastAPI()

    @app.get("/api/v1/unheard")
    def unheard() -> None: ...

    with pytest.raises(UndeclaredDoorsError, match="GET /api/v1/unheard"):
        check_doors(app)


def test_every_route_of_the_api_is_listed(lab: Lab) -> None:
    listed = {f"{method} {path}" for method, path in list_doors(routes_of(lab.app))}
    assert {"SOCKET /api/v1/live/{live_id}", "ANY /mcp", "GET /api/docs", "GET /client/{name}"} <= listed


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as temporary,
        open_lab(Path(temporary)) as opened,
        TABLE.open("w", newline="") as file,
    ):
        csv.writer(file, lineterminator="\n").writerows(table_of(opened))
