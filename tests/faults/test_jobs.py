"""kill -9 of each part during an evaluation. The evaluation is repeated and stored once, and training continues."""

import signal
from typing import Any

import psutil
import pytest

from tests.faults.test_killed import stop
from tests.installation import SAVING, Installation
from tests.processes import does_a_job, has_ended

pytestmark = pytest.mark.nightly

# Long enough to be interrupted, short enough to be repeated.
EPISODES = 40


@pytest.fixture
def installation(standing: Installation) -> Installation:
    """Return the installation of all tests of this file, with the worker that trains the runs."""
    standing.start()
    return standing


@pytest.fixture(scope="module")
def finished(standing: Installation) -> int:
    """Return a finished run, whose last checkpoint the tests evaluate."""
    standing.worker("one")
    run = standing.launch(total_steps=2_000)
    standing.wait_for_state(run, "finished")
    return run


@pytest.fixture(scope="module")
def training(standing: Installation, finished: int) -> int:
    """Return a run that trains on the worker of the evaluations."""
    assert standing.run(finished)["state"] == "finished", "the worker trains only one run"
    run = standing.launch()
    standing.wait_for_points(run, 1)
    return run


def ask(installation: Installation, run: int, **wanted: Any) -> int:
    """Request an evaluation, and return its number."""
    body = {"episodes": EPISODES, **wanted}
    return int(installation.post(f"runs/{run}/evaluations", body)["id"])


def evaluation(installation: Installation, number: int) -> dict[str, Any]:
    """Return an evaluation."""
    return dict(installation.read(f"evaluations/{number}"))


def attempt_of(installation: Installation, run: int) -> int:
    """Return the number of a run's attempt."""
    return int(installation.run(run)["attempt"])


def process_of(installation: Installation, worker: str) -> psutil.Process:
    """Return the process that does a worker's job."""
    found: list[psutil.Process] = []

    def look() -> bool:
        below = installation.workers[worker].process.children(recursive=True)
        found[:] = [process for process in below if does_a_job(process)]
        return bool(found)

    installation.wait_until(look)
    return found[0]


def assert_done_once(installation: Installation, run: int, number: int) -> dict[str, Any]:
    """Wait until an evaluation is done, and check that it is complete and listed once."""
    installation.wait_until(lambda: evaluation(installation, number)["state"] in ("done", "failed", "cancelled"))
    found = evaluation(installation, number)
    assert (found["state"], found["reason"]) == ("done", None)
    assert [episode["number"] for episode in found["episodes"]] == list(range(EPISODES))
    listed = [row["id"] for row in installation.read(f"runs/{run}/evaluations")["items"]]
    assert len(listed) == len(set(listed))
    assert max(listed) == number
    return found


def test_a_checkpoint_that_was_damaged_on_the_server_is_reported(installation: Installation, finished: int) -> None:
    # This is the first test, because a worker keeps the files that it has fetched.
    sound = {file: file.read_bytes() for file in (installation.directory / "data/files" / f"run-{finished}").iterdir()}
    for file, content in sound.items():
        middle = len(content) // 2
        file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    number = ask(installation, finished)
    installation.wait_until(lambda: evaluation(installation, number)["state"] == "failed")
    assert "is damaged: its content differs from what was saved" in evaluation(installation, number)["reason"]
    for file, content in sound.items():
        file.write_bytes(content)


def test_an_evaluation_runs_during_a_training(installation: Installation, finished: int, training: int) -> None:
    attempt, before = attempt_of(installation, training), installation.run(training)["step"]
    number = ask(installation, finished, seed=5)
    found = assert_done_once(installation, finished, number)
    assert found["mean"] > 5, "even a poor agent balances the pole for some steps"
    installation.wait_for_points(training, attempt)
    assert installation.run(training)["step"] > before
    again = ask(installation, finished, seed=5, checkpoint=found["checkpoint_id"])
    installation.wait_until(lambda: evaluation(installation, again)["state"] == "done")
    scores = [[episode["score"] for episode in evaluation(installation, each)["episodes"]] for each in (number, again)]
    assert scores[0] == scores[1], "the same seed must give the same scores"
    assert attempt_of(installation, training) == attempt


def test_an_evaluation_is_repeated_after_its_process_is_killed(
    installation: Installation, finished: int, training: int
) -> None:
    attempt = attempt_of(installation, training)
    number = ask(installation, finished)
    process_of(installation, "one").kill()
    assert_done_once(installation, finished, number)
    assert attempt_of(installation, training) == attempt


def test_a_calibration_is_repeated_after_its_process_is_killed(
    installation: Installation, finished: int, training: int
) -> None:
    attempt = attempt_of(installation, training)
    options = {"episodes": 4, "futures": 8, "horizon": 100}
    number = installation.post(f"runs/{finished}/calibrations", options)["id"]

    def calibration() -> dict[str, Any]:
        return dict(installation.read(f"calibrations/{number}"))

    installation.wait_until(lambda: calibration()["moments_done"] > 0)
    process_of(installation, "one").kill()
    installation.wait_until(lambda: calibration()["state"] in ("done", "failed", "cancelled"))
    found = calibration()
    assert (found["state"], found["reason"]) == ("done", None)
    assert len(found["document"]["moments"]) == found["moments_total"]
    assert [each["id"] for each in installation.read(f"runs/{finished}/calibrations")] == [number]
    assert attempt_of(installation, training) == attempt


def test_futures_are_simulated_again_after_their_process_is_killed(
    installation: Installation, finished: int, training: int
) -> None:
    attempt = attempt_of(installation, training)
    recording = installation.post(f"runs/{finished}/recordings", {"seed": 1})["id"]
    installation.wait_until(lambda: installation.read(f"recordings/{recording}")["replay_id"])
    replay = installation.read(f"recordings/{recording}")["replay_id"]
    number = installation.post(f"replays/{replay}/futures", {"decision": 3, "futures": 256, "horizon": 400})["id"]

    def simulated() -> dict[str, Any]:
        return dict(installation.read(f"futures/{number}"))

    # The futures last only seconds, so they may have ended before their progress is seen.
    installation.wait_until(lambda: simulated()["state"] == "running", interval=0.01)
    process_of(installation, "one").kill()
    installation.wait_until(lambda: simulated()["state"] in ("done", "failed", "cancelled"))
    found = simulated()
    assert (found["state"], found["reason"], found["done"]) == ("done", None, found["total"])
    assert len(found["document"]["returns"]) == 256
    assert [each["id"] for each in installation.read(f"replays/{replay}/futures")] == [number]
    assert attempt_of(installation, training) == attempt


def test_an_evaluation_is_stored_once_although_the_backend_is_killed(
    installation: Installation, finished: int, training: int
) -> None:
    attempt = attempt_of(installation, training)
    number = ask(installation, finished)
    process_of(installation, "one")
    installation.backend.end(signal.SIGKILL)
    installation.backend.start()
    assert_done_once(installation, finished, number)
    assert attempt_of(installation, training) == attempt


def test_an_evaluation_starts_although_redis_loses_its_doorbell(
    installation: Installation, finished: int, training: int
) -> None:
    attempt = attempt_of(installation, training)
    installation.redis.kill()
    number = ask(installation, finished)
    installation.redis.start()
    assert_done_once(installation, finished, number)
    assert attempt_of(installation, training) == attempt


def test_an_evaluation_is_repeated_after_its_worker_is_killed(
    installation: Installation, finished: int, training: int
) -> None:
    attempt = attempt_of(installation, training)
    number = ask(installation, finished)
    process = process_of(installation, "one")
    installation.workers["one"].end(signal.SIGKILL)
    installation.wait_until(lambda: has_ended(process))
    installation.workers["one"].start()
    assert_done_once(installation, finished, number)
    installation.wait_for_points(training, attempt + 1)


def test_a_run_is_evaluated_by_its_schedule_and_its_best_checkpoint_chosen(
    installation: Installation, training: int
) -> None:
    stop(installation, training)
    run = installation.launch(evaluate_every_steps=2_000, **SAVING)

    def done() -> list[dict[str, Any]]:
        return [row for row in installation.read(f"runs/{run}/evaluations")["items"] if row["state"] == "done"]

    installation.wait_until(done)
    stop(installation, run)
    rows = done()
    assert {row["origin"] for row in rows} == {"schedule"}
    (best,) = [row for row in installation.read(f"runs/{run}/checkpoints") if row["best"]]
    assert best["best_by"] == "evaluation"
    assert best["id"] in {row["checkpoint_id"] for row in rows}


def test_another_worker_repeats_the_evaluation_of_a_killed_worker(impatient_installation: Installation) -> None:
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
