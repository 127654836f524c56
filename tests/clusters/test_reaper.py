"""Whether an interrupted test leaves jobs running."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.clusters.slurm_cluster import require_slurm
from tests.processes import command_line
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

# Its jobs leave the session of their step, as trainers do.
SCRIPT = """
import sys
from pathlib import Path
from tests.clusters.slurm_cluster import SlurmCluster
cluster = SlurmCluster(Path(sys.argv[1]))
cluster.start()
cluster.command("sbatch", "--output=/dev/null", "--wrap", f"setsid sleep 1{sys.argv[2]} & wait")
print("submitted", flush=True)
sys.stdin.read()
"""


def commands_below(pid: int) -> dict[psutil.Process, str]:
    """Return the command lines of all processes below another one."""
    return {process: command_line(process) for process in psutil.Process(pid).children(recursive=True)}


@pytest.mark.nightly
def test_jobs_and_daemons_end_with_killed_tests(tmp_path: Path) -> None:
    require_slurm()
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "slurm"), "03457"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=Path(__file__).parents[2]) as tests:
        wait_until(lambda: "sleep 103457" in commands_below(tests.pid).values())
        below = commands_below(tests.pid)
        assert {"munged", "slurmctld", "slurmd"} <= {command.partition(" ")[0] for command in below.values()}
        tests.kill()
    _gone, alive = psutil.wait_procs([*below], timeout=PATIENCE_SECONDS)
    assert alive == []
