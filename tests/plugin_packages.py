"""Packages of plug-ins for tests, installed into a folder on the path as pip does it."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from textwrap import dedent

import pytest

from arcadia_workers.contract.plugins import trial
from arcadia_workers.contract.plugins.loading import PLUGINS, unload

# Installed from the templates.
METHOD, ENVIRONMENT = "arcadia-toy", "arcadia-maze"

ONE_ENVIRONMENT = """
    from arcadia.plugins import CLASSIC_CONTROL, Environment, Plugin
    PARTS = Plugin(interface=1, provides=[Environment("Toy/One-v0", "One", CLASSIC_CONTROL, module="toy_one_world")])
"""


@dataclass
class Site:
    """A folder of installed packages."""

    folder: Path

    @property
    def names(self) -> list[str]:
        """Return the names of the installed packages."""
        return sorted(found.name for found in distributions(path=[str(self.folder)]))

    def install(
        self,
        name: str,
        code: str = ONE_ENVIRONMENT,
        *,
        group: str = "arcadia.environments",
        version: str = "1.0",
        points: Mapping[str, str] | None = None,
    ) -> str:
        """Write a package with one module and an entry point for its PARTS. Return the package's name."""
        module = name.replace("-", "_")
        (self.folder / f"{module}.py").write_text(dedent(code))
        self._describe(name, version, points or {group: f"{module}:PARTS"})
        return name

    def install_template(self, kind: trial.Kind, name: str, version: str = "0.1.0") -> str:
        """Create a package from a template, and install it without its tests."""
        source = self.folder.parent / f"source-of-{name}"
        trial.create(kind, name, source)
        package = name.replace("-", "_")
        (source / package).rename(self.folder / package)
        groups = tomllib.loads((source / "pyproject.toml").read_text())["project"]["entry-points"]
        points = {group: reference for group, points in groups.items() for reference in points.values()}
        self._describe(name, version, points)
        return name

    def pip_install(self, *sources: Path) -> None:
        """Install packages with pip, which builds them in their folders. Their dependencies are installed already."""
        offline = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
        command = [sys.executable, "-m", "pip", "install", *offline, "--target", str(self.folder), *map(str, sources)]
        subprocess.run(command, check=True)

    @contextmanager
    def uninstalled(self) -> Iterator[None]:
        """Remove all packages until the block ends."""
        removed = self.folder.rename(self.folder.with_name("removed"))
        self.folder.mkdir()
        yield
        self.folder.rmdir()
        removed.rename(self.folder)

    def forget_modules(self) -> None:
        """Remove the modules of the folder from this process."""
        for name, module in [*sys.modules.items()]:
            if str(getattr(module, "__file__", None)).startswith(f"{self.folder}{os.sep}"):
                del sys.modules[name]

    def _describe(self, name: str, version: str, points: Mapping[str, str]) -> None:
        described = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = [f"[{group}]\nparts = {reference}\n" for group, reference in points.items()]
        (described / "entry_points.txt").write_text("\n".join(lines))


@contextmanager
def open_site(folder: Path) -> Iterator[Site]:
    """Yield an empty folder of packages, on the path of this process and of those that it starts.

    Remove all plug-ins from this process at the end.
    """
    folder.mkdir()
    site = Site(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        yield site
        for name in [*PLUGINS]:
            unload(name)
        site.forget_modules()
