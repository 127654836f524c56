"""The plug-ins that a configuration needs."""

from collections.abc import Iterable, Mapping
from typing import Any

from workers.contract.plugins.loading import PROVIDERS, loaded_versions

# The fields of a configuration that can name a part of a plug-in.
_FIELDS = {"method": "algorithm", "environment": "env", "network": "network", "protocol": "evaluation_protocol"}


def needed_plugins(config: Mapping[str, Any]) -> list[str]:
    """Return the names of the plug-ins whose parts a configuration names."""
    found = {PROVIDERS.get((noun, str(config.get(field)))) for noun, field in _FIELDS.items()}
    return sorted(name for name in found if name)


def missing_plugins(needed: str) -> str | None:
    """Return a clause about the needed plug-ins that this process lacks, or None if it has all."""
    loaded = loaded_versions()
    missing = [name for name in needed.split(",") if name and name not in loaded]
    if not missing:
        return None
    return f"{joined(missing)} {'is' if len(missing) == 1 else 'are'} not installed or not allowed here"


def joined(names: Iterable[str]) -> str:
    """Return the names of plug-ins as a phrase, such as `the plug-ins a and b`."""
    listed = sorted(names)
    return f"the plug-in{'' if len(listed) == 1 else 's'} {' and '.join(listed)}"
