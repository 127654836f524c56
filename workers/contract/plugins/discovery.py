"""The installed packages that have entry points of plug-ins."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions

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
    """Return the normalized name of a package, as package indexes do: `Arcadia_PPO` becomes `arcadia-ppo`."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def allowed_names(setting: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list, without duplicates."""
    return tuple(dict.fromkeys(canonical(name) for name in setting.split(",") if name.strip()))


def installed() -> dict[str, Package]:
    """Return the installed packages by name. This imports none of them."""
    found: dict[str, Package] = {}
    for distribution in distributions():
        points = _entry_points(distribution)
        # The first one on the path is the one that Python imports.
        if points and (name := canonical(distribution.name)) not in found:
            found[name] = Package(name, distribution.version, points)
    return found


def _entry_points(distribution: Distribution) -> tuple[EntryPoint, ...]:
    return tuple(_in_order(point for point in distribution.entry_points if point.group in GROUP_NAMES))


def _in_order(points: Iterable[EntryPoint]) -> list[EntryPoint]:
    return sorted(points, key=lambda point: (GROUP_NAMES.index(point.group), point.name))
