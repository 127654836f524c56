"""What a run was made with."""

import platform
from importlib import metadata

DISTRIBUTIONS = ("arcadia", "torch", "numpy", "gymnasium", "ale-py")


def captured() -> dict[str, str]:
    """Return the versions of Python, of Arcadia and of what decides a run's outcome."""
    versions = {"python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed as a package"
    return versions
