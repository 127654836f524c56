"""Events of a script. Each is stored exactly once, and no logged value blocks the journal."""

import gzip
import json
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import delete, select

from arcadia_backend import events as event_digests
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import EventDigests
from arcadia_backend.metrics import service
from arcadia_backend.reported import events as reported_events
from arcadia_backend.reported import ingest
from tests.backend.reported.conftest import Script
from tests.factories import Api

Warnings = Callable[[int], list[str]]


def points(api: Api, run_id: int, name: str) -> list[tuple[int, float | str]]:
    """Return the points of a metric as (step, value)."""
    found = api.user.get(f"/api/v1/runs/{run_id}/points").json()["series"]
    return list(zip(found[name]["step"], found[name]["value"], strict=True)) if name in found else []


def test_repeats_and_overlaps_are_stored_once(api: Api, reported: Script) -> None:
    one, two, three = (reported.metrics(step, loss=float(step)) for step in (1, 2, 3))
    line = reported.event("log", message="hello")
    for _ in range(3):
        assert reported.post(one, two).json()["acknowledged"] == 2
    for _ in range(2):
        assert reported.post(two, three, line).json()["acknowledged"] == 4
    assert points(api, reported.run_id, "loss") == [(1, 1.0), (2, 2.0), (3, 3.0)]
    lines = api.user.get(f"/api/v1/runs/{reported.run_id}/log").json()["items"]
    assert [each["message"] for each in lines].count("hello") == 1


def test_the_same_batch_over_several_connections_is_stored_once(api: Api, reported: Script) -> None:
    batch = [reported.metrics(step, loss=1.0) for step in range(50)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: reported.post(*batch).json()["acknowledged"], range(8)))
    assert answers == [50] * 8
    assert len(points(api, reported.run_id, "loss")) == 50


def test_other_contents_under_a_stored_number_are_kept_once_and_reported(
    api: Api, reported: Script, warnings: Warnings
) -> None:
    stored = [reported.metrics(step, loss=float(step)) for step in (1, 2, 3)]
    assert reported.post(*stored).json()["conflicts"] == 0
    others = [stored[0], {**stored[1], "values": {"loss": 20.0}}, {**stored[2], "kind": "log", "message": "hello"}]
    for _ in range(2):
        assert reported.post(*others, reported.metrics(4, loss=4.0)).json() == {
            "acknowledged": 4,
            "conflicts": 2,
            "desired": "run",
        }
        reported.events.pop()
        assert reported.post(*reversed(stored)).json()["conflicts"] == 2
    assert sorted(points(api, reported.run_id, "loss")) == [(1, 1.0), (2, 2.0), (2, 20.0), (3, 3.0), (4, 4.0)]
    (warning,) = warnings(reported.run_id)
    assert "under numbers that other events of the writer writer-1 have" in warning
    assert api.run(reported.run_id)["warnings"] == [warning]
    lines = api.user.get(f"/api/v1/runs/{reported.run_id}/log").json()["items"]
    assert [line["message"] for line in lines].count("hello") == 1


def test_repeats_are_recognized_in_batches_of_any_size(
    api: Api, reported: Script, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digests of many small batches share a row."""
    monkeypatch.setattr(event_digests, "ROW_EVENTS", 5)
    events = [reported.metrics(step, loss=1.0) for step in range(40)]
    for start in range(0, 40, 3):
        reported.post(*events[start : start + 3])
    for size in (1, 7, 40):
        for start in range(0, 40, size):
            answer = reported.post(*events[start : start + size]).json()
            assert (answer["acknowledged"], answer["conflicts"]) == (40, 0)
    assert reported.post(*({**each, "step": each["step"] + 0.5} for each in events)).json()["conflicts"] == 40
    assert len(points(api, reported.run_id, "loss")) == 40
    with database.read() as session:
        rows = session.scalars(select(EventDigests).where(EventDigests.first_seq > 0)).all()
        assert len(rows) < 15
        assert sum(len(row.digests) for row in rows) == 80 * event_digests.DIGEST_BYTES


def test_the_order_of_fields_does_not_make_another_event(reported: Script) -> None:
    event = reported.metrics(1, loss=1.0, gain=2.0)
    turned = dict(reversed({**event, "values": dict(reversed(event["values"].items()))}.items()))
    assert [reported.post(each).json()["conflicts"] for each in (event, turned)] == [0, 0]


def test_events_of_an_earlier_version_count_as_repeats(reported: Script, database: Database) -> None:
    event = reported.metrics(1, loss=1.0)
    reported.post(event)
    with database.write() as session:
        session.execute(delete(EventDigests))
    assert reported.post({**event, "step": 5}).json() == {"acknowledged": 1, "conflicts": 0, "desired": "run"}


def test_a_gap_is_refused_with_the_expected_number(api: Api, reported: Script) -> None:
    first, _missing, third = (reported.metrics(step, loss=1.0) for step in (1, 2, 3))
    response = reported.post(first, third)
    assert (response.status_code, response.json()["expected"]) == (409, 2)
    assert response.json()["type"].endswith("sequence-gap")
    assert points(api, reported.run_id, "loss") == []


def test_any_printable_name_of_a_metric_is_stored_and_can_be_read(api: Api, reported: Script) -> None:
    names = ["loss, mean", 'a "quoted" name', "名前", "σ(x) = 1/2", "a:b:last", "x" * 200, "train/fps", "=SUM(A1)"]
    reported.log("metrics", step=3, values=dict.fromkeys(names, 1.5))
    run = f"runs/{reported.run_id}"
    assert set(api.user.get(f"/api/v1/{run}/metric-names").json()) == set(names)
    wanted = {"names": '"loss, mean","a ""quoted"" name",名前'}
    assert set(api.user.get(f"/api/v1/{run}/metrics", params=wanted).json()["series"]) == set(names[:3])
    lines = api.user.get(f"/api/v1/export/{run}.csv", params=wanted).text.splitlines()
    cells = [line.split(",", 5)[5] for line in lines[1:]]
    assert sorted(cells) == ['"a ""quoted"" name",1.5', '"loss, mean",1.5', "名前,1.5"]
    for name in names:
        figure = api.user.get("/api/v1/figures/curves", params={"runs": reported.run_id, "metric": name})
        assert figure.status_code == 200, name
    rows = api.user.get("/api/v1/runs", params={"sort": "-metric:a:b:last:last", "metric": ["a:b:last"]}).json()
    assert rows["items"][0]["metrics"]["a:b:last"]["last"] == 1.5


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\nb", "a\0", "\ud800"])
def test_a_value_whose_name_cannot_be_stored_is_left_out_with_one_warning(
    api: Api, reported: Script, warnings: Warnings, name: str
) -> None:
    for step in (1, 2):
        event = reported.event("metrics", step=step, values={name: 1.0, "kept": 2.0})
        body = json.dumps({"writer": reported.writer, "events": [event]})
        path = f"/api/v1/reported/runs/{reported.run_id}/events"
        assert api.user.post(path, content=body, headers={"Content-Type": "application/json"}).status_code == 200
    assert points(api, reported.run_id, "kept") == [(1, 2.0), (2, 2.0)]
    (warning,) = warnings(reported.run_id)
    assert "use 1 to 200 printable characters" in warning


def test_special_numbers_are_stored_and_other_values_are_left_out(
    api: Api, reported: Script, warnings: Warnings
) -> None:
    given: list[Any] = [1, True, "NaN", "Infinity", "-Infinity", 10**400, None, "high", [1], {}]
    for step, value in enumerate(given):
        reported.log("metrics", step=step, values={"loss": value})
    stored = [(0, 1.0), (1, 1.0), (2, "NaN"), (3, "Infinity"), (4, "-Infinity"), (5, "Infinity")]
    assert points(api, reported.run_id, "loss") == stored
    (warning,) = warnings(reported.run_id)
    assert warning.startswith("Left out 'None' of the metric 'loss': it is not a number.")


def test_metrics_beyond_the_limit_are_left_out(
    api: Api, reported: Script, warnings: Warnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_SERIES", 3)
    monkeypatch.setattr(ingest, "MAX_SERIES", 3)
    reported.log("metrics", step=1, values={"a": 1.0, "b": 1.0})
    reported.log("metrics", step=2, values={"c": 1.0, "d": 1.0, "a": 2.0})
    assert api.user.get(f"/api/v1/runs/{reported.run_id}/metric-names").json() == ["a", "b", "c"]
    assert points(api, reported.run_id, "a") == [(1, 1.0), (2, 2.0)]
    assert ["Left out metrics beyond 3" in warning for warning in warnings(reported.run_id)] == [True]


@pytest.mark.parametrize("step", [None, "3", 1.5, 2**70, True])
def test_metrics_without_a_whole_step_are_left_out(reported: Script, warnings: Warnings, step: object) -> None:
    assert reported.log("metrics", step=step, values={"loss": 1.0})["acknowledged"] == 1
    assert "a step is a whole number" in warnings(reported.run_id)[0]


def test_steps_may_fall_and_the_run_shows_the_largest(api: Api, reported: Script) -> None:
    for step in (10, 5, 2.0, -1):
        reported.log("metrics", step=step, values={"loss": 1.0})
    assert sorted(points(api, reported.run_id, "loss")) == [(-1, 1.0), (2, 1.0), (5, 1.0), (10, 1.0)]
    assert (api.run(reported.run_id)["step"], api.run(reported.run_id)["frames"]) == (10, 10)


def test_logged_returns_become_the_returns_of_the_run(api: Api, reported: Script) -> None:
    for step, value in enumerate((10.0, 20.0)):
        reported.log("metrics", step=step, values={"episode/return": value})
    run = api.run(reported.run_id)
    assert (run["last_return"], run["best_return"], run["episodes"]) == (15.0, 15.0, 2)


def test_logged_means_are_returns_but_not_episodes(api: Api, reported: Script) -> None:
    for step, value in enumerate((10.0, 30.0, 20.0)):
        reported.log("metrics", step=step, values={"episode/mean_return": value, "rollout/ep_rew_mean": value})
    run = api.run(reported.run_id)
    assert (run["last_return"], run["best_return"], run["episodes"]) == (20.0, 30.0, 0)
    drawn = api.user.get("/api/v1/figures/curves", params={"runs": reported.run_id, "metric": "episode/return"})
    assert list(drawn.json()["data"][0]["y"])[-1] == 20.0
    lines = api.user.get("/api/v1/sparklines", params={"run": reported.run_id}).json()
    assert lines[0]["values"][-1] == 20.0


def test_episodes_replace_means_as_the_returns_of_a_run(api: Api, reported: Script) -> None:
    reported.log("metrics", step=1, values={"episode/mean_return": 500.0})
    reported.log("metrics", step=2, values={"episode/return": 10.0, "episode/mean_return": 400.0})
    reported.log("metrics", step=3, values={"episode/mean_return": 300.0})
    run = api.run(reported.run_id)
    assert (run["last_return"], run["best_return"], run["episodes"]) == (10.0, 10.0, 1)


def test_system_metrics_are_no_progress_of_a_script_that_hangs(api: Api, reported: Script) -> None:
    system = {"system/cpu_percent": 1.0, "system/rss_bytes": 2.0}
    for second, logged in enumerate((system, system, {"loss": 1.0}, system, {"loss": 0.5}, system, system)):
        event = reported.event("metrics", step=second, values=logged)
        assert reported.post(event | {"time": 1_700_000_000.0 + second}).is_success
    assert api.run(reported.run_id)["trained_seconds"] == 4.0


@pytest.mark.parametrize(
    ("config", "env", "method"),
    [
        ({"env_id": "CartPole-v1", "exp_name": "ppo", "seed": 1}, "CartPole-v1", "ppo"),
        ({"gym_id": "Pong-v5", "algo": "a2c"}, "Pong-v5", "a2c"),
        ({"env_name": " Maze ", "algorithm": "PPO", "exp_name": "try 1"}, "Maze", "PPO"),
        ({"env": {"size": 8}, "algorithm": 3}, "", ""),
    ],
)
def test_a_configuration_names_the_environment_and_the_method(
    api: Api, script: Script, config: dict[str, Any], env: str, method: str
) -> None:
    script.begin()
    script.log("config", values=config)
    run = api.run(script.run_id)
    assert (run["env"], run["algorithm"]) == (env, method)
    other = Script(api.user, key="key-2")
    other.begin(config=config)
    run = api.run(other.run_id)
    assert (run["env"], run["algorithm"]) == (env, method)


def test_a_given_environment_is_kept(api: Api, reported: Script) -> None:
    reported.log("config", values={"env_id": "Acrobot-v1", "exp_name": "dqn"})
    run = api.run(reported.run_id)
    assert (run["env"], run["algorithm"]) == ("CartPole-v1", "PPO")


def test_a_description_changes_a_run(api: Api, reported: Script) -> None:
    reported.log("description", name=" second ", project="maze", env="ALE/Pong-v5", method="")
    reported.log("metrics", step=100, values={"loss": 1.0})
    run = api.run(reported.run_id)
    assert (run["name"], run["project"], run["env"], run["algorithm"]) == ("second", "maze", "ALE/Pong-v5", "PPO")
    assert run["frames"] == 400


def test_a_run_in_an_atari_game_counts_four_frames_per_step(api: Api, script: Script) -> None:
    script.begin(env="ALE/Pong-v5")
    script.log("metrics", step=100, values={"loss": 1.0})
    assert api.run(script.run_id)["frames"] == 400


def test_the_configuration_tags_and_notes_can_change(api: Api, reported: Script, warnings: Warnings) -> None:
    reported.log("config", values={"lr": 0.1, "nested": {"a": [1, math.pi]}})
    reported.log("config", values={"lr": "NaN", "null\0": "a\0b"})
    reported.log("tags", add=["x", "y", "z" * 51], remove=["none"])
    reported.log("tags", remove=["x"])
    reported.log("notes", text="better")
    reported.log("progress", total_steps=77)
    run = api.run(reported.run_id)
    assert run["config"] == {"lr": "NaN", "nested": {"a": [1, math.pi]}, "null\ufffd": "a\ufffdb"}
    assert (run["tags"], run["notes"], run["total_steps"]) == (["y"], "better", 77)
    assert "Left out the tag" in warnings(reported.run_id)[0]


def test_a_configuration_that_is_too_large_is_left_out(api: Api, script: Script, warnings: Warnings) -> None:
    script.begin(config={"lr": 1, "large": "x" * reported_events.MAX_CONFIG_BYTES})
    assert api.run(script.run_id)["config"] == {}
    assert "256,000 bytes" in warnings(script.run_id)[0]
    script.log("config", values={str(number): number for number in range(1_200)})
    assert len(api.run(script.run_id)["config"]) == 1_000


def test_alerts_and_lines_are_in_the_log(api: Api, reported: Script) -> None:
    reported.log("alert", level="error", title="Diverged", text="loss is NaN")
    reported.log("log", level="info", message="x" * 20_000)
    _first, alert, line = api.user.get(f"/api/v1/runs/{reported.run_id}/log").json()["items"]
    assert (alert["level"], alert["message"]) == ("error", "Diverged: loss is NaN")
    assert (line["level"], line["message"]) == ("info", "x" * 10_000)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("log", {"level": "fatal", "message": "x"}),
        ("config", {"values": [1]}),
        ("tags", {"add": "x"}),
        ("progress", {"total_steps": -1}),
        ("provenance", {"provenance": {}}),
        ("media", {"name": "", "step": 1, "media": "image"}),
        ("end", {"outcome": "exploded"}),
    ],
)
def test_an_event_that_does_not_fit_its_kind_is_left_out(
    reported: Script, warnings: Warnings, kind: str, content: dict[str, Any]
) -> None:
    assert reported.log(kind, **content)["acknowledged"] == 1
    assert warnings(reported.run_id)[0].startswith(f"Left out an event of the kind {kind}: ")


@pytest.mark.parametrize(
    ("event", "wrong"),
    [
        ({"seq": 1, "kind": "video"}, "events.0.kind"),
        ({"seq": 1, "kind": ["log"]}, "events.0.kind"),
        ({"seq": "1", "kind": "log"}, "events.0.seq"),
        ({"seq": 0, "kind": "log"}, "events.0.seq"),
        ("text", "events.0"),
    ],
)
def test_an_unknown_event_is_refused(reported: Script, event: Any, wrong: str) -> None:
    response = reported.post(event)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, wrong)


def test_bodies_may_be_compressed(api: Api, reported: Script, settings: Settings) -> None:
    path = f"/api/v1/reported/runs/{reported.run_id}/events"

    def post(body: bytes) -> int:
        headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
        return api.user.post(path, content=body, headers=headers).status_code

    body = json.dumps({"writer": reported.writer, "events": [reported.metrics(1, loss=2.0)]}).encode()
    assert post(gzip.compress(body)) == 200
    assert points(api, reported.run_id, "loss") == [(1, 2.0)]
    assert post(body) == 422, "not compressed"
    assert post(gzip.compress(body)[:-9]) == 422, "the body is truncated"
    bomb = gzip.compress(b" " * (settings.max_body_bytes + 1))
    assert (len(bomb) < 10_000, post(bomb)) == (True, 413)


PROVENANCE: dict[str, Any] = {
    "build": "1.0",
    "checkout": None,
    "problem": None,
    "python": "3.12.1",
    "host": "sun",
    "os": "Linux",
    "cpu": "x",
    "cores": 2,
    "memory_bytes": 1,
    "gpus": [],
    "driver": None,
    "cuda": None,
    "command": ["train.py"],
    "environment": {},
    "packages": {"numpy": "2.0"},
    "diff": "",
}


def test_the_provenance_of_a_script_is_shown(api: Api, reported: Script) -> None:
    reported.log("provenance", provenance=PROVENANCE)
    assert "3.12.1" in api.user.get(f"/api/v1/runs/{reported.run_id}/provenance").text


@pytest.mark.parametrize("together", [True, False])
def test_the_duration_is_from_the_start_of_the_script_to_its_end(api: Api, reported: Script, together: bool) -> None:
    events = [
        reported.event("provenance", provenance=PROVENANCE) | {"time": 1_700_000_000.0},
        reported.event("metrics", step=1, values={"loss": 0.5}) | {"time": 1_700_000_007.0},
        reported.event("end", outcome="finished") | {"time": 1_700_000_009.0},
    ]
    for batch in [events] if together else [[event] for event in events]:
        assert reported.post(*batch).is_success
    run = api.run(reported.run_id)
    assert (run["trained_seconds"], run["warnings"]) == (9.0, [])
