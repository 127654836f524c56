"""Runs that train in jobs of a real Ray cluster."""

import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from tests.clusters import runs as cluster_runs
from tests.clusters.ray_head import RayHead
from tests.clusters.runs import (
    SHORT,
    assert_each_method_trains,
    assert_same_as_on_a_worker,
    wait_for_job,
    wait_for_training,
)
from tests.installation import CATCH_BY_GORILA, Installation


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayHead]:
    """Yield a cluster with one node of two cores."""
    head = RayHead(tmp_path_factory.mktemp("ray"))
    yield head
    head.close()


@pytest.fixture(scope="module")
def installation(ray: RayHead, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers that looks at the jobs of the cluster each second."""
    folder = tmp_path_factory.mktemp("installation")
    with Installation(folder, scheduler_seconds=1, lease_seconds=10, ray_token=ray.token) as installation:
        set_up(installation, ray)
        yield installation


def set_up(installation: Installation, ray: RayHead, **settings: object) -> dict[str, Any]:
    """Store settings of the cluster, and return them."""
    wanted = ray.settings(f"http://127.0.0.1:{installation.port}", **settings)
    installation.http.put("executors/ray", json=wanted).raise_for_status()
    return wanted


submit = partial(cluster_runs.submit, executor="ray")


def check(installation: Installation, settings: dict[str, Any], *, run_job: bool = True) -> dict[str, Any]:
    """Check settings, by default with a job."""
    reply = installation.http.post(f"executors/ray/check?run_job={run_job}", json=settings, timeout=120)
    answer: dict[str, Any] = reply.raise_for_status().json()
    return answer


@pytest.mark.nightly
def test_a_run_trains_on_ray(installation: Installation, ray: RayHead) -> None:
    run = submit(installation, SHORT)
    finished = installation.wait_for_state(run, "finished")
    assert (finished["executor"], finished["attempt"], finished["step"] >= 3_000) == ("ray", 1, True)
    job = wait_for_job(installation, run, state="ended")
    assert (job["scheduler_state"], job["host"]) == ("SUCCEEDED", ray.nodes()[0]["node_ip"])
    assert [each["submission_id"] for each in ray.jobs()] == [job["handle"]]
    output = installation.read(f"runs/{run}/job-output")["output"]
    assert "starting" in output
    assert "JOB_SCRIPT" not in output
    assert f"Submitted to Ray as job {job['handle']}." in installation.log(run)


@pytest.mark.nightly
def test_each_method_trains_on_ray(installation: Installation) -> None:
    assert_each_method_trains(installation, "ray")


@pytest.mark.nightly
def test_the_same_seed_learns_the_same_as_on_a_worker(installation: Installation) -> None:
    assert_same_as_on_a_worker(installation, submit(installation, SHORT))


@pytest.mark.nightly
def test_a_paused_run_continues_in_another_job_and_is_stopped(installation: Installation) -> None:
    run = submit(installation)
    wait_for_training(installation, run)
    installation.post(f"runs/{run}/pause")
    paused = installation.wait_for_state(run, "paused")
    first = wait_for_job(installation, run, state="ended", scheduler_state="SUCCEEDED")
    assert installation.wait_for_checkpoint(run, 1) == paused["step"]
    installation.post(f"runs/{run}/resume")
    wait_for_training(installation, run, 2)
    assert min(row["step"] for row in installation.points(run, 2)) > paused["step"]
    installation.post(f"runs/{run}/stop")
    installation.wait_for_state(run, "stopped")
    second = wait_for_job(installation, run, state="ended")
    assert first["handle"] != second["handle"]


@pytest.mark.nightly
def test_a_job_that_is_stopped_in_ray_saves_and_pauses_its_run(installation: Installation, ray: RayHead) -> None:
    run = submit(installation)
    wait_for_training(installation, run)
    handle = installation.run(run)["submission"]["handle"]
    ray.stop_job(handle)
    paused = installation.wait_for_state(run, "paused")
    assert f"Ray ended job {handle}: STOPPED. Resume the run to submit it again." in paused["state_reason"]
    # TERM had the trainer save its last step.
    assert installation.wait_for_checkpoint(run, 1) == paused["step"]


@pytest.mark.nightly
def test_a_job_without_room_waits_with_rays_reason_until_ray_gives_it_up(
    installation: Installation, ray: RayHead
) -> None:
    set_up(installation, ray, cores=64)
    run = submit(installation)
    try:
        wait_for_job(installation, run, state="waiting", scheduler_state="PENDING")
        installation.wait_until(lambda: "waiting for resources" in (installation.run(run)["state_reason"] or ""))
        first = installation.run(run)["submission"]["handle"]
        # Ray gives up such a job, and the run waits in the next one, without a limit.
        installation.wait_until(lambda: installation.run(run)["submission"]["handle"] not in (first, None))
        assert installation.run(run)["state"] == "queued"
    finally:
        set_up(installation, ray)
    installation.post(f"runs/{run}/stop")
    # Ray stops a waiting job only when it starts or is given up. Until then, it is not shown as ended.
    ended = wait_for_job(installation, run, state="ended")
    assert {job["submission_id"]: job["status"] for job in ray.jobs()}[ended["handle"]] in ("FAILED", "STOPPED")
    assert installation.run(run)["state"] == "stopped"


@pytest.mark.nightly
def test_a_token_that_ray_refuses_and_commands_that_fail_are_explained(
    installation: Installation, ray: RayHead, tmp_path_factory: pytest.TempPathFactory
) -> None:
    wanted = set_up(installation, ray)
    checked = check(installation, wanted)
    assert checked["ok"], checked
    assert "accepts the token" in checked["output"]
    checked = check(installation, {**wanted, "prepare": "echo no module is loaded; exit 3"})
    assert (checked["ok"], "no module is loaded" in checked["output"]) == (False, True)
    checked = check(installation, {**wanted, "address": f"http://127.0.0.1:{installation.port}"}, run_job=False)
    assert not checked["ok"]
    stranger = Installation(tmp_path_factory.mktemp("stranger"), scheduler_seconds=1, ray_token="0" * 64)
    try:
        stranger.start()
        wanted = set_up(stranger, ray)
        message = check(stranger, wanted, run_job=False)["message"]
        assert message.startswith("Ray refuses the token (Forbidden: Invalid authentication token).")
        run = submit(stranger)
        stranger.wait_until(lambda: "Ray refuses the token" in (stranger.run(run)["state_reason"] or ""))
        assert stranger.run(run)["state"] == "queued"
    finally:
        stranger.close()


@pytest.mark.nightly
def test_gorila_joins_the_cluster_of_its_job_on_two_nodes(installation: Installation, ray: RayHead) -> None:
    # With as many cores as the head, so that each node gets one of the two bundles.
    node = ray.add_node(cores=2)
    run = submit(installation, CATCH_BY_GORILA, num_actors=2, num_learners=2)
    wait_for_training(installation, run)
    nodes = ray.nodes_of_roles("Bundle")
    assert len(nodes) == 2
    installation.post(f"runs/{run}/stop")
    installation.wait_for_state(run, "stopped")
    wait_for_job(installation, run, state="ended")
    installation.wait_until(lambda: not ray.nodes_of_roles("Bundle"))
    ray.remove_node(node)


@pytest.mark.nightly
def test_a_killed_head_loses_and_doubles_nothing(installation: Installation, ray: RayHead) -> None:
    run = submit(installation, checkpoint_seconds=2)
    step = installation.wait_for_checkpoint(run)
    waiting = submit(installation, SHORT)
    ray.kill()
    installation.wait_until(lambda: installation.run(run)["submission"]["unknown_since"])
    assert "is not reachable" in installation.run(run)["submission"]["reason"]
    ray.start()
    installation.wait_for_state(waiting, "finished")
    installation.wait_until(lambda: installation.run(run)["attempt"] > 1)
    attempt = installation.run(run)["attempt"]
    wait_for_training(installation, run, attempt)
    assert min(row["step"] for row in installation.points(run, attempt)) > step
    marks = [job["submission_id"] for job in ray.jobs() if job["status"] == "RUNNING"]
    assert marks == [installation.run(run)["submission"]["handle"]]
    installation.post(f"runs/{run}/stop")
    wait_for_job(installation, run, state="ended")


@pytest.mark.nightly
def test_a_killed_backend_loses_and_doubles_no_job(installation: Installation, ray: RayHead) -> None:
    before = {job["submission_id"] for job in ray.jobs()}
    # A third one would wait for a core, and Ray would give it up on a busy host.
    runs = [submit(installation, SHORT) for _ in range(2)]
    # Somewhere between the first and the last submission.
    installation.wait_until(lambda: {job["submission_id"] for job in ray.jobs()} - before, interval=0.01)
    installation.backend.end(signal.SIGKILL)
    installation.start()
    for run in runs:
        installation.wait_for_state(run, "finished")
        wait_for_job(installation, run, state="ended")
    assert len({job["submission_id"] for job in ray.jobs()} - before) == len(runs)
    assert all(installation.run(run)["attempt"] == 1 for run in runs)
