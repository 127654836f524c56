# mypy: ignore-errors
# setuptools has no types.
"""Builds the wheel: its folders, what it needs, and where its packages are.

In the wheel, `backend` and `workers` are below arcadia_server/application/, because packages with such general names
must not be visible to other programs of an environment. arcadia_server/__init__.py makes them importable. An editable
installation leaves them where they are.
"""

import os
import runpy
import shutil
import sys
import tomllib
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
APPLICATION = "arcadia_server.application"
MOVED = ("backend", "workers")
# backend/arcadia_backend/database/migrations.py and backend/arcadia_backend/web/frontend.py look here first.
# A top-level folder `alembic` would hide the library.
BUNDLED = {
    ROOT / "alembic": "migration_scripts",
    ROOT / "frontend" / "dist": "pages",
    ROOT / "client" / "dist": "client_wheels",
}
# A user of the wheel needs all of these. Images install single extras, and set ARCADIA_ONLY_EXTRAS.
EXTRAS = ("backend", "worker", "trainer", "redis")


def dependencies() -> list[str]:
    """Return the client, which defines the command, and the requirements of everything that `arcadia up` starts."""
    extras = () if os.environ.get("ARCADIA_ONLY_EXTRAS") else EXTRAS
    client = f"arcadia-client=={PROJECT['version']}"
    return [client, *sorted({line for name in extras for line in PROJECT["optional-dependencies"][name]})]


def packages() -> dict[str, object]:
    """Return the packages, which a wheel has in other places than an editable installation."""
    names = find_packages(include=[pattern for name in MOVED for pattern in (name, f"{name}.*")])
    if "editable_wheel" in sys.argv:
        return {"packages": ["arcadia_server", *names]}
    return {
        "packages": ["arcadia_server", *(f"{APPLICATION}.{name}" for name in names)],
        "package_dir": {f"{APPLICATION}.{name}": name for name in MOVED},
    }


class BuildApplication(build_py):
    """Builds the packages with the commit and the folders that are not packages."""

    def run(self) -> None:
        """Copy the packages to an empty folder, then add the rest."""
        if self.editable_mode:
            super().run()
            return
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        application = Path(self.build_lib, *APPLICATION.split("."))
        for source, name in BUNDLED.items():
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", ".*")
                shutil.copytree(source, application / "backend" / name, ignore=ignored)
            else:
                self.warn(f"{source} is missing. `make wheel` builds it.")
        build = runpy.run_path(str(ROOT / "workers" / "contract" / "build.py"))
        (application / "workers" / "contract" / build["COMMIT_FILE"]).write_text(build["commit"]())


setup(
    cmdclass={"build_py": BuildApplication},
    install_requires=dependencies(),
    include_package_data=False,
    package_data={"": ["*.css", "*.js", "*.csv", "*.arcadia", "templates/**/*.template"]},
    **packages(),
)
