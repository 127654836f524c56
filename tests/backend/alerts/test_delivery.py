"""Webhook deliveries: signed, retried until they succeed, and never sent to private addresses by default."""

import hashlib
import hmac
import math
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from arcadia_backend.alerts.channels import SWITCHED_OFF
from arcadia_backend.alerts.delivery import CLAIM, MAX_TRIES, AlertDeliverer, delay_after
from tests.backend.alerts.conftest import Alerts, Receiver, seconds_until
from tests.factories import Api, metrics, started
from tests.server_process import Server
from tests.workers.waiting import PATIENCE_SECONDS, wait_until


@pytest.fixture
def channel(alerts: Alerts, receiver: Receiver) -> dict[str, Any]:
    """Return a webhook that gets all alerts."""
    added: dict[str, Any] = alerts.post("/alert-channels", name="Mine", url=receiver.url)
    return added


def finish(api: Api) -> int:
    """Finish a run."""
    run_id, attempt = api.running(name="Cart")
    assert api.release(run_id, attempt, "finished").is_success
    return run_id


def test_an_alert_is_posted_with_a_signature(
    api: Api, alerts: Alerts, receiver: Receiver, channel: dict[str, Any]
) -> None:
    alerts.settings = alerts.settings.model_copy(update={"public_url": "https://arcadia.example.org/"})
    run_id = finish(api)
    assert alerts.deliver() == 1
    ((headers, body),) = receiver.requests
    stamp, signature = (part.partition("=")[2] for part in headers["Arcadia-Signature"].split(","))
    signed = hmac.new(channel["secret"].encode(), f"{stamp}.".encode() + body, hashlib.sha256)
    assert signature == signed.hexdigest()
    assert abs(int(stamp) - alerts.now().timestamp()) < 60
    (document,) = receiver.documents
    assert document["delivery"] == headers["Arcadia-Delivery"]
    assert document["alert"]["title"] == "Cart finished"
    assert document["alert"]["url"] == f"https://arcadia.example.org/runs/{run_id}"
    (delivery,) = alerts.deliveries()
    assert (delivery["state"], delivery["status"], delivery["response"]) == ("delivered", 200, "thanks")
    assert alerts.deliver() == 0


def test_no_other_response_contains_the_secret_or_the_full_address(
    api: Api, alerts: Alerts, channel: dict[str, Any]
) -> None:
    assert len(channel["secret"]) == 64
    alerts.patch(f"/alert-channels/{channel['id']}", name="Yours")
    finish(api)
    alerts.deliver()
    for path in ("/alert-channels", "/alert-deliveries", "/alerts"):
        text = api.user.get(f"/api/v1{path}").text
        assert channel["secret"] not in text
        assert "/hook" not in text
    assert alerts.get("/alert-channels")[0]["address"].endswith("/…")


@pytest.mark.usefixtures("channel")
def test_a_failed_attempt_is_retried_with_the_same_key(api: Api, alerts: Alerts, receiver: Receiver) -> None:
    receiver.statuses = [500, 503]
    finish(api)
    alerts.deliver()
    (delivery,) = alerts.deliveries()
    assert (delivery["state"], delivery["tries"], delivery["status"]) == ("waiting", 1, 500)
    assert delivery["error"] == "The response had status 500."
    assert 0 < seconds_until(delivery["next_try_at"]) <= 10
    assert alerts.get("/alert-channels")[0]["problem"] == "The response had status 500."
    assert alerts.deliver() == 0, "not due yet"
    for delay in (11, 60):
        alerts.later += timedelta(seconds=delay)
        assert alerts.deliver() == 1
    keys = [(headers["Arcadia-Delivery"], headers["Arcadia-Try"]) for headers, _body in receiver.requests]
    assert keys == [(keys[0][0], "1"), (keys[0][0], "2"), (keys[0][0], "3")]
    (delivery,) = alerts.deliveries()
    assert (delivery["state"], delivery["error"]) == ("delivered", None)
    assert alerts.get("/alert-channels")[0]["problem"] is None


@pytest.mark.usefixtures("channel")
def test_the_thread_rests_until_the_next_try(api: Api, alerts: Alerts, receiver: Receiver) -> None:
    deliverer = AlertDeliverer(alerts.database, alerts.settings, alerts.now)
    assert deliverer._seconds_until_due() == math.inf
    receiver.statuses = [500]
    finish(api)
    assert deliverer._seconds_until_due() <= 0
    alerts.deliver()
    assert 0 < deliverer._seconds_until_due() <= delay_after(1).total_seconds()


@pytest.mark.usefixtures("channel")
def test_retries_end_after_about_a_day(api: Api, alerts: Alerts, receiver: Receiver) -> None:
    receiver.statuses = [500] * MAX_TRIES
    finish(api)
    while alerts.deliver():
        alerts.later += timedelta(hours=7)
    assert len(receiver.requests) == MAX_TRIES
    (delivery,) = alerts.deliveries()
    assert (delivery["state"], delivery["next_try_at"]) == ("failed", None)
    total = sum((delay_after(tries) for tries in range(1, MAX_TRIES)), timedelta())
    assert timedelta(hours=18) < total < timedelta(hours=30)


@pytest.mark.usefixtures("channel")
def test_a_failed_delivery_can_be_sent_again(api: Api, alerts: Alerts, receiver: Receiver) -> None:
    receiver.statuses = [500] * MAX_TRIES
    finish(api)
    while alerts.deliver():
        alerts.later += timedelta(hours=7)
    (failed,) = alerts.deliveries()
    again = alerts.post(f"/alert-deliveries/{failed['id']}/redeliver")
    assert (again["id"], again["state"], again["tries"]) == (failed["id"], "waiting", 0)
    assert alerts.deliver() == 1
    assert alerts.deliveries()[0]["state"] == "delivered"
    assert receiver.documents[-1] == receiver.documents[0]


@pytest.mark.usefixtures("channel")
def test_a_redirect_is_not_followed(api: Api, alerts: Alerts, receiver: Receiver) -> None:
    receiver.statuses = [302]
    finish(api)
    alerts.deliver()
    assert len(receiver.requests) == 1
    assert "redirect (302), which is not followed" in alerts.deliveries()[0]["error"]


@pytest.mark.usefixtures("channel")
def test_a_private_address_is_blocked_by_default(api: Api, alerts: Alerts, receiver: Receiver) -> None:
    finish(api)
    alerts.deliver(private=False)
    assert receiver.requests == []
    (delivery,) = alerts.deliveries()
    assert (delivery["state"], delivery["tries"]) == ("failed", 1)
    assert delivery["error"].startswith("127.0.0.1 is a private address. Set ARCADIA_ALERTS_PRIVATE=1")


def test_a_host_name_with_changing_addresses_is_connected_at_the_checked_one(
    api: Api, alerts: Alerts, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolved: list[str] = []
    resolve = socket.getaddrinfo

    def resolve_once(host: str, *more: Any, **options: Any) -> list[Any]:
        if host != "hooks.example.org":
            return resolve(host, *more, **options)
        resolved.append(host)
        return [(2, 1, 6, "", ("127.0.0.1" if len(resolved) == 1 else "192.0.2.1", 0))]

    alerts.post("/alert-channels", name="Named", url=receiver.url.replace("127.0.0.1", "hooks.example.org"))
    finish(api)
    monkeypatch.setattr(socket, "getaddrinfo", resolve_once)
    alerts.deliver()
    monkeypatch.undo()
    assert resolved == ["hooks.example.org"]
    ((headers, _body),) = receiver.requests
    assert headers["Host"].startswith("hooks.example.org:")


def test_an_unavailable_server_gets_the_alert_later(api: Api, alerts: Alerts) -> None:
    added = alerts.post("/alert-channels", name="Away", url="http://127.0.0.1:9/hook")
    finish(api)
    alerts.deliver()
    (delivery,) = alerts.deliveries()
    assert (delivery["state"], delivery["status"], delivery["channel"]) == ("waiting", None, added["name"])
    assert delivery["error"].startswith("The address could not be reached")


@pytest.mark.usefixtures("channel")
def test_an_interrupted_attempt_is_repeated(
    api: Api, alerts: Alerts, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(api)

    class KilledError(BaseException):
        """An error that simulates the end of the process."""

    def die(*_: Any) -> None:
        raise KilledError

    with monkeypatch.context() as killed:
        killed.setattr(AlertDeliverer, "_store", die)
        with pytest.raises(KilledError):
            alerts.deliver()
    assert alerts.deliver() == 0, "another backend may still be sending it"
    alerts.later += CLAIM
    assert alerts.deliver() == 1
    first, second = (headers["Arcadia-Delivery"] for headers, _body in receiver.requests)
    assert first == second
    assert alerts.deliveries()[0]["state"] == "delivered"


def test_a_channel_gets_only_its_kinds_of_alerts(api: Api, alerts: Alerts, channel: dict[str, Any]) -> None:
    alerts.patch(f"/alert-channels/{channel['id']}", kinds=["run_failed"])
    finish(api)
    assert alerts.deliveries() == []
    run_id, attempt = api.running()
    api.release(run_id, attempt, "failed", message="No.")
    assert [delivery["title"] for delivery in alerts.deliveries()] == [f"{api.run(run_id)['name']} failed"]
    assert alerts.patch(f"/alert-channels/{channel['id']}", kinds=None)["kinds"] is None


def test_a_disabled_channel_gets_nothing(api: Api, alerts: Alerts, channel: dict[str, Any]) -> None:
    finish(api)
    alerts.patch(f"/alert-channels/{channel['id']}", enabled=False)
    (delivery,) = alerts.deliveries()
    assert (delivery["state"], delivery["error"]) == ("failed", SWITCHED_OFF)
    finish(api)
    assert alerts.deliver() == 0
    refused = api.user.post(f"/api/v1/alert-channels/{channel['id']}/test")
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "The channel Mine is switched off. Switch it on first.",
    )


def test_removing_a_channel_removes_its_history(api: Api, alerts: Alerts, channel: dict[str, Any]) -> None:
    finish(api)
    assert api.user.delete(f"/api/v1/alert-channels/{channel['id']}").status_code == 204
    assert (alerts.deliveries(), alerts.get("/alert-channels")) == ([], [])
    assert len(alerts.listed()) == 1


def test_a_test_message_goes_to_one_channel_and_is_not_an_alert(
    alerts: Alerts, receiver: Receiver, channel: dict[str, Any]
) -> None:
    alerts.post("/alert-channels", name="Other", url=receiver.url)
    sent = alerts.post(f"/alert-channels/{channel['id']}/test")
    assert alerts.deliver() == 1
    assert [document["alert"]["kind"] for document in receiver.documents] == ["test"]
    (delivery,) = alerts.deliveries()
    assert (delivery["id"], delivery["state"]) == (sent["id"], "delivered")
    assert alerts.get("/alerts") == {"items": [], "unread": 0, "next_cursor": None}


def test_a_repeated_request_creates_one_channel(api: Api, alerts: Alerts, receiver: Receiver) -> None:
    body = {"name": "Once", "url": receiver.url}
    answers = [
        api.user.post("/api/v1/alert-channels", json=body, headers={"Idempotency-Key": "k"}).json() for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert len(alerts.get("/alert-channels")) == 1


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org",
        "https://",
        "https://user:secret@example.org",
        "https://example.org:99999",
        "https://exämple.org",
        "https://example.org/a b",
    ],
)
def test_an_invalid_address_is_refused(api: Api, url: str) -> None:
    refused = api.user.post("/api/v1/alert-channels", json={"name": "Bad", "url": url})
    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"][0]["field"] == "url"


@pytest.mark.nightly
def test_a_killed_backend_delivers_after_its_restart(tmp_path: Path, receiver: Receiver) -> None:
    settings = {"ARCADIA_WORKER_TOKEN": "w", "ARCADIA_ALERTS_PRIVATE": "1", "ARCADIA_SWEEP_SECONDS": "60"}
    token = {"Authorization": "Bearer w"}
    with (
        httpx.Client(headers=token, timeout=PATIENCE_SECONDS) as worker,
        httpx.Client(timeout=PATIENCE_SECONDS) as user,
    ):
        server = Server(tmp_path, settings=settings)
        try:
            user.post(f"{server.address}/alert-channels", json={"name": "Mine", "url": receiver.url})
            run_id = server.launch()
            held = worker.post(f"{server.address}/worker/claim", json={"name": "w1", "queue": "cpu"}).json()
            events = {"attempt": held["attempt"], "events": [started(), metrics(2, 100)]}
            worker.post(f"{server.address}/worker/runs/{run_id}/events", json=events)
            release = {"attempt": held["attempt"], "outcome": "finished"}
            assert worker.post(f"{server.address}/worker/runs/{run_id}/release", json=release).is_success
        finally:
            server.close()
        assert receiver.requests == [], "the backend was killed before it delivered"
        server = Server(tmp_path, settings={**settings, "ARCADIA_SWEEP_SECONDS": "0.1"})
        try:
            wait_until(lambda: bool(receiver.requests))
        finally:
            server.close()
    assert receiver.documents[0]["alert"]["run_id"] == run_id
