# mypy: ignore-errors
# setuptools has no types.
"""Builds the client's wheel with the commit that it was built from. pyproject.toml has the rest."""

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildClient(build_py):
    """Builds the package with the commit."""

    def run(self) -> None:
        """Copy the package, then add the commit. An editable installation asks Git instead."""
        super().run()
        if not self.editable_mode:
            version = runpy.run_path(str(Path(__file__).parent / "arcadia" / "version.py"))
            Path(self.build_lib, "arcadia", version["COMMIT_FILE"]).write_text(version["commit"]())


setup(cmdclass={"build_py": BuildClient})
