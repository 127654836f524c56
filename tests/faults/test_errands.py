"""kill -9 of each part while a checkpoint is evaluated: it is done again, stored once, and training goes on."""

import signal
from typing import Any

import psutil
import pytest

from tests.faults.test_killed import stop
from tests.installation import SAVING, Installation
from tests.processes import command_line

# Long enough to be interrupted, short enough to be done again.
EPISODES = 40


@pytest.fixture
def trained(installation: Installation) -> int:
    """A run in training that has a checkpoint."""
    installation.worker("one")
    run = installation.launch(**SAVING)
    installation.wait_for_checkpoint(run)
    return run


def ask(installation: Installation, run: int, **wanted: Any) -> int:
    """Ask for an evaluation, and return its number."""
    body = {"episodes": EPISODES, **wanted}
    return int(installation.post(f"runs/{run}/evaluations", body)["id"])


def evaluation(installation: Installation, number: int) -> dict[str, Any]:
    """Return an evaluation."""
    return dict(installation.read(f"evaluations/{number}"))


def process_of(installation: Installation, worker: str) -> psutil.Process:
    """Return the process that does a worker's errand."""
    found: list[psutil.Process] = []

    def look() -> bool:
        below = installation.workers[worker].process.children(recursive=True)
        lines = {each: command_line(each) for each in below}
        found[:] = [each for each, line in lines.items() if "workers.trainer.errand" in line and "leash.py" not in line]
        return bool(found)

    installation.wait_until(look)
    return found[0]


def assert_done_once(installation: Installation, run: int, number: int) -> dict[str, Any]:
    """Wait until an evaluation is done, and check that it is there once and whole."""
    installation.wait_until(lambda: evaluation(installation, number)["state"] in ("done", "failed", "cancelled"))
    found = evaluation(installation, number)
    assert (found["state"], found["reason"]) == ("done", None)
    assert [episode["number"] for episode in found["episodes"]] == list(range(EPISODES))
    listed = installation.read(f"runs/{run}/evaluations")
    assert [row["id"] for row in listed["items"]] == [number]
    return found


def test_an_evaluation_is_done_while_the_run_trains_on(installation: Installation, trained: int) -> None:
    number = ask(installation, trained, seed=5)
    before = installation.run(trained)["step"]
    found = assert_done_once(installation, trained, number)
    assert found["mean"] > 5, "a pole stands for some steps"
    installation.wait_for_points(trained, 1)
    assert installation.run(trained)["step"] > before
    again = ask(installation, trained, seed=5, checkpoint=found["checkpoint_id"])
    installation.wait_until(lambda: evaluation(installation, again)["state"] == "done")
    scores = [[episode["score"] for episode in evaluation(installation, each)["episodes"]] for each in (number, again)]
    assert scores[0] == scores[1], "the same seed gives the same scores"
    stop(installation, trained)
    assert installation.run(trained)["attempt"] == 1


def test_its_process(installation: Installation, trained: int) -> None:
    number = ask(installation, trained)
    process_of(installation, "one").kill()
    assert_done_once(installation, trained, number)
    assert installation.run(trained)["attempt"] == 1
    stop(installation, trained)


def test_the_worker(installation: Installation, trained: int) -> None:
    number = ask(installation, trained)
    process = process_of(installation, "one")
    installation.workers["one"].end(signal.SIGKILL)
    installation.wait_until(lambda: not process.is_running())
    installation.workers["one"].start()
    assert_done_once(installation, trained, number)
    installation.wait_for_points(trained, 2)
    stop(installation, trained)


def test_the_worker_for_good_while_another_lives(impatient_installation: Installation) -> None:
    installation = impatient_installation
    installation.worker("one")
    run = installation.launch(**SAVING)
    installation.wait_for_checkpoint(run)
    number = ask(installation, run)
    process_of(installation, "one")
    installation.worker("two")
    installation.workers["one"].end(signal.SIGKILL)
    assert assert_done_once(installation, run, number)["worker"] is None
    installation.wait_until(lambda: installation.run(run)["worker"] == "two")
    stop(installation, run)


def test_the_backend(installation: Installation, trained: int) -> None:
    number = ask(installation, trained)
    process_of(installation, "one")
    installation.backend.end(signal.SIGKILL)
    installation.backend.start()
    assert_done_once(installation, trained, number)
    assert installation.run(trained)["attempt"] == 1
    stop(installation, trained)


def test_redis_with_the_doorbell(installation: Installation, trained: int) -> None:
    installation.redis.kill()
    number = ask(installation, trained)
    installation.redis.start()
    assert_done_once(installation, trained, number)
    stop(installation, trained)


def test_a_checkpoint_that_was_damaged_on_the_server_is_told_of(installation: Installation, trained: int) -> None:
    stop(installation, trained)
    for file in (installation.directory / "data" / "files" / f"run-{trained}").iterdir():
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    number = ask(installation, trained)
    installation.wait_until(lambda: evaluation(installation, number)["state"] == "failed")
    assert "is damaged: what the backend has is not what was saved" in evaluation(installation, number)["reason"]


def test_a_run_is_evaluated_by_its_schedule_and_its_best_checkpoint_chosen(installation: Installation) -> None:
    installation.worker("one")
    run = installation.launch(evaluate_every_steps=2_000, **SAVING)
    done = "done"
    installation.wait_until(
        lambda: [row["state"] for row in installation.read(f"runs/{run}/evaluations")["items"]].count(done) >= 2
    )
    stop(installation, run)
    rows = [row for row in installation.read(f"runs/{run}/evaluations")["items"] if row["state"] == done]
    assert {row["origin"] for row in rows} == {"schedule"}
    (best,) = [row for row in installation.read(f"runs/{run}/checkpoints") if row["best"]]
    assert best["best_by"] == "evaluation"
    assert best["id"] in {row["checkpoint_id"] for row in rows}
