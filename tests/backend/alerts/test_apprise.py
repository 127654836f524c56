"""Delivery by Apprise, which is limited to addresses that can be checked."""

import random
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import apprise
import pytest
import requests
from apprise.plugins.email import NotifyEmail
from apprise.plugins.slack import NotifySlack
from apprise.plugins.zulip import NotifyZulip
from apprise.utils.parse import parse_url

from arcadia_backend.alerts import addresses
from arcadia_backend.alerts.addresses import FIXED_SERVICES, SELF_HOSTED, check_apprise_url
from tests.backend.alerts.conftest import Alerts
from tests.factories import Api

SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
TELEGRAM = "tgram://123456789:abcdefg_hijklmnopqrstuvwxyzABCDEF012/12345/"
MAIL = "mailto://me:secret@example.org?to=you@example.org"


def finish(api: Api) -> None:
    run_id, attempt = api.running(name="Cart")
    assert api.release(run_id, attempt, "finished").is_success


def answering(status: int, content: bytes = b"ok") -> requests.Response:
    """Return a response of a service."""
    response = requests.Response()
    response.status_code, response._content = status, content
    return response


def test_an_alert_is_sent_to_a_service(api: Api, alerts: Alerts, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []

    def send(service: Any, **message: Any) -> bool:
        service.throttle()
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
        service.throttle()
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
        service.throttle()
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
        (f"{MAIL}&pgp=encrypt&pgppub=/etc/passwd", "cannot have the parameter 'pgp'"),
        (f"{MAIL}&+header=x", "cannot have the parameter '+header'"),
        (f"{SLACK}?template=/etc/passwd", "cannot have the parameter 'template'"),
        (f"{TELEGRAM}?format=text;template=http://127.0.0.1:9/x", "cannot have the parameter 'template'"),
        (f"{TELEGRAM}?format=text&TEMPLATE=/etc/shadow", "cannot have the parameter 'template'"),
        (f"{TELEGRAM}?%74emplate=/etc/shadow", "cannot have the parameter 'template'"),
        (f"{TELEGRAM}?format=text?;template=/etc/shadow", "percent-encoded"),
        (f"{TELEGRAM}?format=text\n;template=/etc/shadow", "percent-encoded"),
        (f"{TELEGRAM}?format=text#;template=/etc/shadow", "cannot have the parameter 'template'"),
        (f"{TELEGRAM}#?template=/etc/shadow", "cannot have the parameter 'template'"),
        (f"{TELEGRAM}?:key=value", "cannot have the parameter ':key'"),
        # Allowed for mail, but not for Slack.
        (f"{SLACK}?smtp=10.0.0.7", "cannot have the parameter 'smtp'"),
        (f"zulip://bot@127.0.0.1/{32 * 'a'}/stream", "is a self-hosted Zulip"),
        (f"zulip://bot@10.zulipchat.com%2Fx/{32 * 'a'}/stream", "is a self-hosted Zulip"),
        ("slack://wrong", "Apprise does not accept this slack URL"),
    ],
)
def test_an_address_that_cannot_be_checked_is_refused(api: Api, url: str, reason: str) -> None:
    refused = api.user.post("/api/v1/alert-channels", json={"kind": "apprise", "name": "Bad", "url": url})
    assert refused.status_code == 422, refused.text
    assert reason in refused.json()["errors"][0]["message"]


def test_a_self_hosted_service_is_allowed_with_private_addresses() -> None:
    check_apprise_url("gotify://10.0.0.7/AbCdEfGhIjKlMnO", allow_private=True)


def test_apprise_finds_no_other_parameters_in_an_allowed_url() -> None:
    made = random.Random(1)
    parts = (
        "format",
        "template",
        "to",
        "=",
        "=",
        "&",
        ";",
        "#",
        "?",
        "%26",
        "%3b",
        "%74emplate",
        "+",
        ":",
        "-",
        "/",
        "x",
    )
    allowed = 0
    for _ in range(3_000):
        url = f"{TELEGRAM}?{''.join(made.choices(parts, k=made.randrange(1, 9)))}"
        try:
            check_apprise_url(url, allow_private=False)
        except ValueError:
            continue
        found = parse_url(url, verify_host=False)
        assert found["qsd"].keys() - {""} <= {"format", "to"}, url
        assert not found["qsd+"] | found["qsd-"] | found["qsd:"], url
        allowed += 1
    assert allowed > 50


# A URL of each service at a fixed address, and its host.
HOSTS = {
    f"dingtalk://{'a' * 64}/12345678901": "oapi.dingtalk.com",
    f"discord://{'1' * 24}/{'a' * 64}": "discord.com",
    f"feishu://{'a' * 36}": "open.feishu.cn",
    f"gchat://workspace/{'k' * 36}/{'t' * 40}": "chat.googleapis.com",
    f"ifttt://{'a' * 20}@event": "maker.ifttt.com",
    f"lark://{'a' * 36}": "open.larksuite.com",
    "opsgenie://aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee": "api.opsgenie.com",
    f"pagerduty://{'i' * 32}@{'a' * 20}/source/component": "events.pagerduty.com",
    f"pbul://{'a' * 32}": "api.pushbullet.com",
    f"pover://{'u' * 30}@{'t' * 30}": "api.pushover.net",
    f"sendgrid://{'a' * 20}:me@example.org/you@example.org": "api.sendgrid.com",
    SLACK: "hooks.slack.com",
    TELEGRAM: "api.telegram.org",
    f"twilio://AC{'a' * 32}:{'b' * 32}@15551230000/15551230001": "api.twilio.com",
    f"wxteams://{'a' * 80}": "api.ciscospark.com",
    f"zulip://bot@arcadia/{32 * 'a'}/stream": "arcadia.zulipchat.com",
}


@pytest.mark.required_cases(4)
@pytest.mark.parametrize("level", ["info", "error"])
@pytest.mark.parametrize("url", HOSTS, ids=[urlsplit(url).scheme for url in HOSTS])
def test_a_fixed_service_is_contacted_at_its_own_address(monkeypatch: pytest.MonkeyPatch, url: str, level: str) -> None:
    requested: list[tuple[str, bool]] = []

    def refuse(_session: Any, **given: Any) -> requests.Response:
        requested.append((urlsplit(given["url"]).hostname or "", given["allow_redirects"]))
        return answering(500)

    monkeypatch.setattr(requests.Session, "request", refuse)
    outcome = addresses.send(url, "Title", "Text", level, allow_private=False)
    assert outcome.error is not None
    assert set(requested) == {(HOSTS[url], False)}


def test_every_fixed_service_has_a_tested_url() -> None:
    assert {urlsplit(url).scheme for url in HOSTS} == FIXED_SERVICES


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_an_alert_reaches_opsgenie_at_every_level(monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    monkeypatch.setattr(requests, "post", lambda *_, **__: answering(202, b'{"requestId": "1"}'))
    url = "opsgenie://aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
    assert addresses.send(url, "Title", "Text", level, allow_private=False).error is None


def test_a_message_that_was_never_sent_is_not_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NotifySlack, "send", lambda *_, **__: True)
    outcome = addresses.send(SLACK, "Title", "Text", "info", allow_private=False)
    assert outcome.error is not None
    assert "did not contact the service" in outcome.error


def test_simultaneous_deliveries_keep_their_own_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=30)

    def refuse(service: Any, **_: Any) -> bool:
        service.throttle()
        both.wait()
        service.logger.warning("%s failed", type(service).__name__)
        both.wait()
        return False

    for service in (NotifySlack, NotifyZulip):
        monkeypatch.setattr(service, "send", refuse)
    urls = {"NotifySlack": SLACK, "NotifyZulip": f"zulip://bot@arcadia/{32 * 'a'}/stream"}
    with ThreadPoolExecutor() as pool:
        outcomes = {
            name: pool.submit(addresses.send, url, "Title", "Text", "info", allow_private=False)
            for name, url in urls.items()
        }
        errors = {name: outcome.result().error for name, outcome in outcomes.items()}
    assert errors == {name: f"The service did not accept the message. {name} failed" for name in urls}


def test_fixed_services_have_no_host_in_their_urls() -> None:
    found = {schema: addresses.load_service(schema) for schema in FIXED_SERVICES | SELF_HOSTED}
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
