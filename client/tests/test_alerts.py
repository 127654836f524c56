"""Alerts: reading them, and managing the channels that deliver them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
from arcadia import AsyncClient, Client
from fake_server import URL, FakeServer

TIME = "2026-11-26T10:00:00Z"
ALERT: dict[str, Any] = {
    "id": 7,
    "kind": "run_failed",
    "level": "error",
    "title": "Pong failed",
    "text": "The ROM is missing.",
    "run_id": 12,
    "study_id": None,
    "created_at": TIME,
    "read_at": None,
    "ended_at": None,
}
CHANNEL: dict[str, Any] = {
    "id": 3,
    "kind": "webhook",
    "name": "team",
    "address": "https://example.org/…",
    "kinds": ["run_failed"],
    "enabled": True,
    "created_at": TIME,
    "problem": None,
}
DELIVERY: dict[str, Any] = {"id": 9, "alert_id": 7, "channel_id": 3, "state": "waiting", "tries": 2, "error": "No."}


def bodies(server: FakeServer) -> list[tuple[str, str, Any]]:
    """Return the method, path and body of each request."""
    return [
        (each.method, each.url.path.removeprefix("/api/v1"), json.loads(each.content) if each.content else None)
        for each in server.requests
    ]


def test_alerts_are_filtered_and_marked_as_read() -> None:
    server = FakeServer(
        {"/alerts": {"items": [ALERT], "unread": 1, "next_cursor": None}, "/alerts/read": {"unread": 0}}
    )
    client = Client(URL, transport=server.transport)
    (alert,) = client.alerts(unread=True, kind=["run_failed", "run_diverged"])
    query = server.requests[0].url.params
    assert (query["unread"], query.get_list("kind")) == ("true", ["run_failed", "run_diverged"])
    assert (alert.title, alert.run_id, alert.study_id, alert.read_at) == ("Pong failed", 12, None, None)
    assert repr(alert) == "<Alert 7 run_failed: 'Pong failed'>"
    assert client.mark_alerts_read(alert.id) == 0
    assert bodies(server)[1] == ("POST", "/alerts/read", {"ids": [7], "up_to": None})


def test_a_channel_is_added_edited_tested_and_removed() -> None:
    server = FakeServer(
        {
            "/alert-channels": {**CHANNEL, "secret": "5ec2e7"},
            "/alert-channels/3": [CHANNEL, httpx.Response(204)],
            "/alert-channels/3/test": DELIVERY,
            "/alert-deliveries": {"items": [DELIVERY], "next_cursor": None},
            "/alert-deliveries/9/redeliver": DELIVERY,
        }
    )
    client = Client(URL, transport=server.transport)
    channel = client.add_webhook("team", "https://example.org/hook", kinds=["run_failed"])
    assert (channel.secret, channel.address, channel.kinds) == ("5ec2e7", "https://example.org/…", ["run_failed"])
    assert channel.edit(enabled=False).secret is None
    assert channel.test().tries == 2
    (delivery,) = channel.deliveries()
    assert client.redeliver_alert(delivery.id).error == "No."
    channel.remove()
    assert bodies(server) == [
        (
            "POST",
            "/alert-channels",
            {"kind": "webhook", "name": "team", "url": "https://example.org/hook", "kinds": ["run_failed"]},
        ),
        ("PATCH", "/alert-channels/3", {"enabled": False}),
        ("POST", "/alert-channels/3/test", None),
        ("GET", "/alert-deliveries", None),
        ("POST", "/alert-deliveries/9/redeliver", None),
        ("DELETE", "/alert-channels/3", None),
    ]


def test_an_asynchronous_client_has_the_same_methods() -> None:
    server = FakeServer({"/alert-channels": {**CHANNEL, "kind": "apprise", "secret": None}})

    async def add() -> str:
        async with AsyncClient(URL, transport=server.transport) as client:
            return (await client.add_apprise("team", "slack://a/b/c")).kind

    assert asyncio.run(add()) == "apprise"
    assert bodies(server)[0][2] == {"kind": "apprise", "name": "team", "url": "slack://a/b/c", "kinds": None}
