"""Versions of the software that a run was made with."""

import platform
from collections.abc import Mapping
from importlib import metadata
from types import MappingProxyType
from typing import Any

from workers.contract.build import build
from workers.contract.plugins.needs import needed_plugins

DISTRIBUTIONS = ("torch", "numpy", "gymnasium", "ale-py")


def captured(config: Mapping[str, Any] = MappingProxyType({})) -> dict[str, str]:
    """Return the build of Arcadia, and the versions of Python, the libraries and the configuration's plug-ins."""
    versions = {"arcadia": build(), "python": platform.python_version()}
    for name in (*DISTRIBUTIONS, *needed_plugins(config)):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed as a package"
    return versions
