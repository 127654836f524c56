"""The life of a run with the real Redis, backend, worker and trainer."""

from typing import Any

import pytest

from tests.installation import CARTPOLE, CATCH_BY_A3C, CATCH_BY_GORILA, SAVING, Installation
from tests.processes import has_ended

EACH_KIND_OF_METHOD = pytest.mark.parametrize(
    "config",
    [
        pytest.param(CARTPOLE, id="synchronous"),
        pytest.param(CATCH_BY_A3C, id="asynchronous", marks=pytest.mark.nightly),
        pytest.param(CATCH_BY_GORILA, id="distributed", marks=pytest.mark.nightly),
    ],
)


def test_a_run_trains_from_the_queue_to_its_end_with_growing_curves(installation: Installation) -> None:
    installation.wait_until(lambda: installation.state_of_worker("one") == "idle")
    run = installation.launch()
    installation.wait_for_state(run, "running")
    shown = {"state": "busy", "run_id": run, "queue": "cpu", "pid": installation.workers["one"].process.pid}
    installation.wait_until(lambda: shown.items() <= installation.read("workers")[0].items())
    installation.wait_until(lambda: installation.points(run))
    seen = len(installation.points(run))
    installation.wait_until(lambda: len(installation.points(run)) >= seen + 20)
    # A run records its first checkpoint while it trains. At its end it waits only a minute for its last replay.
    installation.wait_until(lambda: installation.read(f"runs/{run}/replays"))
    end_soon(installation, run)
    finished = installation.wait_for_state(run, "finished")
    assert finished["step"] >= finished["total_steps"]
    assert finished["episodes"] > 10
    assert finished["failure"] is None
    assert finished["worker"] is None
    installation.assert_points_kept(run, whole={1})
    checkpoints = installation.read(f"runs/{run}/checkpoints")
    assert finished["step"] in [row["step"] for row in checkpoints if row["available"]]
    videos = installation.read(f"runs/{run}/replays")
    replay = installation.http.get(f"files/{videos[-1]['file_id']}")
    assert replay.headers["content-type"] == "video/mp4"
    assert replay.content[4:8] == b"ftyp"
    assert installation.run(run)["poster_file_id"] == videos[-1]["poster_file_id"]
    installation.wait_until(lambda: installation.state_of_worker("one") == "idle")


def end_soon(installation: Installation, run: int) -> None:
    """Let an endless run end some thousand steps later. Repeat the request if the run has passed them meanwhile."""

    def is_accepted() -> bool:
        fields = {"total_steps": installation.run(run)["step"] + 5_000}
        return installation.http.post(f"runs/{run}/changes", json={"fields": fields}).is_success

    installation.wait_until(is_accepted)


@pytest.mark.nightly
@EACH_KIND_OF_METHOD
def test_a_resumed_run_and_a_fork_continue_from_the_right_checkpoint(
    installation: Installation, config: dict[str, Any]
) -> None:
    run = installation.launch(config, **SAVING)
    installation.wait_for_checkpoint(run)
    installation.wait_for_points(run, 1)
    pause_and_resume(installation, run)
    last = stop(installation, run, attempt=2)
    installation.assert_points_kept(run, whole={1, 2})
    chosen = installation.read(f"runs/{run}/checkpoints")[0]
    assert chosen["step"] < last
    fork_from(installation, run, chosen)


def pause_and_resume(installation: Installation, run: int) -> None:
    """Pause and resume a run. Check that the last step is saved and that the next attempt continues from it."""
    installation.post(f"runs/{run}/pause")
    installation.wait_for_state(run, "paused")
    left_at = installation.wait_for_checkpoint(run, 1)
    assert installation.journals.events(run, 1)[-1]["step"] == left_at
    installation.post(f"runs/{run}/resume")
    installation.wait_for_points(run, 2)
    assert installation.journals.resumed_from(run, 2) == left_at
    assert installation.run(run)["step"] > left_at
    assert not any(point["superseded"] for point in installation.points(run))


def stop(installation: Installation, run: int, attempt: int) -> int:
    """Stop a run, check that the trainer saves its last step, and return that step."""
    installation.post(f"runs/{run}/stop")
    installation.wait_for_state(run, "stopped")
    last = installation.journals.events(run, attempt)[-1]
    assert last["kind"] == "stopped"
    assert last["step"] == installation.read(f"runs/{run}/checkpoints")[-1]["step"]
    assert installation.run(run)["finished_at"] is not None
    return int(last["step"])


def fork_from(installation: Installation, parent: int, chosen: dict[str, Any]) -> None:
    """Fork a run. Check that the fork continues from the chosen checkpoint with the changed configuration."""
    overrides = {"learning_rate": 0.001, "checkpoint_seconds": 3600}
    body = {"checkpoint_id": chosen["id"], "overrides": overrides}
    fork = installation.post(f"runs/{parent}/fork", body)["id"]
    installation.wait_for_points(fork, 1)
    installation.post(f"runs/{fork}/stop")
    stopped = installation.wait_for_state(fork, "stopped")
    assert installation.journals.resumed_from(fork, 1) == chosen["step"]
    assert stopped["parent"] == {"run_id": parent, "checkpoint_id": chosen["id"], "step": chosen["step"]}
    assert stopped["config"] == installation.run(parent)["config"] | overrides
    assert min(point["step"] for point in installation.points(fork)) > chosen["step"]


@pytest.mark.nightly
def test_a_run_shows_why_its_trainer_failed(installation: Installation) -> None:
    run = installation.launch()
    installation.wait_for_points(run, 1)
    # No trainer expects a file in place of its folder of checkpoints.
    (installation.directory / "workers" / "one" / "runs" / str(run) / "attempt-1" / "checkpoints").rename(
        installation.directory / "taken-away"
    )
    (installation.directory / "workers" / "one" / "runs" / str(run) / "attempt-1" / "checkpoints").write_text(
        "no folder"
    )
    installation.post(f"runs/{run}/stop")
    failed = installation.wait_for_state(run, "failed")
    assert "checkpoint" in failed["failure"]["message"]
    assert failed["failure"]["traceback"] is None
    installation.assert_points_kept(run, whole={1})


@pytest.mark.nightly
def test_a_run_with_a_killed_actor_learner_fails_and_shows_the_signal(installation: Installation) -> None:
    run = installation.launch(CATCH_BY_A3C)
    installation.wait_for_points(run, 1)
    trainer, (victim, survivor) = installation.trainer("one"), installation.actor_learners("one")
    victim.kill()
    failed = installation.wait_for_state(run, "failed")
    assert "signal 9" in failed["failure"]["message"]
    installation.wait_until(lambda: has_ended(trainer) and has_ended(survivor))
    installation.assert_points_kept(run, whole={1})
