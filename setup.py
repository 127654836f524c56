# mypy: ignore-errors
# setuptools has no types.
"""Puts the migrations and the built pages into the wheel, and names what an installation from it needs."""

import os
import shutil
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
# backend/database/migrations.py and backend/web/frontend.py look here first.
# A top-level folder `alembic` would hide the library.
BUNDLED = {ROOT / "alembic": "migration_scripts", ROOT / "frontend" / "dist": "pages"}
# A user of the wheel needs all of these. Images install single extras, and set ARCADIA_ONLY_EXTRAS.
EXTRAS = ("backend", "worker", "trainer", "redis")


def dependencies() -> list[str]:
    """Return the requirements of everything that `arcadia up` starts."""
    optional = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    only_extras = os.environ.get("ARCADIA_ONLY_EXTRAS")
    return sorted({line for name in EXTRAS for line in optional[name] if not only_extras})


class BuildWithBundled(build_py):
    """Builds the packages with the folders beside them."""

    def run(self) -> None:
        """Copy the packages, then the folders."""
        super().run()
        if self.editable_mode:
            return
        for source, name in BUNDLED.items():
            target = Path(self.build_lib) / "backend" / name
            shutil.rmtree(target, ignore_errors=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                self.warn(f"{source} is missing: the wheel has no pages. Run `make frontend`, then build again.")


setup(cmdclass={"build_py": BuildWithBundled}, install_requires=dependencies())
