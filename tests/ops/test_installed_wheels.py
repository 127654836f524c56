"""Both wheels in bare environments, as a user installs them. Installing the application takes minutes."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.processes import has_ended
from tests.server_process import free_port
from tests.workers.waiting import wait_until

ROOT = Path(__file__).parents[2]
SOURCES = (
    *("backend", "workers", "client", "alembic", "setup", "frontend/dist"),
    *("pyproject.toml", "setup.py", "README.md", "requirements.lock"),
)
COMMIT = "0123456789ab"
INSTALL_SECONDS, RUN_SECONDS = 1800, 300.0
CARTPOLE = {
    "algorithm": "paac",
    "env": "CartPole-v1",
    "total_steps": 3000,
    "num_envs": 4,
    "t_max": 8,
    "hidden_units": 16,
}
# Its roles are processes of Ray, which changes their paths.
GORILA = {
    "algorithm": "gorila",
    "env": "Arcadia/Catch-v0",
    "total_steps": 500,
    "num_actors": 1,
    "num_learners": 1,
    "replay_frames": 2000,
    "learning_starts": 100,
    "hidden_units": 16,
}

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(INSTALL_SECONDS + 4 * RUN_SECONDS)]


def run(*command: object, cwd: Path, **environment: str) -> str:
    """Run a command without the settings of this environment, and return its output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ARCADIA_", "PYTHON"))}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, env=kept | environment, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def new_environment(folder: Path) -> Path:
    """Create an environment without packages, and return the folder of its programs."""
    run(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    return folder / "bin"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build both wheels from a copy, as `make wheel` does after the frontend, and return their folder."""
    copy = tmp_path_factory.mktemp("copy")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, copy / name)
    for command in ("client", "dependencies", "application"):
        run(sys.executable, copy / "setup" / "wheels.py", command, cwd=copy, ARCADIA_BUILD=COMMIT)
    return copy / "dist"


@pytest.fixture(scope="module")
def installed(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the application over an editable installation of an older version. Return the folder of programs."""
    folder = tmp_path_factory.mktemp("application")
    programs = new_environment(folder / "venv")
    older = folder / "older"
    (older / "backend").mkdir(parents=True)
    (older / "backend" / "__init__.py").write_text("")
    (older / "backend" / "cli.py").write_text("def main():\n    print('the older version')\n")
    (older / "pyproject.toml").write_text(
        '[project]\nname = "arcadia"\nversion = "0.0.1"\nscripts.arcadia = "backend.cli:main"\n'
        '[tool.setuptools]\npackages = ["backend"]\n'
    )
    run(programs / "pip", "install", "--editable", older, cwd=folder)
    assert run(programs / "arcadia", cwd=folder) == "the older version\n"
    run(programs / "pip", "install", "--no-compile", *wheels.glob("*.whl"), cwd=folder)
    return programs


def site_packages(programs: Path) -> set[str]:
    """Return the names in site-packages."""
    (folder,) = programs.parent.glob("lib/python*/site-packages")
    return {path.name for path in folder.iterdir()}


class Up:
    """`arcadia up` in a folder with a file that has the name of a library."""

    def __init__(self, programs: Path, folder: Path) -> None:
        port, self.data = free_port(), folder / "share" / "arcadia"
        self.url = f"http://127.0.0.1:{port}"
        self.http = httpx.Client(base_url=self.url, timeout=60, trust_env=False)
        current = folder / "current"
        current.mkdir()
        (current / "uvicorn.py").write_text("raise ImportError('a module of another project')")
        self._output = folder / "output"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ARCADIA_", "PYTHON"))}
        with self._output.open("w") as output:
            self.process = subprocess.Popen(
                [programs / "arcadia", "up", "--port", str(port)],
                cwd=current,
                env=kept | {"XDG_DATA_HOME": str(folder / "share")},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def read(self, path: str) -> Any:
        """Return a document of the API."""
        return self.http.get(f"/api/v1/{path}").raise_for_status().json()

    def launch(self, config: dict[str, Any]) -> int:
        """Launch a run and return its number."""
        return int(self.http.post("/api/v1/runs", json={"config": config}).raise_for_status().json()["id"])

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition is true. The server may not answer yet."""

        def is_met() -> bool:
            assert self.process.poll() is None, self._output.read_text()
            with contextlib.suppress(httpx.TransportError):
                return condition()
            return False

        wait_until(is_met, RUN_SECONDS)


@pytest.fixture
def up(installed: Path, tmp_path: Path) -> Iterator[Up]:
    """Yield a running installation, and kill the processes that the test leaves."""
    up = Up(installed, tmp_path)
    try:
        up.wait_for(lambda: up.read("health")["workers"] == 1)
        yield up
    finally:
        family = psutil.Process(up.process.pid).children(recursive=True) if up.process.poll() is None else []
        up.process.kill()
        up.process.wait()
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        up.http.close()


def test_the_application_replaces_an_older_version(installed: Path, tmp_path: Path) -> None:
    names = site_packages(installed)
    assert {"arcadia", "arcadia_backend", "arcadia_workers", "torch", "ray"} <= names
    assert not [name for name in names if name.startswith(("backend", "workers", "__editable__"))]
    client, server = run(installed / "arcadia", "--version", cwd=tmp_path).splitlines()
    assert client.startswith("arcadia-client ")
    assert f"+{COMMIT}, database schema 00" in server


def test_arcadia_up_trains_and_records_and_ends_on_sigterm(up: Up) -> None:
    page = up.http.get("/", headers={"Accept": "text/html"})
    # The frontend may not be built here. The server then says so.
    assert page.status_code == (200 if (ROOT / "frontend" / "dist" / "index.html").exists() else 503)
    runs = [up.launch(config) for config in (CARTPOLE, GORILA)]
    for number in runs:
        up.wait_for(lambda number=number: up.read(f"runs/{number}")["state"] == "finished")  # type: ignore[misc]
    up.wait_for(lambda: bool(up.read(f"runs/{runs[0]}/replays")))
    assert (up.data / "arcadia.db").is_file()
    family = psutil.Process(up.process.pid).children(recursive=True)
    up.process.send_signal(signal.SIGTERM)
    assert up.process.wait(timeout=RUN_SECONDS) == 0
    wait_until(lambda: all(has_ended(process) for process in family))


def test_the_client_installs_from_the_server_without_internet(up: Up, tmp_path: Path) -> None:
    programs = new_environment(tmp_path / "venv")
    offline = ("--no-index", "--find-links", f"{up.url}/client/", "--trusted-host", "127.0.0.1")
    run(programs / "pip", "install", *offline, "arcadia-client", cwd=tmp_path)
    assert run(programs / "arcadia", "--version", cwd=tmp_path).startswith("arcadia-client ")
    connect = "import arcadia, sys; print(arcadia.connect(sys.argv[1]).__class__.__name__)"
    assert run(programs / "python", "-c", connect, up.url, cwd=tmp_path) == "Client\n"
    names = site_packages(programs)
    assert not names & {"torch", "arcadia_backend", "arcadia_workers"}
    missing = subprocess.run([programs / "arcadia", "up"], capture_output=True, text=True, check=False)
    assert missing.returncode == 1
    assert "needs the server, which is not installed" in missing.stderr
