"""Runs and studies that tests launch on Slurm, and what they wait for."""

from typing import Any

from tests.installation import CARTPOLE, Installation

SHORT: dict[str, Any] = {**CARTPOLE, "total_steps": 3_000, "seed": 3}


def submit(installation: Installation, config: dict[str, Any] = CARTPOLE, **changes: Any) -> int:
    """Launch a run on Slurm."""
    body = {"config": {**config, **changes}, "executor": "slurm"}
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
