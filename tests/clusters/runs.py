"""Runs and studies that tests launch on a cluster, what they wait for, and what they compare."""

from typing import Any

import safetensors.numpy

from tests.installation import CARTPOLE, Installation

# One preset of each method.
PRESETS = [
    f"{method}-cartpole"
    for method in ("a3c", "one-step-q", "one-step-sarsa", "n-step-q", "paac", "paac-n-step-q", "ga3c", "gorila")
]
SHORT: dict[str, Any] = {**CARTPOLE, "total_steps": 3_000, "seed": 3}


def submit(
    installation: Installation, config: dict[str, Any] = CARTPOLE, *, executor: str = "slurm", **changes: Any
) -> int:
    """Launch a run on a cluster."""
    body = {"config": {**config, **changes}, "executor": executor}
    return int(installation.post("runs", body)["id"])


def wait_for_job(installation: Installation, run: int, **columns: Any) -> dict[str, Any]:
    """Wait until the latest job of a run has these values, and return it."""

    def has_them() -> bool:
        job = installation.run(run)["submission"]
        return job is not None and columns.items() <= job.items()

    installation.wait_until(has_them)
    return dict(installation.run(run)["submission"])


def start_study(installation: Installation, config: dict[str, Any] = SHORT, **others: Any) -> int:
    """Start a study on Slurm that varies only the seed."""
    fields = {name: value for name, value in config.items() if name != "seed"}
    specification = {"name": "Seeds", "config": fields, "executor": "slurm", **others}
    preview = installation.post("studies/preview", specification)
    confirmed = {"confirm_steps": preview["steps"]} if preview["confirm"] else {}
    return int(installation.post("studies", {**specification, **confirmed})["id"])


def wait_for_runs(installation: Installation, study: int, count: int) -> list[int]:
    """Wait until each run of a study has a job, and return the runs."""
    runs: list[int] = []

    def have_jobs() -> bool:
        rows = installation.read(f"studies/{study}")["table"]
        runs[:] = [run["run_id"] for row in rows for run in row["runs"] if run["run_id"] is not None]
        jobs = [installation.run(run)["submission"] for run in runs]
        return len(runs) == count and all(job is not None and job["handle"] is not None for job in jobs)

    installation.wait_until(have_jobs)
    return runs


def wait_for_training(installation: Installation, run: int, attempt: int = 1) -> None:
    """Wait until an attempt has trained further."""
    before = len(installation.points(run, attempt))
    installation.wait_until(lambda: len(installation.points(run, attempt)) > before + 20)


def last_weights(installation: Installation, run: int) -> dict[str, Any]:
    """Return the tensors of the last checkpoint."""
    last = max(installation.read(f"runs/{run}/checkpoints"), key=lambda row: row["step"])
    content = installation.http.get(f"files/{last['file_id']}").raise_for_status().content
    return {name: tensor.tolist() for name, tensor in safetensors.numpy.load(content).items()}


def assert_each_method_trains(installation: Installation, executor: str) -> None:
    """Train a run of each method in a job, and evaluate and record its agent on a worker."""
    presets = {preset["name"]: preset["config"] for preset in installation.read("presets")}
    installation.worker("one")
    for name in PRESETS:
        run = submit(installation, presets[name], executor=executor, total_steps=2_000)
        finished = installation.wait_for_state(run, "finished")
        assert (finished["executor"], finished["attempt"]) == (executor, 1), name
        installation.post(f"runs/{run}/evaluations", {"episodes": 2})
        wait_for_evaluation(installation, run)
        installation.wait_for_replay(run)
    installation.dismiss_workers()


def wait_for_evaluation(installation: Installation, run: int) -> None:
    """Wait until the only evaluation of a run has finished."""

    def has_finished() -> bool:
        states = [row["state"] for row in installation.read(f"runs/{run}/evaluations")["items"]]
        return states == ["done"]

    installation.wait_until(has_finished)


def assert_same_as_on_a_worker(installation: Installation, submitted: int) -> None:
    """Train the short run on a worker too, and compare what both runs have learned."""
    local = installation.launch(SHORT)
    installation.worker("one", niceness=0)
    for run in (submitted, local):
        installation.wait_for_state(run, "finished")
    installation.dismiss_workers()
    assert last_weights(installation, submitted) == last_weights(installation, local)
    assert installation.run(submitted)["episodes"] == installation.run(local)["episodes"] > 10
