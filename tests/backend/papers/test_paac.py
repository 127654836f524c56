"""Tests of PAAC's figures: shares of time and scores by n_e."""

from typing import Any

import pytest

from tests.backend.papers.test_papers import confirmed
from tests.backend.studies.conftest import Studies
from tests.factories import event, metrics, started

PAAC = "/api/v1/papers/paac"
SHARES = {"environment": 0.6, "selection": 0.1, "learning": 0.3}


def start(studies: Studies, item: str, part: str) -> None:
    response = studies.api.user.post(f"{PAAC}/{item}/studies", json=confirmed(studies, f"{PAAC}/{item}", 0.01, part))
    assert response.status_code == 201, response.text


def figure(studies: Studies, item: str, part: str) -> dict[str, Any]:
    response = studies.api.user.get(f"{PAAC}/{item}/figure", params={"share": 0.01, "part": part})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def train(studies: Studies, values: dict[str, float], returns: list[float]) -> dict[str, Any]:
    run = studies.api.claim()
    held, total = (run["run_id"], run["attempt"]), run["config"]["total_steps"]
    sent = [metrics(2, total // 2, values, returns), metrics(3, total, values, returns), event(4, "finished", total)]
    assert studies.api.send(*held, started(), *sent).status_code == 200
    assert studies.api.release(*held, "finished").status_code == 200
    config: dict[str, Any] = run["config"]
    return config


def test_figure_2_stacks_reported_shares_of_time(studies: Studies) -> None:
    start(studies, "figure-2", "nips")
    for speed, alone in ((100.0, {}), (250.0, {"throughput/ceiling_steps_per_second": 500.0})):
        shares = {f"time/{activity}": share for activity, share in SHARES.items()}
        config = train(studies, {**shares, "throughput/steps_per_second": speed, **alone}, [])
        assert (config["total_steps"], config["network"], config["evaluate_every_steps"]) == (10_000, "nips", 0)
        assert config["ceiling_seconds"] == 5
        studies.schedule()
    *bars, theirs = figure(studies, "figure-2", "nips")["data"]
    assert {bar["name"]: bar["y"] for bar in bars} == {
        activity.capitalize(): [pytest.approx(100 * share)] * 2 for activity, share in SHARES.items()
    }
    assert bars[0]["x"] == ["16", "32"]
    # Speeds are relative to the environments alone on the same host, never to another host.
    assert bars[0]["hovertext"][0].endswith("; the environments alone were not measured on this host")
    assert bars[0]["hovertext"][1].endswith("; 50% of the speed of the environments alone")
    speeds = studies.api.user.get(f"{PAAC}/figure-2").json()["speeds"]
    assert [(row["setting"], row["rate"], row["ceiling"], row["of_ceiling"]) for row in speeds] == [
        ("Environments 16", 100.0, None, None),
        ("Environments 32", 250.0, 500.0, 0.5),
    ]
    assert {(row["part"], row["share"]) for row in speeds} == {("Pong, arch_nips", 0.01)}
    assert (theirs["x"], theirs["y"], theirs["name"]) == (["32"], [50.0], "The paper, environment")
    assert "arch_nature" not in str(figure(studies, "figure-2", "nature"))


def test_figures_3_and_4_draw_the_same_runs(studies: Studies) -> None:
    start(studies, "figure-3", "cartpole")
    for score in (10.0, 20.0):
        config = train(studies, {}, [score])
        assert config["learning_rate"] == 0.0007
        studies.schedule()
    by_epoch = figure(studies, "figure-3", "cartpole")
    assert [line["name"] for line in by_epoch["data"]] == ["Environments 16", "Environments 32"]
    assert [set(line["y"]) for line in by_epoch["data"]] == [{10.0}, {20.0}]
    frames = 4 * config["total_steps"]
    assert by_epoch["data"][1]["x"][-1] == pytest.approx(frames / 4_000_000)
    by_time = figure(studies, "figure-4", "cartpole")
    assert by_time["data"][1]["x"][-1] == pytest.approx(1.0)
    assert studies.api.user.get(f"{PAAC}/figure-4").json()["studies"] == 1
