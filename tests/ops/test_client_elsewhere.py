"""The client's wheel in a bare environment: on another host that reaches only the server, and with other packages."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.client.cli.conftest import train
from tests.factories import Api
from tests.faults.cable import Cable
from tests.installation import TOKEN as WORKER_TOKEN
from tests.installation import Installation

ROOT = Path(__file__).parents[2]
TOKEN = "secret-of-users"
INSTALL_SECONDS = 900
# Packages that the client's unit tests need in addition to the client.
TEST_PACKAGES = ("pytest", "plotly", "av", "nvidia-ml-py", "psutil", "numpy", "pillow", "tensorboardX")
TABLES = """
import arcadia, sys
client = arcadia.connect()
run, other = client.runs(*sys.argv[1:])
metrics = run.metrics(["episode/return", "train/entropy"])
rows = list(metrics.to_rows())
pandas, polars = metrics.to_pandas(), metrics.to_polars()
columns = ["metric", "step", "value", "min", "max", "count"]
assert list(pandas.columns) == polars.columns == columns, (pandas.columns, polars.columns)
assert [row[2] for row in rows] == [10.0, 20.0, 40.0, 60.0, 0.5, 0.25]
assert [tuple(row) for row in pandas.itertuples(index=False)] == polars.rows() == rows
assert [str(kind) for kind in pandas.dtypes][1:] == ["float64"] * 4 + ["int64"], pandas.dtypes
assert pandas.groupby("metric")["value"].mean()["episode/return"] == 32.5
assert polars.filter(polars["metric"] == "train/entropy")["value"].sum() == 0.75
kinds = ["int64"] * 2 + ["float64"] * 3
columns = ["group", "runs", "n", "failed", "mean", "low", "high", "no_interval"]
compared = client.compare([run, other], group_by="learning_rate")
for table in (compared.to_pandas(), compared.to_polars()):
    assert list(table.columns) == columns, table
    assert list(table["group"]) == [row["group"] for row in compared.table]
    assert [list(runs) for runs in table["runs"]] == [row["runs"] for row in compared.table]
    assert [str(table[name].dtype).lower() for name in columns[2:7]] == kinds
    assert list(table["no_interval"]) == ["An interval needs 3 runs."] * 2
nothing = client.compare(run)
assert nothing.table == []
for table in (nothing.to_pandas(), nothing.to_polars()):
    assert list(table.columns) == columns, table
    assert len(table) == 0
"""

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(2 * INSTALL_SECONDS)]


def run(*command: object, environment: dict[str, str] | None = None, folder: Path) -> str:
    """Run a command without the settings of this environment, and return its output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ARCADIA_", "PYTHON"))}
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=folder,
        env={**kept, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the client's wheel with its dependencies, and return the folder of the environment's programs."""
    folder = tmp_path_factory.mktemp("client")
    ignored = shutil.ignore_patterns("build", "dist", "*.egg-info", "_sync")
    shutil.copytree(ROOT / "client", folder / "source", ignore=ignored)
    build = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder)
    run(sys.executable, "-m", "pip", *build, folder / "source", folder=folder)
    run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    run(folder / "venv/bin/pip", "install", "--quiet", *folder.glob("*.whl"), folder=folder)
    return folder / "venv" / "bin"


@pytest.fixture
def cable() -> Iterator[Cable]:
    """Yield a cable to another host."""
    cable = Cable()
    cable.plug()
    yield cable
    cable.remove()


@pytest.fixture
def installation(cable: Cable, tmp_path: Path) -> Iterator[Installation]:
    """Yield an installation with a worker, whose backend listens at this end of the cable."""
    with Installation(tmp_path, host=cable.here, token=TOKEN) as installation:
        installation.worker("near")
        yield installation


def test_a_host_that_reaches_only_the_server_launches_watches_stops_and_downloads(
    programs: Path, cable: Cable, installation: Installation, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    settings = {
        "ARCADIA_URL": f"http://{cable.here}:{installation.port}",
        "ARCADIA_TOKEN": TOKEN,
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }

    def arcadia(*arguments: str) -> str:
        return run(*cable.prefix, programs / "arcadia", *arguments, environment=settings, folder=folder)

    installed = run(programs / "pip", "list", "--format=json", folder=folder)
    names = {package["name"] for package in json.loads(installed)}
    assert "arcadia-client" in names
    assert not names & {"arcadia", "torch", "numpy", "fastapi", "ray"}
    routes = run(*cable.prefix, "ip", "route", folder=folder).splitlines()
    assert len(routes) == 1, "the other host must reach only the server"

    launched = arcadia("launch", "paac-cartpole", "--set", "total_steps=3000", "--name", "first", "--quiet").strip()
    watched = arcadia("watch", launched, "--interval", "0.2")
    assert f"Run {launched} first is finished" in watched
    (saved,) = json.loads(arcadia("download", "checkpoints", launched, "--out", "files", "--json"))
    newest = json.loads(arcadia("download", "checkpoints", launched, "--list", "--json"))[-1]
    assert (folder / saved).stat().st_size == newest["bytes"]

    endless = arcadia("launch", "paac-cartpole", "--set", "total_steps=1000000000", "--quiet").strip()
    installation.wait_for_points(int(endless), 1)
    assert "is stopped" in arcadia("stop", endless, "--wait", "--yes")
    assert installation.run(int(endless))["state"] == "stopped"
    assert (folder / arcadia("download", "checkpoints", endless).strip()).is_file()


def test_metrics_and_comparisons_become_tables(programs: Path, tmp_path: Path) -> None:
    run(programs / "pip", "install", "--quiet", "pandas", "polars", folder=tmp_path)
    with Installation(tmp_path, token=TOKEN) as installation:
        url = f"http://127.0.0.1:{installation.port}"
        user, worker = (
            httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, trust_env=False)
            for token in (TOKEN, WORKER_TOKEN)
        )
        with user, worker:
            api = Api(user, worker)
            api.beat().raise_for_status()
            runs = [train(api, name=name) for name in ("one", "other")]
        settings = {"ARCADIA_URL": url, "ARCADIA_TOKEN": TOKEN}
        run(programs / "python", "-c", TABLES, *runs, environment=settings, folder=tmp_path)


def find_python_310() -> str:
    """Return a Python 3.10, the oldest that the client runs on, or skip the test."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for program in filter(None, [shutil.which("python3.10"), *map(str, versions.glob("3.10.*/bin/python"))]):
        if subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode == 0:
            return program
    pytest.skip("needs Python 3.10")


def test_the_unit_tests_pass_on_python_310(tmp_path: Path) -> None:
    run(find_python_310(), "-m", "venv", tmp_path / "venv", folder=tmp_path)
    programs = tmp_path / "venv" / "bin"
    # Some tests read the documents.
    for part in ("client", "docs/client"):
        ignored = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", "_sync")
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    run(programs / "pip", "install", "--quiet", f"{tmp_path / 'client'}[mcp]", *TEST_PACKAGES, folder=tmp_path)
    shutil.rmtree(tmp_path / "client" / "arcadia")
    tests = tmp_path / "client" / "tests"
    options = ("--rootdir", tmp_path, "-o", f"pythonpath={tests}", "--import-mode=importlib")
    assert " passed" in run(programs / "python", "-m", "pytest", "-q", *options, tests, folder=tmp_path)
