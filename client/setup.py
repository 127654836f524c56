# mypy: ignore-errors
# setuptools has no types.
"""Builds the client with its synchronous modules, and its wheel with the commit. pyproject.toml has the rest."""

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


class BuildClient(build_py):
    """Builds the package with the commit."""

    def run(self) -> None:
        """Copy the package, then add the commit. An editable installation asks Git instead."""
        super().run()
        if not self.editable_mode:
            version = runpy.run_path(str(ROOT / "arcadia" / "version.py"))
            Path(self.build_lib, "arcadia", version["COMMIT_FILE"]).write_text(version["commit"]())


# First, because setuptools looks for the packages. Editable installations need them too.
runpy.run_path(str(ROOT / "generate_sync.py"))["generate"]()
setup(cmdclass={"build_py": BuildClient})
