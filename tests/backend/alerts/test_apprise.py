"""Delivery by Apprise, which is limited to addresses that can be checked."""

import socket
from typing import Any

import apprise
import pytest
from apprise.plugins.email import NotifyEmail
from apprise.plugins.slack import NotifySlack

from backend.alerts import apprise_urls
from backend.alerts.apprise_urls import FIXED_SERVICES, SELF_HOSTED, check_apprise_url
from tests.backend.alerts.conftest import Alerts
from tests.factories import Api

SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
MAIL = "mailto://me:secret@example.org?to=you@example.org"


def finish(api: Api) -> None:
    run_id, attempt = api.running(name="Cart")
    assert api.release(run_id, attempt, "finished").is_success


def test_an_alert_is_sent_to_a_service(api: Api, alerts: Alerts, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []

    def send(_service: Any, **message: Any) -> bool:
        sent.append(message)
        return True

    monkeypatch.setattr(NotifySlack, "send", send)
    alerts.settings = alerts.settings.model_copy(update={"public_url": "https://arcadia.example.org"})
    channel = alerts.post("/alert-channels", kind="apprise", name="Team", url=SLACK)
    assert (channel["secret"], channel["address"]) == (None, "slack://…")
    finish(api)
    alerts.deliver(private=False)
    ((title, body),) = [(message["title"], message["body"]) for message in sent]
    assert title == "Cart finished"
    assert body.endswith("https://arcadia.example.org/runs/1")
    assert alerts.deliveries()[0]["state"] == "delivered"


def test_a_refused_message_is_retried(api: Api, alerts: Alerts, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(service: Any, **_: Any) -> bool:
        service.logger.warning("Failed to send Slack notification: invalid_auth, error=403.")
        return False

    monkeypatch.setattr(NotifySlack, "send", refuse)
    alerts.post("/alert-channels", kind="apprise", name="Team", url=SLACK)
    finish(api)
    alerts.deliver(private=False)
    (delivery,) = alerts.deliveries()
    assert (delivery["state"], delivery["tries"]) == ("waiting", 1)
    assert "invalid_auth" in delivery["error"]
    assert "TIiajkdnlazkcOXrIdevi7FQ" not in delivery["error"]


def test_a_mail_server_at_a_private_address_is_blocked(
    api: Api, alerts: Alerts, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def send(service: Any, **_: Any) -> bool:
        sent.append(service.smtp_host)
        return True

    monkeypatch.setattr(NotifyEmail, "send", send)
    alerts.post("/alert-channels", kind="apprise", name="Mail", url=f"{MAIL}&smtp=10.0.0.7")
    finish(api)
    alerts.deliver(private=False)
    (delivery,) = alerts.deliveries()
    assert (delivery["state"], sent) == ("failed", [])
    assert "10.0.0.7 is a private address" in delivery["error"]
    alerts.post(f"/alert-deliveries/{delivery['id']}/redeliver")
    alerts.deliver(private=True)
    assert (alerts.deliveries()[0]["state"], sent) == ("delivered", ["10.0.0.7"])


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("gotify://10.0.0.7/token", "self-hosted service"),
        ("json://127.0.0.1/hook", "self-hosted service"),
        ("dbus://", "no service 'dbus' is allowed"),
        ("syslog://", "no service 'syslog' is allowed"),
        ("nothing", "no service '' is allowed"),
        (f"{MAIL}&pgp=encrypt&pgppub=/etc/passwd", "the parameter 'pgp' is not allowed"),
        (f"{MAIL}&+header=x", "is not allowed"),
        (f"{SLACK}?template=/etc/passwd", "the parameter 'template' is not allowed"),
        ("slack://wrong", "Apprise does not accept this slack URL"),
    ],
)
def test_an_address_that_cannot_be_checked_is_refused(api: Api, url: str, reason: str) -> None:
    refused = api.user.post("/api/v1/alert-channels", json={"kind": "apprise", "name": "Bad", "url": url})
    assert refused.status_code == 422, refused.text
    assert reason in refused.json()["errors"][0]["message"]


def test_a_self_hosted_service_is_allowed_with_private_addresses() -> None:
    check_apprise_url("gotify://10.0.0.7/AbCdEfGhIjKlMnO", allow_private=True)


def test_fixed_services_have_no_host_in_their_urls() -> None:
    found = {schema: apprise_urls.load_service(schema) for schema in FIXED_SERVICES | SELF_HOSTED}
    named = {schema for schema, plugin in found.items() if any("{host}" in form for form in plugin.templates)}
    assert named & FIXED_SERVICES == set()
    assert named >= SELF_HOSTED


def test_an_unresolved_mail_server_is_looked_up_again_later(
    api: Api, alerts: Alerts, monkeypatch: pytest.MonkeyPatch
) -> None:
    alerts.post("/alert-channels", kind="apprise", name="Mail", url=MAIL)
    finish(api)

    def away(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    with monkeypatch.context() as offline:
        offline.setattr(socket, "getaddrinfo", away)
        alerts.deliver(private=False)
    (delivery,) = alerts.deliveries()
    assert delivery["state"] == "waiting"
    assert delivery["error"].startswith("The mail server could not be found")
    assert apprise.__version__
