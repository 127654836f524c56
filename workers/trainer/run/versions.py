"""Versions of the software that a run was made with."""

import platform
from importlib import metadata

from workers.contract.build import build

DISTRIBUTIONS = ("torch", "numpy", "gymnasium", "ale-py")


def captured() -> dict[str, str]:
    """Return the build of Arcadia, and the versions of Python and of the libraries that affect results."""
    versions = {"arcadia": build(), "python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed as a package"
    return versions
