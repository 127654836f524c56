"""A wheel runs on its own: it has the migrations and the pages, and names what it needs."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

ROOT = Path(__file__).parents[2]
SOURCES = ("backend", "workers", "alembic", "pyproject.toml", "setup.py", "README.md")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel from a copy of the sources, with one made-up page."""
    project = tmp_path_factory.mktemp("project")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, project / name)
    (project / "frontend" / "dist").mkdir(parents=True)
    (project / "frontend" / "dist" / "index.html").write_text("<title>Arcadia</title>")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "."]
    environment = {name: value for name, value in os.environ.items() if name != "ARCADIA_ONLY_EXTRAS"}
    subprocess.run(command, cwd=project, env=environment, check=True)
    (built,) = project.glob("*.whl")
    return zipfile.ZipFile(built)


def test_it_names_what_arcadia_up_needs(wheel: zipfile.ZipFile) -> None:
    (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    lines = wheel.read(metadata).decode().splitlines()
    needed = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    always = {line for line in needed if "extra ==" not in line}
    for package in ("fastapi", "sqlalchemy", "torch", "celery", "pydantic", "ale-py"):
        assert any(line.startswith(package) for line in always), f"{package} is not among {sorted(always)}"


def test_it_makes_a_database_and_serves_its_pages(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    site = tmp_path / "site"
    wheel.extractall(site)
    assert not (site / "alembic").exists(), "it would hide the library of that name"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ARCADIA_")}
    environment["PYTHONPATH"] = str(site)
    program = (
        "import backend.cli, sys; from backend.web.frontend import DIST;"
        "print(DIST); sys.argv = ['arcadia', 'migrate']; sys.exit(backend.cli.main())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    pages = Path(run.stdout.splitlines()[0])
    assert pages.is_relative_to(site)
    assert (pages / "index.html").read_text() == "<title>Arcadia</title>"
    assert (tmp_path / "data" / "arcadia.db").is_file()


def test_without_pages_the_server_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from backend.web.frontend import serve_frontend

    app = FastAPI()
    serve_frontend(app, tmp_path / "none")
    assert "The frontend is not built" in caplog.text
    assert "pip wheel" in TestClient(app).get("/").text
