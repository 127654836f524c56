"""Runs and replays in notebooks."""

from __future__ import annotations

import base64
from typing import Any

import httpx
from arcadia import AsyncClient, AsyncRun, Client, Run
from fake_server import URL, FakeServer, run

PICTURE = b"\x89PNG picture"
SERIES: dict[str, Any] = {
    "resolution": "raw",
    "total": 3,
    "x": [0, 10, 20],
    "mean": [1.0, "NaN", 5.0],
    "min": [1.0, "NaN", 5.0],
    "max": [1.0, "NaN", 5.0],
    "last": [1.0, "NaN", 5.0],
    "count": [1, 1, 1],
}
METRICS: dict[str, Any] = {"series": {"episode/return": SERIES}}


def server(**changes: Any) -> FakeServer:
    return FakeServer({"/runs/12/metrics": METRICS, "/files/3": httpx.Response(200, content=PICTURE), **changes})


def test_a_card_shows_the_picture_the_state_and_the_curve() -> None:
    fake = server()
    card = Run(Client(URL, "secret", transport=fake.transport).transport, run(poster_file_id=3))._repr_html_()
    assert f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}" in card
    assert "<b>running</b>, step 250 of 1,000" in card
    assert 'points="0.0,64.0 240.0,0.0"' in card
    assert all(request.headers["Authorization"] == "Bearer secret" for request in fake.requests)
    assert "<script" not in card


def test_a_card_of_a_reported_run_has_no_bar_and_no_missing_names() -> None:
    data = run(total_steps=None, queue=None, algorithm="", env="Maze")
    card = Run(Client(URL, transport=server().transport).transport, data)._repr_html_()
    assert "<b>running</b>, step 250</div>" in card
    assert "<div>Maze</div>" in card
    assert "<progress" not in card
    assert "None" not in card


def test_text_of_users_is_escaped() -> None:
    evil = "<script>alert('x')</script>"
    data = run(name=evil, env=evil, state_reason=evil, failure={"message": evil, "traceback": None})
    card = Run(Client(URL, transport=server().transport).transport, data)._repr_html_()
    assert "<script" not in card
    assert card.count("&lt;script&gt;") == 4


def test_a_card_needs_no_server() -> None:
    unreachable = FakeServer({"/runs/12/metrics": httpx.ConnectError("refused")})
    assert "a run" in Run(Client(URL, transport=unreachable.transport).transport, run())._repr_html_()


def test_asynchronous_runs_have_the_same_card() -> None:
    data = run(poster_file_id=3)
    card = AsyncRun(AsyncClient(URL, transport=server().transport).transport, data)._repr_html_()
    assert card == Run(Client(URL, transport=server().transport).transport, data)._repr_html_()
