"""Codes with which hosts of workers join, and the tokens that they get."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from arcadia_backend.accounts.passwords import digest_of
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from tests.accounts.lab import Lab
from tests.accounts.signing_in import API, read

ADMINISTRATOR = "installation administrator"
EXPIRED = "This code was used already, has expired, or is incomplete."


def code_of(lab: Lab) -> str:
    code: str = read(lab.client(ADMINISTRATOR).post(f"{API}/host-codes"), 201)["code"]
    return code


def join(lab: Lab, code: str, name: str = "sun", status: int = 201) -> dict[str, Any]:
    joined: dict[str, Any] = read(
        lab.client("nobody").post(f"{API}/session/host", json={"code": code, "name": name}), status
    )
    return joined


def heartbeat(lab: Lab, secret: str) -> int:
    report = {"name": "sun", "host": "sun", "queue": "cpu", "pid": 7, "version": "0.1.0", "device": "cpu"}
    report |= {"cores": 2, "memory_bytes": 8_000_000_000}
    headers = {"Authorization": f"Bearer {secret}"}
    return lab.client("nobody").post(f"{API}/worker/heartbeat", json=report, headers=headers).status_code


def test_a_host_joins_once_with_a_code(lab: Lab) -> None:
    created = read(lab.client(ADMINISTRATOR).post(f"{API}/host-codes"), 201)
    code = created["code"]
    assert created["commands"][2].endswith(f"arcadia worker join http://localhost {code}")
    joined = join(lab, f" {code} ")
    assert heartbeat(lab, joined["secret"]) == 200
    assert join(lab, code, status=410)["detail"].startswith(EXPIRED)
    listed = read(lab.client(ADMINISTRATOR).get(f"{API}/tokens", params={"everyone": True}))
    [token] = [token for token in listed if token["name"] == "sun"]
    assert (token["scopes"], token["person"]) == (["worker"], None)
    entries = read(lab.client(ADMINISTRATOR).get(f"{API}/audit", params={"kind": "token"}))["items"]
    assert (entries[0]["action"], entries[0]["object_name"]) == ("create", "sun")
    # The token opens nothing else.
    headers = {"Authorization": f"Bearer {joined['secret']}"}
    assert lab.client("nobody").get(f"{API}/runs", headers=headers).status_code == 403
    # Revoked on the page, it stops at once.
    assert lab.client(ADMINISTRATOR).delete(f"{API}/tokens/{token['id']}").status_code == 204
    assert heartbeat(lab, joined["secret"]) == 401


def test_a_code_ends(lab: Lab) -> None:
    late, of_leaver, current = (code_of(lab) for _ in range(3))
    with lab.database.write() as session:
        of_late = tables.OneTimeLink.digest == digest_of(late)
        session.execute(update(tables.OneTimeLink).where(of_late).values(expires_at=utc_now() - timedelta(seconds=1)))
    assert join(lab, late, status=410)["detail"].startswith(EXPIRED)
    join(lab, current)
    with lab.database.write() as session:
        creator = session.scalars(select(tables.Person).where(tables.Person.is_administrator)).one()
        creator.is_administrator = False
    assert join(lab, of_leaver, status=410)["detail"].startswith(EXPIRED)
    with lab.database.write() as session:
        session.get_one(tables.Person, creator.id).is_administrator = True


def test_wrong_codes_are_limited(lab: Lab) -> None:
    answers = [
        lab.client("nobody").post(f"{API}/session/host", json={"code": f"wrong-{number}", "name": "x"}).status_code
        for number in range(12)
    ]
    assert (answers[0], answers[-1]) == (410, 429)


def test_a_code_of_a_host_sets_no_password(lab: Lab) -> None:
    code = code_of(lab)
    for path, more in (("link", {}), ("password", {"password": "long enough to be good"})):
        answer = lab.client("nobody").post(f"{API}/session/{path}", json={"secret": code, **more})
        assert answer.status_code == 410


@pytest.mark.parametrize("caller", ["viewer", "editor", "administrator", "administrator with an old session"])
def test_only_administrators_create_codes(lab: Lab, caller: str) -> None:
    assert lab.client(caller).post(f"{API}/host-codes").status_code == 403
