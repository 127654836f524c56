"""The wheels: they have all files, and the application runs from them in any folder."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

ROOT = Path(__file__).parents[2]
SOURCES = ("backend", "workers", "alembic", "pyproject.toml", "setup.py", "README.md")
CLIENT_SOURCES = ("arcadia", "tests", "pyproject.toml", "setup.py", "generate_sync.py", "README.md")
COMMIT = "0123456789ab"
CLIENT_WHEEL = "arcadia_client-0.1.0-py3-none-any.whl"
SHOW = """
from arcadia_backend.commands import version
from arcadia_backend.database.migrations import SCRIPTS
from arcadia_backend.web.frontend import WHEELS
from arcadia_backend.web.frontend import DIST
for path in (SCRIPTS / "env.py", WHEELS / {wheel!r}, DIST / "index.html"):
    print(path, path.is_file())
print(version())
"""
RUN = "import sys; from arcadia_backend.commands import run; sys.exit(run(sys.argv[1:]))"


def build_from_copy(source: Path, names: tuple[str, ...], project: Path) -> zipfile.ZipFile:
    """Build a wheel from a copy of the sources."""
    for name in names:
        if (source / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "_sync")
            shutil.copytree(source / name, project / name, ignore=ignored)
        else:
            shutil.copy(source / name, project / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "."]
    environment = {name: value for name, value in os.environ.items() if name != "ARCADIA_ONLY_EXTRAS"}
    subprocess.run(command, cwd=project, env=environment | {"ARCADIA_BUILD": COMMIT}, check=True)
    (built,) = project.glob("*.whl")
    return zipfile.ZipFile(built)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the application's wheel with one made-up page and a made-up wheel of the client."""
    project = tmp_path_factory.mktemp("project")
    for name, content in (("frontend/dist/index.html", "<title>Arcadia</title>"), (f"client/dist/{CLIENT_WHEEL}", "")):
        (project / name).parent.mkdir(parents=True)
        (project / name).write_text(content)
    return build_from_copy(ROOT, SOURCES, project)


@pytest.fixture(scope="module")
def site(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the unpacked wheel, as pip would install it."""
    folder = tmp_path_factory.mktemp("site")
    wheel.extractall(folder)
    return folder


@pytest.fixture
def current(tmp_path: Path) -> Path:
    """Return an empty current folder."""
    folder = tmp_path / "current"
    folder.mkdir()
    return folder


def run_installed(program: str, *arguments: str, site: Path, current: Path) -> str:
    """Run a program as if the wheel were installed, and return its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ARCADIA_")}
    environment |= {"PYTHONPATH": str(site), "XDG_DATA_HOME": str(current.parent / "share")}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=current, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_requires_the_packages_that_arcadia_up_needs(wheel: zipfile.ZipFile) -> None:
    (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    lines = wheel.read(metadata).decode().splitlines()
    needed = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    always = {line for line in needed if "extra ==" not in line}
    assert f"arcadia-client=={version('arcadia')}" in always
    for package in ("fastapi", "sqlalchemy", "torch", "celery", "pydantic", "ale-py"):
        assert any(line.startswith(package) for line in always), f"{package} is not among {sorted(always)}"


def test_the_packages_have_names_of_their_own(wheel: zipfile.ZipFile) -> None:
    top = {name.partition("/")[0] for name in wheel.namelist()}
    assert top == {"arcadia_backend", "arcadia_workers", f"arcadia-{version('arcadia')}.dist-info"}
    (listed,) = (name for name in wheel.namelist() if name.endswith("top_level.txt"))
    assert wheel.read(listed).decode().split() == ["arcadia_backend", "arcadia_workers"]


def test_the_wheel_has_every_file_of_the_packages(wheel: zipfile.ZipFile) -> None:
    packed = set(wheel.namelist())
    for folder in ("backend", "workers"):
        for path in (ROOT / folder).rglob("*.*"):
            if path.is_file() and path.suffix != ".pyc":
                assert str(path.relative_to(ROOT / folder)) in packed


@pytest.mark.nightly
def test_the_wheel_brings_migrations_pages_and_the_client(site: Path, current: Path) -> None:
    *parts, build = run_installed(SHOW.format(wheel=CLIENT_WHEEL), site=site, current=current).splitlines()
    assert len(parts) == 3
    for line in parts:
        path, _, found = line.rpartition(" ")
        assert Path(path).is_relative_to(site), path
        assert found == "True", path
    assert build.startswith(f"arcadia {version('arcadia')}+{COMMIT}, database schema 00")


@pytest.mark.nightly
def test_data_is_stored_in_the_users_data_folder(site: Path, current: Path) -> None:
    run_installed(RUN, "migrate", site=site, current=current)
    assert (current.parent / "share" / "arcadia" / "arcadia.db").is_file()
    assert not (current / "data").exists()


@pytest.mark.parametrize(("command", "said"), [("train", "--list-presets"), ("worker", "usage: arcadia worker")])
def test_programs_of_the_wheel_start(site: Path, current: Path, command: str, said: str) -> None:
    assert said in run_installed(RUN, command, "--help", site=site, current=current)


@pytest.fixture(scope="module")
def client_wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the client's wheel."""
    return build_from_copy(ROOT / "client", CLIENT_SOURCES, tmp_path_factory.mktemp("client"))


def test_the_clients_wheel_has_only_the_client(client_wheel: zipfile.ZipFile) -> None:
    metadata = f"arcadia_client-{version('arcadia-client')}.dist-info"
    assert {name.partition("/")[0] for name in client_wheel.namelist()} == {"arcadia", metadata}
    packed = {name for name in client_wheel.namelist() if name.startswith("arcadia/")}
    sources = [path for path in (ROOT / "client" / "arcadia").rglob("*") if path.suffix in (".py", ".typed")]
    assert packed == {path.relative_to(ROOT / "client").as_posix() for path in sources} | {"arcadia/commit.txt"}


def test_the_client_names_the_commit_that_its_wheel_was_built_from(
    client_wheel: zipfile.ZipFile, tmp_path: Path, current: Path
) -> None:
    client_wheel.extractall(tmp_path)
    show = "from arcadia.version import client_build; print(client_build())"
    assert run_installed(show, site=tmp_path, current=current) == f"{version('arcadia-client')}+{COMMIT}\n"


def test_both_wheels_have_the_same_version() -> None:
    projects = [tomllib.loads((ROOT / name / "pyproject.toml").read_text())["project"] for name in (".", "client")]
    assert projects[0]["version"] == projects[1]["version"]
    # Replacing either one must keep the command.
    assert projects[0]["scripts"] == projects[1]["scripts"]


def test_a_server_without_pages_reports_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from arcadia_backend.web.frontend import serve_frontend

    app = FastAPI()
    serve_frontend(app, tmp_path / "none")
    assert "The frontend is not built" in caplog.text
    assert "make wheel" in TestClient(app).get("/").text
