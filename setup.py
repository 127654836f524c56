# mypy: ignore-errors
# setuptools has no types.
"""Builds the wheel: its folders, what it needs, and the files that are not in its packages."""

import os
import runpy
import shutil
import tomllib
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FOLDERS = {"arcadia_backend": "backend/arcadia_backend", "arcadia_workers": "workers/arcadia_workers"}
BUILD = ROOT / FOLDERS["arcadia_workers"] / "contract" / "build.py"
# database/migrations.py and web/frontend.py of the backend look here first.
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


class BuildApplication(build_py):
    """Builds the packages with the commit and the folders that are not packages."""

    def run(self) -> None:
        """Copy the packages to an empty folder, then add the rest."""
        if self.editable_mode:
            super().run()
            return
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        for source, name in BUNDLED.items():
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", ".*")
                shutil.copytree(source, Path(self.build_lib, "arcadia_backend", name), ignore=ignored)
            else:
                self.warn(f"{source} is missing. `make wheel` builds it.")
        build = runpy.run_path(str(BUILD))
        Path(self.build_lib, "arcadia_workers", "contract", build["COMMIT_FILE"]).write_text(build["commit"]())


setup(
    cmdclass={"build_py": BuildApplication},
    install_requires=dependencies(),
    include_package_data=False,
    package_data={"": ["*.css", "*.js", "*.csv", "*.arcadia", "templates/**/*.template"]},
    package_dir=FOLDERS,
    packages=[*find_packages("backend"), *find_packages("workers")],
)
