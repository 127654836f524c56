"""The installed packages that have entry points of plug-ins, and those that an administrator has allowed."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path
from typing import Any

from arcadia_workers.contract.layout import default_data_dir


def resolve(reference: str) -> Any:
    """Import the object of a reference."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


# Increment it when packages written for the last version stop working.
VERSION = 1


@dataclass(frozen=True)
class Plugin:
    """The parts that one entry point provides, and the version of the interface that they were written for."""

    interface: int
    provides: Sequence[object]


GROUP_PREFIX = "arcadia."
# In this order, so that presets can name methods and environments.
GROUP_NAMES = tuple(
    GROUP_PREFIX + name for name in ("environments", "networks", "protocols", "methods", "presets", "papers")
)
PAPERS = f"{GROUP_PREFIX}papers"


@dataclass(frozen=True)
class Package:
    """An installed package with entry points of plug-ins."""

    name: str
    version: str
    entry_points: tuple[EntryPoint, ...]


def canonical(name: str) -> str:
    """Return the normalized name of a package, as package indexes do: `Arcadia_GAE` becomes `arcadia-gae`."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


# Packages of earlier versions that are part of Arcadia now. Settings and runs may still name them.
BUILT_IN = frozenset({"arcadia-ppo"})


def package_names(listed: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list, without duplicates and packages that are part of Arcadia."""
    names = dict.fromkeys(canonical(name) for name in listed.split(",") if name.strip())
    return tuple(name for name in names if name not in BUILT_IN)


def installed() -> dict[str, Package]:
    """Return the installed packages by name. This imports none of them."""
    packages: dict[str, Package] = {}
    for distribution in distributions():
        points = _entry_points(distribution)
        # The first one on the path is the one that Python imports.
        if points and (name := canonical(distribution.name)) not in packages:
            packages[name] = Package(name, distribution.version, points)
    return packages


def _entry_points(distribution: Distribution) -> tuple[EntryPoint, ...]:
    points = (point for point in distribution.entry_points if point.group in GROUP_NAMES)
    return tuple(sorted(points, key=lambda point: (GROUP_NAMES.index(point.group), point.name)))


SETTING = "ARCADIA_PLUGINS"
FILE = "plugins.txt"


def allowed_plugins(data_dir: Path | None = None) -> tuple[str, ...]:
    """Return the names in the setting. If it is not set, return those in the data folder's file."""
    if setting := os.environ.get(SETTING):
        return package_names(setting)
    return read_file(data_dir or default_data_dir())


def read_file(data_dir: Path) -> tuple[str, ...]:
    """Return the names in the file of a data folder."""
    try:
        return package_names((data_dir / FILE).read_text().replace("\n", ","))
    except FileNotFoundError:
        return ()


def allow(name: str, data_dir: Path) -> None:
    """Add a package to the file of a data folder."""
    names = dict.fromkeys([*read_file(data_dir), canonical(name)])
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / FILE).write_text("\n".join(names) + "\n")


def name_in_environment(names: Iterable[str]) -> None:
    """Set the environment variable to these names, for child processes."""
    os.environ[SETTING] = ",".join(names)
