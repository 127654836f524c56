"""Invalid configurations, which are refused at launch. The error names the field and the valid values."""

from typing import Any

import pytest

from arcadia_workers.contract.config import CONFIGURATIONS
from arcadia_workers.contract.presets import PRESETS
from tests.factories import CARTPOLE, Api, started

A3C: dict[str, Any] = {"algorithm": "a3c", "env": "CartPole-v1", "num_actors": 2}
N_STEP_Q: dict[str, Any] = {"algorithm": "n_step_q", "env": "CartPole-v1"}
TARGET = "Arcadia/Target-v0"
UNFIT = f"cannot learn {TARGET}, because its actions are continuous: choose a3c or ppo, or another environment"


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """Use one database, because invalid configurations never reach it."""
    return sqlite_url


def refused(api: Api, path: str = "runs", **body: Any) -> dict[str, str]:
    """Return the error of each invalid field of a launch."""
    response = api.user.post(f"/api/v1/{path}", json=body)
    assert response.status_code == 422, response.text
    errors: list[dict[str, str]] = response.json()["errors"]
    return {error["field"]: error["message"] for error in errors}


@pytest.mark.parametrize(
    ("config", "field", "message"),
    [
        ({"env": "CartPole-v1"}, "algorithm", f"name the method: {', '.join(CONFIGURATIONS)}"),
        ({"algorithm": "dqn"}, "algorithm", f'no method is called "dqn": choose {", ".join(CONFIGURATIONS)}'),
        ({"algorithm": ["a3c"]}, "algorithm", f'no method is called ["a3c"]: choose {", ".join(CONFIGURATIONS)}'),
        ({**CARTPOLE, "env": TARGET}, "env", f"paac {UNFIT}"),
        ({**N_STEP_Q, "env": TARGET}, "env", f"n_step_q {UNFIT}"),
        ({**A3C, "env": "ALE/Pongg-v5"}, "env", "unknown environment 'ALE/Pongg-v5': did you mean ALE/Pong-v5?"),
        (
            {**A3C, "env": "os:system"},
            "env",
            "unknown environment 'os:system': use one such as ALE/Pong-v5 or CartPole-v1",
        ),
        ({**A3C, "num_actors": 0}, "num_actors", "input should be greater than or equal to 1, not 0"),
        ({**A3C, "num_actors": 10**6}, "num_actors", "input should be less than or equal to 256, not 1000000"),
        ({**A3C, "num_envs": 4}, "num_envs", "A3C has no such field"),
        ({**A3C, "num_actor": 4}, "num_actor", "A3C has no such field: did you mean num_actors?"),
        ({**A3C, "device": "cuda"}, "device", "input should be 'auto' or 'cpu', not \"cuda\""),
        (
            {**A3C, "network": "nips"},
            "network",
            "nips reads pixels, but CartPole-v1 gives a vector: choose auto or mlp",
        ),
        (
            {"algorithm": "ga3c", "num_agents": 0},
            "num_agents",
            "input should be greater than or equal to 1, not 0",
        ),
        (
            {"algorithm": "ga3c", "network": "mlp"},
            "network",
            "mlp reads vectors, but ALE/Pong-v5 shows pixels: choose auto, nips or nature",
        ),
        (
            {"algorithm": "gorila", "num_actors": 4},
            "num_learners",
            "bundled mode pairs every actor with a learner: give 4, the same as num_actors, or choose mode free",
        ),
        (
            {"algorithm": "gorila", "mode": "free", "num_replays": 8, "replay_frames": 700, "learning_starts": 0},
            "replay_frames",
            "8 replay memories share these frames: give at least 800",
        ),
        (
            {"algorithm": "gorila", "replay_frames": 10_000},
            "learning_starts",
            "learning must start before the replay memory of 10000 frames is full: give at most 5000",
        ),
        (
            {"algorithm": "gorila", "total_steps": 50_000},
            "learning_starts",
            "training would end before learning starts: give less than its 50000 steps",
        ),
        ({"algorithm": "gorila", "env": TARGET}, "env", f"gorila {UNFIT}"),
        ({"algorithm": "gorila", "device": "cuda"}, "device", "input should be 'auto' or 'cpu', not \"cuda\""),
        (
            {**N_STEP_Q, "final_epsilons": [0.1, 7]},
            "final_epsilons.1",
            "input should be less than or equal to 1, not 7",
        ),
        (
            {**N_STEP_Q, "final_epsilons": [0.1]},
            "final_epsilon_probabilities",
            "give as many probabilities as final_epsilons has values: 1, not 3",
        ),
        (
            {**N_STEP_Q, "final_epsilon_probabilities": [0.4, 0.4, 0.4]},
            "final_epsilon_probabilities",
            "the probabilities add up to 1.2: make them add up to 1",
        ),
    ],
)
def test_errors_name_their_field(api: Api, config: dict[str, Any], field: str, message: str) -> None:
    assert refused(api, config=config) == {f"config.{field}": message}


def test_a_long_wrong_value_is_shortened_in_the_error(api: Api) -> None:
    (message,) = refused(api, config={**A3C, "num_actors": "n" * 10_000}).values()
    assert message.startswith("input should be a valid integer")
    assert len(message) < 200


def test_an_override_that_conflicts_with_the_preset_names_the_other_field(api: Api) -> None:
    said = refused(api, preset="paac-paper-nips", overrides={"env": "CartPole-v1"})
    assert said == {"overrides.network": "nips reads pixels, but CartPole-v1 gives a vector: choose auto or mlp"}


def test_a_preset_cannot_change_its_method(api: Api) -> None:
    said = refused(api, preset="paac-pong", overrides={"algorithm": "n_step_q"})["overrides.algorithm"]
    names = [name for name, preset in PRESETS.items() if preset.config.algorithm == "n_step_q"]
    assert said == (f"PAAC and n-step Q have different fields: start from {' or '.join(names)}")
    unknown = refused(api, preset="paac-pong", overrides={"algorithm": "dqn"})
    assert unknown["overrides.algorithm"].startswith('no method is called "dqn"')
    assert api.user.post("/api/v1/runs", json={"preset": "paac-pong", "overrides": {"algorithm": "paac"}}).is_success


def test_a_clone_and_a_fork_cannot_change_the_method(api: Api) -> None:
    run_id, attempt = api.running()
    checkpoint_id = api.save(run_id, attempt, 2, 100)
    wanted = {"algorithm": "a3c"}
    assert "overrides.algorithm" in refused(api, f"runs/{run_id}/clone", overrides=wanted)
    assert "overrides.algorithm" in refused(api, f"runs/{run_id}/fork", overrides=wanted, checkpoint_id=checkpoint_id)


def trained_run(api: Api) -> tuple[int, int]:
    """Return the ids of a run and its checkpoint at 100 steps."""
    run_id = api.launch(config=A3C)["id"]
    attempt = api.claim()["attempt"]
    api.send(run_id, attempt, started())
    return run_id, api.save(run_id, attempt, 2, 100)


def test_a_fork_keeps_the_fields_that_determine_its_weights(api: Api) -> None:
    run_id, checkpoint_id = trained_run(api)
    fork = {"checkpoint_id": checkpoint_id, "overrides": {"lstm_units": 128, "num_actors": 4}}
    assert refused(api, f"runs/{run_id}/fork", **fork) == {
        "overrides.lstm_units": "the checkpoint was trained with 0, which a fork cannot change. Clone the run"
    }
    fork["overrides"] = {"num_actors": 4}
    assert api.act(run_id, "fork", **fork)["config"]["num_actors"] == 4


def test_a_fork_needs_remaining_steps(api: Api) -> None:
    run_id, checkpoint_id = trained_run(api)
    fork = {"checkpoint_id": checkpoint_id, "overrides": {"total_steps": 100}}
    assert refused(api, f"runs/{run_id}/fork", **fork) == {
        "overrides.total_steps": "the checkpoint already has 100 steps. Use a larger total"
    }
    fork["overrides"] = {"total_steps": 101}
    assert api.act(run_id, "fork", **fork)["total_steps"] == 101


def test_naming_the_automatic_choice_is_not_a_change_of_a_fork(api: Api) -> None:
    run_id, checkpoint_id = trained_run(api)
    fork = {"checkpoint_id": checkpoint_id, "overrides": {"value_network": "shared", "network": "mlp"}}
    assert api.act(run_id, "fork", **fork)["state"] == "queued"
    fork["overrides"] = {"value_network": "separate"}
    assert "overrides.value_network" in refused(api, f"runs/{run_id}/fork", **fork)


@pytest.mark.parametrize("algorithm", CONFIGURATIONS)
def test_every_method_can_be_launched_by_title_on_a_cpu_worker(api: Api, algorithm: str) -> None:
    run = api.launch(config={"algorithm": algorithm, "env": "Arcadia/Catch-v0"})
    title = CONFIGURATIONS[algorithm].model_config["title"]
    assert (run["method"], run["name"], run["queue"]) == (title, f"{title} on Catch", "cpu")
