"""A Slurm of which tests choose the version, the jobs and their states."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

COMMANDS = Path(__file__).parent / "slurm_commands.py"


class FakeSlurm:
    """The commands of Slurm in a folder of PATH, and the jobs that they list."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.output = folder, folder / "output"
        self.output.mkdir(parents=True)
        for name in ("sbatch", "squeue", "scontrol", "sacct", "scancel"):
            (folder / name).write_text(f"#!{sys.executable} -SE\n{COMMANDS.read_text()}")
            (folder / name).chmod(0o755)
        site = {"jobs": [], "is_new": True, "hides_ended": False, "has_accounting": False, "max_submitted": 10**6}
        self._write({**site, "refused_option": None})

    def behave(self, **columns: Any) -> None:
        """Change how the site behaves."""
        self._write({**self._site(), **columns})

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Let no command end inside the block."""
        (self.folder / "hanging").touch()
        yield
        (self.folder / "hanging").unlink()

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """Return the jobs."""
        jobs: list[dict[str, Any]] = self._site()["jobs"]
        return jobs

    @property
    def submissions(self) -> list[dict[str, Any]]:
        """Return the arguments and the script of each submission."""
        calls = self.folder / "calls.jsonl"
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []

    def change(self, index: int, *states: str, **columns: Any) -> None:
        """Move a job to a state, with its flags."""
        jobs = self.jobs
        jobs[index] |= {"states": [*states], "started": 1_796_037_000, **columns}
        self.behave(jobs=jobs)

    def end(self, index: int, state: str, output: str = "", **columns: Any) -> None:
        """End a job, with its output."""
        self.change(index, state, ended=1_796_037_010, **columns)
        job = self.jobs[index]
        handle = job["id"] if job["array"] is None else f"{job['array']}_{job['task']}"
        if output:
            (self.output / f"arcadia-{handle}.out").write_text(output)

    @property
    def canceled(self) -> list[str]:
        """Return the handles of the jobs that were canceled."""
        canceled = self.folder / "canceled"
        return canceled.read_text().split() if canceled.exists() else []

    def settings(self, **others: Any) -> dict[str, Any]:
        """Return settings of Arcadia for this Slurm."""
        return {"backend_url": "http://127.0.0.1:8000", "directory": str(self.output), **others}

    def _site(self) -> dict[str, Any]:
        site: dict[str, Any] = json.loads((self.folder / "site.json").read_text())
        return site

    def _write(self, site: dict[str, Any]) -> None:
        (self.folder / "site.json").write_text(json.dumps(site))


@pytest.fixture
def fake_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    """Return a Slurm without jobs, as of version 24.05 or later."""
    slurm = FakeSlurm(tmp_path / "slurm")
    monkeypatch.setenv("PATH", f"{slurm.folder}{os.pathsep}{os.environ['PATH']}")
    return slurm
