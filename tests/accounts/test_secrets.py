"""Two projects with secrets in every text: a person of one sees nothing of the other."""

import re

import pytest
from sqlalchemy import select

from arcadia_backend.database.ownership import LIMITED
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import Base
from tests.accounts.crawl import MISSING_ID, PAGES, STREAMS, Door, doors, fill, query
from tests.accounts.lab import SECRETS, Lab, Side
from tests.factories import Response

READS = ("GET",)
CHANGES = ("POST", "PUT", "PATCH", "DELETE")
# The least number of doors through which the other project's secrets are visible to an administrator.
MIN_VISIBLE = 35


def ask(lab: Lab, caller: str, door: Door, side: Side | None) -> Response:
    """Send the request of a route with the ids of a project."""
    client = lab.client(caller)
    body: dict[str, str] | None = {} if door.method in ("POST", "PUT", "PATCH") else None
    params = query(door.path, side)
    return client.request(door.method, fill(door.path, side), params=params, follow_redirects=False, json=body)


def general(response: Response, side: Side | None) -> tuple[int, str]:
    """Return a response without the ids that the request named."""
    text = re.sub(r"\d+", "#", response.text.replace(side.secret if side else "nosecret", "?"))
    return response.status_code, text


def test_a_person_reads_nothing_of_another_project(lab: Lab) -> None:
    leaks, failures, differences = [], [], []
    for door in doors(lab, *READS):
        if door.path in (*STREAMS, PAGES):
            continue
        own, other, missing = (ask(lab, "editor", door, side) for side in (lab.own, lab.other, None))
        if any(SECRETS["other"] in f"{each.text}{each.headers}" for each in (own, other, missing)):
            leaks.append(str(door))
        if any(each.status_code >= 500 for each in (own, other, missing)):
            failures.append(str(door))
        if general(other, lab.other) != general(missing, None):
            differences.append((str(door), other.text[:300], missing.text[:300]))
    assert leaks == []
    assert failures == []
    assert differences == []


def test_an_administrator_sees_the_secrets(lab: Lab) -> None:
    visible = [
        str(door)
        for door in doors(lab, *READS)
        if door.path not in STREAMS and SECRETS["other"] in ask(lab, "installation administrator", door, lab.other).text
    ]
    assert len(visible) >= MIN_VISIBLE, visible


def snapshot(lab: Lab) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows of all tables with the other project's secret, or of it."""
    with acting_as(BACKEND), lab.database.read() as session:
        return {name: [*map(tuple, session.execute(select(Base.metadata.tables[name])))] for name in sorted(LIMITED)}


def test_a_person_changes_nothing_of_another_project(lab: Lab) -> None:
    before = snapshot(lab)
    differences = []
    for door in doors(lab, *CHANGES):
        if "{" not in door.path or door.path.startswith("/api/v1/session"):
            continue
        other, missing = (ask(lab, "editor", door, side) for side in (lab.other, None))
        if general(other, lab.other) != general(missing, None):
            differences.append((str(door), other.text[:300], missing.text[:300]))
    after = snapshot(lab)
    assert differences == []
    for table, rows in before.items():
        kept = [row for row in rows if any(SECRETS["other"] in str(value) for value in row)]
        assert [row for row in kept if row not in after[table]] == [], table


@pytest.mark.parametrize("text", [SECRETS["other"], str(MISSING_ID)])
def test_search_and_counts_do_not_show_hidden_runs(lab: Lab, text: str) -> None:
    client = lab.client("editor")
    assert client.get("/api/v1/runs", params={"text": text}).json()["total"] == 0
    assert client.get("/api/v1/run-actions", params={"text": text}).json()["runs"] == 0
    assert client.get("/api/v1/run-groups", params={"by": "name", "text": text}).json()["total"] == 0
    assert client.get("/api/v1/runs").json()["total"] == 1


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"filter": "learning_rate > 0"}, 200),
        ({"sort": "learning_rate,-last(train/entropy)"}, 200),
        ({"filter": "invented > 0"}, 422),
        ({"sort": "-last(invented)"}, 422),
    ],
)
def test_settings_and_metrics_of_expressions_are_looked_up(lab: Lab, query: dict[str, str], status: int) -> None:
    assert lab.client("editor").get("/api/v1/runs", params=query).status_code == status
